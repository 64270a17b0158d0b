// On a CPU every core adds its own matrices, 6 MiB together, more than most L2 caches hold.
// Elements are added row by row (coalesced) or column by column, a row apart (uncoalesced). `apart`
// is an inner loop over the elements of a group: along a row they are adjacent anyway. A row has an
// odd number of lines, so that a column spreads over all sets of the caches.
//
// The barrier after every store keeps the compiler from grouping neighbours by itself: each
// element, or group that is accessed together, is one load of A, one of B and one store, each of
// its width, with -O2 and with -O3. Two elements of 8 bits are added in the halves of a general
// register: an instruction that loads 16 bits into a vector keeps the rest of it, so each load
// would wait for the last addition.
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "micro/access/short_words.hpp"

#include <bit>

namespace strata::short_words {
namespace {

/// The case on a CPU, where `bytes` are those of the matrices of all cores: one slope, by passes.
Experiment describe_host(std::uint64_t bytes) {
  Experiment experiment = launch_series::on_cpu(static_cast<double>(bytes));
  experiment.checked = "words of A, B and C against the host's";
  return experiment;
}

constexpr std::size_t rows = 1024;
constexpr std::size_t row_bytes = std::size_t{33} * 64;  // lines of a cache
constexpr std::size_t host_bytes = rows * row_bytes;     // of a matrix of a core
constexpr std::size_t host_words = host_bytes / sizeof(std::uint32_t);
constexpr std::uint32_t poison = 0xA5A5A5A5U;

/// The type of one access: an element, or several of them in a vector.
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
  // With std::memcpy some of the vectors would pass through a general register.
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

/// A group of elements, in accesses of `bytes` each.
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

Addition addition_for(const Form& form) {
  const auto of = [&]<class Element, std::size_t group>() -> Addition {
    if constexpr (group < sizeof(Element)) {
      throw std::logic_error{"no group is smaller than an element"};
    } else {
      if (form.coalesced) return by_rows<Element, group, group>;
      return form.together ? by_columns<Element, group, group>
                           : by_columns<Element, group, sizeof(Element)>;
    }
  };
  return with_value<1U, 2U, 4U, 8U, 16U>(form.group, [&]<unsigned group>() {
    if (form.element == 1) return of.template operator()<std::uint8_t, group>();
    if (form.element == 2) return of.template operator()<std::uint16_t, group>();
    return of.template operator()<std::uint32_t, group>();
  });
}

/// Word `i` of A and, after it, of B of a core; the words of C are 0.
std::uint32_t source(std::size_t rank, std::size_t i) {
  return i < 2 * host_words ? hashed_word(static_cast<std::uint32_t>(rank * 2 * host_words + i))
                            : 0;
}

/// Compares the first `count` words of each core with `expected(rank, i)`.
template <class Words, class Expected>
void compare(ThreadTeam& team, std::size_t count, Tally& tally, const Words& words,
             const Expected& expected) {
  std::vector<std::size_t> different(team.size());
  (void)team.run([&](std::size_t rank) {
    std::size_t wrong_words = 0;
    for (std::size_t i = 0; i < count; ++i)
      wrong_words += words(rank)[i] == expected(rank, i) ? 0 : 1;
    different[rank] = wrong_words;
  });
  tally.checked += count * team.size();
  for (const std::size_t of_core : different)
    tally.different += of_core;
}

void run(Session& session) {
  const Form form = form_of(session.params());
  HostMachine machine{allowed_cpus()};
  ThreadTeam& team = *machine.team();
  // A, B and C of each core, one after the other.
  const auto& matrices = session.cache().keep<CoreWords>("short_words", [&] {
    return CoreWords{team, 3 * host_words, source};
  });
  const auto a_of = [&](std::size_t rank) { return matrices.of(rank); };
  const auto c_of = [&](std::size_t rank) { return matrices.of(rank) + 2 * host_words; };
  const std::uint64_t bytes = 3 * host_bytes * machine.cores();

  Experiment experiment = describe_host(bytes);
  Slope slope{.lengths = {.brief = {.rounds = 1, .work = 1}, .full = {.rounds = 3, .work = 3}}};
  slope.prepare = [&](const Call&) {
    (void)team.run([&](std::size_t rank) { std::fill_n(c_of(rank), host_words, poison); });
  };
  slope.launch =
      machine.on_every_core([&, addition = addition_for(form)](std::size_t rank, const Call& call) {
        auto* const a = std::as_writable_bytes(std::span{a_of(rank), 3 * host_words}).data();
        addition(a, a + host_bytes, a + 2 * host_bytes, call.length.rounds);
        return std::uint64_t{0};
      });
  slope.verify = [&](const Call&, std::span<const Stamp>, Tally& tally) {
    compare(team, host_words, tally, c_of, [&](std::size_t rank, std::size_t i) {
      return sum_of_elements(a_of(rank)[i], a_of(rank)[host_words + i], form.element);
    });
  };
  slope.size = launch_series::pairs_by_trial(experiment, slope.lengths);
  experiment.slopes = {slope};
  // A and B must be unchanged.
  experiment.conclude = [&](Session&, const std::vector<Sample>&) {
    compare(team, 2 * host_words, experiment.tally, a_of, source);
  };
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::short_words
