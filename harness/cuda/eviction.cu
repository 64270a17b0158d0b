#include "harness/cuda/access.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/eviction.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/reduce.cuh"

#include <cuda_runtime_api.h>

#include <algorithm>

namespace strata {
namespace {

// Twice the cache would do for a replacement rule that drops the oldest line. The rule is not
// published; were it random, a sweep of twice the cache would spare a fifth of the lines, one of
// four times a fiftieth. Four times 60 MB takes 60 us to read.
constexpr std::size_t caches = 4;
constexpr std::size_t least_bytes = std::size_t{32} << 20U;  // a device that reports no L2 size

// The chip may have its L2 in two halves, each holding copies for its own SMs. Eight laps, each
// with the pieces handed to other blocks, leave a line unread by one of the halves once in a
// hundred.
constexpr unsigned touch_laps = 8;

constexpr unsigned threads = 512;
constexpr unsigned blocks_per_sm = 4;  // 2048 threads: a full SM wherever an SM holds that many
constexpr unsigned unroll = 8;         // loads in flight in each thread

struct Quad {
  std::uint32_t word[4];
};

__device__ __forceinline__ Quad load_quad(const uint4* at) {
  Quad q;
  load<Access::global_cg, sizeof(Quad)>(q.word, at);
  return q;
}

__device__ __forceinline__ std::uint32_t fold(const Quad& q) {
  return q.word[0] ^ q.word[1] ^ q.word[2] ^ q.word[3];
}

/// Reads `count` quads, each block a contiguous piece: the pattern that comes closest to the
/// memory's rate. The sum of all is stored if it is one value in 2^32, so the reads are needed and
/// none writes.
__global__ void __launch_bounds__(threads)
    sweep(const uint4* data, std::size_t count, unsigned laps, std::uint32_t* sink) {
  const std::size_t piece = (count + gridDim.x - 1) / gridDim.x;
  std::uint32_t sum = 0;
  for (unsigned lap = 0; lap < laps; ++lap) {
    // Neighbouring blocks tend to sit on neighbouring SMs: laps jump by an odd share of the grid.
    const unsigned turn = (blockIdx.x + lap * (gridDim.x / 3 + 1)) % gridDim.x;
    const std::size_t begin = min(turn * piece, count);
    const std::size_t end = min(begin + piece, count);
    std::size_t i = begin + threadIdx.x;
    for (; i + (unroll - 1) * threads < end; i += unroll * threads) {
      Quad v[unroll];
#pragma unroll
      for (unsigned u = 0; u < unroll; ++u)
        v[u] = load_quad(data + i + u * threads);
#pragma unroll
      for (unsigned u = 0; u < unroll; ++u)
        sum ^= fold(v[u]);
    }
    for (; i < end; i += threads)
      sum ^= fold(load_quad(data + i));
  }
  keep_loads(sum, sink);
}

std::size_t buffer_quads() {
  const auto l2 = static_cast<std::size_t>(std::max(device_attribute(cudaDevAttrL2CacheSize), 0));
  return std::max(caches * l2, least_bytes) / sizeof(uint4);
}

}  // namespace

Eviction::Eviction()
    : buffer_{buffer_quads()},
      blocks_{blocks_per_sm *
              static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount))} {
  sink_.poison(0, nullptr);
  // Words that look random: neither the memory nor the wires see a run of zeros.
  fill(reinterpret_cast<std::uint32_t*>(buffer_.data()), buffer_.size_bytes() / 4, HashedWords{},
       nullptr);
  // The end of the buffer is dirty in L2 now: two sweeps write it back, whatever the replacement
  // rule.
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
  // Whole quads: allocations begin and end with one.
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
