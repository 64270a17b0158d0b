// A round is several loads of each thread, all in flight together, and then the next ordinals,
// which depend on a comparison with a kernel argument: ptxas hoists a load whose address never
// changes out of the loop, volatile asm or not. A launch of no rounds is the same kernel without
// loads.
#include "harness/base/error.hpp"
#include "harness/case/choices.hpp"
#include "harness/cuda/access.cuh"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/engine.hpp"
#include "harness/model/coalescing.hpp"
#include "micro/access/stride_gather.hpp"

namespace strata::stride_gather {
namespace {

/// What a launch reads, and in which order.
struct Sweep {
  AddressPattern pattern;
  std::uint32_t step = 0;  ///< bytes from an element to the one that follows it in the array
  Scatter scatter;
  std::uint32_t turn = 0;  ///< block b takes piece b + turn
};

/// Wanted: one IMAD.WIDE.U32. For a C++ multiplication, ptxas also adds up the upper halves.
__device__ __forceinline__ const char* address_of(const char* data, std::uint32_t n,
                                                  std::uint32_t step) {
  const char* at;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(at) : "r"(n), "r"(step), "l"(data));
  return at;
}

/// Resident blocks that ptxas must leave registers for: as many as the SM has threads for.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr std::uint32_t wanted_blocks = 1024 / threads;
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || \
                                 __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
constexpr std::uint32_t wanted_blocks = 1536 / threads;
#else
constexpr std::uint32_t wanted_blocks = most_blocks_per_sm;
#endif

template <unsigned width, bool gather>
__global__ void __launch_bounds__(threads, wanted_blocks)
    sweep(const char* data, const __grid_constant__ Sweep what, std::uint32_t rounds,
          Stamp* stamps) {
  constexpr unsigned words = width / 4;
  constexpr unsigned flights = flights_of(width);
  const AddressPattern& pattern = what.pattern;
  // Known to the compiler where loads are in order: one addition for each address.
  const std::uint32_t flight_step = gather ? pattern.flight_step : lanes;
  const std::uint32_t round_step = gather ? pattern.round_step : loads_of_round(width) * lanes;

  const std::uint32_t lane = threadIdx.x % lanes;
  std::uint32_t piece = blockIdx.x + what.turn;
  if (piece >= gridDim.x) piece -= gridDim.x;
  const std::uint32_t first = pattern.first(piece, threadIdx.x / lanes) + lane;
  std::uint32_t offset = 0;
  std::uint32_t sum = 0;
  Reading begin;
  if (threadIdx.x == 0) begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t value[flights][words];
#pragma unroll
    for (unsigned l = 0; l < flights; ++l) {
      std::uint32_t n = first + offset + l * flight_step;
      if constexpr (gather) n = scattered(n, what.scatter.mask, what.scatter.shift);
      load<Access::global_cg, width>(value[l], address_of(data, n, what.step));
    }
#pragma unroll
    for (unsigned l = 0; l < flights; ++l) {
#pragma unroll
      for (unsigned i = 0; i < words; ++i)
        sum += value[l][i];
    }
    offset += round_step;
    if (offset >= pattern.lap) offset -= pattern.lap;
  }
  // The sum needs every value that the block read, and the clock is read after it.
  const std::uint32_t all = block_sum(sum * (2 * lane + 1));
  if (threadIdx.x == 0) merge(stamps, begin, reading_after(), all);
}

/// After the last element of an aligned pass there is room for the largest misalignment.
constexpr std::uint64_t most_misaligned = max_misalignment * 16;

void run(Session& session) {
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  if (generation_of(gpu.major, gpu.minor) != Generation::cc7) {
    throw Skipped{"the sectors of a load are known from compute capability 7.0 on"};
  }
  const Shape shape = shape_of(session.params());
  const auto kernel = with_value<4U, 8U, 16U>(shape.width, [&]<unsigned width>() {
    return shape.pattern == Pattern::gather ? &sweep<width, true> : &sweep<width, false>;
  });
  const auto* const code = reinterpret_cast<const void*>(kernel);
  const SweepPlan plan = plan_for(shape, gpu, resident_blocks(code, threads));
  CudaMachine machine{session, 0, CudaMachine::Stamps::merged_by_sm};
  const cudaStream_t stream = machine.stream().get();
  using Pool = DeviceBuffer<std::uint32_t>;  // shared by all cases
  const Pool& pool = session.cache().keep<Pool>("stride_gather", [&] {
    Pool made{(pool_bytes(gpu) + most_misaligned) / sizeof(std::uint32_t)};
    fill(made.data(), made.size(), array_words, stream);
    return made;
  });

  const bool in_l2 = shape.level == Level::l2;
  SamplePlaces places{plan.span(plan.pass) + most_misaligned, in_l2 ? pool.size_bytes() : 0};
  const auto launch = [&](const Length& length, std::uint32_t turn) {
    const Sweep what{.pattern = plan.pattern,
                     .step = shape.stride * shape.width,
                     .scatter = scatter_of(shape.locality),
                     .turn = turn};
    const auto* const data = reinterpret_cast<const char*>(pool.data()) + places.offset();
    kernel<<<length.blocks, threads, 0, stream>>>(
        data + std::uint64_t{shape.misalignment} * shape.width, what, length.rounds,
        machine.device_stamps());
  };
  Experiment experiment = describe(plan, places);
  experiment.prepare = [&] { places.next(); };
  Slope& slope = experiment.slopes[0];
  slope.launch = [&](const Call& call) { launch(call.length, 0); };
  if (in_l2) {
    // Eight laps, each with the pieces assigned to other blocks: an SM reads through its own half
    // of L2, and either half may come to serve any piece.
    slope.prepare = [&](const Call&) {
      constexpr std::uint32_t laps = 8;
      const std::uint32_t blocks = plan.pass.blocks;
      for (std::uint32_t lap = 0; lap < laps; ++lap)
        launch(plan.pass, lap * (blocks / 3 + 1) % blocks);
    };
  }
  experiment.kernels = {code};
  if (session.counters() != nullptr) experiment.counts = counts_of(plan, gpu);
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::stride_gather
