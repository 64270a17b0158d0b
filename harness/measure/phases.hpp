// The time of a step by phase: allocation, copies, work on the host, kernels, and idle time. Host
// only: converts records of what ran when into seconds by phase.
#pragma once

#include "harness/counters/tracer.hpp"
#include "harness/model/queued.hpp"
#include "harness/record/measurement.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata {

class Session;

/// The phase of a kernel by the name of its function: "step_of". Fills and copies within the device
/// are called `fill_name` and `copy_within_name`.
struct KernelPhase {
  std::string function;
  StepPhase phase = StepPhase::search;
};
inline constexpr const char* fill_name = "cudaMemset";
inline constexpr const char* copy_within_name = "cudaMemcpyDeviceToDevice";

/// The function of a kernel, without namespaces, template arguments and parameters:
/// "_ZN6strata5countEj" is "count".
[[nodiscard]] std::string kernel_function(const std::string& linker_name);

/// A traced sample.
struct Divided {
  std::array<std::int64_t, step_phases> nanoseconds{};  ///< by phase; their sum is the sample
  std::array<std::int64_t, step_phases> on_host{};      ///< of them: the host's work, idle excluded
  double outside = 0;                ///< seconds of records before the begin of the sample
  double recording = 0;              ///< seconds taken out, because recording took them
  std::vector<std::string> unknown;  ///< functions without a declared phase, once each
  Queued queued;
  Queued queued_in;  ///< only its copies to the device

  [[nodiscard]] double of(StepPhase phase) const {
    return static_cast<double>(nanoseconds[static_cast<std::size_t>(phase)]) * 1e-9;
  }
  [[nodiscard]] double seconds() const;
  /// Takes the seconds that recording added to the sample out of idle. It slows the host alone: the
  /// rest comes out of the host's work, of each phase in proportion; the device's time stays.
  void take_out(double added);
};

/// Divides a sample of `seconds` that ended with the last of its records. If several ran at once,
/// the device takes precedence over the host; of two on one side the later one, so that a part of
/// the host's work may be inside the whole. Time of an unknown kernel is idle time.
[[nodiscard]] Divided divide(std::span<const Activity> records,
                             std::span<const KernelPhase> kernels, double seconds);

/// The traced parts of a case.
struct TracePlan {
  std::function<double()> run;  ///< takes a sample; returns its seconds
  std::vector<KernelPhase> kernels;
  double steps = 1;                        ///< in a sample
  std::function<std::size_t()> different;  ///< wrong results of the last sample
  std::optional<Queued> queued;            ///< in a sample, as counted by the program
};

/// `phases`: phases and idle time add up to the timed step within 3 %, or 10 % for a step below a
/// millisecond, and every kernel has a phase. The tracing process is one more visit: where the
/// timed ones differ, as those of steps that wait for the host do, the step may be anywhere
/// between them. Unverified without `timed_steps`, the seconds per step of each visit.
[[nodiscard]] Gate phases_gate(std::span<const Divided> samples, double steps,
                               std::span<const double> timed_steps);

/// Traces several samples, each after prepare(), which leaves the device idle. If recording slows
/// them (CUPTI takes the host about a microsecond for an operation, and the device waits), as many
/// are taken without it first, and the difference to their median is taken out. Adds to the
/// session a row for each phase that occurs, the queued work, and the gates of both. Throws
/// std::runtime_error if results are wrong.
void trace_phases(Session& session, Tracer& tracer, const TracePlan& plan,
                  const std::function<void()>& prepare);

}  // namespace strata
