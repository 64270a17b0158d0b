// Chips and their metrics as the rest of the harness asks for them.
#include "harness/case/error.hpp"
#include "harness/counters/counter_catalogue.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/cupti_absence.hpp"
#include "harness/counters/cupti_check.hpp"
#include "harness/counters/cupti_host.hpp"
#include "harness/cuda/driver.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace strata {

std::string catalogue_version() {
  std::uint32_t version = 0;
  cupti_check(cuptiGetVersion(&version));
  return fmt::format("CUPTI {}", version);
}

std::vector<std::string> known_chips() {
  return CuptiHost::chips();
}

std::unique_ptr<MetricCatalogue> open_catalogue(const std::string& chip) {
  return std::make_unique<CuptiHost>(chip);
}

std::string chip_of_device(int ordinal) {
  // Without a driver that is started, CUPTI has no devices to name.
  const auto initialize_driver = driver_function<decltype(&cuInit)>("cuInit", 2000);
  int count = 0;
  if (initialize_driver == nullptr || initialize_driver(0) != CUDA_SUCCESS ||
      cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();  // expected on a machine without a GPU
    count = 0;
  }
  if (ordinal < 0 || ordinal >= count) {
    throw DeviceUnavailable{
        count == 0
            ? std::string{"there is no GPU here"}
            : fmt::format("there is no cuda:{} here; the last GPU is cuda:{}", ordinal, count - 1)};
  }
  // Before this, asking for the chip of a device that is there ends the process (CUPTI 13.0).
  start_cupti(ordinal);
  auto params =
      CUPTI_PARAMS(CUpti_Device_GetChipName, .deviceIndex = static_cast<std::size_t>(ordinal));
  const auto code = cuptiDeviceGetChipName(&params);
  if (code != CUPTI_SUCCESS || params.pChipName == nullptr) {
    throw CountersUnavailable{fmt::format("CUPTI does not say which chip cuda:{} is ({})", ordinal,
                                          cupti_error_name(code)),
                              "update the CUDA toolkit if the GPU is newer than it"};
  }
  return params.pChipName;
}

}  // namespace strata
