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

constexpr std::size_t most_conditions = 16;  // of one value
constexpr unsigned most_facts_asked = 24;
constexpr std::size_t most_guards = 64;
/// A coefficient past this belongs to a hash, which is meant to wrap around.
constexpr std::int64_t most_plain_coefficient = std::int64_t{1} << 24U;

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

bool is_integer(Type type) {
  switch (type) {
    case Type::b8:
    case Type::b16:
    case Type::b32:
    case Type::b64:
    case Type::u8:
    case Type::u16:
    case Type::u32:
    case Type::u64:
    case Type::s8:
    case Type::s16:
    case Type::s32:
    case Type::s64:
      return true;
    default:
      return false;
  }
}

unsigned bits_in(Type type) {
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
      return "a register that no launch tells";
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

KernelForms::KernelForms(const ptx::Module& module, const ptx::Kernel& kernel,
                         const ControlFlow& flow)
    : module_(module), kernel_(kernel), flow_(flow), ssa_(kernel, flow) {
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

/// By what to multiply `other` so that taking it from `form` cancels a term: each once.
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

KernelForms::Proof KernelForms::prove(std::uint32_t block, FormId form, const Interval& wanted,
                                      bool needs_no_conditions) {
  Proof proof{.range = forms_.range_of(form)};
  proof.is_proved = proof.range.within(wanted);
  for (const bool allows_conditions : {false, true}) {
    if (proof.is_proved || (allows_conditions && needs_no_conditions)) return proof;
    unsigned asked = 0;
    Proof better = proof;
    for (std::uint32_t f = first_fact_[block]; f != no_index; f = facts_[f].next) {
      if (++asked > most_facts_asked) break;
      const Fact fact = facts_[f];
      if ((fact.conditions != 0) != allows_conditions) continue;
      const std::uint32_t loop = flow_.loop_of[fact.block];
      if (loop != no_index && !flow_.is_in(loop, block)) continue;
      const auto take = [&](const Interval& range) {
        const Interval both = both_of(better.range, range);
        if (both == better.range) return;
        better.range = both;
        better.conditions = united(better.conditions, fact.conditions);
      };
      // form = by · fact + rest, for the multiples that cancel a term of both.
      const auto multiples = multiples_of(form, fact.form);
      for (const std::int64_t by : multiples) {
        const FormId rest = forms_.subtract(form, forms_.scale(fact.form, by));
        if (rest == no_form) continue;
        const Interval scaled = Interval{by, by} * fact.range;
        take(scaled + forms_.range_of(rest));
      }
    }
    proof = better;
    proof.is_proved = proof.range.within(wanted);
  }
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
  const bool looks_meant = std::ranges::all_of(forms_.terms_of(form), is_plain);
  const bool goes_below = !is_signed && forms_.range_of(form).low < 0;
  const bool may_wrap = bits < 64 && (!looks_meant || (goes_below && otherwise == Otherwise::wrap));
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
// Blocks: what branches tell, then what instructions make.

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

/// Where a guarded branch leads when it is taken; no_index for ret, exit and trap.
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
  const unsigned bits = bits_in(kernel_.registers[ssa_[value].reg].type);
  return bits == 0 || bits > 64 ? 64 : bits;
}

/// What a block outside of loops reads of values that were made in them.
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
  // Conditions on a pass are conditions on the last one, too.
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
  if (defined.kind != Value::Kind::instruction || depth > 16 || defined.before != no_value) {
    return false;
  }
  const Instruction& instruction = kernel_.instructions[defined.instruction];
  const bool is_memory = std::ranges::any_of(instruction.operands, &Operand::address);
  if (is_memory && (instruction.opcode != "ld" || instruction.space() != ptx::Space::param)) {
    return false;
  }
  bool all = true;
  for_each_read(instruction, [&](std::uint32_t reg) {
    const ValueId input = ssa_.read(defined.instruction, reg);
    all = all && input != no_value && is_invariant(input, loop, depth + 1);
  });
  if (!all) return false;
  if (!is_known_[value]) evaluate(value);
  return true;
}

/// Follows additions from what a latch brings back to the phi.
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
  const unsigned bits = bits_of(phi);
  const bool has_width = instruction.opcode == "mov" || bits_in(instruction.type()) == bits;
  if (!has_width || !is_integer(instruction.type())) return false;
  if (instruction.has("cc") || instruction.has("sat")) return false;
  const auto follow = [&](std::size_t operand, Step& into) {
    const Operand& one = instruction.operands[operand];
    if (one.kind != Operand::Kind::reg) return false;
    return find_step(ssa_.read(value.instruction, one.index), phi, loop, into, depth + 1);
  };
  const auto take = [&](std::size_t operand, Step& into, bool is_minus) {
    const Operand& one = instruction.operands[operand];
    if (one.kind == Operand::Kind::integer) {
      const FormId constant = operand_constant(one, bits);
      into.constant =
          is_minus ? forms_.subtract(into.constant, constant) : forms_.add(into.constant, constant);
      return true;
    }
    if (one.kind != Operand::Kind::reg) return false;
    const ValueId input = ssa_.read(value.instruction, one.index);
    if (input == no_value || !is_invariant(input, loop, 0)) return false;
    into.values.emplace_back(input, is_minus);
    return true;
  };
  if (instruction.opcode == "mov" && instruction.operands.size() == 2) return follow(1, step);
  if (instruction.operands.size() != 3) return false;
  if (instruction.opcode == "add") {
    for (const std::size_t side : {1U, 2U}) {
      Step tried = step;
      if (take(3 - side, tried, false) && follow(side, tried)) {
        step = std::move(tried);
        return true;
      }
    }
    return false;
  }
  return instruction.opcode == "sub" && take(2, step, true) && follow(1, step);
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

void KernelForms::solve_header(std::uint32_t block) {
  const std::uint32_t loop = flow_.loop_of[block];
  const auto& latches = flow_.loops[loop].latches;
  const auto& predecessors = flow_.blocks[block].predecessors;
  LoopForms& known = loops_[loop];
  const std::uint32_t end = flow_.blocks[latches.front()].end;
  known.line = end > 0 ? line_of(end - 1) : 0;

  std::vector<ValueId> phis;
  std::vector<Meaning> starts;
  std::vector<Step> steps;
  for (const ValueId phi : ssa_.defined_in(block)) {
    if (ssa_[phi].kind != Value::Kind::phi || block == 0) continue;
    const unsigned bits = bits_of(phi);
    Meaning start;
    bool is_solved = true;
    std::vector<std::pair<std::uint32_t, Meaning>> outside;
    std::vector<Step> found;
    for (std::size_t p = 0; p < predecessors.size(); ++p) {
      if (!is_reachable(flow_, predecessors[p])) continue;
      const ValueId input = ssa_[phi].inputs[p];
      if (std::ranges::count(latches, predecessors[p]) > 0) {
        Step step{.constant = forms_.constant(0)};
        is_solved = is_solved && find_step(input, phi, loop, step, 0);
        found.push_back(std::move(step));
      } else if (is_known_[input]) {
        outside.emplace_back(predecessors[p], read_value(input, block));
      } else {
        is_solved = false;
      }
    }
    if (!is_solved || outside.empty() || found.empty()) continue;
    start = gated(std::move(outside), block, 0);
    if (start.form == no_form) continue;
    Meaning step = sum_of(found.front(), block);
    step.form = forms_.modulo_power(step.form, bits);
    for (const Step& other : found) {
      const FormId form = forms_.modulo_power(sum_of(other, block).form, bits);
      is_solved = is_solved && form == step.form;
    }
    if (!is_solved || step.form == no_form) continue;
    phis.push_back(phi);
    starts.push_back(start);
    steps.push_back(std::move(found.front()));
  }
  known.counter =
      forms_.leaf(AtomKind::counter, loop, {0, std::numeric_limits<std::int64_t>::max()});
  known.last =
      forms_.leaf(AtomKind::last_pass, loop, {0, std::numeric_limits<std::int64_t>::max()});
  count_passes(loop, phis, starts, steps);
  for (std::size_t i = 0; i < phis.size(); ++i) {
    const unsigned bits = bits_of(phis[i]);
    const Meaning step = sum_of(steps[i], block);
    const FormId form = forms_.add(
        starts[i].form, forms_.multiply(known.counter, forms_.modulo_power(step.form, bits)));
    const FormId small = forms_.modulo_power(form, bits);
    if (small == no_form) continue;
    const ConditionSet conditions = united(starts[i].conditions, step.conditions);
    meanings_[phis[i]] = {small, united(conditions, known.conditions)};
    is_known_[phis[i]] = true;
  }
}

void KernelForms::count_passes(std::uint32_t loop, std::span<const ValueId> phis,
                               std::span<const Meaning> starts, std::span<const Step> steps) {
  LoopForms& known = loops_[loop];
  const std::uint32_t header = flow_.loops[loop].header;
  const auto& latches = flow_.loops[loop].latches;
  std::size_t exits = 0;
  for (const std::uint32_t b : exiting_[loop]) {
    const auto leaves = [&](std::uint32_t to) { return !flow_.is_in(loop, to); };
    exits += static_cast<std::size_t>(std::ranges::count_if(flow_.blocks[b].successors, leaves));
  }
  Interval passes{0, std::numeric_limits<std::int64_t>::max()};
  FormId closed = no_form;
  struct Carried {
    std::size_t phi = 0;
    int sign = 1;
    Interval range;
    ConditionSet conditions = 0;
    bool is_signed = false;
    unsigned bits = 0;
  };
  std::vector<Carried> carried_facts;
  for (const std::uint32_t b : exiting_[loop]) {
    const auto is_above = [&](std::uint32_t latch) { return flow_.dominates(b, latch); };
    if (!std::ranges::all_of(latches, is_above)) continue;
    // An inner loop may run the test more than once a pass.
    if (flow_.loop_of[b] != loop) continue;
    const Instruction& branch = kernel_.instructions[flow_.blocks[b].end - 1];
    if (branch.opcode != "bra" || branch.guard == no_index ||
        flow_.blocks[b].successors.size() != 2) {
      continue;
    }
    const ValueId predicate = ssa_.read(flow_.blocks[b].end - 1, branch.guard);
    if (predicate == no_value || ssa_[predicate].kind != Value::Kind::instruction ||
        ssa_[predicate].before != no_value) {
      continue;
    }
    const std::uint32_t at = ssa_[predicate].instruction;
    const Instruction& setp = kernel_.instructions[at];
    if (setp.opcode != "setp" || setp.operands.size() != 3 || !is_integer(setp.type())) continue;
    const std::uint32_t taken = taken_block(kernel_, flow_, branch);
    const bool stays_if_taken = taken != no_index && flow_.is_in(loop, taken);
    const bool goes_on_if_true = stays_if_taken != branch.guard_negated;
    const unsigned bits = bits_in(setp.type());
    for (const std::size_t side : {1U, 2U}) {
      const Operand& tested = setp.operands[side];
      const Operand& limit = setp.operands[3 - side];
      if (tested.kind != Operand::Kind::reg) continue;
      Step steps_ahead{.constant = forms_.constant(0)};
      const ValueId from = ssa_.read(at, tested.index);
      std::size_t phi = 0;
      for (; phi < phis.size(); ++phi) {
        steps_ahead = {.constant = forms_.constant(0)};
        if (bits_of(phis[phi]) == bits && find_step(from, phis[phi], loop, steps_ahead, 0)) break;
      }
      if (phi == phis.size()) continue;
      Meaning limit_meaning;
      if (limit.kind == Operand::Kind::reg) {
        const ValueId value = ssa_.read(at, limit.index);
        if (value == no_value || !is_invariant(value, loop, 0)) continue;
        limit_meaning = read_value(value, header);
      } else if (limit.kind == Operand::Kind::integer) {
        limit_meaning = {operand_constant(limit, bits), 0};
      } else {
        continue;
      }
      const Meaning ahead = sum_of(steps_ahead, header);
      // The relation with the tested number on the left, true where the loop goes on.
      bool is_inequality = false;
      std::string_view word;
      for (const std::string_view one :
           {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"}) {
        if (setp.has(one)) word = one;
      }
      const bool reads_signed = is_signed(setp.type());
      bool is_less = true;
      bool allows_equal = false;
      if (word == "lo") word = "lt";
      if (word == "ls") word = "le";
      if (word == "hi") word = "gt";
      if (word == "hs") word = "ge";
      if (word == "eq" || word == "ne") {
        if ((word == "ne") != goes_on_if_true) continue;
        is_inequality = true;
      } else if (word.empty()) {
        continue;
      } else {
        bool less = word[0] == 'l';
        bool equal = word[1] == 'e';
        if (side == 2) less = !less;
        if (!goes_on_if_true) {
          less = !less;
          equal = !equal;
        }
        is_less = less;
        allows_equal = equal;
      }

      const Meaning step = sum_of(steps[phi], header);
      const FormId each = forms_.modulo_power(step.form, bits);
      const Meaning& start = starts[phi];
      if (each == no_form || ahead.form == no_form || limit_meaning.form == no_form) continue;
      ConditionSet conditions = united(united(start.conditions, step.conditions),
                                       united(ahead.conditions, limit_meaning.conditions));
      if (is_inequality) {
        const auto by = forms_.constant_of(each);
        if (!by || *by == 0) continue;
        // Passes before the last one: (bound − start − ahead) ÷ step, which must come out even.
        FormId distance = forms_.subtract(forms_.subtract(limit_meaning.form, start.form),
                                          forms_.modulo_power(ahead.form, bits));
        if (*by < 0) distance = forms_.scale(distance, -1);
        const std::int64_t size = *by < 0 ? -*by : *by;
        distance = forms_.modulo_power(distance, bits);
        if (distance == no_form) continue;
        if (size != 1) {
          const FormId rest = forms_.remainder(distance, forms_.constant(size));
          if (forms_.constant_of(rest) != std::int64_t{0}) continue;
        }
        const Exact even = exact(header, {distance, conditions}, bits, false, Otherwise::condition);
        if (even.form == no_form) continue;
        const FormId last = forms_.quotient(even.form, forms_.constant(size), even.range);
        if (last == no_form) continue;
        if (even.range.high / size < passes.high) {
          passes.high = even.range.high / size;
          known.conditions = united(known.conditions, even.conditions);
          if (exits == 1) closed = last;
        } else if (exits == 1 && closed == no_form) {
          known.conditions = united(known.conditions, even.conditions);
          closed = last;
        }
        continue;
      }
      // Upwards: what goes down is mirrored at 0.
      const int sign = is_less ? 1 : -1;
      const Interval domain = register_range(bits, reads_signed);
      const Exact first =
          exact(header, {start.form, conditions}, bits, reads_signed, Otherwise::condition);
      const Exact bound =
          exact(header, {limit_meaning.form, 0}, bits, reads_signed, Otherwise::condition);
      if (first.form == no_form || bound.form == no_form) continue;
      conditions = united(first.conditions, bound.conditions);
      const FormId from_form = forms_.scale(first.form, sign);
      FormId to_form = forms_.scale(bound.form, sign);
      if (allows_equal) to_form = forms_.add(to_form, forms_.constant(1));
      const FormId up = forms_.scale(each, sign);
      const FormId ahead_form = forms_.scale(forms_.modulo_power(ahead.form, bits), sign);
      if (up == no_form || forms_.range_of(up).low < 1) continue;
      const Interval mirrored = sign > 0 ? domain : Interval{-domain.high, -domain.low};
      const Interval first_range =
          sign > 0 ? first.range : Interval{-first.range.high, -first.range.low};
      // No number that is tested or carried over passes the end of the register's range.
      const FormId reach = forms_.add(to_form, forms_.subtract(up, forms_.constant(1)));
      const FormId reach_carried = forms_.subtract(reach, ahead_form);
      const FormId first_tested = forms_.add(from_form, ahead_form);
      if (reach == no_form || reach_carried == no_form || first_tested == no_form) continue;
      const Interval below{-unbounded, mirrored.high};
      for (const FormId must_fit : {reach, reach_carried}) {
        const Proof fits = prove(header, must_fit, below);
        conditions =
            united(conditions, fits.is_proved ? fits.conditions : condition(must_fit, below));
      }
      const Proof fits = prove(header, first_tested, mirrored);
      conditions =
          united(conditions, fits.is_proved ? fits.conditions : condition(first_tested, mirrored));
      const FormId distance = forms_.subtract(to_form, first_tested);
      const FormId rounded = forms_.add(distance, forms_.subtract(up, forms_.constant(1)));
      if (rounded == no_form) continue;
      const FormId last =
          forms_.extreme(AtomKind::maximum, forms_.constant(0), forms_.quotient(rounded, up));
      const Proof far = prove(header, distance, {0, 0}, true);
      const Wide least_step = forms_.range_of(up).low;
      const Wide most =
          far.range.high <= 0 ? Wide{0} : (far.range.high + least_step - 1) / least_step;
      if (most < passes.high || closed == no_form) {
        passes.high = std::min(passes.high, most);
        known.conditions = united(known.conditions, conditions);
        if (exits == 1 && last != no_form) closed = last;
        const Interval carried{first_range.low,
                               std::max(first_range.high, forms_.range_of(reach_carried).high)};
        // Known with the counter's final range, below.
        carried_facts.push_back({phi, sign, carried, conditions, reads_signed, bits});
      }
    }
  }
  known.counter = forms_.leaf(AtomKind::counter, loop, passes);
  known.last = closed != no_form ? closed : forms_.leaf(AtomKind::last_pass, loop, passes);
  for (const Carried& one : carried_facts) {
    const Meaning step = sum_of(steps[one.phi], header);
    const FormId form = forms_.reread(
        forms_.modulo_power(
            forms_.add(starts[one.phi].form,
                       forms_.multiply(known.counter, forms_.modulo_power(step.form, one.bits))),
            one.bits),
        one.bits, one.is_signed);
    const Interval range = one.sign > 0 ? one.range : Interval{-one.range.high, -one.range.low};
    if (form != no_form) add_fact(header, form, range, one.conditions);
  }
}

// ---------------------------------------------------------------------------------------------
// Where paths meet.

/// Which of the values that come in over these edges: told by the branches that part the ways.
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
  // The nearest block that all edges have passed.
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
    int side = -1;
    for (const std::uint32_t successor : flow_.blocks[top].successors) {
      const bool is_edge = input.first == top && successor == join;
      const bool is_arm = input.first != top && successor != join &&
                          flow_.blocks[successor].predecessors.size() == 1 &&
                          flow_.dominates(successor, input.first);
      if (is_edge || is_arm) side = successor == taken ? 1 : 0;
    }
    if (side < 0) return {};
    (side == 1 ? yes : no).push_back(input);
  }
  if (yes.empty() || no.empty()) return {};
  const Meaning first = gated(std::move(yes), join, depth + 1);
  const Meaning second = gated(std::move(no), join, depth + 1);
  const FormId told = carried_out(predicate.form, top, join);
  return {chosen(join, told, first.form, second.form),
          united(predicate.conditions, united(first.conditions, second.conditions))};
}

/// A selection whose range takes in what the predicate says of either side.
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
  constexpr Wide most_blocks = (Wide{1} << 31U) - 1;
  constexpr Wide most_blocks_across = 65535;
  const auto threads = [&](std::size_t axis) -> Interval {
    const std::uint32_t required = kernel_.required_block[axis];
    const bool is_required = kernel_.required_block[0] != 0;
    if (is_required) return {std::max(required, 1U), std::max(required, 1U)};
    const auto& most = kernel_.most_block;
    Wide limit = axis == 2 ? 64 : 1024;
    // .maxntid limits the product alone: a block of other sides may be launched.
    if (most[0] != 0) {
      Wide product = 1;
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
      return leaf({0, Wide{1} << 20U});
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
      // Shared memory of a block is less than a megabyte, a window of its own.
      const Interval range = symbol.space == ptx::Space::shared ? Interval{0, (Wide{1} << 20U) - 1}
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
  // A list in brackets: of tensor copies and textures, which are not addresses in memory.
  if (!operand_of.items.empty()) return {};
  Operand base = operand_of;
  base.offset = 0;
  Meaning meaning = operand(instruction, base, 64);
  if (meaning.form == no_form) return {};
  if (operand_of.kind == Operand::Kind::reg &&
      bits_in(kernel_.registers[operand_of.index].type) == 32) {
    // An address of 32 bits, of shared memory as a rule, is a number of its own.
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
    if (fixed && *fixed >= 0) {
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

Meaning KernelForms::compared(const Value& value, const Instruction& instruction) {
  const Type type = instruction.type();
  const unsigned bits = bits_in(type);
  const std::uint32_t at = value.instruction;
  const std::size_t written = written_operands(instruction);
  if (!is_integer(type) || instruction.operands.size() < written + 2) return {};
  std::string_view word;
  for (const std::string_view one : {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"}) {
    if (instruction.has(one)) word = one;
  }
  if (word.empty()) return {};
  const std::uint32_t block = flow_.block_of[at];
  Meaning a = operand(at, instruction.operands[written], bits);
  Meaning b = operand(at, instruction.operands[written + 1], bits);
  if (a.form == no_form || b.form == no_form) return {};
  Meaning result{no_form, united(a.conditions, b.conditions)};
  if (word == "eq" || word == "ne") {
    // Equal modulo 2^bits: the difference is known to be too small to wrap around, or both are
    // read as numbers.
    const FormId difference =
        forms_.subtract(forms_.modulo_power(a.form, bits), forms_.modulo_power(b.form, bits));
    const Wide all = Wide{1} << bits;
    if (difference != no_form && forms_.range_of(difference).within({1 - all, all - 1})) {
      result.form = forms_.zero(difference);
    } else {
      const Exact one = exact(block, a, bits, false, Otherwise::wrap);
      const Exact other = exact(block, b, bits, false, Otherwise::wrap);
      if (one.form == no_form || other.form == no_form) return {};
      result = {forms_.zero(forms_.subtract(one.form, other.form)),
                united(one.conditions, other.conditions)};
    }
    if (word == "ne") result.form = forms_.opposite(result.form);
  } else {
    const Exact one = exact(block, a, bits, is_signed(type), Otherwise::wrap);
    const Exact other = exact(block, b, bits, is_signed(type), Otherwise::wrap);
    if (one.form == no_form || other.form == no_form) return {};
    const bool is_less = word[0] == 'l';
    const bool has_equal = word == "le" || word == "ls" || word == "ge" || word == "hs";
    // a < b: a − b < 0; a ≤ b: not b < a.
    const bool is_swapped = is_less == has_equal;
    const FormId left = is_swapped ? other.form : one.form;
    const FormId right = is_swapped ? one.form : other.form;
    const Interval range = is_swapped ? other.range - one.range : one.range - other.range;
    result = {forms_.negative(forms_.subtract(left, right), range),
              united(one.conditions, other.conditions)};
    if (has_equal) result.form = forms_.opposite(result.form);
  }
  if (value.operand == 1) result.form = forms_.opposite(result.form);
  if (instruction.operands.size() > written + 2) {
    const Meaning with = operand(at, instruction.operands[written + 2], 1);
    if (with.form == no_form) return {};
    result.conditions = united(result.conditions, with.conditions);
    if (instruction.has("and")) {
      result.form = forms_.both(result.form, with.form);
    } else if (instruction.has("or")) {
      result.form = forms_.either(result.form, with.form);
    } else {
      result.form = forms_.select(with.form, forms_.opposite(result.form), result.form);
    }
  }
  return result;
}

Meaning KernelForms::converted(const Value& value, const Instruction& instruction) {
  const Type to = instruction.type(1);
  const Type from = instruction.type(0);
  if (!is_integer(to) || !is_integer(from) || instruction.has("sat")) return {};
  const unsigned to_bits = bits_in(to);
  const unsigned from_bits = bits_in(from);
  const unsigned register_bits = bits_in(kernel_.registers[value.reg].type);
  const std::uint32_t block = flow_.block_of[value.instruction];
  const Meaning in = operand(value.instruction, instruction.operands[1], from_bits);
  if (in.form == no_form) return {};
  if (to_bits > from_bits) {
    const Exact number = exact(block, in, from_bits, is_signed(from), Otherwise::condition);
    if (number.form == no_form) return {};
    return {forms_.modulo_power(number.form, register_bits), number.conditions};
  }
  if (to_bits == register_bits) return {forms_.modulo_power(in.form, to_bits), in.conditions};
  // Into a wider register: cut off, then extended.
  const Exact number = exact(block, {forms_.modulo_power(in.form, to_bits), in.conditions}, to_bits,
                             is_signed(to), Otherwise::wrap);
  return {number.form, number.conditions};
}

Meaning KernelForms::meaning_of(ValueId id, const Instruction& instruction) {
  const Value& value = ssa_[id];
  const std::string_view opcode = instruction.opcode;
  const std::uint32_t at = value.instruction;
  const std::uint32_t block = value.block;
  const Type type = instruction.type();
  const unsigned bits = bits_in(type);
  const auto& operands = instruction.operands;

  if (std::ranges::any_of(operands, &Operand::address)) return loaded(id, instruction);
  if (opcode == "call") return hide(id, Reason::call);
  for (const std::string_view one :
       {"shfl", "vote", "activemask", "match", "redux", "elect", "bar", "barrier"}) {
    if (opcode == one) return hide(id, Reason::other_lanes);
  }
  if (opcode == "setp") {
    const Meaning meaning = compared(value, instruction);
    if (meaning.form != no_form) return meaning;
    return hide(id, is_integer(type) ? Reason::operation : Reason::floating);
  }
  if (opcode == "cvt") {
    const Meaning meaning = converted(value, instruction);
    if (meaning.form != no_form) return meaning;
    const bool is_whole = is_integer(type) && is_integer(instruction.type(1));
    return hide(id, is_whole ? Reason::operation : Reason::floating);
  }
  const bool is_predicate = type == Type::pred;
  if (!is_integer(type) && !is_predicate) {
    return hide(id, bits == 0 ? Reason::operation : Reason::floating);
  }
  // A source that is not followed further hides the result: its own reason is told where it is met.
  const auto in = [&](std::size_t i, unsigned width) -> Meaning {
    return i < operands.size() ? operand(at, operands[i], width) : Meaning{};
  };
  const auto made = [&](FormId form, ConditionSet conditions) -> Meaning {
    if (!is_predicate) form = forms_.modulo_power(form, bits);
    return {form, conditions};
  };
  const auto number = [&](const Meaning& meaning, bool reads_signed, Otherwise otherwise) {
    return meaning.form == no_form ? Exact{} : exact(block, meaning, bits, reads_signed, otherwise);
  };
  const bool reads_signed = is_signed(type);

  if (opcode == "mov" && operands.size() == 2) {
    const Operand& from = operands[1];
    if (from.kind == Operand::Kind::vector) {
      // The first element is the lowest.
      if (from.items.empty() || operands[0].kind == Operand::Kind::vector) return {};
      const auto width = bits / static_cast<unsigned>(from.items.size());
      Meaning sum{forms_.constant(0), 0};
      if (width != 8 && width != 16 && width != 32) return hide(id, Reason::operation);
      for (std::size_t i = 0; i < from.items.size(); ++i) {
        const Meaning part = operand(at, from.items[i], width);
        if (part.form == no_form) return hide(id, Reason::operation);
        const Exact whole = exact(block, part, width, false, Otherwise::condition);
        const std::int64_t factor = std::int64_t{1} << (width * i);
        sum = {forms_.add(sum.form, forms_.scale(whole.form, factor)),
               united(sum.conditions, whole.conditions)};
      }
      return made(sum.form, sum.conditions);
    }
    if (from.kind == Operand::Kind::special && special(from.special) == no_form) {
      return hide(id, Reason::special);
    }
    const Meaning whole = in(1, bits);
    if (whole.form == no_form) return hide(id, Reason::operation);
    if (operands[0].kind == Operand::Kind::vector) {
      const auto width = bits / static_cast<unsigned>(operands[0].items.size());
      if (value.item == 0) return {forms_.modulo_power(whole.form, width), whole.conditions};
      if (width * value.item > 62) return hide(id, Reason::operation);
      const Exact all = number(whole, false, Otherwise::condition);
      const FormId part = forms_.quotient(
          all.form, forms_.constant(std::int64_t{1} << (width * value.item)), all.range);
      return {forms_.modulo_power(part, width), all.conditions};
    }
    return is_predicate ? whole : made(whole.form, whole.conditions);
  }
  if (opcode == "cvta") {
    const Meaning whole = in(1, bits);
    return whole.form == no_form ? hide(id, Reason::operation) : whole;
  }
  if (instruction.has("sat") || instruction.has("cc") || opcode == "addc" || opcode == "subc") {
    return hide(id, Reason::operation);
  }

  const Meaning a = in(1, bits);
  const Meaning b = in(2, bits);
  const bool needs_two = opcode != "neg" && opcode != "not" && opcode != "abs";
  if (a.form == no_form || (needs_two && b.form == no_form)) return hide(id, Reason::operation);
  const ConditionSet both = needs_two ? united(a.conditions, b.conditions) : a.conditions;
  const auto shift = [&](const Meaning& amount) -> std::optional<std::int64_t> {
    const auto by = forms_.constant_of(amount.form);
    if (!by) return std::nullopt;
    return *by < 0 || *by > std::int64_t{bits} ? std::int64_t{bits} : *by;
  };

  // What a shift by a number that is not known multiplies or divides by, while it is less than the
  // bits of the register.
  const auto power_of = [&](const Meaning& amount) -> Meaning {
    const Exact by = exact(block, amount, 32, false, Otherwise::condition);
    const Interval wanted{0, std::min(bits, 32U) - 1};
    if (by.form == no_form) return {};
    const ConditionSet fits = by.range.within(wanted) ? 0 : condition(by.form, wanted);
    return {forms_.power(by.form), united(by.conditions, fits)};
  };

  if (is_predicate) {
    if (opcode == "not") return {forms_.opposite(a.form), both};
    if (opcode == "and") return {forms_.both(a.form, b.form), both};
    if (opcode == "or") return {forms_.either(a.form, b.form), both};
    if (opcode == "xor") {
      return {forms_.select(b.form, forms_.opposite(a.form), a.form), both};
    }
    return hide(id, Reason::operation);
  }
  if (opcode == "add") return made(forms_.add(a.form, b.form), both);
  if (opcode == "sub") return made(forms_.subtract(a.form, b.form), both);
  if (opcode == "neg") return made(forms_.scale(a.form, -1), both);
  if (opcode == "not") {
    return made(forms_.subtract(forms_.constant(-1), a.form), both);
  }
  if (opcode == "mul" || opcode == "mad") {
    FormId product = no_form;
    ConditionSet conditions = both;
    if (instruction.has("lo")) {
      product = forms_.multiply(a.form, b.form);
    } else if (bits <= 32) {
      const Exact one = number(a, reads_signed, Otherwise::condition);
      const Exact other = number(b, reads_signed, Otherwise::condition);
      product = forms_.multiply(one.form, other.form);
      conditions = united(one.conditions, other.conditions);
      if (instruction.has("hi")) {
        product = forms_.quotient(product, forms_.constant(std::int64_t{1} << bits),
                                  one.range * other.range);
      }
    } else {
      return hide(id, Reason::operation);
    }
    if (opcode == "mul") {
      return {forms_.modulo_power(product, instruction.has("wide") ? 2 * bits : bits), conditions};
    }
    const unsigned width = instruction.has("wide") ? 2 * bits : bits;
    const Meaning c = in(3, width);
    if (c.form == no_form) return hide(id, Reason::operation);
    return {forms_.modulo_power(forms_.add(product, c.form), width),
            united(conditions, c.conditions)};
  }
  if (opcode == "shl") {
    const auto by = shift(b);
    if (!by) {
      const Meaning factor = power_of(b);
      if (factor.form == no_form) return hide(id, Reason::operation);
      return made(forms_.multiply(a.form, factor.form), united(a.conditions, factor.conditions));
    }
    if (*by >= std::int64_t{bits}) return {forms_.constant(0), 0};
    if (*by > 62) return hide(id, Reason::operation);
    return made(forms_.scale(a.form, std::int64_t{1} << *by), both);
  }
  if (opcode == "shr") {
    auto by = shift(b);
    if (!by) {
      const Meaning divisor = power_of(b);
      if (divisor.form == no_form) return hide(id, Reason::operation);
      const Exact whole = number(a, reads_signed, Otherwise::condition);
      return made(forms_.quotient(whole.form, divisor.form, whole.range),
                  united(whole.conditions, divisor.conditions));
    }
    if (*by >= std::int64_t{bits}) {
      if (!reads_signed) return {forms_.constant(0), b.conditions};
      by = bits - 1;
    }
    const Exact whole = number(a, reads_signed, Otherwise::condition);
    if (reads_signed && *by == std::int64_t{bits} - 1) {
      // The sign alone: 0 or −1.
      return made(forms_.scale(forms_.negative(whole.form, whole.range), -1), whole.conditions);
    }
    if (*by > 62) return hide(id, Reason::operation);
    return made(forms_.quotient(whole.form, forms_.constant(std::int64_t{1} << *by), whole.range),
                united(whole.conditions, b.conditions));
  }
  if (opcode == "and" || opcode == "or" || opcode == "xor") {
    const AtomKind kind = opcode == "and"  ? AtomKind::bit_and
                          : opcode == "or" ? AtomKind::bit_or
                                           : AtomKind::bit_xor;
    return made(forms_.bits(kind, a.form, b.form), both);
  }
  if (opcode == "div" || opcode == "rem") {
    const Exact one = number(a, reads_signed, Otherwise::condition);
    const Exact other = number(b, reads_signed, Otherwise::condition);
    if (one.form == no_form || other.form == no_form) return {};
    FormId form = no_form;
    if (!reads_signed || (one.range.low >= 0 && other.range.low > 0)) {
      form = opcode == "div" ? forms_.quotient(one.form, other.form, one.range)
                             : forms_.remainder(one.form, other.form, one.range);
    } else {
      form = forms_.truncated(
          opcode == "div" ? AtomKind::truncated_quotient : AtomKind::truncated_remainder, one.form,
          other.form);
    }
    return made(form, united(one.conditions, other.conditions));
  }
  if (opcode == "min" || opcode == "max") {
    const Exact one = number(a, reads_signed, Otherwise::wrap);
    const Exact other = number(b, reads_signed, Otherwise::wrap);
    if (one.form == no_form || other.form == no_form) return {};
    const AtomKind kind = opcode == "min" ? AtomKind::minimum : AtomKind::maximum;
    return made(forms_.extreme(kind, one.form, other.form),
                united(one.conditions, other.conditions));
  }
  if (opcode == "abs") {
    const Exact whole = number(a, true, Otherwise::wrap);
    const FormId form = forms_.select(forms_.negative(whole.form, whole.range),
                                      forms_.scale(whole.form, -1), whole.form);
    return made(form, whole.conditions);
  }
  if (opcode == "selp") {
    const Meaning predicate = in(3, 1);
    if (predicate.form == no_form) return hide(id, Reason::operation);
    return made(forms_.select(predicate.form, a.form, b.form), united(both, predicate.conditions));
  }
  if (opcode == "bfe" && !reads_signed) {
    const Meaning length = in(3, 32);
    const auto from = forms_.constant_of(b.form);
    const auto count = forms_.constant_of(length.form);
    if (!from || !count || *from < 0 || *count < 0 || *from + *count > std::int64_t{bits} ||
        *from + *count > 62) {
      return hide(id, Reason::operation);
    }
    const FormId low =
        forms_.remainder(a.form, forms_.constant(std::int64_t{1} << (*from + *count)));
    return made(forms_.quotient(low, forms_.constant(std::int64_t{1} << *from)), a.conditions);
  }
  if (opcode == "bfi") {
    const auto from = forms_.constant_of(in(3, 32).form);
    const auto count = forms_.constant_of(in(4, 32).form);
    if (!from || !count || *from < 0 || *count < 0 || *from + *count > std::int64_t{bits} ||
        *from + *count > 62) {
      return hide(id, Reason::operation);
    }
    const auto below = [&](FormId form, std::int64_t power) {
      return forms_.remainder(form, forms_.constant(std::int64_t{1} << power));
    };
    const FormId cleared =
        forms_.add(forms_.subtract(b.form, below(b.form, *from + *count)), below(b.form, *from));
    return made(forms_.add(cleared, forms_.scale(below(a.form, *count), std::int64_t{1} << *from)),
                both);
  }
  if (opcode == "prmt" && bits == 32 && instruction.modifiers.size() == 1) {
    const auto selector = forms_.constant_of(in(3, 32).form);
    if (!selector) return hide(id, Reason::operation);
    FormId sum = forms_.constant(0);
    for (unsigned place = 0; place < 4; ++place) {
      const auto chosen_byte = static_cast<unsigned>(*selector >> (4 * place) & 15);
      if (chosen_byte > 7) return hide(id, Reason::operation);  // a sign, repeated
      const unsigned from = chosen_byte % 4;
      const FormId up_to = forms_.remainder(chosen_byte < 4 ? a.form : b.form,
                                            forms_.constant(std::int64_t{1} << (8 * (from + 1))));
      const FormId byte = forms_.quotient(up_to, forms_.constant(std::int64_t{1} << (8 * from)));
      sum = forms_.add(sum, forms_.scale(byte, std::int64_t{1} << (8 * place)));
    }
    return made(sum, both);
  }
  return hide(id, Reason::operation);
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
        // A variable of C++: its own name says enough.
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
      // A compiler numbers parameters behind the kernel's name, which says nothing here.
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
  const auto end = [](Wide value) {
    constexpr std::array<unsigned, 4> powers{31, 32, 63, 64};
    for (const unsigned power : powers) {
      if (value == Wide{1} << power) return fmt::format("2^{}", power);
      if (value == -(Wide{1} << power)) return fmt::format("−2^{}", power);
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

}  // namespace strata::access
