// Stands in for the counters in a build without CUPTI, and says so.
#include "harness/counters/counter_absence.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/build_info.hpp"

#include <utility>

namespace strata {
namespace {

Absence absence() {
  return no_cupti_in_this_build(build_info().cuda_compiler.empty());
}

}  // namespace

std::unique_ptr<CounterSource> open_counters(const DeviceRequest& /*device*/,
                                             const CounterSelection& /*selection*/) {
  auto [reason, mend] = absence();
  throw CountersUnavailable{reason, std::move(mend)};
}

std::vector<Finding> diagnose_counters() {
  auto [reason, mend] = absence();
  return {{.state = Finding::State::absent,
           .what = "counters",
           .detail = std::move(reason),
           .mend = std::move(mend)}};
}

}  // namespace strata
