// Stand-in for the source for outside profilers in a build without CUDA.
#include "harness/counters/counters.hpp"

std::unique_ptr<strata::CounterSource> strata::open_external_counters() {
  throw CountersUnavailable{no_counters_in_this_build(without_cuda)};
}
