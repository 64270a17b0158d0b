// NvmlDevice against fake libraries of NVML: the right GPU under any numbering, and no fact that
// is unavailable.
#include "harness/cuda/nvml.hpp"

#include "fake_nvml.hpp"
#include "harness/cuda/nvml_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <dlfcn.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#if !defined(STRATA_FAKE_NVML) || !defined(STRATA_FAKE_NVML_BARE)
#error \
    "define both as the paths of the modules built from fake_nvml.cpp, the second with FAKE_NVML_BARE"
#endif

namespace strata {
namespace {

constexpr const char* first_digits = "11111111-1111-1111-1111-111111111111";
constexpr const char* second_digits = "22222222-2222-2222-2222-222222222222";
constexpr const char* slice_digits = "33333333-3333-3333-3333-333333333333";

/// Holds a fake library open, so that its answers can be set before NvmlDevice loads it. It stays
/// loaded to the end: what its C++ library allocated when it was loaded would count as a leak.
class Fake {
 public:
  explicit Fake(const char* path)
      : path_{path}, handle_{dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)} {
    if (handle_ == nullptr) throw std::runtime_error{std::string{"no fake library: "} + path};
    settings_ = reinterpret_cast<FakeNvmlSettingsFunction*>(dlsym(handle_, "fake_nvml_settings"))();
    *settings_ = {};
  }
  Fake(const Fake&) = delete;
  Fake& operator=(const Fake&) = delete;
  Fake(Fake&&) = delete;
  Fake& operator=(Fake&&) = delete;
  ~Fake() { (void)dlclose(handle_); }

  FakeNvmlSettings& settings() { return *settings_; }
  [[nodiscard]] NvmlDevice open(const std::string& uuid) const { return NvmlDevice{uuid, path_}; }

 private:
  const char* path_;
  void* handle_;
  FakeNvmlSettings* settings_ = nullptr;
};

class Nvml : public testing::Test {
 protected:
  Fake full{STRATA_FAKE_NVML};
  Fake bare{STRATA_FAKE_NVML_BARE};
};

TEST_F(Nvml, FindsTheGpuByItsUuidWhateverItsNumber) {
  const auto second = full.open(std::string{"GPU-"} + second_digits);
  EXPECT_EQ(second.absence(), "");
  EXPECT_EQ(second.uuid(), std::string{"GPU-"} + second_digits);
  EXPECT_EQ(second.conditions().at("sm_clock_hz"), Fact{2001e6});

  std::swap(full.settings().uuids[0], full.settings().uuids[1]);
  EXPECT_EQ(full.open(second_digits).conditions().at("sm_clock_hz"), Fact{1001e6});
}

TEST_F(Nvml, WalksTheListWhenItCannotAskByUuid) {
  full.settings().by_uuid = FakeNvmlSettings::not_supported;
  EXPECT_EQ(full.open(second_digits).conditions().at("power_watts"), Fact{200.0});
  full.settings().hidden = 0;
  EXPECT_EQ(full.open(second_digits).conditions().at("power_watts"), Fact{200.0});
  EXPECT_NE(full.open(first_digits).absence(), "");
}

TEST_F(Nvml, FindsASliceOfAGpuAndSaysThatItIsOne) {
  const auto slice = full.open(slice_digits);
  EXPECT_EQ(slice.uuid(), std::string{"MIG-"} + slice_digits);
  EXPECT_EQ(slice.limits().at("mig"), Fact{true});
  EXPECT_EQ(full.open(first_digits).limits().at("mig"), Fact{false});
}

TEST_F(Nvml, TellsEveryConditionInBaseUnits) {
  full.settings().throttle = 0x1;  // idle: not throttling
  const Facts expected{{"sm_clock_hz", 1001e6},
                       {"memory_clock_hz", 1002e6},
                       {"throttle_reasons", std::int64_t{1}},
                       {"throttled", false},
                       {"power_watts", 100.0},
                       {"temperature_celsius", std::int64_t{41}},
                       {"ecc", true},
                       {"ecc_corrected_errors", std::int64_t{10}},
                       {"ecc_uncorrected_errors", std::int64_t{11}}};
  EXPECT_EQ(full.open(first_digits).conditions(), expected);
  const Facts limits{{"sm_clock_max_hz", 5001e6},
                     {"memory_clock_max_hz", 5002e6},
                     {"mig", false},
                     {"persistence_mode", true},
                     {"power_limit_watts", 700.0}};
  EXPECT_EQ(full.open(first_digits).limits(), limits);
  EXPECT_EQ(full.open(first_digits).driver_version(), "580.00.01");
}

TEST_F(Nvml, CallsEachReasonForALowerClockThrottling) {
  for (const unsigned long long bit : {0x4ULL, 0x8ULL, 0x20ULL, 0x40ULL, 0x80ULL}) {
    full.settings().throttle = bit | 0x1;
    EXPECT_EQ(full.open(first_digits).conditions().at("throttled"), Fact{true}) << bit;
  }
  for (const unsigned long long bit : {0x0ULL, 0x1ULL, 0x2ULL, 0x10ULL, 0x100ULL}) {
    full.settings().throttle = bit;
    EXPECT_EQ(full.open(first_digits).conditions().at("throttled"), Fact{false}) << bit;
  }
}

TEST_F(Nvml, ReportsNoFactThatTheDriverRefuses) {
  full.settings().readings = FakeNvmlSettings::not_supported;
  const auto device = full.open(first_digits);
  EXPECT_EQ(device.absence(), "");
  EXPECT_TRUE(device.conditions().empty());
  EXPECT_TRUE(device.limits().empty());
}

TEST_F(Nvml, ManagesWithAnOldLibraryThatLacksFunctions) {
  bare.settings().throttle = 0x40;
  const auto device = bare.open(second_digits);
  EXPECT_EQ(device.absence(), "");
  const Facts expected{
      {"throttle_reasons", std::int64_t{0x40}}, {"throttled", true}, {"power_watts", 200.0}};
  EXPECT_EQ(device.conditions(), expected);
  EXPECT_TRUE(device.limits().empty());
}

TEST_F(Nvml, ReadsWhatChangesWhileAKernelRuns) {
  full.settings().throttle = 0x4;
  const auto device = full.open(second_digits);
  EXPECT_EQ(device.sm_clock(), 2001e6);
  const NvmlReading reading = device.reading();
  EXPECT_EQ(reading.sm_hertz, 2001e6);
  EXPECT_EQ(reading.watts, 220.0);
  EXPECT_EQ(reading.mean_watts, 200.0);
  EXPECT_EQ(reading.joules, 2'000.5);
  EXPECT_EQ(reading.celsius, 42);
  EXPECT_EQ(reading.reasons, 4U);
  full.settings().field = FakeNvmlSettings::not_supported;
  EXPECT_EQ(device.reading().watts, std::nullopt);
  EXPECT_EQ(device.reading().mean_watts, 200.0);
  full.settings().readings = FakeNvmlSettings::not_supported;
  EXPECT_EQ(device.sm_clock(), std::nullopt);
  EXPECT_EQ(device.reading().reasons, std::nullopt);
}

TEST_F(Nvml, CountsHowLongTheClockWasHeldDown) {
  const Facts expected{{"power_violation_seconds", 1.0},
                       {"thermal_violation_seconds", 1.001},
                       {"board_limit_violation_seconds", 1.003},
                       {"reliability_violation_seconds", 1.005}};
  EXPECT_EQ(full.open(first_digits).violations(), expected);
  full.settings().readings = FakeNvmlSettings::not_supported;
  EXPECT_TRUE(full.open(first_digits).violations().empty());
  EXPECT_TRUE(bare.open(first_digits).violations().empty());
}

TEST_F(Nvml, OfAnOldLibraryReadsWhatItHas) {
  const NvmlReading reading = bare.open(second_digits).reading();
  EXPECT_EQ(reading.sm_hertz, std::nullopt);
  EXPECT_EQ(reading.watts, std::nullopt);
  EXPECT_EQ(reading.mean_watts, 200.0);
  EXPECT_EQ(reading.reasons, 0U);
}

TEST_F(Nvml, IsWatchedUntilItIsStopped) {
  using std::chrono::milliseconds;
  const auto device = full.open(second_digits);
  NvmlWatch watch{device, milliseconds{1}};
  while (watch.seconds() < 0.02)
    std::this_thread::sleep_for(milliseconds{1});
  const auto readings = watch.stop();
  ASSERT_GE(readings.size(), 2U);
  for (std::size_t i = 0; i < readings.size(); ++i) {
    EXPECT_EQ(readings[i].reading.watts, 220.0);
    EXPECT_GE(readings[i].seconds, i == 0 ? 0 : readings[i - 1].seconds);
  }
  EXPECT_TRUE(watch.stop().empty()) << "nothing comes behind the end";
}

TEST_F(Nvml, IsReadOnceAndNotWaitedForWhereTheWatchEndsAtOnce) {
  const auto device = full.open(first_digits);
  NvmlWatch watch{device, std::chrono::hours{1}};
  EXPECT_LE(watch.stop().size(), 1U);
  const NvmlWatch forgotten{device, std::chrono::hours{1}};  // its end waits for no pause
}

TEST_F(Nvml, HasNothingToWatchWhereItKnowsNoDevice) {
  const NvmlDevice none{first_digits, "/nowhere/libnvidia-ml.so.1"};
  NvmlWatch watch{none, std::chrono::milliseconds{1}};
  EXPECT_TRUE(watch.stop().empty());
  EXPECT_EQ(none.sm_clock(), std::nullopt);
  EXPECT_EQ(none.reading().watts, std::nullopt);
  EXPECT_TRUE(none.violations().empty());
}

TEST_F(Nvml, SaysWhyNothingIsKnown) {
  const NvmlDevice none{first_digits, "/nowhere/libnvidia-ml.so.1"};
  EXPECT_NE(none.absence().find("/nowhere/libnvidia-ml.so.1"), std::string::npos);
  EXPECT_TRUE(none.conditions().empty());
  EXPECT_TRUE(none.limits().empty());
  EXPECT_EQ(none.driver_version(), std::nullopt);

  full.settings().init = FakeNvmlSettings::driver_not_loaded;
  const auto stopped = full.open(first_digits);
  EXPECT_NE(stopped.absence().find("Driver Not Loaded"), std::string::npos);
  EXPECT_TRUE(stopped.conditions().empty());

  full.settings().init = FakeNvmlSettings::success;
  const auto unknown = full.open("GPU-00000000-0000-0000-0000-000000000000");
  EXPECT_NE(unknown.absence().find("GPU-00000000"), std::string::npos);
  EXPECT_EQ(unknown.driver_version(), "580.00.01");

  const NvmlDevice foreign{first_digits, "libc.so.6"};
  EXPECT_NE(foreign.absence().find("not NVML"), std::string::npos);
}

TEST_F(Nvml, StopsTheLibraryOnceForEachTimeThatItStarted) {
  {
    auto device = full.open(first_digits);
    const NvmlDevice moved = std::move(device);
    EXPECT_EQ(moved.conditions().count("sm_clock_hz"), 1U);
  }
  EXPECT_EQ(full.settings().starts, 1);
  EXPECT_EQ(full.settings().stops, 1);
  full.settings().init = FakeNvmlSettings::driver_not_loaded;
  (void)full.open(first_digits);
  EXPECT_EQ(full.settings().stops, 1) << "what never started is not stopped";
}

}  // namespace
}  // namespace strata
