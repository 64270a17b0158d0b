// The command line of strata. The other files of this folder implement the subcommands.
#include "harness/base/text.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/program.hpp"

#include <fmt/format.h>

namespace strata {

void print_written(const std::string& file, std::string_view summary) {
  fmt::print("{}: {}\n", one_line(file), summary);
}

void print_note(std::string_view label, std::string_view text) {
  constexpr std::size_t page = 98;  // columns of text
  constexpr std::size_t column = 12;
  std::string line;
  const auto print_line = [&] {
    fmt::print("{:<{}}{}\n", label, column, line);
    label = {};
    line.clear();
  };
  for (const std::string_view word : split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > page - column) print_line();
    if (!line.empty()) line += ' ';
    line += word;
  }
  print_line();
}

}  // namespace strata

int main(int argc, char** argv) {
  const std::vector<std::string> command{argv, argv + argc};
  return strata::run_program(command, [&](strata::Command app, int& status) {
    using namespace strata;
    add_doctor(app);
    add_list(app);
    add_run(app, status, command);
    add_bench(app, status);
    add_selftest(app, status, command);
    add_counters(app);
    add_model(app);
    add_access_program(app, command);
    add_nbody(app, status);
    add_neighbours(app, status);
    add_fstat(app, status);
    add_ladder(app);
    add_profile(app, status, command);
    add_analysis(app);
  });
}
