#include "harness/counters/cupti_absence.hpp"

#include "harness/counters/counters.hpp"
#include "harness/counters/cupti_check.hpp"
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

/// CUPTI counts its versions by toolkit since 13.0: 130001 is CUDA 13.0 Update 1, 13.0 itself
/// 130000. In the way that CUDA counts them, 1000 × major + 10 × minor; 0 for an older one.
int cuda_version_of(std::uint32_t cupti) {
  constexpr std::uint32_t first = 130000;
  if (cupti < first) return 0;
  return static_cast<int>(cupti / 10000 * 1000 + cupti / 100 % 100 * 10);
}

/// From NVML; empty without NVML, the device or the feature.
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

void counters_unavailable(const Absence& absence) {
  throw CountersUnavailable{absence.reason, absence.mend};
}

void counters_unavailable(CUptiResult code, std::string_view call, int ordinal) {
  counters_unavailable(explain_counters(static_cast<int>(code), cupti_error_name(code), call,
                                        counter_environment(ordinal)));
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
    counters_unavailable(no_gpu_to_count_on("the driver does not start"));
  }
  auto params = CUPTI_PARAMS(CUpti_Profiler_Initialize, );
  if (const auto code = cuptiProfilerInitialize(&params); code != CUPTI_SUCCESS) {
    counters_unavailable(code, "cuptiProfilerInitialize", ordinal);
  }
}

}  // namespace strata
