// The kernel of the rungs that have a thread for each signal.
#include "harness/cuda/queue.hpp"
#include "nbody/fstat/kernel_step.hpp"
#include "nbody/fstat/signal_terms.cuh"

namespace strata::fstat {
namespace {

/// A block has a template: the first thread collects the terms of all others, and adds them up.
__global__ void sum_signals(KernelStep step) {
  extern __shared__ Sums terms[];
  const std::uint32_t threads = blockDim.x * blockDim.y;
  const std::uint32_t mine = threadIdx.y * blockDim.x + threadIdx.x;
  terms[mine] = term_of_thread(step);
  __syncthreads();
  if (mine > 0) return;
  Sums all;
  for (std::uint32_t t = 0; t < threads; ++t)
    all = all + terms[t];
  store_result(step, blockIdx.y, blockIdx.y * step.frequencies + blockIdx.x, all);
}

}  // namespace

void queue_signal_sums(Queue& queue, const KernelStep& step, std::uint32_t frequencies,
                       std::uint32_t stacks, std::uint32_t signals, std::uint32_t detectors) {
  const std::size_t room = std::size_t{signals} * detectors * sizeof(Sums);
  queue.launch_blocks(sum_signals, {{frequencies, stacks}, {signals, detectors}, room}, step);
}

const void* signal_sums() {
  return code_of(sum_signals);
}

}  // namespace strata::fstat
