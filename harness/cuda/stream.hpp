// Owners of streams, events and graphs. Each has one owner, moves, and reports a failed release on
// stderr instead of throwing.
#pragma once

#include "harness/cuda/cuda_check.hpp"

#include <concepts>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

namespace strata {
namespace detail {

/// unique_ptr for a CUDA handle, which is a pointer to a type that only the runtime knows.
template <class Handle, class Destroy>
using UniqueHandle = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;

}  // namespace detail

/// A stream that does not wait for the default stream, nor makes it wait.
class Stream {
 public:
  using Where = std::source_location;

  // Not explicit: an aggregate of a stream and more is made from empty braces.
  Stream(const Where& where = Where::current()) {
    cudaStream_t handle = nullptr;
    cuda_check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), where);
    handle_.reset(handle);
  }

  [[nodiscard]] cudaStream_t get() const noexcept { return handle_.get(); }

  void synchronize(const Where& where = Where::current()) const {
    cuda_check(cudaStreamSynchronize(get()), where);
  }

 private:
  struct Destroy {
    void operator()(cudaStream_t s) const noexcept {
      cuda_release(cudaStreamDestroy(s), "cudaStreamDestroy");
    }
  };
  detail::UniqueHandle<cudaStream_t, Destroy> handle_;
};

/// A point in a stream, with the time at which the device got there.
class Event {
 public:
  using Where = std::source_location;

  Event(const Where& where = Where::current()) {
    cudaEvent_t handle = nullptr;
    cuda_check(cudaEventCreateWithFlags(&handle, cudaEventDefault), where);
    handle_.reset(handle);
  }

  [[nodiscard]] cudaEvent_t get() const noexcept { return handle_.get(); }

  void record(cudaStream_t stream, const Where& where = Where::current()) {
    cuda_check(cudaEventRecord(get(), stream), where);
  }
  void synchronize(const Where& where = Where::current()) const {
    cuda_check(cudaEventSynchronize(get()), where);
  }
  /// Waits for this event. Both must have been recorded, `begin` before this one.
  [[nodiscard]] double seconds_since(const Event& begin,
                                     const Where& where = Where::current()) const {
    synchronize(where);
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, begin.get(), get()), where);
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  struct Destroy {
    void operator()(cudaEvent_t e) const noexcept {
      cuda_release(cudaEventDestroy(e), "cudaEventDestroy");
    }
  };
  detail::UniqueHandle<cudaEvent_t, Destroy> handle_;
};

/// Two pieces of work side by side, both in the order of one stream.
class SideBySide {
 public:
  /// Each of them is given the stream that it goes into: the first `main`, the second another one.
  template <std::invocable<const Stream&> First, std::invocable<const Stream&> Second>
  void run(const Stream& main, First&& first, Second&& second) {
    fork_.record(main.get());
    cuda_check(cudaStreamWaitEvent(side_.get(), fork_.get(), 0));
    std::forward<First>(first)(main);
    std::forward<Second>(second)(side_);
    join_.record(side_.get());
    cuda_check(cudaStreamWaitEvent(main.get(), join_.get(), 0));
  }

 private:
  Stream side_;
  Event fork_;
  Event join_;
};

/// Work recorded once, to be instantiated.
class Graph {
 public:
  using Where = std::source_location;

  /// What `work` launches on `stream`. Nothing runs. `work` must not synchronise or allocate. When
  /// it throws, the capture is ended and the stream can be used again.
  template <std::invocable Work>
  [[nodiscard]] static Graph capture(cudaStream_t stream, Work&& work,
                                     const Where& where = Where::current()) {
    // Thread-local: what other threads do meanwhile cannot spoil the capture.
    cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), where);
    Graph graph;
    try {
      std::forward<Work>(work)();
    } catch (...) {
      (void)graph.end_capture(stream);
      (void)cudaGetLastError();
      throw;
    }
    cuda_check(graph.end_capture(stream), where);
    return graph;
  }

  [[nodiscard]] cudaGraph_t get() const noexcept { return handle_.get(); }

 private:
  Graph() = default;

  cudaError_t end_capture(cudaStream_t stream) {
    cudaGraph_t handle = nullptr;
    const cudaError_t status = cudaStreamEndCapture(stream, &handle);
    handle_.reset(handle);
    return status;
  }

  struct Destroy {
    void operator()(cudaGraph_t g) const noexcept {
      cuda_release(cudaGraphDestroy(g), "cudaGraphDestroy");
    }
  };
  detail::UniqueHandle<cudaGraph_t, Destroy> handle_;
};

/// A graph made ready to run any number of times.
class GraphExec {
 public:
  using Where = std::source_location;

  explicit GraphExec(const Graph& graph, const Where& where = Where::current()) {
    cudaGraphExec_t handle = nullptr;
    cuda_check(cudaGraphInstantiate(&handle, graph.get(), 0), where);
    handle_.reset(handle);
  }

  [[nodiscard]] cudaGraphExec_t get() const noexcept { return handle_.get(); }

  /// Brings the graph to the device, so that the first launch costs what the others do.
  void upload(cudaStream_t stream, const Where& where = Where::current()) {
    cuda_check(cudaGraphUpload(get(), stream), where);
  }
  void launch(cudaStream_t stream, const Where& where = Where::current()) {
    cuda_check(cudaGraphLaunch(get(), stream), where);
  }

 private:
  struct Destroy {
    void operator()(cudaGraphExec_t g) const noexcept {
      cuda_release(cudaGraphExecDestroy(g), "cudaGraphExecDestroy");
    }
  };
  detail::UniqueHandle<cudaGraphExec_t, Destroy> handle_;
};

}  // namespace strata
