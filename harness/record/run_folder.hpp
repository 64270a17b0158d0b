// The folder of one run: context.json, samples.jsonl, measurements.csv. Each finished case is one
// complete line, written before the next case begins, and survives any end of the run.
#pragma once

#include "harness/base/enum_words.hpp"
#include "harness/base/unique_fd.hpp"
#include "harness/case/case.hpp"
#include "harness/case/plan.hpp"
#include "harness/record/device.hpp"
#include "harness/record/measurement.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// A file of the run could not be written; what() is one line with its name and a remedy.
struct RunFolderError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Fact of a timed case whose steps have phases: seconds per step.
inline constexpr std::string_view step_fact = "step_seconds";
/// Case id → seconds per timed step, visit by visit.
using StepTimes = std::map<std::string, std::vector<double>, std::less<>>;

/// How this executable was built.
struct BuildInfo {
  std::string version;
  std::string commit;  ///< full hash; empty outside a repository
  bool dirty = false;
  std::string source_digest;
  std::string build_type;
  std::string compiler;
  std::string cuda_compiler;  ///< empty in a build without CUDA
  std::string flags;
  std::string cuda_architectures;
};

/// One cache of the host's CPU.
struct HostCache {
  int level = 0;
  std::string kind;  ///< "data", "instruction" or "unified"
  std::int64_t bytes = 0;
  std::int64_t line_bytes = 0;
  int shared_by = 0;  ///< logical cores that share it; 0 if unknown
};

/// The machine around the device.
struct HostInfo {
  std::string cpu;
  int cores = 0;  ///< logical cores that this process may use
  std::string os;
  std::string kernel;
  std::int64_t memory_bytes = 0;
  std::vector<HostCache> caches;
  Facts more;  ///< further keys of the same object
};

/// The expanded sweep of the run.
struct SweepInfo {
  std::string name;
  std::string file;
  std::string text;    ///< text of its file; empty in a run of an older build
  std::string digest;  ///< "sha256:…" of that text, in a run of an older build; otherwise empty
  Plan plan;
  std::vector<std::string> cases;  ///< ids, in the order of the run
  /// "coalescing: it runs on GPUs only": what the sweep names and the device cannot run.
  std::vector<std::string> dropped{};
};

/// The outcome of counting in a run.
struct CountersInfo {
  enum class State {
    counted,      ///< the counting phase ran; each case has its own outcome
    not_asked,    ///< --counters none
    unavailable,  ///< see `reason`: no access to counters, or the run ended before counting
    external      ///< counted by another process
  };
  std::vector<std::string> requested;  ///< the value of --counters: "auto", "none", or names
  State state = State::not_asked;
  std::string reason;           ///< empty when counted or not requested
  std::string mend;             ///< the remedy; may be empty
  CounterPlan plan;             ///< empty where counters could not be opened
  double counting_seconds = 0;  ///< wall time of the counting phase, over all sessions of the run
  double timing_seconds = 0;    ///< the same of the timing phase
};
constexpr auto words_of(CountersInfo::State /*unused*/) {
  return std::to_array<std::string_view>({"counted", "not_asked", "unavailable", "external"});
}

enum class RunState { running, complete, interrupted, aborted };
constexpr auto words_of(RunState /*unused*/) {
  return std::to_array<std::string_view>({"running", "complete", "interrupted", "aborted"});
}

/// The contents of context.json.
struct RunContext {
  std::string run;  ///< name of the folder, given by RunFolder::create
  BuildInfo strata;
  std::string started;               ///< UTC; set by RunFolder::create if empty
  std::string finished;              ///< UTC; empty (null in the file) until the run has ended
  std::vector<std::string> resumed;  ///< UTC: when the run was resumed
  RunState state = RunState::running;
  std::vector<std::string> command;
  Backend backend = Backend::host;
  DeviceIdentity device;  ///< facts may not be called slug, name or uuid
  HostInfo host;
  Facts libraries;  ///< versions; in runs of older builds
  SweepInfo sweep;
  CountersInfo counters;
  Facts clocks_before;
  Facts clocks_after;
  Facts timer;
  /// The JSON of describe_benchmarks(), verbatim; empty in a run of an older harness.
  std::string declarations;
};

/// "2026-11-21T01:02:03Z", independent of the locale and the time zone.
[[nodiscard]] std::string utc_text(
    std::chrono::system_clock::time_point when = std::chrono::system_clock::now());

/// "<device-slug>-<YYYYMMDDTHHMMSSZ>-<shortsha>"; "nogit" for an unknown commit. The name of a
/// GPU's run ends with the last four digits of the UUID.
[[nodiscard]] std::string run_name(const RunContext& context);

/// The state of a run, from the last timed record of each case and its counts.
struct RunCounts {
  std::size_t measured = 0;
  std::size_t skipped = 0;
  std::size_t failed = 0;
  std::size_t missing = 0;  ///< cases of the sweep without a record
  std::size_t counted = 0;  ///< of the measured ones, like the next three
  std::size_t counting_skipped = 0;
  std::size_t counting_failed = 0;
  std::size_t uncounted = 0;   ///< counting was never attempted
  std::size_t valid_rows = 0;  ///< of the merged records
  std::size_t invalid_rows = 0;
};

/// The only writer of a run's files. Throws RunFolderError when a file cannot be written; what was
/// written before stays readable.
class RunFolder {
 public:
  /// Creates `parent`/<run name>/ (and `parent`) and writes context.json with state `running`. If
  /// the folder exists, appends the next free of -2, -3, … to the name.
  [[nodiscard]] static RunFolder create(const std::filesystem::path& parent, RunContext context);

  /// Opens a run to resume it; changes nothing. Throws UsageError if `run` is not a run folder, has
  /// another schema version, is damaged before its last line, holds cases of another sweep, begins
  /// in the future or is being written by another process, or if a file in it is a link or not a
  /// regular file. The folder is untrusted.
  [[nodiscard]] static RunFolder open_for_resume(const std::filesystem::path& run);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const RunContext& context() const { return context_; }
  /// What start() will repair, in one line; empty if nothing.
  [[nodiscard]] const std::string& repair() const { return repair_; }

  /// Every case of the sweep, in its order.
  [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }
  /// The cases of the sweep without a record, and those that failed.
  [[nodiscard]] std::vector<Case> remaining() const;
  /// The measured cases with fewer visits than the plan requires, except those that take long.
  [[nodiscard]] std::vector<Case> unvisited() const;
  /// How often the case was measured.
  [[nodiscard]] int visits_of(const std::string& id) const;
  /// Visits of all cases that were made, where a case that failed or was skipped has one, and that
  /// unvisited() still needs.
  [[nodiscard]] std::size_t visits_made() const;
  [[nodiscard]] std::size_t visits_left() const;
  /// The measured cases that were not counted, and those whose counting failed.
  [[nodiscard]] std::vector<Case> uncounted() const;
  /// The same for tracing, of the cases that recorded the seconds of a step.
  [[nodiscard]] std::vector<Case> untraced() const;
  /// Of the cases whose steps have phases.
  [[nodiscard]] const StepTimes& steps() const { return steps_; }
  /// Case id → status of its last timed record.
  [[nodiscard]] const std::map<std::string, Status, std::less<>>& statuses() const {
    return statuses_;
  }

  /// Truncates an incomplete last line of a reopened run, and marks the run as running and resumed
  /// now. Call it before the first append().
  void start();

  /// Appends one line to samples.jsonl: all of it or, with an exception, nothing. Throws
  /// FormatError for a record that the format cannot hold, RunFolderError if the file was changed
  /// or replaced by someone else.
  void append(const CaseRecord& record);

  /// Replaces the context, and context.json atomically.
  void update(RunContext context);

  /// Regenerates measurements.csv from samples.jsonl.
  RunCounts write_measurements();

  /// Ends the run: writes measurements.csv, then context.json with this state, the time and, if
  /// given, the conditions `after`.
  RunCounts finish(RunState state, Facts after);

 private:
  RunFolder() = default;
  void make(const std::filesystem::path& parent, RunContext context);
  void open_samples(bool make);
  /// Throws RunFolderError unless samples.jsonl holds exactly what was written to it.
  void check_samples() const;
  void write_context();
  void note_status(const CaseRecord& record);
  [[nodiscard]] std::vector<Case> measured_and_not(
      const std::map<std::string, Status, std::less<>>& done) const;

  std::filesystem::path path_;
  RunContext context_;
  std::vector<Case> cases_;
  std::string repair_;
  bool reopened_ = false;
  UniqueFd samples_;
  off_t written_ = 0;  ///< bytes of complete lines
  std::map<std::string, Status, std::less<>> statuses_;
  std::map<std::string, int, std::less<>> visits_;      ///< measured since the first visit
  std::set<std::string, std::less<>> long_;             ///< cases with a single visit
  std::map<std::string, Status, std::less<>> counted_;  ///< counted since then
  std::map<std::string, Status, std::less<>> traced_;   ///< traced since then
  StepTimes steps_;
  std::chrono::steady_clock::time_point synced_;
};

/// The last timed record of each case in samples.jsonl, merged with the later visits, the counts
/// and the trace after it: in the order of `cases`, then the others by id. Ignores counts without a
/// timed record and an incomplete last line. Throws UsageError with file and line for anything else
/// that is not a record.
[[nodiscard]] std::vector<CaseRecord> read_samples(const std::filesystem::path& file,
                                                   const std::vector<std::string>& cases);

}  // namespace strata
