#include "nbody/fstat/host/host_rung.hpp"

namespace strata::fstat::serial {
namespace {

HostKernel make(const Observation& /*seen*/, Vectors /*have*/) {
  HostKernel kernel = HostKernel::step_by_step([](const HostPass& pass, ThreadTeam& /*team*/) {
    const Problem& problem = pass.seen->problem;
    for (std::uint32_t sky = 0; sky < problem.sky; ++sky) {
      visit_bands(
          pass, sky, pass.pieces->matrices(sky), 0, bands_of(problem),
          [&](std::uint32_t group) { return pass.pieces->of(sky, group); }, scalar_band);
    }
  });
  kernel.one_core = true;
  return kernel;
}

STRATA_RUNG("fstat_serial", make);

}  // namespace
}  // namespace strata::fstat::serial
