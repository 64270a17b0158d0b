#include "nbody/gravity/host/host_rung.hpp"

namespace strata::nbody::serial {
namespace {

const Rung story{.name = "serial",
                 .backend = Backend::host,
                 .question = "What does gravity cost on one core, written plainly?",
                 .change = "a double loop over an array of structures",
                 .source = thessaly("Baseline"),
                 .expectation = "bound by one scalar square root and one scalar division per pair",
                 .layouts = {"aos"}};

HostKernel make(Vectors /*have*/) {
  return on_all_cores([](const Step& step, const ThreadRank& thread) {
    if (thread.rank > 0) return;
    for (std::size_t i = 0; i < step.total(); ++i)
      one_body_scalar<Aos>(step, i / step.bodies * step.bodies, i % step.bodies);
  });
}

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::serial
