// Runs a sweep in worker processes, so that a crash, a hang or a poisoned device costs one case,
// not the run. This process never uses CUDA: it starts workers and records their answers. All cases
// are timed first, then counted by separate workers, then traced by others where their steps have
// phases.
#pragma once

#include "harness/case/error.hpp"
#include "harness/case/subprocess.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/run_folder.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/worker_channel.hpp"

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
  // Seconds for a worker: to open its device and let it settle; for its first case, which loads
  // code and data, beyond plan.time_limit; to exit after its last message.
  double start_allowance = 120;
  double first_case_allowance = 5;
  double end_allowance = 10;
};

struct RunSummary {
  RunCounts counts;  ///< of the whole run folder, earlier sessions of a resumed run included
  RunState state = RunState::complete;
  double seconds = 0;                 ///< wall time of this call
  std::vector<std::string> failures;  ///< of this call: "case id: reason", or "…: counting: reason"
  ExitCode exit_code = ExitCode::success;  ///< success, failed or interrupted
};

/// Times options.cases, one worker at a time, then again what the plan visits more than once, then
/// counts every measured case of the folder that has no counts yet, and traces those that said what
/// a step takes. Writes each record to `folder` as it arrives and, however the sweep ends,
/// measurements.csv and context.json at the end. A worker that dies, exceeds the time limit or
/// breaks the protocol costs the case in flight, which is recorded as failed with the reason; the
/// next worker gets the remaining cases. SIGINT, SIGTERM and SIGHUP (unless ignored) end the sweep
/// as interrupted after the current record; a second signal ends the process at once. Without
/// access to counters no case fails: when two counting workers in a row begin no case, the context
/// says why counters are unavailable; of tracing workers, each case is recorded as not traced, with
/// the reason. Throws, with the folder marked aborted: DeviceUnavailable
/// when the device refused twice in a row or is not the one that the run was begun on;
/// SupervisionError when two timing workers in a row died before any case, or a worker cannot be
/// killed; RunFolderError.
[[nodiscard]] RunSummary supervise(const SuperviseOptions& options, RunFolder& folder,
                                   Progress& progress);

/// What an anonymous run says in place of a UUID: the same for the same device, and nothing else.
[[nodiscard]] std::string hidden_uuid(const std::string& uuid);

/// Asks a short-lived worker ({"strata", "worker", "--probe", …}) for its device. Throws
/// DeviceUnavailable with the worker's reason, with how it died, or when it does not answer within
/// `seconds`; UsageError when what was to be counted has unknown names.
[[nodiscard]] DeviceMessage probe(const ChildCommand& worker, double seconds = 120);

}  // namespace strata
