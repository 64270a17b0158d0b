// The subcommands. Each adds itself and its flags to `app`; parsing a command line that chooses it
// runs it, and leaves in `status` the exit status of the process.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/case.hpp"
#include "harness/case/sweep.hpp"
#include "harness/record/run_folder.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace CLI {
class App;
}

namespace strata {

void add_doctor(CLI::App& app);
void add_list(CLI::App& app);
/// `command`: argv, for context.json.
void add_run(CLI::App& app, int& status, const std::vector<std::string>& command);
void add_bench(CLI::App& app, int& status);
void add_selftest(CLI::App& app, int& status, const std::vector<std::string>& command);
void add_counters(CLI::App& app);
void add_model(CLI::App& app);
/// `command`: argv, for context.json.
void add_access(CLI::App& app, int& status, const std::vector<std::string>& command);
/// `access capture`; `app` is `access`.
void add_access_capture(CLI::App& app, int& status);
/// `access mend`; `app` is `access`.
void add_access_mend(CLI::App& app, int& status);
/// Internal to `access --run`: hidden.
void add_access_worker(CLI::App& app);
void add_nbody(CLI::App& app, int& status);
void add_neighbours(CLI::App& app, int& status);
void add_ladder(CLI::App& app);
/// Prints the story of every rung. Throws UsageError for a suite that has no ladder.
void print_ladder(const std::string& suite);
/// Those of `python -m strata`, which replaces this process.
void add_analysis(CLI::App& app);

/// Adds an option to a subcommand: of a list each value needs the flag again, of a text the default
/// is shown.
template <class App, class T>
auto* option(App* sub, const char* flag, T& value, const char* what, const char* type = nullptr) {
  auto* added = sub->add_option(flag, value, what);
  if (type != nullptr) added->type_name(type);
  if constexpr (std::is_same_v<T, std::vector<std::string>>) added->allow_extra_args(false);
  if constexpr (std::is_same_v<T, std::string>) {
    if (!value.empty()) added->capture_default_str();
  }
  return added;
}

/// What a run left behind.
struct RecordedRun {
  std::filesystem::path folder;
  RunContext context;
  RunState state = RunState::complete;
};
/// Measures, and counts where counters can be had, the cases of the sweep that `sweep_on` gives for
/// the device's backend; controls may be among them. The run folder is made in `out`.
[[nodiscard]] RecordedRun record_run(const std::function<Sweep(Backend)>& sweep_on,
                                     const std::string& device, const std::string& out,
                                     const std::vector<std::string>& command, bool quiet);

/// Prints the most important numbers of a run. False when the analysis package does not start or
/// cannot read the run.
[[nodiscard]] bool say_first_numbers(const std::string& run);

/// What benchmarks and rungs say of themselves, for context.json, where the analysis reads it: a
/// JSON object with `benchmarks`, the declarations of those that `cases` are of, by name; where one
/// is of suite nbody, `rungs`, that ladder in its order; and `ladders`, by suite the stories of the
/// other ladders that cases are of (results/schema/README.md).
[[nodiscard]] std::string describe_benchmarks(const std::vector<Case>& cases);
/// The same of benchmarks that are not enrolled.
[[nodiscard]] std::string describe_benchmarks(const std::vector<Benchmark>& benchmarks);

/// Prints `text` in lines of a page's width, broken between words, beside `label`, which stands in
/// a column of its own.
void print_note(std::string_view label, std::string_view text);

}  // namespace strata
