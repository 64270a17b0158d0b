// A GPU as the runner uses it, and the diagnosis of CUDA on this machine for `strata doctor`.
#include "harness/base/error.hpp"
#include "harness/base/text.hpp"
#include "harness/base/this_process.hpp"
#include "harness/counters/counter_absence.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cuda/clock.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/nvml.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/record/device.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

namespace strata {
namespace {

std::string visible_devices() {
  const char* value = std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "not set" : fmt::format("set to \"{}\"", value);
}

using enum Finding::State;

/// Why there is no device, and the remedy; `what` is the diagnosed item.
Finding explain(cudaError_t status, const std::string& what) {
  int driver = 0;
  int runtime = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  (void)cudaGetLastError();
  const auto absence = [&](const std::string& detail, const std::string& mend) {
    return Finding{absent, what, detail, mend};
  };
  switch (status) {
    case cudaErrorInsufficientDriver:
      if (driver == 0) {
        return absence(
            "no NVIDIA driver is running here",
            fmt::format("install one that supports CUDA {}, or measure the CPU with --device host",
                        cuda_version_text(runtime)));
      }
      return absence(fmt::format("the NVIDIA driver supports CUDA {} only, this build needs {}",
                                 cuda_version_text(driver), cuda_version_text(runtime)),
                     "update the driver, or build with an older CUDA toolkit");
    case cudaErrorNoDevice:
      return absence(
          "the NVIDIA driver shows no GPU (CUDA_VISIBLE_DEVICES is " + visible_devices() + ")",
          "check nvidia-smi, and whether CUDA_VISIBLE_DEVICES hides the GPU");
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceAlreadyInUse:
      return absence(
          "the GPU is busy or not available to this process (compute mode exclusive or prohibited)",
          "end the process that holds it (nvidia-smi lists it), or set the compute mode to "
          "default");
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return absence("this build has no code for this GPU",
                     "add its compute capability to CMAKE_CUDA_ARCHITECTURES");
    default:
      return absence(fmt::format("CUDA cannot be used: {} ({})", cudaGetErrorName(status),
                                 cudaGetErrorString(status)),
                     "check nvidia-smi and the kernel log");
  }
}

[[noreturn]] void unavailable(const std::string& device, cudaError_t status) {
  const Finding why = explain(status, device);
  throw DeviceUnavailable{device + ": " + why.detail + "; " + why.mend};
}

/// Sizes, limits and versions that are available without a context.
Facts describe(int ordinal, const cudaDeviceProp& properties) {
  Facts facts;
  const auto attribute = [&](cudaDeviceAttr which) -> std::optional<std::int64_t> {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess) return value;
    return std::nullopt;
  };
  for (const auto& [name, which] :
       {std::pair{"sm_count", cudaDevAttrMultiProcessorCount},
        std::pair{"warp_size", cudaDevAttrWarpSize},
        std::pair{"max_threads_per_sm", cudaDevAttrMaxThreadsPerMultiProcessor},
        std::pair{"max_threads_per_block", cudaDevAttrMaxThreadsPerBlock},
        std::pair{"max_blocks_per_sm", cudaDevAttrMaxBlocksPerMultiprocessor},
        std::pair{"registers_per_sm", cudaDevAttrMaxRegistersPerMultiprocessor},
        std::pair{"shared_bytes_per_sm", cudaDevAttrMaxSharedMemoryPerMultiprocessor},
        std::pair{"shared_bytes_per_block_optin", cudaDevAttrMaxSharedMemoryPerBlockOptin},
        std::pair{"l2_bytes", cudaDevAttrL2CacheSize},
        std::pair{"l2_persisting_max_bytes", cudaDevAttrMaxPersistingL2CacheSize},
        std::pair{"memory_bus_bits", cudaDevAttrGlobalMemoryBusWidth},
        std::pair{"compute_mode", cudaDevAttrComputeMode}}) {
    if (const auto value = attribute(which)) facts[name] = *value;
  }
  const auto threads = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  const auto warp = attribute(cudaDevAttrWarpSize);
  if (threads && warp && *warp > 0) facts["max_warps_per_sm"] = *threads / *warp;
  facts["compute_capability"] = fmt::format("{}.{}", properties.major, properties.minor);
  facts["memory_bytes"] = static_cast<std::int64_t>(properties.totalGlobalMem);
  facts["ecc"] = properties.ECCEnabled != 0;
  facts["integrated"] = properties.integrated != 0;

  // The runtime reports peak clocks in kHz, and nothing or 0 if it does not know.
  constexpr double kilo = 1e3;
  const auto number = [&](cudaDeviceAttr which) {
    return static_cast<double>(attribute(which).value_or(0));
  };
  const double core = number(cudaDevAttrClockRate) * kilo;
  const double memory = number(cudaDevAttrMemoryClockRate) * kilo;
  const double bus = number(cudaDevAttrGlobalMemoryBusWidth);
  if (core > 0) facts["core_clock_peak_hz"] = core;
  if (memory > 0) facts["memory_clock_peak_hz"] = memory;
  if (memory > 0 && bus > 0) {
    constexpr double bytes_per_bit = 2.0 / 8;  // double data rate: two words a clock
    facts["dram_bytes_per_second_theoretical"] = memory * bus * bytes_per_bit;
  }
  std::array<char, 32> pci{};
  if (cudaDeviceGetPCIBusId(pci.data(), pci.size(), ordinal) == cudaSuccess) {
    facts["pci_bus_id"] = std::string{pci.data()};
  }
  for (const auto& [name, query] : {std::pair{"cuda_driver", &cudaDriverGetVersion},
                                    {"cuda_runtime", &cudaRuntimeGetVersion}}) {
    if (int version = 0; query(&version) == cudaSuccess) facts[name] = cuda_version_text(version);
  }
  (void)cudaGetLastError();
  return facts;
}

/// Facts that need the context of the current device.
void describe_context(Facts& facts) {
  std::size_t granularity = 0;
  if (cudaDeviceGetLimit(&granularity, cudaLimitMaxL2FetchGranularity) == cudaSuccess) {
    facts["l2_fetch_granularity_bytes"] = static_cast<std::int64_t>(granularity);
  }
  (void)cudaGetLastError();
  const auto loading =
      driver_function<decltype(&cuModuleGetLoadingMode)>("cuModuleGetLoadingMode", 11070);
  CUmoduleLoadingMode mode{};
  if (loading != nullptr && loading(&mode) == CUDA_SUCCESS) {
    facts["module_loading"] = std::string{mode == CU_MODULE_EAGER_LOADING ? "eager" : "lazy"};
  }
}

/// The current device, which is usable.
class CudaDevice final : public Device {
 public:
  CudaDevice(int ordinal, const cudaDeviceProp& properties)
      : nvml_{uuid_digits(properties.uuid.bytes)},
        step_nanoseconds_{measure_global_timer_step(stream_.get())} {
    identity_.name = properties.name;
    identity_.slug = slug(identity_.name);
    identity_.uuid =
        nvml_.uuid().empty() ? "GPU-" + uuid_digits(properties.uuid.bytes) : nvml_.uuid();
    identity_.facts = describe(ordinal, properties);
    describe_context(identity_.facts);
    identity_.facts.merge(nvml_.limits());
    if (auto version = nvml_.driver_version()) identity_.facts["driver"] = std::move(*version);
    if (!nvml_.absence().empty()) identity_.facts["nvml"] = nvml_.absence();
  }

  [[nodiscard]] Backend backend() const override { return Backend::cuda; }
  [[nodiscard]] const DeviceIdentity& identity() const override { return identity_; }

  [[nodiscard]] Facts conditions() override {
    Facts facts = nvml_.conditions();
    add_sm_clock(facts, "sm_clock_measured_hz");
    return facts;
  }

  [[nodiscard]] std::optional<double> reported_clock() override { return nvml_.sm_clock(); }

  [[nodiscard]] Facts timer_facts() override {
    constexpr double nano = 1e-9;
    Facts facts{{"globaltimer_step_seconds", static_cast<double>(step_nanoseconds_) * nano}};
    add_sm_clock(facts, "sm_clock_hz");
    if (settled_) {
      facts["settled"] = settled_->steady;
      facts["settled_clock_hz"] = settled_->hertz;
      facts["settling_seconds"] = settled_->seconds;
    }
    return facts;
  }

  void settle() override { settled_ = settle_clock(stream_.get()); }

  void begin_case(const std::string& id) override {
    range_.reset();
    (void)nvtxRangePushA(id.c_str());
    range_ = finally([] { (void)nvtxRangePop(); });
    (void)reset_persisting_l2();
  }

  void end_case() override {
    range_.reset();
    if (!poison_.empty()) return;  // nothing runs, and a call would create another context
    // Work that the case left running belongs to it, including its error.
    remember(cudaDeviceSynchronize());
    remember(cudaGetLastError());
  }

  void release() override {
    cuda_check(cudaDeviceReset());
    poison_ = "the context was destroyed to measure the device without one";
  }

  [[nodiscard]] std::string poisoned() override { return poison_; }

 private:
  /// Stores the first error after which nothing can run.
  void remember(cudaError_t status) {
    if (poison_.empty() && is_sticky(status)) {
      poison_ = fmt::format("{}: {}", cudaGetErrorName(status), cudaGetErrorString(status));
    }
  }

  /// The present value; absent on a lost device.
  void add_sm_clock(Facts& facts, const char* name) {
    try {
      facts[name] = measure_sm_clock(stream_.get(), step_nanoseconds_);
    } catch (const CudaError& error) {
      remember(error.code());
    } catch (const std::exception&) {
      // A timer that does not advance gives no fact.
    }
  }

  DeviceIdentity identity_;
  NvmlDevice nvml_;
  Stream stream_;
  std::uint64_t step_nanoseconds_;
  std::optional<SettledClock> settled_;
  Finally range_;  // the case, for profilers
  std::string poison_;
};

template <class T>
const T* fact(const Facts& facts, std::string_view name) {
  const auto found = facts.find(name);
  return found == facts.end() ? nullptr : std::get_if<T>(&found->second);
}

Finding diagnose_clocks(const std::string& what, const Facts& conditions, const Facts& limits) {
  const auto* now = fact<double>(conditions, "sm_clock_hz");
  const auto* most = fact<double>(limits, "sm_clock_max_hz");
  const auto* throttled = fact<bool>(conditions, "throttled");
  const auto* persistence = fact<bool>(limits, "persistence_mode");
  const auto megahertz = [](double hertz) { return fmt::format("{:.0f} MHz", hertz / 1e6); };
  std::string clocks = "now " + (now == nullptr ? "not known" : megahertz(*now));
  if (most != nullptr) clocks += ", at most " + megahertz(*most);
  if (persistence != nullptr) {
    clocks += *persistence ? ", persistence mode on" : ", persistence mode off";
  }
  if (throttled != nullptr && *throttled) {
    return {warning, what, clocks + ", throttled by power or heat",
            "nvidia-smi -q -d PERFORMANCE shows the cause"};
  }
  if (persistence == nullptr || *persistence) return {ok, what, clocks, {}};
  return {warning, what, clocks, "slow start-up: nvidia-smi -pm 1 keeps the driver loaded"};
}

void diagnose_device(int ordinal, std::vector<Finding>& findings) {
  const std::string name = fmt::format("cuda:{}", ordinal);
  cudaDeviceProp properties{};
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, ordinal);
      status != cudaSuccess) {
    findings.push_back(explain(status, name));
    return;
  }
  const NvmlDevice nvml{uuid_digits(properties.uuid.bytes)};
  Facts facts = describe(ordinal, properties);
  const Facts limits = nvml.limits();

  constexpr double mebi = 1024.0 * 1024.0;
  const auto add = [&](const char* part, Finding::State state, const std::string& detail,
                       const char* mend = "") {
    findings.push_back({state, name + part, detail, mend});
  };
  const std::string device = fmt::format(
      "{}, compute capability {}.{}, {} SMs, L2 {:.3g} MiB, memory {:.3g} GiB, ECC {}",
      properties.name, properties.major, properties.minor, properties.multiProcessorCount,
      properties.l2CacheSize / mebi, static_cast<double>(properties.totalGlobalMem) / mebi / 1024,
      properties.ECCEnabled != 0 ? "on" : "off");
  if (facts["compute_mode"] == Fact{std::int64_t{cudaComputeModeProhibited}}) {
    add("", warning, device + ", compute mode prohibited",
        "set the compute mode to default with nvidia-smi -c 0");
  } else {
    add("", ok, device);
  }
  if (!nvml.absence().empty()) {
    return add(" NVML", absent, nvml.absence(),
               "without it, clocks, power and throttling are not recorded");
  }
  add(" NVML", ok, "driver " + nvml.driver_version().value_or("unknown"));
  if (const auto* mig = fact<bool>(limits, "mig"); mig == nullptr || !*mig) {
    add(" MIG", ok, mig == nullptr ? "not a feature of this GPU" : "off");
  } else {
    add(" MIG", warning, "on: this is a MIG slice, or a GPU divided into slices",
        "compare only with slices of the same size");
  }
  findings.push_back(diagnose_clocks(name + " clocks", nvml.conditions(), limits));
}

}  // namespace

std::unique_ptr<Device> open_cuda_device(int ordinal) {
  load_modules_eagerly();
  const std::string name = fmt::format("cuda:{}", ordinal);
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    unavailable(name, status);
  }
  if (ordinal < 0 || ordinal >= count) {
    const std::string seen =
        count == 1 ? "1 GPU, cuda:0" : fmt::format("{} GPUs, cuda:0 to cuda:{}", count, count - 1);
    throw DeviceUnavailable{fmt::format("{}: this process sees {}; CUDA_VISIBLE_DEVICES is {}",
                                        name, seen, visible_devices())};
  }
  cudaDeviceProp properties{};
  cudaError_t status = cudaGetDeviceProperties(&properties, ordinal);
  if (status == cudaSuccess) status = cudaSetDevice(ordinal);
  if (status == cudaSuccess) status = cudaFree(nullptr);  // creates the context, if needed
  if (status != cudaSuccess) unavailable(name, status);
  try {
    return std::make_unique<CudaDevice>(ordinal, properties);
  } catch (const CudaError& error) {
    if (error.code() != cudaErrorNoKernelImageForDevice &&
        error.code() != cudaErrorUnsupportedPtxVersion) {
      throw DeviceUnavailable{name + ": the first kernel failed: " + error.what()};
    }
    unavailable(
        fmt::format("{} (compute capability {}.{})", name, properties.major, properties.minor),
        error.code());
  } catch (const std::runtime_error& error) {
    throw DeviceUnavailable{name + ": " + error.what()};
  }
}

std::vector<Finding> diagnose_cuda() {
  load_modules_eagerly();
  std::vector<Finding> findings;
  int runtime = 0;
  (void)cudaRuntimeGetVersion(&runtime);
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    findings.push_back(explain(status, "CUDA"));
    // With a driver whose GPUs CUDA cannot use, this still reports.
    const NvmlDevice nvml{""};
    const auto version = nvml.driver_version();
    findings.push_back(
        {version ? ok : absent, "NVML", version ? "driver " + *version : nvml.absence(), {}});
  } else {
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    const std::string detail = fmt::format("driver for CUDA {}, built with {}",
                                           cuda_version_text(driver), cuda_version_text(runtime));
    findings.push_back({ok, "CUDA", detail, {}});
    for (int ordinal = 0; ordinal < count; ++ordinal)
      diagnose_device(ordinal, findings);
  }
  for (const auto& [tool, use] :
       {std::pair{"ncu", "profiles single kernels"},
        std::pair{"compute-sanitizer", "checks kernels for invalid accesses"},
        std::pair{"cuobjdump", "shows the machine code, for the code gate"}}) {
    const auto file = find_in_path(tool);
    findings.push_back({file ? ok : absent, tool,
                        file ? *file : fmt::format("not on the PATH; it {}", use),
                        file ? "" : "add the bin folder of the CUDA toolkit to the PATH"});
  }
  return findings;
}

}  // namespace strata
