// The memory requests of a kernel launch: the addresses of its warps are computed on the host, from
// its PTX and its launch file.
//
// A warp runs as PTX defines it, 32 lanes at once. Lanes that diverge reconverge at the immediate
// post-dominator of the branch. Only instructions that affect an address, a guard or a branch are
// run. Contents that the launch does not give are random; what depends on them, or on an order that
// PTX does not define, is marked as unknown, lane by lane. An access is exact unless an unknown
// value affects its addresses or lanes. The other accesses are evaluated with two seeds.
//
// Buffers that the kernel writes and reads are followed in memory, block by block. Of a launch over
// the budget, some blocks are run, and every total is an estimate. docs/access_launch.md lists the
// premises.
#pragma once

#include "harness/access/launch_file.hpp"
#include "harness/access/program.hpp"
#include "harness/access/ptx.hpp"
#include "harness/model/coalescing.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace strata::access {

struct EvaluateOptions {
  std::vector<Generation> generations = {Generation::cc7};
  /// Warp instructions, about 5 seconds on one core. A launch with more is sampled.
  std::uint64_t budget = std::uint64_t{1} << 27U;
  /// Called about every 5 seconds with the warp instructions run so far. May be empty.
  std::function<void(std::uint64_t)> progress = {};
  unsigned threads = 0;    ///< host threads; 0: one per CPU
  std::uint64_t seed = 1;  ///< of contents that are not given; the second seed is the next one
};

/// Why an access is not exact.
enum class Doubt : std::uint8_t {
  none,
  address,     ///< some lane's address is unknown
  guard,       ///< its guard is unknown in some lane
  path,        ///< it is unknown whether some lane reaches it
  ended,       ///< it is unknown whether some lane ended before
  apart,       ///< lanes that an earlier instruction names did not reach it together
  misaligned,  ///< an address is not aligned: the hardware refuses it
  width,       ///< the size of the access is unknown
  cost,        ///< its addresses are known, but not what they cost
  sampled      ///< nothing but that some blocks were not run
};

/// An inclusive range.
struct MovedRange {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  bool operator==(const MovedRange&) const = default;
};

/// A memory instruction in one state space. One with generic addresses may access several.
struct Access {
  /// Into Kernel::instructions. A call has the accesses of the function, summed up by space.
  std::uint32_t instruction = 0;
  AccessKind kind = AccessKind::load;
  ptx::Space space = ptx::Space::global;
  unsigned width = 4;  ///< bytes per lane

  // Of all executions, or an estimate for all blocks; with the first seed:
  std::uint64_t warps = 0;  ///< executions by a warp, with at least one lane
  std::uint64_t lanes = 0;  ///< sum of the lanes that took part
  /// Of global and local memory, by the requested generations. Local memory has the hardware's
  /// layout, word by word across the lanes.
  std::vector<Traffic> traffic;
  std::uint64_t ideal_sectors = 0;       ///< as in requests.hpp, for the request of a warp
  std::uint64_t contiguous_sectors = 0;  ///< likewise
  std::uint64_t wavefronts = 0;          ///< of shared memory
  std::uint64_t ideal_wavefronts = 0;
  std::uint64_t outside = 0;        ///< lane accesses outside all buffers, or beyond a space
  std::uint64_t first_outside = 0;  ///< the first such address

  Doubt doubt = Doubt::none;
  std::uint64_t doubtful = 0;               ///< executions, or branches around it, in doubt
  std::uint32_t hidden_by = ptx::no_index;  ///< the instruction that introduced the unknown value
  std::uint32_t hidden_buffer = ptx::no_index;  ///< the buffer whose content is unknown, if it did
  /// Executions, or branches to them, that the totals leave out: an invented value led outside of
  /// all buffers, to a misaligned address, or through a loop that does not end.
  std::uint64_t unknown = 0;
  /// moved() of both seeds; if blocks were sampled, within 95 % confidence.
  MovedRange range;
  [[nodiscard]] bool is_exact() const { return doubt == Doubt::none; }
  /// The numbers of both; exact if both are.
  Access& operator+=(const Access& other);
  /// Sectors by the first requested generation, or wavefronts.
  [[nodiscard]] std::uint64_t moved() const;
  /// Sectors by the first requested generation over the ideal ones (shared memory: wavefronts); 0
  /// without any.
  [[nodiscard]] double moved_over_ideal() const;
};

struct Evaluation {
  std::vector<Access> accesses;  ///< all accesses of the kernel, by instruction, then space
  std::vector<Unmodelled> unmodelled;
  std::uint64_t blocks = 0;
  std::uint64_t blocks_run = 0;    ///< fewer than `blocks` if they were sampled
  std::uint64_t warps = 0;         ///< of the launch
  std::uint64_t instructions = 0;  ///< warp instructions that were run
  /// Buffers whose values affect an access, and buffers that the kernel writes or may write: into
  /// Launch::buffers.
  std::vector<std::uint32_t> read_buffers;
  std::vector<std::uint32_t> written_buffers;

  [[nodiscard]] bool is_sampled() const { return blocks_run < blocks; }
  /// Every access is exact and every instruction is modelled.
  [[nodiscard]] bool is_exact() const;
};

/// Throws UsageError in one line if one block exceeds the budget.
[[nodiscard]] Evaluation evaluate(const ptx::Module& module, const Launch& launch,
                                  const EvaluateOptions& options);

/// "ld.global.u32 of line 120: its value is not known", for `hidden_by`.
[[nodiscard]] std::string describe_hidden(const ptx::Kernel& kernel, std::uint32_t instruction);
[[nodiscard]] std::string_view describe(Doubt doubt);

}  // namespace strata::access
