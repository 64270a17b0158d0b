// The declaration and the report of launch_overhead: launch_overhead.hpp says what it asks.
#include "micro/transfer/launch_overhead.hpp"

#include "harness/measure/timed.hpp"

#include <string>

namespace strata::launch_overhead {

Benchmark declare() {
  return {.suite = "micro",
          .name = "launch_overhead",
          .question = "What does it cost to start a kernel, by stream, by graph, and waited for?",
          .axes = {{.name = "launch",
                    .meaning = "into a stream, by a graph, or each waited for",
                    .choices = {"stream", "graph", "synchronised"},
                    .defaults = {"stream", "graph", "synchronised"}}},
          .quantities = {{"launch_seconds",
                          "of one more launch: on the device (event), for its caller (wall)"},
                         {"call_seconds", "of the call that launches, without waiting"},
                         {"alone_seconds", "of one launch with the wait for it, for its caller"}},
          .seconds_per_case = 0.05,
          .excludes = {}};
}

How how_of(const Session& session) {
  const std::string& launch = session.param("launch");
  if (launch == "graph") return How::graph;
  return launch == "stream" ? How::stream : How::synchronised;
}

Observation observation_of(const Series& brief, const Series& full) {
  constexpr double launches = many - few;
  return {.event_seconds = (full.event - brief.event) / launches,
          .wall_seconds = (full.wall - brief.wall) / launches,
          .call_seconds = (full.calls - brief.calls) / launches,
          .alone_seconds = 0};
}

void report(Session& session, const Collection<Observation>& seen, How how) {
  const Timed timed{session, seen};
  timed.add("launch_seconds", "s", "event_slope", &Observation::event_seconds);
  timed.add("launch_seconds", "s", "wall_slope", &Observation::wall_seconds);
  // A graph is one call, whatever is in it; where each launch is waited for, nothing is queued.
  if (how == How::stream) timed.add("call_seconds", "s", "wall_slope", &Observation::call_seconds);
  // Where each launch is waited for, all are alone.
  if (how != How::synchronised)
    timed.add("alone_seconds", "s", "wall", &Observation::alone_seconds);
  timed.timers(&Observation::event_seconds, "event_slope", &Observation::wall_seconds,
               "wall_slope");
}

STRATA_DECLARED(declare);

}  // namespace strata::launch_overhead
