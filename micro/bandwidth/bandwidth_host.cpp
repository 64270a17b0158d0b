// The host backend of bandwidth: bandwidth.hpp says what it asks.
//
// Every core works on arrays of its own, with the widest vectors that it has. What is a level is
// decided by how large they are: half of a core's L1 or L2; a quarter of its share of L3, or four
// times its L2 where that is less; four times L3. Loops are plain; what a core keeps in flight is
// its own business.
#include "harness/case/error.hpp"
#include "harness/cpu/reported.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/bandwidth/bandwidth.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
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

namespace strata::bandwidth {
namespace {

constexpr double timed_seconds = 2e-4;  // of a long run: shorter than the time between interrupts
constexpr int many_pairs = 11;  // of runs in a sample, of which the median counts: most meet none
constexpr std::uint32_t parts = 5;          // the short run has one of these
constexpr std::uint64_t vector_words = 16;  // 64 bytes
constexpr std::uint64_t unroll = 4;
constexpr std::uint64_t group_words = vector_words * unroll;

/// The part of a core's arrays that a run goes over, and how often.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t words = 0;
  std::uint32_t passes = 0;
};

struct Job {
  std::uint32_t* to = nullptr;
  const std::uint32_t* from = nullptr;
  const std::uint32_t* other = nullptr;
  std::uint64_t words = 0;
  std::uint32_t passes = 0;
  std::uint32_t salt = 0;
};

/// Does the job and returns the sum of what was read where nothing is written. All on local
/// vectors, so that no vector type crosses a function.
template <Operation operation>
[[gnu::always_inline]] inline std::uint32_t
work(  // NOLINT(readability-function-cognitive-complexity)
    const Job& job) {
  using Vector [[gnu::vector_size(vector_words * sizeof(std::uint32_t))]] = std::uint32_t;
  std::array<Vector, unroll> sums{};
  Vector lane{};
  for (std::uint32_t i = 0; i < vector_words; ++i)
    lane[i] = i;
  for (std::uint32_t pass = 0; pass < job.passes; ++pass) {
    Vector value = lane * Line{}.slope + job.salt;
    for (std::uint64_t i = 0; i < job.words; i += group_words) {
#pragma GCC unroll 4
      for (std::uint64_t u = 0; u < unroll; ++u) {
        const std::uint64_t at = i + u * vector_words;
        Vector one{};
        if constexpr (operation == Operation::write) {
          one = value;
          value += static_cast<std::uint32_t>(vector_words) * Line{}.slope;
        } else {
          std::memcpy(&one, job.from + at, sizeof one);
        }
        if constexpr (operation == Operation::read) sums[u] += one;
        if constexpr (operation == Operation::update) one += update_step;
        if constexpr (operation == Operation::triad) {
          Vector two{};
          std::memcpy(&two, job.other + at, sizeof two);
          one += triad_factor * two;
        }
        if constexpr (operation != Operation::read) std::memcpy(job.to + at, &one, sizeof one);
      }
    }
    // What was written may be read and what was read may change: no pass can be left out.
    asm volatile("" : : "r"(job.from), "r"(job.to) : "memory");
  }
  const Vector all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < vector_words; ++i)
    sum += all[i];
  return sum;
}

using Work = std::uint32_t (*)(const Job&);

template <Operation operation>
std::uint32_t work_baseline(const Job& job) {
  return work<operation>(job);
}
#if STRATA_X86
template <Operation operation>
STRATA_TARGET_AVX2 std::uint32_t work_avx2(const Job& job) {
  return work<operation>(job);
}
template <Operation operation>
STRATA_TARGET_AVX512 std::uint32_t work_avx512(const Job& job) {
  return work<operation>(job);
}
#endif

struct Code {
  Work work = nullptr;
  const char* instructions = "baseline";
};

template <Operation operation>
Code widest() {
#if STRATA_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return {work_avx512<operation>, "avx512"};
  }
  if (__builtin_cpu_supports("avx2")) return {work_avx2<operation>, "avx2"};
#endif
  return {work_baseline<operation>, "baseline"};
}

Code code_for(Operation operation) {
  switch (operation) {
    case Operation::read:
      return widest<Operation::read>();
    case Operation::write:
      return widest<Operation::write>();
    case Operation::copy:
      return widest<Operation::copy>();
    case Operation::triad:
      return widest<Operation::triad>();
    case Operation::update:
      break;
  }
  return widest<Operation::update>();
}

/// Words of each array of a core.
std::uint64_t words_for(const std::string& level, Operation operation, std::size_t cores,
                        const Facts& facts) {
  const auto bytes = [&](const char* name) { return reported_bytes(facts, name); };
  std::uint64_t all = 0;
  if (level == "l1") {
    all = bytes("l1d_bytes") / 2;
  } else if (level == "l2") {
    all = bytes("l2_bytes") / 2;
  } else if (level == "l3") {
    all = std::min(bytes("l3_bytes") / 4 / cores, 4 * bytes("l2_bytes"));
  } else {
    constexpr std::uint64_t times = 4;
    const std::uint64_t last = bytes(facts.contains("l3_bytes") ? "l3_bytes" : "l2_bytes");
    if (times * last > bytes("memory_bytes") / 4) {
      throw Skipped{"too little memory for 4 times the cache"};
    }
    all = times * last / cores;
  }
  const std::uint64_t unit = parts * group_words;  // also a part is whole groups
  const std::uint64_t words = all / sizeof(std::uint32_t) / arrays_of(operation) / unit * unit;
  return std::max(words, unit);
}

/// The subject of the protocol: a pair of runs, short and long, on every core.
class Streams {
 public:
  Streams(Work work, Operation operation, bool cached, std::uint64_t words, ThreadTeam& team)
      : work_{work}, words_{words}, cached_{cached}, team_{team}, cores_(team.size()) {
    plan_.shape.operation = operation;
    plan_.shape.level = Level::dram;
    plan_.array_bytes = words * sizeof(std::uint32_t);
    // Each core touches its arrays first: they are near it.
    (void)team_.run([&](std::size_t rank) {
      auto& memory = cores_[rank].memory;
      memory.resize(words_ * arrays_of(operation) + vector_words);
      cores_[rank].start = aligned(memory);
      for (std::uint64_t i = 0; i < words_ * arrays_of(operation); ++i)
        cores_[rank].start[i] = Line{}.word(i);
    });
  }

  /// Decides how long the runs are, by a first one.
  void shape() {
    if (!cached_) {
      // One pass over a fifth, far from where the long run begins and ends, and over everything.
      const std::uint64_t part = words_ / parts;
      brief_ = {.first = 2 * part, .words = part, .passes = 1};
      full_ = {.first = 0, .words = words_, .passes = 1};
      return;
    }
    constexpr std::uint32_t trial = 64;
    full_ = {.first = 0, .words = words_, .passes = trial};
    const double seconds = run(full_) / trial;
    const double passes = std::clamp(timed_seconds / parts / seconds, 1.0, 1e6);
    brief_ = {.first = 0, .words = words_, .passes = static_cast<std::uint32_t>(passes)};
    full_.passes = parts * brief_.passes;
    if (seconds * full_.passes < 4 * timed_seconds) pairs_ = many_pairs;
  }

  void prepare() {}  // a run starts from what the last one left where it was

  Observation observe() {
    std::vector<Observation> several;
    several.reserve(static_cast<std::size_t>(pairs_));
    for (int i = 0; i < pairs_; ++i)
      several.push_back(observe_pair());
    return median_record(several, &Observation::inside, &Observation::outside,
                         &Observation::bytes_per_second, &Observation::grid_seconds,
                         &Observation::core_hertz);
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }
  [[nodiscard]] std::size_t checked() const { return checked_; }
  [[nodiscard]] std::size_t different() const { return different_; }

 private:
  /// One core's arrays and what it saw, on cache lines of their own.
  struct alignas(128) Core {
    std::vector<std::uint32_t> memory;
    std::uint32_t* start = nullptr;
    std::uint32_t sum = 0;
    std::uint64_t ticks = 0;
    double seconds = 0;
    std::uint64_t different = 0;
  };

  static std::uint32_t* aligned(std::vector<std::uint32_t>& memory) {
    void* at = memory.data();
    std::size_t room = memory.size() * sizeof(std::uint32_t);
    constexpr std::size_t bytes = vector_words * sizeof(std::uint32_t);
    return static_cast<std::uint32_t*>(std::align(bytes, room - bytes, at, room));
  }

  [[nodiscard]] std::uint64_t bytes(const Range& range) const {
    const Operation operation = plan_.shape.operation;
    return range.words * range.passes * sizeof(std::uint32_t) *
           (arrays_read(operation) + arrays_written(operation));
  }

  Observation observe_pair() {
    const double brief_seconds = run(brief_);
    const double brief_ticks = slowest();
    const double full_seconds = run(full_);
    const auto moved = static_cast<double>(bytes(full_) - bytes(brief_));  // by each core
    const double seconds = full_seconds - brief_seconds;
    const Core& first = cores_.front();
    return {.inside = moved / (slowest() - brief_ticks),
            .outside = moved / (seconds * tsc_hertz()),
            .bytes_per_second = moved * static_cast<double>(cores_.size()) / seconds,
            .grid_seconds = full_seconds,
            .core_hertz = static_cast<double>(first.ticks) / first.seconds};
  }

  [[nodiscard]] double slowest() const {
    std::uint64_t most = 0;
    for (const Core& core : cores_)
      most = std::max(most, core.ticks);
    return static_cast<double>(most);
  }

  double run(const Range& range) {
    salt_ += 0x9E3779B9U;  // another one each time: nothing of the last run can pass for this
    const Operation operation = plan_.shape.operation;
    const std::uint64_t second =
        operation == Operation::copy || operation == Operation::triad ? 1 : 0;
    const double seconds = team_.run([&](std::size_t rank) {
      Core& core = cores_[rank];
      std::uint32_t* const to = core.start + range.first;
      const Job job{.to = to,
                    .from = to + second * words_,
                    .other = to + 2 * second * words_,
                    .words = range.words,
                    .passes = range.passes,
                    .salt = salt_ + static_cast<std::uint32_t>(range.first) * Line{}.slope};
      const double began = monotonic_raw_seconds();
      const std::uint64_t start = tsc_now();
      core.sum = work_(job);
      core.ticks = tsc_now() - start;
      core.seconds = monotonic_raw_seconds() - began;
    });
    check(range);
    return seconds;
  }

  void check(const Range& range) {
    if (plan_.shape.operation == Operation::read) {
      for (const Core& core : cores_) {
        ++checked_;
        if (core.sum != range.passes * Line{}.sum(range.first, range.words)) ++different_;
      }
      return;
    }
    plan_.passes = 1;
    const Line line = written(plan_, {.blocks = 1, .rounds = range.passes}, Line{}, salt_);
    const bool in_place = plan_.shape.operation == Operation::update;
    const Line next = in_place ? Line{} : poison;
    (void)team_.run([&](std::size_t rank) {
      Core& core = cores_[rank];
      core.different = 0;
      for (std::uint64_t i = range.first; i < range.first + range.words; ++i) {
        if (core.start[i] != line.word(i)) ++core.different;
        core.start[i] = next.word(i);
      }
    });
    for (const Core& core : cores_) {
      checked_ += range.words;
      different_ += core.different;
    }
  }

  Work work_;
  Plan plan_;  // what the model of the result needs of it
  std::uint64_t words_;
  bool cached_;
  int pairs_ = 1;
  ThreadTeam& team_;
  std::vector<Core> cores_;
  Range brief_;
  Range full_;
  std::uint32_t salt_ = 0x51ED270BU;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  const std::string& level = session.param("level");
  const Operation operation = operation_from(session.param("operation")).value();
  const auto cpus = allowed_cpus();
  const std::uint64_t words = words_for(level, operation, cpus.size(), facts);
  const Code code = code_for(operation);
  ThreadTeam team{cpus};
  Streams streams{code.work, operation, level != "dram", words, team};
  streams.shape();
  const auto seen = collect(streams, session.plan());
  report(session, seen,
         {.per_core_unit = "B/tsc_cycle",
          .inside = "tsc_slope",
          .outside = "monotonic_slope",
          .whole = "monotonic",
          .clock = "tsc_over_monotonic"},
         /*limit=*/0, /*limit_is_of_a_cycle=*/false);
  session.add(result_gate(streams.checked(), streams.different(),
                          operation == Operation::read
                              ? "sums of cores against the closed form"
                              : "words that were written, against the closed form"));
  session.add(level_unverified("no hardware counters on the host"));
  session.fact("instructions", std::string{code.instructions});
  session.fact("footprint_bytes", static_cast<std::int64_t>(words * arrays_of(operation) *
                                                            cpus.size() * sizeof(std::uint32_t)));
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::bandwidth
