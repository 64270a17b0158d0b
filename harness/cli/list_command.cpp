// The declarations of the benchmarks, for people and for the analysis.
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
#include <utility>

namespace strata {
namespace {

// --- for people ---

struct ListOptions {
  std::string cases;
  std::string backend = "cuda";
};

void describe(const Enrolled& enrolled) {
  const Benchmark& b = enrolled.benchmark;
  fmt::print("{}/{}  {}\n", b.suite, b.name, b.question);
  std::vector<std::string> backends;
  if (enrolled.cuda != nullptr) backends.emplace_back("cuda");
  if (enrolled.host != nullptr) backends.emplace_back("host");
  if (backends.empty()) backends.emplace_back("none in this build: it needs CUDA");
  fmt::print("  backends  {}\n", fmt::join(backends, ", "));
  fmt::print("  cost      about {:g} s a case\n", b.seconds_per_case);
  for (const auto& axis : b.axes) {
    fmt::print("  axis      {}: {}\n              of {}; default {}\n", axis.name, axis.meaning,
               axis.describe(), fmt::join(axis.defaults, ","));
  }
  for (const auto& quantity : b.quantities)
    fmt::print("  quantity  {}: {}\n", quantity.name, quantity.meaning);
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
  for (const auto& enrolled : benchmarks()) {
    if (&enrolled != benchmarks().data()) fmt::print("\n");
    describe(enrolled);
  }
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
  auto sub = app.subcommand("list", "list the benchmarks: question, axes, quantities and cost");
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
