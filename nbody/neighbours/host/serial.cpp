#include "nbody/neighbours/host/all_pairs.hpp"

namespace strata::neighbours::serial {
namespace {

struct Search {
  static void step(const Step& step, const ThreadRank& thread) {
    if (thread.rank > 0) return;
    with_collector(step, thread, [&](auto& collector) {
      for (std::uint32_t i = 0; i < step.agents(); ++i)
        test_all_agents(step, thread.rank, i, collector);
    });
  }
};

HostKernel make(const Problem& /*problem*/, const Choice& /*choice*/, Vectors /*have*/) {
  return on_all_cores(std::make_shared<Search>());
}

STRATA_RUNG("neighbours_serial", make);

}  // namespace
}  // namespace strata::neighbours::serial
