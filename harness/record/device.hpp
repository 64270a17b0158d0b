#pragma once

#include "harness/record/measurement.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace strata {

/// A device as context.json describes it.
struct DeviceIdentity {
  std::string slug;  ///< "nvidia-h200": lower-case words joined by '-', for folder names
  std::string name;  ///< from the driver or the CPU
  std::string uuid;  ///< "GPU-…"; empty for the host
  Facts facts;       ///< sizes and limits
};

/// A device of either backend.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  Device(Device&&) = delete;
  Device& operator=(Device&&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] virtual Backend backend() const = 0;
  [[nodiscard]] virtual const DeviceIdentity& identity() const = 0;
  /// Current clocks, throttle reasons, power, temperature, ECC.
  [[nodiscard]] virtual Facts conditions() = 0;
  /// The current core clock that the driver reports, in Hz; empty if it reports none. Queried
  /// between cases: it is cheap, and launches nothing.
  [[nodiscard]] virtual std::optional<double> reported_clock() { return std::nullopt; }
  /// Properties of the timers: step of the global timer, TSC frequency, …
  [[nodiscard]] virtual Facts timer_facts() = 0;
  /// Keeps the device busy until its clock is stable; called before the first case.
  virtual void settle() = 0;
  /// Opens a named range for profilers and resets shared state (persisting L2) to its default.
  virtual void begin_case(const std::string& id) = 0;
  virtual void end_case() = 0;
  /// Destroys this process's context on the device; poisoned() then gives that as the reason.
  virtual void release() {}
  /// Why this process can no longer use the device (a sticky error); empty if it can.
  [[nodiscard]] virtual std::string poisoned() = 0;
};

/// The requested device: any, a CUDA device by ordinal, or the host.
struct DeviceRequest {
  enum class Kind { any, cuda, host } kind = Kind::any;
  int ordinal = 0;
};

/// "auto", "cuda", "cuda:N" or "host". Throws UsageError.
[[nodiscard]] DeviceRequest parse_device_request(const std::string& text);

/// Opens the requested device; "any" is the first CUDA device, or else the host. Throws
/// DeviceUnavailable with the reason and a remedy in one line.
[[nodiscard]] std::unique_ptr<Device> open_device(const DeviceRequest& request);

/// Selected at link time: the CUDA library opens the device; a build without it throws
/// DeviceUnavailable.
[[nodiscard]] std::unique_ptr<Device> open_cuda_device(int ordinal);
[[nodiscard]] std::unique_ptr<Device> open_host_device();

/// One line of `strata doctor`: what was checked, whether it can be used, and a remedy.
struct Finding {
  enum class State { ok, absent, warning } state = State::ok;
  std::string what;
  std::string detail;
  std::string mend;  ///< the remedy; may be empty
};

/// Selected at link time, like open_cuda_device.
[[nodiscard]] std::vector<Finding> diagnose_cuda();
[[nodiscard]] std::vector<Finding> diagnose_host();

}  // namespace strata
