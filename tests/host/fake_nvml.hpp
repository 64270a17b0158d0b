// Shared by a test and its fake libnvidia-ml.so.1.
#pragma once

#include <array>

/// Answers of the fake. A test gets the one instance through the exported fake_nvml_settings().
struct FakeNvmlSettings {
  static constexpr int success = 0;
  static constexpr int not_supported = 3;
  static constexpr int driver_not_loaded = 9;

  int init = success;
  unsigned devices = 2;
  std::array<const char*, 3> uuids{"GPU-11111111-1111-1111-1111-111111111111",
                                   "GPU-22222222-2222-2222-2222-222222222222",
                                   "MIG-33333333-3333-3333-3333-333333333333"};
  int by_uuid = success;   ///< of nvmlDeviceGetHandleByUUID
  int hidden = -1;         ///< an index that this process may not open
  int readings = success;  ///< of every query of a device
  int field = success;     ///< of one value of nvmlDeviceGetFieldValues
  unsigned long long throttle = 0;
  int starts = 0;
  int stops = 0;
};

using FakeNvmlSettingsFunction = FakeNvmlSettings*();
