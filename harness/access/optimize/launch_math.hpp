// Ranges of whole numbers, for what is checked before an optimized kernel is launched. Only std:
// the headers that `strata access optimize` writes hold a copy of this.
#ifndef STRATA_LAUNCH_MATH
#define STRATA_LAUNCH_MATH

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>

namespace strata::launch_math {

/// As a bound it stands for every number from there on.
inline constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

/// From low to high, both included.
struct Range {
  std::int64_t low = 0;
  std::int64_t high = 0;
  [[nodiscard]] constexpr bool is_one() const { return low == high; }
};
inline constexpr Range anything{-endless, endless};

constexpr bool has_end(std::int64_t bound) {
  return bound != endless && bound != -endless;
}
/// Of lower bounds.
constexpr std::int64_t sum_of_low(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (a == -endless || b == -endless) return -endless;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? -endless : endless;
  return std::max(sum, -endless);
}
constexpr std::int64_t sum_of_high(std::int64_t a, std::int64_t b) {
  return -sum_of_low(-a, -b);
}
/// Of anything with 0 it is 0; times more than 1, what is endless overflows, and stays so.
constexpr std::int64_t product_of(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product) && product >= -endless) return product;
  return (a < 0) == (b < 0) ? endless : -endless;
}
/// Rounded down; b is positive.
constexpr std::int64_t quotient_of(std::int64_t a, std::int64_t b) {
  if (b == endless) return a < 0 ? -1 : 0;
  return a / b - (a % b < 0 ? 1 : 0);
}

/// A number of which 63 bits are not enough is not known.
constexpr Range exactly(std::uint64_t value) {
  if (value >= static_cast<std::uint64_t>(endless)) return anything;
  return {static_cast<std::int64_t>(value), static_cast<std::int64_t>(value)};
}
constexpr Range exactly(std::int64_t value) {
  if (value <= -endless || value == endless) return anything;
  return {value, value};
}
/// Numbers of 8 bytes, addresses as a rule, are less than this, or nothing is concluded from them.
inline constexpr std::int64_t far_address = std::int64_t{1} << 57;
/// What an index lies in.
constexpr Range below(const Range& count) {
  return {0, sum_of_high(count.high, -1)};
}
/// From the one's lower end to the other's higher one.
constexpr Range between(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
/// Both hold; where they contradict each other nothing runs, and either will do.
constexpr Range both(const Range& a, const Range& b) {
  const Range met{std::max(a.low, b.low), std::min(a.high, b.high)};
  return met.low <= met.high ? met : a;
}
constexpr Range add(const Range& a, const Range& b) {
  return {sum_of_low(a.low, b.low), sum_of_high(a.high, b.high)};
}
constexpr Range multiply(const Range& a, const Range& b) {
  if (a.low >= 0 && b.low >= 0) return {product_of(a.low, b.low), product_of(a.high, b.high)};
  const std::initializer_list<std::int64_t> ends{
      product_of(a.low, b.low), product_of(a.low, b.high), product_of(a.high, b.low),
      product_of(a.high, b.high)};
  return {std::min(ends), std::max(ends)};
}
/// The same where it is known beforehand that 62 bits are enough, and for products that nothing is
/// below 0.
constexpr Range short_add(const Range& a, const Range& b) {
  return {a.low + b.low, a.high + b.high};
}
constexpr Range short_multiply(const Range& a, const Range& b) {
  return {a.low * b.low, a.high * b.high};
}
constexpr Range quotient(const Range& a, const Range& b) {
  if (b.low <= 0) return anything;
  const auto low = std::min(quotient_of(a.low, b.low), quotient_of(a.low, b.high));
  const auto high = std::max(quotient_of(a.high, b.low), quotient_of(a.high, b.high));
  return {a.low == -endless ? -endless : low, a.high == endless ? endless : high};
}
/// With the divisor's sign.
constexpr Range remainder(const Range& a, const Range& b) {
  if (b.low <= 0) return anything;
  const bool is_known = b.is_one() && has_end(a.low) && has_end(a.high);
  if (is_known && quotient_of(a.low, b.low) == quotient_of(a.high, b.low)) {
    const std::int64_t whole = product_of(quotient_of(a.low, b.low), b.low);
    if (whole != -endless) return {a.low - whole, a.high - whole};
  }
  const std::int64_t most = sum_of_high(b.high, -1);
  return {0, a.low >= 0 ? std::min(most, a.high) : most};
}
constexpr Range least(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}
constexpr Range most(const Range& a, const Range& b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

constexpr bool is_within(const Range& a, std::int64_t low, std::int64_t high) {
  return a.low >= low && a.high <= high && has_end(a.low) && has_end(a.high);
}
constexpr bool is_multiple(const Range& a, std::int64_t of) {
  return a.is_one() && a.low != endless && a.low % of == 0;
}
constexpr bool is_power_of_two(const Range& a) {
  return a.is_one() && a.low > 0 && (a.low & (a.low - 1)) == 0;
}
/// Bytes from each number of `a` on, so many, and likewise of `b`, have nothing in common.
constexpr bool are_apart(const Range& a, std::int64_t a_bytes, const Range& b,
                         std::int64_t b_bytes) {
  if (a.low < 0 || b.low < 0 || a.high == endless || b.high == endless) return false;
  return sum_of_high(a.high, a_bytes) <= b.low || sum_of_high(b.high, b_bytes) <= a.low;
}

/// A sum of strides × indices, each index below its count.
struct Stride {
  Range bytes;
  Range count;
};
/// Different indices lead to places that are `bytes` or more apart: each stride passes all that the
/// shorter ones reach. Sorts the strides.
template <std::size_t size>
// NOLINTNEXTLINE(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays): of a user's program
constexpr bool are_spread(Stride (&strides)[size], std::int64_t bytes) {
  for (Stride& one : strides) {
    if (!one.bytes.is_one() || one.bytes.low == -endless || one.bytes.high == endless) return false;
    if (one.bytes.low < 0) one.bytes = {-one.bytes.low, -one.bytes.low};
  }
  std::sort(std::begin(strides), std::end(strides),
            [](const Stride& a, const Stride& b) { return a.bytes.low < b.bytes.low; });
  std::int64_t reach = bytes;
  for (const Stride& one : strides) {
    if (one.count.high <= 1) continue;
    if (one.bytes.low < reach) return false;
    reach = sum_of_high(reach, product_of(one.bytes.low, sum_of_high(one.count.high, -1)));
    if (reach == endless) return false;
  }
  return true;
}

/// For estimates: its middle.
constexpr double number(const Range& a) {
  return (static_cast<double>(a.low) + static_cast<double>(a.high)) / 2;
}
/// A part of an address, by the original's threads along a warp: so many steps, of so many bytes,
/// from each to the next.
struct LaneStep {
  double bytes = 0;
  double steps = 0;
};
/// Estimated sectors that so many lanes reach, each `threads` of the original's threads from the
/// next one.
template <class Parts>
constexpr double reached_sectors(const Parts& parts, double lanes, double threads) {
  constexpr double sector = 32;
  double found = 1;
  for (const LaneStep& one : parts) {
    const double bytes = one.bytes < 0 ? -one.bytes : one.bytes;
    const double steps = threads * (one.steps < 0 ? -one.steps : one.steps);
    found += (lanes - 1) * std::min(1.0, steps * std::min(1.0, bytes / sector));
  }
  return std::min(lanes, found);
}
/// Sectors that a warp of the original may store in the time that it takes anyway: on an H200 each
/// takes 4.3 cycles of an SM, and a warp of a short kernel 31 (rotation forward by 30° and by 0° of
/// the run nvidia-h200-20261126T051237Z-7be283d).
inline constexpr double stored_anyway = 31 / 4.3;

}  // namespace strata::launch_math

#endif
