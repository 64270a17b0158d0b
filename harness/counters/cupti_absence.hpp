// What the loaded CUPTI, the driver and NVML add to harness/counters/counter_absence.hpp.
#pragma once

#include "harness/counters/counter_absence.hpp"

#include <cupti_result.h>

#include <optional>
#include <string>
#include <string_view>

namespace strata {

/// read_environment(), and what CUPTI, the driver and NVML say: mig and both versions. Needs no
/// context and makes none.
[[nodiscard]] CounterEnvironment counter_environment(int ordinal);

/// Throws CountersUnavailable; the second says why a call of CUPTI answered `code`.
[[noreturn]] void counters_unavailable(const Absence& absence);
[[noreturn]] void counters_unavailable(CUptiResult code, std::string_view call, int ordinal);

/// Empty when the libcupti that was loaded serves this build.
[[nodiscard]] std::optional<Absence> misfit_of_loaded_cupti();

/// Empty when the loaded CUPTI knows the chip of a device ("GH100"); a chip too new for it is no
/// mistake of the user's. Throws CuptiError.
[[nodiscard]] std::optional<Absence> unknown_chip(const std::string& chip);

/// Starts the driver, then CUPTI: in this order, and before whoever opens the device makes the
/// context. Doing it again does nothing. Throws CountersUnavailable.
void start_cupti(int ordinal);

}  // namespace strata
