// What does a bank conflict cost? Shared memory has 32 banks of 4 bytes, and each bank delivers one
// word per cycle: a warp whose lanes read k different words of one bank needs k wavefronts.
//
// Two things are timed: the latency of a dependent load, in a warp alone on the chip, and the
// cycles of an access where 32 warps on every SM have eight accesses in flight each. The second
// time also includes, issued beside the accesses, an addition for each word, or for two or three of
// them, and the loop.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/device_facts.hpp"

#include <array>
#include <cstdint>

namespace strata::bank_conflicts {

[[nodiscard]] Benchmark declare();

inline constexpr std::uint32_t word_bytes = 4;
/// Largest stride and width of the axes.
inline constexpr std::uint32_t max_stride = 33;
inline constexpr std::uint32_t max_width = 16;

/// Many warps: independent accesses of a warp per round.
inline constexpr std::uint32_t accesses_per_round = 8;
inline constexpr std::uint32_t warps_per_sm = 32;
/// Distance between accesses of a round, and between warps: once around the banks, so that the
/// pattern has the same conflicts everywhere.
inline constexpr std::uint32_t shift_bytes = 128;
inline constexpr std::uint32_t shift_words = shift_bytes / word_bytes;
/// Words of shared memory that a block accesses with the largest pattern.
inline constexpr std::uint32_t field_words =
    (((warp_lanes - 1) * max_stride + 1) * max_width +
     (warps_per_sm - 1 + accesses_per_round - 1) * shift_bytes) /
    word_bytes;

/// One warp: loads of the chain between two branches.
inline constexpr std::uint32_t unroll = 16;
/// Words of shared memory of its chain: as many as a block has without opting in.
inline constexpr std::uint32_t chain_words = 48 * 1024 / word_bytes;
inline constexpr std::uint32_t max_windows = 15;

/// Which lanes access the same element.
enum class Sharing { none, pairs, all };

/// What a warp accesses.
struct Pattern {
  std::uint32_t width = word_bytes;                  ///< bytes of an element
  bool store = false;                                ///< else loads
  std::array<std::uint32_t, warp_lanes> elements{};  ///< of each lane
};
[[nodiscard]] Pattern make_pattern(std::uint32_t width, std::uint32_t stride, Sharing sharing,
                                   bool store);
[[nodiscard]] Pattern pattern_of(const Session& session);
[[nodiscard]] WarpAccess access_of(const Pattern& pattern);

/// The windows of a chain: every lane goes from its element in one window to its element in the
/// next.
struct Windows {
  std::uint32_t count = 0;  ///< odd, so that a chain does not end where it began
  std::uint32_t bytes = 0;  ///< distance of windows: a multiple of shift_bytes
  std::array<std::uint32_t, max_windows> next{};  ///< a cycle through all windows
};
[[nodiscard]] Windows windows_for(const Pattern& pattern);

/// The result of a warp after `loads` loads of the chain from window 0: where it ended, and the
/// words that were loaded with the addresses, weighted by lane_weight.
[[nodiscard]] std::uint32_t expected_chain(const Pattern& pattern, const Windows& windows,
                                           std::uint32_t loads);

/// Words are stored as hashed_word of their index, and this much more in every round: all warps may
/// write the same words, and the final contents are known.
inline constexpr std::uint32_t store_change = 0x85EBCA6BU;
/// The sum of each warp of a block, as a line whose word r is that of r ≥ 1 rounds. For loads: what
/// its lanes load, weighted by lane_weight. For stores: what they find in the field, word i by lane
/// i mod 32 of warp i ÷ 32 mod 32; words that no store reaches keep hashed_word(field_words + i).
[[nodiscard]] std::array<LinearWords, warps_per_sm> expected_sums(const Pattern& pattern);

/// Rounds of many warps, a multiple of 5, and loads of the chain, a multiple of 5 × unroll, that
/// take about `cycles`.
[[nodiscard]] std::uint32_t rounds_for(double cycles, std::uint64_t wavefronts);
[[nodiscard]] std::uint32_t loads_for(double cycles, std::uint64_t wavefronts);

/// The case as the engine measures it, except the launches. The last slope is that of many warps,
/// per access of an SM; for loads, the first slope is per load of the chain.
[[nodiscard]] Experiment describe(const Pattern& pattern, const GpuFacts& gpu);

}  // namespace strata::bank_conflicts
