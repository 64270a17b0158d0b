// What PTX's instructions on registers compute (PTX ISA 9.0, chapters 9.7.1 to 9.7.9), for 32 lanes
// at once.
#pragma once

#include "harness/access/ptx.hpp"
#include "harness/access/warp_state.hpp"

#include <array>
#include <cstdint>

namespace strata::access {

/// How an instruction on registers is computed, and where its operands stand.
struct Recipe {
  Run run = nullptr;     ///< null: not known; its results are hidden
  unsigned results = 1;  ///< leading operands that it writes
  unsigned sources = 0;  ///< the operands after those, but for a predicate
  /// Of an immediate among the sources.
  std::array<ptx::Type, 4> types = {ptx::Type::none, ptx::Type::none, ptx::Type::none,
                                    ptx::Type::none};
  bool takes_predicate = false;  ///< its last operand is one
  bool gives_predicate = false;  ///< its results are
  std::uint64_t extra = 0;
};

/// Step::extra of instructions on predicates: the first source is negated; it is the constant
/// `false` instead of a register. Of the second source, shifted by one.
inline constexpr std::uint64_t negated_predicate = 0x100;
inline constexpr std::uint64_t constant_predicate = 0x400;

/// The recipe of an instruction other than those of control, memory and the warp. `result` is the
/// type of the register that it writes, which may be wider than what it computes.
[[nodiscard]] Recipe recipe_of(const ptx::Instruction& instruction, ptx::Type result);

/// The recipe of an approximation (`rsqrt.approx.f32`), of which PTX says how far off it may be:
/// the host's own function. Null for any other instruction.
[[nodiscard]] Recipe approximation_of(const ptx::Instruction& instruction);

/// Copies 64 bits.
[[nodiscard]] Run copy_run();

/// The value of an immediate as a register of `type` would hold it.
[[nodiscard]] std::uint64_t immediate_bits(const ptx::Operand& operand, ptx::Type type);

}  // namespace strata::access
