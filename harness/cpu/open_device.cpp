// From what a user asked for to the device.
#include "harness/case/error.hpp"
#include "harness/record/device.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace strata {

DeviceRequest parse_device_request(const std::string& text) {
  using enum DeviceRequest::Kind;
  if (text == "auto") return {any};
  if (text == "host") return {host};
  if (text == "cuda") return {cuda};
  constexpr std::string_view prefix = "cuda:";
  DeviceRequest numbered{cuda};
  const char* const end = text.data() + text.size();
  if (text.starts_with(prefix)) {
    const auto read = std::from_chars(text.data() + prefix.size(), end, numbered.ordinal);
    if (read.ec == std::errc{} && read.ptr == end && numbered.ordinal >= 0) return numbered;
  }
  throw UsageError{"there is no device \"" + text + "\": say auto, cuda, cuda:N or host"};
}

std::unique_ptr<Device> open_device(const DeviceRequest& request) {
  if (request.kind == DeviceRequest::Kind::host) return open_host_device();
  try {
    return open_cuda_device(request.ordinal);
  } catch (const DeviceUnavailable&) {
    if (request.kind == DeviceRequest::Kind::cuda) throw;
    return open_host_device();  // `strata doctor` says why there is no GPU
  }
}

}  // namespace strata
