// Device memory that is mapped by hand at an address range of its own.
#pragma once

#include "harness/case/finally.hpp"

#include <cuda.h>

#include <cstdint>

namespace strata {

/// Granularity of such memory, in bytes; 0 where the driver does not say.
[[nodiscard]] std::uint64_t mapping_granularity(CUmemAllocationGranularity_flags which);

/// Owns one piece of device memory and the one range of addresses at which it is mapped. Waits for
/// the device before it unmaps: nothing may still read it.
class MappedMemory {
 public:
  /// `bytes`, rounded down to the recommended granularity. Throws Skipped where the driver cannot,
  /// or does not.
  explicit MappedMemory(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  std::uint64_t size_ = 0;
  CUdeviceptr address_ = 0;
  Finally created_;  // undone from the last to the first
  Finally reserved_;
  Finally mapped_;
};

}  // namespace strata
