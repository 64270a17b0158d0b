// What the commands of all ladders do alike with their files of data.
#pragma once

#include "harness/base/text.hpp"
#include "harness/case/dataset_file.hpp"
#include "harness/cli/commands.hpp"

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strata {

/// Writes what make() returns by write(file, data, existing), and prints summary(data). A
/// target that cannot be written is refused before the work that makes the data.
template <class Make, class Write, class Summary>
void write_new(const std::string& file, bool overwrite, const Make& make, const Write& write,
               const Summary& summary) {
  const auto existing = overwrite ? Existing::replace : Existing::keep;
  check_target(file, existing);
  const auto data = make();
  write(file, data, existing);
  print_written(file, summary(data));
}

/// In what two headers differ: such files belong to different datasets.
class Differences {
 public:
  template <class T>
  void between(std::string_view what, const T& one, const T& other) {
    if (one == other) return;
    note(std::string{what} + " (" + text(one) + " and " + text(other) + ")");
  }
  void note(std::string what) { words_.push_back(std::move(what)); }
  [[nodiscard]] bool none() const { return words_.empty(); }
  /// Empty: in nothing.
  [[nodiscard]] std::string text() const { return joined(words_); }

 private:
  /// As short as it can be without another number being as near.
  template <class T>
  static std::string text(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      std::array<char, 32> digits{};
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
      return {digits.data(), end.ptr};
    } else {
      return std::string{value};
    }
  }

  std::vector<std::string> words_;
};

}  // namespace strata
