// Asks NVML again and again, on a thread of its own, while kernels run.
#pragma once

#include "harness/cuda/nvml.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace strata {

/// A reading, and when it was taken.
struct TimedReading {
  double seconds = 0;  ///< since the watch began
  NvmlReading reading;
};

class NvmlWatch {
 public:
  /// Reads at once and then with so long a pause between two readings. `device` outlives the watch.
  NvmlWatch(const NvmlDevice& device, std::chrono::milliseconds pause);

  [[nodiscard]] double seconds() const;  ///< since it began
  /// Ends it, and gives what was read, in order. Of a device that NVML does not know: nothing.
  [[nodiscard]] std::vector<TimedReading> stop();

 private:
  using Clock = std::chrono::steady_clock;
  void read_until(const std::stop_token& stop, std::chrono::milliseconds pause);

  const NvmlDevice& device_;
  Clock::time_point began_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::vector<TimedReading> readings_;  // the thread's until it has ended
  std::jthread thread_;                 // last: it ends before what it uses
};

}  // namespace strata
