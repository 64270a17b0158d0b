// Rung serial: what does gravity cost on one core, written down plainly?
#include "nbody/gravity/host/crew.hpp"
#include "nbody/gravity/host/scalar.hpp"

namespace strata::nbody::serial {
namespace {

HostClimber make(Vectors /*have*/) {
  return on_all_cores(
      [](const HostStep& step, const Place& place) {
        if (place.rank > 0) return;
        for (std::size_t i = 0; i < step.total(); ++i)
          walk_scalar<Aos>(step, i / step.bodies * step.bodies, i % step.bodies);
      },
      "scalar");
}

STRATA_HOST_RUNG("serial", make);

}  // namespace
}  // namespace strata::nbody::serial
