// Which registers an instruction reads and writes, and what it is to the evaluation.
#pragma once

#include "harness/access/ptx.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::access {

/// What an instruction is, by its opcode and modifiers.
enum class Role : std::uint8_t {
  plain,      ///< registers alone
  branch,     ///< bra
  indexed,    ///< brx.idx
  exit,       ///< ret, exit; trap without a guard
  load,       ///< ld, ldu
  store,      ///< st
  atomic,     ///< atom
  reduction,  ///< red
  copy,       ///< cp.async of 4, 8 or 16 bytes a lane
  matrix,     ///< ldmatrix, stmatrix
  barrier,    ///< bar.sync 0 and the like, without a result
  warp_sync,  ///< bar.warp.sync
  vote,
  reduce,  ///< redux of 32 bits
  shuffle,
  activemask,
  nothing,     ///< fences and hints
  unmodelled,  ///< reaches memory, or other threads, in ways that are not modelled
};
[[nodiscard]] Role role_of(const ptx::Instruction& one);

/// Registers by their number in Kernel::registers.
struct Registers {
  std::vector<std::uint32_t> written;
  std::vector<std::uint32_t> read;     ///< for its results; without addresses and guard
  std::vector<std::uint32_t> address;  ///< for its addresses
};
[[nodiscard]] Registers registers_of(const ptx::Instruction& one);

/// Operands before this one are results.
[[nodiscard]] unsigned results_of(const ptx::Instruction& one);

/// The operand that names the lanes of a warp which come to this instruction together; or null.
[[nodiscard]] const ptx::Operand* members_of(const ptx::Instruction& one);

/// The operand that is the address of a load, store, atomic or reduction.
[[nodiscard]] const ptx::Operand* address_of(const ptx::Instruction& one);

}  // namespace strata::access
