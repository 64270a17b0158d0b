// How a thread reads a particle: by the reads that its layout declares, all of them in flight
// before the first sum, and nothing else.
#pragma once

#include "harness/cuda/access.cuh"
#include "harness/model/layout.hpp"
#include "micro/pattern/particle_chain.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace strata::layout_read {

/// Where each read of particle 0 begins: a pointer for each array of the layout, as anyone would
/// pass a structure of arrays to a kernel.
struct Arrays {
  const float* first[field_count];
};

/// True when read r lies in an array of its own, at a distance that depends on how many particles
/// there are; else it lies a fixed way behind the first read, which the load's own offset covers.
template <class L>
constexpr bool has_own_array(std::size_t r) {
  return L::template first_word<std::size_t>(r, 0, group_size) !=
         L::template first_word<std::size_t>(r, 0, 2 * group_size);
}

/// Address of word `offset` of read r of particle i. From particle 0 to particle i it is the same
/// way in every array, below 2^32 bytes.
template <class L, std::size_t r, unsigned offset>
__device__ __forceinline__ const float* address(const Arrays& arrays, std::uint32_t i) {
  constexpr auto read = static_cast<std::uint32_t>(r);
  constexpr std::uint32_t origin = L::template first_word<std::uint32_t>(read, 0, group_size);
  const std::uint32_t way = L::template first_word<std::uint32_t>(read, i, group_size) - origin;
  const float* first = has_own_array<L>(r) ? arrays.first[r] : arrays.first[0] + origin;
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(first + offset) +
                                        way * static_cast<std::uint32_t>(sizeof(float)));
}

/// Issues read r of particle i into `loaded`. Not from memory: the address itself is the first
/// word, so the arithmetic before and after the load keeps its place in the chain, and the other
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

/// The sum of `count` wanted words, as a balanced tree: three levels for seven fields, two for
/// four.
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

}  // namespace strata::layout_read
