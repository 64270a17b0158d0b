// The declarations of the benchmarks, for people and for the analysis.
#include "harness/base/error.hpp"
#include "harness/base/text.hpp"
#include "harness/case/controls.hpp"
#include "harness/case/sweep.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cpu/topology.hpp"
#include "nbody/common/ladder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

namespace strata {
namespace {

// --- for people ---

struct ListOptions {
  std::string name;
  bool json = false;
  std::string cases;
  std::string backend = "cuda";
};

std::vector<Backend> backends_of(const Enrolled& enrolled) {
  std::vector<Backend> backends;
  for (const Backend backend : {Backend::cuda, Backend::host}) {
    if (enrolled.body(backend) != nullptr) backends.push_back(backend);
  }
  return backends;
}

/// "cuda, host"; "(cuda)" where a build with CUDA would have it.
std::string backends_text(const Enrolled& enrolled) {
  std::vector<std::string> names;
  for (const Backend backend : backends_of(enrolled))
    names.emplace_back(to_string(backend));
  if (enrolled.cuda == nullptr && (enrolled.describe != nullptr || names.empty()))
    names.emplace_back("(cuda)");
  return joined(names);
}

/// The values of axes that no case of a backend has, as "--set" names them, without the benchmark.
std::map<std::string, std::vector<std::string>> missing_values(const Enrolled& enrolled,
                                                               Backend backend) {
  const Benchmark& benchmark = enrolled.benchmark;
  SweepEntry entry{.benchmark = benchmark.name, .axes = {}};
  for (const Axis& axis : benchmark.axes)
    entry.axes.emplace_back(axis.name, axis.choices.empty() ? axis.defaults : axis.choices);
  std::map<std::string, std::vector<std::string>> missing;
  try {
    for (const auto& [what, reason] :
         dropped_items({.entries = {std::move(entry)}}, backend, benchmarks())) {
      const auto dot = what.find('.');
      const auto equals = what.find('=');
      if (dot != std::string::npos)
        missing[what.substr(dot + 1, equals - dot - 1)].push_back(what.substr(equals + 1));
    }
  } catch (const UsageError&) {
    // More combinations than a sweep may have: every value is shown.
  }
  return missing;
}

void describe(const Enrolled& enrolled) {
  const Benchmark& b = enrolled.benchmark;
  fmt::print("{} of suite {}: {}\n", b.name, b.suite, b.question);
  fmt::print("  backends  {}\n", backends_text(enrolled));
  fmt::print("  cost      about {:g} s a case\n", b.seconds_per_case);
  std::map<Backend, std::map<std::string, std::vector<std::string>>> missing;
  for (const Backend backend : backends_of(enrolled))
    missing[backend] = missing_values(enrolled, backend);
  for (const auto& axis : b.axes) {
    fmt::print("  axis      {}: {}\n              of {}; default {}\n", axis.name, axis.meaning,
               axis.describe(), fmt::join(axis.defaults, ","));
    for (const auto& [backend, axes] : missing) {
      if (const auto values = axes.find(axis.name); values != axes.end())
        fmt::print("              not on {}: {}\n", to_string(backend), joined(values->second));
    }
  }
  for (const auto& quantity : b.quantities)
    fmt::print("  quantity  {}: {}\n", quantity.name, quantity.meaning);
}

/// A line for each benchmark of `suite`.
void list_suite(std::string_view suite) {
  constexpr std::size_t columns = 100;
  for (const auto& enrolled : benchmarks()) {
    const Benchmark& b = enrolled.benchmark;
    if (b.suite != suite) continue;
    std::string line =
        fmt::format("  {:<20} {:<12} {}", b.name, backends_text(enrolled), b.question);
    if (line.size() > columns) line = line.substr(0, columns - 3) + "...";
    fmt::print("{}\n", line);
  }
}

/// The benchmarks of `micro` by a line each, and how many rungs each ladder has.
void list_all() {
  std::map<std::string, std::size_t> counts;
  for (const auto& enrolled : benchmarks())
    ++counts[enrolled.benchmark.suite];
  const bool has_micro = counts.erase("micro") > 0;
  if (has_micro) list_suite("micro");
  for (const auto& [suite, count] : counts) {
    fmt::print("  {:<20} {} {}: strata list {}\n", suite, count,
               count == 1 ? "benchmark" : "benchmarks", suite);
  }
  fmt::print(
      "strata list NAME shows axes, values, quantities and cost{}\n",
      std::ranges::any_of(benchmarks(),
                          [](const Enrolled& one) { return backends_text(one).ends_with(')'); })
          ? "; (cuda): this build is for the host"
          : "");
}

void list_name(const std::string& name) {
  if (const auto* const enrolled = find_benchmark(name)) return describe(*enrolled);
  std::vector<std::string> names;
  bool is_suite = false;
  for (const auto& enrolled : benchmarks()) {
    names.push_back(enrolled.benchmark.name);
    is_suite = is_suite || enrolled.benchmark.suite == name;
  }
  if (is_suite) return list_suite(name);
  refuse({"NAME"}, "no benchmark or suite is called " + in_quotes(name), "a name of strata list",
         did_you_mean(name, names, "run strata list"));
}

void print_json(const std::string& name) {
  std::vector<Benchmark> chosen;
  for (const auto& enrolled : benchmarks()) {
    const Benchmark& b = enrolled.benchmark;
    if (name.empty() || b.name == name || b.suite == name) chosen.push_back(b);
  }
  if (chosen.empty()) return list_name(name);  // which refuses it
  auto all = nlohmann::ordered_json::parse(describe_benchmarks(chosen))["benchmarks"];
  for (const Benchmark& b : chosen) {
    const Enrolled& enrolled = *find_benchmark(b.name);
    all[b.name]["seconds_per_case"] = b.seconds_per_case;
    auto& described = all[b.name]["backends"] = nlohmann::ordered_json::object();
    for (const Backend backend : backends_of(enrolled))
      described[std::string{to_string(backend)}] = {
          {"missing_values", missing_values(enrolled, backend)}};
  }
  fmt::print("{}\n", all.dump(2));
}

void list(const ListOptions& options, bool of_sweep) {
  if (of_sweep) {
    const Sweep sweep =
        load_sweep(options.cases, benchmarks(), last_level_bytes(describe_host().caches));
    const Backend backend = *enum_from<Backend>(options.backend);
    print_dropped(sweep, dropped_items(sweep, backend, benchmarks()), /*each=*/true);
    for (const auto& which : expand(sweep, backend, benchmarks()))
      fmt::print("{}\n", which.id());
    return;
  }
  if (options.json) return print_json(options.name);
  if (options.name.empty()) return list_all();
  list_name(options.name);
}

// --- for context.json ---

using Declaration = nlohmann::ordered_json;

Declaration declaration_of(const Rung& rung) {
  Declaration one{{"name", rung.name},
                  {"backend", to_string(rung.backend)},
                  {"before", rung.before},
                  {"question", rung.question},
                  {"change", rung.change},
                  {"source", rung.source},
                  {"expectation", rung.expectation}};
  if (rung.suite != "nbody") return one;
  one.update({{"sum", to_string(rung.sum)},
              {"approximate", rung.approximate},
              {"issue_slots", rung.issue_slots_at()},
              {"bodies_of_block", rung.bodies_of_block},
              {"launch_for_each_system", rung.launch_for_each_system},
              {"threads_of_read", rung.threads_of_read},
              {"vector_operations", rung.vector_operations},
              {"layouts", rung.layouts}});
  return one;
}

}  // namespace

void add_list(Command app) {
  const auto options = std::make_shared<ListOptions>();
  auto sub = app.subcommand("list", "list the benchmarks; of one: axes, values, quantities, cost");
  sub.option("NAME", options->name, "a benchmark, or a suite: all that is known of it");
  sub.flag("--json", options->json, "declarations as JSON");
  sub.option("--cases", options->cases, "list the case ids of this sweep instead", "SWEEP");
  sub.option("--backend", options->backend, "backend of these cases").one_of({"cuda", "host"});
  sub.on_run([sub, options] { list(*options, sub.has("--cases")); });
}

void print_dropped(const Sweep& sweep, const std::vector<DroppedItem>& dropped, bool each) {
  // Not fmt::print, which throws if the pipe is closed: that must not end a run.
  const auto print = [](const std::string& line) {
    (void)std::fputs(fmt::format("strata: {}\n", one_line(line)).c_str(), stderr);
  };
  if (each || !is_builtin(sweep)) {
    for (const auto& [what, reason] : dropped)
      print(fmt::format("dropped {}: {}", what, reason));
  } else if (!dropped.empty()) {
    print(
        fmt::format("{} benchmarks and values of sweep '{}' are not for this device: strata run "
                    "--dry-run lists them",
                    dropped.size(), sweep.name));
  }
}

std::string describe_benchmarks(const std::vector<Case>& cases) {
  std::vector<Benchmark> known;
  for (const Case& which : cases) {
    const Enrolled* const enrolled = find_benchmark(which.benchmark, benchmarks_and_controls());
    const bool is_new = std::ranges::find(known, which.benchmark, &Benchmark::name) == known.end();
    if (enrolled != nullptr && is_new) known.push_back(enrolled->benchmark);
  }
  Declaration described = Declaration::parse(describe_benchmarks(known));
  for (const std::string& suite : ladders()) {
    if (std::ranges::find(cases, suite, &Case::suite) == cases.end()) continue;
    Declaration& rungs = suite == "nbody" ? described["rungs"] : described["ladders"][suite];
    for (const Rung& rung : ladder(suite))
      rungs.push_back(declaration_of(rung));
  }
  return described.dump();
}

}  // namespace strata
