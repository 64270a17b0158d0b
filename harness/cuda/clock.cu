#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

namespace strata {
namespace {

constexpr unsigned step_values = 257;  // 256 steps: one that a hiccup widened cannot be all
constexpr std::uint64_t patience =
    200'000'000;  // cycles, about 0.1 s: a timer that stands still ends

/// The first distinct values of the global timer that one thread sees; `seen` of them. A step is
/// seen as it is only by a loop that reads faster than the timer moves, hence nothing but a compare
/// in it.
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

struct ClockRecord {
  std::uint64_t cycles;
  std::uint64_t nanoseconds;
  std::uint32_t sm;
};

/// Waits until the global timer has just moved: both ends of a stretch are cut at a step, so that
/// what is left of the step's width in the quotient is the time of one read.
__device__ std::uint64_t next_step(std::uint64_t began) {
  const std::uint64_t before = global_nanoseconds();
  std::uint64_t now = before;
  while (now == before && cycles_now() - began < patience)
    now = global_nanoseconds();
  return now;
}

/// One thread a block counts its SM's cycles over at least `nanoseconds` of the global timer.
__global__ void compare_clocks(std::uint64_t nanoseconds, ClockRecord* records) {
  const std::uint64_t began = cycles_now();
  const std::uint64_t first = next_step(began);
  const std::uint64_t start = cycles_now();
  std::uint64_t last = first;
  while (last - first < nanoseconds && cycles_now() - began < patience)
    last = next_step(began);
  const std::uint64_t end = cycles_now();
  records[blockIdx.x] = {end - start, last - first, sm_id()};
}

}  // namespace

std::uint64_t measure_global_timer_step(cudaStream_t stream) {
  DeviceBuffer<std::uint64_t> values{step_values};
  DeviceBuffer<unsigned> seen{1};
  seen.poison(0, stream);
  watch_timer<<<1, 1, 0, stream>>>(values.data(), seen.data());
  cuda_check(cudaGetLastError());
  cuda_check(cudaStreamSynchronize(stream));
  const auto host = values.to_host();
  const unsigned count = seen.to_host().front();
  std::uint64_t step = std::numeric_limits<std::uint64_t>::max();
  for (unsigned i = 1; i < count; ++i) {
    if (host[i] > host[i - 1]) step = std::min(step, host[i] - host[i - 1]);
  }
  if (step == std::numeric_limits<std::uint64_t>::max()) {
    throw std::runtime_error{"the global timer of the device does not move"};
  }
  return step;
}

double measure_sm_clock(cudaStream_t stream, std::uint64_t step_nanoseconds) {
  constexpr std::uint64_t shortest = 100'000;  // 0.1 ms: reading the timer is then below 0.1 %
  constexpr unsigned blocks_per_sm = 2;  // placement is the hardware's: most SMs get one or more
  int device = 0;
  int sms = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const unsigned blocks = blocks_per_sm * static_cast<unsigned>(sms);
  DeviceBuffer<ClockRecord> records{blocks};
  records.poison(0, stream);
  compare_clocks<<<blocks, 1, 0, stream>>>(std::max(shortest, 100 * step_nanoseconds),
                                           records.data());
  cuda_check(cudaGetLastError());
  cuda_check(cudaStreamSynchronize(stream));

  std::map<std::uint32_t, double> hertz;  // by SM: one vote each, however many blocks it ran
  for (const ClockRecord& r : records.to_host()) {
    if (r.nanoseconds != 0) {
      hertz[r.sm] = static_cast<double>(r.cycles) / static_cast<double>(r.nanoseconds) * 1e9;
    }
  }
  if (hertz.empty()) throw std::runtime_error{"the global timer of the device does not move"};
  std::vector<double> sorted;
  for (const auto& [sm, value] : hertz)
    sorted.push_back(value);
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

double measure_sm_clock(cudaStream_t stream) {
  return measure_sm_clock(stream, measure_global_timer_step(stream));
}

}  // namespace strata
