#include "micro/latency/distributed_shared.hpp"

#include "micro/pattern/random_cycle.hpp"

#include <algorithm>

namespace strata::distributed_shared {
namespace {

constexpr double timed_cycles = 1e6;  // of a long launch: 0.5 ms, hundreds of timer steps

std::optional<std::string> excludes(const Params& params, Backend backend) {
  if (backend == Backend::host) return "a CPU has no shared memory";
  const Shape shape = shape_of(params);
  if (shape.distance >= shape.cluster) return "the cluster has no block at that distance";
  if (shape.measure == Measure::latency && shape.warps != 1) return "one thread follows the chain";
  return std::nullopt;
}

Experiment describe_latency(const Ring& ring) {
  Experiment experiment;
  experiment.slopes = {
      {.verify = results_are([&ring](const Call& call) { return ring.after(call.length.rounds); }),
       .lengths = fifth_and_whole(long_loads, 1),
       .writers = 1,
       .window = slowest_writer_by_sums()}};
  add_both(experiment, "load_cycles", "cycle");
  experiment.rows.push_back(
      {"load_time", "s", By::outside, of_slope([](const Seen& seen) { return seen.seconds; })});
  experiment.checked = "chain ends against the cycle";
  experiment.checks.emplace_back(Dependence{"ends of chains", {}});
  return experiment;
}

Experiment describe_bandwidth(const Shape& shape, unsigned blocks) {
  const double usual_bytes_a_cycle = shape.distance == 0 ? 128 : 16;
  constexpr std::uint32_t parts = 5;  // of which a short launch has one
  const std::uint32_t of_round = shape.warps * chunk;
  const auto rounds = static_cast<std::uint32_t>(timed_cycles * usual_bytes_a_cycle / of_round);
  // Odd: the sums over whole tiles (a power of two of them) are the same for all tiles.
  const std::uint32_t in_short = (rounds / parts) | 1U;
  Experiment experiment = bandwidth_of(blocks, "bandwidth");
  experiment.slopes = {
      {.verify = results_are([shape](const Call& call, std::size_t writer) -> std::uint64_t {
         return expected_sum(shape, static_cast<std::uint32_t>(writer % shape.cluster),
                             call.length.rounds);
       }),
       .lengths = fifth_and_whole(parts * in_short, of_round),
       .writers = blocks,
       .window = slowest_writer_by_sums()}};
  experiment.placement = Placement{.cores = blocks};
  experiment.checked = "sums of words against the closed form";
  return experiment;
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "distributed_shared",
      .question = "What does it cost to read the shared memory of another SM in the cluster?",
      .axes = {measures.axis("measure", "one load after the other, or as many as the SMs sustain"),
               listed_axis("cluster", "blocks per cluster, one per SM", {"2", "4", "8", "16"}),
               listed_axis("distance", "distance in the cluster to the block that is read",
                           {"0", "1", "2", "4", "8"}),
               listed_axis("warps", "threads per block; for latency 1, of which one thread works",
                           {"1", "2", "4", "8", "16", "32"}, {"1", "8", "32"})},
      .quantities = {{"load_cycles", "cycles of a load whose address depends on the previous load"},
                     {"load_time", "the same in seconds"},
                     {"bandwidth", "bytes read per second, all blocks"},
                     {"bandwidth_per_sm", "bytes per cycle that each SM of a cluster reads"},
                     {"grid_time", "duration of the whole long launch, including start-up"},
                     {"core_clock", "clock of the core during the loads"}},
      .seconds_per_case = 0.02,
      .excludes = excludes};
}

Shape shape_of(const Params& params) {
  const auto number = [&](const char* axis) { return number_of<std::uint32_t>(params, axis); };
  return {.measure = measures.of(params.at("measure")),
          .cluster = number("cluster"),
          .distance = number("distance"),
          .warps = number("warps")};
}

Ring::Ring() : order{random_order(slots, /*seed=*/17)}, next{successors(order)} {}

std::uint32_t expected_sum(const Shape& shape, std::uint32_t rank, std::uint32_t rounds) {
  const LinearWords words = tile_of((rank + shape.distance) % shape.cluster);
  constexpr std::uint32_t words_of_warp = chunk / sizeof(std::uint32_t);
  const std::uint32_t of_round = shape.warps * words_of_warp;
  std::uint32_t sum = 0;
  for (std::uint32_t round = 0; round < rounds; ++round)
    sum += words.sum(round * of_round % tile_words, of_round);
  return sum;
}

Experiment describe(const Shape& shape, const Ring& ring, unsigned blocks) {
  Experiment experiment = shape.measure == Measure::latency ? describe_latency(ring)
                                                            : describe_bandwidth(shape, blocks);
  experiment.not_counted = "the counter sets do not cover another SM's shared memory";
  experiment.facts = [blocks](const Experiment&) {
    return Facts{{"blocks", std::int64_t{blocks}}};
  };
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::distributed_shared
