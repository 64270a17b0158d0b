// What a launch of a kernel asks of memory, exactly: its addresses are computed on the host, for
// every warp, from its PTX and its launch file.
//
// A warp runs as PTX defines it, 32 lanes at once. Where its lanes part, they meet again at the
// immediate post-dominator of the branch. Only instructions on which an address, a guard or a
// branch hangs are run. What hangs on a value that nobody told is unknown, lane by lane, and an
// access whose addresses or lanes are unknown is said to be not exact; one that is said to be exact
// is. docs/access_launch.md has the premises.
#pragma once

#include "harness/access/launch_file.hpp"
#include "harness/access/program.hpp"
#include "harness/access/ptx.hpp"
#include "harness/model/coalescing.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::access {

struct EvaluateOptions {
  std::vector<Generation> generations = {Generation::cc7};
  /// Most instructions of warps that are run, of those that are run at all.
  std::uint64_t budget = std::uint64_t{1} << 32U;
  unsigned threads = 0;       ///< of the host; 0: one for each CPU
  bool reuses_blocks = true;  ///< blocks whose addresses are another's, moved by whole lines, are
                              ///< counted with it
};

/// Why an access is not exact.
enum class Doubt : std::uint8_t {
  none,
  address,  ///< some lane's address is unknown
  guard,    ///< its guard is unknown in some lane
  path,     ///< whether some lane comes here is unknown
  ended,    ///< whether some lane ended before is unknown
  apart,    ///< lanes that an instruction before it named did not come to it: no order is defined
  misaligned,  ///< some address is no multiple of the width: the hardware refuses it
  width        ///< how much a lane asks for is unknown
};

/// A memory instruction in one state space; one with generic addresses may reach several.
struct Access {
  std::uint32_t instruction = 0;  ///< into Kernel::instructions
  AccessKind kind = AccessKind::load;
  ptx::Space space = ptx::Space::global;
  unsigned width = 4;  ///< bytes of a lane

  // Of the executions whose addresses and lanes are known:
  std::uint64_t warps = 0;  ///< executions by a warp, with at least one lane
  std::uint64_t lanes = 0;  ///< that took part, summed
  /// Of global memory and of local memory: by the asked generations. Local memory lies as the
  /// hardware lays it, word by word across the lanes.
  std::vector<Traffic> traffic;
  std::uint64_t ideal_sectors = 0;       ///< requests.hpp says which: of a request of a whole warp
  std::uint64_t contiguous_sectors = 0;  ///< likewise
  std::uint64_t wavefronts = 0;          ///< of shared memory
  std::uint64_t ideal_wavefronts = 0;
  std::uint64_t outside = 0;        ///< accesses of lanes that lie in no buffer, or beyond a space
  std::uint64_t first_outside = 0;  ///< the address of one of those

  Doubt doubt = Doubt::none;
  std::uint64_t doubtful = 0;               ///< executions, or branches around it, in doubt
  std::uint32_t hidden_by = ptx::no_index;  ///< the instruction where what is unknown began
  /// Recorded on a device: the host's evaluation could not tell.
  bool is_traced = false;
  [[nodiscard]] bool is_exact() const { return doubt == Doubt::none; }
  /// Sectors by the generation that was asked for first, over the ideal ones; 0 without any. Of
  /// shared memory: wavefronts.
  [[nodiscard]] double moved_over_ideal() const;
};

struct Evaluation {
  std::vector<Access> accesses;  ///< by instruction, then space; all that the kernel has
  std::vector<Unmodelled> unmodelled;
  std::uint64_t blocks = 0;
  std::uint64_t blocks_run = 0;    ///< the others were alike
  std::uint64_t warps = 0;         ///< of the launch
  std::uint64_t instructions = 0;  ///< of warps, that were run
  /// Buffers of whose content something known was read, and those that the kernel may write, so
  /// that nothing is known of them: into Launch::buffers.
  std::vector<std::uint32_t> read_buffers;
  std::vector<std::uint32_t> written_buffers;

  /// Every access is exact and every instruction is modelled.
  [[nodiscard]] bool is_exact() const;
};

/// Throws UsageError in one line where the budget is spent.
[[nodiscard]] Evaluation evaluate(const ptx::Module& module, const Launch& launch,
                                  const EvaluateOptions& options);

/// "ld.global.u32 of line 120: its value is not known", for `hidden_by`.
[[nodiscard]] std::string describe_hidden(const ptx::Kernel& kernel, std::uint32_t instruction);
[[nodiscard]] std::string_view describe(Doubt doubt);

}  // namespace strata::access
