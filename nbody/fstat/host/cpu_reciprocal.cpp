#include "nbody/fstat/host/lanes.hpp"

namespace strata::fstat::cpu_reciprocal {
namespace {

struct Approximate {
  template <class V>
  [[STRATA_INLINE]] V operator()(const V& x) const {
    V y = x;
    approximate_reciprocal(y);
    return y * (2 - x * y);
  }
};

HostKernel make(const Observation& seen, Vectors have) {
  return vector_bands<LanesBand<Approximate>>(seen, have);
}

STRATA_RUNG("fstat_cpu_reciprocal", make);

}  // namespace
}  // namespace strata::fstat::cpu_reciprocal
