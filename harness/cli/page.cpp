#include "harness/cli/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace strata {

void print_note(std::string_view label, std::string_view text) {
  constexpr std::size_t page = 98;  // columns of text
  constexpr std::size_t column = 12;
  std::string line;
  const auto print_line = [&] {
    fmt::print("{:<{}}{}\n", label, column, line);
    label = {};
    line.clear();
  };
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!line.empty() && line.size() + 1 + word.size() > page - column) print_line();
    if (!line.empty()) line += ' ';
    line += word;
  }
  print_line();
}

}  // namespace strata
