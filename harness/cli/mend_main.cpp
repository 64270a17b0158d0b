// `strata access mend` alone, for builds of what it mends: the command holds the benchmarks.
#include "harness/case/error.hpp"
#include "harness/cli/access_mend_command.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>

int main(int argc, char** argv) {
  CLI::App app{"strata access mend", "strata_mend"};
  app.require_subcommand(1);
  int status = 0;
  strata::add_access_mend(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "strata_mend: {}\n", error.what());
    return static_cast<int>(strata::ExitCode::usage);
  }
  return status;
}
