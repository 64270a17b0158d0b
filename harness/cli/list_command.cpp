// The declarations of the benchmarks, for people and for the analysis.
#include "harness/base/text.hpp"
#include "harness/case/controls.hpp"
#include "harness/case/story.hpp"
#include "harness/case/sweep.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cpu/topology.hpp"
#include "nbody/gravity/ladder.hpp"

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

Declaration ladder() {
  Declaration rungs = Declaration::array();
  for (const nbody::Rung& rung : nbody::ladder()) {
    rungs.push_back({{"name", rung.name},
                     {"backend", to_string(rung.backend)},
                     {"before", rung.before},
                     {"question", rung.question},
                     {"change", rung.change},
                     {"source", rung.source},
                     {"expectation", rung.expectation},
                     {"sum", to_string(rung.sum)},
                     {"approximate", rung.approximate},
                     {"issue_slots", rung.issue_slots},
                     {"bodies_of_block", rung.bodies_of_block},
                     {"launch_for_each_system", rung.launch_for_each_system},
                     {"threads_of_read", rung.threads_of_read},
                     {"vector_operations", rung.vector_operations},
                     {"layouts", rung.layouts}});
  }
  return rungs;
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
  if (std::ranges::any_of(cases, [](const Case& which) { return which.suite == "nbody"; })) {
    described["rungs"] = ladder();
  }
  for (const Ladder& one : ladders()) {
    const bool is_listed =
        std::ranges::any_of(cases, [&](const Case& which) { return which.suite == one.suite; });
    if (!is_listed || one.suite == "nbody") continue;  // its rungs have more than their stories
    for (const Story& story : one.stories) {
      described["ladders"][one.suite].push_back({{"name", story.name},
                                                 {"backend", to_string(story.backend)},
                                                 {"before", story.before},
                                                 {"question", story.question},
                                                 {"change", story.change},
                                                 {"source", story.source},
                                                 {"expectation", story.expectation}});
    }
  }
  return described.dump();
}

}  // namespace strata
