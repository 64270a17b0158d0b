// Owners of streams, events and graphs. Each has one owner, moves, and reports a failed release on
// stderr instead of throwing.
#pragma once

#include "harness/cuda/cuda_check.hpp"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace strata {

using HostClock = std::chrono::steady_clock;
/// Seconds on the host.
[[nodiscard]] inline double since(HostClock::time_point began) {
  return std::chrono::duration<double>(HostClock::now() - began).count();
}

namespace detail {

struct Destroy {
  void operator()(cudaStream_t stream) const noexcept {
    cuda_release(cudaStreamDestroy(stream), "cudaStreamDestroy");
  }
  void operator()(cudaEvent_t event) const noexcept {
    cuda_release(cudaEventDestroy(event), "cudaEventDestroy");
  }
  void operator()(cudaGraph_t graph) const noexcept {
    cuda_release(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
  void operator()(cudaGraphExec_t graph) const noexcept {
    cuda_release(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
  }
};

/// unique_ptr for a CUDA handle, which is a pointer to a type that only the runtime knows.
template <class Handle>
using Unique = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;

}  // namespace detail

/// A stream that does not wait for the default stream, nor makes it wait.
class Stream {
 public:
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
  detail::Unique<cudaStream_t> handle_;
};

/// A point in a stream, with the time at which the device got there.
class Event {
 public:
  Event(const Where& where = Where::current()) {
    cudaEvent_t handle = nullptr;
    cuda_check(cudaEventCreate(&handle), where);
    handle_.reset(handle);
  }

  void record(const Stream& stream, const Where& where = Where::current()) {
    record_in(stream.get(), where);
  }
  void record_in(cudaStream_t stream, const Where& where = Where::current()) {
    cuda_check(cudaEventRecord(handle_.get(), stream), where);
  }
  /// What `stream` is given from here on waits for this.
  void hold_back(const Stream& stream, const Where& where = Where::current()) const {
    cuda_check(cudaStreamWaitEvent(stream.get(), handle_.get(), 0), where);
  }
  /// Waits for this event. Both must have been recorded, `begin` before this one.
  [[nodiscard]] double seconds_since(const Event& begin,
                                     const Where& where = Where::current()) const {
    cuda_check(cudaEventSynchronize(handle_.get()), where);
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, begin.handle_.get(), handle_.get()), where);
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  detail::Unique<cudaEvent_t> handle_;
};

/// A stream that works beside another one for a while.
class SideStream {
 public:
  [[nodiscard]] const Stream& stream() const { return stream_; }
  /// What it is given from here on waits for what `main` was given.
  void fork(const Stream& main) {
    fork_.record(main);
    fork_.hold_back(stream_);
  }
  /// What `main` is given from here on waits for what this was given.
  void join(const Stream& main) {
    join_.record(stream_);
    join_.hold_back(main);
  }

 private:
  Stream stream_;
  Event fork_;
  Event join_;
};

/// Where the second of two pieces of work goes: a stream, with events of its device.
struct Beside {
  Stream stream;
  Event begin;
  Event end;
};

/// Two pieces of work side by side, both in the order of one stream.
class SideBySide {
 public:
  /// The second goes into `side`, which may be another device's.
  explicit SideBySide(Beside side = {}) : side_{std::move(side)} {}

  /// Each of them is given the stream that it goes into: the first `main`, the second another one.
  /// `timed`: with events for overlap(), which cost what is brief some microseconds.
  template <std::invocable<const Stream&> First, std::invocable<const Stream&> Second>
  void run(const Stream& main, bool timed, First&& first, Second&& second) {
    fork_.record(main);
    fork_.hold_back(side_.stream);
    if (timed) side_.begin.record(side_.stream);
    std::forward<Second>(second)(side_.stream);
    side_.end.record(side_.stream);
    std::forward<First>(first)(main);
    if (timed) first_done_.record(main);
    side_.end.hold_back(main);
    if (timed) both_done_.record(main);
  }

  /// Of the time that both took in the last run, which was timed: the share in which both were
  /// under way, or less. Queued one behind the other they come to a half at most.
  [[nodiscard]] double overlap() const {
    const double both = both_done_.seconds_since(fork_);
    return (first_done_.seconds_since(fork_) + side_.end.seconds_since(side_.begin) - both) / both;
  }

 private:
  Beside side_;
  Event fork_;
  Event first_done_;
  Event both_done_;
};

namespace detail {

/// What `work` launches on `stream`. When it throws, the capture is ended and the stream can be
/// used again.
template <std::invocable Work>
[[nodiscard]] Unique<cudaGraph_t> captured(const Stream& stream, Work&& work, const Where& where) {
  // Thread-local: what other threads do meanwhile cannot spoil the capture.
  cuda_check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), where);
  Unique<cudaGraph_t> graph;
  const auto end = [&] {
    cudaGraph_t handle = nullptr;
    const cudaError_t status = cudaStreamEndCapture(stream.get(), &handle);
    graph.reset(handle);
    return status;
  };
  try {
    std::forward<Work>(work)();
  } catch (...) {
    (void)end();
    (void)cudaGetLastError();
    throw;
  }
  cuda_check(end(), where);
  return graph;
}

}  // namespace detail

/// How many kernels, fills and copies `work` queues on `stream`, as the runtime has them. None of
/// them runs. `work` must not synchronise or allocate.
template <std::invocable Work>
[[nodiscard]] std::size_t queued_operations(const Stream& stream, Work&& work,
                                            const Where& where = Where::current()) {
  const auto graph = detail::captured(stream, std::forward<Work>(work), where);
  std::size_t count = 0;
  cuda_check(cudaGraphGetNodes(graph.get(), nullptr, &count), where);
  return count;
}

/// Work recorded once, to be run any number of times.
class Graph {
 public:
  /// What `work` launches on `stream`. None of it runs, but it comes to the device, so that the
  /// first launch costs what the others do. `work` must not synchronise or allocate.
  template <std::invocable Work>
  Graph(const Stream& stream, Work&& work, const Where& where = Where::current()) {
    const auto captured = detail::captured(stream, std::forward<Work>(work), where);
    cudaGraphExec_t handle = nullptr;
    cuda_check(cudaGraphInstantiate(&handle, captured.get(), 0), where);
    handle_.reset(handle);
    cuda_check(cudaGraphUpload(handle, stream.get()), where);
    stream.synchronize(where);
  }

  void launch(const Stream& stream, const Where& where = Where::current()) {
    cuda_check(cudaGraphLaunch(handle_.get(), stream.get()), where);
  }

 private:
  detail::Unique<cudaGraphExec_t> handle_;
};

/// A function that runs `repetitions` of `work` as a graph and returns the seconds of one. Stream
/// and events must outlive it.
template <std::invocable Work>
[[nodiscard]] auto replays(const Stream& stream, Event& begin, Event& end, int repetitions,
                           const Work& work) {
  const auto all = [&] {
    for (int i = 0; i < repetitions; ++i)
      work();
  };
  const auto graph = std::make_shared<Graph>(stream, all, Where::current());
  return [&stream, &begin, &end, repetitions, graph] {
    begin.record(stream);
    graph->launch(stream);
    end.record(stream);
    return end.seconds_since(begin) / repetitions;
  };
}

}  // namespace strata
