#include "harness/cuda/nvml.hpp"

#include <array>
#include <dlfcn.h>
#include <initializer_list>
#include <tuple>
#include <utility>

namespace strata {
namespace {

// NVML's own header is not in every toolkit, so the few functions are declared here, as the
// library's documented and unchanging interface has them.
using Result = int;
using Handle = void*;
constexpr Result success = 0;

constexpr int clock_sm = 1;
constexpr int clock_memory = 2;
constexpr int sensor_gpu = 0;
constexpr int error_corrected = 0;
constexpr int error_uncorrected = 1;
constexpr int counter_volatile = 0;

using Plain = Result();
using ErrorString = const char*(Result);
using Text = Result(char*, unsigned);
using Count = Result(unsigned*);
using ByIndex = Result(unsigned, Handle*);
using ByUuid = Result(const char*, Handle*);
using DeviceText = Result(Handle, char*, unsigned);
using DeviceNumber = Result(Handle, unsigned*);
using DeviceChoice = Result(Handle, int, unsigned*);
using DeviceMask = Result(Handle, unsigned long long*);
using DeviceModes = Result(Handle, unsigned*, unsigned*);
using DeviceErrors = Result(Handle, int, int, unsigned long long*);

constexpr double mega = 1e6;
constexpr double milli = 1e-3;

std::string_view without_prefix(std::string_view uuid) {
  for (const std::string_view prefix : {"GPU-", "MIG-"}) {
    if (uuid.substr(0, prefix.size()) == prefix) return uuid.substr(prefix.size());
  }
  return uuid;
}

}  // namespace

struct NvmlDevice::Library {
  // Not unloaded before the process ends: the driver's library has C++ inside that does not clean
  // up.
  explicit Library(const std::string& path)
      : handle{dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)} {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library(Library&&) = delete;
  Library& operator=(Library&&) = delete;
  ~Library() {
    if (handle == nullptr) return;
    if (const auto shut_down = find<Plain>({"nvmlShutdown"}); initialised && shut_down != nullptr) {
      (void)shut_down();
    }
    (void)dlclose(handle);
  }

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

  /// The result of an out-parameter function, or nothing where it is absent or refuses.
  template <class Function, class Value, class... Arguments>
  [[nodiscard]] std::optional<Value> ask(std::initializer_list<const char*> names, Value initial,
                                         Arguments... arguments) const {
    const auto function = find<Function>(names);
    if (function == nullptr || function(arguments..., &initial) != success) return std::nullopt;
    return initial;
  }

  template <class Function, class... Arguments>
  [[nodiscard]] std::optional<std::string> ask_text(const char* name,
                                                    Arguments... arguments) const {
    constexpr unsigned room = 128;
    std::array<char, room> text{};
    const auto function = find<Function>({name});
    if (function == nullptr || function(arguments..., text.data(), room - 1) != success) {
      return std::nullopt;
    }
    return std::string{text.data()};
  }

  [[nodiscard]] std::string error_text(Result result) const {
    const auto function = find<ErrorString>({"nvmlErrorString"});
    const char* text = function == nullptr ? nullptr : function(result);
    return text == nullptr ? "error " + std::to_string(result) : std::string{text};
  }

  /// The device of that UUID and how NVML writes it.
  [[nodiscard]] std::pair<Handle, std::string> find_device(std::string_view digits) const {
    // By name first: a slice of a GPU (MIG) has a UUID but no index.
    for (const char* prefix : {"GPU-", "MIG-"}) {
      const std::string name = prefix + std::string{digits};
      if (const auto device = ask<ByUuid>({"nvmlDeviceGetHandleByUUID"}, Handle{}, name.c_str())) {
        return {*device, name};
      }
    }
    const unsigned count =
        ask<Count>({"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, 0U).value_or(0);
    for (unsigned i = 0; i < count; ++i) {
      const auto device = ask<ByIndex>(
          {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, Handle{}, i);
      if (!device) continue;  // a GPU that this process may not see
      const auto name = ask_text<DeviceText>("nvmlDeviceGetUUID", *device);
      if (name && without_prefix(*name) == digits) return {*device, *name};
    }
    return {nullptr, {}};
  }

  void* handle;
  bool initialised = false;
};

NvmlDevice::NvmlDevice(std::string_view uuid, const std::string& library)
    : library_{std::make_unique<Library>(library)} {
  if (library_->handle == nullptr) {
    absence_ = "NVML cannot be loaded (" + library + "); it comes with the NVIDIA driver";
    return;
  }
  const auto initialise = library_->find<Plain>({"nvmlInit_v2", "nvmlInit"});
  if (initialise == nullptr) {
    absence_ = library + " is not NVML: it has no nvmlInit";
    return;
  }
  if (const Result result = initialise(); result != success) {
    absence_ = "NVML cannot start: " + library_->error_text(result);
    return;
  }
  library_->initialised = true;
  std::tie(device_, uuid_) = library_->find_device(without_prefix(uuid));
  if (device_ == nullptr) absence_ = "NVML knows no GPU with UUID " + std::string{uuid};
}

NvmlDevice::NvmlDevice(NvmlDevice&&) noexcept = default;
NvmlDevice& NvmlDevice::operator=(NvmlDevice&&) noexcept = default;
NvmlDevice::~NvmlDevice() = default;

const std::string& NvmlDevice::absence() const {
  return absence_;
}
const std::string& NvmlDevice::uuid() const {
  return uuid_;
}

std::optional<std::string> NvmlDevice::driver_version() const {
  if (!library_->initialised) return std::nullopt;
  return library_->ask_text<Text>("nvmlSystemGetDriverVersion");
}

Facts NvmlDevice::conditions() const {
  Facts facts;
  if (device_ == nullptr) return facts;
  const Library& nvml = *library_;
  for (const auto& [name, clock] :
       {std::pair{"sm_clock_hz", clock_sm}, std::pair{"memory_clock_hz", clock_memory}}) {
    if (const auto megahertz =
            nvml.ask<DeviceChoice>({"nvmlDeviceGetClockInfo"}, 0U, device_, clock)) {
      facts[name] = *megahertz * mega;
    }
  }
  // Renamed with driver 535; old names go on for now.
  if (const auto mask = nvml.ask<DeviceMask>(
          {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"},
          0ULL, device_)) {
    facts["throttle_reasons"] = static_cast<std::int64_t>(*mask);
    facts["throttled"] = (*mask & throttling_bits) != 0;
  }
  if (const auto milliwatts = nvml.ask<DeviceNumber>({"nvmlDeviceGetPowerUsage"}, 0U, device_)) {
    facts["power_watts"] = *milliwatts * milli;
  }
  if (const auto celsius =
          nvml.ask<DeviceChoice>({"nvmlDeviceGetTemperature"}, 0U, device_, sensor_gpu)) {
    facts["temperature_celsius"] = static_cast<std::int64_t>(*celsius);
  }
  unsigned pending = 0;
  const auto ecc = nvml.find<DeviceModes>({"nvmlDeviceGetEccMode"});
  if (unsigned current = 0; ecc != nullptr && ecc(device_, &current, &pending) == success) {
    facts["ecc"] = current != 0;
  }
  for (const auto& [name, kind] : {std::pair{"ecc_corrected_errors", error_corrected},
                                   std::pair{"ecc_uncorrected_errors", error_uncorrected}}) {
    if (const auto errors = nvml.ask<DeviceErrors>({"nvmlDeviceGetTotalEccErrors"}, 0ULL, device_,
                                                   kind, counter_volatile)) {
      facts[name] = static_cast<std::int64_t>(*errors);
    }
  }
  return facts;
}

Facts NvmlDevice::limits() const {
  Facts facts;
  if (device_ == nullptr) return facts;
  const Library& nvml = *library_;
  for (const auto& [name, clock] :
       {std::pair{"sm_clock_max_hz", clock_sm}, std::pair{"memory_clock_max_hz", clock_memory}}) {
    if (const auto megahertz =
            nvml.ask<DeviceChoice>({"nvmlDeviceGetMaxClockInfo"}, 0U, device_, clock)) {
      facts[name] = *megahertz * mega;
    }
  }
  if (uuid_.starts_with("MIG-")) {
    facts["mig"] = true;
  } else {
    unsigned current = 0;
    unsigned pending = 0;
    const auto mig = nvml.find<DeviceModes>({"nvmlDeviceGetMigMode"});
    if (mig != nullptr && mig(device_, &current, &pending) == success) facts["mig"] = current != 0;
  }
  if (const auto mode = nvml.ask<DeviceNumber>({"nvmlDeviceGetPersistenceMode"}, 0U, device_)) {
    facts["persistence_mode"] = *mode != 0;
  }
  if (const auto milliwatts =
          nvml.ask<DeviceNumber>({"nvmlDeviceGetEnforcedPowerLimit"}, 0U, device_)) {
    facts["power_limit_watts"] = *milliwatts * milli;
  }
  return facts;
}

}  // namespace strata
