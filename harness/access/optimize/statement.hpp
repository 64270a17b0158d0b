// Instructions of a kernel written anew, with other names for its registers and indices.
#pragma once

#include "harness/access/ptx.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace strata::access {

struct Renaming {
  std::function<std::string(std::uint32_t reg)> reg;  ///< by its number in Kernel::registers
  std::function<std::string(ptx::Special)> special;   ///< "" keeps its name
};

/// The instruction with its guard and its semicolon, as its text has it but for names. Throws
/// NotOptimized where the names in the text are not those that were read.
[[nodiscard]] std::string statement(const ptx::Module& module, const ptx::Kernel& kernel,
                                    std::uint32_t instruction, const Renaming& renaming);
/// "@%p1 ", "@!%p1 ", or nothing.
[[nodiscard]] std::string guard_text(const ptx::Instruction& one, const Renaming& renaming);
/// An operand: a register, a number as it is written; of an address what stands in the brackets, so
/// many bytes further on.
[[nodiscard]] std::string address_text(const ptx::Module& module, const ptx::Operand& address,
                                       std::int64_t further, const Renaming& renaming);

}  // namespace strata::access
