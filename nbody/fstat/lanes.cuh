// A lane for each template: the cells and frequencies of a stack side by side in the lanes of
// blocks, all of which go through the same signals.
#pragma once

#include "harness/case/choices.hpp"
#include "nbody/fstat/device_rung.hpp"
#include "nbody/fstat/fixed_phase.hpp"
#include "nbody/fstat/signal_terms.cuh"

namespace strata::fstat {

/// Blocks that an SM has room for: a sky point has some four for each, and left to itself ptxas
/// makes room for eight and spills.
inline constexpr unsigned usual_blocks = 4;

/// Calls body(sums, cell, frequency, first signal, one behind the last) in every thread that has a
/// template, and stores its sums. Stacks are blockIdx.y.
template <class Body>
__device__ inline void sum_in_lane(const KernelStep& step, const Body& body) {
  const std::uint32_t lane = blockIdx.x * usual_block + threadIdx.x;
  const bool has_template = lane < step.cells * step.frequencies;
  const std::uint32_t* const first = step.first + blockIdx.y * step.detectors;
  const std::uint32_t from = first[0];
  const std::uint32_t end = first[step.detectors];
  count_terms(step.work, has_template ? end - from : 0);
  if (!has_template) return;
  const std::uint32_t cell = lane / step.frequencies;
  const std::uint32_t j = lane % step.frequencies;
  Sums sums;
  body(sums, cell, j, from, end);
  store_result(step, blockIdx.y, (cell * step.stacks + blockIdx.y) * step.frequencies + j, sums);
}

/// Blocks for the templates of all cells of the step.
[[nodiscard]] inline dim3 blocks_of_lanes(const KernelStep& step) {
  return {(step.cells * step.frequencies + usual_block - 1) / usual_block, step.stacks};
}

/// A signal as all lanes of a block see it.
struct alignas(16) SharedSignal {
  FixedStep step;
  Antenna antenna;
};
/// Cells whose templates a block may have.
[[nodiscard]] STRATA_HD inline std::uint32_t cells_of_block(const KernelStep& step) {
  const std::uint32_t most_cells = (usual_block - 1) / step.frequencies + 2;
  return step.cells < most_cells ? step.cells : most_cells;
}
/// Launch shape of kernels that call the following, for stacks of at most `signals` signals.
[[nodiscard]] inline LaunchShape shape_in_fixed_point(const KernelStep& step,
                                                      std::uint32_t signals) {
  const std::size_t of_signal = sizeof(SharedSignal) + cells_of_block(step) * sizeof(FixedStart);
  return {blocks_of_lanes(step), usual_block, signals * of_signal};
}
/// Calls term(sums, signal, arrival, antenna) for every signal in every thread that has a template.
/// The block computes where signals arrive at its cells' first frequency; a lane goes on from
/// there.
template <class Term>
__device__ inline void sum_in_fixed_point(const KernelStep& step, const Term& term) {
  extern __shared__ SharedSignal signals[];
  const std::uint32_t* const first = step.first + blockIdx.y * step.detectors;
  const std::uint32_t from = first[0];
  const std::uint32_t count = first[step.detectors] - from;
  FixedStart* const starts = reinterpret_cast<FixedStart*>(signals + count);  // cell by cell
  const std::uint32_t first_cell = blockIdx.x * usual_block / step.frequencies;
  for (std::uint32_t i = threadIdx.x; i < count; i += usual_block)
    signals[i] = {fixed_step(step.grid, step.timings[from + i]), step.antennas[from + i]};
  for (std::uint32_t i = threadIdx.x; i < count * cells_of_block(step); i += usual_block) {
    starts[i] = fixed_start(step.grid, step.grid.spin(first_cell + i / count),
                            step.timings[from + i % count]);
  }
  __syncthreads();
  sum_in_lane(step, [&](Sums& sums, std::uint32_t cell, std::uint32_t j, std::uint32_t /*from*/,
                        std::uint32_t /*end*/) {
    const FixedStart* const mine = starts + (cell - first_cell) * count;
#pragma unroll 1
    for (std::uint32_t s = 0; s < count; ++s) {
      const SharedSignal signal = signals[s];
      const uint4 start = *reinterpret_cast<const uint4*>(mine + s);  // read at once
      term(sums, from + s,
           fixed_arrival(step.grid, {std::uint64_t{start.y} << 32U | start.x, start.z}, signal.step,
                         j),
           signal.antenna);
    }
  });
}

/// A rung that packs spectra once and sums all cells of a sky point by one kernel.
[[nodiscard]] inline DeviceKernel lanes_of_sky(const Observation& seen, const void* kernel,
                                               const SkySums& sums) {
  const auto sum = [sums](const DevicePass& pass, std::uint32_t sky, const auto& vectors,
                          Queue& queue) {
    KernelStep step = pass.step(sky, 0, 0);
    vectors.add_to(step);
    if (sky == 0 && sums.prepare) sums.prepare(step, queue);
    sums.sum(step, queue);
    queue.copy_out(*pass.two_f, pass.result(sky, 0), pass.problem().templates());
  };
  return {.run = packed_run(seen, Spectra::once, sum), .kernels = {kernel}, .sky = sums};
}

}  // namespace strata::fstat
