// The program strata-access. `strata access` starts it with its own command line.
#include "harness/cli/commands.hpp"
#include "harness/cli/program.hpp"

#include <filesystem>

int main(int argc, char** argv) {
  std::vector<std::string> command{argv, argv + argc};
  // `strata-access ARGS` means `strata access ARGS`.
  if (std::filesystem::path{command.front()}.filename() == "strata-access") {
    command.front() = "access";
    command.insert(command.begin(), "strata");
  }
  return strata::run_program(command, [&](strata::Command app, int& status) {
    strata::add_access(app, status, command);
    strata::add_access_worker(app);
  });
}
