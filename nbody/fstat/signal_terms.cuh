// A thread for each signal of a template: what it is given, and what becomes of it.
#pragma once

#include "nbody/fstat/kernel_step.hpp"
#include "nbody/fstat/terms.hpp"

namespace strata::fstat {

/// Counts the terms of a thread.
__device__ inline void count_terms(Work* work, std::uint32_t terms) {
  if (work == nullptr) return;
  if (terms > 0) atomicAdd(&work->terms, terms);
  if (terms == 0) atomicAdd(&work->idle_threads, 1);
}

/// Stores the sums of a template and its 2F.
__device__ inline void store_result(const KernelStep& step, std::uint32_t stack, std::uint32_t at,
                                    const Sums& sums) {
  if (step.sums != nullptr) step.sums[at] = sums;
  if (step.two_f != nullptr) step.two_f[at] = two_f(sums, step.matrices[step.stack + stack]);
}

/// The term of signal threadIdx.x of detector threadIdx.y, for frequency blockIdx.x of stack
/// blockIdx.y of the launch; 0 where there is no such signal.
__device__ inline Sums term_of_thread(const KernelStep& step) {
  std::uint32_t from = 0;
  std::uint32_t count = step.signals;
  if (step.first != nullptr) {
    const std::uint32_t group = (step.stack + blockIdx.y) * step.detectors + threadIdx.y;
    from = step.first[group];
    count = step.first[group + 1] - from;
  }
  const bool has_signal = threadIdx.x < count;
  count_terms(step.work, has_signal ? 1 : 0);
  Sums term;
  if (has_signal) {
    const std::uint32_t s = from + threadIdx.x;
    add_signal(term, step.spectra[s], step.grid, step.timings[s], step.antennas[s],
               step.grid.frequency(step.frequency + blockIdx.x), step.grid.spin(step.cell));
  }
  return term;
}

}  // namespace strata::fstat
