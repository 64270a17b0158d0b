// Data of the driver's management library about one GPU. The library is loaded on demand, so the
// program starts without it. Values that it cannot provide (older driver, virtual GPU, missing
// permission) are absent facts, never errors or zeros.
#pragma once

#include "harness/base/finally.hpp"
#include "harness/record/measurement.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata {

/// Bits of the throttle reasons that mean a clock below the work's demand: software power cap,
/// hardware slowdown, software thermal, hardware thermal, hardware power brake.
inline constexpr std::uint64_t throttling_bits = 0x4U | 0x8U | 0x20U | 0x40U | 0x80U;

/// Values that change while a kernel runs. Missing ones are absent.
struct NvmlReading {
  std::optional<double> sm_hertz;        ///< clock of the SMs
  std::optional<double> watts;           ///< present power draw
  std::optional<double> mean_watts;      ///< mean of the last second; since Ampere, except GA100
  std::optional<std::uint64_t> reasons;  ///< for a lower clock: the unmodified mask
  std::optional<double> joules;          ///< since the driver was loaded, in steps of about 0.1 s
  std::optional<double> celsius;         ///< of the chip
};

/// "8-4-4-4-12" hexadecimal digits, as NVML writes them after "GPU-" or "MIG-".
[[nodiscard]] std::string uuid_digits(std::span<const char, 16> bytes);

/// One GPU in NVML, found by its UUID, because NVML numbers all GPUs of the machine by bus and CUDA
/// those in CUDA_VISIBLE_DEVICES, in another order.
class NvmlDevice {
 public:
  /// `uuid`: five groups of hexadecimal digits, with or without "GPU-" or "MIG-" before them. Never
  /// throws if the library or the device is missing: absence() explains it.
  explicit NvmlDevice(std::string_view uuid, const std::string& library = "libnvidia-ml.so.1");

  /// Why nothing is known, in one line; empty if the device was found.
  [[nodiscard]] const std::string& absence() const { return absence_; }
  /// The UUID in NVML's format, "GPU-…" or "MIG-…"; empty if the device was not found.
  [[nodiscard]] const std::string& uuid() const { return uuid_; }
  /// Version of the driver ("580.65.06"); known even if the device is not.
  [[nodiscard]] std::optional<std::string> driver_version() const;

  /// Present values: sm_clock_hz, memory_clock_hz, throttle_reasons (the unmodified mask),
  /// throttled, power_watts, temperature_celsius, ecc, ecc_corrected_errors, ecc_uncorrected_errors
  /// (both since the driver was loaded).
  [[nodiscard]] Facts conditions() const;
  /// Clock of the SMs in Hz: the one of the four readings that all cases query.
  [[nodiscard]] std::optional<double> sm_clock() const;
  [[nodiscard]] NvmlReading reading() const;
  /// Seconds since the driver was loaded during which the clock was reduced:
  /// power_violation_seconds, thermal_…, board_limit_…, reliability_… (voltage). Readings may miss
  /// some of these; a call takes milliseconds.
  [[nodiscard]] Facts violations() const;
  /// Values that do not change during a measurement: sm_clock_max_hz, memory_clock_max_hz, mig,
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
