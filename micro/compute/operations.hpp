// The operations whose cost is measured: what each does on the device, one PTX instruction at a
// time, and the same again on the host, bit for bit, so that the end of a chain can be checked.
//
// Adding an operation is one type here and its name in `Operations`. A type says
//   Word                what the chain carries
//   name                its word on the axis `operation`
//   body                operations in the body of a loop: few enough for the instruction caches,
//                       enough that the loop's own instructions (3 or 4, and a branch) are little
//   run                 steps of a chain that take one set of operands before the other's turn
//   tolerance           relative; 0: the host knows every bit
//   operands(lane)      what the chain starts from, and two sets of operands that alternate, so
//                       that nothing can fold two neighbours of a chain into one
//   step(x, a, b)       the operation on the host; or step_all, where lanes meet
//   STRATA_PTX          the operation on the device, %0 being x, %1 a and %2 b; the comment names
//                       the SASS that is wanted
// Operands are of the lane, not of the warp: those of the warp would go through the uniform pipe.
#pragma once

#include "harness/case/error.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/compute/chains.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace strata::operations {

/// Where an operation goes beside the registers.
enum class Space { none, shared, constant, global, barrier };

template <class W>
struct Operands {
  W start{};
  std::array<W, 2> a{};
  std::array<W, 2> b{};
};

/// A chain that needs no operands.
template <class W>
Operands<W> started(W start) {
  return {.start = start, .a = {}, .b = {}};
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

template <class W>
struct Plain {
  using Word = W;
  static constexpr std::uint32_t body = 512;
  static constexpr std::uint32_t run = 1;
  static constexpr double tolerance = 0;
  static constexpr Space space = Space::none;
  static constexpr int least_major = 0;            ///< compute capability that knows the operation
  static constexpr std::string_view counter = {};  ///< quantity of the set flops that counts it
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
  static Real step(Real x, Real a, Real /*b*/) { return x + a; }
};
struct Fadd : Add<float> {
  static constexpr std::string_view name = "fadd";
  static constexpr std::string_view counter = "fp32_add";
  static Operands<float> operands(std::uint32_t lane) {
    const auto k = static_cast<float>(lane + 1);
    return {.start = fraction<float>(lane), .a = {k, 2 * k}, .b = {}};
  }
  STRATA_PTX("f", "add.rn.f32 %0, %0, %1;")  // FADD
};
struct Dadd : Add<double> {
  static constexpr std::string_view name = "dadd";
  static constexpr std::string_view counter = "fp64_add";
  static Operands<double> operands(std::uint32_t lane) {
    return {.start = fraction<double>(3 * lane),
            .a = {fraction<double>(3 * lane + 1), fraction<double>(3 * lane + 2)},
            .b = {}};
  }
  STRATA_PTX("d", "add.rn.f64 %0, %0, %1;")  // DADD
};

template <class Real>
struct Multiply : Plain<Real> {
  static Operands<Real> operands(std::uint32_t lane) {
    const auto up = fraction<Real>(2 * lane + 1);
    return {.start = fraction<Real>(2 * lane), .a = {up, 1 / up}, .b = {}};
  }
  static Real step(Real x, Real a, Real /*b*/) { return x * a; }
};
struct Fmul : Multiply<float> {
  static constexpr std::string_view name = "fmul";
  static constexpr std::string_view counter = "fp32_mul";
  STRATA_PTX("f", "mul.rn.f32 %0, %0, %1;")  // FMUL
};
struct Dmul : Multiply<double> {
  static constexpr std::string_view name = "dmul";
  static constexpr std::string_view counter = "fp64_mul";
  STRATA_PTX("d", "mul.rn.f64 %0, %0, %1;")  // DMUL
};

/// A multiply-add of a GPU has three operands: more than the registers' two banks give in its time,
/// unless its neighbours share some of them (the reuse cache). Nothing folds multiply-adds, so that
/// the sets need not alternate at each step. Long beside the change from one set to the other, and
/// short enough that a chain has hardly come to rest before it is drawn elsewhere.
inline constexpr std::uint32_t long_run = 16;

template <class Real>
struct MultiplyAdd : Plain<Real> {
  static constexpr std::uint32_t run = long_run;
  static Operands<Real> operands(std::uint32_t lane) { return contraction<Real>(lane, 24); }
  static Real step(Real x, Real a, Real b) { return std::fma(x, a, b); }
};
struct Ffma : MultiplyAdd<float> {
  static constexpr std::string_view name = "ffma";
  static constexpr std::string_view counter = "fp32_fma";
  STRATA_PTX("f", "fma.rn.f32 %0, %0, %1, %2;")  // FFMA
};
struct Dfma : MultiplyAdd<double> {
  static constexpr std::string_view name = "dfma";
  static constexpr std::string_view counter = "fp64_fma";
  STRATA_PTX("d", "fma.rn.f64 %0, %0, %1, %2;")  // DFMA
};

/// The lesser, then the greater: x goes to and fro between the two bounds.
template <class W>
struct MinMax : Plain<W> {
  static constexpr std::uint32_t body = 256;
  static Operands<W> between(W low) {
    return {.start = 3 * low, .a = {low, low / 2}, .b = {2 * low, 4 * low}};
  }
  static W step(W x, W a, W b) { return std::max(std::min(x, a), b); }
};
struct Fmnmx : MinMax<float> {
  static constexpr std::string_view name = "fmin_fmax";
  static Operands<float> operands(std::uint32_t lane) { return between(fraction<float>(lane)); }
  // FMNMX, FMNMX (one FMNMX3 would be another operation)
  STRATA_PTX("f", "min.f32 %0, %0, %1;\n\tmax.f32 %0, %0, %2;")
};
struct Imnmx : MinMax<std::uint32_t> {
  static constexpr std::string_view name = "imin_imax";
  static Operands<Word> operands(std::uint32_t lane) { return between(hashed_word(lane) >> 3U); }
  // IMNMX, IMNMX (VIMNMX from compute capability 9.0 on)
  STRATA_PTX("r", "min.u32 %0, %0, %1;\n\tmax.u32 %0, %0, %2;")
};

// --- 32-bit integers

struct OnWords : Plain<std::uint32_t> {
  static Operands<Word> operands(std::uint32_t lane) { return random_words(lane); }
};

/// ptxas makes one IADD3 of two additions, so that two additions are the operation.
struct Iadd : OnWords {
  static constexpr std::string_view name = "iadd3";
  static Word step(Word x, Word a, Word b) { return x + a + b; }
  STRATA_PTX("r", "add.u32 %0, %0, %1;\n\tadd.u32 %0, %0, %2;")  // IADD3 R, R, R, R
};

/// (x and a) xor b.
struct Bitwise : OnWords {
  static constexpr std::string_view name = "bitwise";
  static Word step(Word x, Word a, Word b) { return (x & a) ^ b; }
  STRATA_PTX("r", "lop3.b32 %0, %0, %1, %2, 0x6A;")  // LOP3.LUT
};

struct Shift : Plain<std::uint32_t> {
  static constexpr std::string_view name = "shift";
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = hashed_word(lane), .a = {lane + 1, 2 * lane + 3}, .b = {}};
  }
  static Word step(Word x, Word a, Word /*b*/) { return std::rotl(x, static_cast<int>(a)); }
  // SHF.L.W.U32 (a funnel shift of the same word twice)
  STRATA_PTX("r", "shf.l.wrap.b32 %0, %0, %0, %1;")
};

/// A comparison and the choice that follows from it: two instructions, as a predicate alone makes
/// no chain.
struct Compare : Plain<std::uint32_t> {
  static constexpr std::string_view name = "compare_select";
  static constexpr std::uint32_t body = 256;
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
  static constexpr std::string_view name = "imad";
  static Word step(Word x, Word a, Word b) { return x * a + b; }
  STRATA_PTX("r", "mad.lo.u32 %0, %0, %1, %2;")  // IMAD
};

/// Four products of bytes, added to the chain.
struct Dp4a : OnWords {
  static constexpr std::string_view name = "dp4a";
  static Word step(Word x, Word a, Word b) {
    for (std::uint32_t byte = 0; byte < 32; byte += 8)
      x += ((a >> byte) & 0xFFU) * ((b >> byte) & 0xFFU);
    return x;
  }
  STRATA_PTX("r", "dp4a.u32.u32 %0, %1, %2, %0;")  // IDP.4A.U8.U8
};

// --- Special functions: the bits of an approximation are the chip's own, but a chain that
// contracts settles where the function meets its argument, whatever the last bits of a step were.

struct Special : Plain<float> {
  static constexpr double tolerance = 1e-6;
  static constexpr std::string_view counter = "xu_thread_instructions";
  static Operands<float> operands(std::uint32_t lane) { return started(fraction<float>(lane)); }
};

/// 1/(x + a), which settles between 0.4 and 0.7. Without the addition ptxas makes x of two
/// reciprocals and drops both.
struct RcpApprox : Special {
  static constexpr std::string_view name = "rcp_approx";
  static constexpr std::uint32_t body = 256;
  static Operands<float> operands(std::uint32_t lane) {
    return {.start = fraction<float>(3 * lane),
            .a = {fraction<float>(3 * lane + 1), fraction<float>(3 * lane + 2)},
            .b = {}};
  }
  static float step(float x, float a, float /*b*/) { return 1 / (x + a); }
  STRATA_PTX("f", "add.ftz.f32 %0, %0, %1;\n\trcp.approx.ftz.f32 %0, %0;")  // FADD, MUFU.RCP
};

/// Settles at 1; so does the square root.
struct RsqrtApprox : Special {
  static constexpr std::string_view name = "rsqrt_approx";
  static float step(float x, float /*a*/, float /*b*/) { return 1 / std::sqrt(x); }
  STRATA_PTX("f", "rsqrt.approx.ftz.f32 %0, %0;")  // MUFU.RSQ
};

struct SqrtApprox : Special {
  static constexpr std::string_view name = "sqrt_approx";
  static float step(float x, float /*a*/, float /*b*/) { return std::sqrt(x); }
  STRATA_PTX("f", "sqrt.approx.ftz.f32 %0, %0;")  // MUFU.SQRT
};

/// The cosine stands for the sine: the same unit and range reduction, and it settles, at 0.739…,
/// where an error of a step (2^-20.5) comes back at most threefold.
struct CosApprox : Special {
  static constexpr std::string_view name = "cos_approx";
  static constexpr std::uint32_t body = 256;
  static constexpr double tolerance = 5e-6;
  static Operands<float> operands(std::uint32_t lane) { return started(fraction<float>(lane) / 2); }
  static float step(float x, float /*a*/, float /*b*/) { return std::cos(x); }
  STRATA_PTX("f", "cos.approx.ftz.f32 %0, %0;")  // FMUL by 1/2π, MUFU.COS
};

/// 2^-x, which settles at 0.641…
struct Exp2Approx : Special {
  static constexpr std::string_view name = "exp2_approx";
  static Operands<float> operands(std::uint32_t lane) { return CosApprox::operands(lane); }
  static float step(float x, float /*a*/, float /*b*/) { return std::exp2(-x); }
  // MUFU.EX2 R, -R
  STRATA_PTX("f",
             "{ .reg .f32 negative;\n\t"
             "neg.f32 negative, %0;\n\t"
             "ex2.approx.ftz.f32 %0, negative; }")
};

/// Correctly rounded: a short program around MUFU.RCP, with a call for numbers at the edges.
struct RcpIeee : Plain<float> {
  static constexpr std::string_view name = "rcp_ieee";
  static constexpr std::uint32_t body = 32;
  static Operands<float> operands(std::uint32_t lane) {
    return {.start = fraction<float>(lane), .a = {1, 1}, .b = {}};
  }
  static float step(float x, float /*a*/, float /*b*/) { return 1 / x; }
  STRATA_PTX("f", "rcp.rn.f32 %0, %0;")  // MUFU.RCP and FFMA
};

struct SqrtIeee : Plain<float> {
  static constexpr std::string_view name = "sqrt_ieee";
  static constexpr std::uint32_t body = 32;
  static Operands<float> operands(std::uint32_t lane) { return Special::operands(lane); }
  static float step(float x, float /*a*/, float /*b*/) { return std::sqrt(x); }
  STRATA_PTX("f", "sqrt.rn.f32 %0, %0;")  // MUFU.RSQ and FFMA
};

// --- Two 16-bit numbers in a word

template <class Format>
struct PackedFma : Plain<std::uint32_t> {
  static constexpr std::uint32_t run = long_run;
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
  STRATA_PTX("r", "fma.rn.f16x2 %0, %0, %1, %2;")  // HFMA2
};

struct Bfma2 : PackedFma<Bfloat> {
  static constexpr std::string_view name = "bfma2";
  static constexpr int least_major = 8;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  STRATA_PTX("r", "trap;")  // never launched there
#else
  STRATA_PTX("r", "fma.rn.bf16x2 %0, %0, %1, %2;")  // HFMA2.BF16_V2 (HFMA2.BF16 on 8.x)
#endif
};

// --- Between the lanes of a warp

/// Every lane takes its right neighbour's word.
struct Shuffle : Plain<std::uint32_t> {
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
  // SHFL.IDX, within groups of eight lanes
  STRATA_PTX("r", "shfl.sync.idx.b32 %0, %0, %1, 0x181F, 0xFFFFFFFF;")
};

/// A vote needs a predicate, so that a comparison is part of the operation.
struct Vote : Plain<std::uint32_t> {
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
  // ISETP.LT.U32, VOTE.ANY (the form that gives a ballot)
  STRATA_PTX("r",
             "{ .reg .pred less;\n\t"
             "setp.lt.u32 less, %0, %1;\n\t"
             "vote.sync.ballot.b32 %0, less, 0xFFFFFFFF; }")
};

/// All warps of a block wait for each other; the chain carries nothing.
struct Barrier : OnWords {
  static constexpr std::string_view name = "barrier";
  static constexpr std::uint32_t body = 128;
  static constexpr Space space = Space::barrier;
  static Word step(Word x, Word /*a*/, Word /*b*/) { return x; }
  STRATA_PTX("r", "bar.sync 0;", "memory")  // BAR.SYNC
};

// --- Loads: the loaded word is the address of the next load. The host knows places in a ring of
// eight words; the kernel turns the first into an address and the last back.

template <class W>
struct Ring : Plain<W> {
  static constexpr std::uint32_t stride = 3;  ///< to the next place
  static Operands<W> operands(std::uint32_t lane) { return started<W>(lane); }
  static W step(W x, W /*a*/, W /*b*/) { return (x + stride) % distinct_lanes; }
};

struct SharedLoad : Ring<std::uint32_t> {
  static constexpr std::string_view name = "load_shared";
  static constexpr Space space = Space::shared;
  STRATA_PTX("r", "ld.shared.u32 %0, [%0];", "memory")  // LDS R, [R]
};

/// All lanes read the same word: constant memory serves one address at a time. The kernel has its
/// own code for it, as the ring is a variable of the kernel's file.
struct ConstantLoad : Ring<std::uint32_t> {
  static constexpr std::string_view name = "load_constant";
  static constexpr std::uint32_t body = 256;
  static constexpr Space space = Space::constant;
  static Operands<Word> operands(std::uint32_t /*lane*/) { return Ring::operands(5); }
};

/// Eight bytes a lane; all lanes read from one line.
struct GlobalLoad : Ring<std::uint64_t> {
  static constexpr std::string_view name = "load_l1";
  static constexpr Space space = Space::global;
  STRATA_PTX("l", "ld.global.ca.u64 %0, [%0];", "memory")  // LDG.E.64
};

#undef STRATA_PTX

template <class... Each>
struct List {
  static constexpr std::array<std::string_view, sizeof...(Each)> names{Each::name...};
};
using Operations =
    List<Fadd, Fmul, Ffma, Fmnmx, Iadd, Bitwise, Shift, Compare, Imnmx, Imad, Dp4a, RcpApprox,
         RcpIeee, RsqrtApprox, SqrtApprox, SqrtIeee, CosApprox, Exp2Approx, Dadd, Dmul, Dfma, Hfma2,
         Bfma2, Shuffle, Vote, Barrier, SharedLoad, ConstantLoad, GlobalLoad>;

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

/// What goes to the device for all lanes of a warp, as bits: the starts of `chains` chains, each a
/// word of its own (equal chains of one word would be merged), then a and b of both sets.
template <class Op>
[[nodiscard]] WarpWords device_words(unsigned chains) {
  WarpWords words;
  const auto row = [&](auto&& pick) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      words.push_back(bits(pick(Op::operands(lane % distinct_lanes))));
  };
  for (unsigned c = 0; c < chains; ++c)
    row([](const auto& of) { return of.start; });
  for (std::size_t set = 0; set < 2; ++set)
    row([set](const auto& of) { return of.a[set]; });
  for (std::size_t set = 0; set < 2; ++set)
    row([set](const auto& of) { return of.b[set]; });
  return words;
}

/// An operation, whatever its word is: what the host needs to know to launch and judge it.
struct Operation {
  std::string_view name;
  std::string_view counter;
  std::uint32_t body;
  double tolerance;
  Space space;
  int least_major;
  WarpWords (*words)(unsigned chains);
  WarpWords (*ends)(std::uint64_t steps);  ///< of the lanes that differ, as bits
};
template <class Op>
inline constexpr Operation operation_of{.name = Op::name,
                                        .counter = Op::counter,
                                        .body = Op::body,
                                        .tolerance = Op::tolerance,
                                        .space = Op::space,
                                        .least_major = Op::least_major,
                                        .words = &device_words<Op>,
                                        .ends = [](std::uint64_t steps) {
                                          WarpWords ends;
                                          for (const auto word : expected_ends<Op>(steps))
                                            ends.push_back(bits(word));
                                          return ends;
                                        }};

template <class... Op>
[[nodiscard]] Operation operation_named(std::string_view name, List<Op...> /*all*/) {
  const Operation* found = nullptr;
  ((found = Op::name == name ? &operation_of<Op> : found), ...);
  if (found == nullptr) throw std::out_of_range{"no such operation: " + std::string{name}};
  return *found;
}
/// Throws std::out_of_range for a name that no operation of a GPU has.
[[nodiscard]] inline Operation operation_named(std::string_view name) {
  return operation_named(name, Operations{});
}

/// Throws Skipped where the chip has no such operation.
inline void need(const Operation& operation, const GpuFacts& gpu) {
  if (gpu.major >= operation.least_major) return;
  throw Skipped{"the operation needs compute capability " + std::to_string(operation.least_major) +
                ".0; this device has " + gpu.compute_capability};
}

}  // namespace strata::operations
