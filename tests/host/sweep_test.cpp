#include "harness/case/sweep.hpp"

#include "harness/base/text.hpp"
#include "harness/base/yaml_tree.hpp"
#include "harness/case/builtin_files.hpp"
#include "harness/case/choices.hpp"
#include "message_of.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace std::string_literals;
using strata::Backend;
using strata::Benchmark;
using strata::Case;
using strata::Enrolled;
using strata::listed_axis;
using strata::number_axis;
using strata::Params;
using strata::Sweep;
using strata::UsageError;

// ---------------------------------------------------------------------- benchmarks to sweep over

void nothing(strata::Session& /*session*/) {}

std::optional<std::string> excludes(const Params& params, Backend backend) {
  const int warps = std::stoi(params.at("warps_per_sm"));
  const int block = std::stoi(params.at("block_size"));
  if (warps * 32 % block != 0) return "no whole number of blocks";
  if (backend == Backend::host) {
    return block == 32 ? std::nullopt : std::optional{"no blocks on a CPU"s};
  }
  if (params.at("residency") == "l3") return "no third level";
  const int blocks = warps * 32 / block;
  if (blocks > 32) return "too many blocks";
  if (params.at("cores") == "one" && blocks != 1) return "one block only";
  return std::nullopt;
}

// What the sweeps of this project are written for, without linking the benchmarks themselves.
Benchmark layout_read() {
  return {.suite = "micro",
          .name = "layout_read",
          .question = "?",
          .axes = {listed_axis("layout", "", {"aos", "soa", "aoas", "soaoas", "aosoa32"}),
                   listed_axis("residency", "", {"l1", "l2", "l3", "dram"}),
                   listed_axis("cores", "", {"one", "all"}, {"all"}),
                   listed_axis("fields", "", {"all", "posmass"}),
                   number_axis("block_size", "", 32, 1024, {"32", "128", "256", "1024"}),
                   number_axis("warps_per_sm", "", 1, 64,
                               {"1", "2", "4", "8", "16", "32", "48", "64"})},
          .quantities = {},
          .excludes = excludes};
}

Benchmark timer_check() {
  return {.suite = "micro",
          .name = "timer_check",
          .question = "?",
          .axes = {listed_axis("target", "", {"l1"})},
          .quantities = {},
          .excludes = {}};
}

Benchmark bare(const char* name) {
  return {.suite = "micro",
          .name = name,
          .question = "?",
          .axes = {},
          .quantities = {},
          .excludes = {}};
}

/// A benchmark with axes so long that their product overflows anything.
Benchmark vast() {
  auto benchmark = bare("vast");
  for (const auto* const name : {"a", "b", "c", "d", "e", "f", "g", "h"})
    benchmark.axes.push_back(number_axis(name, "", 0, 1'000'000'000, {"0"}));
  return benchmark;
}

const std::vector<Enrolled>& known() {
  static const std::vector<Enrolled> all{{layout_read(), nothing, nothing},
                                         {timer_check(), nothing, nothing},
                                         {bare("bare"), nothing, nothing},
                                         {bare("cuda_only"), nothing, nullptr},
                                         {vast(), nothing, nothing}};
  return all;
}

/// The benchmarks of this executable, as a build with CUDA has them.
const std::vector<Enrolled>& shipped() {
  static const std::vector<Enrolled> all = [] {
    auto some = strata::benchmarks();
    for (auto& one : some)
      one.cuda = nothing;
    return some;
  }();
  return all;
}

Sweep parse(std::string_view text) {
  return strata::parse_sweep(text, "s.yaml", known());
}

/// The message that refuses `text`, or "accepted".
std::string refusal(std::string_view text) {
  return strata::message_of([&] { return parse(text); });
}

std::vector<std::string> ids(const std::vector<Case>& cases) {
  std::vector<std::string> all;
  all.reserve(cases.size());
  for (const auto& one : cases)
    all.push_back(one.id());
  return all;
}

std::vector<std::string> ids(const Sweep& sweep, Backend backend) {
  return ids(strata::expand(sweep, backend, known()));
}

/// A sweep of layout_read at one point, but for `axes`.
std::string with_axes(const std::string& axes) {
  return "schema: 1\nname: s\ncases:\n  - benchmark: layout_read\n    axes:\n      " + axes + "\n";
}
std::string with_plan(const std::string& plan) {
  return "schema: 1\nname: s\nplan: {" + plan + "}\ncases: [{benchmark: bare}]\n";
}
std::string with_entry(const std::string& entry) {
  return "schema: 1\nname: s\ncases:\n  - " + entry + "\n";
}
const std::string smallest = "schema: 1\nname: s\ncases: [{benchmark: bare}]\n";

// --------------------------------------------------------------------------------- what is read

TEST(SweepParser, ReadsTheExampleOfTheFormat) {
  const auto sweep = parse(R"(# a comment
schema: 1
name: quick
plan: {warmups: 2, min_samples: 8, max_samples: 15, relative_half_width: 0.02, seconds_per_case: 0.5, time_limit: 90}
cases:
  - benchmark: layout_read
    axes:
      layout: [soa, "aos"]
      warps_per_sm: [8, 1]
  - benchmark: timer_check
)");
  EXPECT_EQ(sweep.name, "quick");
  EXPECT_EQ(sweep.file, "s.yaml");
  EXPECT_EQ(sweep.plan, (strata::Plan{.warmups = 2,
                                      .min_samples = 8,
                                      .max_samples = 15,
                                      .relative_half_width = 0.02,
                                      .seconds_per_case = 0.5,
                                      .time_limit = 90}));
  ASSERT_EQ(sweep.entries.size(), 2U);
  EXPECT_EQ(sweep.entries[0].benchmark, "layout_read");
  ASSERT_EQ(sweep.entries[0].axes.size(), 2U);
  EXPECT_EQ(sweep.entries[0].axes[0].first, "layout");
  EXPECT_EQ(sweep.entries[0].axes[0].second, (std::vector<std::string>{"soa", "aos"}));
  EXPECT_EQ(sweep.entries[0].axes[1].second, (std::vector<std::string>{"8", "1"}));
  EXPECT_TRUE(sweep.entries[1].axes.empty());
}

TEST(SweepParser, ReadsARangeOfWholeNumbersByOctaves) {
  const auto values = [](const std::string& axes) {
    return parse(with_axes(axes)).entries.front().axes.front().second;
  };
  EXPECT_EQ(values("warps_per_sm: {from: 1, to: 64, per_octave: 1}"),
            (std::vector<std::string>{"1", "2", "4", "8", "16", "32", "64"}));
  EXPECT_EQ(values("block_size: {from: 32, to: 160, per_octave: 2, multiple_of: 32}"),
            (std::vector<std::string>{"32", "64", "96", "128"}));
  EXPECT_EQ(values("warps_per_sm: {per_octave: 64, from: 3, to: 5}"),
            (std::vector<std::string>{"3", "4", "5"}));
}

TEST(SweepParser, ExtendsARangeBeyondTheLastLevelCache) {
  const auto last = [](std::uint64_t last_level_bytes) {
    const auto text = with_axes("block_size: {from: 32, to: 128, to_caches: 4, per_octave: 1}");
    return strata::parse_sweep(text, "s.yaml", known(), last_level_bytes)
        .entries.front()
        .axes.front()
        .second.back();
  };
  EXPECT_EQ(last(0), "128");
  EXPECT_EQ(last(32), "128");
  EXPECT_EQ(last(33), "256");
  EXPECT_EQ(last(std::uint64_t{1} << 60U), "1024") << "the end of the axis";
}

TEST(SweepParser, TakesThePlanOfTheHarnessWhereTheFileHasNone) {
  EXPECT_EQ(parse(smallest).plan, strata::Plan{});
  EXPECT_EQ(parse(with_plan("min_samples: 9")).plan, strata::Plan{.min_samples = 9});
}

TEST(SweepParser, KeepsTheTextAsItStands) {
  EXPECT_EQ(parse(smallest).text, smallest);
  EXPECT_EQ(parse(smallest + "# changed\n").text, smallest + "# changed\n");
}

TEST(SweepParser, SaysSoWhenThereIsNoBenchmarkAtAll) {
  EXPECT_EQ(strata::message_of([] { return strata::parse_sweep(smallest, "s.yaml", {}); }),
            "s.yaml:3: no benchmark 'bare'; expected one, but this executable has none; 'strata "
            "list' shows them");
}

struct Accepted {
  const char* name;
  std::string text;
};
void PrintTo(const Accepted& row, std::ostream* out) {
  *out << row.name;
}

class SweepParserAccepts : public testing::TestWithParam<Accepted> {};

TEST_P(SweepParserAccepts, ThisForm) {
  EXPECT_EQ(refusal(GetParam().text), "accepted");
  EXPECT_FALSE(parse(GetParam().text).entries.empty());
}

const std::vector<Accepted> accepted{
    {"WindowsLineEnds", "schema: 1\r\nname: s\r\ncases:\r\n  - benchmark: bare\r\n"},
    {"AByteOrderMark", "\xef\xbb\xbf" + smallest},
    {"NoNewlineAtTheEnd", "schema: 1\nname: s\ncases: [{benchmark: bare}]"},
    {"JsonWhichIsYaml", R"({"schema": 1, "name": "s", "cases": [{"benchmark": "bare"}]})"},
    {"ADocumentMarkerAndItsEnd", "---\n" + smallest + "...\n"},
    {"CommentsInEveryLanguage", "# Größe 大きさ 😀\n" + smallest},
    {"AListOverSeveralLines", with_axes("layout:\n        - aos\n        - soa")},
    {"QuotedAxisValues", with_axes("warps_per_sm: ['1', \"8\"]")},
    {"TheSameBenchmarkTwice",
     "schema: 1\nname: s\ncases: [{benchmark: bare}, {benchmark: bare}]\n"},
    {"TheSmallestPlan",
     with_plan("warmups: 0, min_samples: 6, max_samples: 6, relative_half_width: 1e-9, "
               "seconds_per_case: 1e-3, time_limit: 0.1")},
    {"TheLargestPlan",
     with_plan(
         "warmups: 1000, min_samples: 100000, max_samples: 100000, relative_half_width: 0.999, "
         "seconds_per_case: 86399, time_limit: 86400")},
    {"ALineAsLongAsAllowed", "#" + std::string(strata::max_yaml_line - 1, 'x') + "\n" + smallest},
    {"ANameOf64Letters",
     "schema: 1\nname: " + std::string(64, 'n') + "\ncases: [{benchmark: bare}]\n"},
    {"ANameThatLooksLikeANumber", "schema: 1\nname: 2024\ncases: [{benchmark: bare}]\n"},
};
INSTANTIATE_TEST_SUITE_P(Forms, SweepParserAccepts, testing::ValuesIn(accepted),
                         [](const auto& row) { return row.param.name; });

// ------------------------------------------------------------------------------ what is refused

/// Where two versions of the YAML parser notice the same mistake in two places.
constexpr int any_line = 0;

struct Refused {
  const char* name;
  std::string text;
  int line;
  std::vector<std::string> says;  // parts of the message
};
void PrintTo(const Refused& row, std::ostream* out) {
  *out << row.name;
}

class SweepParserRefuses : public testing::TestWithParam<Refused> {};

TEST_P(SweepParserRefuses, InOneLineThatSaysWhereWhatAndHowToMend) {
  const auto& row = GetParam();
  const auto message = refusal(row.text);
  const auto place =
      row.line == any_line ? "s.yaml:"s : "s.yaml:" + std::to_string(row.line) + ": ";
  EXPECT_EQ(message.rfind(place, 0), 0U) << message;
  EXPECT_EQ(strata::find_invalid_utf8(message), std::nullopt) << message;
  EXPECT_LT(message.size(), 700U) << message;
  const auto expected = message.find("; expected ");
  ASSERT_NE(expected, std::string::npos) << message;
  EXPECT_NE(message.find("; ", expected + 2), std::string::npos)
      << "no way to mend it: " << message;
  for (const auto& part : row.says) {
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  }
}

std::string deep(std::string_view open, int times) {
  std::string text = "schema: 1\nname: s\ncases: ";
  for (int i = 0; i < times; ++i)
    text += open;
  return text + "\n";
}
std::string indented(int levels) {
  std::string text = "schema: 1\nname: s\ncases:\n";
  for (int i = 1; i <= levels; ++i)
    text += std::string(static_cast<std::size_t>(i), ' ') + "k:\n";
  return text;
}
std::string billion_laughs() {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const auto before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j)
      text += before + ", ";
    text += "]\n";
  }
  return text;
}

const std::vector<Refused> refused{
    // Bytes.
    {"AnEmptyFile", "", 1, {"nothing", "schema: 1"}},
    {"OnlyComments", "# nothing\n\n", 1, {"nothing"}},
    {"InvalidUtf8", "schema: 1\nname: \xff\n", 2, {"'\\xff'", "UTF-8"}},
    {"InvalidUtf8InAComment", "schema: 1\n# \xc3(\n", 2, {"UTF-8"}},
    {"Utf16", "\xff\xfes\0c\0h\0"s, 1, {"control character '\\x00'"}},
    {"ANulByte", "schema: 1\nname: a\0b\n"s, 2, {"'\\x00'"}},
    {"AByteThatEndsTheFileForTheParser", smallest + "\x04garbage: [\n", 4, {"'\\x04'"}},
    {"AnEscapeSequence", "schema: 1\nname: \x1b[31m\n", 2, {"'\\x1b'"}},
    {"ALoneCarriageReturn", "schema: 1\rname: s\n", 1, {"'\\x0d'"}},
    {"ALineOverTheLimit",
     smallest + "#" + std::string(strata::max_yaml_line, 'x') + "\n",
     4,
     {"16384", "break the line"}},
    {"AnUnfinishedLineOverTheLimit", smallest + std::string(20'000, 'x'), 4, {"16384"}},
    {"AFileOverTheLimit", std::string(strata::max_yaml_bytes + 1, '\n'), 1, {"1048576", "split"}},
    {"ALineOfTenMegabytes", std::string(10'000'000, '['), 1, {"16384"}},
    // YAML.
    {"AnOpenBracket", "schema: 1\nname: s\ncases: [", 3, {"YAML"}},
    {"AnOpenQuote", "schema: 1\nname: 's\ncases: [{benchmark: bare}]\n", any_line, {}},
    {"BadIndentation", "schema: 1\n  name: s\n", 2, {"YAML"}},
    {"ATabAsIndentation", "schema: 1\nname: s\ncases:\n\t- benchmark: bare\n", 4, {"YAML"}},
    {"ColonsInARow", "schema: 1\nname: a: b\n", 2, {"YAML"}},
    {"AnAlias", "schema: &one 1\nname: s\ncases: [{benchmark: bare}]\n", 1, {"anchor"}},
    {"AnAliasOfAMapping",
     "schema: 1\nname: s\nplan: &p {warmups: 1}\ncases: [*p]\n",
     3,
     {"anchor"}},
    {"AnAliasOfNothing", "schema: 1\nname: s\ncases: *nowhere\n", 3, {"anchor"}},
    {"ABombOfAliases", billion_laughs(), 1, {"anchor", "write the value out"}},
    {"ATag", "schema: !!int 1\nname: s\n", 1, {"tag", "tag:yaml.org,2002:int"}},
    {"ATagOnAList", "schema: 1\nname: s\ncases: !mine [{benchmark: bare}]\n", 3, {"tag", "!mine"}},
    {"ASecondDocument", smallest + "---\n" + smallest, 4, {"one YAML document"}},
    {"SomethingAfterTheEnd", "[a] b\n", 1, {"one YAML document"}},
    {"BracketsWithoutEnd", deep("[", 16'000), 3, {}},
    {"BracesWithoutEnd", deep("{a: ", 4'000), 3, {"nested"}},
    {"DashesWithoutEnd", deep("- ", 8'000), 3, {}},
    {"DeepIndentation", indented(1'000), 11, {"nested"}},
    {"AListAsAKey", "schema: 1\n[a, b]: c\n", 2, {"a list as a key"}},
    {"AMappingAsAKey", "schema: 1\n? {a: b}\n: c\n", 2, {"a mapping as a key"}},
    {"AKeyWithoutAName", "schema: 1\n: c\n", 2, {"nothing as a key"}},
    // The outermost keys.
    {"AList", "- schema: 1\n", 1, {"a list", "a sweep with the keys"}},
    {"AWord", "quick\n", 1, {"'quick'"}},
    {"NoSchema", "name: s\ncases: [{benchmark: bare}]\n", 1, {"no key 'schema'", "add 'schema"}},
    {"ALaterSchema", "schema: 2\nname: s\ncases: []\n", 1, {"schema is '2'", "1"}},
    {"ASchemaInQuotes", "schema: '1'\nname: s\n", 1, {"schema is '1'"}},
    {"ASchemaThatIsAlmostOne", "schema: 1.0\nname: s\n", 1, {"schema is '1.0'"}},
    {"ASchemaOfNothing", "schema:\nname: s\n", 1, {"schema is nothing"}},
    {"NoName", "schema: 1\ncases: [{benchmark: bare}]\n", 1, {"no key 'name'"}},
    {"ANameWithASpace", "schema: 1\nname: my sweep\ncases: []\n", 2, {"'my sweep'", "letters"}},
    {"ANameOf65Letters", "schema: 1\nname: " + std::string(65, 'n') + "\n", 2, {"1 to 64"}},
    {"ANameThatIsAList", "schema: 1\nname: [s]\n", 2, {"name is a list"}},
    {"AnUnknownKey",
     "schema: 1\nname: s\ncase: []\n",
     3,
     {"no key 'case'", "did you mean 'cases'?"}},
    {"AnUnknownKeyFarFromAny",
     "schema: 1\ntemperature: 4\n",
     2,
     {"'temperature'", "schema, name, plan, cases", "remove it"}},
    {"AMergeKey", "schema: 1\n<<: {name: s}\n", 2, {"no key '<<'"}},
    {"AKeyTwice",
     "schema: 1\nname: s\nname: t\ncases: [{benchmark: bare}]\n",
     3,
     {"second key 'name'"}},
    {"AKeyTwiceOnceInQuotes", "schema: 1\nname: s\n\"name\": t\n", 3, {"second key 'name'"}},
    {"NoCases", "schema: 1\nname: s\n", 1, {"no key 'cases'"}},
    {"CasesOfNothing", "schema: 1\nname: s\ncases:\n", 3, {"cases is nothing"}},
    {"CasesOfNothingBeforeAnotherKey", "schema: 1\ncases:\n\n\nname: s\n", 2, {"cases is nothing"}},
    {"EmptyCases", "schema: 1\nname: s\ncases: []\n", 3, {"an empty list"}},
    {"CasesThatAreAMapping", "schema: 1\nname: s\ncases:\n  benchmark: bare\n", 4, {"a mapping"}},
    // Entries.
    {"AnEntryThatIsAWord",
     with_entry("bare"),
     4,
     {"'bare' as an entry", "write '- benchmark: bare'"}},
    {"AnEntryOfNothing", "schema: 1\nname: s\ncases:\n  -\n", 5, {"nothing as an entry"}},
    {"AnEntryWithoutABenchmark", with_entry("axes: {layout: [aos]}"), 4, {"no key 'benchmark'"}},
    {"AnUnknownKeyInAnEntry",
     with_entry("benchmark: bare\n    axis: {}"),
     5,
     {"no key 'axis'", "did you mean 'axes'?"}},
    {"AnUnknownBenchmark",
     with_entry("benchmark: layout_raed"),
     4,
     {"no benchmark 'layout_raed' (did you mean 'layout_read'?); expected one of "}},
    {"AnUnknownBenchmarkFarFromAny",
     with_entry("benchmark: hurricane"),
     4,
     {"layout_read, timer_check", "strata list"}},
    {"AListOfBenchmarks", with_entry("benchmark: [bare, vast]"), 4, {"benchmark is a list"}},
    {"AnEmptyBenchmark", with_entry("benchmark: ''"), 4, {"no benchmark ''"}},
    {"AxesOfNothing",
     with_entry("benchmark: layout_read\n    axes:"),
     5,
     {"axes is nothing", "omit 'axes'"}},
    {"EmptyAxes", with_entry("benchmark: layout_read\n    axes: {}"), 5, {"an empty mapping"}},
    {"AListOfAxes",
     with_entry("benchmark: layout_read\n    axes: [layout]"),
     5,
     {"axes is a list"}},
    // Axes and their values.
    {"AnUnknownAxis",
     with_axes("layuot: [aos]"),
     6,
     {"no axis 'layuot'", "did you mean 'layout'?"}},
    {"TheStartOfAnAxis", with_axes("warps: [1]"), 6, {"did you mean 'warps_per_sm'?"}},
    {"AnAxisOfABenchmarkWithout",
     "schema: 1\nname: s\ncases:\n- benchmark: bare\n  axes: {a: [1]}\n",
     5,
     {"bare has no axis 'a'", "no axes"}},
    {"AnAxisTwice", with_axes("layout: [aos]\n      layout: [soa]"), 7, {"second key 'layout'"}},
    {"AnEmptyAxis", with_axes("layout: []"), 6, {"layout is an empty list", "write layout: ["}},
    {"AnAxisOfNothing", with_axes("layout:"), 6, {"layout is nothing"}},
    {"AnAxisThatIsASingleValue",
     with_axes("layout: aos"),
     6,
     {"single value 'aos'", "write layout: [aos]"}},
    {"AnAxisThatIsAMapping", with_axes("layout: {aos: soa}"), 6, {"layout is a mapping"}},
    {"AnEmptyMappingAsAnAxis", with_axes("block_size: {}"), 6, {"an empty mapping"}},
    {"ARangeWithoutAnEnd",
     with_axes("block_size: {from: 32, per_octave: 1}"),
     6,
     {"'to'", "the largest value"}},
    {"ARangeWithAnUnknownKey",
     with_axes("block_size: {from: 32, to: 64, per_octave: 1, step: 2}"),
     6,
     {"step", "range of axis block_size"}},
    {"ARangeFromAWord",
     with_axes("block_size: {from: few, to: 64, per_octave: 1}"),
     6,
     {"from is", "an integer from 1"}},
    {"ARangeFromNothing",
     with_axes("block_size: {from: 0, to: 64, per_octave: 1}"),
     6,
     {"from is", "an integer from 1"}},
    {"ARangeOfTooManyAnOctave",
     with_axes("block_size: {from: 32, to: 64, per_octave: 65}"),
     6,
     {"per_octave is", "from 1 to 64"}},
    {"ARangeToTooManyCaches",
     with_axes("block_size: {from: 32, to: 64, to_caches: 65, per_octave: 1}"),
     6,
     {"to_caches is", "from 1 to 64"}},
    {"ARangeThatIsEmpty",
     with_axes("block_size: {from: 64, to: 32, per_octave: 1}"),
     6,
     {"the range of axis block_size is empty"}},
    {"ARangeWithoutAMultiple",
     with_axes("block_size: {from: 40, to: 50, per_octave: 64, multiple_of: 32}"),
     6,
     {"the range of axis block_size is empty"}},
    {"ARangeBeyondItsAxis",
     with_axes("block_size: {from: 32, to: 2048, per_octave: 1}"),
     6,
     {"has no value '2048'"}},
    {"AListInsideAnAxis", with_axes("layout: [aos, [soa]]"), 6, {"a list among the values"}},
    {"AMappingInsideAnAxis", with_axes("layout: [aos: soa]"), 6, {"a mapping among the values"}},
    {"NothingInsideAnAxis", with_axes("layout: [aos, ~]"), 6, {"nothing among the values"}},
    {"AnUnknownValue",
     with_axes("layout: [aos, aosoa23]"),
     6,
     {"no value 'aosoa23'", "aos, soa, aoas, soaoas, aosoa32", "did you mean 'aosoa32'?"}},
    {"AnUnknownValueOnALineOfItsOwn",
     with_axes("layout:\n        - aos\n        - x"),
     8,
     {"no value 'x'"}},
    {"AValueInCapitals", with_axes("cores: [ALL]"), 6, {"no value 'ALL'"}},
    {"AnEmptyValue", with_axes("layout: ['']"), 6, {"no value ''"}},
    {"AValueTwice", with_axes("layout: [aos, soa, aos]"), 6, {"'aos' twice"}},
    {"ANumberTwiceOnceInQuotes", with_axes("warps_per_sm: [8, '8']"), 6, {"'8' twice"}},
    {"ANumberTooSmall", with_axes("warps_per_sm: [0]"), 6, {"an integer from 1 to 64"}},
    {"ANumberTooLarge", with_axes("warps_per_sm: [65]"), 6, {"an integer from 1 to 64"}},
    {"ANumberPastAllIntegers",
     with_axes("warps_per_sm: [99999999999999999999]"),
     6,
     {"from 1 to 64"}},
    {"ALeadingZero", with_axes("warps_per_sm: [8, 08]"), 6, {"no value '08'", "write 8"}},
    {"APlusSign", with_axes("warps_per_sm: [+8]"), 6, {"no value '+8'", "write 8"}},
    {"AFraction", with_axes("warps_per_sm: [8.0]"), 6, {"no value '8.0'", "write 8"}},
    {"ARealFraction", with_axes("warps_per_sm: [8.5]"), 6, {"no value '8.5'", "correct or remove"}},
    {"AHexadecimalNumber", with_axes("warps_per_sm: [0x8]"), 6, {"no value '0x8'", "write 8"}},
    {"AWordForANumber",
     with_axes("warps_per_sm: [nan]"),
     6,
     {"no value 'nan'", "correct or remove"}},
    // The plan.
    {"APlanOfNothing",
     "schema: 1\nname: s\nplan:\ncases: [{benchmark: bare}]\n",
     3,
     {"plan is nothing"}},
    {"APlanThatIsAList",
     "schema: 1\nname: s\nplan: [1]\ncases: [{benchmark: bare}]\n",
     3,
     {"plan is a list"}},
    {"AnEmptyPlan", with_plan(""), 3, {"an empty mapping", "omit it"}},
    {"AnUnknownPlanKey", with_plan("min_sample: 7"), 3, {"did you mean 'min_samples'?"}},
    {"APlanKeyTwice", with_plan("warmups: 1, warmups: 2"), 3, {"second key 'warmups'"}},
    {"TooFewSamples", with_plan("min_samples: 5"), 3, {"min_samples is '5'", "from 6"}},
    {"MaxBelowMin",
     with_plan("min_samples: 9, max_samples: 8"),
     3,
     {"max_samples 8 is below min_samples 9"}},
    {"MaxBelowTheMinThatIsNotWritten", with_plan("max_samples: 6"), 3, {"below min_samples 7"}},
    {"TooManySamples", with_plan("max_samples: 100001"), 3, {"to 100000"}},
    {"NegativeWarmups", with_plan("warmups: -1"), 3, {"warmups is '-1'"}},
    {"AFractionOfAWarmup", with_plan("warmups: 1.5"), 3, {"an integer"}},
    {"AWidthOfZero", with_plan("relative_half_width: 0"), 3, {"above 0 and below 1"}},
    {"AWidthOfOne", with_plan("relative_half_width: 1"), 3, {"above 0 and below 1"}},
    {"AWidthInPercent", with_plan("relative_half_width: 2%"), 3, {"'2%'"}},
    {"ATimeOfZero", with_plan("seconds_per_case: 0"), 3, {"above 0"}},
    {"ANegativeTime", with_plan("time_limit: -3"), 3, {"above 0"}},
    {"AnInfiniteTime", with_plan("time_limit: inf"), 3, {"'inf'"}},
    {"AnInfiniteTimeOfYaml", with_plan("time_limit: .inf"), 3, {"'.inf'"}},
    {"ATimeThatIsNoNumber", with_plan("time_limit: nan"), 3, {"'nan'"}},
    {"ATimePastAllNumbers", with_plan("time_limit: 1e999"), 3, {"'1e999'"}},
    {"ATimeWithAUnit", with_plan("time_limit: 60 s"), 3, {"'60 s'"}},
    {"ALimitBelowTheSampling", with_plan("seconds_per_case: 70"), 3, {"raise time_limit"}},
    {"ANumberInQuotes", with_plan("min_samples: '7'"), 3, {"'7' in quotes"}},
    {"AListForANumber", with_plan("min_samples: [7]"), 3, {"min_samples is a list"}},
    {"NothingForANumber", with_plan("min_samples: ~"), 3, {"min_samples is nothing"}},
    {"AnOffendingLineOfABlockPlan",
     "schema: 1\nname: s\nplan:\n  warmups: 1\n  min_samples: 2\ncases: [{benchmark: bare}]\n",
     5,
     {"min_samples is '2'"}},
};
INSTANTIATE_TEST_SUITE_P(Mistakes, SweepParserRefuses, testing::ValuesIn(refused),
                         [](const auto& row) { return row.param.name; });

TEST(SweepParser, NamesAFileOnOneLineWhateverItsName) {
  const auto message =
      strata::message_of([] { return strata::parse_sweep("", "evil\n\x1b[2Jname", known()); });
  EXPECT_EQ(message.rfind("evil\\x0a\\x1b[2Jname:1: ", 0), 0U) << message;
}

// A megabyte of anything is refused or read, in one line either way; something quadratic on the way
// would end at the time limit of the tests.
TEST(SweepParser, ReadsOrRefusesTheLargestFiles) {
  const auto fill = [](const std::string& piece) {
    std::string text = "schema: 1\nname: s\ncases:\n";
    while (text.size() + piece.size() <= strata::max_yaml_bytes)
      text += piece;
    return text;
  };
  for (const auto& piece :
       {"  - benchmark: bare\n"s, "  - {benchmark: bare, axes: [a, b]}\n"s, "- - - - - -\n"s,
        "[\n"s, "{\n"s, "? \n"s, "'\n"s, "\"\\\n"s, "a: b\n"s, " x\n"s,
        "  - ["s + std::string(8000, ',') + "]\n", "  - |\n   text\n"s, "#\n"s,
        "  - benchmark: bare #" + std::string(15'000, '[') + "\n",
        "  - {" + std::string(15'000, '?') + "\n", std::string(16'000, ':') + "\n",
        std::string(8'000, '"') + "\n", "&a "s, "!t "s + std::string(100, '!') + "\n"}) {
    EXPECT_EQ(refusal(fill(piece)).find('\n'), std::string::npos) << strata::in_quotes(piece);
  }
}

// --------------------------------------------------------------------------------- from a file

class SweepFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "strata_sweep_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{path(name), std::ios::binary} << text;
    return path(name);
  }
  static std::string why_not(const std::string& name) {
    return strata::message_of([&] { return strata::load_sweep(name, known()); });
  }

  std::filesystem::path folder_;
};

TEST_F(SweepFile, IsReadWhenItIsThere) {
  const auto file = write("mine.yaml", smallest);
  const auto sweep = strata::load_sweep(file, known());
  EXPECT_EQ(sweep.name, "s");
  EXPECT_EQ(sweep.file, file);
}

TEST_F(SweepFile, ComesBeforeABuiltInSweepOfItsName) {
  (void)write("quick", smallest);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const auto sweep = strata::load_sweep("quick", known());
  std::filesystem::current_path(before);
  EXPECT_EQ(sweep.name, "s");
}

TEST_F(SweepFile, GivesWayToABuiltInSweepWhenItIsAFolder) {
  std::filesystem::create_directory(path("quick"));
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const auto sweep = strata::load_sweep("quick", shipped());
  std::filesystem::current_path(before);
  EXPECT_EQ(sweep.name, "quick");
}

TEST_F(SweepFile, ThatIsMissingIsRefusedWithWhatThereIs) {
  EXPECT_EQ(
      why_not("qiuck"),
      "qiuck: tried it as a file: No such file or directory; expected a sweep file, or one of the "
      "built-in sweeps quick, default, full, ceilings, energy; did you mean "
      "'quick'?");
  EXPECT_NE(why_not(path("no/such.yaml")).find("No such file"), std::string::npos);
  EXPECT_NE(why_not("").find("quick, default, full, ceilings"), std::string::npos);
}

TEST_F(SweepFile, ThatIsAFolderIsRefused) {
  EXPECT_NE(why_not(folder_.string()).find("a folder"), std::string::npos);
}

TEST_F(SweepFile, ThatCannotBeOpenedIsRefusedWithTheReason) {
  // A socket, which even root cannot open as a file.
  const auto name = path("socket");
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_GE(fd, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(name.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_NE(why_not(name).find("cannot be read (No such device or address)"), std::string::npos)
      << why_not(name);
  close(fd);
}

TEST_F(SweepFile, WithANameTooLongForTheSystemIsRefused) {
  const auto message = why_not(std::string(5000, 'n'));
  EXPECT_NE(message.find("File name too long"), std::string::npos) << message;
}

TEST_F(SweepFile, ThatNeverEndsIsRefused) {
  if (!std::filesystem::exists("/dev/zero")) GTEST_SKIP() << "no /dev/zero";
  EXPECT_NE(why_not("/dev/zero").find(": is a pipe or a device"), std::string::npos);
}

TEST_F(SweepFile, OverTheLimitIsRefused) {
  const auto file = write("large.yaml", std::string(10'000'000, 'x'));
  EXPECT_NE(why_not(file).find(file + ": has more than 1048576 bytes"), std::string::npos);
}

// -------------------------------------------------------------------------------- one setting

class Setting : public testing::Test {
 protected:
  static std::string why_not(Sweep& sweep, std::string_view setting) {
    return strata::message_of(
        [&] { strata::apply_settings(sweep, {std::string{setting}}, known()); });
  }

  Sweep sweep_ = parse(R"(schema: 1
name: s
cases:
  - benchmark: layout_read
    axes: {layout: [aos], warps_per_sm: [1, 2]}
  - benchmark: layout_read
    axes: {layout: [soa]}
  - benchmark: bare
)");
};

TEST_F(Setting, ReplacesAnAxisInEveryEntryOfItsBenchmark) {
  strata::apply_settings(sweep_, {"layout_read.warps_per_sm=16,8"}, known());
  const std::vector<std::string> expected{"16", "8"};
  EXPECT_EQ(sweep_.entries[0].axes[1].second, expected);
  EXPECT_EQ(sweep_.entries[1].axes.back().first, "warps_per_sm")
      << "where it took the default before";
  EXPECT_EQ(sweep_.entries[1].axes.back().second, expected);
  EXPECT_EQ(sweep_.entries[0].axes[0].second, std::vector<std::string>{"aos"});
  EXPECT_TRUE(sweep_.entries[2].axes.empty());
}

TEST_F(Setting, ReplacesANumberOfThePlan) {
  strata::apply_settings(sweep_, {"plan.min_samples=9"}, known());
  strata::apply_settings(sweep_, {"plan.relative_half_width=0.25"}, known());
  EXPECT_EQ(sweep_.plan, (strata::Plan{.min_samples = 9, .relative_half_width = 0.25}));
}

TEST_F(Setting, OfThePlanMayStandInAnyOrder) {
  strata::apply_settings(sweep_, {"plan.min_samples=5000", "plan.max_samples=6000"}, known());
  EXPECT_EQ(sweep_.plan.min_samples, 5000);
  EXPECT_THROW(
      strata::apply_settings(sweep_, {"plan.max_samples=7", "layout_read.layout=aos"}, known()),
      UsageError);
  EXPECT_EQ(sweep_.plan.max_samples, 6000) << "and all of them or none";
}

TEST_F(Setting, LeavesTheTextOfTheFileAlone) {
  const auto before = sweep_.text;
  strata::apply_settings(sweep_, {"plan.min_samples=9"}, known());
  EXPECT_EQ(sweep_.text, before);
}

TEST_F(Setting, IsRefusedInOneLineThatNamesItAndLeavesTheSweepAsItWas) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", "no '.' or no '='"},
      {"layout_read", "no '.' or no '='"},
      {"layout_read=1", "BENCHMARK.AXIS=VALUE"},
      {"layout_read.layout", "no '.' or no '='"},
      {"a=b.c", "no '.' or no '='"},
      {"layout_raed.layout=aos", "did you mean 'layout_read'?"},
      {".layout=aos", "no benchmark ''"},
      {"layout_read.layuot=aos", "did you mean 'layout'?"},
      {"layout_read.=aos", "no axis ''"},
      {"layout_read.layout=", "no value ''"},
      {"layout_read.layout=aos,", "no value ''"},
      {"layout_read.layout=aos, soa", "no value ' soa'"},
      {"layout_read.layout=aos,soa,aos", "'aos' twice"},
      {"layout_read.warps_per_sm=08", "write 8"},
      {"layout_read.warps_per_sm=1,65", "an integer from 1 to 64"},
      {"layout_read.warps_per_sm=1=2", "no value '1=2'"},
      {"timer_check.target=l1", "sweep s does not run timer_check"},
      {"plan.min_sample=7", "did you mean 'min_samples'?"},
      {"plan.min_samples=5", "from 6"},
      {"plan.min_samples=7,8", "min_samples is '7,8'"},
      {"plan.max_samples=6", "below min_samples"},
      {"plan.time_limit=nan", "'nan'"},
      {"plan.seconds_per_case=1e9", "up to 86400"},
      {"bare.\xff\n=1", "no axis '\\xff\\x0a'"},
  };
  const auto before = ids(sweep_, Backend::cuda);
  const auto plan = sweep_.plan;
  for (const auto& [setting, part] : rows) {
    const auto message = why_not(sweep_, setting);
    EXPECT_EQ(message.rfind("--set '", 0), 0U) << message;
    EXPECT_NE(message.find("; expected "), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
    EXPECT_EQ(strata::find_invalid_utf8(message), std::nullopt) << message;
  }
  EXPECT_EQ(ids(sweep_, Backend::cuda), before);
  EXPECT_EQ(sweep_.plan, plan);
}

// ---------------------------------------------------------------------------------- expansion

TEST(Expansion, OrdersByBenchmarkThenAxesAsDeclaredThenValues) {
  const auto sweep = parse(R"(schema: 1
name: s
cases:
  - benchmark: timer_check
  - benchmark: layout_read
    axes: {warps_per_sm: [16, 8], layout: [soa, aos], residency: [l1], fields: [all], block_size: [32]}
  - benchmark: bare
)");
  const std::string point = "/block_size=32/cores=all/fields=all/layout=";
  const std::string rest = "/residency=l1/warps_per_sm=";
  EXPECT_EQ(ids(sweep, Backend::host),
            (std::vector<std::string>{"micro/bare/host",
                                      "micro/layout_read/host" + point + "aos" + rest + "8",
                                      "micro/layout_read/host" + point + "aos" + rest + "16",
                                      "micro/layout_read/host" + point + "soa" + rest + "8",
                                      "micro/layout_read/host" + point + "soa" + rest + "16",
                                      "micro/timer_check/host/target=l1"}));
}

TEST(Expansion, TakesTheDefaultsOfAnAxisThatIsLeftOut) {
  const auto sweep = parse(with_axes("layout: [aos]"));
  std::map<std::string, std::set<std::string>> seen;
  for (const auto& one : strata::expand(sweep, Backend::cuda, known())) {
    for (const auto& [axis, value] : one.params)
      seen[axis].insert(value);
  }
  EXPECT_EQ(seen["fields"], (std::set<std::string>{"all", "posmass"}));
  EXPECT_EQ(seen["cores"], (std::set<std::string>{"all"}));
  EXPECT_EQ(seen["warps_per_sm"].size(), 8U);
}

TEST(Expansion, LeavesOutWhatTheBenchmarkExcludesOnThisBackend) {
  const auto sweep = parse(with_axes("layout: [aos]"));
  for (const auto backend : {Backend::cuda, Backend::host}) {
    const auto cases = strata::expand(sweep, backend, known());
    ASSERT_FALSE(cases.empty());
    for (const auto& one : cases) {
      EXPECT_EQ(one.backend, backend);
      EXPECT_EQ(excludes(one.params, backend), std::nullopt) << one.id();
    }
  }
}

TEST(Expansion, LeavesOutABenchmarkWithoutABodyForTheBackend) {
  const auto sweep = parse("schema: 1\nname: s\ncases: [{benchmark: cuda_only}]\n");
  EXPECT_EQ(ids(sweep, Backend::cuda), std::vector<std::string>{"micro/cuda_only/cuda"});
  EXPECT_TRUE(ids(sweep, Backend::host).empty());
}

TEST(Expansion, NamesWhatTheBackendCannotRunWithTheReason) {
  const auto dropped = [](const std::string& text, Backend backend) {
    return strata::dropped_items(parse(text), backend, known());
  };
  using Items = std::vector<strata::DroppedItem>;
  const std::string both = R"(schema: 1
name: s
cases:
  - benchmark: cuda_only
  - benchmark: bare
  - benchmark: layout_read
    axes: {residency: [l1, l3], warps_per_sm: [8, 16], block_size: [32, 64, 128], cores: [all]}
)";
  EXPECT_EQ(dropped(both, Backend::host),
            (Items{{"cuda_only", "it runs on GPUs only"},
                   {"layout_read.block_size=64", "no blocks on a CPU"},
                   {"layout_read.block_size=128", "no blocks on a CPU"}}));
  EXPECT_EQ(dropped(both, Backend::cuda), (Items{{"layout_read.residency=l3", "no third level"}}));
  EXPECT_EQ(dropped(with_axes("residency: [l3]"), Backend::cuda),
            (Items{{"layout_read", "no third level"}}))
      << "no value of a benchmark without a case";
  EXPECT_EQ(dropped(with_axes("layout: [aos]"), Backend::host), Items{})
      << "defaults are not named by the sweep";
}

TEST(Expansion, DropsNoValueThatAnotherEntryRuns) {
  EXPECT_TRUE(strata::dropped_items(parse(R"(schema: 1
name: s
cases:
  - benchmark: layout_read
    axes: {residency: [l1], block_size: [64], warps_per_sm: [1]}
  - benchmark: layout_read
    axes: {residency: [l1], block_size: [64], warps_per_sm: [2]}
  - benchmark: layout_read
    axes: {residency: [l1], block_size: [32], warps_per_sm: [1]}
)"),
                                    Backend::cuda, known())
                  .empty());
}

TEST(RecordedCases, AreThoseThatASweepCanHave) {
  const auto sweep = parse(with_axes("layout: [aos]"));
  const auto cases = strata::expand(sweep, Backend::host, known());
  const auto refusal = [&](const std::vector<Case>& those, const strata::Plan& plan) {
    return strata::message_of(
        [&] { strata::check_recorded("context.json", those, plan, Backend::host, known()); });
  };
  EXPECT_EQ(refusal(cases, {}), "accepted");
  const auto changed = [&](const std::function<void(Case&)>& change) {
    auto those = cases;
    change(those.back());
    return refusal(those, {});
  };
  EXPECT_NE(changed([](Case& one) { one.backend = Backend::cuda; }).find("backend of the run"),
            std::string::npos);
  EXPECT_NE(changed([](Case& one) { one.benchmark = "other"; }).find("no such benchmark"),
            std::string::npos);
  for (const auto* const warps : {"0", "08", "65", "x"}) {
    EXPECT_NE(changed([&](Case& one) {
                one.params["warps_per_sm"] = warps;
              }).find("a value of each axis"),
              std::string::npos);
  }
  EXPECT_NE(changed([](Case& one) { one.params.erase("layout"); }).find("a value of each axis"),
            std::string::npos);
  EXPECT_NE(changed([](Case& one) { one.params["block_size"] = "64"; }).find("no blocks on a CPU"),
            std::string::npos);
  for (const auto& [plan, part] : std::vector<std::pair<strata::Plan, std::string>>{
           {{.time_limit = -5}, "time_limit of its plan is -5"},
           {{.min_samples = -3}, "min_samples of its plan is -3"},
           {{.max_samples = -1}, "max_samples of its plan is -1"},
           {{.visits = 101}, "visits of its plan is 101"},
           {{.min_samples = 9, .max_samples = 8}, "below min_samples"}}) {
    EXPECT_NE(refusal(cases, plan).find(part), std::string::npos) << refusal(cases, plan);
  }
}

TEST(Expansion, HasEachCaseOfOverlappingEntriesOnce) {
  const auto sweep = parse(R"(schema: 1
name: s
cases:
  - benchmark: layout_read
    axes: {layout: [aos, soa], residency: [l1], fields: [all], block_size: [32], warps_per_sm: [8, 1]}
  - benchmark: layout_read
    axes: {layout: [soa, aoas], residency: [l1], fields: [all], block_size: [32], warps_per_sm: [1]}
)");
  const auto all = ids(sweep, Backend::host);
  EXPECT_EQ(all.size(), 5U)
      << "aos and soa at 1 and 8, aoas at 1: a union, not a product of unions";
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST(Expansion, RefusesMoreCombinationsThanCanBeRun) {
  std::string values = "0";
  for (int i = 1; i < 1000; ++i)
    values += ", " + std::to_string(i);
  std::string text = "schema: 1\nname: s\ncases:\n  - benchmark: vast\n    axes:\n";
  for (const auto* const axis : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    text += "      "s + axis + ": [" + values + "]\n";  // 10^24 points
  }
  EXPECT_THROW((void)ids(parse(text), Backend::host), UsageError);
  const auto one_axis =
      parse("schema: 1\nname: s\ncases: [{benchmark: vast, axes: {a: [" + values + "]}}]\n");
  EXPECT_EQ(ids(one_axis, Backend::host).size(), 1000U);
}

TEST(Expansion, RefusesASweepThatWasCheckedAgainstOtherBenchmarks) {
  auto sweep = parse(smallest);
  EXPECT_THROW((void)strata::expand(sweep, Backend::host, {}), std::invalid_argument);
  sweep.entries = {{"layout_read", {{"layout", {"nonsense"}}}}};
  EXPECT_THROW((void)ids(sweep, Backend::host), std::invalid_argument);
}

/// Some of `all`, at least one, in any order.
template <class Random>
std::vector<std::string> some_of(std::vector<std::string> all, Random& random) {
  std::shuffle(all.begin(), all.end(), random);
  all.resize(1 + random() % all.size());
  return all;
}

template <class Random>
Sweep random_sweep(Random& random) {
  Sweep sweep;
  const std::size_t entries = 1 + random() % 4;
  for (std::size_t e = 0; e < entries; ++e) {
    const auto& benchmark = known()[random() % 4].benchmark;
    strata::SweepEntry entry{benchmark.name, {}};
    for (const auto& axis : benchmark.axes) {
      if (random() % 3 == 0) continue;
      entry.axes.emplace_back(axis.name,
                              some_of(axis.choices.empty() ? axis.defaults : axis.choices, random));
    }
    sweep.entries.push_back(std::move(entry));
  }
  return sweep;
}

TEST(Expansion, IsTheSameWhateverTheOrderOfTheFile) {
  std::mt19937 random{20260101};
  for (int round = 0; round < 60; ++round) {
    auto sweep = random_sweep(random);
    for (const auto backend : {Backend::cuda, Backend::host}) {
      const auto expected = ids(sweep, backend);
      auto shuffled = sweep;
      std::shuffle(shuffled.entries.begin(), shuffled.entries.end(), random);
      for (auto& entry : shuffled.entries) {
        std::shuffle(entry.axes.begin(), entry.axes.end(), random);
        for (auto& [axis, values] : entry.axes)
          std::shuffle(values.begin(), values.end(), random);
      }
      shuffled.entries.push_back(shuffled.entries.front());  // a repeated entry adds nothing
      ASSERT_EQ(ids(shuffled, backend), expected) << "round " << round;
    }
  }
}

// Against the plainest definition of a sweep: every point of the whole space that some entry
// holds and the benchmark does not exclude.
TEST(Expansion, HoldsExactlyThePointsThatSomeEntryAsksFor) {
  std::mt19937 random{7};
  const auto holds = [](const strata::SweepEntry& entry, const Benchmark& benchmark,
                        const Params& params) {
    return std::all_of(params.begin(), params.end(), [&](const auto& param) {
      const std::vector<std::string>* values = &benchmark.axis(param.first)->defaults;
      for (const auto& [axis, listed] : entry.axes) {
        if (axis == param.first) values = &listed;
      }
      return std::find(values->begin(), values->end(), param.second) != values->end();
    });
  };
  const auto benchmark = layout_read();
  std::vector<Params> space{{}};
  for (const auto& axis : benchmark.axes) {
    std::vector<Params> wider;
    for (const auto& point : space) {
      for (const auto& value : axis.choices.empty() ? axis.defaults : axis.choices) {
        wider.push_back(point);
        wider.back()[axis.name] = value;
      }
    }
    space = std::move(wider);
  }
  for (int round = 0; round < 20; ++round) {
    const auto sweep = random_sweep(random);
    for (const auto backend : {Backend::cuda, Backend::host}) {
      std::set<std::string> expected;
      for (const auto& params : space) {
        const bool wanted =
            std::any_of(sweep.entries.begin(), sweep.entries.end(), [&](const auto& entry) {
              return entry.benchmark == benchmark.name && holds(entry, benchmark, params);
            });
        if (wanted && !excludes(params, backend)) {
          expected.insert(Case{"micro", benchmark.name, backend, params}.id());
        }
      }
      std::set<std::string> found;
      for (const auto& id : ids(sweep, backend)) {
        if (id.rfind("micro/layout_read/", 0) == 0) found.insert(id);
      }
      ASSERT_EQ(found, expected) << "round " << round;
    }
  }
}

// -------------------------------------------------------------------------------------- filter

std::vector<Case> two_cases() {
  return {{"micro", "layout_read", Backend::host, {{"layout", "aos"}, {"warps", "1"}}},
          {"micro", "layout_read", Backend::host, {{"layout", "soa"}, {"warps", "16"}}}};
}

std::string filter_refusal(const std::string& expression) {
  return strata::message_of([&] { return strata::filter(two_cases(), expression); });
}

TEST(Filter, KeepsTheCasesWhoseIdMatchesAnywhere) {
  EXPECT_EQ(strata::filter(two_cases(), "layout=aos").size(), 1U);
  EXPECT_EQ(strata::filter(two_cases(), "layout=(aos|soa)").size(), 2U);
  EXPECT_EQ(strata::filter(two_cases(), "warps=1$").size(), 1U);
  EXPECT_EQ(strata::filter(two_cases(), "^layout").size(), 0U);
  EXPECT_EQ(strata::filter(two_cases(), "warps=\\d{2}").size(), 1U);
  EXPECT_EQ(strata::filter(two_cases(), "").size(), 2U);
  EXPECT_EQ(strata::filter({}, "x").size(), 0U);
}

TEST(Filter, KeepsTheOrder) {
  EXPECT_EQ(ids(strata::filter(two_cases(), ".")), ids(two_cases()));
}

TEST(Filter, RefusesAMalformedExpressionInOneLine) {
  for (const auto& expression :
       {"("s, "["s, "*"s, "a{2"s, "a{3,2}"s, "\\"s, "(?<name>x)"s, "[z-a]"s, "(a)\\1"s, "(\n"s,
        "[[:nonsense:]]"s, std::string(300, '(')}) {
    const auto message = filter_refusal(expression);
    EXPECT_EQ(message.rfind("--filter '", 0), 0U) << message;
    EXPECT_NE(message.find("; expected "), std::string::npos) << message;
  }
}

TEST(Filter, RefusesAnExpressionTooLong) {
  EXPECT_EQ(filter_refusal(std::string(strata::max_expression_length, 'x')), "accepted");
  EXPECT_NE(filter_refusal(std::string(strata::max_expression_length + 1, 'x')), "accepted");
}

// What a few characters can unfold to would overflow the stack of libstdc++'s matcher.
TEST(Filter, RefusesAnExpressionThatUnfoldsTooFar) {
  for (const auto* const expression : {"a{100000}", "((a?){46}){46}", "(((a?){99}){99}){99}",
                                       "a{99999999999999999999}", "(a|){2,4000}"}) {
    EXPECT_NE(filter_refusal(expression).find("too large"), std::string::npos) << expression;
  }
}

TEST(Filter, MatchesTheLargestExpressionsWithoutOverflow) {
  std::string nested = "x";
  while (nested.size() + 3 <= strata::max_expression_length)
    nested = "(" + nested + ")?";
  std::string alternatives = "a?";
  while (alternatives.size() + 3 <= strata::max_expression_length)
    alternatives += "|a?";
  for (const auto& expression : {nested, alternatives, "((a?){16}){16}"s}) {
    EXPECT_EQ(filter_refusal(expression), "accepted") << expression;
  }
}

TEST(Filter, RefusesNumbersThatOverflowItsMatcher) {
  EXPECT_NE(filter_refusal("(a)\\22222222222222222222").find("a number that is too large"),
            std::string::npos);
  EXPECT_EQ(filter_refusal("123456789"), "accepted");
}

TEST(Filter, LooksAheadButNotWithinALookAhead) {
  EXPECT_EQ(strata::filter(two_cases(), "^(?!.*layout=aos)").size(), 1U);
  EXPECT_EQ(strata::filter(two_cases(), "(?=.*layout=aos)(?!.*none)").size(), 1U);
  for (const auto* const nested :
       {"(?=(?=a))", "(?!(a|(?=b)))", "(?=[[:alpha:])](?=a))", "(?=[)](?!a))", "(?=\\)(?!a))"}) {
    EXPECT_NE(filter_refusal(nested).find("a nested look-ahead"), std::string::npos) << nested;
  }
  EXPECT_EQ(filter_refusal("((?=a))[(](?=a)\\((?!b)"), "accepted");
}

// Backtracking takes time exponential in the length of the id: it would never come back.
TEST(Filter, MatchesInTimeWhatABacktrackerCannot) {
  const std::vector<Case> one{{"micro", std::string(200, 'a'), Backend::host, {}}};
  EXPECT_EQ(strata::filter(one, "(a+)+$").size(), 0U);
  EXPECT_EQ(strata::filter(one, "(a|aa)*(a|b)*!").size(), 0U);
}

TEST(Filter, EndsWhenAllTextsTogetherTakeTooLong) {
  const auto matches = strata::matcher("--filter", "(?=(.*){50})z");
  const std::string text(500, 'a');
  EXPECT_THROW(
      {
        for (int i = 0; i < 10'000; ++i)
          (void)matches(text);
      },
      UsageError);
}

// ------------------------------------------------------------------- the sweeps of this project

std::set<std::string> values_of(const std::vector<Case>& cases, const std::string& axis) {
  std::set<std::string> values;
  for (const auto& one : cases) {
    if (one.params.contains(axis)) values.insert(one.params.at(axis));
  }
  return values;
}

std::vector<std::string> shipped_ids(const Sweep& sweep, Backend backend) {
  return ids(strata::expand(sweep, backend, shipped()));
}

class BuiltInSweep : public testing::TestWithParam<const char*> {};
class SweepOfAll : public BuiltInSweep {};

TEST_P(BuiltInSweep, IsReadUnderItsName) {
  const auto sweep = strata::load_sweep(GetParam(), shipped());
  EXPECT_EQ(sweep.name, GetParam());
  EXPECT_EQ(sweep.file, GetParam());
}

TEST_P(SweepOfAll, CoversEveryLayoutLevelAndFieldSetOnBothBackends) {
  const auto sweep = strata::load_sweep(GetParam(), shipped());
  for (const auto backend : {Backend::cuda, Backend::host}) {
    const auto cases =
        strata::filter(strata::expand(sweep, backend, shipped()), "micro/layout_read/");
    EXPECT_EQ(values_of(cases, "layout").size(), 5U);
    EXPECT_EQ(values_of(cases, "residency").size(), backend == Backend::host ? 4U : 3U);
    EXPECT_EQ(values_of(cases, "fields").size(), 2U);
    EXPECT_EQ(values_of(cases, "cores").size(), 2U);
  }
}

// The first lines of a file state its number of cases, which must be current.
TEST_P(BuiltInSweep, HasAsManyCasesAsItsCommentSays) {
  const auto sweep = strata::load_sweep(GetParam(), shipped());
  const auto number = [&](Backend backend) {
    return std::to_string(shipped_ids(sweep, backend).size());
  };
  const auto sentence =
      number(Backend::host) + " cases on a CPU, " + number(Backend::cuda) + " on a GPU";
  for (const auto& [name, text] : strata::builtin_sweeps()) {
    if (name != GetParam()) continue;
    std::string head;  // the comment as running text
    for (const char c : text.substr(0, text.find("schema:"))) {
      if (c == '#' || (c == ' ' && head.ends_with(' '))) continue;
      head += c == '\n' ? ' ' : c;
    }
    EXPECT_NE(head.find(sentence), std::string::npos) << sentence << "\nbut: " << head;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInSweep,
                         testing::Values("quick", "default", "full", "ceilings", "energy"),
                         [](const auto& row) { return std::string{row.param}; });
INSTANTIATE_TEST_SUITE_P(All, SweepOfAll, testing::Values("quick", "default", "full"),
                         [](const auto& row) { return std::string{row.param}; });

TEST(BuiltInSweeps, AreTheFive) {
  std::set<std::string_view> names;
  for (const auto& [name, text] : strata::builtin_sweeps())
    names.insert(name);
  EXPECT_EQ(names, (std::set<std::string_view>{"quick", "default", "full", "ceilings", "energy"}));
}

// The rest of its minute is for the data.
TEST(BuiltInSweeps, QuickTakesUnderThirtySecondsOfSamplingOnACpu) {
  const auto sweep = strata::load_sweep("quick", shipped());
  // A model takes no samples.
  const auto cases = shipped_ids(sweep, Backend::host);
  const auto sampled = std::ranges::count_if(
      cases, [](const std::string& id) { return !id.starts_with("micro/layout_traffic/"); });
  EXPECT_LT(static_cast<double>(sampled) * sweep.plan.seconds_per_case, 30.0);
}

TEST(BuiltInSweeps, HoldEachOther) {
  for (const auto backend : {Backend::cuda, Backend::host}) {
    auto quick = shipped_ids(strata::load_sweep("quick", shipped()), backend);
    auto standard = shipped_ids(strata::load_sweep("default", shipped()), backend);
    auto full = shipped_ids(strata::load_sweep("full", shipped()), backend);
    for (auto* const list : {&quick, &standard, &full})
      std::sort(list->begin(), list->end());
    EXPECT_TRUE(std::includes(standard.begin(), standard.end(), quick.begin(), quick.end()))
        << "a quick run can be compared with a default one";
    EXPECT_TRUE(std::includes(full.begin(), full.end(), standard.begin(), standard.end()));
  }
}

// ------------------------------------------------------------------------------------- mutation

/// Either a sweep, whose expansion ends, or one line that refuses it.
void expect_parse_or_refusal(const std::string& text, bool expanded) {
  try {
    const auto sweep = strata::parse_sweep(text, "s.yaml", shipped());
    EXPECT_FALSE(sweep.entries.empty());
    if (expanded) (void)strata::expand(sweep, Backend::cuda, shipped());
  } catch (const UsageError& error) {
    const std::string_view message = error.what();
    EXPECT_EQ(message.rfind("s.yaml:", 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string_view::npos) << message;
    EXPECT_EQ(strata::find_invalid_utf8(message), std::nullopt) << message;
  }
}

template <class Random>
std::string mutated(std::string text, const std::string& other, Random& random) {
  static const std::vector<std::string> pieces{
      "[",  "]",   "{",     "}",      ":",    ": ", "- ", "? ", "\n",          "\n  ",  "\t",
      "#",  "&a ", "*a",    "!!str ", "'",    "\"", "|",  ">",  "%YAML 1.2\n", "---\n", "...\n",
      "08", "-1",  "1e309", "~",      "null", ",",  "<<", "\r", "\x04"};
  const auto at = [&random](const std::string& in) { return random() % (in.size() + 1); };
  const std::size_t changes = 1 + random() % 4;
  for (std::size_t i = 0; i < changes; ++i) {
    switch (random() % 6) {
      case 0:
        if (!text.empty()) text[random() % text.size()] = static_cast<char>(random() % 256);
        break;
      case 1:
        text.insert(at(text), pieces[random() % pieces.size()]);
        break;
      case 2:
        text.erase(at(text), random() % 20);
        break;
      case 3:
        text.insert(at(text), other, at(other), random() % 60);
        break;
      case 4:
        text.resize(at(text));
        break;
      default:
        text.insert(at(text), text, at(text), random() % 60);
        break;
    }
  }
  return text;
}

TEST(SweepParser, ReadsOrRefusesEveryMutationOfTheSweeps) {
  std::mt19937 random{1};
  const auto sweeps = strata::builtin_sweeps();
  for (int round = 0; round < 1000; ++round) {  // fuzz.parsers goes on where this ends
    const std::string text{sweeps[random() % sweeps.size()].second};
    const std::string other{sweeps[random() % sweeps.size()].second};
    SCOPED_TRACE(round);
    expect_parse_or_refusal(mutated(text, other, random), round % 500 == 0);
    if (HasFailure()) break;
  }
}

TEST(SweepParser, ReadsOrRefusesRandomBytes) {
  static constexpr std::string_view alphabet =
      "[]{}:,-?&*!|>'\"%@`#~ \n\n  \tab18.e\\<=\r\x04\x80\xc3\xbb";
  std::mt19937 random{2};
  for (int round = 0; round < 3000; ++round) {
    std::string text(random() % 200, '\0');
    for (auto& c : text) {
      c = round % 2 == 0 ? static_cast<char>(random() % 256) : alphabet[random() % alphabet.size()];
    }
    SCOPED_TRACE(round);
    expect_parse_or_refusal(text, true);
    if (HasFailure()) break;
  }
}

}  // namespace
