// Are the paths of a divergent branch serialised?
//
// Lane l of the one warp on each SM takes path l % paths of a switch. A path is a chain of
// multiply-adds with its own addend, so the compiler cannot merge two of them. If the scheduler
// serialises paths, a round takes `paths` times as long as a round of one path in the same kernel,
// which the second slope measures (Breitbart 2008, section 2.3).
#include "harness/cuda/benchmark.cuh"
#include "micro/pattern/iterated_map.hpp"
#include "micro/pattern/particle_chain.hpp"

namespace strata::divergence {
namespace {

constexpr std::uint32_t most_paths = 32;
constexpr std::uint32_t steps = 64;  ///< dependent multiply-adds of a path

/// Addend of a path: odd, and different for each.
STRATA_HD constexpr std::uint32_t addend(std::uint32_t path) {
  return 2 * path + 1;
}

constexpr std::uint32_t factor = 1664525;

/// The weighted sum of all lanes after that many rounds.
std::uint32_t expected_sum(std::uint32_t paths, std::uint64_t rounds) {
  std::uint32_t sum = 0;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    sum += lane_weight(lane) *
           iterated(hashed_word(lane), factor, addend(lane % paths), rounds * steps);
  }
  return sum;
}

Benchmark declare() {
  return {.suite = "micro",
          .name = "divergence",
          .question = "Are the paths of a divergent branch serialised?",
          .axes = {listed_axis("paths", "paths that the lanes of a warp take",
                               {"1", "2", "4", "8", "16", "32"})},
          .quantities = {{"round_cycles", "cycles of a branch and its paths, one warp on each SM"},
                         {"slowdown", "round_cycles over those of one path"},
                         {"core_clock", "clock of the core during the work"}},
          .seconds_per_case = 0.03};
}

/// A slope of all paths, and one of a single path. Per round.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  constexpr double timed_seconds = 5e-4;
  const auto paths = number_of<std::uint32_t>(params, "paths");
  Experiment experiment;
  experiment.slopes.resize(2);
  experiment.slopes[0].size = lengths_by_trial(timed_seconds, /*work_of_round=*/1);
  for (std::size_t s = 0; s < experiment.slopes.size(); ++s) {
    Slope& slope = experiment.slopes[s];
    slope.verify = results_are([taken = s == 0 ? paths : 1U](const Call& call) {
      return std::uint64_t{expected_sum(taken, call.length.rounds)};
    });
    slope.writers = gpu.sms;
    slope.window = each_core();
  }
  add_both(experiment, "round_cycles", "cycle");
  experiment.rows.push_back({"slowdown", "1", By::inside, [](const Sample& sample) {
                               return sample.slopes[0].inside.cycles /
                                      sample.slopes[1].inside.cycles;
                             }});
  experiment.checked = "sums of the lanes against the closed form of the chains";
  experiment.placement = Placement{.cores = gpu.sms};
  experiment.not_counted = "no counter set separates the paths of a branch";
  return experiment;
}

#ifdef __CUDACC__

/// Takes path `wanted` of those from `first` on, by halves, as a switch does.
template <std::uint32_t first, std::uint32_t count>
__device__ __forceinline__ void take(std::uint32_t wanted, std::uint32_t& x, std::uint32_t by) {
  if constexpr (count == 1) {
#pragma unroll
    for (std::uint32_t s = 0; s < steps; ++s)
      asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(by), "n"(addend(first)));
  } else if (wanted < first + count / 2) {
    take<first, count / 2>(wanted, x, by);
  } else {
    take<first + count / 2, count / 2>(wanted, x, by);
  }
}

/// Wanted: `steps` IMAD in each of the paths, and a branch before each.
__global__ void diverge(std::uint32_t paths, std::uint32_t by, std::uint32_t rounds,
                        Stamp* stamps) {
  const std::uint32_t lane = threadIdx.x;
  const std::uint32_t path = lane % paths;
  std::uint32_t x = hashed_word(lane);
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    take<0, most_paths>(path, x, by);
    __syncwarp();  // otherwise lanes may stay apart over rounds
  }
  const std::uint32_t sum = warp_sum(x * lane_weight(lane));
  const Reading end = reading_after();
  if (lane == 0) leave(stamps + blockIdx.x, begin, end, sum);
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  CudaMachine machine{session, gpu.sms};
  Experiment experiment = describe(session.params(), gpu);
  experiment.kernels = {reinterpret_cast<const void*>(&diverge)};
  const std::size_t alone = bytes_to_be_alone(experiment.kernels.front());
  const auto paths = number_of<std::uint32_t>(session.params(), "paths");
  for (std::size_t s = 0; s < experiment.slopes.size(); ++s) {
    experiment.slopes[s].launch = [&, taken = s == 0 ? paths : 1U](const Call& call) {
      diverge<<<gpu.sms, warp_lanes, alone, machine.stream().get()>>>(
          taken, factor, call.length.rounds, machine.device_stamps());
    };
  }
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::divergence
