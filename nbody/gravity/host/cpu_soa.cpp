// Uses the same cores as rung openmp, but the harness's own threads.
#include "nbody/gravity/host/host_rung.hpp"

namespace strata::nbody::cpu_soa {
namespace {

HostKernel make(Vectors /*have*/) {
  return body_by_body(one_body_scalar<Soa>);
}

STRATA_RUNG("cpu_soa", make);

}  // namespace
}  // namespace strata::nbody::cpu_soa
