// The forms of a multiply-add whose rates ceilings compares: the same arithmetic, fed in other
// ways.
//
// A multiply-add has three operands, and an SM's two banks of registers do not give three new ones
// in the time of one instruction. Which form comes nearest to the peak, or whether one does, is up
// to the reuse cache and the ports of a chip, so each is measured.
#pragma once

#include "micro/compute/operations.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace strata::ceilings {

/// a·x + b, operands of the lane, other ones at each step of a chain: neighbours in the same step
/// share them.
template <class Op>
struct Alternating : Op {
  static constexpr std::string_view form = "alternating";
  static constexpr unsigned chains = 4;
  static constexpr std::uint32_t run = 1;
  static constexpr bool uniform = false;
};

/// The same with operands that serve a hundred instructions of a warp before others take over.
template <class Op>
struct Steady : Op {
  static constexpr std::string_view form = "steady";
  static constexpr unsigned chains = 8;
  static constexpr std::uint32_t run = operations::long_run;
  static constexpr bool uniform = false;
};

/// The same with a factor that all lanes share: it comes by way of a uniform register or constant
/// memory, and two registers of the lane are left to read.
template <class Op>
struct Uniform : Op {
  static constexpr std::string_view form = "uniform";
  static constexpr unsigned chains = 8;
  static constexpr std::uint32_t run = operations::long_run;
  static constexpr bool uniform = true;
  static operations::Operands<typename Op::Word> operands(std::uint32_t lane) {
    auto own = Op::operands(lane);
    own.a = Op::operands(0).a;
    return own;
  }
};

/// x·x − c with c from 17/16 to 19/16: two different registers. The chain comes to alternate
/// between two numbers, one near −1 and a small positive one.
template <class Op>
struct Square : Op {
  using Word = typename Op::Word;
  static constexpr std::string_view form = "square";
  static constexpr unsigned chains = 8;
  static constexpr std::uint32_t run = operations::long_run;
  static constexpr bool uniform = false;
  static operations::Operands<Word> operands(std::uint32_t lane) {
    constexpr int bits = 20;
    const auto c = [&](std::uint32_t which) {
      return word_of(-(1 + (operations::fraction<double>(4 * lane + which, bits) - 0.5) / 8));
    };
    return {.start = word_of(operations::fraction<double>(4 * lane, bits) / 4),
            .a = {},
            .b = {c(1), c(2)}};
  }
  static Word step(Word x, Word /*a*/, Word b) { return Op::step(x, x, b); }
#ifdef __CUDACC__
  static __device__ __forceinline__ void apply(Word& x, Word /*a*/, Word b) {
    Op::apply(x, x, b);
  }
#endif

 private:
  static Word word_of(double value) {
    if constexpr (requires { Op::packed(value); }) {
      return Op::packed(value);
    } else {
      return static_cast<Word>(value);
    }
  }
};

}  // namespace strata::ceilings
