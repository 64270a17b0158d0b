// The rungs of a ladder on this CPU, prepared for any of its vectors.
#pragma once

#include "harness/base/error.hpp"
#include "harness/cpu/topology.hpp"
#include "nbody/common/host_rung.hpp"
#include "tests/host/rungs_of.hpp"
#include "tests/host/this_cpu.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace strata {

/// Empty if these vectors or this build cannot do it.
template <class Make, class... Arguments>
auto prepared(const Rung& rung, const Arguments&... arguments)
    -> std::optional<decltype(maker_of<Make>(rung.name)(arguments...))> {
  try {
    return maker_of<Make>(rung.name)(arguments...);
  } catch (const Skipped&) {
    return std::nullopt;
  }
}

/// More threads than there is work, all on one CPU.
inline ThreadTeam crowded_team(std::size_t threads) {
  return ThreadTeam{std::vector<int>(threads, allowed_cpus().front())};
}

}  // namespace strata
