#include "harness/case/benchmark.hpp"
#include "harness/case/sweep.hpp"
#include "harness/cli/commands.hpp"

#include <fmt/format.h>

#include <string>

namespace strata {
namespace {

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
    std::string defaults;
    for (const auto& value : axis.defaults)
      defaults += (defaults.empty() ? "" : ",") + value;
    fmt::print("  axis      {}: {}\n              of {}; default {}\n", axis.name, axis.meaning,
               axis.describe(), defaults);
  }
  for (const auto& quantity : b.quantities) {
    fmt::print("  quantity  {}: {}\n", quantity.name, quantity.meaning);
  }
}

}  // namespace

int list_command(const ListOptions& options) {
  if (!options.cases.empty()) {
    const Sweep sweep = load_sweep(options.cases, benchmarks());
    for (const auto& which : expand(sweep, *enum_from<Backend>(options.backend), benchmarks())) {
      fmt::print("{}\n", which.id());
    }
    return 0;
  }
  bool first = true;
  for (const auto& enrolled : benchmarks()) {
    if (!first) fmt::print("\n");
    first = false;
    describe(enrolled);
  }
  return 0;
}

}  // namespace strata
