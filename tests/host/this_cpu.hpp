// What tests of the rungs on a CPU run them on.
#pragma once

#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/vectors.hpp"

#include <vector>

namespace strata {

/// A thread on each CPU that this process may use.
inline ThreadTeam& team() {
  static ThreadTeam threads{allowed_cpus()};
  return threads;
}

/// Every kind of vectors that this CPU has, none included.
inline std::vector<Vectors> known_to_this_cpu() {
  const Vectors widest = widest_vectors();
  std::vector<Vectors> all{Vectors::none};
  if (widest != Vectors::none) all.push_back(Vectors::avx2);
  if (widest == Vectors::avx512) all.push_back(Vectors::avx512);
  return all;
}

}  // namespace strata
