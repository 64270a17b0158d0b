#include "micro/compute/ceilings.cu"

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

// --- rows, gates and counts from what launches showed

}  // namespace
}  // namespace strata::ceilings
