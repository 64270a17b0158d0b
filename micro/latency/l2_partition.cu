#include "harness/cuda/access.cuh"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "harness/cuda/sweep.cuh"
#include "harness/measure/engine.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/latency/l2_partition.hpp"

#include <algorithm>
#include <cooperative_groups.h>
#include <utility>
#include <vector>

namespace strata::l2_partition {
namespace {

/// Writes a word into each line, and the line's address into the word at its address beside.
__global__ void settle(const std::uint64_t* line_addresses, const std::uint64_t* words,
                       const std::uint64_t* beside_addresses) {
  const std::uint64_t at = line_addresses[threadIdx.x];
  *reinterpret_cast<std::uint64_t*>(at) = words[threadIdx.x];
  *reinterpret_cast<std::uint64_t*>(beside_addresses[threadIdx.x]) = at;
}

/// The word holds its own address, so the result is the address of the next exchange.
__device__ __forceinline__ void exchange(std::uint64_t& at) {
  // Wanted: ATOMG.E.EXCH.64
  asm volatile("atom.global.exch.b64 %0, [%0], %0;" : "+l"(at) : : "memory");
}

/// One thread of each SM visits all lines, each starting at another one, so that two SMs are hardly
/// ever at the same line. `cell` returns the cycles of a line, which it finds by its word, and must
/// leave `at` unchanged. A stamp's result is how many lines did not return their address.
template <class Cell>
__device__ __forceinline__ void go_over(const std::uint64_t* line_addresses, std::uint64_t* cycles,
                                        Stamp* stamps, const Cell& cell) {
  const std::uint32_t start = blockIdx.x * lines / gridDim.x;
  std::uint64_t wrong = 0;
  const Reading before = reading_before();
#pragma unroll 1
  for (std::uint32_t i = 0; i < lines; ++i) {
    const std::uint32_t line = (start + i) % lines;
    const std::uint64_t own = line_addresses[line];
    std::uint64_t at = own;
    cycles[blockIdx.x * lines + line] = cell(at);
    wrong += at == own ? 0 : 1;
  }
  leave(stamps + blockIdx.x, before, reading_after(), wrong);
}

__global__ void visit(const std::uint64_t* line_addresses, std::uint32_t turns,
                      std::uint64_t* cycles, Stamp* stamps) {
  go_over(line_addresses, cycles, stamps, [turns](std::uint64_t& at) {
  // One visit first, so that the translation and the line are cached.
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
    return cycles_now() - begin;
  });
}

/// Cycles from the clock reading before a load of the word at `at` until the word arrives, minus
/// those of the same code without the load.
__device__ __forceinline__ std::uint64_t single_load(std::uint64_t& at) {
  consume(static_cast<std::uint32_t>(at));
  const std::uint64_t idle = cycles_now();
  consume(static_cast<std::uint32_t>(at >> 32U));  // the lower half is already known
  const std::uint64_t begin = cycles_now();
  follow<Access::global_cg>(at);
  consume(static_cast<std::uint32_t>(at));
  return cycles_now() - begin - (begin - idle);
}

/// The same walk with a load after each exchange. `cycles`: of the loads alone.
__global__ void load_once_each(const std::uint64_t* line_addresses, std::uint32_t loads,
                               std::uint64_t* cycles, Stamp* stamps) {
  go_over(line_addresses, cycles, stamps, [loads](std::uint64_t& at) {
    std::uint64_t taken = 0;
#pragma unroll 1
    for (std::uint32_t l = 0; l < loads; ++l) {
      exchange(at);
      taken += single_load(at);
    }
    return taken;
  });
}

/// Before each load all SMs read `sweep`, which evicts every line from L2. Then one thread of each
/// SM, one SM after the other, loads the next of its lines. `cycles`: of those loads alone; nothing
/// is written for lines that an SM does not load.
__global__ void __launch_bounds__(sweepers)
    load_evicted(const std::uint64_t* line_addresses, const std::uint64_t* beside_addresses,
                 const uint4* sweep, std::size_t quads, std::uint32_t loads, std::uint64_t* cycles,
                 std::uint32_t* sink, Stamp* stamps) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  std::uint64_t wrong = 0;
  std::uint32_t sum = 0;
  const Reading before = reading_before();
#pragma unroll 1
  for (std::uint32_t l = 0; l < loads; ++l) {
    sum ^= sweep_piece(sweep, quads, blockIdx.x);
    grid.sync();
    if (threadIdx.x == 0) {
      const std::uint32_t line = line_of(blockIdx.x, l);
      const std::uint64_t own = line_addresses[line];
      // Caches the page's translation before the line is requested.
      std::uint64_t at = beside_addresses[line];
      follow<Access::global_cg>(at);
      consume(static_cast<std::uint32_t>(at));
      const std::uint64_t met = cycles_now();
      while (cycles_now() - met < blockIdx.x * apart_cycles) {
      }
      cycles[blockIdx.x * lines + line] = single_load(at);
      wrong += at == own ? 0 : 1;
    }
    grid.sync();
  }
  const Reading after = reading_after();
  if (threadIdx.x == 0) leave(stamps + blockIdx.x, before, after, wrong);
  keep_loads(sum, sink);
}

/// Lines from which a thread alone ends elsewhere if each holds the address of the next one: the
/// thread makes `exchanges` at each line, and each of them needs the word of the one before.
std::uint64_t lines_that_lead_away(std::uint32_t exchanges) {
  std::vector<std::uint32_t> next(lines);
  for (std::uint32_t line = 0; line < lines; ++line)
    next[line] = (line + 1) % lines;
  std::uint64_t away = 0;
  for (std::uint32_t line = 0; line < lines; ++line) {
    std::uint32_t at = line;
    for (std::uint32_t e = 0; e < exchanges; ++e)
      at = std::exchange(next[at], at);
    away += at == line ? 0 : 1;
  }
  return away;
}

void run(Session& session) {
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  if (gpu.sms > lines) throw Skipped{"two SMs would load one line at a time"};
  CudaMachine machine{session, gpu.sms};
  const cudaStream_t stream = machine.stream().get();
  const DeviceBuffer<char> room{room_bytes};
  const auto addresses_of = [&](std::vector<std::uint64_t> offsets) {
    for (std::uint64_t& one : offsets)
      one += reinterpret_cast<std::uintptr_t>(room.data());
    return DeviceBuffer<std::uint64_t>{offsets};
  };
  const DeviceBuffer<std::uint64_t> line_addresses = addresses_of(offsets());
  const DeviceBuffer<std::uint64_t> beside_addresses = addresses_of(offsets_beside());
  const auto lay = [&](const DeviceBuffer<std::uint64_t>& words) {
    settle<<<1, lines, 0, stream>>>(line_addresses.data(), words.data(), beside_addresses.data());
    cuda_check(cudaGetLastError());
  };
  const DeviceBuffer<uint4>& sweep = machine.words_to_sweep();
  const DeviceBuffer<std::uint32_t> sink{1};

  const auto& cycles = machine.output<std::uint64_t>(std::size_t{gpu.sms} * lines);
  Experiment experiment = describe(gpu.sms);
  if (session.counters() == nullptr) {
    auto following = offsets();
    std::ranges::rotate(following, following.begin() + 1);
    const DeviceBuffer<std::uint64_t> words = addresses_of(following);
    Slope altered{.launch =
                      [&](const Call& call) {
                        visit<<<1, 1, 0, stream>>>(line_addresses.data(), call.length.rounds,
                                                   cycles.data(), machine.device_stamps());
                      },
                  .prepare = [&](const Call&) { lay(words); },
                  .verify = results_are([](const Call& call) {
                    return lines_that_lead_away(turn * (1 + call.length.rounds));
                  }),
                  .writers = 1};
    Tally tally;
    (void)launch_once(machine, altered, {.length = {.rounds = 3, .work = 1}}, tally);
    experiment.checks.emplace_back(Dependence{"counts of lines that lead away", tally});
  }
  lay(line_addresses);
  for (const std::size_t slope : {exchanges, single_loads}) {
    const auto kernel = slope == exchanges ? visit : load_once_each;
    experiment.slopes[slope].launch = [&, kernel](const Call& call) {
      kernel<<<gpu.sms, 1, 0, stream>>>(line_addresses.data(), call.length.rounds, cycles.data(),
                                        machine.device_stamps());
    };
    experiment.kernels.push_back(reinterpret_cast<const void*>(kernel));
  }
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  const cudaLaunchConfig_t config{.gridDim = gpu.sms,
                                  .blockDim = sweepers,
                                  .stream = stream,
                                  .attrs = &together,
                                  .numAttrs = 1};
  experiment.slopes[evicted_loads].launch = [&](const Call& call) {
    cuda_check(cudaLaunchKernelEx(
        &config, load_evicted, line_addresses.data(), beside_addresses.data(), sweep.data(),
        sweep.size(), call.length.rounds, cycles.data(), sink.data(), machine.device_stamps()));
  };
  experiment.kernels.push_back(reinterpret_cast<const void*>(load_evicted));
  for (Slope& slope : experiment.slopes) {
    slope.cells = [&] {
      return std::vector<double>{cycles.landed().begin(), cycles.landed().end()};
    };
    // Loads the code.
    (void)launch_once(machine, slope, {.length = slope.lengths.brief}, experiment.tally);
  }
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::l2_partition
