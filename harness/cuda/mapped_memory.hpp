// Device memory mapped explicitly at its own address range.
#pragma once

#include "harness/base/error.hpp"
#include "harness/base/finally.hpp"
#include "harness/cuda/cuda_check.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace strata {
namespace mapping {

/// Calls the driver's function of that name.
template <class Function, class... Arguments>
CUresult call(const char* name, Arguments... arguments) {
  constexpr unsigned since = 10020;
  const auto function = driver_function<Function>(name, since);
  return function == nullptr ? CUDA_ERROR_NOT_FOUND : function(arguments...);
}

/// The same for calls that must succeed.
template <class Function, class... Arguments>
void need(const char* name, Arguments... arguments) {
  const CUresult status = call<Function>(name, arguments...);
  if (status == CUDA_SUCCESS) return;
  if (status == CUDA_ERROR_NOT_FOUND)
    throw Skipped{"the driver does not support virtual memory management"};
  throw Skipped{std::string{name} + " failed with error " + std::to_string(status)};
}

[[nodiscard]] inline CUmemAllocationProp device_memory() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  cuda_check(cudaGetDevice(&properties.location.id));
  return properties;
}

}  // namespace mapping

/// Granularity of such memory, in bytes; 0 if unknown.
[[nodiscard]] inline std::uint64_t mapping_granularity(CUmemAllocationGranularity_flags which) {
  const CUmemAllocationProp properties = mapping::device_memory();
  std::size_t bytes = 0;
  const CUresult status = mapping::call<decltype(&cuMemGetAllocationGranularity)>(
      "cuMemGetAllocationGranularity", &bytes, &properties, which);
  return status == CUDA_SUCCESS ? bytes : 0;
}

/// Owns one piece of device memory and its mapped address range. Waits for the device before it
/// unmaps, because work may still read it.
class MappedMemory {
 public:
  /// `bytes`, rounded down to the recommended granularity. Throws Skipped if the driver does not
  /// support or refuses it.
  explicit MappedMemory(std::uint64_t bytes) {
    const std::uint64_t unit = mapping_granularity(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    if (unit == 0) throw Skipped{"the driver reports no memory granularity"};
    size_ = bytes / unit * unit;
    const CUmemAllocationProp properties = mapping::device_memory();
    CUmemGenericAllocationHandle handle = 0;
    mapping::need<decltype(&cuMemCreate)>("cuMemCreate", &handle, size_, &properties, 0ULL);
    created_ =
        finally([handle] { (void)mapping::call<decltype(&cuMemRelease)>("cuMemRelease", handle); });
    mapping::need<decltype(&cuMemAddressReserve)>("cuMemAddressReserve", &address_, size_, unit, 0,
                                                  0ULL);
    reserved_ = finally([at = address_, size = size_] {
      (void)mapping::call<decltype(&cuMemAddressFree)>("cuMemAddressFree", at, size);
    });
    mapping::need<decltype(&cuMemMap)>("cuMemMap", address_, size_, 0, handle, 0ULL);
    mapped_ = finally([at = address_, size = size_] {
      (void)cudaDeviceSynchronize();
      (void)mapping::call<decltype(&cuMemUnmap)>("cuMemUnmap", at, size);
    });
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    mapping::need<decltype(&cuMemSetAccess)>("cuMemSetAccess", address_, size_, &access, 1);
  }

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  std::uint64_t size_ = 0;
  CUdeviceptr address_ = 0;
  Finally created_;  // undone in reverse order
  Finally reserved_;
  Finally mapped_;
};

}  // namespace strata
