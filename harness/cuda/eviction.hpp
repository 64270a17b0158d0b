// Puts the L2 cache into a known state: empty of a benchmark's data and with nothing left to write
// back, or holding them.
#pragma once

#include "harness/cuda/buffer.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace strata {

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

  /// Size of the buffer: 4 times the L2.
  [[nodiscard]] std::size_t bytes() const noexcept { return buffer_.size_bytes(); }

 private:
  DeviceBuffer<uint4> buffer_;
  DeviceBuffer<std::uint32_t> sink_{1};
  unsigned blocks_;
};

/// Frees what earlier kernels set aside in L2 and sets the part that may be set aside to nothing.
/// False on a device that has no such part, or does not let go of it (a MIG slice).
bool reset_persisting_l2();

}  // namespace strata
