// Device requests of a user and their results.
#include "harness/record/device.hpp"
#include "message_of.hpp"

#include <gtest/gtest.h>

#include <string>

namespace strata {
namespace {

using Kind = DeviceRequest::Kind;

TEST(DeviceRequest, NamesADeviceOrTheFirstThereIs) {
  EXPECT_EQ(parse_device_request("auto").kind, Kind::any);
  EXPECT_EQ(parse_device_request("host").kind, Kind::host);
  EXPECT_EQ(parse_device_request("cuda").kind, Kind::cuda);
  EXPECT_EQ(parse_device_request("cuda").ordinal, 0);
  EXPECT_EQ(parse_device_request("cuda:0").ordinal, 0);
  EXPECT_EQ(parse_device_request("cuda:12").ordinal, 12);
  EXPECT_EQ(parse_device_request("cuda:12").kind, Kind::cuda);
}

TEST(DeviceRequest, RefusesAnythingElseAndSaysWhatThereIs) {
  for (const char* bad : {"", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:+1", "cuda:1x", "cuda: 1",
                          "cuda:99999999999", "host:0", "auto "}) {
    const std::string text = message_of([&] { return parse_device_request(bad); });
    EXPECT_NE(text.find("'" + std::string{bad} + "'"), std::string::npos) << text;
    EXPECT_NE(text.find("cuda:N"), std::string::npos) << text;
  }
}

TEST(OpenDevice, SaysInOneLineWhyThereIsNoSuchGpu) {
  EXPECT_GT(message_of<DeviceUnavailable>([] {
              return open_device({.kind = Kind::cuda, .ordinal = 4096});
            }).size(),
            20U);
}

TEST(OpenDevice, AlwaysFindsSomethingToMeasure) {
  EXPECT_EQ(open_device({.kind = Kind::host, .ordinal = 0})->backend(), Backend::host);
  EXPECT_FALSE(open_device({.kind = Kind::any, .ordinal = 0})->identity().slug.empty());
}

TEST(Diagnosis, OfCudaSpeaksWhateverIsHere) {
  const auto findings = diagnose_cuda();
  ASSERT_FALSE(findings.empty());
  for (const auto& finding : findings) {
    EXPECT_FALSE(finding.what.empty());
    EXPECT_FALSE(finding.detail.empty()) << finding.what;
    EXPECT_EQ((finding.what + finding.detail + finding.mend).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace strata
