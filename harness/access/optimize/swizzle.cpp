#include "harness/access/optimize/swizzle.hpp"

#include "harness/access/operands.hpp"
#include "harness/model/coalescing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

bool touches(const Instruction& one) {
  const Role role = role_of(one);
  return role == Role::load || role == Role::store || role == Role::atomic ||
         role == Role::reduction;
}

/// The shared variables in a form: one, times 1, is what an access should have.
std::vector<std::uint32_t> shared_in(KernelForms& kernel, FormId form) {
  std::vector<std::uint32_t> found;
  kernel.forms().visit(form, [&](AtomId id) {
    const Atom& atom = kernel.forms().atom(id);
    const bool is_shared =
        atom.kind == AtomKind::symbol && kernel.module().symbols[atom.which].space == Space::shared;
    if (is_shared) found.push_back(atom.which);
  });
  return found;
}

/// The one variable whose bytes are swizzled by whole lines. Throws NotOptimized where there is
/// none.
std::uint32_t only_variable(const ptx::Module& module, const std::vector<std::uint32_t>& found,
                            std::uint32_t instruction) {
  if (found.size() != 1)
    throw NotOptimized{{instruction, "its address is that of no one variable"}};
  const ptx::Symbol& symbol = module.symbols[found[0]];
  if (symbol.bytes == 0 || symbol.bytes % wavefront_bytes != 0) {
    throw NotOptimized{{instruction, fmt::format("{} is of no known multiple of {} bytes",
                                                 symbol.name, wavefront_bytes)}};
  }
  return found[0];
}

}  // namespace

Swizzle::Swizzle(KernelForms& kernel, const Change& change, Bounds& bounds, LaunchChecks& checks)
    : kernel_{kernel}, bounds_{bounds}, checks_{checks}, row_{change.swizzled_row} {
  if (row_ == 0) return;
  if (row_ < 7 || row_ > 16) {
    throw NotOptimized{{no_index, "rows are of 128 bytes to 64 KiB"}};
  }
  find_accesses();
  if (symbols_.empty()) throw NotOptimized{{no_index, "it has no shared memory of a known size"}};
  keep_addresses_in();
}

/// Each access is to one variable, and within it.
void Swizzle::find_accesses() {
  const auto& code = kernel_.kernel().instructions;
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    const std::uint32_t block = kernel_.flow().block_of[i];
    if (!touches(code[i]) || !is_reachable(kernel_.flow(), block)) continue;
    const Space space = code[i].space();
    if (space != Space::shared && space != Space::generic) continue;
    const Meaning meaning = kernel_.address(i, *address_of(code[i]));
    if (meaning.form == no_form) throw NotOptimized{{i, "its address is not followed"}};
    const auto found = shared_in(kernel_, meaning.form);
    if (space == Space::generic) {
      if (!found.empty() || !pointer_in(kernel_.forms(), meaning.form)) {
        throw NotOptimized{{i, "a generic address, which may lead to shared memory"}};
      }
      continue;
    }
    keep_inside(i, meaning, only_variable(kernel_.module(), found, i));
  }
}

/// The instruction's access lies within the variable, which is aligned to what it accesses.
/// Throws NotOptimized where it may not.
void Swizzle::keep_inside(std::uint32_t instruction, const Meaning& meaning,
                          std::uint32_t variable) {
  Forms& forms = kernel_.forms();
  const Instruction& one = kernel_.kernel().instructions[instruction];
  const std::uint32_t block = kernel_.flow().block_of[instruction];
  const ptx::Symbol& symbol = kernel_.module().symbols[variable];
  const FormId base = forms.leaf(AtomKind::symbol, variable, {0, (Int128{1} << 20U) - 1});
  const FormId offset = forms.subtract(meaning.form, base);
  const unsigned width = ptx::bytes_of(one.type()) * one.vector_width();
  ConditionSet conditions = meaning.conditions;
  if (offset == no_form || width == 0 || !shared_in(kernel_, offset).empty()) {
    throw NotOptimized{{instruction, "its address is not followed"}};
  }
  const auto place = bounds_.of(offset, block, &conditions);
  const auto last = static_cast<std::int64_t>(symbol.bytes - width);
  const bool never_fits =
      checks_.is_constant(place) && !launch_math::is_within(checks_.usual(place), 0, last);
  if (never_fits || !bounds_.is_bounded(place) || !bounds_.ensure(conditions, block)) {
    throw NotOptimized{{instruction, fmt::format("it may lie outside of {}", symbol.name)}};
  }
  checks_.need_within(
      place, 0, last,
      fmt::format("line {} may reach beyond {}", kernel_.line_of(instruction), symbol.name));
  symbols_.emplace(instruction, variable);
  unsigned& widest = widths_[variable];
  widest = std::max({widest, width, static_cast<unsigned>(bank_bytes)});
  if (symbol.align % widest != 0) {
    throw NotOptimized{
        {instruction, fmt::format("{} is not aligned to {} bytes", symbol.name, widest)}};
  }
}

/// Whether the operand is one of the variables, or a register that holds an address of one.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the reader lets items be in items
bool Swizzle::holds_address(const Operand& operand, const std::vector<bool>& holds) const {
  if (operand.kind == Operand::Kind::symbol && widths_.contains(operand.index)) return true;
  if (operand.kind == Operand::Kind::reg && holds[operand.index]) return true;
  // NOLINTNEXTLINE(misc-no-recursion): likewise
  const auto item_holds = [&](const Operand& item) { return holds_address(item, holds); };
  return std::ranges::any_of(operand.items, item_holds);
}

/// Whether what the instruction writes hangs on an address. Throws NotOptimized where the
/// instruction lets one get elsewhere.
bool Swizzle::passes_on(std::uint32_t instruction, const std::vector<bool>& holds) const {
  const Instruction& one = kernel_.kernel().instructions[instruction];
  bool takes = false;
  for (std::size_t o = written_operands(one); o < one.operands.size(); ++o) {
    const bool is_it = holds_address(one.operands[o], holds);
    if (is_it && (one.opcode == "cvta" || (touches(one) && !one.operands[o].address))) {
      throw NotOptimized{{instruction, "an address of shared memory goes elsewhere"}};
    }
    takes = takes || (is_it && !touches(one));
  }
  return takes && one.opcode != "setp";
}

/// No address gets into memory or becomes a generic one: registers that hang on one are followed.
void Swizzle::keep_addresses_in() const {
  const ptx::Kernel& code = kernel_.kernel();
  std::vector<bool> holds(code.registers.size());
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::uint32_t i = 0; i < code.instructions.size(); ++i) {
      if (!passes_on(i, holds)) continue;
      const Instruction& one = code.instructions[i];
      for (std::size_t o = 0; o < written_operands(one); ++o) {
        see_registers(one.operands[o], [&](std::uint32_t reg) {
          has_changed = has_changed || !holds[reg];
          holds[reg] = true;
        });
      }
    }
  }
}

std::string Swizzle::written(std::uint32_t instruction, std::string statement, Names& names) const {
  const auto found = symbols_.find(instruction);
  if (row_ == 0 || found == symbols_.end()) return statement;
  const ptx::Symbol& symbol = kernel_.module().symbols[found->second];
  const Operand& address = *address_of(kernel_.kernel().instructions[instruction]);
  const auto piece = static_cast<unsigned>(std::countr_zero(widths_.at(found->second)));
  const auto pieces = static_cast<std::uint32_t>(wavefront_bytes >> piece);
  const auto swizzled = [&](std::uint64_t offset) {
    return offset ^ (offset >> row_ & (pieces - 1)) << piece;
  };
  std::string before;
  std::string place;
  if (address.kind == Operand::Kind::symbol) {
    place = fmt::format("{}+{}", symbol.name, swizzled(static_cast<std::uint64_t>(address.offset)));
  } else {
    const unsigned bits = 8 * ptx::bytes_of(kernel_.kernel().registers[address.index].type);
    const std::string type = fmt::format("b{}", bits);
    const std::string base = names.temporary(type);
    const std::string offset = names.temporary(type);
    const std::string rows = names.temporary(type);
    before = fmt::format(
        "mov.u{0} {1}, {2};\n"
        "sub.u{0} {3}, {4}, {1};\n"
        "add.u{0} {3}, {3}, {5};\n"
        "shr.u{0} {6}, {3}, {7};\n"
        "and.b{0} {6}, {6}, {8};\n"
        "shl.b{0} {6}, {6}, {9};\n"
        "xor.b{0} {3}, {3}, {6};\n"
        "add.u{0} {3}, {3}, {1};\n",
        bits, base, symbol.name, offset, names.of_copy(0).reg(address.index), address.offset, rows,
        row_, pieces - 1, piece);
    place = offset;
  }
  const std::size_t begin = statement.find('[');
  const std::size_t end = statement.find(']', begin);
  statement.replace(begin + 1, end - begin - 1, place);
  return before + statement;
}

}  // namespace strata::access
