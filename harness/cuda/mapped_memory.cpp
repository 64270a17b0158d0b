#include "harness/cuda/mapped_memory.hpp"

#include "harness/case/error.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/driver.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace strata {
namespace {

/// Calls the driver's function of that name.
template <class Function, class... Arguments>
CUresult call(const char* name, Arguments... arguments) {
  constexpr unsigned since = 10020;
  const auto function = driver_function<Function>(name, since);
  return function == nullptr ? CUDA_ERROR_NOT_FOUND : function(arguments...);
}

/// The same, which must succeed.
template <class Function, class... Arguments>
void need(const char* name, Arguments... arguments) {
  const CUresult status = call<Function>(name, arguments...);
  if (status == CUDA_SUCCESS) return;
  if (status == CUDA_ERROR_NOT_FOUND) throw Skipped{"the driver cannot map memory by hand"};
  throw Skipped{std::string{name} + " failed with error " + std::to_string(status)};
}

CUmemAllocationProp device_memory() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  cuda_check(cudaGetDevice(&properties.location.id));
  return properties;
}

}  // namespace

std::uint64_t mapping_granularity(CUmemAllocationGranularity_flags which) {
  const CUmemAllocationProp properties = device_memory();
  std::size_t bytes = 0;
  const CUresult status = call<decltype(&cuMemGetAllocationGranularity)>(
      "cuMemGetAllocationGranularity", &bytes, &properties, which);
  return status == CUDA_SUCCESS ? bytes : 0;
}

MappedMemory::MappedMemory(std::uint64_t bytes) {
  const std::uint64_t unit = mapping_granularity(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  if (unit == 0) throw Skipped{"the driver names no granularity of memory"};
  size_ = bytes / unit * unit;
  const CUmemAllocationProp properties = device_memory();
  CUmemGenericAllocationHandle handle = 0;
  need<decltype(&cuMemCreate)>("cuMemCreate", &handle, size_, &properties, 0ULL);
  created_ = finally([handle] { (void)call<decltype(&cuMemRelease)>("cuMemRelease", handle); });
  need<decltype(&cuMemAddressReserve)>("cuMemAddressReserve", &address_, size_, unit, 0, 0ULL);
  reserved_ = finally([at = address_, size = size_] {
    (void)call<decltype(&cuMemAddressFree)>("cuMemAddressFree", at, size);
  });
  need<decltype(&cuMemMap)>("cuMemMap", address_, size_, 0, handle, 0ULL);
  mapped_ = finally([at = address_, size = size_] {
    (void)cudaDeviceSynchronize();
    (void)call<decltype(&cuMemUnmap)>("cuMemUnmap", at, size);
  });
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  need<decltype(&cuMemSetAccess)>("cuMemSetAccess", address_, size_, &access, 1);
}

}  // namespace strata
