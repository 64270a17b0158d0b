// Systems are shared out among the GPUs, or the bodies of a single one, of which each GPU then
// holds all and computes its part; any number divides, evenly or not. A host thread drives each
// GPU. All start together and the time ends with the last: once with the copies to and from the
// GPUs inside, once without. Contexts are made before; what that took is a fact of the case.
#include "nbody/gravity/several.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/peer.hpp"
#include "harness/measure/engine.hpp"

#include <limits>
#include <memory>
#endif

namespace strata::nbody::several_gpus {
namespace {

const Rung story{
    .name = "several_gpus",
    .before = "register_banks",
    .question = "How far does it go with several GPUs?",
    .change = "systems, or the bodies of a single one, shared out among GPUs",
    .source = thessaly("Use of multiple devices"),
    .expectation = "as many times as there are GPUs, while each still has blocks for all its SMs",
    .sum = Sum::blocks,
    .approximate = true,
    .axes = {numbers("gpus", "that share the work", {"1", "2", "3", "4", "8"}, {"1", "2", "4"}),
             numbers("per_thread", "bodies of a thread", {"2", "4", "8"}, {"4", "8"})}};

#if defined(__CUDACC__)
constexpr unsigned warps = 8;

template <unsigned per_thread, bool moves>
__global__ void __launch_bounds__(warps* several::lanes) step_of(Work work) {
  several::walk<per_thread, warps, moves, /*turned=*/true>(work);
}

/// What one GPU does: some systems, or some bodies of the only one.
struct Part {
  std::uint32_t systems = 0;
  std::uint32_t first_system = 0;
  std::uint32_t begin = 0;  ///< bodies of a system: first and one behind the last
  std::uint32_t end = 0;
};

Part part_of(const Problem& problem, std::size_t gpu, std::uint32_t gpus) {
  const auto cut = [&](std::uint32_t whole, std::size_t at) {
    return static_cast<std::uint32_t>(std::uint64_t{whole} * at / gpus);
  };
  if (problem.moves()) {
    const std::uint32_t first = cut(problem.systems, gpu);
    return {cut(problem.systems, gpu + 1) - first, first, 0, problem.bodies};
  }
  return {1, 0, cut(problem.bodies, gpu), cut(problem.bodies, gpu + 1)};
}

/// The bodies of some systems.
Bodies slice(const Bodies& all, const Part& part) {
  Bodies some = empty_bodies(part.systems, all.bodies);
  for (std::size_t f = 0; f < field_count; ++f)
    std::copy_n(all.fields[f].data() + std::size_t{part.first_system} * all.bodies, some.total(),
                some.fields[f].begin());
  return some;
}

/// One GPU with its part of the problem. Made and used while the GPU is the current device.
class Worker {
 public:
  Worker(const Part& part, const Bodies& bodies, bool moves, unsigned per_thread,
         const Stream& stream)
      : part_{part},
        stream_{stream},
        buffers_{"soaoas", slice(bodies, part), moves},
        pinned_{buffers_.begin.size()},
        landed_{(moves ? buffers_.from : buffers_.acceleration).size()},
        bodies_of_block_{per_thread * several::lanes},
        kernel_{with_value<2, 4, 8>(per_thread, [&]<unsigned n>() {
          return moves ? step_of<n, true> : step_of<n, false>;
        })} {
    buffers_.begin.download(pinned_.span());
  }

  /// The state before a sample.
  void restore() { nbody::restore(buffers_, stream_); }
  void copy_in() const { pinned_.upload_to(buffers_.from, stream_.get()); }
  void compute(std::size_t steps, float time) {
    const std::uint32_t mine = part_.end - part_.begin;
    const dim3 grid{blocks_for(mine, bodies_of_block_), part_.systems};
    for (const Step& step : buffers_.steps(mine > 0 && part_.systems > 0 ? steps : 0, time)) {
      Work work = work_of(step);
      work.begin = part_.begin;
      work.end = part_.end;
      kernel_<<<grid, warps * several::lanes, 0, stream_.get()>>>(work);
    }
  }
  void copy_out(std::size_t steps) {
    landed_.download_from(buffers_.moves ? buffers_.after(steps) : buffers_.acceleration,
                          stream_.get());
  }

  /// Puts this part's accelerations (or, of bodies that moved from rest for a time of 1, their
  /// velocities, which are the same) where they belong among all. After copy_out.
  void gather(std::array<std::vector<float>, 3>& all) const {
    const auto [systems, bodies] = std::pair{buffers_.systems, buffers_.bodies};
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (buffers_.moves) {
        const Bodies moved = bodies_of(buffers_.layout, landed_.span(), systems, bodies);
        std::ranges::copy(moved.fields[3 + c],
                          all[c].data() + std::size_t{part_.first_system} * bodies);
      } else {
        std::copy(landed_.data() + c * bodies + part_.begin,
                  landed_.data() + c * bodies + part_.end, all[c].data() + part_.begin);
      }
    }
  }

 private:
  Part part_;
  const Stream& stream_;
  DeviceSteps buffers_;
  PinnedBuffer<float> pinned_;
  PinnedBuffer<float> landed_;
  unsigned bodies_of_block_;
  void (*kernel_)(Work);
};

/// All GPUs, each with its part of these bodies.
struct Fleet {
  GpuTeam team;
  std::vector<std::unique_ptr<Worker>> workers;

  Fleet(const Problem& problem, const Bodies& bodies, std::uint32_t gpus, unsigned per_thread)
      : team{gpus} {
    team.on_each([&](std::size_t rank) {
      workers.push_back(std::make_unique<Worker>(part_of(problem, rank, gpus), bodies,
                                                 problem.moves(), per_thread, team.stream(rank)));
    });
  }
  void prepare() {
    team.on_each([&](std::size_t rank) { workers[rank]->restore(); });
  }
  /// `copies`: with those to and from the GPUs.
  BothSides compute(std::size_t steps, float time, bool copies) {
    const auto work = [&](std::size_t rank) { workers[rank]->compute(steps, time); };
    if (!copies) return team.time(work);
    return team.time(
        work, [&](std::size_t rank) { workers[rank]->copy_in(); },
        [&](std::size_t rank) { workers[rank]->copy_out(steps); });
  }
  /// Of bodies at rest, after a step that lasts 1.
  [[nodiscard]] Error error(std::span<const Pull> right) {
    prepare();
    (void)compute(1, 1, /*copies=*/true);
    std::array<std::vector<float>, 3> all;
    all.fill(std::vector<float>(right.size(), std::numeric_limits<float>::quiet_NaN()));
    for (const auto& worker : workers)
      worker->gather(all);
    return error_of(right, all[0], all[1], all[2]);
  }
};

void make(Session& session) {
  const Problem problem = problem_of(session);
  const auto gpus = static_cast<std::uint32_t>(session.whole("gpus"));
  if (gpus > GpuTeam::visible()) {
    throw Skipped{"this process sees " + std::to_string(GpuTeam::visible()) + " GPUs"};
  }
  RungCase which{.rung = story,
                 .problem = problem,
                 .steps = problem.moves() ? galaxies_steps : std::size_t{1}};
  require_timed(session, describe_several_gpus(which));
  const ReferenceProblem& right = reference_problem(session, problem, device_reference);
  const auto per_thread = static_cast<unsigned>(session.whole("per_thread"));
  {
    Fleet verified{problem, at_rest(right.bodies), gpus, per_thread};
    which.verified.error = verified.error(right.pulls);
    which.facts["context_seconds"] = verified.team.context_seconds();
  }
  Fleet fleet{problem, right.bodies, gpus, per_thread};
  Experiment experiment = describe_several_gpus(which);
  experiment.prepare = [&] { fleet.prepare(); };
  experiment.observe = [&]() -> std::vector<double> {
    const BothSides seen = fleet.compute(which.steps, time_step, /*copies=*/false);
    fleet.prepare();
    const BothSides copied = fleet.compute(which.steps, time_step, /*copies=*/true);
    return {seen.caller, seen.device, copied.caller};
  };
  CudaMachine machine{session, 0};
  measure(session, machine, experiment);
}
#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::several_gpus
