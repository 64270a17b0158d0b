#include "harness/case/error.hpp"
#include "harness/cli/commands.hpp"

#include <CLI/CLI.hpp>

namespace strata {

/// Hidden: it says only why it is not there.
void add_bench(CLI::App& app, int& /*status*/) {
  auto* sub = app.add_subcommand("bench", "")->group("")->allow_extras();
  sub->callback([] {
    throw UsageError{
        "bench: this build has no Google Benchmark; install libbenchmark-dev and build with "
        "-DSTRATA_BENCH=ON"};
  });
}

}  // namespace strata
