// Every CUPTI call goes through cupti_check: a failure is an exception that names the error and the
// place.
#pragma once

#include <cupti_result.h>

#include <source_location>
#include <stdexcept>

namespace strata {

/// "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; for a code that this library does not know, its number.
[[nodiscard]] const char* cupti_error_name(CUptiResult code) noexcept;

/// A failed CUPTI call: what() names the error, the call site and its function.
class CuptiError : public std::runtime_error {
 public:
  CuptiError(CUptiResult code, const std::source_location& where);
  [[nodiscard]] CUptiResult code() const noexcept { return code_; }

 private:
  CUptiResult code_;
};

/// Throws CuptiError unless `status` is CUPTI_SUCCESS. Wrappers pass on their caller's place.
inline void cupti_check(CUptiResult status,
                        const std::source_location& where = std::source_location::current()) {
  if (status != CUPTI_SUCCESS) throw CuptiError{status, where};
}

/// Calls a function of CUPTI and gives back its parameters, which hold the answer. Throws
/// CuptiError.
template <class Params>
Params cupti_call(CUptiResult (*function)(Params*), Params params,
                  const std::source_location& where = std::source_location::current()) {
  cupti_check(function(&params), where);
  return params;
}

/// For destructors: reports on stderr, never throws.
void cupti_release(CUptiResult status, const char* what) noexcept;

}  // namespace strata

/// The parameters of a call of CUPTI, which wants to be told their size: CUPTI_PARAMS(
/// CUpti_RangeProfiler_Start, .pRangeProfilerObject = object).
#define CUPTI_PARAMS(name, ...)                          \
  name##_Params {                                        \
    .structSize = name##_Params_STRUCT_SIZE, __VA_ARGS__ \
  }
