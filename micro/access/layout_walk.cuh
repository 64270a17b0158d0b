// The walk of layout_read: reads of particles, each of which depends on the sum of the one before.
#pragma once

#include "harness/cuda/access.cuh"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "micro/access/layout_read.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace strata::layout_read {

/// The address of each read of particle 0: a pointer for each array of the layout.
struct Arrays {
  const float* first[field_count];
};

/// Address of word `offset` of read r of particle i. The distance from particle 0 to particle i is
/// the same in every array, below 2^32 bytes.
template <class L, std::size_t r, unsigned offset>
__device__ __forceinline__ const float* address(const Arrays& arrays, std::uint32_t i) {
  // Otherwise it is at a fixed distance from the first read, which the load's immediate offset
  // covers.
  constexpr bool own_array = L::template first_word<std::size_t>(r, 0, group_size) !=
                             L::template first_word<std::size_t>(r, 0, 2 * group_size);
  constexpr auto read = static_cast<std::uint32_t>(r);
  constexpr std::uint32_t origin = L::template first_word<std::uint32_t>(read, 0, group_size);
  const std::uint32_t way = L::template first_word<std::uint32_t>(read, i, group_size) - origin;
  const float* first = own_array ? arrays.first[r] : arrays.first[0] + origin;
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(first + offset) +
                                        way * static_cast<std::uint32_t>(sizeof(float)));
}

/// Issues read r of particle i into `loaded`. Without `from_memory`, the address itself is the
/// first word, so that the arithmetic around the load keeps its place in the chain, and the other
/// words are `filler`, which the caller holds in a register.
template <class L, class Fields, bool from_memory, std::size_t r>
__device__ __forceinline__ void issue_read(float* loaded, const Arrays& arrays, std::uint32_t i,
                                           float filler) {
  constexpr Issue issue = issued<L, Fields>(r);
  if constexpr (issue.words > 0) {
    const float* at = address<L, r, issue.offset>(arrays, i);
    float* const into = loaded + issue.offset;
    if constexpr (from_memory) {
      load<Access::global_ca, 4 * issue.words>(into, at);
    } else {
      into[0] = __uint_as_float(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at)));
      for (unsigned w = 1; w < issue.words; ++w)
        into[w] = filler;
    }
  }
}

/// Which words of a particle's reads, four for each, hold wanted fields.
template <class L, class Fields>
constexpr std::array<unsigned, Fields::count> wanted_words() {
  std::array<unsigned, Fields::count> wanted{};
  unsigned next = 0;
  for (unsigned word = 0; word < 4 * L::reads.size(); ++word) {
    const int field = L::reads[word / 4].fields[word % 4];
    if (field != padding && Fields::wants(field)) wanted[next++] = word;
  }
  return wanted;
}

/// The sum of `count` wanted words, as a balanced tree.
template <class L, class Fields, unsigned first, unsigned count>
__device__ __forceinline__ float tree_sum(const float* loaded) {
  if constexpr (count == 1) {
    constexpr unsigned word = wanted_words<L, Fields>()[first];
    return loaded[word];
  } else {
    return tree_sum<L, Fields, first, count / 2>(loaded) +
           tree_sum<L, Fields, first + count / 2, count - count / 2>(loaded);
  }
}

/// The bits of (sum of the wanted fields of particle i + mantissa_bias).
template <class L, class Fields, bool from_memory>
__device__ __forceinline__ std::uint32_t read_particle_bits(const Arrays& arrays, std::uint32_t i,
                                                            float filler) {
  float loaded[4 * L::reads.size()];
  [&]<std::size_t... r>(std::index_sequence<r...>) {
    (issue_read<L, Fields, from_memory, r>(loaded + 4 * r, arrays, i, filler), ...);
  }
  (std::make_index_sequence<L::reads.size()>{});
  return __float_as_uint(tree_sum<L, Fields, 0, Fields::count>(loaded) + mantissa_bias);
}

/// The particle at `place` after the first of a group. Wanted: one LEA or IMAD, not three.
__device__ __forceinline__ std::uint32_t particle_at(std::uint32_t group, std::uint32_t place) {
  asm("mad.lo.u32 %0, %0, 4, %1;" : "+r"(group) : "r"(place));
  return group;
}

/// Where walks begin. A warp takes the next start of the SM on which it runs: nothing defines which
/// block runs on which SM, and the warps of an SM must start far apart.
struct Starts {
  const RingStart* starts;  // `warps` for the first SM, then for the next ones
  std::uint32_t* taken;     // how many of an SM's starts are taken; zero before a walk
  std::uint32_t sms;
  std::uint32_t warps;  // of an SM
};

/// The start that this warp takes, the same for all its lanes.
__device__ __forceinline__ std::uint32_t take_start(const Starts& starts, std::uint32_t lane) {
  std::uint32_t index = 0;
  if (lane == 0) {
    const std::uint32_t sm = sm_id() % starts.sms;
    const std::uint32_t slot = atomicAdd(starts.taken + sm, 1U) % starts.warps;
    index = sm * starts.warps + slot;
  }
  return __shfl_sync(0xFFFFFFFFU, index, 0);
}

/// Reads of each part: warm-up, first, second, cool-down.
struct Parts {
  static constexpr std::uint32_t count = 4;
  std::uint32_t reads[count];
};

template <class L, class Fields, bool from_memory>
__global__ void __launch_bounds__(1024)
    walk(const __grid_constant__ Arrays arrays, const __grid_constant__ Parts plan,
         const __grid_constant__ Starts starts, float filler, Stamp* stamps) {
  const std::uint32_t lane = threadIdx.x % group_size;
  const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / group_size;
  Stamp* mine = stamps + warp;
  const std::uint32_t start = take_start(starts, lane);
  const RingStart from = starts.starts[start];
  std::uint32_t group = from.group << noise_bits;
  const std::uint32_t place = from.shift * group_size + lane;  // after a group's first particle
  std::uint32_t sum = 0;
  std::uint64_t cycles = 0;
  consume(group);
  if (lane == 0) {
    mine->nanoseconds[0] = global_nanoseconds();
    mine->cycles[0] = cycles_now();
  }
#pragma unroll 1
  for (std::uint32_t part = 0; part < Parts::count; ++part) {
    const std::uint32_t reads = plan.reads[part];
#pragma unroll 1
    for (std::uint32_t r = 0; r < reads; r += unroll_on_gpu) {
#pragma unroll
      for (std::uint32_t u = 0; u < unroll_on_gpu; ++u) {
        const std::uint32_t bits =
            read_particle_bits<L, Fields, from_memory>(arrays, particle_at(group, place), filler);
        sum += bits;
        group = group_in_place(bits);
      }
    }
    consume(group);  // the clock below is not read before the last group has arrived
    cycles = cycles_now();
    if (lane == 0) mine->cycles[part + 2] = cycles;
  }
  if (lane == 0) mine->nanoseconds[1] = global_nanoseconds();
  sum = warp_sum(sum * lane_weight(lane));
  if (lane == 0) {
    mine->cycles[1] = cycles;
    mine->core = sm_id();
    mine->tag = start;
    mine->result = sum;
  }
}

}  // namespace strata::layout_read
