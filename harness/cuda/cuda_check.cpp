#include "harness/cuda/cuda_check.hpp"

#include "harness/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace strata {
bool is_sticky(cudaError_t code) noexcept {
  // Their names are newer than CUDA 12.4.
  constexpr auto error_contained = static_cast<cudaError_t>(226);
  constexpr auto error_tensor_memory_leak = static_cast<cudaError_t>(721);
  // After cudaErrorUnknown nothing is guaranteed, and a new process costs a second.
  constexpr std::array fatal{cudaErrorECCUncorrectable,
                             cudaErrorNvlinkUncorrectable,
                             error_contained,
                             cudaErrorIllegalAddress,
                             cudaErrorLaunchTimeout,
                             cudaErrorContextIsDestroyed,
                             cudaErrorAssert,
                             cudaErrorHardwareStackError,
                             cudaErrorIllegalInstruction,
                             cudaErrorMisalignedAddress,
                             cudaErrorInvalidAddressSpace,
                             cudaErrorInvalidPc,
                             cudaErrorLaunchFailure,
                             error_tensor_memory_leak,
                             cudaErrorMpsClientTerminated,
                             cudaErrorExternalDevice,
                             cudaErrorUnknown};
  return std::ranges::find(fatal, code) != fatal.end();
}

CudaError::CudaError(cudaError_t code, const Where& where)
    : std::runtime_error{fmt::format(
          "{}: {} at {}", cudaGetErrorName(code), cudaGetErrorString(code),
          place_text(where.file_name(), where.line(), where.function_name()))},
      code_{code} {
  // An error that is not sticky must not surface at the next launch check.
  (void)cudaGetLastError();
}

void cuda_release(cudaError_t status, const char* what) noexcept {
  if (status == cudaSuccess || status == cudaErrorCudartUnloading || is_sticky(status)) return;
  (void)std::fprintf(stderr, "warning: %s: %s\n", what, cudaGetErrorName(status));
  (void)cudaGetLastError();
}

}  // namespace strata
