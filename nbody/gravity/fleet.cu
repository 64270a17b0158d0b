#include "harness/cuda/cuda_machine.hpp"
#include "harness/measure/engine.hpp"
#include "nbody/gravity/fleet.cuh"

#include <limits>

namespace strata::nbody {
namespace {

/// The bodies of some systems.
Bodies slice(const Bodies& all, const Part& part) {
  Bodies some = empty_bodies(part.systems, all.bodies);
  for (std::size_t f = 0; f < field_count; ++f)
    std::copy_n(all.fields[f].data() + std::size_t{part.first_system} * all.bodies, some.total(),
                some.fields[f].begin());
  return some;
}

}  // namespace

Part part_of(const Problem& problem, std::size_t rank, std::uint32_t gpus) {
  const auto cut = [&](std::uint32_t whole, std::size_t at) {
    return static_cast<std::uint32_t>(std::uint64_t{whole} * at / gpus);
  };
  if (problem.moves()) {
    const std::uint32_t first = cut(problem.systems, rank);
    return {cut(problem.systems, rank + 1) - first, first, 0, problem.bodies};
  }
  return {1, 0, cut(problem.bodies, rank), cut(problem.bodies, rank + 1)};
}

/// One GPU with its part of the problem. Made and used while the GPU is the current device.
class Fleet::Member {
 public:
  Member(const Part& part, const std::string& layout, const Bodies& bodies, bool moves,
         QueueSteps queue, const Stream& stream)
      : part_{part},
        stream_{stream},
        buffers_{layout, slice(bodies, part), moves},
        pinned_{buffers_.begin.size()},
        landed_{(moves ? buffers_.from : buffers_.acceleration).size()},
        queue_{std::move(queue)} {
    buffers_.begin.download(pinned_.span());
  }

  void restore() { nbody::restore(buffers_, stream_); }
  void copy_in() const { pinned_.upload_to(buffers_.from, stream_.get()); }
  void compute(std::size_t steps, float time) { queue_(buffers_.steps(steps, time), stream_); }
  void copy_out(std::size_t steps) {
    landed_.download_from(buffers_.moves ? buffers_.after(steps) : buffers_.acceleration,
                          stream_.get());
  }

  /// Call after copy_out.
  [[nodiscard]] Bodies moved() const {
    return bodies_of(buffers_.layout, landed_.span(), buffers_.systems, buffers_.bodies);
  }

  /// Copies this part's accelerations to their positions among all. Of bodies that moved from rest
  /// for a time of 1, it copies the velocities, which equal the accelerations. Call after copy_out.
  void gather(std::array<std::vector<float>, 3>& all) const {
    const std::uint32_t bodies = buffers_.bodies;
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (buffers_.moves) {
        std::ranges::copy(moved().fields[3 + c],
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
  QueueSteps queue_;
};

Fleet::Fleet(const Session& session, const Problem& problem, const Bodies& bodies,
             std::uint32_t gpus, MakeFleet make)
    : team_{gpus} {
  const PrepareGpu prepare = make(session, problem, team_);
  team_.on_each([&](std::size_t rank) {
    const Part part = part_of(problem, rank, gpus);
    members_.push_back(std::make_unique<Member>(part, session.param("layout"), bodies,
                                                problem.moves(), prepare(rank, part),
                                                team_.stream(rank)));
  });
}

Fleet::~Fleet() = default;

Bodies Fleet::moved() const {
  Bodies all;
  for (const auto& member : members_) {
    const Bodies mine = member->moved();
    all.systems = members_.front() == member ? mine.systems : all.systems + mine.systems;
    all.bodies = mine.bodies;
    for (std::size_t f = 0; f < field_count; ++f)
      all.fields[f].insert(all.fields[f].end(), mine.fields[f].begin(), mine.fields[f].end());
  }
  return all;
}

void Fleet::restore() {
  team_.on_each([&](std::size_t rank) { members_[rank]->restore(); });
}

BothSides Fleet::compute(std::size_t steps, float time, bool copies) {
  const auto work = [&](std::size_t rank) { members_[rank]->compute(steps, time); };
  if (!copies) return team_.time(work);
  return team_.time(
      work, [&](std::size_t rank) { members_[rank]->copy_in(); },
      [&](std::size_t rank) { members_[rank]->copy_out(steps); });
}

Error Fleet::error(std::span<const Pull> right) {
  restore();
  (void)compute(1, 1, /*copies=*/true);
  std::array<std::vector<float>, 3> all;
  all.fill(std::vector<float>(right.size(), std::numeric_limits<float>::quiet_NaN()));
  for (const auto& member : members_)
    member->gather(all);
  return error_of(right, all[0], all[1], all[2]);
}

void measure_rung(Session& session, const Rung& rung, MakeFleet make) {
  const Problem problem = problem_of(session);
  const auto gpus = static_cast<std::uint32_t>(session.whole("gpus"));
  if (gpus > GpuTeam::visible()) {
    throw Skipped{"this process sees " + std::to_string(GpuTeam::visible()) + " GPUs"};
  }
  // The wall clock includes some 50 µs of a sample that events do not.
  constexpr std::size_t steps = 5 * galaxies_steps;
  RungCase which{.rung = rung, .problem = problem, .steps = problem.moves() ? steps : 1};
  require_timed(session, describe_several_gpus(which));
  const ReferenceProblem& right = reference_problem(session, problem, device_reference);
  {
    Fleet verified{session, problem, at_rest(right.bodies), gpus, make};
    which.verified.error = verified.error(right.pulls);
    which.facts["context_seconds"] = verified.context_seconds();
  }
  Fleet fleet{session, problem, right.bodies, gpus, make};
  Experiment experiment = describe_several_gpus(which);
  experiment.prepare = [&] { fleet.restore(); };
  experiment.observe = [&]() -> std::vector<double> {
    const BothSides seen = fleet.compute(which.steps, time_step, /*copies=*/false);
    fleet.restore();
    const BothSides copied = fleet.compute(which.steps, time_step, /*copies=*/true);
    return {seen.caller, seen.device, copied.caller};
  };
  CudaMachine machine{session, 0};
  measure(session, machine, experiment);
  const auto& sink = session.cache().shared<ResultSink>();
  if (sink.take && problem.moves()) sink.take(fleet.moved(), which.steps);
}

}  // namespace strata::nbody
