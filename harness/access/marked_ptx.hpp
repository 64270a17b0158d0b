// PTX in which every instruction has its own source line, so that the counts of a machine
// instruction can be attributed to the PTX instruction from which it was compiled.
#pragma once

#include "harness/access/ptx.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// An instruction, by its position in a module.
struct InstructionPlace {
  std::uint32_t kernel = 0;
  std::uint32_t instruction = 0;
  bool operator==(const InstructionPlace&) const = default;
};

/// Position in a module's text at which the statement of an instruction begins: at its guard, if it
/// has one.
[[nodiscard]] std::size_t begin_of(std::string_view text, const ptx::Instruction& instruction);

/// The module's text without its own source lines, and with `.loc 1 MARK 0` before every
/// instruction. Marks count from 1, through all kernels in order.
struct MarkedPtx {
  std::string text;
  std::vector<std::uint32_t> first_marks;  ///< of each kernel, then one past the last

  [[nodiscard]] std::optional<InstructionPlace> place_of(std::uint32_t mark) const;
};
[[nodiscard]] MarkedPtx mark(const ptx::Module& module);

}  // namespace strata::access
