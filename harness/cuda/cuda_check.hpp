// Every CUDA call goes through cuda_check: a failure throws an exception that names the error and
// the call site, and knows whether this process can continue.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <source_location>
#include <stdexcept>

namespace strata {

/// The location of a call. Wrappers pass on their caller's.
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

/// For destructors: reports on stderr, never throws. An unloading runtime and a lost context are
/// not reported, because the loss was reported before.
void cuda_release(cudaError_t status, const char* what) noexcept;

/// An attribute of the current device.
[[nodiscard]] inline int device_attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

/// Makes kernels load when the context is created, not at their first launch, which would be inside
/// a measurement. Works only before the first CUDA call of the process. A setting of the user takes
/// precedence.
inline void load_modules_eagerly() {
  // No other thread exists yet, in a worker or in the diagnosis command.
  (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // NOLINT(concurrency-mt-unsafe)
}

/// The driver's function `name`, as of CUDA version `since` (1000 × major + 10 × minor); null if it
/// does not exist, or there is no driver: an executable that links libcuda does not start without
/// one. `Function` is decltype(&cuName).
template <class Function>
[[nodiscard]] Function driver_function(const char* name, unsigned since) {
  void* symbol = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &symbol, since, cudaEnableDefault, &found);
#else  // as of the CUDA version of this build
  (void)since;
  const cudaError_t status = cudaGetDriverEntryPoint(name, &symbol, cudaEnableDefault, &found);
#endif
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<Function>(symbol);
}

}  // namespace strata
