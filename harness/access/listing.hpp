// Every memory instruction of a kernel, with its place in the source and what is known of it: the
// proof that holds for every launch, and the traffic of the launches that were given.
#pragma once

#include "harness/access/prove.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// A line of the source.
struct Place {
  std::string file = {};
  std::uint32_t line = 0;
  std::uint32_t column = 0;   ///< 0: not told
  std::string function = {};  ///< as people write it; empty in the kernel itself
  bool operator==(const Place&) const = default;
};

/// One address operand of a memory instruction.
struct Row {
  AccessProof proof;
  std::string opcode;  ///< "ld.global.nc.v4.f32"
  std::uint32_t ptx_line = 0;
  std::vector<Place> places;  ///< where it is written, then where that was inlined to, outwards
};

/// Of one kernel, in the order of its instructions: whatever touches memory outside of parameters.
/// What no model knows is there, too, and says so.
[[nodiscard]] std::vector<Row> list_accesses(const ptx::Module& module, std::uint32_t kernel);

/// "strata::read<4u>(unsigned int const*)"; a name that is not mangled, or that would take long to
/// make out, as it is.
[[nodiscard]] std::string readable(std::string_view name);

/// "ld.global.f32".
[[nodiscard]] std::string opcode_text(const ptx::Instruction& instruction);

}  // namespace strata::access
