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
using PredictedCosts = Costs (*)(const Observation& seen);

/// For each template and detector: all pieces of a group in, a kernel, the sums out, each to memory
/// that is allocated and released.
[[nodiscard]] Costs predict_per_call(const Observation& seen);
/// The same, to memory that stays.
[[nodiscard]] Costs predict_kept_memory(const Observation& seen);
/// The same, where kernels fetch what is copied in.
[[nodiscard]] Costs predict_gathered(const Observation& seen);
/// For each sky point six vectors in; for each template and detector a kernel, the sums out.
[[nodiscard]] Costs predict_packed(const Observation& seen);
/// For each sky point six vectors in; for each cell and stack a kernel, a band of 2F out.
[[nodiscard]] Costs predict_one_launch(const Observation& seen);
/// For each sky point six vectors in; for each cell a kernel, all bands out.
[[nodiscard]] Costs predict_all_stacks(const Observation& seen);
/// The same, but spectra and where they are in once.
[[nodiscard]] Costs predict_resident(const Observation& seen);
/// As resident, with two kernels more.
[[nodiscard]] Costs predict_library(const Observation& seen);
/// As resident, with a warp for each template.
[[nodiscard]] Costs predict_warp_sum(const Observation& seen);
/// As resident, with a kernel for each sky point, in which a thread has a template.
[[nodiscard]] Costs predict_lanes(const Observation& seen);
/// The same, with a kernel more.
[[nodiscard]] Costs predict_polynomial(const Observation& seen);

/// Threads of a block of the kernels of the latter three.
inline constexpr std::uint32_t usual_block = 256;
inline constexpr std::uint32_t templates_of_block = usual_block / 32;  ///< a warp has one

}  // namespace strata::fstat
