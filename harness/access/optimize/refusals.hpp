// Why a kernel must stay as it is: what of its code shows in which order, or where, threads run.
#pragma once

#include "harness/access/ptx.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace strata::access {

/// An instruction that forbids a change, and why.
struct Refusal {
  std::uint32_t instruction =
      ptx::no_index;  ///< into Kernel::instructions; none: the kernel itself
  std::string why;
};

/// What a change does to threads; that of a kernel whose threads stay as they are does nothing.
struct Rearrangement {
  bool moves_lanes = false;   ///< threads of a block are other lanes of other warps
  bool moves_blocks = false;  ///< threads come into other blocks, or several become one
};

/// The first instruction that forbids it. Whether a load may see what another thread stores is
/// asked of Independence.
[[nodiscard]] std::optional<Refusal> refusal_of(const ptx::Module& module,
                                                const ptx::Kernel& kernel,
                                                const Rearrangement& change);

/// "line 40 of the source, 123 of the PTX: ld.volatile.u32: …", in one line.
[[nodiscard]] std::string text_of(const ptx::Kernel& kernel, const Refusal& refusal);

/// atom and red whose result does not hang on the order of threads.
[[nodiscard]] bool is_commutative(const ptx::Instruction& atomic);

}  // namespace strata::access
