#include "harness/run/disturbed_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace strata {
namespace {

using ::testing::HasSubstr;

/// A measured case with one row.
CaseRecord row(std::vector<Gate> gates, Gate noise = {"noise", Verdict::passed, ""}) {
  CaseRecord record{.status = Status::measured, .gates = std::move(gates)};
  record.measurements = {{.quantity = "time", .unit = "s", .method = "tsc", .samples = {1}}};
  record.measurements[0].noise = std::move(noise);
  return record;
}

const CaseRecord valid = row({{"result", Verdict::passed, ""}});
const CaseRecord noisy = row({}, {"noise", Verdict::failed, "4 % of the median"});
const CaseRecord preempted = row({{"preempted", Verdict::failed, "12 switches"}});
const CaseRecord wrong = row({{"result", Verdict::failed, "1 of 2 differ"}},
                             {"noise", Verdict::failed, "4 % of the median"});

RunContext context(double load, Backend backend = Backend::host) {
  RunContext made;
  made.backend = backend;
  made.clocks_before["load_average"] = load;
  return made;
}

TEST(DisturbedRows, AreExplainedByTheLoadBeforeTheRun) {
  const auto text = explain_disturbed_rows(context(2.25), {valid, noisy, noisy, wrong});
  EXPECT_THAT(text, HasSubstr("2 of 3 invalid rows are noisy"));
  EXPECT_THAT(text, HasSubstr("load average was 2.2 at the start"));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

TEST(DisturbedRows, AreExplainedByPreemptionOnAMachineThatWasIdleBefore) {
  EXPECT_EQ(explain_disturbed_rows(context(0.1), {noisy, noisy}), "");
  EXPECT_THAT(explain_disturbed_rows(context(0.1), {noisy, preempted}),
              HasSubstr("2 of 2 invalid rows are noisy, 1 of them because other processes"));
}

TEST(DisturbedRows, ExplainNothingElse) {
  EXPECT_EQ(explain_disturbed_rows(context(9), {valid}), "");
  EXPECT_EQ(explain_disturbed_rows(context(9), {wrong, noisy}), "") << "half are not most";
  EXPECT_EQ(explain_disturbed_rows(context(9, Backend::cuda), {noisy}), "");
}

}  // namespace
}  // namespace strata
