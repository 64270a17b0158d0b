// What does each layout of a particle cost to read, from each level of the hierarchy?
//
// The declaration and the report that both backends of the benchmark share. The experiment is that
// of Siegel, Ributzka, Li (2009), sections II and III: a kernel that only reads, sums all that it
// read, and is timed in clock cycles. Redone with care: the reads of a warp form a dependent chain
// (micro/pattern/particle_chain.hpp), so the time of a read is neither hidden nor cut short, two
// timers that share nothing must agree, and the sums are checked before the time counts.
//
// Inside the number that is not a read: the sum over the fields and the address of the next group.
// `arithmetic_cycles` says how much that is, measured on the same chain without the loads.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/gates.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace strata::layout_read {

[[nodiscard]] Benchmark declare();

/// Measures or counts the session's case on a GPU with its particles at `residency`, which is what
/// the case says; tests say otherwise, to see the level gate notice.
void measure(Session& session, const std::string& residency);

/// The reads that one warp makes, in order. Only `first` and `second` are timed: the cycles of a
/// read are the slope between them, which cancels what the clock reads cost. `warmup` brings warps
/// into step with each other and fills L1; `cooldown` keeps the load up while slower warps finish.
struct Shape {
  std::uint32_t warmup = 0;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t cooldown = 0;

  [[nodiscard]] constexpr std::uint32_t total() const { return warmup + first + second + cooldown; }
  /// The same walk with a shorter second part: the slope between the two cancels a launch's cost.
  [[nodiscard]] constexpr Shape shortened() const { return {warmup, first, first, cooldown}; }
};

/// Reads between the ends of the two walks or of the two timed parts.
[[nodiscard]] constexpr std::uint32_t slope_reads(const Shape& shape) {
  return shape.second - shape.first;
}

/// Timed reads of a warp that fill `seconds` on a device of this clock, given what a read costs at
/// this level and load, roughly. Fixed and not calibrated, so that two runs, and two machines of a
/// kind, do the same work.
[[nodiscard]] double reads_for(double seconds, double hertz, double latency_cycles,
                               double cycles_each_warp, int warps_per_sm);

/// A shape of about `reads` timed reads and of at most `most` in all, every part a multiple of
/// `unroll`. Throws Skipped when not even the smallest fits.
[[nodiscard]] Shape shape_for(double reads, std::uint32_t warmup, std::uint64_t most,
                              std::uint32_t unroll);

/// Steps that the nearest two of these positions on a cycle of `groups` are apart; `groups` for
/// one.
[[nodiscard]] std::uint32_t nearest(std::vector<std::uint32_t> positions, std::uint32_t groups);

/// Cycles of one read, from a warp's clock at the ends of the warm-up, first and second part. Of a
/// warp alone: the slope between the two parts. Among others: the mean over both, because which
/// warps an SM serves first changes from part to part, and a difference would say more of that than
/// of reads.
[[nodiscard]] double cycles_of_a_read(const std::array<std::uint64_t, 3>& ends, const Shape& shape,
                                      bool alone);

/// Bytes that a group of the widest layouts takes.
inline constexpr std::uint64_t group_bytes = 1024;

/// Groups that fit into `bytes`, one less if need be to make them odd: with an even number, above
/// all a power of two, the seven arrays of a soa lie a large power of two apart and get into each
/// other's way in every cache, which says more of the number than of the layout.
[[nodiscard]] std::uint32_t groups_in(std::uint64_t bytes);

/// Where warp `warp` of SM `sm` starts on a cycle of `groups`: spread evenly, with the warps of one
/// SM, which share an L1, as far from each other as can be: groups ÷ warps_per_sm steps.
[[nodiscard]] std::uint32_t start_position(std::uint32_t sm, std::uint32_t warp, std::uint32_t sms,
                                           std::uint32_t warps_per_sm, std::uint32_t groups);

/// What one pair of walks (short and long) showed.
struct Observation {
  double cycles = 0;          ///< a warp-read, median over warps, by the core's clock
  double cycles_p5 = 0;       ///< 5th percentile over warps
  double cycles_p95 = 0;      ///< 95th percentile over warps
  double cycles_slowest = 0;  ///< of the slowest warp: slope between the walks, by the core's clock
  double cycles_outside = 0;  ///< the same by the timer outside
  double grid_seconds = 0;    ///< the long walk as a whole, start-up included
  double reads_per_second = 0;  ///< particles, all warps, by the slope of the outside timer
  double core_hertz = 0;        ///< of the clock that counted the cycles
};

/// Median and percentiles over the warps' cycles of a read. Sorts them.
void summarise(std::vector<double>& reads, Observation& into);

/// Each number's own median over several observations.
[[nodiscard]] Observation medians(const std::vector<Observation>& of);

/// What differs between the backends in how the same quantities came about.
struct Methods {
  std::string cycle_unit;  ///< "cycle" or "tsc_cycle"
  std::string inside;      ///< of one warp: "clock64_slope" or "clock64_mean"
  std::string slowest;     ///< "clock64_slope"
  std::string outside;     ///< "event_slope"
  std::string whole;       ///< "event"
  std::string clock;       ///< "clock64_over_globaltimer"
};

/// Adds every quantity and the clock and timer gates. The timer gate applies to single-warp cases:
/// with more, warps overlap and the slowest one is no longer what the outside timer ends with.
void report(Session& session, const Collection<Observation>& seen, const Methods& methods,
            std::size_t useful_bytes);

}  // namespace strata::layout_read
