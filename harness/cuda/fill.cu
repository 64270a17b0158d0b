#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/fill.hpp"

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

/// Calls visit(i) for all i below `count`, in some thread of the grid.
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

}  // namespace strata
