#include "harness/access/mend/swizzle.hpp"

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

}  // namespace

Swizzle::Swizzle(KernelForms& kernel, const Change& change, Bounds& bounds, LaunchChecks& checks)
    : kernel_{kernel}, bounds_{bounds}, checks_{checks}, row_{change.swizzled_row} {
  if (row_ == 0) return;
  if (row_ < 7 || row_ > 16) {
    throw NotMended{{no_index, "rows are of 128 bytes to 64 KiB"}};
  }
  find_accesses();
  if (symbols_.empty()) throw NotMended{{no_index, "it has no shared memory of a known size"}};
  keep_addresses_in();
}

/// Each access is to one variable, and within it.
void Swizzle::find_accesses() {
  const auto& code = kernel_.kernel().instructions;
  Forms& forms = kernel_.forms();
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    const std::uint32_t block = kernel_.flow().block_of[i];
    if (!touches(code[i]) || !is_reachable(kernel_.flow(), block)) continue;
    const Space space = code[i].space();
    if (space != Space::shared && space != Space::generic) continue;
    const Meaning meaning = kernel_.address(i, *address_of(code[i]));
    if (meaning.form == no_form) throw NotMended{{i, "its address is not followed"}};
    const auto found = shared_in(kernel_, meaning.form);
    if (space == Space::generic) {
      if (!found.empty() || !pointer_in(forms, meaning.form)) {
        throw NotMended{{i, "a generic address, which may lead to shared memory"}};
      }
      continue;
    }
    if (found.size() != 1) throw NotMended{{i, "its address is that of no one variable"}};
    const ptx::Symbol& symbol = kernel_.module().symbols[found[0]];
    if (symbol.bytes == 0 || symbol.bytes % wavefront_bytes != 0) {
      throw NotMended{
          {i, fmt::format("{} is of no known multiple of {} bytes", symbol.name, wavefront_bytes)}};
    }
    const FormId base = forms.leaf(AtomKind::symbol, found[0], {0, (Int128{1} << 20U) - 1});
    const FormId offset = forms.subtract(meaning.form, base);
    const unsigned width = ptx::bytes_of(code[i].type()) * code[i].vector_width();
    ConditionSet conditions = meaning.conditions;
    if (offset == no_form || width == 0 || !shared_in(kernel_, offset).empty()) {
      throw NotMended{{i, "its address is not followed"}};
    }
    const auto place = bounds_.of(offset, block, &conditions);
    const auto last = static_cast<std::int64_t>(symbol.bytes - width);
    const bool never_fits =
        checks_.is_constant(place) && !launch_math::is_within(checks_.usual(place), 0, last);
    if (never_fits || !bounds_.is_bounded(place) || !bounds_.ensure(conditions, block)) {
      throw NotMended{{i, fmt::format("it may lie outside of {}", symbol.name)}};
    }
    checks_.need_within(
        place, 0, last,
        fmt::format("line {} may reach beyond {}", kernel_.line_of(i), symbol.name));
    symbols_.emplace(i, found[0]);
    unsigned& widest = widths_[found[0]];
    widest = std::max({widest, width, static_cast<unsigned>(bank_bytes)});
    if (symbol.align % widest != 0) {
      throw NotMended{{i, fmt::format("{} is not aligned to {} bytes", symbol.name, widest)}};
    }
  }
}

/// No address gets into memory or becomes a generic one: registers that hang on one are followed.
void Swizzle::keep_addresses_in() const {
  const ptx::Kernel& code = kernel_.kernel();
  std::vector<bool> holds(code.registers.size());
  const auto holds_one = [&](const Operand& operand, const auto& again) -> bool {
    if (operand.kind == Operand::Kind::symbol && widths_.contains(operand.index)) return true;
    if (operand.kind == Operand::Kind::reg && holds[operand.index]) return true;
    return std::ranges::any_of(operand.items,
                               [&](const Operand& item) { return again(item, again); });
  };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::uint32_t i = 0; i < code.instructions.size(); ++i) {
      const Instruction& one = code.instructions[i];
      const std::size_t written = written_operands(one);
      bool takes = false;
      for (std::size_t o = written; o < one.operands.size(); ++o) {
        const bool is_it = holds_one(one.operands[o], holds_one);
        if (is_it && (one.opcode == "cvta" || (touches(one) && !one.operands[o].address))) {
          throw NotMended{{i, "an address of shared memory goes elsewhere"}};
        }
        takes = takes || (is_it && !touches(one));
      }
      if (!takes || one.opcode == "setp") continue;
      for (std::size_t o = 0; o < written; ++o) {
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
