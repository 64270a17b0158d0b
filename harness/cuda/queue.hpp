// Vectors on both sides, and a stream that counts copies and launches, and marks their phase
// for a tracer.
#pragma once

#include "harness/counters/tracer.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/model/queued.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>

namespace strata {

/// A vector on both sides.
template <class T>
struct TwoSided {
  static constexpr int poison_byte = 0xFF;  ///< floats are then no numbers

  DeviceBuffer<T> device;
  PinnedBuffer<T> host;

  explicit TwoSided(std::size_t count) : device{count}, host{count} {}
  void poison(const Stream& stream) {
    device.poison(poison_byte, stream.get());
    std::memset(static_cast<void*>(host.data()), poison_byte, host.size_bytes());
  }
};

template <class... Parameters>
[[nodiscard]] const void* code_of(void (*kernel)(Parameters...)) {
  return reinterpret_cast<const void*>(kernel);
}

/// Of a kernel.
struct LaunchShape {
  dim3 blocks;
  dim3 block;
  std::size_t shared = 0;  ///< bytes that a block is given
};

/// A stream, and what went into it.
class Queue {
 public:
  explicit Queue(const Stream& stream, Tracer* tracer = nullptr)
      : stream_{stream}, tracer_{tracer} {}

  [[nodiscard]] const Stream& stream() const { return stream_; }
  [[nodiscard]] const Queued& traffic() const { return traffic_; }
  [[nodiscard]] Tracer* tracer() const { return tracer_; }

  template <class T>
  void copy_in(const PinnedBuffer<T>& host, const DeviceBuffer<T>& device) {
    copy(Activity::Of::copy_in, host.size_bytes(), [&] { host.upload_to(device, stream_.get()); });
  }
  template <class T>
  void copy_in(const TwoSided<T>& vector) {
    copy_in(vector.host, vector.device);
  }
  template <class T>
  void copy_out(TwoSided<T>& vector) {
    copy(Activity::Of::copy_out, vector.host.size_bytes(),
         [&] { vector.host.download_from(vector.device, stream_.get()); });
  }
  /// So many elements from `first` on.
  template <class T>
  void copy_out(TwoSided<T>& vector, std::size_t first, std::size_t count) {
    copy_bytes(Activity::Of::copy_out, vector.host.data() + first, vector.device.data() + first,
               count * sizeof(T));
  }
  void copy_bytes(Activity::Of of, void* to, const void* from, std::size_t bytes) {
    const auto kind = of == Activity::Of::copy_in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    copy(of, bytes, [&] { cuda_check(cudaMemcpyAsync(to, from, bytes, kind, stream_.get())); });
  }
  template <class T>
  void fill(DeviceBuffer<T>& memory, int byte) {
    queue_piece(tracer_, stream_.get(), {.of = Activity::Of::fill},
                [&] { memory.poison(byte, stream_.get()); });
    ++traffic_.launches;
  }
  template <class T>
  void clear(DeviceBuffer<T>& memory) {
    fill(memory, 0);
  }
  template <class... Parameters, class... Arguments>
  void launch_blocks(void (*kernel)(Parameters...), const LaunchShape& shape,
                     const Arguments&... arguments) {
    const char* name = nullptr;
    if (if_recording(tracer_) != nullptr) cuda_check(cudaFuncGetName(&name, code_of(kernel)));
    std::tuple<Parameters...> values{arguments...};
    const auto launch = [&](auto&... value) {
      std::array<void*, sizeof...(Parameters)> places{static_cast<void*>(&value)...};
      cuda_check(cudaLaunchKernel(code_of(kernel), shape.blocks, shape.block, places.data(),
                                  shape.shared, stream_.get()));
    };
    launch_as(name == nullptr ? "" : name, 1, [&] { std::apply(launch, values); });
  }
  /// So many copies of so many bytes together, which work() queues.
  template <class Work>
  void copy(Activity::Of of, std::size_t bytes, const Work& work, std::uint64_t copies = 1) {
    queue_piece(tracer_, stream_.get(), {.of = of, .bytes = bytes, .count = copies}, work);
    count({.copies = copies, .bytes = bytes});
  }
  /// So many launches by work(), of a function with this name.
  template <class Work>
  void launch_as(const char* name, std::size_t launches, const Work& work) {
    queue_piece(tracer_, stream_.get(), {.kernel = name, .count = launches}, work);
    count({.launches = launches});
  }
  /// What the host does itself while this lives is for `phase`.
  [[nodiscard]] HostPhase on_host(StepPhase phase) const { return {tracer_, phase}; }
  /// Adds copies and launches made elsewhere.
  void count(const Queued& more) { traffic_ = traffic_ + more; }
  /// Until everything is done that was queued.
  void wait() const { stream_.synchronize(); }

 private:
  const Stream& stream_;
  Tracer* tracer_;
  Queued traffic_;
};

}  // namespace strata
