// Our names of CUPTI's results and its flags, against those of the library itself.
#include "harness/counters/counter_absence.hpp"
#include "harness/cuda/cupti_check.hpp"

#include <cupti_profiler_target.h>
#include <cupti_result.h>
#include <cupti_version.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace strata {
namespace {

using testing::HasSubstr;

TEST(CuptiAbsence, CodesAndNamesOfResultsAreThoseOfTheLibrary) {
  for (const auto& cause : cupti_causes()) {
    // The library has no text for this result of an API that it no longer has.
    static_assert(CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED == 36);
    if (cause.code == CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED) continue;
    if (cause.name == "CUPTI_ERROR_INVALID_CHIP_NAME" && CUPTI_API_VERSION < 130000) continue;
    const char* name = nullptr;
    ASSERT_EQ(cuptiGetResultString(static_cast<CUptiResult>(cause.code), &name), CUPTI_SUCCESS);
    EXPECT_EQ(cause.name, name) << cause.code;
  }
  static_assert(CUPTI_ERROR_NOT_INITIALIZED == 15);
  static_assert(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES == 35);
}

using Flags = CUpti_Profiler_DeviceSupported_Params;

struct SupportRow {
  CUpti_Profiler_Support_Level Flags::*flag;
  CUpti_Profiler_Support_Level level;
  const char* reason;  ///< null: nothing speaks against counters
  const char* mend;
};

TEST(CuptiAbsence, WhatADeviceDoesNotSupportIsNamed) {
  constexpr auto unknown = CUPTI_PROFILER_CONFIGURATION_UNKNOWN;
  constexpr auto unsupported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  constexpr auto disabled = CUPTI_PROFILER_CONFIGURATION_DISABLED;
  constexpr auto supported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  const std::vector<SupportRow> rows{
      {&Flags::wsl, unsupported, "WSL", "NVIDIA Control Panel"},
      {&Flags::vGpu, unsupported, "vGPU) cannot be profiled", "passed-through"},
      {&Flags::vGpu, disabled, "hypervisor", "enable_profiling=1"},
      {&Flags::confidentialCompute, unsupported, "confidential", "devtools"},
      {&Flags::cmp, unsupported, "CMP", "another GPU"},
      {&Flags::sli, unsupported, "SLI", "SLI off"},
      {&Flags::architecture, unsupported, "older than", "7.5"},
      {&Flags::isSupported, unsupported, "without a reason", "dmesg"},
      {&Flags::isSupported, supported, nullptr, nullptr},
      {&Flags::isSupported, unknown, nullptr, nullptr},
      {&Flags::vGpu, unknown, nullptr, nullptr},
  };
  std::ifstream file{STRATA_ABSENCE_PAGE};
  ASSERT_TRUE(file) << STRATA_ABSENCE_PAGE;
  std::string page{std::istreambuf_iterator<char>{file}, {}};
  std::erase(page, '`');
  for (const auto& row : rows) {
    Flags flags{};
    for (auto flag : {&Flags::isSupported, &Flags::architecture, &Flags::sli, &Flags::vGpu,
                      &Flags::confidentialCompute, &Flags::cmp, &Flags::wsl})
      flags.*flag = supported;
    if (row.reason != nullptr) flags.isSupported = unsupported;
    flags.*row.flag = row.level;
    const auto absence = explain_support(flags);
    ASSERT_EQ(absence.has_value(), row.reason != nullptr);
    if (!absence) continue;
    EXPECT_THAT(absence->reason, HasSubstr(row.reason));
    EXPECT_THAT(absence->mend, HasSubstr(row.mend));
    EXPECT_THAT(page, HasSubstr(absence->mend));
  }
}

}  // namespace
}  // namespace strata
