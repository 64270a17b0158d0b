// Device memory that is mapped by hand at an address range of its own.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace strata {

/// Granularity of such memory, in bytes; 0 where the driver does not say.
[[nodiscard]] std::uint64_t mapping_granularity(CUmemAllocationGranularity_flags which);

/// Owns one piece of device memory and the one range of addresses at which it is mapped.
class MappedMemory {
 public:
  /// `bytes`, rounded down to the recommended granularity. Throws Skipped where the driver cannot,
  /// or does not.
  explicit MappedMemory(std::uint64_t bytes);
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  MappedMemory(MappedMemory&&) = delete;
  MappedMemory& operator=(MappedMemory&&) = delete;
  /// Waits for the device: nothing may still read what is unmapped.
  ~MappedMemory();

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return mapped_; }

 private:
  void undo() noexcept;

  CUmemGenericAllocationHandle handle_ = 0;
  CUdeviceptr address_ = 0;
  std::uint64_t created_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t mapped_ = 0;
};

}  // namespace strata
