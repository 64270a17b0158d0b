// Files of data that are changed and signed again: what a test of a file format needs.
#pragma once

#include "harness/base/error.hpp"
#include "harness/base/sha256.hpp"
#include "harness/case/dataset_file.hpp"
#include "tests/host/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace strata {

class DatasetFiles : public testing::Test {
 protected:
  using path = std::filesystem::path;

  static std::string bytes_of(const path& file) {
    std::ifstream stream{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }
  [[nodiscard]] path file_of(std::string_view bytes) const {
    path file = folder_.path() / "changed";
    std::ofstream{file, std::ios::binary} << bytes;
    return file;
  }
  static void sign(std::string& bytes) {
    std::fill_n(bytes.begin() + dataset_digest_at, sizeof(DatasetDigest), '\0');
    const DatasetDigest digest = sha256(bytes);
    std::ranges::copy(digest, bytes.begin() + dataset_digest_at);
  }
  /// The good file with other bytes at `at`, and a checksum that fits.
  template <class Number = std::uint32_t>
  [[nodiscard]] path with_word(std::size_t at, Number number) const {
    std::string bytes = bytes_of(good_);
    std::memcpy(bytes.data() + at, &number, sizeof number);
    sign(bytes);
    return file_of(bytes);
  }
  /// The message of `read` for a file that it refuses: one line that begins with its name.
  template <class Read>
  static std::string refusal_of(const Read& read, const path& file) {
    try {
      (void)read(file);
    } catch (const UsageError& error) {
      std::string message = error.what();
      EXPECT_THAT(message, testing::StartsWith(file.string()));
      EXPECT_THAT(message, testing::AllOf(testing::HasSubstr("; expected "),
                                          testing::Not(testing::HasSubstr("\n"))));
      return message;
    }
    ADD_FAILURE() << file << " was not refused";
    return "";
  }

  /// The good file is refused with any byte flipped, and cut off anywhere; behind the header, at
  /// every `step`-th byte.
  template <class Read>
  void expect_refused_where_damaged(const Read& read, std::size_t header, std::size_t step = 1) {
    const std::string bytes = bytes_of(good_);
    for (std::size_t at = 0; at < bytes.size(); at += at < header ? 1 : step) {
      for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ flip);
        EXPECT_NE(refusal_of(read, file_of(changed)), "") << "byte " << at;
      }
      EXPECT_NE(refusal_of(read, file_of(bytes.substr(0, at))), "") << at << " bytes";
    }
    EXPECT_THAT(refusal_of(read, file_of(bytes.substr(0, header - 1))),
                testing::HasSubstr("inside its header"));
    EXPECT_THAT(refusal_of(read, file_of(bytes + "x")), testing::HasSubstr("copy it again"));
  }

  TemporaryFolder folder_;
  path good_ = folder_.path() / "good";
};

}  // namespace strata
