#include "harness/access/ssa.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Operand;

/// Opcodes without a destination, whatever their modifiers.
constexpr std::array<std::string_view, 29> without_destination{
    "st",      "red",          "bra",          "brx",     "ret",
    "exit",    "trap",         "bar",          "barrier", "membar",
    "fence",   "cp",           "prefetch",     "discard", "applypriority",
    "call",    "nanosleep",    "stmatrix",     "sust",    "setmaxnreg",
    "pmevent", "brkpt",        "prefetchu",    "sured",   "griddepcontrol",
    "wgmma",   "createpolicy", "stackrestore", "tcgen05"};

/// Steps of placing phis: some hundred megabytes, and a second.
constexpr std::size_t most_work = std::size_t{1} << 24U;

bool is_memory(const Instruction& instruction) {
  return std::ranges::any_of(instruction.operands,
                             [](const Operand& operand) { return operand.address; });
}

}  // namespace

std::size_t written_operands(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  const std::size_t count = instruction.operands.size();
  if (count == 0) return 0;
  if (opcode == "bar" || opcode == "barrier") return instruction.has("red") ? 1 : 0;
  if (opcode == "createpolicy") return 1;
  if (std::ranges::count(without_destination, opcode) > 0) return 0;
  if (instruction.operands[0].address) return 0;  // mbarrier.init [x], n
  if (opcode == "setp") {
    const bool combines = instruction.has("and") || instruction.has("or") || instruction.has("xor");
    return count > (combines ? 4U : 3U) ? 2 : 1;
  }
  if (opcode == "shfl") return count > (instruction.has("sync") ? 5U : 4U) ? 2 : 1;
  if (opcode == "match") return count > 3 ? 2 : 1;
  if (opcode == "elect") return count > 2 ? 2 : 1;
  if (opcode == "lop3") return count > 6 ? 2 : 1;
  return 1;
}

Ssa::Ssa(const ptx::Kernel& kernel, const ControlFlow& flow) : kernel_(kernel), flow_(flow) {
  find_needed();
  place_phis();
  rename();
}

void Ssa::find_needed() {
  is_needed_.assign(kernel_.registers.size(), false);
  writers_.resize(kernel_.registers.size());
  std::vector<std::uint32_t> open;
  const auto need = [&](std::uint32_t reg) {
    if (is_needed_[reg]) return;
    is_needed_[reg] = true;
    open.push_back(reg);
  };
  for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) {
    if (!is_reachable(flow_, flow_.block_of[i])) continue;
    const Instruction& instruction = kernel_.instructions[i];
    const std::size_t written = written_operands(instruction);
    for (std::size_t o = 0; o < written; ++o) {
      see_registers(instruction.operands[o],
                    [&](std::uint32_t reg) { writers_[reg].push_back(i); });
    }
    const bool is_branch = instruction.opcode == "bra" || instruction.opcode == "brx" ||
                           instruction.opcode == "ret" || instruction.opcode == "exit";
    if (is_branch || is_memory(instruction)) {
      if (instruction.guard != ptx::no_index) need(instruction.guard);
      for (std::size_t o = written; o < instruction.operands.size(); ++o) {
        if (instruction.operands[o].address) see_registers(instruction.operands[o], need);
      }
    }
  }
  while (!open.empty()) {
    const std::uint32_t reg = open.back();
    open.pop_back();
    for (const std::uint32_t writer : writers_[reg]) {
      const Instruction& instruction = kernel_.instructions[writer];
      // What is loaded, or comes out of a call, is not looked into; where from is needed anyway.
      if (is_memory(instruction)) {
        if (instruction.guard != ptx::no_index) need(instruction.guard);
      } else {
        for_each_read(instruction, need);
      }
    }
  }
}

void Ssa::place_phis() {
  phi_places_.resize(flow_.blocks.size());
  std::size_t work = 0;
  std::vector<std::vector<std::uint32_t>> frontier(flow_.blocks.size());
  for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
    const auto& block = flow_.blocks[b];
    if (!is_reachable(flow_, b) || (block.predecessors.size() < 2 && b != 0)) continue;
    for (const std::uint32_t predecessor : block.predecessors) {
      if (!is_reachable(flow_, predecessor)) continue;
      for (std::uint32_t at = predecessor; at != no_index && at != flow_.dominator[b];
           at = flow_.dominator[at]) {
        if (++work > most_work) return follow_single_writers();
        if (frontier[at].empty() || frontier[at].back() != b) frontier[at].push_back(b);
      }
    }
  }
  std::vector<std::uint32_t> seen(flow_.blocks.size(), ptx::no_index);
  std::vector<std::uint32_t> open;
  for (std::uint32_t reg = 0; reg < kernel_.registers.size(); ++reg) {
    // One definition reaches all its reads, in code that reads nothing before it is written.
    if (!is_needed_[reg] || writers_[reg].size() < 2) continue;
    open.clear();
    for (const std::uint32_t writer : writers_[reg])
      open.push_back(flow_.block_of[writer]);
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      for (const std::uint32_t join : frontier[block]) {
        if (++work > most_work) return follow_single_writers();
        if (seen[join] == reg) continue;
        seen[join] = reg;
        phi_places_[join].push_back(reg);
        open.push_back(join);
      }
    }
  }
}

/// In code that is tangled beyond what a compiler makes.
void Ssa::follow_single_writers() {
  for (auto& places : phi_places_)
    places.clear();
  for (std::uint32_t reg = 0; reg < kernel_.registers.size(); ++reg) {
    if (writers_[reg].size() > 1) is_needed_[reg] = false;
  }
}

void Ssa::rename() {
  const std::size_t blocks = flow_.blocks.size();
  defined_.resize(blocks);
  std::vector<std::vector<std::uint32_t>> children(blocks);
  for (const std::uint32_t b : flow_.order) {
    if (flow_.dominator[b] != no_index) children[flow_.dominator[b]].push_back(b);
  }
  // Number 0 stands for what nothing defines.
  values_.push_back({});
  std::vector<ValueId> now(kernel_.registers.size(), 0);
  std::vector<std::vector<ValueId>> phis(blocks);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    for (const std::uint32_t reg : phi_places_[b]) {
      const auto id = static_cast<ValueId>(values_.size());
      values_.push_back({.kind = Value::Kind::phi,
                         .reg = reg,
                         .block = b,
                         .inputs = std::vector<ValueId>(flow_.blocks[b].predecessors.size(), 0)});
      phis[b].push_back(id);
      defined_[b].push_back(id);
    }
  }
  std::vector<std::vector<Read>> reads(kernel_.instructions.size());
  struct Change {
    std::uint32_t reg = 0;
    ValueId before = 0;
  };
  struct Frame {
    std::uint32_t block = 0;
    std::size_t child = 0;
    std::size_t changes = 0;
  };
  std::vector<Change> changes;
  std::vector<Frame> frames;
  const auto define = [&](std::uint32_t reg, ValueId value) {
    changes.push_back({reg, now[reg]});
    now[reg] = value;
  };
  const auto enter = [&](std::uint32_t b) {
    frames.push_back({b, 0, changes.size()});
    for (const ValueId phi : phis[b])
      define(values_[phi].reg, phi);
    for (std::uint32_t i = flow_.blocks[b].begin; i < flow_.blocks[b].end; ++i) {
      const Instruction& instruction = kernel_.instructions[i];
      for_each_read(instruction, [&](std::uint32_t reg) {
        if (is_needed_[reg]) reads[i].push_back({reg, now[reg]});
      });
      const std::size_t written = written_operands(instruction);
      for (std::uint32_t o = 0; o < written; ++o) {
        const Operand& operand = instruction.operands[o];
        const auto write = [&](const Operand& target, std::uint32_t item) {
          if (target.kind != Operand::Kind::reg || !is_needed_[target.index]) return;
          const auto id = static_cast<ValueId>(values_.size());
          values_.push_back(
              {.kind = Value::Kind::instruction,
               .reg = target.index,
               .block = b,
               .instruction = i,
               .operand = o,
               .item = item,
               .before = instruction.guard == ptx::no_index ? no_value : now[target.index]});
          defined_[b].push_back(id);
          define(target.index, id);
        };
        write(operand, 0);
        for (std::uint32_t item = 0; item < operand.items.size(); ++item)
          write(operand.items[item], item);
      }
    }
    for (const std::uint32_t successor : flow_.blocks[b].successors) {
      const auto& predecessors = flow_.blocks[successor].predecessors;
      for (std::size_t p = 0; p < predecessors.size(); ++p) {
        if (predecessors[p] != b) continue;
        for (const ValueId phi : phis[successor])
          values_[phi].inputs[p] = now[values_[phi].reg];
      }
    }
  };
  if (blocks > 0) enter(0);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.child < children[frame.block].size()) {
      enter(children[frame.block][frame.child++]);
      continue;
    }
    while (changes.size() > frame.changes) {
      now[changes.back().reg] = changes.back().before;
      changes.pop_back();
    }
    frames.pop_back();
  }
  first_read_.reserve(reads.size() + 1);
  for (const auto& of_instruction : reads) {
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
