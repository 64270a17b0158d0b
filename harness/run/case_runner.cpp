#include "harness/run/case_runner.hpp"

#include "harness/base/error.hpp"
#include "harness/base/text.hpp"
#include "harness/case/controls.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/run_folder.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <string>

namespace strata {
namespace {

/// A benchmark that reports nothing or a NaN is broken; its record states that.
std::string defect_of(const CaseRecord& record) {
  const bool counting = record.phase == Phase::counting;
  // Where an outside profiler counts, a check of the code or of the model may be all that there is.
  if (record.measurements.empty() && (!counting || record.gates.empty())) {
    return "the benchmark reported no quantity";
  }
  for (const auto& m : record.measurements) {
    // A profiler slows down what it watches.
    if (counting && m.provenance == Provenance::timed) {
      return "the benchmark timed " + m.quantity + " while it was counted";
    }
    for (const auto& name : {m.quantity, m.method}) {
      if (!is_row_name(name)) return in_quotes(name) + ' ' + row_names_are;
    }
    if (m.samples.empty()) return m.quantity + " has no samples";
    if (!std::ranges::all_of(m.samples, [](double x) { return std::isfinite(x); })) {
      return m.quantity + " has a sample that is not a finite number";
    }
  }
  return {};
}

}  // namespace

std::optional<CaseRecord> run_case_or_wait(const Case& which, const Plan& plan, Device& device,
                                           Cache& cache, const Counting& counting) {
  CaseRecord record{.which = which,
                    .phase = counting.source != nullptr   ? Phase::counting
                             : counting.tracer != nullptr ? Phase::tracing
                                                          : Phase::timing,
                    .started = utc_text()};
  const auto began = std::chrono::steady_clock::now();
  const auto give_up = [&](Status status, const std::string& reason) {
    record.status = status;
    record.reason = reason;
    record.measurements.clear();
    record.gates.clear();
  };
  try {
    const Enrolled* benchmark = find_benchmark(which.benchmark, benchmarks_and_controls());
    const Body body = benchmark == nullptr ? nullptr : benchmark->body(which.backend);
    if (body == nullptr || which.backend != device.backend()) {
      throw Skipped{"this build has no such benchmark for this device"};
    }
    device.begin_case(which.id());
    Session session{plan, device, cache, record, counting};
    record.status = Status::measured;
    body(session);
    if (session.is_waiting()) {
      device.end_case();
      return std::nullopt;
    }
    if (const auto defect = defect_of(record); !defect.empty()) give_up(Status::failed, defect);
  } catch (const Skipped& skipped) {
    give_up(Status::skipped, skipped.what());
  } catch (const std::exception& error) {
    give_up(Status::failed, error.what());
  }
  device.end_case();
  for (auto& m : record.measurements) {
    if (m.provenance == Provenance::timed && m.noise.detail.empty()) {
      m.noise = noise_gate(m.samples, plan.relative_half_width);
    }
  }
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return record;
}

}  // namespace strata
