// Copies, launches and idle threads of a pass over an observation, predicted from the description
// of a rung, without its code. Host only.
#pragma once

#include "harness/model/queued.hpp"
#include "nbody/fstat/problem/observation.hpp"

#include <cstdint>

namespace strata::fstat {

struct Costs {
  Queued queued;
  std::uint64_t allocations = 0;   ///< of device memory, each with its release
  std::uint64_t idle_threads = 0;  ///< launched without a term
  bool operator==(const Costs&) const = default;
};

/// Of all sky points.
using PredictCosts = Costs(const Observation& seen);
using PredictedCosts = PredictCosts*;

/// For each template and detector: all pieces of a group in, a kernel, the sums out, each to memory
/// that is allocated and released; that stays; or that kernels fill from what is copied in.
PredictCosts predict_per_call, predict_kept_memory, predict_gathered;
/// For each sky point six vectors in; for each template and detector a kernel, the sums out.
PredictCosts predict_packed;
/// For each sky point six vectors in; for each cell and stack a kernel, a band of 2F out.
PredictCosts predict_one_launch;
/// For each sky point six vectors in; for each cell a kernel, all bands out.
PredictCosts predict_all_stacks;
/// The same, but spectra and where they are in once; with two kernels more; with a warp for each
/// template.
PredictCosts predict_resident, predict_library, predict_warp_sum;
/// As resident, with a kernel for each sky point, in which a thread has a template; and one more.
PredictCosts predict_lanes, predict_polynomial;

/// Threads of a block of the kernels of the latter three.
inline constexpr std::uint32_t usual_block = 256;
inline constexpr std::uint32_t templates_of_block = usual_block / 32;  ///< a warp has one

}  // namespace strata::fstat
