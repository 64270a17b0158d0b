// What does each memory level of a GPU give at most?
//
// Short trials compare launch shapes with 32 to 128 KiB in flight per SM: from 512 threads to as
// many as an SM holds, resident blocks and, at L2 and main memory, also waves of blocks. Resident
// blocks have equal shares of the work, and the SMs of the largest GPC, which share its port to L2,
// end last; waves let the others do more. The fastest shape is then measured like a case of
// `bandwidth`: its samples are taken after the search, so that the choice does not bias them.
#include "harness/cuda/benchmark.cuh"
#include "micro/bandwidth/bandwidth.hpp"

namespace strata::peak_bandwidth {

using bandwidth::LaunchShape;
using bandwidth::Level;

namespace {

/// The level, operation and width of a case, in the default shape.
LaunchShape case_of(const Params& params) {
  return {.level = bandwidth::levels.of(params.at("level")),
          .operation = bandwidth::operations.of(params.at("operation")),
          .width = number_of<std::uint32_t>(params, "width")};
}

std::optional<std::string> excludes(const Params& params, Backend backend) {
  if (backend == Backend::host) return "a CPU has no launch shapes to search: use bandwidth";
  LaunchShape shape = case_of(params);
  shape.in_flight = 1;  // possible wherever any is
  return bandwidth::impossible(shape);
}

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

/// Shapes to try for the case, preferred ones first.
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

/// Plans of the shapes that the device holds. Without those whose blocks share data in L2, where
/// simultaneous requests for a sector count twice but move once. Throws Skipped if there are none.
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

/// Index of the first of `count` > 0 shapes within 0.5 % of the fastest, so that visits agree. All
/// are tried once, and five more times those within 3 % of the fastest. `rate`: bytes per second
/// of a trial; 0 if the shape cannot run. Throws Skipped if all cannot.
[[maybe_unused]] std::size_t find_fastest(std::size_t count,
                                          const std::function<double(std::size_t)>& rate) {
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

/// In the first shape to try.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  return bandwidth::describe_plan(plans_for(shapes_for(case_of(params)), gpu).front(), gpu);
}

#ifdef __CUDACC__

/// The shape as facts of the case.
Facts facts_of(const LaunchShape& best, std::size_t tried) {
  return {{"best_block_size", std::int64_t{best.block_size}},
          {"best_blocks_per_sm", std::int64_t{best.blocks_per_sm}},
          {"best_in_flight", std::int64_t{best.in_flight}},
          {"best_waves", std::int64_t{best.waves}},
          {"shapes_tried", static_cast<std::int64_t>(tried)}};
}

/// Found by this process, by case. A counted case is run once for each pass of the profiler, and
/// all passes must count one shape.
struct Winners {
  std::map<Params, std::size_t> by_case;
};

void run(Session& session) {
  const auto plans = plans_for(shapes_for(case_of(session.params())), session.gpu());
  bandwidth::StreamLaunches launches{session};
  const auto search = [&] {
    return find_fastest(plans.size(), [&](std::size_t i) { return launches.try_rate(plans[i]); });
  };
  std::size_t best = 0;
  if (session.counters() == nullptr) {
    best = search();
  } else {
    auto& winners = session.cache().shared<Winners>().by_case;
    const auto known = winners.find(session.params());
    best = known != winners.end() ? known->second : winners[session.params()] = search();
  }
  launches.measure(plans[best]);
  for (const auto& [name, value] : facts_of(plans[best].shape, plans.size()))
    session.fact(name, value);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::peak_bandwidth
