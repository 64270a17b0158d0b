#include "nbody/gravity/host/host_rung.hpp"

namespace strata::nbody::openmp {
namespace {

const Rung story{
    .name = "openmp",
    .backend = Backend::host,
    .before = "serial",
    .question = "How much does it gain to distribute the bodies over all cores?",
    .change = "systems, or the bodies of a single system, are distributed over all cores",
    .source = thessaly("OpenMP"),
    .expectation = "a factor equal to the number of cores: only read data are shared",
    .layouts = {"aos"}};

HostKernel make(Vectors /*have*/) {
#if defined(_OPENMP)
  return {.run = [](std::span<const Step> steps, ThreadTeam& team) {
    const int threads = static_cast<int>(team.size());
    for (const Step& step : steps) {
      const std::size_t total = step.total();
#pragma omp parallel for num_threads(threads) schedule(static)
      for (std::size_t i = 0; i < total; ++i)
        one_body_scalar<Aos>(step, i / step.bodies * step.bodies, i % step.bodies);
    }
  }};
#else
  throw Skipped{"this build has no OpenMP"};
#endif
}

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::openmp
