// Instructions of this CPU: the loops do what their types declare, and chains prove their length.
#include "case_here.hpp"
#include "micro/compute/instruction_cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <type_traits>

namespace strata::host_operations {
namespace {

template <class List>
struct TypesOf;
template <class... Each>
struct TypesOf<operations::List<Each...>> {
  using Types = testing::Types<Each...>;
};

template <class Op>
class EachHostOperation : public testing::Test {};

TYPED_TEST_SUITE(EachHostOperation, TypesOf<Operations>::Types);

TYPED_TEST(EachHostOperation, StaysFiniteAndNormal) {
  for (std::uint32_t chain = 0; chain < most_chains; ++chain) {
    for (const std::uint64_t turns : {1U, 2U, 3U, 100U}) {
      const auto end = expected_end<TypeParam>(chain, turns);
      if constexpr (std::is_floating_point_v<decltype(end)>) {
        EXPECT_TRUE(std::isnormal(end)) << chain << ", " << turns;
      } else {
        EXPECT_NE(end, 0U) << chain << ", " << turns;
      }
    }
  }
}

TYPED_TEST(EachHostOperation, IsOfTheOperationsOfABenchmarkThatKnowsItsName) {
  const Axis axis = *find_benchmark("instruction_cost")->benchmark.axis("operation");
  EXPECT_EQ(axis.canonical(TypeParam::about.name), std::string{TypeParam::about.name});
  EXPECT_FALSE(TypeParam::instructions.empty());
}

#if defined(__x86_64__)
template <class Op, unsigned ilp>
void expect_ends() {
  using Word = typename Op::Word;
  for (const std::uint64_t turns : {1U, 2U, 7U, 50U}) {
    Words<Word> x{};
    for (std::uint32_t chain = 0; chain < ilp; ++chain)
      x[chain] = start_of<Op>(chain);
    Op::template run<ilp>(x, shared_operands<Op>(), turns);
    for (std::uint32_t chain = 0; chain < ilp; ++chain) {
      EXPECT_EQ(operations::bits(x[chain]), operations::bits(expected_end<Op>(chain, turns)))
          << Op::about.name << ", chain " << chain << " of " << ilp << ", " << turns << " turns";
    }
    for (std::uint32_t chain = ilp; chain < most_chains; ++chain)
      EXPECT_EQ(x[chain], Word{}) << "a chain that takes no part";
  }
}

TYPED_TEST(EachHostOperation, GivesTheBitsOfItsHostStep) {
  if (!__builtin_cpu_supports("avx") || !__builtin_cpu_supports("fma")) GTEST_SKIP();
  expect_ends<TypeParam, 1>();
  expect_ends<TypeParam, 4>();
  expect_ends<TypeParam, most_chains>();
}
#endif

// All loops are made alike, so that one whose every step shows speaks for the others.
TEST(HostOperations, AChainOfAdditionsShowsEachOfItsSteps) {
  std::set<std::uint32_t> ends;
  for (std::uint64_t turns = 1; turns <= 1000; ++turns)
    ends.insert(expected_end<Iadd>(0, turns));
  EXPECT_EQ(ends.size(), 1000U);
}

TEST(HostOperations, SquareRootsNeverSettle) {
  constexpr float near = 1e-3F;
  EXPECT_GT(std::abs(expected_end<SqrtIeee>(0, 9) - 1.0F), near);  // flipped at the end of a turn
  EXPECT_GT(std::abs(expected_end<Dsqrt>(0, 9) - 1.0), double{near});
}

TEST(InstructionCostOnThisCpu, MeasuresWithTheRightEnds) {
  const CaseRecord record = measure_here(
      "instruction_cost", {{"operation", "dadd"}, {"ilp", "4"}, {"warps_per_sm", "1"}});
  if (record.status == Status::skipped) GTEST_SKIP() << record.reason;
  const auto keys = keys_of(record);
  EXPECT_TRUE(keys.contains("operation_cycles/tsc_slope"));
  EXPECT_TRUE(keys.contains("operation_core_cycles/over_dependent_adds"));
}

}  // namespace
}  // namespace strata::host_operations
