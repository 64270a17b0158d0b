// Static single assignment for the registers of a kernel that affect addresses, guards and
// branches: which definition each read sees (Cytron et al., TOPLAS 13(4), 1991).
#pragma once

#include "harness/access/control_flow.hpp"
#include "harness/access/ptx.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::access {

using ValueId = std::uint32_t;
inline constexpr ValueId no_value = 0xffffffff;

/// The value of a register from one definition on.
struct Value {
  enum class Kind : std::uint8_t { undefined, phi, instruction };
  Kind kind = Kind::undefined;
  std::uint32_t reg = 0;  ///< into Kernel::registers
  std::uint32_t block = 0;
  std::uint32_t instruction = 0;     ///< the defining instruction
  std::uint32_t operand = 0;         ///< index of the destination operand
  std::uint32_t item = 0;            ///< and of the element, if that is a vector
  ValueId before = no_value;         ///< for a guarded definition: the value if the guard is false
  std::vector<ValueId> inputs = {};  ///< for a phi: one per predecessor of the block
};

/// Whether the block is reachable.
[[nodiscard]] inline bool is_reachable(const ControlFlow& flow, std::uint32_t block) {
  return block == 0 || flow.dominator[block] != no_index;
}

/// How many of the leading operands an instruction writes. Unknown instructions write their first
/// operand.
[[nodiscard]] std::size_t written_operands(const ptx::Instruction& instruction);

/// Calls `see` for every register that the instruction reads: guard, sources, address parts.
template <class See>
void for_each_read(const ptx::Instruction& instruction, const See& see);

class Ssa {
 public:
  /// `flow` is that of `kernel`; both must outlive this.
  Ssa(const ptx::Kernel& kernel, const ControlFlow& flow);

  /// The value that `instruction` reads from a register; no_value if that is not followed.
  [[nodiscard]] ValueId read(std::uint32_t instruction, std::uint32_t reg) const;
  [[nodiscard]] std::span<const Value> values() const { return values_; }
  [[nodiscard]] const Value& operator[](ValueId id) const { return values_[id]; }
  /// Values defined in a block: phis first, then in the order of the instructions.
  [[nodiscard]] std::span<const ValueId> defined_in(std::uint32_t block) const {
    return defined_[block];
  }

 private:
  struct Read {
    std::uint32_t reg = 0;
    ValueId value = no_value;
  };
  struct Walk;
  void find_writers();
  void find_needed();
  [[nodiscard]] std::optional<std::vector<std::vector<std::uint32_t>>> frontiers(
      std::size_t& work) const;
  void place_phis();
  void follow_single_writers();
  void rename();
  void rename_block(Walk& walk, std::uint32_t b);
  void write(Walk& walk, std::uint32_t i, std::uint32_t o);

  const ptx::Kernel& kernel_;
  const ControlFlow& flow_;
  std::vector<bool> is_needed_;                         // by register
  std::vector<std::vector<std::uint32_t>> writers_;     // instructions, by register
  std::vector<std::vector<std::uint32_t>> phi_places_;  // registers, by block
  std::vector<Value> values_;
  std::vector<std::vector<ValueId>> defined_;
  std::vector<std::uint32_t> first_read_;
  std::vector<Read> reads_;
};

// NOLINTBEGIN(misc-no-recursion): as deep as the reader lets items be in items
template <class See>
void see_registers(const ptx::Operand& operand, const See& see) {
  if (operand.kind == ptx::Operand::Kind::reg) see(operand.index);
  for (const ptx::Operand& item : operand.items)
    see_registers(item, see);
}

template <class See>
void for_each_read(const ptx::Instruction& instruction, const See& see) {
  if (instruction.guard != ptx::no_index) see(instruction.guard);
  for (std::size_t i = written_operands(instruction); i < instruction.operands.size(); ++i)
    see_registers(instruction.operands[i], see);
}
// NOLINTEND(misc-no-recursion)

}  // namespace strata::access
