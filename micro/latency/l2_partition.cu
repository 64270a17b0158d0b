#include "harness/cuda/access.cuh"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/engine.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/latency/l2_partition.hpp"

namespace strata::l2_partition {
namespace {

/// Puts its address into the word of each line.
__global__ void settle(const std::uint64_t* line_addresses) {
  const std::uint64_t at = line_addresses[threadIdx.x];
  *reinterpret_cast<std::uint64_t*>(at) = at;
}

/// The word holds its own address: what comes back is where the next exchange goes.
__device__ __forceinline__ void exchange(std::uint64_t& at) {
  // Wanted: ATOMG.E.EXCH.64
  asm volatile("atom.global.exch.b64 %0, [%0], %0;" : "+l"(at) : : "memory");
}

/// One thread of each SM goes over all lines, each from another one on, so that hardly ever two are
/// at one line. A stamp's result: how many lines did not give their address back.
__global__ void visit(const std::uint64_t* line_addresses, std::uint32_t turns,
                      std::uint64_t* cycles, Stamp* stamps) {
  const std::uint32_t start = blockIdx.x * lines / gridDim.x;
  std::uint64_t wrong = 0;
  const Reading before = reading_before();
#pragma unroll 1
  for (std::uint32_t i = 0; i < lines; ++i) {
    const std::uint32_t line = (start + i) % lines;
    const std::uint64_t own = line_addresses[line];
    std::uint64_t at = own;
    // Once over, so that the page is known and the line has come.
#pragma unroll
    for (std::uint32_t u = 0; u < turn; ++u)
      exchange(at);
    consume(static_cast<std::uint32_t>(at));
    const std::uint64_t begin = cycles_now();
#pragma unroll 1
    for (std::uint32_t t = 0; t < turns; ++t) {
#pragma unroll
      for (std::uint32_t u = 0; u < turn; ++u)
        exchange(at);
    }
    consume(static_cast<std::uint32_t>(at));
    const std::uint64_t end = cycles_now();
    cycles[blockIdx.x * lines + line] = end - begin;
    wrong += at == own ? 0 : 1;
  }
  leave(stamps + blockIdx.x, before, reading_after(), wrong);
}

/// The same walk, in which a load follows each exchange. `cycles`: of the loads alone.
__global__ void load_once_each(const std::uint64_t* line_addresses, std::uint32_t loads,
                               std::uint64_t* cycles, Stamp* stamps) {
  const std::uint32_t start = blockIdx.x * lines / gridDim.x;
  std::uint64_t wrong = 0;
  const Reading before = reading_before();
#pragma unroll 1
  for (std::uint32_t i = 0; i < lines; ++i) {
    const std::uint32_t line = (start + i) % lines;
    const std::uint64_t own = line_addresses[line];
    std::uint64_t at = own;
    std::uint64_t taken = 0;
#pragma unroll 1
    for (std::uint32_t l = 0; l < loads; ++l) {
      exchange(at);
      consume(static_cast<std::uint32_t>(at));
      const std::uint64_t idle = cycles_now();
      consume(static_cast<std::uint32_t>(at >> 32U));  // the lower half is already known
      const std::uint64_t begin = cycles_now();
      follow<Access::global_cg>(at);
      consume(static_cast<std::uint32_t>(at));
      taken += cycles_now() - begin - (begin - idle);
    }
    cycles[blockIdx.x * lines + line] = taken;
    wrong += at == own ? 0 : 1;
  }
  leave(stamps + blockIdx.x, before, reading_after(), wrong);
}

void run(Session& session) {
  const unsigned sms = gpu_facts(session.device().identity().facts).sms;
  CudaMachine machine{session, sms};
  const cudaStream_t stream = machine.stream().get();
  const DeviceBuffer<char> room{room_bytes};
  std::vector<std::uint64_t> addresses = offsets();
  for (std::uint64_t& one : addresses)
    one += reinterpret_cast<std::uintptr_t>(room.data());
  const DeviceBuffer<std::uint64_t> line_addresses{addresses};
  settle<<<1, lines, 0, stream>>>(line_addresses.data());
  cuda_check(cudaGetLastError());

  const auto& cycles = machine.output<std::uint64_t>(std::size_t{sms} * lines);
  Experiment experiment = describe(sms);
  for (Slope& slope : experiment.slopes) {
    const auto kernel = &slope == experiment.slopes.data() ? visit : load_once_each;
    slope.launch = [&, kernel](const Call& call) {
      kernel<<<sms, 1, 0, stream>>>(line_addresses.data(), call.length.rounds, cycles.data(),
                                    machine.device_stamps());
    };
    slope.cells = [&] {
      return std::vector<double>{cycles.landed().begin(), cycles.landed().end()};
    };
    experiment.kernels.push_back(reinterpret_cast<const void*>(kernel));
    // Loads the code.
    (void)launch_once(machine, slope, {.length = slope.lengths.brief}, experiment.tally);
  }
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::l2_partition
