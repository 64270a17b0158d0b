// Filling device memory with words that follow from their index, and checking them there.
#pragma once

#include "harness/cuda/buffer.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/model/word_patterns.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace strata {

/// Queues on `stream` that words[i] becomes pattern.word(i) for all i below `count`. A count of 0
/// launches a kernel that reads and writes nothing. `Pattern`: HashedWords or LinearWords.
template <class Pattern>
void fill(std::uint32_t* words, std::uint64_t count, const Pattern& pattern, cudaStream_t stream);

/// Compares words with a pattern on the device. Waits for the stream.
class WordCheck {
 public:
  /// How many of the words differ from the pattern's.
  [[nodiscard]] std::uint64_t different(const std::uint32_t* words, std::uint64_t count,
                                        const HashedWords& expected, cudaStream_t stream);
  /// Counts in `tally` each word on the device, and some on the host as well, so that the device is
  /// not its own only judge. Puts the words of `next` in their place.
  void verify_and_refill(std::uint32_t* words, std::uint64_t count, const LinearWords& expected,
                         const LinearWords& next, Tally& tally, cudaStream_t stream);

 private:
  std::uint64_t landed(cudaStream_t stream);

  DeviceBuffer<unsigned long long> count_{1};
  PinnedBuffer<unsigned long long> landed_{1};
};

}  // namespace strata
