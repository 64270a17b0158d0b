// All arithmetic mixes are one kernel, whose steps follow from the mix at compile time; `memory`
// has one of its own.
#include "harness/base/error.hpp"
#include "harness/cuda/access.cuh"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/nvml_watch.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/cuda/reduce.cuh"
#include "harness/measure/engine.hpp"
#include "micro/compute/chains.cuh"
#include "micro/compute/clock_under_load.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace strata::clock_under_load {
namespace {

/// Wanted: HMMA.16816.F32
__device__ __forceinline__ void multiply_add(float* sum, const std::uint32_t (&a)[words_of_a],
                                             const std::uint32_t (&b)[words_of_b]) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  __trap();  // no such instruction: the host does not launch it
#endif
}

/// Wanted: MUFU.EX2
__device__ __forceinline__ float power_of_two(float x) {
  float power;
  asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

/// `values`: device_words.
template <Mix mix>
__global__ void __launch_bounds__(threads, 1)
    work(const std::uint64_t* values, std::uint32_t rounds, Stamp* stamps, std::uint64_t* ends) {
  constexpr Recipe recipe = recipe_of(mix);
  constexpr Rows rows = rows_of(mix);
  static_assert(recipe.steps % (2 * products) == 0 && recipe.steps % chains == 0,
                "all chains advance alike in one iteration");
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const auto word = [&](unsigned row) {
    return static_cast<std::uint32_t>(values[row * warp_lanes + lane]);
  };
  float at[rows.all()];  // everything that is in flight, in the order of Rows
#pragma unroll
  for (unsigned row = 0; row < rows.all(); ++row)
    at[row] = __uint_as_float(word(row));
  float* const sums = at + rows.fma;
  float* const tiles = at + rows.fma + rows.mufu;
  const float c = __uint_as_float(word(rows.all()));
  std::uint32_t a[words_of_a];
  std::uint32_t b[2][products][words_of_b];
  if constexpr (recipe.mma > 0) {
#pragma unroll
    for (unsigned i = 0; i < words_of_a; ++i)
      a[i] = word(rows.all() + 1 + i);
#pragma unroll
    for (unsigned i = 0; i < 2 * products * words_of_b; ++i)
      b[i / (products * words_of_b)][i / words_of_b % products][i % words_of_b] =
          word(rows.all() + 1 + words_of_a + i);
  }
  const std::uint32_t mine = recipe.one_lane && lane != 0 ? 0 : rounds;
  operations::wait_for(at);
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < mine; ++r) {
#pragma unroll
    for (unsigned p = 0; p < recipe.steps; ++p) {
      if constexpr (recipe.fma > 0) {
#pragma unroll
        for (unsigned j = 0; j < recipe.fma; ++j) {
          // Wanted: FFMA R, R, R, R, two of them the same
          asm volatile("fma.rn.f32 %0, %0, %0, %1;"
                       : "+f"(at[(p * recipe.fma + j) % chains])
                       : "f"(c));
        }
      }
      if constexpr (recipe.mma > 0)
        multiply_add(tiles + p % products * 4, a, b[p / products % 2][p % products]);
      if constexpr (recipe.mufu > 0) {
        float& sum = sums[p % chains];
        sum = fmaf(sum, 0.5F, power_of_two(at[p % chains]));
      }
    }
  }
  __syncwarp();
  operations::wait_for(at);
  const Reading end = reading_after();
  const std::uint64_t checksum = operations::keep_ends(at, ends);
  if (lane == 0)
    leave(stamps + (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes, begin, end, checksum);
}

/// From piece to piece, `turn_bytes` further each time; at the end of the range it continues at its
/// start.
__global__ void __launch_bounds__(threads, 1)
    walk(const char* range, std::uint32_t rounds, std::uint32_t turn_bytes,
         std::uint32_t range_bytes, Stamp* stamps) {
  constexpr unsigned words = 4;
  const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes;
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  constexpr std::uint32_t width = words * sizeof(std::uint32_t);
  const char* const from =
      range + std::size_t{warp} * piece_words * sizeof(std::uint32_t) + lane * width;
  std::uint32_t offset = 0;
  std::uint32_t sum = 0;
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t w[in_flight][words];
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i)
      load<Access::global_cg, width>(w[i], from + offset + i * warp_lanes * width);
#pragma unroll
    for (unsigned i = 0; i < in_flight * words; ++i)
      sum += w[i / words][i % words];
    offset += turn_bytes;
    if (offset >= range_bytes) offset = 0;
  }
  const std::uint32_t all = warp_sum(sum);
  const Reading end = reading_after();
  if (lane == 0) leave(stamps + warp, begin, end, all);
}

using Kernel = void (*)(const std::uint64_t*, std::uint32_t, Stamp*, std::uint64_t*);

Kernel kernel_for(Mix mix) {
  using enum Mix;
  return with_value<fma, tensor, idle_lanes, mufu, fma_tensor, fma_tensor_mufu>(
      mix, [&]<Mix one>() -> Kernel { return &work<one>; });
}

/// The host's part, which calls NVML.
class Watcher {
 public:
  explicit Watcher(Session& session) : nvml_{session.device().identity().uuid} {
    if (!nvml_.absence().empty()) session.fact("nvml", nvml_.absence());
  }
  [[nodiscard]] Beside beside() {
    using std::chrono::milliseconds;
    return {.rest = [] { std::this_thread::sleep_for(milliseconds{200}); },
            .watch = [this] { watch_.emplace(nvml_, milliseconds{5}); },
            .elapsed = [this] { return watch_->seconds(); },
            .readings = [this] { return watch_->stop(); },
            .violations = [this] { return nvml_.violations(); }};
  }

 private:
  NvmlDevice nvml_;
  std::optional<NvmlWatch> watch_;
};

void run(Session& session) {
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  const Mix mix = mixes.of(session.param("mix"));
  const Rows rows = rows_of(mix);
  if (rows.mma > 0 && gpu.major < 8)
    throw Skipped{"mma.sync.m16n8k16 needs compute capability 8.0; this device has " +
                  gpu.compute_capability};
  CudaMachine machine{session, std::size_t{gpu.sms} * warps};
  const cudaStream_t stream = machine.stream().get();
  Watcher watcher{session};
  const Load load{.mix = mix, .seconds = load_seconds.of(session.param("seconds"))};
  auto& ends = machine.output<std::uint64_t>(std::max<std::size_t>(rows.all(), 1) * warp_lanes);
  Experiment experiment = describe(load, gpu, watcher.beside(), ends.landed());
  auto& launch = experiment.slopes.front().launch;
  const auto keep = [&](const void* kernel) {
    experiment.kernels = {kernel};
    return bytes_to_be_alone(kernel);
  };

  if (mix == Mix::memory) {
    const Range range = range_of(gpu);
    const DeviceBuffer<std::uint32_t> words{range.words()};
    fill(words.data(), words.size(), LinearWords{}, stream);
    const auto range_bytes = static_cast<std::uint32_t>(words.size_bytes());
    const std::size_t alone = keep(reinterpret_cast<const void*>(&walk));
    launch = [&, alone, range_bytes](const Call& call) {
      walk<<<gpu.sms, threads, alone, stream>>>(reinterpret_cast<const char*>(words.data()),
                                                call.length.rounds, range_bytes / range.turns,
                                                range_bytes, machine.device_stamps());
    };
    measure(session, machine, experiment);
    return;
  }
  const DeviceBuffer<std::uint64_t> values{device_words(mix)};
  const Kernel kernel = kernel_for(mix);
  const std::size_t alone = keep(reinterpret_cast<const void*>(kernel));
  launch = [&, alone](const Call& call) {
    kernel<<<gpu.sms, threads, alone, stream>>>(values.data(), call.length.rounds,
                                                machine.device_stamps(), ends.data());
  };
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::clock_under_load
