// Owners of plain device memory, page-locked host memory and textures. Managed memory is not
// offered, because its page migrations would happen inside the timed code.
#pragma once

#include "harness/base/error.hpp"
#include "harness/base/finally.hpp"
#include "harness/cuda/cuda_check.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace strata {

/// Elements in device memory or in page-locked host memory, not initialised. Moves, never copies.
/// emplace() and make_shared() pass Where::current(): CUDA 12.4 has an internal error where the
/// standard library evaluates it.
template <class T, bool on_device>
requires std::is_trivially_copyable_v<T>
class Buffer {
 public:
  explicit Buffer(std::size_t count, const Where& where = Where::current()) : count_{count} {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      throw std::length_error{"more elements than memory can address"};
    }
    void* at = nullptr;
    cuda_check(on_device ? cudaMalloc(&at, size_bytes()) : cudaMallocHost(&at, size_bytes()),
               where);
    data_.reset(static_cast<T*>(at));
  }
  explicit Buffer(std::span<const T> host, const Where& where = Where::current()) requires on_device
      : Buffer{host.size(), where} {
    upload(host, where);
  }

  [[nodiscard]] T* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return count_ * sizeof(T); }
  [[nodiscard]] std::span<T> span() const noexcept requires(!on_device) { return {data(), size()}; }

  // Copies to and from any host memory: they wait for all work of the device, and return when the
  // data have arrived. They are correct after and before work on any stream, and belong outside
  // timed regions. All copies throw std::length_error for another size.
  void upload(std::span<const T> host, const Where& where = Where::current()) requires on_device {
    require_same_size(host.size());
    cuda_check(cudaDeviceSynchronize(), where);
    cuda_check(cudaMemcpy(data(), host.data(), size_bytes(), cudaMemcpyHostToDevice), where);
    // From pageable memory cudaMemcpy may return before the last piece has arrived, and a
    // non-blocking stream would not wait for it.
    cuda_check(cudaDeviceSynchronize(), where);
  }
  void download(std::span<T> host, const Where& where = Where::current()) const requires on_device {
    require_same_size(host.size());
    cuda_check(cudaDeviceSynchronize(), where);
    cuda_check(cudaMemcpy(host.data(), data(), size_bytes(), cudaMemcpyDeviceToHost), where);
  }
  [[nodiscard]] std::vector<T> to_host(
      const Where& where = Where::current()) const requires on_device {
    std::vector<T> host(count_);
    download(host, where);
    return host;
  }

  /// Sets every byte to the low eight bits of `byte`, on `stream`, so that a kernel that writes
  /// nothing cannot seem correct.
  void poison(int byte, cudaStream_t stream,
              const Where& where = Where::current()) requires on_device {
    cuda_check(cudaMemsetAsync(data(), byte, size_bytes(), stream), where);
  }

  // Copies between page-locked and device memory that return at once. This buffer must exist and
  // not move until the stream has reached them.
  void upload_to(const Buffer<T, true>& to, cudaStream_t stream,
                 const Where& where = Where::current()) const requires(!on_device) {
    require_same_size(to.size());
    cuda_check(cudaMemcpyAsync(to.data(), data(), size_bytes(), cudaMemcpyHostToDevice, stream),
               where);
  }
  void download_from(const Buffer<T, true>& from, cudaStream_t stream,
                     const Where& where = Where::current()) requires(!on_device) {
    require_same_size(from.size());
    cuda_check(cudaMemcpyAsync(data(), from.data(), size_bytes(), cudaMemcpyDeviceToHost, stream),
               where);
  }

 private:
  struct Free {
    void operator()(T* at) const noexcept {
      cuda_release(on_device ? cudaFree(at) : cudaFreeHost(at),
                   on_device ? "cudaFree" : "cudaFreeHost");
    }
  };
  void require_same_size(std::size_t given) const {
    if (given != count_) throw std::length_error{"the size of the copy differs from the buffer"};
  }

  std::unique_ptr<T, Free> data_;
  std::size_t count_;
};

template <class T>
using DeviceBuffer = Buffer<T, true>;
/// Asynchronous copies to and from it do not pass through a staging buffer.
template <class T>
using PinnedBuffer = Buffer<T, false>;

/// A linear texture of 32-bit words, or of elements of four, over memory that it does not own.
struct WordTexture {
  cudaTextureObject_t object = 0;
  Finally destroy;
};
/// `words` of an element: 1 or 4. Throws Skipped if a texture cannot have that many elements.
[[nodiscard]] inline WordTexture word_texture(void* data, std::uint64_t bytes, unsigned words = 1) {
  const int most = device_attribute(cudaDevAttrMaxTexture1DLinearWidth);
  if (bytes / sizeof(std::uint32_t) / words > static_cast<std::uint64_t>(most)) {
    throw Skipped{"a texture has at most " + std::to_string(most) + " elements here"};
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  const int more = words == 1 ? 0 : 32;  // bits of each further word
  resource.res.linear.desc =
      cudaCreateChannelDesc(32, more, more, more, cudaChannelFormatKindUnsigned);
  resource.res.linear.sizeInBytes = bytes;
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  WordTexture made;
  cuda_check(cudaCreateTextureObject(&made.object, &resource, &how, nullptr));
  made.destroy = finally([object = made.object] {
    cuda_release(cudaDestroyTextureObject(object), "cudaDestroyTextureObject");
  });
  return made;
}

}  // namespace strata
