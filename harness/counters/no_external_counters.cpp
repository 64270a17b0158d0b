// Replaces the source for outside profilers in a build without CUDA.
#include "harness/counters/counter_absence.hpp"
#include "harness/counters/counters.hpp"

std::unique_ptr<strata::CounterSource> strata::open_external_counters() {
  const auto [reason, mend] = no_cupti_in_this_build(true);
  throw CountersUnavailable{reason, mend};
}
