// A texture of words in device memory.
#pragma once

#include "harness/case/error.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/occupancy.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace strata {

/// Owns a linear texture of 32-bit words over memory that is not its own.
class WordTexture {
 public:
  /// Throws Skipped where a texture cannot have so many words.
  WordTexture(void* data, std::uint64_t bytes) {
    const int most = device_attribute(cudaDevAttrMaxTexture1DLinearWidth);
    if (bytes / sizeof(std::uint32_t) > static_cast<std::uint64_t>(most)) {
      throw Skipped{"a texture has at most " + std::to_string(most) + " elements here"};
    }
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
    resource.res.linear.sizeInBytes = bytes;
    cudaTextureDesc how{};
    how.readMode = cudaReadModeElementType;
    cuda_check(cudaCreateTextureObject(&object_, &resource, &how, nullptr));
  }
  WordTexture(const WordTexture&) = delete;
  WordTexture& operator=(const WordTexture&) = delete;
  WordTexture(WordTexture&&) = delete;
  WordTexture& operator=(WordTexture&&) = delete;
  ~WordTexture() { cuda_release(cudaDestroyTextureObject(object_), "cudaDestroyTextureObject"); }
  [[nodiscard]] cudaTextureObject_t get() const noexcept { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

}  // namespace strata
