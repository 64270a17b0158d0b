// On a CPU every core reads words of its own array, one at a time. Each run continues where the
// last one ended, and with a stride of more than a line each pass begins one line further on than
// the last: a line is read again only after the whole array was visited. The array's size decides
// the level (own_footprint). A word never crosses a line on a CPU: nothing is misaligned.
#include "harness/cpu/footprints.hpp"
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "micro/access/stride_gather.hpp"

#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>

namespace strata::stride_gather {
namespace {

constexpr double timed_seconds = 2e-4;  // of a long run: shorter than the time between interrupts
constexpr int pairs = 11;  // of runs in a sample, of which the median counts: most meet none
constexpr std::uint64_t line_words = 16;
constexpr std::uint64_t accumulators = 4;

/// Adds up word(0) to word(count - 1), several at a time.
template <class Word>
[[gnu::always_inline]] inline std::uint32_t sum_of(std::uint64_t count, const Word& word) {
  std::array<std::uint32_t, accumulators> sums{};
  std::uint64_t i = 0;
  for (; i + accumulators <= count; i += accumulators) {
    for (std::uint64_t a = 0; a < accumulators; ++a)
      sums[a] += word(i + a);
  }
  for (; i < count; ++i)
    sums[0] += word(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// The endless order in which elements of an array of `words` words, a power of two, are read.
struct Order {
  Shape shape;
  std::uint64_t words = 0;

  /// Elements of a pass.
  [[nodiscard]] std::uint64_t pass() const { return words / shape.stride; }
  /// The sum of `of(first, count)` over the contiguous pieces of the `count` ordinals from `cursor`
  /// on; `first` is an element (strided) or a number whose place is looked up (gather).
  template <class Of>
  [[nodiscard]] std::uint32_t over_stretches(std::uint64_t cursor, std::uint64_t count,
                                             const Of& of) const {
    const std::uint64_t phases = std::max<std::uint64_t>(1, shape.stride / line_words);
    std::uint32_t sum = 0;
    while (count > 0) {
      const std::uint64_t inside = cursor % pass();
      const std::uint64_t taken = std::min(count, pass() - inside);
      const std::uint64_t phase = cursor / pass() % phases;
      sum += of(inside * shape.stride + phase * line_words, taken);
      cursor += taken;
      count -= taken;
    }
    return sum;
  }
  [[nodiscard]] std::uint32_t expected(std::uint64_t cursor, std::uint64_t count) const {
    return over_stretches(cursor, count, [&](std::uint64_t first, std::uint64_t taken) {
      if (shape.pattern != Pattern::gather) {
        return LinearWords{.slope = array_words.slope * shape.stride,
                           .start = array_words.word(first)}
            .sum(0, taken);
      }
      std::uint32_t sum = 0;
      for (std::uint64_t n = first; n < first + taken; ++n)
        sum += array_words.word(element_of(shape, static_cast<std::uint32_t>(n)));
      return sum;
    });
  }
  [[nodiscard]] std::uint32_t read(const std::uint32_t* data, std::uint64_t cursor,
                                   std::uint64_t count) const {
    return over_stretches(cursor, count, [&](std::uint64_t first, std::uint64_t taken) {
      if (shape.pattern != Pattern::gather) {
        return sum_of(taken, [from = data + first, step = std::uint64_t{shape.stride}](
                                 std::uint64_t i) { return from[i * step]; });
      }
      return sum_of(taken, [data, start = static_cast<std::uint32_t>(first),
                            scatter = scatter_of(shape.locality)](std::uint64_t i) {
        const auto n = start + static_cast<std::uint32_t>(i);
        return data[scattered(n, scatter.mask, scatter.shift)];
      });
    });
  }
};

/// The arrays of all cores, shared by the cases of a level.
struct Arrays {
  CoreWords words;
  double start = 0;  ///< of the last case, as a share of a pass
};

/// The short run takes a fifth of the time that a sample should.
Lengths decide_lengths(const std::function<Launched(const Length&)>& run) {
  constexpr std::uint32_t trial = 20000;
  constexpr double parts = 5;
  constexpr double least = 1000;
  (void)run({.rounds = trial});
  const double seconds = run({.rounds = trial}).seconds / trial;
  const auto brief = static_cast<std::uint32_t>(std::max(least, timed_seconds / seconds / parts));
  return fifth_and_whole(5 * brief, sizeof(std::uint32_t));
}

void run(Session& session) {
  const Shape shape = shape_of(session.params());
  const auto cpus = allowed_cpus();
  const CpuFacts cpu = cpu_facts(session.device().identity().facts);
  const Footprint footprint = own_footprint(host_levels.of(session.param("level")), cpu);
  const Order order{.shape = shape, .words = power_of_two_in(footprint) / sizeof(std::uint32_t)};
  if (shape.pattern == Pattern::gather && shape.locality > order.words) {
    throw Skipped{"no window of that locality fits in an array of that level"};
  }
  HostMachine machine{cpus};
  auto& arrays = session.cache().keep<Arrays>("stride_gather/" + session.param("level"), [&] {
    return Arrays{CoreWords{*machine.team(), order.words,
                            [](std::size_t, std::size_t i) { return array_words.word(i); }}};
  });
  // Each case begins far from where others did, whose words may still be cached.
  constexpr double golden = 0.6180339887498949;
  arrays.start = std::fmod(arrays.start + golden, 1);
  std::uint64_t begin = 0;
  auto end = static_cast<std::uint64_t>(arrays.start * static_cast<double>(order.pass()));

  Experiment experiment = bandwidth_of(cpus.size(), "useful_bandwidth");
  Slope slope;
  slope.prepare = [&](const Call& call) {
    begin = end;
    end += call.length.rounds;
  };
  slope.launch = machine.on_every_core([&](std::size_t rank, const Call& call) {
    return std::uint64_t{order.read(arrays.words.of(rank), begin, call.length.rounds)};
  });
  slope.verify =
      results_are([&](const Call& call) { return order.expected(begin, call.length.rounds); });
  slope.size = decide_lengths;
  experiment.slopes = {slope};
  experiment.pairs = pairs;
  experiment.checked = "core sums against the host's";
  experiment.unproved = {.gate = "level", .why = "no hardware counters on the host"};
  experiment.facts = [bytes =
                          order.words * cpus.size() * sizeof(std::uint32_t)](const Experiment&) {
    return Facts{{"footprint_bytes", static_cast<std::int64_t>(bytes)}};
  };
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::stride_gather
