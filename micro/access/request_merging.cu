#include "harness/base/error.hpp"
#include "harness/case/choices.hpp"
#include "harness/cuda/access.cuh"
#include "harness/cuda/cluster.cuh"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/engine.hpp"
#include "micro/access/request_merging.hpp"

namespace strata::request_merging {
namespace {

/// A warp on each SM of a cluster.
__global__ void __launch_bounds__(lanes)
    meet(const std::uint32_t* line, std::uint32_t rounds, std::uint32_t delay, Stamp* stamps) {
#if __CUDA_ARCH__ >= 900
  const std::uint32_t rank = rank_in_cluster();
  const std::uint32_t after = lead + (rank == 0 ? 0 : delay);
  line += threadIdx.x;
  std::uint32_t sum = 0;
  std::uint64_t loading = 0;
  std::uint64_t waiting = 0;
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    synchronize_cluster();
    const std::uint64_t met = cycles_now();
#pragma unroll 1
    while (cycles_now() - met < after) {
    }
    const std::uint64_t asked = cycles_now();
    std::uint32_t word[1];
    load<Access::global_cg, 4>(word, line);
    consume(word[0]);
    loading += cycles_now() - asked;
    waiting += asked - met;
    sum += word[0];
    line += lanes;
  }
  const Reading end = reading_after();
  sum = warp_sum(sum);
  if (threadIdx.x == 0) {
    Stamp& mine = stamps[blockIdx.x];
    leave(&mine, begin, end, sum);
    mine.cycles[load_mark] = loading;
    mine.cycles[wait_mark] = waiting;
    mine.tag = rank;
  }
#else
  __trap();  // no clusters: the host does not launch it
#endif
}

void run(Session& session) {
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  if (gpu.major < 9) throw Skipped{"thread block clusters need compute capability 9.0"};
  const auto sms = number_of<std::uint32_t>(session.params(), "sms");
  const auto delay = number_of<std::uint32_t>(session.params(), "delay");
  const auto* const code = reinterpret_cast<const void*>(meet);
  constexpr std::uint32_t portable = 8;
  if (sms > portable) {
    cuda_check(cudaFuncSetAttribute(code, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  CudaMachine machine{session, sms};
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {sms, 1, 1};
  const cudaLaunchConfig_t config{.gridDim = sms,
                                  .blockDim = lanes,
                                  .dynamicSmemBytes = bytes_to_be_alone(code),
                                  .stream = machine.stream().get(),
                                  .attrs = &cluster,
                                  .numAttrs = 1};
  int clusters = 0;
  cuda_check(cudaOccupancyMaxActiveClusters(&clusters, code, &config));
  if (clusters < 1) throw Skipped{"no cluster of that size fits on this device"};

  using Lines = DeviceBuffer<std::uint32_t>;
  const Lines& lines = session.cache().keep<Lines>("request_merging", [&] {
    Lines made{std::size_t{rounds} * lanes};
    fill(made.data(), made.size(), words, machine.stream().get());
    return made;
  });
  Experiment experiment = describe(sms, delay);
  Slope& slope = experiment.slopes[0];
  const auto launch = [&](std::uint32_t launched_rounds) {
    cuda_check(cudaLaunchKernelEx(&config, meet, lines.data(), launched_rounds, delay,
                                  machine.device_stamps()));
  };
  // The same loads bring the lines into the partition of L2 that these SMs read through.
  slope.prepare = [&](const Call&) { launch(rounds); };
  slope.launch = [&](const Call& call) { launch(call.length.rounds); };
  experiment.kernels = {code};
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::request_merging
