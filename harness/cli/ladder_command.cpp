// strata ladder: the stories of the rungs.
#include "harness/base/text.hpp"
#include "harness/case/story.hpp"
#include "harness/cli/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace strata {
namespace {

void print(const Story& story) {
  fmt::print("{} ({})\n", story.name, story.backend == Backend::host ? "CPU" : "GPU");
  print_note("  before", story.before.empty() ? "none: it is the first" : story.before);
  print_note("  question", story.question);
  print_note("  change", story.change);
  print_note("  source", story.source);
  print_note("  expected", story.expectation);
}

/// One line for each ladder: how many rungs it has on which device.
void print_summary(const std::vector<Ladder>& all) {
  for (const Ladder& ladder : all) {
    const auto rungs = [&](Backend backend) {
      return std::ranges::count(ladder.stories, backend, &Story::backend);
    };
    print_note(ladder.suite, fmt::format("{} rungs on a CPU, {} on a GPU", rungs(Backend::host),
                                         rungs(Backend::cuda)));
  }
  fmt::print("strata ladder SUITE prints a ladder rung by rung.\n");
}

}  // namespace

void print_ladder(const std::string& suite) {
  const std::vector<Ladder> all = ladders();
  const auto found = std::ranges::find(all, suite, &Ladder::suite);
  if (found == all.end()) {
    std::vector<std::string> suites(all.size());
    std::ranges::transform(all, suites.begin(), &Ladder::suite);
    refuse({"strata ladder"}, "no suite " + in_quotes(suite) + " has a ladder", joined(suites),
           did_you_mean(suite, suites, "name one of these"));
  }
  for (const Story& story : found->stories) {
    if (&story != found->stories.data()) fmt::print("\n");
    print(story);
  }
}

void add_ladder(Command app) {
  const auto suite = std::make_shared<std::string>();
  auto sub =
      app.subcommand("ladder", "list the rungs of a ladder: change, source and expected gain");
  sub.option("suite", *suite, "the ladder; default: list the ladders", "SUITE");
  sub.on_run([suite] {
    if (suite->empty()) {
      print_summary(ladders());
    } else {
      print_ladder(*suite);
    }
  });
}

}  // namespace strata
