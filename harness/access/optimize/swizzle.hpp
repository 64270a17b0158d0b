// Shared memory laid out so that the rows of an array begin in different banks: within each line of
// 128 bytes, pieces change places by the number of the row, which is its own inverse and keeps
// every access whole.
#pragma once

#include "harness/access/kernel_forms.hpp"
#include "harness/access/optimize/bounds.hpp"
#include "harness/access/optimize/change.hpp"
#include "harness/access/optimize/grouping.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace strata::access {

class Swizzle {
 public:
  /// Throws NotOptimized where some access to a variable in shared memory is not proved to be one
  /// of its bytes, or where its address may get elsewhere.
  Swizzle(KernelForms& kernel, const Change& change, Bounds& bounds, LaunchChecks& checks);

  /// The statement of an instruction, with the address that its bytes now have.
  [[nodiscard]] std::string written(std::uint32_t instruction, std::string statement,
                                    Names& names) const;

 private:
  void find_accesses();
  void keep_inside(std::uint32_t instruction, const Meaning& meaning, std::uint32_t variable);
  void keep_addresses_in() const;
  [[nodiscard]] bool holds_address(const ptx::Operand& operand,
                                   const std::vector<bool>& holds) const;
  [[nodiscard]] bool passes_on(std::uint32_t instruction, const std::vector<bool>& holds) const;

  KernelForms& kernel_;
  Bounds& bounds_;
  LaunchChecks& checks_;
  unsigned row_;
  std::map<std::uint32_t, std::uint32_t> symbols_;  ///< by instruction
  std::map<std::uint32_t, unsigned> widths_;        ///< of the widest access, by symbol
};

}  // namespace strata::access
