#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/measure/engine.hpp"
#include "micro/compute/chains.cuh"
#include "micro/compute/issue_mix.hpp"

#include <cuda_runtime_api.h>

namespace strata::issue_mix {
namespace {

constexpr unsigned threads = warps_of_sm * warp_lanes;

/// The partner's result for a chain's number.
template <Partner partner>
__device__ __forceinline__ float ask(float x, std::uint32_t first, std::uint32_t second) {
  float answer = 0;
  if constexpr (partner == Partner::rsqrt) {
    // Wanted: MUFU.RSQ
    asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(answer) : "f"(x));
  } else if constexpr (partner == Partner::shuffle) {
    // Wanted: SHFL.IDX, within groups of eight lanes
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x181F, 0xFFFFFFFF;"
                 : "=f"(answer)
                 : "f"(x), "r"(first));
  } else if constexpr (partner == Partner::shared_load) {
    // Wanted: LDS R, [R]
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(answer) : "r"(__float_as_uint(x)) : "memory");
  } else if constexpr (partner == Partner::integer_add) {
    // Wanted: IADD3 R, R, R, R. ptxas may turn a single addition into a multiply-add.
    std::uint32_t sum = 0;
    asm volatile("add.u32 %0, %1, %2;\n\tadd.u32 %0, %0, %3;"
                 : "=&r"(sum)
                 : "r"(__float_as_uint(x)), "r"(first), "r"(second));
    answer = __uint_as_float(sum);
  }
  return answer;
}

/// Groups of `size` multiply-adds and a partner; without a partner the answers do not change.
template <Partner partner, unsigned size>
__global__ void __launch_bounds__(threads)
    mix(const std::uint64_t* values, float a_0, float a_1, std::uint32_t rounds, Stamp* stamps,
        std::uint64_t* ends) {
  static_assert(body % (chains * size) == 0 && body / size % slots == 0, "loops are alike");
  static_assert(size >= needed / 2, "a result is used before its slot is needed again");
  extern __shared__ float room[];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const auto word = [&](unsigned row) {
    return static_cast<std::uint32_t>(values[row * warp_lanes + lane]);
  };
  float x[chains];
#pragma unroll
  for (unsigned c = 0; c < chains; ++c)
    x[c] = __uint_as_float(word(c));
  const float unasked = __uint_as_float(word(chains));
  float answers[slots];
#pragma unroll
  for (float& answer : answers)
    answer = unasked;
  const float a[2] = {a_0, a_1};
  const float b[2] = {__uint_as_float(word(chains + 1)), __uint_as_float(word(chains + 2))};
  const std::uint32_t first = word(chains + 3);
  const std::uint32_t second = word(chains + 4);
  if constexpr (partner == Partner::shared_load) {
    const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(room));
    if (base > ring_address) __trap();
    if (threadIdx.x < ring_words)
      room[(ring_address - base) / sizeof(float) + threadIdx.x] = unasked;
  }
  operations::wait_for(x);
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (unsigned p = 0; p < body; ++p) {
      const unsigned half = p / (body / 2);
      const int taken = answer_at(p, size);
      // Wanted: FFMA R, R, UR, R
      asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                   : "+f"(x[p % chains])
                   : "f"(a[half]),
                     "f"(taken < 0 ? b[half] : answers[static_cast<unsigned>(taken) % slots]));
      if (partner != Partner::none && asks_behind(p, size))
        answers[p / size % slots] = ask<partner>(x[p / size % chains], first, second);
    }
  }
  operations::wait_for(x);
  const Reading end = reading_after();
  const std::uint64_t checksum = operations::keep_ends(x, ends);
  if (lane == 0)
    leave(stamps + (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes, begin, end, checksum);
}

using Kernel = void (*)(const std::uint64_t*, float, float, std::uint32_t, Stamp*, std::uint64_t*);

Kernel kernel_for(Partner partner, unsigned size) {
  using enum Partner;
  return with_value<none, rsqrt, shuffle, shared_load, integer_add>(partner, [&]<Partner asked>() {
    return with_value<4U, 8U, 12U, 16U, 24U, 48U>(
        size, [&]<unsigned group>() -> Kernel { return &mix<asked, group>; });
  });
}

void run(Session& session) {
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  const Partner partner = partners.of(session.param("partner"));
  const unsigned size = group_sizes.of(session.param("multiply_adds"));
  const Factors factors = factors_of(partner);
  const DeviceBuffer<std::uint64_t> values{device_words(partner)};
  CudaMachine machine{session, std::size_t{gpu.sms} * warps_of_sm};
  auto& ends = machine.output<std::uint64_t>(std::size_t{chains} * warp_lanes);

  Experiment experiment = describe(partner, size, gpu, ends.landed());
  const auto launches = [&](Kernel which) {
    const auto* const code = reinterpret_cast<const void*>(which);
    experiment.kernels.push_back(code);
    return [&, which, alone = bytes_to_be_alone(code)](const Call& call) {
      which<<<gpu.sms, threads, alone, machine.stream().get()>>>(
          values.data(), factors[0], factors[1], call.length.rounds, machine.device_stamps(),
          ends.data());
    };
  };
  experiment.slopes.back().launch = launches(kernel_for(partner, size));
  if (partner != Partner::none)
    experiment.slopes.front().launch = launches(kernel_for(Partner::none, size));
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::issue_mix
