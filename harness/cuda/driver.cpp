#include "harness/cuda/driver.hpp"

#include <cstdlib>

namespace strata {

void load_modules_eagerly() {
  // No other thread exists yet, in a worker or in the command that asks for a diagnosis.
  (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // NOLINT(concurrency-mt-unsafe)
}

void* detail::driver_symbol(const char* name, unsigned since) {
  void* symbol = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion(name, &symbol, since, cudaEnableDefault, &found) !=
          cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return symbol;
}

}  // namespace strata
