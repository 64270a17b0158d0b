#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace strata {

/// "8-4-4-4-12" hexadecimal digits, as NVML writes them after "GPU-" or "MIG-".
[[nodiscard]] inline std::string uuid_digits(const cudaUUID_t& uuid) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += digits[byte >> 4U];
    text += digits[byte & 0xFU];
  }
  return text;
}

}  // namespace strata
