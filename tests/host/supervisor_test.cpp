// The supervisor against workers that do what workers must not do. The worker is this executable
// itself, started again with other arguments: see main() at the end.
#include "harness/run/supervisor.hpp"

#include "example_records.hpp"
#include "harness/measure/device_lock.hpp"
#include "harness/record/record_json.hpp"
#include "harness/record/run_folder.hpp"
#include "message_of.hpp"
#include "tests/host/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace strata {
namespace {

using std::filesystem::path;
using testing::HasSubstr;
using testing::Not;

// --- the worker
// -----------------------------------------------------------------------------------

constexpr std::string_view worker_word = "pretend-worker";

CaseRecord measured(const Case& which) {
  CaseRecord record = timed_record(which);
  record.started = utc_text();
  record.facts = {{"worker", std::int64_t{::getpid()}}};
  return record;
}

CaseRecord counted(const Case& which) {
  CaseRecord record = measured(which);
  record.phase = Phase::counting;
  record.measurements = {counted_row()};
  return record;
}

/// Raw bytes, to wherever.
void write_text(std::string_view text, int fd = worker_channel_fd) {
  [[maybe_unused]] const auto written = ::write(fd, text.data(), text.size());
}

void sleep_forever() {
  for (;;)
    ::pause();
}

/// A process that outlives its parent and holds all that it inherited.
void leave_a_child_behind() {
  if (::fork() == 0) sleep_forever();
}

[[noreturn]] void die_by(int signal) {
  const rlimit no_core{};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  (void)std::signal(signal, SIG_DFL);  // the sanitizers have handlers of their own
  (void)::raise(signal);
  sleep_forever();
  std::_Exit(1);
}

/// What the case called `kind` does between its begin and its record.
void misbehave(const std::string& kind, const Case& which) {
  if (kind == "crash") die_by(SIGSEGV);
  if (kind == "exit") std::_Exit(3);
  if (kind == "hang") sleep_forever();
  if (kind == "garbage") write_text("Segmentation fault\n");
  if (kind == "long-line") write_text(std::string(LineReader::default_limit + 1, 'x'));
  if (kind == "other-record") send(CaseMessage{measured({"micro", "other", Backend::host, {}})});
  if (kind == "begin-again") send(BeginMessage{which.id()});
  if (kind == "end-early") send(EndMessage{});
  if (kind == "torn") {
    write_text(R"({"kind":"case","rec)");
    std::_Exit(0);
  }
  if (kind == "last-words") {
    write_text("what():  the\n\tlast words\n", STDERR_FILENO);
    die_by(SIGABRT);
  }
  if (kind == "mutter") write_text("muttered before\n", STDERR_FILENO);
  if (kind == "chatter" || kind == "chatter-crash") {
    const std::string line(1000, '#');
    for (int i = 0; i < 2000; ++i)
      write_text(line, i % 2 + 1);
  }
  if (kind == "chatter-crash") die_by(SIGABRT);
  if (kind == "slow") std::this_thread::sleep_for(std::chrono::milliseconds{200});
  if (kind == "interrupt") {
    (void)::kill(::getppid(), SIGINT);
    sleep_forever();
  }
  if (kind == "child") {
    leave_a_child_behind();
    std::_Exit(4);
  }
}

DeviceMessage device(const std::string& slug) {
  DeviceMessage message;
  message.identity = {slug, "A pretended CPU", "", {{"cores", std::int64_t{2}}}};
  message.conditions = {{"hertz", 1e9}};
  message.host.cpu = "A CPU";
  return message;
}

[[noreturn]] void refuse() {
  send(RefusedMessage{"no driver; install one"});
  std::_Exit(3);
}

/// The behaviour of the worker as a whole, before any case.
void introduce_itself(const std::string& mode) {
  if (mode == "refuse") refuse();
  if (mode == "die") {
    write_text("cannot load libcuda\n", STDERR_FILENO);
    std::_Exit(7);
  }
  if (mode == "mute") sleep_forever();
  if (mode == "garbage") write_text("hello\n");
  if (mode == "refuse-counters") {
    send(RefusedMessage{"another profiler holds the counters", "end it"});
    std::_Exit(0);
  }
  if (mode.starts_with("refuse-once:")) {
    const path seen = mode.substr(mode.find(':') + 1);
    if (!std::filesystem::exists(seen)) {
      std::ofstream{seen} << "seen";
      refuse();
    }
  }
  DeviceMessage message = device(mode == "other-device" ? "another-cpu" : "a-cpu");
  if (mode == "other-unit") message.identity.uuid = "GPU-2";
  send(message);
}

/// What a case does that counts, or times: each has kinds of its own, and takes the others for
/// well.
std::string kind_in(Phase phase, const std::string& kind) {
  for (const auto& [prefix, its_phase] :
       {std::pair{std::string_view{"counting-"}, Phase::counting},
        std::pair{std::string_view{"tracing-"}, Phase::tracing}}) {
    if (kind.starts_with(prefix)) return phase == its_phase ? kind.substr(prefix.size()) : "well";
  }
  return phase == Phase::timing ? kind : "well";
}

/// The record of a traced case: the step of its job.
CaseRecord traced(const Case& which, const WorkerJob& job) {
  CaseRecord record = measured(which);
  record.phase = Phase::tracing;
  record.measurements[0].quantity = "phase_idle";
  record.measurements[0].samples = job.steps.at(which.id());
  return record;
}

/// `task`: "MODE", or "probe-MODE", "count-MODE" or "trace-MODE".
int work(const std::string& task) {
  become_worker();
  const bool probed = task.starts_with("probe-");
  const Phase phase = task.starts_with("count-")   ? Phase::counting
                      : task.starts_with("trace-") ? Phase::tracing
                                                   : Phase::timing;
  const std::string mode =
      probed || phase != Phase::timing ? task.substr(task.find('-') + 1) : task;
  if (probed) {
    introduce_itself(mode);
    return 0;
  }
  const WorkerJob job = read_job();
  introduce_itself(mode);
  if (mode == "turns") {  // cases that are counted together: a first pass over all of them
    for (const auto& which : job.cases)
      send(BeginMessage{which.id()});
  }
  for (const auto& which : job.cases) {
    // A patient worker ignores the kind of the case.
    const std::string kind = mode == "patient" ? "well" : kind_in(phase, which.params.at("kind"));
    send(BeginMessage{which.id()});
    misbehave(kind, which);
    const bool fatal = kind == "fatal";
    const bool count = (phase == Phase::counting) != (kind == "other-phase");
    CaseRecord record = count ? counted(which) : measured(which);
    if (!count) record.gates.push_back({"level", Verdict::unverified, job.note});
    if (phase == Phase::timing) record.facts[std::string{step_fact}] = 0.5;
    if (phase == Phase::tracing) record = traced(which, job);
    send(CaseMessage{record, fatal});
    if (fatal) std::_Exit(1);
    if (kind == "die-after") std::_Exit(5);
  }
  send(EndMessage{{{"hertz", 2e9}}});
  if (mode == "linger") sleep_forever();
  return 0;
}

// --- the tests
// ------------------------------------------------------------------------------------

class SupervisorTest : public testing::Test {
 protected:
  /// A sweep of cases with these behaviours.
  static std::vector<Case> sweep(const std::vector<std::string>& kinds) {
    std::vector<Case> cases;
    cases.reserve(kinds.size());
    for (const auto& kind : kinds) {
      cases.push_back({"faults",
                       "pretend",
                       Backend::host,
                       {{"index", std::to_string(cases.size())}, {"kind", kind}}});
    }
    return cases;
  }

  /// A run whose cases are counted after they were timed, by such a worker.
  static SuperviseOptions counting(const std::vector<Case>& cases,
                                   const std::string& mode = "well") {
    SuperviseOptions o = options(cases);
    o.note = "not counted yet";
    o.counter = ChildCommand{.arguments = {"strata", std::string{worker_word}, "count-" + mode}};
    return o;
  }

  [[nodiscard]] RunFolder create(const std::vector<Case>& cases) const {
    RunContext context;
    context.device.slug = "a-cpu";
    for (const auto& which : cases)
      context.sweep.cases.push_back(which.id());
    return RunFolder::create(folder_, context);
  }

  static SuperviseOptions options(const std::vector<Case>& cases,
                                  const std::string& mode = "well") {
    SuperviseOptions o;
    o.worker.arguments = {"strata", std::string{worker_word}, mode};
    o.cases = cases;
    o.plan.time_limit = 20;  // none of the workers meant to be fast reaches it on a busy machine
    o.end_allowance = 0.5;
    return o;
  }

  /// How each case of a sweep of these behaviours ended, by its index.
  std::vector<CaseRecord> run(const std::vector<std::string>& kinds, double time_limit = 20) {
    const auto cases = sweep(kinds);
    auto folder = create(cases);
    auto o = options(cases);
    o.plan.time_limit = time_limit;
    o.first_case_allowance = time_limit / 2;
    summary_ = supervise(o, folder, quiet_);
    auto records = read_samples(folder.path() / "samples.jsonl", folder.context().sweep.cases);
    EXPECT_EQ(records.size(), kinds.size()) << "a case has no record";
    lines_ = lines(folder.path() / "samples.jsonl");
    EXPECT_EQ(lines_, kinds.size()) << "a case has two records";
    return records;
  }

  static std::size_t lines(const path& file) {
    std::ifstream stream{file};
    std::string line;
    std::size_t count = 0;
    while (std::getline(stream, line))
      ++count;
    return count;
  }

  static std::int64_t worker_of(const CaseRecord& record) {
    return std::get<std::int64_t>(record.facts.at("worker"));
  }

  static std::vector<Status> statuses(const std::vector<CaseRecord>& records) {
    std::vector<Status> result(records.size());
    std::ranges::transform(records, result.begin(), &CaseRecord::status);
    return result;
  }

  TemporaryFolder temporary_;
  const path folder_ = temporary_.path();
  Progress quiet_;
  RunSummary summary_;
  std::size_t lines_ = 0;
};

TEST_F(SupervisorTest, MeasuresEveryCaseInOneWorker) {
  const auto records = run({"well", "well", "well"});
  EXPECT_EQ(worker_of(records.at(0)), worker_of(records.at(2)));
  EXPECT_EQ(summary_.counts.measured, 3U);
  EXPECT_EQ(summary_.counts.valid_rows, 3U);
  EXPECT_EQ(summary_.exit_code, ExitCode::success);
}

TEST_F(SupervisorTest, LearnsTheDeviceWhenItWasNotKnown) {
  const auto cases = sweep({"well"});
  RunContext context;
  context.sweep.cases = {cases[0].id()};
  auto folder = RunFolder::create(folder_, context);
  EXPECT_EQ(supervise(options(cases), folder, quiet_).exit_code, ExitCode::success);
  const RunContext& learnt = folder.context();
  EXPECT_EQ(learnt.state, RunState::complete);
  EXPECT_EQ(learnt.device.slug, "a-cpu");
  EXPECT_EQ(learnt.host.cpu, "A CPU");
  EXPECT_EQ(learnt.clocks_before, (Facts{{"hertz", 1e9}}));
  EXPECT_EQ(learnt.clocks_after, (Facts{{"hertz", 2e9}}));
}

struct Misbehaviour {
  std::string kind;
  std::string reason;
  double time_limit = 20;
};

/// The second of three cases misbehaves, and costs nothing but itself.
class MisbehavingWorker : public SupervisorTest,
                          public testing::WithParamInterface<Misbehaviour> {};

TEST_P(MisbehavingWorker, LosesOnlyItsCase) {
  const auto& [kind, reason, time_limit] = GetParam();
  const auto records = run({"well", kind, "well"}, time_limit);
  EXPECT_THAT(statuses(records),
              testing::ElementsAre(Status::measured, Status::failed, Status::measured));
  EXPECT_THAT(records.at(1).reason, HasSubstr(reason));
  EXPECT_NE(worker_of(records.at(0)), worker_of(records.at(2))) << "nothing more from that worker";
  EXPECT_EQ(summary_.exit_code, ExitCode::failed);
  EXPECT_EQ(summary_.state, RunState::complete);
  EXPECT_THAT(summary_.failures, testing::ElementsAre(HasSubstr("kind=" + kind + ": ")));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, MisbehavingWorker,
    testing::ValuesIn(std::vector<Misbehaviour>{
        {"crash", "worker killed by signal 11 (SIGSEGV)"},
        {"exit", "worker exited with status 3 during this case"},
        {"hang", "time limit: no result after 1 s", 1},
        {"garbage", "malformed worker output: not JSON"},
        {"long-line", "malformed worker output: a line of more than 8388608"},
        {"other-record", "a record of micro/other/host, which is not being measured"},
        {"begin-again", "begins within another case"},
        {"end-early", "an end within a case"},
        {"torn", "worker exited with status 0 during this case"},
        {"last-words", "(SIGABRT); last output: what(): the last words"},
        {"child", "worker exited with status 4 during this case"}}),  // its child lives on
    [](const auto& one) {
      std::string name = one.param.kind;
      std::ranges::replace(name, '-', '_');
      return name;
    });

TEST_F(SupervisorTest, GivesTheFirstCaseOfAWorkerMoreTime) {
  const auto records = run({"hang", "well"}, 0.4);
  EXPECT_THAT(records[0].reason, HasSubstr("time limit: no result after 0.6 s"));
  EXPECT_EQ(records[1].status, Status::measured);
}

TEST_F(SupervisorTest, QuotesNoWordsOfEarlierCases) {
  const auto records = run({"mutter", "slow", "slow", "crash"});
  EXPECT_THAT(records.at(3).reason, HasSubstr("SIGSEGV"));
  EXPECT_THAT(records.at(3).reason, Not(HasSubstr("muttered")));
}

TEST_F(SupervisorTest, QuotesOnlyTheEndOfEndlessOutput) {
  const auto records = run({"well", "chatter-crash", "well"});
  EXPECT_THAT(records.at(1).reason, HasSubstr("last output: ####"));
  EXPECT_LT(records.at(1).reason.size(), 600U);
}

TEST_F(SupervisorTest, IsNotMisledByAWorkerThatPrintsMegabytes) {
  const auto records = run({"well", "chatter", "well"});
  EXPECT_EQ(records[1].status, Status::measured);
  EXPECT_EQ(worker_of(records[0]), worker_of(records[2]));
}

TEST_F(SupervisorTest, KeepsAFatalRecordAndGivesTheRestToANewWorker) {
  const auto records = run({"well", "fatal", "well"});
  EXPECT_EQ(records[1].status, Status::measured);
  EXPECT_EQ(worker_of(records[0]), worker_of(records[1]));
  EXPECT_NE(worker_of(records[1]), worker_of(records[2]));
  EXPECT_EQ(summary_.exit_code, ExitCode::success);
}

TEST_F(SupervisorTest, BlamesNoCaseForADeathBetweenCases) {
  const auto records = run({"die-after", "die-after", "die-after", "well"});
  EXPECT_TRUE(
      std::ranges::all_of(records, [](const auto& r) { return r.status == Status::measured; }));
}

TEST_F(SupervisorTest, RecordsEveryCaseWhenEachOneCrashes) {
  const auto records = run({"crash", "exit", "crash", "exit"});
  EXPECT_TRUE(
      std::ranges::all_of(records, [](const auto& r) { return r.status == Status::failed; }));
}

TEST_F(SupervisorTest, DoesNotWaitForAWorkerThatStaysAfterItsEnd) {
  const auto cases = sweep({"well"});
  auto folder = create(cases);
  const auto summary = supervise(options(cases, "linger"), folder, quiet_);
  EXPECT_EQ(summary.exit_code, ExitCode::success);
  EXPECT_LT(summary.seconds, 8);
}

TEST_F(SupervisorTest, PassesOnTheReasonOfADeviceThatRefusesTwice) {
  const auto cases = sweep({"well"});
  auto folder = create(cases);
  EXPECT_EQ(message_of<DeviceUnavailable>(
                [&] { (void)supervise(options(cases, "refuse"), folder, quiet_); }),
            "no driver; install one");
  EXPECT_EQ(folder.context().state, RunState::aborted);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "measurements.csv"));
}

TEST_F(SupervisorTest, TriesAgainAfterOneRefusal) {
  const auto cases = sweep({"well"});
  auto folder = create(cases);
  const auto summary =
      supervise(options(cases, "refuse-once:" + (folder_ / "seen").string()), folder, quiet_);
  EXPECT_EQ(summary.exit_code, ExitCode::success);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "seen"));
}

TEST_F(SupervisorTest, GivesUpWhenTwoWorkersDieBeforeAnyCase) {
  const auto cases = sweep({"well"});
  auto folder = create(cases);
  const auto message =
      message_of<SupervisionError>([&] { (void)supervise(options(cases, "die"), folder, quiet_); });
  EXPECT_THAT(message,
              HasSubstr("two workers in a row died before any case: worker exited with status 7"));
  EXPECT_THAT(message, HasSubstr("cannot load libcuda"));
  EXPECT_EQ(folder.context().state, RunState::aborted);
}

TEST_F(SupervisorTest, GivesUpOnWorkersThatNeverOpenTheirDeviceOrTalkNonsense) {
  const auto cases = sweep({"well"});
  auto folder = create(cases);
  auto o = options(cases, "mute");
  o.start_allowance = 0.3;
  EXPECT_THAT(message_of<SupervisionError>([&] { (void)supervise(o, folder, quiet_); }),
              HasSubstr("did not open its device within 0.3 s"));
  EXPECT_THAT(message_of<SupervisionError>(
                  [&] { (void)supervise(options(cases, "garbage"), folder, quiet_); }),
              HasSubstr("malformed worker output"));
}

TEST_F(SupervisorTest, MeasuresOneRunOnOneDeviceOnly) {
  const auto cases = sweep({"well"});
  auto folder = create(cases);
  const auto message = message_of<DeviceUnavailable>(
      [&] { (void)supervise(options(cases, "other-device"), folder, quiet_); });
  EXPECT_THAT(message, HasSubstr("was started on a-cpu"));
  EXPECT_THAT(message, HasSubstr("here is another-cpu"));
  const auto of_a_kind = message_of<DeviceUnavailable>(
      [&] { (void)supervise(options(cases, "other-unit"), folder, quiet_); });
  EXPECT_THAT(of_a_kind, HasSubstr("here is a-cpu (GPU-2)"));
  EXPECT_EQ(folder.statuses().size(), 0U);
}

TEST_F(SupervisorTest, KnowsTheDeviceOfAnAnonymousRunWithoutItsName) {
  const auto cases = sweep({"well"});
  auto folder = create(cases);
  RunContext anonymous = folder.context();
  anonymous.device.uuid = hidden_uuid("GPU-2");
  folder.update(anonymous);
  EXPECT_EQ(supervise(options(cases, "other-unit"), folder, quiet_).counts.measured, 1U);
  EXPECT_EQ(folder.context().device.uuid, hidden_uuid("GPU-2"));
  EXPECT_NE(hidden_uuid("GPU-2"), hidden_uuid("GPU-3"));
  anonymous.device.uuid = hidden_uuid("GPU-3");
  folder.update(anonymous);
  EXPECT_THAT(message_of<DeviceUnavailable>(
                  [&] { (void)supervise(options(cases, "other-unit"), folder, quiet_); }),
              HasSubstr("was started on a-cpu (sha256-"));
}

TEST_F(SupervisorTest, VisitsEveryMeasuredCaseAgainByAnotherWorker) {
  const auto cases = sweep({"well", "crash", "well"});
  RunContext context;
  context.device.slug = "a-cpu";
  context.sweep.plan.visits = 3;
  for (const auto& which : cases)
    context.sweep.cases.push_back(which.id());
  auto folder = RunFolder::create(folder_, context);
  auto o = counting(cases);
  o.plan.visits = 3;
  const auto summary = supervise(o, folder, quiet_);
  EXPECT_EQ(lines(folder.path() / "samples.jsonl"), 3U + 2 * 2U + 2);
  EXPECT_EQ(summary.counts.measured, 2U);
  EXPECT_EQ(summary.counts.counted, 2U);
  const auto records = read_samples(folder.path() / "samples.jsonl", context.sweep.cases);
  EXPECT_EQ(records.at(0).measurements.at(0).samples.size(), 3U);
  EXPECT_EQ(records.at(0).measurements.at(0).visits.size(), 3U);
  EXPECT_EQ(records.at(1).status, Status::failed);
}

TEST_F(SupervisorTest, StopsAtASignalWithEverythingWrittenAndResumes) {
  const auto cases = sweep({"well", "interrupt", "well"});
  path where;
  {
    auto folder = create(cases);
    where = folder.path();
    const auto summary = supervise(options(cases), folder, quiet_);
    EXPECT_EQ(summary.exit_code, ExitCode::interrupted);
    EXPECT_EQ(summary.state, RunState::interrupted);
    EXPECT_EQ(summary.counts.measured, 1U);
    EXPECT_EQ(summary.counts.failed, 0U) << "a case that was interrupted has not failed";
    EXPECT_EQ(summary.counts.missing, 2U);
    EXPECT_EQ(summary.left.timing, 2U);
    EXPECT_EQ(lines(where / "measurements.csv"), 2U);
  }
  auto folder = RunFolder::open_for_resume(where);
  EXPECT_EQ(folder.remaining(), (std::vector{cases[1], cases[2]}));
  const auto summary = supervise(options({cases[2]}), folder, quiet_);
  EXPECT_EQ(summary.counts.measured, 2U);
  EXPECT_EQ(folder.context().resumed.size(), 1U);
}

TEST_F(SupervisorTest, StopsAtItsTimeAsAtASignal) {
  const auto cases = sweep({"well", "well"});
  auto folder = create(cases);
  auto late = options(cases);
  late.stop_at = std::chrono::steady_clock::now();
  const auto summary = supervise(late, folder, quiet_);
  EXPECT_EQ(summary.exit_code, ExitCode::interrupted);
  EXPECT_EQ(summary.state, RunState::interrupted);
  EXPECT_EQ(summary.counts.measured, 0U);
  EXPECT_EQ(folder.remaining(), cases);
}

TEST_F(SupervisorTest, ReportsVisitsAndCountsThatAnInterruptedRunHasLeft) {
  const auto cases = sweep({"well", "well", "crash"});
  RunContext context;
  context.device.slug = "a-cpu";
  for (const auto& which : cases)
    context.sweep.cases.push_back(which.id());
  context.sweep.plan.visits = 3;
  auto folder = RunFolder::create(folder_, context);
  auto first = options(cases);
  first.plan.visits = 1;
  (void)supervise(first, folder, quiet_);
  EXPECT_EQ(folder.visits_made(), 3U);
  EXPECT_EQ(folder.visits_left(), 4U);
  auto rest = counting({});
  rest.plan.visits = 3;
  rest.stop_at = std::chrono::steady_clock::now();
  const auto summary = supervise(rest, folder, quiet_);
  EXPECT_EQ(summary.state, RunState::interrupted);
  EXPECT_EQ(summary.counts.missing, 3U) << "one is timed again, two are visited and counted";
  EXPECT_EQ(summary.left.timing, 1U);
  EXPECT_EQ(summary.left.visits, 4U);
  EXPECT_EQ(summary.left.counting, 2U);
}

TEST_F(SupervisorTest, PutsTheHandlersOfSignalsBack) {
  std::map<int, struct sigaction> before;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) {
    (void)::sigaction(signal, nullptr, &before[signal]);
  }
  (void)run({"well"});
  for (const auto& [signal, was] : before) {
    struct sigaction now {};
    (void)::sigaction(signal, nullptr, &now);
    EXPECT_EQ(now.sa_handler, was.sa_handler) << signal;
  }
}

TEST_F(SupervisorTest, HonoursASignalThatIsIgnored) {
  auto* const before = std::signal(SIGINT, SIG_IGN);
  const auto cases = sweep({"interrupt"});
  auto folder = create(cases);
  auto o = options(cases);
  o.plan.time_limit = 0.3;
  o.first_case_allowance = 0;
  const auto summary = supervise(o, folder, quiet_);
  (void)std::signal(SIGINT, before);
  EXPECT_EQ(summary.exit_code, ExitCode::failed) << "it ran into its time limit, uninterrupted";
}

TEST_F(SupervisorTest, EndsWithOneLineWhenTheDiskIsFullAndResumesWhenItIsNot) {
  const auto cases = sweep({"well", "well", "well", "well"});
  path where;
  {
    auto folder = create(cases);
    where = folder.path();
    rlimit before{};
    (void)::getrlimit(RLIMIT_FSIZE, &before);
    // Room for the context and for two records and a half.
    const auto line = to_json(measured(cases[0])).size();
    const auto room = std::max<std::uintmax_t>(
        std::filesystem::file_size(where / "context.json") + 200, line * 5 / 2);
    CaseRecord first = measured(cases[0]);
    first.facts["padding"] = std::string(room - line * 5 / 2, ' ');
    folder.append(first);
    const rlimit full{.rlim_cur = room, .rlim_max = before.rlim_max};
    (void)::setrlimit(RLIMIT_FSIZE, &full);
    const auto message = message_of<RunFolderError>([&] {
      (void)supervise(options({cases.begin() + 1, cases.end()}), folder, quiet_);
    });
    (void)::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THAT(message, HasSubstr("samples.jsonl: only "));
    EXPECT_THAT(message, HasSubstr("File too large"));
  }
  auto folder = RunFolder::open_for_resume(where);
  EXPECT_EQ(folder.repair(), "") << "no torn line is left";
  const auto left = folder.remaining();
  EXPECT_EQ(left.size(), 2U);
  EXPECT_EQ(supervise(options(left), folder, quiet_).counts.measured, 4U);
}

TEST_F(SupervisorTest, EndsTheSweepAsInterruptedWhenOnlyAPartOfItWasAsked) {
  const auto cases = sweep({"well", "well"});
  auto folder = create(cases);
  const auto summary = supervise(options({cases[1]}), folder, quiet_);
  EXPECT_EQ(summary.counts.missing, 1U);
  EXPECT_EQ(summary.state, RunState::interrupted);
  EXPECT_EQ(summary.exit_code, ExitCode::success);
}

// --- counting
// -------------------------------------------------------------------------------------

class CountingTest : public SupervisorTest {
 protected:
  /// The records of a sweep of these behaviours, timed and counted.
  std::vector<CaseRecord> count(const std::vector<std::string>& kinds,
                                const std::string& mode = "well", double time_limit = 20) {
    const auto cases = sweep(kinds);
    auto folder = create(cases);
    auto o = counting(cases, mode);
    o.plan.time_limit = time_limit;
    o.first_case_allowance = time_limit / 2;
    summary_ = supervise(o, folder, quiet_);
    context_ = from_json<RunContext>(text(folder.path() / "context.json"));
    lines_ = lines(folder.path() / "samples.jsonl");
    return read_samples(folder.path() / "samples.jsonl", folder.context().sweep.cases);
  }

  static std::string text(const path& file) {
    std::ifstream stream{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }

  static bool has_counts(const CaseRecord& record) {
    return std::ranges::any_of(record.measurements,
                               [](const auto& m) { return m.provenance == Provenance::counted; });
  }

  RunContext context_;
};

TEST_F(CountingTest, CountsWhatWasMeasuredAfterEverythingIsTimed) {
  const auto records = count({"well", "crash", "well"});
  EXPECT_EQ(lines_, 5U);
  EXPECT_TRUE(has_counts(records.at(0)));
  EXPECT_EQ(records.at(1).status, Status::failed);
  EXPECT_TRUE(has_counts(records.at(2)));
  EXPECT_EQ(summary_.counts.counted, 2U);
  EXPECT_EQ(summary_.counts.valid_rows, 4U);
  EXPECT_EQ(context_.counters.state, CountersInfo::State::counted);
  EXPECT_EQ(context_.counters.reason, "");
  EXPECT_GT(context_.counters.counting_seconds, 0);
  EXPECT_GT(context_.counters.timing_seconds, 0);
}

TEST_F(CountingTest, IsNotDoneUnlessAskedFor) {
  const auto records = run({"well"});
  EXPECT_FALSE(has_counts(records.at(0)));
  ASSERT_EQ(records.at(0).gates.size(), 1U);
  EXPECT_EQ(records.at(0).gates[0].detail, "counters were not requested");
  EXPECT_EQ(summary_.counts.uncounted, 1U);
}

TEST_F(CountingTest, LosesNoTimingAndNoOtherCountToACrash) {
  const auto records = count({"well", "counting-crash", "well"});
  EXPECT_TRUE(has_counts(records.at(0)));
  EXPECT_TRUE(has_counts(records.at(2)));
  EXPECT_EQ(records.at(1).status, Status::measured);
  EXPECT_FALSE(has_counts(records.at(1)));
  EXPECT_THAT(records.at(1).gates.at(0).detail,
              HasSubstr("level unverified: counting failed: worker killed by signal 11 (SIGSEGV)"));
  EXPECT_EQ(summary_.counts.measured, 3U);
  EXPECT_EQ(summary_.counts.failed, 0U);
  EXPECT_EQ(summary_.counts.counting_failed, 1U);
  EXPECT_EQ(summary_.exit_code, ExitCode::failed);
  EXPECT_EQ(summary_.state, RunState::complete);
  EXPECT_THAT(summary_.failures,
              testing::ElementsAre(HasSubstr(
                  "kind=counting-crash: counting: worker killed by signal 11 (SIGSEGV)")));
}

TEST_F(CountingTest, LetsCasesThatAreCountedTogetherTakeTurns) {
  const auto records = count({"well", "well", "well"}, "turns");
  EXPECT_TRUE(std::ranges::all_of(records, has_counts));
  EXPECT_EQ(summary_.exit_code, ExitCode::success);
}

TEST_F(CountingTest, BlamesTheOneWhoseTurnItWas) {
  const auto records = count({"well", "counting-crash", "well"}, "turns");
  EXPECT_TRUE(has_counts(records.at(0)));
  EXPECT_FALSE(has_counts(records.at(1)));
  EXPECT_TRUE(has_counts(records.at(2)));
  EXPECT_EQ(summary_.counts.counting_failed, 1U);
}

TEST_F(CountingTest, EndsAHangAtItsTimeLimit) {
  const auto records = count({"well", "counting-hang", "well"}, "well", 1);
  EXPECT_THAT(records.at(1).gates.at(0).detail, HasSubstr("time limit: no result after 1 s"));
  EXPECT_EQ(summary_.counts.counted, 2U);
}

TEST_F(CountingTest, TakesNoTimesForCounts) {
  const auto records = count({"counting-other-phase", "well"});
  EXPECT_EQ(records.at(0).measurements.size(), 1U) << "the timings of the timing phase";
  EXPECT_THAT(records.at(0).gates.at(0).detail, HasSubstr("was timed, which was not requested"));
  EXPECT_TRUE(has_counts(records.at(1)));
}

TEST_F(CountingTest, TakesNoCountsForTimes) {
  const auto records = count({"other-phase"});
  EXPECT_EQ(records.at(0).status, Status::failed);
  EXPECT_THAT(records.at(0).reason, HasSubstr("was counted, which was not requested"));
}

TEST_F(CountingTest, ThatIsRefusedLeavesTheTimingsAndTheExitCodeAndSaysWhy) {
  const auto records = count({"well", "well"}, "refuse-counters");
  EXPECT_EQ(summary_.exit_code, ExitCode::success);
  EXPECT_EQ(summary_.state, RunState::complete);
  EXPECT_EQ(summary_.counts.valid_rows, 2U);
  EXPECT_EQ(summary_.counts.uncounted, 2U);
  EXPECT_THAT(summary_.failures, testing::IsEmpty());
  EXPECT_EQ(context_.counters.state, CountersInfo::State::unavailable);
  EXPECT_EQ(context_.counters.reason, "another profiler holds the counters");
  EXPECT_EQ(context_.counters.mend, "end it");
  EXPECT_EQ(records.at(0).gates.at(0).detail, "not counted yet");
}

TEST_F(CountingTest, ByWorkersThatDieBeforeAnyCaseIsGivenUp) {
  (void)count({"well"}, "die");
  EXPECT_EQ(summary_.exit_code, ExitCode::success);
  EXPECT_EQ(context_.counters.state, CountersInfo::State::unavailable);
  EXPECT_THAT(context_.counters.reason,
              HasSubstr("two workers in a row died before any case: worker exited with status 7"));
  EXPECT_THAT(context_.counters.reason, HasSubstr("cannot load libcuda"));
}

TEST_F(CountingTest, OfADeviceThatRefusesIsGivenUp) {
  (void)count({"well"}, "refuse");
  EXPECT_EQ(summary_.exit_code, ExitCode::success);
  EXPECT_EQ(context_.counters.reason, "no driver; install one");
}

TEST_F(CountingTest, OfAnotherDeviceIsNoCountOfThisRun) {
  const auto cases = sweep({"well"});
  auto folder = create(cases);
  EXPECT_THAT(message_of<DeviceUnavailable>(
                  [&] { (void)supervise(counting(cases, "other-device"), folder, quiet_); }),
              HasSubstr("was started on a-cpu"));
  EXPECT_EQ(folder.context().state, RunState::aborted);
}

TEST_F(CountingTest, ThatIsInterruptedResumesToTheSameSet) {
  const auto cases = sweep({"well", "counting-interrupt", "well"});
  path where;
  {
    auto folder = create(cases);
    where = folder.path();
    const auto summary = supervise(counting(cases), folder, quiet_);
    EXPECT_EQ(summary.exit_code, ExitCode::interrupted);
    EXPECT_EQ(summary.state, RunState::interrupted);
    EXPECT_EQ(summary.counts.counted, 1U);
    EXPECT_EQ(summary.counts.uncounted, 2U);
    EXPECT_EQ(summary.counts.counting_failed, 0U) << "what was interrupted has not failed";
    EXPECT_EQ(folder.context().counters.state, CountersInfo::State::counted);
  }
  auto folder = RunFolder::open_for_resume(where);
  EXPECT_TRUE(folder.remaining().empty());
  EXPECT_EQ(folder.uncounted(), (std::vector{cases[1], cases[2]}));
  const auto again = supervise(counting({}, "patient"), folder, quiet_);
  EXPECT_EQ(again.exit_code, ExitCode::success);
  EXPECT_EQ(again.state, RunState::complete);
  EXPECT_EQ(again.counts.measured, 3U);
  EXPECT_EQ(again.counts.counted, 3U);
  EXPECT_EQ(lines(where / "samples.jsonl"), 6U) << "nothing is timed or counted twice";
}

class TracingTest : public CountingTest {
 protected:
  /// The records of a run whose cases are timed and traced.
  std::vector<CaseRecord> trace(const std::vector<std::string>& kinds,
                                const std::string& mode = "well") {
    const auto cases = sweep(kinds);
    auto folder = create(cases);
    auto o = options(cases);
    o.tracer = ChildCommand{.arguments = {"strata", std::string{worker_word}, "trace-" + mode}};
    summary_ = supervise(o, folder, quiet_);
    lines_ = lines(folder.path() / "samples.jsonl");
    left_ = folder.untraced().size();
    return read_samples(folder.path() / "samples.jsonl", folder.context().sweep.cases);
  }
  static std::vector<double> idle_of(const CaseRecord& record) {
    for (const auto& m : record.measurements) {
      if (m.quantity == "phase_idle") return m.samples;
    }
    return {};
  }
  std::size_t left_ = 0;
};

TEST_F(TracingTest, TellsEachCaseWhatItsStepTook) {
  const auto records = trace({"well", "crash", "well"});
  EXPECT_THAT(idle_of(records.at(0)), testing::ElementsAre(0.5));
  EXPECT_THAT(idle_of(records.at(1)), testing::IsEmpty());
  EXPECT_THAT(idle_of(records.at(2)), testing::ElementsAre(0.5));
  EXPECT_EQ(lines_, 5U);
  EXPECT_EQ(left_, 0U);
}

TEST_F(TracingTest, LosesNoTimingToACrash) {
  const auto records = trace({"well", "tracing-crash"});
  EXPECT_EQ(records.at(1).status, Status::measured);
  EXPECT_THAT(idle_of(records.at(1)), testing::IsEmpty());
  EXPECT_EQ(summary_.exit_code, ExitCode::failed);
  EXPECT_THAT(summary_.failures,
              testing::ElementsAre(HasSubstr("kind=tracing-crash: tracing: worker killed by")));
  EXPECT_EQ(left_, 1U) << "a trace that failed is tried again";
}

TEST_F(TracingTest, ThatIsRefusedLeavesTheTimingsAndTheExitCodeAndIsSaidOfEachCase) {
  const auto records = trace({"well", "well"}, "refuse-counters");
  EXPECT_EQ(summary_.exit_code, ExitCode::success);
  EXPECT_EQ(summary_.state, RunState::complete);
  EXPECT_THAT(idle_of(records.at(0)), testing::IsEmpty());
  EXPECT_EQ(lines_, 4U);
  EXPECT_EQ(left_, 0U);
}

TEST_F(CountingTest, BeginsOnlyWhenTheTimingWasNotInterrupted) {
  const auto records = count({"well", "interrupt", "well"});
  EXPECT_EQ(summary_.exit_code, ExitCode::interrupted);
  EXPECT_EQ(lines_, 1U);
  EXPECT_FALSE(has_counts(records.at(0)));
}

TEST_F(CountingTest, OfAResumedRunTriesFailedCountsAgainAndNothingElse) {
  const auto cases = sweep({"well", "counting-exit"});
  auto folder = create(cases);
  (void)supervise(counting(cases), folder, quiet_);
  const auto again = supervise(counting({}), folder, quiet_);
  EXPECT_EQ(lines(folder.path() / "samples.jsonl"), 5U) << "two times, two counts, one once more";
  EXPECT_EQ(again.counts.counting_failed, 1U);
  EXPECT_EQ(again.exit_code, ExitCode::failed);
}

// --- device queries
// ------------------------------------------------------------------------

ChildCommand probed(const std::string& mode) {
  return {.arguments = {"strata", std::string{worker_word}, "probe-" + mode}};
}

TEST_F(SupervisorTest, ProbesADevice) {
  EXPECT_EQ(probe(probed("well")).identity.slug, "a-cpu");
}

TEST_F(SupervisorTest, SaysWhyADeviceCannotBeProbed) {
  const auto message = [](const std::string& mode, double seconds = 20) {
    return message_of<DeviceUnavailable>([&] { (void)probe(probed(mode), seconds); });
  };
  EXPECT_EQ(message("refuse"), "no driver; install one");
  EXPECT_THAT(message("die"),
              HasSubstr("worker exited with status 7; last output: cannot load libcuda"));
  EXPECT_THAT(message("mute", 0.3), HasSubstr("no answer within 0.3 s"));
  EXPECT_THAT(message("garbage"), HasSubstr("malformed worker output"));
}

// --- the child process
// ----------------------------------------------------------------------------

TEST(Subprocess, GivesTheChildItsInputAndItsOwnGroup) {
  Subprocess child{
      {"/bin/sh", {"sh", "-c", "cat >&3; ps -o pgid= -p $$ >/dev/null 2>&1; kill -TERM 0"}},
      std::string(200000, 'x') + "\n"};
  LineReader reader;
  std::size_t bytes_read = 0;
  for (bool closed = false; !closed;) {
    const auto batch = reader.read(child.channel());
    for (const auto& line : batch.lines)
      bytes_read += line.text.size();
    closed = batch.closed;
    if (!closed) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  EXPECT_EQ(bytes_read, 200000U) << "more than a pipe holds";
  const auto how = child.wait(std::chrono::seconds{10});
  ASSERT_TRUE(how);
  EXPECT_EQ(*how, "worker killed by signal 15 (SIGTERM)") << "its group's, not ours";
}

TEST(Subprocess, ReplacesAVariableThatWeHave) {
  (void)::setenv("STRATA_TEST_FOLDER", "/inherited", 1);
  Subprocess child{
      {"/bin/sh",
       {"sh", "-c", "tr '\\0' '\\n' < /proc/$$/environ | grep STRATA_TEST_FOLDER= >&3"},
       {"STRATA_TEST_FOLDER=/private"}},
      ""};
  (void)::unsetenv("STRATA_TEST_FOLDER");
  (void)child.wait(std::chrono::seconds{10});
  LineReader reader;
  const auto batch = reader.read(child.channel());
  ASSERT_EQ(batch.lines.size(), 1U) << "one variable of a name";
  EXPECT_EQ(batch.lines[0].text, "STRATA_TEST_FOLDER=/private");
}

TEST(Subprocess, NamesAnExecutableThatCannotBeStarted) {
  EXPECT_THAT(message_of<std::system_error>([] {
                const Subprocess child{{"/nowhere/strata", {"strata"}}, ""};
              }),
              HasSubstr("starting /nowhere/strata"));
}

TEST(Subprocess, GivesDescriptorsToTheChildWhateverOursAre) {
  // Without stdin a descriptor of ours takes its number, which then is in the way of the child's.
  const int kept = ::dup(STDIN_FILENO);
  (void)::close(STDIN_FILENO);
  Subprocess child{{"/bin/sh", {"sh", "-c", "cat >&3"}}, "order\n"};
  if (kept >= 0) {
    (void)::dup2(kept, STDIN_FILENO);
    (void)::close(kept);
  }
  (void)child.wait(std::chrono::seconds{10});
  LineReader reader;
  const auto batch = reader.read(child.channel());
  ASSERT_EQ(batch.lines.size(), 1U);
  EXPECT_EQ(batch.lines[0].text, "order");
}

TEST(Subprocess, LeavesNoChildWhenItIsDestroyed) {
  pid_t pid = 0;
  {
    const Subprocess child{{"/bin/sh", {"sh", "-c", "sleep 1000"}}, ""};
    pid = child.pid();
  }
  // The shell's own child is dead, but its number lives until a process waits for it.
  const auto gone = [&] { return ::kill(-pid, 0) == -1 && errno == ESRCH; };
  for (int i = 0; i < 5000 && !gone(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  EXPECT_TRUE(gone());
}

// --- lines
// ----------------------------------------------------------------------------------------

class LineReaderTest : public testing::Test {
 protected:
  LineReaderTest() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error{"no pipe"};
    read_ = UniqueFd{ends[0]};
    write_ = UniqueFd{ends[1]};
  }
  void write(std::string_view text) { write_text(text, write_.get()); }
  std::vector<std::string> lines() {
    std::vector<std::string> result;
    for (auto& line : reader_.read(read_.get()).lines) {
      result.push_back(line.too_long ? "too long: " + line.text : line.text);
    }
    return result;
  }

  UniqueFd read_;
  UniqueFd write_;
  LineReader reader_{5};
};

TEST_F(LineReaderTest, GivesWholeLinesHoweverTheyArrive) {
  write("on");
  EXPECT_THAT(lines(), testing::IsEmpty());
  write("e\ntwo\n\nth");
  EXPECT_THAT(lines(), testing::ElementsAre("one", "two", ""));
  write("ree\n");
  EXPECT_THAT(lines(), testing::ElementsAre("three"));
}

TEST_F(LineReaderTest, SaysThatALineIsTooLongBeforeItEndsAndGoesOnAfterIt) {
  write("12345\n123456");
  EXPECT_THAT(lines(), testing::ElementsAre("12345", "too long: 12345"));
  write("789");
  EXPECT_THAT(lines(), testing::IsEmpty());
  write("0\nnext\n");
  EXPECT_THAT(lines(), testing::ElementsAre("next"));
}

TEST_F(LineReaderTest, DropsALineThatItsWriterDidNotEnd) {
  write("one\ntor");
  write_.reset();
  const auto batch = reader_.read(read_.get());
  EXPECT_EQ(batch.lines.size(), 1U);
  EXPECT_TRUE(batch.closed);
}

// --- the device's lock
// ----------------------------------------------------------------------------

class DeviceLockTest : public SupervisorTest {
 protected:
  const DeviceIdentity cpu_{"a-cpu", "A CPU", "", {}};
  const DeviceIdentity gpu_{"a-gpu", "A GPU", "GPU-12/34", {}};
};

TEST_F(DeviceLockTest, LetsOneRunAtATimeMeasureADeviceAndNamesIt) {
  {
    const auto first = DeviceLock::acquire(cpu_, folder_);
    const auto message =
        message_of<DeviceUnavailable>([&] { (void)DeviceLock::acquire(cpu_, folder_); });
    EXPECT_THAT(message,
                HasSubstr("being measured by process " + std::to_string(::getpid()) + ";"));
    const auto other = DeviceLock::acquire(gpu_, folder_);
    EXPECT_EQ(other.path(), folder_ / "strata-GPU-12-34.lock") << "no path out of the folder";
  }
  EXPECT_NO_THROW((void)DeviceLock::acquire(cpu_, folder_));
}

TEST_F(DeviceLockTest, IsNotMisledByAStaleFile) {
  std::ofstream{folder_ / "strata-a-cpu.lock"} << "99999999999999999999 rubbish";
  EXPECT_NO_THROW((void)DeviceLock::acquire(cpu_, folder_));
}

TEST_F(DeviceLockTest, IsFreeWhenItsHolderWasKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = DeviceLock::acquire(cpu_, folder_);
    (void)::raise(SIGKILL);
  }
  int status = 0;
  (void)::waitpid(child, &status, 0);
  EXPECT_NO_THROW((void)DeviceLock::acquire(cpu_, folder_));
}

TEST_F(DeviceLockTest, CanBeSharedWithOtherUsers) {
  const auto mask = ::umask(077);
  const auto lock = DeviceLock::acquire(cpu_, folder_);
  (void)::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat(lock.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0666U);
}

TEST_F(DeviceLockTest, FollowsNoLinkAndTakesNoFolderForAFile) {
  std::filesystem::create_symlink(folder_ / "victim", folder_ / "strata-a-cpu.lock");
  EXPECT_THAT(message_of<DeviceUnavailable>([&] { (void)DeviceLock::acquire(cpu_, folder_); }),
              HasSubstr("remove that file, or set TMPDIR"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "victim"));
  std::ofstream{folder_ / "victim"} << "precious";
  EXPECT_THROW((void)DeviceLock::acquire(cpu_, folder_), DeviceUnavailable);
  std::ifstream victim{folder_ / "victim"};
  std::string kept;
  EXPECT_EQ((victim >> kept, kept), "precious") << "the process number is written to no other file";
  std::filesystem::create_directory(folder_ / "strata-GPU-12-34.lock");
  EXPECT_THAT(message_of<DeviceUnavailable>([&] { (void)DeviceLock::acquire(gpu_, folder_); }),
              HasSubstr("unknown whether another run measures"));
}

TEST_F(DeviceLockTest, WorksOnAFileThatMayOnlyBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to root";
  std::ofstream{folder_ / "strata-a-cpu.lock"} << "";
  (void)::chmod((folder_ / "strata-a-cpu.lock").c_str(), 0444);
  const auto lock = DeviceLock::acquire(cpu_, folder_);
  EXPECT_THAT(message_of<DeviceUnavailable>([&] { (void)DeviceLock::acquire(cpu_, folder_); }),
              HasSubstr("being measured by another process"));
}

}  // namespace

/// What main() does when this executable is started as a worker.
int pretend_to_be_a_worker(const std::string& mode) {
  return work(mode);
}

}  // namespace strata

// The linker takes this main() instead of the one of gtest_main: the supervisor starts
// /proc/self/exe, which here is the tests.
int main(int argc, char** argv) {
  const std::vector<std::string> arguments{argv, argv + argc};
  if (arguments.size() == 3 && arguments[1] == strata::worker_word) {
    return strata::pretend_to_be_a_worker(arguments[2]);
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
