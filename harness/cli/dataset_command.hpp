// What the commands of all ladders do alike with their files of data.
#pragma once

#include "harness/case/dataset_file.hpp"
#include "harness/case/text.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// Writes what make() returns by write(file, data, existing), and says summary(data). Whatever is
/// wrong with the target is said before the work that makes the data.
template <class Make, class Write, class Summary>
void write_new(const std::string& file, bool overwrite, const Make& make, const Write& write,
               const Summary& summary) {
  const auto existing = overwrite ? Existing::replace : Existing::keep;
  check_target(file, existing);
  const auto data = make();
  write(file, data, existing);
  fmt::print("{}: {}\n", one_line(file), summary(data));
}

/// In what two headers differ: such files belong to different datasets.
class Differences {
 public:
  template <class T>
  void between(std::string_view what, const T& one, const T& other) {
    if (one != other) words_.push_back(fmt::format("{} ({} and {})", what, one, other));
  }
  void note(std::string what) { words_.push_back(std::move(what)); }
  [[nodiscard]] bool none() const { return words_.empty(); }
  /// Empty: in nothing.
  [[nodiscard]] std::string text() const { return joined(words_); }

 private:
  std::vector<std::string> words_;
};

}  // namespace strata
