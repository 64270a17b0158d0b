// A GPU as the runner sees it, and what `strata doctor` says of the CUDA side of this machine.
#include "harness/case/error.hpp"
#include "harness/cpu/slug.hpp"
#include "harness/cuda/clock.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/driver.hpp"
#include "harness/cuda/eviction.hpp"
#include "harness/cuda/nvml.hpp"
#include "harness/cuda/nvtx_range.hpp"
#include "harness/cuda/settle.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/cuda/uuid.hpp"
#include "harness/record/device.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace strata {
namespace {

constexpr double kilo = 1e3;

/// CUDA numbers its versions 1000 × major + 10 × minor.
std::string version_text(int version) {
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

std::string visible_devices() {
  const char* value = std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "not set" : std::string{"set to \""} + value + '"';
}

/// Why there is no device, and what to do about it.
struct Trouble {
  std::string what;
  std::string mend;
  [[nodiscard]] std::string line() const { return what + "; " + mend; }
};

Trouble explain(cudaError_t status) {
  int driver = 0;
  int runtime = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  (void)cudaGetLastError();
  switch (status) {
    case cudaErrorInsufficientDriver:
      if (driver == 0) {
        return {"no NVIDIA driver is running here", "install one that knows CUDA " +
                                                        version_text(runtime) +
                                                        ", or measure the CPU with --device host"};
      }
      return {"the NVIDIA driver knows CUDA " + version_text(driver) + " only, this build needs " +
                  version_text(runtime),
              "update the driver, or build with an older CUDA toolkit"};
    case cudaErrorNoDevice:
      return {"the NVIDIA driver shows no GPU (CUDA_VISIBLE_DEVICES is " + visible_devices() + ")",
              "see what nvidia-smi lists, and whether CUDA_VISIBLE_DEVICES hides it"};
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceAlreadyInUse:
      return {"the GPU is busy or closed to this process (compute mode exclusive or prohibited)",
              "end the process that holds it (nvidia-smi lists it), or set the compute mode to "
              "default"};
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return {"this build has no code for this GPU",
              "build with its compute capability in CMAKE_CUDA_ARCHITECTURES"};
    default:
      return {std::string{"CUDA cannot be used: "} + cudaGetErrorName(status) + " (" +
                  cudaGetErrorString(status) + ")",
              "see the output of nvidia-smi and the kernel's log"};
  }
}

[[noreturn]] void unavailable(const std::string& device, cudaError_t status) {
  throw DeviceUnavailable{device + ": " + explain(status).line()};
}

std::optional<std::int64_t> attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, ordinal) != cudaSuccess) {
    (void)cudaGetLastError();
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> module_loading() {
  const auto ask =
      driver_function<decltype(&cuModuleGetLoadingMode)>("cuModuleGetLoadingMode", 11070);
  CUmoduleLoadingMode mode{};
  if (ask == nullptr || ask(&mode) != CUDA_SUCCESS) return std::nullopt;
  return mode == CU_MODULE_EAGER_LOADING ? "eager" : "lazy";
}

/// Sizes, limits and versions: what can be asked without a context.
Facts describe(int ordinal, const cudaDeviceProp& properties) {
  Facts facts;
  const auto add = [&](const char* name, cudaDeviceAttr which) {
    if (const auto value = attribute(which, ordinal)) facts[name] = *value;
  };
  add("sm_count", cudaDevAttrMultiProcessorCount);
  add("warp_size", cudaDevAttrWarpSize);
  add("max_threads_per_sm", cudaDevAttrMaxThreadsPerMultiProcessor);
  add("max_threads_per_block", cudaDevAttrMaxThreadsPerBlock);
  add("max_blocks_per_sm", cudaDevAttrMaxBlocksPerMultiprocessor);
  add("registers_per_sm", cudaDevAttrMaxRegistersPerMultiprocessor);
  add("shared_bytes_per_sm", cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  add("shared_bytes_per_block_optin", cudaDevAttrMaxSharedMemoryPerBlockOptin);
  add("l2_bytes", cudaDevAttrL2CacheSize);
  add("l2_persisting_max_bytes", cudaDevAttrMaxPersistingL2CacheSize);
  add("memory_bus_bits", cudaDevAttrGlobalMemoryBusWidth);
  add("compute_mode", cudaDevAttrComputeMode);

  const auto threads = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, ordinal);
  const auto warp = attribute(cudaDevAttrWarpSize, ordinal);
  if (threads && warp && *warp > 0) facts["max_warps_per_sm"] = *threads / *warp;
  facts["compute_capability"] =
      std::to_string(properties.major) + '.' + std::to_string(properties.minor);
  facts["memory_bytes"] = static_cast<std::int64_t>(properties.totalGlobalMem);
  facts["ecc"] = properties.ECCEnabled != 0;
  facts["integrated"] = properties.integrated != 0;

  // The runtime gives peak clocks in kHz, and nothing or 0 where it does not know.
  const auto core = attribute(cudaDevAttrClockRate, ordinal);
  if (core && *core > 0) facts["core_clock_peak_hz"] = static_cast<double>(*core) * kilo;
  const auto memory = attribute(cudaDevAttrMemoryClockRate, ordinal);
  const auto bus = attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal);
  if (memory && *memory > 0) {
    const double hertz = static_cast<double>(*memory) * kilo;
    facts["memory_clock_peak_hz"] = hertz;
    if (bus && *bus > 0) {
      constexpr double edges = 2;  // double data rate: two words a clock
      constexpr double bits = 8;
      facts["dram_bytes_per_second_theoretical"] = edges * hertz * static_cast<double>(*bus) / bits;
    }
  }
  constexpr int pci_room = 32;
  if (std::string pci(pci_room, '\0');
      cudaDeviceGetPCIBusId(pci.data(), pci_room, ordinal) == cudaSuccess) {
    facts["pci_bus_id"] = std::string{pci.c_str()};
  }
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess) facts["cuda_driver"] = version_text(version);
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) facts["cuda_runtime"] = version_text(version);
  (void)cudaGetLastError();
  return facts;
}

/// What needs the context of the current device.
void describe_context(Facts& facts) {
  std::size_t granularity = 0;
  if (cudaDeviceGetLimit(&granularity, cudaLimitMaxL2FetchGranularity) == cudaSuccess) {
    facts["l2_fetch_granularity_bytes"] = static_cast<std::int64_t>(granularity);
  }
  (void)cudaGetLastError();
  if (auto mode = module_loading()) facts["module_loading"] = std::move(*mode);
}

class CudaDevice final : public Device {
 public:
  /// The current device is `ordinal`, and works.
  CudaDevice(int ordinal, const cudaDeviceProp& properties)
      : nvml_{uuid_digits(properties.uuid)},
        step_nanoseconds_{measure_global_timer_step(stream_.get())} {
    identity_.name = properties.name;
    identity_.slug = slug(identity_.name);
    identity_.uuid = nvml_.uuid().empty() ? "GPU-" + uuid_digits(properties.uuid) : nvml_.uuid();
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
    attempt([&] {
      facts["sm_clock_measured_hz"] = measure_sm_clock(stream_.get(), step_nanoseconds_);
    });
    return facts;
  }

  [[nodiscard]] Facts timer_facts() override {
    constexpr double nano = 1e-9;
    Facts facts{{"globaltimer_step_seconds", static_cast<double>(step_nanoseconds_) * nano}};
    attempt([&] { facts["sm_clock_hz"] = measure_sm_clock(stream_.get(), step_nanoseconds_); });
    if (settled_) {
      facts["settled"] = settled_->steady;
      facts["settled_clock_hz"] = settled_->hertz;
      facts["settling_seconds"] = settled_->seconds;
    }
    return facts;
  }

  void settle() override { settled_ = settle_clock(stream_.get()); }

  void begin_case(const std::string& id) override {
    range_.emplace(id);
    (void)reset_persisting_l2();
  }

  void end_case() override {
    range_.reset();
    // Whatever the case left running belongs to it: its error too.
    remember(cudaDeviceSynchronize());
    remember(cudaGetLastError());
  }

  [[nodiscard]] std::string poisoned() override { return poison_; }

 private:
  /// Keeps the first error after which nothing can run.
  void remember(cudaError_t status) {
    if (poison_.empty() && is_sticky(status)) {
      poison_ = std::string{cudaGetErrorName(status)} + ": " + cudaGetErrorString(status);
    }
  }

  /// For facts: on a device that is lost they are absent.
  template <class Work>
  void attempt(Work&& work) {
    try {
      std::forward<Work>(work)();
    } catch (const CudaError& error) {
      remember(error.code());
    } catch (const std::exception&) {
      // A timer that stands still: no fact.
    }
  }

  DeviceIdentity identity_;
  NvmlDevice nvml_;
  Stream stream_;
  std::uint64_t step_nanoseconds_;
  std::optional<SettledClock> settled_;
  std::optional<NvtxRange> range_;
  std::string poison_;
};

Finding ok(std::string what, std::string detail) {
  return {Finding::State::ok, std::move(what), std::move(detail), {}};
}
Finding absent(std::string what, std::string detail, std::string mend) {
  return {Finding::State::absent, std::move(what), std::move(detail), std::move(mend)};
}
Finding warning(std::string what, std::string detail, std::string mend) {
  return {Finding::State::warning, std::move(what), std::move(detail), std::move(mend)};
}

template <class T>
const T* fact(const Facts& facts, std::string_view name) {
  const auto found = facts.find(name);
  return found == facts.end() ? nullptr : std::get_if<T>(&found->second);
}

std::string megahertz(double hertz) {
  std::ostringstream text;
  text.precision(0);
  text << std::fixed << hertz / 1e6 << " MHz";
  return text.str();
}

void diagnose_device(int ordinal, std::vector<Finding>& findings) {
  const std::string name = "cuda:" + std::to_string(ordinal);
  cudaDeviceProp properties{};
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, ordinal);
      status != cudaSuccess) {
    const Trouble trouble = explain(status);
    findings.push_back(absent(name, trouble.what, trouble.mend));
    return;
  }
  const NvmlDevice nvml{uuid_digits(properties.uuid)};
  const Facts facts = describe(ordinal, properties);
  const Facts limits = nvml.limits();
  const Facts conditions = nvml.conditions();

  std::ostringstream text;
  constexpr double gibi = 1024.0 * 1024.0 * 1024.0;
  constexpr double mebi = 1024.0 * 1024.0;
  text.precision(3);
  text << properties.name << ", compute capability " << properties.major << '.' << properties.minor
       << ", " << properties.multiProcessorCount << " SMs, L2 "
       << static_cast<double>(properties.l2CacheSize) / mebi << " MiB, memory "
       << static_cast<double>(properties.totalGlobalMem) / gibi << " GiB, ECC "
       << (properties.ECCEnabled != 0 ? "on" : "off");
  const auto* mode = fact<std::int64_t>(facts, "compute_mode");
  if (mode != nullptr && *mode == cudaComputeModeProhibited) {
    findings.push_back(warning(name, text.str() + ", compute mode prohibited",
                               "set the compute mode to default with nvidia-smi -c 0"));
  } else {
    findings.push_back(ok(name, text.str()));
  }

  if (!nvml.absence().empty()) {
    findings.push_back(absent(name + " NVML", nvml.absence(),
                              "clocks, power and throttling are not recorded without it"));
    return;
  }
  findings.push_back(ok(name + " NVML", "driver " + nvml.driver_version().value_or("unknown")));

  const auto* mig = fact<bool>(limits, "mig");
  if (mig != nullptr && *mig) {
    findings.push_back(warning(name + " MIG",
                               "on: this is a slice of a GPU, or a GPU cut in slices",
                               "compare only with slices of the same size"));
  } else {
    findings.push_back(ok(name + " MIG", mig == nullptr ? "not a feature of this GPU" : "off"));
  }

  std::string clocks = "now";
  const auto* now = fact<double>(conditions, "sm_clock_hz");
  const auto* most = fact<double>(limits, "sm_clock_max_hz");
  clocks += now == nullptr ? " not known" : ' ' + megahertz(*now);
  if (most != nullptr) clocks += ", at most " + megahertz(*most);
  const auto* throttled = fact<bool>(conditions, "throttled");
  const auto* persistence = fact<bool>(limits, "persistence_mode");
  if (persistence != nullptr) {
    clocks += *persistence ? ", persistence mode on" : ", persistence mode off";
  }
  if (throttled != nullptr && *throttled) {
    findings.push_back(warning(name + " clocks", clocks + ", held down by power or heat",
                               "nvidia-smi -q -d PERFORMANCE says by what"));
  } else if (persistence != nullptr && !*persistence) {
    findings.push_back(warning(name + " clocks", clocks,
                               "start-up is slower: nvidia-smi -pm 1 keeps the driver loaded"));
  } else {
    findings.push_back(ok(name + " clocks", clocks));
  }
}

std::optional<std::string> find_in_path(const std::string& tool) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  std::istringstream folders{path == nullptr ? "" : path};
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path{folder} / tool;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0) {
      return file.string();
    }
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Device> open_cuda_device(int ordinal) {
  load_modules_eagerly();
  const std::string name = "cuda:" + std::to_string(ordinal);
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    unavailable(name, status);
  }
  if (ordinal < 0 || ordinal >= count) {
    throw DeviceUnavailable{name + ": this process sees " + std::to_string(count) +
                            (count == 1 ? " GPU, cuda:0" : " GPUs, cuda:0 to cuda:") +
                            (count == 1 ? "" : std::to_string(count - 1)) +
                            "; CUDA_VISIBLE_DEVICES is " + visible_devices()};
  }
  cudaDeviceProp properties{};
  cudaError_t status = cudaGetDeviceProperties(&properties, ordinal);
  if (status == cudaSuccess) status = cudaSetDevice(ordinal);
  if (status == cudaSuccess) status = cudaFree(nullptr);  // makes the context, if nothing has
  if (status != cudaSuccess) unavailable(name, status);
  try {
    return std::make_unique<CudaDevice>(ordinal, properties);
  } catch (const CudaError& error) {
    if (error.code() != cudaErrorNoKernelImageForDevice &&
        error.code() != cudaErrorUnsupportedPtxVersion) {
      throw DeviceUnavailable{name + ": the first kernel failed: " + error.what()};
    }
    throw DeviceUnavailable{name + " (compute capability " + std::to_string(properties.major) +
                            '.' + std::to_string(properties.minor) +
                            "): " + explain(error.code()).line()};
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
    const Trouble trouble = explain(status);
    findings.push_back(absent("CUDA", trouble.what, trouble.mend));
    // With a driver whose GPUs CUDA cannot use, this one still speaks.
    const NvmlDevice nvml{""};
    if (const auto version = nvml.driver_version()) {
      findings.push_back(ok("NVML", "driver " + *version));
    } else {
      findings.push_back(absent("NVML", nvml.absence(), ""));
    }
  } else {
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    findings.push_back(ok("CUDA", "driver for CUDA " + version_text(driver) + ", built with " +
                                      version_text(runtime)));
    for (int ordinal = 0; ordinal < count; ++ordinal)
      diagnose_device(ordinal, findings);
  }
  for (const auto& [tool, use] :
       {std::pair{"ncu", "profiles single kernels"},
        std::pair{"compute-sanitizer", "checks kernels for invalid accesses"},
        std::pair{"cuobjdump", "shows the machine code, for the code gate"}}) {
    if (const auto file = find_in_path(tool)) {
      findings.push_back(ok(tool, *file));
    } else {
      findings.push_back(absent(tool, std::string{"not on the PATH; it "} + use,
                                "add the bin folder of the CUDA toolkit to the PATH"));
    }
  }
  return findings;
}

}  // namespace strata
