// A machine without a device: it logs the calls of the engine, in order, and returns the times
// and stamps that a test gives it.
#pragma once

#include "harness/measure/machine.hpp"

#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata {

/// The names of the timers of each backend, as readers of results know them.
inline const TimerNames cuda_timers{.inside = "clock64_slope",
                                    .outside = "event_slope",
                                    .whole = "event",
                                    .clock = "clock64_over_globaltimer"};
inline const TimerNames host_timers{.inside = "tsc_slope",
                                    .outside = "monotonic_slope",
                                    .whole = "monotonic",
                                    .clock = "dependent_adds",
                                    .clock_may_change = true};

class FakeMachine final : public Machine {
 public:
  static constexpr int poison_byte = 0xA5;

  explicit FakeMachine(std::size_t writers = 1) : device(writers), landed_(writers) {}

  /// Logs a step of the engine or of the test. Throws std::runtime_error where `broken` names it.
  void log(const std::string& step) {
    calls += (calls.empty() ? "" : " ") + step;
    if (step == broken) throw std::runtime_error{"broken: " + step};
  }
  [[nodiscard]] bool is_poisoned() const {
    Stamp poison;
    std::memset(&poison, poison_byte, sizeof poison);
    for (const Stamp& stamp : device) {
      if (std::memcmp(&stamp, &poison, sizeof poison) != 0) return false;
    }
    return true;
  }

  [[nodiscard]] const TimerNames& names() const override { return timers; }
  void evict() override { log("evict"); }
  void touch(const void* data, std::size_t bytes) override {
    touched = {static_cast<const std::byte*>(data), bytes};
    log("touch");
  }
  void poison() override {
    for (Stamp& stamp : device)
      std::memset(&stamp, poison_byte, sizeof stamp);
    log("poison");
  }
  void launch(const std::function<void()>& work) override { work(); }
  [[nodiscard]] double time(const std::function<void()>& work, bool held) override {
    log(held ? "time_held" : "time");
    work();
    landed_ = device;
    return seconds;
  }
  void land() override {
    log("land");
    landed_ = device;
  }
  [[nodiscard]] std::span<const Stamp> stamps() const override { return landed_; }
  [[nodiscard]] KernelCode code(const void* kernel) const override {
    return kernel == spilling ? KernelCode{.local_bytes = 8, .registers = 255}
                              : KernelCode{.local_bytes = 0, .registers = 32};
  }
  [[nodiscard]] std::optional<Gate> gate() const override { return own_gate; }
  [[nodiscard]] std::uint64_t switches() override { return switched; }
  [[nodiscard]] std::optional<double> seconds_waited() const override { return waited; }

  std::string calls;          ///< in order, separated by blanks
  std::string broken;         ///< the step that throws
  std::vector<Stamp> device;  ///< what launches write; it lands when the engine fetches it
  double seconds = 0;         ///< that the next launch takes
  TimerNames timers = cuda_timers;
  std::span<const std::byte> touched;
  const void* spilling = nullptr;  ///< a kernel with local memory
  std::optional<Gate> own_gate;
  std::uint64_t switched = 0;    ///< context switches so far
  std::optional<double> waited;  ///< seconds without a CPU so far

 private:
  std::vector<Stamp> landed_;
};

}  // namespace strata
