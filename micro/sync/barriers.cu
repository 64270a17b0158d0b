// What does it cost to wait for all threads of a warp, a block, a cluster or the grid?
//
// The threads of one block per SM meet at one barrier after another. A meeting carries no data, so
// time alone cannot show that threads wait: before the samples, a launch of the same code in which
// threads arrive at different times hands a word to the next thread through each barrier, and the
// host knows all sums. The number includes half a branch for each meeting of `mbarrier`, whose
// threads test until the phase has ended, and a sixteenth of a loop's end for the others.
//   syncwarp   the lanes of a warp (bar.warp.sync); where ptxas knows that they are together, as
//              here and behind most branches, it is a NOP
//   block      all warps of the block (bar.sync 0)
//   named      the warps of the block in two halves, each at a barrier of its own (bar.sync 1, 2)
//   mbarrier   all threads of the block arrive at an object in shared memory, and test it
//   cluster    all threads of a cluster arrive with release semantics and wait with acquire; the
//              code tests whether it runs in a cluster
//   grid       all threads of all SMs (cooperative groups)
#include "harness/cuda/benchmark.cuh"

#include <type_traits>

#ifdef __CUDACC__
#include "harness/cuda/cluster.cuh"

#include <cooperative_groups.h>
#endif

namespace strata::barriers {

enum class Kind : std::uint8_t { syncwarp, block, named, mbarrier, cluster, grid };
constexpr auto kinds =
    choices_of<Kind>("syncwarp", "block", "named", "mbarrier", "cluster", "grid");

/// Values of the axes.
struct Shape {
  Kind kind = Kind::block;
  std::uint32_t warps = 1;    ///< of a block
  std::uint32_t cluster = 1;  ///< blocks

  [[nodiscard]] constexpr std::uint32_t threads() const { return warps * warp_lanes; }
  /// Threads that meet, of a grid of so many blocks.
  [[nodiscard]] constexpr std::uint32_t meeting(std::uint32_t blocks) const {
    switch (kind) {
      case Kind::syncwarp:
        return warp_lanes;
      case Kind::named:
        return threads() / 2;
      case Kind::cluster:
        return cluster * threads();
      case Kind::grid:
        return blocks * threads();
      default:
        return threads();
    }
  }
};

/// Meetings in the loop's body.
constexpr std::uint32_t unroll = 16;
/// Of a thread in a meeting: each word occurs once.
[[nodiscard]] STRATA_HD constexpr std::uint32_t token(std::uint32_t thread, std::uint32_t meeting) {
  return (thread + 1) * 0x9E3779B1U + meeting * 0x85EBCA77U;
}

namespace {

Shape shape_of(const Params& params) {
  return {.kind = kinds.of(params.at("kind")),
          .warps = number_of<std::uint32_t>(params, "warps"),
          .cluster = number_of<std::uint32_t>(params, "cluster")};
}

std::optional<std::string> excludes(const Params& params, Backend backend) {
  if (backend == Backend::host) return "a CPU has none of these barriers";
  const Shape shape = shape_of(params);
  if ((shape.kind == Kind::cluster) != (shape.cluster > 1)) {
    return "clusters have several blocks, and only their barrier depends on the number";
  }
  if (shape.kind == Kind::syncwarp && shape.warps > 1) return "lanes wait for no other warp";
  if (shape.kind == Kind::named && shape.warps < 2) return "two barriers need two warps";
  return std::nullopt;
}

Benchmark declare() {
  return {.suite = "micro",
          .name = "barriers",
          .question =
              "What does it cost to wait for all threads of a warp, a block, a cluster or the "
              "grid?",
          .axes = {kinds.axis("kind", "threads that meet, and how"),
                   listed_axis("warps", "warps of the block on each SM",
                               {"1", "2", "4", "8", "16", "32"}, {"1", "4", "8", "32"}),
                   listed_axis("cluster", "blocks of a cluster", {"1", "2", "4", "8", "16"},
                               {"1", "2", "8"})},
          .quantities = {{"barrier_cycles", "SM cycles from one meeting to the next"},
                         {"barrier_time", "the same in seconds"},
                         {"core_clock", "clock of the core during the meetings"}},
          .seconds_per_case = 0.02,
          .excludes = excludes};
}

/// What warp `warp` of the grid adds up when its threads get a word from the next thread of their
/// meeting in each of `meetings` meetings, the first of which has number `first`.
std::uint32_t sum_of_warp(std::uint32_t meeting_threads, std::uint32_t warp, std::uint32_t first,
                          std::uint32_t meetings) {
  std::uint32_t sum = 0;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::uint32_t thread = warp * warp_lanes + lane;
    const std::uint32_t start = thread / meeting_threads * meeting_threads;
    const std::uint32_t next = start + (thread - start + 1) % meeting_threads;
    for (std::uint32_t m = 0; m < meetings; ++m)
      sum += token(next, first + m);
  }
  return sum;
}

/// Stamps are those of the warps. In a timed launch only the meeting after the last one hands a
/// word over; with `each`, all do.
auto verified(const Shape& shape, std::uint32_t blocks, bool each) {
  return results_are([=](const Call& call, std::size_t warp) -> std::uint64_t {
    const std::uint32_t meetings = call.length.rounds * unroll;
    return sum_of_warp(shape.meeting(blocks), static_cast<std::uint32_t>(warp), each ? 0 : meetings,
                       each ? meetings + 1 : 1);
  });
}

Experiment describe(const Shape& shape, std::uint32_t blocks) {
  constexpr double timed_seconds = 4e-4;  // of the long launch: hundreds of timer steps
  Experiment experiment;
  experiment.slopes = {{.verify = verified(shape, blocks, /*each=*/false),
                        .size = lengths_by_trial(timed_seconds, unroll),
                        .writers = std::size_t{blocks} * shape.warps,
                        .window = slowest_writer_by_sums(),
                        .held = true}};
  add_both(experiment, "barrier_cycles", "cycle");
  experiment.rows.push_back(
      {"barrier_time", "s", By::outside, of_slope([](const Seen& seen) { return seen.seconds; })});
  experiment.checked = "words that threads got from the next thread through a barrier";
  experiment.placement = Placement{.cores = blocks, .per_core = static_cast<int>(shape.warps)};
  experiment.not_counted = "no counter set has barriers";
  experiment.facts = [=](const Experiment&) {
    return Facts{{"blocks", std::int64_t{blocks}},
                 {"threads_that_meet", std::int64_t{shape.meeting(blocks)}}};
  };
  return experiment;
}

/// On as many blocks as the chip has SMs for; a launch queries how many clusters fit.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Shape shape = shape_of(params);
  if (shape.kind == Kind::cluster && gpu.major < 9) {
    throw Skipped{"thread block clusters need compute capability 9.0"};
  }
  if (shape.kind == Kind::mbarrier && gpu.major < 8) {
    throw Skipped{"mbarrier needs compute capability 8.0"};
  }
  return describe(shape, gpu.sms / shape.cluster * shape.cluster);
}

#ifdef __CUDACC__

/// `object`: of mbarrier, in shared memory. `parity`: of its current phase.
template <Kind kind, std::uint32_t threads = 0, std::uint32_t id = 0>
__device__ __forceinline__ void meet([[maybe_unused]] std::uint32_t object,
                                     [[maybe_unused]] std::uint32_t parity) {
  if constexpr (kind == Kind::syncwarp) {
    asm volatile("bar.warp.sync 0xFFFFFFFF;" : : : "memory");  // NOP
  } else if constexpr (kind == Kind::block) {
    asm volatile("bar.sync 0;" : : : "memory");  // BAR.SYNC
  } else if constexpr (kind == Kind::named) {
    asm volatile("bar.sync %0, %1;" : : "n"(id), "n"(threads) : "memory");
  } else if constexpr (kind == Kind::mbarrier) {
#if __CUDA_ARCH__ >= 800
    // SYNCS.ARRIVE, then SYNCS.PHASECHK until the phase has ended. test_wait of sm_80 polls;
    // try_wait of sm_90 may suspend the thread.
    asm volatile(
        "{ .reg .b64 state;\n\t"
        ".reg .pred over;\n\t"
        "mbarrier.arrive.shared.b64 state, [%0];\n\t"
        "again:\n\t"
#if __CUDA_ARCH__ >= 900
        "mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n\t"
#else
        "mbarrier.test_wait.shared.b64 over, [%0], state;\n\t"
#endif
        "@!over bra again; }"
        :
        : "r"(object), "r"(parity)
        : "memory");
#endif
  } else if constexpr (kind == Kind::cluster) {
#if __CUDA_ARCH__ >= 900
    // MEMBAR, UCGABAR_ARV, UCGABAR_WAIT
    asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
#endif
  } else {
    cooperative_groups::this_grid().sync();
  }
}

/// Threads whose turn it is arrive late: a barrier that does not wait then hands over old words.
__device__ __forceinline__ void arrive_late(std::uint32_t thread, std::uint32_t meeting) {
  constexpr unsigned others = 5;
  if ((thread + meeting) % others == 0) __nanosleep(500);
}

/// `slots`: a word of each thread for even meetings, then for odd ones. `meeting_threads`: those
/// of adjacent threads that meet; `half`: the same of named barriers.
template <Kind kind, bool each, std::uint32_t half = 0>
__global__ void __launch_bounds__(1024)
    meet_often(std::uint32_t rounds, std::uint32_t meeting_threads, volatile std::uint32_t* slots,
               Stamp* stamps) {
  __shared__ std::uint64_t phases;
  const std::uint32_t object = shared_address(&phases);
  const std::uint32_t threads = gridDim.x * blockDim.x;
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t start = thread / meeting_threads * meeting_threads;
  const std::uint32_t next = start + (thread - start + 1) % meeting_threads;
#if __CUDA_ARCH__ >= 800
  if constexpr (kind == Kind::mbarrier) {
    if (threadIdx.x == 0)
      asm volatile("mbarrier.init.shared.b64 [%0], %1;"
                   :
                   : "r"(object), "r"(blockDim.x)
                   : "memory");
  }
#endif
  __syncthreads();
  const auto stay = [&]<std::uint32_t id>(std::integral_constant<std::uint32_t, id> /*barrier*/) {
    std::uint32_t sum = 0;
    const auto hand_over = [&](std::uint32_t meeting) {
      volatile std::uint32_t* const now = slots + meeting % 2 * threads;
      arrive_late(thread, meeting);
      now[thread] = token(thread, meeting);
      meet<kind, half, id>(object, meeting % 2);
      sum += now[next];
    };
    if constexpr (kind == Kind::cluster || kind == Kind::grid) meet<kind>(object, 0);
    const Reading begin = reading_before();
#pragma unroll 1
    for (std::uint32_t r = 0; r < rounds; ++r) {
      if constexpr (each) {
#pragma unroll 1
        for (std::uint32_t u = 0; u < unroll; ++u)
          hand_over(r * unroll + u);
      } else {
#pragma unroll
        for (std::uint32_t u = 0; u < unroll; ++u)
          meet<kind, half, id>(object, u % 2);
      }
    }
    const Reading end = reading_after();
    hand_over(rounds * unroll);
    sum = warp_sum(sum);
    if (threadIdx.x % warp_lanes == 0) leave(stamps + thread / warp_lanes, begin, end, sum);
  };
  if (half == 0 || threadIdx.x < half) {
    stay(std::integral_constant<std::uint32_t, 1>{});
  } else {
    stay(std::integral_constant<std::uint32_t, 2>{});
  }
  if constexpr (kind == Kind::cluster) meet<kind>(object, 0);
}

using Kernel = void (*)(std::uint32_t, std::uint32_t, volatile std::uint32_t*, Stamp*);

template <bool each>
Kernel kernel_for(const Shape& shape) {
  using enum Kind;
  return with_value<syncwarp, block, named, mbarrier, cluster, grid>(
      shape.kind, [&]<Kind kind>() -> Kernel {
        if constexpr (kind == named) {
          return with_value<32U, 64U, 128U, 256U, 512U>(
              shape.threads() / 2,
              [&]<std::uint32_t half>() -> Kernel { return &meet_often<named, each, half>; });
        } else {
          return &meet_often<kind, each>;
        }
      });
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Shape shape = shape_of(session.params());
  Experiment experiment = describe(session.params(), gpu);
  require_timed(session, experiment);
  const Kernel timed = kernel_for</*each=*/false>(shape);
  const Kernel proving = kernel_for</*each=*/true>(shape);
  const auto alone = [](Kernel kernel) {
    return bytes_to_be_alone(reinterpret_cast<const void*>(kernel));
  };
  std::uint32_t blocks = gpu.sms;
  if (shape.kind == Kind::cluster) {
    blocks = std::min(
        blocks_in_clusters(timed, shape.threads(), shape.cluster, alone(timed), gpu.sms),
        blocks_in_clusters(proving, shape.threads(), shape.cluster, alone(proving), gpu.sms));
    experiment = describe(shape, blocks);
  }
  const std::uint32_t meeting_threads = shape.meeting(blocks);
  CudaMachine machine{session, std::size_t{blocks} * shape.warps};
  const auto& slots = machine.output<std::uint32_t>(std::size_t{2} * blocks * shape.threads());
  const auto launch_of = [&](Kernel kernel) {
    return [&, kernel, bytes = alone(kernel)](const Call& call) {
      cudaLaunchAttribute attribute{};
      cudaLaunchConfig_t config = launch_config(blocks, shape.threads(), shape.cluster, bytes,
                                                machine.stream().get(), attribute);
      if (shape.kind == Kind::grid) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
        config.numAttrs = 1;
      }
      cuda_check(cudaLaunchKernelEx(&config, kernel, call.length.rounds, meeting_threads,
                                    static_cast<volatile std::uint32_t*>(slots.data()),
                                    machine.device_stamps()));
    };
  };
  experiment.slopes[0].launch = launch_of(timed);
  experiment.kernels = {reinterpret_cast<const void*>(timed)};
  Dependence waited{"words through barriers that some threads reach late", Tally{}};
  const Slope altered{.launch = launch_of(proving),
                      .verify = verified(shape, blocks, /*each=*/true),
                      .writers = experiment.slopes[0].writers};
  (void)launch_once(machine, altered, {.length = {.rounds = 3, .work = 1}}, *waited.altered);
  experiment.checks.emplace_back(waited);
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::barriers
