// Replaces libnvidia-ml.so.1: two GPUs and a slice of a third, each with readings of its own.
// With FAKE_NVML_BARE it is an old one: first versions of the functions, and only a few of them.
#include "fake_nvml.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

FakeNvmlSettings settings;

/// A handle is the device's number plus one, so that none is null.
void* handle_of(unsigned index) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(index) + 1);
}
unsigned number(void* handle) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(handle));
}

int tell(unsigned* out, unsigned value) {
  if (settings.readings == FakeNvmlSettings::success) *out = value;
  return settings.readings;
}

int count(unsigned* out) {
  *out = settings.devices;
  return FakeNvmlSettings::success;
}

int by_index(unsigned index, void** out) {
  constexpr int no_permission = 4;
  if (static_cast<int>(index) == settings.hidden) return no_permission;
  *out = handle_of(index);
  return FakeNvmlSettings::success;
}

int start() {
  ++settings.starts;
  return settings.init;
}

}  // namespace

extern "C" {

FakeNvmlSettings* fake_nvml_settings() {
  return &settings;
}

const char* nvmlErrorString(int result) {
  return result == FakeNvmlSettings::driver_not_loaded ? "Driver Not Loaded" : "Other Error";
}

int nvmlShutdown() {
  ++settings.stops;
  return FakeNvmlSettings::success;
}

int nvmlSystemGetDriverVersion(char* text, unsigned room) {
  (void)std::snprintf(text, room, "580.00.01");
  return FakeNvmlSettings::success;
}

int nvmlDeviceGetUUID(void* device, char* text, unsigned room) {
  (void)std::snprintf(text, room, "%s", settings.uuids.at(number(device) - 1));
  return FakeNvmlSettings::success;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return tell(milliwatts, 100'000U * number(device));
}

#ifdef FAKE_NVML_BARE

int nvmlInit() {
  return start();
}
int nvmlDeviceGetCount(unsigned* out) {
  return count(out);
}
int nvmlDeviceGetHandleByIndex(unsigned index, void** out) {
  return by_index(index, out);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/, unsigned long long* mask) {
  *mask = settings.throttle;
  return settings.readings;
}

#else

int nvmlInit_v2() {
  return start();
}
int nvmlDeviceGetCount_v2(unsigned* out) {
  return count(out);
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** out) {
  return by_index(index, out);
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** out) {
  constexpr int not_found = 6;
  if (settings.by_uuid != FakeNvmlSettings::success) return settings.by_uuid;
  for (unsigned i = 0; i < settings.uuids.size(); ++i) {
    if (std::strcmp(settings.uuids.at(i), uuid) == 0) {
      *out = handle_of(i);
      return FakeNvmlSettings::success;
    }
  }
  return not_found;
}

int nvmlDeviceGetClockInfo(void* device, int clock, unsigned* megahertz) {
  return tell(megahertz, 1000U * number(device) + static_cast<unsigned>(clock));
}
int nvmlDeviceGetMaxClockInfo(void* device, int clock, unsigned* megahertz) {
  return tell(megahertz, 5000U * number(device) + static_cast<unsigned>(clock));
}
int nvmlDeviceGetCurrentClocksEventReasons(void* /*device*/, unsigned long long* mask) {
  *mask = settings.throttle;
  return settings.readings;
}
int nvmlDeviceGetTemperature(void* device, int /*sensor*/, unsigned* celsius) {
  return tell(celsius, 40U + number(device));
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  *millijoules = 1'000'250ULL * number(device);
  return settings.readings;
}
int nvmlDeviceGetEccMode(void* /*device*/, unsigned* current, unsigned* pending) {
  *pending = 0;
  return tell(current, 1);
}
int nvmlDeviceGetMigMode(void* /*device*/, unsigned* current, unsigned* pending) {
  *pending = 1;
  return tell(current, 0);
}
int nvmlDeviceGetPersistenceMode(void* /*device*/, unsigned* mode) {
  return tell(mode, 1);
}
int nvmlDeviceGetEnforcedPowerLimit(void* /*device*/, unsigned* milliwatts) {
  return tell(milliwatts, 700'000);
}
int nvmlDeviceGetTotalEccErrors(void* device, int kind, int counter, unsigned long long* errors) {
  if (settings.readings == FakeNvmlSettings::success) {
    *errors = 10ULL * number(device) + static_cast<unsigned>(kind) +
              1000U * static_cast<unsigned>(counter);
  }
  return settings.readings;
}

/// nvmlFieldValue_t and nvmlViolationTime_t as the library's documentation has them.
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  int kind;
  int result;
  union {
    double real;
    unsigned whole;
    unsigned long long large;
  } value;
};
struct ViolationTime {
  unsigned long long reference;
  unsigned long long nanoseconds;
};

int nvmlDeviceGetFieldValues(void* device, int count, FieldValue* values) {
  constexpr unsigned power_instant = 186;
  constexpr int kind_unsigned = 1;
  for (int i = 0; i < count; ++i) {
    values[i].result = values[i].field == power_instant && values[i].scope == 0
                           ? settings.field
                           : FakeNvmlSettings::not_supported;
    values[i].kind = kind_unsigned;
    values[i].value.whole = 110'000U * number(device);
  }
  return settings.readings;
}
int nvmlDeviceGetViolationStatus(void* device, int policy, ViolationTime* time) {
  time->reference = 77;
  time->nanoseconds =
      1'000'000'000ULL * number(device) + 1'000'000ULL * static_cast<unsigned>(policy);
  return settings.readings;
}

#endif

}  // extern "C"
