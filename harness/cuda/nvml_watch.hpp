// Polls NVML in its own thread while kernels run.
#pragma once

#include "harness/cuda/nvml.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace strata {

/// A reading and its time.
struct TimedReading {
  double seconds = 0;  ///< since the watch began
  NvmlReading reading;
};

class NvmlWatch {
 public:
  /// Reads at once and then repeatedly, with that pause between two readings. `device` must outlive
  /// the watch.
  NvmlWatch(const NvmlDevice& device, std::chrono::milliseconds pause);
  /// The same of another meter; never if `read` is empty.
  NvmlWatch(std::function<NvmlReading()> read, std::chrono::milliseconds pause);

  [[nodiscard]] double seconds() const;  ///< since it began
  /// Ends the watch and returns the readings in order; none for a device unknown to NVML.
  [[nodiscard]] std::vector<TimedReading> stop();

 private:
  using Clock = std::chrono::steady_clock;
  void read_until(const std::stop_token& stop, std::chrono::milliseconds pause);

  std::function<NvmlReading()> read_;
  Clock::time_point began_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::vector<TimedReading> readings_;  // used only by the thread until it ends
  std::jthread thread_;                 // last, so that it ends before the members that it uses
};

}  // namespace strata
