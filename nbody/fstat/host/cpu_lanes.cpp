#include "nbody/fstat/host/lanes.hpp"

namespace strata::fstat::cpu_lanes {
namespace {

const Rung rung{
    .name = "fstat_cpu_lanes",
    .before = "fstat_cpu_openmp",
    .question = "What do vectors bring, whose lanes are frequencies?",
    .change =
        "a lane for each frequency of a band, all of the same signal; the first lane's phase is of "
        "double precision, the others' distance from it of fixed point",
    .source = "Prix and Wette, ComputeFstat in LALSuite, whose hotloops have bins in their lanes",
    .expectation =
        "frequencies are 1/49 of a bin apart, so that all lanes read the same bins, and seldom two "
        "windows; what is left is 16 divisions of a vector a term"};

struct Divide {
  template <class V>
  [[STRATA_INLINE]] V operator()(const V& x) const {
    return 1 / x;
  }
};

HostKernel make(const Observation& seen, Vectors have) {
  return vector_bands<LanesBand<Divide>>(seen, have);
}

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::cpu_lanes
