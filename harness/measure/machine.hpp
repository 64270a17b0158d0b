// The engine's interface to a device. Host only. Implemented by harness/cuda, harness/cpu and the
// fake of the tests.
#pragma once

#include "harness/measure/stamp.hpp"
#include "harness/record/measurement.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace strata {

/// Names of a device's timers, as in the column `method`.
struct TimerNames {
  std::string inside;   ///< slope of the core's own clock
  std::string outside;  ///< slope of the timer around launches
  std::string whole;    ///< the timer around one launch
  std::string clock;    ///< how the rate of the core's clock is found
  /// Each launch has its own conversion to cycles, so a clock that changes is no error.
  bool clock_may_change = false;
};

/// What the compiler made of a kernel.
struct KernelCode {
  std::size_t local_bytes = 0;   ///< local memory of a thread
  int registers = 0;             ///< of a thread
  std::size_t shared_bytes = 0;  ///< of a block, known at compile time
};

/// Seconds of work that involves the host.
struct BothSides {
  double device = 0;  ///< between the events around it
  double caller = 0;  ///< from the first call to the end of the wait
  double calls = 0;   ///< in the calls alone
};

/// Work queued before and after the timed work, outside its events. Either may be empty.
struct Around {
  std::function<void()> before;
  std::function<void()> after;
};

class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  Machine(Machine&&) = delete;
  Machine& operator=(Machine&&) = delete;
  virtual ~Machine() = default;

  [[nodiscard]] virtual const TimerNames& names() const = 0;

  /// Evicts the contents of the caches.
  virtual void evict() = 0;
  /// Reads `bytes` from `data`, so that L2 holds what fits.
  virtual void touch(const void* data, std::size_t bytes) = 0;
  /// Overwrites stamps and outputs, so that a launch that writes nothing cannot pass as correct.
  virtual void poison() = 0;
  /// Runs `work`, which queues launches. Throws if one could not be queued.
  virtual void launch(const std::function<void()>& work) = 0;
  /// Seconds that the launches of `work` take, by the outer timer. On return, stamps and outputs
  /// are on the host. `held`: the device waits until all of `work` is queued, so the time of the
  /// calls is not included.
  [[nodiscard]] virtual double time(const std::function<void()>& work, bool held) = 0;
  /// Copies stamps and outputs to the host, after all launches.
  virtual void land() = 0;
  /// The stamps of the last land() or time().
  [[nodiscard]] virtual std::span<const Stamp> stamps() const = 0;

  [[nodiscard]] virtual KernelCode code(const void* kernel) const = 0;
  /// A check of the device: held launches were queued before they began (GPU), no other thread
  /// shared the cores (CPU). Empty if there is nothing to check.
  [[nodiscard]] virtual std::optional<Gate> gate() const = 0;

  /// Involuntary context switches and migrations so far of the threads that work. A sample during
  /// which they increase was disturbed.
  [[nodiscard]] virtual std::uint64_t switches() { return 0; }
  /// Seconds that these threads have waited for a CPU so far; empty if unknown.
  [[nodiscard]] virtual std::optional<double> seconds_waited() const { return std::nullopt; }
};

}  // namespace strata
