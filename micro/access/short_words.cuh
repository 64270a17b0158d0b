// The matrix addition: a group of `parts` accesses a thread.
#pragma once

#include "harness/cuda/access.cuh"
#include "micro/access/short_words.hpp"

namespace strata::short_words {

template <unsigned element, unsigned bytes, unsigned parts>
__device__ __forceinline__ void add_group(const char* a, const char* b, char* c,
                                          std::uint32_t thread_step, std::uint32_t block_step) {
  const std::uint64_t group =
      std::uint64_t{threadIdx.x} * thread_step + std::uint64_t{blockIdx.x} * block_step;
  const std::uint64_t at = group * bytes * parts;
  std::uint32_t one[parts][words_of(bytes)];
  std::uint32_t two[parts][words_of(bytes)];
#pragma unroll
  for (unsigned p = 0; p < parts; ++p) {
    load<Access::global, bytes>(one[p], a + at + p * bytes);
    load<Access::global, bytes>(two[p], b + at + p * bytes);
  }
#pragma unroll
  for (unsigned p = 0; p < parts; ++p) {
#pragma unroll
    for (unsigned w = 0; w < words_of(bytes); ++w) {
      // One element needs no care for its neighbours.
      one[p][w] =
          bytes == element ? one[p][w] + two[p][w] : sum_of_elements(one[p][w], two[p][w], element);
    }
    store<Access::global, bytes>(c + at + p * bytes, one[p]);
  }
}

}  // namespace strata::short_words
