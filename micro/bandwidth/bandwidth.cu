#include "harness/base/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/measure/engine.hpp"
#include "micro/bandwidth/stream.cuh"
#include "micro/bandwidth/stream_launches.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>

namespace strata::bandwidth {

/// The memory that all cases share. Values form an arithmetic sequence unless the memory is new or
/// a case wrote to it.
struct Pool {
  DeviceBuffer<std::uint32_t> words;
  WordCheck check;
  bool dirty = true;
};

namespace {

/// Makes room for exactly the blocks of the plan where they take turns or device memory is read.
void place_blocks(const void* kernel, Plan& plan, const GpuFacts& gpu) {
  const LaunchShape& shape = plan.shape;
  const auto resident = [&](std::uint32_t dynamic_bytes) {
    return make_room(kernel, shape.block_size, shape.blocks_per_sm, dynamic_bytes,
                     shared_of_system + shared_of_kernel, gpu.shared_per_sm);
  };
  if (!shape.limits_residency()) {
    if (resident(plan.dynamic_bytes) < shape.blocks_per_sm) {
      throw Skipped{"the SM cannot hold that many blocks of this kernel"};
    }
  } else if (resident(0) == shape.blocks_per_sm) {
    plan.dynamic_bytes = 0;  // as many threads as fit on the SM: no filler
  } else if (resident(plan.dynamic_bytes) != shape.blocks_per_sm) {
    throw Skipped{"the SM cannot be limited to exactly that many blocks"};
  }
}

}  // namespace

StreamLaunches::StreamLaunches(Session& session)
    : session_{session},
      gpu_{gpu_facts(session.device().identity().facts)},
      machine_{session, 0, CudaMachine::Stamps::merged_by_sm},
      pool_{session.cache().keep<Pool>("bandwidth", [&] {
        return Pool{.words = DeviceBuffer<std::uint32_t>{pool_bytes(gpu_) / sizeof(std::uint32_t)}};
      })} {
  fill_pool();
}

void StreamLaunches::fill_pool() {
  if (!std::exchange(pool_.dirty, false)) return;
  fill(pool_.words.data(), pool_.words.size(), Line{}, machine_.stream().get());
}

/// Adds the launches of the plan, whose blocks it places. Returns the kernel.
const void* StreamLaunches::complete(Slope& slope, Plan& plan) {
  const Kernel kernel = kernel_for(plan.shape);
  place_blocks(reinterpret_cast<const void*>(kernel), plan, gpu_);
  auto* const first = reinterpret_cast<char*>(pool_.words.data());
  const std::uint64_t next = arrays_of(plan.shape.operation) > 1 ? plan.array_bytes : 0;
  const Arrays arrays{.to = first, .from = first + next, .other = first + 2 * next};
  slope.data = first;
  slope.launch = [=, this](const Call& call) {
    kernel<<<call.length.blocks, plan.shape.block_size, plan.dynamic_bytes,
             machine_.stream().get()>>>(arrays, plan.pattern, call.length.rounds, call.salt, Line{},
                                        static_cast<std::uint32_t>(plan.array_bytes),
                                        machine_.device_stamps());
  };
  return reinterpret_cast<const void*>(kernel);
}

/// Cycles of a round of a warp that has the device to itself.
double StreamLaunches::lone_round(LaunchShape shape) {
  shape.block_size = lanes;
  shape.blocks_per_sm = 1;
  shape.waves = 1;
  if (shape.level == Level::dram) shape.level = Level::l2;  // the same instructions
  Plan plan = plan_for(shape, gpu_);
  Slope slope;
  complete(slope, plan);
  Tally unverified;
  const auto launch = [&](std::uint32_t rounds) {
    const Length length{.rounds = rounds, .blocks = 1, .work = double{1} * rounds};
    return launch_once(machine_, slope, {.length = length}, unverified);
  };
  constexpr std::uint32_t part = 8;  // of a launch that an outer timer can time
  const std::uint32_t rounds = plan.lengths.full.rounds / part;
  (void)launch(rounds);  // fetches what it reads into L2
  const Launched brief = launch(plan.lengths.brief.rounds / part);
  return slope.window.read(brief, launch(rounds)).cycles;
}

double StreamLaunches::try_rate(Plan plan) {
  Slope slope = slope_of(plan);
  try {
    complete(slope, plan);
  } catch (const Skipped&) {
    return 0;
  }
  if (plan.shape.operation != Operation::read) pool_.dirty = true;
  Tally unverified;
  const auto seconds = [&](const Length& length) {
    return launch_once(machine_, slope, {.length = length}, unverified).seconds;
  };
  const double brief = seconds(plan.lengths.brief);
  const double longer = seconds(plan.lengths.full) - brief;
  const double work = plan.lengths.full.work - plan.lengths.brief.work;
  return longer > 0 ? work * gpu_.sms / longer : 0;
}

void StreamLaunches::measure(Plan plan) {
  const cudaStream_t stream = machine_.stream().get();
  Experiment experiment = describe(plan, gpu_);
  const LaunchShape& shape = plan.shape;
  // Of two accesses, the second one costs too much of a latency to tell whether it waits.
  if (session_.counters() == nullptr && shape.in_flight > 2 && arrays_read(shape.operation) > 0) {
    if (shape.operation != Operation::read) pool_.dirty = true;
    LaunchShape single = shape;
    single.in_flight = 1;
    experiment.checks.emplace_back(
        Concurrency{double{1} * shape.in_flight, lone_round(shape), lone_round(single)});
  }
  fill_pool();
  Slope& slope = experiment.slopes.front();
  experiment.kernels = {complete(slope, plan)};
  if (!slope.verify) {
    // The array that is written: initialised here and again after each launch.
    std::uint32_t* const words = pool_.words.data();
    const Line before = plan.shape.operation == Operation::update ? Line{} : poison;
    const auto lay = [=](const Call&) {
      fill(words, plan.array_bytes / sizeof(std::uint32_t), before, stream);
    };
    lay({});
    pool_.dirty = true;
    slope.verify = [=, this](const Call& call, std::span<const Stamp>, Tally& tally) {
      const Line after = written(plan, call.length, call.salt);
      pool_.check.verify_and_refill(words, plan.words(call.length), after, before, tally, stream);
    };
    // After a writer, the next pass over the same work starts from other data.
    experiment.counts->prepare = lay;
  }
  strata::measure(session_, machine_, experiment);
}

namespace {

void run(Session& session) {
  const Plan plan =
      plan_for(shape_of(session.params()), gpu_facts(session.device().identity().facts));
  StreamLaunches{session}.measure(plan);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::bandwidth
