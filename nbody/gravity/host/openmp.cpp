#include "nbody/gravity/host/host_rung.hpp"

namespace strata::nbody::openmp {
namespace {

HostKernel make(Vectors /*have*/) {
#if defined(_OPENMP)
  return HostKernel::step_by_step([](const Step& step, ThreadTeam& team) {
    const int threads = static_cast<int>(team.size());
    const std::size_t total = step.total();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t i = 0; i < total; ++i)
      one_body_scalar<Aos>(step, i / step.bodies * step.bodies, i % step.bodies);
  });
#else
  throw Skipped{"this build has no OpenMP"};
#endif
}

STRATA_RUNG("openmp", make);

}  // namespace
}  // namespace strata::nbody::openmp
