// Every core works on its own arrays, with its widest vectors. The arrays' size decides the level
// (own_footprint). Loops are plain; the core decides how much it keeps in flight.
#include "harness/cpu/footprints.hpp"
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
constexpr std::uint32_t parts = 5;  // the short run has one of these
constexpr std::uint64_t group_words = 64;

/// The part of a core's arrays that a run covers. Where nothing is cached, the short run is one
/// pass over a fifth, far from where the long one begins and ends; its one block marks it.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t words = 0;
};
Range range_of(const Length& length, std::uint64_t words) {
  const std::uint64_t part = words / parts;
  return length.blocks == 1 ? Range{.first = 2 * part, .words = part} : Range{.words = words};
}

using Vector16 [[gnu::vector_size(16)]] = std::uint32_t;
using Vector32 [[gnu::vector_size(32)]] = std::uint32_t;
using Vector64 [[gnu::vector_size(64)]] = std::uint32_t;

struct Job {
  std::uint32_t* to = nullptr;
  const std::uint32_t* from = nullptr;
  const std::uint32_t* other = nullptr;
  std::uint64_t words = 0;
  std::uint32_t passes = 0;
  std::uint32_t salt = 0;
};

/// Does the job and returns the sum of what was read where nothing is written. Works on local
/// vectors only, so that no vector type crosses a function. A `Vector` must fit into one register
/// of the CPU; otherwise GCC splits it through the stack.
template <Operation operation, class Vector>
[[gnu::always_inline]] inline std::uint32_t
work(  // NOLINT(readability-function-cognitive-complexity)
    const Job& job) {
  constexpr std::uint64_t vector_words = sizeof(Vector) / sizeof(std::uint32_t);
  constexpr std::uint64_t unroll = group_words / vector_words;
  constexpr std::uint64_t chains = std::min<std::uint64_t>(unroll, 8);  // half of the registers
  std::array<Vector, chains> sums{};
  Vector lane{};
  for (std::uint32_t i = 0; i < vector_words; ++i)
    lane[i] = i;
  for (std::uint32_t pass = 0; pass < job.passes; ++pass) {
    Vector value = lane * Line{}.slope + job.salt;
    for (std::uint64_t i = 0; i < job.words; i += group_words) {
#pragma GCC unroll 16
      for (std::uint64_t u = 0; u < unroll; ++u) {
        const std::uint64_t at = i + u * vector_words;
        Vector one{};
        if constexpr (operation == Operation::write) {
          one = value;
          value += static_cast<std::uint32_t>(vector_words) * Line{}.slope;
        } else {
          std::memcpy(&one, job.from + at, sizeof one);
        }
        if constexpr (operation == Operation::read) sums[u % chains] += one;
        if constexpr (operation == Operation::update) one += update_step;
        if constexpr (operation == Operation::triad) {
          Vector two{};
          std::memcpy(&two, job.other + at, sizeof two);
          one += triad_factor * two;
        }
        if constexpr (operation != Operation::read) std::memcpy(job.to + at, &one, sizeof one);
      }
    }
    // What was written may be read and what was read may change, so the compiler can drop no pass.
    asm volatile("" : : "r"(job.from), "r"(job.to) : "memory");
  }
  Vector all{};
  for (const Vector& one : sums)
    all += one;
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < vector_words; ++i)
    sum += all[i];
  return sum;
}

/// Words of each array of a core whose arrays together have `bytes`.
std::uint64_t words_for(std::uint64_t bytes, Operation operation) {
  const std::uint64_t unit = parts * group_words;  // a part consists of whole groups, too
  const std::uint64_t words = bytes / sizeof(std::uint32_t) / arrays_of(operation) / unit * unit;
  return std::max(words, unit);
}

/// Found by a trial where the arrays are cached. Short runs are repeated for a sample. `work`:
/// bytes that a core moves in a pass.
Lengths decide_lengths(const std::function<Launched(const Length&)>& run, bool cached, double work,
                       int& pairs) {
  if (!cached) {
    return {.brief = {.rounds = 1, .blocks = 1, .work = work / parts},
            .full = {.rounds = 1, .work = work}};
  }
  constexpr std::uint32_t trial = 64;
  const double seconds = run({.rounds = trial}).seconds / trial;
  const auto passes =
      static_cast<std::uint32_t>(std::clamp(timed_seconds / parts / seconds, 1.0, 1e6));
  if (seconds * parts * passes < 4 * timed_seconds) pairs = many_pairs;
  return fifth_and_whole(parts * passes, work);
}

void run(Session& session) {
  const Level level = levels.of(session.param("level"));
  const Operation operation = operations.of(session.param("operation"));
  const auto cpus = allowed_cpus();
  const CpuFacts cpu = cpu_facts(session.device().identity().facts);
  const std::uint64_t words =
      words_for(own_footprint(host_levels.of(session.param("level")), cpu).best, operation);
  const Plan plan{.shape = {.level = level, .operation = operation},
                  .array_bytes = words * sizeof(std::uint32_t)};
  const auto code = with_value<Operation::read, Operation::write, Operation::copy, Operation::triad,
                               Operation::update>(operation, []<Operation which>() {
    return widest<work<which, Vector64>, work<which, Vector32>, work<which, Vector16>>();
  });
  HostMachine machine{cpus};
  ThreadTeam& team = *machine.team();
  // The arrays of every core, one after the other, with words on one line.
  const CoreWords cores{team, words * arrays_of(operation),
                        [](std::size_t, std::size_t i) { return Line{}.word(i); }};

  Experiment experiment = bandwidth_of(cpus.size(), "bandwidth");
  Slope slope;
  slope.launch = machine.on_every_core([&](std::size_t rank, const Call& call) {
    const Range range = range_of(call.length, words);
    const std::uint64_t next = arrays_of(operation) > 1 ? words : 0;
    std::uint32_t* const to = cores.of(rank) + range.first;
    return std::uint64_t{
        code.run({.to = to,
                  .from = to + next,
                  .other = to + 2 * next,
                  .words = range.words,
                  .passes = call.length.rounds,
                  .salt = call.salt + static_cast<std::uint32_t>(range.first) * Line{}.slope})};
  });
  if (operation == Operation::read) {
    experiment.checked = "core sums against the closed form";
    slope.verify = results_are([&](const Call& call) {
      const Range range = range_of(call.length, words);
      const std::uint32_t sum = call.length.rounds * Line{}.sum(range.first, range.words);
      return std::uint64_t{sum};
    });
  } else {
    experiment.checked = "written words against the closed form";
    slope.verify = [&](const Call& call, std::span<const Stamp>, Tally& tally) {
      const Range range = range_of(call.length, words);
      const Line line = written(plan, call.length, call.salt);
      const Line next = operation == Operation::update ? Line{} : poison;
      std::atomic<std::uint64_t> different = 0;
      (void)team.run([&](std::size_t rank) {
        std::uint64_t wrong_words = 0;
        for (std::uint64_t i = range.first; i < range.first + range.words; ++i) {
          std::uint32_t& word = cores.of(rank)[i];
          wrong_words += word == line.word(i) ? 0 : 1;
          word = next.word(i);
        }
        different += wrong_words;
      });
      tally.checked += range.words * team.size();
      tally.different += different;
    };
  }
  slope.size = [&](const auto& trial) {
    const auto moved = static_cast<double>(plan.array_bytes *
                                           (arrays_read(operation) + arrays_written(operation)));
    return decide_lengths(trial, level != Level::dram, moved, experiment.pairs);
  };
  experiment.slopes = {slope};
  experiment.unproved = {.gate = "level", .why = "no hardware counters on the host"};
  experiment.facts = [&](const Experiment&) {
    return Facts{{"instructions", std::string{code.instructions}},
                 {"footprint_bytes", static_cast<std::int64_t>(
                                         plan.array_bytes * arrays_of(operation) * cpus.size())}};
  };
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::bandwidth
