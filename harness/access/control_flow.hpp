// The control flow of a kernel: basic blocks, dominators, where threads meet again, loops.
#pragma once

#include "harness/access/ptx.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::access {

using ptx::no_index;

/// Instructions that run one after the other, from `begin` to `end` (exclusive). Only the last one
/// may branch or end the thread.
struct BasicBlock {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::vector<std::uint32_t> successors = {};  ///< each once; the next block is first
  std::vector<std::uint32_t> predecessors = {};
  bool ends_threads = false;  ///< threads may end here: ret, exit, trap, end of body
};

/// A natural loop: the header dominates all of its blocks.
struct Loop {
  std::uint32_t header = no_index;
  std::vector<std::uint32_t> latches = {};  ///< blocks that branch back to the header, ascending
  std::uint32_t parent = no_index;          ///< the enclosing loop, into ControlFlow::loops
  unsigned depth = 1;                       ///< nesting depth, from 1
};

struct ControlFlow {
  std::vector<BasicBlock> blocks = {};       ///< in the order of the text; the first is the entry
  std::vector<std::uint32_t> block_of = {};  ///< of each instruction
  std::vector<std::uint32_t> order = {};     ///< reachable blocks in reverse post-order
  /// The immediate dominator of each block; no_index for the entry and for unreachable blocks.
  std::vector<std::uint32_t> dominator = {};
  /// The immediate post-dominator of each block: exit() if threads separate for good, no_index if
  /// no path leads to the end of the kernel.
  std::vector<std::uint32_t> post_dominator = {};
  /// The same for the threads that continue: a guarded ret or exit ends its threads, and a trap
  /// ends the launch, but neither keeps the others from meeting. A warp that diverges at the end of
  /// a block has reconverged here.
  std::vector<std::uint32_t> meeting = {};
  std::vector<Loop> loops = {};             ///< outer loops come before inner ones
  std::vector<std::uint32_t> loop_of = {};  ///< the innermost loop of each block, or no_index
  /// False if there is a cycle with several entries. Its blocks belong to no loop of their own.
  bool reducible = true;

  /// Represents the end of the kernel.
  [[nodiscard]] std::uint32_t exit() const { return static_cast<std::uint32_t>(blocks.size()); }
  /// Whether every path from the entry to block `b` passes through block `a`; a block dominates
  /// itself. False if either is unreachable.
  [[nodiscard]] bool dominates(std::uint32_t a, std::uint32_t b) const;
  /// Whether the loop contains the block, directly or in an inner loop.
  [[nodiscard]] bool is_in(std::uint32_t loop, std::uint32_t block) const;

  // For dominates(): when a traversal of the dominator tree enters and leaves each block.
  std::vector<std::uint32_t> entered = {};
  std::vector<std::uint32_t> left = {};
};

/// The reader has refused branches without known targets. A kernel without instructions has one
/// empty block.
[[nodiscard]] ControlFlow control_flow(const ptx::Kernel& kernel);

/// Immediate dominators in a graph of successors, from `root`: no_index for the root and for
/// unreachable vertices.
[[nodiscard]] std::vector<std::uint32_t> immediate_dominators(
    std::span<const std::vector<std::uint32_t>> successors, std::uint32_t root);

}  // namespace strata::access
