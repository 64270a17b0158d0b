// Counting many cases in one profiler session, for profilers that are slow to start.
#pragma once

#include "harness/case/case.hpp"
#include "harness/case/plan.hpp"
#include "harness/counters/counters.hpp"
#include "harness/measure/session.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace strata {

/// Notifications while cases are counted.
struct BatchEvents {
  std::function<void(const Case&)> begin;      ///< work on this case starts now
  std::function<void(const CaseRecord&)> end;  ///< the case that began last is finished
  std::function<bool()> stop;                  ///< true: nothing more can be counted
};

/// Maximum cases per session, to limit what is lost with a worker.
inline constexpr std::size_t most_in_a_batch = 64;

/// The cases in batches that are counted together: adjacent cases of one benchmark that read the
/// same data (Benchmark::data_axes), most_in_a_batch at most.
[[nodiscard]] std::vector<std::vector<Case>> batches_of(std::span<const Case> cases);

/// Counts `cases`, batch by batch, those of the same sets one after the other: all sets that the
/// source was opened with, or (`by_benchmark`) `memory` and those that the benchmark requests. A
/// body runs once in every pass, with its results dropped (unless it is skipped or fails: then that
/// is its record), and once more, uncounted, with the counts, which gives the record. A case whose
/// work throws breaks the source: its record states that, and the caller must count the rest in
/// another process.
void count_in_batches(std::span<const Case> cases, const Plan& plan, Device& device, Cache& cache,
                      CounterSource& source, bool by_benchmark, const BatchEvents& events);

}  // namespace strata
