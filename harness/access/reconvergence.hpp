// Where the lanes of a warp reconverge after a branch.
#pragma once

#include "harness/access/control_flow.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <vector>

namespace strata::access {

/// By block: where lanes that diverge at its end meet again, unless they end before. A branch to
/// the kernel's end removes its lanes, as a guarded ret does, and does not keep the others from
/// meeting. ControlFlow::exit() if all end.
struct Meetings {
  /// Where all of them meet on any path: post-dominators, ignoring ends.
  std::vector<std::uint32_t> all;
  /// Where the lanes that stay in the loop meet. A compiler lets lanes that leave a loop from its
  /// middle (break) also leave the meeting points within it, so that they do not keep the others
  /// from meeting: BREAK since compute capability 7.0.
  std::vector<std::uint32_t> staying;
  /// The successor by which lanes leave a loop from its middle; no_index if there is none.
  std::vector<std::uint32_t> leaving;
};
[[nodiscard]] Meetings meetings(const ptx::Kernel& kernel, const ControlFlow& flow);

}  // namespace strata::access
