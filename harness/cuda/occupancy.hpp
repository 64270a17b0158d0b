// How many blocks of a kernel an SM holds, and how to set that number.
#pragma once

#include "harness/cuda/cuda_check.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace strata {

/// Dynamic shared memory that the kernel may be launched with.
inline void allow_shared_bytes(const void* kernel, std::size_t bytes) {
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
}

/// Percentage of the SM's memory used as shared memory; the rest is L1. A hint to the driver.
inline void prefer_carveout(const void* kernel, int percent) {
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
}
inline void prefer_l1(const void* kernel) {
  prefer_carveout(kernel, cudaSharedmemCarveoutMaxL1);
}

[[nodiscard]] inline std::uint32_t resident_blocks(const void* kernel, unsigned threads,
                                                   std::size_t dynamic_bytes = 0) {
  int blocks = 0;
  cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, kernel, static_cast<int>(threads), dynamic_bytes));
  return static_cast<std::uint32_t>(blocks);
}

/// Gives shared memory what `wanted` blocks of the kernel need (`static_bytes` each, plus the
/// dynamic ones), and the rest to L1. Returns how many blocks the SM then holds.
[[nodiscard]] inline std::uint32_t make_room(const void* kernel, unsigned threads,
                                             std::uint32_t wanted, std::size_t dynamic_bytes,
                                             std::size_t static_bytes,
                                             std::uint64_t shared_per_sm) {
  allow_shared_bytes(kernel, dynamic_bytes);
  const std::uint64_t needed = wanted * (dynamic_bytes + static_bytes);
  const std::uint64_t percent = (100 * needed + shared_per_sm - 1) / shared_per_sm;  // rounded up
  prefer_carveout(kernel, static_cast<int>(std::min<std::uint64_t>(percent, 100)));
  return resident_blocks(kernel, threads, dynamic_bytes);
}

/// Sets the dynamic shared memory of `kernel` so that no two of its blocks fit on one SM, and
/// returns that number of bytes: with as many blocks as SMs, each SM then has one.
[[nodiscard]] inline std::size_t bytes_to_be_alone(const void* kernel) {
  constexpr int beyond_half = 1024;
  constexpr int own = 256;  // more than the static memory of any kernel that uses this
  const int bytes =
      std::min(device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 2 + beyond_half,
               device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - own);
  allow_shared_bytes(kernel, static_cast<std::size_t>(bytes));
  return static_cast<std::size_t>(bytes);
}

/// Bytes of device memory that a benchmark may take: 80 % of what is free.
[[nodiscard]] inline std::uint64_t free_bytes_to_use() {
  std::size_t free = 0;
  std::size_t total = 0;
  cuda_check(cudaMemGetInfo(&free, &total));
  constexpr std::uint64_t parts = 5;
  return std::uint64_t{free} / parts * (parts - 1);
}

}  // namespace strata
