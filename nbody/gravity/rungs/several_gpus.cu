// Systems are shared out among the GPUs, or the bodies of a single one, of which each GPU then
// holds all and computes its part; any number divides, evenly or not. A host thread drives each
// GPU. All start together and the time ends with the last: once with the copies to and from the
// GPUs inside, once without. Contexts are made before; what that took is a fact of the case.
#include "nbody/gravity/several.cuh"
#if defined(__CUDACC__)
#include "harness/case/error.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/peer.hpp"
#include "harness/measure/engine.hpp"
#include "nbody/gravity/device_reference.hpp"
#include "nbody/gravity/rung_experiment.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>
#endif

namespace strata::nbody::several_gpus {
namespace {

Rung story() {
  return {
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
}
STRATA_RUNG_STORY(story);

#if defined(__CUDACC__)

constexpr unsigned warps = 8;
using L = Soaoas;

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

Part part_of(const Problem& problem, std::uint32_t gpu, std::uint32_t gpus) {
  const auto cut = [&](std::uint32_t whole, std::uint32_t at) {
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
  for (std::size_t f = 0; f < field_count; ++f) {
    const auto from = all.fields[f].begin() +
                      static_cast<std::ptrdiff_t>(std::size_t{part.first_system} * all.bodies);
    std::copy_n(from, some.total(), some.fields[f].begin());
  }
  return some;
}

/// One GPU with its part of the problem. Made and used while the GPU is the current device.
class Worker {
 public:
  Worker(const Part& part, const Bodies& bodies, bool moves, unsigned per_thread)
      : Worker{part, slice(bodies, part), moves} {
    with_number<2, 4, 8>(per_thread, [&]<unsigned n>() {
      kernel_ = moves ? step_of<n, true> : step_of<n, false>;
      bodies_of_block_ = n * several::lanes;
    });
  }

  /// The state before a sample.
  void restore(const Stream& stream) { nbody::restore(buffers_, stream); }
  void copy_in(const Stream& stream) const { pinned_.upload_to(buffers_.from, stream.get()); }
  void compute(std::size_t steps, float time, const Stream& stream) {
    const std::uint32_t mine = part_.end - part_.begin;
    const dim3 grid{blocks_for(mine, bodies_of_block_), part_.systems};
    for (const Step& step : buffers_.steps(mine > 0 && part_.systems > 0 ? steps : 0, time)) {
      Work work = work_of(step);
      work.begin = part_.begin;
      work.end = part_.end;
      kernel_<<<grid, warps * several::lanes, 0, stream.get()>>>(work);
    }
  }
  void copy_out(std::size_t steps, const Stream& stream) {
    const auto& source = buffers_.moves ? buffers_.after(steps) : buffers_.acceleration;
    landed_.download_from(source, stream.get());
  }

  /// Puts this part's accelerations (or, of bodies that moved from rest for a time of 1, their
  /// velocities, which are the same) where they belong among all. After copy_out.
  void gather(std::array<std::vector<float>, 3>& all) const {
    const auto landed = landed_.span();
    const std::size_t at = std::size_t{part_.first_system} * buffers_.bodies;
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (buffers_.moves) {
        const auto velocity = static_cast<Field>(static_cast<std::size_t>(Field::vx) + c);
        for (std::size_t i = 0; i < total(); ++i)
          all[c][at + i] = landed[word_of<L>(velocity, i, total())];
      } else {
        for (std::size_t i = part_.begin; i < part_.end; ++i)
          all[c][i] = landed[c * total() + i];
      }
    }
  }

 private:
  Worker(const Part& part, const Bodies& mine, bool moves)
      : part_{part},
        pinned_{std::max(L::words(mine.total()), DeviceSteps::least)},
        buffers_{mine, moves, DeviceBuffer<float>{pinned_.size()}},
        landed_{moves ? buffers_.from.size() : buffers_.acceleration.size()} {
    std::ranges::copy(in_layout<L>(mine), pinned_.data());
    buffers_.begin.upload(pinned_.span());
  }
  [[nodiscard]] std::size_t total() const {
    return std::size_t{buffers_.systems} * buffers_.bodies;
  }

  Part part_;
  PinnedBuffer<float> pinned_;
  DeviceSteps buffers_;
  PinnedBuffer<float> landed_;
  unsigned bodies_of_block_ = 0;
  void (*kernel_)(Work) = nullptr;
};

/// All GPUs, each with its part of these bodies.
class Fleet {
 public:
  Fleet(const Problem& problem, const Bodies& bodies, std::uint32_t gpus, unsigned per_thread)
      : team_{gpus}, steps_{problem.moves() ? galaxies_steps : 1U} {
    team_.on_each([&](std::size_t rank) {
      workers_.push_back(
          std::make_unique<Worker>(part_of(problem, static_cast<std::uint32_t>(rank), gpus), bodies,
                                   problem.moves(), per_thread));
    });
  }
  [[nodiscard]] double context_seconds() const { return team_.context_seconds(); }
  [[nodiscard]] std::size_t steps() const { return steps_; }

  void prepare() {
    team_.on_each([&](std::size_t rank) { workers_[rank]->restore(team_.stream(rank)); });
  }
  BothSides compute() {
    return team_.time(
        [&](std::size_t rank) { workers_[rank]->compute(steps_, time_step, team_.stream(rank)); });
  }
  /// With the copies to and from the GPUs.
  BothSides copy_and_compute(std::size_t steps, float time) {
    return team_.time(
        [&](std::size_t rank) { workers_[rank]->compute(steps, time, team_.stream(rank)); },
        [&](std::size_t rank) { workers_[rank]->copy_in(team_.stream(rank)); },
        [&](std::size_t rank) { workers_[rank]->copy_out(steps, team_.stream(rank)); });
  }
  /// Of bodies at rest, after a step that lasts 1.
  [[nodiscard]] Error error(std::span<const Pull> right) {
    prepare();
    (void)copy_and_compute(1, 1);
    std::array<std::vector<float>, 3> all;
    for (auto& one : all)
      one.assign(right.size(), std::numeric_limits<float>::quiet_NaN());
    for (const auto& worker : workers_)
      worker->gather(all);
    return error_of(right, all[0], all[1], all[2]);
  }

 private:
  GpuTeam team_;
  std::size_t steps_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

void run(Session& session) {
  const Problem problem = problem_of(session);
  const auto gpus = static_cast<std::uint32_t>(session.whole("gpus"));
  if (gpus > GpuTeam::visible()) {
    throw Skipped{"this process sees " + std::to_string(GpuTeam::visible()) + " GPUs"};
  }
  RungCase which{.rung = story(), .problem = problem};
  require_timed(session, describe_several_gpus(which));
  const ReferenceProblem& right = reference_problem(session, problem, device_reference);
  const auto per_thread = static_cast<unsigned>(session.whole("per_thread"));
  double context_seconds = 0;
  {
    Fleet verified{problem, at_rest(right.bodies), gpus, per_thread};
    which.verified.error = verified.error(right.pulls);
    context_seconds = verified.context_seconds();
  }
  Fleet fleet{problem, right.bodies, gpus, per_thread};
  which.steps = fleet.steps();
  Experiment experiment = describe_several_gpus(which);
  experiment.prepare = [&] { fleet.prepare(); };
  experiment.observe = [&]() -> std::vector<double> {
    const BothSides seen = fleet.compute();
    fleet.prepare();
    const BothSides copied = fleet.copy_and_compute(fleet.steps(), time_step);
    return {seen.caller, seen.device, copied.caller};
  };
  experiment.facts = [&, described = experiment.facts](const Experiment& measured) {
    Facts facts = described(measured);
    facts["context_seconds"] = context_seconds;
    return facts;
  };
  CudaMachine machine{session, 0};
  measure(session, machine, experiment);
}

[[maybe_unused]] const bool enrolled =
    strata::detail::enrol(detail::declare<story>, Backend::cuda, run);

#endif

}  // namespace
}  // namespace strata::nbody::several_gpus
