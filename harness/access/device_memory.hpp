// The device memory of kernels that run on the host.
#pragma once

#include <cstdint>

namespace strata::access {

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// The host address of bytes [address, address + bytes) of global memory; null unless all of them
  /// are allocated, in one piece.
  [[nodiscard]] virtual std::uint8_t* at(std::uint64_t address, std::uint64_t bytes) = 0;

 protected:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = default;
  DeviceMemory(DeviceMemory&&) = default;
  DeviceMemory& operator=(const DeviceMemory&) = default;
  DeviceMemory& operator=(DeviceMemory&&) = default;
};

}  // namespace strata::access
