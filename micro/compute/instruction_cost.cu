#include "harness/case/choices.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/measure/engine.hpp"
#include "micro/compute/chains.cuh"
#include "micro/compute/instruction_cost.hpp"

#include <cuda_runtime_api.h>

namespace strata::instruction_cost {
namespace {

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

/// Every warp runs `ilp` chains: one round to warm the instruction caches, then passes of `rounds`,
/// twice and four times as many, all in one loop, so that the instructions that the first pass
/// fetched serve all.
template <class Op, unsigned ilp>
__global__ void __launch_bounds__(most_threads)
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
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  const operations::Shape shape{
      .operation = operations::operation_named(session.param("operation")),
      .chains = static_cast<unsigned>(session.integer("ilp")),
      .warps = static_cast<unsigned>(session.integer("warps_per_sm"))};
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

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::instruction_cost
