// The matrices of a tensor-core instruction: random numbers of its type, where registers and shared
// memory hold them, and the sums of the product. Host only.
#pragma once

#include "harness/case/choices.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/word_patterns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace strata::tensor_rate {

enum class Measure : std::uint8_t { rate, latency };
inline constexpr auto measures = choices_of<Measure>("rate", "latency");
enum class Instruction : std::uint8_t { mma, wgmma };
inline constexpr auto instructions = choices_of<Instruction>("mma", "wgmma");
enum class Type : std::uint8_t { fp16, bf16, tf32, e4m3, e5m2, int8, fp64 };
inline constexpr auto types =
    choices_of<Type>("fp16", "bf16", "tf32", "e4m3", "e5m2", "int8", "fp64");
/// Of `mma` the two shapes that a type has, of `wgmma` the columns of B.
enum class Size : std::uint8_t { smallest, largest, n64, n128, n256 };
inline constexpr auto sizes = choices_of<Size>("smallest", "largest", "n64", "n128", "n256");
enum class Source : std::uint8_t { registers, shared };
inline constexpr auto sources = choices_of<Source>("registers", "shared");
enum class Sparsity : std::uint8_t { dense, sparse };
inline constexpr auto sparsities = choices_of<Sparsity>("dense", "sparse");
/// `integers`: ±1 and ±2, so that all sums are exact.
enum class Data : std::uint8_t { random, zeros, integers };
inline constexpr auto datas = choices_of<Data>("random", "zeros", "integers");

[[nodiscard]] constexpr bool is_fp8(Type type) {
  return type == Type::e4m3 || type == Type::e5m2;
}

/// What an instruction multiplies: A has m rows and k columns, B has k rows and n columns.
struct Shape {
  Measure measure = Measure::rate;
  Instruction instruction = Instruction::mma;
  Type type = Type::fp16;
  Size size = Size::largest;
  Source a = Source::registers;
  Sparsity sparsity = Sparsity::dense;
  Data data = Data::random;

  [[nodiscard]] constexpr bool of_group() const { return instruction == Instruction::wgmma; }
  [[nodiscard]] constexpr bool is_sparse() const { return sparsity == Sparsity::sparse; }
  [[nodiscard]] constexpr std::uint32_t m() const {
    if (of_group()) return 64;
    return type == Type::fp64 && size == Size::smallest ? 8 : 16;
  }
  [[nodiscard]] constexpr std::uint32_t n() const {
    return of_group() ? 64U << (static_cast<unsigned>(size) - static_cast<unsigned>(Size::n64)) : 8;
  }
  /// Bytes of an element.
  [[nodiscard]] constexpr std::uint32_t bytes() const {
    constexpr std::array<std::uint32_t, 7> of{2, 2, 4, 1, 1, 1, 8};
    return of.at(static_cast<std::size_t>(type));
  }
  /// Elements of a 32-bit register, or of the 64-bit one of fp64.
  [[nodiscard]] constexpr std::uint32_t of_word() const {
    return type == Type::fp64 ? 1 : 4 / bytes();
  }
  /// Elements of a row of A as it is stored: if it is sparse, half of its columns.
  [[nodiscard]] constexpr std::uint32_t stored_k() const {
    const bool least = size == Size::smallest;
    if (type == Type::fp64) return least ? 4 : 16;
    return (least ? 16 : row_bytes) / bytes();
  }
  [[nodiscard]] constexpr std::uint32_t k() const {
    return is_sparse() ? 2 * stored_k() : stored_k();
  }
  /// Multiplications and additions of one instruction; those with the zeros of a sparse A count, as
  /// vendors count them.
  [[nodiscard]] constexpr double operations() const { return 2.0 * m() * n() * k(); }
  /// Warps that run one instruction together, each on 16 rows of A.
  [[nodiscard]] constexpr std::uint32_t warps() const { return of_group() ? 4 : 1; }

  // Registers of a thread.
  [[nodiscard]] constexpr std::uint32_t of_a() const {
    return m() / warps() / 8 * stored_k() / (4 * of_word());
  }
  [[nodiscard]] constexpr std::uint32_t of_b() const { return k() / (4 * of_word()); }
  [[nodiscard]] constexpr std::uint32_t of_sum() const {
    return m() * n() / (warps() * warp_lanes);
  }

  static constexpr std::uint32_t row_bytes = 32;  ///< of A as it is stored
};

namespace detail {

/// How a number is encoded.
struct Format {
  unsigned bits;
  unsigned mantissa;
  int bias;
  std::uint64_t kept;  ///< of a random word: sign, two bits of the exponent, mantissa
  std::uint64_t set;   ///< the other bits of the exponent: magnitudes from 1/8 up to 2
  std::uint64_t one;   ///< the bits of 1
};
[[nodiscard]] inline const Format& format_of(Type type) {
  static constexpr std::array<Format, 7> of{
      {{16, 10, 15, 0x8FFF, 0x3000, 0x3C00},
       {16, 7, 127, 0x81FF, 0x3E00, 0x3F80},
       {32, 23, 127, 0x81FFE000, 0x3E000000, 0x3F800000},
       {8, 3, 7, 0x9F, 0x20, 0x38},
       {8, 2, 15, 0x8F, 0x30, 0x3C},
       {8, 0, 0, 0xFF, 0, 1},
       {64, 52, 1023, 0x803FFFFFFFFFFFFF, 0x3FC0000000000000, 0x3FF0000000000000}}};
  return of.at(static_cast<std::size_t>(type));
}

}  // namespace detail

/// The bits of element `index` of the data.
[[nodiscard]] inline std::uint64_t bits_of_element(Type type, Data data, std::uint32_t index) {
  const detail::Format& format = detail::format_of(type);
  const std::uint64_t word = hashed_word(2 * index) | std::uint64_t{hashed_word(2 * index + 1)}
                                                          << 32U;
  if (data == Data::zeros) return 0;
  if (data == Data::random) return (word & format.kept) | format.set;
  const std::uint64_t twice = (word >> 20U) & 1U;
  const bool negative = (word >> 21U) % 2 != 0;
  if (type == Type::int8) {
    const auto value = static_cast<std::uint8_t>(1 + twice);
    return static_cast<std::uint8_t>(negative ? -value : value);
  }
  const std::uint64_t sign = std::uint64_t{negative} << (format.bits - 1);
  return sign | (format.one + (twice << format.mantissa));
}

/// The number that the bits of an element mean.
[[nodiscard]] inline double value_of(Type type, std::uint64_t bits) {
  if (type == Type::int8) return static_cast<std::int8_t>(bits);
  if (type == Type::fp64) return std::bit_cast<double>(bits);
  const detail::Format& format = detail::format_of(type);
  if (bits == 0) return 0;
  const auto exponent = static_cast<int>((bits >> format.mantissa) &
                                         ((1U << (format.bits - 1 - format.mantissa)) - 1));
  const std::uint64_t one = std::uint64_t{1} << format.mantissa;
  const double size = std::ldexp(static_cast<double>((bits & (one - 1)) | one),
                                 exponent - format.bias - static_cast<int>(format.mantissa));
  return (bits >> (format.bits - 1)) != 0 ? -size : size;
}

/// The column of A that stored element `stored` of a row is: the first two of four, the first of
/// two (tf32), as `stored_first` encodes.
[[nodiscard]] constexpr std::uint32_t column_of(const Shape& shape, std::uint32_t stored) {
  if (!shape.is_sparse()) return stored;
  return shape.type == Type::tf32 ? 2 * stored : stored / 2 * 4 + stored % 2;
}
/// Sparsity metadata of a thread, four bits for each two (tf32: one) stored elements.
inline constexpr std::uint32_t stored_first = 0x44444444;

/// The operands as the kernel reads them, and what each thread of the instruction adds up.
struct Operands {
  std::vector<std::uint64_t> registers;  ///< row after row for the lanes of a warp: A, then B
  std::vector<std::uint32_t> shared;     ///< A, if it is in shared memory, then B
  std::vector<double> sums;              ///< of a thread's elements of one product
  std::vector<double> magnitudes;        ///< the same of absolute values
};

namespace detail {

/// Rows of `columns` elements each.
struct Matrix {
  std::uint32_t columns = 0;
  std::vector<std::uint64_t> bits;
  std::vector<double> values;
  Matrix(std::uint32_t rows, std::uint32_t row_elements, Type type, Data data, std::uint32_t first)
      : columns{row_elements} {
    for (std::uint32_t i = 0; i < rows * columns; ++i) {
      bits.push_back(bits_of_element(type, data, first + i));
      values.push_back(value_of(type, bits.back()));
    }
  }
  [[nodiscard]] std::uint64_t at(std::uint32_t row, std::uint32_t column) const {
    return bits.at(std::size_t{row} * columns + column);
  }
};

/// Adds the registers of a warp that hold rows lane/4 (and those 8 further on) of a matrix (PTX
/// ISA, "Matrix fragments for mma").
inline void add_registers(Operands& to, const Shape& shape, const Matrix& of, std::uint32_t words,
                          std::uint32_t halves) {
  const std::uint32_t width = shape.bytes() * 8;
  for (std::uint32_t word = 0; word < words; ++word) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint32_t row = lane / 4 + word % halves * 8;
      const std::uint32_t first = (word / halves * 4 + lane % 4) * shape.of_word();
      std::uint64_t packed = 0;
      for (std::uint32_t e = 0; e < shape.of_word(); ++e)
        packed |= of.at(row, first + e) << (e * width);
      to.registers.push_back(packed);
    }
  }
}

/// Adds a matrix in core matrices of 8 rows of 16 bytes, those of a row side by side (PTX ISA,
/// wgmma, K-major without swizzle).
inline void add_shared(Operands& to, const Shape& shape, const Matrix& of) {
  const std::uint32_t row_bytes = of.columns * shape.bytes();
  const std::size_t words = of.bits.size() * shape.bytes() / sizeof(std::uint32_t);
  for (std::uint32_t word = 0; word < words; ++word) {
    const std::uint32_t at = 4 * word;
    const std::uint32_t row = at / (8 * row_bytes) * 8 + at % 128 / 16;
    const std::uint32_t byte = at % (8 * row_bytes) / 128 * 16 + at % 16;
    std::uint32_t packed = 0;
    for (std::uint32_t e = 0; e < shape.of_word(); ++e)
      packed |= static_cast<std::uint32_t>(of.at(row, byte / shape.bytes() + e)
                                           << (e * 8 * shape.bytes()));
    to.shared.push_back(packed);
  }
}

}  // namespace detail

/// Bytes of a column of B in shared memory.
[[nodiscard]] constexpr std::uint32_t row_bytes_of_b(const Shape& shape) {
  return shape.k() * shape.bytes();
}

[[nodiscard]] inline Operands operands_of(const Shape& shape) {
  // The warps of a group hold the same rows of an A in registers.
  const std::uint32_t rows_of_a = shape.a == Source::shared ? shape.m() : shape.m() / shape.warps();
  const detail::Matrix a{rows_of_a, shape.stored_k(), shape.type, shape.data, /*first=*/0};
  // As rows of k elements: its columns.
  const detail::Matrix b{shape.n(), shape.k(), shape.type, shape.data, rows_of_a * a.columns};
  Operands made;
  if (shape.a == Source::registers) {
    detail::add_registers(made, shape, a, shape.of_a(), shape.m() / shape.warps() / 8);
  } else {
    detail::add_shared(made, shape, a);
  }
  if (shape.of_group()) {
    detail::add_shared(made, shape, b);
  } else {
    detail::add_registers(made, shape, b, shape.of_b(), 1);
  }
  for (std::uint32_t thread = 0; thread < shape.warps() * warp_lanes; ++thread) {
    double sum = 0;
    double magnitude = 0;
    for (std::uint32_t i = 0; i < shape.of_sum(); ++i) {
      // PTX ISA, "accumulators": two neighbours of a row, then those 8 rows further on.
      const std::uint32_t row = thread / warp_lanes * 16 + thread % warp_lanes / 4 + i / 2 % 2 * 8;
      const std::uint32_t column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      const double* const of_row = &a.values[std::size_t{row} % rows_of_a * a.columns];
      const double* const of_column = &b.values[std::size_t{column} * b.columns];
      for (std::uint32_t s = 0; s < shape.stored_k(); ++s) {
        const double product = of_row[s] * of_column[column_of(shape, s)];
        sum += product;
        magnitude += std::abs(product);
      }
    }
    made.sums.push_back(sum);
    made.magnitudes.push_back(magnitude);
  }
  return made;
}

/// Error of a sum of `products` products ÷ the sum of their magnitudes, at most: an addition
/// truncates to the digits of the accumulator, twice (aligned terms, and the sum), and so do the
/// additions of what a thread holds. 8-bit floating point is added with 13 digits behind the point.
[[nodiscard]] inline double error_bound(const Shape& shape, std::uint32_t products) {
  if (shape.data != Data::random || shape.type == Type::int8) return 0;
  const int digits = is_fp8(shape.type) ? 13 : shape.type == Type::fp64 ? 52 : 22;
  const double additions = shape.type == Type::fp64 ? double{1} * products * shape.k() : products;
  const double rounded = 2 * additions * std::ldexp(1.0, -digits);
  constexpr int least_digits = 23;
  return rounded + shape.of_sum() * std::ldexp(1.0, -std::max(digits, least_digits));
}

}  // namespace strata::tensor_rate
