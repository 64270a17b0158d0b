// A device's name as it stands in folder names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strata {

/// Lower-case words joined by '-': "NVIDIA H200" gives "nvidia-h200". ASCII letters and digits
/// only, without "(R)" and "(TM)"; "device" when nothing is left.
[[nodiscard]] inline std::string slug(std::string_view name) {
  std::string text;
  bool gap = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto rest = name.substr(i);
    if (rest.starts_with("(R)") || rest.starts_with("(TM)")) i += rest.find(')');
    const char c = name[i];
    const bool upper = c >= 'A' && c <= 'Z';
    if (!upper && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) {
      gap = true;
      continue;
    }
    if (gap && !text.empty()) text += '-';
    gap = false;
    text += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text.empty() ? "device" : text;
}

}  // namespace strata
