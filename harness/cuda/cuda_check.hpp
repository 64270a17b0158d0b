// Every CUDA call goes through cuda_check: a failure is an exception that names the error and the
// place, and knows whether anything can still run in this process.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <source_location>
#include <stdexcept>

namespace strata {

/// The place of a call. Wrappers pass on their caller's.
using Where = std::source_location;

/// True for an error that has destroyed the context: every later call in this process fails with
/// it, and only a new process can go on.
[[nodiscard]] bool is_sticky(cudaError_t code) noexcept;

/// A failed CUDA call: what() names the error, the call site and its function.
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const Where& where);
  [[nodiscard]] cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

/// Throws CudaError unless `status` is cudaSuccess.
inline void cuda_check(cudaError_t status, const Where& where = Where::current()) {
  if (status != cudaSuccess) throw CudaError{status, where};
}

/// For destructors: reports on stderr, never throws. A runtime that is unloading and a context that
/// is already lost are no news: whoever lost it has said so.
void cuda_release(cudaError_t status, const char* what) noexcept;

/// Of the current device.
[[nodiscard]] inline int device_attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

/// Kernels are loaded when the context is made, not at their first launch, which would be inside a
/// measurement. Works only before the first CUDA call of the process. A user's own setting wins.
inline void load_modules_eagerly() {
  // No other thread exists yet, in a worker or in the command that asks for a diagnosis.
  (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // NOLINT(concurrency-mt-unsafe)
}

/// The driver's function `name`, as of CUDA version `since` (1000 × major + 10 × minor); null when
/// there is none, or no driver: an executable that links libcuda does not even start without one.
/// `Function` is decltype(&cuName).
template <class Function>
[[nodiscard]] Function driver_function(const char* name, unsigned since) {
  void* symbol = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion(name, &symbol, since, cudaEnableDefault, &found) !=
          cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<Function>(symbol);
}

}  // namespace strata
