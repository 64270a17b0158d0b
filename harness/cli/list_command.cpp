#include "harness/case/benchmark.hpp"
#include "harness/case/sweep.hpp"
#include "harness/cli/commands.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace strata {
namespace {

struct ListOptions {
  std::string cases;
  std::string backend = "cuda";
};

void describe(const Enrolled& enrolled) {
  const Benchmark& b = enrolled.benchmark;
  fmt::print("{}/{}  {}\n", b.suite, b.name, b.question);
  std::string backends;
  if (enrolled.cuda != nullptr) backends = "cuda";
  if (enrolled.host != nullptr) backends += backends.empty() ? "host" : ", host";
  if (backends.empty()) backends = "none in this build: it needs CUDA";
  fmt::print("  backends  {}\n", backends);
  fmt::print("  cost      about {:g} s a case\n", b.seconds_per_case);
  for (const auto& axis : b.axes) {
    fmt::print("  axis      {}: {}\n              of {}; default {}\n", axis.name, axis.meaning,
               axis.describe(), fmt::join(axis.defaults, ","));
  }
  for (const auto& quantity : b.quantities)
    fmt::print("  quantity  {}: {}\n", quantity.name, quantity.meaning);
}

void list(const ListOptions& options) {
  if (!options.cases.empty()) {
    const Sweep sweep = load_sweep(options.cases, benchmarks());
    for (const auto& which : expand(sweep, *enum_from<Backend>(options.backend), benchmarks()))
      fmt::print("{}\n", which.id());
    return;
  }
  for (const auto& enrolled : benchmarks()) {
    if (&enrolled != benchmarks().data()) fmt::print("\n");
    describe(enrolled);
  }
}

}  // namespace

void add_list(CLI::App& app) {
  const auto options = std::make_shared<ListOptions>();
  auto* sub = app.add_subcommand("list", "list the benchmarks: question, axes, quantities, cost");
  option(sub, "--cases", options->cases, "list the case ids of this sweep instead", "SWEEP");
  option(sub, "--backend", options->backend, "backend of those cases")
      ->check(CLI::IsMember({"cuda", "host"}));
  sub->callback([options] { list(*options); });
}

}  // namespace strata
