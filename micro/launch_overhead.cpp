// The declaration and the report of launch_overhead: launch_overhead.hpp says what it asks.
#include "micro/launch_overhead.hpp"

#include "harness/core/gates.hpp"

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
                         {"series_seconds", "what comes with any series: the wait, the graph"}},
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
  const double wall = (full.wall - brief.wall) / launches;
  return {.event_seconds = (full.event - brief.event) / launches,
          .wall_seconds = wall,
          .call_seconds = (full.calls - brief.calls) / launches,
          .series_seconds = brief.wall - few * wall};
}

void report(Session& session, const Collection<Observation>& seen, How how) {
  const auto add = [&](const char* quantity, const char* method, auto&& value) {
    session.add(Measurement{.quantity = quantity,
                            .unit = "s",
                            .provenance = Provenance::timed,
                            .method = method,
                            .samples = seen.series(value)});
  };
  add("launch_seconds", "event_slope", &Observation::event_seconds);
  add("launch_seconds", "wall_slope", &Observation::wall_seconds);
  // A graph is one call, whatever is in it; where each launch is waited for, nothing is queued.
  if (how == How::stream) add("call_seconds", "wall_slope", &Observation::call_seconds);
  add("series_seconds", "wall_intercept", &Observation::series_seconds);
  session.add(timer_gate(seen.series(&Observation::event_seconds), "event_slope",
                         seen.series(&Observation::wall_seconds), "wall_slope"));
  session.fact("stopped_by", std::string{to_string(seen.stop)});
}

STRATA_DECLARED(declare);

}  // namespace strata::launch_overhead
