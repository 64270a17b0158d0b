// What does it cost to read a particle in each layout, from each level of the hierarchy?
//
// The experiment of Siegel, Ributzka, Li (2009), sections II and III: a kernel that only reads and
// sums what it read, timed in clock cycles. Here the reads of a warp form a dependent chain
// (micro/pattern/particle_chain.hpp), so that a read's latency is neither hidden nor cut short. The
// time includes the sum over the fields and the address of the next group: `arithmetic_cycles`,
// measured on the same chain without the loads.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/pattern/particle_chain.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace strata::layout_read {

[[nodiscard]] Benchmark declare();

enum class Level : std::uint8_t { l1, l2, l3, dram };
inline constexpr auto levels = choices_of<Level>("l1", "l2", "l3", "dram");

/// Measures or counts the session's case on a GPU with its particles at `level`, normally the level
/// of the case; tests pass another one, to see that the level gate notices.
void measure(Session& session, Level level);

/// Who reads what from where.
struct Point {
  std::string layout;
  std::string fields;
  Level level = Level::l1;
  std::uint32_t cores = 1;             ///< SMs, or cores of a CPU
  std::uint32_t warps = 1;             ///< per SM; on a CPU the chains that a core interleaves
  std::uint32_t threads = group_size;  ///< in a block

  [[nodiscard]] constexpr bool alone() const { return warps == 1; }
  [[nodiscard]] constexpr std::uint32_t all_warps() const { return cores * warps; }
  [[nodiscard]] constexpr std::uint32_t blocks_per_sm() const {
    return warps * group_size / threads;
  }
  [[nodiscard]] std::string data_key() const {
    return "layout_read/" + layout + '/' + levels.name_of(level);
  }
};
/// `all_cores`: how many the device has.
[[nodiscard]] Point point_of(const Session& session, std::uint32_t all_cores);

inline constexpr std::uint64_t seed = 2009;
/// The particles of a chain, stored as `layout`.
[[nodiscard]] std::vector<float> words_of(const ParticleChain& chain, const std::string& layout);

/// Bytes that a group of the widest layouts takes.
inline constexpr std::uint64_t group_bytes = 1024;
/// Groups that fit into `bytes`, an odd number: with an even one, above all a power of two, the
/// seven arrays of a soa are a large power of two apart and conflict in every cache.
[[nodiscard]] constexpr std::uint32_t groups_in(std::uint64_t bytes) {
  const auto groups = std::clamp<std::uint64_t>(bytes / group_bytes, 1, max_groups);
  return static_cast<std::uint32_t>(groups - (groups + 1) % 2);
}
/// Groups that a GPU can hold at this level. Throws Skipped if it has no such level.
[[nodiscard]] std::uint32_t groups_at(Level level, const GpuFacts& gpu);

/// The reads of one warp in a launch, in order. Only `first` and `second` are timed, by marks 2 to
/// 4 of the stamp: the ends of warm-up, first and second part. `warmup` synchronises warps and
/// fills L1; `cooldown` maintains the load while slower warps finish.
struct Shape {
  std::uint32_t warmup = 0;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t cooldown = 0;

  [[nodiscard]] constexpr std::uint32_t total() const { return warmup + first + second + cooldown; }
  /// The reads of a launch of this length: its rounds are the second part. Without rounds, none.
  [[nodiscard]] constexpr Shape at(const Length& length) const {
    if (length.rounds == 0) return {};
    return {warmup, first, length.rounds, cooldown};
  }
};
/// The short launch has a second part like its first one: the slope between the launches cancels
/// launch overhead. Per read of each warp.
[[nodiscard]] constexpr Lengths lengths_of(const Shape& shape) {
  return {.brief = {.rounds = shape.first, .work = double{1} * shape.first},
          .full = {.rounds = shape.second, .work = double{1} * shape.second}};
}

/// Reads in the loop body of the kernels: the loop itself costs a quarter of an instruction per
/// read.
inline constexpr std::uint32_t unroll_on_gpu = 4;
/// The launches that measure `arithmetic_cycles`.
inline constexpr Shape arithmetic_shape{
    .warmup = 256, .first = 256, .second = 2048, .cooldown = unroll_on_gpu};

/// Timed reads of a warp that fill `seconds`, given the approximate cost of a read. Not calibrated,
/// so that two runs, and two machines of one model, do the same work.
[[nodiscard]] constexpr double reads_for(double seconds, double hertz, double latency_cycles,
                                         double cycles_each_warp, std::uint32_t warps) {
  return seconds * hertz / std::max(latency_cycles, cycles_each_warp * warps);
}
/// A shape of about `reads` timed reads and of at most `most` in all, every part a multiple of
/// `unroll`. Throws Skipped when not even the smallest fits.
[[nodiscard]] Shape shape_for(double reads, std::uint32_t warmup, std::uint64_t most,
                              std::uint32_t unroll);
/// The reads of a case on a GPU, on a cycle of `groups`. The warm-up goes around the small cycle of
/// L1 twice, so that every L1 holds it. Reads from L2 end where the next warp of the SM began,
/// those from memory where the next warp of all began, so that no line is found in a nearer level.
[[nodiscard]] Shape shape_on_gpu(const Point& point, const GpuFacts& gpu, std::uint32_t groups);

/// Cycles of one read by a warp's own clock, from a stamp of a launch of this shape. For a warp
/// alone: the slope between the two parts, in which the clock's own cost cancels. With other warps:
/// the mean over both parts, because the order in which an SM serves warps changes between parts.
[[nodiscard]] double cycles_of_a_read(const Stamp& stamp, const Shape& shape, bool alone);

/// Start positions on a cycle of `groups` of the warps of the first core, then of the next core:
/// evenly spread, with the warps of one SM, which share an L1, as far from each other as possible.
[[nodiscard]] std::vector<std::uint32_t> start_positions(const Point& point, std::uint32_t groups);
/// Where a warp begins: its first group and its ring's shift.
struct alignas(8) RingStart {
  std::uint32_t group = 0;
  std::uint32_t shift = 0;
};
/// The rings that the warps of a GPU follow.
///
/// SMs of one GPC that request the same sector at about the same time get one answer from L2, up to
/// four of them (request_merging), and from then on they stay in step. So where all SMs read from
/// L2, each has a separate ring, and two that meet separate again.
struct Walks {
  std::vector<Ring> rings;               ///< of each SM, or one for all
  std::vector<std::uint32_t> positions;  ///< of each start on the ring of its SM, SM after SM
  std::uint32_t warps = 1;               ///< of an SM

  [[nodiscard]] const Ring& ring_of(std::size_t start) const {
    return rings[start / warps % rings.size()];
  }
  [[nodiscard]] std::vector<RingStart> starts() const;
  /// Of the shortest ring.
  [[nodiscard]] std::uint32_t groups() const {
    return std::ranges::min(rings, {}, &Ring::groups).groups();
  }
};
[[nodiscard]] Walks walks_of(const Point& point, std::vector<Ring> rings);
/// The rings of a point's SMs, the same for all points of one level and number of SMs. Finding them
/// takes longer than measuring a case.
[[nodiscard]] std::vector<Ring> rings_of(const Point& point, const ParticleChain& chain);
/// Additional groups of a chain of this level, for the rings of `sms`.
[[nodiscard]] constexpr std::uint32_t spare_groups(Level level, std::uint32_t sms) {
  return level == Level::l2 ? 4 * sms : 0;
}
/// Steps between the nearest two of these positions; `groups` for one.
[[nodiscard]] std::uint32_t nearest(std::vector<std::uint32_t> positions, std::uint32_t groups);

/// The common description of both backends: rows, timers, lengths, window and facts. The last slope
/// is that of the reads. If a GPU warp is alone, a first slope is that of the kernel without loads,
/// with one warp.
[[nodiscard]] Experiment describe(const Point& point, const Shape& shape,
                                  const ParticleChain& chain, Backend backend);
/// The case on a GPU, except the launches. A stamp's tag is the start of its warp. `walks` must
/// outlive the experiment.
[[nodiscard]] Experiment describe_on_gpu(const Point& point, const GpuFacts& gpu,
                                         const Shape& shape, const ParticleChain& chain,
                                         const Walks& walks);

}  // namespace strata::layout_read
