// Does a warp wait for its stores?
//
// In a round, the one warp on each SM follows a chain of multiply-adds that takes about as long as
// L2, and stores its end, 4 bytes per lane. The next round follows at once (`work`: it does not
// need the store), after a fence of the GPU (`fence`), or from the stored word, loaded past L1
// (`load`). The second
// slope is the same round without the store. If the warp waited for the store, a round of `work`
// would take twice as long with it (Breitbart 2008, section 2.3: writes do not wait).
#include "harness/cuda/benchmark.cuh"
#include "micro/pattern/iterated_map.hpp"
#include "micro/pattern/particle_chain.hpp"

namespace strata::store_latency {

enum class After : std::uint8_t { work, fence, load };
constexpr auto afters = choices_of<After>("work", "fence", "load");

constexpr std::uint32_t steps = 64;  ///< dependent multiply-adds of a round
constexpr std::uint32_t factor = 1664525;
constexpr std::uint32_t addend = 1013904223;

namespace {

/// Weighted sums of the lanes' chains after that many rounds, and of the words stored last.
std::uint64_t expected_sums(bool stores, std::uint64_t rounds) {
  std::uint32_t ends = 0;
  std::uint32_t stored = 0;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const auto after = [&](std::uint64_t count) {
      return lane_weight(lane) * iterated(hashed_word(lane), factor, addend, count * steps);
    };
    ends += after(rounds);
    if (stores && rounds > 0) stored += after(rounds);
  }
  return std::uint64_t{stored} << 32U | ends;
}

Benchmark declare() {
  return {.suite = "micro",
          .name = "store_latency",
          .question = "Does a warp wait for its stores?",
          .axes = {afters.axis("after",
                               "what follows the store: independent work, a fence of the "
                               "GPU, or a load of the word")},
          .quantities = {{"round_cycles", "cycles of a round with the store, one warp on each SM"},
                         {"round_cycles_alone", "cycles of the same round without the store"},
                         {"slowdown", "round_cycles over round_cycles_alone"},
                         {"core_clock", "clock of the core during the work"}},
          .seconds_per_case = 0.03};
}

/// A slope with the store, and one without. Per round.
Experiment describe(const Params& /*params*/, const GpuFacts& gpu) {
  constexpr double timed_seconds = 5e-4;
  Experiment experiment;
  experiment.slopes.resize(2);
  experiment.slopes[0].size = lengths_by_trial(timed_seconds, /*work_of_round=*/1);
  for (std::size_t s = 0; s < experiment.slopes.size(); ++s) {
    Slope& slope = experiment.slopes[s];
    slope.verify = results_are(
        [stores = s == 0](const Call& call) { return expected_sums(stores, call.length.rounds); });
    slope.writers = gpu.sms;
    slope.window = each_core();
  }
  add_both(experiment, "round_cycles", "cycle");
  experiment.rows.push_back({"round_cycles_alone", "cycle", By::inside, cycles_of(1)});
  experiment.rows.push_back({"slowdown", "1", By::inside, [](const Sample& sample) {
                               return sample.slopes[0].inside.cycles /
                                      sample.slopes[1].inside.cycles;
                             }});
  experiment.checked = "sums of the chains' ends, and of the words in memory, in closed form";
  experiment.placement = Placement{.cores = gpu.sms};
  experiment.not_counted = "no counter separates waiting for a store from other waiting";
  return experiment;
}

#ifdef __CUDACC__

/// `words` are 0 before the launch, so that a load without a store adds nothing. `advance` is a
/// kernel argument that is always 0: ptxas hoists a load with a constant address out of the loop.
template <After after, bool stores>
__global__ void store_then(std::uint32_t* words, std::uint32_t by, std::uint32_t rounds,
                           std::uint32_t advance, Stamp* stamps) {
  const std::uint32_t lane = threadIdx.x;
  std::uint32_t* mine = words + blockIdx.x * warp_lanes + lane;
  std::uint32_t x = hashed_word(lane);
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r, mine += advance) {
#pragma unroll
    for (std::uint32_t s = 0; s < steps; ++s)
      asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(by), "n"(addend));
    if constexpr (stores) store<Access::global, 4>(mine, &x);
    if constexpr (after == After::fence) asm volatile("fence.acq_rel.gpu;" : : : "memory");
    if constexpr (after == After::load) {
      const std::uint32_t loaded = load_word<Access::global_cg>(mine);
      x = stores ? loaded : x + loaded;
    }
  }
  const std::uint32_t ends = warp_sum(x * lane_weight(lane));
  const Reading end = reading_after();
  const std::uint32_t stored = warp_sum(load_word<Access::global_cg>(mine) * lane_weight(lane));
  if (lane == 0) leave(stamps + blockIdx.x, begin, end, std::uint64_t{stored} << 32U | ends);
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  CudaMachine machine{session, gpu.sms};
  const cudaStream_t stream = machine.stream().get();
  const DeviceBuffer<std::uint32_t> words{std::size_t{gpu.sms} * warp_lanes};
  Experiment experiment = describe(session.params(), gpu);
  using Kernel = void (*)(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t, Stamp*);
  const auto kernels = with_value<After::work, After::fence, After::load>(
      afters.of(session.param("after")), [&]<After after>() {
        return std::array<Kernel, 2>{&store_then<after, true>, &store_then<after, false>};
      });
  for (std::size_t s = 0; s < experiment.slopes.size(); ++s) {
    const Kernel kernel = kernels[s];
    experiment.kernels.push_back(reinterpret_cast<const void*>(kernel));
    const std::size_t alone = bytes_to_be_alone(experiment.kernels.back());
    experiment.slopes[s].prepare = [&](const Call&) {
      cuda_check(cudaMemsetAsync(words.data(), 0, words.size_bytes(), stream));
    };
    experiment.slopes[s].launch = [&, kernel, alone](const Call& call) {
      kernel<<<gpu.sms, warp_lanes, alone, stream>>>(words.data(), factor, call.length.rounds,
                                                     /*advance=*/0, machine.device_stamps());
    };
  }
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::store_latency
