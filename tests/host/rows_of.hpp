// What an experiment reports of fake samples: for tests of each benchmark's rows and gates.
#pragma once

#include "fake_machine.hpp"
#include "fakes.hpp"
#include "harness/case/plan.hpp"
#include "harness/measure/engine.hpp"
#include "harness/measure/session.hpp"

#include <cmath>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata {

/// A session of a fake device, and its record.
struct FakeSession {
  Plan plan{.warmups = 0, .min_samples = 1, .max_samples = 1};
  FakeDevice device;
  Cache cache;
  CaseRecord record;
  Counting counting;
  Session session{plan, device, cache, record, counting};

  /// It counts by `source`, where there is one.
  explicit FakeSession(CounterSource* source = nullptr) { counting.source = source; }

  /// Throws std::out_of_range when there is no gate, or more than one, of this name.
  [[nodiscard]] const Gate& gate(const std::string& name) const {
    const Gate* found = nullptr;
    for (const Gate& one : record.gates) {
      if (one.name != name) continue;
      if (found != nullptr) throw std::out_of_range{"several gates " + name};
      found = &one;
    }
    if (found == nullptr) throw std::out_of_range{"no gate " + name};
    return *found;
  }
  [[nodiscard]] Verdict verdict(const std::string& name) const { return gate(name).verdict; }
};

struct RowSeen {
  double value = 0;
  std::string unit;
  Provenance provenance = Provenance::timed;
  /// Values to a part in 10^12.
  bool operator==(const RowSeen& other) const {
    constexpr double bound = 1e-12;
    return std::abs(value - other.value) <= bound * std::abs(value) && unit == other.unit &&
           provenance == other.provenance;
  }
};
inline void PrintTo(const RowSeen& row, std::ostream* out) {
  *out << row.value << ' ' << row.unit << ' ' << to_string(row.provenance);
}
/// By "quantity by method".
using RowsSeen = std::map<std::string, RowSeen>;

/// Throws std::logic_error for two rows of one name, or one that has not a single sample.
inline RowsSeen rows_of(const CaseRecord& record) {
  RowsSeen rows;
  for (const Measurement& m : record.measurements) {
    const std::string name = m.quantity + " by " + m.method;
    if (m.samples.size() != 1) throw std::logic_error{name + " has not one sample"};
    const RowSeen row{.value = m.samples.front(), .unit = m.unit, .provenance = m.provenance};
    if (!rows.emplace(name, row).second) throw std::logic_error{"two rows " + name};
  }
  return rows;
}
inline RowsSeen rows_of(const Experiment& experiment, const TimerNames& names,
                        const Sample& sample) {
  FakeSession fake;
  report(fake.session, names, experiment, Collection<Sample>{.kept = {sample}});
  return rows_of(fake.record);
}
/// The verdict of gate `name` ("timer", "clock") of these samples.
inline Verdict verdict_of(const std::string& name, const Experiment& experiment,
                          const std::vector<Sample>& samples) {
  FakeSession fake;
  report(fake.session, cuda_timers, experiment, Collection<Sample>{.kept = samples});
  return fake.verdict(name);
}

}  // namespace strata
