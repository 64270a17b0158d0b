#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/sweep.cuh"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

namespace strata {
namespace {

constexpr unsigned threads = 512;

unsigned blocks_for(std::uint64_t count) {
  constexpr std::uint64_t most = 1024;
  return static_cast<unsigned>(std::clamp<std::uint64_t>((count + threads - 1) / threads, 1, most));
}

/// Calls visit(i) for all i below `count`, each in one thread of the grid.
template <class Visit>
__device__ __forceinline__ void for_each_index(std::uint64_t count, Visit&& visit) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    visit(i);
}

template <class Pattern>
__global__ void write_words(std::uint32_t* words, std::uint64_t count, Pattern pattern) {
  for_each_index(count, [=](std::uint64_t i) { words[i] = pattern.word(i); });
}

__global__ void compare_words(const std::uint32_t* words, std::uint64_t count, HashedWords expected,
                              unsigned long long* different) {
  unsigned long long wrong = 0;
  for_each_index(count, [&](std::uint64_t i) { wrong += words[i] != expected.word(i); });
  if (wrong != 0) atomicAdd(different, wrong);
}

__global__ void compare_and_write(std::uint32_t* words, std::uint64_t count, LinearWords expected,
                                  LinearWords next, unsigned long long* different) {
  unsigned long long wrong = 0;
  for_each_index(count, [&](std::uint64_t i) {
    wrong += words[i] != expected.word(i);
    words[i] = next.word(i);
  });
  if (wrong != 0) atomicAdd(different, wrong);
}

// Twice the cache size would suffice if the oldest line were replaced. The replacement policy is
// not published; if it were random, a sweep of twice the cache would spare a fifth of the lines,
// one of four times a fiftieth. Reading four times 60 MB takes 60 us.
constexpr std::size_t caches = 4;
constexpr std::size_t least_bytes = std::size_t{32} << 20U;  // for a device that reports no L2 size

// The L2 may have two halves, each with copies for its own SMs. With eight laps, in each of which
// the pieces are assigned to other blocks, the chance that one half never reads a line is one in a
// hundred.
constexpr unsigned touch_laps = 8;

constexpr unsigned blocks_per_sm = 4;  // 2048 threads: a full SM on chips that hold that many

/// Reads `count` quads `laps` times. The sum is stored if it equals one value in 2^32, so the reads
/// are needed but nothing is written.
__global__ void __launch_bounds__(threads)
    sweep(const uint4* data, std::size_t count, unsigned laps, std::uint32_t* sink) {
  std::uint32_t sum = 0;
  for (unsigned lap = 0; lap < laps; ++lap) {
    // Adjacent blocks tend to run on adjacent SMs, so laps are offset by an odd share of the grid.
    sum ^= sweep_piece(data, count, (blockIdx.x + lap * (gridDim.x / 3 + 1)) % gridDim.x);
  }
  keep_loads(sum, sink);
}

std::size_t buffer_quads() {
  const auto l2 = static_cast<std::size_t>(std::max(device_attribute(cudaDevAttrL2CacheSize), 0));
  return std::max(caches * l2, least_bytes) / sizeof(uint4);
}

}  // namespace

template <class Pattern>
void fill(std::uint32_t* words, std::uint64_t count, const Pattern& pattern, cudaStream_t stream) {
  write_words<<<blocks_for(count), threads, 0, stream>>>(words, count, pattern);
  cuda_check(cudaGetLastError());
}

template void fill(std::uint32_t*, std::uint64_t, const HashedWords&, cudaStream_t);
template void fill(std::uint32_t*, std::uint64_t, const LinearWords&, cudaStream_t);

std::uint64_t WordCheck::different(const std::uint32_t* words, std::uint64_t count,
                                   const HashedWords& expected, cudaStream_t stream) {
  count_.poison(0, stream);
  compare_words<<<blocks_for(count), threads, 0, stream>>>(words, count, expected, count_.data());
  return landed(stream);
}

void WordCheck::verify_and_refill(std::uint32_t* words, std::uint64_t count,
                                  const LinearWords& expected, const LinearWords& next,
                                  Tally& tally, cudaStream_t stream) {
  constexpr std::uint64_t samples = 1024;
  const std::uint64_t step = std::max<std::uint64_t>(count / samples, 1);
  std::vector<std::uint32_t> some(std::min(count, samples));
  cuda_check(cudaStreamSynchronize(stream));
  cuda_check(cudaMemcpy2D(some.data(), sizeof(std::uint32_t), words, step * sizeof(std::uint32_t),
                          sizeof(std::uint32_t), some.size(), cudaMemcpyDeviceToHost));
  for (std::uint64_t i = 0; i < some.size(); ++i)
    tally.one(some[i] == expected.word(i * step));
  count_.poison(0, stream);
  compare_and_write<<<blocks_for(count), threads, 0, stream>>>(words, count, expected, next,
                                                               count_.data());
  tally.checked += count;
  tally.different += landed(stream);
}

std::uint64_t WordCheck::landed(cudaStream_t stream) {
  cuda_check(cudaGetLastError());
  landed_.download_from(count_, stream);
  cuda_check(cudaStreamSynchronize(stream));
  return landed_.span().front();
}

Eviction::Eviction()
    : buffer_{buffer_quads()},
      blocks_{blocks_per_sm *
              static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount))} {
  sink_.poison(0, nullptr);
  // Pseudo-random words, so that neither the memory nor the wires see a run of zeros.
  fill(reinterpret_cast<std::uint32_t*>(buffer_.data()), buffer_.size_bytes() / 4, HashedWords{},
       nullptr);
  // The end of the buffer is dirty in L2 now; two sweeps write it back under any replacement
  // policy.
  evict(nullptr);
  evict(nullptr);
  cuda_check(cudaDeviceSynchronize());  // users' streams do not wait for the default stream
}

void Eviction::evict(cudaStream_t stream) const {
  sweep<<<blocks_, threads, 0, stream>>>(buffer_.data(), buffer_.size(), 1, sink_.data());
  cuda_check(cudaGetLastError());
}

void Eviction::touch(const void* data, std::size_t bytes, cudaStream_t stream) const {
  if (bytes == 0) return;
  // Whole quads, because allocations begin and end with one.
  constexpr std::uintptr_t quad = sizeof(uint4);
  const auto at = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = at / quad;
  const std::uintptr_t end = (at + bytes + quad - 1) / quad;
  sweep<<<blocks_, threads, 0, stream>>>(reinterpret_cast<const uint4*>(first * quad), end - first,
                                         touch_laps, sink_.data());
  cuda_check(cudaGetLastError());
}

bool reset_persisting_l2() {
  if (device_attribute(cudaDevAttrMaxPersistingL2CacheSize) <= 0) return false;
  for (const cudaError_t status :
       {cudaCtxResetPersistingL2Cache(), cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0)}) {
    if (status == cudaSuccess) continue;
    if (is_sticky(status)) throw CudaError{status, std::source_location::current()};
    (void)cudaGetLastError();  // a refusal must not surface at the next launch check
    return false;
  }
  return true;
}

}  // namespace strata
