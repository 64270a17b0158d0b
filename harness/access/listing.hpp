// Every memory instruction of a kernel with its source location, the proof that holds for every
// launch, and the traffic of the given launches.
#pragma once

#include "harness/access/prove.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// A source location.
struct Place {
  std::string file = {};
  std::uint32_t line = 0;
  std::uint32_t column = 0;   ///< 0: unknown
  std::string function = {};  ///< demangled; empty in the kernel itself
  bool operator==(const Place&) const = default;
};

/// One address operand of a memory instruction.
struct Row {
  AccessProof proof;
  std::string opcode;  ///< "ld.global.nc.v4.f32"
  std::uint32_t ptx_line = 0;
  std::vector<Place> places;  ///< where it is written, then where it was inlined, outwards
};

/// The accesses of one kernel in the order of its instructions: everything that accesses memory
/// other than parameters. Accesses without a model are included and marked.
[[nodiscard]] std::vector<Row> list_accesses(const ptx::Module& module, std::uint32_t kernel);

/// "strata::read<4u>(unsigned int const*)"; a name that is not mangled, or that would take long to
/// demangle, is returned unchanged.
[[nodiscard]] std::string readable(std::string_view name);

/// "ld.global.f32".
[[nodiscard]] std::string opcode_text(const ptx::Instruction& instruction);

}  // namespace strata::access
