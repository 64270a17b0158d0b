// The subcommands: each reads its own flags and returns the exit status of the process.
#pragma once

#include <string>
#include <vector>

namespace strata {

struct RunOptions {
  std::string sweep = "default";
  std::string device = "auto";
  std::string filter;
  std::vector<std::string> settings;
  std::string out = "runs";
  std::string resume;
  bool dry_run = false;
  bool quiet = false;
  std::vector<std::string> command;  ///< argv, for context.json
};
[[nodiscard]] int run_command(const RunOptions& options);

struct BenchOptions {
  std::string sweep = "default";
  std::string device = "auto";
  std::vector<std::string> settings;
  std::vector<std::string> flags;  ///< for Google Benchmark
};
[[nodiscard]] int bench_command(const BenchOptions& options);

struct ListOptions {
  std::string cases;  ///< a sweep whose case ids are wanted instead
  std::string backend = "cuda";
};
[[nodiscard]] int list_command(const ListOptions& options);

[[nodiscard]] int doctor_command();

/// Hands `arguments` to `python -m strata`. Replaces this process; returns only when it cannot.
[[nodiscard]] int analysis_command(const std::vector<std::string>& arguments);

}  // namespace strata
