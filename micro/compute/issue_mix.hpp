// What does an instruction of another unit cost a scheduler that has multiply-adds to issue?
//
// A scheduler issues one instruction a cycle, so that one among multiply-adds should cost one cycle
// whatever unit does it. Eight warps a scheduler run groups of k multiply-adds and one partner, an
// instruction of another unit, through the whole chip; beside it, in the same case, the same
// multiply-adds without partners. What a group takes more is the partner's.
//
// The compiler would gather the partners where it likes. Two things hold them apart: a partner
// takes its operand from one of the warp's two chains of multiply-adds, and six multiply-adds
// later both chains take its answer. The code contract counts the multiply-adds between partners.
// One factor of a multiply-add is the same for all lanes, so that two registers are left to read
// and no two warps that take turns wait for each other's operands.
//
// Inside the number that is neither: the instructions that close a loop, three for every 384
// multiply-adds. They are in the launch without partners as well.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"
#include "micro/compute/operations.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::issue_mix {

[[nodiscard]] Benchmark declare();

enum class Partner { none, rsqrt, shuffle, shared_load, integer_add };
inline constexpr std::array<std::string_view, 5> partners{"none", "rsqrt", "shuffle", "shared_load",
                                                          "integer_add"};
/// Throws std::out_of_range for a name that no partner has.
[[nodiscard]] Partner partner_of(std::string_view name);

inline constexpr std::array<unsigned, 6> group_sizes{4, 8, 12, 16, 24, 48};

inline constexpr unsigned chains = 2;
inline constexpr unsigned body = 384;      ///< multiply-adds of a loop: whole groups of every size
inline constexpr unsigned needed = 6;      ///< multiply-adds from a partner's operand to its answer
inline constexpr unsigned slots = 8;       ///< answers that may be under way
inline constexpr unsigned schedulers = 4;  ///< of an SM, from Volta on
inline constexpr unsigned warps_of_scheduler = 8;
inline constexpr unsigned warps_of_sm = schedulers * warps_of_scheduler;  ///< one block

/// The group whose answer multiply-add `position` of a loop takes as its addend; nothing where it
/// takes the constant one.
[[nodiscard]] STRATA_HD constexpr int answer_at(unsigned position, unsigned size) {
  const unsigned since = (position + body - needed) % body;
  return since % size < chains ? static_cast<int>(since / size) : -1;
}
/// Whether a partner stands behind multiply-add `position`.
[[nodiscard]] STRATA_HD constexpr bool asks_behind(unsigned position, unsigned size) {
  return position % size == chains - 1;
}

/// What the chains of one lane work on.
struct Words {
  std::array<float, chains> start{};
  float answer = 0;                      ///< before the first partner's; without partners, always
  std::array<float, 2> b{};              ///< of the first half of a loop and of the second
  std::array<std::uint32_t, 2> added{};  ///< integer_add; the first, of shuffle: where from
};
/// Of all lanes: one factor for each half of a loop.
using Factors = std::array<float, 2>;
[[nodiscard]] Words words_of(Partner partner, std::uint32_t lane);
[[nodiscard]] Factors factors_of(Partner partner);

/// Where in shared memory the loads go: beyond what a driver or a block may keep at its start.
inline constexpr std::uint32_t ring_address = 8192;
/// Words there; each is what brings a chain of shared_load from an address of them to another.
inline constexpr std::uint32_t ring_words = 8;

/// Row after row for the lanes of a warp: starts, answer, b of both halves, added.
[[nodiscard]] std::vector<float> device_words(Partner partner);
inline constexpr std::size_t rows = chains + 1 + 2 + 2;

/// Chains, each of the lanes that differ.
using Ends = std::array<std::array<float, operations::distinct_lanes>, chains>;
/// What the chains come to. `asked`: whether partners stand among the multiply-adds.
[[nodiscard]] Ends expected_ends(Partner partner, unsigned size, bool asked, std::uint64_t rounds);
/// Relative; 0: the host knows every bit.
[[nodiscard]] double tolerance_of(Partner partner);

struct Observation {
  double inside = 0;        ///< cycles of a scheduler for a group of a warp; median of all SMs
  double outside = 0;       ///< the same by events
  double plain_inside = 0;  ///< the same without partners
  double plain_outside = 0;
  double core_hertz = 0;
};

/// Adds the measurements, and the timer and clock gates.
void report(Session& session, const Collection<Observation>& seen, Partner partner, unsigned size);

}  // namespace strata::issue_mix
