// Opens the device of either kind that a user requested.
#include "harness/base/error.hpp"
#include "harness/record/device.hpp"

namespace strata {

std::unique_ptr<Device> open_device(const DeviceRequest& request) {
  if (request.kind == DeviceRequest::Kind::host) return open_host_device();
  try {
    return open_cuda_device(request.ordinal);
  } catch (const DeviceUnavailable&) {
    if (request.kind == DeviceRequest::Kind::cuda) throw;
    return open_host_device();  // `strata doctor` explains a missing GPU
  }
}

}  // namespace strata
