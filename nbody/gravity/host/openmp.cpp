#include "harness/case/error.hpp"
#include "nbody/gravity/host/host_rung.hpp"

namespace strata::nbody::openmp {
namespace {

Rung story() {
  return {.name = "openmp",
          .backend = Backend::host,
          .before = "serial",
          .question = "What does it bring to share the bodies out among all cores?",
          .change = "systems, or the bodies of a single one, on all cores",
          .source = thessaly("OpenMP"),
          .expectation = "as many times as there are cores: nothing is shared but what is read",
          .layouts = {"aos"}};
}

#if defined(_OPENMP)

HostKernel make(Vectors /*have*/) {
  return {.run = [](std::span<const Step> steps, ThreadTeam& team) {
    const int threads = static_cast<int>(team.size());
    for (const Step& step : steps) {
      const std::size_t total = step.total();
#pragma omp parallel for num_threads(threads) schedule(static)
      for (std::size_t i = 0; i < total; ++i)
        one_body_scalar<Aos>(step, i / step.bodies * step.bodies, i % step.bodies);
    }
  }};
}

#else

HostKernel make(Vectors /*have*/) {
  throw Skipped{"this build has no OpenMP"};
}

#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::openmp
