// Every case as a Google Benchmark: manual time, explicit iterations, counters. `strata run`'s
// workers and `strata bench` both run their cases through it.
#pragma once

#include "harness/case/case.hpp"
#include "harness/case/plan.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/measurement.hpp"

#include <functional>
#include <span>

namespace strata {

/// What is told about each case as it runs.
struct CaseEvents {
  std::function<void(const Case&)> begin;
  std::function<void(const CaseRecord&)> end;
  std::function<bool()> stop;  ///< true: no further case starts
};

/// Registers `cases` with Google Benchmark under their ids, in this order. A benchmark's one
/// iteration is a whole measurement by `plan` (warm-ups, samples, stopping rule); its manual time
/// is the median of the first quantity in seconds, and every quantity is a counter. Repetitions are
/// repeated measurements. With a source in `counting` the cases are counted instead of timed, and
/// the manual time is the wall time of the case. The references and the source must outlive the
/// run.
void enrol_with_google_benchmark(std::span<const Case> cases, const Plan& plan, Device& device,
                                 Cache& cache, CaseEvents events, Counting counting = {});

}  // namespace strata
