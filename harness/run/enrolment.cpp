#include "harness/run/enrolment.hpp"

#include "harness/record/statistics.hpp"
#include "harness/run/case_runner.hpp"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>

namespace strata {
namespace {

/// The quantity that stands for the time of a case: the whole grid's, else the first one in
/// seconds.
double seconds_of(const CaseRecord& record) {
  const Measurement* best = nullptr;
  for (const auto& m : record.measurements) {
    if (m.unit != "s") continue;
    if (best == nullptr || m.quantity == "grid_time") best = &m;
  }
  return best == nullptr ? record.seconds : median(best->samples);
}

/// "quantity" when one method has it, else "quantity:method".
std::string counter_name(const CaseRecord& record, const Measurement& m) {
  std::size_t same = 0;
  for (const auto& other : record.measurements)
    same += other.quantity == m.quantity ? 1 : 0;
  return same == 1 ? m.quantity : m.quantity + ':' + m.method;
}

void publish(const CaseRecord& record, benchmark::State& state) {
  state.SetIterationTime(seconds_of(record));
  std::string reasons;
  for (const auto& m : record.measurements) {
    state.counters[counter_name(record, m)] = benchmark::Counter(median(m.samples));
    if (reasons.empty() && !record.is_valid(m)) reasons = "INVALID " + record.reasons(m);
  }
  if (!reasons.empty()) state.SetLabel(reasons.c_str());
}

}  // namespace

void enrol_with_google_benchmark(std::span<const Case> cases, const Plan& plan, Device& device,
                                 Cache& cache, CaseEvents events, Counting counting) {
  const auto shared = std::make_shared<CaseEvents>(std::move(events));
  const auto how = std::make_shared<const Counting>(std::move(counting));
  for (const Case& which : cases) {
    const auto body = [which, &plan, &device, &cache, shared, how](benchmark::State& state) {
      if (shared->stop && shared->stop()) {
        state.SkipWithError("stopped");
        return;
      }
      if (const auto why = device.poisoned(); !why.empty()) {
        state.SkipWithError(why.c_str());
        return;
      }
      if (shared->begin) shared->begin(which);
      const CaseRecord record = run_case(which, plan, device, cache, *how);
      if (record.status == Status::measured) {
        for (auto _ : state)
          publish(record, state);
      } else {
        state.SkipWithError((std::string{to_string(record.status)} + ": " + record.reason).c_str());
      }
      if (shared->end) shared->end(record);
    };
    benchmark::RegisterBenchmark(which.id().c_str(), body)->UseManualTime()->Iterations(1);
  }
}

}  // namespace strata
