// Replaces the source for outside profilers in a build without CUDA.
#include "harness/counters/counter_absence.hpp"
#include "harness/counters/counters.hpp"

#include <utility>

namespace strata {

std::unique_ptr<CounterSource> open_external_counters() {
  auto [reason, mend] = no_cupti_in_this_build(true);
  throw CountersUnavailable{reason, std::move(mend)};
}

}  // namespace strata
