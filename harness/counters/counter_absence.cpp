#include "harness/counters/counter_absence.hpp"

#include "harness/base/text.hpp"
#include "harness/base/this_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>

namespace strata {
namespace {

// Remedies that several situations share, or that belong to no CUPTI result.
namespace mend {
constexpr const char* tool_around =
    "start strata without nsys, ncu, cuda-gdb or another CUDA tool around it, or let ncu count: "
    "strata bench --counters external";
constexpr const char* legacy =
    "remove the library that uses CUPTI's old event or metric API (loaded by LD_PRELOAD or "
    "CUDA_INJECTION64_PATH)";
// CUPTI, "Special Configurations": isolated compute instances can be profiled, shared ones cannot.
constexpr const char* mig =
    "use a compute instance as large as its GPU instance, or turn MIG off: nvidia-smi -mig 0";
constexpr const char* new_chip = "rebuild with a newer CUDA toolkit, whose CUPTI knows the chip";
constexpr const char* library =
    "make the loader find the libcupti of the CUDA toolkit of this build (see LD_LIBRARY_PATH), or "
    "rebuild";
constexpr const char* container =
    "start the container with --cap-add=SYS_ADMIN and as root of the host, or load the host's "
    "driver with NVreg_RestrictProfilingToAdminUsers=0 (on a rented machine, its owner must do "
    "that)";
constexpr const char* no_library =
    "install CUPTI: pip install strata-gpu[counters], or a CUDA toolkit, or set STRATA_CUPTI to "
    "its "
    "libcupti";
constexpr const char* no_gpu =
    "count on a machine with an NVIDIA GPU: strata doctor lists what is missing here";
}  // namespace mend

constexpr std::string_view only_administrators =
    "the driver lets only administrators read hardware counters";
constexpr const char* old_api =
    "something in this process uses an old CUPTI profiling API, which excludes the new one";

/// Other CUPTI results are interpreted with the environment.
constexpr CuptiCause causes[]{
    {8, "CUPTI_ERROR_OUT_OF_MEMORY", "CUPTI is out of memory",
     "free memory of host and GPU: nvidia-smi lists who holds it"},
    {9, "CUPTI_ERROR_HARDWARE", "the GPU's performance monitor reported an error",
     "look for Xid lines in the kernel log (dmesg), and reload the driver"},
    {10, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT",
     "libcupti expects other structures than this build has", mend::library},
    {11, "CUPTI_ERROR_API_NOT_IMPLEMENTED", "this libcupti lacks a function that counting needs",
     mend::library},
    {23, "CUPTI_ERROR_DISABLED", "another profiler in this process has disabled CUPTI",
     mend::tool_around},
    {26, "CUPTI_ERROR_HARDWARE_BUSY", "another profiler holds the hardware counters of this GPU",
     "end the other profiler: dcgmi profile --pause if DCGM monitors the GPU, otherwise the ncu or "
     "nsys that holds it"},
    {31, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS",
     "the GPU is used through MPS, which shares it with other processes",
     "stop MPS while counting: echo quit | nvidia-cuda-mps-control"},
    {33, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED",
     "this virtual GPU (vGPU) cannot be profiled",
     "use a passed-through GPU, or a vGPU type that supports profiling"},
    {36, "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED", old_api, mend::legacy},
    {38, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED", old_api, mend::legacy},
    {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
     "this process runs under another CUDA tool, and CUPTI serves only one at a time",
     mend::tool_around},
    {40, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
     "the hypervisor does not allow profiling of this virtual GPU (vGPU)",
     "allow it in the hypervisor: the vGPU's plugin parameter enable_profiling=1"},
    {41, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED",
     "confidential computing is on, which disables hardware counters",
     "put the GPU into the developer mode of confidential computing (devtools), or turn it off"},
    {42, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED", "this GPU is a mining processor (CMP)",
     "use another GPU: mining processors have no counters"},
    {43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED", "this MIG slice shares its counters with others",
     mend::mig},
    {44, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED", "this GPU is part of an SLI group",
     "turn SLI off in the driver's settings"},
    {45, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED",
     "the driver provides no hardware counters under WSL",
     "allow GPU performance counters to all users in the NVIDIA Control Panel of Windows "
     "(Developer), or measure on native Linux"},
    {46, "CUPTI_ERROR_INVALID_CHIP_NAME", "this CUPTI does not know the chip", mend::new_chip},
};

// The results that the code below uses.
constexpr int not_initialized = 15;          // CUPTI_ERROR_NOT_INITIALIZED
constexpr int insufficient_privileges = 35;  // CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
constexpr int mps = 31;
constexpr int wsl_device = 45;

/// The value of the line "KEY: value"; empty without one.
std::string_view value_of(std::string_view text, const std::string& key) {
  for (const auto line : split(text, '\n')) {
    if (!line.starts_with(key + ':')) continue;
    const auto first = line.find_first_not_of(" \t\r", key.size() + 1);
    if (first == std::string_view::npos) return {};
    return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
  }
  return {};
}

/// The whole text of a file in /proc; empty if it cannot be read.
std::string text_of(const char* file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
}

bool is_present(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

/// Whether the driver restricts counters to administrators: "1" or "0"; empty if unknown.
std::string_view admin_only(const CounterEnvironment& environment) {
  return value_of(environment.driver_parameters, "RmProfilingAdminOnly");
}

/// Whether this process has administrator rights: decided by its effective capabilities, if they
/// can be read.
bool is_administrator(const CounterEnvironment& environment) {
  // From linux/capability.h. The driver requires the first; since version 565 the second suffices.
  constexpr unsigned cap_sys_admin = 21;
  constexpr unsigned cap_perfmon = 38;
  const auto digits = value_of(environment.process_status, "CapEff");
  std::uint64_t mask = 0;
  constexpr int hexadecimal = 16;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), mask, hexadecimal);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return environment.effective_user == 0;
  }
  return ((mask >> cap_sys_admin | mask >> cap_perfmon) & 1U) != 0;
}

/// Why this process is not an administrator. The remedies: NVIDIA, "ERR_NVGPUCTRPERM: Permission
/// issue with Performance Counters".
Absence unprivileged(const CounterEnvironment& environment) {
  if (environment.container) return {"this container lacks CAP_SYS_ADMIN", mend::container};
  if (environment.effective_user == 0) {
    return {"this root user lacks CAP_SYS_ADMIN",
            "run with the capability CAP_SYS_ADMIN, or load the driver with "
            "NVreg_RestrictProfilingToAdminUsers=0"};
  }
  return {"this user is not an administrator",
          "run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0 (an option "
          "of the kernel module nvidia)"};
}

bool is_wsl(const CounterEnvironment& environment) {
  const std::string& kernel = environment.kernel_version;
  return environment.wsl_graphics || kernel.find("microsoft") != std::string::npos ||
         kernel.find("Microsoft") != std::string::npos;
}

Absence explain_privileges(const CounterEnvironment& environment) {
  if (is_wsl(environment)) {
    return {"under WSL, Windows decides which users may read hardware counters",
            absence_of(wsl_device)->mend};
  }
  if (admin_only(environment) == "0") {
    return {
        "permission to read hardware counters is denied, although the driver's parameters grant it "
        "to every user (RmProfilingAdminOnly: 0)",
        "the owner of the machine that holds the GPU must allow profiling"};
  }
  if (auto denied = explain_environment(environment)) return *std::move(denied);
  if (!is_administrator(environment)) {
    const auto [user, mend] = unprivileged(environment);
    return {fmt::format("{}, and {}", only_administrators, user), mend};
  }
  if (environment.container) {
    return {fmt::format("{}, and on the host this container's user is not an administrator",
                        only_administrators),
            mend::container};
  }
  return {
      fmt::format("{}, and does not accept the CAP_SYS_ADMIN of this process", only_administrators),
      "run outside user namespaces and virtual machines, or load the driver with "
      "NVreg_RestrictProfilingToAdminUsers=0"};
}

/// The likely cause according to the environment, for a code that does not name one.
std::optional<Absence> explain_by_environment(const CounterEnvironment& environment) {
  if (is_wsl(environment)) return absence_of(wsl_device);
  if (environment.mig.value_or(false)) {
    return Absence{"the GPU is partitioned by MIG, and this slice shares its counters with others",
                   mend::mig};
  }
  if (environment.driver_cuda_version > 0 &&
      environment.driver_cuda_version < environment.cupti_cuda_version) {
    return Absence{fmt::format("the NVIDIA driver supports CUDA {} only, this CUPTI is of CUDA {}",
                               cuda_version_text(environment.driver_cuda_version),
                               cuda_version_text(environment.cupti_cuda_version)),
                   "update the driver, or build with the CUDA toolkit of the driver"};
  }
  if (environment.mps) return absence_of(mps);
  return std::nullopt;
}

Absence explain_code(int code, const CounterEnvironment& environment) {
  if (code == insufficient_privileges) return explain_privileges(environment);
  if (auto known = absence_of(code)) {
    if (known->mend == mend::tool_around && !environment.injection.empty()) {
      known->reason += " (CUDA_INJECTION64_PATH is " + environment.injection + ')';
    }
    return *std::move(known);
  }
  if (auto likely = explain_by_environment(environment)) return *std::move(likely);
  if (code == not_initialized) return {"CUPTI cannot reach the NVIDIA driver", mend::no_gpu};
  return {"hardware counters cannot be read", unclear_mend};
}

}  // namespace

std::span<const CuptiCause> cupti_causes() {
  return causes;
}

std::optional<Absence> absence_of(int code) {
  const auto* const found = std::ranges::find(causes, code, &CuptiCause::code);
  if (found == std::end(causes)) return std::nullopt;
  return Absence{found->reason, found->mend};
}

CounterEnvironment read_environment() {
  const std::string pipes = environment_variable("CUDA_MPS_PIPE_DIRECTORY");
  return {.driver_parameters = text_of("/proc/driver/nvidia/params"),
          .process_status = text_of("/proc/self/status"),
          .kernel_version = text_of("/proc/version"),
          .effective_user = geteuid(),
          .container = is_present("/.dockerenv") || is_present("/run/.containerenv") ||
                       is_present("/run/systemd/container") ||
                       !environment_variable("container").empty() ||
                       !environment_variable("KUBERNETES_SERVICE_HOST").empty(),
          .wsl_graphics = is_present("/dev/dxg"),
          .mps = is_present(std::filesystem::path{pipes.empty() ? "/tmp/nvidia-mps" : pipes} /
                            "control"),
          .injection = environment_variable("CUDA_INJECTION64_PATH")};
}

std::optional<Absence> explain_environment(const CounterEnvironment& environment) {
  const auto value = admin_only(environment);
  if (value.empty() || value == "0" || is_administrator(environment)) return std::nullopt;
  const auto [user, mend] = unprivileged(environment);
  return Absence{fmt::format("{} (RmProfilingAdminOnly: 1), and {}", only_administrators, user),
                 mend};
}

Absence explain_counters(int code, std::string_view name, std::string_view call,
                         const CounterEnvironment& environment) {
  Absence found = explain_code(code, environment);
  found.reason += fmt::format(" ({}: {}, {})", call, name, code);
  return found;
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Absence explain_chip(std::string_view chip, int cupti_cuda_version,
                     std::span<const std::string> known) {
  auto reason = fmt::format("CUPTI of CUDA {} does not know the chip {}",
                            cuda_version_text(cupti_cuda_version), chip);
  if (!known.empty()) {
    reason += fmt::format(", the last of the {} that it knows is {}", known.size(), known.back());
  }
  return {std::move(reason), mend::new_chip};
}

std::optional<Absence> explain_library(unsigned built_for, unsigned found) {
  if (found >= built_for) return std::nullopt;
  return Absence{fmt::format("libcupti does not match: version {} was loaded, this build needs {}",
                             found, built_for),
                 mend::library};
}

Absence no_counters_in_this_build(std::string_view why) {
  if (why == without_cuda) {
    return {"this build is without CUDA", "rebuild with a CUDA compiler (nvcc) and CUPTI"};
  }
  return {fmt::format("this build has no counters: {}", why),
          "rebuild with CUDA 12.8 or newer and its CUPTI (libcupti and cupti_range_profiler.h)"};
}

Absence no_cupti_found(std::string_view detail) {
  return {fmt::format("no libcupti loads here{}{}", detail.empty() ? "" : ": ", detail),
          mend::no_library};
}

Absence no_gpu_to_count_on(std::string_view detail) {
  return {"there is no GPU to count on: " + std::string{detail}, mend::no_gpu};
}

}  // namespace strata
