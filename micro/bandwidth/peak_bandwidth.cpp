#include "micro/bandwidth/peak_bandwidth.hpp"

#include "harness/base/error.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace strata::peak_bandwidth {

using bandwidth::LaunchShape;
using bandwidth::Level;

namespace {

std::optional<std::string> excludes(const Params& params, Backend backend) {
  if (backend == Backend::host) return "a CPU has no launch shapes to search: use bandwidth";
  LaunchShape shape = case_of(params);
  shape.in_flight = 1;  // possible wherever any is
  return bandwidth::impossible(shape);
}

}  // namespace

Benchmark declare() {
  const Benchmark base = bandwidth::declare();
  return {
      .suite = "micro",
      .name = "peak_bandwidth",
      .question = "How many bytes per second does each memory level of a GPU move at most?",
      .axes = {listed_axis("level", "memory level of the arrays", {"shared", "l1", "l2", "dram"}),
               listed_axis("operation", "memory operation", {"read", "write", "copy", "triad"}),
               listed_axis("width", "bytes per access of a thread", {"4", "8", "16"}),
               listed_axis("shape", "launch shape: the fastest that a search finds", {"best"})},
      .data_axes = 0,
      .counter_sets = base.counter_sets,
      .quantities = base.quantities,
      .seconds_per_case = 0.12,
      .excludes = excludes};
}

LaunchShape case_of(const Params& params) {
  return {.level = bandwidth::levels.of(params.at("level")),
          .operation = bandwidth::operations.of(params.at("operation")),
          .width = number_of<std::uint32_t>(params, "width")};
}

std::vector<LaunchShape> shapes_for(const LaunchShape& which) {
  constexpr std::uint32_t least_in_flight = 32 << 10;
  constexpr std::uint32_t most_in_flight = 128 << 10;
  // Waves cost the start of blocks: at L2, each block still runs for several times as long.
  constexpr std::uint32_t waves_of_l2 = 32;
  constexpr std::uint32_t waves_of_dram = 64;
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 7> grids{
      {{512, 2}, {256, 4}, {512, 4}, {256, 8}, {1024, 2}, {512, 1}, {256, 2}}};
  std::vector<std::uint32_t> waves{1};
  if (which.level == Level::l2) waves.push_back(waves_of_l2);
  if (which.level == Level::dram) waves.push_back(waves_of_dram);
  std::vector<LaunchShape> shapes;
  for (const std::uint32_t wave : waves) {
    for (const auto& [block_size, blocks_per_sm] : grids) {
      for (const std::uint32_t in_flight : {4U, 8U, 2U, 16U, 1U}) {
        LaunchShape shape = which;
        shape.block_size = block_size;
        shape.blocks_per_sm = blocks_per_sm;
        shape.in_flight = in_flight;
        shape.waves = wave;
        const std::uint32_t bytes = blocks_per_sm * shape.tile();
        if (bytes >= least_in_flight && bytes <= most_in_flight && !bandwidth::impossible(shape)) {
          shapes.push_back(shape);
        }
      }
    }
  }
  return shapes;
}

std::vector<bandwidth::Plan> plans_for(const std::vector<LaunchShape>& shapes,
                                       const GpuFacts& gpu) {
  std::vector<bandwidth::Plan> plans;
  std::string why = "no shape has that many bytes in flight";
  for (const LaunchShape& shape : shapes) {
    try {
      const auto plan = bandwidth::plan_for(shape, gpu);
      if (shape.level == Level::l2 && plan.pattern.pieces < gpu.sms * shape.blocks_per_sm) {
        why = "L2 is too small for separate data of each block";
        continue;
      }
      plans.push_back(plan);
    } catch (const Skipped& skipped) {
      why = skipped.what();
    }
  }
  if (plans.empty()) throw Skipped{why};
  return plans;
}

std::size_t find_fastest(std::size_t count, const std::function<double(std::size_t)>& rate) {
  constexpr double promising = 0.97;
  constexpr double equal = 0.995;
  std::vector<double> rates;
  for (std::size_t i = 0; i < count; ++i)
    rates.push_back(rate(i));
  const double least = promising * std::ranges::max(rates);
  if (least <= 0) throw Skipped{"the SMs can hold none of the shapes"};
  for (std::size_t i = 0; i < count; ++i)
    rates[i] =
        rates[i] < least ? 0 : median(std::array{rate(i), rate(i), rate(i), rate(i), rate(i)});
  const double enough = equal * std::ranges::max(rates);
  const auto first = std::ranges::find_if(rates, [&](double each) { return each >= enough; });
  return static_cast<std::size_t>(first - rates.begin());
}

Facts facts_of(const LaunchShape& best, std::size_t tried) {
  return {{"best_block_size", std::int64_t{best.block_size}},
          {"best_blocks_per_sm", std::int64_t{best.blocks_per_sm}},
          {"best_in_flight", std::int64_t{best.in_flight}},
          {"best_waves", std::int64_t{best.waves}},
          {"shapes_tried", static_cast<std::int64_t>(tried)}};
}

STRATA_DECLARED(declare);

}  // namespace strata::peak_bandwidth
