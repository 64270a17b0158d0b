// PTX's instructions on single values (PTX ISA 9.0, 9.7.1 to 9.7.9). Integers wrap around; shifts
// clamp; results that PTX does not define are `undefined`.
#pragma once

#include "harness/access/warp_state.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace strata::access {

template <class T>
[[nodiscard]] constexpr T typed(std::uint64_t bits) {
  if constexpr (std::same_as<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::same_as<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
[[nodiscard]] std::uint64_t bits_of(T value) {
  if constexpr (std::same_as<T, float>) {
    constexpr std::uint32_t not_a_number = 0x7FFFFFFF;  // the only NaN that PTX generates for .f32
    return std::isnan(value) ? not_a_number : std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::same_as<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

template <class T>
inline constexpr unsigned bits_in = 8 * sizeof(T);

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

/// The whole product of two numbers of up to 64 bits.
template <class T>
[[nodiscard]] constexpr Wide product(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<Wide>(SignedWide{a} * SignedWide{b});
  } else {
    return Wide{a} * Wide{b};
  }
}

template <class T>
using Unsigned = std::make_unsigned_t<T>;

/// Unsigned, and at least as wide as int: the type for T's wrapping arithmetic.
template <class T>
using Modular = std::conditional_t<sizeof(T) < 4, std::uint32_t, Unsigned<T>>;

struct Add {
  template <class T>
  static constexpr T of(T a, T b) {
    return static_cast<T>(static_cast<Modular<T>>(a) + static_cast<Modular<T>>(b));
  }
};
struct Subtract {
  template <class T>
  static constexpr T of(T a, T b) {
    return static_cast<T>(static_cast<Modular<T>>(a) - static_cast<Modular<T>>(b));
  }
};
struct MultiplyLow {
  template <class T>
  static constexpr T of(T a, T b) {
    return static_cast<T>(static_cast<Modular<T>>(a) * static_cast<Modular<T>>(b));
  }
};
struct MultiplyHigh {
  template <class T>
  static constexpr T of(T a, T b) {
    return static_cast<T>(product(a, b) >> bits_in<T>);
  }
};
struct SaturatingAdd {
  template <class T>
  static constexpr T of(T a, T b) {
    using Limits = std::numeric_limits<T>;
    const auto sum = std::int64_t{a} + std::int64_t{b};
    return static_cast<T>(
        std::clamp<std::int64_t>(sum, std::int64_t{Limits::min()}, std::int64_t{Limits::max()}));
  }
};
struct SaturatingSubtract {
  template <class T>
  static constexpr T of(T a, T b) {
    using Limits = std::numeric_limits<T>;
    const auto rest = std::int64_t{a} - std::int64_t{b};
    return static_cast<T>(
        std::clamp<std::int64_t>(rest, std::int64_t{Limits::min()}, std::int64_t{Limits::max()}));
  }
};
struct Least {
  template <class T>
  static constexpr T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Most {
  template <class T>
  static constexpr T of(T a, T b) {
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  static constexpr T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static constexpr T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static constexpr T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  static constexpr T of(T a) {
    return static_cast<T>(~a);
  }
};
struct LogicalNot {  // cnot
  template <class T>
  static constexpr T of(T a) {
    return a == 0 ? T{1} : T{0};
  }
};
struct Same {
  template <class T>
  static constexpr T of(T a) {
    return a;
  }
};
struct Negate {
  template <class T>
  static constexpr T of(T a) {
    return Subtract::of(T{0}, a);
  }
};
struct Magnitude {
  template <class T>
  static constexpr T of(T a) {
    return a < 0 ? Negate::of(a) : a;
  }
};

/// Shift distances have 32 bits and are clamped to the width of the operand.
struct ShiftLeft {
  template <class T>
  static constexpr T of(T a, std::uint32_t by) {
    return by >= bits_in<T> ? T{0} : static_cast<T>(static_cast<Modular<T>>(a) << by);
  }
};
struct ShiftRight {
  template <class T>
  static constexpr T of(T a, std::uint32_t by) {
    if (by >= bits_in<T>) return a < T{0} ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> by);
  }
};

struct CountOnes {
  template <class T>
  static constexpr std::uint32_t of(T a) {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct LeadingZeros {
  template <class T>
  static constexpr std::uint32_t of(T a) {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
/// Position of the highest bit that differs from the sign; all ones if there is none.
struct HighestBit {
  template <class T>
  static constexpr std::uint32_t of(T a) {
    const auto wanted = static_cast<Unsigned<T>>(a < T{0} ? static_cast<T>(~a) : a);
    return static_cast<std::uint32_t>(std::bit_width(wanted)) - 1U;
  }
};
/// The shift that moves it to the top.
struct HighestBitShift {
  template <class T>
  static constexpr std::uint32_t of(T a) {
    const std::uint32_t at = HighestBit::of(a);
    return at == 0xFFFFFFFF ? at : bits_in<T> - 1 - at;
  }
};
struct Reverse {
  template <class T>
  static constexpr T of(T a) {
    T reversed = 0;
    for (unsigned i = 0; i < bits_in<T>; ++i)
      reversed = static_cast<T>(reversed << 1U) | static_cast<T>(a >> i & 1U);
    return reversed;
  }
};

struct ExtractBits {
  template <class T>
  static constexpr T of(T a, std::uint32_t from, std::uint32_t count) {
    constexpr unsigned top = bits_in<T> - 1;
    const unsigned first = from & 0xFFU;
    const unsigned length = count & 0xFFU;
    const auto all = static_cast<Unsigned<T>>(a);
    if (length == 0) return 0;
    const bool fill = std::is_signed_v<T> && (all >> std::min(first + length - 1, top) & 1U) != 0;
    const auto shifted = static_cast<Unsigned<T>>(first > top ? 0U : all >> first);
    // Existing bits: not beyond the top of `a`, nor beyond the field.
    const unsigned present = std::min(length, first > top ? 0U : bits_in<T> - first);
    if (present >= bits_in<T>) return static_cast<T>(shifted);
    const auto mask = static_cast<Unsigned<T>>((Wide{1} << present) - 1);
    return static_cast<T>((shifted & mask) | (fill ? ~mask : Unsigned<T>{0}));
  }
};

/// bmsk: `length` bits starting at `first`.
[[nodiscard]] constexpr std::uint32_t mask_of(std::uint32_t first, std::uint32_t length,
                                              bool wraps) {
  const std::uint64_t from = wraps ? first & 31U : std::min(first, 32U);
  const std::uint64_t count = wraps ? length & 31U : std::min(length, 32U);
  return static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << from);
}

/// Combines the values of two lanes.
[[nodiscard]] constexpr std::uint32_t reduced(Reduction by, std::uint32_t a, std::uint32_t b) {
  const auto less = [&] { return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b); };
  switch (by) {
    case Reduction::add:
      return a + b;
    case Reduction::least:
      return std::min(a, b);
    case Reduction::most:
      return std::max(a, b);
    case Reduction::signed_least:
      return less() ? a : b;
    case Reduction::signed_most:
      return less() ? b : a;
    case Reduction::all:
      return a & b;
    case Reduction::any:
      return a | b;
    case Reduction::odd:
      break;
  }
  return a ^ b;
}

template <class T>
[[nodiscard]] constexpr T insert_bits(T a, T b, std::uint32_t from, std::uint32_t count) {
  const unsigned first = from & 0xFFU;
  const unsigned length = count & 0xFFU;
  if (first >= bits_in<T> || length == 0) return b;
  const T ones =
      length >= bits_in<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = static_cast<T>(ones << first);
  return static_cast<T>((b & ~mask) | (static_cast<T>(a << first) & mask));
}

enum class PermuteMode : std::uint8_t { plain, f4e, b4e, rc8, ecl, ecr, rc16 };

[[nodiscard]] constexpr std::uint32_t permute_bytes(std::uint32_t a, std::uint32_t b,
                                                    std::uint32_t selector, PermuteMode mode) {
  const std::uint64_t bytes = std::uint64_t{b} << 32U | a;
  std::uint32_t made = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t c = selector & 3U;
    std::uint32_t which = 0;
    switch (mode) {
      case PermuteMode::plain:
        which = selector >> (4 * i) & 0xFU;
        break;
      case PermuteMode::f4e:
        which = (c + i) & 7U;
        break;
      case PermuteMode::b4e:
        which = (c - i) & 7U;
        break;
      case PermuteMode::rc8:
        which = c;
        break;
      case PermuteMode::ecl:
        which = std::max(i, c);
        break;
      case PermuteMode::ecr:
        which = std::min(i, c);
        break;
      case PermuteMode::rc16:
        which = (i & 1U) + 2 * (c & 1U);
        break;
    }
    auto byte = static_cast<std::uint32_t>(bytes >> (8 * (which & 7U)) & 0xFFU);
    if ((which & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0U;
    made |= byte << (8 * i);
  }
  return made;
}

[[nodiscard]] constexpr std::uint32_t logic_of_three(std::uint32_t a, std::uint32_t b,
                                                     std::uint32_t c, std::uint32_t table) {
  std::uint32_t made = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((table >> i & 1U) == 0) continue;
    made |= ((i & 4U) != 0 ? a : ~a) & ((i & 2U) != 0 ? b : ~b) & ((i & 1U) != 0 ? c : ~c);
  }
  return made;
}

/// Four products of bytes, signed or not, and c.
template <class A, class B>
[[nodiscard]] constexpr std::uint32_t dot_of_bytes(std::uint32_t a, std::uint32_t b,
                                                   std::uint32_t c) {
  for (unsigned i = 0; i < 4; ++i) {
    // Bytes with a sign are wanted as such: NOLINTNEXTLINE(bugprone-signed-char-misuse)
    const auto one = static_cast<std::int32_t>(static_cast<A>(a >> (8 * i)));
    // NOLINTNEXTLINE(bugprone-signed-char-misuse)
    const auto other = static_cast<std::int32_t>(static_cast<B>(b >> (8 * i)));
    c += static_cast<std::uint32_t>(one * other);
  }
  return c;
}

/// Rounding of floating-point results, in the terms of <cfenv>.
enum class Rounding : std::uint8_t { nearest, zero, down, up };

/// compute(a, b, c) with the given rounding.
template <class T, class From, class Compute>
[[nodiscard]] T rounded(Rounding rounding, const Compute& compute, From a, From b = {},
                        From c = {}) {
  if (rounding == Rounding::nearest) return compute(a, b, c);
  constexpr std::array modes{FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  const int before = std::fegetround();
  // Volatile, because otherwise the compiler may compute before the mode is set or after it is
  // reset.
  volatile From x = a;
  volatile From y = b;
  volatile From z = c;
  std::fesetround(modes.at(static_cast<std::size_t>(rounding)));
  volatile T result = compute(From{x}, From{y}, From{z});
  std::fesetround(before);
  return result;
}

template <class T>
[[nodiscard]] inline T flushed(T value) {
  const bool subnormal = value != T{0} && value > -std::numeric_limits<T>::min() &&
                         value < std::numeric_limits<T>::min();
  return subnormal ? std::copysign(T{0}, value) : value;
}

/// Converts a floating-point number to an integer, clamped to its range. NaN becomes 0, or the top
/// bit alone if either type has 64 bits.
template <class To, class From>
[[nodiscard]] To whole_of(From value) {
  if (std::isnan(value)) {
    constexpr bool wide = sizeof(To) == 8 || sizeof(From) == 8;
    return wide ? static_cast<To>(Unsigned<To>{1} << (bits_in<To> - 1)) : To{0};
  }
  const From above = std::ldexp(From{1}, bits_in<To> - (std::is_signed_v<To> ? 1 : 0));
  const From below = std::is_signed_v<To> ? -above : From{0};
  if (value >= above) return std::numeric_limits<To>::max();
  if (value <= below) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

template <class T>
[[nodiscard]] T to_integral(T value, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest:
      return std::nearbyint(value);
    case Rounding::zero:
      return std::trunc(value);
    case Rounding::down:
      return std::floor(value);
    case Rounding::up:
      return std::ceil(value);
  }
  return value;
}

/// A format of 16 bits; its values are floats.
template <unsigned exponent_bits, unsigned fraction_bits>
struct SmallFloat {
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr std::uint32_t infinity = ((1U << exponent_bits) - 1) << fraction_bits;
  static constexpr std::uint32_t not_a_number = 0x7FFF;

  [[nodiscard]] static float widened(std::uint64_t bits) {
    const auto magnitude = static_cast<std::uint32_t>(bits & 0x7FFFU);
    float value = std::numeric_limits<float>::quiet_NaN();
    if (magnitude <= infinity) {
      const auto exponent = static_cast<int>(magnitude >> fraction_bits);
      const std::uint32_t fraction = magnitude & ((1U << fraction_bits) - 1);
      const std::uint32_t whole = exponent == 0 ? fraction : fraction | 1U << fraction_bits;
      value = magnitude == infinity
                  ? std::numeric_limits<float>::infinity()
                  : std::ldexp(static_cast<float>(whole),
                               std::max(exponent, 1) - bias - static_cast<int>(fraction_bits));
    }
    return (bits & 0x8000U) != 0 ? -value : value;
  }

  [[nodiscard]] static std::uint64_t narrowed(double value, Rounding rounding) {
    if (std::isnan(value)) return not_a_number;
    const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
    const double magnitude = std::fabs(value);
    if (std::isinf(magnitude)) return sign | infinity;
    const int exponent = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
    const double units = std::ldexp(magnitude, static_cast<int>(fraction_bits) - exponent);
    double whole = std::floor(units);
    const bool is_away =
        (rounding == Rounding::up && sign == 0) || (rounding == Rounding::down && sign != 0);
    if (rounding == Rounding::nearest) whole = std::nearbyint(units);
    if (is_away) whole = std::ceil(units);
    // A carry out of the fraction goes into the exponent.
    const double bits = std::ldexp(exponent + bias - 1, fraction_bits) + whole;
    if (bits < infinity) return sign | static_cast<std::uint32_t>(bits);
    return sign | (rounding == Rounding::nearest || is_away ? infinity : infinity - 1);
  }

  [[nodiscard]] static float flushed(float value) {
    return std::fabs(value) < std::ldexp(1.0F, 1 - bias) ? std::copysign(0.0F, value) : value;
  }
};
using Half = SmallFloat<5, 10>;
using Bfloat = SmallFloat<8, 7>;

template <class T>
inline constexpr bool is_small_float = std::same_as<T, Half> || std::same_as<T, Bfloat>;

/// a × b + c, of which the sum is rounded to odd, so that a later rounding to a smaller format
/// gives the same as one rounding. The product must be exact.
[[nodiscard]] inline double fused_to_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  if (error == 0 || !std::isfinite(sum) || (std::bit_cast<std::uint64_t>(sum) & 1U) != 0)
    return sum;
  return std::nextafter(sum, error > 0 ? std::numeric_limits<double>::infinity()
                                       : -std::numeric_limits<double>::infinity());
}

}  // namespace strata::access
