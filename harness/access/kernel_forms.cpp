#include "harness/access/kernel_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cxxabi.h>
#include <iterator>
#include <memory>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Special;
using ptx::Type;

constexpr std::size_t most_conditions = 16;  // per value
constexpr unsigned most_facts_asked = 24;
constexpr std::size_t most_guards = 64;
/// A larger coefficient belongs to a hash, which is meant to wrap around.
constexpr std::int64_t most_plain_coefficient = std::int64_t{1} << 24U;

unsigned width_in_bits(Type type) {
  return type == Type::pred ? 1 : 8 * ptx::bytes_of(type);
}

}  // namespace

std::string_view describe(Reason reason) {
  switch (reason) {
    case Reason::load:
      return "loaded from memory";
    case Reason::atomic:
      return "returned by an atomic";
    case Reason::call:
      return "returned by a call";
    case Reason::other_lanes:
      return "taken from other lanes";
    case Reason::floating:
      return "computed in floating point";
    case Reason::special:
      return "a register whose value the launch does not determine";
    case Reason::paths:
      return "different on several paths that meet";
    case Reason::loop:
      return "changed in a loop by more than a constant step";
    case Reason::operation:
      return "made by an instruction that is not followed";
    case Reason::size:
      return "a form that is too large";
    case Reason::undefined:
      return "read before it is written";
  }
  return "";
}

// Recursion is bounded by a depth wherever it follows the text, and by the size of forms elsewhere.
// NOLINTBEGIN(misc-no-recursion)

KernelForms::KernelForms(const ptx::Module& module, const ptx::Kernel& kernel,
                         const ControlFlow& flow, Wrapping wrapping)
    : module_(module), kernel_(kernel), flow_(flow), wrapping_(wrapping), ssa_(kernel, flow) {
  meanings_.resize(ssa_.values().size());
  is_known_.resize(ssa_.values().size());
  loops_.resize(flow.loops.size());
  sets_.emplace_back();
  first_fact_.assign(flow.blocks.size(), no_index);
  first_guard_.assign(flow.blocks.size(), no_index);
  exiting_.resize(flow.loops.size());
  for (const std::uint32_t block : flow.order) {
    for (std::uint32_t loop = flow.loop_of[block]; loop != no_index;
         loop = flow.loops[loop].parent) {
      const auto stays = [&](std::uint32_t to) { return flow.is_in(loop, to); };
      if (std::ranges::all_of(flow.blocks[block].successors, stays)) break;
      exiting_[loop].push_back(block);
    }
  }
  meanings_[0] = hide(0, Reason::undefined);
  is_known_[0] = true;
  for (const std::uint32_t block : flow.order)
    enter(block);
}

// ---------------------------------------------------------------------------------------------
// Conditions and facts.

ConditionSet KernelForms::set_of(std::vector<std::uint32_t> conditions) {
  if (conditions.empty()) return 0;
  std::size_t hash = conditions.size();
  for (const std::uint32_t one : conditions)
    hash = hash * 0x9e3779b97f4a7c15ULL + one;
  const auto [first, last] = set_index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (sets_[it->second] == conditions) return it->second;
  }
  const auto id = static_cast<ConditionSet>(sets_.size());
  sets_.push_back(std::move(conditions));
  set_index_.emplace(hash, id);
  return id;
}

ConditionSet KernelForms::united(ConditionSet a, ConditionSet b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  std::vector<std::uint32_t> all;
  std::ranges::set_union(sets_[a], sets_[b], std::back_inserter(all));
  return set_of(std::move(all));
}

ConditionSet KernelForms::condition(FormId form, const Interval& range) {
  const auto [first, last] = condition_index_.equal_range(form);
  for (auto it = first; it != last; ++it) {
    if (conditions_[it->second].range == range) return set_of({it->second});
  }
  const auto number = static_cast<std::uint32_t>(conditions_.size());
  conditions_.push_back({form, range});
  condition_index_.emplace(form, number);
  return set_of({number});
}

void KernelForms::add_fact(std::uint32_t block, FormId form, const Interval& range,
                           ConditionSet conditions) {
  if (form == no_form || forms_.constant_of(form)) return;
  facts_.push_back({form, range, conditions, block, first_fact_[block]});
  first_fact_[block] = static_cast<std::uint32_t>(facts_.size() - 1);
}

void KernelForms::add_facts(std::uint32_t block, const Meaning& predicate, bool truth,
                            unsigned depth) {
  if (predicate.form == no_form || depth > 4) return;
  const auto terms = forms_.terms_of(predicate.form);
  if (terms.size() != 1 || forms_.factors_of(terms[0]).size() != 1) return;
  const std::int64_t offset = forms_.offset_of(predicate.form);
  const std::int64_t coefficient = terms[0].coefficient;
  if (offset == 1 && coefficient == -1) {
    truth = !truth;
  } else if (offset != 0 || coefficient != 1) {
    return;
  }
  const Atom atom = forms_.atom(forms_.factors_of(terms[0])[0]);
  const Meaning first{atom.operands[0], predicate.conditions};
  const Meaning second{atom.operands[1], predicate.conditions};
  switch (atom.kind) {
    case AtomKind::both:
    case AtomKind::either:
      if ((atom.kind == AtomKind::both) != truth) return;
      add_facts(block, first, truth, depth + 1);
      add_facts(block, second, truth, depth + 1);
      return;
    case AtomKind::negative:
      add_fact(block, first.form, truth ? Interval{-unbounded, -1} : Interval{0, unbounded},
               first.conditions);
      return;
    case AtomKind::zero:
      if (truth) {
        add_fact(block, first.form, {0, 0}, first.conditions);
      } else if (forms_.range_of(first.form).low == 0) {
        add_fact(block, first.form, {1, unbounded}, first.conditions);
      } else if (forms_.range_of(first.form).high == 0) {
        add_fact(block, first.form, {-unbounded, -1}, first.conditions);
      }
      return;
    default:
      return;
  }
}

/// The factors of `other` with which subtracting it from `form` cancels a term, each once.
std::vector<std::int64_t> KernelForms::multiples_of(FormId form, FormId other) const {
  std::vector<std::int64_t> multiples;
  for (const Term& term : forms_.terms_of(other)) {
    for (const Term& own : forms_.terms_of(form)) {
      if (own.product != term.product || own.coefficient % term.coefficient != 0) continue;
      const std::int64_t by = own.coefficient / term.coefficient;
      if (std::ranges::count(multiples, by) == 0) multiples.push_back(by);
    }
  }
  return multiples;
}

std::vector<KernelForms::Known> KernelForms::facts(std::uint32_t block) const {
  std::vector<Known> known;
  for (std::uint32_t f = first_fact_[block]; f != no_index && known.size() < most_facts_asked;
       f = facts_[f].next) {
    const Fact& fact = facts_[f];
    const std::uint32_t loop = flow_.loop_of[fact.block];
    if (loop != no_index && !flow_.is_in(loop, block)) continue;
    known.push_back({{fact.form, fact.range}, fact.conditions});
  }
  return known;
}

/// With the facts that need conditions, or those that need none.
KernelForms::Proof KernelForms::narrowed(std::uint32_t block, FormId form, Proof proof,
                                         bool with_conditions) {
  unsigned asked = 0;
  for (std::uint32_t f = first_fact_[block]; f != no_index; f = facts_[f].next) {
    if (++asked > most_facts_asked) break;
    const Fact fact = facts_[f];
    const std::uint32_t loop = flow_.loop_of[fact.block];
    const bool is_meant = (fact.conditions != 0) == with_conditions;
    if (!is_meant || (loop != no_index && !flow_.is_in(loop, block))) continue;
    // form = by · fact + rest, for the multiples that cancel a term of both.
    for (const std::int64_t by : multiples_of(form, fact.form)) {
      const FormId rest = forms_.subtract(form, forms_.scale(fact.form, by));
      if (rest == no_form) continue;
      const Interval told = Interval{by, by} * fact.range + forms_.range_of(rest);
      const Interval both = both_of(proof.range, told);
      if (both == proof.range) continue;
      proof.range = both;
      proof.conditions = united(proof.conditions, fact.conditions);
    }
  }
  return proof;
}

KernelForms::Proof KernelForms::prove(std::uint32_t block, FormId form, const Interval& wanted,
                                      bool needs_no_conditions) {
  Proof proof{.range = forms_.range_of(form)};
  for (const bool with_conditions : {false, true}) {
    proof.is_proved = proof.range.within(wanted);
    if (proof.is_proved || (with_conditions && needs_no_conditions)) return proof;
    proof = narrowed(block, form, proof, with_conditions);
  }
  proof.is_proved = proof.range.within(wanted);
  return proof;
}

KernelForms::Exact KernelForms::exact(std::uint32_t block, const Meaning& meaning, unsigned bits,
                                      bool is_signed, Otherwise otherwise) {
  const FormId form = forms_.reread(meaning.form, bits, is_signed);
  if (form == no_form) return {};
  const Interval wanted = register_range(bits, is_signed);
  const Proof proof = prove(block, form, wanted);
  if (proof.is_proved) {
    return {form, united(meaning.conditions, proof.conditions), proof.range};
  }
  const auto is_plain = [](const Term& term) {
    return term.coefficient < most_plain_coefficient && term.coefficient > -most_plain_coefficient;
  };
  if (const auto number = forms_.constant_of(form); number && bits < 64) {
    // As written it had the opposite sign: the factor that replaces a division by 11, for example.
    const std::int64_t all = std::int64_t{1} << bits;
    const std::int64_t read = (*number % all + all) % all;
    const FormId reread = forms_.constant(is_signed && read >= all / 2 ? read - all : read);
    return {reread, meaning.conditions, forms_.range_of(reread)};
  }
  const bool looks_meant = std::ranges::all_of(forms_.terms_of(form), is_plain);
  const bool goes_below = !is_signed && forms_.range_of(form).low < 0;
  // A condition that holds for one value at most is useless.
  const bool never_fits = proof.range.high <= wanted.low || proof.range.low >= wanted.high;
  const bool may_wrap = bits < 64 && (wrapping_ == Wrapping::remainder || !looks_meant ||
                                      never_fits || (goes_below && otherwise == Otherwise::wrap));
  if (!may_wrap) {
    const Interval range = proof.conditions == 0 ? proof.range : forms_.range_of(form);
    return {form, united(meaning.conditions, condition(form, wanted)), both_of(range, wanted)};
  }
  const FormId all = forms_.constant(std::int64_t{1} << bits);
  if (!is_signed) {
    const FormId wrapped = forms_.remainder(form, all);
    return {wrapped, meaning.conditions, wanted};
  }
  const FormId half = forms_.constant(std::int64_t{1} << (bits - 1));
  const FormId wrapped = forms_.subtract(forms_.remainder(forms_.add(form, half), all), half);
  return {wrapped, meaning.conditions, wanted};
}

std::vector<Condition> KernelForms::open_conditions(ConditionSet conditions, std::uint32_t block) {
  std::vector<Condition> open;
  const std::vector<std::uint32_t> all = sets_[conditions];
  for (const std::uint32_t c : all) {
    const Condition one = conditions_[c];
    if (!prove(block, one.form, one.range, true).is_proved) open.push_back(one);
  }
  return open;
}

// ---------------------------------------------------------------------------------------------
// Blocks: facts from branches, then values of instructions.

Meaning KernelForms::branch_predicate(std::uint32_t block) {
  if (flow_.blocks[block].end == flow_.blocks[block].begin) return {};
  const std::uint32_t last = flow_.blocks[block].end - 1;
  const Instruction& instruction = kernel_.instructions[last];
  if (instruction.guard == no_index || instruction.opcode == "brx") return {};
  return guard(last);
}

Meaning KernelForms::guard(std::uint32_t instruction) {
  const Instruction& one = kernel_.instructions[instruction];
  if (one.guard == no_index) return {forms_.constant(1), 0};
  const ValueId value = ssa_.read(instruction, one.guard);
  if (value == no_value || !is_known_[value]) return {};
  Meaning meaning = read_value(value, flow_.block_of[instruction]);
  if (one.guard_negated) meaning.form = forms_.opposite(meaning.form);
  return meaning;
}

namespace {

/// The target of a guarded branch; no_index for ret, exit and trap.
std::uint32_t taken_block(const ptx::Kernel& kernel, const ControlFlow& flow,
                          const Instruction& branch) {
  if (branch.opcode != "bra" || branch.operands.empty() ||
      branch.operands[0].kind != Operand::Kind::label) {
    return no_index;
  }
  const std::uint32_t target = kernel.labels[branch.operands[0].index].instruction;
  return target < kernel.instructions.size() ? flow.block_of[target] : no_index;
}

}  // namespace

void KernelForms::enter(std::uint32_t block) {
  const std::uint32_t dominator = flow_.dominator[block];
  if (dominator != no_index) {
    first_fact_[block] = first_fact_[dominator];
    first_guard_[block] = first_guard_[dominator];
    const auto& predecessors = flow_.blocks[block].predecessors;
    if (predecessors.size() == 1 && predecessors[0] == dominator) {
      const Meaning predicate = branch_predicate(dominator);
      const std::uint32_t branch = flow_.blocks[dominator].end - 1;
      if (predicate.form != no_form) {
        const std::uint32_t taken = taken_block(kernel_, flow_, kernel_.instructions[branch]);
        const bool is_taken = taken == block;
        const bool leads_elsewhere = kernel_.instructions[branch].opcode != "bra" ||
                                     flow_.blocks[dominator].successors.size() > 1;
        if (leads_elsewhere) {
          add_facts(block, predicate, is_taken, 0);
          Guard guard{
              {is_taken ? predicate.form : forms_.opposite(predicate.form), predicate.conditions},
              branch};
          guards_.push_back({guard, dominator, first_guard_[block]});
          first_guard_[block] = static_cast<std::uint32_t>(guards_.size() - 1);
        }
      }
    }
  } else {
    // An index is less than its count.
    using enum Special;
    constexpr std::array<std::pair<Special, Special>, 6> pairs{{{tid_x, ntid_x},
                                                                {tid_y, ntid_y},
                                                                {tid_z, ntid_z},
                                                                {ctaid_x, nctaid_x},
                                                                {ctaid_y, nctaid_y},
                                                                {ctaid_z, nctaid_z}}};
    for (const auto& [index, count] : pairs) {
      add_fact(block, forms_.subtract(special(index), special(count)), {-unbounded, -1}, 0);
    }
  }
  const std::uint32_t loop = flow_.loop_of[block];
  if (loop != no_index && flow_.loops[loop].header == block) solve_header(block);
  for (const ValueId value : ssa_.defined_in(block))
    evaluate(value);
}

std::vector<Guard> KernelForms::guards(std::uint32_t block) const {
  std::vector<Guard> found;
  for (std::uint32_t g = first_guard_[block]; g != no_index && found.size() < most_guards;
       g = guards_[g].next) {
    const std::uint32_t loop = flow_.loop_of[guards_[g].block];
    if (loop == no_index || flow_.is_in(loop, block)) found.push_back(guards_[g].guard);
  }
  return found;
}

Meaning KernelForms::hide(ValueId value, Reason reason) {
  const auto number = static_cast<std::uint32_t>(hidden_.size());
  const Value& defined = ssa_[value];
  const std::uint32_t instruction = defined.kind == Value::Kind::instruction
                                        ? defined.instruction
                                        : flow_.blocks[defined.block].begin;
  hidden_.push_back({reason, value, instruction});
  const unsigned bits = bits_of(value);
  return {forms_.leaf(AtomKind::hidden, number, register_range(bits, false), 0, bits / 8), 0};
}

unsigned KernelForms::bits_of(ValueId value) const {
  if (value == 0) return 64;
  const unsigned bits = width_in_bits(kernel_.registers[ssa_[value].reg].type);
  return bits == 0 || bits > 64 ? 64 : bits;
}

/// Values that a block outside loops reads from inside them.
FormId KernelForms::carried_out(FormId form, std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t loop = flow_.loop_of[from]; loop != no_index && form != no_form;
       loop = flow_.loops[loop].parent) {
    if (flow_.is_in(loop, to)) break;
    Forms::Replaced replaced;
    form = forms_.replace(
        form,
        [&](AtomId id) -> std::optional<FormId> {
          const Atom atom = forms_.atom(id);
          if (atom.kind == AtomKind::counter && atom.which == loop) return loops_[loop].last;
          if (atom.kind != AtomKind::hidden) return std::nullopt;
          const Hidden hidden = hidden_[atom.which];
          if (hidden.has_left_loop || !flow_.is_in(loop, ssa_[hidden.value].block)) {
            return std::nullopt;
          }
          const auto known = left_.find(atom.which);
          const auto number =
              known != left_.end() ? known->second : static_cast<std::uint32_t>(hidden_.size());
          if (known == left_.end()) {
            hidden_.push_back({hidden.reason, hidden.value, hidden.instruction, true});
            left_.emplace(atom.which, number);
          }
          return forms_.leaf(AtomKind::hidden, number, atom.range, 0, atom.bytes, atom.is_signed);
        },
        replaced);
  }
  return form;
}

Meaning KernelForms::read_value(ValueId value, std::uint32_t block) {
  Meaning meaning = meanings_[value];
  const std::uint32_t from = ssa_[value].block;
  const std::uint32_t loop = flow_.loop_of[from];
  if (value == 0 || loop == no_index || flow_.is_in(loop, block)) return meaning;
  const FormId before = meaning.form;
  meaning.form = carried_out(meaning.form, from, block);
  if (meaning.form == no_form) return hide(value, Reason::size);
  if (meaning.form != before) {
    for (std::uint32_t l = loop; l != no_index && !flow_.is_in(l, block);
         l = flow_.loops[l].parent) {
      meaning.conditions = united(meaning.conditions, loops_[l].conditions);
    }
  }
  // Conditions on an iteration are conditions on the last one, too.
  std::vector<std::uint32_t> kept;
  const std::vector<std::uint32_t> all = sets_[meaning.conditions];
  ConditionSet moved = 0;
  for (const std::uint32_t c : all) {
    const Condition one = conditions_[c];
    const FormId form = carried_out(one.form, from, block);
    if (form == no_form) return hide(value, Reason::size);
    moved = united(moved, form == one.form ? set_of({c}) : condition(form, one.range));
  }
  meaning.conditions = moved;
  return meaning;
}

// ---------------------------------------------------------------------------------------------
// Loops.

bool KernelForms::is_invariant(ValueId value, std::uint32_t loop, unsigned depth) {
  const Value& defined = ssa_[value];
  if (value == 0 || !flow_.is_in(loop, defined.block)) return is_known_[value];
  const auto key = std::uint64_t{loop} << 32U | value;
  if (const auto known = invariant_.find(key); known != invariant_.end()) return known->second;
  const bool is_it = is_made_of_invariants(value, loop, depth);
  invariant_.emplace(key, is_it);
  return is_it;
}

bool KernelForms::is_made_of_invariants(ValueId value, std::uint32_t loop, unsigned depth) {
  const Value& defined = ssa_[value];
  if (defined.kind != Value::Kind::instruction || depth > 16 || defined.before != no_value) {
    return false;
  }
  const Instruction& instruction = kernel_.instructions[defined.instruction];
  bool all = true;
  for_each_read(instruction, [&](std::uint32_t reg) {
    const ValueId input = ssa_.read(defined.instruction, reg);
    all = all && input != no_value && is_invariant(input, loop, depth + 1);
  });
  if (!all) return false;
  evaluate(value);
  // A clock, or a value in memory, may differ in the next iteration.
  return !forms_.mentions(meanings_[value].form, [&](const Atom& atom) {
    return atom.kind == AtomKind::hidden &&
           flow_.is_in(loop, ssa_[hidden_[atom.which].value].block);
  });
}

/// Follows additions from the value of a latch back to the phi.
bool KernelForms::find_step(ValueId from, ValueId phi, std::uint32_t loop, Step& step,
                            unsigned depth) {
  if (from == phi) return true;
  if (from == no_value || from == 0 || depth > 128) return false;
  const Value& value = ssa_[from];
  if (value.kind != Value::Kind::instruction || value.before != no_value ||
      !flow_.is_in(loop, value.block)) {
    return false;
  }
  const Instruction& instruction = kernel_.instructions[value.instruction];
  const std::string_view opcode = instruction.opcode;
  const bool is_move = opcode == "mov";
  const bool has_width = is_move || width_in_bits(instruction.type()) == bits_of(phi);
  if (!has_width || !is_integer(instruction.type()) || instruction.has("cc") ||
      instruction.has("sat") || instruction.operands.size() != (is_move ? 2U : 3U)) {
    return false;
  }
  const auto follow = [&](std::size_t operand, Step& into) {
    const Operand& one = instruction.operands[operand];
    return one.kind == Operand::Kind::reg &&
           find_step(ssa_.read(value.instruction, one.index), phi, loop, into, depth + 1);
  };
  if (is_move) return follow(1, step);
  if (opcode == "sub") {
    return take_step(value.instruction, 2, loop, true, step) && follow(1, step);
  }
  if (opcode != "add") return false;
  for (const std::size_t side : {1U, 2U}) {
    Step tried = step;
    if (take_step(value.instruction, 3 - side, loop, false, tried) && follow(side, tried)) {
      step = std::move(tried);
      return true;
    }
  }
  return false;
}

/// Adds an operand to the step if it is loop-invariant.
bool KernelForms::take_step(std::uint32_t instruction, std::size_t operand, std::uint32_t loop,
                            bool is_minus, Step& into) {
  const Operand& one = kernel_.instructions[instruction].operands[operand];
  if (one.kind == Operand::Kind::integer) {
    const FormId constant =
        operand_constant(one, width_in_bits(kernel_.instructions[instruction].type()));
    into.constant =
        is_minus ? forms_.subtract(into.constant, constant) : forms_.add(into.constant, constant);
    return true;
  }
  if (one.kind != Operand::Kind::reg) return false;
  const ValueId input = ssa_.read(instruction, one.index);
  if (input == no_value || !is_invariant(input, loop, 0)) return false;
  into.values.emplace_back(input, is_minus);
  return true;
}

Meaning KernelForms::sum_of(const Step& step, std::uint32_t header) {
  Meaning sum{step.constant, 0};
  for (const auto& [value, is_minus] : step.values) {
    const Meaning one = read_value(value, header);
    sum.form = is_minus ? forms_.subtract(sum.form, one.form) : forms_.add(sum.form, one.form);
    sum.conditions = united(sum.conditions, one.conditions);
  }
  return sum;
}

/// start + iterations × step, if the phi has that form.
std::optional<KernelForms::Recurrence> KernelForms::recurrence_of(ValueId phi) {
  const std::uint32_t block = ssa_[phi].block;
  const std::uint32_t loop = flow_.loop_of[block];
  const auto& latches = flow_.loops[loop].latches;
  const auto& predecessors = flow_.blocks[block].predecessors;
  Recurrence found{.phi = phi, .bits = bits_of(phi)};
  std::vector<std::pair<std::uint32_t, Meaning>> outside;
  for (std::size_t p = 0; p < predecessors.size(); ++p) {
    if (!is_reachable(flow_, predecessors[p])) continue;
    const ValueId input = ssa_[phi].inputs[p];
    if (std::ranges::count(latches, predecessors[p]) == 0) {
      if (!is_known_[input]) return std::nullopt;
      outside.emplace_back(predecessors[p], read_value(input, block));
      continue;
    }
    Step step{.constant = forms_.constant(0)};
    if (!find_step(input, phi, loop, step, 0)) return std::nullopt;
    Meaning sum = sum_of(step, block);
    sum.form = forms_.modulo_power(sum.form, found.bits);
    if (found.step.form != no_form && found.step.form != sum.form) return std::nullopt;
    found.step = {sum.form, united(found.step.conditions, sum.conditions)};
  }
  if (outside.empty() || found.step.form == no_form) return std::nullopt;
  found.start = gated(std::move(outside), block, 0);
  if (found.start.form == no_form) return std::nullopt;
  return found;
}

/// The value of the phi, modulo 2^bits.
Meaning KernelForms::value_of(const Recurrence& one, std::uint32_t loop) {
  const LoopForms& known = loops_[loop];
  const FormId form = forms_.add(one.start.form, forms_.multiply(known.counter, one.step.form));
  return {forms_.modulo_power(form, one.bits),
          united(known.conditions, united(one.start.conditions, one.step.conditions))};
}

void KernelForms::solve_header(std::uint32_t block) {
  const std::uint32_t loop = flow_.loop_of[block];
  const std::uint32_t end = flow_.blocks[flow_.loops[loop].latches.front()].end;
  loops_[loop].line = end > 0 ? line_of(end - 1) : 0;
  std::vector<Recurrence> recurrences;
  for (const ValueId phi : ssa_.defined_in(block)) {
    // Registers are undefined before the first instruction.
    if (ssa_[phi].kind != Value::Kind::phi || block == 0) continue;
    if (auto found = recurrence_of(phi)) recurrences.push_back(*found);
  }
  count_passes(loop, recurrences);
  for (const Recurrence& one : recurrences) {
    const Meaning meaning = value_of(one, loop);
    if (meaning.form == no_form) continue;
    meanings_[one.phi] = meaning;
    is_known_[one.phi] = true;
  }
}

namespace {

/// The comparison of a setp: "lt" for lo, "" for comparisons without an order.
std::string_view relation_of(const Instruction& setp) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> words{{{"eq", "eq"},
                                                                                 {"ne", "ne"},
                                                                                 {"lt", "lt"},
                                                                                 {"le", "le"},
                                                                                 {"gt", "gt"},
                                                                                 {"ge", "ge"},
                                                                                 {"lo", "lt"},
                                                                                 {"ls", "le"},
                                                                                 {"hi", "gt"},
                                                                                 {"hs", "ge"}}};
  for (const auto& [word, meant] : words) {
    if (setp.has(word)) return meant;
  }
  return {};
}

}  // namespace

/// The test with which the loop continues, if `block` evaluates it once per iteration and otherwise
/// leaves the loop.
std::optional<KernelForms::Test> KernelForms::test_of(std::uint32_t loop, std::uint32_t block,
                                                      std::span<const Recurrence> recurrences) {
  const auto is_above = [&](std::uint32_t latch) { return flow_.dominates(block, latch); };
  if (!std::ranges::all_of(flow_.loops[loop].latches, is_above) || flow_.loop_of[block] != loop) {
    return std::nullopt;
  }
  const std::uint32_t end = flow_.blocks[block].end - 1;
  const Instruction& branch = kernel_.instructions[end];
  if (branch.opcode != "bra" || branch.guard == no_index ||
      flow_.blocks[block].successors.size() != 2) {
    return std::nullopt;
  }
  const ValueId predicate = ssa_.read(end, branch.guard);
  if (predicate == no_value || ssa_[predicate].kind != Value::Kind::instruction ||
      ssa_[predicate].before != no_value) {
    return std::nullopt;
  }
  const std::uint32_t at = ssa_[predicate].instruction;
  const Instruction& setp = kernel_.instructions[at];
  if (setp.opcode != "setp" || setp.operands.size() != 3 || !is_integer(setp.type())) {
    return std::nullopt;
  }
  const std::uint32_t taken = taken_block(kernel_, flow_, branch);
  const bool stays_if_taken = taken != no_index && flow_.is_in(loop, taken);
  for (const std::size_t side : {1U, 2U}) {
    auto test = test_on(loop, at, side, recurrences);
    if (!test) continue;
    // The relation with the tested number on the left, true if the loop continues.
    const std::string_view word = relation_of(setp);
    const bool goes_on_if_true = stays_if_taken != branch.guard_negated;
    if (word.empty()) return std::nullopt;
    if (word == "eq" || word == "ne") {
      if ((word == "ne") != goes_on_if_true) return std::nullopt;
      test->is_inequality = true;
      return test;
    }
    test->is_less = ((word[0] == 'l') != (side == 2)) == goes_on_if_true;
    test->allows_equal = (word[1] == 'e') == goes_on_if_true;
    test->is_signed = is_signed(setp.type());
    return test;
  }
  return std::nullopt;
}

/// Uses operand `side` of the setp as the tested number.
std::optional<KernelForms::Test> KernelForms::test_on(std::uint32_t loop, std::uint32_t setp,
                                                      std::size_t side,
                                                      std::span<const Recurrence> recurrences) {
  const Instruction& instruction = kernel_.instructions[setp];
  const Operand& tested = instruction.operands[side];
  const Operand& limit = instruction.operands[3 - side];
  if (tested.kind != Operand::Kind::reg) return std::nullopt;
  const std::uint32_t header = flow_.loops[loop].header;
  const unsigned bits = width_in_bits(instruction.type());
  const ValueId from = ssa_.read(setp, tested.index);
  for (const Recurrence& one : recurrences) {
    Step steps{.constant = forms_.constant(0)};
    if (one.bits != bits || !find_step(from, one.phi, loop, steps, 0)) continue;
    Test test{.of = &one, .ahead = sum_of(steps, header)};
    test.ahead.form = forms_.modulo_power(test.ahead.form, bits);
    if (limit.kind == Operand::Kind::integer) {
      test.bound = {operand_constant(limit, bits), 0};
    } else if (limit.kind == Operand::Kind::reg) {
      const ValueId value = ssa_.read(setp, limit.index);
      if (value == no_value || !is_invariant(value, loop, 0)) return std::nullopt;
      test.bound = read_value(value, header);
    }
    if (test.ahead.form == no_form || test.bound.form == no_form) return std::nullopt;
    test.conditions = united(united(one.start.conditions, one.step.conditions),
                             united(test.ahead.conditions, test.bound.conditions));
    return test;
  }
  return std::nullopt;
}

/// Until a number is reached: (bound − start − ahead) ÷ step iterations precede the last one; the
/// division must have no remainder.
std::optional<KernelForms::Passes> KernelForms::passes_until_equal(const Test& test,
                                                                   std::uint32_t header) {
  const unsigned bits = test.of->bits;
  const auto by = forms_.constant_of(test.of->step.form);
  if (!by || *by == 0) return std::nullopt;
  FormId distance =
      forms_.subtract(forms_.subtract(test.bound.form, test.of->start.form), test.ahead.form);
  if (*by < 0) distance = forms_.scale(distance, -1);
  distance = forms_.modulo_power(distance, bits);
  if (distance == no_form) return std::nullopt;
  const std::int64_t size = *by < 0 ? -*by : *by;
  const FormId rest = forms_.remainder(distance, forms_.constant(size));
  if (forms_.constant_of(rest) != std::int64_t{0}) return std::nullopt;
  const Exact even = exact(header, {distance, test.conditions}, bits, false, Otherwise::condition);
  if (even.form == no_form) return std::nullopt;
  return Passes{.last = forms_.quotient(even.form, forms_.constant(size), even.range),
                .most = even.range.high / size,
                .conditions = even.conditions,
                .carried = {}};
}

/// While a number is less than a bound. A decreasing number is mirrored at 0.
std::optional<KernelForms::Passes> KernelForms::passes_while_less(const Test& test,
                                                                  std::uint32_t header) {
  const unsigned bits = test.of->bits;
  const int sign = test.is_less ? 1 : -1;
  const auto mirrored = [&](const Interval& range) {
    return sign > 0 ? range : Interval{-range.high, -range.low};
  };
  const Exact first = exact(header, {test.of->start.form, test.conditions}, bits, test.is_signed,
                            Otherwise::condition);
  const Exact bound =
      exact(header, {test.bound.form, 0}, bits, test.is_signed, Otherwise::condition);
  const FormId start = forms_.scale(first.form, sign);
  const FormId ahead = forms_.scale(test.ahead.form, sign);
  const FormId step = forms_.scale(test.of->step.form, sign);
  const FormId limit =
      forms_.add(forms_.scale(bound.form, sign), forms_.constant(test.allows_equal ? 1 : 0));
  if (step == no_form || forms_.range_of(step).low < 1) return std::nullopt;
  // No tested or carried number exceeds the range of its register.
  const FormId less_than_step = forms_.subtract(step, forms_.constant(1));
  const FormId reach = forms_.add(limit, less_than_step);
  const FormId reach_carried = forms_.subtract(reach, ahead);
  const FormId first_tested = forms_.add(start, ahead);
  const FormId distance = forms_.subtract(limit, first_tested);
  const FormId rounded = forms_.add(distance, less_than_step);
  if (reach_carried == no_form || rounded == no_form) return std::nullopt;
  const Interval domain = mirrored(register_range(bits, test.is_signed));
  ConditionSet conditions = united(first.conditions, bound.conditions);
  const auto need = [&](FormId form, const Interval& range) {
    const Proof fits = prove(header, form, range);
    conditions = united(conditions, fits.is_proved ? fits.conditions : condition(form, range));
  };
  need(reach, {-unbounded, domain.high});
  need(reach_carried, {-unbounded, domain.high});
  need(first_tested, domain);
  const Proof far = prove(header, distance, {0, 0}, true);
  const Int128 least = forms_.range_of(step).low;
  const Interval begins = mirrored(first.range);
  const Interval carried{begins.low, std::max(begins.high, forms_.range_of(reach_carried).high)};
  return Passes{
      .last = forms_.extreme(AtomKind::maximum, forms_.constant(0), forms_.quotient(rounded, step)),
      .most = far.range.high <= 0 ? Int128{0} : (far.range.high + least - 1) / least,
      .conditions = conditions,
      .carried = mirrored(carried)};
}

void KernelForms::count_passes(std::uint32_t loop, std::span<const Recurrence> recurrences) {
  LoopForms& known = loops_[loop];
  const std::uint32_t header = flow_.loops[loop].header;
  const auto leaves = [&](std::uint32_t to) { return !flow_.is_in(loop, to); };
  std::ptrdiff_t exits = 0;
  for (const std::uint32_t block : exiting_[loop])
    exits += std::ranges::count_if(flow_.blocks[block].successors, leaves);
  Int128 most = std::numeric_limits<std::int64_t>::max();
  FormId closed = no_form;
  std::vector<std::pair<Test, Passes>> found;
  for (const std::uint32_t block : exiting_[loop]) {
    const auto test = test_of(loop, block, recurrences);
    if (!test) continue;
    const auto passes =
        test->is_inequality ? passes_until_equal(*test, header) : passes_while_less(*test, header);
    if (!passes) continue;
    const bool tells_last = exits == 1 && passes->last != no_form;
    if (passes->most >= most && !tells_last) continue;
    most = std::min(most, passes->most);
    if (tells_last) closed = passes->last;
    known.conditions = united(known.conditions, passes->conditions);
    found.emplace_back(*test, *passes);
  }
  known.counter = forms_.leaf(AtomKind::counter, loop, {0, most});
  known.last = closed != no_form ? closed : forms_.leaf(AtomKind::last_pass, loop, {0, most});
  for (const auto& [test, passes] : found) {
    if (!passes.carried) continue;
    const FormId form = forms_.reread(value_of(*test.of, loop).form, test.of->bits, test.is_signed);
    add_fact(header, form, *passes.carried, passes.conditions);
  }
}

// ---------------------------------------------------------------------------------------------
// Where paths meet.

/// The successor of block `top` through which the edge from `from` to `join` is reached, if there
/// is only one.
std::optional<std::uint32_t> KernelForms::arm_of(std::uint32_t top, std::uint32_t from,
                                                 std::uint32_t join) const {
  for (const std::uint32_t successor : flow_.blocks[top].successors) {
    const bool is_edge = from == top && successor == join;
    const bool is_arm = from != top && successor != join &&
                        flow_.blocks[successor].predecessors.size() == 1 &&
                        flow_.dominates(successor, from);
    if (is_edge || is_arm) return successor;
  }
  return std::nullopt;
}

/// Selects among the values from these edges by the branches that separate them.
Meaning KernelForms::gated(std::vector<std::pair<std::uint32_t, Meaning>> inputs,
                           std::uint32_t join, unsigned depth) {
  Meaning same = inputs.front().second;
  bool is_same = true;
  for (const auto& [block, meaning] : inputs) {
    is_same = is_same && meaning.form == same.form;
    same.conditions = united(same.conditions, meaning.conditions);
  }
  if (is_same) return same;
  if (depth > 6) return {};
  // The nearest block on the path of all edges.
  std::uint32_t top = inputs.front().first;
  const auto is_above = [&](const auto& input) { return flow_.dominates(top, input.first); };
  while (top != no_index && !std::ranges::all_of(inputs, is_above))
    top = flow_.dominator[top];
  if (top == no_index || flow_.blocks[top].successors.size() != 2) return {};
  const Meaning predicate = branch_predicate(top);
  if (predicate.form == no_form) return {};
  const std::uint32_t taken =
      taken_block(kernel_, flow_, kernel_.instructions[flow_.blocks[top].end - 1]);
  std::vector<std::pair<std::uint32_t, Meaning>> yes;
  std::vector<std::pair<std::uint32_t, Meaning>> no;
  for (const auto& input : inputs) {
    const auto successor = arm_of(top, input.first, join);
    if (!successor) return {};
    (*successor == taken ? yes : no).push_back(input);
  }
  if (yes.empty() || no.empty()) return {};
  const Meaning first = gated(std::move(yes), join, depth + 1);
  const Meaning second = gated(std::move(no), join, depth + 1);
  const FormId told = carried_out(predicate.form, top, join);
  return {chosen(join, told, first.form, second.form),
          united(predicate.conditions, united(first.conditions, second.conditions))};
}

/// A selection whose range uses what the predicate implies for either side.
FormId KernelForms::chosen(std::uint32_t block, FormId predicate, FormId yes, FormId no) {
  if (predicate == no_form || yes == no_form || no == no_form) return no_form;
  const auto given = [&](FormId form, bool truth) {
    const std::uint32_t before = first_fact_[block];
    add_facts(block, {predicate, 0}, truth, 0);
    constexpr Interval never{1, 0};
    const Interval range = prove(block, form, never, true).range;
    first_fact_[block] = before;
    return range;
  };
  const Interval one = given(yes, true);
  const Interval other = given(no, false);
  return forms_.select(predicate, yes, no,
                       {std::min(one.low, other.low), std::max(one.high, other.high)});
}

Meaning KernelForms::meaning_of_phi(ValueId phi) {
  const Value& value = ssa_[phi];
  const std::uint32_t loop = flow_.loop_of[value.block];
  if (value.block == 0 || (loop != no_index && flow_.loops[loop].header == value.block)) {
    return hide(phi, Reason::loop);
  }
  std::vector<std::pair<std::uint32_t, Meaning>> inputs;
  for (std::size_t p = 0; p < value.inputs.size(); ++p) {
    const std::uint32_t block = flow_.blocks[value.block].predecessors[p];
    if (!is_reachable(flow_, block)) continue;
    if (!is_known_[value.inputs[p]]) return hide(phi, Reason::paths);
    inputs.emplace_back(block, read_value(value.inputs[p], value.block));
  }
  if (inputs.empty()) return hide(phi, Reason::undefined);
  const Meaning meaning = gated(std::move(inputs), value.block, 0);
  return meaning.form == no_form ? hide(phi, Reason::paths) : meaning;
}

// ---------------------------------------------------------------------------------------------
// Instructions.

FormId KernelForms::operand_constant(const Operand& operand, unsigned bits) {
  return forms_.modulo_power(forms_.constant(static_cast<std::int64_t>(operand.bits)), bits);
}

FormId KernelForms::special(Special which) {
  using enum Special;
  constexpr Int128 most_blocks = (Int128{1} << 31U) - 1;
  constexpr Int128 most_blocks_across = 65535;
  const auto threads = [&](std::size_t axis) -> Interval {
    const std::uint32_t required = kernel_.required_block[axis];
    const bool is_required = kernel_.required_block[0] != 0;
    if (is_required) return {std::max(required, 1U), std::max(required, 1U)};
    const auto& most = kernel_.most_block;
    Int128 limit = axis == 2 ? 64 : 1024;
    // .maxntid limits only the product: blocks of other shapes may be launched.
    if (most[0] != 0) {
      Int128 product = 1;
      for (const std::uint32_t side : most)
        product *= std::max(side, 1U);
      limit = std::min(limit, product);
    }
    return {1, limit};
  };
  const auto leaf = [&](const Interval& range) {
    return forms_.leaf(AtomKind::special, static_cast<std::uint32_t>(which), range);
  };
  switch (which) {
    case tid_x:
    case tid_y:
    case tid_z: {
      const auto axis = static_cast<std::size_t>(which) - static_cast<std::size_t>(tid_x);
      return leaf({0, threads(axis).high - 1});
    }
    case ntid_x:
    case ntid_y:
    case ntid_z:
      return leaf(threads(static_cast<std::size_t>(which) - static_cast<std::size_t>(ntid_x)));
    case ctaid_x:
      return leaf({0, most_blocks - 1});
    case ctaid_y:
    case ctaid_z:
      return leaf({0, most_blocks_across - 1});
    case nctaid_x:
      return leaf({1, most_blocks});
    case nctaid_y:
    case nctaid_z:
      return leaf({1, most_blocks_across});
    case laneid:
      return leaf({0, 31});
    case dynamic_smem_size:
    case total_smem_size:
      return leaf({0, Int128{1} << 20U});
    case cluster_ctaid_x:
    case cluster_ctaid_y:
    case cluster_ctaid_z:
    case cluster_ctarank:
      return leaf({0, 15});
    case cluster_nctaid_x:
    case cluster_nctaid_y:
    case cluster_nctaid_z:
    case cluster_nctarank:
      return leaf({1, 16});
    default:
      return no_form;
  }
}

Meaning KernelForms::operand(std::uint32_t instruction, const Operand& operand, unsigned bits) {
  switch (operand.kind) {
    case Operand::Kind::integer:
      return {operand_constant(operand, bits), 0};
    case Operand::Kind::special:
      return {special(operand.special), 0};
    case Operand::Kind::symbol: {
      const ptx::Symbol& symbol = module_.symbols[operand.index];
      // A block has less than a megabyte of shared memory, in its own window.
      const Interval range = symbol.space == ptx::Space::shared
                                 ? Interval{0, (Int128{1} << 20U) - 1}
                                 : register_range(64, false);
      const FormId base = forms_.leaf(AtomKind::symbol, operand.index, range);
      return {forms_.add(base, forms_.constant(operand.offset)), 0};
    }
    case Operand::Kind::reg: {
      const ValueId value = ssa_.read(instruction, operand.index);
      if (value == no_value || !is_known_[value]) return {};
      Meaning meaning = read_value(value, flow_.block_of[instruction]);
      if (operand.negated) meaning.form = forms_.opposite(meaning.form);
      return meaning;
    }
    default:
      return {};
  }
}

Meaning KernelForms::address(std::uint32_t instruction, const Operand& operand_of) {
  // A list in brackets belongs to tensor copies and textures; its items are not memory addresses.
  if (!operand_of.items.empty()) return {};
  const Operand base{.kind = operand_of.kind,
                     .special = operand_of.special,
                     .index = operand_of.index,
                     .bits = operand_of.bits};
  Meaning meaning = operand(instruction, base, 64);
  if (meaning.form == no_form) return {};
  if (operand_of.kind == Operand::Kind::reg &&
      width_in_bits(kernel_.registers[operand_of.index].type) == 32) {
    // A 32-bit address, usually in shared memory, is a number of its own.
    const Exact number =
        exact(flow_.block_of[instruction], meaning, 32, false, Otherwise::condition);
    meaning = {number.form, number.conditions};
  }
  meaning.form = forms_.add(meaning.form, forms_.constant(operand_of.offset));
  return meaning;
}

void KernelForms::evaluate(ValueId id) {
  if (is_known_[id]) return;
  const Value value = ssa_[id];
  Meaning meaning;
  if (value.kind == Value::Kind::phi) {
    meaning = meaning_of_phi(id);
  } else if (value.kind == Value::Kind::instruction) {
    const Instruction& instruction = kernel_.instructions[value.instruction];
    meaning = meaning_of(id, instruction);
    if (meaning.form == no_form || sets_[meaning.conditions].size() > most_conditions) {
      meaning = hide(id, Reason::size);
    }
    if (value.before != no_value) {
      const Meaning runs = guard(value.instruction);
      const Meaning before =
          is_known_[value.before] ? read_value(value.before, value.block) : Meaning{};
      if (runs.form == no_form || before.form == no_form) {
        meaning = hide(id, Reason::paths);
      } else {
        meaning = {forms_.select(runs.form, meaning.form, before.form),
                   united(runs.conditions, united(meaning.conditions, before.conditions))};
        if (meaning.form == no_form) meaning = hide(id, Reason::size);
      }
    }
  } else {
    meaning = hide(id, Reason::undefined);
  }
  meanings_[id] = meaning;
  is_known_[id] = true;
}

Meaning KernelForms::loaded(ValueId id, const Instruction& instruction) {
  const Value& value = ssa_[id];
  const Operand& place = instruction.operands.back();
  const Type type = instruction.type();
  const unsigned bytes = ptx::bytes_of(type);
  if (instruction.opcode != "ld" || instruction.operands.size() != 2 || bytes == 0 || bytes > 8) {
    return hide(id, instruction.opcode == "atom" ? Reason::atomic : Reason::load);
  }
  const Meaning at = address(value.instruction, place);
  if (at.form == no_form) return hide(id, Reason::load);
  // A parameter of this kernel, by name or through a register with its address.
  for (const Term& term : forms_.terms_of(at.form)) {
    const auto factors = forms_.factors_of(term);
    if (factors.size() != 1 || term.coefficient != 1) continue;
    const AtomId base_id = factors[0];
    const Atom base = forms_.atom(base_id);
    if (base.kind != AtomKind::symbol || std::ranges::count(kernel_.params, base.which) == 0) {
      continue;
    }
    const FormId offset = forms_.add(forms_.subtract(at.form, forms_.form_of(base_id)),
                                     forms_.constant(std::int64_t{value.item} * bytes));
    const bool reads_signed = is_signed(type);
    if (offset == no_form) return {};
    const auto fixed = forms_.constant_of(offset);
    FormId form = no_form;
    const auto inside = static_cast<std::int64_t>(module_.symbols[base.which].bytes) - bytes;
    if (fixed && *fixed >= 0 && *fixed <= inside) {
      form = forms_.leaf(AtomKind::parameter, base.which, register_range(8 * bytes, reads_signed),
                         static_cast<std::uint64_t>(*fixed), bytes, reads_signed);
    } else {
      form = forms_.table(base.which, offset, bytes, reads_signed);
    }
    if (bits_of(id) == 8 * bytes) form = forms_.modulo_power(form, bits_of(id));
    return {form, at.conditions};
  }
  return hide(id, Reason::load);
}

/// Equal modulo 2^bits: the difference is too small to wrap around, or both are read as numbers.
Meaning KernelForms::equal(std::uint32_t block, const Meaning& a, const Meaning& b, unsigned bits) {
  const FormId difference =
      forms_.subtract(forms_.modulo_power(a.form, bits), forms_.modulo_power(b.form, bits));
  const Int128 all = Int128{1} << bits;
  if (difference != no_form && forms_.range_of(difference).within({1 - all, all - 1})) {
    return {forms_.zero(difference), united(a.conditions, b.conditions)};
  }
  const Exact one = exact(block, a, bits, false, Otherwise::wrap);
  const Exact other = exact(block, b, bits, false, Otherwise::wrap);
  return {forms_.zero(forms_.subtract(one.form, other.form)),
          united(one.conditions, other.conditions)};
}

Meaning KernelForms::less(std::uint32_t block, const Meaning& a, const Meaning& b, unsigned bits,
                          bool is_signed) {
  const Exact one = exact(block, a, bits, is_signed, Otherwise::wrap);
  const Exact other = exact(block, b, bits, is_signed, Otherwise::wrap);
  return {forms_.negative(forms_.subtract(one.form, other.form), one.range - other.range),
          united(one.conditions, other.conditions)};
}

Meaning KernelForms::compared(const Value& value, const Instruction& instruction) {
  const Type type = instruction.type();
  const unsigned bits = width_in_bits(type);
  const std::uint32_t at = value.instruction;
  const std::size_t written = written_operands(instruction);
  const std::string_view word = relation_of(instruction);
  if (!is_integer(type) || word.empty() || instruction.operands.size() < written + 2) return {};
  const Meaning a = operand(at, instruction.operands[written], bits);
  const Meaning b = operand(at, instruction.operands[written + 1], bits);
  if (a.form == no_form || b.form == no_form) return {};
  // a ≤ b is not b < a.
  Meaning result;
  if (word == "eq" || word == "ne") {
    result = equal(value.block, a, b, bits);
  } else if (word == "lt" || word == "ge") {
    result = less(value.block, a, b, bits, is_signed(type));
  } else {
    result = less(value.block, b, a, bits, is_signed(type));
  }
  const bool is_opposite = word == "ne" || word == "le" || word == "ge";
  if (is_opposite != (value.operand == 1)) result.form = forms_.opposite(result.form);
  if (instruction.operands.size() == written + 2) return result;
  const Meaning with = operand(at, instruction.operands[written + 2], 1);
  return combined(instruction.has("and")  ? "and"
                  : instruction.has("or") ? "or"
                                          : "xor",
                  result, with);
}

/// Combines two predicates; "not" uses only the first.
Meaning KernelForms::combined(std::string_view word, const Meaning& a, const Meaning& b) {
  const ConditionSet conditions = united(a.conditions, b.conditions);
  if (word == "not") return {forms_.opposite(a.form), a.conditions};
  if (word == "and") return {forms_.both(a.form, b.form), conditions};
  if (word == "or") return {forms_.either(a.form, b.form), conditions};
  return {forms_.select(b.form, forms_.opposite(a.form), a.form), conditions};
}

Meaning KernelForms::converted(const Value& value, const Instruction& instruction) {
  const Type to = instruction.type(1);
  const Type from = instruction.type(0);
  if (!is_integer(to) || !is_integer(from) || instruction.has("sat") ||
      instruction.operands.size() != 2) {
    return {};
  }
  const unsigned to_bits = width_in_bits(to);
  const unsigned from_bits = width_in_bits(from);
  const unsigned register_bits = width_in_bits(kernel_.registers[value.reg].type);
  const std::uint32_t block = flow_.block_of[value.instruction];
  const Meaning in = operand(value.instruction, instruction.operands[1], from_bits);
  if (in.form == no_form) return {};
  if (to_bits > from_bits) {
    const Exact number = exact(block, in, from_bits, is_signed(from), Otherwise::condition);
    if (number.form == no_form) return {};
    return {forms_.modulo_power(number.form, register_bits), number.conditions};
  }
  if (to_bits == register_bits) return {forms_.modulo_power(in.form, to_bits), in.conditions};
  // Into a wider register: truncated, then extended.
  const Exact number = exact(block, {forms_.modulo_power(in.form, to_bits), in.conditions}, to_bits,
                             is_signed(to), Otherwise::wrap);
  return {number.form, number.conditions};
}

/// mov, which also packs and unpacks vectors.
Meaning KernelForms::moved(ValueId id, const Instruction& instruction) {
  const Value& value = ssa_[id];
  const auto& operands = instruction.operands;
  const unsigned bits = width_in_bits(instruction.type());
  if (operands.size() != 2) return {};
  const Operand& from = operands[1];
  const auto whole_number = [&](const Operand& part, unsigned width) {
    const Meaning read = operand(value.instruction, part, width);
    return exact(value.block, read, width, false, Otherwise::condition);
  };
  if (from.kind == Operand::Kind::vector) {
    // The first element is the lowest.
    const auto count = static_cast<unsigned>(from.items.size());
    if (operands[0].kind == Operand::Kind::vector || count < 2 || bits > 64) return {};
    Meaning sum{forms_.constant(0), 0};
    for (unsigned i = 0; i < count; ++i) {
      const Exact part = whole_number(from.items[i], bits / count);
      const std::int64_t factor = std::int64_t{1} << (bits / count * i);
      sum = {forms_.add(sum.form, forms_.scale(part.form, factor)),
             united(sum.conditions, part.conditions)};
    }
    return {forms_.modulo_power(sum.form, bits), sum.conditions};
  }
  if (operands[0].kind == Operand::Kind::vector) {
    const unsigned width = bits / static_cast<unsigned>(operands[0].items.size());
    const unsigned place = width * value.item;
    if (place == 0) {
      const Meaning all = operand(value.instruction, from, bits);
      return {forms_.modulo_power(all.form, width), all.conditions};
    }
    if (place > 62) return {};
    const Exact all = whole_number(from, bits);
    const FormId part =
        forms_.quotient(all.form, forms_.constant(std::int64_t{1} << place), all.range);
    return {forms_.modulo_power(part, width), all.conditions};
  }
  const Meaning whole = operand(value.instruction, from, bits);
  if (instruction.type() == Type::pred) return whole;
  return {forms_.modulo_power(whole.form, bits), whole.conditions};
}

/// Of mul and mad.
Meaning KernelForms::multiplied(const Value& value, const Instruction& instruction,
                                const Sources& in) {
  const unsigned bits = in.bits;
  const bool is_wide = instruction.has("wide");
  Meaning product{forms_.multiply(in.a.form, in.b.form), united(in.a.conditions, in.b.conditions)};
  if (!instruction.has("lo")) {
    if (bits > 32) return {};
    const Exact one = exact(value.block, in.a, bits, in.is_signed, Otherwise::condition);
    const Exact other = exact(value.block, in.b, bits, in.is_signed, Otherwise::condition);
    product = {forms_.multiply(one.form, other.form), united(one.conditions, other.conditions)};
    if (instruction.has("hi")) {
      product.form = forms_.quotient(product.form, forms_.constant(std::int64_t{1} << bits),
                                     one.range * other.range);
    }
  }
  const unsigned width = is_wide ? 2 * bits : bits;
  if (instruction.opcode == "mad") {
    const Meaning added = operand(value.instruction, instruction.operands[3], width);
    product = {forms_.add(product.form, added.form), united(product.conditions, added.conditions)};
  }
  return {forms_.modulo_power(product.form, width), product.conditions};
}

/// The factor or divisor of a shift by an unknown distance, which must be less than the bits of the
/// register.
Meaning KernelForms::power_of(std::uint32_t block, const Meaning& amount, unsigned bits) {
  const Exact by = exact(block, amount, 32, false, Otherwise::condition);
  const Interval wanted{0, std::min(bits, 32U) - 1};
  if (by.form == no_form) return {};
  const ConditionSet fits = by.range.within(wanted) ? 0 : condition(by.form, wanted);
  return {forms_.power(by.form), united(by.conditions, fits)};
}

/// Of shl and shr.
Meaning KernelForms::shifted(const Value& value, const Instruction& instruction,
                             const Sources& in) {
  const bool is_left = instruction.opcode == "shl";
  const auto whole = [&] {
    return exact(value.block, in.a, in.bits, in.is_signed, Otherwise::condition);
  };
  const auto known = forms_.constant_of(in.b.form);
  if (!known) {
    const Meaning power = power_of(value.block, in.b, in.bits);
    if (is_left) {
      return {forms_.modulo_power(forms_.multiply(in.a.form, power.form), in.bits),
              united(in.a.conditions, power.conditions)};
    }
    const Exact number = whole();
    return {forms_.modulo_power(forms_.quotient(number.form, power.form, number.range), in.bits),
            united(number.conditions, power.conditions)};
  }
  const auto bits = std::int64_t{in.bits};
  const std::int64_t by = *known < 0 || *known > bits ? bits : *known;
  const bool is_sign = !is_left && in.is_signed && by >= bits - 1;
  if (by >= bits && !is_sign) return {forms_.constant(0), 0};
  if (is_left) {
    if (by > 62) return {};
    return {forms_.modulo_power(forms_.scale(in.a.form, std::int64_t{1} << by), in.bits),
            in.a.conditions};
  }
  const Exact number = whole();
  FormId form = no_form;
  if (is_sign) {
    form = forms_.scale(forms_.negative(number.form, number.range), -1);  // 0 or −1
  } else if (by <= 62) {
    form = forms_.quotient(number.form, forms_.constant(std::int64_t{1} << by), number.range);
  }
  return {forms_.modulo_power(form, in.bits), number.conditions};
}

/// Minimum or maximum of two; one of them if it is known which.
FormId KernelForms::extreme(std::uint32_t block, FormId one, FormId other, bool is_least) {
  const FormId difference = forms_.subtract(one, other);
  const auto is_known = [&](const Interval& range) {
    return difference != no_form && prove(block, difference, range, true).is_proved;
  };
  if (is_known({-unbounded, 0})) return is_least ? one : other;  // threadIdx.x and blockDim.x
  if (is_known({0, unbounded})) return is_least ? other : one;
  return forms_.extreme(is_least ? AtomKind::minimum : AtomKind::maximum, one, other);
}

/// Of div, rem, min and max.
Meaning KernelForms::divided(const Value& value, const Instruction& instruction,
                             const Sources& in) {
  const bool is_division = instruction.opcode == "div" || instruction.opcode == "rem";
  const Otherwise otherwise = is_division ? Otherwise::condition : Otherwise::wrap;
  const Exact one = exact(value.block, in.a, in.bits, in.is_signed, otherwise);
  const Exact other = exact(value.block, in.b, in.bits, in.is_signed, otherwise);
  if (one.form == no_form || other.form == no_form) return {};
  FormId form = no_form;
  if (!is_division) {
    form = extreme(value.block, one.form, other.form, instruction.opcode == "min");
  } else if (in.is_signed && (one.range.low < 0 || other.range.low <= 0)) {
    form = forms_.truncated(
        instruction.opcode == "div" ? AtomKind::truncated_quotient : AtomKind::truncated_remainder,
        one.form, other.form);
  } else if (instruction.opcode == "div") {
    form = forms_.quotient(one.form, other.form, one.range);
  } else {
    form = forms_.remainder(one.form, other.form, one.range);
  }
  return {forms_.modulo_power(form, in.bits), united(one.conditions, other.conditions)};
}

/// Of bfe, bfi and prmt with known places.
Meaning KernelForms::rearranged(const Value& value, const Instruction& instruction,
                                const Sources& in) {
  const auto number = [&](std::size_t at) {
    return forms_.constant_of(operand(value.instruction, instruction.operands[at], 32).form);
  };
  const auto below = [&](FormId form, std::int64_t bits) {
    return forms_.remainder(form, forms_.constant(std::int64_t{1} << bits));
  };
  const auto fits = [&](const std::optional<std::int64_t>& from,
                        const std::optional<std::int64_t>& count) {
    return from && count && *from >= 0 && *count >= 0 &&
           *from + *count <= std::min<std::int64_t>(in.bits, 62);
  };
  const ConditionSet conditions = united(in.a.conditions, in.b.conditions);
  if (instruction.opcode == "bfe") {
    const auto from = forms_.constant_of(in.b.form);
    const auto count = number(3);
    if (!fits(from, count)) return {};
    FormId form = forms_.quotient(below(in.a.form, *from + *count),
                                  forms_.constant(std::int64_t{1} << *from));
    if (in.is_signed && *count > 0) {  // the highest bit is negative
      const FormId highest =
          forms_.quotient(form, forms_.constant(std::int64_t{1} << (*count - 1)));
      form = forms_.subtract(form, forms_.scale(highest, std::int64_t{1} << *count));
    }
    return {form, conditions};
  }
  if (instruction.opcode == "bfi") {
    const auto from = number(3);
    const auto count = number(4);
    if (!fits(from, count)) return {};
    const FormId cleared = forms_.add(forms_.subtract(in.b.form, below(in.b.form, *from + *count)),
                                      below(in.b.form, *from));
    const FormId inserted = forms_.scale(below(in.a.form, *count), std::int64_t{1} << *from);
    return {forms_.modulo_power(forms_.add(cleared, inserted), in.bits), conditions};
  }
  const auto selector = number(3);
  if (!selector || instruction.modifiers.size() != 1) return {};
  FormId sum = forms_.constant(0);
  for (unsigned place = 0; place < 4; ++place) {
    const auto from = static_cast<unsigned>(*selector >> (4 * place) & 15);
    if (from > 7) return {};  // a replicated sign
    const FormId up_to = below(from < 4 ? in.a.form : in.b.form, std::int64_t{8} * (from % 4 + 1));
    const FormId byte =
        forms_.quotient(up_to, forms_.constant(std::int64_t{1} << (8 * (from % 4))));
    sum = forms_.add(sum, forms_.scale(byte, std::int64_t{1} << (8 * place)));
  }
  return {forms_.modulo_power(sum, in.bits), conditions};
}

namespace {

/// Destination and sources of an integer instruction without flags.
std::size_t operands_of(std::string_view opcode) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 8> others{{{"neg", 2},
                                                                            {"not", 2},
                                                                            {"abs", 2},
                                                                            {"mad", 4},
                                                                            {"selp", 4},
                                                                            {"bfe", 4},
                                                                            {"prmt", 4},
                                                                            {"bfi", 5}}};
  for (const auto& [word, count] : others) {
    if (word == opcode) return count;
  }
  return 3;
}

}  // namespace

/// Of integer instructions that need no flags.
Meaning KernelForms::computed(const Value& value, const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, opcode) != words.end();
  };
  const auto& operands = instruction.operands;
  const bool is_unary = is_one_of({"neg", "not", "abs"});
  if (operands.size() != operands_of(opcode)) return {};
  Sources in{.bits = width_in_bits(instruction.type()), .is_signed = is_signed(instruction.type())};
  in.a = operand(value.instruction, operands[1], in.bits);
  in.b =
      is_unary ? Meaning{forms_.constant(0), 0} : operand(value.instruction, operands[2], in.bits);
  // The weight of a 64-bit sign is too large for a form. For a non-negative number it does not
  // matter.
  constexpr Int128 sign = Int128{1} << 63U;
  if (opcode == "and" && operands[2].kind == Operand::Kind::integer &&
      operands[2].bits == static_cast<std::uint64_t>(sign) && in.a.form != no_form &&
      forms_.range_of(in.a.form).within({0, sign - 1})) {
    return {forms_.constant(0), in.a.conditions};
  }
  if (in.a.form == no_form || in.b.form == no_form) return {};
  if (instruction.type() == Type::pred) {
    return is_one_of({"not", "and", "or", "xor"}) ? combined(opcode, in.a, in.b) : Meaning{};
  }
  const auto made = [&](FormId form) -> Meaning {
    return {forms_.modulo_power(form, in.bits), united(in.a.conditions, in.b.conditions)};
  };
  if (opcode == "add") return made(forms_.add(in.a.form, in.b.form));
  if (opcode == "sub") return made(forms_.subtract(in.a.form, in.b.form));
  if (opcode == "neg") return made(forms_.scale(in.a.form, -1));
  if (opcode == "not") return made(forms_.subtract(forms_.constant(-1), in.a.form));
  if (is_one_of({"and", "or", "xor"})) {
    const AtomKind kind = opcode == "and"  ? AtomKind::bit_and
                          : opcode == "or" ? AtomKind::bit_or
                                           : AtomKind::bit_xor;
    return made(forms_.bits(kind, in.a.form, in.b.form));
  }
  if (is_one_of({"mul", "mad"})) return multiplied(value, instruction, in);
  if (is_one_of({"shl", "shr"})) return shifted(value, instruction, in);
  if (is_one_of({"div", "rem", "min", "max"})) return divided(value, instruction, in);
  if (is_one_of({"bfe", "bfi", "prmt"})) return rearranged(value, instruction, in);
  if (opcode == "abs") {
    const Exact whole = exact(value.block, in.a, in.bits, true, Otherwise::wrap);
    const FormId form = forms_.select(forms_.negative(whole.form, whole.range),
                                      forms_.scale(whole.form, -1), whole.form);
    return {forms_.modulo_power(form, in.bits), whole.conditions};
  }
  if (opcode == "selp") {
    const Meaning predicate = operand(value.instruction, operands[3], 1);
    const Meaning both = made(chosen(value.block, predicate.form, in.a.form, in.b.form));
    return {both.form, united(both.conditions, predicate.conditions)};
  }
  return {};
}

Meaning KernelForms::meaning_of(ValueId id, const Instruction& instruction) {
  const Value& value = ssa_[id];
  const std::string_view opcode = instruction.opcode;
  const Type type = instruction.type();
  if (std::ranges::any_of(instruction.operands, &Operand::address)) return loaded(id, instruction);
  if (opcode == "call") return hide(id, Reason::call);
  for (const std::string_view one :
       {"shfl", "vote", "activemask", "match", "redux", "elect", "bar", "barrier"}) {
    if (opcode == one) return hide(id, Reason::other_lanes);
  }
  const bool is_whole = is_integer(type) && (opcode != "cvt" || is_integer(instruction.type(1)));
  if (!is_whole && type != Type::pred) {
    return hide(id, width_in_bits(type) == 0 ? Reason::operation : Reason::floating);
  }
  if (opcode == "mov" && instruction.operands.size() == 2 &&
      instruction.operands[1].kind == Operand::Kind::special &&
      special(instruction.operands[1].special) == no_form) {
    return hide(id, Reason::special);
  }
  Meaning meaning;
  const bool keeps_carry = instruction.has("cc") || opcode == "addc" || opcode == "subc";
  if (opcode == "setp") {
    meaning = compared(value, instruction);
  } else if (opcode == "cvt") {
    meaning = converted(value, instruction);
  } else if (opcode == "mov") {
    meaning = moved(id, instruction);
  } else if (opcode == "cvta" && instruction.operands.size() == 2) {
    meaning = operand(value.instruction, instruction.operands[1], width_in_bits(type));
  } else if (!keeps_carry && !instruction.has("sat")) {
    meaning = computed(value, instruction);
  }
  return meaning.form == no_form ? hide(id, Reason::operation) : meaning;
}

// ---------------------------------------------------------------------------------------------
// Names.

std::uint32_t KernelForms::line_of(std::uint32_t instruction) const {
  const Instruction& one = kernel_.instructions[instruction];
  if (one.location != no_index && kernel_.locations[one.location].line != 0) {
    return kernel_.locations[one.location].line;
  }
  return one.line;
}

std::string KernelForms::name(const Atom& atom) const {
  constexpr std::array<std::string_view, 4> groups{"threadIdx", "blockDim", "blockIdx", "gridDim"};
  switch (atom.kind) {
    case AtomKind::special: {
      if (atom.which <= static_cast<std::uint32_t>(Special::nctaid_z)) {
        return fmt::format("{}.{}", groups[atom.which / 3], "xyz"[atom.which % 3]);
      }
      switch (static_cast<Special>(atom.which)) {
        case Special::laneid:
          return "lane";
        case Special::dynamic_smem_size:
          return "dynamicSharedBytes";
        case Special::total_smem_size:
          return "sharedBytes";
        case Special::cluster_ctaid_x:
          return "clusterBlockIdx.x";
        case Special::cluster_ctaid_y:
          return "clusterBlockIdx.y";
        case Special::cluster_ctaid_z:
          return "clusterBlockIdx.z";
        case Special::cluster_ctarank:
          return "clusterBlockRank";
        case Special::cluster_nctaid_x:
          return "clusterDim.x";
        case Special::cluster_nctaid_y:
          return "clusterDim.y";
        case Special::cluster_nctaid_z:
          return "clusterDim.z";
        default:
          return "clusterSize";
      }
    }
    case AtomKind::parameter:
    case AtomKind::table:
    case AtomKind::symbol: {
      const ptx::Symbol& symbol = module_.symbols[atom.which];
      std::string plain{symbol.name};
      if (plain.starts_with("_Z")) {
        // A C++ variable: its own name suffices.
        int status = 0;
        const std::unique_ptr<char, decltype(&std::free)> readable{
            abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status), &std::free};
        if (status == 0) {
          plain = readable.get();
          if (const auto colons = plain.rfind("::"); colons != std::string::npos) {
            plain.erase(0, colons + 2);
          }
        }
      }
      std::string_view name = plain;
      // Compilers number parameters after the kernel's name, which is redundant here.
      if (symbol.name.starts_with(kernel_.name) && symbol.name.size() > kernel_.name.size() + 1) {
        name = symbol.name.substr(kernel_.name.size() + 1);
      }
      if (atom.kind != AtomKind::parameter || symbol.bytes == atom.bytes) return std::string{name};
      return fmt::format("{}[{}]", name, atom.place);
    }
    case AtomKind::counter:
      return fmt::format("loop@{}", loops_[atom.which].line);
    case AtomKind::last_pass:
      return fmt::format("passes@{}", loops_[atom.which].line);
    case AtomKind::hidden: {
      const Hidden& hidden = hidden_[atom.which];
      return fmt::format("value@{}", hidden.instruction < kernel_.instructions.size()
                                         ? line_of(hidden.instruction)
                                         : 0);
    }
    case AtomKind::warp:
      return "warp";
    default:
      return "?";
  }
}

std::string KernelForms::text(const Condition& condition) const {
  const auto names = [this](const Atom& atom) { return name(atom); };
  const Interval& range = forms_.range_of(condition.form);
  const std::string form = forms_.text(condition.form, names);
  const auto end = [](Int128 value) {
    constexpr std::array<unsigned, 4> powers{31, 32, 63, 64};
    for (const unsigned power : powers) {
      if (value == Int128{1} << power) return fmt::format("2^{}", power);
      if (value == -(Int128{1} << power)) return fmt::format("−2^{}", power);
    }
    return fmt::format("{}", static_cast<std::int64_t>(value));
  };
  const bool is_low_open = range.low < condition.range.low;
  const bool is_high_open = range.high > condition.range.high;
  std::string out;
  if (is_low_open) out = end(condition.range.low) + " ≤ ";
  out += form;
  if (is_high_open || !is_low_open) out += " < " + end(condition.range.high + 1);
  return out;
}

// NOLINTEND(misc-no-recursion)

}  // namespace strata::access
