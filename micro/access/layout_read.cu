// Each warp follows one chain: the sum of a group's 32 particles encodes the next group. One
// loop reads all four parts, so that they run the same instructions, and the slope between the two
// timed parts contains nothing but reads.
#include "harness/base/error.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/measure/engine.hpp"
#include "micro/access/layout_walk.cuh"

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace strata::layout_read {
namespace {

using Kernel = void (*)(Arrays, Parts, Starts, float, Stamp*);

/// ParticleChain::fill() on the device: on the host, a gibibyte of particles takes a second.
template <class L>
__global__ void write_particles(float* words, std::size_t n, const std::uint32_t* next,
                                std::uint32_t groups, std::uint64_t seed) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) write_particle<L>(words, i, n, next, groups, seed);
}

/// The particles of one layout at one level, on the device.
struct DataSet {
  DataSet(const std::string& layout, std::uint32_t groups, std::uint32_t spare)
      : chain{groups, seed, spare} {
    constexpr std::size_t threads = 256;
    const DeviceBuffer<std::uint32_t> next{chain.next()};
    (void)with_layout(layout, AllFields::name, [&]<class L, class Fields>() {
      words.emplace(L::words(chain.particles()));
      const auto blocks = static_cast<unsigned>((chain.particles() + threads - 1) / threads);
      write_particles<L><<<blocks, threads>>>(words->data(), chain.particles(), next.data(), groups,
                                              chain.seed());
      cuda_check(cudaGetLastError());
      cuda_check(cudaDeviceSynchronize());
      const float* const base = words->data();
      for (std::size_t r = 0; r < L::reads.size(); ++r)
        arrays.first[r] = base + L::template first_word<std::size_t>(r, 0, chain.particles());
    });
  }
  const std::vector<Ring>& rings_for(const Point& point) {
    std::vector<Ring>& kept = rings[point.cores];
    if (kept.empty()) kept = rings_of(point, chain);
    return kept;
  }
  ParticleChain chain;
  std::optional<DeviceBuffer<float>> words;
  Arrays arrays{};
  std::map<std::uint32_t, std::vector<Ring>> rings;  ///< by the number of SMs that read
};

STRATA_BENCHMARK(declare, cuda,
                 [](Session& session) { measure(session, levels.of(session.param("residency"))); });

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
  // A block takes a little shared memory even if it requests none.
  const auto reserved =
      static_cast<std::size_t>(device_attribute(cudaDevAttrReservedSharedMemoryPerBlock));
  const auto* const code = reinterpret_cast<const void*>(kernel);
  std::uint32_t resident = 0;
  for (const void* each : {reinterpret_cast<const void*>(without_loads), code})
    resident = make_room(each, point.threads, blocks, 0, reserved, gpu.shared_per_sm);
  if (resident < blocks) {
    throw Skipped{"an SM holds " + std::to_string(resident) + " blocks, not " +
                  std::to_string(blocks)};
  }
  DataSet& data = session.cache().keep<DataSet>(point.data_key(), [&] {
    return DataSet{point.layout, groups_at(level, gpu), spare_groups(level, gpu.sms)};
  });
  const Walks walks = walks_of(point, data.rings_for(point));
  const DeviceBuffer<RingStart> starts{walks.starts()};
  DeviceBuffer<std::uint32_t> taken{point.cores};
  CudaMachine machine{session, point.all_warps()};
  const Shape shape = shape_on_gpu(point, gpu, walks.groups());
  Experiment experiment = describe_on_gpu(point, gpu, shape, data.chain, walks);
  const auto launch = [&](Kernel which, const Point& by, const Arrays& arrays, const Shape& now) {
    const Parts plan{{now.warmup, now.first, now.second, now.cooldown}};
    which<<<by.cores * by.blocks_per_sm(), by.threads, 0, machine.stream().get()>>>(
        arrays, plan, Starts{starts.data(), taken.data(), by.cores, by.warps}, /*filler=*/1.0F,
        machine.device_stamps());
  };
  for (Slope& slope : experiment.slopes)
    slope.prepare = [&](const Call&) { taken.poison(0, machine.stream().get()); };
  experiment.slopes.front().launch = [&](const Call& call) {
    launch(without_loads, Point{}, Arrays{}, arithmetic_shape.at(call.length));
  };
  Slope& reads = experiment.slopes.back();
  reads.launch = [&](const Call& c) { launch(kernel, point, data.arrays, shape.at(c.length)); };
  reads.data = data.words->data();
  reads.bytes = data.words->size_bytes();
  experiment.counts->served_by = served_by(levels.name_of(claimed));
  experiment.kernels = {code};
  if (session.counters() == nullptr) {
    session.fact("registers_per_thread", std::int64_t{machine.code(code).registers});
  }
  strata::measure(session, machine, experiment);
}

}  // namespace strata::layout_read
