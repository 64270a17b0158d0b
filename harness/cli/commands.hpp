// The subcommands: each reads its own flags and returns the exit status of the process.
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
  std::vector<std::string>
      counters;  ///< as said; nothing said: auto, or what the resumed run asked
  bool dry_run = false;
  bool quiet = false;
  std::vector<std::string> command;  ///< argv, for context.json
};
[[nodiscard]] int run_command(const RunOptions& options);

struct BenchOptions {
  std::string sweep = "default";
  std::string device = "auto";
  std::vector<std::string> settings;
  std::vector<std::string> counters;  ///< cases are counted instead of timed; "external": by others
  std::vector<std::string> flags;     ///< for Google Benchmark
};
[[nodiscard]] int bench_command(const BenchOptions& options);

struct ListOptions {
  std::string cases;  ///< a sweep whose case ids are wanted instead
  std::string backend = "cuda";
};
[[nodiscard]] int list_command(const ListOptions& options);

struct CountersOptions {
  std::vector<std::string> wanted;  ///< sets, files of sets, metrics; empty: every built-in set
  std::string chip;                 ///< empty: that of the device
  std::string device = "auto";
  bool all_chips = false;
  std::string format = "table";
  std::string metrics;  ///< an expression: the metrics of the chip that match are wanted instead
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
  std::optional<std::uint32_t> systems;  ///< nothing said: as usual for the problem, here and below
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

/// Hands `arguments` to `python -m strata`. Replaces this process; returns only when it cannot.
[[nodiscard]] int analysis_command(const std::vector<std::string>& arguments);
/// Prints the ten numbers of the run in a folder that a person wants first. False where the
/// analysis package does not start or cannot read the run.
[[nodiscard]] bool say_first_numbers(const std::string& run);

}  // namespace strata
