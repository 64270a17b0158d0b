#include "micro/access/coalescing.hpp"

#include "harness/case/choices.hpp"
#include "harness/model/lanes.hpp"
#include "harness/model/word_patterns.hpp"
#include "micro/pattern/particle_chain.hpp"
#include "micro/pattern/random_cycle.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace strata::coalescing {

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "coalescing",
      .question =
          "How many sectors does a warp-load move, and what does it cost, for each address "
          "pattern?",
      .axes = {listed_axis("width", "bytes per lane", {"1", "2", "4", "8", "16"}),
               number_axis("stride", "elements from one lane to the next", 1, max_stride,
                           {"1", "2", "4", "8", "16", "32"}),
               number_axis("misalignment",
                           "elements from the start of a line to the first lane's element", 0,
                           max_misalignment, {"0"}),
               permutations.axis("permutation", "lane order within the warp", {"identity"})},
      .quantities = {{"warp_load_cycles", "SM cycles of a warp-load on a full chip"},
                     {"grid_time", "duration of the whole launch, including start-up"},
                     {"useful_bandwidth", "requested bytes per second"},
                     {"sector_bandwidth", "bytes of the moved sectors per second, by the model"},
                     {"core_clock", "clock of the core during the reads"},
                     {"sectors_per_request", "counted and modelled"}},
      .seconds_per_case = 0.02,
      .excludes = {}};
}

Pattern pattern_of(const Session& session) {
  const auto number = [&](const char* axis) {
    return static_cast<std::uint32_t>(session.integer(axis));
  };
  return {.width = number("width"),
          .elements = lane_elements(number("stride"), number("misalignment"),
                                    permutations.of(session.param("permutation")))};
}

WarpAccess load_of(const Pattern& pattern) {
  return access_of(pattern.width, pattern.elements);
}

namespace {

/// Windows whose lines L2 holds.
std::uint64_t windows_held(const Pattern& pattern, const GpuFacts& gpu) {
  const std::uint64_t lines = traffic(Generation::cc7, load_of(pattern)).lines;
  return gpu.l2_bytes / 3 / (lines * line_bytes);
}

}  // namespace

std::uint32_t warps_for(const Pattern& pattern, const GpuFacts& gpu) {
  const std::uint64_t of_sm =
      windows_held(pattern, gpu) / (std::uint64_t{gpu.sms} * loads_per_round);
  return static_cast<std::uint32_t>(
      std::bit_floor(std::clamp<std::uint64_t>(of_sm, least_warps, most_warps)));
}

Windows windows_for(const Pattern& pattern, const GpuFacts& gpu) {
  const std::uint64_t last = *std::ranges::max_element(pattern.elements);
  const std::uint64_t span = ((last + 1) * pattern.width + line_bytes - 1) / line_bytes;
  const std::uint64_t loads = std::uint64_t{gpu.sms} * warps_for(pattern, gpu) * loads_per_round;
  const std::uint64_t most = std::min(loads, windows_held(pattern, gpu));
  return {.count = static_cast<std::uint32_t>(std::max<std::uint64_t>(most / loads_per_round, 1) *
                                              loads_per_round),
          .bytes = static_cast<std::uint32_t>((span | 1U) * line_bytes)};
}

std::vector<std::uint32_t> order_of(const Windows& windows) {
  return random_order(windows.count, /*seed=*/11);
}

std::uint32_t expected_sum(const Pattern& pattern, const Windows& windows,
                           std::span<const std::uint32_t> order, std::uint32_t warp) {
  std::uint32_t sum = 0;
  for (std::uint32_t load = 0; load < loads_per_round; ++load) {
    const std::uint32_t first =
        order[turn_of(warp, load, windows.count)] * (windows.bytes / pattern.width);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const auto element = first + static_cast<std::uint32_t>(pattern.elements[lane]);
      sum += lane_weight(lane) * hashed_element(element, pattern.width);
    }
  }
  return sum;
}

std::uint32_t rounds_for(double cycles, std::uint64_t sectors, std::uint32_t warps) {
  constexpr double least = 4;
  const double of_a_load = std::max(least, static_cast<double>(sectors) / 2);
  return std::max(1U, static_cast<std::uint32_t>(cycles / (of_a_load * warps * loads_per_round)));
}

Experiment describe(const Pattern& pattern, const GpuFacts& gpu) {
  constexpr double timed_cycles = 8e5;  // of a long launch: 0.4 ms, hundreds of timer steps
  const std::uint32_t warps = warps_for(pattern, gpu);
  const double loads_of_round = double{loads_per_round} * warps;
  const Traffic load = traffic(generation_of(gpu.major, gpu.minor), load_of(pattern));
  const Windows windows = windows_for(pattern, gpu);
  const std::uint32_t rounds = 5 * std::max(1U, rounds_for(timed_cycles, load.sectors, warps) / 5);
  const std::vector<std::uint32_t> order = order_of(windows);
  // All warps that read the same windows have the same sum.
  std::vector<std::uint32_t> sums;
  for (std::uint32_t warp = 0; warp * loads_per_round < windows.count; ++warp)
    sums.push_back(expected_sum(pattern, windows, order, warp));

  Experiment experiment;
  experiment.slopes = {{.verify = results_are([sums](const Call& call, std::size_t warp) {
                          const std::uint32_t sum = call.length.rounds * sums[warp % sums.size()];
                          return std::uint64_t{sum};
                        }),
                        .lengths = fifth_and_whole(rounds, loads_of_round),
                        .writers = std::size_t{gpu.sms} * warps}};
  const auto bandwidth = [&](std::uint64_t bytes_of_load) {
    return per_second(static_cast<double>(gpu.sms) * static_cast<double>(bytes_of_load));
  };
  add_both(experiment, "warp_load_cycles", "cycle");
  experiment.rows.push_back(grid_time());
  experiment.rows.push_back({"useful_bandwidth", "B/s", By::outside,
                             bandwidth(std::uint64_t{warp_lanes} * pattern.width)});
  experiment.rows.push_back(
      {"sector_bandwidth", "B/s", By::outside, bandwidth(load.sectors * sector_bytes)});
  experiment.checked = "warp sums against the host's";
  experiment.placement = Placement{.cores = gpu.sms, .per_core = static_cast<int>(warps)};
  experiment.unproved = {.gate = "level"};
  // Enough rounds that the traffic of other processes is negligible.
  constexpr std::uint32_t counted = 32;
  const std::uint64_t loads = std::uint64_t{gpu.sms} * warps * loads_per_round * counted;
  experiment.counts = CountPlan{
      .length = {.rounds = counted},
      .loads = LoadPrediction{.requests = loads * load.requests, .sectors = loads * load.sectors},
      .served_by = ServedBy::l2,
      .reads = static_cast<double>(loads),
      .warps_per_sm = double{1} * warps};
  experiment.facts = [rounds, warps, windows, sectors = load.sectors](const Experiment&) {
    return Facts{
        {"rounds", std::int64_t{rounds}},
        {"warps_per_sm", std::int64_t{warps}},
        {"footprint_bytes", static_cast<std::int64_t>(windows.count * sectors * sector_bytes)},
        {"windows", std::int64_t{windows.count}}};
  };
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::coalescing
