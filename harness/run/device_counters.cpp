#include "harness/run/worker.hpp"

#include <string>

namespace strata {

std::unique_ptr<CounterSource> open_device_counters(const DeviceRequest& device,
                                                    const CounterSelection& selection) {
  if (device.kind != DeviceRequest::Kind::host) return open_counters(device, selection);
  throw CountersUnavailable{std::string{host_has_no_counters}, {}};
}

}  // namespace strata
