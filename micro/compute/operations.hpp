// The operations whose cost is measured: in PTX, and the same on the host, bit for bit, so that the
// end of a chain can be checked. A new operation is a type here and its name in `Operations`:
//   about               its Operation
//   Word                the type of the chain's value
//   run                 consecutive steps with one set of operands before the other set is used
//   operands(lane)      the start of a chain and two alternating sets of operands, so that the
//                       compiler cannot fold two neighbouring steps into one
//   step(x, a, b)       the operation on the host; or step_all, if lanes exchange values
//   STRATA_PTX          on the device: %0 is x, %1 is a and %2 is b; the comment names the SASS
// Operands differ between lanes: uniform ones would go through the uniform datapath.
#pragma once

#include "harness/base/error.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/compute/chains.hpp"

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace strata::operations {

/// Where an operation goes besides the registers.
enum class Space { none, shared, constant, global, barrier };

/// What the host needs to launch and judge an operation, whatever its word type.
struct Operation {
  std::string_view name;          ///< its word on the axis `operation`
  std::string_view counter = {};  ///< quantity of the set flops that counts it
  /// Operations in the loop body: few enough for the instruction caches, and enough that the loop's
  /// own instructions (3 or 4, and a branch) are negligible.
  std::uint32_t body = 512;
  double tolerance = 0;  ///< relative; 0: bit-exact
  Space space = Space::none;
  int least_major = 0;                               ///< minimum compute capability
  int instructions = 1;                              ///< of one operation; 0: a short program
  WarpWords (*words)(unsigned chains) = nullptr;     ///< device_words, and below its expected_ends
  WarpWords (*ends)(std::uint64_t steps) = nullptr;  ///< of the lanes that differ, as bits
};

template <class W>
struct Operands {
  W start{};
  std::array<W, 2> a{};
  std::array<W, 2> b{};
};

/// Numbers from 1 to 2: the start and a.
template <class Real>
Operands<Real> three_fractions(std::uint32_t lane) {
  const auto number = [lane](std::uint32_t which) { return fraction<Real>(3 * lane + which); };
  return {.start = number(0), .a = {number(1), number(2)}};
}

/// x → a·x + b with a in [1/2, 3/4): every step changes all of the mantissa's `bits` bits.
template <class Word>
Operands<Word> contraction(std::uint32_t lane, int bits, Word (*word_of)(double)) {
  const auto number = [&](std::uint32_t which) {
    return fraction<double>(8 * lane + which, bits - 1);
  };
  const auto a = [&](std::uint32_t which) { return word_of((number(which) + 1) / 4); };
  const auto b = [&](std::uint32_t which) { return word_of(number(which)); };
  return {.start = b(0), .a = {a(1), a(2)}, .b = {b(3), b(4)}};
}

/// `value` with a significand of `bits` bits, to nearest, ties to even.
inline double rounded(double value, int bits) {
  int exponent = 0;
  const double significand = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(significand, bits)), exponent - bits);
}

/// Two equal normal 16-bit numbers in one word; exponents are `rebias` less than a float's.
template <int significant, std::uint32_t rebias>
struct Packed {
  static constexpr int bits = significant;
  static std::uint32_t pack(double value) {
    const auto f = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const std::uint32_t h =
        ((f >> 16U) & 0x8000U) | (((f & 0x7FFFFFFFU) - (rebias << 23U)) >> dropped);
    return h | (h << 16U);
  }
  static double unpack(std::uint32_t word) {
    return std::bit_cast<float>(((word & 0x8000U) << 16U) |
                                (((word & 0x7FFFU) << dropped) + (rebias << 23U)));
  }

 private:
  static constexpr std::uint32_t dropped = 24 - significant;  // bits of a float's significand
};
using Half = Packed<11, 112>;
using Bfloat = Packed<8, 0>;

template <class W>
struct Plain {
  using Word = W;
  static constexpr std::uint32_t run = 1;
};

/// `kind`: the letter of the word's registers. Clobbers may follow.
#ifdef __CUDACC__
#define STRATA_PTX(kind, text, ...)                                                               \
  static __device__ __forceinline__ void apply([[maybe_unused]] Word& x, [[maybe_unused]] Word a, \
                                               [[maybe_unused]] Word b) {                         \
    asm volatile(text : "+" kind(x) : kind(a), kind(b) __VA_OPT__( :) __VA_ARGS__);               \
  }
#else
#define STRATA_PTX(kind, text, ...)
#endif

// --- Floating point of 32 and of 64 bits

template <class Real>
struct Add : Plain<Real> {
  static Operands<Real> operands(std::uint32_t lane) { return three_fractions<Real>(lane); }
  static Real step(Real x, Real a, Real /*b*/) { return x + a; }
};
struct Fadd : Add<float> {
  static constexpr Operation about{.name = "fadd", .counter = "fp32_add"};
  STRATA_PTX("f", "add.rn.f32 %0, %0, %1;")  // FADD
};
struct Dadd : Add<double> {
  static constexpr Operation about{.name = "dadd", .counter = "fp64_add"};
  STRATA_PTX("d", "add.rn.f64 %0, %0, %1;")  // DADD
};

template <class Real>
struct Multiply : Plain<Real> {
  static Operands<Real> operands(std::uint32_t lane) {
    const auto up = fraction<Real>(2 * lane + 1);
    return {.start = fraction<Real>(2 * lane), .a = {up, 1 / up}};
  }
  static Real step(Real x, Real a, Real /*b*/) { return x * a; }
};
struct Fmul : Multiply<float> {
  static constexpr Operation about{.name = "fmul", .counter = "fp32_mul"};
  STRATA_PTX("f", "mul.rn.f32 %0, %0, %1;")  // FMUL
};
struct Dmul : Multiply<double> {
  static constexpr Operation about{.name = "dmul", .counter = "fp64_mul"};
  STRATA_PTX("d", "mul.rn.f64 %0, %0, %1;")  // DMUL
};

/// A multiply-add has three operands: more than the registers' two banks deliver in its time,
/// unless adjacent ones share some of them (the reuse cache). The compiler cannot fold
/// multiply-adds, so the sets need not alternate at each step. Short enough that a chain has hardly
/// converged.
inline constexpr std::uint32_t long_run = 16;

template <class Real>
struct MultiplyAdd : Plain<Real> {
  static constexpr std::uint32_t run = long_run;
  static Real word_of(double value) { return static_cast<Real>(value); }
  static Operands<Real> operands(std::uint32_t lane) { return contraction(lane, 24, &word_of); }
  static Real step(Real x, Real a, Real b) { return std::fma(x, a, b); }
};
struct Ffma : MultiplyAdd<float> {
  static constexpr Operation about{.name = "ffma", .counter = "fp32_fma"};
  STRATA_PTX("f", "fma.rn.f32 %0, %0, %1, %2;")  // FFMA
};
struct Dfma : MultiplyAdd<double> {
  static constexpr Operation about{.name = "dfma", .counter = "fp64_fma"};
  STRATA_PTX("d", "fma.rn.f64 %0, %0, %1, %2;")  // DFMA
};

/// The minimum, then the maximum: x alternates between the two bounds.
template <class W>
struct MinMax : Plain<W> {
  static Operands<W> between(W low) {
    return {.start = 3 * low, .a = {low, low / 2}, .b = {2 * low, 4 * low}};
  }
  static W step(W x, W a, W b) { return std::max(std::min(x, a), b); }
};
struct Fmnmx : MinMax<float> {
  static constexpr Operation about{.name = "fmin_fmax", .body = 256, .instructions = 2};
  static Operands<float> operands(std::uint32_t lane) { return between(fraction<float>(lane)); }
  // FMNMX, FMNMX (one FMNMX3 would be another operation)
  STRATA_PTX("f", "min.f32 %0, %0, %1;\n\tmax.f32 %0, %0, %2;")
};
struct Imnmx : MinMax<std::uint32_t> {
  static constexpr Operation about{.name = "imin_imax", .body = 256, .instructions = 2};
  static Operands<Word> operands(std::uint32_t lane) { return between(hashed_word(lane) >> 3U); }
  // IMNMX, IMNMX (VIMNMX from compute capability 9.0 on)
  STRATA_PTX("r", "min.u32 %0, %0, %1;\n\tmax.u32 %0, %0, %2;")
};

// --- 32-bit integers

/// Operands of most integer operations: all bits in use, and odd.
struct OnWords : Plain<std::uint32_t> {
  static Operands<Word> operands(std::uint32_t lane) {
    const auto word = [lane](std::uint32_t which) { return hashed_word(8 * lane + which) | 1U; };
    return {.start = word(0), .a = {word(1), word(2)}, .b = {word(3), word(4)}};
  }
};

/// ptxas makes one IADD3 of two additions, so the operation is two additions.
struct Iadd : OnWords {
  static constexpr Operation about{.name = "iadd3"};
  static Word step(Word x, Word a, Word b) { return x + a + b; }
  STRATA_PTX("r", "add.u32 %0, %0, %1;\n\tadd.u32 %0, %0, %2;")  // IADD3 R, R, R, R
};

/// (x and a) xor b.
struct Bitwise : OnWords {
  static constexpr Operation about{.name = "bitwise"};
  static Word step(Word x, Word a, Word b) { return (x & a) ^ b; }
  STRATA_PTX("r", "lop3.b32 %0, %0, %1, %2, 0x6A;")  // LOP3.LUT
};

struct Shift : Plain<std::uint32_t> {
  static constexpr Operation about{.name = "shift"};
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = hashed_word(lane), .a = {lane + 1, 2 * lane + 3}};
  }
  static Word step(Word x, Word a, Word /*b*/) { return std::rotl(x, static_cast<int>(a)); }
  // SHF.L.W.U32 (a funnel shift of the same word twice)
  STRATA_PTX("r", "shf.l.wrap.b32 %0, %0, %0, %1;")
};

/// A comparison and the selection that follows from it: a predicate alone makes no chain.
struct Compare : Plain<std::uint32_t> {
  static constexpr Operation about{.name = "compare_select", .body = 256, .instructions = 2};
  static Operands<Word> operands(std::uint32_t lane) {
    const std::uint32_t middle = hashed_word(lane) >> 1U;
    return {.start = middle + 7, .a = {middle, middle / 4}, .b = {middle / 2, middle + 9}};
  }
  static Word step(Word x, Word a, Word b) { return x > a ? b : a; }
  // ISETP.GT.U32, SEL
  STRATA_PTX("r",
             "{ .reg .pred above;\n\t"
             "setp.gt.u32 above, %0, %1;\n\t"
             "selp.u32 %0, %2, %1, above; }")
};

struct Imad : OnWords {
  static constexpr Operation about{.name = "imad"};
  static Word step(Word x, Word a, Word b) { return x * a + b; }
  STRATA_PTX("r", "mad.lo.u32 %0, %0, %1, %2;")  // IMAD
};

/// Four products of bytes, added to the chain.
struct Dp4a : OnWords {
  static constexpr Operation about{.name = "dp4a"};
  static Word step(Word x, Word a, Word b) {
    for (std::uint32_t byte = 0; byte < 32; byte += 8)
      x += ((a >> byte) & 0xFFU) * ((b >> byte) & 0xFFU);
    return x;
  }
  STRATA_PTX("r", "dp4a.u32.u32 %0, %1, %2, %0;")  // IDP.4A.U8.U8
};

// --- Special functions: the bits of an approximation are specific to the chip, but a contracting
// chain converges to the fixed point of the function, whatever the last bits of a step were.

inline constexpr std::string_view xu = "xu_thread_instructions";

struct Special : Plain<float> {
  static Operands<float> operands(std::uint32_t lane) { return {.start = fraction<float>(lane)}; }
};

/// 1/(x + a), which converges to between 0.4 and 0.7. Without the addition, ptxas cancels pairs of
/// reciprocals.
struct RcpApprox : Special {
  static constexpr Operation about{
      .name = "rcp_approx", .counter = xu, .body = 256, .tolerance = 1e-6, .instructions = 2};
  static Operands<float> operands(std::uint32_t lane) { return three_fractions<float>(lane); }
  static float step(float x, float a, float /*b*/) { return 1 / (x + a); }
  STRATA_PTX("f", "add.ftz.f32 %0, %0, %1;\n\trcp.approx.ftz.f32 %0, %0;")  // FADD, MUFU.RCP
};

/// Converges to 1; so does the square root.
struct RsqrtApprox : Special {
  static constexpr Operation about{.name = "rsqrt_approx", .counter = xu, .tolerance = 1e-6};
  static float step(float x, float /*a*/, float /*b*/) { return 1 / std::sqrt(x); }
  STRATA_PTX("f", "rsqrt.approx.ftz.f32 %0, %0;")  // MUFU.RSQ
};

struct SqrtApprox : Special {
  static constexpr Operation about{.name = "sqrt_approx", .counter = xu, .tolerance = 1e-6};
  static float step(float x, float /*a*/, float /*b*/) { return std::sqrt(x); }
  STRATA_PTX("f", "sqrt.approx.ftz.f32 %0, %0;")  // MUFU.SQRT
};

/// The cosine represents the sine: the same unit and range reduction. It converges to 0.739…, where
/// an error of a step (2^-20.5) is amplified at most threefold.
struct CosApprox : Special {
  static constexpr Operation about{
      .name = "cos_approx", .counter = xu, .body = 256, .tolerance = 5e-6, .instructions = 2};
  static Operands<float> operands(std::uint32_t lane) {
    return {.start = fraction<float>(lane) / 2};
  }
  static float step(float x, float /*a*/, float /*b*/) { return std::cos(x); }
  STRATA_PTX("f", "cos.approx.ftz.f32 %0, %0;")  // FMUL by 1/2π, MUFU.COS
};

/// 2^-x, which converges to 0.641…
struct Exp2Approx : CosApprox {
  static constexpr Operation about{.name = "exp2_approx", .counter = xu, .tolerance = 1e-6};
  static float step(float x, float /*a*/, float /*b*/) { return std::exp2(-x); }
  // MUFU.EX2 R, -R
  STRATA_PTX("f",
             "{ .reg .f32 negative;\n\t"
             "neg.f32 negative, %0;\n\t"
             "ex2.approx.ftz.f32 %0, negative; }")
};

/// Correctly rounded: a short program around MUFU.RCP, with a call for edge cases.
struct RcpIeee : Plain<float> {
  static constexpr Operation about{.name = "rcp_ieee", .body = 32, .instructions = 0};
  static Operands<float> operands(std::uint32_t lane) {
    return {.start = fraction<float>(lane), .a = {1, 1}};
  }
  static float step(float x, float /*a*/, float /*b*/) { return 1 / x; }
  STRATA_PTX("f", "rcp.rn.f32 %0, %0;")  // MUFU.RCP and FFMA
};

struct SqrtIeee : Special {
  static constexpr Operation about{.name = "sqrt_ieee", .body = 32, .instructions = 0};
  static float step(float x, float /*a*/, float /*b*/) { return std::sqrt(x); }
  STRATA_PTX("f", "sqrt.rn.f32 %0, %0;")  // MUFU.RSQ and FFMA
};

/// a/x, which alternates between two numbers in the end.
template <class Real>
struct Divide : Plain<Real> {
  static Operands<Real> operands(std::uint32_t lane) {
    const auto a = fraction<Real>(2 * lane + 1);
    return {.start = fraction<Real>(2 * lane), .a = {a, a}};
  }
  static Real step(Real x, Real a, Real /*b*/) { return a / x; }
};
struct Fdiv : Divide<float> {
  static constexpr Operation about{.name = "fdiv", .body = 32, .instructions = 0};
  STRATA_PTX("f", "div.rn.f32 %0, %1, %0;")  // MUFU.RCP and FFMA
};
struct Ddiv : Divide<double> {
  static constexpr Operation about{.name = "ddiv", .body = 16, .instructions = 0};
  STRATA_PTX("d", "div.rn.f64 %0, %1, %0;")  // MUFU.RCP64H and DFMA
};

// --- Integers of 64 bits, division, conversions

struct OnLongWords : Plain<std::uint64_t> {
  static Operands<Word> operands(std::uint32_t lane) {
    const auto word = [lane](std::uint32_t which) {
      return std::uint64_t{hashed_word(16 * lane + which)} << 32U |
             hashed_word(16 * lane + which + 8) | 1U;
    };
    return {.start = word(0), .a = {word(1), word(2)}, .b = {word(3), word(4)}};
  }
};
/// Two additions, which share the instructions.
struct Iadd64 : OnLongWords {
  static constexpr Operation about{.name = "iadd64", .body = 256, .instructions = 2};
  static Word step(Word x, Word a, Word b) { return x + a + b; }
  STRATA_PTX("l", "add.u64 %0, %0, %1;\n\tadd.u64 %0, %0, %2;")  // IADD3, IADD3.X
};
struct Imad64 : OnLongWords {
  static constexpr Operation about{.name = "imad64", .body = 64, .instructions = 4};
  static Word step(Word x, Word a, Word b) { return x * a + b; }
  STRATA_PTX("l", "mad.lo.u64 %0, %0, %1, %2;")  // IMAD.WIDE.U32, IMAD, IMAD, IADD3
};

/// 720720/x, which alternates between a divisor and its complement.
struct Udiv : Plain<std::uint32_t> {
  static constexpr Operation about{.name = "udiv", .body = 32, .instructions = 0};
  static Operands<Word> operands(std::uint32_t lane) {
    constexpr Word dividend = 720720;  // divisible by 1 to 16
    return {.start = lane + 2, .a = {dividend, dividend}};
  }
  static Word step(Word x, Word a, Word /*b*/) { return a / x; }
  STRATA_PTX("r", "div.u32 %0, %1, %0;")  // I2F, MUFU.RCP, F2I, IMAD
};

/// The bits of the number as a float, some of them flipped.
struct IntToFloat : OnWords {
  static constexpr Operation about{.name = "int_to_float", .body = 256, .instructions = 2};
  static Word step(Word x, Word a, Word /*b*/) {
    return std::bit_cast<Word>(static_cast<float>(x)) ^ a;
  }
  // I2FP.F32.U32, LOP3.LUT
  STRATA_PTX("r",
             "{ .reg .f32 number;\n\t"
             "cvt.rn.f32.u32 number, %0;\n\t"
             "mov.b32 %0, number;\n\t"
             "xor.b32 %0, %0, %1; }")
};
/// The nearest integer of a float between 2^21 and 2^22, and the exponent of such a float.
struct FloatToInt : Plain<std::uint32_t> {
  static constexpr Operation about{.name = "float_to_int", .body = 256, .instructions = 2};
  static Operands<Word> operands(std::uint32_t lane) {
    const auto word = [lane](std::uint32_t which) {
      return 0x4A000000U | hashed_word(4 * lane + which) >> 9U;
    };
    return {.start = word(0), .a = {word(1), word(2)}};
  }
  static Word step(Word x, Word a, Word /*b*/) {
    return static_cast<Word>(std::nearbyint(std::bit_cast<float>(x))) ^ a;
  }
  // F2I.NTZ, LOP3.LUT
  STRATA_PTX("r",
             "{ .reg .f32 number;\n\t"
             "mov.b32 number, %0;\n\t"
             "cvt.rni.s32.f32 %0, number;\n\t"
             "xor.b32 %0, %0, %1; }")
};

/// Ones of the word, and an exclusive or that has about as many of them in the end.
struct Popc : OnWords {
  static constexpr Operation about{.name = "popc_xor", .body = 256, .instructions = 2};
  static Word step(Word x, Word a, Word /*b*/) { return static_cast<Word>(std::popcount(x)) ^ a; }
  STRATA_PTX("r", "popc.b32 %0, %0;\n\txor.b32 %0, %0, %1;")  // POPC, LOP3.LUT
};

// --- Two 16-bit numbers in a word

template <class Format>
struct PackedFma : Plain<std::uint32_t> {
  static constexpr std::uint32_t run = long_run;
  static Word word_of(double value) { return Format::pack(value); }
  static Operands<Word> operands(std::uint32_t lane) {
    return contraction(lane, Format::bits - 1, &word_of);
  }
  static Word step(Word x, Word a, Word b) {
    // Exact in 64 bits, then rounded once.
    const double exact = Format::unpack(x) * Format::unpack(a) + Format::unpack(b);
    return Format::pack(rounded(exact, Format::bits));
  }
};

struct Hfma2 : PackedFma<Half> {
  static constexpr Operation about{.name = "hfma2", .counter = "fp16_fma"};
  STRATA_PTX("r", "fma.rn.f16x2 %0, %0, %1, %2;")  // HFMA2
};

struct Bfma2 : PackedFma<Bfloat> {
  static constexpr Operation about{.name = "bfma2", .least_major = 8};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  STRATA_PTX("r", "trap;")  // never launched there
#else
  STRATA_PTX("r", "fma.rn.bf16x2 %0, %0, %1, %2;")  // HFMA2.BF16_V2 (HFMA2.BF16 on 8.x)
#endif
};

// --- Between the lanes of a warp

/// Every lane takes its right neighbour's word.
struct Shuffle : Plain<std::uint32_t> {
  static constexpr Operation about{.name = "shuffle"};
  static Operands<Word> operands(std::uint32_t lane) {
    const std::uint32_t neighbour = (lane + 1) % distinct_lanes;
    return {.start = hashed_word(lane), .a = {neighbour, neighbour}};
  }
  static void step_all(auto& x, const auto& /*of*/, std::size_t /*set*/) {
    std::rotate(x.begin(), x.begin() + 1, x.end());
  }
  // SHFL.IDX, within groups of eight lanes
  STRATA_PTX("r", "shfl.sync.idx.b32 %0, %0, %1, 0x181F, 0xFFFFFFFF;")
};

/// A vote needs a predicate, so a comparison is part of the operation.
struct Vote : Plain<std::uint32_t> {
  static constexpr Operation about{.name = "compare_vote", .body = 256, .instructions = 2};
  static Operands<Word> operands(std::uint32_t lane) {
    // Lane 0 of eight always votes against, so that no ballot is all ones.
    const bool votes = lane != 0;
    const std::uint32_t bound = hashed_word(lane);
    return {.start = hashed_word(lane + distinct_lanes),
            .a = {votes ? bound : 0, votes ? ~bound : 0}};
  }
  static void step_all(auto& x, const auto& of, std::size_t set) {
    std::uint32_t ballot = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::size_t k = lane % distinct_lanes;
      ballot |= static_cast<std::uint32_t>(x[k] < of[k].a[set]) << lane;
    }
    x.fill(ballot);
  }
  // ISETP.LT.U32, VOTE.ANY (the form that gives a ballot)
  STRATA_PTX("r",
             "{ .reg .pred less;\n\t"
             "setp.lt.u32 less, %0, %1;\n\t"
             "vote.sync.ballot.b32 %0, less, 0xFFFFFFFF; }")
};

/// All warps of a block wait for each other; the chain carries no data.
struct Barrier : OnWords {
  static constexpr Operation about{.name = "barrier", .body = 128, .space = Space::barrier};
  static Word step(Word x, Word /*a*/, Word /*b*/) { return x; }
  STRATA_PTX("r", "bar.sync 0;", "memory")  // BAR.SYNC
};

// --- Loads: the loaded word is the address of the next. The host knows the positions in a ring of
// eight.

template <class W>
struct Ring : Plain<W> {
  static constexpr std::uint32_t stride = 3;  ///< to the next place
  static Operands<W> operands(std::uint32_t lane) { return {.start = lane}; }
  static W step(W x, W /*a*/, W /*b*/) { return (x + stride) % distinct_lanes; }
};

struct SharedLoad : Ring<std::uint32_t> {
  static constexpr Operation about{.name = "load_shared", .space = Space::shared};
  STRATA_PTX("r", "ld.shared.u32 %0, [%0];", "memory")  // LDS R, [R]
};

/// All lanes read the same word, since constant memory serves one address at a time. The kernel has
/// its code.
struct ConstantLoad : Ring<std::uint32_t> {
  static constexpr Operation about{.name = "load_constant", .body = 256, .space = Space::constant};
  static Operands<Word> operands(std::uint32_t /*lane*/) { return Ring::operands(5); }
};

/// Eight bytes a lane; all lanes read from one line.
struct GlobalLoad : Ring<std::uint64_t> {
  static constexpr Operation about{.name = "load_l1", .space = Space::global};
  STRATA_PTX("l", "ld.global.ca.u64 %0, [%0];", "memory")  // LDG.E.64
};

#undef STRATA_PTX

template <class... Each>
struct List {
  static constexpr std::array<std::string_view, sizeof...(Each)> names{Each::about.name...};
};
using Operations =
    List<Fadd, Fmul, Ffma, Fmnmx, Iadd, Bitwise, Shift, Compare, Imnmx, Imad, Dp4a, RcpApprox,
         RcpIeee, RsqrtApprox, SqrtApprox, SqrtIeee, CosApprox, Exp2Approx, Dadd, Dmul, Dfma, Fdiv,
         Ddiv, Iadd64, Imad64, Udiv, IntToFloat, FloatToInt, Popc, Hfma2, Bfma2, Shuffle, Vote,
         Barrier, SharedLoad, ConstantLoad, GlobalLoad>;

/// Returns use.template operator()<Op>() for the operation of that name. Throws std::out_of_range.
template <class Use, class First, class... Rest>
auto with_named(std::string_view name, List<First, Rest...> /*all*/, Use&& use) {
  if (First::about.name == name) return use.template operator()<First>();
  if constexpr (sizeof...(Rest) > 0) {
    return with_named(name, List<Rest...>{}, use);
  } else {
    throw std::out_of_range{"no such operation: " + std::string{name}};
  }
}

// --- Expected values, computed by the host

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

/// The values of the first lanes' chains after `steps` operations.
template <class Op>
[[nodiscard]] Lanes<Op> expected_ends(std::uint64_t steps) {
  constexpr std::uint64_t turn = 2 * Op::run;  // each set once
  const LaneOperands<Op> of = operands_of<Op>();
  Lanes<Op> x{};
  std::ranges::transform(of, x.begin(), &Operands<typename Op::Word>::start);
  const auto go = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      advance<Op>(x, of, i / Op::run % 2);
  };
  repeat(x, steps / turn, [&] { go(turn); });
  go(steps % turn);
  return x;
}

/// Data for the device: the starts of `chains` chains, each a separate row (equal chains of one
/// word would be merged), then a and b of both sets.
template <class Op>
[[nodiscard]] WarpWords device_words(unsigned chains) {
  return warp_rows(chains + 4, [chains](std::size_t row, std::uint32_t lane) {
    const auto of = Op::operands(lane);
    const std::array others{of.a[0], of.a[1], of.b[0], of.b[1]};
    return row < chains ? of.start : others.at(row - chains);
  });
}

template <class Op>
inline constexpr Operation operation_of = [] {
  Operation operation = Op::about;
  operation.words = &device_words<Op>;
  operation.ends = [](std::uint64_t steps) {
    WarpWords ends;
    for (const auto word : expected_ends<Op>(steps))
      ends.push_back(bits(word));
    return ends;
  };
  return operation;
}();

/// Throws std::out_of_range for a name that no operation of a GPU has.
[[nodiscard]] inline Operation operation_named(std::string_view name) {
  return with_named(name, Operations{}, [&]<class Op>() { return operation_of<Op>; });
}

/// Throws Skipped if the chip has no such operation.
inline void need(const Operation& operation, const GpuFacts& gpu) {
  if (gpu.major >= operation.least_major) return;
  throw Skipped{"the operation needs compute capability " + std::to_string(operation.least_major) +
                ".0; this device has " + gpu.compute_capability};
}

/// Chains of an operation, in one block on each SM.
struct Shape {
  Operation operation;
  unsigned chains = 1;  ///< of a warp
  unsigned warps = 1;   ///< of the block
  /// Operations of one chain in so many rounds.
  [[nodiscard]] std::uint64_t chain_of(std::uint64_t rounds) const {
    return rounds * operation.body / chains;
  }
};

/// A slope of launches that leave the first warp's `ends`. `rounds_made`: of a chain in a launch.
[[nodiscard]] inline Experiment on_every_sm(const Shape& shape, const GpuFacts& gpu,
                                            std::span<const std::uint64_t> ends,
                                            std::uint64_t (*rounds_made)(std::uint32_t)) {
  const double tolerance = shape.operation.tolerance;
  const auto wanted = [=](std::uint32_t rounds) {
    return shape.operation.ends(shape.chain_of(rounds_made(rounds)));
  };
  Experiment experiment;
  experiment.slopes = {{.verify = ends_verified(ends, tolerance, wanted),
                        .writers = std::size_t{gpu.sms} * shape.warps}};
  experiment.checked = what_was_checked(tolerance);
  experiment.placement = Placement{.cores = gpu.sms, .per_core = static_cast<int>(shape.warps)};
  experiment.not_counted = "no counter for this operation";
  return experiment;
}

/// The counts of an operation, if it has a counter.
[[nodiscard]] inline std::optional<CountPlan> counts_of(const Operation& operation, Length length,
                                                        Length none, double predicted,
                                                        const char* unit) {
  if (operation.counter.empty()) return std::nullopt;
  return CountPlan{
      .length = length,
      .none = none,
      .expected = {{.quantity = std::string{operation.counter}, .predicted = predicted}},
      .model = "chain_length",
      .unit = unit,
      .units = predicted};
}

}  // namespace strata::operations
