#include "nbody/neighbours/host_cells.cuh"

#include <memory>

namespace strata::neighbours::constant {
namespace {

constexpr std::uint32_t most = 25;  // cells a dimension: the beginnings of 25³ fill 61 of 64 KiB

const Rung rung{
    .name = "neighbours_constant",
    .backend = Backend::cuda,
    .before = "neighbours_host_grid",
    .costs = {.issue_slots = 22.5},
    .question = "Is constant memory the right place for cell offsets?",
    .change =
        "the host copies the cell offsets to constant memory, where threads read them; its 64 KiB "
        "have room for 25³ cells, and a case with more is skipped, or rejected where it requests "
        "them",
    .source = seed("6.2.3"),
    .expectation =
        "the thesis gained at most 2 % and lost above 14³ cells: lanes that read different cells "
        "are served one after the other, and agents in the order of their ids do so",
    .predicted_tests = predict_cells,
    .predicted_traffic = predict_host_grid,
    .axes = {cells_axis(most)}};

#if defined(__CUDACC__)
__constant__ std::uint32_t begins[most * most * most + 1];

struct InConstantMemory {
  __device__ std::uint32_t operator[](std::uint32_t cell) const { return begins[cell]; }
};

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskNamed<InConstantMemory> search) {
  take_own_step<kind>(step, thread_number(), search);
}

AskNamed<InConstantMemory> build(HostCells& host, const DeviceStep& step, Queue& queue) {
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
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::constant
