#include "micro/compute/clock_under_load.cu"

#include "example_gpu.hpp"
#include "micro/compute/operations.hpp"
#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::clock_under_load {
namespace {

using operations::WarpWords;
using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr std::uint32_t some_rounds = 37;

float number_of(std::uint64_t word) {
  return operations::from_bits<float>(word);
}

std::vector<Mix> arithmetic() {
  std::vector<Mix> found;
  for (const auto& [name, mix] : mixes.all) {
    if (mix != Mix::memory) found.push_back(mix);
  }
  return found;
}

// --- what the chains come to

/// One warp as the device has it, one step of the kernel after the other, from the words that go to
/// it: products by all 16 × 8 × 16 numbers, taken from where mma.m16n8k16 looks for them.
struct Warp {
  explicit Warp(Mix which) : mix{which}, recipe{recipe_of(which)}, rows{rows_of(which)} {
    for (unsigned row = 0; row < rows.all(); ++row) {
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        at[row][lane] = number_of(words[row * warp_lanes + lane]);
    }
  }

  [[nodiscard]] std::uint32_t word(unsigned row, unsigned lane) const {
    return static_cast<std::uint32_t>(words[(rows.all() + row) * warp_lanes + lane]);
  }
  /// One of the two numbers of half precision of a word, which is whole.
  [[nodiscard]] static double half(std::uint32_t word, unsigned which) {
    const std::uint32_t bits = which == 0 ? word & 0xFFFFU : word >> 16U;
    return operations::Half::unpack(bits | (bits << 16U));
  }
  [[nodiscard]] double a(unsigned row, unsigned k) const {
    const unsigned lane = row % 8 * 4 + k % 8 / 2;
    return half(word(1 + row / 8 + k / 8 * 2, lane), k % 2);
  }
  [[nodiscard]] double b(unsigned second, unsigned product, unsigned k, unsigned column) const {
    const unsigned lane = column * 4 + k % 8 / 2;
    const unsigned of = (second * products + product) * words_of_b + k / 8;
    return half(word(1 + words_of_a + of, lane), k % 2);
  }

  void multiply(unsigned product, unsigned second) {
    for (unsigned row = 0; row < 16; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        double sum = 0;
        for (unsigned k = 0; k < 16; ++k)
          sum += a(row, k) * b(second, product, k, column);
        const unsigned place = rows.fma + rows.mufu + product * 4 + row / 8 * 2 + column % 2;
        float& to = at[place][row % 8 * 4 + column / 2];
        greatest = std::max({greatest, std::abs(sum) + std::abs(to), std::abs(sum + to)});
        to = static_cast<float>(sum + to);
      }
    }
  }
  void turn() {
    for (unsigned p = 0; p < recipe.steps; ++p) {
      for (unsigned lane = 0; lane < (recipe.one_lane ? 1 : warp_lanes); ++lane) {
        for (unsigned j = 0; j < recipe.fma; ++j) {
          float& x = at[(p * recipe.fma + j) % chains][lane];
          x = std::fma(x, x, number_of(word(0, lane)));
        }
        if (recipe.mufu == 0) continue;
        float& sum = at[rows.fma + p % chains][lane];
        sum = std::fma(sum, 0.5F, std::exp2(at[p % chains][lane]));
      }
      if (recipe.mma > 0) multiply(p % products, p / products % 2);
    }
  }

  Mix mix;
  Recipe recipe;
  Rows rows;
  WarpWords words = device_words(mix);
  float at[2 * chains + 4 * products][warp_lanes] = {};  // NOLINT(*-avoid-c-arrays)
  double greatest = 0;                                   ///< in a sum of products
};

class EachMix : public ::testing::TestWithParam<Mix> {};
INSTANTIATE_TEST_SUITE_P(Load, EachMix, ::testing::ValuesIn(arithmetic()),
                         [](const auto& about) { return std::string{mixes.name_of(about.param)}; });

TEST_P(EachMix, EndsWhereAStepByStepSimulationOfTheWarpEnds) {
  Warp warp{GetParam()};
  for (std::uint32_t r = 0; r < some_rounds; ++r)
    warp.turn();
  const WarpWords wanted = expected_ends(GetParam(), some_rounds);
  ASSERT_EQ(wanted.size(), warp.rows.all() * warp_lanes);
  for (unsigned row = 0; row < warp.rows.all(); ++row) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      ASSERT_EQ(number_of(wanted[row * warp_lanes + lane]), warp.at[row][lane])
          << row << ' ' << lane;
  }
}

TEST_P(EachMix, LeavesFiniteWordsThatDifferByChainLaneAndRound) {
  const Rows rows = rows_of(GetParam());
  const WarpWords ends = expected_ends(GetParam(), some_rounds);
  const WarpWords later = expected_ends(GetParam(), some_rounds + 1);
  std::size_t same = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ASSERT_TRUE(std::isfinite(number_of(ends[i])));
    same += ends[i] == later[i] ? 1 : 0;
  }
  const bool one_lane = recipe_of(GetParam()).one_lane;
  EXPECT_EQ(same, one_lane ? ends.size() / warp_lanes * (warp_lanes - 1) : 0);
  for (unsigned row = 0; row < rows.all(); ++row) {
    const std::set<std::uint64_t> lanes(ends.begin() + row * warp_lanes,
                                        ends.begin() + (row + 1) * warp_lanes);
    EXPECT_GE(lanes.size(), operations::distinct_lanes) << row;
  }
}

TEST_P(EachMix, KeepsItsNumbersForAsLongAsAnyLaunch) {
  const std::uint32_t long_launch = std::min(most_rounds(GetParam()), 100'000U);
  const Rows rows = rows_of(GetParam());
  const WarpWords ends = expected_ends(GetParam(), long_launch);
  for (unsigned row = 0; row < rows.all(); ++row) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const float at = number_of(ends[row * warp_lanes + lane]);
      if (row < rows.fma) {
        EXPECT_LT(std::abs(at), 2.01F);
      } else if (row < rows.fma + rows.mufu) {
        EXPECT_LT(std::abs(at), 8.01F);
      } else {
        EXPECT_EQ(at, std::round(at));
        EXPECT_LT(std::abs(at), 0x1p23F);
      }
    }
  }
}

TEST(ClockUnderLoadProducts, LoseNoBitBeforeTheMostRounds) {
  Warp warp{Mix::tensor};
  const WarpWords last = expected_ends(Mix::tensor, most_rounds(Mix::tensor) - 1);
  for (unsigned row = 0; row < warp.rows.all(); ++row) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      warp.at[row][lane] = number_of(last[row * warp_lanes + lane]);
  }
  warp.turn();
  EXPECT_LT(warp.greatest, 0x1p24);
  EXPECT_EQ(most_rounds(Mix::fma), ~0U);
  // A launch of 25 ms on a chip twice as fast as any has fewer: a product every two cycles of an
  // SM.
  EXPECT_GT(most_rounds(Mix::tensor), 25e-3 * 2e9 / (recipe_of(Mix::tensor).steps * warps / 2.0));
}

TEST(ClockUnderLoadProducts, AreOfNumbersThatFillTheirBits) {
  const Warp warp{Mix::fma_tensor};
  std::set<double> numbers;
  for (unsigned k = 1; k < 16; ++k) {
    for (unsigned row = 0; row < 16; ++row) {
      numbers.insert(warp.a(row, k));
      EXPECT_LE(std::abs(warp.a(row, k)), 511);
    }
    for (unsigned column = 0; column < 8; ++column)
      EXPECT_EQ(warp.b(1, 2, k, column), -warp.b(0, 2, k, column));
  }
  EXPECT_GT(numbers.size(), 150U);
  for (unsigned column = 0; column < 8; ++column)
    EXPECT_EQ(std::abs(warp.b(1, 3, 0, column) + warp.b(0, 3, 0, column)), 1);
}

TEST(ClockUnderLoadChains, MoveAtEveryTurn) {
  WarpWords before = expected_ends(Mix::fma, 0);
  for (std::uint32_t rounds = 1; rounds < 40; ++rounds) {
    const WarpWords now = expected_ends(Mix::fma, rounds);
    for (std::size_t i = 0; i < now.size(); ++i)
      ASSERT_NE(now[i], before[i]) << "numbers at rest cost less power";
    before = now;
  }
}

// --- rows, gates and facts from what launches and NVML showed

GpuFacts gpu() {
  return example_gpu(10);
}

TEST(ClockUnderLoadRange, IsManyTimesTheSizeOfL2AndAddsUp) {
  const Range range = range_of(gpu());
  EXPECT_EQ(range.grid_warps, 160U);
  EXPECT_GE(range.words() * 4, 8 * gpu().l2_bytes);
  const Range small{.grid_warps = 2, .turns = 3};
  std::uint32_t sum = 0;
  for (std::uint32_t round = 0; round < 7; ++round) {
    for (std::uint32_t i = 0; i < piece_words; ++i)
      sum += LinearWords{}.word((round % 3 * 2 + 1) * piece_words + i);
  }
  EXPECT_EQ(small.sum(7, 1), sum);
  EXPECT_EQ(small.sum(0, 1), 0U);
}

/// A host beside it whose every launch takes 40 ms, and readings of NVML every 30 ms.
struct Around {
  double now = 0;
  double rested = -1;
  double watched = -1;
  int ended = 0;
  std::vector<TimedReading> readings;
  double violated = 5;

  [[nodiscard]] Beside beside() {
    return {.rest = [this] { rested = now; },
            .watch = [this] { watched = now; },
            .elapsed = [this] { return now - watched; },
            .readings =
                [this] {
                  ++ended;
                  return readings;
                },
            .violations =
                [this] {
                  violated += 0.25;
                  return Facts{{"power_violation_seconds", violated}};
                }};
  }
  void read(double seconds, double megahertz, double watts, std::uint64_t reasons) {
    readings.push_back({.seconds = seconds,
                        .reading = {.sm_hertz = 1e6 * megahertz,
                                    .watts = watts,
                                    .mean_watts = watts / 2,
                                    .reasons = reasons}});
  }
};

Stamp stamp_of(std::uint64_t cycles, std::uint64_t begin, std::uint64_t nanoseconds) {
  return {.cycles = {1000, 1000 + cycles}, .nanoseconds = {begin, begin + nanoseconds}};
}

Seen seen_of(double hertz) {
  return {.inside = {.cycles = 0.25,
                     .slowest = 0.25,
                     .hertz = hertz,
                     .cells = {0.99 * hertz, 1.01 * hertz}},
          .outside = 0.251,
          .seconds = 1e-10,
          .full_seconds = 0.025};
}

/// The record of a load that ran for `seconds`, with one sample at `hertz`.
CaseRecord record_of(const Load& load, Around& around, double hertz) {
  const Experiment experiment = describe({{"mix", std::string{mixes.name_of(load.mix)}},
                                          {"seconds", load.seconds > 0.5 ? "1" : "0.1"}},
                                         gpu(), around.beside(), {});
  std::uint64_t began = 5'000'000'000;
  const Lengths lengths = experiment.slopes[0].size([&](const Length& length) {
    const double seconds = 1e-5 + 1e-6 * length.rounds;
    around.now += 0.04;
    began += 40'000'000;
    return Launched{.length = length,
                    .seconds = seconds,
                    .stamps = {stamp_of(50'000'000, began, 25'000'000),
                               stamp_of(48'000'000, began, 25'000'000)}};
  });
  EXPECT_EQ(lengths.full.rounds, 25'000U);
  EXPECT_EQ(lengths.brief.rounds, 5'000U);
  FakeSession fake;
  report(fake.session, cuda_timers, experiment,
         Collection<Sample>{.kept = {{.slopes = {seen_of(hertz)}, .numbers = {}}}});
  return fake.record;
}

const Measurement& row(const CaseRecord& record, const std::string& quantity) {
  const auto found = std::ranges::find(record.measurements, quantity, &Measurement::quantity);
  if (found == record.measurements.end()) throw std::out_of_range{"no row " + quantity};
  return *found;
}

TEST(ClockUnderLoadRows, AreTheKernelsClockBesideTheDriversAndThePower) {
  Around around;
  around.read(0.01, 300, 80, 1);  // the load has hardly begun
  around.read(0.09, 1980, 500, 4);
  around.read(0.14, 1980, 640, 0);
  around.read(0.17, 1980, 642, 0);
  around.read(0.20, 1970, 641, 0x20);
  const CaseRecord record = record_of({.mix = Mix::fma, .seconds = 0.1}, around, 1.82e9);
  EXPECT_THAT(row(record, "driver_clock").samples, ElementsAre(1980e6, 1980e6, 1970e6));
  EXPECT_THAT(row(record, "power").samples, ElementsAre(640, 642, 641));
  EXPECT_EQ(row(record, "power").method, "nvml_instant");
  EXPECT_EQ(row(record, "power").unit, "W");
  EXPECT_EQ(row(record, "power").provenance, Provenance::reported);
  EXPECT_EQ(row(record, "core_clock").samples.front(), 1.82e9);
  EXPECT_EQ(row(record, "slowest_clock").samples.front(), 0.99 * 1.82e9);
  EXPECT_EQ(row(record, "fastest_clock").samples.front(), 1.01 * 1.82e9);
  EXPECT_EQ(row(record, "instruction_cycles").samples.front(), 0.25);
  EXPECT_THAT(row(record, "instructions_per_second").samples.front(), DoubleEq(1e11));
  EXPECT_THROW((void)row(record, "read_bandwidth"), std::out_of_range);
  const auto gate = std::ranges::find(record.gates, "driver_clock", &Gate::name);
  ASSERT_NE(gate, record.gates.end());
  EXPECT_EQ(gate->verdict, Verdict::unverified) << gate->detail;
  EXPECT_EQ(record.facts.at("driver_clock_hz"), Fact{1980e6});
  EXPECT_EQ(record.facts.at("throttle_reasons"), Fact{std::int64_t{0x20}});
  EXPECT_EQ(record.facts.at("throttled_share"), Fact{1.0 / 3});
  EXPECT_EQ(record.facts.at("driver_readings"), Fact{std::int64_t{3}});
  EXPECT_EQ(record.facts.at("power_violation_seconds"), Fact{0.25});
  EXPECT_EQ(around.ended, 1) << "the watch ends once";
}

TEST(ClockUnderLoadRows, TellTheClockLaunchAfterLaunchFromRest) {
  Around around;
  const CaseRecord record = record_of({.mix = Mix::tensor, .seconds = 0.1}, around, 1.9e9);
  EXPECT_NEAR(around.rested, 5 * 0.04, 1e-12) << "trials come before the rest";
  EXPECT_NEAR(around.watched, around.rested, 1e-12);
  const Measurement& clock = row(record, "clock_since_start");
  EXPECT_THAT(clock.samples,
              ElementsAre(DoubleNear(1.96e9, 1), DoubleNear(1.96e9, 1), DoubleNear(1.96e9, 1)));
  EXPECT_THAT(
      row(record, "since_start").samples,
      ElementsAre(DoubleNear(0.0125, 1e-9), DoubleNear(0.0525, 1e-9), DoubleNear(0.0925, 1e-9)));
  EXPECT_EQ(clock.noise.verdict, Verdict::not_applicable);
  EXPECT_NE(clock.noise.detail, "");
}

TEST(ClockUnderLoadWindow, SeesTheSlowestAndTheFastestClock) {
  Around around;
  const Experiment experiment =
      describe({{"mix", "fma"}, {"seconds", "0.1"}}, gpu(), around.beside(), {});
  const Slope& slope = experiment.slopes.at(0);
  EXPECT_EQ(slope.window.name, "median SM");
  EXPECT_EQ(slope.writers, 160U);
  Launched brief{.length = {.work = 100}};
  Launched full{.length = {.work = 500}};
  brief.stamps.assign(16, stamp_of(1000, 0, 500));
  full.stamps.assign(16, stamp_of(5000, 0, 2500));
  full.stamps[3] = stamp_of(4900, 0, 2500);
  full.stamps[7] = stamp_of(5050, 0, 2500);
  const Inside inside = slope.window.read(brief, full);
  EXPECT_THAT(inside.cells, ElementsAre(DoubleEq(1.96e9), DoubleEq(2.02e9)));
  EXPECT_DOUBLE_EQ(inside.hertz, 2e9);
}

TEST(ClockUnderLoadLengths, StayWhereProductsLoseNoBit) {
  Around around;
  const Experiment experiment =
      describe({{"mix", "tensor"}, {"seconds", "0.1"}}, gpu(), around.beside(), {});
  const Lengths lengths = experiment.slopes[0].size([&](const Length& length) {
    around.now += 1;
    return Launched{
        .length = length, .seconds = 1e-9 * length.rounds, .stamps = {stamp_of(50, 0, 25)}};
  });
  EXPECT_EQ(lengths.full.rounds, most_rounds(Mix::tensor));
}

TEST(ClockUnderLoadGates, VerifyTheEndsAndTheChecksumOfEveryWarp) {
  for (const Mix mix : {Mix::fma_tensor_mufu, Mix::idle_lanes}) {
    std::vector<std::uint64_t> ends = expected_ends(mix, some_rounds);
    Around around;
    const Experiment experiment =
        describe({{"mix", std::string{mixes.name_of(mix)}}, {"seconds", "0.1"}}, gpu(),
                 around.beside(), ends);
    std::uint64_t checksum = 0;
    for (std::size_t i = 0; i < ends.size(); ++i)
      checksum += operations::checksum_part(ends[i], i);
    std::vector<Stamp> stamps(160, Stamp{.result = checksum});
    const auto different = [&](std::uint32_t rounds) {
      Tally tally;
      experiment.slopes[0].verify({.length = {.rounds = rounds}}, stamps, tally);
      EXPECT_EQ(tally.checked, ends.size() + stamps.size());
      return tally.different;
    };
    EXPECT_EQ(different(some_rounds), 0U);
    EXPECT_GT(different(some_rounds - 1), 0U);
    stamps[159].result += 1;
    EXPECT_EQ(different(some_rounds), 1U);
    EXPECT_EQ(experiment.placement->per_core, 16);
  }
}

}  // namespace
}  // namespace strata::clock_under_load
