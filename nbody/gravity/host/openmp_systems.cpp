#include "nbody/gravity/host/host_rung.hpp"

namespace strata::nbody::openmp_systems {
namespace {

HostKernel make(Vectors /*have*/) {
#if defined(_OPENMP)
  return HostKernel::step_by_step([](const Step& step, ThreadTeam& team) {
    const int threads = static_cast<int>(std::min<std::size_t>(step.systems, team.size()));
    const std::size_t systems = step.systems;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t system = 0; system < systems; ++system) {
      for (std::size_t i = 0; i < step.bodies; ++i)
        one_body_scalar<Aos>(step, system * step.bodies, i);
    }
  });
#else
  throw Skipped{"this build has no OpenMP"};
#endif
}

STRATA_RUNG("openmp_systems", make);

}  // namespace
}  // namespace strata::nbody::openmp_systems
