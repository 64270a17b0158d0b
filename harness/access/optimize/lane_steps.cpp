#include "harness/access/optimize/lane_steps.hpp"

#include "harness/access/operands.hpp"

#include <algorithm>

namespace strata::access {

std::optional<FormId> step_of(KernelForms& kernel, FormId address, AtomKind kind,
                              std::uint32_t which) {
  Forms& forms = kernel.forms();
  bool is_there = false;
  Forms::Replaced replaced;
  if (address == no_form) return std::nullopt;
  const FormId next = forms.replace(
      address,
      [&](AtomId id) -> std::optional<FormId> {
        const Atom& atom = forms.atom(id);
        if (atom.kind != kind || atom.which != which) return std::nullopt;
        is_there = true;
        return forms.add(forms.form_of(id), forms.constant(1));
      },
      replaced);
  const FormId difference = forms.subtract(next, address);
  if (!is_there || difference == no_form) return std::nullopt;
  return difference;
}

using Operation = LaunchChecks::Operation;

bool LaneSteps::changes(const Atom& atom) const {
  return atom.kind == AtomKind::special &&
         atom.which == static_cast<std::uint32_t>(ptx::Special::tid_x) + axis_;
}

std::optional<LaneSteps::LaneTerm> LaneSteps::along(const Term& term) {
  Forms& forms = kernel_.forms();
  std::optional<AtomId> found;
  FormId times = forms.constant(term.coefficient);
  const std::vector<AtomId> factors{forms.factors_of(term).begin(), forms.factors_of(term).end()};
  for (const AtomId factor : factors) {
    const FormId form = forms.form_of(factor);
    if (!forms.mentions(form, [this](const Atom& atom) { return changes(atom); })) {
      times = forms.multiply(times, form);
    } else if (found) {
      return std::nullopt;
    } else {
      found = factor;
    }
  }
  const auto number = bounds_.exactly(times);
  if (!found || !number) return std::nullopt;
  return LaneTerm{*found, *number};
}

// Forms are bounded in depth, and so is recursion.
// NOLINTBEGIN(misc-no-recursion)

std::optional<LaneSteps::Rate> LaneSteps::rate_of_atom(AtomId id) {
  Forms& forms = kernel_.forms();
  const Atom atom = forms.atom(id);
  if (changes(atom)) return Rate{checks_.constant(1)};
  const bool divides = atom.kind == AtomKind::quotient;
  if (!divides && atom.kind != AtomKind::remainder) return std::nullopt;
  const auto by = forms.constant_of(atom.operands[1]);
  auto rate = rate_of(atom.operands[0]);
  if (!by || *by <= 0 || !rate) return std::nullopt;
  if (divides && __builtin_mul_overflow(rate->divisor, *by, &rate->divisor)) return std::nullopt;
  return rate;
}

std::optional<std::vector<LaneSteps::Part>> LaneSteps::parts_of(FormId form) {
  if (form == no_form) return std::nullopt;
  Forms& forms = kernel_.forms();
  std::vector<Part> parts;
  const std::vector<Term> terms{forms.terms_of(form).begin(), forms.terms_of(form).end()};
  for (const Term& term : terms) {
    if (!forms.mentions(forms.form_of(term), [this](const Atom& atom) { return changes(atom); }))
      continue;
    const auto part = along(term);
    const auto rate = part ? rate_of_atom(part->atom) : std::nullopt;
    if (!rate) return std::nullopt;
    parts.push_back({.bytes = part->times, .steps = rate->number, .divisor = rate->divisor});
  }
  return parts;
}

std::optional<LaneSteps::Rate> LaneSteps::rate_of(FormId form) {
  const auto parts = parts_of(form);
  if (!parts) return std::nullopt;
  std::optional<Rate> sum;
  for (const Part& one : *parts) {
    if (sum && sum->divisor != one.divisor) return std::nullopt;
    const auto number = checks_.apply(Operation::multiply, one.steps, one.bytes);
    sum = Rate{sum ? checks_.apply(Operation::add, sum->number, number) : number, one.divisor};
  }
  return sum ? sum : Rate{checks_.constant(0)};
}

// NOLINTEND(misc-no-recursion)

std::optional<std::vector<LaneSteps::Part>> LaneSteps::of(std::uint32_t instruction) {
  constexpr std::size_t most_parts = 8;
  const ptx::Instruction& one = kernel_.kernel().instructions[instruction];
  auto parts = parts_of(kernel_.address(instruction, *address_of(one)).form);
  if (parts && parts->size() > most_parts) return std::nullopt;
  return parts;
}

}  // namespace strata::access
