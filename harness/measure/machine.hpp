// What the engine asks of a device while it measures. Host only: harness/cuda and harness/cpu
// implement it, and so does the fake of the tests.
#pragma once

#include "harness/measure/stamp.hpp"
#include "harness/record/measurement.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace strata {

/// Names of the timers of a device, as they stand in the column `method`, and of its cycle.
struct TimerNames {
  std::string cycle;    ///< the unit of the inner clock: "cycle", "tsc_cycle"
  std::string inside;   ///< slope of the core's own clock
  std::string outside;  ///< slope of the timer around launches
  std::string whole;    ///< the timer around one launch
  std::string clock;    ///< how the rate of the core's clock is found
};

/// What the compiler made of a kernel.
struct KernelCode {
  std::size_t local_bytes = 0;   ///< memory of a thread that is no register
  int registers = 0;             ///< of a thread
  std::size_t shared_bytes = 0;  ///< of a block, known at compile time
};

/// Seconds of work that the host has a part in.
struct BothSides {
  double device = 0;  ///< between the events around it
  double caller = 0;  ///< from the first call to the end of the wait
  double calls = 0;   ///< of the calls alone
};

/// What is queued before and after timed work, outside its events. Either may be empty.
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
  /// Cycles in a second of the outer timer, where the inner clock ran at `core_hertz`.
  [[nodiscard]] virtual double outside_hertz(double core_hertz) const = 0;

  /// Displaces what the caches hold.
  virtual void evict() = 0;
  /// Reads `bytes` from `data` on, so that L2 holds what fits.
  virtual void touch(const void* data, std::size_t bytes) = 0;
  /// Overwrites stamps and outputs, so that a launch that writes nothing cannot pass for one that
  /// wrote the right thing.
  virtual void poison() = 0;
  /// Runs `work`, which queues launches. Throws where one could not be queued.
  virtual void launch(const std::function<void()>& work) = 0;
  /// Seconds of what `work` launches, by the outer timer. Stamps and outputs have come to the host
  /// when it returns. `held`: the device waits until all of `work` is queued, so that none of the
  /// calls' own time is inside.
  [[nodiscard]] virtual double time(const std::function<void()>& work, bool held) = 0;
  /// Brings stamps and outputs to the host, after everything that was launched.
  virtual void land() = 0;
  /// What landed last.
  [[nodiscard]] virtual std::span<const Stamp> stamps() const = 0;

  [[nodiscard]] virtual KernelCode code(const void* kernel) const = 0;
  /// Whether held launches were queued before they began; nothing where none was held.
  [[nodiscard]] virtual std::optional<Gate> queue() const = 0;
};

}  // namespace strata
