// The description of every benchmark, in cases of the sweeps `default` and `full`.
#include "example_gpu.hpp"
#include "harness/base/error.hpp"
#include "harness/case/sweep.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/record/build_info.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace strata {
namespace {

/// All that describe themselves, as if this build had their kernels.
std::vector<Enrolled> described() {
  std::vector<Enrolled> all = benchmarks();
  std::erase_if(all, [](const Enrolled& one) { return one.describe == nullptr; });
  for (Enrolled& one : all)
    one.cuda = [](Session&) {};
  return all;
}

struct Described {
  Benchmark benchmark;
  Case which;
  Experiment experiment;
};

/// Cases of each benchmark that the example GPU can run: all or, where descriptions take long, some
/// in equal distances.
std::vector<Described> make_descriptions() {
  const std::vector<Enrolled> known = described();
  std::map<std::string, std::map<std::string, Case>> cases;  // by benchmark and id
  for (const char* const name : {"default", "full"}) {
    Sweep sweep = load_sweep(name, benchmarks());
    std::erase_if(sweep.entries, [&](const SweepEntry& entry) {
      return find_benchmark(entry.benchmark, known) == nullptr;
    });
    for (const Case& which : expand(sweep, Backend::cuda, known))
      cases[which.benchmark].emplace(which.id(), which);
  }
  const std::map<std::string, std::size_t> few{
      {"coalescing", 400},     // of 16 800, each with the sums of all warps
      {"layout_read", 8},      // the rings of all SMs take a second
      {"stride_gather", 24}};  // sectors of all loads
  std::vector<Described> all;
  for (const auto& [benchmark, by_id] : cases) {
    const Enrolled& enrolled = *find_benchmark(benchmark, known);
    const auto limit = few.find(benchmark);
    const std::size_t enough = limit == few.end() ? by_id.size() : limit->second;
    const std::size_t step = (by_id.size() + enough - 1) / enough;
    std::size_t index = 0;
    for (const auto& [id, which] : by_id) {
      // A trace of all warps of a large image takes half a minute.
      if (index++ % step != 0 || id.find("size=large") != std::string::npos) continue;
      try {
        all.push_back({enrolled.benchmark, which, enrolled.describe(which.params, example_gpu())});
      } catch (const Skipped&) {
      }
    }
  }
  return all;
}

/// Made once for all tests.
const std::vector<Described>& descriptions() {
  static const std::vector<Described> all = make_descriptions();
  return all;
}

/// Calls use(benchmark, experiment) for each of them.
template <class Use>
void for_each_description(const Use& use) {
  for (const auto& [benchmark, which, experiment] : descriptions()) {
    SCOPED_TRACE(which.id());
    use(benchmark, experiment);
    if (testing::Test::HasFailure()) return;  // the others would only repeat it
  }
}

/// A sample in which everything took some time, and the long series more than the short one.
Sample some_sample(const Experiment& experiment) {
  Sample sample;
  const Seen seen{.inside = {.cycles = 100,
                             .slowest = 101,
                             .low = 99,
                             .high = 102,
                             .hertz = 1.8e9,
                             .cells = std::vector<double>(64, 50)},
                  .outside = 101,
                  .seconds = 6e-8,
                  .full_seconds = 3e-4};
  sample.slopes.assign(experiment.slopes.size(), seen);
  for (int i = 1; i <= 2000; ++i)
    sample.numbers.push_back(1e-3 * i);
  return sample;
}

bool declares(const Benchmark& benchmark, const std::string& quantity) {
  return std::ranges::find(benchmark.quantities, quantity, &Quantity::name) !=
         benchmark.quantities.end();
}

TEST(Descriptions, ExistForEveryBenchmarkOfTheSweeps) {
  for (const SweepEntry& entry : load_sweep("full", benchmarks()).entries) {
    const Enrolled& one = *find_benchmark(entry.benchmark);
    if (one.benchmark.suite != "micro" || one.benchmark.name == "layout_traffic") continue;
    EXPECT_NE(one.describe, nullptr) << one.benchmark.name;
  }
}

TEST(Descriptions, ReportDeclaredQuantitiesWithOneUnitEach) {
  std::map<std::string, std::string> units;
  for_each_description([&](const Benchmark& benchmark, const Experiment& experiment) {
    const auto check = [&](const std::string& quantity, const std::string& unit) {
      EXPECT_TRUE(declares(benchmark, quantity)) << quantity;
      EXPECT_FALSE(unit.empty()) << quantity;
      EXPECT_EQ(units.try_emplace(benchmark.name + '.' + quantity, unit).first->second, unit);
    };
    const Sample sample = some_sample(experiment);
    std::set<std::string> names;
    for (const Row& row : experiment.rows) {
      check(row.quantity, row.unit);
      const double value = row.value(sample);
      EXPECT_TRUE(std::isfinite(value) && (value > 0 || row.provenance == Provenance::modelled))
          << row.quantity << ' ' << value;
      EXPECT_TRUE(names
                      .insert(fmt::format("{} {} {}", row.quantity, row.method.name,
                                          static_cast<int>(row.method.timer)))
                      .second)
          << "two rows " << row.quantity;
    }
    for (const Constant& constant : experiment.constants) {
      check(constant.quantity, constant.unit);
      EXPECT_TRUE(std::isfinite(constant.value)) << constant.quantity;
    }
    bool compared = false;
    for (const Check& check_of_case : experiment.checks) {
      compared = compared || std::holds_alternative<TimersApart>(check_of_case);
      const auto* const pair = std::get_if<TimerPair>(&check_of_case);
      if (pair == nullptr) continue;
      compared = true;
      EXPECT_TRUE(std::isfinite(pair->first(sample)) && std::isfinite(pair->second(sample)));
    }
    EXPECT_TRUE(!experiment.rows.empty() || experiment.conclude);
    EXPECT_TRUE(compared || experiment.rows.empty());
  });
}

TEST(Descriptions, StateTheWorkOfTwoLengthsAndWhatIsVerified) {
  for_each_description([&](const Benchmark&, const Experiment& experiment) {
    EXPECT_FALSE(experiment.checked.empty());
    const bool sized = std::ranges::any_of(
        experiment.slopes, [](const Slope& slope) { return static_cast<bool>(slope.size); });
    for (const Slope& slope : experiment.slopes) {
      const auto& [brief, full] = slope.lengths;
      if (full.work == 0) {
        EXPECT_TRUE(sized);
        continue;
      }
      EXPECT_GT(full.work, brief.work);
      EXPECT_GT(brief.work, 0);
      EXPECT_GT(std::uint64_t{full.rounds} * std::max(full.blocks, 1U),
                std::uint64_t{brief.rounds} * std::max(brief.blocks, 1U));
      EXPECT_FALSE(slope.window.name.empty());
    }
    if (const auto& placement = experiment.placement) {
      EXPECT_GE(placement->cores, 1U);
      EXPECT_LE(placement->cores, example_gpu().sms);
      EXPECT_GE(placement->per_core, 1);
      EXPECT_LE(placement->per_core, 64);
    }
  });
}

/// The results of threads that did something else.
std::vector<Stamp> wrong_stamps(const Slope& slope) {
  std::vector<Stamp> stamps(std::max<std::size_t>(slope.writers, 1));
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    stamps[i].result = 0x123456789 + 7 * i;
    stamps[i].tag = static_cast<std::uint32_t>(i);
  }
  return stamps;
}

TEST(Descriptions, RefuseResultsOfOtherWork) {
  std::map<std::string, int> tried;
  for_each_description([&](const Benchmark& benchmark, const Experiment& experiment) {
    if (++tried[benchmark.name] > 20) return;  // the host computes each expected result
    for (const Slope& slope : experiment.slopes) {
      if (!slope.verify) continue;
      Tally tally;
      Length length = slope.lengths.full.work > 0 ? slope.lengths.full : Length{.rounds = 16};
      slope.verify({.length = length}, wrong_stamps(slope), tally);
      EXPECT_GT(tally.checked, 0U);
      EXPECT_GT(tally.different, 0U);
    }
  });
}

TEST(Descriptions, PredictCountsOrSayWhyNot) {
  for_each_description([&](const Benchmark&, const Experiment& experiment) {
    if (!experiment.counts) {
      EXPECT_FALSE(experiment.not_counted.empty() && !experiment.conclude);
      return;
    }
    const CountPlan& plan = *experiment.counts;
    EXPECT_GT(std::max(plan.length.rounds, plan.length.blocks), 0U);
    EXPECT_LT(plan.slope, std::max<std::size_t>(experiment.slopes.size(), 1));
    EXPECT_GT(plan.units, 0);
    EXPECT_GT(plan.reads, 0);
    EXPECT_LE(plan.warps_per_sm, 64);
    for (const Expectation& one : plan.expected) {
      EXPECT_TRUE(std::isfinite(one.predicted) && one.predicted > 0) << one.quantity;
      EXPECT_FALSE(plan.model.empty());
    }
    if (plan.loads) {
      // A request of a warp touches between one sector and one for each lane.
      EXPECT_GT(plan.loads->requests, 0U);
      EXPECT_GE(plan.loads->sectors, plan.loads->requests);
      EXPECT_LE(plan.loads->sectors, 32 * plan.loads->requests);
      EXPECT_LE(plan.loads->distinct_sectors, plan.loads->sectors);
    }
  });
}

/// All that descriptions state, over all cases of each benchmark: names in full, numbers as sums.
std::string summary() {
  struct Stated {
    std::size_t cases = 0;
    std::set<std::string> names;
    std::map<std::string, double> sums;
  };
  std::map<std::string, Stated> all;
  for_each_description([&](const Benchmark& benchmark, const Experiment& experiment) {
    Stated& now = all[benchmark.name];
    const Sample sample = some_sample(experiment);
    const auto add = [&](const std::string& name, double number) {
      now.names.insert(name);
      now.sums[name] += number;
    };
    ++now.cases;
    for (const Row& row : experiment.rows) {
      const Method& method = row.method;
      add(fmt::format("row {} [{}] by {}{}{}", row.quantity, row.unit,
                      method.timer == By::named ? method.name
                                                : std::to_string(static_cast<int>(method.timer)),
                      row.most ? ", limited" : "", row.least ? ", at least" : ""),
          row.value(sample));
    }
    for (const Constant& one : experiment.constants)
      add(fmt::format("constant {} [{}] by {}", one.quantity, one.unit, one.method), one.value);
    for (const Slope& slope : experiment.slopes) {
      add("long work", slope.lengths.full.work);
      add("short work", slope.lengths.brief.work);
      add("writers", static_cast<double>(slope.writers));
      add("window " + slope.window.name, 1);
    }
    add("pairs", experiment.pairs);
    add("checked " + experiment.checked, 1);
    if (!experiment.unproved.gate.empty()) add("unproved " + experiment.unproved.gate, 1);
    if (!experiment.not_counted.empty()) add("not counted " + experiment.not_counted, 1);
    if (experiment.placement) {
      add("cores", static_cast<double>(experiment.placement->cores));
      add("warps of a core", experiment.placement->per_core);
    }
    if (experiment.facts) {
      for (const auto& [name, value] : experiment.facts(experiment)) {
        const auto* const whole = std::get_if<std::int64_t>(&value);
        add("fact " + name, whole == nullptr ? 1 : static_cast<double>(*whole));
      }
    }
    if (!experiment.counts) return;
    const CountPlan& plan = *experiment.counts;
    add("counted rounds", plan.length.rounds);
    for (const Expectation& one : plan.expected)
      add(fmt::format("expected {} per {} by {}", one.quantity, plan.unit, plan.model),
          one.predicted / plan.units);
    if (plan.loads) {
      add("load requests", static_cast<double>(plan.loads->requests));
      add("load sectors", static_cast<double>(plan.loads->sectors));
      add("repeated sectors", static_cast<double>(plan.loads->repeated_sectors));
      add("fetched sectors", static_cast<double>(plan.loads->fetched_sectors));
    }
    if (plan.served_by) add(fmt::format("served by {}", static_cast<int>(*plan.served_by)), 1);
    if (plan.stores) add("store sectors", static_cast<double>(plan.stores->sectors));
  });
  std::string text;
  for (const auto& [benchmark, stated] : all) {
    text += fmt::format("{}: {} cases\n", benchmark, stated.cases);
    for (const std::string& name : stated.names)
      text += fmt::format("  {}: {:.9g}\n", name, stated.sums.at(name));
  }
  return text;
}

TEST(Descriptions, AreThoseOnRecord) {
  const std::string file = std::string{source_folder()} + "/tests/data/descriptions.txt";
  const std::string now = summary();
  if (std::getenv("STRATA_RECORD") != nullptr) std::ofstream{file} << now;
  std::ostringstream recorded;
  recorded << std::ifstream{file}.rdbuf();
  EXPECT_EQ(now, recorded.str()) << "after an intended change: STRATA_RECORD=1 host_tests "
                                    "--gtest_filter=Descriptions.AreThoseOnRecord";
}

}  // namespace
}  // namespace strata
