// A round is its loads, the additions that keep their values, and for each address the addition of
// a kernel argument that is always 0: ptxas hoists a load whose address never changes out of the
// loop, volatile asm or not. A launch of no rounds is the same kernel without loads.
#include "harness/case/choices.hpp"
#include "harness/cuda/access.cuh"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/engine.hpp"
#include "harness/model/lanes.hpp"
#include "micro/access/coalescing.hpp"
#include "micro/access/sample_places.hpp"
#include "micro/pattern/particle_chain.hpp"

#include <algorithm>
#include <stdexcept>

namespace strata::coalescing {
namespace {

constexpr unsigned blocks_per_sm = 2;
constexpr unsigned most_threads = most_warps * warp_lanes / blocks_per_sm;

/// By value in the kernel's parameters.
struct Elements {
  std::uint32_t of[warp_lanes];
};

/// The sum of an element's words. The load bypasses L1, which follows other rules.
template <unsigned width>
__device__ __forceinline__ std::uint32_t element_sum(const char* at) {
  std::uint32_t w[4] = {};
  load<Access::global_cg, width>(w, at);
  return (w[0] + w[1]) + (w[2] + w[3]);
}

template <unsigned width>
__global__ void __launch_bounds__(most_threads, blocks_per_sm)
    gather(const char* data, const __grid_constant__ Elements elements,
           const __grid_constant__ Windows windows, const std::uint32_t* order,
           std::uint32_t rounds, std::uint32_t advance, Stamp* stamps) {
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes;
  const char* at[loads_per_round];
#pragma unroll
  for (std::uint32_t l = 0; l < loads_per_round; ++l) {
    const std::uint32_t window = load_word<Access::global>(order + turn_of(warp, l, windows.count));
    at[l] = data + std::uint64_t{window} * windows.bytes + elements.of[lane] * width;
  }
  std::uint32_t sum = 0;
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t value[loads_per_round];
#pragma unroll
    for (std::uint32_t l = 0; l < loads_per_round; ++l)
      value[l] = element_sum<width>(at[l]);
#pragma unroll
    for (std::uint32_t l = 0; l < loads_per_round; ++l) {
      sum += value[l];
      at[l] += advance;
    }
  }
  sum = warp_sum(sum * lane_weight(lane));
  // The shuffles need every loaded value, and the clock is read after them: issue is in order.
  const Reading end = reading_after();
  if (lane == 0) leave(stamps + warp, begin, end, sum);
}

/// Bytes that hold the widest pattern.
std::uint64_t bytes_for(const GpuFacts& gpu) {
  const Pattern widest{
      .width = max_width,
      .elements = lane_elements(max_stride, max_misalignment, Permutation::identity)};
  const std::uint64_t lines = std::uint64_t{gpu.sms} * most_warps * loads_per_round * 2 * max_width;
  return std::max(windows_for(widest, gpu).size(), lines * line_bytes);
}

void run(Session& session) {
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  const Pattern pattern = pattern_of(session);
  const std::uint32_t warps = warps_for(pattern, gpu);
  const Windows windows = windows_for(pattern, gpu);
  CudaMachine machine{session, std::size_t{gpu.sms} * warps};
  const cudaStream_t stream = machine.stream().get();
  SamplePlaces places{bytes_for(gpu)};
  if (windows.size() > places.bytes()) {
    throw std::logic_error{"the windows of a pattern do not fit into the array"};
  }
  // All patterns read the same array; each of the places holds a copy.
  using Field = DeviceBuffer<std::uint32_t>;
  const Field& field = session.cache().keep<Field>("coalescing", [&] {
    const std::size_t words = places.bytes() / sizeof(std::uint32_t);
    Field made{SamplePlaces::most * words};
    for (std::size_t place = 0; place < SamplePlaces::most; ++place)
      fill(made.data() + place * words, words, HashedWords{}, stream);
    return made;
  });
  const DeviceBuffer<std::uint32_t> order{order_of(windows)};
  Elements elements{};
  std::ranges::transform(pattern.elements, elements.of,
                         [](std::uint64_t e) { return static_cast<std::uint32_t>(e); });
  const auto kernel = with_value<1U, 2U, 4U, 8U, 16U>(
      pattern.width, [&]<unsigned width>() { return &gather<width>; });

  Experiment experiment = describe(pattern, gpu);
  const auto launch = [&](std::uint32_t rounds) {
    kernel<<<gpu.sms * blocks_per_sm, warps * warp_lanes / blocks_per_sm, 0, stream>>>(
        reinterpret_cast<const char*>(field.data()) + places.offset(), elements, windows,
        order.data(), rounds, /*advance=*/0, machine.device_stamps());
  };
  experiment.prepare = [&] { places.next(); };
  // The loads themselves bring the windows into L2.
  experiment.slopes[0].prepare = [&](const Call&) { launch(1); };
  experiment.slopes[0].launch = [&](const Call& call) { launch(call.length.rounds); };
  experiment.kernels = {reinterpret_cast<const void*>(kernel)};
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::coalescing
