// From what a user asked for to the device.
#include "harness/case/error.hpp"
#include "harness/record/device.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace strata {

DeviceRequest parse_device_request(const std::string& text) {
  if (text == "auto") return {.kind = DeviceRequest::Kind::any, .ordinal = 0};
  if (text == "host") return {.kind = DeviceRequest::Kind::host, .ordinal = 0};
  if (text == "cuda") return {.kind = DeviceRequest::Kind::cuda, .ordinal = 0};
  constexpr std::string_view prefix = "cuda:";
  if (text.starts_with(prefix)) {
    const char* const first = text.data() + prefix.size();
    const char* const last = text.data() + text.size();
    int ordinal = 0;
    const auto [end, error] = std::from_chars(first, last, ordinal);
    if (error == std::errc{} && end == last && first != last && ordinal >= 0) {
      return {.kind = DeviceRequest::Kind::cuda, .ordinal = ordinal};
    }
  }
  throw UsageError{"there is no device \"" + text + "\": say auto, cuda, cuda:N or host"};
}

std::unique_ptr<Device> open_device(const DeviceRequest& request) {
  switch (request.kind) {
    case DeviceRequest::Kind::cuda:
      return open_cuda_device(request.ordinal);
    case DeviceRequest::Kind::host:
      return open_host_device();
    case DeviceRequest::Kind::any:
      break;
  }
  try {
    return open_cuda_device(0);
  } catch (const DeviceUnavailable&) {
    return open_host_device();  // `strata doctor` says why there is no GPU
  }
}

}  // namespace strata
