// Owners of plain device memory and of page-locked host memory. Managed memory is not offered: its
// page migrations happen inside whatever is being timed.
#pragma once

#include "harness/cuda/cuda_check.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <source_location>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace strata {
namespace detail {

/// Bytes of `count` elements of `size` bytes. Throws std::length_error when no number holds them.
inline std::size_t byte_count(std::size_t count, std::size_t size) {
  if (count > std::numeric_limits<std::size_t>::max() / size) {
    throw std::length_error{"more elements than memory has addresses"};
  }
  return count * size;
}

inline void require_same_size(std::size_t given, std::size_t own) {
  if (given != own) throw std::length_error{"a copy of another size than the buffer"};
}

}  // namespace detail

/// Owns `size()` elements of device memory, not initialised. Moves, never copies.
///
/// upload, download and to_host first wait for all work of the device, and return when the data are
/// there: they are right after and before work on any stream, and belong outside timed regions.
template <class T>
requires std::is_trivially_copyable_v<T>
class DeviceBuffer {
 public:
  using Where = std::source_location;

  explicit DeviceBuffer(std::size_t count, const Where& where = Where::current())
      : data_{allocate(count, where)}, count_{count} {}

  explicit DeviceBuffer(std::span<const T> host, const Where& where = Where::current())
      : DeviceBuffer{host.size(), where} {
    upload(host, where);
  }

  [[nodiscard]] T* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return count_ * sizeof(T); }

  /// Throws std::length_error unless `host` has size() elements.
  void upload(std::span<const T> host, const Where& where = Where::current()) {
    detail::require_same_size(host.size(), count_);
    cuda_check(cudaDeviceSynchronize(), where);
    cuda_check(cudaMemcpy(data(), host.data(), size_bytes(), cudaMemcpyHostToDevice), where);
    // From pageable memory cudaMemcpy may return while the last piece is still on its way, and a
    // non-blocking stream would not wait for it.
    cuda_check(cudaDeviceSynchronize(), where);
  }

  /// Throws std::length_error unless `host` has size() elements.
  void download(std::span<T> host, const Where& where = Where::current()) const {
    detail::require_same_size(host.size(), count_);
    cuda_check(cudaDeviceSynchronize(), where);
    cuda_check(cudaMemcpy(host.data(), data(), size_bytes(), cudaMemcpyDeviceToHost), where);
  }

  [[nodiscard]] std::vector<T> to_host(const Where& where = Where::current()) const {
    std::vector<T> host(count_);
    download(host, where);
    return host;
  }

  /// Sets every byte to the low eight bits of `byte`, on `stream`, so that a kernel that writes
  /// nothing cannot pass for one that wrote the right thing.
  void poison(int byte, cudaStream_t stream, const Where& where = Where::current()) {
    cuda_check(cudaMemsetAsync(data(), byte, size_bytes(), stream), where);
  }

 private:
  struct Free {
    void operator()(T* p) const noexcept { cuda_release(cudaFree(p), "cudaFree"); }
  };

  static T* allocate(std::size_t count, const Where& where) {
    void* p = nullptr;
    cuda_check(cudaMalloc(&p, detail::byte_count(count, sizeof(T))), where);
    return static_cast<T*>(p);
  }

  std::unique_ptr<T, Free> data_;
  std::size_t count_;
};

/// Owns `size()` elements of page-locked host memory, not initialised: asynchronous copies to and
/// from it do not pass through a staging buffer. Moves, never copies.
template <class T>
requires std::is_trivially_copyable_v<T>
class PinnedBuffer {
 public:
  using Where = std::source_location;

  explicit PinnedBuffer(std::size_t count, const Where& where = Where::current())
      : data_{allocate(count, where)}, count_{count} {}

  [[nodiscard]] T* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return count_ * sizeof(T); }
  [[nodiscard]] std::span<T> span() const noexcept { return {data(), count_}; }

  /// Copies from the host to `to` on `stream`; returns at once. This buffer must live and keep
  /// still until the stream got there. Throws std::length_error for another size.
  void upload_to(const DeviceBuffer<T>& to, cudaStream_t stream,
                 const Where& where = Where::current()) const {
    detail::require_same_size(to.size(), count_);
    cuda_check(cudaMemcpyAsync(to.data(), data(), size_bytes(), cudaMemcpyHostToDevice, stream),
               where);
  }

  /// Copies `from` into this buffer on `stream`; returns at once. Throws std::length_error for
  /// another size.
  void download_from(const DeviceBuffer<T>& from, cudaStream_t stream,
                     const Where& where = Where::current()) {
    detail::require_same_size(from.size(), count_);
    cuda_check(cudaMemcpyAsync(data(), from.data(), size_bytes(), cudaMemcpyDeviceToHost, stream),
               where);
  }

 private:
  struct Free {
    void operator()(T* p) const noexcept { cuda_release(cudaFreeHost(p), "cudaFreeHost"); }
  };

  static T* allocate(std::size_t count, const Where& where) {
    void* p = nullptr;
    cuda_check(cudaMallocHost(&p, detail::byte_count(count, sizeof(T))), where);
    return static_cast<T*>(p);
  }

  std::unique_ptr<T, Free> data_;
  std::size_t count_;
};

}  // namespace strata
