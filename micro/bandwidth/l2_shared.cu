// How many bytes per second does L2 deliver if all SMs read the same data?
//
// All warps of the chip read one array in turn, 16 bytes a lane, past L1 (ld.global.cg). They begin
// at places evenly spread over it. Requests of several SMs for a sector that meet on their way are
// merged (request_merging): the smaller the array, the more, and `bandwidth` exceeds what L2 sends.
// Each half of L2 can hold a copy of every line. `bandwidth` and `peak_bandwidth` have separate
// data for each block. The time includes half an addition for each word and about five instructions
// for each round.
#include "harness/cuda/benchmark.cuh"

namespace strata::l2_shared {

constexpr std::uint32_t width = 16;                            ///< bytes of an access of a lane
constexpr std::uint32_t flights = 4;                           ///< accesses of a thread in flight
constexpr std::uint32_t chunk = flights * warp_lanes * width;  ///< bytes of a warp per round
constexpr std::uint32_t chunk_words = chunk / sizeof(std::uint32_t);
constexpr std::uint32_t warps_per_sm = 32;

/// The chunk that a warp of the grid reads first.
[[nodiscard]] STRATA_HD constexpr std::uint32_t first_chunk(std::uint32_t warp, std::uint32_t warps,
                                                            std::uint32_t chunks) {
  return static_cast<std::uint32_t>(std::uint64_t{warp} * chunks / warps);
}

namespace {

Benchmark declare() {
  return {.suite = "micro",
          .name = "l2_shared",
          .question = "How many bytes per second does L2 deliver if all SMs read the same data?",
          .axes = {listed_axis("footprint", "bytes that all SMs read",
                               {"262144", "2097152", "16777216"})},
          .quantities = {{"bandwidth", "bytes read per second, whole chip"},
                         {"bandwidth_per_sm", "bytes read per cycle of an SM, by each timer"},
                         {"grid_time", "duration of the whole long launch, including start-up"},
                         {"core_clock", "clock of the core during the loads"},
                         {"l2_sectors_per_missed_sector",
                          "sectors that L2 received over those that missed L1: 1 where nothing is "
                          "merged"}},
          .seconds_per_case = 0.02,
          .excludes = [](const Params&, Backend backend) -> std::optional<std::string> {
            if (backend == Backend::host) return "the L2 of a CPU belongs to a core";
            return std::nullopt;
          }};
}

/// The sums of the first 0, 1, 2, … chunks.
std::vector<std::uint32_t> sums_before(std::uint32_t chunks) {
  std::vector<std::uint32_t> sums(chunks + 1);
  for (std::uint32_t c = 0; c < chunks; ++c)
    sums[c + 1] = sums[c] + LinearWords{}.sum(std::uint64_t{c} * chunk_words, chunk_words);
  return sums;
}

/// What a warp adds up that reads `rounds` chunks from `first` on, and starts again at the end.
std::uint32_t sum_of(std::span<const std::uint32_t> before, std::uint32_t first,
                     std::uint32_t rounds) {
  const auto chunks = static_cast<std::uint32_t>(before.size() - 1);
  const std::uint32_t last = first + rounds % chunks;
  const std::uint32_t rest = last <= chunks
                                 ? before[last] - before[first]
                                 : before[chunks] - before[first] + before[last - chunks];
  return rounds / chunks * before[chunks] + rest;
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  constexpr double usual_bytes_per_cycle = 64;  // of an SM
  constexpr double timed_cycles = 3.2e6;        // of a long launch: 1.6 ms
  constexpr std::uint32_t of_round = warps_per_sm * chunk;
  constexpr auto fifth =
      static_cast<std::uint32_t>(timed_cycles * usual_bytes_per_cycle / of_round / 5);
  const auto footprint = number_of<std::uint32_t>(params, "footprint");
  if (footprint > gpu.l2_bytes / 3) throw Skipped{"L2 does not hold the data and their copies"};
  const std::uint32_t chunks = footprint / chunk;
  const std::uint32_t warps = gpu.sms * warps_per_sm;
  Experiment experiment = bandwidth_of(gpu.sms, "bandwidth");
  experiment.slopes = {
      {.verify = results_are([=, before = sums_before(chunks)](const Call& call, std::size_t warp) {
         const auto first = first_chunk(static_cast<std::uint32_t>(warp), warps, chunks);
         return std::uint64_t{sum_of(before, first, call.length.rounds)};
       }),
       .lengths = fifth_and_whole(5 * fifth, of_round),
       .writers = warps,
       .window = slowest_writer()}};
  experiment.checked = "warp sums against the closed form";
  experiment.placement = Placement{.cores = gpu.sms, .per_core = int{warps_per_sm}};
  experiment.unproved = {.gate = "level"};
  constexpr std::uint32_t counted = 64;
  const std::uint64_t loads = std::uint64_t{warps} * flights * counted;
  experiment.counts =
      CountPlan{.length = {.rounds = counted},
                .loads = LoadPrediction{.requests = loads,
                                        .sectors = loads * warp_lanes * width / sector_bytes},
                .reads = static_cast<double>(loads),
                .warps_per_sm = double{1} * warps_per_sm,
                .sms_of_line = gpu.sms};
  experiment.facts = [footprint](const Experiment&) {
    return Facts{{"footprint_bytes", std::int64_t{footprint}}};
  };
  return experiment;
}

#ifdef __CUDACC__

__global__ void __launch_bounds__(warps_per_sm* warp_lanes, 1)
    read_in_turn(const char* array, std::uint32_t footprint, std::uint32_t rounds, Stamp* stamps) {
  const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes;
  const std::uint32_t warps = gridDim.x * warps_per_sm;
  std::uint32_t at = first_chunk(warp, warps, footprint / chunk) * chunk;
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  std::uint32_t sum = 0;
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t w[flights][width / sizeof(std::uint32_t)];
#pragma unroll
    for (std::uint32_t f = 0; f < flights; ++f)
      load<Access::global_cg, width>(w[f], array + at + (f * warp_lanes + lane) * width);
#pragma unroll
    for (std::uint32_t f = 0; f < flights; ++f)
      sum += w[f][0] + w[f][1] + w[f][2] + w[f][3];
    at += chunk;
    if (at == footprint) at = 0;
  }
  sum = warp_sum(sum);
  const Reading end = reading_after();
  if (lane == 0) leave(stamps + warp, begin, end, sum);
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const auto footprint = number_of<std::uint32_t>(session.params(), "footprint");
  Experiment experiment = describe(session.params(), gpu);
  CudaMachine machine{session, std::size_t{gpu.sms} * warps_per_sm};
  const cudaStream_t stream = machine.stream().get();
  const DeviceBuffer<std::uint32_t> words{footprint / sizeof(std::uint32_t)};
  fill(words.data(), words.size(), LinearWords{}, stream);
  const auto* const code = reinterpret_cast<const void*>(read_in_turn);
  const std::size_t alone = bytes_to_be_alone(code);
  Slope& slope = experiment.slopes.front();
  slope.start = Start::in_l2;
  slope.data = words.data();
  slope.bytes = words.size_bytes();
  slope.launch = [&](const Call& call) {
    read_in_turn<<<gpu.sms, warps_per_sm * warp_lanes, alone, stream>>>(
        reinterpret_cast<const char*>(words.data()), footprint, call.length.rounds,
        machine.device_stamps());
  };
  experiment.kernels = {code};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::l2_shared
