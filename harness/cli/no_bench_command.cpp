#include "harness/base/error.hpp"
#include "harness/cli/commands.hpp"

namespace strata {

/// Hidden: it only reports why it is missing.
void add_bench(Command app, int& /*status*/) {
  auto sub = app.hidden_subcommand("bench");
  sub.allow_extras();
  sub.on_run([] {
    throw UsageError{
        "bench: this build has no Google Benchmark; install libbenchmark-dev and build with "
        "-DSTRATA_BENCH=ON"};
  });
}

}  // namespace strata
