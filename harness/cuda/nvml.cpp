#include "harness/cuda/nvml.hpp"

#include <fmt/format.h>

#include <array>
#include <dlfcn.h>
#include <initializer_list>
#include <tuple>
#include <utility>

namespace strata {
namespace {

// NVML's header is not in every toolkit, so the parts that we use are declared here according to
// the library's documented, stable interface.
using Result = int;
using Handle = void*;
constexpr Result success = 0;

constexpr int clock_sm = 1;
constexpr int clock_memory = 2;
constexpr int sensor_gpu = 0;
constexpr int error_corrected = 0;
constexpr int error_uncorrected = 1;
constexpr int counter_volatile = 0;
constexpr unsigned field_power_instant = 186;
constexpr int kind_unsigned = 1;

/// nvmlFieldValue_t.
struct FieldValue {
  unsigned field = 0;
  unsigned scope = 0;  // the GPU only, without the CPU of its module
  long long timestamp = 0;
  long long latency = 0;
  int kind = 0;
  Result result = 0;
  unsigned long long value = 0;  // a union, discriminated by `kind`
};
static_assert(sizeof(FieldValue) == 40);

/// nvmlViolationTime_t.
struct ViolationTime {
  unsigned long long reference = 0;
  unsigned long long nanoseconds = 0;
};

/// The library's functions, by name.
struct Library {
  void* handle;

  /// The first of the names that the library has, or null.
  template <class Function>
  [[nodiscard]] Function* find(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (void* symbol = dlsym(handle, name); symbol != nullptr) {
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym is for
        return reinterpret_cast<Function*>(symbol);
      }
    }
    return nullptr;
  }

  /// The output of a function through its last argument; nothing if it is missing or fails.
  template <class Value, class... Arguments>
  [[nodiscard]] std::optional<Value> query(std::initializer_list<const char*> names,
                                           Arguments... arguments) const {
    Value value{};
    const auto function = find<Result(Arguments..., Value*)>(names);
    if (function == nullptr || function(arguments..., &value) != success) return std::nullopt;
    return value;
  }
  template <class... Arguments>
  [[nodiscard]] std::optional<std::string> ask_text(const char* name,
                                                    Arguments... arguments) const {
    std::array<char, 128> text{};
    const auto function = find<Result(Arguments..., char*, unsigned)>({name});
    if (function == nullptr || function(arguments..., text.data(), text.size() - 1) != success) {
      return std::nullopt;
    }
    return std::string{text.data()};
  }
  /// The present power draw in milliwatts.
  [[nodiscard]] std::optional<unsigned> power_now(Handle device) const {
    FieldValue power{.field = field_power_instant};
    const auto function = find<Result(Handle, int, FieldValue*)>({"nvmlDeviceGetFieldValues"});
    if (function == nullptr || function(device, 1, &power) != success || power.result != success ||
        power.kind != kind_unsigned) {
      return std::nullopt;
    }
    return static_cast<unsigned>(power.value);  // its first half: the other is never written
  }
  /// The reasons for a reduced clock. Renamed with driver 535; old names still work.
  [[nodiscard]] std::optional<unsigned long long> reasons(Handle device) const {
    return query<unsigned long long>(
        {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"},
        device);
  }
  [[nodiscard]] std::optional<double> joules(Handle device) const {
    const auto millijoules =
        query<unsigned long long>({"nvmlDeviceGetTotalEnergyConsumption"}, device);
    return millijoules ? std::optional{static_cast<double>(*millijoules) * 1e-3} : std::nullopt;
  }
  /// The current mode of a pair of current and pending.
  [[nodiscard]] std::optional<unsigned> mode(const char* name, Handle device) const {
    unsigned current = 0;
    return query<unsigned>({name}, device, &current) ? std::optional{current} : std::nullopt;
  }
};

std::string_view without_prefix(std::string_view uuid) {
  return uuid.starts_with("GPU-") || uuid.starts_with("MIG-") ? uuid.substr(4) : uuid;
}

/// The device with that UUID, and the UUID in NVML's format.
std::pair<Handle, std::string> find_device(const Library& nvml, const std::string& digits) {
  // By UUID first, because a slice of a GPU (MIG) has a UUID but no index.
  for (const std::string& name : {"GPU-" + digits, "MIG-" + digits}) {
    if (const auto device = nvml.query<Handle>({"nvmlDeviceGetHandleByUUID"}, name.c_str())) {
      return {*device, name};
    }
  }
  const unsigned count =
      nvml.query<unsigned>({"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}).value_or(0);
  for (unsigned i = 0; i < count; ++i) {
    const auto device =
        nvml.query<Handle>({"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, i);
    if (!device) continue;  // a GPU invisible to this process
    const auto name = nvml.ask_text("nvmlDeviceGetUUID", *device);
    if (name && without_prefix(*name) == digits) return {*device, *name};
  }
  return {nullptr, {}};
}

/// Adds the fact if it is known.
template <class Value, class Convert>
void add(Facts& facts, const char* name, const std::optional<Value>& value,
         const Convert& convert) {
  if (value) facts[name] = convert(*value);
}
constexpr auto from_mega = [](unsigned value) { return value * 1e6; };
constexpr auto from_milli = [](unsigned value) { return value * 1e-3; };
constexpr auto is_on = [](unsigned value) { return value != 0; };
constexpr auto whole = [](auto value) { return static_cast<std::int64_t>(value); };

}  // namespace

std::string uuid_digits(std::span<const char, 16> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return text;
}

// Not unloaded before the process ends, because the driver's library contains C++ code that does
// not clean up.
NvmlDevice::NvmlDevice(std::string_view uuid, const std::string& library) {
  const Library nvml{dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
  if (nvml.handle == nullptr) {
    absence_ = "NVML cannot be loaded (" + library + "); it comes with the NVIDIA driver";
    return;
  }
  const auto initialise = nvml.find<Result()>({"nvmlInit_v2", "nvmlInit"});
  if (initialise == nullptr) {
    absence_ = library + " is not NVML: it has no nvmlInit";
    return;
  }
  if (const Result result = initialise(); result != success) {
    const auto describe = nvml.find<const char*(Result)>({"nvmlErrorString"});
    const char* text = describe == nullptr ? nullptr : describe(result);
    absence_ = "NVML cannot start: " +
               (text == nullptr ? "error " + std::to_string(result) : std::string{text});
    return;
  }
  library_ = nvml.handle;
  shut_down_ = finally([nvml] {
    if (const auto stop = nvml.find<Result()>({"nvmlShutdown"})) (void)stop();
  });
  std::tie(device_, uuid_) = find_device(nvml, std::string{without_prefix(uuid)});
  if (device_ == nullptr) absence_ = "NVML knows no GPU with UUID " + std::string{uuid};
}

std::optional<std::string> NvmlDevice::driver_version() const {
  if (library_ == nullptr) return std::nullopt;
  return Library{library_}.ask_text("nvmlSystemGetDriverVersion");
}

Facts NvmlDevice::conditions() const {
  Facts facts;
  if (device_ == nullptr) return facts;
  const Library nvml{library_};
  for (const auto& [name, which] :
       {std::pair{"sm_clock_hz", clock_sm}, {"memory_clock_hz", clock_memory}}) {
    add(facts, name, nvml.query<unsigned>({"nvmlDeviceGetClockInfo"}, device_, which), from_mega);
  }
  const auto reasons = nvml.reasons(device_);
  add(facts, "throttle_reasons", reasons, whole);
  add(facts, "throttled", reasons, [](auto mask) { return (mask & throttling_bits) != 0; });
  add(facts, "power_watts", nvml.query<unsigned>({"nvmlDeviceGetPowerUsage"}, device_), from_milli);
  add(facts, "temperature_celsius",
      nvml.query<unsigned>({"nvmlDeviceGetTemperature"}, device_, sensor_gpu), whole);
  add(facts, "ecc", nvml.mode("nvmlDeviceGetEccMode", device_), is_on);
  for (const auto& [name, kind] : {std::pair{"ecc_corrected_errors", error_corrected},
                                   {"ecc_uncorrected_errors", error_uncorrected}}) {
    add(facts, name,
        nvml.query<unsigned long long>({"nvmlDeviceGetTotalEccErrors"}, device_, kind,
                                       counter_volatile),
        whole);
  }
  return facts;
}

std::optional<double> NvmlDevice::sm_clock() const {
  if (device_ == nullptr) return std::nullopt;
  const auto megahertz =
      Library{library_}.query<unsigned>({"nvmlDeviceGetClockInfo"}, device_, clock_sm);
  return megahertz ? std::optional{from_mega(*megahertz)} : std::nullopt;
}

NvmlReading NvmlDevice::reading() const {
  if (device_ == nullptr) return {};
  const Library nvml{library_};
  const auto watts = [](std::optional<unsigned> milliwatts) {
    return milliwatts ? std::optional{from_milli(*milliwatts)} : std::nullopt;
  };
  const auto joules = nvml.joules(device_);  // first: the time of its steps counts
  return {.sm_hertz = sm_clock(),
          .watts = watts(nvml.power_now(device_)),
          .mean_watts = watts(nvml.query<unsigned>({"nvmlDeviceGetPowerUsage"}, device_)),
          .reasons = nvml.reasons(device_),
          .joules = joules,
          .celsius = nvml.query<unsigned>({"nvmlDeviceGetTemperature"}, device_, sensor_gpu)};
}

Facts NvmlDevice::violations() const {
  Facts facts;
  if (device_ == nullptr) return facts;
  const Library nvml{library_};
  // Indexed by nvmlPerfPolicyType_t.
  for (const auto& [name, policy] : {std::pair{"power_violation_seconds", 0},
                                     {"thermal_violation_seconds", 1},
                                     {"board_limit_violation_seconds", 3},
                                     {"reliability_violation_seconds", 5}}) {
    add(facts, name, nvml.query<ViolationTime>({"nvmlDeviceGetViolationStatus"}, device_, policy),
        [](const ViolationTime& time) { return static_cast<double>(time.nanoseconds) / 1e9; });
  }
  return facts;
}

Facts NvmlDevice::limits() const {
  Facts facts;
  if (device_ == nullptr) return facts;
  const Library nvml{library_};
  for (const auto& [name, which] :
       {std::pair{"sm_clock_max_hz", clock_sm}, {"memory_clock_max_hz", clock_memory}}) {
    add(facts, name, nvml.query<unsigned>({"nvmlDeviceGetMaxClockInfo"}, device_, which),
        from_mega);
  }
  if (uuid_.starts_with("MIG-")) {
    facts["mig"] = true;
  } else {
    add(facts, "mig", nvml.mode("nvmlDeviceGetMigMode", device_), is_on);
  }
  add(facts, "persistence_mode", nvml.query<unsigned>({"nvmlDeviceGetPersistenceMode"}, device_),
      is_on);
  add(facts, "power_limit_watts",
      nvml.query<unsigned>({"nvmlDeviceGetEnforcedPowerLimit"}, device_), from_milli);
  return facts;
}

}  // namespace strata
