#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/settle.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace strata {
namespace {

constexpr unsigned threads = 512;
constexpr unsigned blocks_per_sm = 2;
constexpr std::uint64_t piece_nanoseconds = 4'000'000;  // thousands of steps of the coarsest timer
constexpr std::uint64_t patience = 40'000'000;  // cycles: ends a piece whose timer stands still
constexpr double steady_bound = 0.01;
constexpr double steady_seconds = 0.05;
constexpr double longest_seconds = 2;

struct Spin {
  std::uint64_t cycles;
  std::uint64_t nanoseconds;
};

/// Multiplies and adds for `nanoseconds`. Eight independent chains keep the pipe full; each is the
/// map x -> x² + c, which for c = -1.9 never comes to rest and stays below 2: values that repeat
/// would draw less power and let the clock stand higher than work does.
__global__ void __launch_bounds__(threads)
    spin(std::uint64_t nanoseconds, float c, Spin* spins, float* sink) {
  float x[8];
  for (unsigned i = 0; i < 8; ++i)
    x[i] = static_cast<float>(threadIdx.x * 8 + i) / (8 * threads);
  const std::uint64_t start = cycles_now();
  const std::uint64_t began = global_nanoseconds();
  std::uint64_t now = began;
  std::uint64_t cycles = start;
  while (now - began < nanoseconds && cycles - start < patience) {
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
  if (sum > 100.0F) *sink = sum;  // never, but nobody tells the compiler
  if (threadIdx.x == 0) spins[blockIdx.x] = {cycles - start, now - began};
}

double median_hertz(const std::vector<Spin>& spins) {
  std::vector<double> hertz;
  for (const Spin& s : spins) {
    if (s.nanoseconds != 0) {
      hertz.push_back(static_cast<double>(s.cycles) / static_cast<double>(s.nanoseconds) * 1e9);
    }
  }
  if (hertz.empty()) return 0;
  const auto middle = hertz.begin() + static_cast<std::ptrdiff_t>(hertz.size() / 2);
  std::nth_element(hertz.begin(), middle, hertz.end());
  return *middle;
}

}  // namespace

SettledClock settle_clock(cudaStream_t stream) {
  using Clock = std::chrono::steady_clock;
  int device = 0;
  int sms = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const unsigned blocks = blocks_per_sm * static_cast<unsigned>(sms);
  DeviceBuffer<Spin> spins{blocks};
  DeviceBuffer<float> sink{1};

  SettledClock result;
  const auto began = Clock::now();
  double low = 0;
  double high = 0;
  auto steady_since = began;
  while (!result.steady && result.seconds < longest_seconds) {
    const auto piece_began = Clock::now();
    spin<<<blocks, threads, 0, stream>>>(piece_nanoseconds, -1.9F, spins.data(), sink.data());
    cuda_check(cudaGetLastError());
    cuda_check(cudaStreamSynchronize(stream));
    result.hertz = median_hertz(spins.to_host());
    const auto now = Clock::now();
    result.seconds = std::chrono::duration<double>(now - began).count();

    low = std::min(low, result.hertz);
    high = std::max(high, result.hertz);
    if (low <= 0 || high > low * (1 + steady_bound)) {
      // It moved: this piece is the first of a new stretch.
      low = high = result.hertz;
      steady_since = piece_began;
    }
    result.steady = result.hertz > 0 &&
                    std::chrono::duration<double>(now - steady_since).count() >= steady_seconds;
  }
  return result;
}

}  // namespace strata
