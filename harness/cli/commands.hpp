// The subcommands. Each returns the exit status of the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

struct RunOptions {
  std::string sweep = "default";
  std::string device = "auto";
  std::string filter;
  std::vector<std::string> settings;
  std::string out = "runs";
  std::string resume;
  std::vector<std::string> counters;  ///< empty: auto, or those of the resumed run
  bool dry_run = false;
  bool quiet = false;
  std::vector<std::string> command;  ///< argv, for context.json
};
[[nodiscard]] int run_command(const RunOptions& options);

struct BenchOptions {
  std::string sweep = "default";
  std::string device = "auto";
  std::vector<std::string> settings;
  std::vector<std::string> counters;  ///< not empty: count the cases instead of timing them
  std::vector<std::string> flags;     ///< for Google Benchmark
};
[[nodiscard]] int bench_command(const BenchOptions& options);

struct ListOptions {
  std::string cases;  ///< list the case ids of this sweep instead
  std::string backend = "cuda";
};
[[nodiscard]] int list_command(const ListOptions& options);

struct CountersOptions {
  std::vector<std::string> wanted;  ///< sets, files of sets, metrics; empty: every built-in set
  std::string chip;                 ///< empty: that of the device
  std::string device = "auto";
  bool all_chips = false;
  std::string format = "table";
  std::string metrics;  ///< list the metrics of the chip that match this expression instead
};
[[nodiscard]] int counters_command(const CountersOptions& options);

[[nodiscard]] int doctor_command();

struct ModelOptions {
  std::vector<std::string> layouts;  ///< empty: all, here and below
  std::vector<std::string> fields;
  std::vector<std::string> generations;  ///< names, or compute capabilities such as 9.0
  std::string format = "table";          ///< or "csv", "json"
  // A pattern instead of layouts: lane k reads element offset + stride × (place of k).
  std::optional<long long> width;  ///< bytes of an element
  std::optional<long long> stride;
  std::optional<long long> offset;
  std::string permutation;  ///< "identity", "reversed" or "random"; empty: identity
};
[[nodiscard]] int model_command(const ModelOptions& options);

struct NbodyOptions {
  std::string problem = "galaxies";
  std::optional<std::uint32_t> systems;  ///< default: that of the problem; the same for bodies
  std::optional<std::uint32_t> bodies;
  std::uint64_t seed = 2009;
  std::string file;
  std::string other;  ///< what the file is compared with, or where the result goes
  std::uint32_t steps = 0;
  /// A plain program in single precision ends 80 steps of 32 × 4096 bodies within 5e-5.
  double tolerance = 2e-4;
  bool overwrite = false;
};
/// `action`: generate, verify, reference, trimmed-mean or ladder.
[[nodiscard]] int nbody_command(std::string_view action, const NbodyOptions& options);

/// Replaces this process by `python -m strata arguments`. Throws UsageError when it cannot start.
[[nodiscard]] int analysis_command(const std::vector<std::string>& arguments);
/// Prints the most important numbers of a run. False when the analysis package does not start or
/// cannot read the run.
[[nodiscard]] bool say_first_numbers(const std::string& run);

}  // namespace strata
