// Pretends to be libcuda.so.1.
#include "fake_capture.hpp"

#include <cstring>
#include <numeric>

namespace {

CUresult parameter_of(std::size_t index, std::size_t* offset, std::size_t* bytes) {
  const auto& sizes = fake_driver()->parameters;
  if (index >= sizes.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = 0;
  for (std::size_t i = 0; i <= index; ++i) {
    const std::size_t align = sizes[i] % 8 == 0 ? 8 : 4;
    *offset = (*offset + align - 1) / align * align + (i < index ? sizes[i] : 0);
  }
  *bytes = sizes[index];
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

strata::FakeDriver* fake_driver() {
  static strata::FakeDriver driver;
  return &driver;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  const auto& all = fake_driver()->allocations;
  const auto next = all.upper_bound(address);
  if (next == all.begin()) return CUDA_ERROR_NOT_FOUND;
  const auto& [begin, size] = *std::prev(next);
  if (address - begin >= size) return CUDA_ERROR_NOT_FOUND;
  *base = begin;
  *bytes = size;
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);  // NOLINT
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  ++fake_driver()->synchronized;
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream /*stream*/, CUstreamCaptureStatus* status) {
  *status = fake_driver()->capturing;
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* /*mode*/) {
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* bytes) {
  if (fake_driver()->kernels.contains(function)) return CUDA_ERROR_INVALID_HANDLE;
  return parameter_of(index, offset, bytes);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                              std::size_t* bytes) {
  if (!fake_driver()->kernels.contains(kernel)) return CUDA_ERROR_INVALID_HANDLE;
  return parameter_of(index, offset, bytes);
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice /*device*/) {
  std::strncpy(name, "NVIDIA H200", static_cast<std::size_t>(bytes));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  std::memset(uuid->bytes, 0x10 + device, sizeof uuid->bytes);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice /*device*/) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}

}  // extern "C"
