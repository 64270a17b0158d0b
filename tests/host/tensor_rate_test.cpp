// The matrices of a tensor-core instruction: numbers, places in registers and memory, and sums.
#include "micro/compute/tensor_rate.cu"

#include "example_gpu.hpp"
#include "harness/base/error.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <set>

namespace strata::tensor_rate {
namespace {

constexpr std::array all_types{Type::fp16, Type::bf16, Type::tf32, Type::e4m3,
                               Type::e5m2, Type::int8, Type::fp64};

/// Every shape that some GPU has.
std::vector<Shape> shapes(Data data) {
  std::vector<Shape> all;
  for (const Type type : all_types) {
    for (const Instruction instruction : {Instruction::mma, Instruction::wgmma}) {
      for (const Size size : {Size::smallest, Size::largest, Size::n64, Size::n128, Size::n256}) {
        for (const Source a : {Source::registers, Source::shared}) {
          for (const Sparsity sparsity : {Sparsity::dense, Sparsity::sparse}) {
            const Shape shape{Measure::rate, instruction, type, size, a, sparsity, data};
            if (why_not(shape) == nullptr) all.push_back(shape);
          }
        }
      }
    }
  }
  return all;
}

TEST(TensorNumbers, HaveTheirTypesEncodings) {
  EXPECT_EQ(value_of(Type::fp16, 0x3C00), 1);
  EXPECT_EQ(value_of(Type::fp16, 0xC100), -2.5);
  EXPECT_EQ(value_of(Type::bf16, 0xBF80), -1);
  EXPECT_EQ(value_of(Type::tf32, 0x3FC00000), 1.5);
  EXPECT_EQ(value_of(Type::e4m3, 0x38), 1);
  EXPECT_EQ(value_of(Type::e4m3, 0xC4), -3);
  EXPECT_EQ(value_of(Type::e5m2, 0x3C), 1);
  EXPECT_EQ(value_of(Type::e5m2, 0xC2), -3);
  EXPECT_EQ(value_of(Type::int8, 0xFE), -2);
  EXPECT_EQ(value_of(Type::fp64, 0x3FF8000000000000), 1.5);
}

TEST(TensorNumbers, AreSmallIntegersOrOfOneSize) {
  for (const Type type : all_types) {
    std::set<double> integers;
    for (std::uint32_t i = 0; i < 200; ++i) {
      integers.insert(value_of(type, bits_of_element(type, Data::integers, i)));
      EXPECT_EQ(value_of(type, bits_of_element(type, Data::zeros, i)), 0);
      const double number = std::abs(value_of(type, bits_of_element(type, Data::random, i)));
      if (type == Type::int8) continue;
      EXPECT_GE(number, 0.125);
      EXPECT_LT(number, 2);
    }
    EXPECT_EQ(integers, (std::set<double>{-2, -1, 1, 2}));
  }
}

/// Element `e` of register `word` of `lane`.
double element_at(const Shape& shape, const Operands& of, std::uint32_t word, std::uint32_t lane,
                  std::uint32_t e) {
  const unsigned width = shape.bytes() * 8;
  const std::uint64_t bits = of.registers.at(word * warp_lanes + lane) >> (e * width);
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  return value_of(shape.type, bits & mask);
}

// The tables of the PTX ISA for the largest dense shape of 16 bits: register 2 of A is columns 8 to
// 15 of the upper rows, register 1 the lower rows; register 1 of B is rows 8 to 15.
TEST(TensorOperands, AreWhereTheInstructionExpectsThem) {
  const Shape shape{.type = Type::fp16, .data = Data::integers};
  const Operands operands = operands_of(shape);
  ASSERT_EQ(operands.registers.size(), 6 * warp_lanes);
  double sum = 0;  // of thread 9: rows 2 and 10, columns 2 and 3
  for (const std::uint32_t half : {0U, 1U}) {
    for (const std::uint32_t column : {2U, 3U}) {
      for (std::uint32_t k = 0; k < 16; ++k) {
        const std::uint32_t pair = k % 8 / 2;
        sum += element_at(shape, operands, half + 2 * (k / 8), 2 * 4 + pair, k % 2) *
               element_at(shape, operands, 4 + k / 8, column * 4 + pair, k % 2);
      }
    }
  }
  EXPECT_EQ(sum, operands.sums.at(9));
}

TEST(TensorOperands, OfWarpgroupsAreInCoreMatrices) {
  const Shape shape{.instruction = Instruction::wgmma,
                    .type = Type::int8,
                    .size = Size::n64,
                    .a = Source::shared,
                    .data = Data::integers};
  const Operands operands = operands_of(shape);
  ASSERT_EQ(operands.shared.size() * 4, (64 + 64) * 32U);
  const auto at = [&](std::uint32_t base, std::uint32_t row, std::uint32_t k) {
    const std::uint32_t byte = base + row / 8 * 256 + k / 16 * 128 + row % 8 * 16 + k % 16;
    return static_cast<std::int8_t>(operands.shared.at(byte / 4) >> (byte % 4 * 8));
  };
  // Thread 101: warp 3, lane 5, so rows 49 and 57, and columns 2 and 3 of each eight.
  double sum = 0;
  for (const std::uint32_t row : {49U, 57U}) {
    for (std::uint32_t n = 0; n < 64; ++n) {
      for (std::uint32_t k = 0; k < 32 && (n % 8 == 2 || n % 8 == 3); ++k)
        sum += at(0, row, k) * at(64 * 32, n, k);
    }
  }
  EXPECT_EQ(sum, operands.sums.at(101));
}

TEST(TensorOperands, OfSparseProductsSkipTheZerosOfA) {
  const Shape shape{.type = Type::int8, .sparsity = Sparsity::sparse, .data = Data::integers};
  EXPECT_EQ(column_of(shape, 0), 0U);
  EXPECT_EQ(column_of(shape, 3), 5U);
  EXPECT_EQ(column_of({.type = Type::tf32, .sparsity = Sparsity::sparse}, 3), 6U);
  EXPECT_EQ(shape.k(), 2 * shape.stored_k());
}

TEST(TensorOperands, FillTheRegistersOfEveryShape) {
  for (const Shape& shape : shapes(Data::integers)) {
    const Operands operands = operands_of(shape);
    const std::uint32_t of_a = shape.a == Source::registers ? shape.of_a() : 0;
    const std::uint32_t of_b = shape.of_group() ? 0 : shape.of_b();
    EXPECT_EQ(operands.registers.size(), (of_a + of_b) * warp_lanes);
    EXPECT_EQ(operands.sums.size(), shape.warps() * warp_lanes);
    // The sums of a round stay exact: 13 digits of 8-bit floating point, 24 of a float.
    const double digits = is_fp8(shape.type) && shape.of_group() ? 13 : 24;
    for (std::size_t i = 0; i < operands.sums.size(); ++i) {
      EXPECT_LE(products_of_round(shape) * std::abs(operands.sums[i]) / shape.of_sum(),
                std::ldexp(1, static_cast<int>(digits)));
    }
  }
}

TEST(TensorRate, RefusesEndsOfOtherProducts) {
  for (const Shape& shape : shapes(Data::random)) {
    const Operands operands = operands_of(shape);
    std::vector<End> ends;
    for (const double sum : operands.sums)
      ends.push_back({products_of_round(shape) * sum, 6});
    const std::vector<Stamp> stamps(8, Stamp{.result = 7 * 5});
    const auto different = [&] {
      Tally tally;
      verified(shape, ends)({.length = {.rounds = 5}}, stamps, tally);
      return tally.different;
    };
    EXPECT_EQ(different(), 0U);
    ends.at(3).sum += 0.05 * products_of_round(shape) * operands.magnitudes.at(3);
    EXPECT_EQ(different(), 1U);
    ends.at(0).first = 5;
    EXPECT_GT(different(), 1U);
  }
}

TEST(TensorRate, IsSkippedWithTheMissingCapability) {
  GpuFacts gpu = example_gpu();
  EXPECT_NO_THROW(need({.instruction = Instruction::wgmma, .size = Size::n64}, gpu));
  gpu.major = 8;
  gpu.compute_capability = "8.0";
  EXPECT_THROW(need({.instruction = Instruction::wgmma, .size = Size::n64}, gpu), Skipped);
  EXPECT_THROW(need({.type = Type::e4m3}, gpu), Skipped);
  EXPECT_THROW(need({.type = Type::fp64}, gpu), Skipped);
  EXPECT_NO_THROW(need({.type = Type::fp64, .size = Size::smallest}, gpu));
  gpu.minor = 9;
  EXPECT_NO_THROW(need({.type = Type::e4m3}, gpu));
}

TEST(TensorRate, IsComparedWithTheVendorsRate) {
  const GpuFacts gpu = example_gpu();
  EXPECT_EQ(limit_of({.type = Type::fp16}, gpu), 4096);
  EXPECT_EQ(limit_of({.type = Type::tf32}, gpu), 2048);
  EXPECT_EQ(limit_of({.type = Type::int8, .sparsity = Sparsity::sparse}, gpu), 16384);
  EXPECT_EQ(limit_of({.type = Type::fp64}, gpu), 256);
  GpuFacts other = gpu;
  other.compute_capability = "12.0";
  EXPECT_EQ(limit_of({.type = Type::fp16}, other), std::nullopt);
}

// A warpgroup's m64n256k16 in 128 cycles: 4096 operations per cycle.
TEST(TensorRate, CountsMultiplicationsAndAdditions) {
  const Shape shape{.instruction = Instruction::wgmma, .size = Size::n256, .a = Source::shared};
  const Experiment experiment = describe(shape, example_gpu(), {});
  const Sample sample{.slopes = {{.inside = {.cycles = 128, .slowest = 128, .hertz = 1.6e9},
                                  .outside = 128,
                                  .seconds = 80e-9}}};
  const auto rows = rows_of(experiment, cuda_timers, sample);
  EXPECT_DOUBLE_EQ(rows.at("operations_per_cycle by clock64_slope").value, 4096);
  EXPECT_DOUBLE_EQ(rows.at("operations_per_second by event_slope").value, 4096.0 * 132 * 1.6e9);
  EXPECT_DOUBLE_EQ(rows.at("share_of_limit by event_slope").value, 1);
}

}  // namespace
}  // namespace strata::tensor_rate
