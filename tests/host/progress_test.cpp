#include "harness/run/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fcntl.h>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace strata {
namespace {

using testing::HasSubstr;
using testing::Not;

class ProgressTest : public testing::Test {
 protected:
  ProgressOptions options(ProgressOptions::Style style) {
    return {.style = style,
            .write = [this](std::string_view text) { written_ += text; },
            .now = [this] { return now_; },
            .width = [this] { return width_; }};
  }

  static Case nth(int index, const std::string& benchmark = "probe") {
    return {"micro", benchmark, Backend::host, {{"index", std::to_string(index)}}};
  }

  static std::vector<Case> cases(int count) {
    std::vector<Case> list;
    list.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      list.push_back(nth(i));
    return list;
  }

  static CaseRecord record(const Case& which, Status status = Status::measured) {
    CaseRecord r;
    r.which = which;
    r.status = status;
    return r;
  }

  /// Runs one case that takes `seconds`.
  void run(Progress& progress, const Case& which, double seconds,
           Status status = Status::measured) {
    progress.begin_case(which);
    now_ += seconds;
    progress.end_case(record(which, status));
  }

  /// The current text of the terminal's line: after the last return, without the erasing.
  [[nodiscard]] std::string standing() const {
    std::string line = written_.substr(written_.rfind('\r') + 1);
    if (const auto erase = line.find("\x1b[K"); erase != std::string::npos) line.erase(erase, 3);
    return line;
  }

  std::string written_;
  double now_ = 1000;
  int width_ = 80;
};

TEST_F(ProgressTest, OnATerminalRewritesOneLine) {
  Progress progress{options(ProgressOptions::Style::terminal)};
  const auto list = cases(10);
  progress.start(list);
  for (int i = 0; i < 9; ++i)
    run(progress, list[static_cast<std::size_t>(i)], 1);
  EXPECT_EQ(written_.find('\n'), std::string::npos);
  EXPECT_THAT(standing(), HasSubstr("9/10 90 %"));
  EXPECT_THAT(standing(), HasSubstr("0:09 elapsed, 0:01 left"));
}

TEST_F(ProgressTest, EndsWithANewlineOnce) {
  Progress progress{options(ProgressOptions::Style::terminal)};
  progress.start(cases(1));
  run(progress, nth(0), 1);
  progress.finish();
  progress.finish();
  EXPECT_THAT(written_, testing::EndsWith("\n"));
  EXPECT_EQ(std::ranges::count(written_, '\n'), 1);
  EXPECT_THAT(standing(), HasSubstr("1/1 100 %"));
}

TEST_F(ProgressTest, EndsItsLineEvenWhenAnExceptionPassesBy) {
  { Progress{options(ProgressOptions::Style::terminal)}.start(cases(2)); }
  EXPECT_THAT(written_, testing::EndsWith("\n"));
}

TEST_F(ProgressTest, NeverReachesTheLastColumnOfATerminalHoweverNarrow) {
  for (width_ = 1; width_ < 120; ++width_) {
    written_.clear();
    Progress progress{options(ProgressOptions::Style::terminal)};
    const std::vector<Case> list{
        nth(0, "a_benchmark_with_a_name_that_is_longer_than_most_terminals_are_wide"), nth(1)};
    progress.start(list);
    run(progress, list[1], 4000, Status::failed);
    progress.begin_case(list[0]);
    now_ += 1;
    progress.tick();
    EXPECT_LT(standing().size(), static_cast<std::size_t>(std::max(width_, 2))) << standing();
    progress.finish();
  }
}

TEST_F(ProgressTest, ShowsTheEndOfALongIdWhichTellsNeighboursApart) {
  width_ = 60;
  Progress progress{options(ProgressOptions::Style::terminal)};
  const auto which = nth(123, "a_rather_long_name_of_a_benchmark_to_show");
  progress.start(std::vector{which});
  now_ += 1;
  progress.begin_case(which);
  EXPECT_THAT(standing(), testing::EndsWith("/index=123"));
  EXPECT_THAT(standing(), HasSubstr("..."));
}

TEST_F(ProgressTest, FollowsATerminalThatChangesItsWidth) {
  Progress progress{options(ProgressOptions::Style::terminal)};
  progress.start(cases(2));
  width_ = 8;
  now_ += 1;
  progress.tick();
  EXPECT_LT(standing().size(), 8U);
}

TEST_F(ProgressTest, DrawsNoFasterThanTheEyeReads) {
  Progress progress{options(ProgressOptions::Style::terminal)};
  const auto list = cases(1000);
  progress.start(list);
  for (const auto& which : list)
    run(progress, which, 0.001);
  EXPECT_LT(std::ranges::count(written_, '\r'), 15);
}

TEST_F(ProgressTest, CountsFailedInvalidAndSkippedOnlyWhereThereAreAny) {
  Progress progress{options(ProgressOptions::Style::terminal)};
  const auto list = cases(5);
  progress.start(list);
  run(progress, list[0], 1);
  EXPECT_THAT(standing(), Not(HasSubstr("failed")));
  run(progress, list[1], 1, Status::failed);
  run(progress, list[2], 1, Status::skipped);
  progress.begin_case(list[3]);
  now_ += 1;
  auto noisy = record(list[3]);
  noisy.measurements.push_back(
      {"seconds", "s", Provenance::timed, "tsc", {1}, {"noise", Verdict::failed, ""}});
  progress.end_case(noisy);
  EXPECT_THAT(standing(), HasSubstr("1 failed, 1 invalid, 1 skipped"));
}

TEST_F(ProgressTest, ForeseesTheRestByWhatEachBenchmarkCosts) {
  width_ = 200;
  Progress progress{options(ProgressOptions::Style::terminal)};
  const std::vector<Case> list{nth(0, "cheap"), nth(1, "cheap"), nth(2, "dear"), nth(3, "dear"),
                               nth(4, "dear")};
  progress.start(list);
  EXPECT_THAT(standing(), Not(HasSubstr("left"))) << "nothing is known yet";
  run(progress, list[0], 1);
  EXPECT_THAT(standing(), HasSubstr("0:04 left")) << "all like the only one known";
  run(progress, list[2], 60);
  EXPECT_THAT(standing(), HasSubstr("2:01 left"));
}

TEST_F(ProgressTest, LearnsNothingFromAHangAboutTheRest) {
  width_ = 200;
  Progress progress{options(ProgressOptions::Style::terminal)};
  const auto list = cases(4);
  progress.start(list);
  run(progress, list[0], 2);
  run(progress, list[1], 600, Status::failed);
  EXPECT_THAT(standing(), HasSubstr("0:04 left"));
}

TEST_F(ProgressTest, CountsWhatAnEarlierSessionDid) {
  Progress progress{options(ProgressOptions::Style::terminal)};
  progress.start(cases(2), 8);
  EXPECT_THAT(standing(), HasSubstr("8/10 80 %"));
}

TEST_F(ProgressTest, CoversAllPhasesOfTheSweepInOneCountAndOneEstimate) {
  width_ = 200;
  Progress progress{options(ProgressOptions::Style::terminal)};
  const auto list = cases(4);
  progress.start(list, 0, "", 7);
  run(progress, list[0], 60, Status::failed);
  run(progress, list[1], 6);
  EXPECT_EQ(standing(), "2/11 18 %  1:06 elapsed, 0:54 left, 1 failed")
      << "2 cases of this phase and 7 of later ones, like the only one known";
  for (int i = 2; i < 4; ++i)
    run(progress, list[static_cast<std::size_t>(i)], 6);
  const std::span left = std::span{list}.subspan(1);
  progress.start(left, 4, "visit 2", 3);
  EXPECT_EQ(standing(), "visit 2 4/10 40 %  1:18 elapsed, 0:36 left");
  for (const auto& which : left)
    run(progress, which, 6);
  progress.start(left, 7, "counting");
  run(progress, list[1], 2);
  EXPECT_EQ(standing(), "counting 8/10 80 %  1:38 elapsed, 0:04 left") << "by the cost of a count";
  EXPECT_EQ(std::ranges::count(written_, '\n'), 0) << "one line for the whole sweep";
}

TEST_F(ProgressTest, EndsAtAllOfACompleteSweepWhereFewerTurnsWereNeeded) {
  Progress progress{options(ProgressOptions::Style::terminal)};
  progress.start(cases(1), 0, "", 2);
  run(progress, nth(0), 1);
  progress.complete();
  progress.finish();
  EXPECT_THAT(standing(), HasSubstr("1/1 100 %"));
}

TEST_F(ProgressTest, PrintsTheLastLineOfALogOnce) {
  Progress progress{options(ProgressOptions::Style::log)};
  progress.start(cases(1));
  run(progress, nth(0), 1);
  progress.finish();
  EXPECT_EQ(written_, "0/1 0 %  0:00 elapsed\n1/1 100 %  0:01 elapsed\n");
}

TEST_F(ProgressTest, PutsNotesAboveTheLineAndLetsThemMoveNoCursor) {
  Progress progress{options(ProgressOptions::Style::terminal)};
  progress.start(cases(2));
  progress.note("failed: x\r\x1b[2J\nmore");
  EXPECT_THAT(written_, HasSubstr("\r\x1b[Kfailed: x  [2J more\n"));
  EXPECT_THAT(standing(), HasSubstr("0/2"));
}

TEST_F(ProgressTest, InALogWritesAPlainLineAtEachTenthOrAfterFiveSeconds) {
  Progress progress{options(ProgressOptions::Style::log)};
  const auto list = cases(1000);
  progress.start(list);
  for (const auto& which : list)
    run(progress, which, 0.001);
  progress.finish();
  EXPECT_EQ(written_.find('\r'), std::string::npos);
  EXPECT_EQ(written_.find('\x1b'), std::string::npos);
  EXPECT_THAT(std::ranges::count(written_, '\n'), testing::AllOf(testing::Ge(10), testing::Le(13)));

  written_.clear();
  Progress slow{options(ProgressOptions::Style::log)};
  slow.start(list);
  for (std::size_t i = 0; i < 20; ++i)
    run(slow, list[i], 1);
  EXPECT_EQ(std::ranges::count(written_, '\n'), 1 + 20 / 5);
}

TEST_F(ProgressTest, InALogNamesACaseThatTakesLong) {
  Progress progress{options(ProgressOptions::Style::log)};
  progress.start(cases(100));
  progress.begin_case(nth(7));
  for (int i = 0; i < 35; ++i) {
    now_ += 1;
    progress.tick();
  }
  EXPECT_THAT(written_, HasSubstr("micro/probe/host/index=7\n"));
  EXPECT_EQ(std::ranges::count(written_, '\n'), 2);
}

TEST_F(ProgressTest, SaysNothingWhenAskedToBeQuiet) {
  Progress progress{options(ProgressOptions::Style::none)};
  progress.start(cases(2));
  run(progress, nth(0), 10);
  progress.note("failed");
  progress.finish();
  EXPECT_EQ(written_, "");
}

TEST(ProgressOn, APipeIsALogAndSurvivesThatNobodyReadsIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  (void)::close(ends[0]);
  const auto options = progress_on(ends[1]);
  EXPECT_EQ(options.style, ProgressOptions::Style::log);
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  options.write("to nobody");
  (void)std::signal(SIGPIPE, before);
  (void)::close(ends[1]);
}

}  // namespace
}  // namespace strata
