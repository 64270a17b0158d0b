#include "nbody/fstat/host/host_rung.hpp"

namespace strata::fstat::cpu_packed {
namespace {

const Rung rung{
    .name = "fstat_cpu_packed",
    .before = "fstat_serial",
    .question = "Does packing pay on a CPU, too?",
    .change = "the pieces of a sky point are copied together before its sums",
    .source = seed("4.3.2, on a CPU"),
    .expectation = "nothing: what is copied once is read 1449 times, from L1 and L2 either way",
    .most_terms = 2e7};

HostKernel make(const Observation& seen, Vectors /*have*/) {
  HostKernel kernel = packed_bands(
      seen, [](ThreadTeam& /*team*/, std::size_t count, const auto& visit) { visit(0, count); },
      &scalar_band);
  kernel.one_core = true;
  return kernel;
}

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::cpu_packed
