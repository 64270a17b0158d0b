#include "harness/cuda/benchmark.cuh"
#include "micro/energy/energy.hpp"

namespace strata::energy {

constexpr std::uint32_t spinning_warps = 32;
constexpr std::uint32_t spin_cycles = 1U << 20U;  ///< of a round

namespace {

/// Warps that read their clock until it has advanced by the cycles of all rounds.
Experiment describe_spin(const GpuFacts& gpu) {
  constexpr std::uint32_t rounds = 20;
  Experiment experiment;
  experiment.slopes = {{.verify = results_are([](const Call& call) {
                          return std::uint64_t{call.length.rounds} * spin_cycles;
                        }),
                        .lengths = fifth_and_whole(rounds, spin_cycles),
                        .writers = std::size_t{gpu.sms} * spinning_warps,
                        .window = median_sm(spinning_warps)}};
  experiment.rows = {{"spin_rate", "cycle/s", By::outside, per_second(gpu.sms)}};
  experiment.checked = "cycles that each warp waited for";
  experiment.placement = Placement{.cores = gpu.sms, .per_core = int{spinning_warps}};
  experiment.not_counted = "it does no work";
  return experiment;
}

/// What is repeated; at rest, warps that do not run.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Work& work = work_named(params.at("work"));
  if (work.benchmark.empty()) return describe_spin(gpu);
  const Enrolled* const other = find_benchmark(work.benchmark);
  if (other == nullptr || other->describe == nullptr) {
    throw Skipped{"this build does not describe " + work.benchmark};
  }
  return other->describe(params_of(work, params.at("data"), Backend::cuda), gpu);
}

#ifdef __CUDACC__

__global__ void __launch_bounds__(spinning_warps* warp_lanes, 1)
    spin(std::uint32_t rounds, Stamp* stamps) {
  const std::uint64_t wanted = std::uint64_t{rounds} * spin_cycles;
  const Reading begin = reading_before();
#pragma unroll 1
  while (cycles_now() - begin.cycles < wanted) {
  }
  const Reading end = reading_after();
  const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes;
  const bool waited = end.cycles - begin.cycles >= wanted;
  if (threadIdx.x % warp_lanes == 0) leave(stamps + warp, begin, end, waited ? wanted : 0);
}

void run_spin(Session& session) {
  const GpuFacts gpu = session.gpu();
  Experiment experiment = describe_spin(gpu);
  CudaMachine machine{session, std::size_t{gpu.sms} * spinning_warps};
  const auto* const code = reinterpret_cast<const void*>(&spin);
  const std::size_t alone = bytes_to_be_alone(code);
  experiment.kernels = {code};
  experiment.slopes[0].launch = [&](const Call& call) {
    spin<<<gpu.sms, spinning_warps * warp_lanes, alone, machine.stream().get()>>>(
        call.length.rounds, machine.device_stamps());
  };
  measure(session, machine, experiment);
}

void run(Session& session) {
  const NvmlDevice nvml{session.device().identity().uuid};
  if (!nvml.absence().empty()) throw Skipped{nvml.absence()};
  for (const auto& [name, value] : nvml.limits()) {
    if (name == "power_limit_watts") session.fact(name, value);
  }
  measure_energy(session, {.name = "nvml_energy", .read = [&] { return nvml.reading(); }},
                 &run_spin);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::energy
