// On a CPU a "warp" is a group of 32 particles that one core reads at once, and `warps_per_sm` is
// the number of independent chains that the core interleaves: one shows the latency, more show how
// much of it the core hides. Levels are the CPU's own.
#include "harness/cpu/footprints.hpp"
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/cpu/widest.hpp"
#include "harness/measure/engine.hpp"
#include "micro/access/layout_read.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>

namespace strata::layout_read {
namespace {

/// The particles of a chain, stored as `layout`.
std::vector<float> words_of(const ParticleChain& chain, const std::string& layout) {
  std::vector<float> words;
  (void)with_layout(layout, AllFields::name, [&]<class L, class>() {
    words.resize(L::words(chain.particles()));
    chain.fill<L>(words);
  });
  return words;
}

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
  const Point point = point_of(session.params(), static_cast<std::uint32_t>(cpus.size()));
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
  Experiment experiment = described(point, shape, chain, Backend::host);
  experiment.pairs = pairs;
  experiment.checked = "core sums against the reference";
  experiment.checks.emplace_back(Dependence{"sums of walks", {}});
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
