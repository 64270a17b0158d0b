// Does a stride make all accesses meet in a few slices of L2?
//
// On early GPUs, addresses 2 KiB apart were in one of a few memory partitions (van den Braak 2010,
// section VIII). Today a hash of the address selects the slice of L2, and with it the memory
// channel. All SMs read 131,072 words from L2, one per line, `spacing` bytes apart: 16 MiB of
// lines, whatever the spacing. If a spacing favoured some slices, these would limit the bandwidth,
// and the counters of the busiest slice would show it (counter set `slices`).
//
// Loads bypass L1 (ld.global.cg). Those of one round read different lines, but SMs that are a round
// apart can meet at a line, and up to a tenth of the requests is merged (request_merging).
#include "harness/cuda/benchmark.cuh"
#include "micro/pattern/particle_chain.hpp"

namespace strata::slice_camping {

constexpr std::uint32_t loads_in_all = 4096;  ///< distinct warp-loads, a line per lane
constexpr std::uint32_t flights = 4;          ///< loads that a warp has in flight
constexpr std::uint32_t warps = 4;            ///< of the one block of an SM
constexpr std::uint64_t most_spacing = 64U << 10U;
constexpr std::uint64_t pool_bytes = std::uint64_t{loads_in_all} * warp_lanes * most_spacing;

namespace {

Benchmark declare() {
  return {.suite = "micro",
          .name = "slice_camping",
          .question = "Does a stride make all accesses meet in a few slices of L2?",
          .axes = {listed_axis("spacing", "bytes from the line of a lane to that of the next",
                               {"128", "256", "384", "512", "1024", "2048", "4096", "4224", "8192",
                                "16384", "32768", "33024", "65536"})},
          .counter_sets = {"slices"},
          .quantities = {{"sector_bandwidth",
                          "bytes of the sectors that loads request from L2 per second"},
                         {"sector_bandwidth_per_sm", "the same per cycle of an SM, by each timer"},
                         {"grid_time", "duration of the whole long launch, including start-up"},
                         {"core_clock", "clock of the core during the loads"},
                         {"sectors_per_request", "per warp-load, counted and modelled"},
                         {"memory_bytes_per_used_byte", "bytes read from memory per wanted byte"},
                         {"l2_sectors_per_missed_sector",
                          "sectors that L2 received over those that missed L1: 1 where nothing is "
                          "merged"}},
          .seconds_per_case = 0.05};
}

/// Weighted sum of the lanes of each of the distinct loads.
std::vector<std::uint32_t> sums_of_loads(std::uint64_t spacing) {
  std::vector<std::uint32_t> sums(loads_in_all);
  for (std::uint32_t load = 0; load < loads_in_all; ++load) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint64_t byte = (std::uint64_t{load} * warp_lanes + lane) * spacing;
      sums[load] += lane_weight(lane) * hashed_word(static_cast<std::uint32_t>(byte / 4));
    }
  }
  return sums;
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  constexpr double timed_seconds = 5e-4;
  constexpr double bytes_of_round = double{warps} * flights * warp_lanes * sector_bytes;  // per SM
  if (gpu.memory_bytes / 2 < pool_bytes) throw Skipped{"device memory is too small"};
  if (gpu.l2_bytes / 3 < std::uint64_t{loads_in_all} * warp_lanes * line_bytes) {
    throw Skipped{"L2 is too small for the lines and their copies in its other half"};
  }
  if (gpu.sms * warps * flights > loads_in_all) {
    throw Skipped{"so many SMs would have loads of one line in flight together"};
  }
  const std::uint64_t loads_of_round = std::uint64_t{gpu.sms} * warps * flights;
  Experiment experiment = bandwidth_of(gpu.sms, "sector_bandwidth");
  const auto expected = [sums = sums_of_loads(number_of<std::uint64_t>(params, "spacing")),
                         loads_of_round](const Call& call) {
    const std::uint64_t loads = call.length.rounds * loads_of_round;
    std::uint32_t all = 0;
    std::uint32_t rest = 0;
    for (std::uint32_t load = 0; load < loads_in_all; ++load) {
      all += sums[load];
      if (load < loads % loads_in_all) rest += sums[load];
    }
    return static_cast<std::uint32_t>(loads / loads_in_all) * all + rest;
  };
  experiment.slopes = {{.verify = results_add_up_to(expected),
                        .size = lengths_by_trial(timed_seconds, bytes_of_round),
                        .writers = std::size_t{gpu.sms} * warps}};
  experiment.checked = "sums of all warps against the host's";
  experiment.placement = Placement{.cores = gpu.sms, .per_core = warps};
  experiment.unproved = {.gate = "level"};
  constexpr std::uint32_t counted = 256;
  const std::uint64_t loads = counted * loads_of_round;
  experiment.counts =
      CountPlan{.length = {.rounds = counted},
                .loads = LoadPrediction{.requests = loads, .sectors = loads * warp_lanes},
                .rows = LoadRows::per_request,
                .used_bytes = static_cast<double>(loads * warp_lanes * sizeof(std::uint32_t)),
                .sms_of_line = gpu.sms};
  return experiment;
}

#ifdef __CUDACC__

/// `loads` is a kernel argument, so that the index of a load, and with it its address, is unknown
/// to ptxas, which would hoist a load with a constant address out of the loop.
__global__ void __launch_bounds__(warps* warp_lanes)
    read_spaced(const char* data, std::uint32_t spacing, std::uint32_t rounds,
                std::uint32_t last_load, Stamp* stamps) {
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t warp = blockIdx.x * warps + threadIdx.x / warp_lanes;
  const std::uint32_t of_round = gridDim.x * warps * flights;
  std::uint32_t load = warp * flights;
  std::uint32_t sum = 0;
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r, load += of_round) {
    std::uint32_t value[flights];
#pragma unroll
    for (std::uint32_t f = 0; f < flights; ++f) {
      const std::uint32_t word = ((load + f) & last_load) * warp_lanes + lane;
      value[f] = load_word<Access::global_cg>(data + std::uint64_t{word} * spacing);
    }
#pragma unroll
    for (std::uint32_t f = 0; f < flights; ++f)
      sum += value[f];
  }
  sum = warp_sum(sum * lane_weight(lane));
  const Reading end = reading_after();
  if (lane == 0) leave(stamps + warp, begin, end, sum);
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  Experiment experiment = describe(session.params(), gpu);
  CudaMachine machine{session, std::size_t{gpu.sms} * warps};
  const cudaStream_t stream = machine.stream().get();
  using Field = DeviceBuffer<std::uint32_t>;  // shared by all cases
  const Field& field = session.cache().keep<Field>("slice_camping", [&] {
    Field made{pool_bytes / sizeof(std::uint32_t)};
    fill(made.data(), made.size(), HashedWords{}, stream);
    return made;
  });
  const auto spacing = number_of<std::uint32_t>(session.params(), "spacing");
  const auto launch = [&](std::uint32_t rounds) {
    read_spaced<<<gpu.sms, warps * warp_lanes, 0, stream>>>(
        reinterpret_cast<const char*>(field.data()), spacing, rounds, loads_in_all - 1,
        machine.device_stamps());
  };
  // Many laps, so that each half of L2 has its copies.
  experiment.slopes[0].prepare = [&](const Call&) { launch(64); };
  experiment.slopes[0].launch = [&](const Call& call) { launch(call.length.rounds); };
  experiment.kernels = {reinterpret_cast<const void*>(&read_spaced)};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::slice_camping
