#include "harness/counters/cupti_absence.hpp"

#include "harness/counters/counters.hpp"
#include "harness/counters/cupti_host.hpp"
#include "harness/cuda/driver.hpp"
#include "harness/cuda/nvml.hpp"
#include "harness/cuda/uuid.hpp"
#include "harness/record/measurement.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_profiler_target.h>
#include <cupti_result.h>
#include <cupti_version.h>

#include <algorithm>
#include <cstdint>
#include <variant>

namespace strata {
namespace {

// The codes that counter_absence.cpp knows are CUPTI's.
static_assert(cupti_result::success == CUPTI_SUCCESS);
static_assert(cupti_result::invalid_device == CUPTI_ERROR_INVALID_DEVICE);
static_assert(cupti_result::invalid_operation == CUPTI_ERROR_INVALID_OPERATION);
static_assert(cupti_result::out_of_memory == CUPTI_ERROR_OUT_OF_MEMORY);
static_assert(cupti_result::hardware == CUPTI_ERROR_HARDWARE);
static_assert(cupti_result::size_not_sufficient == CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
static_assert(cupti_result::api_not_implemented == CUPTI_ERROR_API_NOT_IMPLEMENTED);
static_assert(cupti_result::not_compatible == CUPTI_ERROR_NOT_COMPATIBLE);
static_assert(cupti_result::not_initialized == CUPTI_ERROR_NOT_INITIALIZED);
static_assert(cupti_result::disabled == CUPTI_ERROR_DISABLED);
static_assert(cupti_result::hardware_busy == CUPTI_ERROR_HARDWARE_BUSY);
static_assert(cupti_result::not_supported == CUPTI_ERROR_NOT_SUPPORTED);
static_assert(cupti_result::mps == CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS);
static_assert(cupti_result::virtual_device == CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
static_assert(cupti_result::insufficient_privileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(cupti_result::old_profiler_api == CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED);
static_assert(cupti_result::legacy_profiler == CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
static_assert(cupti_result::multiple_subscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(cupti_result::virtual_device_privileges ==
              CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
static_assert(cupti_result::confidential_computing ==
              CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
static_assert(cupti_result::crypto_mining == CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
static_assert(cupti_result::mig_device == CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
static_assert(cupti_result::sli_device == CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
static_assert(cupti_result::wsl_device == CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
static_assert(cupti_result::invalid_chip_name == CUPTI_ERROR_INVALID_CHIP_NAME);
static_assert(cupti_result::unknown == CUPTI_ERROR_UNKNOWN);

/// CUPTI counts its versions by toolkit since 13.0: 130001 is CUDA 13.0 Update 1, 13.0 itself
/// 130000. In the way that CUDA counts them, 1000 × major + 10 × minor; 0 for an older one.
int cuda_version_of(std::uint32_t cupti) {
  constexpr std::uint32_t first = 130000;
  if (cupti < first) return 0;
  return static_cast<int>(cupti / 10000 * 1000 + cupti / 100 % 100 * 10);
}

/// NVML's word; empty when NVML, the device or the feature is not there.
std::optional<bool> mig_of(int ordinal) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) {
    (void)cudaGetLastError();
    return std::nullopt;
  }
  const Facts limits = NvmlDevice{uuid_digits(properties.uuid)}.limits();
  const auto found = limits.find("mig");
  if (found == limits.end()) return std::nullopt;
  const auto* mig = std::get_if<bool>(&found->second);
  return mig == nullptr ? std::nullopt : std::optional{*mig};
}

}  // namespace

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

std::optional<Absence> misfit_of_loaded_cupti() {
  std::uint32_t found = 0;  // older than any, if it cannot even say so
  (void)cuptiGetVersion(&found);
  return explain_library(CUPTI_API_VERSION, found);
}

std::optional<Absence> unknown_chip(const std::string& chip) {
  const auto known = CuptiHost::chips();
  if (std::ranges::find(known, chip) != known.end()) return std::nullopt;
  std::uint32_t found = 0;
  (void)cuptiGetVersion(&found);
  return explain_chip(chip, cuda_version_text(cuda_version_of(found)), known);
}

void start_cupti(int ordinal) {
  const auto initialize_driver = driver_function<decltype(&cuInit)>("cuInit", 2000);
  if (initialize_driver == nullptr || initialize_driver(0) != CUDA_SUCCESS) {
    const Absence absence = no_gpu_to_count_on("the driver does not start");
    throw CountersUnavailable{absence.reason, absence.mend};
  }
  CUpti_Profiler_Initialize_Params params{};
  params.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
  if (const auto code = cuptiProfilerInitialize(&params); code != CUPTI_SUCCESS) {
    const Absence absence = explain_counters(static_cast<int>(code), "cuptiProfilerInitialize",
                                             counter_environment(ordinal));
    throw CountersUnavailable{absence.reason, absence.mend};
  }
}

}  // namespace strata
