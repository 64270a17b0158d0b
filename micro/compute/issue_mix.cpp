// The declaration, the words, the model of the chains and the report of issue_mix: issue_mix.hpp
// says what it asks.
#include "micro/compute/issue_mix.hpp"

#include "harness/measure/timed.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/gates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace strata::issue_mix {
namespace {

using operations::distinct_lanes;

constexpr std::uint32_t last_place = (ring_words - 1) * sizeof(std::uint32_t);

/// An address, as the bits of a number. It is subnormal: such numbers add like their bits, and
/// multiply-adds of a GPU take no longer over them.
float address(std::uint32_t place) {
  return std::bit_cast<float>(
      static_cast<std::uint32_t>(ring_address + place * sizeof(std::uint32_t)));
}

/// Brings the first place to the last, the second to the one before it, and so on, once the place
/// is taken from it.
float mirror() {
  return std::bit_cast<float>(2 * ring_address + last_place);
}

/// All that a loop hands on to the next.
struct State {
  Ends x{};
  std::array<std::array<float, distinct_lanes>, slots> answers{};
  bool operator==(const State&) const = default;
};
using AllWords = std::array<Words, distinct_lanes>;

float answer_of(Partner partner, const std::array<float, distinct_lanes>& x, std::size_t lane,
                const Words& words) {
  switch (partner) {
    case Partner::rsqrt:
      return 1 / std::sqrt(x[lane]);
    case Partner::shuffle:
      return x[(lane + 1) % distinct_lanes];
    case Partner::shared_load: {
      const auto at = std::bit_cast<std::uint32_t>(x[lane]);
      const bool inside = at >= ring_address && at <= ring_address + last_place && at % 4 == 0;
      return inside ? mirror() : std::numeric_limits<float>::quiet_NaN();
    }
    case Partner::integer_add:
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x[lane]) + words.added[0] +
                                  words.added[1]);
    case Partner::none:
      break;
  }
  return words.answer;
}

/// One turn of the loop, in the order of the kernel.
void turn(State& state, Partner partner, unsigned size, bool asked, const AllWords& words,
          const Factors& a) {
  for (unsigned p = 0; p < body; ++p) {
    const std::size_t half = p / (body / 2);
    auto& x = state.x.at(p % chains);
    const int taken = answer_at(p, size);
    for (std::size_t lane = 0; lane < distinct_lanes; ++lane) {
      const float addend = taken < 0 ? words[lane].b.at(half)
                                     : state.answers.at(static_cast<unsigned>(taken) % slots)[lane];
      x[lane] = std::fma(x[lane], a.at(half), addend);
    }
    if (!asked || !asks_behind(p, size)) continue;
    const unsigned group = p / size;
    for (std::size_t lane = 0; lane < distinct_lanes; ++lane) {
      state.answers.at(group % slots)[lane] =
          answer_of(partner, state.x.at(group % chains), lane, words[lane]);
    }
  }
}

std::vector<std::string> sizes_in_words() {
  std::vector<std::string> words;
  words.reserve(group_sizes.size());
  for (const unsigned size : group_sizes)
    words.push_back(std::to_string(size));
  return words;
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "issue_mix",
      .question =
          "What does an instruction of another unit cost a scheduler among "
          "multiply-adds?",
      .axes = {{.name = "partner",
                .meaning = "what stands behind each group of multiply-adds",
                .choices = {partners.begin(), partners.end()},
                .defaults = {partners.begin(), partners.end()}},
               {.name = "multiply_adds",
                .meaning = "of a group",
                .choices = sizes_in_words(),
                .defaults = sizes_in_words()}},
      .counter_sets = {"flops", "shared", "issue"},
      .quantities = {{"group_cycles", "cycles of a scheduler for a group of one warp"},
                     {"multiply_add_cycles",
                      "cycles of a scheduler for a multiply-add of one warp, no partners "
                      "among them"},
                     {"partner_cycles", "cycles of a group less those of its multiply-adds alone"},
                     {"core_clock", "clock of the core under this load"}},
      .seconds_per_case = 0.1,
      .excludes = {}};
}

Partner partner_of(std::string_view name) {
  const auto* const found = std::ranges::find(partners, name);
  if (found == partners.end()) throw std::out_of_range{"no partner " + std::string{name}};
  return static_cast<Partner>(found - partners.begin());
}

Words words_of(Partner partner, std::uint32_t lane) {
  if (partner == Partner::shared_load) {
    return {.start = {address(lane % ring_words), address((lane + 3) % ring_words)},
            .answer = mirror(),
            .b = {mirror(), mirror()},
            .added = {}};
  }
  constexpr std::uint32_t of_lane = 8;  // numbers
  const auto number = [&](std::uint32_t which) {
    return operations::fraction<float>(of_lane * lane + which);
  };
  // A sixteenth of a number at the most: the answer is near what was asked.
  const auto few = [&](std::uint32_t which) {
    return (hashed_word(of_lane * lane + which) >> 14U) | 1U;
  };
  Words words{.start = {number(0), number(1)},
              .answer = number(2),
              .b = {number(3), number(4)},
              .added = {few(5), few(6)}};
  if (partner == Partner::shuffle) words.added = {(lane + 1) % distinct_lanes, few(6)};
  return words;
}

Factors factors_of(Partner partner) {
  if (partner == Partner::shared_load) return {-1, -1};
  constexpr std::uint32_t index = 1000;
  return {operations::fraction<float>(index) / 4, operations::fraction<float>(index + 1) / 4};
}

std::vector<float> device_words(Partner partner) {
  std::vector<float> words;
  const auto row = [&](auto&& pick) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      words.push_back(pick(words_of(partner, lane % distinct_lanes)));
  };
  for (std::size_t c = 0; c < chains; ++c)
    row([c](const Words& of) { return of.start.at(c); });
  row([](const Words& of) { return of.answer; });
  for (std::size_t half = 0; half < 2; ++half)
    row([half](const Words& of) { return of.b.at(half); });
  for (std::size_t which = 0; which < 2; ++which)
    row([which](const Words& of) { return std::bit_cast<float>(of.added.at(which)); });
  return words;
}

Ends expected_ends(Partner partner, unsigned size, bool asked, std::uint64_t rounds) {
  AllWords words;
  State state;
  for (std::uint32_t lane = 0; lane < distinct_lanes; ++lane) {
    words[lane] = words_of(partner, lane);
    for (std::size_t c = 0; c < chains; ++c)
      state.x.at(c)[lane] = words[lane].start.at(c);
    for (auto& answers : state.answers)
      answers[lane] = words[lane].answer;
  }
  const Factors a = factors_of(partner);
  // Once a state comes back, whole periods are left out (Brent: the state to meet again is taken
  // anew after 1, 2, 4… rounds).
  State earlier = state;
  std::uint64_t since = 0;
  std::uint64_t patience = 1;
  while (rounds > 0) {
    turn(state, partner, size, asked, words, a);
    --rounds;
    ++since;
    if (state == earlier) rounds %= since;
    if (since == patience) {
      earlier = state;
      since = 0;
      patience *= 2;
    }
  }
  return state.x;
}

double tolerance_of(Partner partner) {
  constexpr double of_approximation = 2e-6;  // a few units in the last place, which sum up
  return partner == Partner::rsqrt ? of_approximation : 0;
}

void report(Session& session, const Collection<Observation>& seen, Partner partner, unsigned size) {
  const Timed timed{session, seen};
  timed.add("group_cycles", "cycle", "clock64_slope", &Observation::inside);
  timed.add("group_cycles", "cycle", "event_slope", &Observation::outside);
  timed.add("multiply_add_cycles", "cycle", "clock64_slope",
            [size](const Observation& o) { return o.plain_inside / size; });
  timed.add("multiply_add_cycles", "cycle", "event_slope",
            [size](const Observation& o) { return o.plain_outside / size; });
  if (partner != Partner::none) {
    session.add(Measurement{
        .quantity = "partner_cycles",
        .unit = "cycle",
        .provenance = Provenance::modelled,
        .method = "less_multiply_adds",
        .samples = seen.series([](const Observation& o) { return o.inside - o.plain_inside; })});
  }
  timed.core_clock("clock64_over_globaltimer", &Observation::core_hertz);
  timed.timers(&Observation::inside, "clock64_slope", &Observation::outside, "event_slope");
  session.fact("warps_of_a_scheduler", std::int64_t{warps_of_scheduler});
  session.fact("multiply_adds_of_a_loop", std::int64_t{body});
  session.fact("multiply_adds_until_needed", std::int64_t{needed});
}

STRATA_DECLARED(declare);

}  // namespace strata::issue_mix
