#include "nbody/neighbours/host/all_pairs.hpp"

namespace strata::neighbours::serial {
namespace {

const Rung rung{
    .name = "neighbours_serial",
    .backend = Backend::host,
    .question = "What does it cost to find all neighbours on one core by testing all pairs?",
    .change = "a double loop over all agents",
    .source = seed("listing 5.1"),
    .expectation =
        "agents² distance tests per step, so that twice the agents take four times as long",
    .predicted_tests = predict_all_pairs,
    .most_agents = 32768};

struct Search {
  static void step(const Step& step, const ThreadRank& thread) {
    if (thread.rank > 0) return;
    with_collector(step, thread, [&](auto& collector) {
      for (std::uint32_t i = 0; i < step.agents(); ++i)
        ask_everybody(step, thread.rank, i, collector);
    });
  }
};

HostKernel make(const Problem& /*problem*/, const Choice& /*choice*/, Vectors /*have*/) {
  return on_all_cores(std::make_shared<Search>());
}

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::serial
