#include "micro/compute/issue_mix.hpp"

#include <iterator>
#include <limits>

namespace strata::issue_mix {
namespace {

using operations::distinct_lanes;

constexpr std::uint32_t last_place = (ring_words - 1) * sizeof(std::uint32_t);

/// An address as the bits of a subnormal number: those add like integers, and as fast.
float address(std::uint32_t place) {
  constexpr std::uint32_t width = sizeof(float);
  return std::bit_cast<float>(ring_address + place * width);
}

/// Subtracting a place from it maps the first place to the last, and so on.
float mirror() {
  return std::bit_cast<float>(2 * ring_address + last_place);
}

/// What the chains of one lane work on.
struct Words {
  std::array<float, chains> start{};
  float answer = 0;                      ///< before the first partner; without partners, always
  std::array<float, 2> b{};              ///< in the first half of a loop and in the second
  std::array<std::uint32_t, 2> added{};  ///< integer_add; for shuffle, the first is the source lane
};

Words words_of(Partner partner, std::uint32_t lane) {
  if (partner == Partner::shared_load) {
    return {.start = {address(lane % ring_words), address((lane + 3) % ring_words)},
            .answer = mirror(),
            .b = {mirror(), mirror()}};
  }
  constexpr std::uint32_t of_lane = 8;  // numbers
  const auto number = [&](std::uint32_t which) {
    return operations::fraction<float>(of_lane * lane + which);
  };
  // At most a sixteenth of a number, so that the answer is close to the operand.
  const auto few = [&](std::uint32_t which) {
    return (hashed_word(of_lane * lane + which) >> 14U) | 1U;
  };
  return {.start = {number(0), number(1)},
          .answer = number(2),
          .b = {number(3), number(4)},
          .added = {partner == Partner::shuffle ? (lane + 1) % distinct_lanes : few(5), few(6)}};
}

using OfLanes = std::array<float, distinct_lanes>;

/// The state at the end of a loop iteration, with which the next one starts.
struct State {
  Ends x{};
  std::array<OfLanes, slots> answers{};
  bool operator==(const State&) const = default;
};

float answer_of(Partner partner, const OfLanes& x, std::size_t lane, const Words& words) {
  const auto bits = std::bit_cast<std::uint32_t>(x[lane]);
  switch (partner) {
    case Partner::rsqrt:
      return 1 / std::sqrt(x[lane]);
    case Partner::shuffle:
      return x[(lane + 1) % distinct_lanes];
    case Partner::shared_load: {
      const std::uint32_t offset = bits - ring_address;  // huge if it is before the ring
      const bool inside = offset <= last_place && offset % sizeof(float) == 0;
      return inside ? mirror() : std::numeric_limits<float>::quiet_NaN();
    }
    case Partner::integer_add:
      return std::bit_cast<float>(bits + words.added[0] + words.added[1]);
    case Partner::none:
      break;
  }
  return words.answer;
}

/// Relative; 0: the host computes the same bits.
double tolerance_of(Partner partner) {
  constexpr double of_approximation = 2e-6;  // a few units in the last place, which add up
  return partner == Partner::rsqrt ? of_approximation : 0;
}

/// Multiply-adds of threads, and the partners that have a counter.
CountPlan count_plan(Partner partner, unsigned size, const GpuFacts& gpu) {
  constexpr std::uint32_t rounds = 16;
  const double groups = double{rounds} * body / size * warps_of_sm * gpu.sms;  // of warps
  // Both launches do one more round: only a launch that enters the loop prepares the loop's
  // operands.
  CountPlan plan{.length = {.rounds = rounds + 1},
                 .none = {.rounds = 1},
                 .expected = {{.quantity = "fp32_fma", .predicted = groups * size * warp_lanes}},
                 .model = "chain_length",
                 .unit = "group",
                 .units = groups};
  if (partner == Partner::rsqrt)
    plan.expected.push_back({.quantity = "xu_instructions", .predicted = groups});
  if (partner == Partner::shared_load)
    plan.expected.push_back({.quantity = "shared_load_requests", .predicted = groups});
  return plan;
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "issue_mix",
      .question =
          "How many scheduler cycles does an instruction of another unit cost among multiply-adds?",
      .axes = {partners.axis("partner", "instruction after each group of multiply-adds"),
               group_sizes.axis("multiply_adds", "multiply-adds per group")},
      .counter_sets = {"flops", "shared", "issue"},
      .quantities = {{"group_cycles", "scheduler cycles of a group of one warp"},
                     {"multiply_add_cycles",
                      "scheduler cycles of a multiply-add of one warp, without partners"},
                     {"partner_cycles", "cycles of a group minus those of its multiply-adds alone"},
                     {"core_clock", "clock of the core under this load"}},
      .seconds_per_case = 0.1,
      .excludes = {}};
}

Factors factors_of(Partner partner) {
  if (partner == Partner::shared_load) return {-1, -1};
  constexpr std::uint32_t index = 1000;
  return {operations::fraction<float>(index) / 4, operations::fraction<float>(index + 1) / 4};
}

operations::WarpWords device_words(Partner partner) {
  return operations::warp_rows(rows, [partner](std::size_t row, std::uint32_t lane) {
    return std::bit_cast<std::array<std::uint32_t, rows>>(words_of(partner, lane)).at(row);
  });
}

Ends expected_ends(Partner partner, unsigned size, bool has_partners, std::uint64_t rounds) {
  const Factors a = factors_of(partner);
  std::array<Words, distinct_lanes> words;
  State state;
  for (std::uint32_t lane = 0; lane < distinct_lanes; ++lane) {
    words[lane] = words_of(partner, lane);
    for (std::size_t c = 0; c < chains; ++c)
      state.x.at(c)[lane] = words[lane].start.at(c);
    for (OfLanes& answers : state.answers)
      answers[lane] = words[lane].answer;
  }
  operations::repeat(state, rounds, [&] {  // one turn of the kernel's loop
    for (unsigned p = 0; p < body; ++p) {
      const std::size_t half = p / (body / 2);
      const int taken = answer_at(p, size);
      const unsigned group = p / size;
      for (std::size_t lane = 0; lane < distinct_lanes; ++lane) {
        float& x = state.x.at(p % chains)[lane];
        const float addend = taken < 0
                                 ? words[lane].b.at(half)
                                 : state.answers.at(static_cast<unsigned>(taken) % slots)[lane];
        x = std::fma(x, a.at(half), addend);
      }
      if (!has_partners || !asks_behind(p, size)) continue;
      for (std::size_t lane = 0; lane < distinct_lanes; ++lane) {
        state.answers.at(group % slots)[lane] =
            answer_of(partner, state.x.at(group % chains), lane, words[lane]);
      }
    }
  });
  return state.x;
}

Experiment describe(Partner partner, unsigned size, const GpuFacts& gpu,
                    std::span<const std::uint64_t> ends) {
  constexpr double timed_seconds = 2e-3;  // of the long launch: thousands of timer steps
  const auto slope_of = [&](bool has_partners) {
    const auto wanted = [=](std::uint32_t rounds) {
      operations::WarpWords words;
      for (const auto& chain : expected_ends(partner, size, has_partners, rounds))
        std::ranges::transform(chain, std::back_inserter(words), operations::bits<float>);
      return words;
    };
    return Slope{
        .verify = operations::ends_verified(ends, has_partners ? tolerance_of(partner) : 0, wanted),
        .writers = std::size_t{gpu.sms} * warps_of_sm,
        .window = median_sm(warps_of_sm),
        .held = true};
  };
  constexpr std::size_t plain = 0;
  Experiment experiment;
  if (partner != Partner::none) experiment.slopes.push_back(slope_of(/*has_partners=*/false));
  experiment.slopes.push_back(slope_of(partner != Partner::none));
  const std::size_t own = experiment.slopes.size() - 1;
  experiment.slopes[own].size =
      lengths_by_trial(timed_seconds, double{body} / size * warps_of_scheduler);

  add_both(experiment, "group_cycles", "cycle", own);
  experiment.rows.insert(
      experiment.rows.end(),
      {{"multiply_add_cycles", "cycle", By::inside, cycles_of(plain, 1.0 / size)},
       {"multiply_add_cycles", "cycle", By::outside, outside_of(plain, 1.0 / size)}});
  if (partner != Partner::none) {
    const auto additional = [=](const Sample& sample) {
      return sample.slopes[own].inside.cycles - sample.slopes[plain].inside.cycles;
    };
    experiment.rows.push_back(
        {"partner_cycles", "cycle", "less_multiply_adds", additional, Provenance::modelled});
  }
  experiment.checked = operations::what_was_checked(tolerance_of(partner));
  experiment.placement = Placement{.cores = gpu.sms, .per_core = int{warps_of_sm}};
  experiment.counts = count_plan(partner, size, gpu);
  experiment.counts->slope = own;
  experiment.facts = [](const Experiment&) {
    return Facts{{"warps_of_a_scheduler", std::int64_t{warps_of_scheduler}},
                 {"multiply_adds_of_a_loop", std::int64_t{body}},
                 {"multiply_adds_until_needed", std::int64_t{needed}}};
  };
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::issue_mix
