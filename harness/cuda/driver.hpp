// The CUDA driver's own functions, looked up at run time: an executable that links libcuda does not
// even start on a machine without a driver.
#pragma once

#include <cuda_runtime_api.h>

namespace strata {

/// Kernels are loaded when the context is made, not at their first launch, which would be inside a
/// measurement. Works only before the first CUDA call of the process. A user's own setting wins.
void load_modules_eagerly();

namespace detail {
/// Null when the driver has no such function, or there is no driver.
[[nodiscard]] void* driver_symbol(const char* name, unsigned since);
}  // namespace detail

/// The driver's function `name`, as of CUDA version `since` (1000 × major + 10 × minor); null when
/// there is none. `Function` is decltype(&cuName).
template <class Function>
[[nodiscard]] Function driver_function(const char* name, unsigned since) {
  return reinterpret_cast<Function>(detail::driver_symbol(name, since));
}

}  // namespace strata
