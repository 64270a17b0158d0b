// What the driver's management library tells of one GPU. It is loaded when asked for: the program
// starts without it. Whatever it cannot tell (an older driver, a virtual GPU, a missing right) is a
// fact that is absent, never an error and never a zero.
#pragma once

#include "harness/case/finally.hpp"
#include "harness/record/measurement.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata {

/// Bits of the throttle reasons that mean that the clock is lower than the work would have it:
/// software power cap, hardware slowdown, software thermal, hardware thermal, hardware power brake.
inline constexpr std::uint64_t throttling_bits = 0x4U | 0x8U | 0x20U | 0x40U | 0x80U;

/// What changes while a kernel runs. What NVML does not tell is absent.
struct NvmlReading {
  std::optional<double> sm_hertz;        ///< clock of the SMs
  std::optional<double> watts;           ///< drawn now
  std::optional<double> mean_watts;      ///< from Ampere on, but for GA100: of the last second
  std::optional<std::uint64_t> reasons;  ///< for a lower clock: the mask as it is
};

/// "8-4-4-4-12" hexadecimal digits, as NVML writes them after "GPU-" or "MIG-".
[[nodiscard]] std::string uuid_digits(std::span<const char, 16> bytes);

/// One GPU in NVML, found by its UUID: NVML counts all GPUs of the machine by bus, CUDA those that
/// CUDA_VISIBLE_DEVICES shows, in another order.
class NvmlDevice {
 public:
  /// `uuid`: five groups of hexadecimal digits, with or without "GPU-" or "MIG-" before them. Never
  /// throws for want of a library or a device: absence() says so.
  explicit NvmlDevice(std::string_view uuid, const std::string& library = "libnvidia-ml.so.1");

  /// Why nothing is known, in one line; empty when the device was found.
  [[nodiscard]] const std::string& absence() const { return absence_; }
  /// The UUID as NVML has it, "GPU-…" or "MIG-…"; empty when the device was not found.
  [[nodiscard]] const std::string& uuid() const { return uuid_; }
  /// Version of the driver ("580.65.06"); known even where the device is not.
  [[nodiscard]] std::optional<std::string> driver_version() const;

  /// As they are now: sm_clock_hz, memory_clock_hz, throttle_reasons (the mask as it is),
  /// throttled, power_watts, temperature_celsius, ecc, ecc_corrected_errors, ecc_uncorrected_errors
  /// (both since the driver was loaded).
  [[nodiscard]] Facts conditions() const;
  /// Clock of the SMs in Hz: of the four of a reading the one that all cases ask for.
  [[nodiscard]] std::optional<double> sm_clock() const;
  [[nodiscard]] NvmlReading reading() const;
  /// Seconds, since the driver was loaded, for which the clock was held down:
  /// power_violation_seconds, thermal_…, board_limit_…, reliability_… (of the voltage). Readings
  /// may miss what these count; a call takes milliseconds.
  [[nodiscard]] Facts violations() const;
  /// What does not change while it is measured: sm_clock_max_hz, memory_clock_max_hz, mig,
  /// persistence_mode, power_limit_watts.
  [[nodiscard]] Facts limits() const;

 private:
  void* library_ = nullptr;  // null unless it works
  Finally shut_down_;
  std::string absence_;
  std::string uuid_;
  void* device_ = nullptr;
};

}  // namespace strata
