// Uses the same cores as rung openmp, but the harness's own threads.
#include "nbody/gravity/host/host_rung.hpp"

namespace strata::nbody::cpu_soa {
namespace {

const Rung story{.name = "cpu_soa",
                 .backend = Backend::host,
                 .before = "openmp",
                 .question = "How much does a structure of arrays gain without vectors?",
                 .change = "each field in a separate array",
                 .source = handbook("14.9"),
                 .expectation = "almost nothing: a core waits for its square roots, not for memory",
                 .layouts = {"soa"}};

HostKernel make(Vectors /*have*/) {
  return body_by_body(one_body_scalar<Soa>);
}

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::cpu_soa
