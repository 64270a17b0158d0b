#include "harness/device/cuda_check.hpp"

#include <cstdio>
#include <string>
#include <string_view>

namespace strata {
namespace {

/// The last two parts of a path: the place in this project, whatever folder it was built in.
std::string_view short_path(std::string_view file) {
  const auto name = file.rfind('/');
  if (name == std::string_view::npos || name == 0) return file;
  const auto folder = file.rfind('/', name - 1);
  return folder == std::string_view::npos ? file : file.substr(folder + 1);
}

std::string describe(cudaError_t code, const std::source_location& where) {
  std::string text = cudaGetErrorName(code);
  text.append(": ").append(cudaGetErrorString(code)).append(" at ");
  text.append(short_path(where.file_name())).append(":").append(std::to_string(where.line()));
  return text.append(" in ").append(where.function_name());
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
