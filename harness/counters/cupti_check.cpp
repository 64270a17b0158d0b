#include "harness/counters/cupti_check.hpp"

#include "harness/case/text.hpp"

#include <cstdio>
#include <string>

namespace strata {
namespace {

std::string describe(CUptiResult code, const std::source_location& where) {
  std::string text = cupti_error_name(code);
  text.append(" (").append(std::to_string(static_cast<int>(code))).append(") at ");
  return text.append(place_text(where.file_name(), where.line(), where.function_name()));
}

}  // namespace

const char* cupti_error_name(CUptiResult code) noexcept {
  const char* name = nullptr;
  if (cuptiGetResultString(code, &name) != CUPTI_SUCCESS || name == nullptr) {
    return "an error that this CUPTI has no name for";
  }
  return name;
}

CuptiError::CuptiError(CUptiResult code, const std::source_location& where)
    : std::runtime_error{describe(code, where)}, code_{code} {}

void cupti_release(CUptiResult status, const char* what) noexcept {
  if (status == CUPTI_SUCCESS) return;
  (void)std::fprintf(stderr, "warning: %s: %s\n", what, cupti_error_name(status));
}

}  // namespace strata
