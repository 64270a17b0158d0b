// Records of cases with one row, for tests of what stores and merges them.
#pragma once

#include "harness/record/measurement.hpp"

#include <string>
#include <utility>
#include <vector>

namespace strata {

inline Measurement timed_row(double seconds = 1) {
  return {"seconds", "s", Provenance::timed, "tsc", {seconds}, {"noise", Verdict::passed, ""}};
}
inline Measurement counted_row(double sectors = 32) {
  return {"sectors", "sector",  Provenance::counted,
          "cupti",   {sectors}, {"noise", Verdict::not_applicable, ""}};
}

inline CaseRecord record_of(const Case& which, Phase phase, Status status,
                            std::vector<Measurement> rows = {}) {
  CaseRecord record;
  record.which = which;
  record.phase = phase;
  record.status = status;
  record.started = "2011-11-21T01:02:03Z";
  if (status != Status::measured) record.reason = "crash";
  record.measurements = std::move(rows);
  return record;
}
inline CaseRecord timed_record(const Case& which, double seconds = 1) {
  return record_of(which, Phase::timing, Status::measured, {timed_row(seconds)});
}
inline CaseRecord counted_record(const Case& which, double sectors = 32) {
  return record_of(which, Phase::counting, Status::measured, {counted_row(sectors)});
}

}  // namespace strata
