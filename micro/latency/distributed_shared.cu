#include "harness/cuda/access.cuh"
#include "harness/cuda/cluster.cuh"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/engine.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/latency/distributed_shared.hpp"

namespace strata::distributed_shared {
namespace {

/// The first thread of a cluster writes the chain into the memory of block `distance` and follows
/// it. Wanted: LD.E.64, whose address is the word loaded last.
__global__ void follow_chain(const std::uint32_t* next, std::uint32_t first, std::uint32_t distance,
                             std::uint32_t loads, Stamp* stamp) {
  __shared__ std::uint64_t ring[slots];
  synchronize_cluster();  // every block has started, and its memory exists
  if (rank_in_cluster() == 0 && threadIdx.x == 0) {
    std::uint64_t* const there = of_block(ring, distance);
    for (std::uint32_t s = 0; s < slots; ++s)
      there[s] = reinterpret_cast<std::uint64_t>(there + next[s]);
    auto at = reinterpret_cast<std::uint64_t>(there + first);
    const Reading begin = reading_before();
#pragma unroll 1
    for (std::uint32_t i = 0; i < loads; i += unroll) {
#pragma unroll
      for (std::uint32_t u = 0; u < unroll; ++u)
        follow<Access::generic>(at);
    }
    consume(static_cast<std::uint32_t>(at));
    const Reading end = reading_after();
    leave(stamp, begin, end, (at - reinterpret_cast<std::uint64_t>(there)) / sizeof at);
  }
  synchronize_cluster();  // no block exits while its memory is read
}

/// Every block reads the tile of the block `distance` further on.
__global__ void __launch_bounds__(1024)
    read_tile(std::uint32_t cluster, std::uint32_t distance, std::uint32_t rounds, Stamp* stamps) {
  extern __shared__ __align__(128) std::uint32_t tile[];
  const std::uint32_t rank = rank_in_cluster();
  const LinearWords own = tile_of(rank);
  for (std::uint32_t w = threadIdx.x; w < tile_words; w += blockDim.x)
    tile[w] = own.word(w);
  const char* const there =
      reinterpret_cast<const char*>(of_block(tile, (rank + distance) % cluster)) +
      threadIdx.x % lanes * width;
  std::uint32_t at = threadIdx.x / lanes * chunk;
  const std::uint32_t advance = blockDim.x / lanes * chunk;
  std::uint32_t sum = 0;
  synchronize_cluster();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t w[flights][width / sizeof(std::uint32_t)];
#pragma unroll
    for (std::uint32_t f = 0; f < flights; ++f)
      load<Access::generic, width>(w[f], there + at + f * lanes * width);
#pragma unroll
    for (std::uint32_t f = 0; f < flights; ++f)
      sum += w[f][0] + w[f][1] + w[f][2] + w[f][3];
    at = (at + advance) % tile_bytes;
  }
  const std::uint32_t all = block_sum(sum);
  const Reading end = reading_after();
  if (threadIdx.x == 0) leave(stamps + blockIdx.x, begin, end, all);
  synchronize_cluster();  // no block exits while its memory is read
}

void run(Session& session) {
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  const Shape shape = shape_of(session.params());
  const bool latency = shape.measure == Measure::latency;
  const auto* const code = latency ? reinterpret_cast<const void*>(follow_chain)
                                   : reinterpret_cast<const void*>(read_tile);
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, code));
  constexpr int with_clusters = 90;
  if (10 * gpu.major + gpu.minor < with_clusters || attributes.binaryVersion < with_clusters) {
    throw Skipped{"thread block clusters need compute capability 9.0"};
  }
  const unsigned threads = shape.warps * lanes;
  const std::size_t alone = bytes_to_be_alone(code);
  const auto at_once = [&](auto* kernel) {
    return blocks_in_clusters(kernel, threads, shape.cluster, alone, gpu.sms);
  };
  const unsigned fitting = latency ? at_once(follow_chain) : at_once(read_tile);
  const unsigned blocks = latency ? shape.cluster : fitting;
  const Ring ring;
  Experiment experiment = describe(shape, ring, blocks);
  require_timed(session, experiment);

  CudaMachine machine{session, latency ? 1 : blocks};
  const DeviceBuffer<std::uint32_t> next{ring.next};
  experiment.slopes.front().launch = [&](const Call& call) {
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t config =
        launch_config(blocks, threads, shape.cluster, alone, machine.stream().get(), attribute);
    cuda_check(latency
                   ? cudaLaunchKernelEx(&config, follow_chain, next.data(), ring.after(0),
                                        shape.distance, call.length.rounds, machine.device_stamps())
                   : cudaLaunchKernelEx(&config, read_tile, shape.cluster, shape.distance,
                                        call.length.rounds, machine.device_stamps()));
  };
  experiment.kernels = {code};
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::distributed_shared
