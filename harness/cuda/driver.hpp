// The CUDA driver's own functions, looked up at run time: an executable that links libcuda does not
// even start on a machine without a driver.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdlib>

namespace strata {

/// Kernels are loaded when the context is made, not at their first launch, which would be inside a
/// measurement. Works only before the first CUDA call of the process. A user's own setting wins.
inline void load_modules_eagerly() {
  // No other thread exists yet, in a worker or in the command that asks for a diagnosis.
  (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // NOLINT(concurrency-mt-unsafe)
}

/// The driver's function `name`, as of CUDA version `since` (1000 × major + 10 × minor); null when
/// there is none, or no driver. `Function` is decltype(&cuName).
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
