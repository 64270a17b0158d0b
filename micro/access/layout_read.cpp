#include "micro/access/layout_read.hpp"

#include "harness/case/error.hpp"
#include "harness/model/lanes.hpp"
#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace strata::layout_read {
namespace {

std::optional<std::string> excluded(const Params& params, Backend backend) {
  const auto warps = number_of<long long>(params, "warps_per_sm");
  const auto block = number_of<long long>(params, "block_size");
  if (block % 32 != 0 || warps * 32 % block != 0) {
    return "warps_per_sm is not a whole number of blocks";
  }
  if (backend == Backend::host) {
    if (block != 32) return "a CPU core has no blocks: it is measured at block_size 32";
    return std::nullopt;
  }
  if (params.at("residency") == "l3") return "a GPU has no third level of cache";
  const long long blocks = warps * 32 / block;
  if (blocks > 32) return "no GPU holds more than 32 blocks on an SM";
  if (params.at("cores") == "one" && blocks != 1) return "only one block can be kept on one SM";
  return std::nullopt;
}

/// Of the warps' own cycles of a read, in the timed parts of the long launch, the median and the
/// 5th and 95th percentile. The outer timer is held against the slowest warp's whole launches.
Window median_warp(const Shape& shape, bool alone) {
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
            return inside;
          }};
}

/// Nobody counts hits while the clock runs, but two warps of an SM that read the same groups surely
/// had some: where they started tells.
auto l1_hits_seen(std::vector<std::uint32_t> positions, std::uint32_t groups, std::uint32_t reads) {
  return [positions = std::move(positions), groups,
          reads](std::span<const Stamp> stamps) -> std::optional<std::string> {
    std::map<std::uint32_t, std::vector<std::uint32_t>> on;
    for (const Stamp& stamp : stamps)
      on[stamp.core].push_back(positions.at(stamp.tag));
    std::uint32_t least = groups;
    for (const auto& [sm, starts] : on)
      least = std::min(least, nearest(starts, groups));
    if (least >= reads) return std::nullopt;
    return fmt::format(
        "two warps of an SM started {} groups apart and read {}: some of it came from L1", least,
        reads);
  };
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "layout_read",
      .question = "What does each layout of a particle cost to read, from each level?",
      .axes = {listed_axis("layout", "how the seven floats of a particle lie in memory",
                           names_of<Layouts>()),
               levels.axis("residency", "the level that holds the particles (l3: CPU only)"),
               {.name = "cores",
                .meaning = "one or all SMs (cuda), CPU cores (host)",
                .choices = {"one", "all"},
                .defaults = {"all"}},
               listed_axis("fields", "all seven fields, or position and mass",
                           names_of<FieldSets>()),
               number_axis("block_size", "threads in a block (host: always 32)", 32, 1024,
                           {"32", "128", "256", "1024"}),
               number_axis("warps_per_sm",
                           "warps resident on each SM (host: dependent chains that a core "
                           "interleaves)",
                           1, 64, {"1", "2", "4", "8", "16", "32", "48", "64"})},
      .data_axes = 2,  // layout, residency
      .quantities = {{"warp_read_cycles",
                      "cycles from the start of a warp's read to its sum, median of warps"},
                     {"warp_read_cycles_p5", "the same, 5th percentile of warps"},
                     {"warp_read_cycles_p95", "the same, 95th percentile of warps"},
                     {"warp_read_cycles_slowest",
                      "of the slowest warp by both timers, where one warp is alone"},
                     {"warp_read_time", "warp_read_cycles by the clock at that moment"},
                     {"arithmetic_cycles",
                      "the part of a warp-read that is sum and address, not load"},
                     {"grid_time", "the whole walk of all warps, start-up included"},
                     {"useful_bandwidth", "bytes of wanted fields a second, start-up cancelled"},
                     {"reads_per_second", "particles read a second, start-up cancelled"},
                     {"core_clock", "clock of the core while it read"}},
      .seconds_per_case = 0.06,
      .excludes = excluded};
}

Point point_of(const Session& session, std::uint32_t all_cores) {
  return {.layout = session.param("layout"),
          .fields = session.param("fields"),
          .level = levels.of(session.param("residency")),
          .cores = session.param("cores") == "one" ? 1 : all_cores,
          .warps = static_cast<std::uint32_t>(session.integer("warps_per_sm")),
          .threads = static_cast<std::uint32_t>(session.integer("block_size"))};
}

std::vector<float> words_of(const ParticleChain& chain, const std::string& layout) {
  std::vector<float> words;
  (void)with_layout(layout, AllFields::name, [&]<class L, class>() {
    words.resize(L::words(chain.particles()));
    chain.fill<L>(words);
  });
  return words;
}

std::uint32_t groups_at(Level level, const GpuFacts& gpu) {
  constexpr std::uint64_t in_every_l1 = std::uint64_t{32} * 1024;  // of every GPU since Volta
  if (level == Level::l1) return groups_in(in_every_l1);
  // A quarter of L2: far inside one partition of a chip with two, and far outside every L1.
  if (level == Level::l2) return groups_in(gpu.l2_bytes / 4);
  if (level == Level::l3) throw Skipped{"a GPU has no third level of cache"};
  // Between two visits of a group, 16 times the L2 of an H200 is read.
  const std::uint64_t footprint = std::uint64_t{max_groups} * group_bytes;
  if (gpu.memory_bytes < 4 * footprint) throw Skipped{"less than 4 GiB of device memory"};
  if (gpu.l2_bytes * 4 > footprint) throw Skipped{"the L2 is too large for the chain"};
  return groups_in(footprint);
}

Shape shape_on_gpu(const Point& point, const GpuFacts& gpu, std::uint32_t groups) {
  constexpr double timed_seconds = 4e-4;  // of a launch: hundreds of steps of the coarsest timer
  // Roughly, in cycles: what a read costs a warp alone, and each warp where the SM is full.
  const bool l1 = point.level == Level::l1;
  const bool l2 = point.level == Level::l2;
  const double latency = l1 ? 110 : l2 ? 400 : 900;
  const double each_warp = l1 ? 12 : l2 ? 18 : 55;
  const double reads =
      reads_for(timed_seconds, gpu.core_clock_peak.value(), latency, each_warp, point.warps);
  if (l1) {
    return shape_for(reads, 2 * group_size, std::uint64_t{1} << 20U, unroll_on_gpu);
  }
  const std::uint32_t sharers = l2 ? point.warps : point.all_warps();
  return shape_for(reads, 2 * unroll_on_gpu, groups / sharers, unroll_on_gpu);
}

Shape shape_for(double reads, std::uint32_t warmup, std::uint64_t most, std::uint32_t unroll) {
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
    throw Skipped{fmt::format("a launch of {} reads at least would read something twice after {}",
                              of(first).total(), most)};
  }
  return of(first);
}

double cycles_of_a_read(const Stamp& stamp, const Shape& shape, bool alone) {
  const auto first = static_cast<double>(stamp.cycles[3] - stamp.cycles[2]);
  const auto second = static_cast<double>(stamp.cycles[4] - stamp.cycles[3]);
  return alone ? (second - first) / (shape.second - shape.first)
               : (first + second) / (shape.first + shape.second);
}

std::vector<std::uint32_t> start_positions(const Point& point, std::uint32_t groups) {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t core = 0; core < point.cores; ++core) {
    for (std::uint32_t warp = 0; warp < point.warps; ++warp) {
      const std::uint64_t rank = std::uint64_t{warp} * point.cores + core;
      positions.push_back(static_cast<std::uint32_t>(rank * groups / point.all_warps()));
    }
  }
  return positions;
}

std::uint32_t nearest(std::vector<std::uint32_t> positions, std::uint32_t groups) {
  if (positions.size() < 2) return groups;
  std::ranges::sort(positions);
  std::uint32_t least = positions.front() + groups - positions.back();
  for (std::size_t i = 1; i < positions.size(); ++i) {
    least = std::min(least, positions[i] - positions[i - 1]);
  }
  return least;
}

Experiment describe(const Point& point, const Shape& shape, const ParticleChain& chain,
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
      {{"warp_read_cycles", "cycle", own, cycles_of(reads)},
       {"warp_read_cycles_p5", "cycle", own, of_reads([](const Seen& s) { return s.inside.low; })},
       {"warp_read_cycles_p95", "cycle", own,
        of_reads([](const Seen& s) { return s.inside.high; })},
       {"warp_read_time", "s", own,
        of_reads([](const Seen& s) { return s.inside.cycles / s.inside.hertz; })},
       grid_time(reads),
       {"useful_bandwidth", "B/s", By::outside, per_second(particles * bytes, reads)},
       {"reads_per_second", "1/s", By::outside, per_second(particles, reads)}});
  const Value outside = outside_of(reads);
  if (point.alone()) {
    const Value slowest = of_reads([](const Seen& s) { return s.inside.slowest; });
    experiment.rows.push_back({"warp_read_cycles_slowest", "cycle", By::inside, slowest});
    experiment.rows.push_back({"warp_read_cycles_slowest", "cycle", By::outside, outside});
    experiment.timers = {{slowest, By::inside, outside, By::outside}};
  } else {
    // Warps overlap, and the slowest one is no longer what the outer timer ends with.
    experiment.timers_apart = "two methods are compared for single warps";
  }
  experiment.watch = {cycles_of(reads), outside};
  experiment.facts = [=](const Experiment&) {
    return Facts{{"footprint_bytes", static_cast<std::int64_t>(footprint)},
                 {"reads_per_warp", std::int64_t{shape.total()}},
                 {"timed_reads_per_warp", std::int64_t{shape.first + shape.second}},
                 {"warps", std::int64_t{point.all_warps()}}};
  };
  return experiment;
}

Experiment describe_on_gpu(const Point& point, const GpuFacts& gpu, const Shape& shape,
                           const ParticleChain& chain) {
  const std::uint32_t groups = chain.groups();
  const auto positions = start_positions(point, groups);
  Experiment experiment = describe(point, shape, chain, Backend::cuda);
  Slope& reads = experiment.slopes.back();
  if (point.level == Level::l2) reads.start = Start::in_l2;
  if (point.level == Level::dram) reads.start = Start::evicted;
  // L1 does not survive from one kernel to the next: the warm-up fills it.
  reads.writers = point.all_warps();
  reads.verify = [shape, positions, &chain](const Call& call, std::span<const Stamp> stamps,
                                            Tally& tally) {
    const std::uint32_t total = shape.at(call.length).total();
    for (const Stamp& stamp : stamps) {
      tally.one(stamp.tag < positions.size() &&
                stamp.result == chain.checksum(positions[stamp.tag], total));
    }
  };
  experiment.checked = "warp sums against the host's";
  experiment.placement = Placement{.cores = point.cores, .per_core = static_cast<int>(point.warps)};
  experiment.unproved = {.gate = "level"};
  if (point.level != Level::l1) {
    experiment.unproved.refuted = l1_hits_seen(positions, groups, shape.total());
  }
  const std::uint64_t warp_reads = std::uint64_t{point.all_warps()} * shape.total();
  SequenceTraffic of_a_read;
  (void)with_layout(point.layout, point.fields, [&]<class L, class Fields>() {
    of_a_read = warp_read_traffic<L, Fields>(generation_of(gpu.major, gpu.minor));
  });
  experiment.counts = CountPlan{
      .length = reads.lengths.full,
      .slope = experiment.slopes.size() - 1,
      .loads = LoadPrediction{.requests = warp_reads * of_a_read.total.requests,
                              .sectors = warp_reads * of_a_read.total.sectors,
                              .repeated_sectors = warp_reads * of_a_read.repeated_sectors},
      .served_by = served_by(levels.name_of(point.level)),
      .reads = static_cast<double>(warp_reads)};
  return experiment;
}

}  // namespace strata::layout_read
