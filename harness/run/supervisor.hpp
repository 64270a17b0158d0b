// Runs a sweep in worker processes, so that a crash, a hang or a poisoned device costs one case and
// never the run. This process never touches CUDA: it spawns, listens, writes down. First every case
// is timed; then, by workers of their own, what was timed is counted.
#pragma once

#include "harness/case/error.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/run_folder.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/subprocess.hpp"
#include "harness/run/worker_channel.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata {

/// The sweep cannot go on, for a reason that is not the device's: what() is one line.
class SupervisionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SuperviseOptions {
  WorkerCommand worker;  ///< {"strata", "worker", "--device", "cuda:0"}
  Plan plan;
  std::vector<Case> cases;  ///< what is to be measured now: a subset of the folder's sweep
  std::string note = Counting{}.note;  ///< what a timed case says of its level
  /// {"strata", "worker", "--count", …}: counts what was timed. None: nothing is counted.
  std::optional<WorkerCommand> counter;
  /// Seconds for a worker to open its device and let it settle, before its first case.
  double start_allowance = 120;
  /// Seconds on top of plan.time_limit for the first case of a worker, which may load code and data
  /// that its neighbours then share.
  double first_case_allowance = 5;
  /// Seconds for a worker to leave after its last word.
  double end_allowance = 10;
};

struct RunSummary {
  RunCounts counts;  ///< of the whole run folder, earlier sessions of a resumed run included
  RunState state = RunState::complete;
  double seconds = 0;  ///< wall time of this call
  /// "case id: reason" of the cases that failed in this call, "case id: counting: reason" of those
  /// whose counting did.
  std::vector<std::string> failures;
  ExitCode exit_code = ExitCode::success;  ///< success, failed or interrupted
};

/// Measures options.cases, one worker at a time, then counts every case of the folder that was
/// measured and not yet counted, and writes every record to `folder` as it comes; at the end,
/// however it comes, measurements.csv and context.json are written too.
///
/// A worker that dies, hangs past the time limit or talks nonsense costs the case in flight, which
/// is recorded as failed with how; the next worker gets the cases that remain. SIGINT, SIGTERM and
/// SIGHUP (those that were not ignored) end the sweep as interrupted after the record being
/// written; a second one ends the process at once. Handlers are put back before it returns.
///
/// Counting that cannot be had costs no case and no exception: when two counting workers in a row
/// began no case, the context says that counters are unavailable, and why.
///
/// Throws, with the folder marked aborted: DeviceUnavailable when the device refused twice in a row
/// or is not the one that the run was begun on; SupervisionError when two timing workers in a row
/// died before any case, or a worker cannot be killed; RunFolderError when a file cannot be
/// written.
[[nodiscard]] RunSummary supervise(const SuperviseOptions& options, RunFolder& folder,
                                   Progress& progress);

/// Asks a short-lived worker ({"strata", "worker", "--probe", …}) what its device is: it sends a
/// DeviceMessage or a RefusedMessage on descriptor 3 and exits. Throws DeviceUnavailable with the
/// reason of the refusal, or with how the worker died or that it said nothing in `seconds`.
[[nodiscard]] DeviceMessage probe(const WorkerCommand& worker, double seconds = 120);

}  // namespace strata
