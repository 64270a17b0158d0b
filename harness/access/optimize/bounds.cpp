#include "harness/access/optimize/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace strata::access {
namespace {

using Operation = LaunchChecks::Operation;
using launch_math::Range;
using ptx::Special;

std::int64_t bound(Int128 value) {
  const Int128 most = launch_math::endless;
  return static_cast<std::int64_t>(std::clamp(value, -most, most));
}

Range range_of(const Interval& range) {
  return {bound(range.low), bound(range.high)};
}

/// threadIdx, blockDim, blockIdx and gridDim come one after the other, with three axes each.
struct Size {
  unsigned which = 0;  ///< of LaunchChecks
  bool is_index = false;
};
std::optional<Size> size_of(const Atom& atom) {
  if (atom.kind != AtomKind::special || atom.which > static_cast<std::uint32_t>(Special::nctaid_z))
    return std::nullopt;
  const unsigned group = atom.which / 3;
  return Size{.which = atom.which % 3 + (group < 2 ? 0 : grid_size), .is_index = group % 2 == 0};
}

/// What times `part` is `whole`; nothing where that is no form.
FormId quotient_of(Forms& forms, const Term& whole, const Term& part) {
  if (whole.coefficient % part.coefficient != 0) return no_form;
  // What the one's factors have beyond the other's.
  std::vector<AtomId> extra{forms.factors_of(whole).begin(), forms.factors_of(whole).end()};
  for (const AtomId factor : forms.factors_of(part)) {
    const auto at = std::ranges::find(extra, factor);
    if (at == extra.end()) return no_form;
    extra.erase(at);
  }
  FormId quotient = forms.constant(whole.coefficient / part.coefficient);
  for (const AtomId factor : extra)
    quotient = forms.multiply(quotient, forms.form_of(factor));
  return quotient;
}

/// Each term of the one with each of the other.
std::vector<std::pair<Term, Term>> pairs_of(const Forms& forms, FormId one, FormId other) {
  std::vector<std::pair<Term, Term>> all;
  for (const Term& first : forms.terms_of(one)) {
    for (const Term& second : forms.terms_of(other))
      all.emplace_back(first, second);
  }
  return all;
}

bool is_same(const Range& a, const Range& b) {
  return a.low == b.low && a.high == b.high;
}

}  // namespace

std::optional<PointerPlace> pointer_in(const Forms& forms, FormId form) {
  std::optional<PointerPlace> found;
  if (form == no_form) return found;
  for (const Term& term : forms.terms_of(form)) {
    const auto factors = forms.factors_of(term);
    if (term.coefficient != 1 || factors.size() != 1) continue;
    const Atom& atom = forms.atom(factors[0]);
    if (atom.kind != AtomKind::parameter || atom.bytes != 8) continue;
    const PointerPlace place{atom.which, atom.place};
    if (!found || place < *found) found = place;
  }
  return found;
}

std::set<PointerPlace> pointers_of(KernelForms& kernel) {
  std::set<PointerPlace> all;
  const auto& instructions = kernel.kernel().instructions;
  for (std::uint32_t i = 0; i < instructions.size(); ++i) {
    if (!is_reachable(kernel.flow(), kernel.flow().block_of[i])) continue;
    const ptx::Space space = instructions[i].space();
    if (space != ptx::Space::global && space != ptx::Space::generic) continue;
    for (const ptx::Operand& operand : instructions[i].operands) {
      if (!operand.address) continue;
      if (const auto found = pointer_in(kernel.forms(), kernel.address(i, operand).form))
        all.insert(*found);
    }
  }
  return all;
}

Launch tried_launch(KernelForms& kernel, const Extent& grid) {
  constexpr std::uint64_t some_number = 4096;
  Launch launch{.grid = grid, .block = {32, 8, 1}};
  const auto put = [&](std::uint64_t at, std::uint64_t value, unsigned bytes) {
    launch.params.resize(std::max<std::size_t>(launch.params.size(), at + bytes));
    for (unsigned b = 0; b < bytes; ++b)
      launch.params[at + b] = static_cast<std::uint8_t>(value >> (8 * b));
  };
  for (const std::uint32_t param : kernel.kernel().params) {
    const ptx::Symbol& symbol = kernel.module().symbols[param];
    const unsigned bytes = symbol.element == 8 ? 8 : 4;
    for (std::uint64_t at = 0; at < symbol.bytes; at += bytes)
      put(symbol.offset + at, some_number, bytes);
  }
  for (const auto& [symbol, place] : pointers_of(kernel))
    put(kernel.module().symbols[symbol].offset + place, first_address, 8);
  return launch;
}

// Forms are bounded in depth, and so is recursion.
// NOLINTBEGIN(misc-no-recursion)

bool Bounds::is_of_launch(const Atom& atom) const {
  const Forms& forms = kernel_.forms();
  switch (atom.kind) {
    case AtomKind::parameter:
      return true;
    case AtomKind::special: {
      const auto size = size_of(atom);
      return size && !size->is_index;
    }
    case AtomKind::quotient:
    case AtomKind::remainder:
    case AtomKind::minimum:
    case AtomKind::maximum: {
      for (unsigned i = 0; i < atom.operand_count; ++i) {
        for (const Term& term : forms.terms_of(atom.operands[i])) {
          for (const AtomId factor : forms.factors_of(term)) {
            if (!is_of_launch(forms.atom(factor))) return false;
          }
        }
      }
      return true;
    }
    default:
      return false;
  }
}

Bounds::Number Bounds::atom_box(AtomId id) {
  if (const auto known = atoms_.find(id); known != atoms_.end()) return known->second;
  const Atom atom = kernel_.forms().atom(id);
  const Number told = checks_.range(range_of(atom.range));
  const auto apply = [&](Operation operation, FormId a, FormId b) {
    return checks_.apply(operation, box(a), box(b));
  };
  const auto& operands = atom.operands;
  Number found = told;
  switch (atom.kind) {
    case AtomKind::special:
      if (const auto size = size_of(atom)) {
        found = checks_.size(size->which);
        if (size->is_index) found = checks_.apply(Operation::below, found, found);
      }
      break;
    case AtomKind::parameter: {
      const ptx::Symbol& symbol = kernel_.module().symbols[atom.which];
      found = checks_.parameter(symbol.offset + atom.place, atom.bytes, atom.is_signed);
      break;
    }
    case AtomKind::counter: {
      const FormId last = kernel_.loop(atom.which).last;
      const auto only = last == no_form ? std::nullopt : kernel_.forms().only_atom(last);
      const bool is_told = only && kernel_.forms().atom(*only).kind == AtomKind::last_pass;
      if (last != no_form && !is_told) {
        found = checks_.apply(Operation::between, checks_.constant(0), box(last));
      }
      break;
    }
    case AtomKind::quotient:
      found = apply(Operation::quotient, operands[0], operands[1]);
      break;
    case AtomKind::remainder:
      found = apply(Operation::remainder, operands[0], operands[1]);
      break;
    case AtomKind::minimum:
      found = apply(Operation::least, operands[0], operands[1]);
      break;
    case AtomKind::maximum:
      found = apply(Operation::most, operands[0], operands[1]);
      break;
    case AtomKind::select:
      found = apply(Operation::between, operands[1], operands[2]);
      break;
    default:
      break;
  }
  const bool tells_itself = atom.kind == AtomKind::parameter || atom.kind == AtomKind::special;
  if (found != told && !tells_itself) found = checks_.apply(Operation::both, told, found);
  atoms_.emplace(id, found);
  return found;
}

/// Term by term, each index for itself.
Bounds::Number Bounds::box(FormId form) {
  if (form == no_form) return checks_.range(launch_math::anything);
  if (const auto known = boxes_.find(form); known != boxes_.end()) return known->second;
  const Forms& forms = kernel_.forms();
  Number sum = checks_.constant(forms.offset_of(form));
  const std::vector<Term> terms{forms.terms_of(form).begin(), forms.terms_of(form).end()};
  for (const Term& term : terms) {
    Number product = checks_.constant(term.coefficient);
    const std::vector<AtomId> factors{forms.factors_of(term).begin(), forms.factors_of(term).end()};
    for (const AtomId factor : factors)
      product = checks_.apply(Operation::multiply, product, atom_box(factor));
    sum = checks_.apply(Operation::add, sum, product);
  }
  boxes_.emplace(form, sum);
  return sum;
}

/// Terms that are not the same in all threads.
std::size_t Bounds::indices_in(FormId form) const {
  const Forms& forms = kernel_.forms();
  return static_cast<std::size_t>(
      std::ranges::count_if(forms.terms_of(form), [&](const Term& term) {
        return !std::ranges::all_of(forms.factors_of(term),
                                    [&](AtomId id) { return is_of_launch(forms.atom(id)); });
      }));
}

/// The box, and what is known of parts of the form where the block runs: form = by × fact + rest,
/// for each `by` that leaves fewer indices.
Bounds::Number Bounds::narrowed(FormId form, std::uint32_t block, ConditionSet* conditions,
                                unsigned depth) {
  constexpr unsigned most_depth = 5;
  constexpr unsigned most_tries = 3;
  Number found = box(form);
  const std::size_t before = form == no_form ? 0 : indices_in(form);
  if (before == 0 || depth == most_depth) return found;
  Forms& forms = kernel_.forms();
  unsigned tries = 0;
  for (const auto& [fact, under] : kernel_.facts(block)) {
    if (under != 0 && conditions == nullptr) continue;
    std::vector<FormId> tried;
    for (const auto& [whole, part] : pairs_of(forms, form, fact.form)) {
      const FormId by = quotient_of(forms, whole, part);
      if (by == no_form || std::ranges::count(tried, by) != 0) continue;
      tried.push_back(by);
      const FormId rest = forms.subtract(form, forms.multiply(by, fact.form));
      if (rest == no_form || indices_in(rest) >= before || ++tries > most_tries) continue;
      const Number times =
          checks_.apply(Operation::multiply, box(by), checks_.range(range_of(fact.range)));
      const Number sum =
          checks_.apply(Operation::add, times, narrowed(rest, block, conditions, depth + 1));
      // As both are true, the tighter one is enough where it is tighter in any launch.
      const Number both = checks_.apply(Operation::both, found, sum);
      if (is_same(checks_.usual(both), checks_.usual(found)) &&
          is_same(checks_.ragged(both), checks_.ragged(found))) {
        continue;
      }
      found = both;
      if (conditions != nullptr) *conditions = kernel_.united(*conditions, under);
    }
  }
  return found;
}

// NOLINTEND(misc-no-recursion)

Bounds::Number Bounds::of(FormId form, std::uint32_t block, ConditionSet* conditions) {
  return narrowed(form, block, conditions, 0);
}

std::optional<Bounds::Number> Bounds::exactly(FormId form) {
  if (form == no_form || indices_in(form) != 0) return std::nullopt;
  return box(form);
}

bool Bounds::ensure(ConditionSet conditions, std::uint32_t block) {
  const auto is_checked = [&](const Condition& one) {
    const Number number = of(one.form, block, nullptr);
    if (!is_bounded(number)) return false;
    checks_.need_within(number, bound(one.range.low), bound(one.range.high),
                        kernel_.text(one) + " does not hold");
    return true;
  };
  return std::ranges::all_of(kernel_.open_conditions(conditions, block), is_checked);
}

bool Bounds::is_bounded(Number number) const {
  constexpr std::int64_t far = std::int64_t{1} << 50U;
  return launch_math::is_within(checks_.usual(number), -far, far);
}

}  // namespace strata::access
