#include "nbody/neighbours/host_cells.cuh"

#include <memory>

namespace strata::neighbours::constant {
namespace {

constexpr std::uint32_t most = 25;  // cells a dimension: the beginnings of 25³ fill 61 of 64 KiB

__constant__ std::uint32_t begins[most * most * most + 1];

struct InConstantMemory {
  __device__ std::uint32_t operator[](std::uint32_t cell) const { return begins[cell]; }
};

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, SearchNamedCells<InConstantMemory> search) {
  take_own_step<kind>(step, thread_number(), search);
}

SearchNamedCells<InConstantMemory> build(HostCells& host, const DeviceStep& step, Queue& queue) {
  host.sort(step, queue);
  const std::size_t bytes = host.starts.size_bytes();
  queue.copy(Activity::Of::copy_in, bytes, [&] {
    cuda_check(cudaMemcpyToSymbolAsync(begins, host.starts.data(), bytes, 0, cudaMemcpyHostToDevice,
                                       queue.stream().get()));
  });
  return {.cells = host.cells, .starts = {}, .ids = host.ids.device.data()};
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  const std::uint32_t count = cells_for(problem, choice).count;
  if (count > most) {
    throw Skipped{std::to_string(count) + "³ cells; constant memory has room for " +
                  std::to_string(most) + "³"};
  }
  const auto host = std::make_shared<HostCells>(problem, choice);
  return searching(
      problem.kind, Copies::lazy, [&]<Kind kind>() { return step_of<kind>; },
      [host](const DeviceStep& step, Queue& queue) { return build(*host, step, queue); });
}

STRATA_RUNG("neighbours_constant", make);

}  // namespace
}  // namespace strata::neighbours::constant
