#include "micro/compute/instruction_cost.cu"

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

template <class>
struct Types;
template <class... Op>
struct Types<List<Op...>> {
  using Type = ::testing::Types<Op...>;
};

template <class Op>
class EachOperation : public ::testing::Test {};

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

TYPED_TEST_SUITE(EachOperation, Types<Operations>::Type, );

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
  EXPECT_DOUBLE_EQ(slope_of(straight), 40);
  EXPECT_DOUBLE_EQ(bend_of(straight), 0);
  const Passes bent{{100 + 40, 100 + 85, 100 + 160}};
  EXPECT_DOUBLE_EQ(bend_of(bent), 5);
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

}  // namespace
}  // namespace strata::instruction_cost
