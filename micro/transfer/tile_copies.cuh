// The methods of copying into shared memory, each as: request a tile, commit, wait. Addresses in
// shared memory are numbers (shared_address). cp.async.bulk is inline PTX: the wrapper in cuda::ptx
// makes ptxas arrange the loop of `stream` differently.
#pragma once

#include "harness/base/error.hpp"
#include "harness/cuda/access.cuh"
#include "harness/cuda/cluster.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stamps.cuh"
#include "harness/model/word_patterns.hpp"
#include "micro/transfer/async_copy.hpp"

#include <cuda.h>
#include <cuda/ptx>
#include <cuda_pipeline_primitives.h>

#include <array>
#include <stdexcept>

namespace strata::async_copy {

/// The pointer to offset `at` in shared memory.
template <class T>
__device__ __forceinline__ T* shared_pointer(std::uint32_t at) {
  return static_cast<T*>(__cvta_shared_to_generic(at));
}

/// A source of copies: an address in global memory, one in the shared memory of a cluster, or a row
/// of the matrix of a tensor map. `thread` is the copying thread.
struct Source {
  const char* global;
  std::uint32_t remote;
  const CUtensorMap* map;
  std::uint32_t row;
  std::uint32_t thread;
};

/// Expected: LDGSTS.E of the width; .BYPASS (of L1) for 16 bytes.
template <std::uint32_t width>
__device__ __forceinline__ void copy_element(std::uint32_t to, const char* from) {
#if __CUDA_ARCH__ >= 800
  __pipeline_memcpy_async(shared_pointer<void>(to), from, width);
#endif
}

/// `batch` times 16 bytes of a thread, all loaded before the first is stored: ptxas moves nothing
/// across the barrier of the warp, but else stores after two or four loads, as its registers allow.
/// Expected: LDG.E.128.STRONG.GPU, or a generic LD.E.128, which reaches another block's shared
/// memory.
template <CopyMethod method, std::uint32_t batch>
__device__ __forceinline__ void pass_on(std::uint32_t to, const Source& from, std::uint32_t first,
                                        std::uint32_t step) {
  std::uint32_t w[batch][4] = {};
#pragma unroll
  for (std::uint32_t b = 0; b < batch; ++b) {
    if constexpr (method == CopyMethod::registers) {
      load<Access::global_cg, 16>(w[b], from.global + (first + b * step));
    } else {
#if __CUDA_ARCH__ >= 900
      load<Access::shared_cluster, 16>(w[b], from.remote + (first + b * step));
#endif
    }
  }
  if constexpr (batch > 1) __syncwarp(__activemask());
#pragma unroll
  for (std::uint32_t b = 0; b < batch; ++b)
    store<Access::shared, 16>(to + first + b * step, w[b]);
}

/// Requests a tile, with all threads of the block. Through registers, this thread's part has
/// arrived when this returns.
template <CopyMethod method>
__device__ __forceinline__ void ask(std::uint32_t to, const Source& from, std::uint32_t bytes,
                                    std::uint32_t barrier) {
  if constexpr (is_by_engine(method)) {
#if __CUDA_ARCH__ >= 900
    using namespace cuda::ptx;
    if (threadIdx.x == 0) {
      auto* const phase = shared_pointer<std::uint64_t>(barrier);
      (void)mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, phase, bytes);
      if constexpr (method == CopyMethod::bulk) {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%0], [%1], %2, [%3];"
            :
            : "r"(to), "l"(from.global), "r"(bytes), "r"(barrier)
            : "memory");
      } else {
        // space_cluster would do the same, except for a stack frame of 8 bytes on sm_120.
        const std::int32_t place[2] = {0, static_cast<std::int32_t>(from.row)};
#if CUDART_VERSION >= 12080
        cp_async_bulk_tensor(space_shared, space_global, shared_pointer<void>(to), from.map, place,
                             phase);
#else
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3}], [%4];"
            :
            : "r"(to), "l"(from.map), "r"(place[0]), "r"(place[1]), "r"(barrier)
            : "memory");
#endif
      }
    }
#endif
  } else if constexpr (cp_async_width(method) > 0) {
    constexpr std::uint32_t width = cp_async_width(method);
#pragma unroll 4
    for (std::uint32_t at = from.thread * width; at < bytes; at += threads * width)
      copy_element<width>(to + at, from.global + at);
  } else {
    // A condition for each load would be a branch around each: on an H200 eight of them, and eight
    // around the stores, cost more than the load itself from L2.
    constexpr std::uint32_t step = threads * sizeof(uint4);
    std::uint32_t at = from.thread * static_cast<std::uint32_t>(sizeof(uint4));
#pragma unroll 1
    for (; at + 7 * step < bytes; at += 8 * step)
      pass_on<method, 8>(to, from, at, step);
    if (at + 3 * step < bytes) {
      pass_on<method, 4>(to, from, at, step);
      at += 4 * step;
    }
    if (at + step < bytes) {
      pass_on<method, 2>(to, from, at, step);
      at += 2 * step;
    }
    if (at < bytes) pass_on<method, 1>(to, from, at, step);
  }
}

/// Commits a thread's requests since the last call; empty groups keep the count.
template <CopyMethod method>
__device__ __forceinline__ void commit() {
#if __CUDA_ARCH__ >= 800
  if constexpr (cp_async_width(method) > 0) __pipeline_commit();
#endif
}

/// Waits until at most `pending` groups of this thread are in flight, or until the phase of the
/// barrier is over, when the copy engine has copied the whole tile.
template <CopyMethod method, int pending>
__device__ __forceinline__ void wait(std::uint32_t barrier, std::uint32_t parity) {
  if constexpr (cp_async_width(method) > 0) {
#if __CUDA_ARCH__ >= 800
    __pipeline_wait_prior(pending);
#endif
  } else if constexpr (is_by_engine(method)) {
#if __CUDA_ARCH__ >= 900
#pragma unroll 1
    while (!cuda::ptx::mbarrier_try_wait_parity(shared_pointer<std::uint64_t>(barrier), parity)) {
    }
#endif
  }
}

/// Poisons the first `bytes` of shared memory and initialises barriers, both visible to the copy
/// engine.
template <CopyMethod method>
__device__ __forceinline__ void make_ready(std::uint32_t shared, std::uint32_t bytes,
                                           std::uint64_t* barriers, std::uint32_t count) {
  constexpr std::uint32_t poison = 0xA5A5A5A5U;
  for (std::uint32_t at = threadIdx.x * word_bytes; at < bytes; at += threads * word_bytes)
    store<Access::shared, 4>(shared + at, &poison);
#if __CUDA_ARCH__ >= 900
  if constexpr (is_by_engine(method)) {  // cuda::ptx of CUDA 12.4 has none of these
    if (threadIdx.x == 0) {
      for (std::uint32_t b = 0; b < count; ++b)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;"
                     :
                     : "r"(shared_address(barriers + b))
                     : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    asm volatile("fence.proxy.async;" : : : "memory");
  }
#endif
}

/// The tile that other blocks of the cluster read, written with plain loads.
__device__ __forceinline__ void put_tile(std::uint32_t to, const char* data, const Tiles& tiles,
                                         std::uint32_t tile) {
  const char* from = data + std::uint64_t{tile} * tiles.pitch;
  for (std::uint32_t at = threadIdx.x * word_bytes; at < tiles.bytes; at += threads * word_bytes)
    store<Access::shared, 4>(to + at, reinterpret_cast<const std::uint32_t*>(from + at));
}

/// Number of words at `at` that differ from those of the tile.
__device__ __forceinline__ std::uint32_t differences(std::uint32_t at, const Tiles& tiles,
                                                     std::uint32_t tile) {
  const std::uint32_t first = tiles.first_word(tile);
  std::uint32_t wrong = 0;
  for (std::uint32_t w = threadIdx.x; w < tiles.bytes / word_bytes; w += threads)
    wrong += load_word<Access::shared>(at + w * word_bytes) != hashed_word(first + w);
  return wrong;
}

/// `value`, in a register. ptxas computes the address of a shared variable or the thread's number
/// again (S2UR SR_CgaCtaId, S2R SR_TID, about 30 cycles each) wherever that saves a register, in a
/// timed loop, too; it does not repeat a load. `zero` is a word of shared memory that is 0.
__device__ __forceinline__ std::uint32_t kept(std::uint32_t value, const std::uint32_t& zero) {
  return value + load_word<Access::shared>(shared_address(&zero));
}

/// Both clocks, after a barrier. A warp may read a clock before the barrier stops it
/// (BAR.SYNC.DEFER_BLOCKING), but it cannot have a word of shared memory then, so the clocks depend
/// on one here, which no warp writes meanwhile. `zero` is a kernel argument that is always 0.
__device__ __forceinline__ Reading reading_after_barrier(const std::uint32_t& shared,
                                                         std::uint32_t zero) {
  consume(load_word<Access::shared>(shared_address(&shared)) & zero);
  return reading_before();
}

/// The tensor map with which the copy engine finds a tile by its row. Encoded by a driver function
/// that is looked up at run time, because an executable that links it starts only where there is a
/// driver.
inline CUtensorMap map_of(const Tiles& tiles, std::uint32_t* words) {
  constexpr unsigned since = 12000;
  const auto encode =
      driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled", since);
  if (encode == nullptr) throw Skipped{"this driver does not support tensor maps"};
  const Rows rows = map_rows(tiles);
  const std::array<cuuint64_t, 2> extent{rows.bytes / word_bytes,
                                         std::uint64_t{tiles.count} * rows.of_a_tile};
  const std::array<cuuint64_t, 1> stride{rows.pitch};
  const std::array<cuuint32_t, 2> box{rows.bytes / word_bytes, rows.of_a_tile};
  const std::array<cuuint32_t, 2> every{1, 1};
  CUtensorMap map{};
  const CUresult status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, words, extent.data(), stride.data(),
             box.data(), every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw std::runtime_error{"cuTensorMapEncodeTiled: error " +
                             std::to_string(static_cast<int>(status))};
  }
  return map;
}

}  // namespace strata::async_copy
