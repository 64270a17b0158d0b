// Every core works on arrays of its own, with the widest vectors that it has. What is a level is
// decided by how large they are: half of a core's L1 or L2; a quarter of its share of L3, or four
// times its L2 where that is less; four times L3. Loops are plain; what a core keeps in flight is
// its own business.
#include "harness/case/error.hpp"
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/widest.hpp"
#include "harness/measure/engine.hpp"
#include "micro/bandwidth/bandwidth.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

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

VectorCode<std::uint32_t, Job> code_for(Operation operation) {
  return with_value<Operation::read, Operation::write, Operation::copy, Operation::triad,
                    Operation::update>(operation,
                                       []<Operation which>() { return widest<work<which>>(); });
}

/// Words of each array of a core.
std::uint64_t words_for(Level level, Operation operation, std::size_t cores, const CpuFacts& cpu) {
  const std::uint64_t l2_bytes = need(cpu.l2_bytes, "l2_bytes");
  std::uint64_t all = 0;
  if (level == Level::l1) {
    all = need(cpu.l1_bytes, "l1d_bytes") / 2;
  } else if (level == Level::l2) {
    all = l2_bytes / 2;
  } else if (level == Level::l3) {
    all = std::min(need(cpu.l3_bytes, "l3_bytes") / 4 / cores, 4 * l2_bytes);
  } else {
    constexpr std::uint64_t times = 4;
    const std::uint64_t last = cpu.l3_bytes.value_or(l2_bytes);
    if (times * last > need(cpu.memory_bytes, "memory_bytes") / 4) {
      throw Skipped{"too little memory for 4 times the cache"};
    }
    all = times * last / cores;
  }
  const std::uint64_t unit = parts * group_words;  // also a part is whole groups
  const std::uint64_t words = all / sizeof(std::uint32_t) / arrays_of(operation) / unit * unit;
  return std::max(words, unit);
}

/// The arrays of every core, each one after the other on one line of words.
class Arrays {
 public:
  Arrays(Operation operation, std::uint64_t words, HostMachine& machine)
      : operation_{operation},
        words_{words},
        team_{*machine.team()},
        cores_{team_, words * arrays_of(operation),
               [](std::size_t, std::size_t i) { return Line{}.word(i); }} {}

  [[nodiscard]] Job job(std::size_t rank, const Range& range, std::uint32_t salt) const {
    const bool copies = operation_ == Operation::copy || operation_ == Operation::triad;
    const std::uint64_t next = copies ? words_ : 0;
    std::uint32_t* const to = cores_.of(rank) + range.first;
    return {.to = to,
            .from = to + next,
            .other = to + 2 * next,
            .words = range.words,
            .passes = range.passes,
            .salt = salt + static_cast<std::uint32_t>(range.first) * Line{}.slope};
  }

  void verify(const Range& range, std::uint32_t salt, std::span<const Stamp> stamps, Tally& tally) {
    if (operation_ == Operation::read) {
      const std::uint32_t expected = range.passes * Line{}.sum(range.first, range.words);
      for (const Stamp& stamp : stamps)
        tally.one(static_cast<std::uint32_t>(stamp.result) == expected);
      return;
    }
    const Line line =
        written(operation_, words_ * sizeof(std::uint32_t), range.passes, Line{}, salt);
    const Line next = operation_ == Operation::update ? Line{} : poison;
    std::atomic<std::uint64_t> different = 0;
    (void)team_.run([&](std::size_t rank) {
      std::uint64_t mine = 0;
      for (std::uint64_t i = range.first; i < range.first + range.words; ++i) {
        std::uint32_t& word = cores_.of(rank)[i];
        mine += word == line.word(i) ? 0 : 1;
        word = next.word(i);
      }
      different += mine;
    });
    tally.checked += range.words * team_.size();
    tally.different += different;
  }

 private:
  Operation operation_;
  std::uint64_t words_;
  ThreadTeam& team_;
  CoreWords cores_;
};

/// The runs of a case: which part of the arrays they go over, and how often.
class Ranges {
 public:
  Ranges(bool cached, std::uint64_t words, double bytes_of_word)
      : cached_{cached}, words_{words}, bytes_of_word_{bytes_of_word} {}

  [[nodiscard]] Range of(const Length& length) const {
    // Uncached, the short run is one pass over a fifth, far from where the long one begins and
    // ends.
    const std::uint64_t part = words_ / parts;
    if (!cached_ && length.blocks == 1) return {.first = 2 * part, .words = part, .passes = 1};
    return {.first = 0, .words = words_, .passes = length.rounds};
  }
  [[nodiscard]] Length length(std::uint32_t passes, bool brief = false) const {
    Length length{.rounds = passes, .blocks = brief ? 1U : 0U};
    const Range range = of(length);
    length.work = bytes_of_word_ * static_cast<double>(range.words * range.passes);
    return length;
  }

  /// By a trial where the arrays are cached. Short runs are taken several times for a sample.
  [[nodiscard]] Lengths decide(const std::function<Launched(const Length&)>& run,
                               Experiment& experiment) const {
    if (!cached_) return {.brief = length(1, /*brief=*/true), .full = length(1)};
    constexpr std::uint32_t trial = 64;
    const double seconds = run(length(trial)).seconds / trial;
    const auto passes =
        static_cast<std::uint32_t>(std::clamp(timed_seconds / parts / seconds, 1.0, 1e6));
    if (seconds * parts * passes < 4 * timed_seconds) experiment.pairs = many_pairs;
    return {.brief = length(passes), .full = length(parts * passes)};
  }

 private:
  bool cached_;
  std::uint64_t words_;
  double bytes_of_word_;  // moved for each word of an array
};

void run(Session& session) {
  const Level level = levels.of(session.param("level"));
  const Operation operation = operations.of(session.param("operation"));
  const auto cpus = allowed_cpus();
  const std::uint64_t words =
      words_for(level, operation, cpus.size(), cpu_facts(session.device().identity().facts));
  const auto code = code_for(operation);
  HostMachine machine{cpus};
  Arrays arrays{operation, words, machine};
  const Ranges ranges{
      level != Level::dram, words,
      double{sizeof(std::uint32_t)} * (arrays_read(operation) + arrays_written(operation))};

  Experiment experiment = described(cpus.size(), {});
  Slope slope;
  slope.launch = machine.on_every_core([&](std::size_t rank, const Call& call) {
    return std::uint64_t{code.run(arrays.job(rank, ranges.of(call.length), call.salt))};
  });
  slope.verify = [&](const Call& call, std::span<const Stamp> stamps, Tally& tally) {
    arrays.verify(ranges.of(call.length), call.salt, stamps, tally);
  };
  slope.size = [&](const auto& trial) { return ranges.decide(trial, experiment); };
  experiment.slopes = {slope};
  experiment.checked = operation == Operation::read
                           ? "sums of cores against the closed form"
                           : "words that were written, against the closed form";
  experiment.unproved = {.gate = "level", .why = "no hardware counters on the host"};
  experiment.facts = [&](const Experiment&) {
    return Facts{
        {"instructions", std::string{code.instructions}},
        {"footprint_bytes", static_cast<std::int64_t>(words * arrays_of(operation) * cpus.size() *
                                                      sizeof(std::uint32_t))}};
  };
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::bandwidth
