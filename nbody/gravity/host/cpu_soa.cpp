// Rung cpu_soa: what does a structure of arrays bring before there are vectors? (CUDA Handbook
// 14.9) The cores are those of rung openmp, by the harness's own threads.
#include "nbody/gravity/host/crew.hpp"
#include "nbody/gravity/host/scalar.hpp"

namespace strata::nbody::cpu_soa {
namespace {

HostClimber make(Vectors /*have*/) {
  return on_all_cores(
      [](const HostStep& step, const Place& place) {
        for_my_bodies(step, place, 1, [&](const Stretch& mine) {
          for (std::size_t i = mine.first; i < mine.last; ++i)
            walk_scalar<Soa>(step, mine.system, i);
        });
      },
      "scalar");
}

STRATA_HOST_RUNG("cpu_soa", make);

}  // namespace
}  // namespace strata::nbody::cpu_soa
