// Which registers an instruction reads and writes, and its role in the evaluation.
#pragma once

#include "harness/access/access_kind.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::access {

/// The role of an instruction, by its opcode and modifiers.
enum class Role : std::uint8_t {
  plain,      ///< registers only
  branch,     ///< bra
  indexed,    ///< brx.idx
  exit,       ///< ret, exit; trap without a guard
  load,       ///< ld, ldu
  store,      ///< st
  atomic,     ///< atom
  reduction,  ///< red
  copy,       ///< cp.async with 4, 8 or 16 bytes per lane
  matrix,     ///< ldmatrix, stmatrix
  barrier,    ///< bar.sync 0 and similar, without a result
  warp_sync,  ///< bar.warp.sync
  vote,
  reduce,  ///< redux with 32 bits
  match,
  shuffle,
  activemask,
  nothing,     ///< fences and hints
  unmodelled,  ///< accesses memory or other threads in ways that are not modelled
};
[[nodiscard]] Role role_of(const ptx::Instruction& one);
/// Whether it is a modelled access to memory, other than to parameters.
[[nodiscard]] bool accesses_memory(const ptx::Instruction& one);

/// Registers by their number in Kernel::registers.
struct Registers {
  std::vector<std::uint32_t> written;
  std::vector<std::uint32_t> read;     ///< for its results; excludes addresses and guard
  std::vector<std::uint32_t> address;  ///< for its addresses
};
[[nodiscard]] Registers registers_of(const ptx::Instruction& one);

/// Number of leading operands that are results.
[[nodiscard]] unsigned results_of(const ptx::Instruction& one);

/// For the accesses of an instruction that are to shared memory.
[[nodiscard]] SharedAtomic shared_atomic_of(const ptx::Instruction& one);

/// Whether the loaded value may change during the launch without a store of the same thread, as
/// PTX states by `volatile`, `relaxed`, `acquire` and `mmio`.
[[nodiscard]] bool is_strong_load(const ptx::Instruction& one);

/// The operand that names the lanes of a warp that must reach this instruction together; or null.
[[nodiscard]] const ptx::Operand* members_of(const ptx::Instruction& one);

/// The operand that is the address of a load, store, atomic or reduction.
[[nodiscard]] const ptx::Operand* address_of(const ptx::Instruction& one);

}  // namespace strata::access
