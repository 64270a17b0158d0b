#include "harness/access/machine_code.hpp"

#include "harness/access/control_flow.hpp"
#include "harness/access/marked_ptx.hpp"
#include "harness/access/operands.hpp"
#include "harness/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace strata::access {
namespace {

using ptx::Instruction;

/// The mark in `//## File "marks", line 17`.
std::optional<std::uint32_t> mark_in(std::string_view line) {
  constexpr std::string_view word = "line ";
  const auto at =
      line.find("//## File") == std::string_view::npos ? std::string_view::npos : line.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint32_t mark = 0;
  const std::string_view number = line.substr(at + word.size());
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), mark);
  return error == std::errc{} ? std::optional{mark} : std::nullopt;
}

/// The opcode in `/*0060*/ @!P0 LDG.E R0, desc[UR6][R2.64] ;`; empty in other lines.
std::string_view opcode_in(std::string_view line) {
  const auto begin = line.find("/*");
  const auto end = line.find("*/");
  if (begin == std::string_view::npos || end == std::string_view::npos) return {};
  line.remove_prefix(end + 2);
  for (std::string_view word : split(line, ' ')) {
    if (word.empty() || word.front() == '@') continue;
    return word.substr(0, word.find(';'));
  }
  return {};
}

unsigned width_of(std::string_view opcode) {
  constexpr std::array<std::pair<std::string_view, unsigned>, 6> widths{
      {{"128", 16}, {"64", 8}, {"U8", 1}, {"S8", 1}, {"U16", 2}, {"S16", 2}}};
  for (const std::string_view word : split(opcode, '.')) {
    for (const auto& [name, bytes] : widths) {
      if (word == name) return bytes;
    }
  }
  return 4;
}

unsigned width_of(const Instruction& one) {
  return ptx::bytes_of(one.type()) * one.vector_width();
}

/// Whether both are the same instruction at another offset from one register, under one guard.
bool are_alike(const Instruction& a, const Instruction& b) {
  const ptx::Operand* const from = address_of(a);
  const ptx::Operand* const other = address_of(b);
  return a.opcode == b.opcode && a.modifiers == b.modifiers && a.guard == b.guard &&
         a.guard_negated == b.guard_negated && from != nullptr && other != nullptr &&
         from->kind == other->kind && from->index == other->index;
}

/// Whether the register of the address is the same from the first of them to the last.
bool keeps_address(const ptx::Kernel& kernel, std::uint32_t first, std::uint32_t last) {
  const ptx::Operand& address = *address_of(kernel.instructions[first]);
  if (address.kind != ptx::Operand::Kind::reg) return true;
  for (std::uint32_t i = first; i < last; ++i) {
    const auto written = registers_of(kernel.instructions[i]).written;
    if (std::ranges::count(written, address.index) > 0) return false;
  }
  return true;
}

/// The text of the register, or of each item of a vector, that a load or store moves.
std::vector<std::string_view> values_of(std::string_view text, const Instruction& one) {
  const auto begin = static_cast<std::size_t>(one.opcode.data() - text.data());
  std::string_view statement = text.substr(begin, text.find(';', begin) - begin);
  const auto open = statement.find('{');
  const bool is_load = role_of(one) == Role::load;
  std::string_view list;
  if (open != std::string_view::npos) {
    list = statement.substr(open + 1, statement.find('}') - open - 1);
  } else if (is_load) {
    statement.remove_prefix(statement.find_first_of(" \t"));
    list = statement.substr(0, statement.find(','));
  } else {
    list = statement.substr(statement.rfind(']') + 1);
    list.remove_prefix(list.find(',') + 1);
  }
  std::vector<std::string_view> values;
  for (std::string_view value : split(list, ',')) {
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    values.push_back(value.substr(0, value.find_last_not_of(" \t") + 1));
  }
  return values;
}

/// "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1+16]".
std::string vector_of(std::string_view text, const ptx::Kernel& kernel,
                      const MergedAccess& merged) {
  const Instruction& lowest = kernel.instructions[merged.instructions.front()];
  std::vector<std::string_view> values;
  for (const std::uint32_t i : merged.instructions)
    std::ranges::copy(values_of(text, kernel.instructions[i]), std::back_inserter(values));
  std::string opcode{lowest.opcode};
  for (std::size_t m = 0; m < lowest.modifiers.size(); ++m) {
    const std::string_view word = lowest.modifiers[m];
    const bool is_vector = word == "v2" || word == "v4";
    if (m + 1 == lowest.modifiers.size()) opcode += fmt::format(".v{}", values.size());
    if (!is_vector) opcode += fmt::format(".{}", word);
  }
  const auto begin = static_cast<std::size_t>(lowest.opcode.data() - text.data());
  const auto open = text.find('[', begin);
  const std::string_view address = text.substr(open, text.find(']', open) + 1 - open);
  return role_of(lowest) == Role::load
             ? fmt::format("{} {{{}}}, {}", opcode, fmt::join(values, ", "), address)
             : fmt::format("{} {}, {{{}}}", opcode, address, fmt::join(values, ", "));
}

/// Accesses of one block that may have become one with `kept`, by their distance from its register.
using Parts = std::map<std::int64_t, std::uint32_t>;
Parts parts_of(const ptx::Kernel& kernel, const ControlFlow& flow,
               const std::set<std::uint32_t>& with_code, std::uint32_t kept) {
  Parts parts;
  const Role role = role_of(kernel.instructions[kept]);
  if (role != Role::load && role != Role::store) return parts;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const bool is_part =
        i == kept ||
        (!with_code.contains(i) && are_alike(kernel.instructions[i], kernel.instructions[kept]));
    if (is_part && flow.block_of[i] == flow.block_of[kept])
      parts.emplace(address_of(kernel.instructions[i])->offset, i);
  }
  return parts;
}

/// Those from `low` on that are as wide together as a machine instruction; empty if some are
/// missing.
std::vector<std::uint32_t> covering(const Parts& parts, std::int64_t low, unsigned all,
                                    unsigned each) {
  std::vector<std::uint32_t> found;
  for (std::int64_t at = low; at < low + all; at += each) {
    const auto part = parts.find(at);
    if (part == parts.end()) return {};
    found.push_back(part->second);
  }
  return found;
}

/// What became one machine instruction, if the PTX shows it.
std::optional<MergedAccess> merged_to(const ptx::Kernel& kernel, const MachineAccess& one,
                                      const Parts& parts) {
  constexpr unsigned most_elements = 4;
  const Instruction& kept = kernel.instructions[one.instruction];
  const unsigned width = width_of(kept);
  if (parts.empty() || width == 0 || one.width <= width || one.width % width != 0 ||
      one.width / width * kept.vector_width() > most_elements) {
    return std::nullopt;
  }
  const std::int64_t own = address_of(kept)->offset;
  for (std::int64_t low = own - one.width + width; low <= own; low += width) {
    auto found = covering(parts, low, one.width, width);
    if (found.empty()) continue;
    const auto [first, last] = std::ranges::minmax(found);
    if (!keeps_address(kernel, first, last)) continue;
    // A load that was moved up, and a store that was moved down, finds what it needs.
    const std::uint32_t place = role_of(kept) == Role::load ? first : last;
    return MergedAccess{.instructions = std::move(found),
                        .opcode = one.opcode,
                        .line = kernel.instructions[place].line};
  }
  return std::nullopt;
}

}  // namespace

std::vector<MachineAccess> machine_accesses(std::string_view disassembly,
                                            std::uint32_t first_mark) {
  constexpr std::array loads_and_stores{"LDG", "STG", "LDS", "STS", "LD", "ST", "LDL", "STL"};
  std::vector<MachineAccess> found;
  std::uint32_t mark = 0;
  for (const std::string_view line : split(disassembly, '\n')) {
    if (const auto next = mark_in(line)) mark = *next;
    const std::string_view opcode = opcode_in(line);
    if (mark < first_mark ||
        std::ranges::count(loads_and_stores, opcode.substr(0, opcode.find('.'))) == 0) {
      continue;
    }
    found.push_back({.instruction = mark - first_mark,
                     .opcode = std::string{opcode},
                     .width = width_of(opcode)});
  }
  return found;
}

std::vector<MergedAccess> merged_accesses(const ptx::Kernel& kernel,
                                          const std::vector<MachineAccess>& machine) {
  const ControlFlow flow = control_flow(kernel);
  std::set<std::uint32_t> with_code;
  for (const MachineAccess& one : machine)
    with_code.insert(one.instruction);
  std::vector<MergedAccess> merged;
  std::set<std::uint32_t> done;
  for (const MachineAccess& one : machine) {
    if (one.instruction >= kernel.instructions.size() || done.contains(one.instruction)) continue;
    auto made = merged_to(kernel, one, parts_of(kernel, flow, with_code, one.instruction));
    if (!made) continue;
    done.insert(made->instructions.begin(), made->instructions.end());
    merged.push_back(std::move(*made));
  }
  return merged;
}

std::string merged_ptx(const ptx::Module& module, const ptx::Kernel& kernel,
                       const std::vector<MergedAccess>& merged) {
  const std::string_view text{module.text.data(), module.text.size()};
  std::string changed{text};
  std::vector<std::pair<std::size_t, std::string>> insertions;
  for (const MergedAccess& one : merged) {
    for (const std::uint32_t i : one.instructions) {
      const Instruction& part = kernel.instructions[i];
      const auto begin = static_cast<std::size_t>(part.opcode.data() - text.data());
      for (std::size_t at = begin; text[at] != ';'; ++at) {
        if (changed[at] != '\n') changed[at] = ' ';
      }
      // Its guard stays only before the merged one.
      const bool is_place = part.line == one.line;
      for (std::size_t at = begin_of(text, part); !is_place && at < begin; ++at)
        changed[at] = ' ';
      if (is_place) insertions.emplace_back(begin, vector_of(text, kernel, one));
    }
  }
  std::ranges::sort(insertions, std::greater{});
  for (const auto& [at, words] : insertions)
    changed.insert(at, words);
  return changed;
}

std::vector<MergedAccess> merged_by_ptxas(const ptx::Module& module, std::uint32_t kernel,
                                          const Tools& tools) {
  const MarkedPtx marked = mark(module);
  const ptx::Kernel& code = module.kernels[kernel];
  Tools target = tools;
  if (target.architecture.empty()) target.architecture = std::string{module.target};
  const std::string cubin =
      assemble(marked.text, code.name, target, {.entry = std::string{code.name}, .is_quiet = true});
  return merged_accesses(
      code, machine_accesses(disassemble(cubin, code.name, target), marked.first_marks[kernel]));
}

}  // namespace strata::access
