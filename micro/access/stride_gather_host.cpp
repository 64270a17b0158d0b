// The host backend of stride_gather: stride_gather.hpp says what it asks.
//
// Every core reads words of an array of its own, one at a time, as plain code does that does not
// know where the next one lies. Each run goes on where the last one ended, and a pass of a stride
// of more than a line begins a line further on than the last: whatever the stride, a word's line
// comes round again only when the whole array was visited. What is a level is decided by how large
// the array is: half of a core's L2; a quarter of its share of L3, or four times its L2 where that
// is less; two to four times L3. A word of a CPU never lies across lines, so nothing is misaligned.
//
// Inside the time of a gather, beside the reads: the eight operations that compute each place.
#include "harness/case/error.hpp"
#include "harness/cpu/reported.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/access/stride_gather.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace strata::stride_gather {
namespace {

constexpr double timed_seconds = 2e-4;  // of a long run: shorter than the time between interrupts
constexpr int pairs = 11;  // of runs in a sample, of which the median counts: most meet none
constexpr std::uint64_t parts = 5;  // the short run has one of these
constexpr std::uint64_t line_words = 16;
constexpr std::uint64_t accumulators = 4;

/// Some words of an array, `step` apart, added up.
std::uint32_t sum_of_strided(const std::uint32_t* from, std::uint64_t step, std::uint64_t count) {
  std::array<std::uint32_t, accumulators> sums{};
  std::uint64_t i = 0;
  for (; i + accumulators <= count; i += accumulators) {
    for (std::uint64_t a = 0; a < accumulators; ++a)
      sums[a] += from[(i + a) * step];
  }
  for (; i < count; ++i)
    sums[0] += from[i * step];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// The words of which the places follow from `first` and the numbers after it.
std::uint32_t sum_of_gathered(const std::uint32_t* data, std::uint32_t first, std::uint64_t count,
                              const Scatter& scatter) {
  std::array<std::uint32_t, accumulators> sums{};
  std::uint64_t i = 0;
  for (; i + accumulators <= count; i += accumulators) {
    for (std::uint64_t a = 0; a < accumulators; ++a) {
      const auto n = first + static_cast<std::uint32_t>(i + a);
      sums[a] += data[scattered(n, scatter.mask, scatter.shift)];
    }
  }
  for (; i < count; ++i) {
    const auto n = first + static_cast<std::uint32_t>(i);
    sums[0] += data[scattered(n, scatter.mask, scatter.shift)];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// A stretch of ordinals that one loop reads.
struct Stretch {
  std::uint64_t first = 0;  ///< element (strided), or number whose place is looked up (gather)
  std::uint64_t count = 0;
};

/// Which elements of an array of `words` words, a power of two, come one after the other for ever.
struct Order {
  Shape shape;
  std::uint64_t words = 0;

  /// Elements of a pass.
  [[nodiscard]] std::uint64_t pass() const { return words / shape.stride; }
  /// Calls visit with the stretches that `count` ordinals from `cursor` on are made of.
  template <class Visit>
  void for_each_stretch(std::uint64_t cursor, std::uint64_t count, Visit&& visit) const {
    const std::uint64_t phases = std::max<std::uint64_t>(1, shape.stride / line_words);
    while (count > 0) {
      const std::uint64_t inside = cursor % pass();
      const std::uint64_t taken = std::min(count, pass() - inside);
      const std::uint64_t phase = cursor / pass() % phases;
      visit(Stretch{.first = inside * shape.stride + phase * line_words, .count = taken});
      cursor += taken;
      count -= taken;
    }
  }
  [[nodiscard]] std::uint32_t expected(std::uint64_t cursor, std::uint64_t count) const {
    std::uint32_t sum = 0;
    for_each_stretch(cursor, count, [&](const Stretch& stretch) {
      if (shape.pattern != Pattern::gather) {
        sum += static_cast<std::uint32_t>(stretch.count) * word_at(stretch.first) +
               slope * shape.stride * triangle(stretch.count);
        return;
      }
      const auto first = static_cast<std::uint32_t>(stretch.first);
      for (std::uint32_t i = 0; i < stretch.count; ++i)
        sum += word_at(element_of(shape, first + i));
    });
    return sum;
  }
  [[nodiscard]] std::uint32_t read(const std::uint32_t* data, std::uint64_t cursor,
                                   std::uint64_t count) const {
    std::uint32_t sum = 0;
    const Scatter scatter = scatter_of(shape.locality);
    for_each_stretch(cursor, count, [&](const Stretch& stretch) {
      sum += shape.pattern == Pattern::gather
                 ? sum_of_gathered(data, static_cast<std::uint32_t>(stretch.first), stretch.count,
                                   scatter)
                 : sum_of_strided(data + stretch.first, shape.stride, stretch.count);
    });
    return sum;
  }
};

/// Words of the array of a core: a power of two of them.
std::uint64_t words_for(const std::string& level, std::size_t cores, const Facts& facts) {
  const auto bytes = [&](const char* name) { return reported_bytes(facts, name); };
  constexpr std::uint64_t word = sizeof(std::uint32_t);
  if (level == "l2") return std::bit_floor(bytes("l2_bytes") / 2 / word);
  if (level == "l3") {
    return std::bit_floor(std::min(bytes("l3_bytes") / 4 / cores, 4 * bytes("l2_bytes")) / word);
  }
  constexpr std::uint64_t times = 2;  // at least: less than twice as much, being a power of two
  const std::uint64_t last = bytes(facts.contains("l3_bytes") ? "l3_bytes" : "l2_bytes");
  const std::uint64_t words = std::bit_ceil(times * last / cores / word);
  if (words * word * cores > bytes("memory_bytes") / 4) {
    throw Skipped{"too little memory for twice the cache"};
  }
  return words;
}

/// The arrays of all cores, which the cases of a level share.
class Arrays {
 public:
  Arrays(const std::vector<int>& cpus, std::uint64_t words)
      : team_{std::make_unique<ThreadTeam>(cpus)}, memory_(team_->size()), data_(team_->size()) {
    // Each core touches its array first: it is near it.
    (void)team_->run([&](std::size_t rank) {
      std::vector<std::uint32_t>& memory = memory_[rank];
      memory.resize(words + line_words);
      void* at = memory.data();
      std::size_t room = memory.size() * sizeof(std::uint32_t);
      constexpr std::size_t line = line_words * sizeof(std::uint32_t);
      data_[rank] = static_cast<std::uint32_t*>(std::align(line, room - line, at, room));
      for (std::uint64_t i = 0; i < words; ++i)
        data_[rank][i] = word_at(i);
    });
  }
  [[nodiscard]] ThreadTeam& team() { return *team_; }
  [[nodiscard]] const std::uint32_t* data(std::size_t rank) const { return data_[rank]; }
  /// Where the next case begins, as a share of a pass: far from where others began, whose words may
  /// still be near.
  [[nodiscard]] double next_start() {
    constexpr double golden = 0.6180339887498949;
    start_ += golden;
    start_ -= std::floor(start_);
    return start_;
  }

 private:
  std::unique_ptr<ThreadTeam> team_;
  std::vector<std::vector<std::uint32_t>> memory_;
  std::vector<std::uint32_t*> data_;
  double start_ = 0;
};

/// The subject of the protocol: pairs of runs, short and long, on every core.
class Reads {
 public:
  Reads(const Order& order, Arrays& arrays)
      : order_{order},
        arrays_{arrays},
        cores_(arrays.team().size()),
        cursor_{
            static_cast<std::uint64_t>(arrays.next_start() * static_cast<double>(order.pass()))} {}

  /// Decides how long the runs are, by a first one.
  void shape() {
    constexpr std::uint64_t trial = 20000;
    (void)run(trial);
    const double seconds = run(trial) / static_cast<double>(trial);
    constexpr double least = 1000;
    count_ = parts * static_cast<std::uint64_t>(
                         std::max(least, timed_seconds / seconds / static_cast<double>(parts)));
  }

  void prepare() {}  // a run goes on where the last one ended

  Observation observe() {
    std::vector<Observation> several;
    several.reserve(pairs);
    for (int i = 0; i < pairs; ++i)
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
  /// What one core saw, on cache lines of its own.
  struct alignas(128) Core {
    std::uint32_t sum = 0;
    std::uint64_t ticks = 0;
    double seconds = 0;
  };

  Observation observe_pair() {
    const double brief_seconds = run(count_ / parts);
    const double brief_ticks = slowest();
    const double full_seconds = run(count_);
    const std::uint64_t long_less_short = count_ - count_ / parts;
    const auto moved =
        static_cast<double>(long_less_short * sizeof(std::uint32_t));  // by each core
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

  double run(std::uint64_t count) {
    const double seconds = arrays_.team().run([&](std::size_t rank) {
      Core& core = cores_[rank];
      const double began = monotonic_raw_seconds();
      const std::uint64_t start = tsc_now();
      core.sum = order_.read(arrays_.data(rank), cursor_, count);
      core.ticks = tsc_now() - start;
      core.seconds = monotonic_raw_seconds() - began;
    });
    const std::uint32_t expected = order_.expected(cursor_, count);
    for (const Core& core : cores_) {
      ++checked_;
      if (core.sum != expected) ++different_;
    }
    cursor_ += count;
    return seconds;
  }

  Order order_;
  Arrays& arrays_;
  std::vector<Core> cores_;
  std::uint64_t cursor_;
  std::uint64_t count_ = 0;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  const auto cpus = allowed_cpus();
  const Order order{.shape = shape_of(session),
                    .words = words_for(session.param("level"), cpus.size(), facts)};
  if (order.shape.pattern == Pattern::gather && order.shape.locality > order.words) {
    throw Skipped{"no window of that locality lies in an array of that level"};
  }
  auto& arrays = session.cache().keep<Arrays>("stride_gather/" + session.param("level"), [&] {
    return Arrays{cpus, order.words};
  });
  Reads reads{order, arrays};
  reads.shape();
  const auto seen = collect(reads, session.plan());
  report(session, seen,
         {.per_core_unit = "B/tsc_cycle",
          .inside = "tsc_slope",
          .outside = "monotonic_slope",
          .whole = "monotonic",
          .clock = "tsc_over_monotonic"},
         /*moved_over_used=*/0);
  session.add(result_gate(reads.checked(), reads.different(), "sums of cores against the host's"));
  session.add(level_unverified("no hardware counters on the host"));
  session.fact("footprint_bytes",
               static_cast<std::int64_t>(order.words * cpus.size() * sizeof(std::uint32_t)));
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::stride_gather
