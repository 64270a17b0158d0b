#include "harness/access/ssa.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Operand;

/// Opcodes without a destination, with any modifiers.
constexpr std::array<std::string_view, 23> without_destination{"st",
                                                               "red",
                                                               "bra",
                                                               "brx",
                                                               "ret",
                                                               "exit",
                                                               "trap",
                                                               "membar",
                                                               "fence",
                                                               "cp",
                                                               "prefetch",
                                                               "discard",
                                                               "applypriority",
                                                               "nanosleep",
                                                               "stmatrix",
                                                               "sust",
                                                               "setmaxnreg",
                                                               "pmevent",
                                                               "brkpt",
                                                               "prefetchu",
                                                               "sured",
                                                               "griddepcontrol",
                                                               "stackrestore"};

/// Opcodes that write a register only with one modifier.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> only_with{
    {{"bar", "red"}, {"barrier", "red"}, {"tcgen05", "ld"}, {"wgmma", "mma_async"}}};

/// Number of sources of an instruction that may also write a predicate (`%r1|%p1`); 0 if it does
/// not.
std::size_t sources_of(const Instruction& one) {
  if (one.opcode == "setp") return one.has("and") || one.has("or") || one.has("xor") ? 3 : 2;
  if (one.opcode == "shfl") return one.has("sync") ? 4 : 3;
  if (one.opcode == "match") return 2;
  if (one.opcode == "elect") return 1;
  return one.opcode == "lop3" ? 5 : 0;
}

/// Maximum steps of placing phis: a few hundred megabytes, and a second.
constexpr std::size_t most_work = std::size_t{1} << 24U;

bool is_memory(const Instruction& instruction) {
  return std::ranges::any_of(instruction.operands,
                             [](const Operand& operand) { return operand.address; });
}

}  // namespace

std::size_t written_operands(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  const std::size_t count = instruction.operands.size();
  if (count == 0 || instruction.operands[0].address) return 0;  // mbarrier.init [x], n
  for (const auto& [word, modifier] : only_with) {
    if (word == opcode) return instruction.has(modifier) ? 1 : 0;
  }
  // A call's results come first, in brackets, if they are in registers.
  if (opcode == "call") return instruction.operands[0].kind == Operand::Kind::vector ? 1 : 0;
  if (std::ranges::count(without_destination, opcode) > 0) return 0;
  if (opcode == "tex" || opcode == "tld4" || opcode == "suld") {
    return count > 2 && instruction.operands[1].kind == Operand::Kind::reg ? 2 : 1;
  }
  const std::size_t sources = sources_of(instruction);
  return sources != 0 && count > sources + 1 ? 2 : 1;
}

Ssa::Ssa(const ptx::Kernel& kernel, const ControlFlow& flow) : kernel_(kernel), flow_(flow) {
  find_needed();
  place_phis();
  rename();
}

void Ssa::find_writers() {
  writers_.resize(kernel_.registers.size());
  for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) {
    if (!is_reachable(flow_, flow_.block_of[i])) continue;
    const Instruction& instruction = kernel_.instructions[i];
    const std::size_t written = written_operands(instruction);
    for (std::size_t o = 0; o < written; ++o) {
      see_registers(instruction.operands[o],
                    [&](std::uint32_t reg) { writers_[reg].push_back(i); });
    }
  }
}

/// Calls `need` for the direct inputs of addresses and control flow.
template <class Need>
void see_roots(const Instruction& instruction, const Need& need) {
  constexpr std::array<std::string_view, 4> ways{"bra", "brx", "ret", "exit"};
  if (std::ranges::count(ways, instruction.opcode) == 0 && !is_memory(instruction)) return;
  if (instruction.guard != ptx::no_index) need(instruction.guard);
  for (const Operand& operand : instruction.operands) {
    if (operand.address) see_registers(operand, need);
  }
}

void Ssa::find_needed() {
  is_needed_.assign(kernel_.registers.size(), false);
  find_writers();
  std::vector<std::uint32_t> open;
  const auto need = [&](std::uint32_t reg) {
    if (is_needed_[reg]) return;
    is_needed_[reg] = true;
    open.push_back(reg);
  };
  for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) {
    if (is_reachable(flow_, flow_.block_of[i])) see_roots(kernel_.instructions[i], need);
  }
  while (!open.empty()) {
    const std::uint32_t reg = open.back();
    open.pop_back();
    for (const std::uint32_t writer : writers_[reg]) {
      const Instruction& instruction = kernel_.instructions[writer];
      // The value of a load or a call is not followed, but its address is needed.
      if (!is_memory(instruction)) {
        for_each_read(instruction, need);
      } else if (instruction.guard != ptx::no_index) {
        need(instruction.guard);
      }
    }
  }
}

/// The dominance frontier of each block; nothing if they are too large.
std::optional<std::vector<std::vector<std::uint32_t>>> Ssa::frontiers(std::size_t& work) const {
  std::vector<std::vector<std::uint32_t>> frontier(flow_.blocks.size());
  for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
    const auto& predecessors = flow_.blocks[b].predecessors;
    if (!is_reachable(flow_, b) || (predecessors.size() < 2 && b != 0)) continue;
    for (const std::uint32_t predecessor : predecessors) {
      if (!is_reachable(flow_, predecessor)) continue;
      for (std::uint32_t at = predecessor; at != no_index && at != flow_.dominator[b];
           at = flow_.dominator[at]) {
        if (++work > most_work) return std::nullopt;
        if (frontier[at].empty() || frontier[at].back() != b) frontier[at].push_back(b);
      }
    }
  }
  return frontier;
}

void Ssa::place_phis() {
  phi_places_.resize(flow_.blocks.size());
  std::size_t work = 0;
  const auto frontier = frontiers(work);
  std::vector<std::uint32_t> seen(flow_.blocks.size(), ptx::no_index);
  for (std::uint32_t reg = 0; reg < kernel_.registers.size(); ++reg) {
    // A single definition reaches all its reads, in code that reads nothing uninitialised.
    if (!is_needed_[reg] || writers_[reg].size() < 2) continue;
    if (!frontier || work > most_work) return follow_single_writers();
    std::vector<std::uint32_t> open;
    for (const std::uint32_t writer : writers_[reg])
      open.push_back(flow_.block_of[writer]);
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      work += (*frontier)[block].size();
      for (const std::uint32_t join : (*frontier)[block]) {
        if (seen[join] == reg) continue;
        seen[join] = reg;
        phi_places_[join].push_back(reg);
        open.push_back(join);
      }
    }
  }
}

/// For code more tangled than compilers generate.
void Ssa::follow_single_writers() {
  for (auto& places : phi_places_)
    places.clear();
  for (std::uint32_t reg = 0; reg < kernel_.registers.size(); ++reg) {
    if (writers_[reg].size() > 1) is_needed_[reg] = false;
  }
}

/// State of the traversal of the dominator tree.
struct Ssa::Walk {
  struct Change {
    std::uint32_t reg = 0;
    ValueId before = 0;
  };
  std::vector<ValueId> now;  // by register
  std::vector<Change> changes;
  std::vector<std::vector<ValueId>> phis;  // by block
  std::vector<std::vector<Read>> reads;    // by instruction

  void define(std::uint32_t reg, ValueId value) {
    changes.push_back({reg, now[reg]});
    now[reg] = value;
  }
  void undo(std::size_t until) {
    for (; changes.size() > until; changes.pop_back())
      now[changes.back().reg] = changes.back().before;
  }
};

void Ssa::write(Walk& walk, std::uint32_t i, std::uint32_t o) {
  const Instruction& instruction = kernel_.instructions[i];
  const std::uint32_t block = flow_.block_of[i];
  const auto one = [&](const Operand& target, std::uint32_t item) {
    if (target.kind != Operand::Kind::reg || !is_needed_[target.index]) return;
    const auto id = static_cast<ValueId>(values_.size());
    const bool is_guarded = instruction.guard != ptx::no_index;
    values_.push_back({.kind = Value::Kind::instruction,
                       .reg = target.index,
                       .block = block,
                       .instruction = i,
                       .operand = o,
                       .item = item,
                       .before = is_guarded ? walk.now[target.index] : no_value});
    defined_[block].push_back(id);
    walk.define(target.index, id);
  };
  const Operand& operand = instruction.operands[o];
  one(operand, 0);
  for (std::uint32_t item = 0; item < operand.items.size(); ++item)
    one(operand.items[item], item);
}

void Ssa::rename_block(Walk& walk, std::uint32_t b) {
  for (const ValueId phi : walk.phis[b])
    walk.define(values_[phi].reg, phi);
  for (std::uint32_t i = flow_.blocks[b].begin; i < flow_.blocks[b].end; ++i) {
    for_each_read(kernel_.instructions[i], [&](std::uint32_t reg) {
      if (is_needed_[reg]) walk.reads[i].push_back({reg, walk.now[reg]});
    });
    const std::size_t written = written_operands(kernel_.instructions[i]);
    for (std::uint32_t o = 0; o < written; ++o)
      write(walk, i, o);
  }
  for (const std::uint32_t successor : flow_.blocks[b].successors) {
    const auto& predecessors = flow_.blocks[successor].predecessors;
    const auto edge =
        static_cast<std::size_t>(std::ranges::find(predecessors, b) - predecessors.begin());
    for (const ValueId phi : walk.phis[successor])
      values_[phi].inputs[edge] = walk.now[values_[phi].reg];
  }
}

void Ssa::rename() {
  const std::size_t blocks = flow_.blocks.size();
  defined_.resize(blocks);
  std::vector<std::vector<std::uint32_t>> children(blocks);
  for (const std::uint32_t b : flow_.order) {
    if (flow_.dominator[b] != no_index) children[flow_.dominator[b]].push_back(b);
  }
  // Value 0 represents undefined registers.
  values_.emplace_back();
  Walk walk{.now = std::vector<ValueId>(kernel_.registers.size(), 0),
            .changes = {},
            .phis = std::vector<std::vector<ValueId>>(blocks),
            .reads = std::vector<std::vector<Read>>(kernel_.instructions.size())};
  for (std::uint32_t b = 0; b < blocks; ++b) {
    for (const std::uint32_t reg : phi_places_[b]) {
      walk.phis[b].push_back(static_cast<ValueId>(values_.size()));
      values_.push_back({.kind = Value::Kind::phi,
                         .reg = reg,
                         .block = b,
                         .inputs = std::vector<ValueId>(flow_.blocks[b].predecessors.size(), 0)});
    }
    defined_[b] = walk.phis[b];
  }
  struct Frame {
    std::uint32_t block = 0;
    std::size_t child = 0;
    std::size_t changes = 0;
  };
  std::vector<Frame> frames;
  const auto enter = [&](std::uint32_t b) {
    frames.push_back({b, 0, walk.changes.size()});
    rename_block(walk, b);
  };
  if (blocks > 0) enter(0);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.child < children[frame.block].size()) {
      enter(children[frame.block][frame.child++]);
      continue;
    }
    walk.undo(frame.changes);
    frames.pop_back();
  }
  first_read_.reserve(walk.reads.size() + 1);
  for (const auto& of_instruction : walk.reads) {
    first_read_.push_back(static_cast<std::uint32_t>(reads_.size()));
    reads_.insert(reads_.end(), of_instruction.begin(), of_instruction.end());
  }
  first_read_.push_back(static_cast<std::uint32_t>(reads_.size()));
}

ValueId Ssa::read(std::uint32_t instruction, std::uint32_t reg) const {
  for (std::uint32_t r = first_read_[instruction]; r < first_read_[instruction + 1]; ++r) {
    if (reads_[r].reg == reg) return reads_[r].value;
  }
  return no_value;
}

}  // namespace strata::access
