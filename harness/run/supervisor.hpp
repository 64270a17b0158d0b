// Runs a sweep in worker processes, so that a crash, a hang or a sticky device error costs one
// case, not the run. This process never uses CUDA: it starts workers and records their answers. All
// cases are timed first, then counted by separate workers, then traced by others if their steps
// have phases.
#pragma once

#include "harness/base/error.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/run_folder.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/worker_channel.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata {

/// The sweep cannot continue, and not because of the device; what() is one line.
class SupervisionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SuperviseOptions {
  ChildCommand worker;  ///< {"strata", "worker", "--device", "cuda:0"}
  Plan plan;
  std::vector<Case> cases;              ///< to time now: a subset of the folder's sweep
  std::string note = Counting{}.note;   ///< for the level gate of a timed case
  std::optional<ChildCommand> counter;  ///< {"strata", "worker", "--count", …}; none: no counting
  std::optional<ChildCommand> tracer;   ///< {"strata", "worker", "--trace", …}; none: no tracing
  // Seconds that a worker may take: to open its device and let it settle; for its first case, which
  // loads code and data, in addition to plan.time_limit; to exit after its last message.
  double start_allowance = 120;
  double first_case_allowance = 5;
  double end_allowance = 10;
  /// The sweep is then interrupted as by a signal.
  std::chrono::steady_clock::time_point stop_at = std::chrono::steady_clock::time_point::max();
};

/// What an interrupted run has left to do.
struct WorkLeft {
  std::size_t cases = 0;   ///< with any of the following
  std::size_t timing = 0;  ///< cases to time
  std::size_t visits = 0;  ///< further visits of cases that were timed
  std::size_t counting = 0;
  std::size_t tracing = 0;
};

struct RunSummary {
  /// Of the whole run folder, including earlier sessions of a resumed run. If interrupted, cases
  /// with any work left are missing.
  RunCounts counts;
  RunState state = RunState::complete;
  WorkLeft left;                      ///< if interrupted
  double seconds = 0;                 ///< wall time of this call
  std::vector<std::string> failures;  ///< of this call: "case id: reason", or "…: counting: reason"
  ExitCode exit_code = ExitCode::success;  ///< success, failed or interrupted
};

/// Times options.cases, one worker at a time, again for further visits of the plan; then counts
/// every measured case of the folder without counts, and traces those that recorded the seconds of
/// a step. Writes each record to `folder` as it arrives and, however the sweep ends,
/// measurements.csv and context.json at the end.
///
/// A worker that dies, exceeds the time limit or breaks the protocol costs the case in flight,
/// which is recorded as failed with the reason; the next worker gets the remaining cases. SIGINT,
/// SIGTERM and SIGHUP (unless ignored) end the sweep as interrupted after the current record, as
/// does options.stop_at; a second signal ends the process at once. Without access to counters no
/// case fails: if two counting workers in a row begin no case, the context records why counters are
/// unavailable; for tracing workers, each case is recorded as not traced, with the reason.
///
/// Throws, with the folder marked aborted: DeviceUnavailable if the device refused twice in a row
/// or is not the one of the run; SupervisionError if two timing workers in a row died before any
/// case, or a worker cannot be killed; RunFolderError.
[[nodiscard]] RunSummary supervise(const SuperviseOptions& options, RunFolder& folder,
                                   Progress& progress);

/// Replaces the UUID in an anonymous run: the same text for the same device, without further
/// information.
[[nodiscard]] std::string hidden_uuid(const std::string& uuid);

/// Queries a short-lived worker ({"strata", "worker", "--probe", …}) for its device. Throws
/// DeviceUnavailable with the worker's reason, with how it died, or if it does not answer within
/// `seconds`; UsageError if the selection of counters has unknown names.
[[nodiscard]] DeviceMessage probe(const ChildCommand& command, double seconds = 120);

}  // namespace strata
