// Every copy is volatile asm or a wrapper of it, and its address changes from round to round, if
// only by a loaded word masked with a kernel argument that is always 0: ptxas hoists a load whose
// address never changes out of its loop. Shared memory is poisoned first, since a launch may find
// there what the last one copied. At the end every word of the tiles that are still there is
// compared with the array.
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/measure/engine.hpp"
#include "micro/transfer/tile_copies.cuh"

namespace strata::async_copy {
namespace {

/// One tile after the other, with one block; in a cluster the first block works.
template <CopyMethod method>
__global__ void __launch_bounds__(threads)
    fetch(const char* data, const __grid_constant__ CUtensorMap map,
          const __grid_constant__ Tiles tiles, std::uint32_t rows_of_tile, std::uint32_t rounds,
          std::uint32_t mask, std::uint32_t cluster, Stamp* stamp) {
  extern __shared__ __align__(128) char memory[];
  __shared__ __align__(8) std::uint64_t barrier_word;
  __shared__ std::uint32_t wrong;
  __shared__ std::uint32_t unchanged;  // while the clocks are read
  constexpr bool distributed = method == CopyMethod::distributed;
  const std::uint32_t rank = distributed ? rank_in_cluster() : 0;
  if (threadIdx.x == 0) wrong = unchanged = 0;
  make_ready<method>(shared_address(memory), tiles.bytes, &barrier_word, 1);
  __syncthreads();
  const std::uint32_t to = kept(shared_address(memory), unchanged);
  const std::uint32_t barrier = kept(shared_address(&barrier_word), unchanged);
  Source from{data, 0, &map, 0, kept(threadIdx.x, unchanged)};
  if constexpr (distributed) {
    put_tile(to + tiles.bytes, data, tiles, rank % tiles.count);
    from.remote = of_block(to + tiles.bytes, 1 % cluster);
    synchronize_cluster();
  }
  if (rank == 0) {
    std::uint32_t sum = 0;
    std::uint32_t tile = 0;
    std::uint32_t last = 0;
    const Reading begin = reading_after_barrier(unchanged, mask);
#pragma unroll 1
    for (std::uint32_t r = 0; r < rounds; ++r) {
      last = tile;
      ask<method>(to, from, tiles.bytes, barrier);
      commit<method>();
      wait<method, 0>(barrier, r & 1U);
      if constexpr (!is_by_engine(method)) __syncthreads();
      const std::uint32_t landed = load_word<Access::shared>(to + tiles.bytes - word_bytes);
      sum += landed;
      if constexpr (distributed) {
        from.remote += landed & mask;
      } else {
        tile += 1 + (landed & mask);
        if (tile >= tiles.count) tile = 0;
        from.global = data + std::uint64_t{tile} * tiles.pitch;
        from.row = tile * rows_of_tile;
      }
      __syncthreads();
    }
    const Reading end = reading_after_barrier(unchanged, mask);
    if (threadIdx.x == 0) {
      leave(stamp, begin, end, /*result=*/0);
      stamp->tag = sum;
    }
    const std::uint32_t expected = distributed ? 1 % cluster % tiles.count : last;
    const std::uint32_t mine = differences(to, tiles, expected);
    if (mine != 0) atomicAdd(&wrong, mine);
    __syncthreads();
    if (threadIdx.x == 0) stamp->result = wrong;
  }
  if constexpr (distributed) synchronize_cluster();  // no block exits while its memory is read
}

/// Several tiles in flight in every block.
template <CopyMethod method>
__global__ void __launch_bounds__(threads)
    stream(const char* data, const __grid_constant__ CUtensorMap map,
           const __grid_constant__ Tiles tiles, std::uint32_t rows_of_tile, std::uint32_t rounds,
           std::uint32_t advance, std::uint32_t cluster, Stamp* stamps) {
  extern __shared__ __align__(128) char memory[];
  __shared__ __align__(8) std::uint64_t barrier_words[stages];
  __shared__ std::uint32_t wrong;
  __shared__ std::uint32_t unchanged;  // while the clocks are read
  constexpr bool distributed = method == CopyMethod::distributed;
  constexpr std::uint32_t barrier_bytes = sizeof(std::uint64_t);
  if (threadIdx.x == 0) wrong = unchanged = 0;
  make_ready<method>(shared_address(memory), stages * tiles.bytes, barrier_words, stages);
  __syncthreads();
  const std::uint32_t shared = kept(shared_address(memory), unchanged);
  const std::uint32_t barriers = kept(shared_address(barrier_words), unchanged);
  Source from{data, 0, &map, 0, kept(threadIdx.x, unchanged)};
  std::uint32_t partner = blockIdx.x;
  if constexpr (distributed) {
    const std::uint32_t rank = rank_in_cluster();
    const std::uint32_t next = (rank + 1) % cluster;
    partner = blockIdx.x - rank + next;
    put_tile(shared + stages * tiles.bytes, data, tiles, blockIdx.x % tiles.count);
    from.remote = of_block(shared + stages * tiles.bytes, next);
    synchronize_cluster();
  }
  // A remainder for each tile would cost more than a small tile.
  const std::uint32_t step = gridDim.x % tiles.count;
  std::uint32_t tile = blockIdx.x % tiles.count;
  const auto ask_next = [&](std::uint32_t stage) {
    if constexpr (distributed) {
      from.remote += advance;
    } else {
      from.global = data + std::uint64_t{tile} * tiles.pitch;
      from.row = tile * rows_of_tile;
      tile += step;
      if (tile >= tiles.count) tile -= tiles.count;
    }
    ask<method>(shared + stage * tiles.bytes, from, tiles.bytes, barriers + stage * barrier_bytes);
  };
  const Reading begin = reading_after_barrier(unchanged, advance);
#pragma unroll 1
  for (std::uint32_t r = 0; r < stages; ++r) {
    ask_next(r);
    commit<method>();
  }
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    const std::uint32_t stage = r % stages;
    wait<method, int{stages} - 1>(barriers + stage * barrier_bytes, (r / stages) & 1U);
    __syncthreads();
    if (r + stages < rounds) ask_next(stage);
    commit<method>();
  }
  __syncthreads();
  const Reading end = reading_after_barrier(unchanged, advance);
  Stamp* const stamp = stamps + blockIdx.x;
  if (threadIdx.x == 0) leave(stamp, begin, end, /*result=*/0);
  std::uint32_t mine = 0;
#pragma unroll 1
  for (std::uint32_t s = 0; s < stages; ++s) {
    const std::uint32_t round = rounds - 1 - (rounds - 1 - s) % stages;
    const std::uint32_t expected =
        distributed ? partner % tiles.count : tiles.tile(blockIdx.x, gridDim.x, round);
    mine += differences(shared + s * tiles.bytes, tiles, expected);
  }
  if (mine != 0) atomicAdd(&wrong, mine);
  __syncthreads();
  if (threadIdx.x == 0) stamp->result = wrong;
  if constexpr (distributed) synchronize_cluster();  // no block exits while its memory is read
}

using Kernel = void (*)(const char*, CUtensorMap, Tiles, std::uint32_t, std::uint32_t,
                        std::uint32_t, std::uint32_t, Stamp*);

Kernel kernel_for(const CopyCase& wanted) {
  using enum CopyMethod;
  return with_value<registers, cp_async_4, cp_async_8, cp_async_16, bulk, distributed, tensor>(
      wanted.method, [&]<CopyMethod method>() -> Kernel {
        return wanted.is_latency() ? fetch<method> : stream<method>;
      });
}

void run(Session& session) {
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  const CopyCase wanted = case_of(session.params());
  const Kernel kernel = kernel_for(wanted);
  const auto* const code = reinterpret_cast<const void*>(kernel);
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, code));
  require_capability(wanted.method, 10 * gpu.major + gpu.minor, attributes.ptxVersion);
  const Tiles tiles = tiles_of(wanted, gpu);
  const std::size_t shared = shared_bytes(wanted, gpu);
  allow_shared_bytes(code, shared);
  const unsigned at_once =
      wanted.cluster == 1 ? gpu.sms
                          : blocks_in_clusters(kernel, threads, wanted.cluster, shared, gpu.sms);
  const unsigned blocks = wanted.is_latency() ? wanted.cluster : at_once;
  Experiment experiment = describe(wanted, tiles, blocks);
  require_timed(session, experiment);

  CudaMachine machine{session, blocks};
  const cudaStream_t stream = machine.stream().get();
  const auto& words = session.cache().keep<DeviceBuffer<std::uint32_t>>("async_copy", [&] {
    DeviceBuffer<std::uint32_t> array{array_words(gpu)};
    fill(array.data(), array.size(), HashedWords{}, stream);
    return array;
  });
  const CUtensorMap map =
      wanted.method == CopyMethod::tensor ? map_of(tiles, words.data()) : CUtensorMap{};
  Slope& slope = experiment.slopes.front();
  slope.data = words.data();
  slope.launch = [&](const Call& call) {
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t config =
        launch_config(blocks, threads, wanted.cluster, shared, stream, attribute);
    cuda_check(cudaLaunchKernelEx(&config, kernel, reinterpret_cast<const char*>(words.data()), map,
                                  tiles, map_rows(tiles).of_a_tile, call.length.rounds, 0U,
                                  wanted.cluster, machine.device_stamps()));
  };
  experiment.kernels = {code};
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::async_copy
