#include "harness/record/run_folder.hpp"

#include "example_records.hpp"
#include "harness/record/record_json.hpp"
#include "message_of.hpp"
#include "tests/host/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace strata {
namespace {

using std::filesystem::path;
using testing::HasSubstr;

/// Limits the size of any file that this process writes, and gives the room back.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    (void)::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    (void)::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  FileSizeLimit(FileSizeLimit&&) = delete;
  FileSizeLimit& operator=(FileSizeLimit&&) = delete;
  ~FileSizeLimit() { (void)::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

class RunFolderTest : public testing::Test {
 protected:
  static Case nth(int index) {
    return {"micro", "probe", Backend::host, {{"index", std::to_string(index)}}};
  }

  static RunContext context(int cases = 3) {
    RunContext c;
    c.strata.commit = "0123456789abcdef0123456789abcdef01234567";
    c.started = "2011-11-21T01:02:03Z";
    c.device.slug = "a-cpu";
    for (int i = 0; i < cases; ++i)
      c.sweep.cases.push_back(nth(i).id());
    return c;
  }

  static CaseRecord measured(int index, double value = 1) {
    return timed_record(nth(index), value);
  }
  static CaseRecord counted(int index, double sectors = 32) {
    return counted_record(nth(index), sectors);
  }
  static CaseRecord not_counted(int index, Status status) {
    return record_of(nth(index), Phase::counting, status);
  }
  static CaseRecord failed(int index) {
    return record_of(nth(index), Phase::timing, Status::failed);
  }
  /// The message that refuses to resume the run.
  static std::string refusal_of(const path& where) {
    return message_of([&] { return RunFolder::open_for_resume(where); });
  }

  static std::string text(const path& file) {
    std::ostringstream all;
    all << std::ifstream{file, std::ios::binary}.rdbuf();
    return all.str();
  }

  static void append_text(const path& file, const std::string& what) {
    std::ofstream{file, std::ios::binary | std::ios::app} << what;
  }

  /// The message when no file may grow beyond `bytes`.
  static std::string diagnostic_below(std::size_t bytes, const std::function<void()>& act) {
    const FileSizeLimit full{bytes};
    return message_of<RunFolderError>(act);
  }

  TemporaryFolder temporary_;
  const path folder_ = temporary_.path();
};

TEST(ClockText, IsUtcInSeconds) {
  using namespace std::chrono;
  const sys_days day = 2011y / November / 21d;
  EXPECT_EQ(utc_text(day + 1h + 2min + 3s + 999ms), "2011-11-21T01:02:03Z");
  EXPECT_EQ(utc_text(sys_days{1969y / December / 31d} + 23h + 59min + 59s), "1969-12-31T23:59:59Z");
}

TEST_F(RunFolderTest, IsNamedAfterDeviceTimeAndCommit) {
  const auto run = RunFolder::create(folder_ / "new" / "deep", context());
  EXPECT_EQ(run.path(), folder_ / "new" / "deep" / "a-cpu-20111121T010203Z-0123456");
  EXPECT_EQ(from_json<RunContext>(text(run.path() / "context.json")).run, run.path().filename());
  auto unknown = context();
  unknown.strata.commit.clear();
  EXPECT_EQ(run_name(unknown), "a-cpu-20111121T010203Z-nogit");
  unknown.device.uuid = "GPU-12345678-1234-1234-1234-0123456789ab";
  EXPECT_EQ(run_name(unknown), "a-cpu-20111121T010203Z-nogit-89ab");
}

TEST_F(RunFolderTest, TakesTheNextNameWhenTwoRunsStartInOneSecond) {
  const auto first = RunFolder::create(folder_, context());
  const auto second = RunFolder::create(folder_, context());
  const auto third = RunFolder::create(folder_, context());
  EXPECT_EQ(second.path().filename(), first.path().filename().string() + "-2");
  EXPECT_EQ(third.path().filename(), first.path().filename().string() + "-3");
  EXPECT_EQ(third.context().run, third.path().filename());
}

TEST_F(RunFolderTest, IsRunningFromTheStartAndNamesWhatItSetOutToDo) {
  const auto run = RunFolder::create(folder_, context());
  const auto written = from_json<RunContext>(text(run.path() / "context.json"));
  EXPECT_EQ(written.state, RunState::running);
  EXPECT_TRUE(written.finished.empty());
  EXPECT_EQ(written.sweep.cases, context().sweep.cases);
  EXPECT_EQ(run.remaining().size(), 3U);
}

TEST_F(RunFolderTest, HoldsEachCaseAsAWholeLineBeforeTheNextBegins) {
  auto run = RunFolder::create(folder_, context());
  run.append(measured(0));
  EXPECT_EQ(text(run.path() / "samples.jsonl"), sealed_line(measured(0)) + "\n");
  run.append(failed(1));
  EXPECT_EQ(text(run.path() / "samples.jsonl"),
            sealed_line(measured(0)) + "\n" + sealed_line(failed(1)) + "\n");
}

TEST_F(RunFolderTest, LeavesTheFileUntouchedForARecordThatCannotBeHeld) {
  auto run = RunFolder::create(folder_, context());
  run.append(measured(0));
  EXPECT_THROW(run.append(measured(1, std::nan(""))), FormatError);
  EXPECT_EQ(text(run.path() / "samples.jsonl"), sealed_line(measured(0)) + "\n");
}

TEST_F(RunFolderTest, EndsWithTheTableTheStateTheTimeAndTheConditions) {
  auto run = RunFolder::create(folder_, context());
  run.append(measured(1));
  run.append(failed(0));
  const auto counts = run.finish(RunState::interrupted, {{"hertz", 1e9}});
  EXPECT_EQ(counts.measured, 1U);
  EXPECT_EQ(counts.failed, 1U);
  EXPECT_EQ(counts.missing, 1U);
  EXPECT_EQ(counts.valid_rows, 1U);
  const auto written = from_json<RunContext>(text(run.path() / "context.json"));
  EXPECT_EQ(written.state, RunState::interrupted);
  EXPECT_FALSE(written.finished.empty());
  EXPECT_EQ(written.clocks_after, (Facts{{"hertz", 1e9}}));
  EXPECT_THAT(text(run.path() / "measurements.csv"),
              HasSubstr("a-cpu-20111121T010203Z-0123456,a-cpu,host,micro,probe,"));
}

TEST_F(RunFolderTest, LeavesNoTemporaryFiles) {
  auto run = RunFolder::create(folder_, context());
  run.finish(RunState::complete, {});
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{run.path()})
    names.push_back(entry.path().filename());
  EXPECT_THAT(names,
              testing::UnorderedElementsAre("context.json", "samples.jsonl", "measurements.csv"));
}

TEST_F(RunFolderTest, OrdersTheTableBySweepAndTakesTheLastLineOfACase) {
  auto run = RunFolder::create(folder_, context());
  run.append(measured(2, 22));
  run.append(failed(0));
  run.append(measured(1, 11));
  run.append(measured(0, 33));
  run.write_measurements();
  const std::string table = text(run.path() / "measurements.csv");
  EXPECT_EQ(std::ranges::count(table, '\n'), 4);
  EXPECT_LT(table.find(",33,"), table.find(",11,"));
  EXPECT_LT(table.find(",11,"), table.find(",22,"));
  EXPECT_NE(table.find(",33,"), std::string::npos);
  const auto records = read_samples(run.path() / "samples.jsonl", {nth(2).id(), nth(0).id()});
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].which, nth(2)) << "not by name";
  EXPECT_EQ(records[1].which, nth(0));
}

TEST_F(RunFolderTest, MergesCountsIntoTheCaseBeforeThem) {
  auto run = RunFolder::create(folder_, context());
  run.append(measured(0, 11));
  run.append(measured(1, 22));
  run.append(counted(0));
  const auto records = read_samples(run.path() / "samples.jsonl", context().sweep.cases);
  ASSERT_EQ(records.size(), 2U);
  ASSERT_EQ(records[0].measurements.size(), 2U);
  EXPECT_EQ(records[0].measurements[0].samples, std::vector<double>{11});
  EXPECT_EQ(records[0].measurements[1].samples, std::vector<double>{32});
  EXPECT_EQ(records[1].measurements.size(), 1U);
}

TEST_F(RunFolderTest, CountsOfACaseEndWhenItIsTimedAgain) {
  auto run = RunFolder::create(folder_, context());
  const auto rows = [&] {
    std::size_t count = 0;
    for (const auto& record : read_samples(run.path() / "samples.jsonl", context().sweep.cases))
      count += record.measurements.size();
    return count;
  };
  run.append(counted(0));  // of a case that was not timed
  EXPECT_EQ(rows(), 0U);
  run.append(measured(0));
  EXPECT_EQ(rows(), 1U) << "counts belong to the record before them";
  EXPECT_EQ(run.uncounted(), std::vector{nth(0)});
  run.append(counted(0, 1));
  run.append(counted(0, 2));
  EXPECT_EQ(rows(), 2U) << "the last counts";
  EXPECT_TRUE(run.uncounted().empty());
  run.append(measured(0));
  EXPECT_EQ(rows(), 1U);
  EXPECT_EQ(run.uncounted(), std::vector{nth(0)});
}

TEST_F(RunFolderTest, TracesOfACaseFollowItsCountsAndEndWhenItIsTimedAgain) {
  auto run = RunFolder::create(folder_, context());
  const auto rows = [&] {
    const auto records = read_samples(run.path() / "samples.jsonl", context().sweep.cases);
    return records.at(0).measurements.size();
  };
  auto timed = measured(0);
  timed.facts[std::string{step_fact}] = 0.25;
  auto trace = counted(0);
  trace.phase = Phase::tracing;
  trace.measurements[0].quantity = "phase_idle";
  run.append(measured(1));
  run.append(timed);
  EXPECT_EQ(run.untraced(), std::vector{nth(0)}) << "the other has no phases";
  EXPECT_EQ(run.steps(), (StepTimes{{nth(0).id(), {0.25}}}));
  auto visit = timed;
  visit.visit = 2;
  visit.facts[std::string{step_fact}] = 0.5;
  run.append(visit);
  EXPECT_EQ(run.steps(), (StepTimes{{nth(0).id(), {0.25, 0.5}}}));
  run.append(trace);
  run.append(counted(0));
  EXPECT_EQ(rows(), 3U);
  EXPECT_TRUE(run.untraced().empty());
  EXPECT_EQ(run.uncounted(), std::vector{nth(1)});
  run.append(timed);
  EXPECT_EQ(rows(), 1U) << "traces belong to the record before them";
  EXPECT_EQ(run.untraced(), std::vector{nth(0)});
}

TEST_F(RunFolderTest, AddsLaterVisitsToTheirCase) {
  RunContext twice = context();
  twice.sweep.plan.visits = 2;
  auto run = RunFolder::create(folder_, twice);
  const auto visit = [&](CaseRecord record, int number) {
    record.visit = number;
    run.append(record);
    return read_samples(run.path() / "samples.jsonl", context().sweep.cases);
  };
  run.append(measured(0, 11));
  run.append(failed(1));
  EXPECT_EQ(run.unvisited(), std::vector{nth(0)});
  run.append(counted(0));
  EXPECT_EQ(visit(failed(0), 2).size(), 2U);
  EXPECT_EQ(run.unvisited(), std::vector{nth(0)}) << "a failed visit does not count";
  EXPECT_EQ(run.statuses().at(nth(0).id()), Status::measured);
  const auto records = visit(measured(0, 13), 2);
  EXPECT_TRUE(run.unvisited().empty());
  EXPECT_EQ(records[0].measurements.size(), 1U) << "counts belong to the record before them";
  EXPECT_EQ(records[0].measurements[0].samples, (std::vector<double>{11, 13}));
  EXPECT_EQ(run.visits_of(nth(0).id()), 2);
  EXPECT_EQ(visit(measured(0, 17), 2)[0].measurements[0].samples, (std::vector<double>{11, 13}))
      << "a second line of one visit";
  run.write_measurements();
  EXPECT_NE(text(run.path() / "measurements.csv").find(",12,,,11,13,2,true"), std::string::npos);
  run.append(measured(0, 5));  // timed anew
  EXPECT_EQ(run.unvisited(), std::vector{nth(0)});
  CaseRecord slow = measured(1, 5);
  slow.seconds = 1.9 * twice.sweep.plan.seconds_per_case;
  run.append(slow);
  EXPECT_EQ(run.unvisited(), (std::vector{nth(0), nth(1)}));
  slow.seconds = 2 * twice.sweep.plan.seconds_per_case + 1;
  run.append(slow);
  EXPECT_EQ(run.unvisited(), std::vector{nth(0)}) << "what takes long is visited once";
  EXPECT_EQ(visit(measured(2, 1), 2).size(), 2U) << "a later visit of nothing";
}

TEST_F(RunFolderTest, NeverLosesATimingToACountingThatFailed) {
  auto run = RunFolder::create(folder_, context());
  run.append(measured(0));
  run.append(not_counted(0, Status::failed));
  EXPECT_EQ(run.statuses().at(nth(0).id()), Status::measured);
  EXPECT_EQ(run.remaining(), (std::vector{nth(1), nth(2)}));
  const auto counts = run.finish(RunState::complete, {});
  EXPECT_EQ(counts.measured, 1U);
  EXPECT_EQ(counts.valid_rows, 1U);
  EXPECT_EQ(counts.counting_failed, 1U);
  EXPECT_EQ(counts.counted + counts.uncounted, 0U);
}

TEST_F(RunFolderTest, CountsRowsOfTheMergedRecords) {
  auto run = RunFolder::create(folder_, context());
  for (const int index : {0, 1, 2})
    run.append(measured(index));
  auto wrong = counted(0);
  wrong.gates.push_back({"level", Verdict::failed, "80 % hits"});
  run.append(wrong);
  run.append(counted(1));
  run.append(not_counted(2, Status::skipped));
  const auto counts = run.finish(RunState::complete, {});
  EXPECT_EQ(counts.invalid_rows, 2U)
      << "a level that is not the declared one spoils its timing too";
  EXPECT_EQ(counts.valid_rows, 3U);
  EXPECT_EQ(counts.counted, 2U);
  EXPECT_EQ(counts.counting_skipped, 1U);
  EXPECT_EQ(counts.uncounted, 0U);
  const std::string table = text(run.path() / "measurements.csv");
  EXPECT_EQ(std::ranges::count(table, '\n'), 6);
  EXPECT_THAT(table, HasSubstr(",sectors,sector,counted,cupti,32,"));
}

TEST_F(RunFolderTest, ResumesWithWhatWasNotCounted) {
  path where;
  {
    auto run = RunFolder::create(folder_, context(7));
    where = run.path();
    for (const int index : {0, 1, 2, 3})
      run.append(measured(index));
    run.append(failed(4));
    CaseRecord skipped = failed(6);
    skipped.status = Status::skipped;
    run.append(skipped);
    run.append(counted(0));
    run.append(not_counted(1, Status::skipped));
    run.append(not_counted(2, Status::failed));
  }
  const auto run = RunFolder::open_for_resume(where);
  EXPECT_EQ(run.uncounted(), (std::vector{nth(2), nth(3)})) << "a failed count is tried again";
  EXPECT_EQ(run.remaining(), (std::vector{nth(4), nth(5)}));
}

TEST_F(RunFolderTest, ResumesWithWhatWasNotMeasuredOrSkipped) {
  path where;
  {
    auto run = RunFolder::create(folder_, context(4));
    where = run.path();
    run.append(measured(0));
    run.append(failed(1));
    auto skipped = failed(2);
    skipped.status = Status::skipped;
    run.append(skipped);
    run.finish(RunState::interrupted, {{"hertz", 1e9}});
  }
  auto run = RunFolder::open_for_resume(where / "");
  EXPECT_EQ(run.remaining(), (std::vector{nth(1), nth(3)}));
  EXPECT_EQ(run.repair(), "");
  EXPECT_EQ(run.context().state, RunState::interrupted) << "to look at a run does not change it";
  run.start();
  const auto written = from_json<RunContext>(text(where / "context.json"));
  EXPECT_EQ(written.state, RunState::running);
  EXPECT_TRUE(written.finished.empty());
  EXPECT_EQ(written.resumed.size(), 1U);
  run.append(measured(1));
  run.append(measured(3));
  const auto counts = run.finish(RunState::complete, {});
  EXPECT_EQ(run.context().clocks_after, (Facts{{"hertz", 1e9}}))
      << "what is known is not forgotten";
  EXPECT_EQ(counts.measured, 3U);
  EXPECT_EQ(counts.failed, 0U) << "a failed case that is measured later is measured";
  EXPECT_EQ(counts.missing, 0U);
}

TEST_F(RunFolderTest, CutsOffATornLastLineAndSaysSo) {
  for (const std::string& torn : {std::string{"{\"schema_ver"}, to_json(measured(1)),
                                  std::string(70000, 'x'), std::string(3, '\0')}) {
    path where;
    {
      auto run = RunFolder::create(folder_, context());
      where = run.path();
      run.append(measured(0));
    }
    append_text(where / "samples.jsonl", torn);
    auto run = RunFolder::open_for_resume(where);
    EXPECT_THAT(run.repair(), HasSubstr("its " + std::to_string(torn.size()) + " bytes"));
    EXPECT_EQ(run.remaining().size(), 2U);
    EXPECT_EQ(text(where / "samples.jsonl"), sealed_line(measured(0)) + "\n" + torn)
        << "to look at a run does not change it";
    run.start();
    EXPECT_EQ(text(where / "samples.jsonl"), sealed_line(measured(0)) + "\n");
    run.append(measured(1));
    EXPECT_EQ(run.finish(RunState::complete, {}).measured, 2U);
  }
}

TEST_F(RunFolderTest, ReadsPastATornLineWithoutTouchingIt) {
  auto run = RunFolder::create(folder_, context());
  run.append(measured(0));
  append_text(run.path() / "samples.jsonl", "{\"torn");
  EXPECT_EQ(read_samples(run.path() / "samples.jsonl", context().sweep.cases).size(), 1U);
}

TEST_F(RunFolderTest, RefusesWhatIsNotTheFolderOfARun) {
  EXPECT_THAT(refusal_of(folder_ / "none"), HasSubstr("none: not a run folder"));
  EXPECT_THAT(refusal_of(folder_), HasSubstr("it has no context.json"));
}

// Else it would begin an empty file of samples and measure everything anew.
TEST_F(RunFolderTest, RefusesToCompleteARunWhoseSamplesArePacked) {
  const path where = RunFolder::create(folder_, context()).path();
  std::filesystem::rename(where / "samples.jsonl", where / "samples.jsonl.gz");
  EXPECT_THAT(refusal_of(where), HasSubstr("gunzip"));
  EXPECT_FALSE(exists(where / "samples.jsonl"));
  std::filesystem::rename(where / "samples.jsonl.gz", where / "samples.jsonl");
  append_text(where / "measurements.csv.gz", "");
  EXPECT_THAT(refusal_of(where), HasSubstr("its measurements.csv is compressed"))
      << "two tables would be one too many";
}

TEST_F(RunFolderTest, RefusesAnotherVersionNamingFileAndVersion) {
  const path where = RunFolder::create(folder_, context()).path();
  std::string old = text(where / "context.json");
  for (const char* version : {"4", "2"}) {
    old.replace(old.find("\"schema_version\": ") + 18, 1, version);
    std::ofstream{where / "context.json"} << old;
    EXPECT_THAT(refusal_of(where),
                HasSubstr("context.json: schema version " + std::string{version}));
  }
}

TEST_F(RunFolderTest, RefusesDamageBeforeTheLastLineAndLeavesEverythingAsItIs) {
  const path where = RunFolder::create(folder_, context()).path();
  append_text(where / "samples.jsonl",
              sealed_line(measured(0)) + "\nrubbish\n" + sealed_line(measured(1)) + "\n{torn");
  const std::string before = text(where / "samples.jsonl");
  EXPECT_THAT(refusal_of(where), HasSubstr("samples.jsonl:2: not JSON"));
  EXPECT_EQ(text(where / "samples.jsonl"), before);
}

TEST_F(RunFolderTest, RefusesARunThatIsStillBeingWritten) {
  const auto run = RunFolder::create(folder_, context());
  EXPECT_THAT(refusal_of(run.path()), HasSubstr("another process is writing this run"));
}

TEST_F(RunFolderTest, RefusesASweepOfNamesThatAreNoCases) {
  auto c = context();
  c.sweep.cases.emplace_back("../../etc");
  EXPECT_THAT(message_of<UsageError>([&] { (void)RunFolder::create(folder_, c); }),
              HasSubstr("'../../etc'"));
}

TEST_F(RunFolderTest, SaysWhichFolderCannotBeMade) {
  append_text(folder_ / "file", "in the way");
  EXPECT_THAT(message_of<RunFolderError>(
                  [&] { (void)RunFolder::create(folder_ / "file" / "runs", context()); }),
              HasSubstr("file/runs: cannot be created"));
  append_text(folder_ / run_name(context()), "in the way");
  EXPECT_THAT(RunFolder::create(folder_, context()).path().string(), testing::EndsWith("-2"));
}

TEST_F(RunFolderTest, KeepsWholeLinesOnlyWhenTheFileMayNotGrow) {
  auto run = RunFolder::create(folder_, context());
  run.append(measured(0));
  const std::string before = text(run.path() / "samples.jsonl");
  // The first half of a line still fits.
  const auto message = diagnostic_below(before.size() + 50, [&] { run.append(measured(1)); });
  EXPECT_THAT(message, HasSubstr("samples.jsonl: only 50 of the "));
  EXPECT_THAT(message,
              HasSubstr("bytes of micro/probe/host/index=1 could be written: File too large"));
  EXPECT_THAT(message, HasSubstr("ulimit -f"));
  EXPECT_EQ(text(run.path() / "samples.jsonl"), before);
  EXPECT_EQ(run.remaining().size(), 2U);
  run.append(measured(1));  // there is room again
  EXPECT_EQ(run.finish(RunState::complete, {}).measured, 2U);
}

TEST_F(RunFolderTest, LeavesNoHalfTableWhenItDoesNotFit) {
  auto run = RunFolder::create(folder_, context());
  run.append(measured(0));
  const auto message = diagnostic_below(50, [&] { run.write_measurements(); });
  EXPECT_THAT(message, HasSubstr("measurements.csv: only 50 of "));
  EXPECT_FALSE(std::filesystem::exists(run.path() / "measurements.csv"));
  EXPECT_FALSE(std::filesystem::exists(run.path() / ".measurements.csv.new"));
}

TEST_F(RunFolderTest, KeepsTheOldContextWhenTheNewOneCannotBeWritten) {
  auto run = RunFolder::create(folder_, context());
  const std::string before = text(run.path() / "context.json");
  auto c = run.context();
  c.device.name = std::string(10000, 'x');
  EXPECT_THAT(diagnostic_below(5000, [&] { run.update(c); }), HasSubstr("context.json"));
  EXPECT_EQ(text(run.path() / "context.json"), before);
}

TEST_F(RunFolderTest, AdvisesNobodyToResumeWhatIsNoRun) {
  EXPECT_THAT(diagnostic_below(50, [&] { (void)RunFolder::create(folder_, context()); }),
              HasSubstr("(ulimit -f), then begin again"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "half a run";
}

// --- a folder from elsewhere ---

TEST_F(RunFolderTest, WritesThroughNoLink) {
  auto run = RunFolder::create(folder_, context());
  run.append(measured(0));
  const path victim = folder_ / "victim";
  append_text(victim, "precious");
  for (const char* name : {".context.json.new", ".measurements.csv.new", "measurements.csv"})
    std::filesystem::create_symlink(victim, run.path() / name);
  (void)run.finish(RunState::complete, {});
  EXPECT_EQ(text(victim), "precious");
  EXPECT_TRUE(std::filesystem::is_regular_file(
      std::filesystem::symlink_status(run.path() / "measurements.csv")));
}

TEST_F(RunFolderTest, ResumesNothingThatIsALinkOrNoRegularFile) {
  const path where = RunFolder::create(folder_, context()).path();
  for (const char* name : {"samples.jsonl", "context.json"}) {
    const path file = where / name;
    const path aside = folder_ / "aside";
    std::filesystem::rename(file, aside);
    std::filesystem::create_symlink(aside, file);
    EXPECT_THAT(refusal_of(where), HasSubstr(std::string{name} + ": is a link"));
    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    EXPECT_THAT(refusal_of(where), HasSubstr(std::string{name} + ": is a pipe or a device"));
    std::filesystem::remove(file);
    std::filesystem::rename(aside, file);
  }
  std::filesystem::create_hard_link(where / "samples.jsonl", folder_ / "other");
  EXPECT_THAT(refusal_of(where), HasSubstr("has another name too"));
}

TEST_F(RunFolderTest, HasABoundOnALineAFileAndDepth) {
  const path where = RunFolder::create(folder_, context()).path();
  const std::string deep = std::string(80000, '[') + std::string(80000, ']');
  append_text(where / "samples.jsonl", deep + "\n");
  EXPECT_THAT(refusal_of(where), HasSubstr("samples.jsonl:1: not JSON: more than 32 levels deep"));
  std::ofstream{where / "samples.jsonl"} << std::string(std::size_t{33} << 20, ' ');
  EXPECT_THAT(refusal_of(where), HasSubstr("samples.jsonl:1: a line of more than 33554432 bytes"));
  std::filesystem::resize_file(where / "samples.jsonl", (std::uintmax_t{4} << 30) + 1);  // sparse
  EXPECT_THAT(refusal_of(where), HasSubstr("has 4294967297 bytes; expected 4294967296 at most"));
  std::ofstream{where / "context.json"} << "{\"run\":" << deep << "}";
  EXPECT_THAT(refusal_of(where), HasSubstr("context.json: not JSON: more than 32 levels deep"));
  std::filesystem::resize_file(where / "context.json", (std::uintmax_t{32} << 20) + 1);
  EXPECT_THAT(refusal_of(where), HasSubstr("context.json: has more than 33554432 bytes"));
}

TEST_F(RunFolderTest, SeesAChangedDigit) {
  path where;
  {
    auto run = RunFolder::create(folder_, context());
    where = run.path();
    run.append(measured(0, 12));
  }
  const path file = where / "samples.jsonl";
  std::string line = text(file);
  line.replace(line.find("[12"), 3, "[13");
  std::ofstream{file} << line;
  EXPECT_THAT(refusal_of(where),
              HasSubstr("samples.jsonl:1: the line does not match its checksum"));
  EXPECT_THROW((void)read_samples(file, context().sweep.cases), UsageError);
}

TEST_F(RunFolderTest, RefusesALineWithoutItsChecksumWhateverVersionItClaims) {
  const path where = RunFolder::create(folder_, context()).path();
  const path file = where / "samples.jsonl";
  for (const char* version : {"3", "2", "1"}) {
    std::string line = to_json(measured(0));
    line.replace(line.find("\"schema_version\":3") + 17, 1, version);
    std::ofstream{file} << line << "\n";
    EXPECT_THAT(refusal_of(where), HasSubstr("samples.jsonl:1: the line has no checksum"));
    EXPECT_THROW((void)read_samples(file, context().sweep.cases), UsageError);
  }
}

TEST_F(RunFolderTest, EndsAsAbortedWhenItsSamplesAreNotWhatItWrote) {
  const auto harm = [&](const std::function<void(const path&)>& act) {
    auto run = RunFolder::create(folder_, context());
    run.append(measured(0));
    run.append(measured(1));
    act(run.path() / "samples.jsonl");
    const std::string at_append = message_of<RunFolderError>([&] { run.append(measured(2)); });
    const std::string at_end =
        message_of<RunFolderError>([&] { (void)run.finish(RunState::complete, {}); });
    EXPECT_EQ(at_append, at_end);
    EXPECT_EQ(from_json<RunContext>(text(run.path() / "context.json")).state, RunState::aborted);
    return at_end;
  };
  EXPECT_THAT(harm([](const path& file) { std::filesystem::resize_file(file, 10); }),
              HasSubstr("samples.jsonl: was changed while this run wrote it"));
  EXPECT_THAT(harm([](const path& file) { append_text(file, "{}\n"); }), HasSubstr("was changed"));
  EXPECT_THAT(harm([](const path& file) { std::filesystem::remove(file); }),
              HasSubstr("was replaced"));
  EXPECT_THAT(harm([](const path& file) {
                std::filesystem::remove(file);
                std::filesystem::create_symlink("/dev/null", file);
              }),
              HasSubstr("was replaced"));
}

TEST_F(RunFolderTest, RefusesAtOnceWhatNobodyWouldTakeForASoundRunLater) {
  const auto refusal = [&](const RunContext& c, const std::string& samples) {
    const path where = RunFolder::create(folder_, c).path();
    append_text(where / "samples.jsonl", samples);
    return refusal_of(where);
  };
  EXPECT_THAT(refusal(context(), "\xEF\xBB\xBF" + to_json(measured(0)) + "\n"),
              HasSubstr("samples.jsonl:1: not JSON: starts with a byte order mark"));
  EXPECT_THAT(refusal(context(), sealed_line(measured(7)) + "\n"),
              HasSubstr("micro/probe/host/index=7 is not a case of the sweep"));
  RunContext twice = context();
  twice.sweep.cases.push_back(nth(1).id());
  EXPECT_THAT(refusal(twice, ""), HasSubstr("sweep.cases holds micro/probe/host/index=1 twice"));
  RunContext tomorrow = context();
  tomorrow.started = "2999-01-01T00:00:00Z";
  EXPECT_THAT(refusal(tomorrow, ""), HasSubstr("set the clock"));
  for (const auto* const name : {"../../../evil", "..", "a b", ""}) {
    RunContext forged = context();
    const path where = RunFolder::create(folder_, forged).path();
    forged.run = name;
    std::ofstream{where / "context.json"} << to_json(forged);
    EXPECT_THAT(refusal_of(where), HasSubstr("expected the name of the run folder")) << name;
  }
}

TEST_F(RunFolderTest, NeverEndsBeforeItBegan) {
  RunContext c = context();
  c.started = "2999-01-01T00:00:00Z";  // and then the clock was set back
  auto run = RunFolder::create(folder_, c);
  (void)run.finish(RunState::complete, {});
  EXPECT_EQ(run.context().finished, c.started);
}

TEST_F(RunFolderTest, PutsTheHandlerOfTheFileSizeSignalBack) {
  struct sigaction before {};
  (void)::sigaction(SIGXFSZ, nullptr, &before);
  auto run = RunFolder::create(folder_, context());
  run.append(measured(0));
  struct sigaction after {};
  (void)::sigaction(SIGXFSZ, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

}  // namespace
}  // namespace strata
