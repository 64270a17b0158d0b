#include "micro/compute/instruction_cost.hpp"

#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace strata::instruction_cost {
namespace {

using namespace operations;
using ::testing::HasSubstr;

template <class>
struct Types;
template <class... Op>
struct Types<List<Op...>> {
  using Type = ::testing::Types<Op...>;
};

template <class Op>
class EachOperation : public ::testing::Test {};
TYPED_TEST_SUITE(EachOperation, Types<Operations>::Type, );

/// A chain, one operation after the other, with no shortcut.
template <class Op>
Lanes<Op> walked(std::uint64_t steps) {
  const auto of = operands_of<Op>();
  Lanes<Op> x{};
  std::ranges::transform(of, x.begin(), &Operands<typename Op::Word>::start);
  for (std::uint64_t i = 0; i < steps; ++i)
    advance<Op>(x, of, static_cast<std::size_t>(i / Op::run % 2));
  return x;
}

TYPED_TEST(EachOperation, EndsWhereAPlainLoopEnds) {
  for (const std::uint64_t steps : {0U, 1U, 2U, 3U, 511U, 4096U, 5001U})
    EXPECT_EQ(expected_ends<TypeParam>(steps), walked<TypeParam>(steps)) << steps;
}

TYPED_TEST(EachOperation, StaysFiniteAndNormalAndNeverAllOnes) {
  for (const std::uint64_t steps : {1U, 2U, 7U, 512U, 3584U, 200001U}) {
    for (const auto x : expected_ends<TypeParam>(steps)) {
      if constexpr (std::is_floating_point_v<typename TypeParam::Word>) {
        EXPECT_TRUE(std::isnormal(x)) << x << " after " << steps;
      } else {
        EXPECT_NE(static_cast<std::uint32_t>(x), 0xFFFFFFFFU);  // the kernel would trap
      }
    }
  }
}

TYPED_TEST(EachOperation, FillsItsLoopEvenlyWithAnyNumberOfChains) {
  for (const std::uint32_t ilp : {1U, 2U, 4U, 8U}) {
    EXPECT_EQ(TypeParam::about.body % ilp, 0U);
    EXPECT_EQ(TypeParam::about.body / ilp % (2 * TypeParam::run), 0U)
        << "the operand sets alternate across rounds";
  }
}

TYPED_TEST(EachOperation, DoesSomething) {
  if (TypeParam::about.space == Space::barrier) return;
  EXPECT_NE(walked<TypeParam>(1), walked<TypeParam>(0));
}

TEST(InstructionCostNames, AreWordsAndDifferent) {
  std::set<std::string_view> names;
  for (const auto name : Operations::names) {
    EXPECT_TRUE(is_canonical_word(name));
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(PackedNumbers, AreReadAsTheyWereWritten) {
  for (const double value : {1.0, -1.5, 0.625, 1.9375, -12.25}) {
    EXPECT_EQ(Half::unpack(Half::pack(value)), value);
    EXPECT_EQ(Bfloat::unpack(Bfloat::pack(value)), value);
  }
  EXPECT_EQ(Half::pack(1.0), 0x3C003C00U);
  EXPECT_EQ(Half::pack(-2.5), 0xC100C100U);
  EXPECT_EQ(Bfloat::pack(1.0), 0x3F803F80U);
}

TEST(PackedNumbers, RoundToNearestTiesToEven) {
  EXPECT_EQ(rounded(1.0 + 1.0 / 2048, 11), 1.0);
  EXPECT_EQ(rounded(1.0 + 3.0 / 2048, 11), 1.0 + 4.0 / 2048);
  EXPECT_EQ(rounded(1.0 + 1.1 / 2048, 11), 1.0 + 2.0 / 2048);
  EXPECT_EQ(rounded(-1.0 - 1.1 / 2048, 11), -1.0 - 2.0 / 2048);
}

TEST(PackedNumbers, OperandsAreHeldByTheirFormat) {
  for (std::uint32_t lane = 0; lane < distinct_lanes; ++lane) {
    const auto numbers = contraction<double>(lane, Bfloat::bits - 1, &Dfma::word_of);
    for (const double value : {numbers.start, numbers.a[0], numbers.a[1], numbers.b[0]})
      EXPECT_EQ(Bfloat::unpack(Bfloat::pack(value)), value);
  }
}

TEST(Dp4aOnTheHost, AddsFourProductsOfBytes) {
  EXPECT_EQ(Dp4a::step(7, 0x01020304U, 0x05060708U), 7U + 5 + 12 + 21 + 32);
}

TEST(InstructionCostPasses, GiveTheSlopeAndWhatBendsIt) {
  const Passes straight{{100 + 40, 100 + 80, 100 + 160}};
  EXPECT_DOUBLE_EQ(straight.slope(), 40);
  EXPECT_DOUBLE_EQ(straight.bend(), 0);
  const Passes bent{{100 + 40, 100 + 85, 100 + 160}};
  EXPECT_DOUBLE_EQ(bent.bend(), 5);
}

TEST(InstructionCostRounds, FillTheTimeAndAreNeverFewerThanTheShortLaunchNeeds) {
  EXPECT_EQ(rounds_for(6e5, 2048), 41U);
  EXPECT_EQ(rounds_for(6e5, 1e9), 5U);
  EXPECT_EQ(rounds_for(7, 0), 5U);
}

TEST(InstructionCostDeclaration, LeavesOutBarriersThatRunSideBySide) {
  const auto* const found = find_benchmark("instruction_cost");
  ASSERT_NE(found, nullptr);
  const auto excluded = [&](const char* operation, const char* ilp) {
    return found->benchmark
        .excludes({{"operation", operation}, {"ilp", ilp}, {"warps_per_sm", "1"}}, Backend::cuda)
        .has_value();
  };
  EXPECT_TRUE(excluded("barrier", "2"));
  EXPECT_FALSE(excluded("barrier", "1"));
  EXPECT_FALSE(excluded("ffma", "2"));
}

TEST(OperationsChecked, HoldsEndsAgainstTheHost) {
  const WarpWords wanted(distinct_lanes, bits(1.0F));
  WarpWords got(2 * warp_lanes, bits(1.0F));
  Tally exact;
  const auto checksum = check_ends(got, wanted, 0, exact);
  EXPECT_EQ(exact.checked, got.size());
  EXPECT_EQ(exact.different, 0U);
  got[7] = bits(std::nextafter(1.0F, 2.0F));
  EXPECT_NE(check_ends(got, wanted, 0, exact), checksum);
  EXPECT_EQ(exact.different, 1U);
  Tally near;
  (void)check_ends(got, wanted, 1e-6, near);
  EXPECT_EQ(near.different, 0U);
  got[7] = bits(std::nanf(""));
  (void)check_ends(got, wanted, 1e-6, near);
  EXPECT_EQ(near.different, 1U);
}

TEST(OperationsChecked, MayHaveEndsOfItsOwnForEachChain) {
  WarpWords wanted;
  WarpWords got;
  for (std::uint64_t chain = 0; chain < 2; ++chain) {
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) {
      if (lane < distinct_lanes) wanted.push_back(100 * chain + lane);
      got.push_back(100 * chain + lane % distinct_lanes);
    }
  }
  Tally tally;
  (void)check_ends(got, wanted, 0, tally);
  EXPECT_EQ(tally.different, 0U);
}

TEST(OperationsChecked, TellsChainsApart) {
  EXPECT_NE(checksum_part(1, 0) + checksum_part(2, 1), checksum_part(2, 0) + checksum_part(1, 1));
}

TEST(OperationsWords, GiveEachChainAndSetARowOfLanes) {
  const auto words = device_words<Imad>(2);
  ASSERT_EQ(words.size(), 6 * warp_lanes);
  EXPECT_EQ(words[warp_lanes + 9], Imad::operands(1).start);
  EXPECT_EQ(words[3 * warp_lanes + 2], Imad::operands(2).a[1]);
  EXPECT_EQ(words[4 * warp_lanes + 2], Imad::operands(2).b[0]);
}

// --- rows, gates and counts from what launches showed

GpuFacts gpu() {
  GpuFacts facts;
  facts.sms = 10;
  facts.compute_capability = "7.5";
  facts.major = 7;
  return facts;
}

Shape shape_of(std::string_view operation, unsigned ilp, unsigned warps) {
  return {.operation = operation_named(operation), .chains = ilp, .warps = warps};
}

Sample seen(double bend = 0) {
  return {.slopes = {{.inside = {.cycles = 4, .slowest = 4, .hertz = 1.5e9, .cells = {bend, 1024}},
                      .outside = 4.04,
                      .seconds = 2.5e-9,
                      .full_seconds = 3e-4}},
          .numbers = {}};
}

TEST(InstructionCostRows, AreOfAnSmAndOfTheWholeChip) {
  const auto rows = rows_of(describe(shape_of("ffma", 4, 32), gpu(), {}), cuda_timers, seen());
  EXPECT_EQ(rows, (RowsSeen{{"operation_cycles by clock64_slope", {4, "cycle"}},
                            {"operation_cycles by event_slope", {4.04, "cycle"}},
                            {"operation_throughput by clock64_slope", {8, "operation/cycle"}},
                            {"operation_rate by event_slope", {10 * 32 / 2.5e-9, "1/s"}},
                            {"core_clock by clock64_over_globaltimer", {1.5e9, "Hz"}}}));
}

TEST(InstructionCostFacts, NameOperationsOfSeveralInstructions) {
  constexpr const char* name = "instructions_of_an_operation";
  const auto facts_of = [](const char* operation) {
    const Experiment experiment = describe(shape_of(operation, 1, 1), gpu(), {});
    return experiment.facts(experiment);
  };
  for (const char* const operation : {"fmin_fmax", "imin_imax", "compare_select", "compare_vote"})
    EXPECT_EQ(facts_of(operation).at(name), Fact{std::int64_t{2}}) << operation;
  EXPECT_EQ(facts_of("ffma").at(name), Fact{std::int64_t{1}});
  EXPECT_FALSE(facts_of("rcp_ieee").contains(name)) << "a short program";
}

TEST(InstructionCostRows, OfACpuAreInCyclesOfItsCore) {
  const Experiment experiment = describe_host(4);
  const Sample sample{.slopes = {{.inside = {.cycles = 5, .slowest = 5, .hertz = 4e9},
                                  .outside = 5.01,
                                  .seconds = 1.25e-9}},
                      .numbers = {}};
  EXPECT_EQ(rows_of(experiment, host_timers, sample),
            (RowsSeen{{"operation_cycles by tsc_slope", {5, "cycle"}},
                      {"operation_cycles by monotonic_slope", {5.01, "cycle"}},
                      {"operation_core_cycles by over_dependent_adds", {5, "cycle"}},
                      {"operation_time by monotonic_slope", {1.25e-9, "s"}},
                      {"operation_throughput by over_dependent_adds", {0.2, "operation/cycle"}},
                      {"operation_rate by monotonic_slope", {8e8, "1/s"}},
                      {"core_clock by dependent_adds", {4e9, "Hz"}}}));
  EXPECT_EQ(verdict_of("timer", experiment, {sample}), Verdict::passed);
}

TEST(InstructionCostGates, HoldADependentChainToItsLine) {
  const auto gates = [](unsigned ilp, double bend) {
    auto fake = std::make_unique<FakeSession>();
    report(fake->session, cuda_timers, describe(shape_of("ffma", ilp, 1), gpu(), {}),
           {.kept = {seen(bend)}});
    return fake;
  };
  EXPECT_EQ(gates(1, 0.5)->verdict("model"), Verdict::passed);
  EXPECT_EQ(gates(1, 1.5)->verdict("model"), Verdict::failed);
  EXPECT_THAT(gates(1, 0)->gate("model").detail, HasSubstr("1024, 2048 and 4096"));
  EXPECT_EQ(gates(1, 0.5)->record.facts.at("linearity_error_cycles"), Fact{0.5});
  EXPECT_THROW((void)gates(4, 1.5)->gate("model"), std::out_of_range);
  EXPECT_EQ(gates(4, 0)->verdict("timer"), Verdict::passed);
  Sample apart = seen();
  apart.slopes[0].outside = 4.1;
  EXPECT_EQ(verdict_of("timer", describe(shape_of("ffma", 4, 1), gpu(), {}), {apart}),
            Verdict::failed);
}

TEST(InstructionCostGates, ReadThePassesOfTheMedianSm) {
  const Experiment experiment = describe(shape_of("imad", 1, 2), gpu(), {});
  const Slope& slope = experiment.slopes.at(0);
  EXPECT_TRUE(slope.held);
  EXPECT_EQ(slope.writers, 20U);
  Launched full{.length = {.rounds = 6, .work = 6 * 512 * 2 * 7}};
  for (std::uint64_t sm = 0; sm < 3; ++sm) {
    for (std::uint64_t warp = 0; warp < 2; ++warp) {
      Stamp stamp{};
      for (unsigned pass = 1; pass < passes; ++pass) {
        // Of the slowest SM a round more costs 30 × 512 cycles, of the others 20 and 10.
        const std::uint64_t length = 6 * (1ULL << (pass - 1)) * 512 * 2;
        const std::uint64_t begin = 1'000'000 * pass;
        stamp.cycles[mark_of(pass)] = begin + 10 * pass * warp;
        stamp.cycles[mark_of(pass) + 1] = begin + 10 * pass + 100 + 10 * (sm + 1) * length -
                                          (pass == 2 ? sm : 0) - (warp == 0 ? 50 : 0);
      }
      stamp.nanoseconds[1] = (stamp.cycles[1] - stamp.cycles[0]) / 2;
      full.stamps.push_back(stamp);
    }
  }
  const Inside inside = slope.window.read({}, full);
  EXPECT_DOUBLE_EQ(inside.cycles, 20);
  EXPECT_DOUBLE_EQ(inside.slowest, 20);
  EXPECT_NEAR(inside.hertz, 2e9, 1e3);
  ASSERT_EQ(inside.cells.size(), 2U);
  EXPECT_DOUBLE_EQ(inside.cells[0], -1);
  EXPECT_DOUBLE_EQ(inside.cells[1], 6 * 512);
  const Lengths lengths = slope.size([&](const Length& length) {
    EXPECT_EQ(length.rounds, 1U);
    return full;
  });
  EXPECT_EQ(lengths.full.rounds, rounds_for(6e5, 20.0 * 6 * 512 * 2));
  EXPECT_EQ(lengths.full.work, lengths.full.rounds * 512.0 * 2 * 7);
}

TEST(InstructionCostGates, VerifyChainsOfAllPasses) {
  const Shape shape = shape_of("imad", 2, 1);
  WarpWords ends(2 * warp_lanes);
  const Experiment experiment = describe(shape, gpu(), ends);
  const auto wanted = shape.operation.ends((1 + 7 * 3) * 512 / 2);
  for (std::size_t i = 0; i < ends.size(); ++i)
    ends[i] = wanted[i % distinct_lanes];
  Tally tally;
  experiment.slopes[0].verify({.length = {.rounds = 3}}, {}, tally);
  EXPECT_EQ(tally.checked, ends.size());
  EXPECT_EQ(tally.different, 0U);
  experiment.slopes[0].verify({.length = {.rounds = 4}}, {}, tally);
  EXPECT_GT(tally.different, 0U);
  EXPECT_EQ(experiment.placement->cores, 10U);
  EXPECT_EQ(experiment.placement->per_core, 1);
}

TEST(InstructionCostCounts, AreOperationsOfThreadsOrLoadsOfWarps) {
  const CountPlan adds = describe(shape_of("fadd", 4, 32), gpu(), {}).counts.value();
  ASSERT_EQ(adds.expected.size(), 1U);
  EXPECT_EQ(adds.expected[0].quantity, "fp32_add");
  EXPECT_EQ(adds.expected[0].predicted, 4.0 * 7 * 512 * 32 * 32 * 10);
  EXPECT_EQ(adds.units, adds.expected[0].predicted);
  EXPECT_EQ(adds.model + " " + adds.unit, "chain_length operation");
  EXPECT_EQ(adds.length.rounds, 4U);
  EXPECT_EQ(adds.none.rounds, 0U);
  const Experiment loading = describe(shape_of("load_l1", 1, 2), gpu(), {});
  const CountPlan& loads = loading.counts.value();
  EXPECT_EQ(loads.loads.value().requests, 4U * 7 * 512 * 2 * 10);
  EXPECT_EQ(loads.loads.value().sectors, 2 * loads.loads.value().requests);
  EXPECT_EQ(loads.served_by, ServedBy::l1);
  EXPECT_EQ(loads.reads, static_cast<double>(loads.loads.value().requests));
  EXPECT_EQ(loading.unproved.gate, "level");
  EXPECT_FALSE(describe(shape_of("iadd3", 1, 1), gpu(), {}).counts);
}

TEST(InstructionCostSkips, WhatTheChipDoesNotKnow) {
  EXPECT_THROW(need(operation_named("bfma2"), gpu()), Skipped);
  EXPECT_NO_THROW(need(operation_named("hfma2"), gpu()));
  EXPECT_THROW((void)operation_named("fdiv"), std::out_of_range);
}

}  // namespace
}  // namespace strata::instruction_cost
