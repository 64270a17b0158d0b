#include "harness/cuda/mapped_memory.hpp"

#include "harness/case/error.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/driver.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace strata {
namespace {

struct Driver {
  static constexpr unsigned since = 10020;
  template <class Function>
  static Function find(const char* name) {
    return driver_function<Function>(name, since);
  }

  decltype(&cuMemGetAllocationGranularity) granularity =
      find<decltype(granularity)>("cuMemGetAllocationGranularity");
  decltype(&cuMemCreate) create = find<decltype(create)>("cuMemCreate");
  decltype(&cuMemRelease) release = find<decltype(release)>("cuMemRelease");
  decltype(&cuMemAddressReserve) reserve = find<decltype(reserve)>("cuMemAddressReserve");
  decltype(&cuMemAddressFree) unreserve = find<decltype(unreserve)>("cuMemAddressFree");
  decltype(&cuMemMap) map = find<decltype(map)>("cuMemMap");
  decltype(&cuMemUnmap) unmap = find<decltype(unmap)>("cuMemUnmap");
  decltype(&cuMemSetAccess) allow = find<decltype(allow)>("cuMemSetAccess");

  [[nodiscard]] bool complete() const {
    return granularity != nullptr && create != nullptr && release != nullptr &&
           reserve != nullptr && unreserve != nullptr && map != nullptr && unmap != nullptr &&
           allow != nullptr;
  }
};

const Driver& driver() {
  static const Driver functions;
  return functions;
}

CUmemAllocationProp device_memory() {
  int device = 0;
  cuda_check(cudaGetDevice(&device));
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

void need(CUresult status, const char* call) {
  if (status == CUDA_SUCCESS) return;
  throw Skipped{std::string{call} + " failed with error " + std::to_string(status)};
}

}  // namespace

std::uint64_t mapping_granularity(CUmemAllocationGranularity_flags which) {
  const CUmemAllocationProp properties = device_memory();
  std::size_t bytes = 0;
  if (driver().granularity == nullptr ||
      driver().granularity(&bytes, &properties, which) != CUDA_SUCCESS) {
    return 0;
  }
  return bytes;
}

MappedMemory::MappedMemory(std::uint64_t bytes) {
  if (!driver().complete()) throw Skipped{"the driver cannot map memory by hand"};
  const std::uint64_t unit = mapping_granularity(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  if (unit == 0) throw Skipped{"the driver names no granularity of memory"};
  const std::uint64_t size = bytes / unit * unit;
  const CUmemAllocationProp properties = device_memory();
  // What was done so far is undone when something fails: a constructor that throws has no
  // destructor.
  try {
    need(driver().create(&handle_, size, &properties, 0), "cuMemCreate");
    created_ = size;
    need(driver().reserve(&address_, size, unit, 0, 0), "cuMemAddressReserve");
    reserved_ = size;
    need(driver().map(address_, size, 0, handle_, 0), "cuMemMap");
    mapped_ = size;
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    need(driver().allow(address_, size, &access, 1), "cuMemSetAccess");
  } catch (...) {
    undo();
    throw;
  }
}

MappedMemory::~MappedMemory() {
  (void)cudaDeviceSynchronize();
  undo();
}

void MappedMemory::undo() noexcept {
  if (mapped_ != 0) (void)driver().unmap(address_, mapped_);
  if (reserved_ != 0) (void)driver().unreserve(address_, reserved_);
  if (created_ != 0) (void)driver().release(handle_);
}

}  // namespace strata
