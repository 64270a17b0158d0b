// Clusters of blocks, which reach each other's shared memory (compute capability 9.0).
#pragma once

#include "harness/case/error.hpp"
#include "harness/cuda/cuda_check.hpp"

#include <cuda/ptx>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace strata {

/// Of this cluster: which block this is.
__device__ __forceinline__ std::uint32_t rank_in_cluster() {
#if __CUDA_ARCH__ >= 900
  return cuda::ptx::get_sreg_cluster_ctarank();
#else
  return 0;
#endif
}

/// All threads of all blocks of the cluster, and what they wrote before.
__device__ __forceinline__ void synchronize_cluster() {
#if __CUDA_ARCH__ >= 900
  cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release);
  cuda::ptx::barrier_cluster_wait(cuda::ptx::sem_acquire);
#endif
}

/// The address, to all of the cluster, of what block `rank` has at `at`.
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

/// A launch of so many blocks in clusters; `attribute` lives as long as what is returned.
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

/// Blocks in clusters that are at work at once, no more than `sms`. A cluster lives within a group
/// of SMs, whose number need not divide by its size: not every SM may have a place in one. Throws
/// Skipped where none fits.
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
