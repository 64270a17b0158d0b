#include "nbody/gravity/host/host_rung.hpp"

namespace strata::nbody::serial {
namespace {

HostKernel make(Vectors /*have*/) {
  return HostKernel::on_all_cores([](const Step& step, const ThreadRank& thread) {
    if (thread.rank > 0) return;
    for (std::size_t i = 0; i < step.total(); ++i)
      one_body_scalar<Aos>(step, i / step.bodies * step.bodies, i % step.bodies);
  });
}

STRATA_RUNG("serial", make);

}  // namespace
}  // namespace strata::nbody::serial
