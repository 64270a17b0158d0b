// The accesses that ptxas merges: the machine code of a kernel, attributed to its PTX.
#pragma once

#include "harness/access/inputs.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// A memory instruction of the machine code.
struct MachineAccess {
  std::uint32_t instruction = 0;  ///< of the kernel's PTX
  std::string opcode = {};        ///< "LDS.128"
  unsigned width = 0;             ///< bytes per lane
};

/// Those in the output of `nvdisasm -g` of a kernel whose PTX marked_ptx.hpp marked. `first_mark`:
/// of the kernel.
[[nodiscard]] std::vector<MachineAccess> machine_accesses(std::string_view disassembly,
                                                          std::uint32_t first_mark);

/// Accesses of the PTX that are one machine instruction.
struct MergedAccess {
  std::vector<std::uint32_t> instructions = {};  ///< of the PTX, by address
  std::string opcode = {};                       ///< "LDS.128"
  std::uint32_t line = 0;  ///< of the PTX text: where the merged access is in merged_ptx()
};

/// What `machine` merges, as far as the PTX shows the same: one instruction of the PTX covers the
/// bytes that others without machine code access from the same register, in the same block.
[[nodiscard]] std::vector<MergedAccess> merged_accesses(const ptx::Kernel& kernel,
                                                        const std::vector<MachineAccess>& machine);

/// The module's text in which each of them is one vector instruction; lines keep their numbers.
[[nodiscard]] std::string merged_ptx(const ptx::Module& module, const ptx::Kernel& kernel,
                                     const std::vector<MergedAccess>& merged);

/// What ptxas merges of a kernel; throws UsageError where it or nvdisasm is missing.
[[nodiscard]] std::vector<MergedAccess> merged_by_ptxas(const ptx::Module& module,
                                                        std::uint32_t kernel, const Tools& tools);

}  // namespace strata::access
