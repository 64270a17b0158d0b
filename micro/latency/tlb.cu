#include "micro/latency/tlb.hpp"

#ifdef __CUDACC__
#include "micro/latency/pointer_chase.cuh"
#endif

namespace strata::tlb {

namespace {

/// The whole chain if it is short; for a longer one, the pages were visited before.
std::uint32_t warm_loads_for(std::uint64_t slots) {
  constexpr std::uint32_t few = 64;
  constexpr std::uint32_t most = 2048;  // a walk of a million cycles
  return std::clamp(pointer_chase::in_whole_turns(slots), few, most);
}

/// A chase on a GPU, after every page was visited.
Experiment describe(pointer_chase::Chase& chase) {
  Experiment experiment = pointer_chase::describe(chase, {});
  experiment.unproved = {.gate = "level"};
  experiment.counts = pointer_chase::counts_of(chase, /*loads=*/2048);
  experiment.counts->served_by = ServedBy::l2;
  experiment.counts->memory_is_no_proof = true;
  return experiment;
}

Experiment describe(const Params& params, const GpuFacts& /*gpu*/) {
  const auto stride = number_of<std::uint64_t>(params, "stride");
  const std::uint64_t slots = number_of<std::uint64_t>(params, "footprint") / stride;
  const PermutedChain chain{
      .cycle = PermutedCycle{slots, /*seed=*/2009}, .base = 0, .stride = stride};
  const auto chase = std::make_shared<pointer_chase::Chase>(pointer_chase::Chase{
      .word_at = [chain](std::uint64_t step) { return chain.address_at(step); },
      .walks = {slots, slots, 1},
      .warm = warm_loads_for(slots)});
  return owning(chase, describe(*chase));
}

#ifdef __CUDACC__

__global__ void follow(const __grid_constant__ PermutedChain chain, std::uint64_t first,
                       std::uint32_t warm, std::uint32_t loads, Stamp* stamp) {
  pointer_chase::timed_walk(chain.address_at(first), warm, loads, stamp,
                            [](std::uint64_t& at) { strata::follow<Access::global_cg>(at); });
}

void run(Session& session) {
  const auto footprint = number_of<std::uint64_t>(session.params(), "footprint");
  const auto stride = number_of<std::uint64_t>(session.params(), "stride");
  const std::uint64_t slots = footprint / stride;
  const std::string& allocation = session.param("allocation");
  const auto& memory =
      pointer_chase::memory_for(session, "tlb/" + allocation, footprint, std::uint64_t{4} << 30U,
                                most_footprint, /*mapped_by_hand=*/allocation == "vmm");
  CudaMachine machine{session, /*writers=*/1};
  const cudaStream_t stream = machine.stream().get();
  const PermutedChain chain{.cycle = PermutedCycle{slots, /*seed=*/2009},
                            .base = memory.address(),
                            .stride = stride,
                            .lines = stride / PermutedChain::line_bytes};
  pointer_chase::Chase chase{.word_at = [&](std::uint64_t step) { return chain.address_at(step); },
                             .walks = {slots, slots, 1},
                             .warm = warm_loads_for(slots)};
  const auto visit = [&] { pointer_chase::visit_slots(memory, chain, stream); };
  Experiment experiment = describe(chase);
  Slope& slope = experiment.slopes[0];
  slope.prepare = [&](const Call& call) {
    chase.go_on(call);
    visit();
  };
  slope.launch = [&](const Call& call) {
    follow<<<1, 1, 0, stream>>>(chain, chase.first, chase.warm, call.length.rounds,
                                machine.device_stamps());
  };
  experiment.counts->prepare = [&](const Call&) {
    chase.begin_at(0);
    pointer_chase::write_links(chain, slots, stream);
    visit();
  };
  experiment.kernels = {reinterpret_cast<const void*>(follow)};
  if (session.counters() == nullptr) {
    pointer_chase::write_links(chain, slots, stream);
    const auto add_fact = [&](const char* name, CUmemAllocationGranularity_flags which) {
      const std::uint64_t bytes = mapping_granularity(which);
      if (bytes != 0) session.fact(name, static_cast<std::int64_t>(bytes));
    };
    add_fact("granularity_minimum_bytes", CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    add_fact("granularity_recommended_bytes", CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  }
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::tlb
