// The frame of a program: version, hidden worker, and one line and an exit code for each error.
#pragma once

#include "harness/cli/command.hpp"

#include <functional>
#include <string>
#include <vector>

namespace strata {

/// Runs the subcommand that `command` (argv) selects of those that `add` adds. Returns the exit
/// status of the process, which `add` may have stored in its `status`.
[[nodiscard]] int run_program(std::vector<std::string> command,
                              const std::function<void(Command app, int& status)>& add);

}  // namespace strata
