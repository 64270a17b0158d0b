// Sizes that the system tells of the CPU.
#pragma once

#include "harness/case/error.hpp"
#include "harness/record/measurement.hpp"

#include <cstdint>
#include <string>
#include <variant>

namespace strata {

/// Bytes that `facts` name. Throws Skipped where the system does not tell them.
[[nodiscard]] inline std::uint64_t reported_bytes(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  const auto value = found == facts.end() ? 0 : std::get<std::int64_t>(found->second);
  if (value <= 0) throw Skipped{"the system does not report " + name};
  return static_cast<std::uint64_t>(value);
}

}  // namespace strata
