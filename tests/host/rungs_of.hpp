#pragma once

#include "nbody/common/ladder.hpp"

#include <ostream>
#include <string_view>
#include <vector>

namespace strata {

/// For the output of parameterized tests.
inline void PrintTo(const Rung& rung, std::ostream* out) {
  *out << rung.name;
}

/// Rungs of a ladder on a backend.
inline std::vector<Rung> rungs_of(std::string_view suite, Backend backend) {
  std::vector<Rung> all = ladder(suite);
  std::erase_if(all, [&](const Rung& rung) { return rung.backend != backend; });
  return all;
}

}  // namespace strata
