// The operations of a CPU core whose cost is measured: operations.hpp, written for x86-64.
//
// The loop of a kernel is one asm statement: what stands in it is what is executed, in that order,
// and nothing else, whatever the optimiser thinks of the results. (An asm statement for each
// operation is not enough: g++ 12 keeps neighbouring floats of an array in one register of integers
// between them.) Where a GPU has an operation of the same name, numbers and host step are those of
// operations.hpp; the others are here whole. All are scalar; floating point is in the form with
// three operands (VEX), which every CPU with AVX has.
//
// A type says, beside what operations.hpp asks of it:
//   instructions        what an operation is
//   run<ilp>(x, of, n)  n turns of the loop with `ilp` chains side by side
//   refreshes           a chain would settle at a number that some units are quick with: each turn
//                       ends by flipping bits of x (those of a), one more instruction in 24
#pragma once

#include "micro/compute/operations.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace strata::host_operations {

template <class W>
using Operands = operations::Operands<W>;

/// Chains side by side: what latencies of four cycles need where two units do the operation, and
/// some.
inline constexpr unsigned most_chains = 10;
/// Operations of each chain in a turn of the loop, which two instructions close.
inline constexpr std::uint32_t steps = 24;
template <class W>
using Words = std::array<W, most_chains>;

#if defined(__x86_64__)

// One step of 1, 4 or 10 chains.
#define STRATA_ROW_1(step, a, b) step("%[x0]", a, b)
#define STRATA_ROW_4(step, a, b) \
  step("%[x0]", a, b) step("%[x1]", a, b) step("%[x2]", a, b) step("%[x3]", a, b)
#define STRATA_ROW_10(step, a, b)                                                 \
  STRATA_ROW_4(step, a, b)                                                        \
  step("%[x4]", a, b) step("%[x5]", a, b) step("%[x6]", a, b) step("%[x7]", a, b) \
      step("%[x8]", a, b) step("%[x9]", a, b)
// The loop: 24 steps, by two sets of operands in turn, and what each turn ends with.
#define STRATA_LOOP(row, step, last, A1, B1)                   \
  ".balign 64\n1:\n\t.rept 12\n\t" row(step, "%[a0]", "%[b0]") \
      row(step, A1, B1) ".endr\n\t" row(last, "%[a0]", "%[b0]") "decq %[n]\n\tjnz 1b"
#define STRATA_X_1(where) [n] "+&r"(n), [x0] "+&" where(x[0])
#define STRATA_X_4(where) \
  STRATA_X_1(where), [x1] "+&" where(x[1]), [x2] "+&" where(x[2]), [x3] "+&" where(x[3])
#define STRATA_X_10(where)                                                                \
  STRATA_X_4(where), [x4] "+&" where(x[4]), [x5] "+&" where(x[5]), [x6] "+&" where(x[6]), \
      [x7] "+&" where(x[7]), [x8] "+&" where(x[8]), [x9] "+&" where(x[9])

/// `where`: the kind of registers; A1, B1: operands of every second step; then the operands that
/// there are, in registers.
#define STRATA_OPERATION(text, where, step, last, A1, B1, ...)                 \
  static constexpr std::string_view instructions = text;                       \
  template <unsigned ilp>                                                      \
  static void run(Words<Word>& x, const Operands<Word>& of, std::uint64_t n) { \
    static_assert(ilp == 1 || ilp == 4 || ilp == most_chains);                 \
    [[maybe_unused]] const Word a0 = of.a[0];                                  \
    [[maybe_unused]] const Word a1 = of.a[1];                                  \
    [[maybe_unused]] const Word b0 = of.b[0];                                  \
    [[maybe_unused]] const Word b1 = of.b[1];                                  \
    if constexpr (ilp == 1) {                                                  \
      asm volatile(STRATA_LOOP(STRATA_ROW_1, step, last, A1, B1)               \
                   : STRATA_X_1(where)                                         \
                   : __VA_ARGS__                                               \
                   : "cc");                                                    \
    } else if constexpr (ilp == 4) {                                           \
      asm volatile(STRATA_LOOP(STRATA_ROW_4, step, last, A1, B1)               \
                   : STRATA_X_4(where)                                         \
                   : __VA_ARGS__                                               \
                   : "cc");                                                    \
    } else {                                                                   \
      asm volatile(STRATA_LOOP(STRATA_ROW_10, step, last, A1, B1)              \
                   : STRATA_X_10(where)                                        \
                   : __VA_ARGS__                                               \
                   : "cc");                                                    \
    }                                                                          \
  }
#else
#define STRATA_OPERATION(text, where, step, last, A1, B1, ...) \
  static constexpr std::string_view instructions = text;
#endif

// An operation on x, in the order of AT&T: sources first.
#define STRATA_NOTHING(x, a, b) ""
#define STRATA_FLIP(x, a, b) "vxorps " a ", " x ", " x "\n\t"

// --- 32-bit floating point

#define STRATA_FADD(x, a, b) "vaddss " a ", " x ", " x "\n\t"
struct Fadd : operations::Fadd {
  STRATA_OPERATION("vaddss", "x", STRATA_FADD, STRATA_NOTHING, "%[a1]",
                   "", [a0] "x"(a0), [a1] "x"(a1))
};
#undef STRATA_FADD

#define STRATA_FMUL(x, a, b) "vmulss " a ", " x ", " x "\n\t"
struct Fmul : operations::Fmul {
  STRATA_OPERATION("vmulss", "x", STRATA_FMUL, STRATA_NOTHING, "%[a1]",
                   "", [a0] "x"(a0), [a1] "x"(a1))
};
#undef STRATA_FMUL

#define STRATA_FFMA(x, a, b) "vfmadd213ss " b ", " a ", " x "\n\t"
struct Ffma : operations::Ffma {
  STRATA_OPERATION("vfmadd213ss", "x", STRATA_FFMA, STRATA_NOTHING, "%[a1]",
                   "%[b1]", [a0] "x"(a0), [a1] "x"(a1), [b0] "x"(b0), [b1] "x"(b1))
};
#undef STRATA_FFMA

#define STRATA_FMNMX(x, a, b) \
  "vminss " a ", " x ", " x   \
  "\n\t"                      \
  "vmaxss " b ", " x ", " x "\n\t"
struct Fmnmx : operations::Fmnmx {
  STRATA_OPERATION("vminss, vmaxss", "x", STRATA_FMNMX, STRATA_NOTHING, "%[a1]",
                   "%[b1]", [a0] "x"(a0), [a1] "x"(a1), [b0] "x"(b0), [b1] "x"(b1))
};
#undef STRATA_FMNMX

/// 1/x: a division, there being no instruction of its own.
#define STRATA_RCPIEEE(x, a, b) "vdivss " x ", " a ", " x "\n\t"
struct RcpIeee : operations::RcpIeee {
  static Operands<Word> operands(std::uint32_t lane) {
    return {.start = operations::fraction<Word>(lane), .a = {1, 1}, .b = {}};
  }
  STRATA_OPERATION("vdivss", "x", STRATA_RCPIEEE, STRATA_NOTHING, "%[a1]",
                   "", [a0] "x"(a0), [a1] "x"(a1))
};
#undef STRATA_RCPIEEE

/// The bits that are flipped before a chain of square roots settles at 1: it is then near 2^64 or
/// 2^-64 again (2^512 for doubles), with another mantissa.
template <class W>
Operands<W> refreshed(std::uint32_t lane) {
  using Bits = std::conditional_t<sizeof(W) == sizeof(float), std::uint32_t, std::uint64_t>;
  constexpr Bits flips =
      sizeof(W) == sizeof(float) ? 0x202B5A93U : static_cast<Bits>(0x200B5A93C64DE817U);
  return {.start = operations::fraction<W>(lane),
          .a = {std::bit_cast<W>(flips), std::bit_cast<W>(flips)},
          .b = {}};
}

#define STRATA_SQRTIEEE(x, a, b) "vsqrtss " x ", " x ", " x "\n\t"
struct SqrtIeee : operations::SqrtIeee {
  static constexpr bool refreshes = true;
  static Operands<Word> operands(std::uint32_t lane) { return refreshed<Word>(lane); }
  STRATA_OPERATION("vsqrtss", "x", STRATA_SQRTIEEE, STRATA_FLIP, "%[a1]",
                   "", [a0] "x"(a0), [a1] "x"(a1))
};
#undef STRATA_SQRTIEEE

#define STRATA_RCPAPPROX(x, a, b) \
  "vaddss " a ", " x ", " x       \
  "\n\t"                          \
  "vrcpss " x ", " x ", " x "\n\t"
struct RcpApprox : operations::RcpApprox {
#if defined(__x86_64__)
  /// Vendors approximate differently: the same instruction says what is right.
  static Word step(Word x, Word a, Word /*b*/) {
    return _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(x + a)));
  }
#endif
  STRATA_OPERATION("vaddss, vrcpss", "x", STRATA_RCPAPPROX, STRATA_NOTHING, "%[a1]",
                   "", [a0] "x"(a0), [a1] "x"(a1))
};
#undef STRATA_RCPAPPROX

#define STRATA_RSQRTAPPROX(x, a, b) "vrsqrtss " x ", " x ", " x "\n\t"
struct RsqrtApprox : operations::RsqrtApprox {
  static constexpr bool refreshes = true;
  static Operands<Word> operands(std::uint32_t lane) { return refreshed<Word>(lane); }
#if defined(__x86_64__)
  static Word step(Word x, Word /*a*/, Word /*b*/) {
    return _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(x)));
  }
#endif
  STRATA_OPERATION("vrsqrtss", "x", STRATA_RSQRTAPPROX, STRATA_FLIP, "%[a1]",
                   "", [a0] "x"(a0), [a1] "x"(a1))
};
#undef STRATA_RSQRTAPPROX

// --- 64-bit floating point

#define STRATA_DADD(x, a, b) "vaddsd " a ", " x ", " x "\n\t"
struct Dadd : operations::Dadd {
  STRATA_OPERATION("vaddsd", "x", STRATA_DADD, STRATA_NOTHING, "%[a1]",
                   "", [a0] "x"(a0), [a1] "x"(a1))
};
#undef STRATA_DADD

#define STRATA_DMUL(x, a, b) "vmulsd " a ", " x ", " x "\n\t"
struct Dmul : operations::Dmul {
  STRATA_OPERATION("vmulsd", "x", STRATA_DMUL, STRATA_NOTHING, "%[a1]",
                   "", [a0] "x"(a0), [a1] "x"(a1))
};
#undef STRATA_DMUL

#define STRATA_DFMA(x, a, b) "vfmadd213sd " b ", " a ", " x "\n\t"
struct Dfma : operations::Dfma {
  STRATA_OPERATION("vfmadd213sd", "x", STRATA_DFMA, STRATA_NOTHING, "%[a1]",
                   "%[b1]", [a0] "x"(a0), [a1] "x"(a1), [b0] "x"(b0), [b1] "x"(b1))
};
#undef STRATA_DFMA

/// a/x, which comes to alternate between two numbers.
#define STRATA_DDIV(x, a, b) "vdivsd " x ", " a ", " x "\n\t"
struct Ddiv : operations::Plain {
  using Word = double;
  static constexpr std::string_view name = "ddiv";
  static Operands<Word> operands(std::uint32_t lane) {
    const auto a = operations::fraction<Word>(2 * lane + 1);
    return {.start = operations::fraction<Word>(2 * lane), .a = {a, a}, .b = {}};
  }
  static Word step(Word x, Word a, Word /*b*/) { return a / x; }
  STRATA_OPERATION("vdivsd", "x", STRATA_DDIV, STRATA_NOTHING, "%[a1]",
                   "", [a0] "x"(a0), [a1] "x"(a1))
};
#undef STRATA_DDIV

#define STRATA_DSQRT(x, a, b) "vsqrtsd " x ", " x ", " x "\n\t"
struct Dsqrt : operations::Plain {
  using Word = double;
  static constexpr std::string_view name = "dsqrt";
  static constexpr bool refreshes = true;
  static Operands<Word> operands(std::uint32_t lane) { return refreshed<Word>(lane); }
  static Word step(Word x, Word /*a*/, Word /*b*/) { return std::sqrt(x); }
  STRATA_OPERATION("vsqrtsd", "x", STRATA_DSQRT, STRATA_FLIP, "%[a1]",
                   "", [a0] "x"(a0), [a1] "x"(a1))
};
#undef STRATA_DSQRT

// --- 32-bit integers

/// Also what a cycle of the core is told by: a dependent one takes one cycle on every CPU known.
/// Between registers: an addition of a small constant may be done while instructions are renamed.
#define STRATA_IADD(x, a, b) "addl " a ", " x "\n\t"
struct Iadd : operations::Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "iadd";
  static Operands<Word> operands(std::uint32_t lane) { return operations::random_words(lane); }
  static Word step(Word x, Word a, Word /*b*/) { return x + a; }
  STRATA_OPERATION("add", "r", STRATA_IADD, STRATA_NOTHING, "%[a1]", "", [a0] "r"(a0), [a1] "r"(a1))
};
#undef STRATA_IADD

/// Integers have fewer registers: where there are two operands, one set of them.
template <class W>
Operands<W> one_set(Operands<W> of) {
  of.a[1] = of.a[0];
  of.b[1] = of.b[0];
  return of;
}

#define STRATA_BITWISE(x, a, b) "andl " a ", " x "\n\txorl " b ", " x "\n\t"
struct Bitwise : operations::Bitwise {
  static Operands<Word> operands(std::uint32_t lane) {
    return one_set(operations::Bitwise::operands(lane));
  }
  STRATA_OPERATION("and, xor", "r", STRATA_BITWISE, STRATA_NOTHING, "%[a0]",
                   "%[b0]", [a0] "r"(a0), [b0] "r"(b0))
};
#undef STRATA_BITWISE

/// A rotation by as many bits as the instruction says: a number from a register takes longer on
/// many CPUs, for the sake of flags.
#define STRATA_SHIFT(x, a, b) "roll $7, " x "\n\t"
struct Shift : operations::Shift {
  static constexpr int bits = 7;
  static Word step(Word x, Word /*a*/, Word /*b*/) { return std::rotl(x, bits); }
  STRATA_OPERATION("rol", "r", STRATA_SHIFT, STRATA_NOTHING, "%[a0]", "", [a0] "r"(a0))
};
#undef STRATA_SHIFT

/// x > a ? b : a. The copy beside the choice waits for nothing.
#define STRATA_COMPARE(x, a, b) "cmpl " x ", " a "\n\tmovl " a ", " x "\n\tcmovbl " b ", " x "\n\t"
struct Compare : operations::Compare {
  static Operands<Word> operands(std::uint32_t lane) {
    const std::uint32_t middle = hashed_word(lane) >> 1U;
    return {.start = middle + 7, .a = {middle, middle}, .b = {middle / 2, middle / 2}};
  }
  STRATA_OPERATION("cmp, mov, cmovb", "r", STRATA_COMPARE, STRATA_NOTHING, "%[a0]",
                   "%[b0]", [a0] "r"(a0), [b0] "r"(b0))
};
#undef STRATA_COMPARE

#define STRATA_IMNMX(x, a, b) \
  "cmpl " a ", " x "\n\tcmovael " a ", " x "\n\tcmpl " b ", " x "\n\tcmovbl " b ", " x "\n\t"
struct Imnmx : operations::Imnmx {
  static Operands<Word> operands(std::uint32_t lane) {
    return one_set(operations::Imnmx::operands(lane));
  }
  STRATA_OPERATION("cmp, cmovae, cmp, cmovb", "r", STRATA_IMNMX, STRATA_NOTHING, "%[a0]",
                   "%[b0]", [a0] "r"(a0), [b0] "r"(b0))
};
#undef STRATA_IMNMX

#define STRATA_IMUL(x, a, b) "imull " a ", " x "\n\t"
struct Imul : operations::Plain {
  using Word = std::uint32_t;
  static constexpr std::string_view name = "imul";
  static Operands<Word> operands(std::uint32_t lane) { return operations::random_words(lane); }
  static Word step(Word x, Word a, Word /*b*/) { return x * a; }
  STRATA_OPERATION("imul", "r", STRATA_IMUL, STRATA_NOTHING, "%[a1]",
                   "", [a0] "r"(a0), [a1] "r"(a1))
};
#undef STRATA_IMUL

#define STRATA_IMAD(x, a, b) "imull " a ", " x "\n\taddl " b ", " x "\n\t"
struct Imad : operations::Imad {
  static Operands<Word> operands(std::uint32_t lane) {
    return one_set(operations::Imad::operands(lane));
  }
  STRATA_OPERATION("imul, add", "r", STRATA_IMAD, STRATA_NOTHING, "%[a0]",
                   "%[b0]", [a0] "r"(a0), [b0] "r"(b0))
};
#undef STRATA_IMAD

#undef STRATA_ROW_1
#undef STRATA_ROW_4
#undef STRATA_ROW_10
#undef STRATA_LOOP
#undef STRATA_X_1
#undef STRATA_X_4
#undef STRATA_X_10
#undef STRATA_OPERATION
#undef STRATA_NOTHING
#undef STRATA_FLIP

using Operations =
    operations::List<Fadd, Fmul, Ffma, Fmnmx, Iadd, Bitwise, Shift, Compare, Imnmx, Imul, Imad,
                     RcpApprox, RcpIeee, RsqrtApprox, SqrtIeee, Dadd, Dmul, Dfma, Ddiv, Dsqrt>;
/// Those that no GPU is asked for.
inline constexpr std::array<std::string_view, 4> of_host_only{Iadd::name, Imul::name, Ddiv::name,
                                                              Dsqrt::name};

template <class Op>
inline constexpr bool refreshes = requires {
  Op::refreshes;
};

/// x with the bits of `flips` turned over.
template <class W>
W flipped(W x, W flips) {
  if constexpr (sizeof(W) == sizeof(std::uint32_t)) {
    return std::bit_cast<W>(std::bit_cast<std::uint32_t>(x) ^ std::bit_cast<std::uint32_t>(flips));
  } else {
    return std::bit_cast<W>(std::bit_cast<std::uint64_t>(x) ^ std::bit_cast<std::uint64_t>(flips));
  }
}

/// What chain `chain` starts from: chains have numbers of their own and share the operands of the
/// first.
template <class Op>
[[nodiscard]] typename Op::Word start_of(std::uint32_t chain) {
  return Op::operands(chain % operations::distinct_lanes).start;
}

/// What it holds after `turns` of the loop, step by step.
template <class Op>
[[nodiscard]] typename Op::Word expected_end(std::uint32_t chain, std::uint64_t turns) {
  const auto of = Op::operands(0);
  auto x = start_of<Op>(chain);
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    for (std::uint32_t i = 0; i < steps; ++i)
      x = Op::step(x, of.a[i % 2], of.b[i % 2]);
    if constexpr (refreshes<Op>) x = flipped(x, of.a[0]);
  }
  return x;
}

}  // namespace strata::host_operations
