#include "micro/transfer/launch_overhead.hpp"

namespace strata::launch_overhead {

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "launch_overhead",
      .question =
          "What does it cost to launch a kernel: into a stream, with a graph, or synchronously?",
      .axes = {ways.axis("launch", "into a stream, with a graph, or waiting for each launch")},
      .quantities = {{"launch_seconds",
                      "duration of one more launch: on the device (event), for its caller (wall)"},
                     {"call_seconds", "duration of the launch call, without waiting"},
                     {"alone_seconds",
                      "duration of one launch including the wait for it, for its caller"}},
      .seconds_per_case = 0.2};
}

std::vector<double> numbers_of(const BothSides& brief, const BothSides& full,
                               double alone_seconds) {
  constexpr double launches = many - few;
  return {(full.device - brief.device) / launches, (full.caller - brief.caller) / launches,
          (full.calls - brief.calls) / launches, alone_seconds};
}

Experiment describe(How how) {
  const Value device = number_at(0);
  const Value caller = number_at(1);
  const Value by_itself = number_at(3);
  // Series of launches by a host whose clock or core changes differ by up to a third.
  constexpr int most_meet_no_change = 5;
  Experiment experiment{.pairs = most_meet_no_change,
                        .rows = {{"launch_seconds", "s", By::outside, device},
                                 {"launch_seconds", "s", "wall_slope", caller}},
                        .checks = {TimerPair{device, By::outside, caller, "wall_slope"}},
                        .has_clock = false,
                        .checked = "words that launches wrote against their numbers",
                        .partly_host_time = true,
                        .not_counted = "an empty launch has nothing to count"};
  // A graph is one call, whatever it contains; where each launch is waited for, nothing is queued.
  if (how == How::stream) {
    experiment.rows.push_back({"call_seconds", "s", "wall_slope", number_at(2)});
  }
  // Where each launch is waited for, every launch is alone.
  if (how != How::synchronised) {
    experiment.rows.push_back({"alone_seconds", "s", "wall", by_itself});
  }
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::launch_overhead
