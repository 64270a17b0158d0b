// Times copies, each by the events around it and by its caller's clock.
#pragma once

#include "harness/cuda/starting_gate.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/record/statistics.hpp"
#include "micro/transfer/copy_times.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::copy_times {

class CopyTimer {
 public:
  explicit CopyTimer(std::uint32_t copies) : begins_(copies), ends_(copies) {}

  /// A sample of `copy`, which makes one copy in the order of `stream`. Held back, its calls are
  /// made while the stream waits; a brief one is made once more for its caller's clock, without the
  /// recording of events and what holds it back.
  template <class Make>
  [[nodiscard]] Observation observe(const Stream& stream, bool held_back, bool brief, Make&& copy) {
    using Clock = std::chrono::steady_clock;
    const auto since = [](Clock::time_point began) {
      return std::chrono::duration<double>(Clock::now() - began).count();
    };
    std::vector<double> walls;
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      const auto began = Clock::now();
      if (held_back) gate_.shut(stream);
      begins_[i].record(stream.get());
      copy();
      ends_[i].record(stream.get());
      gate_.open();
      stream.synchronize();
      walls.push_back(since(began));
    }
    if (brief) {
      walls.clear();
      for (std::size_t i = 0; i < begins_.size(); ++i) {
        const auto began = Clock::now();
        copy();
        stream.synchronize();
        walls.push_back(since(began));
      }
    }
    std::vector<double> events;
    for (std::size_t i = 0; i < begins_.size(); ++i)
      events.push_back(ends_[i].seconds_since(begins_[i]));
    return {.event_seconds = middle_mean(events), .wall_seconds = middle_mean(walls)};
  }

  [[nodiscard]] Gate queue() const { return gate_.gate(); }
  [[nodiscard]] std::size_t copies() const { return begins_.size(); }

 private:
  starting_gate::StartingGate gate_;
  std::vector<Event> begins_;
  std::vector<Event> ends_;
};

}  // namespace strata::copy_times
