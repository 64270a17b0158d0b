// strata ladder: the rungs.
#include "harness/base/text.hpp"
#include "harness/cli/commands.hpp"
#include "nbody/common/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace strata {
namespace {

void print(const Rung& rung) {
  fmt::print("{} ({})\n", rung.name, rung.backend == Backend::host ? "CPU" : "GPU");
  print_note("  before", rung.before.empty() ? "none: it is the first" : rung.before);
  print_note("  question", rung.question);
  print_note("  change", rung.change);
  print_note("  source", rung.source);
  print_note("  expected", rung.expectation);
}

/// One line for each ladder: how many rungs it has on which device.
void print_summary() {
  for (const std::string& suite : ladders()) {
    const auto rungs = [&](Backend backend) {
      return std::ranges::count(ladder(suite), backend, &Rung::backend);
    };
    print_note(suite, fmt::format("{} rungs on a CPU, {} on a GPU", rungs(Backend::host),
                                  rungs(Backend::cuda)));
  }
  fmt::print("strata ladder SUITE prints a ladder rung by rung.\n");
}

}  // namespace

void print_ladder(const std::string& suite) {
  const std::vector<std::string> suites = ladders();
  if (std::ranges::find(suites, suite) == suites.end()) {
    refuse({"strata ladder"}, "no suite " + in_quotes(suite) + " has a ladder", joined(suites),
           did_you_mean(suite, suites, "name one of these"));
  }
  const std::vector<Rung>& rungs = ladder(suite);
  for (const Rung& rung : rungs) {
    if (&rung != rungs.data()) fmt::print("\n");
    print(rung);
  }
}

void add_ladder(Command app) {
  const auto suite = std::make_shared<std::string>();
  auto sub =
      app.subcommand("ladder", "list the rungs of a ladder: change, source and expected gain");
  sub.option("suite", *suite, "the ladder; default: list the ladders", "SUITE");
  sub.on_run([suite] {
    if (suite->empty()) {
      print_summary();
    } else {
      print_ladder(*suite);
    }
  });
}

}  // namespace strata
