// Cases of a benchmark, measured on this CPU.
#pragma once

#include "harness/record/device.hpp"
#include "harness/run/case_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace strata {

/// A case with `samples` samples and no warm-up. Unless it is skipped, its results are right, and
/// so are its chains if `dependent`.
inline CaseRecord measure_here(const char* benchmark, const Params& params, int samples = 6,
                               bool dependent = false) {
  const auto device = open_host_device();
  Cache cache;
  const Plan plan{.warmups = 0, .min_samples = samples, .max_samples = samples};
  const Case which{
      .suite = "micro", .benchmark = benchmark, .backend = Backend::host, .params = params};
  SCOPED_TRACE(which.id());
  CaseRecord record = run_case(which, plan, *device, cache);
  if (record.status == Status::skipped) return record;
  EXPECT_EQ(record.status, Status::measured) << record.reason;
  for (const char* const name : {"result", "dependence"}) {
    const auto gate = std::ranges::find(record.gates, name, &Gate::name);
    const bool found = gate != record.gates.end();
    EXPECT_TRUE(found || (name == std::string{"dependence"} && !dependent)) << "no gate " << name;
    if (!found) continue;
    EXPECT_EQ(gate->verdict, Verdict::passed) << name << ": " << gate->detail;
  }
  return record;
}

/// "quantity/method" of each row.
inline std::set<std::string> keys_of(const CaseRecord& record) {
  std::set<std::string> keys;
  for (const Measurement& m : record.measurements)
    EXPECT_TRUE(keys.insert(m.quantity + '/' + m.method).second) << m.quantity;
  return keys;
}

}  // namespace strata
