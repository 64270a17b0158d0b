// Counting many cases in one session of the profiler, for profilers that are slow to start.
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

/// What is told while cases are counted.
struct BatchEvents {
  std::function<void(const Case&)> begin;      ///< work on this case starts now
  std::function<void(const CaseRecord&)> end;  ///< the case that began last is finished
  std::function<bool()> stop;                  ///< true: nothing more can be counted
};

/// Cases in a session at most, so that what is lost with a worker is little.
inline constexpr std::size_t most_in_a_batch = 64;

/// The cases in pieces that are counted together: neighbours of one benchmark that read the same
/// data (Benchmark::data_axes), most_in_a_batch at most.
[[nodiscard]] std::vector<std::vector<Case>> batches_of(std::span<const Case> cases);

/// Counts `cases`, batch by batch: all sets that the source was opened with, or of these
/// (`by_benchmark`) `memory` and those that the benchmark wants. A body runs once in every pass, in
/// which what it says is dropped (unless it leaves otherwise: then that is its record), and once
/// more, uncounted, with what was counted, which gives the record. A case whose work throws breaks
/// the source: its record says so, and the caller must count the rest in another process.
void count_in_batches(std::span<const Case> cases, const Plan& plan, Device& device, Cache& cache,
                      CounterSource& source, bool by_benchmark, const BatchEvents& events);

}  // namespace strata
