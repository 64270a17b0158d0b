#include "micro/compute/instruction_cost.hpp"

#ifdef __CUDACC__
#include "micro/compute/chains.cuh"
#endif

namespace strata::instruction_cost {

constexpr unsigned max_warps_per_sm = 32;  ///< one block: a barrier synchronises them all

/// One to warm up, then one, two and four times as long.
constexpr unsigned passes = 4;
constexpr unsigned rounds_of_all_passes = 1 + 2 + 4;  ///< the first is always one round

/// A stamp's mark where a pass begins, which the next one ends; the last pass comes first:
/// nanoseconds are around it.
[[nodiscard]] STRATA_HD constexpr unsigned mark_of(unsigned pass) {
  return 2 * (passes - 1 - pass);
}

/// Cycles of the passes that are one, two and four times as long, on one SM: from its first warp's
/// start to its last warp's end.
struct Passes {
  std::array<double, passes - 1> cycles{};
};
/// Cycles of one pass of length one, without the constant cost of a pass.
[[nodiscard]] inline double slope_of(const Passes& seen) {
  return (seen.cycles[2] - seen.cycles[0]) / 3;
}
/// Distance of the middle pass from the line through the other two.
[[nodiscard]] inline double bend_of(const Passes& seen) {
  return seen.cycles[1] - (seen.cycles[0] + slope_of(seen));
}

namespace {

/// Starts at the last warp's start: the barrier before a pass (BAR.SYNC.DEFER_BLOCKING) lets a warp
/// proceed to its clock read, and blocks it after that, while others are still in the previous
/// pass.
Passes passes_of(std::span<const Stamp> warps) {
  Passes seen;
  for (unsigned pass = 1; pass < passes; ++pass) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    for (const Stamp& stamp : warps) {
      begin = std::max(begin, stamp.cycles[mark_of(pass)]);
      end = std::max(end, stamp.cycles[mark_of(pass) + 1]);
    }
    seen.cycles.at(pass - 1) = static_cast<double>(end - begin);
  }
  return seen;
}

/// The median over all SMs, whose `warps` write consecutive stamps.
double median_of(const Launched& launched, unsigned warps, double (*value)(const Passes&)) {
  std::vector<double> of_sms;
  const std::span<const Stamp> stamps{launched.stamps};
  for (std::size_t first = 0; first < stamps.size(); first += warps)
    of_sms.push_back(value(passes_of(stamps.subspan(first, warps))));
  return median(of_sms);
}

/// From the long launch alone. Cells: the bend, and a chain's operations in the shortest timed
/// pass.
Window passes_of_median_sm(const Shape& shape) {
  return {.name = "passes of the median SM, from its last warp's start to its last warp's end",
          .read = [shape](const Launched& /*brief*/, const Launched& full) {
            const double work = full.length.work / rounds_of_all_passes;
            const double cycles = median_of(full, shape.warps, slope_of) / work;
            return Inside{.cycles = cycles,
                          .slowest = cycles,
                          .low = cycles,
                          .high = cycles,
                          .hertz = median_hertz(full),
                          .cells = {median_of(full, shape.warps, bend_of),
                                    static_cast<double>(shape.chain_of(full.length.rounds))}};
          }};
}

/// Four rounds. The warm-up round is also in the launch without rounds, which is subtracted.
std::optional<CountPlan> count_plan(const Shape& shape, const GpuFacts& gpu) {
  constexpr std::uint32_t rounds = 4;
  const operations::Operation& operation = shape.operation;
  const std::uint64_t of_warps =
      std::uint64_t{rounds} * operation.body * shape.warps * rounds_of_all_passes * gpu.sms;
  if (operation.space == operations::Space::global) {
    // The ring spans two sectors.
    constexpr std::uint64_t sectors =
        operations::distinct_lanes * sizeof(std::uint64_t) / sector_bytes;
    return CountPlan{.length = {.rounds = rounds},
                     .loads = LoadPrediction{.requests = of_warps, .sectors = of_warps * sectors},
                     .served_by = ServedBy::l1,
                     .reads = static_cast<double>(of_warps)};
  }
  return operations::counts_of(operation, {.rounds = rounds}, {},
                               static_cast<double>(of_warps * warp_lanes), "operation");
}

/// Rounds of the shortest timed pass, for a launch of about `cycles` cycles.
std::uint32_t rounds_for(double cycles, double cycles_of_a_round) {
  constexpr double least = 5;  // the short launch has a fifth of them
  const double rounds = cycles / (rounds_of_all_passes * std::max(cycles_of_a_round, 1.0));
  return static_cast<std::uint32_t>(std::max(least, std::floor(rounds)));
}

/// A launch writes the first warp's `ends`. Per operation of a warp, on one SM.
Shape shape_of(const Params& params) {
  return {.operation = operations::operation_named(params.at("operation")),
          .chains = number_of<unsigned>(params, "ilp"),
          .warps = number_of<unsigned>(params, "warps_per_sm")};
}

Experiment describe(const Shape& shape, const GpuFacts& gpu, std::span<const std::uint64_t> ends) {
  constexpr double timed_cycles = 6e5;  // 0.3 ms: thousands of timer steps
  const operations::Operation& operation = shape.operation;
  const double threads = static_cast<double>(gpu.sms) * warp_lanes;  // of one warp on each SM
  Experiment experiment =
      operations::on_every_sm(shape, gpu, ends, [](std::uint32_t rounds) -> std::uint64_t {
        return 1 + std::uint64_t{rounds_of_all_passes} * rounds;
      });
  Slope& slope = experiment.slopes.front();
  slope.size = [=](const auto& run) {
    const double pass = median_of(run({.rounds = 1}), shape.warps, slope_of);
    return fifth_and_whole(rounds_for(timed_cycles, pass),
                           double{1} * operation.body * shape.warps * rounds_of_all_passes);
  };
  slope.window = passes_of_median_sm(shape);
  slope.held = true;
  add_both(experiment, "operation_cycles", "cycle");
  constexpr double issued = 4.0 * warp_lanes;  // by the schedulers of an SM in a cycle
  experiment.rows.push_back({.quantity = "operation_throughput",
                             .unit = "operation/cycle",
                             .method = By::inside,
                             .value = per_cycle(warp_lanes),
                             .most = issued});
  experiment.rows.push_back({"operation_rate", "1/s", By::outside, per_second(threads)});
  if (operation.space == operations::Space::global) experiment.unproved = {.gate = "level"};
  experiment.counts = count_plan(shape, gpu);
  if (shape.chains == 1 && shape.warps == 1) {  // dependent: the length of the chain must show
    experiment.checks.emplace_back(Dependence{"ends of chains", {}});
    experiment.checks.emplace_back(
        Linearity{.bend = of_slope([](const Seen& seen) { return seen.inside.cells.at(0); }),
                  .length = of_slope([](const Seen& seen) { return seen.inside.cells.at(1); })});
  }
  experiment.facts = [=](const Experiment& measured) {
    const std::uint64_t chain = shape.chain_of(measured.slopes[0].lengths.full.rounds);
    Facts facts{{"operations_of_a_loop", std::int64_t{shape.operation.body}},
                {"shortest_chain", static_cast<std::int64_t>(chain)}};
    if (shape.operation.instructions > 0) {
      facts["instructions_of_an_operation"] = std::int64_t{shape.operation.instructions};
    }
    return facts;
  };
  return experiment;
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Shape shape = shape_of(params);
  operations::need(shape.operation, gpu);
  return describe(shape, gpu, {});
}

#ifdef __CUDACC__

using operations::distinct_lanes;
using operations::from_bits;
using operations::Space;

constexpr unsigned most_threads = max_warps_per_sm * warp_lanes;

/// Byte offsets of the next place.
__constant__ std::uint32_t constant_ring[distinct_lanes] = {12, 16, 20, 24, 28, 0, 4, 8};

template <class Op>
__device__ __forceinline__ void operate(typename Op::Word& x, typename Op::Word a,
                                        typename Op::Word b) {
  if constexpr (Op::about.space == Space::constant) {
    // Wanted: LDC R, c[0x3][R]
    x = *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(constant_ring) + x);
  } else {
    Op::apply(x, a, b);
  }
}

/// Blocks of an SM that a kernel is compiled for; 0: not stated. Without, ptxas spills a reading of
/// the clock beside the calls of a division of doubles, although registers are left.
template <class Op>
constexpr unsigned least_blocks =
    sizeof(typename Op::Word) == sizeof(double) && Op::about.instructions == 0 ? 1 : 0;

/// Every warp runs `ilp` chains: one round to warm the instruction caches, then passes of `rounds`,
/// twice and four times as many, all in one loop, so that the instructions that the first pass
/// fetched serve all.
template <class Op, unsigned ilp>
__global__ void __launch_bounds__(most_threads, least_blocks<Op>)
    chains(const std::uint64_t* values, const std::uint64_t* ring, std::uint32_t rounds,
           Stamp* stamps, std::uint64_t* ends) {
  using Word = typename Op::Word;
  static_assert(Op::about.body / ilp % (2 * Op::run) == 0, "every round starts with the first set");
  constexpr Space space = Op::about.space;
  constexpr bool loads =
      space == Space::shared || space == Space::constant || space == Space::global;
  constexpr std::uint64_t place_bytes = loads ? sizeof(Word) : 1;
  __shared__ std::uint32_t shared_ring[space == Space::shared ? distinct_lanes : 1];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const auto word = [&](unsigned row) { return from_bits<Word>(values[row * warp_lanes + lane]); };
  Word x[ilp];
#pragma unroll
  for (unsigned c = 0; c < ilp; ++c)
    x[c] = word(c);  // each chain its own word: equal ones would be merged
  const Word a[2] = {word(ilp), word(ilp + 1)};
  const Word b[2] = {word(ilp + 2), word(ilp + 3)};
  std::uint64_t base = 0;
  if constexpr (space == Space::shared) {
    base = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared_ring));
    if (threadIdx.x < distinct_lanes) {
      shared_ring[threadIdx.x] = static_cast<std::uint32_t>(
          base + (threadIdx.x + Op::stride) % distinct_lanes * place_bytes);
    }
  } else if constexpr (space == Space::global) {
    base = reinterpret_cast<std::uint64_t>(ring);
  }
  if constexpr (loads) {
#pragma unroll
    for (unsigned c = 0; c < ilp; ++c)
      x[c] = static_cast<Word>(base + x[c] * place_bytes);
  }

  Stamp* mine = stamps + (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes;
#pragma unroll 1
  for (unsigned pass = 0; pass < passes; ++pass) {
    const std::uint32_t count = pass == 0 ? 1 : rounds << (pass - 1);
    operations::wait_for(x);
    __syncthreads();
    const Reading begin = reading_before();
#pragma unroll 1
    for (std::uint32_t r = 0; r < count; ++r) {
#pragma unroll
      for (unsigned i = 0; i < Op::about.body / ilp; ++i) {
#pragma unroll
        for (unsigned c = 0; c < ilp; ++c)
          operate<Op>(x[c], a[i / Op::run % 2], b[i / Op::run % 2]);
      }
    }
    operations::wait_for(x);
    const Reading end = reading_after();
    // Stored by every lane alike: with a branch for one lane, ptxas would not know whether the
    // warp has reconverged, and would add a second version of each shuffle and vote.
    mine->cycles[mark_of(pass)] = begin.cycles;
    mine->cycles[mark_of(pass) + 1] = end.cycles;
    mine->nanoseconds[0] = begin.nanoseconds;
    mine->nanoseconds[1] = end.nanoseconds;
  }

  if constexpr (loads) {
#pragma unroll
    for (unsigned c = 0; c < ilp; ++c)
      x[c] = static_cast<Word>((x[c] - base) / place_bytes);
  }
  mine->result = operations::keep_ends(x, ends);
  mine->core = sm_id();
}

using Kernel = void (*)(const std::uint64_t*, const std::uint64_t*, std::uint32_t, Stamp*,
                        std::uint64_t*);

Kernel kernel_for(const operations::Shape& shape) {
  return operations::with_named(shape.operation.name, operations::Operations{}, [&]<class Op>() {
    return with_value<1U, 2U, 4U, 8U>(shape.chains, [&]<unsigned ilp>() -> Kernel {
      if constexpr (why_not(Op::about.space, ilp) == nullptr) {
        return &chains<Op, ilp>;
      } else {
        return nullptr;
      }
    });
  });
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Shape shape = shape_of(session.params());
  operations::need(shape.operation, gpu);
  const Kernel kernel = kernel_for(shape);
  const DeviceBuffer<std::uint64_t> values{shape.operation.words(shape.chains)};
  DeviceBuffer<std::uint64_t> ring{distinct_lanes};
  std::vector<std::uint64_t> next;
  for (std::uint64_t place = 0; place < distinct_lanes; ++place) {
    const std::uint64_t after = operations::GlobalLoad::step(place, 0, 0);
    next.push_back(reinterpret_cast<std::uintptr_t>(ring.data()) + after * sizeof after);
  }
  ring.upload(next);
  CudaMachine machine{session, std::size_t{gpu.sms} * shape.warps};
  auto& ends = machine.output<std::uint64_t>(std::size_t{shape.chains} * warp_lanes);
  Experiment experiment = describe(shape, gpu, ends.landed());
  experiment.kernels = {reinterpret_cast<const void*>(kernel)};
  const std::size_t alone = bytes_to_be_alone(experiment.kernels.front());
  experiment.slopes[0].launch = [&](const Call& call) {
    kernel<<<gpu.sms, shape.warps * warp_lanes, alone, machine.stream().get()>>>(
        values.data(), ring.data(), call.length.rounds, machine.device_stamps(), ends.data());
  };
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::instruction_cost
