// Rung cpu_soa: what does a structure of arrays bring before there are vectors? (CUDA Handbook
// 14.9) The cores are those of rung openmp, by the harness's own threads.
#include "nbody/gravity/host/one_body_scalar.hpp"

namespace strata::nbody::cpu_soa {
namespace {

HostKernel make(Vectors /*have*/) {
  return body_by_body(one_body_scalar<Soa>, "scalar");
}

STRATA_HOST_RUNG("cpu_soa", make);

}  // namespace
}  // namespace strata::nbody::cpu_soa
