// Rows, checks and facts of a rung's case, for all ladders and backends. Host only.
#pragma once

#include "harness/measure/step_rows.hpp"
#include "nbody/common/ladder.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace strata {

/// A quantity that follows from the seconds of a sample, by each of two timers.
struct TimedQuantity {
  std::string quantity;
  std::string unit;
  std::function<double(double seconds)> value;
};

/// Queued work of a sample on a GPU.
struct QueuedWork {
  Queued counted;
  Queued predicted;
};

/// A case before its first sample, and access to the results of its last one.
struct StepCase {
  Rung rung;
  std::size_t steps = 1;  ///< of a sample
  std::vector<TimedQuantity> timed;
  std::vector<ComparedCount> counts;  ///< of the rung's own code (check `model`)
  std::optional<QueuedWork> queued;
  /// Instructions of single lanes for a unit of `issue_limit`; 0: no meaningful limit.
  double lane_slots = 0;
  unsigned sms = 0;  ///< of a GPU
  /// Results that differ between the last sample and the verified one, of `results`.
  std::function<std::size_t()> different_at_end;
  std::size_t results = 0;
  std::string difference;  ///< "agents differ between …", for the check `result`
  /// Takes a sample, to be divided into phases: its seconds by the outer timer. Empty: no phases.
  std::function<double()> sample;
  Facts facts;  ///< besides the rung's story
};

/// Numbers of a sample: seconds of all its steps by the outer timer (GPU: events; CPU: the system's
/// clock) and by the inner one (GPU: the timer that all SMs share; CPU: the core's counter), and
/// the core's clock. Rows by both timers, constants, checks and facts of the case.
[[nodiscard]] Experiment describe(const StepCase& which);

/// Rows of a count: by the rung's code, and by the model.
void add_count(std::vector<Constant>& rows, const char* quantity, double counted, double predicted);

}  // namespace strata
