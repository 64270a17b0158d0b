#include "micro/latency/timer_check.hpp"

#include "harness/case/choices.hpp"
#include "micro/latency/pointer_chase_host.hpp"
#include "micro/pattern/random_cycle.hpp"

namespace strata::timer_check {
namespace {

void run(Session& session) {
  std::vector<pointer_chase::HostSlot> chain(slots);
  const auto order = random_order(slots, /*seed=*/4);
  const auto address_at = [&](std::uint64_t step) {
    return std::bit_cast<std::uint64_t>(&chain[order[step % slots]]);
  };
  pointer_chase::write_links(slots, address_at);
  const auto* const first = &chain[order[0]];
  const auto follow = [first](std::uint32_t loads) {
    return std::bit_cast<std::uint64_t>(pointer_chase::follow(first, loads));
  };
  HostMachine machine;
  Experiment experiment = describe(1U << 17U, 1U << 19U, address_at);
  experiment.prepare = [&] { experiment.tally.one(follow(slots) == address_at(0)); };
  experiment.slopes[0].launch = machine.on_every_core(
      [&](std::size_t /*rank*/, const Call& call) { return follow(call.length.rounds); });
  experiment.unproved.why = "no hardware counters on the host";
  measure(session, machine, experiment);
}

}  // namespace

Benchmark declare() {
  return {.suite = "micro",
          .name = "timer_check",
          .question = "Do the timers agree on a dependent chain of loads that hit L1?",
          .axes = {listed_axis("residency", "the level that holds the chain", {"l1"})},
          .quantities = {{"load_cycles", "cycles of one dependent load, by each timer"},
                         {"core_clock", "clock of the core during the reads"}},
          .seconds_per_case = 0.05,
          .excludes = {}};
}

Experiment describe(std::uint32_t brief, std::uint32_t full,
                    const std::function<std::uint64_t(std::uint32_t step)>& word_at) {
  using pointer_chase::length_of;
  Experiment experiment;
  experiment.slopes = {
      {.verify = results_are([word_at](const Call& call) { return word_at(call.length.rounds); }),
       .lengths = {.brief = length_of(brief), .full = length_of(full)},
       .writers = 1}};
  add_both(experiment, "load_cycles", "cycle");
  experiment.checked = "chain ends against the cycle";
  experiment.checks.emplace_back(Dependence{"ends of chains", {}});
  experiment.unproved = {.gate = "level"};
  return experiment;
}

Experiment describe_gpu(const std::function<std::uint64_t(std::uint32_t step)>& word_at) {
  constexpr std::uint32_t full = 1U << 15U;
  constexpr double bound = 0.01;
  Experiment experiment = describe(full / 4, full, word_at);
  // Without this, the first event may be reached before the host has queued the kernel: in one run
  // the events were 2.5 % off.
  experiment.slopes.front().held = true;
  const Value by_graph = [](const Sample& sample) {
    return sample.numbers.at(0) * sample.slopes.at(0).inside.hertz;
  };
  experiment.rows.push_back({"load_cycles", "cycle", "graph_slope", by_graph});
  experiment.checks.emplace_back(TimerPair{cycles_of(), By::inside, by_graph, "graph_slope"});
  for (Check& check : experiment.checks) {
    if (auto* const pair = std::get_if<TimerPair>(&check)) pair->bound = bound;
  }
  // Loads of one lane: a request and a sector each. The round that fills L1 is subtracted.
  experiment.counts = CountPlan{.length = {.rounds = full},
                                .loads = LoadPrediction{.requests = full, .sectors = full},
                                .served_by = ServedBy::l1,
                                .reads = double{full}};
  return experiment;
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace strata::timer_check
