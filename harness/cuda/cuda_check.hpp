// Every CUDA call goes through cuda_check: a failure is an exception that names the error and the
// place, and knows whether anything can still run in this process.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>

namespace strata {

/// True for an error that has destroyed the context: every later call in this process fails with
/// it, and only a new process can go on.
[[nodiscard]] bool is_sticky(cudaError_t code) noexcept;

/// A failed CUDA call: what() names the error, the call site and its function.
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const std::source_location& where);
  [[nodiscard]] cudaError_t code() const noexcept { return code_; }
  [[nodiscard]] bool is_sticky() const noexcept { return strata::is_sticky(code_); }

 private:
  cudaError_t code_;
};

/// Throws CudaError unless `status` is cudaSuccess. Wrappers pass on their caller's place.
inline void cuda_check(cudaError_t status,
                       const std::source_location& where = std::source_location::current()) {
  if (status != cudaSuccess) throw CudaError{status, where};
}

/// For destructors: reports on stderr, never throws. A runtime that is unloading and a context that
/// is already lost are no news: whoever lost it has said so.
void cuda_release(cudaError_t status, const char* what) noexcept;

}  // namespace strata
