// One run at a time per device: simultaneous runs disturb each other.
#pragma once

#include "harness/base/unique_fd.hpp"
#include "harness/record/device.hpp"

#include <filesystem>

namespace strata {

/// Holds a device for this process until destroyed or the process ends in any way. The lock is the
/// kernel's, so a leftover file is never stale.
class DeviceLock {
 public:
  /// Locks <folder>/strata-<uuid or slug>.lock. Throws DeviceUnavailable, in one line: which
  /// process holds the device, or why the file cannot be used and how to fix that.
  [[nodiscard]] static DeviceLock acquire(
      const DeviceIdentity& device,
      const std::filesystem::path& folder = std::filesystem::temp_directory_path());

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  DeviceLock() = default;
  UniqueFd fd_;
  std::filesystem::path path_;
};

}  // namespace strata
