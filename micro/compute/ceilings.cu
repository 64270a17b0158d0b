#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/measure/engine.hpp"
#include "micro/compute/ceilings.hpp"
#include "micro/compute/chains.cuh"

#include <cuda_runtime_api.h>

namespace strata::ceilings {
namespace {

using operations::from_bits;

constexpr unsigned most_threads = most_warps_per_sm * warp_lanes;  // one block on each SM

/// `Op`: an operation in a form. `uniform`: its two factors if all lanes share them.
template <class Op>
__global__ void __launch_bounds__(most_threads)
    sustain(const std::uint64_t* values, std::uint64_t uniform_0, std::uint64_t uniform_1,
            std::uint32_t rounds, Stamp* stamps, std::uint64_t* ends) {
  using Word = typename Op::Word;
  constexpr unsigned chains = Op::chains;
  static_assert(Op::about.body / chains % (2 * Op::run) == 0,
                "every round starts with the first set");
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const auto word = [&](unsigned row) { return from_bits<Word>(values[row * warp_lanes + lane]); };
  Word x[chains];
#pragma unroll
  for (unsigned c = 0; c < chains; ++c)
    x[c] = word(c);
  const Word a[2] = {Op::is_uniform ? from_bits<Word>(uniform_0) : word(chains),
                     Op::is_uniform ? from_bits<Word>(uniform_1) : word(chains + 1)};
  const Word b[2] = {word(chains + 2), word(chains + 3)};
  operations::wait_for(x);
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (unsigned i = 0; i < Op::about.body / chains; ++i) {
      const unsigned set = i / Op::run % 2;
#pragma unroll
      for (unsigned c = 0; c < chains; ++c)
        Op::apply(x[c], a[set], b[set]);
    }
  }
  operations::wait_for(x);
  const Reading end = reading_after();
  const std::uint64_t checksum = operations::keep_ends(x, ends);
  if (lane == 0)
    leave(stamps + (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes, begin, end, checksum);
}

void run(Session& session) {
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  const Shape shape{.arithmetic = arithmetics.of(session.param("arithmetic")),
                    .form = forms.of(session.param("form")),
                    .warps = static_cast<unsigned>(session.integer("warps_per_sm"))};
  const auto [operation, chains, warps] = in_form(shape);
  operations::need(operation, gpu);
  const auto kernel = with_operation(shape, [&]<class Op>() { return &sustain<Op>; });
  const auto words = operation.words(chains);
  const DeviceBuffer<std::uint64_t> values{words};
  // The values of lane 0; where a form shares its factors, those of all lanes.
  const std::uint64_t uniform_0 = words[std::size_t{chains} * warp_lanes];
  const std::uint64_t uniform_1 = words[std::size_t{chains + 1} * warp_lanes];
  CudaMachine machine{session, std::size_t{gpu.sms} * warps};
  auto& ends = machine.output<std::uint64_t>(std::size_t{chains} * warp_lanes);
  Experiment experiment = describe(shape, gpu, ends.landed());
  experiment.kernels = {reinterpret_cast<const void*>(kernel)};
  const std::size_t alone = bytes_to_be_alone(experiment.kernels.front());
  experiment.slopes[0].launch = [&](const Call& call) {
    kernel<<<gpu.sms, warps * warp_lanes, alone, machine.stream().get()>>>(
        values.data(), uniform_0, uniform_1, call.length.rounds, machine.device_stamps(),
        ends.data());
  };
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::ceilings
