#include "harness/access/optimize/weave.hpp"

#include "harness/access/operands.hpp"
#include "harness/access/optimize/bounds.hpp"
#include "harness/access/optimize/grouping.hpp"
#include "harness/access/optimize/statement.hpp"
#include "harness/access/optimize/swizzle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

constexpr std::size_t most_statements = 20'000;

class Weaver {
 public:
  Weaver(KernelForms& forms, const Change& change, LaunchChecks& checks, Independence& independence)
      : forms_{forms},
        kernel_{forms.kernel()},
        flow_{forms.flow()},
        change_{change},
        checks_{checks},
        bounds_{forms, checks},
        swizzle_{forms, change, bounds_, checks},
        instances_{forms, change},
        known_{forms, change},
        grouping_{instances_, bounds_, checks, independence, names_} {
    names_.forms = &forms;
    names_.change = &change;
    for (std::uint32_t block = 0; block < flow_.blocks.size(); ++block) {
      if (is_reachable(flow_, block)) blocks_.push_back(block);
    }
    find_shared();
    for_each_instruction([&](std::uint32_t i) {
      const Instruction& one = kernel_.instructions[i];
      const bool carries =
          one.has("cc") || one.opcode == "addc" || one.opcode == "subc" || one.opcode == "madc";
      if (carries && change.threads > 1) {
        throw NotOptimized{{i, "a carry, of which several threads in one would have one"}};
      }
    });
  }

  /// What a launch is checked for may be relied on from the beginning: it was woven before.
  void rely_on_checks() {
    known_.rely_on(checks_);
    relies_ = true;
    for (ValueId value = 0; value < forms_.ssa().values().size(); ++value) {
      const Value& one = forms_.ssa()[value];
      if (one.kind == Value::Kind::instruction && one.operand == 0 && one.item == 0)
        results_.emplace(one.instruction, value);
    }
  }

  Woven weave() {
    find_only_writers();
    for (const std::uint32_t block : blocks_)
      write_block(block);
    const std::string body = std::exchange(text_, uniform_);
    prologue();
    text_ += body;
    Woven woven{.text = names_.declarations() + text_,
                .groups = grouping_.groups(),
                .grouped = grouping_.grouped(),
                .grouped_instructions = grouping_.grouped_instructions()};
    return woven;
  }

 private:
  // ---- text ----

  void line(const std::string& statement) {
    text_ += statement + '\n';
    if (++statements_ > most_statements) {
      throw NotOptimized{{ptx::no_index, "it would become too long"}};
    }
  }
  [[nodiscard]] std::string written(std::uint32_t instruction, unsigned copy) {
    return swizzle_.written(instruction,
                            statement(forms_.module(), kernel_, instruction, names_.of_copy(copy)),
                            names_);
  }

  // ---- what all copies share ----

  void find_shared() {
    const unsigned copies = change_.threads;
    names_.is_shared.assign(kernel_.registers.size(), copies == 1);
    if (copies == 1) return;
    std::vector<unsigned> written(kernel_.registers.size());
    for_each_instruction([&](std::uint32_t i) {
      for_each_written(kernel_.instructions[i], [&](std::uint32_t reg) { ++written[reg]; });
    });
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for_each_instruction([&](std::uint32_t i) {
        if (!is_same_in_all(i)) return;
        for_each_written(kernel_.instructions[i], [&](std::uint32_t reg) {
          if (written[reg] != 1 || names_.is_shared[reg]) return;
          names_.is_shared[reg] = true;
          has_changed = true;
        });
      });
    }
  }
  void find_only_writers() {
    std::set<std::uint32_t> written;
    for_each_instruction([&](std::uint32_t i) {
      for_each_written(kernel_.instructions[i], [&](std::uint32_t reg) {
        if (written.insert(reg).second) {
          only_writers_.emplace(reg, i);
        } else {
          only_writers_.erase(reg);
        }
      });
    });
  }
  /// Whether all copies make the same of it, whenever they run it.
  [[nodiscard]] bool is_same_in_all(std::uint32_t i) const {
    const Instruction& one = kernel_.instructions[i];
    const Role role = role_of(one);
    const bool is_parameter = role == Role::load && one.space() == Space::param;
    if ((role != Role::plain && !is_parameter) || one.guard != no_index || one.has("cc") ||
        one.opcode == "addc" || one.opcode == "subc" || one.opcode == "madc") {
      return false;
    }
    bool is_same = written_operands(one) > 0;
    for_each_read(one, [&](std::uint32_t reg) { is_same = is_same && names_.is_shared[reg]; });
    for (const Operand& operand : one.operands) {
      const bool is_special = operand.kind == Operand::Kind::special;
      is_same = is_same && !(is_special && names_.is_of_copy(operand.special));
    }
    return is_same;
  }
  template <class See>
  void for_each_instruction(const See& see) const {
    for (const std::uint32_t block : blocks_) {
      for (std::uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i)
        see(i);
    }
  }
  template <class See>
  static void for_each_written(const Instruction& one, const See& see) {
    const std::size_t written = written_operands(one);
    for (std::size_t o = 0; o < written; ++o)
      see_registers(one.operands[o], see);
  }
  /// Whether the copies after the first have nothing to do.
  [[nodiscard]] bool is_done_once(std::uint32_t i) const {
    bool all = written_operands(kernel_.instructions[i]) > 0;
    for_each_written(kernel_.instructions[i],
                     [&](std::uint32_t reg) { all = all && names_.is_shared[reg]; });
    return all && is_same_in_all(i);
  }

  // ---- the ends of blocks ----

  /// Where a block leads: to other blocks or, by flow_.exit(), to the end.
  struct End {
    const Instruction* branch = nullptr;  ///< or ret, or exit; null: it falls through
    std::uint32_t at = no_index;          ///< the branch
    std::uint32_t taken = no_index;
    std::uint32_t otherwise = no_index;  ///< no_index: it is always taken
  };
  [[nodiscard]] std::uint32_t block_at(std::uint32_t instruction) const {
    return instruction < kernel_.instructions.size() ? flow_.block_of[instruction] : flow_.exit();
  }
  [[nodiscard]] End end_of(std::uint32_t block) const {
    const BasicBlock& one = flow_.blocks[block];
    End end{.otherwise = block_at(one.end)};
    if (one.end == one.begin) return end;
    const Instruction& last = kernel_.instructions[one.end - 1];
    const bool ends = last.opcode == "ret" || last.opcode == "exit";
    if (last.opcode != "bra" && !ends) {
      const bool traps = last.opcode == "trap" && last.guard == no_index;
      if (traps) end.otherwise = flow_.exit();
      return end;
    }
    end.branch = &last;
    end.at = one.end - 1;
    end.taken =
        ends ? flow_.exit() : block_at(kernel_.labels[last.operands.front().index].instruction);
    if (last.guard == no_index) end.otherwise = no_index;
    return end;
  }
  [[nodiscard]] std::uint32_t end_of_code(std::uint32_t block, const End& end) const {
    return end.branch == nullptr ? flow_.blocks[block].end : end.at;
  }

  // ---- all copies together ----

  [[nodiscard]] static std::string label(std::uint32_t block) {
    return fmt::format("$strata_{}", block);
  }
  [[nodiscard]] std::string jump(std::uint32_t block) const {
    return block == flow_.exit() ? "ret;" : fmt::format("bra {};", label(block));
  }

  void write_block(std::uint32_t block) {
    const End end = end_of(block);
    const bool agrees = end.otherwise == no_index || end.branch == nullptr || agree(end.at, block);
    const unsigned passes = agrees ? passes_of(block, end) : 1;
    text_ += label(block) + ":\n";
    write_straight_code(block, end, passes, false);
    if (end.branch == nullptr || end.otherwise == no_index) {
      line(jump(end.branch == nullptr ? end.otherwise : end.taken));
    } else if (agrees && is_early_exit(block, end)) {
      write_early_exit(end);
    } else if (agrees) {
      line(guard_text(*end.branch, names_.of_copy(0)) + jump_of_all(end, end.taken));
      line(jump_of_all(end, end.otherwise));
    } else {
      write_branch_by_copy(block, end);
    }
    write_shortcuts();
  }

  /// Whether the kernel begins with a question whether to leave at once. Threads of blocks that the
  /// original does not have may compute the answer, too.
  [[nodiscard]] bool is_early_exit(std::uint32_t block, const End& end) const {
    const bool is_asked = relies_ && !change_.exchange && block == 0 && !is_header(block) &&
                          is_end(end.taken) != is_end(end.otherwise);
    const std::span code{kernel_.instructions.data() + flow_.blocks[block].begin,
                         kernel_.instructions.data() + end_of_code(block, end)};
    return is_asked && std::ranges::all_of(code, [](const Instruction& one) {
             const Role role = role_of(one);
             const bool computes = role == Role::plain && written_operands(one) > 0;
             return computes || (role == Role::load && one.space() == Space::param);
           });
  }
  /// Whether nothing is done from the block on.
  [[nodiscard]] bool is_end(std::uint32_t block) const {
    if (block == flow_.exit()) return true;
    const End end = end_of(block);
    const bool returns = end.branch != nullptr && end.otherwise == no_index;
    return returns && end.taken == flow_.exit() && end.at == flow_.blocks[block].begin;
  }
  void write_early_exit(const End& end) {
    leaves_with_none_ = true;
    std::string leaves = names_.of_copy(0).reg(end.branch->guard);
    if (is_end(end.taken) == end.branch->guard_negated) {
      const std::string stays = std::exchange(leaves, names_.temporary("pred"));
      line(fmt::format("not.pred {}, {};", leaves, stays));
    }
    const std::string any = names_.temporary("pred");
    line(fmt::format("or.pred {}, {}, {};", any, leaves, names_.none));
    line(fmt::format("@{} ret;", any));
    line(jump_of_all(end, is_end(end.taken) ? end.otherwise : end.taken));
  }

  /// The code of a block, all copies together. `again`: it stands elsewhere, too.
  void write_straight_code(std::uint32_t block, const End& end, unsigned passes, bool again) {
    std::vector<Instance> all;
    for (unsigned pass = 0; pass < passes; ++pass) {
      for (std::uint32_t i = flow_.blocks[block].begin; i < end_of_code(block, end); ++i) {
        const unsigned copies = is_done_once(i) ? 1 : change_.threads;
        for (unsigned copy = 0; copy < copies; ++copy)
          all.push_back({.instruction = i, .copy = copy, .pass = pass});
      }
    }
    instances_.enter(block, passes);
    known_.enter(block, passes);
    const auto print = [this](const Instance& one) {
      auto shorter = relies_ ? from_another(one) : std::nullopt;
      if (!shorter) shorter = from_source(one);
      return shorter ? *shorter : written(one.instruction, one.copy);
    };
    for (const std::string& one : grouping_.written(all, print, again))
      line(one);
  }

  // ---- branches that were decided before ----

  /// A way that all copies take together from a branch on: blocks, of which some ends with a branch
  /// on the same guard, as it was.
  struct Shortcut {
    std::string label;
    std::vector<std::uint32_t> blocks;
    std::uint32_t to = 0;
  };
  [[nodiscard]] bool writes(std::uint32_t block, std::uint32_t reg) const {
    bool found = false;
    for (std::uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i)
      for_each_written(kernel_.instructions[i], [&](std::uint32_t one) { found |= one == reg; });
    return found;
  }
  [[nodiscard]] static bool is_branch_on(const End& end, std::uint32_t guard) {
    return end.branch != nullptr && end.otherwise != no_index && end.branch->guard == guard;
  }
  [[nodiscard]] bool is_header(std::uint32_t block) const {
    return flow_.loop_of[block] != no_index && flow_.loops[flow_.loop_of[block]].header == block;
  }
  /// The jump to `next`, one of the ways of a branch that all copies take alike: past later
  /// branches on the same guard.
  [[nodiscard]] std::string jump_of_all(const End& branch, std::uint32_t next) {
    constexpr std::size_t most_blocks = 4;
    if (!relies_ || branch.taken == branch.otherwise) return jump(next);
    const std::uint32_t guard = branch.branch->guard;
    const bool holds = (next == branch.taken) != branch.branch->guard_negated;
    Shortcut way{.label = fmt::format("$strata_way{}", shortcut_count_)};
    std::size_t needed = 0;  // blocks up to the last branch that is saved
    std::uint32_t to = next;
    while (to != flow_.exit() && way.blocks.size() < most_blocks && !writes(to, guard) &&
           !is_header(to)) {
      const End end = end_of(to);
      const bool is_saved = is_branch_on(end, guard);
      if (end.branch != nullptr && end.otherwise != no_index && !is_saved) break;
      way.blocks.push_back(to);
      const bool takes = end.branch != nullptr && (!is_saved || holds != end.branch->guard_negated);
      to = takes ? end.taken : end.otherwise;
      if (!is_saved) continue;
      needed = way.blocks.size();
      way.to = to;
    }
    if (needed == 0) return jump(next);
    way.blocks.resize(needed);
    ++shortcut_count_;
    shortcuts_.push_back(way);
    return fmt::format("bra {};", way.label);
  }
  void write_shortcuts() {
    for (const Shortcut& way : std::exchange(shortcuts_, {})) {
      text_ += way.label + ":\n";
      for (const std::uint32_t block : way.blocks)
        write_straight_code(block, end_of(block), 1, true);
      line(jump(way.to));
    }
  }

  /// Whether all copies have the same guard at the end of a block that they come to together.
  bool agree(std::uint32_t at, std::uint32_t block) {
    const Instruction& branch = kernel_.instructions[at];
    if (change_.threads == 1 || names_.is_shared[branch.guard]) return true;
    const Meaning guard = forms_.guard(at);
    if (guard.form == no_form) return false;
    const auto is_same_by = [&](Instances& instances) {
      instances.enter(block, 1);
      const FormId first = instances.form(guard.form, {.instruction = at});
      bool is_same = first != no_form;
      for (unsigned copy = 1; copy < change_.threads && is_same; ++copy)
        is_same = first == instances.form(guard.form, {.instruction = at, .copy = copy});
      return is_same;
    };
    if (!is_same_by(instances_))
      return relies_ && is_same_by(known_) && are_checked(guard.conditions, block);
    const std::size_t before = checks_.mark();
    if (bounds_.ensure(guard.conditions, block)) return true;
    checks_.take_back(before);
    return false;
  }

  // ---- what differs little between copies ----

  /// A mask that changes nothing: of a byte that was loaded without its sign.
  [[nodiscard]] std::optional<std::string> from_source(const Instance& one) {
    const Instruction& mask = kernel_.instructions[one.instruction];
    const bool is_mask = mask.opcode == "and" && mask.guard == no_index &&
                         mask.operands.size() == 3 && mask.operands[1].kind == Operand::Kind::reg &&
                         mask.operands[2].kind == Operand::Kind::integer;
    const auto writer = is_mask ? only_writers_.find(mask.operands[1].index) : only_writers_.end();
    if (writer == only_writers_.end()) return std::nullopt;
    const Instruction& load = kernel_.instructions[writer->second];
    if (role_of(load) != Role::load || load.guard != no_index || ptx::is_signed(load.type()))
      return std::nullopt;
    const unsigned bytes = ptx::bytes_of(load.type());
    const std::uint64_t most = bytes == 1 ? 0xFF : 0xFFFF;
    if (bytes == 0 || bytes > 2 || (mask.operands[2].bits & most) != most) return std::nullopt;
    const Renaming names = names_.of_copy(one.copy);
    const std::uint32_t to = mask.operands[0].index;
    return fmt::format("mov.b{} {}, {};", 8 * ptx::bytes_of(kernel_.registers[to].type),
                       names.reg(to), names.reg(mask.operands[1].index));
  }

  /// What a copy makes of an instruction, made of what another copy made of it: neighbours' indices
  /// and addresses differ by a constant, most of their predicates by nothing.
  [[nodiscard]] std::optional<std::string> from_another(const Instance& one) {
    const Instruction& instruction = kernel_.instructions[one.instruction];
    const auto value = results_.find(one.instruction);
    if (value == results_.end() || role_of(instruction) != Role::plain ||
        instruction.guard != no_index || written_operands(instruction) != 1 ||
        instruction.operands[0].kind != Operand::Kind::reg || instruction.has("cc")) {
      return std::nullopt;
    }
    const std::uint32_t reg = instruction.operands[0].index;
    const ptx::Type type = kernel_.registers[reg].type;
    const bool is_predicate = type == ptx::Type::pred;
    const unsigned bits = is_predicate ? 1 : 8 * ptx::bytes_of(type);
    const Meaning meaning = forms_.of(value->second);
    if ((bits != 1 && bits != 32 && bits != 64) || meaning.form == no_form ||
        names_.is_shared[reg] || !are_checked(meaning.conditions, known_.block())) {
      return std::nullopt;
    }
    const auto form_in = [&](unsigned copy) {
      return known_.form(meaning.form,
                         {.instruction = one.instruction, .copy = copy, .pass = one.pass});
    };
    const std::string to = names_.of_copy(one.copy).reg(reg);
    const std::string word = is_predicate ? "pred" : fmt::format("b{}", bits);
    if (one.copy == 0) {
      if (bits != 32 || meaning.form != global_index()) return std::nullopt;
      uses_index_ = true;
      return fmt::format("mov.b32 {}, {};", to, names_.index);
    }
    const std::string first = names_.of_copy(0).reg(reg);
    const FormId here = form_in(one.copy);
    if (here == no_form) return std::nullopt;
    Forms& forms = forms_.forms();
    if (here == form_in(0)) return fmt::format("mov.{} {}, {};", word, to, first);
    const auto constant = forms.constant_of(here);
    if (is_predicate) {
      if (!constant) return std::nullopt;
      return fmt::format("setp.ne.u32 {}, {}, 0;", to, *constant);
    }
    const auto step = forms.constant_of(forms.subtract(here, form_in(0)));
    if (step) return fmt::format("add.s{} {}, {}, {};", bits, to, first, number_text(*step, bits));
    const std::string stride = uniform(forms.subtract(here, form_in(one.copy - 1)), bits);
    if (stride.empty()) return std::nullopt;
    return fmt::format("add.s{} {}, {}, {};", bits, to, names_.of_copy(one.copy - 1).reg(reg),
                       stride);
  }

  [[nodiscard]] static std::string number_text(std::int64_t number, unsigned bits) {
    return bits == 32 ? fmt::format("{}", static_cast<std::int32_t>(number))
                      : fmt::format("{}", number);
  }

  /// Whether the conditions hold in every launch of the optimized kernel, with no check beyond
  /// those that there are.
  [[nodiscard]] bool are_checked(ConditionSet conditions, std::uint32_t block) {
    const std::size_t before = checks_.mark();
    const bool hold = bounds_.ensure(conditions, block);
    const bool are_new = checks_.count() != before;
    checks_.take_back(before);
    return hold && !are_new;
  }

  /// The index of a thread in the grid, along the lanes' axis; no_form where it is none of the
  /// optimized kernel's.
  [[nodiscard]] FormId global_index() {
    if (change_.threads == 1 || change_.exchange) return no_form;
    const unsigned axis = change_.lanes_axis();
    const auto index = [&](ptx::Special first) {
      return forms_.special(static_cast<ptx::Special>(static_cast<unsigned>(first) + axis));
    };
    Forms& forms = forms_.forms();
    return forms.add(forms.multiply(index(ptx::Special::ctaid_x), index(ptx::Special::ntid_x)),
                     index(ptx::Special::tid_x));
  }

  /// A register with a parameter, or a multiple of one, that the form is; "" where it is not.
  [[nodiscard]] std::string uniform(FormId form, unsigned bits) {
    if (form == no_form) return {};
    Forms& forms = forms_.forms();
    const auto terms = forms.terms_of(form);
    if (terms.size() != 1 || forms.offset_of(form) != 0) return {};
    const Term term = terms[0];
    const auto factors = forms.factors_of(term);
    const Atom& atom = forms.atom(factors[0]);
    const bool fits = atom.bytes * 8U == bits || (atom.bytes == 4 && bits == 64);
    if (factors.size() != 1 || atom.kind != AtomKind::parameter || !fits) return {};
    const auto [known, is_new] = uniforms_.try_emplace({form, bits});
    if (!is_new) return known->second;
    const auto add = [this](const std::string& statement) { uniform_ += statement + '\n'; };
    std::string name = names_.temporary(fmt::format("b{}", 8 * atom.bytes));
    add(fmt::format("ld.param.b{} {}, [{}+{}];", 8 * atom.bytes, name,
                    forms_.module().symbols[atom.which].name, atom.place));
    if (8U * atom.bytes != bits) {
      const std::string narrow = std::exchange(name, names_.temporary("b64"));
      const char sign = atom.is_signed ? 's' : 'u';
      add(fmt::format("cvt.{0}64.{0}32 {1}, {2};", sign, name, narrow));
    }
    if (term.coefficient != 1) {
      add(fmt::format("mul.lo.s{0} {1}, {1}, {2};", bits, name,
                      number_text(term.coefficient, bits)));
    }
    return known->second = name;
  }

  /// How many passes of the block, if it is a loop of its own, are done in one.
  unsigned passes_of(std::uint32_t block, const End& end) {
    const std::uint32_t loop = flow_.loop_of[block];
    const bool is_loop = change_.passes > 1 && loop != no_index &&
                         flow_.loops[loop].header == block && end.branch != nullptr &&
                         (end.taken == block) != (end.otherwise == block) &&
                         flow_.loops[loop].latches == std::vector<std::uint32_t>{block};
    if (!is_loop) return 1;
    const LoopForms& known = forms_.loop(loop);
    if (const auto last = forms_.forms().constant_of(known.last)) {
      return (*last + 1) % change_.passes == 0 ? change_.passes : 1;
    }
    const auto last = bounds_.exactly(known.last);
    const std::size_t before = checks_.mark();
    if (!last || !bounds_.ensure(known.conditions, block)) {
      checks_.take_back(before);
      return 1;
    }
    const auto count = checks_.apply(LaunchChecks::Operation::add, *last, checks_.constant(1));
    checks_.need_multiple(count, change_.passes,
                          fmt::format("the passes of the loop at line {} are no multiple of {}",
                                      known.line, change_.passes));
    return change_.passes;
  }

  // ---- each copy by itself ----

  /// The copies may go different ways from here on.
  void write_branch_by_copy(std::uint32_t block, const End& end) {
    std::vector<std::string> guards;
    for (unsigned copy = 0; copy < change_.threads; ++copy)
      guards.push_back(names_.of_copy(copy).reg(end.branch->guard));
    const std::string any = combined("or", guards);
    const std::string all = combined("and", guards);
    const bool negated = end.branch->guard_negated;
    line(fmt::format("@!{} {}", any, jump_of_all(end, negated ? end.taken : end.otherwise)));
    line(fmt::format("@{} {}", all, jump_of_all(end, negated ? end.otherwise : end.taken)));
    const std::uint32_t meet = late_meeting_of(block, end);
    write_copies_in_turn(
        label(block), meet, {end.taken, end.otherwise},
        [&](unsigned copy, const std::string& taken, const std::string& otherwise) {
          line(fmt::format("@{}{} bra {};", negated ? "!" : "", guards[copy], taken));
          line(fmt::format("bra {};", otherwise));
        });
  }

  [[nodiscard]] std::string combined(const std::string& word,
                                     const std::vector<std::string>& guards) {
    std::string before = guards.front();
    for (std::size_t i = 1; i < guards.size(); ++i) {
      const std::string next = i == 1 ? names_.temporary("pred") : before;
      line(fmt::format("{}.pred {}, {}, {};", word, next, before, guards[i]));
      before = next;
    }
    return before;
  }

  /// Where all copies meet again, each in the same pass of every loop: counters are then the same.
  [[nodiscard]] std::uint32_t meeting_of(std::uint32_t block, const End& end) const {
    std::uint32_t meet = block;
    do {
      meet = flow_.post_dominator[meet];
      if (meet == no_index) throw NotOptimized{{end.at, "a loop that nothing ends"}};
    } while (!is_in_one_pass(end, meet));
    return meet;
  }
  [[nodiscard]] bool is_in_one_pass(const End& end, std::uint32_t meet) const {
    if (meet == flow_.exit()) return true;
    const auto is_in_another_pass = [&](std::uint32_t other) {
      const std::uint32_t loop = flow_.loop_of[other];
      return loop != no_index && flow_.loops[loop].header == other && flow_.is_in(loop, meet);
    };
    return std::ranges::none_of(region_of({end.taken, end.otherwise}, meet), is_in_another_pass);
  }
  /// The same, but copies do not meet for nothing: to part again, on the same guards, before any
  /// access.
  [[nodiscard]] std::uint32_t late_meeting_of(std::uint32_t block, const End& end) const {
    std::uint32_t meet = meeting_of(block, end);
    const std::uint32_t guard = end.branch->guard;
    const auto accesses = [&](const Instruction& one) {
      return role_of(one) != Role::plain && one.opcode != "bra";
    };
    while (relies_ && meet != flow_.exit()) {
      const End next = end_of(meet);
      const auto region = region_of({end.taken, end.otherwise}, meet);
      const BasicBlock& one = flow_.blocks[meet];
      const std::span code{kernel_.instructions.data() + one.begin,
                           kernel_.instructions.data() + end_of_code(meet, next)};
      const bool parts_again =
          is_branch_on(next, guard) && !writes(meet, guard) &&
          std::ranges::none_of(region, [&](std::uint32_t b) { return writes(b, guard); }) &&
          std::ranges::none_of(code, accesses);
      if (!parts_again) break;
      const std::uint32_t later = meeting_of(meet, next);
      if (!is_in_one_pass(end, later)) break;
      meet = later;
    }
    return meet;
  }

  /// The blocks on the ways to where all meet.
  [[nodiscard]] std::set<std::uint32_t> region_of(const std::array<std::uint32_t, 2>& ways,
                                                  std::uint32_t meet) const {
    std::set<std::uint32_t> region;
    std::vector<std::uint32_t> open;
    const auto enter = [&](std::uint32_t block) {
      if (block != meet && block < flow_.exit() && region.insert(block).second)
        open.push_back(block);
    };
    std::ranges::for_each(ways, enter);
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      std::ranges::for_each(flow_.blocks[block].successors, enter);
    }
    return region;
  }

  /// Runs each copy from the first block that `begin` chooses up to where all meet.
  template <class Begin>
  void write_copies_in_turn(const std::string& where, std::uint32_t meet,
                            const std::array<std::uint32_t, 2>& ways, const Begin& begin) {
    const std::set<std::uint32_t> region = region_of(ways, meet);
    const auto start = [&](unsigned copy) { return fmt::format("{}_c{}", where, copy); };
    for (unsigned copy = 0; copy < change_.threads; ++copy) {
      const bool is_last = copy + 1 == change_.threads;
      const std::string done = is_last ? start(change_.threads) : start(copy + 1);
      const auto name = [&](std::uint32_t block) {
        return region.contains(block) ? fmt::format("{}_{}", start(copy), block) : done;
      };
      if (copy > 0) text_ += start(copy) + ":\n";
      begin(copy, name(ways[0]), name(ways[1]));
      for (const std::uint32_t block : region) {
        const End end = end_of(block);
        text_ += name(block) + ":\n";
        for (std::uint32_t i = flow_.blocks[block].begin; i < end_of_code(block, end); ++i)
          line(written(i, copy));
        if (end.branch != nullptr) {
          line(fmt::format("{}bra {};", guard_text(*end.branch, names_.of_copy(copy)),
                           name(end.taken)));
        }
        if (end.otherwise != no_index) line(fmt::format("bra {};", name(end.otherwise)));
      }
    }
    text_ += start(change_.threads) + ":\n";
    line(jump(meet));
  }

  // ---- which threads there are ----

  void prologue() {
    const unsigned copies = change_.threads;
    if (!change_.moves_blocks()) return;
    constexpr std::string_view axes = "xyz";
    const char axis = axes[change_.lanes_axis()];
    const std::string blocks = names_.blocks;
    line(fmt::format("ld.param.u32 {}, [{}];", blocks, blocks_parameter(kernel_)));
    const std::string first = names_.of_lane(0);
    std::string tested = change_.exchange ? first : names_.merged;
    std::string end = blocks;
    const std::string number = names_.temporary("b32");
    const auto shift = static_cast<unsigned>(std::countr_zero(copies));
    if (change_.exchange) {
      const std::string threads = names_.temporary("b32");
      line(fmt::format("mov.u32 {}, %tid.x;", number));
      line(fmt::format("mov.u32 {}, %ntid.x;", threads));
      line(fmt::format("mov.u32 {}, %ctaid.{};", first, axis));
      line(fmt::format("mad.lo.u32 {0}, {0}, {1}, {2};", first, threads, number));
      if (copies > 1) line(fmt::format("shl.b32 {0}, {0}, {1};", first, shift));
    } else {
      // Of as many blocks as there are threads in one: blocks are a power of two along the lanes.
      const std::string width = names_.temporary("b32");
      const std::string bits = names_.temporary("b32");
      line(fmt::format("mov.u32 {}, %tid.x;", number));
      line(fmt::format("mov.u32 {}, %ntid.x;", width));
      line(fmt::format("mov.u32 {}, %ctaid.{};", names_.merged, axis));
      if (uses_index_) {
        // The same as below in one, for grids that 32 bits are enough for.
        tested = names_.index;
        line(fmt::format("mad.lo.u32 {}, {}, {}, {};", tested, names_.merged, width, number));
        line(fmt::format("shl.b32 {0}, {0}, {1};", tested, shift));
        end = names_.temporary("b32");
        line(fmt::format("mul.lo.u32 {}, {}, {};", end, blocks, width));
        const unsigned along = change_.lanes_axis();
        checks_.need_within(checks_.apply(LaunchChecks::Operation::multiply, checks_.size(along),
                                          checks_.size(grid_size + along)),
                            1, std::int64_t{1} << 31,
                            fmt::format("{}·{} is more than 2^31", size_names.at(along),
                                        size_names.at(grid_size + along)));
      }
      line(fmt::format("shl.b32 {0}, {0}, {1};", number, shift));
      line(fmt::format("bfind.u32 {}, {};", bits, width));
      line(fmt::format("sub.u32 {0}, {0}, 1;", width));
      line(fmt::format("and.b32 {}, {}, {};", first, number, width));
      line(fmt::format("shr.u32 {}, {}, {};", number, number, bits));
      line(fmt::format("mad.lo.u32 {0}, {0}, {1}, {2};", names_.merged, copies, number));
    }
    for (unsigned copy = 1; copy < copies; ++copy)
      line(fmt::format("add.u32 {}, {}, {};", names_.of_lane(copy), first, copy));
    // Threads of blocks that the original does not have: all of a thread's, or behind its first.
    line(fmt::format("setp.ge.u32 {}, {}, {};", names_.none, tested, end));
    if (!leaves_with_none_) line(fmt::format("@{} ret;", names_.none));
    if (!change_.exchange || copies == 1) return;
    const std::string last = names_.temporary("pred");
    line(fmt::format("setp.lt.u32 {}, {}, {};", last, names_.of_lane(copies - 1), blocks));
    line(fmt::format("@{} bra {};", last, label(0)));
    write_copies_in_turn(
        "$strata_tail", flow_.exit(), {0, flow_.exit()},
        [&](unsigned copy, const std::string& taken, const std::string& otherwise) {
          line(fmt::format("setp.lt.u32 {}, {}, {};", last, names_.of_lane(copy), blocks));
          line(fmt::format("@{} bra {};", last, taken));
          line(fmt::format("bra {};", otherwise));
        });
  }

  KernelForms& forms_;
  const ptx::Kernel& kernel_;
  const ControlFlow& flow_;
  const Change& change_;
  LaunchChecks& checks_;
  Bounds bounds_;
  Swizzle swizzle_;
  Names names_;
  Instances instances_;
  Instances known_;  ///< the same, but for what relies on checks
  Grouping grouping_;
  std::vector<std::uint32_t> blocks_;  ///< that can be reached, in the order of the text
  std::string text_;
  std::string uniform_;  ///< what is computed once, before all blocks
  std::map<std::pair<FormId, unsigned>, std::string> uniforms_;
  std::map<std::uint32_t, ValueId> results_;             ///< by instruction
  std::map<std::uint32_t, std::uint32_t> only_writers_;  ///< instructions, by register
  std::vector<Shortcut> shortcuts_;                      ///< that are still to be written
  unsigned shortcut_count_ = 0;
  bool relies_ = false;
  bool uses_index_ = false;
  bool leaves_with_none_ = false;  ///< threads of no block leave at the end of block 0
  std::size_t statements_ = 0;
};

}  // namespace

std::string blocks_parameter(const ptx::Kernel& kernel) {
  return fmt::format("{}_strata_blocks", kernel.name);
}

Woven weave(KernelForms& kernel, const Change& change, LaunchChecks& checks,
            Independence& independence) {
  Woven woven = Weaver{kernel, change, checks, independence}.weave();
  if (change.threads == 1) return woven;
  // Again: what a launch is checked for, anyway, tells which branches threads agree on.
  Weaver again{kernel, change, checks, independence};
  again.rely_on_checks();
  return again.weave();
}

}  // namespace strata::access
