// The forms of a kernel's registers: the results of integer instructions as functions of indices
// and parameters. Recurrences of loops are solved as start + iterations × step (chains of
// recurrences: Bachmann, Wang, Zima, ISSAC 1994).
//
// A register of w bits always equals its form modulo 2^w. Where an instruction needs the number
// itself (a conversion to more bits, a shift to the right, a comparison), the form must be in the
// range of the register. That is proved from ranges and from the branches that lead there;
// otherwise it becomes a condition of every result.
#pragma once

#include "harness/access/control_flow.hpp"
#include "harness/access/form.hpp"
#include "harness/access/ptx.hpp"
#include "harness/access/ssa.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace strata::access {

/// Why a value has no form.
enum class Reason : std::uint8_t {
  load,
  atomic,
  call,
  other_lanes,  ///< from other lanes, by a shuffle or a vote
  floating,     ///< floating-point numbers
  special,      ///< a hardware register that no launch determines: a clock, the SM's number
  paths,        ///< several paths meet, and no single branch separates them
  loop,         ///< changes between iterations by more than a constant step
  operation,    ///< an instruction that is not analysed
  size,         ///< the form would be too large
  undefined     ///< read before it is written
};
[[nodiscard]] std::string_view describe(Reason reason);

/// The properties of an atom of kind `hidden`.
struct Hidden {
  Reason reason = Reason::undefined;
  ValueId value = no_value;
  std::uint32_t instruction = no_index;  ///< that defines it; for a phi, the first one of its block
  bool has_left_loop = false;  ///< read behind the loop that defines it, where lanes may have left
                               ///< in different passes
};

/// `form` is in `range`.
struct Condition {
  FormId form = no_form;
  Interval range;
};
/// Index of a set in KernelForms; 0 is the empty set.
using ConditionSet = std::uint32_t;

/// The form of a value while its conditions hold.
struct Meaning {
  FormId form = no_form;
  ConditionSet conditions = 0;
};

/// A predicate that holds wherever a block runs.
struct Guard {
  Meaning predicate;
  std::uint32_t instruction = 0;  ///< the branch
};

/// The properties of a loop.
struct LoopForms {
  FormId counter = no_form;     ///< completed iterations
  FormId last = no_form;        ///< the same, in the last iteration
  ConditionSet conditions = 0;  ///< conditions under which counter and last are in their ranges
  std::uint32_t line = 0;       ///< of the source, otherwise of the PTX text
};

/// What becomes of a register of fewer than 64 bits that is read as a number and may have wrapped
/// around.
enum class Wrapping : std::uint8_t {
  condition,  ///< that it has not: simple forms, which hold under conditions
  remainder   ///< it is a remainder modulo 2^bits: forms that hold anyway, but for those of loops
};

class KernelForms {
 public:
  /// All three must outlive this. Throws nothing for any module that was read.
  KernelForms(const ptx::Module& module, const ptx::Kernel& kernel, const ControlFlow& flow,
              Wrapping wrapping = Wrapping::condition);

  /// The address of a memory operand of an instruction.
  [[nodiscard]] Meaning address(std::uint32_t instruction, const ptx::Operand& operand);
  /// The guard of an instruction: 1 where it runs.
  [[nodiscard]] Meaning guard(std::uint32_t instruction);
  [[nodiscard]] Meaning of(ValueId value) const { return meanings_[value]; }
  /// The value that the instruction reads from an operand, modulo 2^bits.
  [[nodiscard]] Meaning operand(std::uint32_t instruction, const ptx::Operand& operand,
                                unsigned bits);
  /// Nearest first, at most 64.
  [[nodiscard]] std::vector<Guard> guards(std::uint32_t block) const;
  /// Facts about forms that branches establish wherever the block runs, nearest first, under
  /// conditions.
  struct Known {
    Condition fact;
    ConditionSet conditions = 0;
  };
  [[nodiscard]] std::vector<Known> facts(std::uint32_t block) const;
  /// Those conditions that nothing known at the block proves.
  [[nodiscard]] std::vector<Condition> open_conditions(ConditionSet conditions,
                                                       std::uint32_t block);

  [[nodiscard]] Forms& forms() { return forms_; }
  [[nodiscard]] const Ssa& ssa() const { return ssa_; }
  [[nodiscard]] const ptx::Kernel& kernel() const { return kernel_; }
  [[nodiscard]] const ptx::Module& module() const { return module_; }
  [[nodiscard]] const ControlFlow& flow() const { return flow_; }
  [[nodiscard]] const Hidden& hidden(std::uint32_t number) const { return hidden_[number]; }
  [[nodiscard]] std::span<const Hidden> all_hidden() const { return hidden_; }
  /// Blocks of the loop from which it can be left.
  [[nodiscard]] std::span<const std::uint32_t> exiting(std::uint32_t loop) const {
    return exiting_[loop];
  }
  [[nodiscard]] const LoopForms& loop(std::uint32_t number) const { return loops_[number]; }
  [[nodiscard]] std::span<const Condition> all_conditions() const { return conditions_; }
  [[nodiscard]] std::span<const std::uint32_t> conditions(ConditionSet set) const {
    return sets_[set];
  }
  [[nodiscard]] ConditionSet united(ConditionSet a, ConditionSet b);

  /// A special register as an index of a launch; no_form if no launch determines it.
  [[nodiscard]] FormId special(ptx::Special which);
  /// "threadIdx.x", "param_0", "loop@31": for Forms::text.
  [[nodiscard]] std::string name(const Atom& atom) const;
  /// "n ≤ 2147483647".
  [[nodiscard]] std::string text(const Condition& condition) const;
  /// The source line of an instruction, otherwise its line in the PTX text.
  [[nodiscard]] std::uint32_t line_of(std::uint32_t instruction) const;

 private:
  /// `form` is in `range` wherever the block runs and the conditions hold.
  struct Fact {
    FormId form = no_form;
    Interval range;
    ConditionSet conditions = 0;
    std::uint32_t block = 0;  ///< where it was found
    std::uint32_t next = no_index;
  };
  struct GuardNode {
    Guard guard;
    std::uint32_t block = 0;
    std::uint32_t next = no_index;
  };
  struct Proof {
    Interval range;
    ConditionSet conditions = 0;
    bool is_proved = false;
  };
  enum class Otherwise : std::uint8_t { condition, wrap };
  struct Exact {
    FormId form = no_form;
    ConditionSet conditions = 0;
    Interval range;
  };
  struct Step {
    std::vector<std::pair<ValueId, bool>> values = {};  ///< and whether they are subtracted
    FormId constant = 0;
  };
  /// A phi that equals start + iterations × step.
  struct Recurrence {
    ValueId phi = no_value;
    unsigned bits = 0;
    Meaning start;
    Meaning step;
  };
  /// A loop continues while recurrence + ahead is less than the bound (or more, or not equal).
  struct Test {
    const Recurrence* of = nullptr;
    Meaning ahead;
    Meaning bound;
    ConditionSet conditions = 0;
    bool is_inequality = false;
    bool is_less = true;
    bool allows_equal = false;
    bool is_signed = false;
  };
  /// Iterations before the last one, while the conditions hold, and the range of the recurrence.
  struct Passes {
    FormId last = no_form;
    Int128 most = 0;
    ConditionSet conditions = 0;
    std::optional<Interval> carried;
  };

  /// The first two sources of an instruction.
  struct Sources {
    Meaning a;
    Meaning b;
    unsigned bits = 0;
    bool is_signed = false;
  };

  void enter(std::uint32_t block);
  void add_facts(std::uint32_t block, const Meaning& predicate, bool truth, unsigned depth);
  void add_fact(std::uint32_t block, FormId form, const Interval& range, ConditionSet conditions);
  [[nodiscard]] std::vector<std::int64_t> multiples_of(FormId form, FormId other) const;
  [[nodiscard]] Proof narrowed(std::uint32_t block, FormId form, Proof proof, bool with_conditions);
  [[nodiscard]] Proof prove(std::uint32_t block, FormId form, const Interval& wanted,
                            bool needs_no_conditions = false);
  [[nodiscard]] Exact exact(std::uint32_t block, const Meaning& meaning, unsigned bits,
                            bool is_signed, Otherwise otherwise);
  [[nodiscard]] ConditionSet condition(FormId form, const Interval& range);
  [[nodiscard]] ConditionSet set_of(std::vector<std::uint32_t> conditions);

  void solve_header(std::uint32_t block);
  [[nodiscard]] bool find_step(ValueId from, ValueId phi, std::uint32_t loop, Step& step,
                               unsigned depth);
  [[nodiscard]] bool take_step(std::uint32_t instruction, std::size_t operand, std::uint32_t loop,
                               bool is_minus, Step& into);
  [[nodiscard]] bool is_made_of_invariants(ValueId value, std::uint32_t loop, unsigned depth);
  [[nodiscard]] bool is_invariant(ValueId value, std::uint32_t loop, unsigned depth);
  [[nodiscard]] Meaning sum_of(const Step& step, std::uint32_t header);
  [[nodiscard]] std::optional<Recurrence> recurrence_of(ValueId phi);
  [[nodiscard]] Meaning value_of(const Recurrence& one, std::uint32_t loop);
  [[nodiscard]] std::optional<Test> test_of(std::uint32_t loop, std::uint32_t block,
                                            std::span<const Recurrence> recurrences);
  [[nodiscard]] std::optional<Test> test_on(std::uint32_t loop, std::uint32_t setp,
                                            std::size_t side,
                                            std::span<const Recurrence> recurrences);
  [[nodiscard]] std::optional<Passes> passes_until_equal(const Test& test, std::uint32_t header);
  [[nodiscard]] std::optional<Passes> passes_while_less(const Test& test, std::uint32_t header);
  void count_passes(std::uint32_t loop, std::span<const Recurrence> recurrences);
  [[nodiscard]] Meaning meaning_of_phi(ValueId phi);
  [[nodiscard]] std::optional<std::uint32_t> arm_of(std::uint32_t top, std::uint32_t from,
                                                    std::uint32_t join) const;
  [[nodiscard]] Meaning gated(std::vector<std::pair<std::uint32_t, Meaning>> inputs,
                              std::uint32_t join, unsigned depth);
  [[nodiscard]] FormId chosen(std::uint32_t block, FormId predicate, FormId yes, FormId no);
  [[nodiscard]] Meaning branch_predicate(std::uint32_t block);

  void evaluate(ValueId id);
  [[nodiscard]] Meaning meaning_of(ValueId id, const ptx::Instruction& instruction);
  [[nodiscard]] Meaning loaded(ValueId id, const ptx::Instruction& instruction);
  [[nodiscard]] Meaning moved(ValueId id, const ptx::Instruction& instruction);
  [[nodiscard]] Meaning computed(const Value& value, const ptx::Instruction& instruction);
  [[nodiscard]] Meaning multiplied(const Value& value, const ptx::Instruction& instruction,
                                   const Sources& in);
  [[nodiscard]] Meaning power_of(std::uint32_t block, const Meaning& amount, unsigned bits);
  [[nodiscard]] Meaning shifted(const Value& value, const ptx::Instruction& instruction,
                                const Sources& in);
  [[nodiscard]] FormId extreme(std::uint32_t block, FormId one, FormId other, bool is_least);
  [[nodiscard]] Meaning divided(const Value& value, const ptx::Instruction& instruction,
                                const Sources& in);
  [[nodiscard]] Meaning rearranged(const Value& value, const ptx::Instruction& instruction,
                                   const Sources& in);
  [[nodiscard]] Meaning equal(std::uint32_t block, const Meaning& a, const Meaning& b,
                              unsigned bits);
  [[nodiscard]] Meaning less(std::uint32_t block, const Meaning& a, const Meaning& b, unsigned bits,
                             bool is_signed);
  [[nodiscard]] Meaning compared(const Value& value, const ptx::Instruction& instruction);
  [[nodiscard]] Meaning combined(std::string_view word, const Meaning& a, const Meaning& b);
  [[nodiscard]] Meaning converted(const Value& value, const ptx::Instruction& instruction);
  [[nodiscard]] FormId operand_constant(const ptx::Operand& operand, unsigned bits);
  [[nodiscard]] Meaning hide(ValueId value, Reason reason);
  [[nodiscard]] Meaning read_value(ValueId value, std::uint32_t block);
  [[nodiscard]] FormId carried_out(FormId form, std::uint32_t from, std::uint32_t to);
  [[nodiscard]] unsigned bits_of(ValueId value) const;

  const ptx::Module& module_;
  const ptx::Kernel& kernel_;
  const ControlFlow& flow_;
  Wrapping wrapping_;
  Ssa ssa_;
  Forms forms_;
  std::vector<Meaning> meanings_;
  std::vector<bool> is_known_;
  std::vector<Hidden> hidden_;
  std::unordered_map<std::uint32_t, std::uint32_t> left_;  // hidden in a loop → read after it
  std::vector<LoopForms> loops_;
  std::unordered_map<std::uint64_t, bool> invariant_;  // by loop and value
  std::vector<std::vector<std::uint32_t>> exiting_;    // blocks with an exit, by loop
  std::vector<Condition> conditions_;
  std::unordered_multimap<FormId, std::uint32_t> condition_index_;
  std::vector<std::vector<std::uint32_t>> sets_;
  std::unordered_multimap<std::size_t, ConditionSet> set_index_;
  std::vector<Fact> facts_;
  std::vector<std::uint32_t> first_fact_;  // by block
  std::vector<GuardNode> guards_;
  std::vector<std::uint32_t> first_guard_;  // by block
};

}  // namespace strata::access
