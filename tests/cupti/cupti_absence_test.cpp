// Our names of CUPTI's results, against those of the library itself.
#include "harness/counters/counter_absence.hpp"

#include <cupti_result.h>

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(CuptiAbsence, CodesAndNamesOfResultsAreThoseOfTheLibrary) {
  for (const auto& cause : cupti_causes()) {
    // The library has no text for this result of an API that it no longer has.
    static_assert(CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED == 36);
    if (cause.code == CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED) continue;
    const char* name = nullptr;
    ASSERT_EQ(cuptiGetResultString(static_cast<CUptiResult>(cause.code), &name), CUPTI_SUCCESS);
    EXPECT_EQ(cause.name, name) << cause.code;
  }
  static_assert(CUPTI_ERROR_NOT_INITIALIZED == 15);
  static_assert(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES == 35);
}

}  // namespace
}  // namespace strata
