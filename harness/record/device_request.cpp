#include "harness/base/error.hpp"
#include "harness/base/text.hpp"
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
  throw UsageError{"there is no device " + in_quotes(text) + ": use auto, cuda, cuda:N or host"};
}

}  // namespace strata
