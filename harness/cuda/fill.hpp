// Puts device memory and the L2 cache into a known state: words that follow from their index, which
// are checked there; and a cache empty of a benchmark's data, with nothing left to write back, or
// holding them.
#pragma once

#include "harness/cuda/buffer.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/model/word_patterns.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace strata {

/// Queues on `stream` that words[i] becomes pattern.word(i), HashedWords or LinearWords, for all i
/// below `count`. A count of 0 launches a kernel that reads and writes nothing.
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

/// Displaces everything in L2 by reading a large buffer of its own. Reads only: a flush by memset
/// would leave dirty lines that are written back inside whatever is timed next. The buffer is
/// allocated and filled once, for the device that is current then.
class Eviction {
 public:
  Eviction();

  /// Reads the buffer with all SMs, on `stream`. After it no line of anyone else's is in L2 (but
  /// for what little an unknown replacement rule may spare) and no line is dirty. Does not wait.
  void evict(cudaStream_t stream) const;

  /// Reads `bytes` from device address `data` with all SMs, on `stream`: what fits is in L2 after
  /// it, clean. Nothing is promised of L1, whose lines do not outlive a kernel. Does not wait.
  void touch(const void* data, std::size_t bytes, cudaStream_t stream) const;

  /// What it reads: 4 times the L2.
  [[nodiscard]] const DeviceBuffer<uint4>& buffer() const noexcept { return buffer_; }

 private:
  DeviceBuffer<uint4> buffer_;
  DeviceBuffer<std::uint32_t> sink_{1};
  unsigned blocks_;
};

/// Frees what earlier kernels set aside in L2 and sets the part that may be set aside to nothing.
/// False on a device that has no such part, or does not let go of it (a MIG slice).
bool reset_persisting_l2();

}  // namespace strata
