// Atomic operations of a lane: in PTX, and as chains in which each waits for the previous one of
// its chain. By the disassembler most operations are one instruction (ATOMS, ATOMG, and RED or REDG
// where nothing is returned). Additions of floats and of 64 bits in shared memory are a loop of a
// load, an addition and a compare and swap (ATOMS.CAST.SPIN). ptxas does not add up the lanes of a
// warp beforehand: it cannot prove the address to be uniform.
#pragma once

#include "harness/model/word_patterns.hpp"
#include "micro/compute/atomics.hpp"

namespace strata::atomics {

// An atomic operation whose name begins with `name` and goes on with `rest`; then come the
// operands.
#define STRATA_ATOM(name, rest, ...)                          \
  if constexpr (space == StateSpace::shared)                  \
    asm volatile(name ".shared" rest:__VA_ARGS__ : "memory"); \
  else                                                        \
    asm volatile(name ".global" rest:__VA_ARGS__ : "memory")

/// Returns the old value of the word at `at`. `operand` is added to it, stored into it, or compared
/// with it.
template <StateSpace space, Operation operation>
__device__ __forceinline__ Word<operation> update(std::uint64_t at, Word<operation> operand) {
  Word<operation> old;
  if constexpr (operation == Operation::add_int) {
    STRATA_ATOM("atom", ".add.u32 %0, [%1], %2;", "=r"(old) : "l"(at), "r"(operand));
  } else if constexpr (operation == Operation::add_float) {
    float value;
    STRATA_ATOM("atom", ".add.f32 %0, [%1], %2;", "=f"(value)
                : "l"(at), "f"(__uint_as_float(operand)));
    old = __float_as_uint(value);
  } else if constexpr (operation == Operation::add_int64) {
    STRATA_ATOM("atom", ".add.u64 %0, [%1], %2;", "=l"(old) : "l"(at), "l"(operand));
  } else if constexpr (operation == Operation::exch_int) {
    STRATA_ATOM("atom", ".exch.b32 %0, [%1], %2;", "=r"(old) : "l"(at), "r"(operand));
  } else {
    STRATA_ATOM("atom", ".cas.b32 %0, [%1], %2, %3;", "=r"(old)
                : "l"(at), "r"(operand), "r"(operand + swap_step));
  }
  return old;
}
/// Additions that return no old value.
template <StateSpace space, Operation operation>
__device__ __forceinline__ void add_only(std::uint64_t at, Word<operation> operand) {
  if constexpr (operation == Operation::add_int) {
    STRATA_ATOM("red", ".add.u32 [%0], %1;", : "l"(at), "r"(operand));
  } else if constexpr (operation == Operation::add_float) {
    STRATA_ATOM("red", ".add.f32 [%0], %1;", : "l"(at), "f"(__uint_as_float(operand)));
  } else {
    STRATA_ATOM("red", ".add.u64 [%0], %1;", : "l"(at), "l"(operand));
  }
}

#undef STRATA_ATOM

/// What a lane holds between two operations of a chain.
template <Operation operation>
struct Held {
  Word<operation> word;
  std::uint32_t wins;
};

/// The chains of a lane.
template <Operation operation, std::uint32_t chains>
struct Chains {
  Word<operation> operand[chains];
  Held<operation> held[chains];

  __device__ __forceinline__ explicit Chains(std::uint32_t worker) {
#pragma unroll
    for (std::uint32_t c = 0; c < chains; ++c) {
      operand[c] = word_of<operation>(operand_of(operation, worker, c));
      held[c] = {operand[c], 0};
    }
  }

  /// That many operations on the word at `at`. `zero`: 0, which only the host knows.
  template <StateSpace space, bool returns>
  __device__ __forceinline__ void operate(std::uint64_t at, std::uint32_t operations,
                                          std::uint32_t zero) {
    static_assert(unroll % chains == 0);
#pragma unroll 1
    for (std::uint32_t i = 0; i < operations; i += unroll) {
#pragma unroll
      for (std::uint32_t u = 0; u < unroll; ++u) {
        Held<operation>& mine_now = held[u % chains];
        if constexpr (!returns) {
          add_only<space, operation>(at, operand[u % chains]);
        } else if constexpr (operation == Operation::cas_int) {
          const std::uint32_t old = update<space, operation>(at, mine_now.word);
          mine_now.wins += old == mine_now.word ? 1 : 0;
          mine_now.word = old;
        } else if constexpr (operation == Operation::exch_int) {
          mine_now.word = update<space, operation>(at, mine_now.word);
        } else {
          const Word<operation> old = update<space, operation>(at, mine_now.word);
          mine_now.word = (old & zero) | operand[u % chains];
        }
      }
    }
  }

  /// The sum of what the chains hold, for Compare.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t left() const {
    std::uint32_t sum = 0;
#pragma unroll
    for (std::uint32_t c = 0; c < chains; ++c) {
      if constexpr (operation == Operation::cas_int) {
        sum += held[c].wins;
      } else if constexpr (operation == Operation::exch_int) {
        sum += hashed_word(held[c].word);
      } else if constexpr (operation == Operation::add_float) {
        sum += static_cast<std::uint32_t>(__uint_as_float(held[c].word));
      } else {
        sum += static_cast<std::uint32_t>(held[c].word);
      }
    }
    return sum;
  }
};

}  // namespace strata::atomics
