// Two ways to time work from outside: a pair of events around launches, and a graph of the same
// work replayed between a pair of events. Both hold the gap between the first event and the work's
// start; it cancels in the slope between a short and a long piece of work.
#pragma once

#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"

#include <concepts>
#include <source_location>
#include <stdexcept>
#include <utility>

namespace strata {

/// Times what is launched on a stream between two events.
class EventTimer {
 public:
  using Where = std::source_location;

  /// Seconds from before `work`, which launches on `stream`, to the end of all that it launched.
  template <std::invocable Work>
  [[nodiscard]] double seconds(const Stream& stream, Work&& work,
                               const Where& where = Where::current()) {
    begin_.record(stream.get(), where);
    std::forward<Work>(work)();
    end_.record(stream.get(), where);
    return end_.seconds_since(begin_, where);
  }

 private:
  Event begin_;
  Event end_;
};

/// Captures `work` some times over into one graph, then times replays of it: the device goes from
/// one repetition to the next without the host. `work` itself is called in the constructor only,
/// and its launches keep the arguments that they had then. The stream must outlive the timer.
class GraphTimer {
 public:
  using Where = std::source_location;

  template <std::invocable Work>
  GraphTimer(const Stream& stream, int repetitions, Work&& work,
             const Where& where = Where::current())
      : stream_{stream.get()},
        repetitions_{at_least_one(repetitions)},
        graph_{Graph::capture(
            stream.get(),
            [&] {
              for (int i = 0; i < repetitions; ++i)
                work();
            },
            where)} {
    graph_.upload(stream_, where);
    cuda_check(cudaStreamSynchronize(stream_), where);
  }

  /// Seconds of one repetition: a whole replay ÷ the repetitions.
  [[nodiscard]] double seconds(const Where& where = Where::current()) {
    begin_.record(stream_, where);
    graph_.launch(stream_, where);
    end_.record(stream_, where);
    return end_.seconds_since(begin_, where) / repetitions_;
  }

 private:
  static int at_least_one(int repetitions) {
    if (repetitions < 1) throw std::invalid_argument{"a graph needs at least one repetition"};
    return repetitions;
  }

  cudaStream_t stream_;
  int repetitions_;
  GraphExec graph_;
  Event begin_;
  Event end_;
};

}  // namespace strata
