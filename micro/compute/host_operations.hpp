// The operations of a CPU core whose cost is measured: operations.hpp, written for x86-64.
//
// A loop is one asm statement: with one statement per operation, g++ 12 packs two neighbouring
// floats into one integer register between statements. Where a GPU has an operation of the same
// name, operands and host step are those of operations.hpp. All operations are scalar; floating
// point uses AVX (VEX).
//
// Besides what operations.hpp requires, a type has:
//   instructions        the instructions of an operation
//   sets                alternating sets of operands: integers have registers for one
//   run<ilp>(x, of, n)  n iterations of the loop with `ilp` chains side by side
//   refreshes           the chain would settle at a number for which some units are faster, so each
//                       iteration ends by flipping bits of x (those of a), one more instruction
//                       in 24
#pragma once

#include "micro/compute/operations.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace strata::host_operations {

using operations::Operands;

/// Independent chains: more than two units with a latency of four cycles need.
inline constexpr unsigned most_chains = 10;
/// Operations of each chain per loop iteration, which two instructions close.
inline constexpr std::uint32_t steps = 24;
template <class W>
using Words = std::array<W, most_chains>;

// The assembler repeats an operation on \x, with alternating operands \a and \b, for each chain and
// each step. AT&T syntax: sources first. `kind`: the registers' constraint; `last`: what each chain
// does at the end of an iteration; `second`: the operands of every second step; then the input
// operands of the asm statement.
#if defined(__x86_64__)
#define STRATA_EACH(text)                                                                         \
  ".irp x, %[x0]\n\t" text "\n\t.endr\n\t.if %c[ilp] > 1\n\t.irp x, %[x1], %[x2], %[x3]\n\t" text \
  "\n\t.endr\n\t.endif\n\t.if %c[ilp] > 4\n\t.irp x, %[x4], %[x5], %[x6], %[x7], %[x8], "         \
  "%[x9]\n\t" text "\n\t.endr\n\t.endif\n\t"
#define STRATA_LOOP(kind, text, last, second, ...) \
  asm volatile(                                                                                 \
      ".macro step a, b\n\t" STRATA_EACH(text) ".endm\n\t.balign 64\n1:\n\t"                    \
      ".rept 12\n\tstep %[a0], %[b0]\n\tstep " second "\n\t.endr\n\t" STRATA_EACH(last)         \
      "decq %[n]\n\tjnz 1b\n\t.purgem step"                                                     \
      : [n] "+&r"(n), [x0] "+&" kind(x[0]), [x1] "+&" kind(x[1]), [x2] "+&" kind(x[2]),         \
        [x3] "+&" kind(x[3]), [x4] "+&" kind(x[4]), [x5] "+&" kind(x[5]), [x6] "+&" kind(x[6]), \
        [x7] "+&" kind(x[7]), [x8] "+&" kind(x[8]), [x9] "+&" kind(x[9])                        \
      : [ilp] "i"(ilp), __VA_ARGS__                                                             \
      : "cc")
#define STRATA_RUN(...)                                                        \
  template <unsigned ilp>                                                      \
  static void run(Words<Word>& x, const Operands<Word>& of, std::uint64_t n) { \
    static_assert(ilp == 1 || ilp == 4 || ilp == most_chains);                 \
    STRATA_LOOP(__VA_ARGS__);                                                  \
  }
#else
#define STRATA_RUN(...)
#endif

#define STRATA_NUMBERS(names, text, last)                 \
  static constexpr std::string_view instructions = names; \
  static constexpr std::size_t sets = 2;                  \
  STRATA_RUN(                                             \
      "x", text, last,                                    \
      "%[a1], %[b1]", [a0] "x"(of.a[0]), [a1] "x"(of.a[1]), [b0] "x"(of.b[0]), [b1] "x"(of.b[1]))
#define STRATA_FLOATS(names, text) STRATA_NUMBERS(names, text, "")
#define STRATA_REFRESHED(names, text)     \
  static constexpr bool refreshes = true; \
  STRATA_NUMBERS(names, text, "vxorps %[a0], \\x, \\x")
#define STRATA_INTEGERS(names, text)                      \
  static constexpr std::string_view instructions = names; \
  static constexpr std::size_t sets = 1;                  \
  STRATA_RUN("r", text, "", "%[a0], %[b0]", [a0] "r"(of.a[0]), [b0] "r"(of.b[0]))

/// An operation that otherwise equals the GPU's of that name.
#define STRATA_SAME(name, instructions) \
  struct name : operations::name {      \
    instructions                        \
  };

// --- Floating point

STRATA_SAME(Fadd, STRATA_FLOATS("vaddss", "vaddss \\a, \\x, \\x"))
STRATA_SAME(Fmul, STRATA_FLOATS("vmulss", "vmulss \\a, \\x, \\x"))
STRATA_SAME(Ffma, STRATA_FLOATS("vfmadd213ss", "vfmadd213ss \\b, \\a, \\x"))
STRATA_SAME(Fmnmx, STRATA_FLOATS("vminss, vmaxss", "vminss \\a, \\x, \\x\n\tvmaxss \\b, \\x, \\x"))
/// 1/x: a division, because there is no instruction for it.
STRATA_SAME(RcpIeee, STRATA_FLOATS("vdivss", "vdivss \\x, \\a, \\x"))
STRATA_SAME(SqrtIeee, STRATA_REFRESHED("vsqrtss", "vsqrtss \\x, \\x, \\x"))
struct RcpApprox : operations::RcpApprox {
#if defined(__x86_64__)
  /// Vendors approximate differently: the same instruction gives the reference.
  static float step(float x, float a, float /*b*/) {
    return _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(x + a)));
  }
#endif
  STRATA_FLOATS("vaddss, vrcpss", "vaddss \\a, \\x, \\x\n\tvrcpss \\x, \\x, \\x")
};
struct RsqrtApprox : operations::RsqrtApprox {
#if defined(__x86_64__)
  static float step(float x, float /*a*/, float /*b*/) {
    return _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(x)));
  }
#endif
  STRATA_REFRESHED("vrsqrtss", "vrsqrtss \\x, \\x, \\x")
};

STRATA_SAME(Dadd, STRATA_FLOATS("vaddsd", "vaddsd \\a, \\x, \\x"))
STRATA_SAME(Dmul, STRATA_FLOATS("vmulsd", "vmulsd \\a, \\x, \\x"))
STRATA_SAME(Dfma, STRATA_FLOATS("vfmadd213sd", "vfmadd213sd \\b, \\a, \\x"))
STRATA_SAME(Ddiv, STRATA_FLOATS("vdivsd", "vdivsd \\x, \\a, \\x"))
struct Dsqrt : operations::Plain<double> {
  static constexpr operations::Operation about{.name = "dsqrt"};
  static Operands<double> operands(std::uint32_t lane) {
    return {.start = operations::fraction<double>(lane)};
  }
  static double step(double x, double /*a*/, double /*b*/) { return std::sqrt(x); }
  STRATA_REFRESHED("vsqrtsd", "vsqrtsd \\x, \\x, \\x")
};

// --- 32-bit integers

/// Between registers, because an addition of a small constant may be done during renaming.
struct Iadd : operations::OnWords {
  static constexpr operations::Operation about{.name = "iadd"};
  static Word step(Word x, Word a, Word /*b*/) { return x + a; }
  STRATA_INTEGERS("add", "addl \\a, \\x")
};
STRATA_SAME(Bitwise, STRATA_INTEGERS("and, xor", "andl \\a, \\x\n\txorl \\b, \\x"))
/// By a constant: a count in a register takes longer on many CPUs, because of flags.
struct Shift : operations::Shift {
  static Word step(Word x, Word /*a*/, Word /*b*/) { return std::rotl(x, 7); }
  STRATA_INTEGERS("rol", "roll $7, \\x")
};
/// x > a ? b : a. The copy beside the selection waits for nothing.
STRATA_SAME(Compare,
            STRATA_INTEGERS("cmp, mov, cmovb", "cmpl \\x, \\a\n\tmovl \\a, \\x\n\tcmovbl \\b, \\x"))
STRATA_SAME(
    Imnmx, STRATA_INTEGERS("cmp, cmovae, cmp, cmovb",
                           "cmpl \\a, \\x\n\tcmovael \\a, \\x\n\tcmpl \\b, \\x\n\tcmovbl \\b, \\x"))
struct Imul : operations::OnWords {
  static constexpr operations::Operation about{.name = "imul"};
  static Word step(Word x, Word a, Word /*b*/) { return x * a; }
  STRATA_INTEGERS("imul", "imull \\a, \\x")
};
STRATA_SAME(Imad, STRATA_INTEGERS("imul, add", "imull \\a, \\x\n\taddl \\b, \\x"))

#undef STRATA_EACH
#undef STRATA_LOOP
#undef STRATA_RUN
#undef STRATA_NUMBERS
#undef STRATA_FLOATS
#undef STRATA_REFRESHED
#undef STRATA_INTEGERS
#undef STRATA_SAME

using Operations =
    operations::List<Fadd, Fmul, Ffma, Fmnmx, Iadd, Bitwise, Shift, Compare, Imnmx, Imul, Imad,
                     RcpApprox, RcpIeee, RsqrtApprox, SqrtIeee, Dadd, Dmul, Dfma, Ddiv, Dsqrt>;
/// Operations that are not measured on a GPU.
inline constexpr auto of_host_only = operations::List<Iadd, Imul, Dsqrt>::names;

template <class Op>
inline constexpr bool refreshes = requires {
  Op::refreshes;
};

/// The operands that all chains share: those of the first lane. Where chains are refreshed, `a` has
/// the bits that are flipped before a square root converges to 1: it is then near 2^64 or 2^-64
/// again (2^512 for doubles), with another mantissa.
template <class Op>
[[nodiscard]] Operands<typename Op::Word> shared_operands() {
  using Word = typename Op::Word;
  auto of = Op::operands(0);
  if constexpr (refreshes<Op>) {
    constexpr std::uint64_t flips = sizeof(Word) == 4 ? 0x202B5A93U : 0x200B5A93C64DE817U;
    of.a.fill(operations::from_bits<Word>(flips));
  }
  return of;
}

/// Start value of chain `chain`: different for each chain.
template <class Op>
[[nodiscard]] typename Op::Word start_of(std::uint32_t chain) {
  return Op::operands(chain % operations::distinct_lanes).start;
}

/// The chain's value after `turns` iterations of the loop, computed step by step.
template <class Op>
[[nodiscard]] typename Op::Word expected_end(std::uint32_t chain, std::uint64_t turns) {
  using operations::bits;
  const auto of = shared_operands<Op>();
  auto x = start_of<Op>(chain);
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    for (std::uint32_t i = 0; i < steps; ++i)
      x = Op::step(x, of.a[i % Op::sets], of.b[i % Op::sets]);
    if constexpr (refreshes<Op>) {
      x = operations::from_bits<typename Op::Word>(bits(x) ^ bits(of.a[0]));
    }
  }
  return x;
}

}  // namespace strata::host_operations
