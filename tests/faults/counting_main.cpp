// `strata access` with a device that fake_kernel_counts.cpp pretends to be.
#include "harness/case/error.hpp"
#include "harness/case/text.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counters.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

/// No run folder is made here.
std::string strata::describe_benchmarks(const std::vector<Benchmark>& /*benchmarks*/) {
  return {};
}

int main(int argc, char** argv) {
  CLI::App app{"Counts launches on a device that is none.", "strata"};
  int status = 0;
  strata::add_access(app, status, {argv, argv + argc});
  strata::add_access_worker(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const strata::UsageError& error) {
    fmt::print(stderr, "strata: {}\n", strata::one_line(error.what()));
    return static_cast<int>(strata::ExitCode::usage);
  }
  return status;
}
