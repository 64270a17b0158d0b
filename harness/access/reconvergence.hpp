// Where the lanes of a warp that part at a branch meet again.
#pragma once

#include "harness/access/control_flow.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <vector>

namespace strata::access {

/// By block: where lanes that part at its end meet again, as far as they do not end before. A
/// branch to the kernel's end takes its lanes away, as a guarded ret does, and does not keep the
/// others from meeting. ControlFlow::exit() where all end.
struct Meetings {
  /// Where all of them meet, whichever way they go: post-dominators but for ends.
  std::vector<std::uint32_t> all;
  /// Where those meet that stay in the loop. A compiler lets lanes that leave a loop from its
  /// middle (break) leave the meetings within it, too, so that they do not keep the others from
  /// meeting: BREAK of compute capability 7.0 and later.
  std::vector<std::uint32_t> staying;
  /// The successor by which lanes leave a loop from its middle; no_index without one.
  std::vector<std::uint32_t> leaving;
};
[[nodiscard]] Meetings meetings(const ptx::Kernel& kernel, const ControlFlow& flow);

}  // namespace strata::access
