#include "micro/compute/instruction_cost.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace strata {
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
    advance<Op>(x, of, static_cast<std::size_t>(i / run_of<Op> % 2));
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
    EXPECT_EQ(TypeParam::body % ilp, 0U);
    EXPECT_EQ(TypeParam::body / ilp % (2 * run_of<TypeParam>), 0U)
        << "the operand sets alternate across rounds";
  }
}

TYPED_TEST(EachOperation, DoesSomething) {
  if (TypeParam::space == Space::barrier) return;
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
    const auto numbers = contraction<double>(lane, Bfloat::bits - 1);
    for (const double value : {numbers.start, numbers.a[0], numbers.a[1], numbers.b[0]})
      EXPECT_EQ(Bfloat::unpack(Bfloat::pack(value)), value);
  }
}

TEST(Dp4aOnTheHost, AddsFourProductsOfBytes) {
  EXPECT_EQ(Dp4a::step(7, 0x01020304U, 0x05060708U), 7U + 5 + 12 + 21 + 32);
}

using namespace instruction_cost;

TEST(InstructionCostPasses, GiveTheSlopeAndWhatBendsIt) {
  const Passes straight{{100 + 40, 100 + 80, 100 + 160}};
  EXPECT_DOUBLE_EQ(straight.slope(), 40);
  EXPECT_DOUBLE_EQ(straight.bend(), 0);
  const Passes bent{{100 + 40, 100 + 85, 100 + 160}};
  EXPECT_DOUBLE_EQ(bent.bend(), 5);
}

TEST(InstructionCostLine, HoldsWithinACycle) {
  const std::vector<double> held{0.2, 1.0, -0.7, 0.5};
  EXPECT_EQ(linear_gate(held, 1000).verdict, Verdict::passed);
  const std::vector<double> off{1.2, 1.5, 0.1, 1.4};
  const auto gate = linear_gate(off, 1000);
  EXPECT_EQ(gate.verdict, Verdict::failed);
  EXPECT_EQ(gate.name, "model");
  EXPECT_THAT(gate.detail, HasSubstr("1000, 2000 and 4000 operations"));
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
  std::array<float, distinct_lanes> wanted{};
  wanted.fill(1.0F);
  std::vector<float> got(2 * warp_lanes, 1.0F);
  Checked exact;
  const auto checksum = exact.ends<float>(got, wanted, 0);
  EXPECT_EQ(exact.words, got.size());
  EXPECT_EQ(exact.different, 0U);
  got[7] = std::nextafter(1.0F, 2.0F);
  EXPECT_NE(exact.ends<float>(got, wanted, 0), checksum);
  EXPECT_EQ(exact.different, 1U);
  Checked near;
  (void)near.ends<float>(got, wanted, 1e-6);
  EXPECT_EQ(near.different, 0U);
  got[7] = std::nanf("");
  (void)near.ends<float>(got, wanted, 1e-6);
  EXPECT_EQ(near.different, 1U);
}

TEST(OperationsChecked, TellsChainsApart) {
  EXPECT_NE(checksum_part(1, 0) + checksum_part(2, 1), checksum_part(2, 0) + checksum_part(1, 1));
}

TEST(OperationsWords, GiveEachChainAndSetARowOfLanes) {
  const auto words = device_words(operands_of<Imad>(), 2);
  ASSERT_EQ(words.size(), 6 * warp_lanes);
  EXPECT_EQ(words[warp_lanes + 9], Imad::operands(1).start);
  EXPECT_EQ(words[3 * warp_lanes + 2], Imad::operands(2).a[1]);
  EXPECT_EQ(words[4 * warp_lanes + 2], Imad::operands(2).b[0]);
}

}  // namespace
}  // namespace strata
