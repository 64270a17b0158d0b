// strata access: a program of its own beside this one, so that this one is built without it.
#include "harness/base/error.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/base/this_process.hpp"
#include "harness/cli/commands.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace strata {

void add_access_program(Command app, const std::vector<std::string>& command) {
  auto sub = app.subcommand(
      "access", "analyse the memory accesses of a CUDA kernel, line by line; needs no GPU");
  // Before the arguments are parsed: all of them are that program's.
  sub.before_parsing([command] {
    const std::filesystem::path folder = program_folder();
    const std::string program = (folder / "strata-access").string();
    std::vector<std::string> words = command;
    (void)::execv(program.c_str(), argument_vector(words).data());
    throw UsageError{
        fmt::format("cannot start {}: {}; build it with: cmake --build {} --target strata-access",
                    program, std::strerror(errno), folder.parent_path().string())};
  });
}

}  // namespace strata
