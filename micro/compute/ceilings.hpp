// How much arithmetic can this chip do per second, and how much should it do?
//
// Every SM runs warps with several chains of multiply-adds each, long enough that the clock settles
// under this load. The limit is lanes of an SM × SMs × that clock. An SM's two register banks
// cannot deliver three new operands in the time of one instruction. The best form of operands
// depends on the chip, so each is measured, and the ceiling is the best of them. The number
// includes four loop instructions per 512.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "micro/compute/operations.hpp"

#include <tuple>

namespace strata::ceilings {

[[nodiscard]] Benchmark declare();

/// Data types of the multiply-adds.
enum class Arithmetic : std::uint8_t { fp32, fp64, fp16x2, bf16x2, int32, int8_dp4a };
inline constexpr auto arithmetics =
    choices_of<Arithmetic>("fp32", "fp64", "fp16x2", "bf16x2", "int32", "int8_dp4a");
using MultiplyAdds = std::tuple<operations::Ffma, operations::Dfma, operations::Hfma2,
                                operations::Bfma2, operations::Imad, operations::Dp4a>;

[[nodiscard]] constexpr bool is_floating(Arithmetic arithmetic) {
  return arithmetic < Arithmetic::int32;
}
/// Operations of one instruction of a thread: a multiply-add is two.
[[nodiscard]] constexpr int operations_of_instruction(Arithmetic arithmetic) {
  constexpr std::array<int, 6> of{2, 2, 4, 4, 2, 8};
  return of.at(static_cast<std::size_t>(arithmetic));
}

/// Sources of the operands.
enum class Form : std::uint8_t { alternating, steady, square, uniform };
inline constexpr auto forms = choices_of<Form>("alternating", "steady", "square", "uniform");

/// The multiply-add of a form, and its operands.
[[nodiscard]] constexpr const char* operands_of(Form form) {
  constexpr std::array<const char*, 4> words{
      "a*x + b, three registers, other a and b at each step",
      "a*x + b, three registers, the same a and b for many instructions",
      "x*x - c, two registers",
      "a*x + b, two registers and a factor that all lanes share",
  };
  return words.at(static_cast<std::size_t>(form));
}

/// Why a GPU does not measure the arithmetic in this form; null if it does, and a kernel exists.
[[nodiscard]] constexpr const char* why_not(Arithmetic arithmetic, Form form) {
  if (!is_floating(arithmetic) && form != Form::alternating) {
    return "integers reach their peak with alternating operands";
  }
  if (form == Form::uniform && operations_of_instruction(arithmetic) > 2) {
    return "packed arithmetic takes its operands from the lanes' own registers";
  }
  return nullptr;
}

/// a·x + b, with other operands of the lane at each step; chains in the same step share them.
template <class Op>
struct Alternating : Op {
  static constexpr unsigned chains = 4;
  static constexpr std::uint32_t run = 1;
  static constexpr bool is_uniform = false;
};

/// The same with operands that are used for a hundred instructions of a warp before others replace
/// them.
template <class Op>
struct Steady : Op {
  static constexpr unsigned chains = 8;
  static constexpr std::uint32_t run = operations::long_run;
  static constexpr bool is_uniform = false;
};

/// The same with a factor that all lanes share: it is in a uniform register or constant memory,
/// so that an instruction reads two registers of the lane.
template <class Op>
struct Uniform : Steady<Op> {
  static constexpr bool is_uniform = true;
  static operations::Operands<typename Op::Word> operands(std::uint32_t lane) {
    auto own = Op::operands(lane);
    own.a = Op::operands(0).a;
    return own;
  }
};

/// x·x − c with c from 17/16 to 19/16: two different registers. The chain alternates in the end
/// between two numbers, one near −1 and a small positive one.
template <class Op>
struct Square : Steady<Op> {
  using Word = typename Op::Word;
  static operations::Operands<Word> operands(std::uint32_t lane) {
    const auto number = [&](std::uint32_t which) {
      constexpr int digits = 20;
      return operations::fraction<double>(4 * lane + which, digits);
    };
    const auto c = [&](std::uint32_t which) {
      return Op::word_of(-(1 + (number(which) - 0.5) / 8));
    };
    return {.start = Op::word_of(number(0) / 4), .b = {c(1), c(2)}};
  }
  static Word step(Word x, Word /*a*/, Word b) { return Op::step(x, x, b); }
#ifdef __CUDACC__
  static __device__ __forceinline__ void apply(Word& x, Word /*a*/, Word b) {
    Op::apply(x, x, b);
  }
#endif
};

/// What runs on a GPU.
struct Shape {
  Arithmetic arithmetic = Arithmetic::fp32;
  Form form = Form::alternating;
  unsigned warps = 16;  ///< of the one block on each SM
};
inline constexpr unsigned most_warps_per_sm = 32;

/// Calls use.template operator()<Op>() for the operation of a shape in its form.
template <class Use>
auto with_operation(const Shape& shape, Use&& use) {
  using enum Arithmetic;
  using enum Form;
  return with_value<fp32, fp64, fp16x2, bf16x2, int32, int8_dp4a>(
      shape.arithmetic, [&]<Arithmetic arithmetic>() {
        using Op = std::tuple_element_t<static_cast<std::size_t>(arithmetic), MultiplyAdds>;
        using Forms = std::tuple<Alternating<Op>, Steady<Op>, Square<Op>, Uniform<Op>>;
        return with_value<alternating, steady, square, uniform>(shape.form, [&]<Form form>() {
          if constexpr (why_not(arithmetic, form) == nullptr) {
            return use
                .template operator()<std::tuple_element_t<static_cast<std::size_t>(form), Forms>>();
          } else {
            return decltype(use.template operator()<Alternating<Op>>()){};
          }
        });
      });
}

[[nodiscard]] operations::Shape in_form(const Shape& shape);

/// Instructions of threads per cycle of an SM of this compute capability ("9.0"), by the CUDA C++
/// Best Practices Guide 13, "Throughput of Native Arithmetic Instructions", which counts results: a
/// packed instruction has two. Empty if the guide gives none.
[[nodiscard]] std::optional<int> lanes_per_sm(std::string_view capability, Arithmetic arithmetic);

/// A launch writes the first warp's `ends`. Per instruction of a warp, on one SM.
[[nodiscard]] Experiment describe(const Shape& shape, const GpuFacts& gpu,
                                  std::span<const std::uint64_t> ends);
/// Slopes of the first core alone, then of all `cores`. Per instruction of a core.
[[nodiscard]] Experiment describe(std::size_t cores, std::size_t lanes);

}  // namespace strata::ceilings
