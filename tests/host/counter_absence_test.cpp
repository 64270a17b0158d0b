// Every situation in which counters cannot be read, played with faked codes and faked texts.
#include "harness/counters/counter_absence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace strata {
namespace {

using testing::HasSubstr;

constexpr const char* admin_only = "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n";
constexpr const char* every_user = "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n";
constexpr const char* all_capabilities = "Name:\tstrata\nCapEff:\t000001ffffffffff\n";
constexpr const char* docker_capabilities = "Name:\tstrata\nCapEff:\t00000000a80425fb\n";
constexpr const char* no_capabilities = "Name:\tstrata\nCapEff:\t0000000000000000\n";
constexpr const char* sys_admin = "CapEff:\t0000000000200000\n";
constexpr const char* perfmon = "CapEff:\t0000004000000000\n";
constexpr unsigned root = 0;
constexpr unsigned user = 1000;
constexpr const char* wsl_kernel = "Linux version 5.15.90.1-microsoft-standard-WSL2 (gcc)\n";
constexpr const char* plain_kernel = "Linux version 6.8.0-45-generic (buildd@lcy02)\n";

CounterEnvironment permissions(const char* parameters, const char* status, unsigned who,
                               bool container = false) {
  return {.driver_parameters = parameters,
          .process_status = status,
          .effective_user = who,
          .container = container};
}
CounterEnvironment with_mig(bool on) {
  CounterEnvironment environment;
  environment.mig = on;
  return environment;
}
CounterEnvironment under_wsl() {
  return {.kernel_version = wsl_kernel};
}
CounterEnvironment with_graphics_of_wsl() {
  return {.kernel_version = plain_kernel, .wsl_graphics = true};
}
CounterEnvironment under_mps() {
  return {.mps = true};
}
CounterEnvironment with_versions(int driver, int cupti) {
  return {.driver_cuda_version = driver, .cupti_cuda_version = cupti};
}
CounterEnvironment injected() {
  return {.injection = "/opt/nsys/libToolsInjection64.so"};
}

/// What is wrong with the form of a message, or nothing.
std::string defect(const std::string& text) {
  if (text.empty()) return "is empty";
  if (text.find('\n') != std::string::npos) return "has a line break";
  if (text.find(';') != std::string::npos) {
    return "has a semicolon, which parts reasons from each other";
  }
  if (text.back() == '.' || text.back() == ' ') return "ends in a full stop or a space";
  return {};
}

/// ABSENCE.md without its marks: code, and a bar inside a table.
const std::string& page() {
  static const std::string text = [] {
    std::ifstream file{STRATA_ABSENCE_PAGE};
    EXPECT_TRUE(file) << STRATA_ABSENCE_PAGE;
    std::string all{std::istreambuf_iterator<char>{file}, {}};
    std::erase_if(all, [](char c) { return c == '`' || c == '\\'; });
    return all;
  }();
  return text;
}

/// Sound in form, and its mending step one that the page of absences knows.
void expect_sound(const Absence& absence) {
  EXPECT_EQ(defect(absence.reason), "") << absence.reason;
  EXPECT_EQ(defect(absence.mend), "") << absence.mend;
  EXPECT_THAT(page(), HasSubstr(absence.mend));
}

struct CodeRow {
  int code;
  CounterEnvironment environment;
  const char* reason;
  const char* mend;
};

TEST(CounterAbsence, EveryCodeOfCuptiIsNamedWithItsMendingStep) {
  const CounterEnvironment plain;
  const std::vector<CodeRow> rows{
      {35, permissions(admin_only, no_capabilities, user), "this user is not an administrator",
       "run as root"},
      {35, permissions(admin_only, docker_capabilities, root, true), "lacks CAP_SYS_ADMIN",
       "--cap-add=SYS_ADMIN"},
      {35, permissions(admin_only, all_capabilities, root, true), "on the host",
       "root of the host"},
      {35, permissions(admin_only, all_capabilities, root), "does not accept the CAP_SYS_ADMIN",
       "NVreg_RestrictProfilingToAdminUsers=0"},
      {35, permissions(admin_only, no_capabilities, root), "this root user lacks CAP_SYS_ADMIN",
       "capability CAP_SYS_ADMIN"},
      {35, permissions(every_user, no_capabilities, user), "RmProfilingAdminOnly: 0",
       "the owner of the machine"},
      {35, permissions("", docker_capabilities, root, true), "this container lacks CAP_SYS_ADMIN",
       "on a rented machine, its owner must do that"},
      {35, permissions("", "", user), "only administrators",
       "NVreg_RestrictProfilingToAdminUsers=0"},
      {26, plain, "another profiler holds", "dcgmi profile --pause"},
      {39, plain, "under another CUDA tool", "without nsys, ncu, cuda-gdb"},
      {39, injected(), "CUDA_INJECTION64_PATH is /opt/nsys/", "--counters external"},
      {23, plain, "disabled CUPTI", "without nsys"},
      {36, plain, "old CUPTI profiling API", "event or metric API"},
      {38, plain, "old CUPTI profiling API", "event or metric API"},
      {43, plain, "MIG", "nvidia-smi -mig 0"},
      {33, plain, "vGPU", "passed-through GPU"},
      {40, plain, "hypervisor", "enable_profiling=1"},
      {45, plain, "WSL", "NVIDIA Control Panel"},
      {41, plain, "confidential computing", "devtools"},
      {42, plain, "CMP", "another GPU"},
      {44, plain, "SLI", "turn SLI off"},
      {31, plain, "MPS", "nvidia-cuda-mps-control"},
      {46, plain, "does not know the chip", "newer CUDA toolkit"},
      {8, plain, "out of memory", "nvidia-smi"},
      {9, plain, "performance monitor", "Xid"},
      {10, plain, "other structures", "libcupti"},
      {11, plain, "lacks a function", "libcupti"},
      {15, plain, "cannot reach the NVIDIA driver", "strata doctor"},
      {15, with_versions(12080, 13000), "supports CUDA 12.8 only", "update the driver"},
      {999, plain, "cannot be read", "dmesg"},
      {999, under_wsl(), "WSL", "NVIDIA Control Panel"},
      {7, with_graphics_of_wsl(), "WSL", "NVIDIA Control Panel"},
      {27, with_mig(true), "MIG", "compute instance as large as"},
      {27, with_mig(false), "cannot be read", "ncu"},
      {14, under_mps(), "MPS", "nvidia-cuda-mps-control"},
      {999, with_versions(12080, 13000), "this CUPTI is of CUDA 13.0", "update the driver"},
      {999, with_versions(13010, 13000), "cannot be read", "dmesg"},
      {2, plain, "cannot be read", "ncu"},
      {12345, plain, "CUPTI_ERROR_X, 12345", "dmesg"},
      {-1, plain, "CUPTI_ERROR_X, -1", "dmesg"},
  };
  for (const auto& row : rows) {
    const Absence absence =
        explain_counters(row.code, "CUPTI_ERROR_X", "cuptiRangeProfilerStart", row.environment);
    EXPECT_THAT(absence.reason, HasSubstr(row.reason)) << row.code;
    EXPECT_THAT(absence.mend, HasSubstr(row.mend)) << row.code;
    EXPECT_THAT(absence.reason, HasSubstr("(cuptiRangeProfilerStart: CUPTI_ERROR_X, ")) << row.code;
    EXPECT_THAT(absence.reason, HasSubstr(", " + std::to_string(row.code) + ")"));
    expect_sound(absence);
  }
}

TEST(CounterAbsence, ACodeThatNamesItsCauseIsBelievedBeforeTheEnvironment) {
  CounterEnvironment environment = with_mig(true);
  environment.kernel_version = wsl_kernel;
  environment.mps = true;
  EXPECT_THAT(explain_counters(26, "CUPTI_ERROR_X", "x", environment).mend, HasSubstr("dcgmi"));
}

TEST(CounterAbsence, WslPermission) {
  const std::string remedy = absence_of(45)->mend;
  for (const char* const status : {no_capabilities, all_capabilities}) {
    for (const unsigned who : {user, root}) {
      CounterEnvironment environment = permissions("", status, who);
      environment.wsl_graphics = true;
      environment.kernel_version = "Linux version 6.6.87.2-microsoft-standard-WSL2 (gcc) #1 SMP";
      for (const int code : {35, 45, 999, 1, 15})
        EXPECT_EQ(explain_counters(code, "NAME", "cuptiX", environment).mend, remedy) << code;
    }
  }
}

struct EnvironmentRow {
  const char* parameters;
  const char* status;
  unsigned who;
  bool container;
  const char* reason;  ///< null: nothing speaks against counters
  const char* mend;
};

TEST(CounterAbsence, AMissingPermissionIsKnownBeforeTheTrial) {
  const std::vector<EnvironmentRow> rows{
      {admin_only, no_capabilities, user, false, "this user is not an administrator",
       "run as root"},
      {admin_only, "", user, false, "this user is not an administrator", "run as root"},
      {admin_only, docker_capabilities, root, true, "this container lacks CAP_SYS_ADMIN",
       "start the container with --cap-add=SYS_ADMIN"},
      {admin_only, no_capabilities, user, true, "this container lacks CAP_SYS_ADMIN",
       "and as root"},
      {admin_only, no_capabilities, root, false, "this root user lacks CAP_SYS_ADMIN",
       "with the capability"},
      {"RmProfilingAdminOnly:1\n", no_capabilities, user, false, "RmProfilingAdminOnly: 1", "root"},
      {admin_only, all_capabilities, root, false, nullptr, nullptr},
      {admin_only, all_capabilities, root, true, nullptr, nullptr},
      {admin_only, sys_admin, user, false, nullptr, nullptr},
      {admin_only, perfmon, user, false, nullptr, nullptr},
      {admin_only, "", root, false, nullptr, nullptr},
      {every_user, no_capabilities, user, false, nullptr, nullptr},
      {every_user, docker_capabilities, root, true, nullptr, nullptr},
      {"", no_capabilities, user, false, nullptr, nullptr},
      {"EnableMSI: 1\nOtherRmProfilingAdminOnly: 1\n", no_capabilities, user, false, nullptr,
       nullptr},
  };
  for (const auto& row : rows) {
    const auto environment = permissions(row.parameters, row.status, row.who, row.container);
    const auto absence = explain_environment(environment);
    const std::string which = std::string{row.parameters} + row.status + std::to_string(row.who);
    ASSERT_EQ(absence.has_value(), row.reason != nullptr) << which;
    if (!absence) continue;
    EXPECT_THAT(absence->reason, HasSubstr(row.reason)) << which;
    EXPECT_THAT(absence->mend, HasSubstr(row.mend)) << which;
    expect_sound(*absence);
  }
}

TEST(CounterAbsence, UnlikelyCountersAreLeftToTheTrial) {
  EXPECT_FALSE(explain_environment(with_mig(true)).has_value());
  EXPECT_FALSE(explain_environment(under_wsl()).has_value());
  EXPECT_FALSE(explain_environment(under_mps()).has_value());
  EXPECT_FALSE(explain_environment(with_versions(12080, 13000)).has_value());
}

TEST(CounterAbsence, ThisProcessCanBeAsked) {
  const CounterEnvironment environment = read_environment();
  EXPECT_EQ(environment.effective_user, geteuid());
  EXPECT_THAT(environment.process_status, HasSubstr("CapEff:"));
  EXPECT_THAT(environment.kernel_version, HasSubstr("Linux version"));
  EXPECT_FALSE(environment.mig.has_value());
}

TEST(CounterAbsence, AChipThatCuptiDoesNotKnowIsNamedBesideTheLastThatItKnows) {
  const std::vector<std::string> known{"TU102", "GH100", "GB20B"};
  const Absence absence = explain_chip("GR100", 13000, known);
  EXPECT_EQ(absence.reason,
            "CUPTI of CUDA 13.0 does not know the chip GR100, the last of the 3 that it knows is "
            "GB20B");
  EXPECT_THAT(absence.mend, HasSubstr("newer CUDA toolkit"));
  expect_sound(absence);
  expect_sound(explain_chip("GR100", 13000, {}));
}

TEST(CounterAbsence, AnOlderLibraryThanTheBuildsDoesNotFit) {
  const auto absence = explain_library(130001, 24);
  ASSERT_TRUE(absence.has_value());
  EXPECT_THAT(absence->reason, HasSubstr("version 24 was loaded, this build needs 130001"));
  EXPECT_THAT(absence->mend, HasSubstr("LD_LIBRARY_PATH"));
  expect_sound(*absence);
  EXPECT_FALSE(explain_library(130001, 130001).has_value());
  EXPECT_FALSE(explain_library(130001, 130100).has_value());
}

TEST(CounterAbsence, ABuildWithoutCuptiAndAMachineWithoutAGpuSaySo) {
  const Absence old = no_counters_in_this_build("CUDA 12.4 lacks cupti_range_profiler.h");
  EXPECT_EQ(old.reason, "this build has no counters: CUDA 12.4 lacks cupti_range_profiler.h");
  EXPECT_THAT(old.mend, HasSubstr("CUDA 12.8 or newer"));
  EXPECT_EQ(no_counters_in_this_build(without_cuda).reason, "this build is without CUDA");
  const Absence none = no_gpu_to_count_on("no NVIDIA driver is running here");
  EXPECT_THAT(none.reason, HasSubstr("no NVIDIA driver is running here"));
  EXPECT_EQ(no_cupti_found("").reason, "no libcupti loads here");
  EXPECT_THAT(no_cupti_found("x: wrong ELF class").reason, HasSubstr("here: x: wrong ELF class"));
  expect_sound(no_cupti_found(""));
  expect_sound(old);
  expect_sound(no_counters_in_this_build(without_cuda));
  expect_sound(none);
}

TEST(CounterAbsence, ThePageHasTheMendingStepOfEveryCause) {
  for (const auto& cause : cupti_causes())
    expect_sound({std::string{cause.reason}, std::string{cause.mend}});
}

}  // namespace
}  // namespace strata
