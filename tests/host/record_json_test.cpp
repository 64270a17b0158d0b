#include "harness/record/record_json.hpp"

#include "example_records.hpp"
#include "harness/record/run_folder.hpp"
#include "harness/run/worker_channel.hpp"
#include "message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata {
namespace {

using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

CaseRecord measured() {
  CaseRecord record;
  record.which = {"micro", "layout_read", Backend::cuda, {{"layout", "soa"}, {"cores", "all"}}};
  record.status = Status::measured;
  record.started = "2026-11-21T01:02:03Z";
  record.seconds = 0.081;
  record.facts = {
      {"whole", std::int64_t{1024}}, {"real", 3.0}, {"flag", true}, {"text", "a \"b\"\n"}};
  record.gates = {{"result", Verdict::passed, "all equal"},
                  {"level", Verdict::unverified, "no counters"}};
  record.measurements.push_back({"cycles",
                                 "cycle",
                                 Provenance::timed,
                                 "slope",
                                 {61, 61.1, 1e-300, 0.1},
                                 {"noise", Verdict::passed, "0.1 %"}});
  record.measurements.push_back(counted_row(4096));
  return record;
}

/// The reader's message for the line of `measured` after one replacement in it.
std::string diagnostic(const std::string& what, const std::string& with) {
  std::string line = to_json(measured());
  const auto place = line.find(what);
  EXPECT_NE(place, std::string::npos) << what << " is not in " << line;
  line.replace(place, what.size(), with);
  return message_of<FormatError>([&] { return from_json<CaseRecord>(line); });
}

TEST(RecordJson, IsOneLineThatReadsBackAsTheSameRecord) {
  const auto record = measured();
  const std::string line = to_json(record);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto back = from_json<CaseRecord>(line);
  EXPECT_EQ(back.which, record.which);
  EXPECT_EQ(back.status, record.status);
  EXPECT_EQ(back.facts, record.facts) << "a fact keeps its type";
  EXPECT_EQ(back.measurements[0].samples, record.measurements[0].samples) << "to the last bit";
  EXPECT_EQ(to_json(back), line);
}

TEST(RecordJson, HasTheKeysOfTheContract) {
  EXPECT_THAT(
      to_json(measured()),
      testing::StartsWith(
          R"({"schema_version":3,"kind":"case","case":"micro/layout_read/cuda/cores=all/layout=soa",)"
          R"("suite":"micro","benchmark":"layout_read","backend":"cuda",)"
          R"("params":{"cores":"all","layout":"soa"},"status":"measured","reason":"",)"
          R"("started":"2026-11-21T01:02:03Z","seconds":0.081,"facts":{)"));
}

CaseRecord counted() {
  auto record = measured();
  record.phase = Phase::counting;
  record.measurements.erase(record.measurements.begin());
  return record;
}

TEST(RecordJson, TellsCountsFromTimesByTheirKindAlone) {
  const std::string line = to_json(counted());
  EXPECT_THAT(line, testing::StartsWith(R"({"schema_version":3,"kind":"counts","case":)"));
  EXPECT_EQ(from_json<CaseRecord>(line).phase, Phase::counting);
  EXPECT_EQ(to_json(from_json<CaseRecord>(line)), line);
  auto as_timed = counted();
  as_timed.phase = Phase::timing;
  std::string timed_line = to_json(as_timed);
  EXPECT_EQ(from_json<CaseRecord>(timed_line).phase, Phase::timing);
  timed_line.replace(timed_line.find("case"), 4, "counts");
  EXPECT_EQ(timed_line, line);
}

TEST(RecordJson, ReadsALineOfVersion1AsTimed) {
  std::string line = to_json(measured());
  line.replace(line.find("\"schema_version\":3"), 18, "\"schema_version\":1");
  EXPECT_EQ(from_json<CaseRecord>(line).phase, Phase::timing);
  EXPECT_EQ(to_json(from_json<CaseRecord>(line)), to_json(measured()));
}

TEST(RecordJson, RefusesToWriteWhatTheFormatCannotHold) {
  auto record = measured();
  record.measurements[0].samples[2] = nan;
  EXPECT_EQ(message_of<FormatError>([&] { (void)to_json(record); }),
            "sample 3 of cycles is nan, not a finite number");
  record = measured();
  record.facts["speed"] = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message_of<FormatError>([&] { (void)to_json(record); }),
              HasSubstr("fact speed is inf"));
  record = measured();
  record.measurements[0].method = "20_flop";
  EXPECT_THAT(message_of<FormatError>([&] { (void)to_json(record); }),
              HasSubstr("'20_flop' names"));
  record = measured();
  record.measurements[1].samples.clear();
  EXPECT_EQ(message_of<FormatError>([&] { (void)to_json(record); }), "sectors has no samples");
  record = measured();
  record.measurements.push_back(record.measurements[0]);
  EXPECT_EQ(message_of<FormatError>([&] { (void)to_json(record); }),
            "cycles by slope appears twice in one case");
  record = measured();
  record.status = Status::failed;
  record.reason = "crash";
  EXPECT_EQ(message_of<FormatError>([&] { (void)to_json(record); }),
            "measurements of a case that was failed");
  record.measurements.clear();
  record.reason.clear();
  EXPECT_EQ(message_of<FormatError>([&] { (void)to_json(record); }),
            "a case that was failed without a reason");
}

TEST(RecordJson, RefusesTimesAmongCountsInBothDirections) {
  auto record = measured();
  record.phase = Phase::counting;
  EXPECT_EQ(message_of<FormatError>([&] { (void)to_json(record); }),
            "cycles is timed, among counts");
  EXPECT_EQ(diagnostic("\"kind\":\"case\"", "\"kind\":\"counts\""),
            "cycles is timed, among counts");
}

TEST(RecordJson, TakesTimesAndCountsOfATrace) {
  auto record = measured();
  record.phase = Phase::tracing;
  const std::string line = to_json(record);
  EXPECT_THAT(line, testing::StartsWith(R"({"schema_version":3,"kind":"trace","case":)"));
  EXPECT_EQ(from_json<CaseRecord>(line).phase, Phase::tracing);
  EXPECT_EQ(to_json(from_json<CaseRecord>(line)), line);
  record.measurements[0].provenance = Provenance::reported;
  EXPECT_EQ(message_of<FormatError>([&] { (void)to_json(record); }),
            "cycles is reported, among what was traced");
}

TEST(RecordJson, ReadsACaseThatWasNotMeasuredWithoutWhatItDoesNotHave) {
  const auto record = from_json<CaseRecord>(
      R"({"schema_version":1,"kind":"case","case":"micro/x/host","suite":"micro","benchmark":"x",)"
      R"("backend":"host","params":{},"status":"skipped","reason":"no AVX","started":"2026","seconds":0,)"
      R"("a key of tomorrow":[1]})");
  EXPECT_EQ(record.status, Status::skipped);
  EXPECT_EQ(record.reason, "no AVX");
}

TEST(RecordJson, NeverLosesARecordToBytesThatAreNotText) {
  CaseRecord record;
  record.which = {"micro", "x", Backend::host, {}};
  record.reason = "it printed \xff\xfe";
  EXPECT_THAT(from_json<CaseRecord>(to_json(record)).reason, HasSubstr("it printed \xEF\xBF\xBD"));
}

TEST(RecordJson, NamesWhatIsWrong) {
  struct Row {
    const char* what;
    const char* with;
    const char* diagnostic;
  };
  for (const auto& [what, with, expected] : std::vector<Row>{
           {R"("schema_version":3)", R"("schema_version":4)",
            "schema version 4: this build reads versions 1 to 3"},
           {R"("schema_version":3)", R"("schema_version":0)",
            "schema version 0: this build reads versions 1 to 3"},
           {R"("schema_version":3)", R"("schema_version":"3")",
            "schema_version: expected an integer"},
           {R"("schema_version":3,)", "", "'schema_version' is missing"},
           {R"("kind":"case")", R"("kind":"note")", "kind: expected case, counts or trace"},
           {R"("schema_version":3,"kind":"case")", R"("schema_version":1,"kind":"counts")",
            "kind: expected case, found"},
           {R"("schema_version":3,"kind":"case")", R"("schema_version":2,"kind":"trace")",
            "kind: expected case or counts, found"},
           {"cores=all", "cores=one", "case: expected micro/layout_read/cuda/cores=all"},
           {R"("cores":"all")", R"("cores":7)", "params.cores: expected a string, found 7"},
           {R"("cores":"all")", R"("cores":"a/b")", "'a/b' is not allowed in a case id"},
           {R"("status":"measured")", R"("status":"done")",
            "status: expected measured, skipped or failed"},
           {"0.081", "null", "seconds: expected a number, found null"},
           {"0.081", "1e999", "not JSON"},
           {"0.081", "NaN", "not JSON"},
           {"61.1", "\"61.1\"", "measurements[0].samples: expected numbers, found \"61.1\""},
           {"[4096.0]", "[]", "sectors has no samples"},
           {"\"real\":3.0", "\"real\":[3]",
            "facts.real: expected true, false, a number or a string"},
           {"\"whole\":1024", "\"whole\":18446744073709551615", "facts.whole"},
           {"\"unverified\"", "\"maybe\"", "gates[1].verdict: expected passed"},
           {"\"counted\"", "\"guessed\"", "measurements[1].provenance"},
       })
    EXPECT_THAT(diagnostic(what, with), HasSubstr(expected));
}

TEST(RecordJson, RefusesTextThatIsNoObjectWithoutEverCrashing) {
  std::vector<std::string> texts{"null", "[]", "7", "\"\xff\"", "{}{}", std::string(200000, '[')};
  const std::string line = to_json(measured());
  for (std::size_t length = 0; length < line.size(); ++length) {
    texts.push_back(line.substr(0, length));
  }
  for (const auto& text : texts) {
    EXPECT_NE(message_of<FormatError>([&] { (void)from_json<CaseRecord>(text); }), "accepted")
        << text;
  }
}

TEST(FactsJson, KeepsTheTypeOfEachFact) {
  const Facts facts{{"a", std::numeric_limits<std::int64_t>::min()},
                    {"b", -0.5},
                    {"c", 1e22},
                    {"d", false},
                    {"e", ""}};
  EXPECT_EQ(from_json<Facts>(to_json(facts)), facts);
  EXPECT_THROW((void)to_json(Facts{{"x", nan}}), FormatError);
  EXPECT_THROW((void)from_json<Facts>(R"({"x":{"y":1}})"), FormatError);
}

TEST(PlanJson, ReadsBackAndKeepsDefaultsForAbsentKeys) {
  const Plan given{.warmups = 3,
                   .min_samples = 9,
                   .max_samples = 11,
                   .relative_half_width = 0.125,
                   .seconds_per_case = 0.5,
                   .time_limit = 7,
                   .visits = 2};
  EXPECT_EQ(from_json<Plan>(to_json(given)), given);
  EXPECT_EQ(from_json<Plan>("{}"), Plan{});
  EXPECT_THROW((void)from_json<Plan>(R"({"warmups":1.5})"), FormatError);
  EXPECT_THROW((void)from_json<Plan>(R"({"warmups":3000000000})"), FormatError);
}

TEST(CaseFromId, IsTheInverseOfTheId) {
  const Case which{"micro", "layout_read", Backend::cuda, {{"b", "2"}, {"a", "x.y+z"}}};
  EXPECT_EQ(Case::from_id(which.id()), which);
  EXPECT_EQ(from_json<Case>(to_json(which)), which);
  EXPECT_EQ(Case::from_id("micro/x/host"), (Case{"micro", "x", Backend::host, {}}));
}

TEST(CaseFromId, RefusesWhatNoCaseIsCalled) {
  for (const char* id :
       {"", "/", "micro", "micro/x", "micro/x/tpu", "micro/x/host/", "micro/x/host/a",
        "micro/x/host/a=", "micro/x/host/=1", "micro/x/host/b=1/a=2", "micro/x/host/a=1/a=2",
        "micro/x/host/a=1=2", "/x/host", "micro/x y/host"}) {
    EXPECT_FALSE(Case::from_id(id)) << id;
  }
}

RunContext context() {
  RunContext c;
  c.run = "cpu-20261121T010203Z-0123456";
  c.strata = {"0.1",     "0123456789abcdef0123456789abcdef01234567",
              true,      "sha256:1",
              "Release", "GNU 12",
              "nvcc 13", "-O3",
              "90"};
  c.started = "2026-11-21T01:02:03Z";
  c.command = {"strata", "run", "quick"};
  c.device = {"cpu", "A CPU", "", {{"cores", std::int64_t{2}}, {"hertz", 2.5e9}}};
  c.host = {.cpu = "A CPU",
            .cores = 2,
            .os = "Debian",
            .kernel = "6.1",
            .memory_bytes = 1LL << 34,
            .caches = {{1, "data", 32768, 64, 2}},
            .more = {{"governor", "performance"}}};
  c.libraries = {{"benchmark", "1.7.1"}};
  c.sweep = {
      .name = "quick", .file = "quick.yaml", .text = "schema: 1\n", .cases = {"micro/x/host/a=1"}};
  c.counters = {.requested = {"memory", "my.yaml"},
                .state = CountersInfo::State::unavailable,
                .reason = "another profiler holds the counters",
                .mend = "dcgmi profile --pause",
                .plan = {.chip = "GH100",
                         .sets = {"memory"},
                         .quantities = {{.name = "l1_load_sectors",
                                         .metric = "l1tex__t_sectors.sum",
                                         .unit = "sector",
                                         .meaning = "sectors that loads asked of L1",
                                         .set = "memory"}},
                         .absent = {"memory.dram: this chip has none"},
                         .passes = 2},
                .counting_seconds = 9.5,
                .timing_seconds = 26};
  c.clocks_before = {{"hertz", 1e9}};
  c.timer = {{"tsc_hertz", 3e9}};
  return c;
}

TEST(ContextJson, ReadsBackAsTheSameContext) {
  auto c = context();
  c.state = RunState::interrupted;
  c.finished = "2026-11-21T01:02:04Z";
  c.resumed = {"2026-11-22T01:02:04Z"};
  c.clocks_after = {{"hertz", 2e9}};
  c.declarations = R"({"benchmarks":{"latency":{}},"rungs":[]})";
  const auto back = from_json<RunContext>(to_json(c));
  EXPECT_EQ(to_json(back), to_json(c));
  EXPECT_EQ(back.state, RunState::interrupted);
  EXPECT_EQ(back.device.facts, c.device.facts);
  EXPECT_EQ(back.host.caches.at(0).shared_by, 2);
  EXPECT_EQ(back.host.more, c.host.more);
  EXPECT_EQ(back.sweep.cases, c.sweep.cases);
  EXPECT_EQ(back.declarations, c.declarations);
}

TEST(ContextJson, KeepsTheDigestOfASweepOfAnOlderBuild) {
  auto c = context();
  c.sweep.text.clear();
  c.sweep.digest = "sha256:2";
  const std::string text = to_json(c);
  EXPECT_THAT(text, HasSubstr(R"("digest": "sha256:2")"));
  EXPECT_EQ(to_json(from_json<RunContext>(text)), text);
}

TEST(ContextJson, SaysWhatCameOfTheCounters) {
  const auto text = to_json(context());
  std::string squeezed;
  std::ranges::copy_if(text, std::back_inserter(squeezed),
                       [](char c) { return c != '\n' && c != ' '; });
  EXPECT_THAT(
      squeezed,
      HasSubstr(R"("counters":{"asked":["memory","my.yaml"],"state":"unavailable",)"
                R"("reason":"anotherprofilerholdsthecounters","mend":"dcgmiprofile--pause",)"
                R"("chip":"GH100","sets":["memory"],"passes":2,)"
                R"("quantities":[{"name":"l1_load_sectors","metric":"l1tex__t_sectors.sum",)"
                R"("unit":"sector","meaning":"sectorsthatloadsaskedofL1","set":"memory"}],)"
                R"("absent":["memory.dram:thischiphasnone"],)"
                R"("counting_seconds":9.5,"timing_seconds":26.0})"));
  EXPECT_EQ(from_json<RunContext>(text).counters.plan.quantities.at(0).metric,
            "l1tex__t_sectors.sum");
  for (const auto state : {CountersInfo::State::counted, CountersInfo::State::not_asked,
                           CountersInfo::State::unavailable, CountersInfo::State::external}) {
    auto c = context();
    c.counters.state = state;
    EXPECT_EQ(from_json<RunContext>(to_json(c)).counters.state, state);
  }
}

TEST(ContextJson, SaysNullForWhatIsNotThere) {
  auto c = context();
  c.strata.commit.clear();
  c.strata.cuda_compiler.clear();
  const std::string text = to_json(c);
  EXPECT_THAT(text, HasSubstr(R"("finished": null)"));
  EXPECT_THAT(text, HasSubstr(R"("uuid": null)"));
  EXPECT_THAT(text, HasSubstr(R"("cuda_compiler": null)"));
  EXPECT_THAT(text, HasSubstr(R"("commit": "unknown")"));
  EXPECT_TRUE(from_json<RunContext>(text).strata.commit.empty());
}

TEST(ContextJson, RefusesFactsThatWouldHideTheIdentity) {
  auto c = context();
  c.device.facts["uuid"] = "GPU-1";
  EXPECT_EQ(message_of<FormatError>([&] { (void)to_json(c); }),
            "a device fact may not be called uuid");
}

TEST(ContextJson, RefusesAnotherVersionByItsNumber) {
  std::string text = to_json(context());
  for (const char* version : {"9", "1"}) {
    text.replace(text.find("\"schema_version\": ") + 18, 1, version);
    EXPECT_THAT(message_of<FormatError>([&] { (void)from_json<RunContext>(text); }),
                HasSubstr("schema version " + std::string{version} +
                          ": this build resumes runs of version 3 only"));
  }
}

/// The message as the other process reads it.
template <class Message>
Message received(const Message& message) {
  return std::get<Message>(from_json<WorkerMessage>(to_json(WorkerMessage{message})));
}

TEST(WorkerMessages, ReadBackAsWhatWasSaid) {
  const auto c = context();
  const auto device = received(
      DeviceMessage{Backend::cuda, c.device, c.clocks_before, c.timer, c.host, c.counters});
  EXPECT_EQ(device.counters.plan.chip, "GH100");
  EXPECT_EQ(device.counters.plan.quantities.at(0).name, "l1_load_sectors");
  EXPECT_EQ(device.identity.facts, c.device.facts);
  EXPECT_EQ(device.conditions, c.clocks_before);
  EXPECT_EQ(device.host.cpu, c.host.cpu);
  EXPECT_EQ(received(RefusedMessage{"no driver"}).reason, "no driver");
  EXPECT_EQ(received(BeginMessage{"a/b/c"}).id, "a/b/c");
  const auto message = received(CaseMessage{measured(), true});
  EXPECT_TRUE(message.fatal);
  EXPECT_EQ(to_json(message.record), to_json(measured()));
  EXPECT_EQ(received(EndMessage{{{"x", true}}}).conditions, (Facts{{"x", true}}));
  const auto refused = received(RefusedMessage{"no permission", "ask an administrator", true});
  EXPECT_EQ(refused.reason, "no permission");
  EXPECT_EQ(refused.mend, "ask an administrator");
  EXPECT_TRUE(refused.bad_selection);
  const WorkerJob job{
      {.warmups = 5}, {measured().which}, "not counted yet", {{"a/b", {0.25, 0.5}}}};
  EXPECT_EQ(from_json<WorkerJob>(to_json(job)).plan, job.plan);
  EXPECT_EQ(from_json<WorkerJob>(to_json(job)).note, "not counted yet");
  EXPECT_EQ(from_json<WorkerJob>(to_json(job)).cases, job.cases);
  EXPECT_EQ(from_json<WorkerJob>(to_json(job)).steps, job.steps);
}

TEST(WorkerMessages, SayWhyThereAreNoCounters) {
  DeviceMessage message;
  EXPECT_EQ(received(message).counters.state, CountersInfo::State::not_asked);
  message.counters = {
      .state = CountersInfo::State::unavailable, .reason = "MIG", .mend = "turn it off"};
  const CountersInfo counters = received(message).counters;
  EXPECT_EQ(counters.state, CountersInfo::State::unavailable);
  EXPECT_TRUE(counters.plan.chip.empty());
  EXPECT_EQ(counters.reason, "MIG");
  EXPECT_EQ(counters.mend, "turn it off");
}

TEST(WorkerMessages, RefuseUnknownKindsAndBrokenRecords) {
  EXPECT_THROW((void)from_json<WorkerMessage>(R"({"kind":"hello"})"), FormatError);
  EXPECT_THROW((void)from_json<WorkerMessage>(R"({"kind":7})"), FormatError);
  EXPECT_THROW((void)from_json<WorkerMessage>(R"({"kind":"case","fatal":false,"record":{}})"),
               FormatError);
  EXPECT_THROW((void)from_json<WorkerMessage>("Segmentation fault"), FormatError);
}

TEST(WorkerMessages, TurnARecordThatCannotBeWrittenIntoAFailedOne) {
  auto record = measured();
  record.measurements[0].samples[1] = nan;
  const auto message = received(CaseMessage{record});
  EXPECT_EQ(message.record.which, record.which);
  EXPECT_EQ(message.record.status, Status::failed);
  EXPECT_EQ(message.record.reason,
            "cannot be recorded: sample 2 of cycles is nan, not a finite number");
  EXPECT_EQ(message.record.phase, Phase::timing);
  auto counts = counted();
  counts.measurements[0].samples[0] = nan;
  const auto counts_said = received(CaseMessage{counts});
  EXPECT_EQ(counts_said.record.phase, Phase::counting) << "or the timings would be lost with it";
  EXPECT_EQ(counts_said.record.status, Status::failed);
}

}  // namespace
}  // namespace strata
