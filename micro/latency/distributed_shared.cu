// What does it cost to read the shared memory of another SM of the cluster?
//
// `latency`: one thread follows a random chain of words in the shared memory of the block that is
// `distance` ranks further on in its cluster (0: in its own, with the same instruction). Each load
// takes its address from the one before it; words are addresses, so the time contains nothing else.
// `bandwidth`: in as many clusters as fit, one block per SM, every block reads the memory of the
// block `distance` ranks further on, 16 bytes a lane, with four loads of each thread in flight.
// Blocks of adjacent ranks are often on the two SMs of one TPC.
#include "harness/cuda/benchmark.cuh"
#include "micro/pattern/random_cycle.hpp"

#ifdef __CUDACC__
#include "harness/cuda/cluster.cuh"
#endif

namespace strata::distributed_shared {

enum class Measure { latency, bandwidth };
constexpr auto measures = choices_of<Measure>("latency", "bandwidth");

/// Values of the axes.
struct Shape {
  Measure measure = Measure::latency;
  std::uint32_t cluster = 2;   ///< blocks
  std::uint32_t distance = 1;  ///< in ranks
  std::uint32_t warps = 1;     ///< of a block
};

constexpr std::uint32_t lanes = 32;
constexpr std::uint32_t width = 16;                       ///< bytes of an access of a lane
constexpr std::uint32_t flights = 4;                      ///< accesses of a thread in flight
constexpr std::uint32_t chunk = flights * lanes * width;  ///< bytes of a warp per round
constexpr std::uint32_t tile_bytes = 65536;               ///< that each block holds
constexpr std::uint32_t tile_words = tile_bytes / sizeof(std::uint32_t);

/// Contents of the block of that rank; all words of a cluster differ.
[[nodiscard]] STRATA_HD constexpr LinearWords tile_of(std::uint32_t rank) {
  constexpr LinearWords all;
  return {all.slope, all.word(std::uint64_t{rank} * tile_words)};
}

/// The chain: slots in random order.
constexpr std::uint32_t slots = 512;
constexpr std::uint32_t long_loads = 3200;  ///< a short launch has a fifth
constexpr std::uint32_t unroll = 16;

struct Ring {
  /// The slot after `loads` loads.
  [[nodiscard]] std::uint32_t after(std::uint32_t loads) const { return order[loads % slots]; }
  std::vector<std::uint32_t> order = random_order(slots, /*seed=*/17);
  std::vector<std::uint32_t> next = successors(order);  ///< of each slot
};

constexpr const char* needs_clusters = "thread block clusters need compute capability 9.0";
constexpr double timed_cycles = 1e6;  // of a long launch: 0.5 ms, hundreds of timer steps

namespace {

Shape shape_of(const Params& params) {
  const auto number = [&](const char* axis) { return number_of<std::uint32_t>(params, axis); };
  return {.measure = measures.of(params.at("measure")),
          .cluster = number("cluster"),
          .distance = number("distance"),
          .warps = number("warps")};
}

std::optional<std::string> excludes(const Params& params, Backend backend) {
  if (backend == Backend::host) return "a CPU has no shared memory";
  const Shape shape = shape_of(params);
  if (shape.distance >= shape.cluster) return "the cluster has no block at that distance";
  if (shape.measure == Measure::latency && shape.warps != 1) return "one thread follows the chain";
  return std::nullopt;
}

Experiment describe_latency() {
  Experiment experiment;
  experiment.slopes = {{.verify = results_are([ring = Ring{}](const Call& call) {
                          return ring.after(call.length.rounds);
                        }),
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

/// The sum of the block of that rank. Its warps are side by side and repeatedly traverse the tile.
std::uint32_t expected_sum(const Shape& shape, std::uint32_t rank, std::uint32_t rounds) {
  const LinearWords words = tile_of((rank + shape.distance) % shape.cluster);
  constexpr std::uint32_t words_of_warp = chunk / sizeof(std::uint32_t);
  const std::uint32_t of_round = shape.warps * words_of_warp;
  std::uint32_t sum = 0;
  for (std::uint32_t round = 0; round < rounds; ++round)
    sum += words.sum(round * of_round % tile_words, of_round);
  return sum;
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

/// On that many blocks. Per load of the one thread, or per byte read by each block.
Experiment describe(const Shape& shape, unsigned blocks) {
  Experiment experiment =
      shape.measure == Measure::latency ? describe_latency() : describe_bandwidth(shape, blocks);
  experiment.not_counted = "the counter sets do not cover another SM's shared memory";
  experiment.facts = [blocks](const Experiment&) {
    return Facts{{"blocks", std::int64_t{blocks}}};
  };
  return experiment;
}

/// On as many blocks as the chip has SMs for; a launch queries how many clusters fit.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  if (gpu.major < 9) throw Skipped{needs_clusters};
  const Shape shape = shape_of(params);
  const bool latency = shape.measure == Measure::latency;
  return describe(shape, latency ? shape.cluster : gpu.sms / shape.cluster * shape.cluster);
}

#ifdef __CUDACC__

/// The first thread of a cluster writes the chain into the memory of block `distance` and follows
/// it. Wanted: LD.E.64, whose address is the word loaded last.
__global__ void follow_chain(const std::uint32_t* next, std::uint32_t first, std::uint32_t distance,
                             std::uint32_t loads, Stamp* stamp) {
  __shared__ std::uint64_t ring[slots];
  synchronize_cluster();  // every block has started, and its memory exists
  if (rank_in_cluster() == 0 && threadIdx.x == 0) {
    std::uint64_t* const there = of_block(ring, distance);
    for (std::uint32_t s = 0; s < slots; ++s)
      there[s] = reinterpret_cast<std::uint64_t>(there + next[s]);
    auto at = reinterpret_cast<std::uint64_t>(there + first);
    const Reading begin = reading_before();
#pragma unroll 1
    for (std::uint32_t i = 0; i < loads; i += unroll) {
#pragma unroll
      for (std::uint32_t u = 0; u < unroll; ++u)
        follow<Access::generic>(at);
    }
    consume(static_cast<std::uint32_t>(at));
    const Reading end = reading_after();
    leave(stamp, begin, end, (at - reinterpret_cast<std::uint64_t>(there)) / sizeof at);
  }
  synchronize_cluster();  // no block exits while its memory is read
}

/// Every block reads the tile of the block `distance` further on.
__global__ void __launch_bounds__(1024)
    read_tile(std::uint32_t cluster, std::uint32_t distance, std::uint32_t rounds, Stamp* stamps) {
  extern __shared__ __align__(128) std::uint32_t tile[];
  const std::uint32_t rank = rank_in_cluster();
  const LinearWords own = tile_of(rank);
  for (std::uint32_t w = threadIdx.x; w < tile_words; w += blockDim.x)
    tile[w] = own.word(w);
  const char* const there =
      reinterpret_cast<const char*>(of_block(tile, (rank + distance) % cluster)) +
      threadIdx.x % lanes * width;
  std::uint32_t at = threadIdx.x / lanes * chunk;
  const std::uint32_t advance = blockDim.x / lanes * chunk;
  std::uint32_t sum = 0;
  synchronize_cluster();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t w[flights][width / sizeof(std::uint32_t)];
#pragma unroll
    for (std::uint32_t f = 0; f < flights; ++f)
      load<Access::generic, width>(w[f], there + at + f * lanes * width);
#pragma unroll
    for (std::uint32_t f = 0; f < flights; ++f)
      sum += w[f][0] + w[f][1] + w[f][2] + w[f][3];
    at = (at + advance) % tile_bytes;
  }
  const std::uint32_t all = block_sum(sum);
  const Reading end = reading_after();
  if (threadIdx.x == 0) leave(stamps + blockIdx.x, begin, end, all);
  synchronize_cluster();  // no block exits while its memory is read
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Shape shape = shape_of(session.params());
  const bool latency = shape.measure == Measure::latency;
  const auto* const code = latency ? reinterpret_cast<const void*>(follow_chain)
                                   : reinterpret_cast<const void*>(read_tile);
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, code));
  constexpr int with_clusters = 90;
  if (gpu.major < 9 || attributes.binaryVersion < with_clusters) throw Skipped{needs_clusters};
  const unsigned threads = shape.warps * lanes;
  const std::size_t alone = bytes_to_be_alone(code);
  const auto at_once = [&](auto* kernel) {
    return blocks_in_clusters(kernel, threads, shape.cluster, alone, gpu.sms);
  };
  const unsigned fitting = latency ? at_once(follow_chain) : at_once(read_tile);
  const unsigned blocks = latency ? shape.cluster : fitting;
  const Ring ring;
  Experiment experiment = describe(shape, blocks);
  require_timed(session, experiment);

  CudaMachine machine{session, latency ? 1 : blocks};
  const DeviceBuffer<std::uint32_t> next{ring.next};
  experiment.slopes.front().launch = [&](const Call& call) {
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t config =
        launch_config(blocks, threads, shape.cluster, alone, machine.stream().get(), attribute);
    cuda_check(latency
                   ? cudaLaunchKernelEx(&config, follow_chain, next.data(), ring.after(0),
                                        shape.distance, call.length.rounds, machine.device_stamps())
                   : cudaLaunchKernelEx(&config, read_tile, shape.cluster, shape.distance,
                                        call.length.rounds, machine.device_stamps()));
  };
  experiment.kernels = {code};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::distributed_shared
