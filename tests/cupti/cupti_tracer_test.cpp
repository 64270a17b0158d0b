// The tracer with a CUPTI that pretends: what becomes of its records.
#include "fake_capture.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/tracer.hpp"
#include "harness/cuda/cupti_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata {

// In the place of cupti_check.cpp, which asks the driver and NVML for their versions as well.
const char* cupti_error_name(CUptiResult code) noexcept {
  const char* name = "";
  (void)cuptiGetResultString(code, &name);
  return name;
}
CuptiError::CuptiError(CUptiResult code, const std::source_location& /*where*/)
    : std::runtime_error{cupti_error_name(code)}, code_{code} {}
void cupti_release(CUptiResult status, const char* /*what*/) noexcept {
  EXPECT_EQ(status, CUPTI_SUCCESS);
}
void counters_unavailable(CUptiResult code, std::string_view call, int /*ordinal*/) {
  throw CountersUnavailable{std::string{call} + ": " + cupti_error_name(code), ""};
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Of = Activity::Of;

CUpti_ActivityKernel9 kernel(const char* name, std::uint64_t start, std::uint64_t end) {
  CUpti_ActivityKernel9 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = name;
  record.start = start;
  record.end = end;
  return record;
}
CUpti_ActivityMemcpy6 copy(CUpti_ActivityMemcpyKind kind, std::uint64_t start,
                           std::uint64_t bytes) {
  CUpti_ActivityMemcpy6 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = static_cast<std::uint8_t>(kind);
  record.start = start;
  record.end = start + 10;
  record.bytes = bytes;
  return record;
}
CUpti_ActivityMemcpy6 batch(std::uint64_t start, std::uint64_t copies) {
  CUpti_ActivityMemcpy6 record = copy(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, start, 4);
  record.copyCount = copies;
  return record;
}
CUpti_ActivityMemset4 fill(std::uint64_t start) {
  CUpti_ActivityMemset4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  record.start = start;
  record.end = start + 5;
  return record;
}

class CuptiTracerTest : public testing::Test {
 protected:
  CuptiTracerTest() { cupti() = FakeCupti{}; }
  static FakeCupti& cupti() { return *fake_cupti(); }
};

TEST_F(CuptiTracerTest, RecordsKernelsCopiesAndFillsDuringASample) {
  {
    const auto tracer = open_device_tracer(0);
    EXPECT_THAT(cupti().kinds, IsEmpty());
    tracer->begin();
    EXPECT_THAT(cupti().kinds,
                UnorderedElementsAre(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                     CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET));
    EXPECT_STREQ(tracer->method(), "cupti_activity");
  }
  EXPECT_THAT(cupti().kinds, IsEmpty());
}

TEST_F(CuptiTracerTest, GivesWhatBeganAfterBeginWithTheMarksOfTheHostOnOneClock) {
  const auto tracer = open_device_tracer(0);
  tracer->begin();
  cupti().pending = {kernel("before", 1, 2)};
  tracer->begin();  // again: only what follows counts
  cupti().time = 90;
  { const HostPhase building{tracer.get(), StepPhase::build}; }
  cupti().pending = {copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 200, 64), fill(220),
                     kernel("_ZN1a7step_ofEv", 230, 300),
                     copy(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 310, 8), batch(330, 48)};
  const auto records = tracer->end();
  ASSERT_EQ(records.size(), 6U) << "of three buffers, and a mark";
  EXPECT_EQ(records[0].host, StepPhase::build);
  EXPECT_EQ(records[0].begin, 100);
  EXPECT_EQ(records[0].end, 110);
  std::vector<Of> kinds;
  for (const Activity& one : records)
    kinds.push_back(one.of);
  EXPECT_THAT(kinds, ElementsAre(Of::host, Of::copy_in, Of::fill, Of::kernel, Of::copy_out,
                                 Of::copy_within));
  EXPECT_EQ(records[1].bytes, 64U);
  EXPECT_EQ(records[1].count, 1U);
  EXPECT_EQ(records[5].count, 48U) << "copies of a batch";
  EXPECT_EQ(records[2].end, 225);
  EXPECT_EQ(records[3].kernel, "_ZN1a7step_ofEv");
  EXPECT_EQ(records[3].begin, 230);
  EXPECT_EQ(records[3].end, 300);
  EXPECT_THAT(cupti().kinds, IsEmpty()) << "it is fast between samples";
  EXPECT_EQ(tracer->now(), 0);
  tracer->begin();
  EXPECT_EQ(cupti().kinds.size(), 3U);
  EXPECT_GT(tracer->now(), 0);
  EXPECT_THAT(tracer->end(), IsEmpty());
}

TEST_F(CuptiTracerTest, KnowsWhatALaunchOfAGraphQueued) {
  const auto tracer = open_device_tracer(0);
  tracer->begin();
  CUpti_ActivityKernel9 node = kernel("step_of", 10, 20);
  node.graphId = 3;
  node.correlationId = 71;
  CUpti_ActivityKernel9 fill_node = node;
  fill_node.name = "memset32";
  CUpti_ActivityKernel9 alone = kernel("memset32", 30, 40);
  alone.correlationId = 72;
  cupti().pending = {node, fill_node, alone};
  const auto records = tracer->end();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].of, Of::kernel);
  EXPECT_EQ(records[0].graph_launch, 71U);
  EXPECT_EQ(records[1].of, Of::fill);
  EXPECT_EQ(records[1].graph_launch, 71U);
  EXPECT_EQ(records[2].of, Of::kernel) << "a program's own kernel";
  EXPECT_EQ(records[2].graph_launch, 0U);
}

TEST_F(CuptiTracerTest, TakesNoLossForASample) {
  const auto tracer = open_device_tracer(0);
  cupti().dropped = 3;
  EXPECT_THROW((void)tracer->end(), std::runtime_error);
  tracer->begin();
  EXPECT_THAT(tracer->end(), IsEmpty()) << "the next sample is another";
  tracer->begin();
  cupti().pending = {kernel("untimed", 0, 0)};
  EXPECT_THROW((void)tracer->end(), std::runtime_error);
  tracer->begin();
  cupti().pending = {fill(7)};
  cupti().broken_kind = CUPTI_ACTIVITY_KIND_MEMSET;
  EXPECT_THROW((void)tracer->end(), CuptiError);
  cupti().broken_kind = 0;
  tracer->begin();
  EXPECT_THAT(tracer->end(), IsEmpty());
}

TEST_F(CuptiTracerTest, DoesNotMindWhatWasLostBeforeASample) {
  const auto tracer = open_device_tracer(0);
  cupti().dropped = 3;
  cupti().pending = {kernel("untimed", 0, 0)};
  tracer->begin();
  cupti().pending = {fill(7)};
  EXPECT_EQ(tracer->end().size(), 1U);
}

TEST_F(CuptiTracerTest, SaysWhereCuptiRefuses) {
  cupti().answer = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  EXPECT_THROW((void)open_device_tracer(0), CountersUnavailable);
}

}  // namespace
}  // namespace strata
