// What the time of a step goes into: allocation, copies, work on the host, kernels, and what
// nothing covers. Host only: from records of what ran when to seconds by phase.
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

/// Which phase a kernel belongs to, by the name of its function: "step_of". Fills and copies within
/// the device are called `fill_name` and `copy_within_name`.
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
  std::array<std::int64_t, step_phases> nanoseconds{};  ///< by phase; they add up to the sample
  double outside = 0;                ///< seconds of records that lie before the sample's begin
  std::vector<std::string> unknown;  ///< functions that no phase was declared for, once each
  Queued queued;
  Queued queued_in;  ///< its copies to the device alone

  [[nodiscard]] double of(StepPhase phase) const {
    return static_cast<double>(nanoseconds[static_cast<std::size_t>(phase)]) * 1e-9;
  }
  [[nodiscard]] double seconds() const;
};

/// Divides a sample of `seconds`, which ended with the last of its records. Where several ran at
/// once, the device's counts, not the host's behind it; of two on one side the one that began
/// later, so that a part of the host's work may stand within the whole of it. What an unknown
/// kernel took is nobody's: it is idle.
[[nodiscard]] Divided divide(std::span<const Activity> records,
                             std::span<const KernelPhase> kernels, double seconds);

/// What is traced of a case.
struct TracePlan {
  std::function<double()> run;  ///< takes a sample: its seconds by the timer of the case's rate
  std::vector<KernelPhase> kernels;
  double steps = 1;                        ///< of a sample
  std::function<std::size_t()> different;  ///< results of the last sample that are wrong
  std::optional<Queued> queued;            ///< in a sample, as who queued it counted
};

/// `phases`: phases and idle make up the step as it was timed, within 3 %, or 10 % of a step below
/// a millisecond, and every kernel has a phase. Unverified where the timed step is 0.
[[nodiscard]] Gate phases_gate(std::span<const Divided> samples, double steps, double timed_step);

/// Traces some samples, each after prepare(), which leaves the device idle, and adds to the session
/// a row for each phase that occurs, what was queued, and the gates of both. Throws
/// std::runtime_error where results are wrong.
void trace_phases(Session& session, Tracer& tracer, const TracePlan& plan,
                  const std::function<void()>& prepare);

}  // namespace strata
