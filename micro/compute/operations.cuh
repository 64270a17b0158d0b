// What kernels that run chains of operations share on the device.
#pragma once

#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "micro/compute/operations.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace strata::operations {

__device__ __forceinline__ std::uint64_t bits_of(float x) {
  return __float_as_uint(x);
}
__device__ __forceinline__ std::uint64_t bits_of(double x) {
  return static_cast<std::uint64_t>(__double_as_longlong(x));
}
template <std::unsigned_integral Word>
__device__ __forceinline__ std::uint64_t bits_of(Word x) {
  return x;
}

/// Waits for `x`: by its upper half, which no chain fills with ones (a test holds them to that).
template <class Word>
__device__ __forceinline__ void consume_word(Word x) {
  consume(static_cast<std::uint32_t>(bits_of(x) >> (8 * (sizeof(Word) - 4))));
}

/// Lets `kernel` ask for so much dynamic shared memory that no two blocks of it fit on one SM, and
/// gives that number of bytes: as many blocks as there are SMs then have an SM each.
template <class Kernel>
std::size_t bytes_to_be_alone(Kernel* kernel) {
  constexpr int beyond_half = 1024;
  constexpr int own = 256;  // more than any of these kernels declares
  int device = 0;
  int of_sm = 0;
  int most = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&of_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const int bytes = std::min(of_sm / 2 + beyond_half, most - own);
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  return static_cast<std::size_t>(bytes);
}

}  // namespace strata::operations
