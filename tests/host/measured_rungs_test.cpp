// A whole case of every rung on this CPU, of all ladders: rows by two timers, and what was
// verified.
#include "harness/case/benchmark.hpp"
#include "harness/record/device.hpp"
#include "harness/run/case_runner.hpp"
#include "tests/host/host_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace strata {
namespace {

/// Small values of the axes that decide how long a case takes.
const Params small{{"agents", "300"},    {"bodies", "48"},       {"cells", "0"},
                   {"frequencies", "9"}, {"problem", "circles"}, {"sky", "1"},
                   {"stacks", "2"},      {"systems", "3"},       {"world", "fit"}};

/// The smallest case of a rung, for one of its problems.
Case case_of(const Rung& rung, const std::string& problem = "") {
  const Benchmark& benchmark = find_benchmark(rung.name)->benchmark;
  Case which{.suite = rung.suite, .benchmark = rung.name, .backend = rung.backend, .params = {}};
  for (const Axis& axis : benchmark.axes) {
    const auto value = small.find(axis.name);
    const auto text = value == small.end() ? std::nullopt : axis.canonical(value->second);
    which.params[axis.name] = text.value_or(axis.defaults.front());
  }
  if (!problem.empty()) which.params["problem"] = problem;
  if (problem == "single") which.params["systems"] = "1";
  if (problem == "boids") which.params["world"] = "50";
  return which;
}

CaseRecord measured(const Case& which, double time_limit = Plan{}.time_limit) {
  const auto device = open_host_device();
  Cache cache;
  const Plan plan{.warmups = 0, .min_samples = 6, .max_samples = 6, .time_limit = time_limit};
  return run_case(which, plan, *device, cache);
}

std::vector<Rung> rungs_on_cpu() {
  std::vector<Rung> all;
  for (const std::string& suite : ladders())
    std::ranges::copy(rungs_of(suite, Backend::host), std::back_inserter(all));
  return all;
}

class MeasuredRung : public testing::TestWithParam<Rung> {
 protected:
#if defined(__SANITIZE_THREAD__)
  void SetUp() override {
    if (GetParam().name.find("openmp") != std::string::npos)
      GTEST_SKIP() << "OpenMP with ThreadSanitizer";
  }
#endif
};

TEST_P(MeasuredRung, HasEveryRateByTwoTimersAndVerifiedResults) {
  const CaseRecord record = measured(case_of(GetParam()));
  if (record.status == Status::skipped) GTEST_SKIP() << record.reason;
  ASSERT_EQ(record.status, Status::measured) << record.reason;
  std::map<std::string, std::set<std::string>> methods;
  std::set<std::string> declared{"core_clock"};
  for (const Quantity& one : find_benchmark(GetParam().name)->benchmark.quantities)
    declared.insert(one.name);
  for (const Measurement& m : record.measurements) {
    EXPECT_TRUE(declared.contains(m.quantity)) << m.quantity;
    if (m.provenance == Provenance::timed) methods[m.quantity].insert(m.method);
  }
  methods.erase("core_clock");
  EXPECT_FALSE(methods.empty());
  for (const auto& [quantity, of_it] : methods)
    EXPECT_EQ(of_it, (std::set<std::string>{"monotonic", "tsc"})) << quantity;
  std::map<std::string, int> passed;
  for (const Gate& gate : record.gates) {
    if (gate.verdict == Verdict::passed) ++passed[gate.name];
    if (gate.name != "result" && gate.name != "model") continue;
    EXPECT_EQ(gate.verdict, Verdict::passed) << gate.detail;
  }
  EXPECT_GE(passed["result"], 2) << "before the samples, and after them";
  EXPECT_EQ(passed["model"], GetParam().suite == "neighbours" ? 1 : 0);
  EXPECT_EQ(std::get<std::string>(record.facts.at("change")), GetParam().change);
  EXPECT_TRUE(record.facts.contains("instructions"));
}

TEST_P(MeasuredRung, IsLeftOutWhereASampleTakesTooLong) {
  const CaseRecord record = measured(case_of(GetParam()), 1e-7);
  ASSERT_EQ(record.status, Status::skipped);
  if (record.reason.find("would take") == std::string::npos) GTEST_SKIP() << record.reason;
}

INSTANTIATE_TEST_SUITE_P(Ladders, MeasuredRung, testing::ValuesIn(rungs_on_cpu()),
                         [](const auto& rung) { return rung.param.name; });

TEST(MeasuredRungs, ReportWhatTheirProblemHas) {
  const auto rows_of = [](const std::string& rung, const std::string& problem) {
    std::set<std::string> rows;
    for (const Measurement& m : measured(case_of(rung_named(rung), problem)).measurements)
      rows.insert(m.quantity);
    return rows;
  };
  EXPECT_TRUE(rows_of("serial", "galaxies").contains("energy_drift"));
  EXPECT_FALSE(rows_of("serial", "single").contains("energy_drift"));
  for (const char* problem : {"boids", "circles", "list"}) {
    EXPECT_EQ(rows_of("neighbours_cpu_packed", problem),
              (std::set<std::string>{"agent_steps_per_second", "core_clock", "distance_tests",
                                     "neighbours_per_second", "rebuilds", "steps_per_second",
                                     "used_threads", "wrong_neighbours"}))
        << problem;
  }
}

}  // namespace
}  // namespace strata
