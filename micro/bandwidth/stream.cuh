// One kernel for all levels: a round is several accesses to neighbouring pieces of each array, all
// in flight together, and then a new address, which depends on a comparison with a kernel argument:
// ptxas hoists an access whose address never changes out of the loop, volatile asm or not. The
// accesses of a warp are adjacent, so that they share one address and differ in a constant offset.
//
// What is read is summed and compared with the sum that the addresses imply. What is written is
// read back by another kernel, word by word, and in part by the host. A launch of no rounds is the
// same kernel without accesses.
#pragma once

#include "harness/cuda/access.cuh"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "micro/bandwidth/bandwidth.hpp"

#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace strata::bandwidth {

struct Arrays {
  char* to;
  const char* from;
  const char* other;
};

/// The load that reads from a level: through L1, past it, or from shared memory.
constexpr Access load_from(Level level) {
  if (level == Level::shared) return Access::shared;
  return level == Level::l1 ? Access::global_ca : Access::global_cg;
}
constexpr Access store_to(Level level) {
  return level == Level::shared ? Access::shared : Access::global;
}

/// The largest block that has room for a round's words in registers. ptxas optimises for the
/// declared block size: without one it keeps to 32 registers and adds up the first words before it
/// loads the last ones, and less is in flight than the case requires.
constexpr int largest_block(unsigned held) {
  return held <= 32 ? 1024 : (held <= 64 ? 512 : 256);
}
template <Level level, Operation operation, unsigned width, unsigned flights>
__global__ void __launch_bounds__(largest_block(words_held(operation, width, flights)), 1)
    stream(Arrays arrays, const __grid_constant__ AddressPattern pattern, std::uint32_t rounds,
           std::uint32_t salt, Line data, std::uint32_t array_bytes, Stamp* stamps) {
#if __CUDA_ARCH__ < 1000
  if constexpr (width == 32) {
    __trap();  // no such access: the host does not launch it
    return;
  }
#endif
  constexpr unsigned words = width / 4;
  constexpr std::uint32_t pace = lanes * width;  // from one access of a warp to the next
  extern __shared__ uint4 memory[];

  const std::uint32_t warp = threadIdx.x / lanes;
  const std::uint64_t region =
      blockIdx.x % pattern.pieces * pattern.block_base + std::uint64_t{warp} * pattern.warp_base;
  const std::uint64_t inside = region + threadIdx.x % lanes * width;
  std::conditional_t<level == Level::shared, std::uint32_t, char*> to;
  std::conditional_t<level == Level::shared, std::uint32_t, const char*> from;
  std::conditional_t<level == Level::shared, std::uint32_t, const char*> other;
  if constexpr (level == Level::shared) {
    // Arrays are contiguous and continue one arithmetic sequence; block_base is 0.
    constexpr std::uint32_t count = arrays_of(operation);
    constexpr std::uint32_t second = count > 1;
    auto* const all = reinterpret_cast<std::uint32_t*>(memory);
    for (std::uint32_t j = threadIdx.x; j < count * array_bytes / 4; j += blockDim.x)
      all[j] = j * data.slope + data.start;
    __syncthreads();
    to = shared_address(memory) + static_cast<std::uint32_t>(inside);
    from = to + second * array_bytes;
    other = from + second * array_bytes;
  } else {
    to = arrays.to + inside;
    from = arrays.from + inside;
    other = arrays.other + inside;
  }
  std::uint32_t offset = warp * pattern.warp_step % pattern.span;
  // The value written to the first of a round's words; the others differ by fixed amounts.
  const std::uint32_t value_here = static_cast<std::uint32_t>(inside / 4) * data.slope + salt;

  std::uint32_t sum = 0;
  Reading begin;
  if (threadIdx.x == 0) begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    if constexpr (operation == Operation::write) {
      const std::uint32_t value = value_here + offset / 4 * data.slope;
#pragma unroll
      for (unsigned l = 0; l < flights; ++l) {
        std::uint32_t w[words];
#pragma unroll
        for (unsigned i = 0; i < words; ++i)
          w[i] = value + (l * (pace / 4) + i) * Line{}.slope;
        store<store_to(level), width>(to + offset + l * pace, w);
      }
    } else {
      std::uint32_t one[flights][words];
      std::uint32_t two[operation == Operation::triad ? flights : 1][words];
#pragma unroll
      for (unsigned l = 0; l < flights; ++l) {
        load<load_from(level), width>(one[l], from + offset + l * pace);
        if constexpr (operation == Operation::triad) {
          load<load_from(level), width>(two[l], other + offset + l * pace);
        }
      }
#pragma unroll
      for (unsigned l = 0; l < flights; ++l) {
#pragma unroll
        for (unsigned i = 0; i < words; ++i) {
          if constexpr (operation == Operation::read) sum += one[l][i];
          if constexpr (operation == Operation::triad) one[l][i] += triad_factor * two[l][i];
          if constexpr (operation == Operation::update) one[l][i] += update_step;
        }
        if constexpr (operation != Operation::read) {
          store<store_to(level), width>(to + offset + l * pace, one[l]);
        }
      }
    }
    offset += pattern.advance;
    if (offset >= pattern.span) offset -= pattern.span;
  }
  // Every value that was read is in its warp's sum or in a store; the clock is read after the
  // barrier that follows.
  std::uint32_t all = block_sum(sum);
  Reading end;
  if (threadIdx.x == 0) end = reading_after();
  if constexpr (level == Level::shared && operation != Operation::read) {
    // The array that was written to is the first.
    const auto* const left = reinterpret_cast<const std::uint32_t*>(memory);
    std::uint32_t weighted = 0;
    for (std::uint32_t j = threadIdx.x; j < array_bytes / 4; j += blockDim.x)
      weighted += (2 * j + 1) * left[j];
    all = block_sum(weighted);
  }
  if (threadIdx.x == 0) merge(stamps, begin, end, all);
}

using Kernel = void (*)(Arrays, AddressPattern, std::uint32_t, std::uint32_t, Line, std::uint32_t,
                        Stamp*);

inline Kernel kernel_for(const LaunchShape& shape) {
  // Memory is read with the same instructions as L2.
  const Level near = shape.level == Level::dram ? Level::l2 : shape.level;
  return with_value<Level::shared, Level::l1, Level::l2>(near, [&]<Level level>() {
    using enum Operation;
    return with_value<read, write, copy, triad, update>(
        shape.operation, [&]<Operation operation>() {
          return with_value<4U, 8U, 16U, 32U>(shape.width, [&]<unsigned width>() {
            return with_value<1U, 2U, 4U, 8U, 16U>(
                shape.in_flight, [&]<unsigned flights>() -> Kernel {
                  if constexpr (no_kernel(level, operation, width, flights) == nullptr) {
                    return stream<level, operation, width, flights>;
                  }
                  throw std::logic_error{"bandwidth: a case without a kernel"};
                });
          });
        });
  });
}

}  // namespace strata::bandwidth
