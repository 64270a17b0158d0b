#include "nbody/fstat/host/lanes.hpp"

namespace strata::fstat::cpu_lanes {
namespace {

struct Divide {
  template <class V>
  [[STRATA_INLINE]] V operator()(const V& x) const {
    return 1 / x;
  }
};

HostKernel make(const Observation& seen, Vectors have) {
  return vector_bands<LanesBand<Divide>>(seen, have);
}

STRATA_RUNG("fstat_cpu_lanes", make);

}  // namespace
}  // namespace strata::fstat::cpu_lanes
