// The operations whose cost is measured: what each does on the device, one PTX instruction at a
// time, and the same again on the host, bit for bit, so that the end of a chain can be checked.
//
// Adding an operation is one type here and its name in `Operations`. A type says
//   Word                what the chain carries
//   name                its word on the axis `operation`
//   body                operations in the body of a loop: few enough for the instruction caches,
//                       enough that the loop's own instructions (3 or 4, and a branch) are little
//   tolerance           relative; 0: the host knows every bit
//   operands(lane)      what the chain starts from, and two sets of operands that alternate, so
//                       that nothing can fold two neighbours of a chain into one
//   step(x, a, b)       the operation on the host; or expected(operands), where only the number
//                       that the chain settles at is known; or step_all, where lanes meet
//   apply(x, a, b)      the operation on the device; the comment names the SASS that is wanted
// Operands are of the lane, not of the warp: those of the warp would go through the uniform pipe.
#pragma once

#include "harness/model/coalescing.hpp"
#include "harness/model/word_patterns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strata::operations {

/// Lanes whose operands differ; lane l has those of l mod this.
inline constexpr std::uint32_t distinct_lanes = 8;

/// Where an operation goes beside the registers.
enum class Space { none, shared, constant, global, barrier };

template <class W>
struct Operands {
  W start{};
  std::array<W, 2> a{};
  std::array<W, 2> b{};
};

/// A number from 1 up to 2 with a random mantissa of `bits` bits.
template <class Real>
Real fraction(std::uint32_t index, int bits = 23) {
  const std::uint32_t mantissa = hashed_word(index) >> static_cast<std::uint32_t>(32 - bits);
  return static_cast<Real>(1.0 + std::ldexp(mantissa, -bits));
}

/// What most integer operations start from: all bits in use, and odd.
inline Operands<std::uint32_t> random_words(std::uint32_t lane) {
  const auto word = [lane](std::uint32_t which) { return hashed_word(8 * lane + which) | 1U; };
  return {.start = word(0), .a = {word(1), word(2)}, .b = {word(3), word(4)}};
}

/// x → a·x + b with a in [1/2, 3/4): every step changes all bits of x, which comes to alternate
/// between two numbers. Mantissas of at most `bits` bits.
template <class Real>
Operands<Real> contraction(std::uint32_t lane, int bits) {
  const auto a = [&](std::uint32_t which) {
    return static_cast<Real>((fraction<double>(8 * lane + which, bits - 1) + 1) / 4);
  };
  const auto b = [&](std::uint32_t which) { return fraction<Real>(8 * lane + which, bits - 1); };
  return {.start = b(0), .a = {a(1), a(2)}, .b = {b(3), b(4)}};
}

/// `value` with a significand of `bits` bits, to nearest, ties to even.
inline double rounded(double value, int bits) {
  int exponent = 0;
  const double significand = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(significand, bits)), exponent - bits);
}

/// Two equal 16-bit numbers in one word. Normal numbers that the format holds.
struct Half {
  static constexpr int bits = 11;
  static std::uint32_t pack(double value) {
    const auto f = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const std::uint32_t h =
        ((f >> 16U) & 0x8000U) | ((((f >> 23U) & 0xFFU) - 112U) << 10U) | ((f >> 13U) & 0x3FFU);
    return h | (h << 16U);
  }
  static double unpack(std::uint32_t word) {
    const std::uint32_t h = word & 0xFFFFU;
    return std::bit_cast<float>(((h & 0x8000U) << 16U) | ((((h >> 10U) & 0x1FU) + 112U) << 23U) |
                                ((h & 0x3FFU) << 13U));
  }
};
struct Bfloat {
  static constexpr int bits = 8;
  static std::uint32_t pack(double value) {
    const auto f = std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U;
    return f | (f << 16U);
  }
  static double unpack(std::uint32_t word) { return std::bit_cast<float>(word << 16U); }
};

struct Plain {
  static constexpr std::uint32_t body = 512;
  static constexpr double tolerance = 0;
  static constexpr Space space = Space::none;
  static constexpr int least_major = 0;            ///< compute capability that knows the operation
  static constexpr std::string_view counter = {};  ///< quantity of the set flops that counts it
};

#ifdef __CUDACC__
#define STRATA_OPERATION(...)                                                                     \
  static __device__ __forceinline__ void apply([[maybe_unused]] Word& x, [[maybe_unused]] Word a, \
                                               [[maybe_unused]] Word b) {                         \
    __VA_ARGS__;                                                                                  \
  }
#else
#define STRATA_OPERATION(...)
#endif

// --- 32-bit floating point

struct Fadd : Plain {
  using Word = float;
  static constexpr std::string_view name = "fadd";
  static constexpr std::string_view counter = "fp32_add";
  static Operands<Word> operands(std::uint32_t lane) {
    const auto k = static_cast<float>(lane + 1);
    return {.start = fraction<float>(lane), .a = {k, 2 * k}, .b = {}};
  }
  static Word step(Word x, Word a, Word /*b*/) { return x + a; }
  // Wanted: FADD
  STRATA_OPERATION(asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a)))
};

struct Fmul : Plain {
  using Word = float;
  static constexpr std::string_view name = "fmul";
  static constexpr std::string_view counter = "fp32_mul";
  static Operands<Word> operands(std::uint32_t lane) {
    const auto up = fraction<float>(2 * lane + 1);
    return {.start = fraction<float>(2 * lane), .a = {up, 1 / up}, .b = {}};
  }
  static Word step(Word x, Word a, Word /*b*/) { return x * a; }
  // Wanted: FMUL
  STRATA_OPERATION(asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a)))
};

struct Ffma : Plain {
  using Word = float;
  static constexpr std::string_view name = "ffma";
  static constexpr std::string_view counter = "fp32_fma";
  static Operands<Word> operands(std::uint32_t lane) { return contraction<float>(lane, 24); }
  static Word step(Word x, Word a, Word b) { return std::fma(x, a, b); }
  // Wanted: FFMA
  STRATA_OPERATION(asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b)))
};

/// The lesser, then the greater: x goes to and fro between the two bounds.
struct Fmnmx : Plain {
  using Word = float;
  static constexpr std::string_view name = "fmin_fmax";
  static constexpr std::uint32_t body = 256;
  static Operands<Word> operands(std::uint32_t lane) {
    const auto low = fraction<float>(lane);
    return {.start = 3 * low, .a = {low, low / 2}, .b = {2 * low, 4 * low}};
  }
  static Word step(Word x, Word a, Word b) { return std::max(std::min(x, a), b); }
  // Wanted: FMNMX, FMNMX (one FMNMX3 would be another operation)
  STRATA_OPERATION(asm volatile("min.f32 %0, %0, %1;\n\tmax.f32 %0, %0, %2;"
                                : "+f"(x)
                                : "f"(a), "f"(b)))
};

// --- 32-bit integers

/// ptxas makes one IADD3 of two additions, so that two additions are the operation.
struct Iadd : Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "iadd3";
  static Operands<Word> operands(std::uint32_t lane) { return random_words(lane); }
  static Word step(Word x, Word a, Word b) { return x + a + b; }
  // Wanted: IADD3 R, R, R, R
  STRATA_OPERATION(asm volatile("add.u32 %0, %0, %1;\n\tadd.u32 %0, %0, %2;"
                                : "+r"(x)
                                : "r"(a), "r"(b)))
};

/// (x and a) xor b.
struct Bitwise : Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "bitwise";
  static Operands<Word> operands(std::uint32_t lane) { return random_words(lane); }
  static Word step(Word x, Word a, Word b) { return (x & a) ^ b; }
  // Wanted: LOP3.LUT
  STRATA_OPERATION(asm volatile("lop3.b32 %0, %0, %1, %2, 0x6A;" : "+r"(x) : "r"(a), "r"(b)))
};

struct Shift : Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "shift";
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = hashed_word(lane), .a = {lane + 1, 2 * lane + 3}, .b = {}};
  }
  static Word step(Word x, Word a, Word /*b*/) { return std::rotl(x, static_cast<int>(a)); }
  // Wanted: SHF.L.W.U32 (a funnel shift of the same word twice)
  STRATA_OPERATION(asm volatile("shf.l.wrap.b32 %0, %0, %0, %1;" : "+r"(x) : "r"(a)))
};

/// A comparison and the choice that follows from it: two instructions, as a predicate alone makes
/// no chain.
struct Compare : Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "compare_select";
  static constexpr std::uint32_t body = 256;
  static Operands<Word> operands(std::uint32_t lane) {
    const std::uint32_t middle = hashed_word(lane) >> 1U;
    return {.start = middle + 7, .a = {middle, middle / 4}, .b = {middle / 2, middle + 9}};
  }
  static Word step(Word x, Word a, Word b) { return x > a ? b : a; }
  // Wanted: ISETP.GT.U32, SEL
  STRATA_OPERATION(
      asm volatile("{ .reg .pred above;\n\t"
                   "setp.gt.u32 above, %0, %1;\n\t"
                   "selp.u32 %0, %2, %1, above; }"
                   : "+r"(x)
                   : "r"(a), "r"(b)))
};

struct Imnmx : Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "imin_imax";
  static constexpr std::uint32_t body = 256;
  static Operands<Word> operands(std::uint32_t lane) {
    const std::uint32_t low = hashed_word(lane) >> 3U;
    return {.start = 3 * low, .a = {low, low / 2}, .b = {2 * low, 4 * low}};
  }
  static Word step(Word x, Word a, Word b) { return std::max(std::min(x, a), b); }
  // Wanted: IMNMX, IMNMX (VIMNMX from compute capability 9.0 on)
  STRATA_OPERATION(asm volatile("min.u32 %0, %0, %1;\n\tmax.u32 %0, %0, %2;"
                                : "+r"(x)
                                : "r"(a), "r"(b)))
};

struct Imad : Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "imad";
  static Operands<Word> operands(std::uint32_t lane) { return random_words(lane); }
  static Word step(Word x, Word a, Word b) { return x * a + b; }
  // Wanted: IMAD
  STRATA_OPERATION(asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b)))
};

/// Four products of bytes, added to the chain.
struct Dp4a : Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "dp4a";
  static Operands<Word> operands(std::uint32_t lane) { return random_words(lane); }
  static Word step(Word x, Word a, Word b) {
    for (std::uint32_t byte = 0; byte < 32; byte += 8)
      x += ((a >> byte) & 0xFFU) * ((b >> byte) & 0xFFU);
    return x;
  }
  // Wanted: IDP.4A.U8.U8
  STRATA_OPERATION(asm volatile("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(x) : "r"(a), "r"(b)))
};

// --- Special functions: the bits of an approximation are the chip's own, but a chain that
// contracts settles where the function meets its argument, whatever the last bits of a step were.

/// 1/(x + a), which settles between 0.4 and 0.7. Without the addition ptxas makes x of two
/// reciprocals and drops both.
struct RcpApprox : Plain {
  using Word = float;
  static constexpr std::string_view name = "rcp_approx";
  static constexpr std::uint32_t body = 256;
  static constexpr double tolerance = 1e-6;
  static constexpr std::string_view counter = "xu_thread_instructions";
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = fraction<float>(3 * lane),
            .a = {fraction<float>(3 * lane + 1), fraction<float>(3 * lane + 2)},
            .b = {}};
  }
  static Word step(Word x, Word a, Word /*b*/) { return 1 / (x + a); }
  // Wanted: FADD, MUFU.RCP
  STRATA_OPERATION(asm volatile("add.ftz.f32 %0, %0, %1;\n\trcp.approx.ftz.f32 %0, %0;"
                                : "+f"(x)
                                : "f"(a)))
};

/// Settles at 1; so does the square root.
struct RsqrtApprox : Plain {
  using Word = float;
  static constexpr std::string_view name = "rsqrt_approx";
  static constexpr double tolerance = 1e-6;
  static constexpr std::string_view counter = "xu_thread_instructions";
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = fraction<float>(lane), .a = {}, .b = {}};
  }
  static Word step(Word x, Word /*a*/, Word /*b*/) { return 1 / std::sqrt(x); }
  // Wanted: MUFU.RSQ
  STRATA_OPERATION(asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x)))
};

struct SqrtApprox : Plain {
  using Word = float;
  static constexpr std::string_view name = "sqrt_approx";
  static constexpr double tolerance = 1e-6;
  static constexpr std::string_view counter = "xu_thread_instructions";
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = fraction<float>(lane), .a = {}, .b = {}};
  }
  static Word step(Word x, Word /*a*/, Word /*b*/) { return std::sqrt(x); }
  // Wanted: MUFU.SQRT
  STRATA_OPERATION(asm volatile("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x)))
};

/// The cosine stands for the sine: the same unit and range reduction, and it settles, at 0.739…,
/// where an error of a step (2^-20.5) comes back at most threefold.
struct CosApprox : Plain {
  using Word = float;
  static constexpr std::string_view name = "cos_approx";
  static constexpr std::uint32_t body = 256;
  static constexpr double tolerance = 5e-6;
  static constexpr std::string_view counter = "xu_thread_instructions";
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = fraction<float>(lane) / 2, .a = {}, .b = {}};
  }
  static Word step(Word x, Word /*a*/, Word /*b*/) { return std::cos(x); }
  // Wanted: FMUL by 1/2π, MUFU.COS
  STRATA_OPERATION(asm volatile("cos.approx.ftz.f32 %0, %0;" : "+f"(x)))
};

/// 2^-x, which settles at 0.641…
struct Exp2Approx : Plain {
  using Word = float;
  static constexpr std::string_view name = "exp2_approx";
  static constexpr double tolerance = 1e-6;
  static constexpr std::string_view counter = "xu_thread_instructions";
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = fraction<float>(lane) / 2, .a = {}, .b = {}};
  }
  static Word step(Word x, Word /*a*/, Word /*b*/) { return std::exp2(-x); }
  // Wanted: MUFU.EX2 R, -R
  STRATA_OPERATION(
      asm volatile("{ .reg .f32 negative;\n\t"
                   "neg.f32 negative, %0;\n\t"
                   "ex2.approx.ftz.f32 %0, negative; }"
                   : "+f"(x)))
};

/// Correctly rounded: a short program around MUFU.RCP, with a call for numbers at the edges.
struct RcpIeee : Plain {
  using Word = float;
  static constexpr std::string_view name = "rcp_ieee";
  static constexpr std::uint32_t body = 32;
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = fraction<float>(lane), .a = {}, .b = {}};
  }
  static Word step(Word x, Word /*a*/, Word /*b*/) { return 1 / x; }
  // Wanted: MUFU.RCP and FFMA
  STRATA_OPERATION(asm volatile("rcp.rn.f32 %0, %0;" : "+f"(x)))
};

struct SqrtIeee : Plain {
  using Word = float;
  static constexpr std::string_view name = "sqrt_ieee";
  static constexpr std::uint32_t body = 32;
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = fraction<float>(lane), .a = {}, .b = {}};
  }
  static Word step(Word x, Word /*a*/, Word /*b*/) { return std::sqrt(x); }
  // Wanted: MUFU.RSQ and FFMA
  STRATA_OPERATION(asm volatile("sqrt.rn.f32 %0, %0;" : "+f"(x)))
};

// --- 64-bit floating point

struct Dadd : Plain {
  using Word = double;
  static constexpr std::string_view name = "dadd";
  static constexpr std::string_view counter = "fp64_add";
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = fraction<double>(3 * lane),
            .a = {fraction<double>(3 * lane + 1), fraction<double>(3 * lane + 2)},
            .b = {}};
  }
  static Word step(Word x, Word a, Word /*b*/) { return x + a; }
  // Wanted: DADD
  STRATA_OPERATION(asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(x) : "d"(a)))
};

struct Dmul : Plain {
  using Word = double;
  static constexpr std::string_view name = "dmul";
  static constexpr std::string_view counter = "fp64_mul";
  static Operands<Word> operands(std::uint32_t lane) {
    const auto up = fraction<double>(2 * lane + 1);
    return {.start = fraction<double>(2 * lane), .a = {up, 1 / up}, .b = {}};
  }
  static Word step(Word x, Word a, Word /*b*/) { return x * a; }
  // Wanted: DMUL
  STRATA_OPERATION(asm volatile("mul.rn.f64 %0, %0, %1;" : "+d"(x) : "d"(a)))
};

struct Dfma : Plain {
  using Word = double;
  static constexpr std::string_view name = "dfma";
  static constexpr std::string_view counter = "fp64_fma";
  static Operands<Word> operands(std::uint32_t lane) { return contraction<double>(lane, 24); }
  static Word step(Word x, Word a, Word b) { return std::fma(x, a, b); }
  // Wanted: DFMA
  STRATA_OPERATION(asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(a), "d"(b)))
};

// --- Two 16-bit numbers in a word

template <class Format>
struct PackedFma : Plain {
  using Word = std::uint32_t;
  static Word packed(double value) { return Format::pack(value); }
  static Operands<Word> operands(std::uint32_t lane) {
    const auto numbers = contraction<double>(lane, Format::bits - 1);
    return {.start = packed(numbers.start),
            .a = {packed(numbers.a[0]), packed(numbers.a[1])},
            .b = {packed(numbers.b[0]), packed(numbers.b[1])}};
  }
  static Word step(Word x, Word a, Word b) {
    // Exact in 64 bits, then rounded once.
    const double exact = Format::unpack(x) * Format::unpack(a) + Format::unpack(b);
    return Format::pack(rounded(exact, Format::bits));
  }
};

struct Hfma2 : PackedFma<Half> {
  static constexpr std::string_view name = "hfma2";
  static constexpr std::string_view counter = "fp16_fma";
  // Wanted: HFMA2
  STRATA_OPERATION(asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b)))
};

struct Bfma2 : PackedFma<Bfloat> {
  static constexpr std::string_view name = "bfma2";
  static constexpr int least_major = 8;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  STRATA_OPERATION(asm volatile("trap;"))  // never launched there
#else
  // Wanted: HFMA2.BF16_V2 (HFMA2.BF16 on 8.x)
  STRATA_OPERATION(asm volatile("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b)))
#endif
};

// --- Between the lanes of a warp

/// Every lane takes its right neighbour's word.
struct Shuffle : Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "shuffle";
  static Operands<Word> operands(std::uint32_t lane) {
    const std::uint32_t neighbour = (lane + 1) % distinct_lanes;
    return {.start = hashed_word(lane), .a = {neighbour, neighbour}, .b = {}};
  }
  static void step_all(std::array<Word, distinct_lanes>& x,
                       const std::array<Operands<Word>, distinct_lanes>& /*of*/,
                       std::size_t /*set*/) {
    std::rotate(x.begin(), x.begin() + 1, x.end());
  }
  // Wanted: SHFL.IDX, within groups of eight lanes
  STRATA_OPERATION(asm volatile("shfl.sync.idx.b32 %0, %0, %1, 0x181F, 0xFFFFFFFF;"
                                : "+r"(x)
                                : "r"(a)))
};

/// A vote needs a predicate, so that a comparison is part of the operation.
struct Vote : Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "compare_vote";
  static constexpr std::uint32_t body = 256;
  static Operands<Word> operands(std::uint32_t lane) {
    // Lane 0 of eight votes against whatever comes, so that no ballot is all ones.
    const bool votes = lane != 0;
    const std::uint32_t bound = hashed_word(lane);
    return {.start = hashed_word(lane + distinct_lanes),
            .a = {votes ? bound : 0, votes ? ~bound : 0},
            .b = {}};
  }
  static void step_all(std::array<Word, distinct_lanes>& x,
                       const std::array<Operands<Word>, distinct_lanes>& of, std::size_t set) {
    std::uint32_t ballot = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::size_t k = lane % distinct_lanes;
      ballot |= static_cast<std::uint32_t>(x[k] < of[k].a[set]) << lane;
    }
    x.fill(ballot);
  }
  // Wanted: ISETP.LT.U32, VOTE.ANY (the form that gives a ballot)
  STRATA_OPERATION(
      asm volatile("{ .reg .pred less;\n\t"
                   "setp.lt.u32 less, %0, %1;\n\t"
                   "vote.sync.ballot.b32 %0, less, 0xFFFFFFFF; }"
                   : "+r"(x)
                   : "r"(a)))
};

/// All warps of a block wait for each other; the chain carries nothing.
struct Barrier : Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "barrier";
  static constexpr std::uint32_t body = 128;
  static constexpr Space space = Space::barrier;
  static Operands<Word> operands(std::uint32_t lane) { return random_words(lane); }
  static Word step(Word x, Word /*a*/, Word /*b*/) { return x; }
  // Wanted: BAR.SYNC
  STRATA_OPERATION(asm volatile("bar.sync 0;" : : : "memory"))
};

// --- Loads: the loaded word is the address of the next load. The host knows places in a ring of
// eight words; the kernel turns the first into an address and the last back.

template <class W>
struct Ring : Plain {
  using Word = W;
  static constexpr std::uint32_t stride = 3;  ///< to the next place
  static Word step(Word x, Word /*a*/, Word /*b*/) { return (x + stride) % distinct_lanes; }
};

struct SharedLoad : Ring<std::uint32_t> {
  static constexpr std::string_view name = "load_shared";
  static constexpr Space space = Space::shared;
  static Operands<Word> operands(std::uint32_t lane) { return {.start = lane, .a = {}, .b = {}}; }
  // Wanted: LDS R, [R]
  STRATA_OPERATION(asm volatile("ld.shared.u32 %0, [%0];" : "+r"(x) : : "memory"))
};

/// All lanes read the same word: constant memory serves one address at a time.
struct ConstantLoad : Ring<std::uint32_t> {
  static constexpr std::string_view name = "load_constant";
  static constexpr std::uint32_t body = 256;
  static constexpr Space space = Space::constant;
  static Operands<Word> operands(std::uint32_t /*lane*/) { return {.start = 5, .a = {}, .b = {}}; }
};

/// Eight bytes a lane; all lanes read from one line.
struct GlobalLoad : Ring<std::uint64_t> {
  static constexpr std::string_view name = "load_l1";
  static constexpr Space space = Space::global;
  static Operands<Word> operands(std::uint32_t lane) { return {.start = lane, .a = {}, .b = {}}; }
  // Wanted: LDG.E.64
  STRATA_OPERATION(asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(x) : : "memory"))
};

#undef STRATA_OPERATION

template <class... Each>
struct List {
  static constexpr std::array<std::string_view, sizeof...(Each)> names{Each::name...};
};
using Operations =
    List<Fadd, Fmul, Ffma, Fmnmx, Iadd, Bitwise, Shift, Compare, Imnmx, Imad, Dp4a, RcpApprox,
         RcpIeee, RsqrtApprox, SqrtApprox, SqrtIeee, CosApprox, Exp2Approx, Dadd, Dmul, Dfma, Hfma2,
         Bfma2, Shuffle, Vote, Barrier, SharedLoad, ConstantLoad, GlobalLoad>;

// --- How long a set of operands serves

/// Steps of a chain that take one set of operands before the other has its turn.
template <class Op>
inline constexpr std::uint32_t run_of = 1;
template <class Op>
requires requires {
  Op::run;
}
inline constexpr std::uint32_t run_of<Op> = Op::run;

/// A multiply-add of a GPU has three operands: more than the registers' two banks give in its time,
/// unless its neighbours share some of them (the reuse cache). Nothing folds multiply-adds, so that
/// the sets need not alternate at each step. Long beside the change from one set to the other, and
/// short enough that a chain has hardly come to rest before it is drawn elsewhere.
inline constexpr std::uint32_t long_run = 16;
template <>
inline constexpr std::uint32_t run_of<Ffma> = long_run;
template <>
inline constexpr std::uint32_t run_of<Dfma> = long_run;
template <>
inline constexpr std::uint32_t run_of<Hfma2> = long_run;
template <>
inline constexpr std::uint32_t run_of<Bfma2> = long_run;

// --- What the host expects

template <class Op>
using Lanes = std::array<typename Op::Word, distinct_lanes>;
template <class Op>
using LaneOperands = std::array<Operands<typename Op::Word>, distinct_lanes>;

template <class Op>
[[nodiscard]] LaneOperands<Op> operands_of() {
  LaneOperands<Op> all;
  for (std::uint32_t lane = 0; lane < distinct_lanes; ++lane)
    all[lane] = Op::operands(lane);
  return all;
}

/// One operation in every lane.
template <class Op>
void advance(Lanes<Op>& x, const LaneOperands<Op>& of, std::size_t set) {
  if constexpr (requires { Op::step_all(x, of, set); }) {
    Op::step_all(x, of, set);
  } else {
    for (std::size_t lane = 0; lane < distinct_lanes; ++lane)
      x[lane] = Op::step(x[lane], of[lane].a[set], of[lane].b[set]);
  }
}

/// What the chains of the first lanes hold after `steps` operations. Chains that have come to
/// repeat themselves are not followed to their end.
template <class Op>
[[nodiscard]] Lanes<Op> expected_ends(std::uint64_t steps) {
  constexpr std::uint64_t turn = 2 * run_of<Op>;  // each set once
  const LaneOperands<Op> of = operands_of<Op>();
  Lanes<Op> x{};
  std::ranges::transform(of, x.begin(), &Operands<typename Op::Word>::start);
  const auto go = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      advance<Op>(x, of, i / run_of<Op> % 2);
  };
  // Once a state comes back, whole periods are left out (Brent: the state to meet again is taken
  // anew after 1, 2, 4… turns).
  std::uint64_t turns = steps / turn;
  Lanes<Op> earlier = x;
  std::uint64_t since = 0;
  std::uint64_t patience = 1;
  while (turns > 0) {
    go(turn);
    --turns;
    ++since;
    if (x == earlier) turns %= since;
    if (since == patience) {
      earlier = x;
      since = 0;
      patience *= 2;
    }
  }
  go(steps % turn);
  return x;
}

/// What goes to the device for all lanes of a warp: the starts of `chains` chains, each a word of
/// its own (equal chains of one word would be merged), then a and b of both sets.
template <class W>
[[nodiscard]] std::vector<W> device_words(const std::array<Operands<W>, distinct_lanes>& of,
                                          unsigned chains) {
  std::vector<W> words;
  const auto row = [&](auto&& pick) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      words.push_back(pick(of[lane % distinct_lanes]));
  };
  for (unsigned c = 0; c < chains; ++c)
    row([](const Operands<W>& one) { return one.start; });
  for (std::size_t set = 0; set < 2; ++set)
    row([set](const Operands<W>& one) { return one.a[set]; });
  for (std::size_t set = 0; set < 2; ++set)
    row([set](const Operands<W>& one) { return one.b[set]; });
  return words;
}

/// The bits of a word, for comparing and summing.
template <class W>
[[nodiscard]] std::uint64_t bits(W word) {
  if constexpr (sizeof(W) == sizeof(std::uint32_t)) {
    return std::bit_cast<std::uint32_t>(word);
  } else {
    return std::bit_cast<std::uint64_t>(word);
  }
}

/// What the end of chain `index` (of the warp) adds to the warp's checksum.
STRATA_HD constexpr std::uint64_t checksum_part(std::uint64_t word, std::uint64_t index) {
  return (word + 0x9E3779B97F4A7C15U) * (2 * index + 1);
}

/// Ends of chains that were looked at, and how many were not what the host expects.
struct Checked {
  std::size_t words = 0;
  std::size_t different = 0;

  /// The ends of one warp (`chains` of each lane, lane after lane) against the host's; gives the
  /// checksum that every other warp must have come to.
  template <class W>
  std::uint64_t ends(std::span<const W> got, const std::array<W, distinct_lanes>& wanted,
                     double tolerance) {
    std::uint64_t checksum = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      one(alike(got[i], wanted[i % distinct_lanes], tolerance));
      checksum += checksum_part(bits(got[i]), i);
    }
    return checksum;
  }
  void one(bool equal) {
    ++words;
    if (!equal) ++different;
  }

  template <class W>
  [[nodiscard]] static bool alike(W got, W wanted, double tolerance) {
    if constexpr (std::is_floating_point_v<W>) {
      if (tolerance > 0) return std::abs(got - wanted) <= tolerance * std::abs(wanted);
    }
    return bits(got) == bits(wanted);
  }
};

}  // namespace strata::operations
