#include "harness/access/program.hpp"

#include "harness/access/arithmetic.hpp"
#include "harness/access/listing.hpp"
#include "harness/access/operands.hpp"
#include "harness/access/reconvergence.hpp"
#include "harness/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Kind = Operand::Kind;

constexpr std::uint64_t most_shared = 228U << 10U;  // per block, including the reserve
constexpr std::uint64_t most_local = 512U << 10U;   // per thread

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) {
  return align <= 1 ? value : (value + align - 1) / align * align;
}

/// A runtime function that does not access the kernel's memory.
bool is_harmless_call(const ptx::Module& module, const Instruction& one) {
  return std::ranges::any_of(one.operands, [&](const Operand& operand) {
    if (operand.kind != Kind::function) return false;
    const std::string_view name = module.kernels[operand.index].name;
    return name == "vprintf" || name == "__assertfail";
  });
}

bool is_real(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}

/// An argument or the result of a call, which is no access.
bool is_argument(const ptx::Module& module, const ptx::Kernel& kernel, const Instruction& one) {
  const bool is_store = one.opcode == "st";
  if (one.space() != Space::param || (!is_store && one.opcode != "ld")) return false;
  const Operand* const address = address_of(one);
  return address != nullptr && address->kind == Kind::symbol &&
         module.symbols[address->index].space == Space::param &&
         std::ranges::count(kernel.params, address->index) == 0;
}

/// `bar.red.or.pred %p1, 0, %p2;`, of the whole block.
bool is_vote_of_block(const ptx::Kernel& kernel, const Instruction& one) {
  const bool is_bar = one.opcode == "bar" || one.opcode == "barrier";
  return is_bar && one.has("red") && one.operands.size() == 3 &&
         one.operands[1].kind == Kind::integer && one.operands[1].bits == 0 &&
         one.operands[2].kind == Kind::reg &&
         kernel.registers[one.operands[2].index].type == Type::pred;
}

/// Marks the instructions that affect an address, a guard or a branch.
class Slice {
 public:
  Slice(const ptx::Module& module, const ptx::Kernel& kernel, const ControlFlow& flow,
        const std::vector<std::uint32_t>& meeting, bool follows_buffers)
      : module_{module},
        kernel_{kernel},
        flow_{flow},
        meeting_{meeting},
        follows_buffers_{follows_buffers} {
    const std::size_t count = kernel.instructions.size();
    needed.assign(count, false);
    passes_value.assign(count, false);
    returns.assign(count, false);
    roles_.reserve(count);
    writers_.resize(kernel.registers.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      roles_.push_back(role_of(kernel.instructions[i]));
      registers_.push_back(registers_of(kernel.instructions[i]));
      for (const std::uint32_t r : registers_.back().written)
        writers_[r].push_back(i);
    }
    find_controllers();
  }

  void close(bool everything) {
    for (std::uint32_t i = 0; i < needed.size(); ++i) {
      if (everything) {
        need(i);
        need_value(i);
        continue;
      }
      const bool ends = roles_[i] == Role::exit && kernel_.instructions[i].opcode != "trap";
      if (ends || accesses_memory(kernel_.instructions[i])) need(i);
      if (const auto* members = members_of(kernel_.instructions[i])) come_together(i, *members);
    }
    while (!open_.empty()) {
      const std::uint32_t at = open_.back();
      open_.pop_back();
      follow(at);
    }
  }

  [[nodiscard]] Role role(std::uint32_t i) const { return roles_[i]; }
  [[nodiscard]] const Registers& registers(std::uint32_t i) const { return registers_[i]; }

  std::vector<bool> needed;
  std::vector<bool> passes_value;  ///< for loads and stores: the value is needed
  std::vector<bool> returns;       ///< for atomics: what they return is needed
  bool needs_shared = false;
  bool needs_local = false;
  bool needs_buffers = false;

 private:
  /// The branches that control whether a block is reached (Ferrante, Ottenstein and Warren 1987):
  /// for an edge, the blocks on the path up from its end to where its lanes meet.
  void find_controllers() {
    const std::size_t count = flow_.blocks.size();
    controllers_.resize(count);
    for (std::uint32_t block = 0; block < count; ++block) {
      if (flow_.blocks[block].successors.size() + (flow_.blocks[block].ends_threads ? 1 : 0) < 2) {
        continue;
      }
      const std::uint32_t meet = meeting_[block];
      // If no path leads to the end, control dependences are unknown.
      if (meet == no_index) everywhere_.push_back(block);
      for (const std::uint32_t to : flow_.blocks[block].successors) {
        for (std::uint32_t up = to; up != meet && up < count; up = meeting_[up])
          controllers_[up].push_back(block);
      }
    }
  }

  void need(std::uint32_t i) {
    if (needed[i]) return;
    needed[i] = true;
    open_.push_back(i);
  }

  void need_register(std::uint32_t r) {
    for (const std::uint32_t writer : writers_[r]) {
      need(writer);
      need_value(writer);
    }
  }

  [[nodiscard]] bool moves(std::uint32_t i) const {
    return roles_[i] == Role::load || roles_[i] == Role::store || roles_[i] == Role::atomic ||
           roles_[i] == Role::reduction;
  }

  /// Marks the value of the instruction as needed; false if it already was.
  bool need_moved(std::uint32_t i) {
    if (!moves(i) || passes_value[i]) return false;
    passes_value[i] = true;
    if (needed[i]) open_.push_back(i);
    return true;
  }

  /// For a load or an atomic, also the stores that may have written its value.
  void need_value(std::uint32_t i) {
    const bool is_new = need_moved(i);
    returns[i] = roles_[i] == Role::atomic;
    const bool reads = (is_new && roles_[i] == Role::load) || returns[i];
    if (!reads) return;
    const Space space = kernel_.instructions[i].space();
    const bool generic = space == Space::generic;
    if (space == Space::shared || generic) {
      pass_through(Space::shared, passes_shared_);
      needs_shared = true;
    }
    if (space == Space::local || generic) pass_through(Space::local, needs_local);
    if (space == Space::global || generic) need_buffers();
    if (space == Space::param && is_argument(module_, kernel_, kernel_.instructions[i])) {
      pass_through(Space::param, passes_arguments_);
      needs_local = true;
    }
  }

  void pass_through(Space space, bool& passes) {
    if (std::exchange(passes, true)) return;
    for (std::uint32_t i = 0; i < roles_.size(); ++i) {
      const Space of = kernel_.instructions[i].space();
      const bool there = of == space || (of == Space::generic && space != Space::param);
      if (roles_[i] == Role::store && there) (void)need_moved(i);
      if (roles_[i] == Role::store && space == Space::param && there) need(i);
      const bool combines = roles_[i] == Role::atomic || roles_[i] == Role::reduction;
      if (combines && there) (void)need_moved(i);
      if (roles_[i] == Role::copy && space == Space::shared) need_buffers();
      const bool orders = roles_[i] == Role::barrier || roles_[i] == Role::unmodelled;
      if (orders && space != Space::local) need(i);
    }
  }

  void need_buffers() {
    needs_buffers = true;
    if (!follows_buffers_) return;
    pass_through(Space::global, passes_buffers_);
    needs_shared = true;  // the warps of a block run side by side
  }

  /// Marks what determines which lanes reach an instruction, and which should.
  void come_together(std::uint32_t i, const Operand& members) {
    if (members.kind == Kind::reg) need_register(members.index);
    reach(i);
  }

  /// Marks what determines whether a lane reaches an instruction.
  void reach(std::uint32_t i) {
    const std::uint32_t guard = kernel_.instructions[i].guard;
    if (guard != no_index) need_register(guard);
    const std::uint32_t block = flow_.block_of[i];
    if (!reached_.insert(block).second) return;
    const auto branch_of = [&](std::uint32_t b) { need(flow_.blocks[b].end - 1); };
    std::ranges::for_each(controllers_[block], branch_of);
    std::ranges::for_each(everywhere_, branch_of);
  }

  void follow(std::uint32_t i) {
    const Registers& of = registers_[i];
    reach(i);
    for (const std::uint32_t r : of.address)
      need_register(r);
    const bool is_copied = roles_[i] == Role::copy;
    const bool votes = is_vote_of_block(kernel_, kernel_.instructions[i]);
    const bool hides = roles_[i] == Role::matrix || (roles_[i] == Role::unmodelled && !votes);
    if (is_copied || (!hides && (!moves(i) || passes_value[i]))) {
      for (const std::uint32_t r : of.read)
        need_register(r);
    }
  }

  const ptx::Module& module_;
  const ptx::Kernel& kernel_;
  const ControlFlow& flow_;
  const std::vector<std::uint32_t>& meeting_;
  bool follows_buffers_;
  bool passes_shared_ = false;  ///< needs_shared may hold without
  bool passes_buffers_ = false;
  bool passes_arguments_ = false;
  std::vector<Role> roles_;
  std::vector<Registers> registers_;
  std::vector<std::vector<std::uint32_t>> writers_;      ///< instructions, by register
  std::vector<std::vector<std::uint32_t>> controllers_;  ///< blocks, by block
  std::vector<std::uint32_t> everywhere_;
  std::vector<std::uint32_t> open_;
  std::set<std::uint32_t> reached_;
};

class Compiler {
 public:
  Compiler(const ptx::Module& module, const Launch& launch)
      : module_{module}, kernel_{module.kernels[launch.kernel]}, launch_{launch} {
    flow_ = control_flow(kernel_);
    meetings_ = meetings(kernel_, flow_);
  }

  Program compile(Part part) {
    for_results_ = part == Part::results;
    Slice slice{module_, kernel_, flow_, meetings_.all, part == Part::buffers};
    slice.close(for_results_);
    program_.needs_shared = slice.needs_shared;
    program_.needs_local = slice.needs_local;
    program_.needs_buffers = slice.needs_buffers;
    if (for_results_) program_.needs_shared = program_.needs_local = program_.needs_buffers = true;
    lay_out();
    find_sums_of_products();
    const auto count = static_cast<std::uint32_t>(kernel_.instructions.size());
    first_step_.assign(count + 1, 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      first_step_[i] = static_cast<std::uint32_t>(program_.steps.size());
      note_unmodelled(i, slice.role(i));
      if (const auto* members = members_of(kernel_.instructions[i])) {
        const std::uint32_t mask = slot_of(*members, Type::b32, i);
        add(i, StepKind::warp_sync).from[0] = mask;
      }
      if (slice.needed[i]) {
        decode(i, slice.role(i), slice.registers(i), slice.passes_value[i]);
        if (slice.returns[i]) program_.memory.back().returns = true;
      } else if (slice.role(i) == Role::branch || slice.role(i) == Role::indexed) {
        pass_by(i);
      } else if (slice.role(i) == Role::exit) {
        add(i, StepKind::exit);  // a trap without a guard
      }
    }
    first_step_[count] = static_cast<std::uint32_t>(program_.steps.size());
    program_.steps.push_back({.kind = StepKind::exit, .instruction = count});
    for (auto& step : program_.steps) {
      if (step.kind == StepKind::branch) step.target = first_step_[step.target];
      if (step.kind == StepKind::branch || step.kind == StepKind::indexed) {
        step.reconverge = first_step_[step.reconverge];
        step.all_meet = first_step_[step.all_meet];
        if (step.leaving != no_index) step.leaving = first_step_[step.leaving];
      }
      const bool inside = step.instruction < count;
      step.loop = inside ? flow_.loop_of[flow_.block_of[step.instruction]] : no_index;
    }
    for (const auto& loop : flow_.loops)
      program_.loop_parents.push_back(loop.parent);
    for (auto& branch : program_.indexed) {
      for (auto& target : branch.targets)
        target = first_step_[target];
    }
    return std::move(program_);
  }

 private:
  // --- memory ---

  /// Places the variables of shared and local memory that the kernel uses, one after the other.
  void lay_out() {
    const std::vector<bool> named = named_symbols();
    addresses_.assign(module_.symbols.size(), std::nullopt);
    // Reserved by the system since compute capability 8.0.
    constexpr std::uint64_t reserved = 1024;
    constexpr unsigned first_with_reserve = 80;
    program_.shared_begin = target_of(module_) >= first_with_reserve ? reserved : 0;
    std::uint64_t shared = program_.shared_begin;
    std::uint64_t local = 0;
    std::uint64_t dynamic_align = 16;
    for (std::size_t i = 0; i < named.size(); ++i) {
      const auto& symbol = module_.symbols[i];
      if (!named[i]) continue;
      if (symbol.space == Space::shared && symbol.bytes > 0) {
        shared = round_up(shared, symbol.align);
        addresses_[i] = shared;
        shared += symbol.bytes;
      } else if (symbol.space == Space::shared) {
        dynamic_align = std::max(dynamic_align, symbol.align);
      } else if (symbol.space == Space::local) {
        local = round_up(local, symbol.align);
        addresses_[i] = local;
        local += symbol.bytes;
      } else if (symbol.space == Space::param &&
                 std::ranges::count(kernel_.params, static_cast<std::uint32_t>(i)) > 0) {
        addresses_[i] = symbol.offset;
      } else if (symbol.space == Space::param) {  // of a call: each thread has its own
        local = round_up(local, symbol.align);
        addresses_[i] = local;
        local += symbol.bytes;
      }
    }
    const std::uint64_t dynamic = round_up(shared, dynamic_align);
    for (std::size_t i = 0; i < named.size(); ++i) {
      const auto& symbol = module_.symbols[i];
      if (named[i] && symbol.space == Space::shared && symbol.bytes == 0) addresses_[i] = dynamic;
    }
    for (const auto& buffer : launch_.buffers) {
      if (buffer.symbol != no_index) addresses_[buffer.symbol] = buffer.address;
    }
    program_.shared_end = launch_.dynamic_shared == 0 ? shared : dynamic + launch_.dynamic_shared;
    program_.local_bytes = local;
    hold_to(program_.shared_end, most_shared, "shared");
    hold_to(program_.local_bytes, most_local, "local");
  }

  void hold_to(std::uint64_t bytes, std::uint64_t most, std::string_view space) const {
    if (bytes <= most) return;
    refuse({kernel_.name}, fmt::format("{} bytes of {} memory", bytes, space),
           fmt::format("at most {} on this hardware", most),
           "lower dynamic_shared, or launch another kernel");
  }

  [[nodiscard]] std::vector<bool> named_symbols() const {
    std::vector<bool> named(module_.symbols.size());
    // The reader limits how deeply operands nest.
    // NOLINTNEXTLINE(misc-no-recursion)
    const auto name = [&](const auto& self, const Operand& operand) -> void {
      if (operand.kind == Kind::symbol) named[operand.index] = true;
      for (const auto& item : operand.items)
        self(self, item);
    };
    for (const auto& one : kernel_.instructions) {
      for (const auto& operand : one.operands)
        name(name, operand);
    }
    return named;
  }

  void note_unmodelled(std::uint32_t i, Role role) {
    const Instruction& one = kernel_.instructions[i];
    if (role != Role::unmodelled || is_vote_of_block(kernel_, one)) return;
    const std::string_view opcode = one.opcode;
    const bool harmless_call = opcode == "call" && is_harmless_call(module_, one);
    const bool registers_only = opcode == "elect" || opcode == "match" || opcode == "redux" ||
                                opcode == "vote" || opcode == "shfl" || opcode == "fns" ||
                                opcode == "movmatrix" || opcode == "mapa" ||
                                opcode == "getctarank" || opcode == "setmaxnreg" ||
                                opcode == "stacksave" || opcode == "stackrestore";
    const bool joins = opcode == "bar" || opcode == "barrier";
    const bool reads = opcode == "prefetch" || opcode == "prefetchu" || opcode == "tex" ||
                       opcode == "tld4" || opcode == "suld";
    const bool uses_shared = opcode == "mbarrier" || opcode == "wgmma" || opcode == "tcgen05";
    const bool harmless = harmless_call || registers_only;
    const bool hides_shared = !harmless && !reads;
    const bool hides_buffers = hides_shared && !joins && !uses_shared;
    if (hides_shared && program_.shared_hidden_by == no_index) program_.shared_hidden_by = i;
    if (hides_buffers && program_.buffers_hidden_by == no_index) program_.buffers_hidden_by = i;
    if (harmless || joins) return;
    program_.unmodelled.push_back({i, opcode_text(one), hides_buffers, hides_shared});
  }

  // --- slots ---

  std::uint32_t constant(std::uint64_t bits, std::uint32_t hidden_by = no_index) {
    if (hidden_by == no_index) {
      if (const auto found = constants_.find(bits); found != constants_.end()) return found->second;
    }
    const std::uint32_t slot = program_.value_slots++;
    program_.constants.push_back({slot, bits, hidden_by});
    if (hidden_by == no_index) constants_.emplace(bits, slot);
    return slot;
  }

  std::uint32_t slot_of_register(std::uint32_t r) {
    const auto [found, added] = registers_.try_emplace(r, 0);
    if (added) {
      const bool predicate = kernel_.registers[r].type == Type::pred;
      found->second = predicate ? program_.predicate_slots++ : program_.value_slots++;
      if (!predicate) program_.registers.push_back(found->second);
    }
    return found->second;
  }

  [[nodiscard]] bool is_known(ptx::Special special) const {
    using enum ptx::Special;
    switch (special) {
      case envreg1:
      case envreg2:
        return launch_.grid_workspace != 0;
      case warpid:
      case nwarpid:
      case smid:
      case nsmid:
      case clock:
      case clock_hi:
      case clock64:
      case globaltimer:
      case total_smem_size:
      case other:
        return false;
      default:
        return true;
    }
  }

  std::uint32_t slot_of_special(ptx::Special special, std::uint32_t instruction) {
    if (!is_known(special)) return constant(0, instruction);
    const auto [found, added] = specials_.try_emplace(special, 0);
    if (added) {
      found->second = program_.value_slots++;
      program_.specials.push_back({found->second, special});
    }
    return found->second;
  }

  std::uint32_t slot_of(const Operand& operand, Type type, std::uint32_t instruction) {
    switch (operand.kind) {
      case Kind::reg:
        return slot_of_register(operand.index);
      case Kind::integer:
      case Kind::real:
        return constant(immediate_bits(operand, type));
      case Kind::special:
        return slot_of_special(operand.special, instruction);
      case Kind::symbol:
        if (const auto& address = addresses_[operand.index]) {
          return constant(*address + static_cast<std::uint64_t>(operand.offset));
        }
        return constant(0, instruction);
      default:
        return constant(0, instruction);
    }
  }

  /// The base of an address; its offset is the operand's.
  std::uint32_t base_of(const Operand& operand, std::uint32_t instruction) {
    if (operand.kind == Kind::integer) return constant(operand.bits);
    if (operand.kind == Kind::symbol) {
      const auto& address = addresses_[operand.index];
      return address ? constant(*address) : constant(0, instruction);
    }
    return slot_of(operand, Type::u64, instruction);
  }

  Step& add(std::uint32_t i, StepKind kind) {
    const Instruction& one = kernel_.instructions[i];
    Step& step = program_.steps.emplace_back();
    step.kind = kind;
    step.instruction = i;
    if (one.guard != no_index) {
      step.guard = slot_of_register(one.guard);
      step.guard_negated = one.guard_negated;
    }
    return step;
  }

  /// The first instruction of a block, or the end.
  [[nodiscard]] std::uint32_t begin_of(std::uint32_t block) const {
    return block < flow_.blocks.size() ? flow_.blocks[block].begin
                                       : static_cast<std::uint32_t>(kernel_.instructions.size());
  }

  /// Where the lanes of a branch meet again, as instructions.
  void meet(Step& step) const {
    const std::uint32_t block = flow_.block_of[step.instruction];
    step.reconverge = begin_of(meetings_.staying[block]);
    step.all_meet = begin_of(meetings_.all[block]);
    step.leaving = meetings_.leaving[block];
    if (step.leaving != no_index) step.leaving = begin_of(step.leaving);
  }

  // --- instructions ---

  void decode(std::uint32_t i, Role role, const Registers& registers, bool passes_value) {
    switch (role) {
      case Role::plain:
        return plain(i, registers);
      case Role::branch:
        return branch(i);
      case Role::indexed:
        return indexed(i);
      case Role::exit:
        add(i, StepKind::exit);
        return;
      case Role::load:
        if (kernel_.instructions[i].space() == Space::param && !for_results_ && load_param(i))
          return;
        return memory(i, AccessKind::load, passes_value);
      case Role::store:
        if (kernel_.instructions[i].space() == Space::param &&
            !is_argument(module_, kernel_, kernel_.instructions[i]))
          return;
        return memory(i, AccessKind::store, passes_value);
      case Role::atomic:
        return memory(i, AccessKind::atomic, passes_value);
      case Role::reduction:
        return memory(i, AccessKind::reduction, passes_value);
      case Role::copy:
        return memory(i, AccessKind::copy, true);
      case Role::matrix:
        return memory(i, AccessKind::matrix, true);
      case Role::barrier:
        add(i, StepKind::barrier);
        return;
      case Role::warp_sync:
        return;  // compile() handles it as everything that lanes reach together
      case Role::vote:
        return vote(i);
      case Role::reduce:
        return reduce(i);
      case Role::match:
        return match(i);
      case Role::shuffle:
        return shuffle(i);
      case Role::activemask: {
        const std::uint32_t to = value_result(kernel_.instructions[i].operands.front());
        if (to != no_slot) add(i, StepKind::activemask).to[0] = to;
        return;
      }
      case Role::nothing:
        return;
      case Role::unmodelled:
        if (is_vote_of_block(kernel_, kernel_.instructions[i])) return vote_of_block(i);
        return hide(i, registers);
    }
  }

  void vote_of_block(std::uint32_t i) {
    const Instruction& one = kernel_.instructions[i];
    const std::uint32_t to = value_result(one.operands[0]);
    const std::uint32_t to_predicate = predicate_result(one.operands[0]);
    const std::uint32_t from = slot_of_register(one.operands[2].index);
    Step& step = add(i, StepKind::barrier);
    step.to[0] = to;
    step.to_predicate = to_predicate;
    step.from_predicate = from;
    step.from_negated = one.operands[2].negated;
    step.extra = one.has("and") ? 0 : 1;
    program_.needs_shared = true;  // all warps run side by side
  }

  void reduce(std::uint32_t i) {
    const Instruction& one = kernel_.instructions[i];
    const bool is_signed = one.type() == Type::s32;
    Reduction by = Reduction::odd;
    if (one.has("add")) by = Reduction::add;
    if (one.has("min")) by = is_signed ? Reduction::signed_least : Reduction::least;
    if (one.has("max")) by = is_signed ? Reduction::signed_most : Reduction::most;
    if (one.has("and")) by = Reduction::all;
    if (one.has("or")) by = Reduction::any;
    const std::uint32_t to = value_result(one.operands[0]);
    const std::uint32_t from = slot_of(one.operands[1], Type::b32, i);
    const std::uint32_t members = slot_of(one.operands[2], Type::b32, i);
    Step& step = add(i, StepKind::reduce);
    step.to[0] = to;
    step.from = {from, members, no_slot, no_slot, no_slot, no_slot, no_slot, no_slot};
    step.extra = static_cast<std::uint64_t>(by);
  }

  void match(std::uint32_t i) {
    const Instruction& one = kernel_.instructions[i];
    const std::size_t second = one.operands.size() >= 4 ? 1 : 0;
    const std::uint32_t to = value_result(one.operands[0]);
    const std::uint32_t to_predicate = second == 1 ? predicate_result(one.operands[1]) : no_slot;
    const std::uint32_t from = slot_of(one.operands[second + 1], one.type(), i);
    const std::uint32_t members = slot_of(one.operands[second + 2], Type::b32, i);
    Step& step = add(i, StepKind::match);
    step.to[0] = to;
    step.to_predicate = to_predicate;
    step.from[0] = from;
    step.from[1] = members;
    step.extra = one.has("all") ? 1U : 0U;
  }

  [[nodiscard]] bool is_predicate(const Operand& operand) const {
    return operand.kind == Kind::reg && kernel_.registers[operand.index].type == Type::pred;
  }

  std::uint32_t value_result(const Operand& operand) {
    if (operand.kind != Kind::reg || is_predicate(operand)) return no_slot;
    return slot_of_register(operand.index);
  }
  std::uint32_t predicate_result(const Operand& operand) {
    return is_predicate(operand) ? slot_of_register(operand.index) : no_slot;
  }

  /// All results of the instruction become unknown.
  void hide(std::uint32_t i, const Registers& registers) {
    std::size_t at = 0;
    while (at < registers.written.size()) {
      Step& step = add(i, StepKind::hide);
      for (unsigned k = 0; k < step.to.size() && at < registers.written.size(); ++k, ++at) {
        const std::uint32_t r = registers.written[at];
        const bool predicate = kernel_.registers[r].type == Type::pred;
        if (predicate && step.to_predicate != no_slot) break;
        // No reference into the steps is held across this call; slots do not add steps.
        (predicate ? step.to_predicate : step.to.at(k)) = slot_of_register(r);
        const Type type = kernel_.registers[r].type;
        if (type == Type::f32) step.extra |= real_result << k;
        if (type == Type::f64) step.extra |= double_result << k;
      }
    }
  }

  /// Sums that an assembler may fuse with a product: the rounding of both is undefined.
  void find_sums_of_products() {
    const auto is_loose = [](const Instruction& one, std::string_view opcode) {
      const Type type = one.type();
      const bool real = is_real(type) || type == Type::f16x2 || type == Type::bf16x2;
      return one.opcode == opcode && real && !one.has("rn") && !one.has("rz") && !one.has("rm") &&
             !one.has("rp");
    };
    std::vector<bool> product(kernel_.registers.size());
    const auto takes_product = [&](const Instruction& one) {
      if (one.operands.empty()) return false;
      return std::any_of(one.operands.begin() + 1, one.operands.end(),
                         [&](const Operand& o) { return o.kind == Kind::reg && product[o.index]; });
    };
    // A copy of a product is a product, too.
    for (bool more = true; more;) {
      more = false;
      for (const auto& one : kernel_.instructions) {
        if (one.operands.empty() || one.operands.front().kind != Kind::reg) continue;
        const bool copies = one.opcode == "mov" || one.opcode == "neg" || one.opcode == "selp";
        const std::uint32_t to = one.operands.front().index;
        if (product[to] || !(is_loose(one, "mul") || (copies && takes_product(one)))) continue;
        product[to] = more = true;
      }
    }
    may_fuse_.assign(kernel_.instructions.size(), false);
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
      const auto& one = kernel_.instructions[i];
      if (!is_loose(one, "add") && !is_loose(one, "sub")) continue;
      may_fuse_[i] = takes_product(one);
    }
  }

  [[nodiscard]] Type result_type(const Instruction& one) const {
    if (one.operands.empty() || one.operands.front().kind != Kind::reg) return one.type();
    return kernel_.registers[one.operands.front().index].type;
  }

  void plain(std::uint32_t i, const Registers& registers) {
    const Instruction& one = kernel_.instructions[i];
    Recipe recipe = recipe_of(one, result_type(one));
    const bool is_approximated = recipe.run == nullptr;
    if (is_approximated) recipe = approximation_of(one);
    const std::size_t wanted = recipe.results + recipe.sources +
                               (recipe.takes_predicate ? 1U : 0U) +
                               (one.opcode == "lop3" ? 1U : 0U);
    Step made{.kind = StepKind::plain,
              .run = recipe.run,
              .instruction = i,
              .extra = recipe.extra,
              .is_inexact = !for_results_ && (is_approximated || may_fuse_[i])};
    if (recipe.run == nullptr || one.operands.size() != wanted ||
        !bind_results(made, one, recipe) || !bind_sources(made, one, recipe)) {
      return hide(i, registers);
    }
    const bool writes_nothing = !recipe.gives_predicate &&
                                std::ranges::all_of(made.to, [](auto to) { return to == no_slot; });
    if (writes_nothing) return;  // into a sink
    const Step& step = add(i, StepKind::plain);
    made.guard = step.guard;
    made.guard_negated = step.guard_negated;
    program_.steps.back() = made;
  }

  /// False if a result has another kind than the instruction produces.
  bool bind_results(Step& made, const Instruction& one, const Recipe& recipe) {
    const Operand& result = one.operands.front();
    if (recipe.gives_predicate) {
      made.to_predicate = predicate_result(result);
      if (recipe.results == 2) made.to_second_predicate = predicate_result(one.operands[1]);
      return result.kind == Kind::sink || made.to_predicate != no_slot;
    }
    if (result.kind == Kind::vector) {
      if (one.opcode != "mov" || result.items.size() > made.to.size()) return false;
      for (std::size_t k = 0; k < result.items.size(); ++k)
        made.to.at(k) = value_result(result.items[k]);
      return true;
    }
    made.to[0] = value_result(result);
    return result.kind == Kind::sink || made.to[0] != no_slot;
  }

  /// False for an operand that is neither a predicate nor a constant.
  bool bind_predicate(Step& made, const Operand& source, unsigned s) {
    const bool is_constant = source.kind == Kind::integer;
    if (!is_constant && !is_predicate(source)) return false;
    if (is_constant) {
      made.extra |= constant_predicate << s;
    } else {
      made.from.at(s) = slot_of_register(source.index);
    }
    if (is_constant ? source.bits != 0 : source.negated) made.extra ^= negated_predicate << s;
    return true;
  }

  /// False if a source has another kind than the instruction takes.
  bool bind_sources(Step& made, const Instruction& one, const Recipe& recipe) {
    for (unsigned s = 0; s < recipe.sources; ++s) {
      const Operand& source = one.operands[recipe.results + s];
      if (recipe.types.at(s) == Type::pred) {
        if (!bind_predicate(made, source, s)) return false;
      } else if (is_predicate(source)) {
        return false;
      } else if (source.kind == Kind::vector) {
        if (one.opcode != "mov" || source.items.size() > made.from.size()) return false;
        for (std::size_t k = 0; k < source.items.size(); ++k)
          made.from.at(k) = slot_of(source.items[k], recipe.types[0], made.instruction);
      } else {
        made.from.at(s) = slot_of(source, recipe.types.at(s), made.instruction);
      }
    }
    // not.pred and mov.pred have one source.
    if (recipe.types[0] == Type::pred && recipe.sources == 1) {
      made.from[1] = made.from[0];
      made.extra |= (made.extra & constant_predicate) << 1U;
    }
    if (!recipe.takes_predicate) return true;
    const Operand& predicate = one.operands.back();
    if (!is_predicate(predicate)) return false;
    made.from_predicate = slot_of_register(predicate.index);
    made.from_negated = predicate.negated;
    return true;
  }

  void branch(std::uint32_t i) {
    const Instruction& one = kernel_.instructions[i];
    if (one.operands.empty() || one.operands.front().kind != Kind::label) return lost(i);
    Step& step = add(i, StepKind::branch);
    step.target = kernel_.labels[one.operands.front().index].instruction;
    meet(step);
  }

  /// A branch with unknown targets ends its lanes and is reported.
  void lost(std::uint32_t i) {
    program_.unmodelled.push_back({i, opcode_text(kernel_.instructions[i]), true, true});
    program_.buffers_hidden_by = program_.shared_hidden_by = i;
    add(i, StepKind::exit);
  }

  void indexed(std::uint32_t i) {
    const Instruction& one = kernel_.instructions[i];
    const auto is_label = [](const Operand& item) { return item.kind == Kind::label; };
    if (one.operands.size() < 2 || one.operands[1].items.empty() ||
        !std::ranges::all_of(one.operands[1].items, is_label)) {
      return lost(i);
    }
    IndexedBranch made{.index = slot_of(one.operands[0], Type::u32, i), .targets = {}};
    for (const auto& item : one.operands[1].items)
      made.targets.push_back(kernel_.labels[item.index].instruction);
    Step& step = add(i, StepKind::indexed);
    meet(step);
    step.detail = static_cast<std::uint32_t>(program_.indexed.size());
    program_.indexed.push_back(std::move(made));
  }

  /// A branch around unneeded code: goes to where its lanes meet.
  void pass_by(std::uint32_t i) {
    const Instruction& one = kernel_.instructions[i];
    Step step{.kind = StepKind::branch, .instruction = i};
    const bool always = one.guard == no_index && one.opcode == "bra" && !one.operands.empty() &&
                        one.operands.front().kind == Kind::label;
    meet(step);
    step.reconverge = step.all_meet;
    step.leaving = no_index;
    step.target = always ? kernel_.labels[one.operands.front().index].instruction : step.all_meet;
    program_.steps.push_back(step);
  }

  void vote(std::uint32_t i) {
    const Instruction& one = kernel_.instructions[i];
    const Operand& source = one.operands[1];
    if (!is_predicate(source)) return hide(i, registers_of(one));
    const std::uint32_t to = value_result(one.operands[0]);
    const std::uint32_t to_predicate = predicate_result(one.operands[0]);
    const std::uint32_t from = slot_of_register(source.index);
    const std::uint32_t members = slot_of(one.operands[2], Type::b32, i);
    Step& step = add(i, StepKind::vote);
    step.to[0] = to;
    step.to_predicate = to_predicate;
    step.from_predicate = from;
    step.from_negated = source.negated;
    step.from[0] = members;
    step.extra = one.has("all") ? 0U : one.has("any") ? 1U : one.has("uni") ? 2U : 3U;
  }

  void shuffle(std::uint32_t i) {
    const Instruction& one = kernel_.instructions[i];
    const std::size_t second = one.operands.size() >= 6 ? 1 : 0;
    const std::uint32_t to = value_result(one.operands[0]);
    const std::uint32_t to_predicate = second == 1 ? predicate_result(one.operands[1]) : no_slot;
    std::array<std::uint32_t, 4> from{};
    for (std::size_t k = 0; k < from.size(); ++k)
      from.at(k) = slot_of(one.operands[second + 1 + k], Type::b32, i);
    Step& step = add(i, StepKind::shuffle);
    step.to[0] = to;
    step.to_predicate = to_predicate;
    std::ranges::copy(from, step.from.begin());
    step.extra = one.has("up") ? 0U : one.has("down") ? 1U : one.has("bfly") ? 2U : 3U;
  }

  /// A parameter at a constant position is a constant of the launch. False for other positions.
  bool load_param(std::uint32_t i) {
    const Instruction& one = kernel_.instructions[i];
    const Operand& from = one.operands[1];
    if (from.kind != Kind::symbol || is_argument(module_, kernel_, one)) return false;
    const auto& base = addresses_[from.index];
    const std::span<const Operand> targets = items_of(one.operands[0]);
    const unsigned bytes = ptx::bytes_of(one.type());
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const std::uint32_t to = value_result(targets[k]);
      if (to == no_slot) continue;
      const std::uint64_t at =
          base.value_or(0) + static_cast<std::uint64_t>(from.offset) + k * bytes;
      bool known = base.has_value() && bytes > 0 && bytes <= 8 && at < launch_.params.size() &&
                   launch_.params.size() - at >= bytes;
      std::uint64_t bits = 0;
      for (unsigned b = 0; known && b < bytes; ++b) {
        known = launch_.params_known[at + b] != 0;
        bits |= std::uint64_t{launch_.params[at + b]} << (8 * b);
      }
      const Type type = one.type();
      const Type register_type = kernel_.registers[targets[k].index].type;
      if (type == Type::s8 || type == Type::s16 || type == Type::s32) {
        bits = extended(bits, bytes, ptx::bytes_of(register_type));
      }
      const std::uint32_t value = constant(known ? bits : 0, known ? no_index : i);
      Step& step = add(i, StepKind::plain);
      step.run = copy_run();
      step.to[0] = to;
      step.from[0] = value;
    }
    return true;
  }

  static std::uint64_t extended(std::uint64_t bits, unsigned bytes, unsigned register_bytes) {
    if (bytes < 8 && (bits >> (8 * bytes - 1) & 1U) != 0) bits |= ~std::uint64_t{0} << (8 * bytes);
    return register_bytes >= 8 ? bits : bits & ((std::uint64_t{1} << (8 * register_bytes)) - 1);
  }

  void memory(std::uint32_t i, AccessKind kind, bool passes_value) {
    const Instruction& one = kernel_.instructions[i];
    MemoryStep made{.kind = kind, .space = one.space(), .passes_value = passes_value};
    made.element_bytes = ptx::bytes_of(one.type());
    made.elements = one.vector_width();
    made.extends_sign =
        one.type() == Type::s8 || one.type() == Type::s16 || one.type() == Type::s32;
    made.writes = kind != AccessKind::load && !(kind == AccessKind::matrix && one.opcode[0] == 'l');
    made.shared_atomic = shared_atomic_of(one);
    made.is_real = is_real(one.type());
    made.is_strong = is_strong_load(one);
    made.is_argument = is_argument(module_, kernel_, one);
    if (made.is_argument) made.space = Space::local;
    const bool copies = kind == AccessKind::copy;
    if (kind == AccessKind::matrix) {
      made.matrices = one.has("x4") ? 4 : one.has("x2") ? 2 : 1;
      made.element_bytes = 16;
      made.elements = 1;
    }
    const Operand& address = copies ? one.operands[1] : *address_of(one);
    made.address = base_of(address, i);
    made.offset = static_cast<std::uint64_t>(address.offset);
    made.short_address =
        address.kind == Kind::reg && ptx::bytes_of(kernel_.registers[address.index].type) == 4;
    if (copies) {
      made.space = Space::global;
      made.to_address = base_of(one.operands[0], i);
      made.to_offset = static_cast<std::uint64_t>(one.operands[0].offset);
      made.elements = 1;
      made.element_bytes = static_cast<unsigned>(one.operands[2].bits & 0xFFU);
      if (one.operands.size() > 3) made.size = copied_size(one.operands[3], i);
    }
    const Step bound = bound_to(made, i);
    Step& step = add(i, StepKind::memory);
    step.detail = static_cast<std::uint32_t>(program_.memory.size());
    step.to = bound.to;
    step.from = bound.from;
    step.to_predicate = bound.to_predicate;
    program_.memory.push_back(made);
  }

  /// The registers that an access reads and writes, of those that are needed.
  Step bound_to(MemoryStep& made, std::uint32_t i) {
    const Instruction& one = kernel_.instructions[i];
    const AccessKind kind = made.kind;
    const bool loads = kind == AccessKind::load || kind == AccessKind::atomic ||
                       (kind == AccessKind::matrix && !made.writes);
    Step bound;
    if (loads && (made.passes_value || kind != AccessKind::load)) {
      bind_loaded(bound, made, one.operands[0]);
    }
    if (kind == AccessKind::store && made.passes_value)
      bind_stored(bound, one.operands[1], one.type(), i);
    if (made.passes_value && (kind == AccessKind::atomic || kind == AccessKind::reduction)) {
      for (std::size_t k = kind == AccessKind::atomic ? 2 : 1, at = 0;
           k < one.operands.size() && at < 2; ++k, ++at)
        bound.from.at(at) = slot_of(one.operands[k], one.type(), i);
    }
    return bound;
  }

  static std::span<const Operand> items_of(const Operand& operand) {
    if (operand.kind == Kind::vector) return operand.items;
    return {&operand, 1};
  }

  /// The destination registers of a load.
  void bind_loaded(Step& bound, MemoryStep& made, const Operand& result) {
    const auto items = items_of(result);
    for (std::size_t k = 0; k < items.size() && k < bound.to.size(); ++k) {
      bound.to.at(k) = value_result(items[k]);
      if (is_predicate(items[k])) bound.to_predicate = slot_of_register(items[k].index);
      if (items[k].kind != Kind::reg) continue;
      const Type type = kernel_.registers[items[k].index].type;
      made.register_bytes.at(k) = static_cast<std::uint8_t>(ptx::bytes_of(type));
    }
  }

  /// The source operands of a store.
  void bind_stored(Step& bound, const Operand& source, Type type, std::uint32_t i) {
    const auto items = items_of(source);
    for (std::size_t k = 0; k < items.size() && k < bound.from.size(); ++k)
      bound.from.at(k) = slot_of(items[k], type, i);
  }

  /// cp.async's last operand: how many bytes are read, or a predicate under which none are.
  std::uint32_t copied_size(const Operand& operand, std::uint32_t i) {
    if (is_predicate(operand) || operand.address) return constant(0, i);
    if (kernel_.instructions[i].has("L2::cache_hint") && operand.kind == Kind::reg &&
        ptx::bytes_of(kernel_.registers[operand.index].type) == 8) {
      return no_slot;  // a cache policy
    }
    return slot_of(operand, Type::u32, i);
  }

  const ptx::Module& module_;
  const ptx::Kernel& kernel_;
  const Launch& launch_;
  ControlFlow flow_;
  Meetings meetings_;
  Program program_;
  std::vector<std::optional<std::uint64_t>> addresses_;  ///< of symbols
  std::vector<std::uint32_t> first_step_;                ///< at or after an instruction
  std::vector<bool> may_fuse_;
  bool for_results_ = false;
  std::unordered_map<std::uint32_t, std::uint32_t> registers_;
  std::unordered_map<std::uint64_t, std::uint32_t> constants_;
  std::map<ptx::Special, std::uint32_t> specials_;
};

}  // namespace

Program compile(const ptx::Module& module, const Launch& launch, Part part) {
  return Compiler{module, launch}.compile(part);
}

namespace {

/// Possible successors of a step.
std::vector<std::uint32_t> next_of(const Program& program, std::uint32_t at) {
  const Step& one = program.steps[at];
  std::vector<std::uint32_t> next;
  if (one.kind == StepKind::branch) next.push_back(one.target);
  if (one.kind == StepKind::indexed) next = program.indexed[one.detail].targets;
  const bool jumps =
      one.kind == StepKind::branch || one.kind == StepKind::exit || one.kind == StepKind::indexed;
  if (!jumps || one.guard != no_slot) next.push_back(at + 1);
  return next;
}

/// What can follow the step up to another one.
Region what_follows(const Program& program, std::uint32_t step, std::uint32_t end) {
  Region region;
  std::vector<bool> seen(program.steps.size());
  std::vector<std::uint32_t> open = next_of(program, step);
  std::set<std::uint32_t> values;
  std::set<std::uint32_t> predicates;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (at == end || at >= seen.size() || seen[at]) continue;
    seen[at] = true;
    const Step& one = program.steps[at];
    values.insert(one.to.begin(), one.to.end());
    predicates.insert({one.to_predicate, one.to_second_predicate});
    if (one.kind == StepKind::memory) region.memory.push_back(at);
    if (one.kind == StepKind::exit) region.may_exit = true;
    if (one.kind == StepKind::barrier) region.has_barrier = true;
    const auto next = next_of(program, at);
    open.insert(open.end(), next.begin(), next.end());
  }
  values.erase(no_slot);
  predicates.erase(no_slot);
  region.values.assign(values.begin(), values.end());
  region.predicates.assign(predicates.begin(), predicates.end());
  return region;
}

}  // namespace

Region region_of(const Program& program, std::uint32_t step) {
  return what_follows(program, step, program.steps[step].all_meet);
}

Region rest_of(const Program& program, std::uint32_t step) {
  return what_follows(program, step, no_slot);
}

namespace {

/// Follows an address back to the pointers from which it is computed.
class Pointers {
 public:
  Pointers(const ptx::Module& module, const Launch& launch)
      : module_{module},
        launch_{launch},
        kernel_{module.kernels[launch.kernel]},
        writers_(kernel_.registers.size()) {
    for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) {
      for (const std::uint32_t r : registers_of(kernel_.instructions[i]).written)
        writers_[r].push_back(i);
    }
  }

  std::vector<std::uint32_t> of(std::uint32_t instruction) {
    add_symbols(kernel_.instructions[instruction]);
    follow(registers_of(kernel_.instructions[instruction]).address);
    while (!open_.empty() && !may_reach_all_) {
      const std::uint32_t i = open_.back();
      open_.pop_back();
      follow_writer(i);
    }
    if (may_reach_all_) return {};
    return {found_.begin(), found_.end()};
  }

  /// The loads whose value may be the pointer; nothing for one that stays in the parameters'
  /// buffers.
  [[nodiscard]] const std::vector<std::uint32_t>& pointer_loads() const { return pointer_loads_; }

 private:
  void follow(const std::vector<std::uint32_t>& registers) {
    for (const std::uint32_t r : registers) {
      for (const std::uint32_t i : writers_[r]) {
        if (seen_.insert(i).second) open_.push_back(i);
      }
    }
  }

  void add_buffer(std::uint64_t address) {
    for (std::uint32_t b = 0; b < launch_.buffers.size(); ++b) {
      if (launch_.buffers[b].contains(address, 1)) found_.insert(b);
    }
  }

  void add_symbols(const Instruction& one) {
    for (const Operand& operand : one.operands) {
      if (operand.kind != Kind::symbol) continue;
      for (const auto& buffer : launch_.buffers) {
        if (buffer.symbol == operand.index) add_buffer(buffer.address);
      }
    }
  }

  void follow_writer(std::uint32_t i) {
    const Instruction& one = kernel_.instructions[i];
    const Role role = role_of(one);
    if (role == Role::plain) {
      add_symbols(one);
      const Registers of = registers_of(one);
      follow(of.read);
      follow(of.address);
    } else if (is_argument(module_, kernel_, one)) {
      follow_argument(address_of(one)->index);
    } else if (role == Role::load && one.space() == Space::param) {
      add_params(one);
    } else if (role == Role::shuffle) {
      follow(registers_of(one).read);  // another lane's value of the same register
    } else if (role == Role::load || role == Role::atomic) {
      // A loaded pointer may point anywhere; a 32-bit value is not a pointer.
      if (ptx::bytes_of(one.type()) < 8) return;
      may_reach_all_ = true;
      pointer_loads_.push_back(i);
    } else {
      // Votes and sums of lanes are not pointers.
      may_reach_all_ = role == Role::unmodelled;
    }
  }

  /// What a call passes to a function, or it returns.
  void follow_argument(std::uint32_t symbol) {
    for (const Instruction& one : kernel_.instructions) {
      const bool writes = one.opcode == "st" && is_argument(module_, kernel_, one) &&
                          address_of(one)->index == symbol;
      if (writes) follow(registers_of(one).read);
    }
  }

  void add_params(const Instruction& load) {
    const Operand& from = load.operands[1];
    if (from.kind != Kind::symbol) {
      may_reach_all_ = true;
      return;
    }
    const std::uint64_t at =
        module_.symbols[from.index].offset + static_cast<std::uint64_t>(from.offset);
    const std::uint64_t count = std::uint64_t{load.vector_width()} * ptx::bytes_of(load.type());
    for (std::uint64_t p = at; p + 8 <= at + count; p += 8) {
      std::uint64_t pointer = 0;
      for (std::uint64_t b = 0; b < 8 && p + b < launch_.params.size(); ++b)
        pointer |= std::uint64_t{launch_.params[p + b]} << (8 * b);
      add_buffer(pointer);
    }
  }

  const ptx::Module& module_;
  const Launch& launch_;
  const ptx::Kernel& kernel_;
  std::vector<std::vector<std::uint32_t>> writers_;  ///< instructions, by register
  std::set<std::uint32_t> found_;
  std::set<std::uint32_t> seen_;
  std::vector<std::uint32_t> open_;
  std::vector<std::uint32_t> pointer_loads_;
  bool may_reach_all_ = false;  ///< the pointer may be to any buffer
};

}  // namespace

std::vector<std::uint32_t> reachable_buffers(const ptx::Module& module, const Launch& launch,
                                             std::uint32_t instruction) {
  return Pointers{module, launch}.of(instruction);
}

std::vector<std::string> lost_pointers(const ptx::Module& module, const Launch& launch) {
  const auto is_lost = [](const Buffer& one) {
    return one.was != 0 && one.fill.kind == Fill::Kind::unknown;
  };
  if (std::ranges::none_of(launch.buffers, is_lost)) return {};
  const ptx::Kernel& kernel = module.kernels[launch.kernel];
  // To what other memory points to, any loaded address may lead.
  std::vector<std::uint32_t> pointed_to;
  for (std::uint32_t b = 0; b < launch.buffers.size(); ++b) {
    if (std::ranges::count(launch.pointers, b, &Pointer::buffer) == 0) pointed_to.push_back(b);
  }
  std::set<std::uint32_t> lost;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Role role = role_of(kernel.instructions[i]);
    const bool accesses = role == Role::load || role == Role::store || role == Role::atomic ||
                          role == Role::reduction;
    const Space space = kernel.instructions[i].space();
    if (!accesses || (space != Space::global && space != Space::generic)) continue;
    Pointers pointers{module, launch};
    (void)pointers.of(i);
    for (const std::uint32_t load : pointers.pointer_loads()) {
      auto from = Pointers{module, launch}.of(load);
      if (from.empty()) from = pointed_to;
      for (const std::uint32_t buffer : from) {
        if (is_lost(launch.buffers[buffer])) lost.insert(buffer);
      }
    }
  }
  std::vector<std::string> names;
  names.reserve(lost.size());
  for (const std::uint32_t buffer : lost)
    names.push_back(launch.buffers[buffer].name);
  return names;
}

}  // namespace strata::access
