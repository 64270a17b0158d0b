// CUPTI calls: a failure throws an exception that names the error and the call site.
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

/// Throws CuptiError unless `status` is CUPTI_SUCCESS. Wrappers pass on their caller's location.
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

/// read_environment() plus what CUPTI, the driver and NVML report: mig and both versions. Does not
/// need or create a context.
[[nodiscard]] CounterEnvironment counter_environment(int ordinal);

/// Throws CountersUnavailable with the reason why a CUPTI call returned `code`.
[[noreturn]] void counters_unavailable(CUptiResult code, std::string_view call, int ordinal);

/// Empty if the device supports profiling, or if CUPTI does not know.
[[nodiscard]] std::optional<Absence> explain_support(
    const CUpti_Profiler_DeviceSupported_Params& flags);

/// Starts the driver, then CUPTI: in this order, and before the device is opened, which creates the
/// context. Later calls do nothing. Throws CountersUnavailable.
void start_cupti(int ordinal);

}  // namespace strata

/// The parameters of a CUPTI call, with their size filled in:
/// CUPTI_PARAMS(CUpti_RangeProfiler_Start, .pRangeProfilerObject = object).
#define CUPTI_PARAMS(name, ...)                          \
  name##_Params {                                        \
    .structSize = name##_Params_STRUCT_SIZE, __VA_ARGS__ \
  }

/// Calls `function` with these parameters and returns them, since they contain its results. Throws
/// CuptiError.
#define CUPTI_CALL(function, name, ...) cupti_call(function, CUPTI_PARAMS(name, __VA_ARGS__))
