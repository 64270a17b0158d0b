// The way through a kernel: basic blocks, which dominate which, where threads meet again, loops.
#pragma once

#include "harness/access/ptx.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::access {

using ptx::no_index;

/// Instructions that run one after the other, from `begin` to before `end`. Only the last one may
/// branch, or end the thread.
struct BasicBlock {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::vector<std::uint32_t> successors = {};  ///< each once; the next block first, if it is one
  std::vector<std::uint32_t> predecessors = {};
  bool ends_threads = false;  ///< some thread, or all, may end here: ret, exit, trap, end of body
};

/// A natural loop: one block, the header, dominates all of it.
struct Loop {
  std::uint32_t header = no_index;
  std::vector<std::uint32_t> latches = {};  ///< blocks that branch back to the header, ascending
  std::uint32_t parent = no_index;          ///< the loop around it, into ControlFlow::loops
  unsigned depth = 1;                       ///< loops around it, and itself
};

struct ControlFlow {
  std::vector<BasicBlock> blocks = {};       ///< in the order of the text; the first is the entry
  std::vector<std::uint32_t> block_of = {};  ///< of each instruction
  std::vector<std::uint32_t> order = {};     ///< blocks that can be reached, in reverse post-order
  /// The immediate dominator of each block; no_index of the entry and of what cannot be reached.
  std::vector<std::uint32_t> dominator = {};
  /// The immediate post-dominator of each block: exit() where threads part for good, no_index where
  /// no way leads to the end of the kernel.
  std::vector<std::uint32_t> post_dominator = {};
  /// The same for the threads that go on: a guarded ret or exit takes its threads away, and a trap
  /// ends the whole launch, but neither keeps the others from meeting. A warp that diverges at the
  /// end of a block is whole again here.
  std::vector<std::uint32_t> meeting = {};
  std::vector<Loop> loops = {};             ///< those around others come before them
  std::vector<std::uint32_t> loop_of = {};  ///< the innermost loop of each block, or no_index
  /// False: there is a cycle with several entries. Its blocks belong to no loop of their own.
  bool reducible = true;

  /// Stands for the end of the kernel.
  [[nodiscard]] std::uint32_t exit() const { return static_cast<std::uint32_t>(blocks.size()); }
  /// Whether every way from the entry to block `b` passes block `a`; a block dominates itself.
  /// False where either cannot be reached.
  [[nodiscard]] bool dominates(std::uint32_t a, std::uint32_t b) const;
  /// Whether the loop holds the block, itself or in a loop within.
  [[nodiscard]] bool is_in(std::uint32_t loop, std::uint32_t block) const;

  // What answers dominates(): when a walk of the tree of dominators enters and leaves each block.
  std::vector<std::uint32_t> entered = {};
  std::vector<std::uint32_t> left = {};
};

/// The reader has refused branches whose places the text does not tell. A kernel without
/// instructions has one empty block.
[[nodiscard]] ControlFlow control_flow(const ptx::Kernel& kernel);

/// Immediate dominators in a graph of successors, seen from `root`: no_index of the root and of
/// what it does not reach.
[[nodiscard]] std::vector<std::uint32_t> immediate_dominators(
    std::span<const std::vector<std::uint32_t>> successors, std::uint32_t root);

}  // namespace strata::access
