#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stamps.cuh"
#include "harness/record/statistics.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <ranges>
#include <stdexcept>
#include <vector>

namespace strata {
namespace {

constexpr unsigned blocks_per_sm = 2;  // the hardware places blocks: most SMs get at least one
constexpr const char* stands_still = "the device's global timer does not advance";
constexpr unsigned step_values = 257;  // 256 steps, so that not all can be widened by a disturbance
constexpr std::uint64_t patience = 200'000'000;  // cycles, 0.1 s: in case a timer stops

/// The first `seen` distinct values of the global timer in one thread. The loop must read faster
/// than the timer advances to see each step, so it contains only a comparison.
__global__ void watch_timer(std::uint64_t* values, unsigned* seen) {
  const std::uint64_t began = cycles_now();
  std::uint64_t last = global_nanoseconds();
  unsigned count = 0;
  while (count < step_values && cycles_now() - began < patience) {
    const std::uint64_t now = global_nanoseconds();
    if (now == last) continue;
    last = now;
    values[count] = now;
    ++count;
  }
  *seen = count;
}

/// The counts of both clocks over the same piece of work.
struct Counted {
  std::uint64_t cycles;
  std::uint64_t nanoseconds;
};
struct CountedOnSm {
  Counted counted;
  std::uint32_t sm;
};

/// Waits for a step of the global timer: both ends of a measurement are at a step, so that the
/// error of the quotient is the time of one read.
__device__ std::uint64_t next_step(std::uint64_t began) {
  const std::uint64_t before = global_nanoseconds();
  std::uint64_t now = before;
  while (now == before && cycles_now() - began < patience)
    now = global_nanoseconds();
  return now;
}

/// One thread per block counts its SM's cycles over at least `nanoseconds` of the global timer.
__global__ void compare_clocks(std::uint64_t nanoseconds, CountedOnSm* records) {
  const std::uint64_t began = cycles_now();
  const std::uint64_t first = next_step(began);
  const std::uint64_t start = cycles_now();
  std::uint64_t last = first;
  while (last - first < nanoseconds && cycles_now() - began < patience)
    last = next_step(began);
  const std::uint64_t end = cycles_now();
  records[blockIdx.x] = {{end - start, last - first}, sm_id()};
}

constexpr unsigned threads = 512;
constexpr std::uint64_t piece_nanoseconds = 4'000'000;  // thousands of steps of the coarsest timer
constexpr std::uint64_t spin_patience = 40'000'000;     // cycles, as above

/// Runs multiply-adds for `nanoseconds`. Eight independent chains keep the pipe full; each is the
/// map x -> x² + c, which for c = -1.9 never settles and stays below 2: repeating values would draw
/// less power and allow a higher clock than real work.
__global__ void __launch_bounds__(threads)
    spin(std::uint64_t nanoseconds, float c, Counted* counted, float* sink) {
  float x[8];
  for (unsigned i = 0; i < 8; ++i)
    x[i] = static_cast<float>(threadIdx.x * 8 + i) / (8 * threads);
  const std::uint64_t start = cycles_now();
  const std::uint64_t began = global_nanoseconds();
  std::uint64_t now = began;
  std::uint64_t cycles = start;
  while (now - began < nanoseconds && cycles - start < spin_patience) {
#pragma unroll 1
    for (int round = 0; round < 64; ++round) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        x[i] = fmaf(x[i], x[i], c);
    }
    cycles = cycles_now();
    now = global_nanoseconds();
  }
  float sum = 0;
  for (const float value : x)
    sum += value;
  if (sum > 100.0F) *sink = sum;  // never true, but unknown to the compiler
  if (threadIdx.x == 0) counted[blockIdx.x] = {cycles - start, now - began};
}

/// The results of `count` blocks launched by `launch`.
template <class T, class Launch>
std::vector<T> left_by(unsigned count, cudaStream_t stream, const Launch& launch) {
  DeviceBuffer<T> left{count};
  left.poison(0, stream);
  launch(left.data());
  cuda_check(cudaGetLastError());
  cuda_check(cudaStreamSynchronize(stream));
  return left.to_host();
}

unsigned blocks_for_all_sms() {
  return blocks_per_sm * static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount));
}

/// The median of the clocks in `all`; 0 if no timer advanced.
double median_hertz(const std::vector<Counted>& all) {
  std::vector<double> hertz;
  for (const auto& [cycles, nanoseconds] : all) {
    if (nanoseconds == 0) continue;
    hertz.push_back(static_cast<double>(cycles) / static_cast<double>(nanoseconds) * 1e9);
  }
  return hertz.empty() ? 0 : median(hertz);
}

}  // namespace

std::uint64_t measure_global_timer_step(cudaStream_t stream) {
  DeviceBuffer<unsigned> seen{1};
  seen.poison(0, stream);
  const auto values = left_by<std::uint64_t>(step_values, stream, [&](std::uint64_t* left) {
    watch_timer<<<1, 1, 0, stream>>>(left, seen.data());
  });
  const unsigned count = seen.to_host().front();
  std::uint64_t step = std::numeric_limits<std::uint64_t>::max();
  for (unsigned i = 1; i < count; ++i) {
    if (values[i] > values[i - 1]) step = std::min(step, values[i] - values[i - 1]);
  }
  if (step == std::numeric_limits<std::uint64_t>::max()) throw std::runtime_error{stands_still};
  return step;
}

double measure_sm_clock(cudaStream_t stream, std::uint64_t step_nanoseconds) {
  constexpr std::uint64_t shortest = 100'000;  // 0.1 ms: reading the timer is then below 0.1 %
  const unsigned blocks = blocks_for_all_sms();
  std::map<std::uint32_t, Counted> by_sm;  // one value per SM, however many blocks it ran
  for (const auto& [counted, sm] : left_by<CountedOnSm>(blocks, stream, [&](CountedOnSm* left) {
         compare_clocks<<<blocks, 1, 0, stream>>>(std::max(shortest, 100 * step_nanoseconds), left);
       })) {
    if (counted.nanoseconds != 0) by_sm[sm] = counted;
  }
  const auto votes = std::views::values(by_sm);
  const double hertz = median_hertz({votes.begin(), votes.end()});
  if (hertz == 0) throw std::runtime_error{stands_still};
  return hertz;
}

SettledClock settle_clock(cudaStream_t stream) {
  const unsigned blocks = blocks_for_all_sms();
  DeviceBuffer<float> sink{1};
  double hertz = 0;
  const Settled settled = settle(0.05, 2, [&] {
    hertz = median_hertz(left_by<Counted>(blocks, stream, [&](Counted* left) {
      spin<<<blocks, threads, 0, stream>>>(piece_nanoseconds, -1.9F, left, sink.data());
    }));
    return std::array{hertz};
  });
  return {{.steady = settled.steady && hertz > 0, .seconds = settled.seconds}, hertz};
}

}  // namespace strata
