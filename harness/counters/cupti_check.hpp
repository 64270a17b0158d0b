// Calls of CUPTI: a failure is an exception that names the error and the place.
#pragma once

#include "harness/counters/counter_absence.hpp"

#include <cupti_profiler_target.h>
#include <cupti_result.h>

#include <source_location>
#include <stdexcept>

namespace strata {

/// "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", for a code that this library knows.
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

/// As CUPTI_CALL.
template <class Params>
Params cupti_call(CUptiResult (*function)(Params*), Params params,
                  const std::source_location& where = std::source_location::current()) {
  cupti_check(function(&params), where);
  return params;
}

/// For destructors: reports on stderr, never throws.
void cupti_release(CUptiResult status, const char* what) noexcept;

/// read_environment(), and what CUPTI, the driver and NVML say: mig and both versions. Needs no
/// context and makes none.
[[nodiscard]] CounterEnvironment counter_environment(int ordinal);

/// Throws CountersUnavailable, which says why a call of CUPTI answered `code`.
[[noreturn]] void counters_unavailable(CUptiResult code, std::string_view call, int ordinal);

/// Empty when the device supports profiling, or when CUPTI does not know.
[[nodiscard]] std::optional<Absence> explain_support(
    const CUpti_Profiler_DeviceSupported_Params& flags);

/// Starts the driver, then CUPTI: in this order, and before whoever opens the device makes the
/// context. Doing it again does nothing. Throws CountersUnavailable.
void start_cupti(int ordinal);

}  // namespace strata

/// The parameters of a call of CUPTI, which wants to be told their size: CUPTI_PARAMS(
/// CUpti_RangeProfiler_Start, .pRangeProfilerObject = object).
#define CUPTI_PARAMS(name, ...)                          \
  name##_Params {                                        \
    .structSize = name##_Params_STRUCT_SIZE, __VA_ARGS__ \
  }

/// Calls `function` with them and gives them back: they hold the answer. Throws CuptiError.
#define CUPTI_CALL(function, name, ...) cupti_call(function, CUPTI_PARAMS(name, __VA_ARGS__))
