#pragma once

#include "harness/record/measurement.hpp"

#include <memory>
#include <string>
#include <vector>

namespace strata {

/// Who a device is: what context.json says of it.
struct DeviceIdentity {
  std::string slug;  ///< "nvidia-h200": lower-case words joined by '-', for folder names
  std::string name;  ///< as the driver or the CPU calls itself
  std::string uuid;  ///< "GPU-…"; empty for the host
  Facts facts;       ///< sizes and limits, asked of the device
};

/// One device as the runner sees it, whatever its backend.
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
  /// Clocks, throttle reasons, power, temperature, ECC as they are now.
  [[nodiscard]] virtual Facts conditions() = 0;
  /// What is known of the timers: step of the global timer, TSC frequency, …
  [[nodiscard]] virtual Facts timer_facts() = 0;
  /// Works until the clock holds still; before the first case.
  virtual void settle() = 0;
  /// Names the range for profilers and puts shared state (persisting L2) back to its default.
  virtual void begin_case(const std::string& id) = 0;
  virtual void end_case() = 0;
  /// Why nothing more can run on this device in this process (a sticky error), or empty.
  [[nodiscard]] virtual std::string poisoned() = 0;
};

/// Names what a user asked for: any device, a CUDA device by ordinal, or the host.
struct DeviceRequest {
  enum class Kind { any, cuda, host } kind = Kind::any;
  int ordinal = 0;
};

/// "auto", "cuda", "cuda:N" or "host". Throws UsageError.
[[nodiscard]] DeviceRequest parse_device_request(const std::string& text);

/// Opens what was asked for; "any" is the first CUDA device, else the host. Throws
/// DeviceUnavailable with one line that says why and how to mend it.
[[nodiscard]] std::unique_ptr<Device> open_device(const DeviceRequest& request);

/// A link-time choice: the CUDA library opens the device; a build without it throws
/// DeviceUnavailable.
[[nodiscard]] std::unique_ptr<Device> open_cuda_device(int ordinal);
[[nodiscard]] std::unique_ptr<Device> open_host_device();

/// One line of `strata doctor`: what was looked at, whether it can be used, how to mend it.
struct Finding {
  enum class State { ok, absent, warning } state = State::ok;
  std::string what;
  std::string detail;
  std::string mend;  ///< empty when nothing is to be done
};

/// What the CUDA part has to say; a link-time choice like open_cuda_device.
[[nodiscard]] std::vector<Finding> diagnose_cuda();
[[nodiscard]] std::vector<Finding> diagnose_host();

}  // namespace strata
