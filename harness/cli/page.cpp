#include "harness/cli/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace strata {
namespace {

constexpr std::size_t page = 98;  // columns of text

/// `text` wrapped between words into lines of at most `width` bytes.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines{""};
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back();
    }
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

}  // namespace

void print_note(std::string_view label, std::string_view text) {
  constexpr std::size_t column = 12;
  for (const auto& line : wrapped(text, page - column)) {
    fmt::print("{:<{}}{}\n", label, column, line);
    label = {};
  }
}

}  // namespace strata
