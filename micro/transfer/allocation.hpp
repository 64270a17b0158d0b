// What does it cost to allocate memory for a GPU and to release it?
//
// `device`: cudaMalloc and cudaFree. `pool`: cudaMallocAsync and cudaFreeAsync in a stream, whose
// pool keeps what is released. `pinned`: cudaMallocHost and cudaFreeHost. A series allocates pieces
// of one size, and then releases them in the same order; the GPU is idle. The cost of an allocation
// with its release is the slope between a long series and a short one, by the caller's clock.
//
// The pieces of a series must be disjoint, and those of the GPU aligned to 256 bytes, as their
// addresses show.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/measure/experiment.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace strata::allocation {

[[nodiscard]] Benchmark declare();

enum class Memory { device, pool, pinned };
inline constexpr auto memories = choices_of<Memory>("device", "pool", "pinned");

/// Pieces of the short and of the long series.
inline constexpr std::uint32_t few = 16;
inline constexpr std::uint32_t many = 64;

/// Of addresses (CUDA C++ Programming Guide, Device Memory Accesses); CUDA promises none on the
/// host.
[[nodiscard]] constexpr std::uintptr_t alignment(Memory memory) {
  return memory == Memory::pinned ? 1 : 256;
}
/// Pieces, each of so many bytes, that are nowhere, overlap another one or are not aligned.
[[nodiscard]] std::size_t misplaced(std::span<const std::uintptr_t> pieces, std::size_t bytes,
                                    std::uintptr_t alignment);

/// The case as the engine measures it, except its series. A sample's number: seconds.
[[nodiscard]] Experiment describe();

/// Seconds of one more piece.
[[nodiscard]] constexpr double seconds_of_piece(double brief, double full) {
  return (full - brief) / (many - few);
}

}  // namespace strata::allocation
