#include "micro/compute/ceilings.hpp"

#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace strata::ceilings {
namespace {

constexpr double sms_h200 = 132;
constexpr double hertz_h200 = 1.98e9;

double peak(const char* capability, Arithmetic arithmetic, double sms, double hertz) {
  return sms * hertz * lanes_per_sm(capability, arithmetic).value() *
         operations_of_instruction(arithmetic);
}

// NVIDIA H100 Tensor Core GPU Architecture, Table 2 (SXM5): 66.9 TFLOP/s of FP32, 33.5 of FP64,
// 133.8 of FP16 and BF16 without tensor cores.
TEST(CeilingsLimit, OfAHopperIsTheWhitePapers) {
  EXPECT_NEAR(peak("9.0", Arithmetic::fp32, sms_h200, hertz_h200), 66.9e12, 0.1e12);
  EXPECT_NEAR(peak("9.0", Arithmetic::fp64, sms_h200, hertz_h200), 33.5e12, 0.1e12);
  EXPECT_NEAR(peak("9.0", Arithmetic::fp16x2, sms_h200, hertz_h200), 133.8e12, 0.1e12);
  EXPECT_NEAR(peak("9.0", Arithmetic::bf16x2, sms_h200, hertz_h200), 133.8e12, 0.1e12);
}

// NVIDIA A100 Tensor Core GPU Architecture, Table 1: 108 SMs at 1410 MHz.
TEST(CeilingsLimit, OfAnA100IsTheWhitePapers) {
  EXPECT_NEAR(peak("8.0", Arithmetic::fp32, 108, 1.41e9), 19.5e12, 0.1e12);
  EXPECT_NEAR(peak("8.0", Arithmetic::fp64, 108, 1.41e9), 9.7e12, 0.1e12);
  EXPECT_NEAR(peak("8.0", Arithmetic::fp16x2, 108, 1.41e9), 78e12, 0.1e12);
  EXPECT_NEAR(peak("8.0", Arithmetic::bf16x2, 108, 1.41e9), 39e12, 0.1e12);
}

TEST(CeilingsLimit, IsLeftOutWhereTheGuideIsSilent) {
  EXPECT_FALSE(lanes_per_sm("9.0", Arithmetic::int8_dp4a));
  EXPECT_FALSE(lanes_per_sm("7.5", Arithmetic::bf16x2));
  EXPECT_FALSE(lanes_per_sm("6.0", Arithmetic::fp32));
}

TEST(CeilingsKinds, AreMadeOfKnownOperations) {
  for (const auto& [name, arithmetic] : arithmetics.all) {
    const auto operation = in_form({.arithmetic = arithmetic}).operation;
    EXPECT_NE(std::ranges::find(operations::Operations::names, operation.name),
              operations::Operations::names.end())
        << name;
  }
  EXPECT_THROW((void)arithmetics.of("fp8"), std::invalid_argument);
}

// --- the forms: what their chains come to

template <class Op>
class EachForm : public ::testing::Test {
 protected:
  using Word = typename Op::Word;

  /// A chain, one operation after the other, with no shortcut; `see` looks at every state.
  template <class See>
  static operations::Lanes<Op> walked(std::uint64_t steps, See&& see) {
    const auto of = operations::operands_of<Op>();
    operations::Lanes<Op> x{};
    std::ranges::transform(of, x.begin(), &operations::Operands<Word>::start);
    for (std::uint64_t i = 0; i < steps; ++i) {
      operations::advance<Op>(x, of, i / Op::run % 2);
      see(x);
    }
    return x;
  }
  static double value(Word x) {
    if constexpr (std::is_floating_point_v<Word>) {
      return x;
    } else if constexpr (Op::about.name == operations::Hfma2::about.name) {
      return operations::Half::unpack(x);
    } else {
      return operations::Bfloat::unpack(x);
    }
  }
};
using EveryForm =
    ::testing::Types<Alternating<operations::Ffma>, Alternating<operations::Dfma>,
                     Alternating<operations::Hfma2>, Alternating<operations::Bfma2>,
                     Steady<operations::Ffma>, Steady<operations::Dfma>, Steady<operations::Hfma2>,
                     Steady<operations::Bfma2>, Square<operations::Ffma>, Square<operations::Dfma>,
                     Square<operations::Hfma2>, Square<operations::Bfma2>,
                     Uniform<operations::Ffma>, Uniform<operations::Dfma>>;
TYPED_TEST_SUITE(EachForm, EveryForm, );

TYPED_TEST(EachForm, EndsWhereAPlainLoopEnds) {
  for (const std::uint64_t steps : {0U, 1U, 31U, 512U, 4097U, 200001U}) {
    EXPECT_EQ(operations::expected_ends<TypeParam>(steps), this->walked(steps, [](auto&&) {}))
        << steps;
  }
}

TYPED_TEST(EachForm, MovesAndStaysFarFromZeroAndInfinity) {
  std::size_t same = 0;
  operations::Lanes<TypeParam> before{};
  constexpr std::uint64_t steps = 4096;
  (void)this->walked(steps, [&](const operations::Lanes<TypeParam>& x) {
    for (const auto word : x) {
      // Far from the subnormal numbers of 16 bits, which the host's arithmetic does not know.
      ASSERT_GT(std::abs(this->value(word)), 1e-3);
      ASSERT_LT(std::abs(this->value(word)), 16);
    }
    if (x == before) ++same;
    before = x;
  });
  EXPECT_LT(same, steps / 2) << "chains at rest cost less power";
}

TYPED_TEST(EachForm, HasLanesThatDifferAndWholeTurnsInARound) {
  const auto ends = operations::expected_ends<TypeParam>(1024);
  EXPECT_GT(std::set(ends.begin(), ends.end()).size(), ends.size() / 2);
  EXPECT_EQ(TypeParam::about.body / TypeParam::chains % (2 * TypeParam::run), 0U);
}

TEST(CeilingsForms, AreThoseOfTheirNames) {
  const auto chains = [](Arithmetic arithmetic, const char* form) {
    return with_operation({.arithmetic = arithmetic, .form = forms.of(form)}, [&]<class Op>() {
      return std::pair{Op::chains, Op::run};
    });
  };
  EXPECT_EQ(chains(Arithmetic::fp64, "alternating"), (std::pair{4U, 1U}));
  EXPECT_EQ(chains(Arithmetic::bf16x2, "steady"), (std::pair{8U, 16U}));
  EXPECT_EQ(chains(Arithmetic::fp16x2, "square"), (std::pair{8U, 16U}));
  EXPECT_EQ(chains(Arithmetic::fp32, "uniform"), (std::pair{8U, 16U}));
  const Shape square{.arithmetic = Arithmetic::fp32, .form = Form::square};
  EXPECT_EQ(in_form(square).operation.ends(100),
            operations::operation_of<Square<operations::Ffma>>.ends(100));
}

TEST(CeilingsForms, UniformOnesShareTheirFactorAndNothingElse) {
  const auto of = operations::operands_of<Uniform<operations::Dfma>>();
  EXPECT_EQ(of[3].a, of[0].a);
  EXPECT_NE(of[3].b, of[0].b);
}

TEST(CeilingsForms, AreLeftOutWhereTheyWouldSayNothing) {
  const auto& excludes = find_benchmark("ceilings")->benchmark.excludes;
  const auto left_out = [&](const char* kind, const char* form, Backend backend,
                            const char* warps) {
    return excludes({{"arithmetic", kind}, {"form", form}, {"warps_per_sm", warps}}, backend)
        .has_value();
  };
  EXPECT_FALSE(left_out("fp64", "uniform", Backend::cuda, "16"));
  EXPECT_FALSE(left_out("bf16x2", "square", Backend::cuda, "16"));
  EXPECT_TRUE(left_out("fp16x2", "uniform", Backend::cuda, "16"));
  EXPECT_TRUE(left_out("int32", "steady", Backend::cuda, "16"));
  EXPECT_FALSE(left_out("int32", "alternating", Backend::cuda, "16"));
  EXPECT_FALSE(left_out("fp32", "steady", Backend::host, "32"));
  EXPECT_TRUE(left_out("fp32", "steady", Backend::host, "16"));
  EXPECT_TRUE(left_out("fp32", "square", Backend::host, "32"));
}

TEST(CeilingsDeclaration, IsKnownToEveryBuildAndCountsItsWork) {
  const auto* const found = find_benchmark("ceilings");
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->benchmark.counter_sets, ::testing::ElementsAre("flops"));
  EXPECT_EQ(found->benchmark.axis("arithmetic")->choices.size(), arithmetics.all.size());
}

// --- rows, gates and counts from what launches showed

GpuFacts hopper() {
  GpuFacts facts;
  facts.sms = 100;
  facts.compute_capability = "9.0";
  facts.major = 9;
  return facts;
}

Seen seen_of(double seconds) {
  return {.inside = {.cycles = 0.5, .slowest = 0.5, .hertz = 1.5e9},
          .outside = 0.502,
          .seconds = seconds,
          .full_seconds = 8e-3};
}

TEST(CeilingsRows, AreOfTheWholeChipBesideItsLimit) {
  const Shape shape{.arithmetic = Arithmetic::fp16x2, .form = Form::steady, .warps = 8};
  const Experiment experiment = describe(shape, hopper(), {});
  const auto rows = rows_of(experiment, cuda_timers, {.slopes = {seen_of(2.5e-10)}, .numbers = {}});
  const double instructions = 100 * 32 / 2.5e-10;
  const double limit = 100 * 128 * 1.5e9;
  EXPECT_EQ(rows, (RowsSeen{{"flops_per_second by event_slope", {4 * instructions, "FLOP/s"}},
                            {"flops_per_second by lanes_times_clock",
                             {4 * limit, "FLOP/s", Provenance::modelled}},
                            {"share_of_limit by event_slope", {instructions / limit, "1"}},
                            {"instruction_cycles by clock64_slope", {0.5, "cycle"}},
                            {"instruction_cycles by event_slope", {0.502, "cycle"}},
                            {"grid_time by event", {8e-3, "s"}},
                            {"core_clock by clock64_over_globaltimer", {1.5e9, "Hz"}}}));
  EXPECT_EQ(
      experiment.facts(experiment),
      (Facts{{"operations_of_an_instruction", std::int64_t{4}},
             {"chains_of_a_warp", std::int64_t{8}},
             {"lanes_per_sm", std::int64_t{128}},
             {"multiply_add",
              std::string{"a*x + b, three registers, the same a and b for many instructions"}}}));
}

TEST(CeilingsRows, OfIntegersAreNotFlopsAndHaveOnlyPublishedLimits) {
  const Experiment experiment =
      describe({.arithmetic = Arithmetic::int8_dp4a, .warps = 16}, hopper(), {});
  const auto rows = rows_of(experiment, cuda_timers, {.slopes = {seen_of(1e-9)}, .numbers = {}});
  EXPECT_EQ(rows.at("operations_per_second by event_slope"),
            (RowSeen{8 * 100 * 32 / 1e-9, "operation/s"}));
  EXPECT_EQ(rows.size(), 5U);
  EXPECT_FALSE(experiment.facts(experiment).contains("lanes_per_sm"));
}

TEST(CeilingsRows, OfACpuTellOneCoreFromAll) {
  const Experiment experiment = describe(/*cores=*/3, /*lanes=*/16);
  Seen alone = seen_of(1e-10);
  alone.inside.hertz = 1;
  const auto rows =
      rows_of(experiment, host_timers, {.slopes = {alone, seen_of(1.25e-10)}, .numbers = {}});
  EXPECT_EQ(rows,
            (RowsSeen{{"flops_per_second by monotonic_slope", {32 * 3 / 1.25e-10, "FLOP/s"}},
                      {"flops_per_second_of_one_core by monotonic_slope", {32 / 1e-10, "FLOP/s"}},
                      {"instruction_cycles by tsc_slope", {0.5, "cycle"}},
                      {"instruction_cycles by monotonic_slope", {0.502, "cycle"}},
                      {"grid_time by monotonic", {8e-3, "s"}},
                      {"core_clock by dependent_adds", {1.5e9, "Hz"}}}));
  EXPECT_EQ(experiment.slopes[0].writers, 1U);
}

TEST(CeilingsGates, CompareTheTimersAndVerifyEveryWarp) {
  const Shape shape{.arithmetic = Arithmetic::fp32, .form = Form::square, .warps = 8};
  const auto [operation, chains, warps] = in_form(shape);
  std::vector<std::uint64_t> ends(std::size_t{chains} * warp_lanes);
  const Experiment experiment = describe(shape, hopper(), ends);
  Seen apart = seen_of(1e-9);
  EXPECT_EQ(verdict_of("timer", experiment, {{.slopes = {apart}, .numbers = {}}}), Verdict::passed);
  apart.outside = 0.52;
  EXPECT_EQ(verdict_of("timer", experiment, {{.slopes = {apart}, .numbers = {}}}), Verdict::failed);
  EXPECT_EQ(experiment.placement->cores, 100U);
  EXPECT_EQ(experiment.placement->per_core, 8);
  const Slope& slope = experiment.slopes.at(0);
  EXPECT_EQ(slope.window.name, "median SM");
  EXPECT_EQ(slope.writers, 800U);
  EXPECT_FALSE(slope.held);
  const auto wanted = operation.ends(7 * 512 / 8);
  for (std::size_t i = 0; i < ends.size(); ++i)
    ends[i] = wanted[i % operations::distinct_lanes];
  Tally none;
  std::vector<Stamp> stamps(800, Stamp{.result = operations::check_ends(ends, wanted, 0, none)});
  stamps[799].result += 1;
  Tally tally;
  slope.verify({.length = {.rounds = 7}}, stamps, tally);
  EXPECT_EQ(tally.checked, ends.size() + 800);
  EXPECT_EQ(tally.different, 1U);
}

TEST(CeilingsLengths, AreFoundByTrial) {
  const Experiment experiment = describe({.warps = 16}, hopper(), {});
  const Lengths lengths = experiment.slopes[0].size([](const Length& length) {
    return Launched{.length = length, .seconds = 1e-5 + 2e-6 * length.rounds};
  });
  EXPECT_NEAR(lengths.full.rounds, 4000, 1);
  EXPECT_EQ(lengths.brief.rounds, lengths.full.rounds / 5);
  EXPECT_EQ(lengths.full.work, lengths.full.rounds * 512.0 * 16);
}

TEST(CeilingsCounts, AreTheInstructionsOfEveryThread) {
  const Experiment experiment =
      describe({.arithmetic = Arithmetic::fp64, .warps = 8}, hopper(), {});
  const CountPlan& plan = experiment.counts.value();
  ASSERT_EQ(plan.expected.size(), 1U);
  EXPECT_EQ(plan.expected[0].quantity, "fp64_fma");
  EXPECT_EQ(plan.expected[0].predicted, 16.0 * 512 * 8 * 32 * 100);
  EXPECT_EQ(plan.units, plan.expected[0].predicted);
  EXPECT_EQ(plan.model + " " + plan.unit, "chain_length instruction");
  EXPECT_EQ(plan.length.rounds, 17U);
  EXPECT_EQ(plan.none.rounds, 1U);
  const Experiment integers = describe({.arithmetic = Arithmetic::int32}, hopper(), {});
  EXPECT_FALSE(integers.counts);
  EXPECT_EQ(integers.not_counted, "no counter for this operation");
}

}  // namespace
}  // namespace strata::ceilings
