#include "micro/access/layout_read.hpp"

#include "harness/base/error.hpp"
#include "harness/cpu/footprints.hpp"
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/cpu/widest.hpp"
#include "harness/measure/engine.hpp"
#include "harness/model/lanes.hpp"
#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace strata::layout_read {
namespace {

std::optional<std::string> excluded(const Params& params, Backend backend) {
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
double span_of_a_core(const Launched& launched) {
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

/// The warps' own cycles of a read in the timed parts of the long launch: median, 5th and 95th
/// percentile. The outer timer is compared with the whole launch of the slowest warp. A cell holds
/// the cycles in which an SM performs one read with each of its warps.
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
            inside.cells = {(span_of_a_core(full) - span_of_a_core(brief)) /
                            (full.length.work - brief.length.work)};
            return inside;
          }};
}

/// Hits are not counted while the clock runs. But two warps of an SM that read the same groups must
/// have had some, and their start positions show whether they did.
auto l1_hits_seen(const Walks& walks, std::uint32_t reads) {
  return [&walks, reads](std::span<const Stamp> stamps) -> std::optional<std::string> {
    std::map<std::uint32_t, std::vector<std::uint32_t>> on;
    for (const Stamp& stamp : stamps)
      on[stamp.core].push_back(stamp.tag);
    for (const auto& [sm, starts] : on) {
      const std::uint32_t groups = walks.ring_of(starts.front()).groups();
      std::vector<std::uint32_t> positions;
      for (const std::uint32_t start : starts)
        positions.push_back(walks.positions.at(start));
      const std::uint32_t least = nearest(std::move(positions), groups);
      if (least >= reads) continue;
      return fmt::format(
          "two warps of an SM started {} groups apart and read {}: some of it came from L1", least,
          reads);
    }
    return std::nullopt;
  };
}

}  // namespace

Benchmark declare() {
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

Shape shape_on_gpu(const Point& point, const GpuFacts& gpu, std::uint32_t groups) {
  // Roughly, in cycles: what a read costs a lone warp, and each warp of a full SM.
  const bool l1 = point.level == Level::l1;
  const bool l2 = point.level == Level::l2;
  // Share of loads that met another one on an H100: at most 0.8 % with 32 warps, 1.2 % with 48,
  // 1.5 % with 64.
  constexpr int merges = 9;  // since this major compute capability L2 merges them into one
  constexpr std::uint32_t most_warps = 32;
  if (l2 && point.cores > 1 && gpu.major >= merges && point.warps > most_warps) {
    throw Skipped{
        fmt::format("with {} warps on every SM, loads meet in L2 by chance, and it answers over 1 "
                    "% of them as one",
                    point.warps)};
  }
  // Of a launch: hundreds of steps of the coarsest timer. In L1 a read may take a third of this.
  const double timed_seconds = l1 ? 1.2e-3 : 4e-4;
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
    throw Skipped{fmt::format("a launch of at least {} reads would read something twice after {}",
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

std::vector<RingStart> Walks::starts() const {
  std::vector<RingStart> all;
  for (std::size_t start = 0; start < positions.size(); ++start) {
    const Ring& ring = ring_of(start);
    all.push_back({.group = ring.group_at(positions[start]), .shift = ring.shift()});
  }
  return all;
}

std::vector<Ring> rings_of(const Point& point, const ParticleChain& chain) {
  if (point.level != Level::l2 || point.cores == 1) return {chain.ring()};
  std::vector<Ring> rings;
  for (std::uint32_t shift = 0; rings.size() < point.cores; ++shift) {
    if (shift > spare_groups(point.level, point.cores)) {
      throw std::logic_error{"layout_read: too few rings of half the groups"};
    }
    // Two in three random orders have a ring of half the groups.
    if (Ring ring = chain.shifted(shift); 2 * ring.groups() >= chain.groups()) {
      rings.push_back(std::move(ring));
    }
  }
  return rings;
}

Walks walks_of(const Point& point, std::vector<Ring> rings) {
  Walks walks{.rings = std::move(rings), .positions = {}, .warps = point.warps};
  if (walks.rings.size() == 1) {
    walks.positions = start_positions(point, walks.groups());
    return walks;
  }
  for (const Ring& ring : walks.rings) {
    for (std::uint64_t warp = 0; warp < point.warps; ++warp)
      walks.positions.push_back(static_cast<std::uint32_t>(warp * ring.groups() / point.warps));
  }
  return walks;
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

Experiment describe_on_gpu(const Point& point, const GpuFacts& gpu, const Shape& shape,
                           const ParticleChain& chain, const Walks& walks) {
  Experiment experiment = describe(point, shape, chain, Backend::cuda);
  Slope& reads = experiment.slopes.back();
  if (point.level == Level::l2) reads.start = Start::in_l2;
  if (point.level == Level::dram) reads.start = Start::evicted;
  // L1 does not survive from one kernel to the next: the warm-up fills it.
  reads.writers = point.all_warps();
  reads.verify = [shape, &walks](const Call& call, std::span<const Stamp> stamps, Tally& tally) {
    const std::uint32_t total = shape.at(call.length).total();
    for (const Stamp& stamp : stamps) {
      const auto right = [&] {
        return walks.ring_of(stamp.tag).checksum(walks.positions[stamp.tag], total);
      };
      tally.one(stamp.tag < walks.positions.size() && stamp.result == right());
    }
  };
  experiment.checked = "warp sums against the host's";
  experiment.checks.emplace_back(
      Dependence{"sums of walks, whose groups follow from the last", {}});
  experiment.placement = Placement{.cores = point.cores, .per_core = static_cast<int>(point.warps)};
  experiment.unproved = {.gate = "level"};
  if (point.level != Level::l1) {
    experiment.unproved.refuted = l1_hits_seen(walks, shape.total());
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
      .reads = static_cast<double>(warp_reads),
      .warps_per_sm = double{1} * point.warps};
  return experiment;
}

// On a CPU a "warp" is a group of 32 particles that one core reads at once, and `warps_per_sm` is
// the number of independent chains that the core interleaves: one shows the latency, more show how
// much of it the core hides. Levels are the CPU's own.
namespace {

constexpr std::uint32_t unroll = 1;
constexpr double timed_seconds = 2e-4;  // of a launch: shorter than the time between two interrupts
constexpr int pairs = 11;               // of launches in a sample: most meet no interrupt

using Lanes = std::array<std::uint32_t, group_size>;

using Vector [[gnu::vector_size(16)]] = float;

/// The horizontal sums of four vectors, one in each element: a 4 by 4 transpose with additions on
/// the way.
[[gnu::always_inline]] inline Vector sums_of(Vector a, Vector b, Vector c, Vector d) {
  const Vector ab =
      __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Vector cd =
      __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/// A whole read of four words, with 0 for those that are not wanted: one load and a mask.
template <class L, class Fields, std::size_t r>
[[gnu::always_inline]] inline Vector read_vector(const float* at) {
  using Mask [[gnu::vector_size(16)]] = std::int32_t;
  constexpr auto keep = [](std::size_t w) {
    const int f = L::reads[r].fields[w];
    return f != padding && Fields::wants(f) ? -1 : 0;
  };
  constexpr Mask mask{keep(0), keep(1), keep(2), keep(3)};
  Mask bits;
  std::memcpy(&bits, at, sizeof bits);
  return std::bit_cast<Vector>(bits & mask);
}

/// Adds read r of 32 particles, `stride` words apart starting at `at`, to the sums of their lanes.
/// Vector reads are added up four particles at a time; single words of neighbouring lanes are
/// independent, so the compiler vectorizes them where the stride allows it.
template <class L, class Fields, std::size_t r, std::size_t stride>
[[gnu::always_inline]] inline void add_read(const float* at, std::array<float, group_size>& sum) {
  constexpr Issue issue = issued<L, Fields>(r);
  if constexpr (issue.words == 4) {
    for (std::uint32_t lane = 0; lane < group_size; lane += 4) {
      const auto read = [&](std::uint32_t i) {
        return read_vector<L, Fields, r>(at + (lane + i) * stride);
      };
      const Vector four = sums_of(read(0), read(1), read(2), read(3));
      for (std::uint32_t i = 0; i < 4; ++i)
        sum[lane + i] += four[i];
    }
  } else if constexpr (issue.words > 0) {
    for (std::uint32_t lane = 0; lane < group_size; ++lane) {
      float one = 0;
      for (unsigned w = 0; w < L::reads[r].words; ++w) {
        const int f = L::reads[r].fields[w];
        if (f != padding && Fields::wants(f)) one += at[lane * stride + w];
      }
      sum[lane] += one;
    }
  }
}

/// Reads group `group` and returns the one to read next.
template <class L, class Fields>
[[gnu::always_inline]] inline std::uint32_t read_group(const float* words, std::uint32_t group,
                                                       std::uint32_t n, Lanes& sums) {
  std::array<float, group_size> sum{};
  [&]<std::size_t... r>(std::index_sequence<r...>) {
    // Inside a group every layout is affine in the lane; a test proves it.
    (add_read<L, Fields, r,
              L::template first_word<std::size_t>(r, 1, group_size) -
                  L::template first_word<std::size_t>(r, 0, group_size)>(
         words + L::template first_word<std::size_t>(r, std::size_t{group} * group_size, n), sum),
     ...);
  }
  (std::make_index_sequence<L::reads.size()>{});

  // Every lane names the same next group; the mean depends on all of them.
  std::uint32_t next = 0;
  for (std::uint32_t lane = 0; lane < group_size; ++lane) {
    const auto bits = std::bit_cast<std::uint32_t>(sum[lane] + mantissa_bias);
    sums[lane] += bits;
    next += next_group(bits);
  }
  return next / group_size;
}

struct Job {
  const float* words = nullptr;
  std::uint32_t particles = 0;
  std::vector<std::uint32_t>& chains;
  std::uint32_t reads = 0;
  Lanes& sums;
};
/// `reads` rounds over all chains: each chain reads one group a round.
template <class L, class Fields>
[[gnu::always_inline]] inline void read_chains(const Job& job) {
  const auto [words, particles, chains, reads, sums] = job;  // copies: stores might alias the job
  for (std::uint32_t r = 0; r < reads; ++r) {
    for (auto& group : chains)
      group = read_group<L, Fields>(words, group, particles, sums);
  }
}
using Code = VectorCode<void, Job>;

std::uint32_t groups_at(HostLevel level, const CpuFacts& cpu) {
  const Footprint footprint = common_footprint(level, cpu);
  const std::uint64_t least = footprint.least / 7 * 8;  // packed layouts take 28 of 32 bytes
  const std::uint64_t most = std::min(footprint.most, std::uint64_t{max_groups} * group_bytes);
  if (least > most) throw Skipped{"no chain fits that exceeds the caches before the level"};
  return groups_in(std::clamp(footprint.best, least, most));
}

/// One core's chains, on cache lines of their own.
struct alignas(128) Core {
  std::vector<std::uint32_t> positions;  ///< where each chain is on the cycle
  std::vector<std::uint32_t> groups;
  Lanes sums{};
};

/// The particles of one layout at one level.
struct Particles {
  Particles(const std::string& layout, std::uint32_t groups)
      : chain{groups, seed}, words{words_of(chain, layout)} {}
  ParticleChain chain;
  std::vector<float> words;
};

void run(Session& session) {
  std::vector<int> cpus = allowed_cpus();
  const Point point = point_of(session, static_cast<std::uint32_t>(cpus.size()));
  cpus.resize(point.cores);
  Code code;
  (void)with_layout(point.layout, point.fields,
                    [&]<class L, class Fields>() { code = widest<read_chains<L, Fields>>(); });
  const CpuFacts cpu = cpu_facts(session.device().identity().facts);
  const std::uint32_t groups =
      groups_at(host_levels.of(session.param("residency")), point.cores == 1 ? alone(cpu) : cpu);
  const Particles& data =
      session.cache().keep<Particles>(point.data_key() + '/' + std::to_string(groups), [&] {
        return Particles{point.layout, groups};
      });
  const ParticleChain& chain = data.chain;
  HostMachine machine{cpus};
  std::vector<Core> cores(point.cores);
  const auto positions = start_positions(point, chain.groups());
  for (std::size_t i = 0; i < positions.size(); ++i)
    cores[i / point.warps].positions.push_back(positions[i]);

  constexpr std::uint32_t warmup = 8;
  // The approximate cost of a read of one chain; only the length of a launch depends on it.
  constexpr std::array<double, 4> ticks_of_level{100, 150, 350, 1200};
  const double ticks = ticks_of_level.at(static_cast<std::size_t>(point.level));
  const Shape shape = shape_for(reads_for(timed_seconds, tsc_hertz(), ticks, ticks, point.warps),
                                warmup, std::uint64_t{1} << 20U, unroll);
  Experiment experiment = describe(point, shape, chain, Backend::host);
  experiment.pairs = pairs;
  experiment.checked = "core sums against the reference";
  experiment.unproved = {.gate = "level", .why = "no hardware counters on the host"};
  Slope& slope = experiment.slopes.back();
  slope.prepare = [&](const Call&) {
    for (Core& core : cores) {
      core.sums.fill(0);
      core.groups.clear();
      for (const std::uint32_t position : core.positions)
        core.groups.push_back(chain.ring().group_at(position));
    }
  };
  const auto particles = static_cast<std::uint32_t>(chain.particles());
  slope.launch = machine.on_every_core([&](std::size_t rank, const Call& call, Stamp& stamp) {
    Core& core = cores[rank];
    const Shape now = shape.at(call.length);
    std::size_t mark = 2;
    for (const std::uint32_t reads : {now.warmup, now.first, now.second, now.cooldown}) {
      code.run({data.words.data(), particles, core.groups, reads, core.sums});
      stamp.cycles[mark++] = tsc_now();
    }
    std::uint32_t sum = 0;
    for (std::uint32_t lane = 0; lane < group_size; ++lane)
      sum += lane_weight(lane) * core.sums[lane];
    return std::uint64_t{sum};
  });
  // A launch continues where the last one ended, so the data are already in their level.
  slope.verify = results_are([&](const Call& call, std::size_t rank) {
    const std::uint32_t reads = shape.at(call.length).total();
    std::uint32_t sum = 0;
    for (std::uint32_t& position : cores[rank].positions) {
      sum += chain.ring().checksum(position, reads);
      position = static_cast<std::uint32_t>((std::uint64_t{position} + reads) % chain.groups());
    }
    return std::uint64_t{sum};
  });
  // One whole lap first: what fits into the level stays there.
  slope.size = [&, lengths = slope.lengths](const auto& launch) {
    (void)launch(Length{.rounds = chain.groups() / point.warps + 1, .work = 1});
    return lengths;
  };
  session.fact("instructions", std::string{code.instructions});
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::layout_read
