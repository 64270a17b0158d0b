// Puts device memory and the L2 cache into a known state: words that follow from their index and
// are checked on the device; and a cache without the benchmark's data and without dirty lines, or
// filled with the data.
#pragma once

#include "harness/cuda/buffer.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/model/word_patterns.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace strata {

/// Queues a kernel on `stream` that sets words[i] to pattern.word(i), HashedWords or LinearWords,
/// for all i below `count`. For a count of 0 the kernel reads and writes nothing.
template <class Pattern>
void fill(std::uint32_t* words, std::uint64_t count, const Pattern& pattern, cudaStream_t stream);

/// Compares words with a pattern on the device. Waits for the stream.
class WordCheck {
 public:
  /// The number of words that differ from the pattern.
  [[nodiscard]] std::uint64_t different(const std::uint32_t* words, std::uint64_t count,
                                        const HashedWords& expected, cudaStream_t stream);
  /// Checks each word on the device, and some on the host as well, so that the device is not the
  /// only judge, and counts them in `tally`. Then replaces them by the words of `next`.
  void verify_and_refill(std::uint32_t* words, std::uint64_t count, const LinearWords& expected,
                         const LinearWords& next, Tally& tally, cudaStream_t stream);

 private:
  std::uint64_t landed(cudaStream_t stream);

  DeviceBuffer<unsigned long long> count_{1};
  PinnedBuffer<unsigned long long> landed_{1};
};

/// Evicts everything from L2 by reading its own large buffer. Reads only: a flush by memset would
/// leave dirty lines that are written back during the next timed work. The buffer is allocated and
/// filled once, for the device that is current then.
class Eviction {
 public:
  Eviction();

  /// Reads the buffer with all SMs, on `stream`. Afterwards L2 holds no other lines (except a few
  /// that an unknown replacement policy may spare) and no dirty lines. Does not wait.
  void evict(cudaStream_t stream) const;

  /// Reads `bytes` from device address `data` with all SMs, on `stream`: afterwards as much as fits
  /// is in L2, clean. L1 is not affected, since its lines do not outlive a kernel. Does not wait.
  void touch(const void* data, std::size_t bytes, cudaStream_t stream) const;

  /// Bytes that it reads: 4 times the L2.
  [[nodiscard]] const DeviceBuffer<uint4>& buffer() const noexcept { return buffer_; }

 private:
  DeviceBuffer<uint4> buffer_;
  DeviceBuffer<std::uint32_t> sink_{1};
  unsigned blocks_;
};

/// Releases the L2 space set aside by earlier kernels and sets the set-aside size to zero. Returns
/// false on a device without set-aside, or that does not release it (a MIG slice).
bool reset_persisting_l2();

}  // namespace strata
