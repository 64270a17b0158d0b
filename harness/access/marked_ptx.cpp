#include "harness/access/marked_ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace strata::access {
namespace {

/// `.loc` and `.file` refer to source lines that are not needed here, and use our file's number.
bool is_source_line(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return false;
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  return word == ".loc" || word == ".file";
}

void append_without_source_lines(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!is_source_line(line)) out += line;
    text.remove_prefix(line.size());
    if (text.empty()) return;
    out += '\n';
    text.remove_prefix(1);
  }
}

}  // namespace

std::size_t begin_of(std::string_view text, const ptx::Instruction& instruction) {
  const auto opcode = static_cast<std::size_t>(instruction.opcode.data() - text.data());
  return instruction.guard == ptx::no_index ? opcode : text.rfind('@', opcode);
}

std::optional<InstructionPlace> MarkedPtx::place_of(std::uint32_t mark) const {
  if (mark == 0 || mark >= first_marks.back()) return std::nullopt;
  const auto next = std::ranges::upper_bound(first_marks, mark);
  const auto kernel = static_cast<std::uint32_t>(std::distance(first_marks.begin(), next) - 1);
  return InstructionPlace{kernel, mark - first_marks[kernel]};
}

MarkedPtx mark(const ptx::Module& module) {
  const std::string_view text{module.text.data(), module.text.size()};
  MarkedPtx marked;
  struct Mark {
    std::size_t begin;
    std::uint32_t number;
  };
  std::vector<Mark> marks;
  std::uint32_t next = 1;
  for (const auto& kernel : module.kernels) {
    marked.first_marks.push_back(next);
    for (const auto& instruction : kernel.instructions)
      marks.push_back({begin_of(text, instruction), next++});
  }
  marked.first_marks.push_back(next);
  std::ranges::sort(marks, {}, &Mark::begin);  // a function may be declared before another's body
  std::size_t done = 0;
  for (const auto& one : marks) {
    append_without_source_lines(text.substr(done, one.begin - done), marked.text);
    fmt::format_to(std::back_inserter(marked.text), "\n.loc 1 {} 0\n", one.number);
    done = one.begin;
  }
  append_without_source_lines(text.substr(done), marked.text);
  marked.text += "\n.file 1 \"marks\"\n";
  return marked;
}

}  // namespace strata::access
