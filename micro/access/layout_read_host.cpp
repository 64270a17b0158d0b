// The host backend of layout_read: see layout_read.hpp for the question and the method.
//
// A "warp" is a group of 32 particles that one core reads at once, and `warps_per_sm` is the number
// of independent chains that the core interleaves: one chain shows the latency, more of them how
// much latency the core hides. Cycles are those of the time-stamp counter, which ticks at one rate
// whatever the core's own clock does. Levels are the CPU's own, with sizes as the system reports
// them.
#include "harness/case/error.hpp"
#include "harness/cpu/pin.hpp"
#include "harness/cpu/reported.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/model/layout.hpp"
#include "micro/access/layout_read.hpp"
#include "micro/pattern/particle_chain.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

// The same source compiled for wider vectors, chosen when the program runs.
#if defined(__x86_64__)
#define STRATA_TARGET_AVX2 __attribute__((target("avx2")))
#define STRATA_TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))
#define STRATA_X86 1
#else
#define STRATA_X86 0
#endif

namespace strata::layout_read {
namespace {

constexpr std::uint32_t unroll = 1;
constexpr double timed_seconds = 2e-4;  // of one walk: shorter than the time between two interrupts
constexpr int pairs =
    11;  // of walks in a sample, of which the median counts: most meet no interrupt

using Lanes = std::array<std::uint32_t, group_size>;

using Vector [[gnu::vector_size(16)]] = float;

/// The horizontal sums of four vectors, one in each element: a 4 by 4 transpose, added up on the
/// way.
[[gnu::always_inline]] inline Vector sums_of(Vector a, Vector b, Vector c, Vector d) {
  const Vector ab =
      __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Vector cd =
      __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/// A whole read of four words, with 0 where nothing is wanted: one load and a mask.
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

/// Adds read r of 32 particles, `stride` words apart from `at` on, to the sums of their lanes.
/// Vector reads are added up four particles at a time; of single words, neighbouring lanes are
/// independent, so the compiler makes vectors of them where the stride allows.
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

  // Every lane names the same next group; their mean depends on all of them.
  std::uint32_t next = 0;
  for (std::uint32_t lane = 0; lane < group_size; ++lane) {
    const auto bits = std::bit_cast<std::uint32_t>(sum[lane] + mantissa_bias);
    sums[lane] += bits;
    next += next_group(bits);
  }
  return next / group_size;
}

/// `reads` rounds over all chains: each chain reads one group a round.
template <class L, class Fields>
[[gnu::always_inline]] inline void walk_chains(const float* words, std::uint32_t n,
                                               std::vector<std::uint32_t>& chains,
                                               std::uint32_t reads, Lanes& sums) {
  for (std::uint32_t r = 0; r < reads; ++r) {
    for (auto& group : chains)
      group = read_group<L, Fields>(words, group, n, sums);
  }
}

/// What a read of one chain costs, roughly, in ticks. Only the length of a walk hangs on it.
double ticks_of(const std::string& residency) {
  if (residency == "l1") return 100;
  if (residency == "l2") return 150;
  return residency == "l3" ? 350 : 1200;
}

using Walk = void (*)(const float*, std::uint32_t, std::vector<std::uint32_t>&, std::uint32_t,
                      Lanes&);

template <class L, class Fields>
void walk_baseline(const float* words, std::uint32_t n, std::vector<std::uint32_t>& chains,
                   std::uint32_t reads, Lanes& sums) {
  walk_chains<L, Fields>(words, n, chains, reads, sums);
}
#if STRATA_X86
template <class L, class Fields>
STRATA_TARGET_AVX2 void walk_avx2(const float* words, std::uint32_t n,
                                  std::vector<std::uint32_t>& chains, std::uint32_t reads,
                                  Lanes& sums) {
  walk_chains<L, Fields>(words, n, chains, reads, sums);
}
template <class L, class Fields>
STRATA_TARGET_AVX512 void walk_avx512(const float* words, std::uint32_t n,
                                      std::vector<std::uint32_t>& chains, std::uint32_t reads,
                                      Lanes& sums) {
  walk_chains<L, Fields>(words, n, chains, reads, sums);
}
#endif

struct Code {
  Walk walk = nullptr;
  const char* instructions = "baseline";
};

template <class L, class Fields>
Code widest() {
#if STRATA_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return {walk_avx512<L, Fields>, "avx512"};
  }
  if (__builtin_cpu_supports("avx2")) return {walk_avx2<L, Fields>, "avx2"};
#endif
  return {walk_baseline<L, Fields>, "baseline"};
}

/// One layout at one level: the particles and what reading them must give.
struct DataSet {
  ParticleChain chain;
  std::vector<float> words;
  std::map<std::string, ExpectedSums, std::less<>> expected;  // by field set
};

std::uint32_t groups_for(const std::string& residency, const Facts& facts) {
  const auto bytes = [&](const char* name) { return reported_bytes(facts, name); };
  if (residency == "l1") return groups_in(bytes("l1d_bytes") / 2);
  if (residency == "l2") return groups_in(bytes("l2_bytes") / 2);
  if (residency == "l3") return groups_in(bytes("l3_bytes") / 4);
  // Eight times the last level, or what the chain can hold: when a walk comes round, nothing of its
  // last visit is left.
  const std::uint64_t last = bytes(facts.contains("l3_bytes") ? "l3_bytes" : "l2_bytes");
  const std::uint64_t footprint = std::min(8 * last, std::uint64_t{max_groups} * group_bytes);
  if (footprint < 3 * last) throw Skipped{"the last-level cache is too large for the chain"};
  if (footprint > bytes("memory_bytes") / 4)
    throw Skipped{"too little memory for 8 times the cache"};
  return groups_in(footprint);
}

DataSet make_data(const std::string& layout, const std::string& residency, const Facts& facts) {
  DataSet data{.chain = ParticleChain{groups_for(residency, facts), /*seed=*/2009},
               .words = {},
               .expected = {}};
  (void)with_layout(layout, AllFields::name, [&]<class L, class Fields>() {
    data.words.resize(L::words(data.chain.particles()));
    data.chain.fill<L>(data.words);
    [&]<class... Fs>(std::tuple<Fs...>*) {
      (data.expected.emplace(std::string{Fs::name},
                             ExpectedSums::of<L, Fs>(data.chain, data.words)),
       ...);
    }(static_cast<FieldSets*>(nullptr));
  });
  return data;
}

/// The subject of the protocol: a pair of walks, short and long, on every core that takes part.
class Walks {
 public:
  Walks(Walk walk, const DataSet& data, const ExpectedSums& expected, ThreadTeam& team,
        std::uint32_t chains)
      : walk_{walk}, data_{data}, expected_{expected}, team_{team}, chains_{chains} {
    cores_.resize(team.size());
    for (std::uint32_t rank = 0; rank < cores_.size(); ++rank) {
      for (std::uint32_t c = 0; c < chains_; ++c) {
        cores_[rank].positions.push_back(start_position(
            rank, c, static_cast<std::uint32_t>(cores_.size()), chains_, data_.chain.groups()));
      }
    }
  }

  void shape(const Shape& shape) { shape_ = shape; }

  /// Reads the whole cycle once.
  void lap() { (void)run({.warmup = data_.chain.groups() / chains_ + 1}); }

  void prepare() {}  // a walk goes on where the last one ended, so the data are where they were

  Observation observe() {
    std::vector<Observation> several;
    several.reserve(pairs);
    for (int i = 0; i < pairs; ++i)
      several.push_back(observe_pair());
    return medians(several);
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.cycles, seen.cycles_outside};
  }
  [[nodiscard]] std::size_t checked() const { return checked_; }
  [[nodiscard]] std::size_t different() const { return different_; }

 private:
  Observation observe_pair() {
    const double short_seconds = run(shape_.shortened());
    const double short_ticks = slowest();
    const double long_seconds = run(shape_);
    Observation seen;
    std::vector<double> reads;
    for (const auto& core : cores_) {
      reads.push_back(
          cycles_of_a_read({core.ticks[1], core.ticks[2], core.ticks[3]}, shape_, chains_ == 1));
    }
    summarise(reads, seen);
    seen.core_hertz =
        static_cast<double>(cores_[0].ticks[4] - cores_[0].ticks[0]) / cores_[0].seconds;
    seen.grid_seconds = long_seconds;
    seen.cycles_slowest = (slowest() - short_ticks) / slope_reads(shape_);
    const double slope_seconds = (long_seconds - short_seconds) / slope_reads(shape_);
    seen.cycles_outside = slope_seconds * tsc_hertz();
    seen.reads_per_second =
        static_cast<double>(cores_.size() * chains_ * group_size) / slope_seconds;
    return seen;
  }

  /// One core's chains, on cache lines of their own.
  struct alignas(128) Core {
    std::vector<std::uint32_t> positions;  // where each chain is on the cycle
    std::vector<std::uint32_t> groups;
    Lanes sums{};
    std::array<std::uint64_t, 5> ticks{};  // at the start and at the end of each part
    double seconds = 0;                    // from the first stamp to the last
  };

  double run(const Shape& shape) {
    for (auto& core : cores_) {
      core.sums.fill(0);
      core.groups.clear();
      for (const auto p : core.positions)
        core.groups.push_back(data_.chain.group_at(p));
    }
    const std::array<std::uint32_t, 4> reads{shape.warmup, shape.first, shape.second,
                                             shape.cooldown};
    const auto n = static_cast<std::uint32_t>(data_.chain.particles());
    const double seconds = team_.run([&](std::size_t rank) {
      Core& core = cores_[rank];
      const double began = monotonic_raw_seconds();
      core.ticks[0] = tsc_now();
      for (std::size_t part = 0; part < reads.size(); ++part) {
        walk_(data_.words.data(), n, core.groups, reads[part], core.sums);
        core.ticks[part + 1] = tsc_now();
      }
      core.seconds = monotonic_raw_seconds() - began;
    });
    check(shape.total());
    return seconds;
  }

  /// Ticks of the slowest core's whole walk: what the walk takes, seen from inside.
  [[nodiscard]] double slowest() const {
    std::uint64_t most = 0;
    for (const auto& core : cores_)
      most = std::max(most, core.ticks[4] - core.ticks[0]);
    return static_cast<double>(most);
  }

  /// Compares every core's sums with the host's reference and moves its chains on.
  void check(std::uint32_t reads) {
    for (auto& core : cores_) {
      std::uint32_t expected = 0;
      for (auto& p : core.positions) {
        expected += expected_.checksum(p, reads);
        p = static_cast<std::uint32_t>((std::uint64_t{p} + reads) % data_.chain.groups());
      }
      std::uint32_t sum = 0;
      for (std::uint32_t lane = 0; lane < group_size; ++lane) {
        sum += lane_weight(lane) * core.sums[lane];
      }
      ++checked_;
      if (sum != expected) ++different_;
    }
  }

  Walk walk_;
  const DataSet& data_;
  const ExpectedSums& expected_;
  ThreadTeam& team_;
  std::uint32_t chains_;
  std::vector<Core> cores_;
  Shape shape_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  const std::string& layout = session.param("layout");
  const std::string& fields = session.param("fields");
  const std::string& residency = session.param("residency");
  const auto chains = static_cast<std::uint32_t>(session.integer("warps_per_sm"));

  Code code;
  std::size_t bytes = 0;
  (void)with_layout(layout, fields, [&]<class L, class Fields>() {
    code = widest<L, Fields>();
    bytes = useful_bytes<Fields>;
  });
  const auto& data = session.cache().keep<DataSet>("layout_read/" + layout + '/' + residency, [&] {
    return make_data(layout, residency, facts);
  });

  auto cpus = allowed_cpus();
  if (session.param("cores") == "one") cpus.resize(1);
  ThreadTeam team{cpus};
  Walks walks{code.walk, data, data.expected.find(fields)->second, team, chains};

  // One whole lap first: what fits into the level is there from then on, because every walk goes on
  // where the last one ended.
  constexpr std::uint32_t warmup = 8;
  walks.lap();
  const double ticks = ticks_of(residency);
  const Shape shape =
      shape_for(reads_for(timed_seconds, tsc_hertz(), ticks, ticks, static_cast<int>(chains)),
                warmup, std::uint64_t{1} << 20U, unroll);
  walks.shape(shape);

  const auto seen = collect(walks, session.plan());
  report(session, seen,
         {.cycle_unit = "tsc_cycle",
          .inside = chains == 1 ? "tsc_slope" : "tsc_mean",
          .slowest = "tsc_slope",
          .outside = "monotonic_slope",
          .whole = "monotonic",
          .clock = "tsc_over_monotonic"},
         bytes);
  session.add(result_gate(walks.checked(), walks.different(), "core sums against the reference"));
  session.add(level_unverified("no hardware counters on the host"));
  session.fact("instructions", std::string{code.instructions});
  session.fact("footprint_bytes", static_cast<std::int64_t>(data.words.size() * sizeof(float)));
  session.fact("reads_per_warp", static_cast<std::int64_t>(shape.total()));
  session.fact("timed_reads_per_warp", static_cast<std::int64_t>(shape.first + shape.second));
  session.fact("warps", static_cast<std::int64_t>(chains * team.size()));
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::layout_read
