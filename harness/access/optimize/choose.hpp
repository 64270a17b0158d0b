// Which changes of a kernel pay, of those that can be made: by what they ask of memory.
#pragma once

#include "harness/access/optimize/optimize.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strata::access {

/// Cycles that an SM takes for the accesses of a launch to global memory that L2 serves. A
/// warp-load takes as long as its slowest part: 3.0 for itself, 0.97 for each sector and 1.81 for
/// each line of an H200, fitted to benchmark `coalescing` of the run
/// nvidia-h200-20261123T162625Z-f6fa469. A wavefront of shared memory takes 1.
struct MemoryCost {
  double request = 3.0;
  double sector = 0.97;
  double line = 1.81;
  double wavefront = 1.0;
};

/// What a launch asks for: sums over its accesses.
struct AskedFor {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  std::uint64_t lines = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal_wavefronts = 0;
  double cycles = 0;
};

struct Chosen {
  std::optional<Optimized> optimized;  ///< nothing: see `why`
  std::string why = {};                ///< it stays as it is
  bool is_refused = false;             ///< some change would be wanted, and none can be made
  AskedFor before;
  AskedFor after;
  /// Changes by which the launches ask for less: `optimized`, then the others, the least first.
  /// Empty without it.
  std::vector<Change> promising = {};
  /// Changes that cannot be made, and why.
  std::vector<std::pair<Change, Refusal>> refused = {};
};

/// Maximum number of warp instructions to weigh a launch.
inline constexpr std::uint64_t weighed_instructions = std::uint64_t{1} << 21U;

/// The launch, or as many of its first blocks as can be weighed and compared. Throws UsageError if
/// one block exceeds weighed_instructions.
[[nodiscard]] Launch within_budget(const ptx::Module& module, Launch launch);

/// The change by which the launches ask for least: a twentieth less than now, or none. Without
/// launches: one of a usual size. `only`: this change alone is tried.
[[nodiscard]] Chosen choose(const ptx::Module& module, std::uint32_t number,
                            std::span<const Launch> launches, const MemoryCost& cost = {},
                            const std::optional<Change>& only = {});

}  // namespace strata::access
