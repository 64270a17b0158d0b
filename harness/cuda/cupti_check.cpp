#include "harness/cuda/cupti_check.hpp"

#include "harness/base/error.hpp"
#include "harness/base/text.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/cupti_library.hpp"
#include "harness/cuda/nvml.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <fmt/format.h>

#include <cstdio>
#include <variant>

namespace strata {
namespace {

/// Version of the CUDA toolkit, 1000 × major + 10 × minor. CUPTI's version follows the toolkit
/// since 13.0: 130001 is CUDA 13.0 Update 1. An older CUPTI counts for the toolkit of this build.
int cuda_version_of(std::uint32_t cupti) {
  constexpr std::uint32_t first = 130000;
  if (cupti < first) return CUDART_VERSION;
  return static_cast<int>(cupti / 10000 * 1000 + cupti / 100 % 100 * 10);
}

/// From NVML; empty without NVML, the device or the feature.
std::optional<bool> mig_of(int ordinal) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) {
    (void)cudaGetLastError();
    return std::nullopt;
  }
  const Facts limits = NvmlDevice{uuid_digits(properties.uuid.bytes)}.limits();
  const auto found = limits.find("mig");
  const auto* mig = found == limits.end() ? nullptr : std::get_if<bool>(&found->second);
  return mig == nullptr ? std::nullopt : std::optional{*mig};
}

bool start_driver() {
  const auto initialize = driver_function<decltype(&cuInit)>("cuInit", 2000);
  return initialize != nullptr && initialize(0) == CUDA_SUCCESS;
}

}  // namespace

const char* cupti_error_name(CUptiResult code) noexcept {
  const char* name = nullptr;
  if (cuptiGetResultString(code, &name) != CUPTI_SUCCESS || name == nullptr) {
    return "an error without a name in this CUPTI";
  }
  return name;
}

CuptiError::CuptiError(CUptiResult code, const std::source_location& where)
    : std::runtime_error{fmt::format(
          "{} ({}) at {}", cupti_error_name(code), static_cast<int>(code),
          place_text(where.file_name(), where.line(), where.function_name()))},
      code_{code} {}

void cupti_release(CUptiResult status, const char* what) noexcept {
  if (status == CUPTI_SUCCESS) return;
  (void)std::fprintf(stderr, "warning: %s: %s\n", what, cupti_error_name(status));
}

CounterEnvironment counter_environment(int ordinal) {
  CounterEnvironment environment = read_environment();
  environment.mig = mig_of(ordinal);
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess) environment.driver_cuda_version = driver;
  std::uint32_t cupti = 0;
  if (cuptiGetVersion(&cupti) == CUPTI_SUCCESS) {
    environment.cupti_cuda_version = cuda_version_of(cupti);
  }
  (void)cudaGetLastError();
  return environment;
}

void counters_unavailable(CUptiResult code, std::string_view call, int ordinal) {
  throw CountersUnavailable{explain_counters(static_cast<int>(code), cupti_error_name(code), call,
                                             counter_environment(ordinal))};
}

std::optional<Absence> explain_support(const CUpti_Profiler_DeviceSupported_Params& flags) {
  const auto refused = [](CUpti_Profiler_Support_Level level) {
    return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
           level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
  };
  const std::pair<CUpti_Profiler_Support_Level, CUptiResult> refusals[]{
      {flags.wsl, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED},
      {flags.vGpu, flags.vGpu == CUPTI_PROFILER_CONFIGURATION_DISABLED
                       ? CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
                       : CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED},
      {flags.confidentialCompute, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED},
      {flags.cmp, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED},
      {flags.sli, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED}};
  for (const auto& [level, code] : refusals) {
    if (refused(level)) return absence_of(code);
  }
  if (refused(flags.architecture)) {
    return Absence{"this GPU is older than CUPTI's range profiler",
                   "use a GPU of compute capability 7.5 or later"};
  }
  if (refused(flags.isSupported)) {
    return Absence{"CUPTI reports that this device cannot be profiled, without a reason",
                   unclear_mend};
  }
  return std::nullopt;
}

void start_cupti(int ordinal) {
  if (!start_driver()) throw CountersUnavailable{no_gpu_to_count_on("the driver does not start")};
  require_cupti();
  auto params = CUPTI_PARAMS(CUpti_Profiler_Initialize, );
  if (const auto code = cuptiProfilerInitialize(&params); code != CUPTI_SUCCESS) {
    counters_unavailable(code, "cuptiProfilerInitialize", ordinal);
  }
}

std::string chip_of_device(int ordinal) {
  // Until the driver is started, CUPTI has no devices.
  int count = 0;
  if (!start_driver() || cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();  // expected on a machine without a GPU
    count = 0;
  }
  if (count == 0) throw DeviceUnavailable{"there is no GPU here"};
  if (ordinal < 0 || ordinal >= count) {
    throw DeviceUnavailable{
        fmt::format("there is no cuda:{} here; the last GPU is cuda:{}", ordinal, count - 1)};
  }
  // Without this, querying the chip of an existing device ends the process (CUPTI 13.0).
  start_cupti(ordinal);
  auto params =
      CUPTI_PARAMS(CUpti_Device_GetChipName, .deviceIndex = static_cast<std::size_t>(ordinal));
  const auto code = cuptiDeviceGetChipName(&params);
  if (code != CUPTI_SUCCESS || params.pChipName == nullptr) {
    throw CountersUnavailable{fmt::format("CUPTI does not report the chip of cuda:{} ({})", ordinal,
                                          cupti_error_name(code)),
                              "update the CUDA toolkit if the GPU is newer than it"};
  }
  return params.pChipName;
}

}  // namespace strata
