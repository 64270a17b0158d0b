// Our names of CUPTI's results, against those of the library itself.
#include "harness/counters/counter_absence.hpp"

#include <cupti_result.h>

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(CuptiAbsence, NamesOfResultsAreThoseOfTheLibrary) {
  int named = 0;
  for (int code = 0; code <= cupti_result::unknown; ++code) {
    const char* name = nullptr;
    // The library has no text for some results of APIs that it no longer has.
    if (cuptiGetResultString(static_cast<CUptiResult>(code), &name) != CUPTI_SUCCESS) continue;
    EXPECT_EQ(cupti_result_name(code), name) << code;
    ++named;
  }
  EXPECT_GE(named, 46);
}

}  // namespace
}  // namespace strata
