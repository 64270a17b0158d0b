// Clusters of blocks, which access each other's shared memory (compute capability 9.0).
#pragma once

#include "harness/base/error.hpp"
#include "harness/cuda/cuda_check.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace strata {

/// The rank of this block in its cluster.
__device__ __forceinline__ std::uint32_t rank_in_cluster() {
#if __CUDA_ARCH__ >= 900
  std::uint32_t rank;  // the wrappers of cuda::ptx are newer than CUDA 12.4
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  return 0;
#endif
}

/// Waits for all threads of all blocks of the cluster, and for their earlier writes.
__device__ __forceinline__ void synchronize_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;" : : : "memory");
  asm volatile("barrier.cluster.wait.acquire;" : : : "memory");
#endif
}

/// The address, valid in the whole cluster, of `at` in block `rank`.
__device__ __forceinline__ std::uint32_t of_block(std::uint32_t at, std::uint32_t rank) {
  std::uint32_t there = at;
#if __CUDA_ARCH__ >= 900
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
#endif
  return there;
}
/// The same as a pointer, for Access::generic.
template <class T>
__device__ __forceinline__ T* of_block(T* at, std::uint32_t rank) {
  T* there = at;
#if __CUDA_ARCH__ >= 900
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(at), "r"(rank));
#endif
  return there;
}

/// A launch of that many blocks in clusters; `attribute` must live as long as the result.
[[nodiscard]] inline cudaLaunchConfig_t launch_config(unsigned blocks, unsigned threads,
                                                      unsigned cluster, std::size_t shared,
                                                      cudaStream_t stream,
                                                      cudaLaunchAttribute& attribute) {
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  return {.gridDim = blocks,
          .blockDim = threads,
          .dynamicSmemBytes = shared,
          .stream = stream,
          .attrs = &attribute,
          .numAttrs = cluster > 1 ? 1U : 0U};
}

/// Number of blocks in clusters that run at once, at most `sms`. A cluster is confined to a group
/// of SMs whose number need not be a multiple of its size, so some SMs may have no place in one.
/// Throws Skipped if none fits.
template <class Kernel>
[[nodiscard]] unsigned blocks_in_clusters(Kernel kernel, unsigned threads, unsigned cluster,
                                          std::size_t shared, unsigned sms) {
  constexpr unsigned portable = 8;
  if (cluster > portable) {
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  cudaLaunchAttribute attribute{};
  const unsigned most = sms / cluster;
  const cudaLaunchConfig_t config =
      launch_config(most * cluster, threads, cluster, shared, nullptr, attribute);
  int clusters = 0;
  const cudaError_t status = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
  if (status == cudaErrorInvalidClusterSize) {
    (void)cudaGetLastError();
  } else {
    cuda_check(status);
  }
  if (clusters < 1) throw Skipped{"no cluster of that size fits on this device"};
  return std::min(most, static_cast<unsigned>(clusters)) * cluster;
}

}  // namespace strata
