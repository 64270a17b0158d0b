#include "nbody/fstat/host/host_rung.hpp"

namespace strata::fstat::cpu_packed {
namespace {

HostKernel make(const Observation& seen, Vectors /*have*/) {
  HostKernel kernel = packed_bands(
      seen, [](ThreadTeam& /*team*/, std::size_t count, const auto& visit) { visit(0, count); },
      &scalar_band);
  kernel.one_core = true;
  return kernel;
}

STRATA_RUNG("fstat_cpu_packed", make);

}  // namespace
}  // namespace strata::fstat::cpu_packed
