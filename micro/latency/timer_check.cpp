#include "micro/latency/timer_check.hpp"

#include <utility>

namespace strata::timer_check {
Benchmark declare() {
  return {.suite = "micro",
          .name = "timer_check",
          .question = "Can the timers be believed? A dependent chain of loads that hit L1.",
          .axes = {{.name = "residency",
                    .meaning = "the level that holds the chain",
                    .choices = {"l1"},
                    .defaults = {"l1"}}},
          .quantities = {{"load_cycles", "cycles of one dependent load, by each timer"},
                         {"core_clock", "clock of the core while it read"}},
          .seconds_per_case = 0.05,
          .excludes = {}};
}

Experiment describe(std::uint32_t brief, std::uint32_t full,
                    std::function<std::uint64_t(std::uint32_t step)> word_at) {
  Experiment experiment;
  const auto length = [](std::uint32_t loads) {
    return Length{.rounds = loads, .work = static_cast<double>(loads)};
  };
  experiment.slopes = {{.verify =
                            [word_at = std::move(word_at)](
                                const Call& call, std::span<const Stamp> stamps, Tally& tally) {
                              tally.one(stamps.front().result == word_at(call.length.rounds));
                            },
                        .lengths = {.brief = length(brief), .full = length(full)},
                        .writers = 1}};
  add_both(experiment, "load_cycles", "cycle");
  experiment.checked = "chain ends against the cycle";
  experiment.unproved = {.gate = "level"};
  return experiment;
}

Experiment describe_gpu(std::function<std::uint64_t(std::uint32_t step)> word_at) {
  constexpr std::uint32_t brief = 1U << 13U;
  constexpr std::uint32_t full = 1U << 15U;
  Experiment experiment = describe(brief, full, std::move(word_at));
  const Value by_graph = [](const Sample& sample) {
    return sample.numbers.at(0) * sample.slopes.at(0).inside.hertz;
  };
  experiment.rows.push_back({"load_cycles", "cycle", "graph_slope", by_graph});
  experiment.timers.push_back({cycles_of(), By::inside, by_graph, "graph_slope"});
  experiment.watch = {cycles_of(), outside_of(), by_graph};
  // Loads of one lane: a request and a sector each. The round that fills L1 is in both launches,
  // and so taken off.
  experiment.counts = CountPlan{.length = {.rounds = full},
                                .loads = LoadPrediction{.requests = full, .sectors = full},
                                .served_by = ServedBy::l1,
                                .reads = double{full}};
  return experiment;
}

}  // namespace strata::timer_check
