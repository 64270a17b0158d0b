#include "nbody/fstat/host/lanes.hpp"

namespace strata::fstat::cpu_reciprocal {
namespace {

const Rung rung{.name = "fstat_cpu_reciprocal",
                .before = "fstat_cpu_lanes",
                .question = "Is a division worth its cycles?",
                .change =
                    "reciprocals of 14 bits (AVX2: 12), and a Newton step, y (2 − x y), in place "
                    "of divisions",
                .source =
                    "Fekete Akos, the SSE hotloop of LALSuite's ComputeFstat_Demod, whose "
                    "reciprocals have 12 bits for all bins but four",
                .expectation =
                    "a division of a vector blocks its port for some ten cycles, the step takes "
                    "three instructions; errors stay below twice the bound",
                .approximate = true};

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

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::cpu_reciprocal
