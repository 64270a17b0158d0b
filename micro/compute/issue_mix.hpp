// How many cycles does an instruction of another unit cost a scheduler that issues multiply-adds?
//
// On the whole chip, eight warps per scheduler run groups of k multiply-adds and one partner, and
// the multiply-adds alone. The additional time of a group is the cost of the partner, one cycle if
// it is only issued. The compiler would move the partners together: to prevent that, each takes its
// operand from one of the warp's two chains, and six multiply-adds later both use its result. One
// factor of a multiply-add is the same for all lanes: only two registers are read, and warps do not
// wait for operands.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/compute/chains.hpp"

#include <array>

namespace strata::issue_mix {

[[nodiscard]] Benchmark declare();

enum class Partner : std::uint8_t { none, rsqrt, shuffle, shared_load, integer_add };
inline constexpr auto partners =
    choices_of<Partner>("none", "rsqrt", "shuffle", "shared_load", "integer_add");
/// Multiply-adds of a group.
inline constexpr Choices group_sizes{std::pair{"4", 4U},   std::pair{"8", 8U},
                                     std::pair{"12", 12U}, std::pair{"16", 16U},
                                     std::pair{"24", 24U}, std::pair{"48", 48U}};

inline constexpr unsigned chains = 2;
inline constexpr unsigned body = 384;  ///< multiply-adds of a loop: whole groups of every size
inline constexpr unsigned needed = 6;  ///< multiply-adds between a partner's operand and its result
inline constexpr unsigned slots = 8;   ///< results that may be in flight
inline constexpr unsigned schedulers = 4;  ///< of an SM, from Volta on
inline constexpr unsigned warps_of_scheduler = 8;
inline constexpr unsigned warps_of_sm = schedulers * warps_of_scheduler;  ///< one block

/// The group whose result multiply-add `position` of a loop takes as its addend, or -1.
[[nodiscard]] STRATA_HD constexpr int answer_at(unsigned position, unsigned size) {
  const unsigned since = (position + body - needed) % body;
  return since % size < chains ? static_cast<int>(since / size) : -1;
}
/// Whether a partner follows multiply-add `position`.
[[nodiscard]] STRATA_HD constexpr bool asks_behind(unsigned position, unsigned size) {
  return position % size == chains - 1;
}

/// Of all lanes: one factor for each half of a loop.
using Factors = std::array<float, 2>;
[[nodiscard]] Factors factors_of(Partner partner);

/// Shared-memory offset of the loads: beyond what a driver or a block may keep at its start. Each
/// word there leads a chain of shared_load from one of these addresses to another.
inline constexpr std::uint32_t ring_address = 8192;
inline constexpr std::uint32_t ring_words = 8;

/// Row after row for the lanes of a warp: starts, answer, b of both halves, added.
[[nodiscard]] operations::WarpWords device_words(Partner partner);
inline constexpr std::size_t rows = chains + 1 + 2 + 2;

/// Chains, each of the lanes that differ.
using Ends = std::array<std::array<float, operations::distinct_lanes>, chains>;
/// The end values of the chains. `has_partners`: whether they interrupt the multiply-adds.
[[nodiscard]] Ends expected_ends(Partner partner, unsigned size, bool has_partners,
                                 std::uint64_t rounds);

/// A launch writes the first warp's `ends`. Per group of one warp, on one scheduler. The last slope
/// is that of the groups with their partner, the first of the multiply-adds alone.
[[nodiscard]] Experiment describe(Partner partner, unsigned size, const GpuFacts& gpu,
                                  std::span<const std::uint64_t> ends);

}  // namespace strata::issue_mix
