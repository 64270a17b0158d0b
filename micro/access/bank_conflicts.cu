// Addresses are 32-bit addresses of the shared window, so that a loaded word is the next address of
// a chain without arithmetic. With many warps the addresses are computed once, and every round adds
// a kernel argument that is always 0: ptxas hoists a load whose address never changes out of the
// loop, volatile asm or not, and the loop would then time nothing. A launch of no rounds is the
// same kernel without accesses.
#include "harness/case/choices.hpp"
#include "harness/cuda/access.cuh"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/engine.hpp"
#include "micro/access/bank_conflicts.hpp"
#include "micro/pattern/particle_chain.hpp"

namespace strata::bank_conflicts {
namespace {

constexpr unsigned threads = warps_per_sm * warp_lanes;

/// One load after the other, in one warp. The first word of an element is the address of the lane's
/// element in the next window; the other words of wide elements are added up.
template <unsigned width>
__global__ void __launch_bounds__(warp_lanes)
    follow(const __grid_constant__ Pattern pattern, const __grid_constant__ Windows windows,
           std::uint32_t loads, Stamp* stamp) {
  __shared__ alignas(shift_bytes) std::uint32_t words[chain_words];
  const std::uint32_t base = shared_address(words);
  const std::uint32_t lane = threadIdx.x;
  const std::uint32_t offset = pattern.elements[lane] * width;
  for (std::uint32_t i = lane; i < chain_words; i += warp_lanes)
    words[i] = hashed_word(i);
  __syncwarp();
  for (std::uint32_t w = 0; w < windows.count; ++w) {
    // Lanes that share an element write the same address into it.
    words[(w * windows.bytes + offset) / word_bytes] =
        base + windows.next[w] * windows.bytes + offset;
  }
  __syncwarp();

  std::uint32_t at = base + offset;
  std::uint32_t sum = 0;
  std::uint32_t element[words_of(width)];
  load<Access::shared, width>(element, at);
  consume(element[0]);
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t i = 0; i < loads; i += unroll) {
#pragma unroll
    for (std::uint32_t u = 0; u < unroll; ++u) {
      load<Access::shared, width>(element, at);
      at = element[0];
#pragma unroll
      for (unsigned w = 1; w < words_of(width); ++w)
        sum += element[w];
    }
  }
  consume(at);
  const Reading end = reading_after();
  sum = warp_sum(lane_weight(lane) * (sum + at - base));
  if (lane == 0) leave(stamp, begin, end, sum);
}

/// Loads of many warps.
template <unsigned width>
__global__ void __launch_bounds__(threads, 1)
    read(const __grid_constant__ Pattern pattern, std::uint32_t rounds, std::uint32_t advance,
         Stamp* stamps) {
  __shared__ alignas(shift_bytes) std::uint32_t field[field_words];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t warp = threadIdx.x / warp_lanes;
  for (std::uint32_t i = threadIdx.x; i < field_words; i += threads)
    field[i] = hashed_word(i);
  std::uint32_t at = shared_address(field) + warp * shift_bytes + pattern.elements[lane] * width;
  std::uint32_t sum = 0;
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t value[accesses_per_round][words_of(width)];
#pragma unroll
    for (std::uint32_t a = 0; a < accesses_per_round; ++a)
      load<Access::shared, width>(value[a], at + a * shift_bytes);
    at += advance;
#pragma unroll
    for (std::uint32_t a = 0; a < accesses_per_round; ++a) {
#pragma unroll
      for (unsigned w = 0; w < words_of(width); ++w)
        sum += value[a][w];
    }
  }
  sum = warp_sum(lane_weight(lane) * sum);
  // The shuffles need every loaded word, and the clock is read after them: issue is in order.
  const Reading end = reading_after();
  if (lane == 0) leave(stamps + blockIdx.x * warps_per_sm + warp, begin, end, sum);
}

/// Stores of many warps. The clock is read once the last store has been issued, a few wavefronts
/// early, in the short launch as in the long one.
template <unsigned width>
__global__ void __launch_bounds__(threads, 1)
    write(const __grid_constant__ Pattern pattern, std::uint32_t rounds, std::uint32_t advance,
          Stamp* stamps) {
  __shared__ alignas(shift_bytes) std::uint32_t field[field_words];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t warp = threadIdx.x / warp_lanes;
  for (std::uint32_t i = threadIdx.x; i < field_words; i += threads)
    field[i] = hashed_word(field_words + i);
  const std::uint32_t first = warp * shift_words + pattern.elements[lane] * words_of(width);
  std::uint32_t at = shared_address(field) + first * word_bytes;
  std::uint32_t value[accesses_per_round][words_of(width)];
#pragma unroll
  for (std::uint32_t a = 0; a < accesses_per_round; ++a) {
#pragma unroll
    for (unsigned w = 0; w < words_of(width); ++w)
      value[a][w] = hashed_word(first + a * shift_words + w);
  }
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (std::uint32_t a = 0; a < accesses_per_round; ++a) {
      store<Access::shared, width>(at + a * shift_bytes, value[a]);
#pragma unroll
      for (unsigned w = 0; w < words_of(width); ++w)
        value[a][w] += store_change;
    }
    at += advance;
  }
  const Reading end = reading_after();
  __syncthreads();
  std::uint32_t sum = 0;
  for (std::uint32_t i = threadIdx.x; i < field_words; i += threads)
    sum += lane_weight(i) * field[i];
  sum = warp_sum(sum);
  if (lane == 0) leave(stamps + blockIdx.x * warps_per_sm + warp, begin, end, sum);
}

void run(Session& session) {
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  const Pattern pattern = pattern_of(session);
  const auto chain =
      with_value<4U, 8U, 16U>(pattern.width, [&]<unsigned width>() { return &follow<width>; });
  const auto many = with_value<4U, 8U, 16U>(pattern.width, [&]<unsigned width>() {
    return pattern.store ? &write<width> : &read<width>;
  });
  CudaMachine machine{session, std::size_t{gpu.sms} * warps_per_sm};
  const cudaStream_t stream = machine.stream().get();

  Experiment experiment = describe(pattern, gpu);
  experiment.slopes.back().launch = [&](const Call& call) {
    many<<<gpu.sms, threads, 0, stream>>>(pattern, call.length.rounds, /*advance=*/0,
                                          machine.device_stamps());
  };
  experiment.kernels = {reinterpret_cast<const void*>(many)};
  if (!pattern.store) {
    experiment.slopes.front().launch = [&, windows = windows_for(pattern)](const Call& call) {
      chain<<<1, warp_lanes, 0, stream>>>(pattern, windows, call.length.rounds,
                                          machine.device_stamps());
    };
    experiment.kernels.push_back(reinterpret_cast<const void*>(chain));
  }
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::bank_conflicts
