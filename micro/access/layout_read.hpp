// What does it cost to read a particle in each layout, from each level of the hierarchy?
//
// The experiment of Siegel, Ributzka, Li (2009), sections II and III: a kernel that only reads and
// sums what it read, timed in clock cycles. Here the reads of a warp form a dependent chain
// (micro/pattern/particle_chain.hpp), so that a read's latency is neither hidden nor cut short. The
// time includes the sum over the fields and the address of the next group: `arithmetic_cycles`,
// measured on the same chain without the loads.
#pragma once

#include "harness/cuda/benchmark.cuh"
#include "micro/pattern/particle_chain.hpp"

#include <bit>
#include <cstring>
#include <limits>

namespace strata::layout_read {

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

inline constexpr std::uint64_t seed = 2009;

/// Bytes that a group of the widest layouts takes.
inline constexpr std::uint64_t group_bytes = 1024;
/// Groups that fit into `bytes`, an odd number: with an even one, above all a power of two, the
/// seven arrays of a soa are a large power of two apart and conflict in every cache.
[[nodiscard]] constexpr std::uint32_t groups_in(std::uint64_t bytes) {
  const auto groups = std::clamp<std::uint64_t>(bytes / group_bytes, 1, max_groups);
  return static_cast<std::uint32_t>(groups - (groups + 1) % 2);
}

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

inline std::optional<std::string> excluded(const Params& params, Backend backend) {
  const auto warps = number_of<long long>(params, "warps_per_sm");
  const auto block = number_of<long long>(params, "block_size");
  if (block % 32 != 0 || warps * 32 % block != 0) {
    return "warps_per_sm is not a multiple of the warps of a block";
  }
  if (backend == Backend::host) {
    if (block != 32) return "a CPU core has no blocks: it is measured at block_size 32";
    return std::nullopt;
  }
  if (params.at("residency") == "l3") return "a GPU has no L3";
  const long long blocks = warps * 32 / block;
  if (blocks > 32) return "no GPU holds more than 32 blocks on an SM";
  if (params.at("cores") == "one" && blocks != 1) return "only one block can be kept on one SM";
  return std::nullopt;
}

/// Cycles of each core from the first start of its warps to the last end; the median over the
/// cores.
inline double span_of_a_core(const Launched& launched) {
  struct Span {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last = 0;
  };
  std::map<std::uint32_t, Span> of;
  for (const Stamp& stamp : launched.stamps) {
    Span& span = of[stamp.core];
    span.first = std::min(span.first, stamp.cycles[0]);
    span.last = std::max(span.last, stamp.cycles[1]);
  }
  std::vector<double> spans;
  spans.reserve(of.size());
  for (const auto& [core, span] : of)
    spans.push_back(static_cast<double>(span.last - span.first));
  return median(spans);
}

/// Cycles of one read by a warp's own clock, from a stamp of a launch of this shape. For a warp
/// alone: the slope between the two parts, in which the clock's own cost cancels. With other warps:
/// the mean over both parts, because the order in which an SM serves warps changes between parts.
inline double cycles_of_a_read(const Stamp& stamp, const Shape& shape, bool alone) {
  const auto first = static_cast<double>(stamp.cycles[3] - stamp.cycles[2]);
  const auto second = static_cast<double>(stamp.cycles[4] - stamp.cycles[3]);
  return alone ? (second - first) / (shape.second - shape.first)
               : (first + second) / (shape.first + shape.second);
}

/// The warps' own cycles of a read in the timed parts of the long launch: median, 5th and 95th
/// percentile. The outer timer is compared with the whole launch of the slowest warp. A cell holds
/// the cycles in which an SM performs one read with each of its warps.
inline Window median_warp(const Shape& shape, bool alone) {
  return {.name = "median warp; the slowest for the outer timer",
          .read = [shape, alone](const Launched& brief, const Launched& full) {
            constexpr double few = 0.05;
            std::vector<double> reads;
            reads.reserve(full.stamps.size());
            for (const Stamp& stamp : full.stamps)
              reads.push_back(cycles_of_a_read(stamp, shape.at(full.length), alone));
            Inside inside = slowest_writer().read(brief, full);
            inside.cycles = median(reads);
            inside.low = quantile(reads, few);
            inside.high = quantile(reads, 1 - few);
            inside.cells = {(span_of_a_core(full) - span_of_a_core(brief)) /
                            (full.length.work - brief.length.work)};
            return inside;
          }};
}

inline Benchmark declare() {
  return {
      .suite = "micro",
      .name = "layout_read",
      .question = "What does it cost to read a particle in each layout, from each level?",
      .axes =
          {listed_axis("layout", "memory layout of a particle's seven floats", names_of<Layouts>()),
           levels.axis("residency", "the level that holds the particles (l3: CPU only)"),
           listed_axis("cores", "one or all SMs (cuda), CPU cores (host)", {"one", "all"}, {"all"}),
           listed_axis("fields", "all seven fields, or position and mass", names_of<FieldSets>()),
           number_axis("block_size", "threads per block (host: always 32)", 32, 1024,
                       {"32", "128", "256", "1024"}),
           number_axis("warps_per_sm",
                       "resident warps per SM (host: dependent chains that a core interleaves)", 1,
                       64, {"1", "2", "4", "8", "16", "32", "48", "64"})},
      .data_axes = 2,  // layout, residency
      .quantities = {{"warp_read_cycles",
                      "cycles from the start of a warp's read to its sum; with several warps on an "
                      "SM their mean by Little's law, including the wait for each other"},
                     {"warp_read_cycles_p5", "by the warps' own clocks, 5th percentile over warps"},
                     {"warp_read_cycles_p50", "the same, median over warps"},
                     {"warp_read_cycles_p95", "the same, 95th percentile over warps"},
                     {"warp_read_cycles_slowest",
                      "cycles of the slowest warp by both timers, where one warp is alone"},
                     {"warp_read_time",
                      "warp_read_cycles as time, by the clock measured in the launch"},
                     {"arithmetic_cycles",
                      "the part of a warp-read spent on sums and addresses, not loads"},
                     {"grid_time", "duration of the whole launch, including start-up"},
                     {"useful_bandwidth", "bytes of wanted fields per second, start-up cancelled"},
                     {"reads_per_second", "particles read per second, start-up cancelled"},
                     {"core_clock", "clock of the core during the reads"}},
      .seconds_per_case = 0.06,
      .excludes = excluded};
}

/// `all_cores`: how many the device has.
inline Point point_of(const Params& params, std::uint32_t all_cores) {
  return {.layout = params.at("layout"),
          .fields = params.at("fields"),
          .level = levels.of(params.at("residency")),
          .cores = params.at("cores") == "one" ? 1 : all_cores,
          .warps = number_of<std::uint32_t>(params, "warps_per_sm"),
          .threads = number_of<std::uint32_t>(params, "block_size")};
}

/// Groups that a GPU can hold at this level. Throws Skipped if it has no such level.
inline std::uint32_t groups_at(Level level, const GpuFacts& gpu) {
  constexpr std::uint64_t in_every_l1 = std::uint64_t{32} * 1024;  // of every GPU since Volta
  if (level == Level::l1) return groups_in(in_every_l1);
  // On a chip whose L2 has two partitions, each comes to hold all of the data, so four fifths of
  // one partition. The more groups there are, the less often warps of a GPC meet by chance.
  if (level == Level::l2) return groups_in(gpu.l2_bytes / 5 * 2);
  if (level == Level::l3) throw Skipped{"a GPU has no L3"};
  // Between two visits of a group, 16 times the L2 of an H200 is read.
  const std::uint64_t footprint = std::uint64_t{max_groups} * group_bytes;
  if (gpu.memory_bytes < 4 * footprint) throw Skipped{"less than 4 GiB of device memory"};
  if (gpu.l2_bytes * 4 > footprint) throw Skipped{"L2 is too large for the chain"};
  return groups_in(footprint);
}

/// A shape of about `reads` timed reads and of at most `most` in all, every part a multiple of
/// `unroll`. Throws Skipped when not even the smallest fits.
inline Shape shape_for(double reads, std::uint32_t warmup, std::uint64_t most,
                       std::uint32_t unroll) {
  // One fifth first, four fifths second, and an eighth of the timed part to cool down.
  constexpr std::uint32_t parts = 5;
  const auto of = [&](std::uint32_t first) {
    return Shape{.warmup = warmup,
                 .first = first,
                 .second = (parts - 1) * first,
                 .cooldown = (parts * first / 8 + unroll) / unroll * unroll};
  };
  std::uint32_t first = std::max(1U, static_cast<std::uint32_t>(reads / (parts * unroll))) * unroll;
  while (first > unroll && of(first).total() > most)
    first -= unroll;
  if (of(first).total() > most) {
    throw Skipped{"a launch of at least " + std::to_string(of(first).total()) +
                  " reads would read something twice after " + std::to_string(most)};
  }
  return of(first);
}

/// Start positions on a cycle of `groups` of the warps of the first core, then of the next core:
/// evenly spread, with the warps of one SM, which share an L1, as far from each other as possible.
inline std::vector<std::uint32_t> start_positions(const Point& point, std::uint32_t groups) {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t core = 0; core < point.cores; ++core) {
    for (std::uint32_t warp = 0; warp < point.warps; ++warp) {
      const std::uint64_t rank = std::uint64_t{warp} * point.cores + core;
      positions.push_back(static_cast<std::uint32_t>(rank * groups / point.all_warps()));
    }
  }
  return positions;
}

/// The common description of both backends: rows, timers, lengths, window and facts. The last slope
/// is that of the reads. If a GPU warp is alone, a first slope is that of the kernel without loads,
/// with one warp.
inline Experiment described(const Point& point, const Shape& shape, const ParticleChain& chain,
                            Backend backend) {
  const bool gpu = backend == Backend::cuda;
  double bytes = 0;  // wanted, of a particle
  std::size_t footprint = 0;
  (void)with_layout(point.layout, point.fields, [&]<class L, class Fields>() {
    bytes = static_cast<double>(useful_bytes<Fields>);
    footprint = L::words(chain.particles()) * sizeof(float);
  });
  const bool arithmetic = gpu && point.alone();
  const std::size_t reads = arithmetic ? 1 : 0;
  const auto of_reads = [&](std::function<double(const Seen&)> value) {
    return of_slope(std::move(value), reads);
  };
  const Method own = point.alone() ? Method{By::inside}
                     : gpu         ? Method{"clock64_mean"}
                                   : Method{"tsc_mean"};
  const double particles = point.all_warps() * double{group_size};  // of a read
  // An SM that L1 keeps waiting serves some warps before others: a warp's own clock then leaves out
  // the time in which it is not served at all, and the result depends on the block size. What the
  // SM takes to perform a read with each of its warps does not.
  const bool shared_sm = gpu && !point.alone();
  const Value cycles =
      shared_sm ? of_reads([](const Seen& s) { return s.inside.cells.at(0); }) : cycles_of(reads);
  const Method method = shared_sm ? Method{"clock64_span"} : own;
  Experiment experiment;
  if (arithmetic) {
    experiment.slopes.push_back({.lengths = lengths_of(arithmetic_shape),
                                 .writers = 1,
                                 .window = median_warp(arithmetic_shape, /*alone=*/true)});
    experiment.rows.push_back({"arithmetic_cycles", "cycle", By::inside, cycles_of(0)});
  }
  experiment.slopes.push_back(
      {.lengths = lengths_of(shape), .window = median_warp(shape, point.alone())});
  experiment.rows.insert(
      experiment.rows.end(),
      {{"warp_read_cycles", "cycle", method, cycles},
       {"warp_read_cycles_p5", "cycle", own, of_reads([](const Seen& s) { return s.inside.low; })},
       {"warp_read_cycles_p95", "cycle", own,
        of_reads([](const Seen& s) { return s.inside.high; })},
       {"warp_read_time", "s", method,
        [=](const Sample& s) { return cycles(s) / s.slopes.at(reads).inside.hertz; }},
       grid_time(reads),
       {"useful_bandwidth", "B/s", By::outside, per_second(particles * bytes, reads)},
       {"reads_per_second", "1/s", By::outside, per_second(particles, reads)}});
  if (shared_sm) {
    experiment.rows.push_back({"warp_read_cycles_p50", "cycle", own, cycles_of(reads)});
  }
  if (point.alone()) {
    const Value outside = outside_of(reads);
    const Value slowest = of_reads([](const Seen& s) { return s.inside.slowest; });
    experiment.rows.push_back({"warp_read_cycles_slowest", "cycle", By::inside, slowest});
    experiment.rows.push_back({"warp_read_cycles_slowest", "cycle", By::outside, outside});
    experiment.checks.emplace_back(TimerPair{slowest, By::inside, outside, By::outside});
  } else {
    // Warps overlap, and the outer timer no longer ends with the slowest one.
    experiment.checks.emplace_back(TimersApart{"two methods are compared for single warps"});
  }
  const double warps = point.warps;
  const Value interval = of_reads([warps](const Seen& s) { return s.inside.cells.at(0) / warps; });
  experiment.checks.emplace_back(InFlight{warps, cycles_of(reads), interval});
  experiment.facts = [=](const Experiment&) {
    return Facts{{"footprint_bytes", static_cast<std::int64_t>(footprint)},
                 {"reads_per_warp", std::int64_t{shape.total()}},
                 {"timed_reads_per_warp", std::int64_t{shape.first + shape.second}},
                 {"warps", std::int64_t{point.all_warps()}}};
  };
  return experiment;
}

}  // namespace strata::layout_read
