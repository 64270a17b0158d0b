// How long does a message from one SM to another take?
//
// A number goes round among the blocks of a cluster, one on each SM: a block waits until its word
// changes, adds one and writes the result into the word of the next block. With two blocks that is
// half a round trip; with four, a quarter of a longer one, which must be the same price. Words are
// in L2, or in the shared memory of the block that waits for them. All SMs of a cluster are in one
// GPC and so on one side of L2: words whose home is there are near, others far. `release`: the
// number is written with release and read with acquire semantics, as a flag for other data is.
#include "harness/cuda/benchmark.cuh"
#include "harness/measure/two_sides.hpp"

#ifdef __CUDACC__
#include "harness/cuda/cluster.cuh"
#endif

namespace strata::messages {

enum class Route : std::uint8_t { l2, distributed_shared };
constexpr auto routes = choices_of<Route>("l2", "distributed_shared");
enum class Order : std::uint8_t { relaxed, release };
constexpr auto orders = choices_of<Order>("relaxed", "release");

/// Values of the axes.
struct Shape {
  Route route = Route::l2;
  Order order = Order::relaxed;
  std::uint32_t blocks = 2;

  /// Places of the words that a timed launch visits.
  [[nodiscard]] constexpr std::uint32_t places() const {
    return route == Route::l2 ? two_sides::places_timed : 1;
  }
};

constexpr std::uint32_t word_pitch = 32;  ///< bytes between the words of two blocks: a sector
constexpr const char* needs_clusters = "thread block clusters need compute capability 9.0";

namespace {

Shape shape_of(const Params& params) {
  return {.route = routes.of(params.at("route")),
          .order = orders.of(params.at("order")),
          .blocks = number_of<std::uint32_t>(params, "blocks")};
}

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "messages",
      .question = "How long does a message from one SM to another take?",
      .axes = {routes.axis("route", "memory of the words"),
               orders.axis("order", "semantics of the accesses"),
               listed_axis("blocks", "SMs of a cluster that a message visits in turn", {"2", "4"})},
      .quantities = {{"message_cycles", "SM cycles from one block's write to the next one's"},
                     {"message_time", "the same in seconds"},
                     {"message_cycles_near", "the same for words on the SMs' side of L2"},
                     {"message_cycles_far", "the same for words on the other side"},
                     {"core_clock", "clock of the core meanwhile"}},
      .seconds_per_case = 0.05,
      .excludes = [](const Params&, Backend backend) -> std::optional<std::string> {
        if (backend == Backend::host) return "a CPU has no SMs";
        return std::nullopt;
      }};
}

/// A stamp has the sum of the last numbers at all places.
auto verified(std::uint32_t blocks, std::uint32_t places) {
  return results_are(
      [=](const Call& call) { return std::uint64_t{call.length.rounds} * blocks * places; });
}

Experiment describe(const Shape& shape) {
  constexpr double timed_seconds = 1e-3;  // of the long launch
  Experiment experiment;
  experiment.slopes = {
      {.verify = verified(shape.blocks, shape.places()),
       .size = lengths_by_trial(timed_seconds, double{1} * shape.blocks * shape.places()),
       .writers = 1,
       .window = slowest_writer_by_sums(),
       .held = true}};
  add_both(experiment, "message_cycles", "cycle");
  experiment.rows.push_back(
      {"message_time", "s", By::outside, of_slope([](const Seen& seen) { return seen.seconds; })});
  experiment.checks.emplace_back(Dependence{"numbers that went round", {}});
  experiment.checked = "the last number at each place";
  experiment.not_counted = "no counter set has messages";
  experiment.facts = [blocks = shape.blocks](const Experiment&) {
    return Facts{{"blocks_of_a_round", std::int64_t{blocks}}};
  };
  return experiment;
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  if (gpu.major < 9) throw Skipped{needs_clusters};
  return describe(shape_of(params));
}

#ifdef __CUDACC__

/// The word at `at`, in global memory or in this block's shared memory.
template <Route route, Order order>
__device__ __forceinline__ std::uint32_t look(std::uint64_t at) {
  std::uint32_t word = 0;
#if __CUDA_ARCH__ >= 900
  if constexpr (route == Route::l2 && order == Order::relaxed) {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  } else if constexpr (route == Route::l2) {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  } else if constexpr (order == Order::relaxed) {
    asm volatile("ld.relaxed.cluster.shared::cta.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  } else {
    asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  }
#endif
  return word;
}
/// Writes the word at `at`, in global memory or in another block's shared memory.
template <Route route, Order order>
__device__ __forceinline__ void send(std::uint64_t at, std::uint32_t word) {
#if __CUDA_ARCH__ >= 900
  if constexpr (route == Route::l2 && order == Order::relaxed) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(word) : "memory");
  } else if constexpr (route == Route::l2) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(word) : "memory");
  } else if constexpr (order == Order::relaxed) {
    asm volatile("st.relaxed.cluster.shared::cluster.u32 [%0], %1;"
                 :
                 : "l"(at), "r"(word)
                 : "memory");
  } else {
    asm volatile("st.release.cluster.shared::cluster.u32 [%0], %1;"
                 :
                 : "l"(at), "r"(word)
                 : "memory");
  }
#endif
}

/// One thread of each block of a cluster. `cycles`: of the rounds at each place.
template <Route route, Order order>
__global__ void __launch_bounds__(warp_lanes)
    pass_on(std::uint32_t blocks, std::uint32_t rounds, char* room, const std::uint32_t* offsets,
            std::uint32_t places, std::uint64_t* cycles, Stamp* stamp) {
  __shared__ std::uint32_t inbox;
  const std::uint32_t rank = rank_in_cluster();
  const std::uint32_t next = (rank + 1) % blocks;
  const bool leads = rank == 0 && threadIdx.x == 0;
  Reading begin;
  std::uint64_t sum = 0;
  if (leads) begin = reading_before();
#pragma unroll 1
  for (std::uint32_t place = 0; place < places; ++place) {
    std::uint64_t own = shared_address(&inbox);
    std::uint64_t there = of_block(static_cast<std::uint32_t>(own), next);
    if constexpr (route == Route::l2) {
      const auto first = reinterpret_cast<std::uint64_t>(room + offsets[place]);
      own = first + rank * word_pitch;
      there = first + next * word_pitch;
    }
    if (threadIdx.x == 0) {
      if constexpr (route == Route::l2) {
        send<route, Order::relaxed>(own, 0);
      } else {
        inbox = 0;
      }
    }
    synchronize_cluster();  // all words are clear
    if (threadIdx.x == 0) {
      std::uint32_t last = 0;
      const auto wait = [&] {
        std::uint32_t word;
        do {
          word = look<route, order>(own);
        } while (word == last);
        last = word;
      };
      const std::uint64_t before = cycles_now();
#pragma unroll 1
      for (std::uint32_t r = 0; r < rounds; ++r) {
        if (rank != 0) wait();
        send<route, order>(there, last + 1);
        if (rank == 0) wait();
      }
      if (leads) cycles[place] = cycles_now() - before;
      sum += last;
    }
    synchronize_cluster();  // no word is cleared while it is written
  }
  if (leads) leave(stamp, begin, reading_after(), sum);
}

using Kernel = void (*)(std::uint32_t, std::uint32_t, char*, const std::uint32_t*, std::uint32_t,
                        std::uint64_t*, Stamp*);

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  if (gpu.major < 9) throw Skipped{needs_clusters};
  const Shape shape = shape_of(session.params());
  const Kernel kernel =
      with_value<Route::l2, Route::distributed_shared>(shape.route, [&]<Route route>() {
        return with_value<Order::relaxed, Order::release>(
            shape.order, [&]<Order order>() -> Kernel { return &pass_on<route, order>; });
      });
  Experiment experiment = describe(shape);
  require_timed(session, experiment);
  const auto* const code = reinterpret_cast<const void*>(kernel);
  const std::size_t alone = bytes_to_be_alone(code);
  (void)blocks_in_clusters(kernel, warp_lanes, shape.blocks, alone, gpu.sms);  // or none fits
  CudaMachine machine{session, 1};
  const DeviceBuffer<char> room{std::size_t{two_sides::candidates} * two_sides::candidate_pitch};
  DeviceBuffer<std::uint32_t> offsets{two_sides::candidate_offsets()};
  const auto& cycles = machine.output<std::uint64_t>(two_sides::candidates);
  std::uint32_t places = shape.places();
  Slope& slope = experiment.slopes.front();
  slope.launch = [&](const Call& call) {
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t config = launch_config(shape.blocks, warp_lanes, shape.blocks, alone,
                                                    machine.stream().get(), attribute);
    cuda_check(cudaLaunchKernelEx(&config, kernel, shape.blocks, call.length.rounds, room.data(),
                                  offsets.data(), places, cycles.data(), machine.device_stamps()));
  };
  if (shape.route == Route::l2) {
    slope.cells = [&] {
      return std::vector<double>{cycles.landed().begin(), cycles.landed().begin() + places};
    };
    // Which places are near? The first trial caches code and translations.
    Slope trial = slope;
    trial.verify = verified(shape.blocks, two_sides::candidates);
    places = two_sides::candidates;
    Launched seen;
    for (int i = 0; i < 2; ++i)
      seen = launch_once(machine, trial, {.length = {.rounds = 20, .work = 1}}, experiment.tally);
    const two_sides::Homes homes = two_sides::balanced(seen.cells);
    offsets.upload(two_sides::candidate_offsets(homes.order));
    places = shape.places();
    two_sides::add_sides(experiment, "message_cycles", homes.are_two, shape.blocks);
  }
  experiment.kernels = {code};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::messages
