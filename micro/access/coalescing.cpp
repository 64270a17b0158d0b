// The declaration and the report of coalescing: coalescing.hpp says what it asks.
#include "micro/access/coalescing.hpp"

#include "harness/measure/timed.hpp"
#include "harness/model/lanes.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/gates.hpp"
#include "micro/pattern/particle_chain.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace strata::coalescing {

Benchmark declare() {
  return {.suite = "micro",
          .name = "coalescing",
          .question =
              "How many sectors does a warp-load move, and what does it cost, for each "
              "pattern of addresses?",
          .axes = {{.name = "width",
                    .meaning = "bytes that each lane reads",
                    .choices = {"1", "2", "4", "8", "16"},
                    .defaults = {"1", "2", "4", "8", "16"}},
                   {.name = "stride",
                    .meaning = "elements from one lane to the next",
                    .minimum = 1,
                    .maximum = max_stride,
                    .defaults = {"1", "2", "4", "8", "16", "32"}},
                   {.name = "misalignment",
                    .meaning = "elements from the start of a line to the first lane's",
                    .minimum = 0,
                    .maximum = max_misalignment,
                    .defaults = {"0"}},
                   {.name = "permutation",
                    .meaning = "order of the lanes within the warp",
                    .choices = {permutation_names.begin(), permutation_names.end()},
                    .defaults = {"identity"}}},
          .quantities = {{"warp_load_cycles", "SM cycles of a warp-load where the chip is full"},
                         {"grid_time", "the whole launch, start-up included"},
                         {"useful_bandwidth", "bytes that lanes asked for a second"},
                         {"sector_bandwidth", "bytes of the sectors moved a second, by the model"},
                         {"core_clock", "clock of the core while it read"},
                         {"sectors_per_request", "counted beside modelled"}},
          .seconds_per_case = 0.02,
          .excludes = {}};
}

Pattern pattern_of(const Session& session) {
  const auto number = [&](const char* axis) {
    return static_cast<std::uint32_t>(session.integer(axis));
  };
  return {.width = number("width"),
          .elements = lane_elements(number("stride"), number("misalignment"),
                                    permutation_from(session.param("permutation")).value())};
}

WarpAccess load_of(const Pattern& pattern) {
  return access_of(pattern.width, pattern.elements);
}

Windows windows_for(const Pattern& pattern, std::uint32_t warps, std::uint64_t l2_bytes) {
  const std::uint64_t last = *std::ranges::max_element(pattern.elements);
  const std::uint64_t span = ((last + 1) * pattern.width + line_bytes - 1) / line_bytes;
  const std::uint64_t lines = traffic(Generation::cc7, load_of(pattern)).lines;
  const std::uint64_t most =
      std::min(std::uint64_t{warps} * loads_per_round, l2_bytes / 4 / (lines * line_bytes));
  return {.count = static_cast<std::uint32_t>(std::max<std::uint64_t>(most / loads_per_round, 1) *
                                              loads_per_round),
          .bytes = static_cast<std::uint32_t>((span | 1U) * line_bytes)};
}

std::uint32_t expected_sum(const Pattern& pattern, const Windows& windows, std::uint32_t warp) {
  std::uint32_t sum = 0;
  for (std::uint32_t load = 0; load < loads_per_round; ++load) {
    const std::uint32_t first =
        window_of(warp, load, windows.count) * (windows.bytes / pattern.width);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const auto element = first + static_cast<std::uint32_t>(pattern.elements[lane]);
      sum += lane_weight(lane) * hashed_element(element, pattern.width);
    }
  }
  return sum;
}

std::uint32_t rounds_for(double cycles, std::uint64_t sectors) {
  constexpr double least = 4;
  const double of_a_load = std::max(least, static_cast<double>(sectors) / 2);
  return std::max(
      1U, static_cast<std::uint32_t>(cycles / (of_a_load * warps_per_sm * loads_per_round)));
}

void report(Session& session, const Collection<Observation>& seen, const Pattern& pattern,
            std::uint64_t sectors) {
  const Timed timed{session, seen};
  const auto times = [](std::uint64_t bytes) {
    return
        [bytes](const Observation& o) { return o.loads_per_second * static_cast<double>(bytes); };
  };
  timed.add("warp_load_cycles", "cycle", "clock64_slope", &Observation::inside);
  timed.add("warp_load_cycles", "cycle", "event_slope", &Observation::outside);
  timed.add("grid_time", "s", "event", &Observation::grid_seconds);
  timed.add("useful_bandwidth", "B/s", "event_slope",
            times(std::uint64_t{warp_lanes} * pattern.width));
  timed.add("sector_bandwidth", "B/s", "event_slope", times(sectors * sector_bytes));
  timed.core_clock("clock64_over_globaltimer", &Observation::core_hertz);
  timed.timers(&Observation::inside, "clock64_slope", &Observation::outside, "event_slope");
}

STRATA_DECLARED(declare);

}  // namespace strata::coalescing
