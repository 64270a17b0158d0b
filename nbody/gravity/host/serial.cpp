// Rung serial: what does gravity cost on one core, written down plainly?
#include "nbody/gravity/host/one_body_scalar.hpp"
#include "nbody/gravity/host/threads.hpp"

namespace strata::nbody::serial {
namespace {

HostKernel make(Vectors /*have*/) {
  return on_all_cores(
      [](const HostStep& step, const ThreadRank& thread) {
        if (thread.rank > 0) return;
        for (std::size_t i = 0; i < step.total(); ++i)
          one_body_scalar<Aos>(step, i / step.bodies * step.bodies, i % step.bodies);
      },
      "scalar");
}

STRATA_HOST_RUNG("serial", make);

}  // namespace
}  // namespace strata::nbody::serial
