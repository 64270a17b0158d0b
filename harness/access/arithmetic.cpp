#include "harness/access/arithmetic.hpp"

#include "harness/access/lane_functions.hpp"

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace strata::access {
namespace {

using ptx::Type;
using Bits = std::uint64_t;

// --- from values to lanes ------------------------------------------------------------------------

/// Marks the unknown lanes of a result: those with an unknown source, and those that PTX leaves
/// undefined.
void note_unknown(WarpState& warp, const Step& step, std::uint32_t mask, unsigned sources,
                  std::uint32_t open = 0) {
  const std::uint32_t to = step.to[0];
  std::uint32_t hidden = open;
  std::uint32_t cause = open != 0 ? step.instruction : ptx::no_index;
  for (unsigned i = 0; i < sources; ++i) {
    const std::uint32_t of_source = warp.unknown[step.from.at(i)] & mask;
    if (of_source == 0) continue;
    if (hidden == 0) cause = warp.cause[step.from.at(i)];
    hidden |= of_source;
  }
  warp.unknown[to] &= ~mask;
  warp.hide(to, hidden, cause);
}

/// Computes F::of(a, b, c, extra) in each lane, with F::sources operands.
template <class F>
void each(WarpState& warp, const Step& step, std::uint32_t mask) {
  const Bits* const a = warp.value(step.from[0]);
  const Bits* const b = F::sources > 1 ? warp.value(step.from[1]) : a;
  const Bits* const c = F::sources > 2 ? warp.value(step.from[2]) : a;
  Bits* const to = warp.value(step.to[0]);
  const Bits extra = step.extra;
  if (mask == all_lanes) {
    // A result may overwrite a source, but only in the same lane.
#if !defined(__clang__)
#pragma GCC ivdep
#endif
    for (unsigned lane = 0; lane < lanes; ++lane)
      to[lane] = F::of(a[lane], b[lane], c[lane], extra);
  } else {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if ((mask >> lane & 1U) != 0) to[lane] = F::of(a[lane], b[lane], c[lane], extra);
    }
  }
  note_unknown(warp, step, mask, F::sources);
}

/// The same if PTX leaves some results undefined: F::is_open(a, b, c, extra).
template <class F>
void each_defined(WarpState& warp, const Step& step, std::uint32_t mask) {
  const Bits* const a = warp.value(step.from[0]);
  const Bits* const b = F::sources > 1 ? warp.value(step.from[1]) : a;
  const Bits* const c = F::sources > 2 ? warp.value(step.from[2]) : a;
  Bits* const to = warp.value(step.to[0]);
  std::uint32_t open = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    if (F::is_open(a[lane], b[lane], c[lane], step.extra)) {
      open |= 1U << lane;
    } else {
      to[lane] = F::of(a[lane], b[lane], c[lane], step.extra);
    }
  }
  note_unknown(warp, step, mask, F::sources, open);
}

template <class Op, class T>
struct Unary {
  static constexpr unsigned sources = 1;
  static Bits of(Bits a, Bits, Bits, Bits) { return bits_of(Op::of(typed<T>(a))); }
};
template <class Op, class T>
struct Binary {
  static constexpr unsigned sources = 2;
  static Bits of(Bits a, Bits b, Bits, Bits) { return bits_of(Op::of(typed<T>(a), typed<T>(b))); }
};
template <class Op, class T>
struct Shift {
  static constexpr unsigned sources = 2;
  static Bits of(Bits a, Bits by, Bits, Bits) {
    return bits_of(Op::of(typed<T>(a), static_cast<std::uint32_t>(by)));
  }
};
/// c + a part of a × b.
template <class Op, class T>
struct Multiplied {
  static constexpr unsigned sources = 3;
  static Bits of(Bits a, Bits b, Bits c, Bits) {
    return bits_of(Add::of(Op::of(typed<T>(a), typed<T>(b)), typed<T>(c)));
  }
};
/// The whole product of two numbers of 16 or 32 bits, and c of twice the width.
template <class T>
struct MultipliedWide {
  using Result =
      std::conditional_t<sizeof(T) == 2,
                         std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                         std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
  static constexpr unsigned sources = 3;
  static Bits of(Bits a, Bits b, Bits c, Bits) {
    const auto whole = static_cast<Result>(Result{typed<T>(a)} * Result{typed<T>(b)});
    return bits_of(Add::of(whole, typed<Result>(c)));
  }
};
template <class T>
struct WideProduct {
  static constexpr unsigned sources = 2;
  static Bits of(Bits a, Bits b, Bits, Bits) { return MultipliedWide<T>::of(a, b, 0, 0); }
};
template <class T, bool remainder>
struct Divided {
  static constexpr unsigned sources = 2;
  static bool is_open(Bits a, Bits b, Bits, Bits) {
    if (typed<T>(b) == 0) return true;
    if constexpr (std::is_signed_v<T>) {
      return typed<T>(a) == std::numeric_limits<T>::min() && typed<T>(b) == -1;
    }
    return false;
  }
  static Bits of(Bits a, Bits b, Bits, Bits) {
    const T x = typed<T>(a);
    const T y = typed<T>(b);
    return bits_of(static_cast<T>(remainder ? x % y : x / y));
  }
};
template <class T>
struct SumOfDifference {  // sad
  static constexpr unsigned sources = 3;
  static Bits of(Bits a, Bits b, Bits c, Bits) {
    const T x = typed<T>(a);
    const T y = typed<T>(b);
    const T apart = x < y ? Subtract::of(y, x) : Subtract::of(x, y);
    return bits_of(Add::of(typed<T>(c), apart));
  }
};
template <class T>
struct Extracted {
  static constexpr unsigned sources = 3;
  static Bits of(Bits a, Bits b, Bits c, Bits) {
    return bits_of(
        ExtractBits::of(typed<T>(a), static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(c)));
  }
};
struct Logic {
  static constexpr unsigned sources = 3;
  static Bits of(Bits a, Bits b, Bits c, Bits table) {
    return logic_of_three(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                          static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(table));
  }
};
struct Permuted {
  static constexpr unsigned sources = 3;
  static Bits of(Bits a, Bits b, Bits c, Bits mode) {
    return permute_bytes(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                         static_cast<std::uint32_t>(c), static_cast<PermuteMode>(mode));
  }
};
template <class A, class B>
struct Dot {
  static constexpr unsigned sources = 3;
  static Bits of(Bits a, Bits b, Bits c, Bits) {
    return dot_of_bytes<A, B>(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                              static_cast<std::uint32_t>(c));
  }
};
template <bool left, bool wraps>
struct Funnel {  // shf
  static constexpr unsigned sources = 3;
  static Bits of(Bits a, Bits b, Bits c, Bits) {
    const Bits both = b << 32U | (a & 0xFFFFFFFFU);
    const Bits by = wraps ? (c & 31U) : std::min<Bits>(c & 0xFFFFFFFFU, 32);
    return (left ? both << by >> 32U : both >> by) & 0xFFFFFFFFU;
  }
};
template <bool wraps>
struct Mask {  // bmsk
  static constexpr unsigned sources = 2;
  static Bits of(Bits a, Bits b, Bits, Bits) {
    return mask_of(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), wraps);
  }
};
template <class T>
struct SignSelected {  // slct, with a third operand of T
  static constexpr unsigned sources = 3;
  static Bits of(Bits a, Bits b, Bits c, Bits) { return typed<T>(c) >= T{0} ? a : b; }
};
struct AddConstant {
  static constexpr unsigned sources = 1;
  static Bits of(Bits a, Bits, Bits, Bits by) { return a + by; }
};

// Four sources, so not one of `each`.
template <class T>
void insert_field(WarpState& warp, const Step& step, std::uint32_t mask) {
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    const auto of = [&](unsigned i) { return warp.value(step.from.at(i))[lane]; };
    warp.value(step.to[0])[lane] =
        insert_bits(typed<T>(of(0)), typed<T>(of(1)), static_cast<std::uint32_t>(of(2)),
                    static_cast<std::uint32_t>(of(3)));
  }
  note_unknown(warp, step, mask, 4);
}

// --- floating point ------------------------------------------------------------------------------

/// Step::extra of floating point.
struct Flavour {
  Rounding rounding = Rounding::nearest;
  bool flushes = false;
  bool saturates = false;
  [[nodiscard]] Bits encoded() const {
    return static_cast<Bits>(rounding) | (flushes ? 4U : 0U) | (saturates ? 8U : 0U);
  }
  [[nodiscard]] static Flavour decoded(Bits bits) {
    return {static_cast<Rounding>(bits & 3U), (bits & 4U) != 0, (bits & 8U) != 0};
  }
};

template <class T>
T entering(Bits bits, const Flavour& flavour) {
  const T value = typed<T>(bits);
  return flavour.flushes ? flushed(value) : value;
}
template <class T>
T leaving(T value, const Flavour& flavour) {
  if (flavour.flushes) value = flushed(value);
  if (flavour.saturates) return value > T{0} ? std::min(value, T{1}) : T{0};
  return value;
}

/// False if PTX does not define which NaN the computation gives. For .f32, only sums, products and
/// quotients give the canonical one.
template <class Compute>
inline constexpr bool names_nan = true;

/// Compute::of(a, b, c).
template <class Compute, class T, unsigned count>
struct Real {
  static constexpr unsigned sources = count;
  static T value(Bits a, Bits b, Bits c, Bits extra) {
    const Flavour flavour = Flavour::decoded(extra);
    const T result = rounded<T>(
        flavour.rounding, [](T x, T y, T z) { return Compute::of(x, y, z); },
        entering<T>(a, flavour), entering<T>(b, flavour), entering<T>(c, flavour));
    return leaving(result, flavour);
  }
  static bool is_open(Bits a, Bits b, Bits c, Bits extra) {
    return (sizeof(T) == 8 || !names_nan<Compute>)&&std::isnan(value(a, b, c, extra));
  }
  static Bits of(Bits a, Bits b, Bits c, Bits extra) { return bits_of(value(a, b, c, extra)); }
};
struct RealAdd {
  template <class T>
  static T of(T a, T b, T) {
    return a + b;
  }
};
struct RealSubtract {
  template <class T>
  static T of(T a, T b, T) {
    return a - b;
  }
};
struct RealMultiply {
  template <class T>
  static T of(T a, T b, T) {
    return a * b;
  }
};
struct Fused {
  template <class T>
  static T of(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct RealDivide {
  template <class T>
  static T of(T a, T b, T) {
    return a / b;
  }
};
struct Reciprocal {
  template <class T>
  static T of(T a, T, T) {
    return T{1} / a;
  }
};
struct Root {
  template <class T>
  static T of(T a, T, T) {
    return std::sqrt(a);
  }
};
struct ReciprocalRoot {
  template <class T>
  static T of(T a, T, T) {
    return T{1} / std::sqrt(a);
  }
};
struct Sine {
  template <class T>
  static T of(T a, T, T) {
    return std::sin(a);
  }
};
struct Cosine {
  template <class T>
  static T of(T a, T, T) {
    return std::cos(a);
  }
};
struct PowerOfTwo {
  template <class T>
  static T of(T a, T, T) {
    return std::exp2(a);
  }
};
struct LogarithmToTwo {
  template <class T>
  static T of(T a, T, T) {
    return std::log2(a);
  }
};
struct HyperbolicTangent {
  template <class T>
  static T of(T a, T, T) {
    return std::tanh(a);
  }
};
struct RealLeast {  // the other operand if one is NaN; -0 is less than 0
  template <class T>
  static T of(T a, T b, T) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
struct RealMost {
  template <class T>
  static T of(T a, T b, T) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? b : a;
    return a < b ? b : a;
  }
};
struct RealNegate {
  template <class T>
  static T of(T a, T, T) {
    return -a;
  }
};
struct RealMagnitude {
  template <class T>
  static T of(T a, T, T) {
    return std::fabs(a);
  }
};
struct SignCopied {
  template <class T>
  static T of(T a, T b, T) {
    return std::copysign(b, a);
  }
};

template <>
inline constexpr bool names_nan<RealNegate> = false;
template <>
inline constexpr bool names_nan<RealMagnitude> = false;
template <>
inline constexpr bool names_nan<SignCopied> = false;

/// Compute::of(a, b, c) of values of 16 bits. A double holds sums, products, quotients and roots
/// with so many bits that rounding it gives the same as one rounding.
template <class Compute, class F, unsigned count>
struct SmallReal {
  static constexpr unsigned sources = count;
  static double value(Bits a, Bits b, Bits c, Bits extra) {
    const Flavour flavour = Flavour::decoded(extra);
    const auto entering = [&](Bits bits) -> double {
      const float wide = F::widened(bits);
      return flavour.flushes ? F::flushed(wide) : wide;
    };
    double result = 0;
    if constexpr (std::same_as<Compute, Fused>) {
      result = fused_to_odd(entering(a), entering(b), entering(c));
    } else {
      result = Compute::of(entering(a), entering(b), entering(c));
    }
    if (flavour.saturates) return result > 0 ? std::min(result, 1.0) : 0;
    return result;
  }
  static bool is_open(Bits a, Bits b, Bits c, Bits extra) {
    return !names_nan<Compute> && std::isnan(value(a, b, c, extra));
  }
  static Bits of(Bits a, Bits b, Bits c, Bits extra) {
    const Flavour flavour = Flavour::decoded(extra);
    const Bits bits = F::narrowed(value(a, b, c, extra), flavour.rounding);
    return flavour.flushes ? F::narrowed(F::flushed(F::widened(bits)), Rounding::nearest) : bits;
  }
};
/// The same in both halves of a word.
template <class Lanes>
struct Paired {
  static constexpr unsigned sources = Lanes::sources;
  static constexpr unsigned half = 16;
  static bool is_open(Bits a, Bits b, Bits c, Bits extra) {
    return Lanes::is_open(a, b, c, extra) || Lanes::is_open(a >> half, b >> half, c >> half, extra);
  }
  static Bits of(Bits a, Bits b, Bits c, Bits extra) {
    return Lanes::of(a, b, c, extra) | Lanes::of(a >> half, b >> half, c >> half, extra) << half;
  }
};
/// cvt.f32.f16 and the like: a conversion from .f32.
template <class F, class FromReal>
struct FromSmall {
  static constexpr unsigned sources = 1;
  static Bits wide(Bits a) { return bits_of(F::widened(a)); }
  static bool is_open(Bits a, Bits b, Bits c, Bits extra) {
    if constexpr (requires { FromReal::is_open(a, b, c, extra); }) {
      return FromReal::is_open(wide(a), b, c, extra);
    }
    return false;
  }
  static Bits of(Bits a, Bits b, Bits c, Bits extra) { return FromReal::of(wide(a), b, c, extra); }
};
/// cvt.rn.f16.f32 and the like.
template <class F, class From, bool is_integral>
struct SmallFromAny {
  static constexpr unsigned sources = 1;
  static Bits of(Bits a, Bits, Bits, Bits extra) {
    const Flavour flavour = Flavour::decoded(extra);
    double value = 0;
    if constexpr (is_small_float<From>) {
      value = From::widened(a);
    } else {
      value = static_cast<double>(typed<From>(a));
    }
    if (flavour.flushes && std::fabs(value) < std::numeric_limits<float>::min())
      value = std::copysign(0.0, value);
    if (is_integral) value = to_integral(value, flavour.rounding);
    if (flavour.saturates) value = value > 0 ? std::min(value, 1.0) : 0;
    return F::narrowed(value, flavour.rounding);
  }
};
/// cvt.rn.f16x2.f32 d, a, b: a in the upper half.
template <class F>
struct SmallPair {
  static constexpr unsigned sources = 2;
  static Bits of(Bits a, Bits b, Bits, Bits extra) {
    using One = SmallFromAny<F, float, false>;
    return One::of(a, 0, 0, extra) << 16U | One::of(b, 0, 0, extra);
  }
};

template <class T>
struct Integral {  // cvt.rni.f32.f32 and the like
  static constexpr unsigned sources = 1;
  static T value(Bits a, Bits extra) {
    const Flavour flavour = Flavour::decoded(extra);
    return leaving(to_integral(entering<T>(a, flavour), flavour.rounding), flavour);
  }
  static bool is_open(Bits a, Bits, Bits, Bits extra) { return std::isnan(value(a, extra)); }
  static Bits of(Bits a, Bits, Bits, Bits extra) { return bits_of(value(a, extra)); }
};
template <class To, class From>
struct WholeFromReal {
  static constexpr unsigned sources = 1;
  static Bits of(Bits a, Bits, Bits, Bits extra) {
    const Flavour flavour = Flavour::decoded(extra);
    return bits_of(whole_of<To>(to_integral(entering<From>(a, flavour), flavour.rounding)));
  }
};
template <class To, class From>
struct RealFromAny {
  static constexpr unsigned sources = 1;
  static To value(Bits a, Bits extra) {
    const Flavour flavour = Flavour::decoded(extra);
    From from = typed<From>(a);
    // Only .f32 is flushed.
    if constexpr (std::same_as<From, float>) from = entering<float>(a, flavour);
    const To result = rounded<To>(
        flavour.rounding, [](From x, From, From) { return static_cast<To>(x); }, from);
    return std::same_as<To, float> ? leaving(result, flavour)
                                   : leaving(result, {.saturates = flavour.saturates});
  }
  static bool is_open(Bits a, Bits, Bits, Bits extra) { return std::isnan(value(a, extra)); }
  static Bits of(Bits a, Bits, Bits, Bits extra) { return bits_of(value(a, extra)); }
};

/// Converts between integers: Step::extra masks the register, which may be wider than To.
template <class To, class From, bool saturates>
struct WholeFromWhole {
  static constexpr unsigned sources = 1;
  static Bits of(Bits a, Bits, Bits, Bits mask) {
    const From from = typed<From>(a);
    if constexpr (saturates) {
      using Limits = std::numeric_limits<To>;
      const auto clamped =
          std::clamp(SignedWide{from}, SignedWide{Limits::min()}, SignedWide{Limits::max()});
      return static_cast<Bits>(static_cast<std::int64_t>(static_cast<To>(clamped))) & mask;
    }
    // A byte keeps its sign: NOLINTNEXTLINE(bugprone-signed-char-misuse)
    const To to = static_cast<To>(from);
    if constexpr (std::is_signed_v<To>) {
      return static_cast<Bits>(std::int64_t{to}) & mask;
    } else {
      return Bits{to} & mask;
    }
  }
};

// --- predicates ----------------------------------------------------------------------------------

enum class Compare : std::uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan
};

template <class T>
bool compared(Compare how, T a, T b) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>) unordered = std::isnan(a) || std::isnan(b);
  switch (how) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return a != b && !unordered;
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    case Compare::ge:
      return a >= b;
    case Compare::equ:
      return a == b || unordered;
    case Compare::neu:
      return a != b || unordered;
    case Compare::ltu:
      return a < b || unordered;
    case Compare::leu:
      return a <= b || unordered;
    case Compare::gtu:
      return a > b || unordered;
    case Compare::geu:
      return a >= b || unordered;
    case Compare::num:
      return !unordered;
    case Compare::nan:
      return unordered;
  }
  return false;
}

/// Step::extra of a comparison: Compare, then 4 bits for the combination with a predicate, then
/// flush.
enum class Combine : std::uint8_t { none, with_and, with_or, with_xor };

struct Truth {
  std::uint32_t bits = 0;
  std::uint32_t unknown = 0;
  std::uint32_t cause = ptx::no_index;
};

Truth combined(Combine how, const Truth& a, const Truth& b) {
  Truth result{.cause = a.unknown != 0 ? a.cause : b.cause};
  const std::uint32_t hidden = a.unknown | b.unknown;
  switch (how) {
    case Combine::none:
      return a;
    case Combine::with_and:  // known if either is known to be false
      result.unknown = hidden & (a.bits | a.unknown) & (b.bits | b.unknown);
      result.bits = a.bits & b.bits;
      break;
    case Combine::with_or:
      result.unknown = hidden & (~a.bits | a.unknown) & (~b.bits | b.unknown);
      result.bits = a.bits | b.bits;
      break;
    case Combine::with_xor:
      result.unknown = hidden;
      result.bits = a.bits ^ b.bits;
      break;
  }
  return result;
}

void write_predicate(WarpState& warp, std::uint32_t slot, const Truth& truth, std::uint32_t mask) {
  if (slot == no_slot) return;
  auto& to = warp.predicates[slot];
  to.bits = (to.bits & ~mask) | (truth.bits & mask);
  to.unknown &= ~mask;
  warp.hide_predicate(slot, truth.unknown & mask, truth.cause);
}

Truth read_predicate(const WarpState& warp, std::uint32_t slot, bool negated, std::uint32_t mask) {
  const auto& one = warp.predicates[slot];
  return {
      .bits = negated ? ~one.bits : one.bits, .unknown = one.unknown & mask, .cause = one.cause};
}

template <class T>
auto comparable(Bits bits) {
  if constexpr (is_small_float<T>) {
    return T::widened(bits);
  } else {
    return typed<T>(bits);
  }
}

template <class T, Compare how>
std::uint32_t compare_lanes(const Bits* a, const Bits* b, bool flushes) {
  std::uint32_t bits = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    auto x = comparable<T>(a[lane]);
    auto y = comparable<T>(b[lane]);
    if constexpr (std::same_as<T, float>) {
      if (flushes) {
        x = flushed(x);
        y = flushed(y);
      }
    }
    bits |= static_cast<std::uint32_t>(compared(how, x, y)) << lane;
  }
  return bits;
}

template <class T, Compare how>
void set_predicate(WarpState& warp, const Step& step, std::uint32_t mask) {
  Truth truth{.bits = compare_lanes<T, how>(warp.value(step.from[0]), warp.value(step.from[1]),
                                            (step.extra & 0x100U) != 0)};
  for (unsigned i = 0; i < 2; ++i) {
    const std::uint32_t hidden = warp.unknown[step.from.at(i)] & mask;
    if (truth.unknown == 0 && hidden != 0) truth.cause = warp.cause[step.from.at(i)];
    truth.unknown |= hidden;
  }
  const auto combine = static_cast<Combine>(step.extra >> 4U & 0xFU);
  if (step.to_second_predicate != no_slot) {
    Truth opposite = truth;
    opposite.bits = ~truth.bits;
    if (combine != Combine::none) {
      opposite = combined(combine, opposite,
                          read_predicate(warp, step.from_predicate, step.from_negated, mask));
    }
    const Truth first =
        combine == Combine::none
            ? truth
            : combined(combine, truth,
                       read_predicate(warp, step.from_predicate, step.from_negated, mask));
    write_predicate(warp, step.to_second_predicate, opposite, mask);
    write_predicate(warp, step.to_predicate, first, mask);
    return;
  }
  if (combine != Combine::none) {
    truth = combined(combine, truth,
                     read_predicate(warp, step.from_predicate, step.from_negated, mask));
  }
  write_predicate(warp, step.to_predicate, truth, mask);
}

/// set: all ones, or 1.0, if the comparison holds.
template <class T, Compare how>
void set_value(WarpState& warp, const Step& step, std::uint32_t mask) {
  const std::uint32_t bits = compare_lanes<T, how>(
      warp.value(step.from[0]), warp.value(step.from[1]), (step.extra & 0x100U) != 0);
  const Bits yes = (step.extra & 0x200U) != 0 ? bits_of(1.0F) : 0xFFFFFFFFU;
  Bits* const to = warp.value(step.to[0]);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if ((mask >> lane & 1U) != 0) to[lane] = (bits >> lane & 1U) != 0 ? yes : 0;
  }
  note_unknown(warp, step, mask, 2);
}

/// Step::extra: a Combine; from[0] and from[1] are predicates, with bits for a negated one and for
/// the constant `false`.
void combine_predicates(WarpState& warp, const Step& step, std::uint32_t mask) {
  const auto source = [&](unsigned s) -> Truth {
    const bool negated = (step.extra & negated_predicate << s) != 0;
    if ((step.extra & constant_predicate << s) != 0) return {.bits = negated ? ~0U : 0U};
    return read_predicate(warp, step.from.at(s), negated, mask);
  };
  const Truth a = source(0);
  const Truth b = source(1);
  write_predicate(warp, step.to_predicate, combined(static_cast<Combine>(step.extra & 0xFU), a, b),
                  mask);
}

void select(WarpState& warp, const Step& step, std::uint32_t mask) {
  const Truth chosen = read_predicate(warp, step.from_predicate, step.from_negated, mask);
  const Bits* const a = warp.value(step.from[0]);
  const Bits* const b = warp.value(step.from[1]);
  Bits* const to = warp.value(step.to[0]);
  const std::uint32_t hidden_a = warp.unknown[step.from[0]];
  const std::uint32_t hidden_b = warp.unknown[step.from[1]];
  std::uint32_t hidden = mask & ((chosen.bits & hidden_a) | (~chosen.bits & hidden_b));
  std::uint32_t cause =
      (mask & chosen.bits & hidden_a) != 0 ? warp.cause[step.from[0]] : warp.cause[step.from[1]];
  // An unknown choice does not matter if both values are equal.
  std::uint32_t open = mask & chosen.unknown;
  for (unsigned lane = 0; open != 0 && lane < lanes; ++lane) {
    const std::uint32_t bit = 1U << lane;
    if ((open & bit) != 0 && ((hidden_a | hidden_b) & bit) == 0 && a[lane] == b[lane]) open &= ~bit;
  }
  if (hidden == 0) cause = chosen.cause;
  hidden |= open;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if ((mask >> lane & 1U) != 0) to[lane] = (chosen.bits >> lane & 1U) != 0 ? a[lane] : b[lane];
  }
  warp.unknown[step.to[0]] &= ~mask;
  warp.hide(step.to[0], hidden, cause);
}

// --- vectors of registers ------------------------------------------------------------------------

/// mov.b64 %rd1, {%r1, %r2}: Step::extra is the number of bits of a part.
void pack(WarpState& warp, const Step& step, std::uint32_t mask) {
  unsigned parts = 0;
  while (parts < step.from.size() && step.from.at(parts) != no_slot)
    ++parts;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    Bits whole = 0;
    for (unsigned i = 0; i < parts; ++i)
      whole |= warp.value(step.from.at(i))[lane] << (i * step.extra);
    warp.value(step.to[0])[lane] = whole;
  }
  note_unknown(warp, step, mask, parts);
}

/// mov.b64 {%r1, _}, %rd1.
void unpack(WarpState& warp, const Step& step, std::uint32_t mask) {
  std::array<Bits, lanes> whole{};
  std::copy_n(warp.value(step.from[0]), lanes, whole.begin());
  const std::uint32_t hidden = warp.unknown[step.from[0]] & mask;
  const std::uint32_t cause = warp.cause[step.from[0]];
  const Bits ones = (Bits{1} << step.extra) - 1;
  for (unsigned i = 0; i < step.to.size(); ++i) {
    const std::uint32_t slot = step.to.at(i);
    if (slot == no_slot) continue;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if ((mask >> lane & 1U) != 0) {
        warp.value(slot)[lane] = whole.at(lane) >> (i * step.extra) & ones;
      }
    }
    warp.unknown[slot] &= ~mask;
    warp.hide(slot, hidden, cause);
  }
}

// --- which of them an opcode means ---------------------------------------------------------------

/// what.operator()<T>() for an integer type; null for other types.
template <class What>
Run for_integer(Type type, const What& what) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return what.template operator()<std::uint16_t>();
    case Type::s16:
      return what.template operator()<std::int16_t>();
    case Type::b32:
    case Type::u32:
      return what.template operator()<std::uint32_t>();
    case Type::s32:
      return what.template operator()<std::int32_t>();
    case Type::b64:
    case Type::u64:
      return what.template operator()<std::uint64_t>();
    case Type::s64:
      return what.template operator()<std::int64_t>();
    default:
      return nullptr;
  }
}
template <class What>
Run for_unsigned(Type type, const What& what) {
  switch (ptx::bytes_of(type)) {
    case 2:
      return what.template operator()<std::uint16_t>();
    case 4:
      return what.template operator()<std::uint32_t>();
    case 8:
      return what.template operator()<std::uint64_t>();
    default:
      return nullptr;
  }
}
template <class What>
Run for_real(Type type, const What& what) {
  if (type == Type::f32) return what.template operator()<float>();
  if (type == Type::f64) return what.template operator()<double>();
  return nullptr;
}
bool is_small(Type type) {
  return type == Type::f16 || type == Type::bf16;
}
bool is_real(Type type) {
  return type == Type::f32 || type == Type::f64;
}
bool is_any_real(Type type) {
  return is_real(type) || is_small(type) || type == Type::f16x2 || type == Type::bf16x2;
}
bool has_any(const ptx::Instruction& one, std::initializer_list<std::string_view> modifiers) {
  return std::ranges::any_of(modifiers, [&](std::string_view m) { return one.has(m); });
}

bool is_approximate(const ptx::Instruction& one) {
  return has_any(one, {"approx", "full"});
}
std::optional<Flavour> flavour_of(const ptx::Instruction& one) {
  if (has_any(one, {"xorsign", "NaN", "relu", "abs"})) return std::nullopt;
  Flavour flavour{.flushes = one.has("ftz"), .saturates = one.has("sat")};
  if (has_any(one, {"rz", "rzi"})) flavour.rounding = Rounding::zero;
  if (has_any(one, {"rm", "rmi"})) flavour.rounding = Rounding::down;
  if (has_any(one, {"rp", "rpi"})) flavour.rounding = Rounding::up;
  return flavour;
}

template <class Compute, unsigned count>
Recipe real(const ptx::Instruction& one) {
  const auto flavour = flavour_of(one);
  const Type type = one.type();
  if (!flavour) return {};
  Run run = for_real(type, []<class T>() -> Run { return &each_defined<Real<Compute, T, count>>; });
  if (type == Type::f16) run = &each_defined<SmallReal<Compute, Half, count>>;
  if (type == Type::bf16) run = &each_defined<SmallReal<Compute, Bfloat, count>>;
  if (type == Type::f16x2) run = &each_defined<Paired<SmallReal<Compute, Half, count>>>;
  if (type == Type::bf16x2) run = &each_defined<Paired<SmallReal<Compute, Bfloat, count>>>;
  return {
      .run = run, .sources = count, .types = {type, type, type, type}, .extra = flavour->encoded()};
}

template <class Op>
Recipe unary(const ptx::Instruction& one) {
  return {.run = for_integer(one.type(), []<class T>() -> Run { return &each<Unary<Op, T>>; }),
          .sources = 1,
          .types = {one.type()}};
}
template <class Op>
Recipe unary_of_bits(const ptx::Instruction& one) {
  return {.run = for_unsigned(one.type(), []<class T>() -> Run { return &each<Unary<Op, T>>; }),
          .sources = 1,
          .types = {one.type()}};
}
template <class Op>
Recipe binary(const ptx::Instruction& one) {
  return {.run = for_integer(one.type(), []<class T>() -> Run { return &each<Binary<Op, T>>; }),
          .sources = 2,
          .types = {one.type(), one.type()}};
}

template <class Op, class RealOp>
Recipe add_like(const ptx::Instruction& one) {
  if (is_any_real(one.type())) return real<RealOp, 2>(one);
  if (has_any(one, {"cc", "relu"})) return {};
  if (one.has("sat")) {
    if (one.type() != Type::s32) return {};
    constexpr bool adds = std::same_as<Op, Add>;
    using Saturating = std::conditional_t<adds, SaturatingAdd, SaturatingSubtract>;
    return {.run = &each<Binary<Saturating, std::int32_t>>,
            .sources = 2,
            .types = {Type::s32, Type::s32}};
  }
  return binary<Op>(one);
}

template <class Op, class RealOp>
Recipe least_or_most(const ptx::Instruction& one) {
  if (is_any_real(one.type())) return one.operands.size() == 3 ? real<RealOp, 2>(one) : Recipe{};
  return one.has("relu") ? Recipe{} : binary<Op>(one);
}

Recipe multiply(const ptx::Instruction& one, bool adds) {
  const Type type = one.type();
  if (is_any_real(type)) return adds ? real<Fused, 3>(one) : real<RealMultiply, 2>(one);
  if (has_any(one, {"cc", "sat"})) return {};
  Recipe recipe{.sources = adds ? 3U : 2U, .types = {type, type, type}};
  if (one.has("wide")) {
    const auto run = [adds]<class T>() -> Run {
      if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
        return adds ? &each<MultipliedWide<T>> : &each<WideProduct<T>>;
      } else {
        return nullptr;
      }
    };
    recipe.run = for_integer(type, run);
    recipe.types[2] = ptx::bytes_of(type) == 2 ? Type::b32 : Type::b64;
  } else if (one.has("lo")) {
    recipe.run = for_integer(type, [adds]<class T>() -> Run {
      return adds ? &each<Multiplied<MultiplyLow, T>> : &each<Binary<MultiplyLow, T>>;
    });
  } else if (one.has("hi")) {
    recipe.run = for_integer(type, [adds]<class T>() -> Run {
      return adds ? &each<Multiplied<MultiplyHigh, T>> : &each<Binary<MultiplyHigh, T>>;
    });
  }
  return recipe;
}

Recipe divide(const ptx::Instruction& one) {
  if (is_real(one.type())) return real<RealDivide, 2>(one);
  const bool remainder = one.opcode == "rem";
  return {.run = for_integer(one.type(),
                             [remainder]<class T>() -> Run {
                               return remainder ? &each_defined<Divided<T, true>>
                                                : &each_defined<Divided<T, false>>;
                             }),
          .sources = 2,
          .types = {one.type(), one.type()}};
}

Recipe shift(const ptx::Instruction& one) {
  const Type type = one.type();
  Recipe recipe{.sources = 2, .types = {type, Type::u32}};
  recipe.run =
      one.opcode == "shl"
          ? for_integer(type, []<class T>() -> Run { return &each<Shift<ShiftLeft, T>>; })
          : for_integer(type, []<class T>() -> Run { return &each<Shift<ShiftRight, T>>; });
  return recipe;
}

Recipe funnel(const ptx::Instruction& one) {
  Recipe recipe{.sources = 3, .types = {Type::b32, Type::b32, Type::u32}};
  const bool wraps = one.has("wrap");
  if (one.has("l")) recipe.run = wraps ? &each<Funnel<true, true>> : &each<Funnel<true, false>>;
  if (one.has("r")) recipe.run = wraps ? &each<Funnel<false, true>> : &each<Funnel<false, false>>;
  return recipe;
}

Recipe permute(const ptx::Instruction& one) {
  auto mode = PermuteMode::plain;
  if (one.has("f4e")) mode = PermuteMode::f4e;
  if (one.has("b4e")) mode = PermuteMode::b4e;
  if (one.has("rc8")) mode = PermuteMode::rc8;
  if (one.has("ecl")) mode = PermuteMode::ecl;
  if (one.has("ecr")) mode = PermuteMode::ecr;
  if (one.has("rc16")) mode = PermuteMode::rc16;
  return {.run = &each<Permuted>,
          .sources = 3,
          .types = {Type::b32, Type::b32, Type::b32},
          .extra = static_cast<Bits>(mode)};
}

Recipe logic(const ptx::Instruction& one) {
  if (has_any(one, {"and", "or"}) || one.operands.size() != 5) return {};
  const auto& table = one.operands[4];
  if (table.kind != ptx::Operand::Kind::integer) return {};
  return {.run = &each<Logic>,
          .sources = 3,
          .types = {Type::b32, Type::b32, Type::b32},
          .extra = table.bits & 0xFFU};
}

std::optional<Compare> compare_of(const ptx::Instruction& one) {
  constexpr std::array<std::pair<std::string_view, Compare>, 18> words{{{"eq", Compare::eq},
                                                                        {"ne", Compare::ne},
                                                                        {"lt", Compare::lt},
                                                                        {"le", Compare::le},
                                                                        {"gt", Compare::gt},
                                                                        {"ge", Compare::ge},
                                                                        {"lo", Compare::lt},
                                                                        {"ls", Compare::le},
                                                                        {"hi", Compare::gt},
                                                                        {"hs", Compare::ge},
                                                                        {"equ", Compare::equ},
                                                                        {"neu", Compare::neu},
                                                                        {"ltu", Compare::ltu},
                                                                        {"leu", Compare::leu},
                                                                        {"gtu", Compare::gtu},
                                                                        {"geu", Compare::geu},
                                                                        {"num", Compare::num},
                                                                        {"nan", Compare::nan}}};
  if (one.modifiers.empty()) return std::nullopt;
  const auto* const found =
      std::ranges::find(words, one.modifiers.front(), [](const auto& w) { return w.first; });
  if (found == words.end()) return std::nullopt;
  return found->second;
}

/// what.operator()<T, how>() for a comparison.
template <class T, class What>
Run for_compare(Compare how, const What& what) {
  switch (how) {
    case Compare::eq:
      return what.template operator()<T, Compare::eq>();
    case Compare::ne:
      return what.template operator()<T, Compare::ne>();
    case Compare::lt:
      return what.template operator()<T, Compare::lt>();
    case Compare::le:
      return what.template operator()<T, Compare::le>();
    case Compare::gt:
      return what.template operator()<T, Compare::gt>();
    case Compare::ge:
      return what.template operator()<T, Compare::ge>();
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T> || is_small_float<T>) {
    switch (how) {
      case Compare::equ:
        return what.template operator()<T, Compare::equ>();
      case Compare::neu:
        return what.template operator()<T, Compare::neu>();
      case Compare::ltu:
        return what.template operator()<T, Compare::ltu>();
      case Compare::leu:
        return what.template operator()<T, Compare::leu>();
      case Compare::gtu:
        return what.template operator()<T, Compare::gtu>();
      case Compare::geu:
        return what.template operator()<T, Compare::geu>();
      case Compare::num:
        return what.template operator()<T, Compare::num>();
      case Compare::nan:
        return what.template operator()<T, Compare::nan>();
      default:
        break;
    }
  }
  return nullptr;
}
template <class What>
Run for_compared(Type type, Compare how, const What& what) {
  if (is_real(type)) {
    return for_real(type, [&]<class T>() -> Run { return for_compare<T>(how, what); });
  }
  if (type == Type::f16) return for_compare<Half>(how, what);
  if (type == Type::bf16) return for_compare<Bfloat>(how, what);
  return for_integer(type, [&]<class T>() -> Run { return for_compare<T>(how, what); });
}

Recipe compare(const ptx::Instruction& one) {
  const auto how = compare_of(one);
  if (!how) return {};
  const auto combine = one.has("and")   ? Combine::with_and
                       : one.has("or")  ? Combine::with_or
                       : one.has("xor") ? Combine::with_xor
                                        : Combine::none;
  const bool takes = combine != Combine::none;
  const std::size_t results = one.operands.size() - 2 - (takes ? 1 : 0);
  if (one.operands.size() < 3 || results < 1 || results > 2) return {};
  const bool is_set = one.opcode == "set";
  if (is_set && takes) return {};
  Recipe recipe{.results = static_cast<unsigned>(results),
                .sources = 2,
                .types = {one.type(), one.type()},
                .takes_predicate = takes,
                .extra = static_cast<Bits>(combine) << 4U | (one.has("ftz") ? 0x100U : 0U)};
  if (is_set) {
    if (ptx::bytes_of(one.type(1)) != 4) return {};
    if (one.type(1) == Type::f32) recipe.extra |= 0x200U;
    recipe.run = for_compared(one.type(), *how,
                              []<class T, Compare c>() -> Run { return &set_value<T, c>; });
  } else {
    recipe.gives_predicate = true;
    recipe.run = for_compared(one.type(), *how,
                              []<class T, Compare c>() -> Run { return &set_predicate<T, c>; });
  }
  return recipe;
}

template <class To>
Run from_any(Type from, bool saturates) {
  const auto whole = [&]<class From>() -> Run {
    return saturates ? &each<WholeFromWhole<To, From, true>>
                     : &each<WholeFromWhole<To, From, false>>;
  };
  switch (from) {
    case Type::b8:
    case Type::u8:
      return whole.template operator()<std::uint8_t>();
    case Type::s8:
      return whole.template operator()<std::int8_t>();
    case Type::f32:
      return &each<WholeFromReal<To, float>>;
    case Type::f64:
      return &each<WholeFromReal<To, double>>;
    default:
      return for_integer(from, whole);
  }
}
template <class To>
Run real_from_any(Type from) {
  const auto real_of = []<class From>() -> Run { return &each_defined<RealFromAny<To, From>>; };
  switch (from) {
    case Type::u8:
      return real_of.template operator()<std::uint8_t>();
    case Type::s8:
      return real_of.template operator()<std::int8_t>();
    case Type::f32:
      return real_of.template operator()<float>();
    case Type::f64:
      return real_of.template operator()<double>();
    default:
      return for_integer(from, real_of);
  }
}

/// Conversions from and to types of 16 bits.
template <class F>
Run small_from_any(Type from, bool is_integral) {
  switch (from) {
    case Type::f16:
      return is_integral ? &each<SmallFromAny<F, Half, true>> : &each<SmallFromAny<F, Half, false>>;
    case Type::bf16:
      return is_integral ? &each<SmallFromAny<F, Bfloat, true>>
                         : &each<SmallFromAny<F, Bfloat, false>>;
    case Type::f32:
      return &each<SmallFromAny<F, float, false>>;
    case Type::f64:
      return &each<SmallFromAny<F, double, false>>;
    case Type::u8:
      return &each<SmallFromAny<F, std::uint8_t, false>>;
    case Type::s8:
      return &each<SmallFromAny<F, std::int8_t, false>>;
    default:  // a double holds integers of up to 32 bits
      return ptx::bytes_of(from) > 4 ? nullptr : for_integer(from, []<class T>() -> Run {
        return &each<SmallFromAny<F, T, false>>;
      });
  }
}
template <class F>
Run any_from_small(Type to) {
  if (to == Type::f32) return &each_defined<FromSmall<F, RealFromAny<float, float>>>;
  if (to == Type::f64) return &each_defined<FromSmall<F, RealFromAny<double, float>>>;
  return for_integer(to,
                     []<class T>() -> Run { return &each<FromSmall<F, WholeFromReal<T, float>>>; });
}
Recipe convert_small(const ptx::Instruction& one, Type to, Type from, const Flavour& flavour) {
  Recipe recipe{.sources = 1, .types = {from, from}, .extra = flavour.encoded()};
  const bool is_integral = has_any(one, {"rni", "rzi", "rmi", "rpi"});
  if (to == Type::f16x2 || to == Type::bf16x2) {
    if (from != Type::f32 || one.operands.size() != 3) return {};
    recipe.sources = 2;
    recipe.run = to == Type::f16x2 ? &each<SmallPair<Half>> : &each<SmallPair<Bfloat>>;
  } else if (one.operands.size() != 2) {
    return {};
  } else if (to == Type::f16) {
    recipe.run = small_from_any<Half>(from, is_integral);
  } else if (to == Type::bf16) {
    recipe.run = small_from_any<Bfloat>(from, is_integral);
  } else {
    recipe.run = from == Type::f16 ? any_from_small<Half>(to) : any_from_small<Bfloat>(to);
  }
  return recipe;
}

Recipe convert(const ptx::Instruction& one, Type result) {
  const Type to = one.type(1);
  const Type from = one.type();
  if (is_small(from) || (is_any_real(to) && !is_real(to))) {
    const auto small = flavour_of(one);
    const bool widens = ptx::is_integer(to) && ptx::bytes_of(result) > ptx::bytes_of(to);
    return small && !widens ? convert_small(one, to, from, *small) : Recipe{};
  }
  const auto flavour = flavour_of(one);
  if (!flavour || one.has("pack") || one.operands.size() != 2) return {};
  Recipe recipe{.sources = 1, .types = {from}, .extra = flavour->encoded()};
  if (is_real(to)) {
    const bool integral = has_any(one, {"rni", "rzi", "rmi", "rpi"});
    if (to == from) {
      recipe.run =
          integral
              ? for_real(to, []<class T>() -> Run { return &each_defined<Integral<T>>; })
              : for_real(to, []<class T>() -> Run { return &each_defined<RealFromAny<T, T>>; });
    } else {
      recipe.run = to == Type::f32 ? real_from_any<float>(from) : real_from_any<double>(from);
    }
    return recipe;
  }
  // An integer has the width of its register and the sign of its type.
  const bool from_real = is_real(from);
  if (!from_real) {
    const unsigned width = std::max(ptx::bytes_of(result), ptx::bytes_of(to));
    recipe.extra = width >= 8 ? ~Bits{0} : (Bits{1} << (8 * width)) - 1;
  } else if (ptx::bytes_of(result) > ptx::bytes_of(to)) {
    return {};
  }
  switch (to) {
    case Type::b8:
    case Type::u8:
      recipe.run = from_any<std::uint8_t>(from, one.has("sat"));
      break;
    case Type::s8:
      recipe.run = from_any<std::int8_t>(from, one.has("sat"));
      break;
    default:
      recipe.run =
          for_integer(to, [&]<class To>() -> Run { return from_any<To>(from, one.has("sat")); });
  }
  return recipe;
}

Recipe convert_address(const ptx::Instruction& one) {
  if (ptx::bytes_of(one.type()) != 8) return {};
  Bits window = 0;
  switch (one.space()) {
    case ptx::Space::global:
    case ptx::Space::constant:
      break;
    case ptx::Space::shared:
      window = shared_window;
      break;
    case ptx::Space::local:
      window = local_window;
      break;
    case ptx::Space::param:
      window = param_window;
      break;
    default:
      return {};
  }
  return {.run = &each<AddConstant>,
          .sources = 1,
          .types = {one.type()},
          .extra = one.has("to") ? ~window + 1 : window};
}

void test_window(WarpState& warp, const Step& step, std::uint32_t mask) {
  Truth truth{.unknown = warp.unknown[step.from[0]] & mask, .cause = warp.cause[step.from[0]]};
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const Bits at = warp.value(step.from[0])[lane];
    // For global memory, extra is 0: everything below the windows.
    const bool inside =
        step.extra == 0 ? at < shared_window : at >= step.extra && at - step.extra < window_bytes;
    if (inside) truth.bits |= 1U << lane;
  }
  write_predicate(warp, step.to_predicate, truth, mask);
}

Recipe in_space(const ptx::Instruction& one) {
  Recipe recipe{.run = &test_window, .sources = 1, .types = {Type::u64}, .gives_predicate = true};
  switch (one.space()) {
    case ptx::Space::global:
      break;
    case ptx::Space::shared:
      recipe.extra = shared_window;
      break;
    case ptx::Space::local:
      recipe.extra = local_window;
      break;
    case ptx::Space::param:
      recipe.extra = param_window;
      break;
    default:
      return {};
  }
  return recipe;
}

Recipe move(const ptx::Instruction& one) {
  using Kind = ptx::Operand::Kind;
  const Type type = one.type();
  if (one.operands.size() != 2 || ptx::bytes_of(type) > 8) return {};
  const auto part_bits = [&](const ptx::Operand& vector) -> Bits {
    return 8 * std::uint64_t{ptx::bytes_of(type)} / std::max<std::size_t>(vector.items.size(), 1);
  };
  if (one.operands[0].kind == Kind::vector) {
    const Bits bits = part_bits(one.operands[0]);
    if (bits < 8 || bits > 32) return {};
    return {.run = &unpack, .sources = 1, .types = {type}, .extra = bits};
  }
  if (one.operands[1].kind == Kind::vector) {
    const Bits bits = part_bits(one.operands[1]);
    if (bits < 8 || bits > 32) return {};
    const Type part = bits == 32 ? Type::b32 : bits == 16 ? Type::b16 : Type::b8;
    return {.run = &pack, .sources = 1, .types = {part}, .extra = bits};
  }
  return {.run = for_unsigned(type, []<class T>() -> Run { return &each<Unary<Same, T>>; }),
          .sources = 1,
          .types = {type}};
}

/// and.pred, or.pred, xor.pred, not.pred, mov.pred.
Recipe of_predicates(const ptx::Instruction& one) {
  Combine combine = Combine::none;
  if (one.opcode == "and") combine = Combine::with_and;
  if (one.opcode == "or") combine = Combine::with_or;
  if (one.opcode == "xor") combine = Combine::with_xor;
  const bool single = one.opcode == "not" || one.opcode == "mov";
  if (combine == Combine::none && !single) return {};
  return {.run = &combine_predicates,
          .sources = single ? 1U : 2U,
          .types = {Type::pred, Type::pred},
          .gives_predicate = true,
          .extra = static_cast<Bits>(combine) | (one.opcode == "not" ? negated_predicate : 0U)};
}

Recipe dot(const ptx::Instruction& one) {
  const bool a = one.type(1) == Type::s32;
  const bool b = one.type() == Type::s32;
  using U = std::uint8_t;
  using S = std::int8_t;
  const Run run =
      a ? (b ? &each<Dot<S, S>> : &each<Dot<S, U>>) : (b ? &each<Dot<U, S>> : &each<Dot<U, U>>);
  return {.run = run, .sources = 3, .types = {Type::b32, Type::b32, Type::b32}};
}

template <class Op, class ShiftOp>
Recipe find_bit(const ptx::Instruction& one) {
  Recipe recipe = unary<Op>(one);
  if (one.has("shiftamt")) recipe.run = unary<ShiftOp>(one).run;
  return recipe;
}

Recipe slct(const ptx::Instruction& one) {
  const Type type = one.type(1);
  const bool real_sign = one.type() == Type::f32;
  return {.run = real_sign ? &each<SignSelected<float>> : &each<SignSelected<std::int32_t>>,
          .sources = 3,
          .types = {type, type, one.type()}};
}

Recipe bit_field(const ptx::Instruction& one) {
  if (one.opcode == "bfe") {
    return {.run = for_integer(one.type(), []<class T>() -> Run { return &each<Extracted<T>>; }),
            .sources = 3,
            .types = {one.type(), Type::u32, Type::u32}};
  }
  return {.run = for_unsigned(one.type(), []<class T>() -> Run { return &insert_field<T>; }),
          .sources = 4,
          .types = {one.type(), one.type(), Type::u32, Type::u32}};
}

using Make = Recipe (*)(const ptx::Instruction&);
struct Entry {
  std::string_view opcode;
  Make make;
};
constexpr std::array entries{
    Entry{"add", [](const auto& i) { return add_like<Add, RealAdd>(i); }},
    Entry{"sub", [](const auto& i) { return add_like<Subtract, RealSubtract>(i); }},
    Entry{"mul", [](const auto& i) { return multiply(i, false); }},
    Entry{"mad", [](const auto& i) { return multiply(i, true); }},
    Entry{"fma", [](const auto& i) { return multiply(i, true); }},
    Entry{"div", divide},
    Entry{"rem", divide},
    Entry{"sad",
          [](const auto& i) {
            return Recipe{.run = for_integer(
                              i.type(), []<class T>() -> Run { return &each<SumOfDifference<T>>; }),
                          .sources = 3,
                          .types = {i.type(), i.type(), i.type()}};
          }},
    Entry{"min", [](const auto& i) { return least_or_most<Least, RealLeast>(i); }},
    Entry{"max", [](const auto& i) { return least_or_most<Most, RealMost>(i); }},
    Entry{"abs",
          [](const auto& i) {
            return is_any_real(i.type()) ? real<RealMagnitude, 1>(i) : unary<Magnitude>(i);
          }},
    Entry{"neg",
          [](const auto& i) {
            return is_any_real(i.type()) ? real<RealNegate, 1>(i) : unary<Negate>(i);
          }},
    Entry{"copysign", [](const auto& i) { return real<SignCopied, 2>(i); }},
    Entry{"rcp", [](const auto& i) { return real<Reciprocal, 1>(i); }},
    Entry{"sqrt", [](const auto& i) { return real<Root, 1>(i); }},
    Entry{"and", [](const auto& i) { return binary<And>(i); }},
    Entry{"or", [](const auto& i) { return binary<Or>(i); }},
    Entry{"xor", [](const auto& i) { return binary<Xor>(i); }},
    Entry{"not", [](const auto& i) { return unary<Not>(i); }},
    Entry{"cnot", [](const auto& i) { return unary<LogicalNot>(i); }},
    Entry{"shl", shift},
    Entry{"shr", shift},
    Entry{"shf", funnel},
    Entry{"lop3", logic},
    Entry{"prmt", permute},
    Entry{"bfe", bit_field},
    Entry{"bfi", bit_field},
    Entry{"bfind", [](const auto& i) { return find_bit<HighestBit, HighestBitShift>(i); }},
    Entry{"bmsk",
          [](const auto& i) {
            return Recipe{.run = i.has("wrap") ? &each<Mask<true>> : &each<Mask<false>>,
                          .sources = 2,
                          .types = {Type::u32, Type::u32}};
          }},
    Entry{"brev", [](const auto& i) { return unary_of_bits<Reverse>(i); }},
    Entry{"popc", [](const auto& i) { return unary_of_bits<CountOnes>(i); }},
    Entry{"clz", [](const auto& i) { return unary_of_bits<LeadingZeros>(i); }},
    Entry{"dp4a", dot},
    Entry{"setp", compare},
    Entry{"set", compare},
    Entry{"slct", slct},
    Entry{
        "selp",
        [](const auto& i) {
          return Recipe{
              .run = &select, .sources = 2, .types = {i.type(), i.type()}, .takes_predicate = true};
        }},
    Entry{"mov", move},
    Entry{"cvta", convert_address},
    Entry{"isspacep", in_space},
};

constexpr std::array approximations{
    Entry{"div", [](const auto& i) { return real<RealDivide, 2>(i); }},
    Entry{"rcp", [](const auto& i) { return real<Reciprocal, 1>(i); }},
    Entry{"sqrt", [](const auto& i) { return real<Root, 1>(i); }},
    Entry{"rsqrt", [](const auto& i) { return real<ReciprocalRoot, 1>(i); }},
    Entry{"sin", [](const auto& i) { return real<Sine, 1>(i); }},
    Entry{"cos", [](const auto& i) { return real<Cosine, 1>(i); }},
    Entry{"ex2", [](const auto& i) { return real<PowerOfTwo, 1>(i); }},
    Entry{"lg2", [](const auto& i) { return real<LogarithmToTwo, 1>(i); }},
    Entry{"tanh", [](const auto& i) { return real<HyperbolicTangent, 1>(i); }},
};

Recipe made_of(std::span<const Entry> those, const ptx::Instruction& instruction) {
  const auto found = std::ranges::find(those, instruction.opcode, &Entry::opcode);
  return found == those.end() ? Recipe{} : found->make(instruction);
}

}  // namespace

Recipe approximation_of(const ptx::Instruction& instruction) {
  return is_approximate(instruction) ? made_of(approximations, instruction) : Recipe{};
}

Recipe recipe_of(const ptx::Instruction& instruction, Type result) {
  if (is_approximate(instruction)) return {};
  if (instruction.opcode == "cvt") return convert(instruction, result);
  if (instruction.type() == Type::pred) return of_predicates(instruction);
  return made_of(entries, instruction);
}

Run copy_run() {
  return &each<Unary<Same, std::uint64_t>>;
}

std::uint64_t immediate_bits(const ptx::Operand& operand, Type type) {
  if (operand.kind == ptx::Operand::Kind::real) {
    if (type == Type::f32 || ptx::bytes_of(type) == 4) {
      return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
    }
    return operand.bits;
  }
  const unsigned bytes = ptx::bytes_of(type);
  return bytes == 0 || bytes >= 8 ? operand.bits : operand.bits & ((Bits{1} << (8 * bytes)) - 1);
}

}  // namespace strata::access
