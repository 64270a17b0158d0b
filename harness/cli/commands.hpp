// The subcommands. Each adds itself and its flags to `app`. Parsing a command line that selects it
// runs it, and stores the exit status of the process in `status`.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/case.hpp"
#include "harness/case/sweep.hpp"
#include "harness/cli/command.hpp"
#include "harness/record/run_folder.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

void add_doctor(Command app);
void add_list(Command app);
/// `command`: argv, for context.json.
void add_run(Command app, int& status, const std::vector<std::string>& command);
void add_bench(Command app, int& status);
void add_selftest(Command app, int& status, const std::vector<std::string>& command);
void add_counters(Command app);
void add_model(Command app);
/// Replaces this process by strata-access with the same `command` (argv).
void add_access_program(Command app, const std::vector<std::string>& command);
/// Of strata-access. `command`: argv, for context.json.
void add_access(Command app, int& status, const std::vector<std::string>& command);
// `app` is `access`.
void add_access_capture(Command app, int& status);
void add_access_optimize(Command app, int& status);
/// Internal to `access --run`: hidden.
void add_access_worker(Command app);
void add_nbody(Command app, int& status);
void add_neighbours(Command app, int& status);
void add_fstat(Command app, int& status);
void add_ladder(Command app);
/// Prints the story of every rung. Throws UsageError for a suite without a ladder.
void print_ladder(const std::string& suite);
/// The subcommands of `python -m strata`, which replaces this process.
void add_analysis(Command app);
/// The command that calls the analysis package; adds the package to PYTHONPATH: the one installed
/// with this program, otherwise the one of the sources, otherwise that of the interpreter. This is
/// STRATA_PYTHON, otherwise the one next to this program, otherwise the environment next to the
/// sources, otherwise the one on the PATH.
[[nodiscard]] std::vector<std::string> analysis_call(const std::vector<std::string>& arguments);
void add_profile(Command app, int& status, const std::vector<std::string>& command);

/// The options that select the compiler of CUDA sources.
template <class Tools>
void add_compiler_options(Command sub, Tools& tools) {
  sub.option("--compiler", tools.compiler, "compiler for CUDA sources (default nvcc, else clang++)",
             "NAME");
  sub.option("--flag", tools.flags, "flag for the compiler, as in --flag=-Iinclude", "FLAG");
  sub.option("--arch", tools.architecture, "target architecture, such as sm_90", "TARGET");
}

/// The results of a run.
struct RecordedRun {
  std::filesystem::path folder;
  RunContext context;
  RunState state = RunState::complete;
};
/// Measures the cases of the sweep that `sweep_on` returns for the device's backend, and counts
/// them if counters are available; controls may be among them. Creates the run folder in `out`.
[[nodiscard]] RecordedRun record_run(const std::function<Sweep(Backend)>& sweep_on,
                                     const std::string& device, const std::string& out,
                                     const std::vector<std::string>& command, bool quiet);

/// The declarations of benchmarks and rungs for context.json, where the analysis reads them: a JSON
/// object with `benchmarks`, by name those of `cases`; `rungs`, the ladder in its order, if a case
/// is of suite nbody; and `ladders`, by suite the stories of the other ladders
/// (results/schema/README.md).
[[nodiscard]] std::string describe_benchmarks(const std::vector<Case>& cases);
/// The same for benchmarks that are not registered.
[[nodiscard]] std::string describe_benchmarks(const std::vector<Benchmark>& benchmarks);

/// Prints items of a sweep that a device cannot run to standard error, one line for each. Without
/// `each`: one line for all of a built-in sweep, since those are written for GPUs and CPUs.
void print_dropped(const Sweep& sweep, const std::vector<DroppedItem>& dropped, bool each);

/// Describes a file that was written.
void print_written(const std::string& file, std::string_view summary);
/// Prints `text` in lines of a page's width, broken between words, beside `label`, which has
/// a column of its own.
void print_note(std::string_view label, std::string_view text);

}  // namespace strata
