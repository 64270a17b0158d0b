// Each warp follows one chain. A group's 32 particles are read by the layout's own reads and
// summed, and the sum says which group comes next. The clock is read at the start and at the ends
// of the four parts, in one loop, so that all parts run the same instructions and the slope between
// the two timed parts holds nothing but reads.
#include "harness/case/error.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/engine.hpp"
#include "micro/access/layout_read.hpp"
#include "micro/access/particle_reads.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace strata::layout_read {
namespace {

constexpr std::uint32_t parts = 4;  // warm-up, first, second, cool-down

/// Where walks begin. A warp takes the next start of the SM that it finds itself on: which block
/// goes to which SM is the hardware's choice and follows no rule that could be relied on, and the
/// warps of an SM must start far apart.
struct Starts {
  const std::uint32_t* groups;  // `warps` for the first SM, then for the next
  std::uint32_t* taken;         // how many of an SM's starts are taken; zeros before a walk
  std::uint32_t sms;
  std::uint32_t warps;  // of an SM
};

/// The start that this warp takes, the same for all its lanes.
__device__ __forceinline__ std::uint32_t take_start(const Starts& starts, std::uint32_t lane) {
  std::uint32_t index = 0;
  if (lane == 0) {
    const std::uint32_t sm = sm_id() % starts.sms;
    const std::uint32_t slot = atomicAdd(starts.taken + sm, 1U) % starts.warps;
    index = sm * starts.warps + slot;
  }
  return __shfl_sync(0xFFFFFFFFU, index, 0);
}

/// Reads of a part, by value in the kernel's parameters.
struct Parts {
  std::uint32_t reads[parts];
};

template <class L, class Fields, bool from_memory>
__global__ void __launch_bounds__(1024)
    walk(const __grid_constant__ Arrays arrays, const __grid_constant__ Parts plan,
         const __grid_constant__ Starts starts, float filler, Stamp* stamps) {
  const std::uint32_t lane = threadIdx.x % group_size;
  const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / group_size;
  Stamp* mine = stamps + warp;
  const std::uint32_t start = take_start(starts, lane);
  std::uint32_t group = starts.groups[start];
  std::uint32_t sum = 0;
  std::uint64_t cycles = 0;
  consume(group);
  if (lane == 0) {
    mine->nanoseconds[0] = global_nanoseconds();
    mine->cycles[0] = cycles_now();
  }
#pragma unroll 1
  for (std::uint32_t part = 0; part < parts; ++part) {
    const std::uint32_t reads = plan.reads[part];
#pragma unroll 1
    for (std::uint32_t r = 0; r < reads; r += unroll_on_gpu) {
#pragma unroll
      for (std::uint32_t u = 0; u < unroll_on_gpu; ++u) {
        const std::uint32_t bits =
            read_particle_bits<L, Fields, from_memory>(arrays, group * group_size + lane, filler);
        sum += bits;
        group = next_group(bits);
      }
    }
    consume(group);  // the clock below is not read before the last group has arrived
    cycles = cycles_now();
    if (lane == 0) mine->cycles[part + 2] = cycles;
  }
  if (lane == 0) mine->nanoseconds[1] = global_nanoseconds();
  sum = warp_sum(sum * lane_weight(lane));
  if (lane == 0) {
    mine->cycles[1] = cycles;
    mine->core = sm_id();
    mine->tag = start;
    mine->result = sum;
  }
}

using Kernel = void (*)(Arrays, Parts, Starts, float, Stamp*);

/// One layout at one level, on the device.
struct DataSet {
  Particles particles;
  DeviceBuffer<float> words;
  Arrays arrays{};
};

DataSet make_data(const std::string& layout, std::uint32_t groups) {
  Particles particles = make_particles(layout, groups);
  const std::vector<float> host = std::exchange(particles.words, {});
  DataSet data{.particles = std::move(particles), .words = DeviceBuffer<float>{host}};
  const std::size_t count = data.particles.chain.particles();
  (void)with_layout(layout, AllFields::name, [&]<class L, class Fields>() {
    for (std::size_t r = 0; r < L::reads.size(); ++r)
      data.arrays.first[r] = data.words.data() + L::template first_word<std::size_t>(r, 0, count);
  });
  return data;
}

}  // namespace

void measure(Session& session, Level level) {
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  Point point = point_of(session, gpu.sms);
  const Level claimed = std::exchange(point.level, level);
  Kernel kernel = nullptr;
  Kernel without_loads = nullptr;
  (void)with_layout(point.layout, point.fields, [&]<class L, class Fields>() {
    kernel = walk<L, Fields, true>;
    without_loads = walk<L, Fields, false>;
  });
  const std::uint32_t blocks = point.blocks_per_sm();
  const auto* const code = reinterpret_cast<const void*>(kernel);
  // A block takes a little shared memory even when it asks for none.
  const int reserved = device_attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  const auto room_for = [&](const void* function) {
    return make_room(function, point.threads, blocks, /*dynamic_bytes=*/0,
                     static_cast<std::size_t>(reserved), gpu.shared_per_sm);
  };
  (void)room_for(reinterpret_cast<const void*>(without_loads));
  const std::uint32_t resident = room_for(code);
  if (resident < blocks) {
    throw Skipped{"needs " + std::to_string(blocks) + " resident blocks on an SM, this GPU holds " +
                  std::to_string(resident)};
  }
  const DataSet& data =
      session.cache().keep<DataSet>("layout_read/" + point.layout + '/' + levels.name_of(level),
                                    [&] { return make_data(point.layout, groups_at(level, gpu)); });
  const ParticleChain& chain = data.particles.chain;
  std::vector<std::uint32_t> first_groups;
  for (const std::uint32_t position : start_positions(point, chain.groups()))
    first_groups.push_back(chain.group_at(position));
  const DeviceBuffer<std::uint32_t> starts{first_groups};
  DeviceBuffer<std::uint32_t> taken{point.cores};
  CudaMachine machine{session, point.all_warps()};
  const cudaStream_t stream = machine.stream().get();

  const Shape shape = shape_on_gpu(point, gpu, chain.groups());
  Experiment experiment = describe_on_gpu(point, gpu, shape, data.particles);
  const auto launch = [&](Kernel which, const Point& by, const Arrays& arrays, const Shape& now) {
    const Parts plan{{now.warmup, now.first, now.second, now.cooldown}};
    which<<<by.cores * by.blocks_per_sm(), by.threads, 0, stream>>>(
        arrays, plan, Starts{starts.data(), taken.data(), by.cores, by.warps}, /*filler=*/1.0F,
        machine.device_stamps());
  };
  for (Slope& slope : experiment.slopes)
    slope.prepare = [&](const Call&) { taken.poison(0, stream); };
  if (point.alone()) {
    experiment.slopes.front().launch = [&](const Call& call) {
      launch(without_loads, Point{}, Arrays{}, arithmetic_shape.at(call.length));
    };
  }
  Slope& reads = experiment.slopes.back();
  reads.launch = [&](const Call& call) {
    launch(kernel, point, data.arrays, shape.at(call.length));
  };
  reads.data = data.words.data();
  reads.bytes = data.words.size_bytes();
  experiment.counts->served_by = served_by(levels.name_of(claimed));
  experiment.kernels = {code};
  if (session.counters() == nullptr) {
    session.fact("registers_per_thread", std::int64_t{machine.code(code).registers});
  }
  strata::measure(session, machine, experiment);
}

namespace {

void run(Session& session) {
  measure(session, levels.of(session.param("residency")));
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::layout_read
