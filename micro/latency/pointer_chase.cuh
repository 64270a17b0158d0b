// The parts of a pointer chase that run on the GPU.
#pragma once

#include "harness/cuda/access.cuh"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/mapped_memory.hpp"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/session.hpp"
#include "micro/latency/pointer_chase.hpp"
#include "micro/pattern/permuted_chain.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace strata::pointer_chase {

/// `loads` loads, a multiple of unroll, each by `step`, which replaces `at` by the value loaded
/// there.
template <class Word, class Step>
__device__ __forceinline__ void walk(Word& at, std::uint32_t loads, Step&& step) {
#pragma unroll 1
  for (std::uint32_t i = 0; i < loads; i += unroll) {
#pragma unroll
    for (std::uint32_t u = 0; u < unroll; ++u)
      step(at);
  }
}

/// The timed chase, after the untimed one. No word may end in 32 set bits (consume). The stamp's
/// result is the end, relative to `origin`.
template <class Word, class Step>
__device__ __forceinline__ void timed_walk(Word at, std::uint32_t warm, std::uint32_t loads,
                                           Stamp* stamp, Step&& step, Word origin = 0) {
  walk(at, warm, step);
  consume(static_cast<std::uint32_t>(at));
  const Reading begin = reading_before();
  walk(at, loads, step);
  consume(static_cast<std::uint32_t>(at));
  const Reading end = reading_after();
  leave(stamp, begin, end, at - origin);
}

/// Device memory for chains, plain or explicitly mapped, and a word that is never written.
struct ChainMemory {
  std::unique_ptr<DeviceBuffer<char>> plain;
  std::unique_ptr<MappedMemory> mapped;
  DeviceBuffer<std::uint32_t> sink{1};

  [[nodiscard]] std::uint64_t address() const {
    return mapped ? mapped->address() : reinterpret_cast<std::uintptr_t>(plain->data());
  }
  [[nodiscard]] std::uint64_t size() const { return mapped ? mapped->size() : plain->size(); }
};
/// Memory kept under `name`: `small` bytes if sufficient, otherwise `most`, but at most what is
/// free. Throws Skipped if the footprint does not fit.
[[nodiscard]] ChainMemory& memory_for(Session& session, std::string name, std::uint64_t footprint,
                                      std::uint64_t small, std::uint64_t most,
                                      bool mapped_by_hand = false);

/// Writes the first `links` links of a chain as 64-bit addresses.
void write_links(const PermutedChain& chain, std::uint64_t links, cudaStream_t stream);
/// The same as indices of 4-byte elements, relative to `data`. The chain's base is 0.
void write_indices(const PermutedChain& chain, std::uint64_t links, std::uint64_t data,
                   cudaStream_t stream);

/// Visits read words past L1, by one block or by one on each of some SMs: lines enter L2 through
/// that SM, and pages enter its cached translations. Each page of the first `bytes`:
void visit_pages(const ChainMemory& memory, std::uint64_t bytes, unsigned cores,
                 cudaStream_t stream);
/// Each slot of a chain, in address order, by one block.
void visit_slots(const ChainMemory& memory, const PermutedChain& chain, cudaStream_t stream);
/// Each slot in chase order, so that the chase finds what an endless one would.
void visit_lap(const ChainMemory& memory, const PermutedChain& chain, unsigned walkers,
               cudaStream_t stream);

}  // namespace strata::pointer_chase
