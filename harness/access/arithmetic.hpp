// The arithmetic of PTX's register instructions (PTX ISA 9.0, chapters 9.7.1 to 9.7.9), for 32
// lanes at once.
#pragma once

#include "harness/access/ptx.hpp"
#include "harness/access/warp_state.hpp"

#include <array>
#include <cstdint>

namespace strata::access {

/// How a register instruction is computed, and where its operands are.
struct Recipe {
  Run run = nullptr;     ///< null: unknown; its results are hidden
  unsigned results = 1;  ///< leading operands that it writes
  unsigned sources = 0;  ///< the operands after those, except a predicate
  /// Types of immediate sources.
  std::array<ptx::Type, 4> types = {ptx::Type::none, ptx::Type::none, ptx::Type::none,
                                    ptx::Type::none};
  bool takes_predicate = false;  ///< its last operand is a predicate
  bool gives_predicate = false;  ///< its results are predicates
  std::uint64_t extra = 0;
};

/// Step::extra of instructions on predicates: the first source is negated; it is the constant
/// `false` instead of a register. The bits of the second source are shifted by one.
inline constexpr std::uint64_t negated_predicate = 0x100;
inline constexpr std::uint64_t constant_predicate = 0x400;

/// The recipe of an instruction, except for control flow, memory and warp instructions. `result` is
/// the type of the register that it writes, which may be wider than the computed value.
[[nodiscard]] Recipe recipe_of(const ptx::Instruction& instruction, ptx::Type result);

/// The recipe of an approximation (`rsqrt.approx.f32`), whose error PTX bounds: the host's own
/// function. Null for any other instruction.
[[nodiscard]] Recipe approximation_of(const ptx::Instruction& instruction);

/// Copies 64 bits.
[[nodiscard]] Run copy_run();

/// The value of an immediate in a register of `type`.
[[nodiscard]] std::uint64_t immediate_bits(const ptx::Operand& operand, ptx::Type type);

}  // namespace strata::access
