// The host backend of short_words: short_words.hpp says what it asks.
//
// Every core adds matrices of its own, 6 MiB together, which is more than most L2 hold: they lie in
// L3, or beyond it where that is small. Neighbouring elements are added one after the other (row by
// row: coalesced), or elements a row apart (column by column: uncoalesced). A group is what a turn
// of the loop takes. Taken apart it is a loop over elements inside the other one, which makes a
// difference down the columns only: along a row they follow each other anyway.
//
// A row has an odd number of lines, so that a column spreads over all sets of the caches: what is
// timed is the order, and not the conflicts that a power of two would add to it.
//
// A compiler would group neighbours into vectors by itself. What keeps it from that is the barrier
// behind every store: no access to memory crosses it, so that each element, or each group that is
// taken together, is one load of A, one of B (alone or as the operand of the addition) and one
// store, each of its width. So it is by the disassembler, with -O2 and with -O3. Four turns stand
// between two branches; single elements are added in a general register, groups in a vector one.
// Two elements of 8 bits are added in the halves of a general one: an instruction that loads 16
// bits into a vector keeps the rest of it, so that each load would wait for the last addition.
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/timed.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/access/short_words.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace strata::short_words {
namespace {

constexpr std::size_t rows = 1024;
constexpr std::size_t line_bytes = 64;
constexpr std::size_t row_bytes = 33 * line_bytes;
constexpr std::size_t host_bytes = rows * row_bytes;  // of a matrix of a core
constexpr std::size_t host_words = host_bytes / sizeof(std::uint32_t);
constexpr std::uint32_t poison = 0xA5A5A5A5U;

constexpr std::uint32_t brief_passes = 1;
constexpr std::uint32_t full_passes = 3;
constexpr double sample_seconds = 1e-2;
constexpr int least_pairs = 3;  // of runs in a sample, of which the median counts
constexpr int most_pairs = 7;

/// What one access takes: an element, or some of them in a vector.
template <class Element, std::size_t bytes>
struct AccessOf {
  using Type [[gnu::vector_size(bytes), gnu::may_alias]] = Element;
};
template <class Element>
struct AccessOf<Element, sizeof(Element)> {
  using Type [[gnu::may_alias]] = Element;
};

template <>
struct AccessOf<std::uint8_t, 2> {
  using Type [[gnu::may_alias]] = std::uint16_t;
};

template <class Element, std::size_t bytes>
[[gnu::always_inline]] inline void add_one(const std::byte* a, const std::byte* b, std::byte* c) {
  using Access = typename AccessOf<Element, bytes>::Type;
  // By std::memcpy some of the vectors would come through a general register.
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
  const Access one = *reinterpret_cast<const Access*>(a);
  const Access two = *reinterpret_cast<const Access*>(b);
  auto& sum = *reinterpret_cast<Access*>(c);
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  if constexpr (sizeof(Element) == 1 && bytes == 2) {
    using Pair [[gnu::vector_size(2)]] = Element;
    const Pair both = std::bit_cast<Pair>(one) + std::bit_cast<Pair>(two);
    sum = std::bit_cast<Access>(both);
  } else {
    sum = static_cast<Access>(one + two);
  }
  asm volatile("" : : : "memory");
}

/// A group of elements, by accesses of `bytes` each.
template <class Element, std::size_t group, std::size_t bytes>
[[gnu::always_inline]] inline void add_group(const std::byte* a, const std::byte* b, std::byte* c) {
#pragma GCC unroll 16
  for (std::size_t part = 0; part < group; part += bytes)
    add_one<Element, bytes>(a + part, b + part, c + part);
}

using Addition = void (*)(const std::byte*, const std::byte*, std::byte*, std::uint32_t);

template <class Element, std::size_t group, std::size_t bytes>
void by_rows(const std::byte* a, const std::byte* b, std::byte* c, std::uint32_t passes) {
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
#pragma GCC unroll 4
    for (std::size_t at = 0; at < host_bytes; at += group)
      add_group<Element, group, bytes>(a + at, b + at, c + at);
  }
}

template <class Element, std::size_t group, std::size_t bytes>
void by_columns(const std::byte* a, const std::byte* b, std::byte* c, std::uint32_t passes) {
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    for (std::size_t column = 0; column < row_bytes; column += group) {
#pragma GCC unroll 4
      for (std::size_t at = column; at < host_bytes; at += row_bytes)
        add_group<Element, group, bytes>(a + at, b + at, c + at);
    }
  }
}

template <class Element, std::size_t group>
Addition addition_of(const Form& form) {
  if constexpr (group < sizeof(Element)) {
    throw std::logic_error{"no group is less than an element"};
  } else {
    if (form.coalesced) return by_rows<Element, group, group>;
    return form.together ? by_columns<Element, group, group>
                         : by_columns<Element, group, sizeof(Element)>;
  }
}

template <class Element>
Addition addition_for(const Form& form) {
  switch (form.group) {
    case 1:
      return addition_of<Element, 1>(form);
    case 2:
      return addition_of<Element, 2>(form);
    case 4:
      return addition_of<Element, 4>(form);
    case 8:
      return addition_of<Element, 8>(form);
    default:
      return addition_of<Element, 16>(form);
  }
}

Addition addition_for(const Form& form) {
  if (form.element == 1) return addition_for<std::uint8_t>(form);
  if (form.element == 2) return addition_for<std::uint16_t>(form);
  return addition_for<std::uint32_t>(form);
}

/// The matrices of all cores, which the cases share: A, B and C one after the other, each core's
/// its own numbers.
class HostMatrices {
 public:
  explicit HostMatrices(const std::vector<int>& cpus)
      : team_{std::make_unique<ThreadTeam>(cpus)}, memory_(team_->size()), start_(team_->size()) {
    // Each core touches its own first: they are near it.
    (void)team_->run([&](std::size_t rank) {
      std::vector<std::uint32_t>& memory = memory_[rank];
      memory.resize(3 * host_words + line_bytes);
      void* at = memory.data();
      std::size_t room = memory.size() * sizeof(std::uint32_t);
      start_[rank] = static_cast<std::uint32_t*>(std::align(line_bytes, 3 * host_bytes, at, room));
      for (std::size_t i = 0; i < 2 * host_words; ++i)
        start_[rank][i] = source(rank, i);
    });
  }
  [[nodiscard]] ThreadTeam& team() { return *team_; }
  [[nodiscard]] const std::uint32_t* a(std::size_t rank) const { return start_[rank]; }
  [[nodiscard]] const std::uint32_t* b(std::size_t rank) const { return start_[rank] + host_words; }
  [[nodiscard]] std::uint32_t* c(std::size_t rank) const { return start_[rank] + 2 * host_words; }
  /// Word `i` of A and, behind it, of B.
  [[nodiscard]] static std::uint32_t source(std::size_t rank, std::size_t i) {
    return hashed_word(static_cast<std::uint32_t>(rank * 2 * host_words + i));
  }

 private:
  std::unique_ptr<ThreadTeam> team_;
  std::vector<std::vector<std::uint32_t>> memory_;
  std::vector<std::uint32_t*> start_;
};

/// What pairs of runs showed: seconds of an addition of the matrices by every core.
struct HostObservation {
  double inside = 0;   ///< by the counter of the slowest core
  double outside = 0;  ///< by the clock of the system
  double tick_hertz = 0;
};

/// The subject of the protocol: pairs of runs, short and long, on every core.
class HostAdditions {
 public:
  HostAdditions(const Form& form, HostMatrices& matrices)
      : form_{form},
        addition_{addition_for(form)},
        matrices_{matrices},
        members_(matrices.team().size()) {
    (void)run(brief_passes);  // fetches the code
    const double seconds = run(brief_passes) * (brief_passes + full_passes);
    pairs_ = std::clamp(static_cast<int>(sample_seconds / seconds), least_pairs, most_pairs);
  }

  void prepare() {}  // each run has its own preparation, right before it

  HostObservation observe() {
    std::vector<HostObservation> several;
    several.reserve(static_cast<std::size_t>(pairs_));
    for (int i = 0; i < pairs_; ++i)
      several.push_back(observe_pair());
    return median_record(several, &HostObservation::inside, &HostObservation::outside,
                         &HostObservation::tick_hertz);
  }

  [[nodiscard]] static std::vector<double> watched(const HostObservation& seen) {
    return {seen.inside, seen.outside};
  }

  /// A and B are as they were.
  void verify_sources() {
    for_each_member([&](std::size_t rank, Member& member) {
      for (std::size_t i = 0; i < 2 * host_words; ++i)
        member.different += matrices_.a(rank)[i] == HostMatrices::source(rank, i) ? 0 : 1;
    });
    checked_ += members_.size() * 2 * host_words;
  }

  [[nodiscard]] Gate result() const {
    std::size_t different = 0;
    for (const Member& member : members_)
      different += member.different;
    return result_gate(checked_, different, "words of A, B and C against the host's");
  }

 private:
  /// What one core saw, on cache lines of its own.
  struct alignas(128) Member {
    std::uint64_t ticks = 0;
    double seconds = 0;
    std::size_t different = 0;  ///< words, of all runs
  };

  HostObservation observe_pair() {
    const double brief_seconds = run(brief_passes);
    const double brief_ticks = slowest();
    const double full_seconds = run(full_passes);
    constexpr double more = full_passes - brief_passes;
    const Member& first = members_.front();
    return {.inside = (slowest() - brief_ticks) / tsc_hertz() / more,
            .outside = (full_seconds - brief_seconds) / more,
            .tick_hertz = static_cast<double>(first.ticks) / first.seconds};
  }

  [[nodiscard]] double slowest() const {
    std::uint64_t most = 0;
    for (const Member& member : members_)
      most = std::max(most, member.ticks);
    return static_cast<double>(most);
  }

  template <class Work>
  double for_each_member(Work&& work) {
    return matrices_.team().run([&](std::size_t rank) { work(rank, members_[rank]); });
  }

  static const std::byte* bytes_of(const std::uint32_t* words) {
    return std::as_bytes(std::span{words, host_words}).data();
  }

  double run(std::uint32_t passes) {
    for_each_member(
        [&](std::size_t rank, Member&) { std::fill_n(matrices_.c(rank), host_words, poison); });
    const double seconds = for_each_member([&](std::size_t rank, Member& member) {
      const double began = monotonic_raw_seconds();
      const std::uint64_t start = tsc_now();
      addition_(bytes_of(matrices_.a(rank)), bytes_of(matrices_.b(rank)),
                std::as_writable_bytes(std::span{matrices_.c(rank), host_words}).data(), passes);
      member.ticks = tsc_now() - start;
      member.seconds = monotonic_raw_seconds() - began;
    });
    for_each_member([&](std::size_t rank, Member& member) {
      const std::uint32_t* const a = matrices_.a(rank);
      const std::uint32_t* const b = matrices_.b(rank);
      const std::uint32_t* const c = matrices_.c(rank);
      for (std::size_t i = 0; i < host_words; ++i)
        member.different += c[i] == sum_of_elements(a[i], b[i], form_.element) ? 0 : 1;
    });
    checked_ += members_.size() * host_words;
    return seconds;
  }

  Form form_;
  Addition addition_;
  HostMatrices& matrices_;
  std::vector<Member> members_;
  int pairs_ = least_pairs;
  std::size_t checked_ = 0;
};

void run(Session& session) {
  const Form form = form_of(session);
  auto& matrices = session.cache().keep<HostMatrices>("short_words",
                                                      [] { return HostMatrices{allowed_cpus()}; });
  HostAdditions additions{form, matrices};
  const auto seen = collect(additions, session.plan());
  additions.verify_sources();
  const Timed timed{session, seen};
  const auto bytes = static_cast<double>(3 * host_bytes * matrices.team().size());
  timed.add("kernel_time", "s", "tsc_slope", &HostObservation::inside);
  timed.add("kernel_time", "s", "monotonic_slope", &HostObservation::outside);
  timed.add("useful_bandwidth", "B/s", "monotonic_slope",
            [&](const HostObservation& o) { return bytes / o.outside; });
  timed.core_clock("tsc_over_monotonic", &HostObservation::tick_hertz);
  timed.timers(&HostObservation::inside, "tsc_slope", &HostObservation::outside, "monotonic_slope");
  session.add(additions.result());
  session.add(level_unverified("no hardware counters on the host"));
  session.fact("footprint_bytes", static_cast<std::int64_t>(bytes));
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::short_words
