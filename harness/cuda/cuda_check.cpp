#include "harness/cuda/cuda_check.hpp"

#include "harness/case/text.hpp"

#include <cstdio>
#include <string>

namespace strata {
namespace {

std::string describe(cudaError_t code, const std::source_location& where) {
  std::string text = cudaGetErrorName(code);
  text.append(": ").append(cudaGetErrorString(code)).append(" at ");
  return text.append(place_text(where.file_name(), where.line(), where.function_name()));
}

}  // namespace

bool is_sticky(cudaError_t code) noexcept {
  switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:  // nothing is promised after it, and a new process costs a second
      return true;
    default:
      return false;
  }
}

CudaError::CudaError(cudaError_t code, const std::source_location& where)
    : std::runtime_error{describe(code, where)}, code_{code} {
  (void)
      cudaGetLastError();  // an error that is not sticky must not surface at the next launch check
}

void cuda_release(cudaError_t status, const char* what) noexcept {
  if (status == cudaSuccess || status == cudaErrorCudartUnloading || is_sticky(status)) return;
  (void)std::fprintf(stderr, "warning: %s: %s\n", what, cudaGetErrorName(status));
  (void)cudaGetLastError();
}

}  // namespace strata
