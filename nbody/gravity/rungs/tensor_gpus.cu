// Systems are distributed over the GPUs, or the pairs of a single system: each GPU sorts all bodies
// and accumulates the accelerations of its pairs for both bodies of each. For the bodies whose step
// it ends, it reads the sums of the other GPUs, over NVLink if there is one (fleet.cuh,
// tensor_step.cuh).
#include "nbody/gravity/fleet.cuh"
#include "nbody/gravity/tensor_step.cuh"

namespace strata::nbody::tensor_gpus {
namespace {

using namespace tensor;

/// One GPU's share, and its access to the sums of the others.
struct Member {
  SharedStep step;
  std::vector<Finally> ways;
};
using Members = std::vector<std::unique_ptr<Member>>;

/// Enables access of the current device to the memory of all other GPUs of the team.
std::vector<Finally> ways_to_others(const GpuTeam& team, std::size_t rank) {
  std::vector<Finally> ways;
  const int here = team.device(rank);
  for (std::size_t other = 0; other < team.size(); ++other) {
    const int there = team.device(other);
    if (there != here) ways.push_back(peer_access(there));
  }
  return ways;
}

PrepareGpu make(const Session& session, const Problem& problem, GpuTeam& team) {
  const StepOptions whole = options_of(session, problem);
  const auto members = std::make_shared<Members>(team.size());
  return [=, &team](std::size_t rank, const Part& part) -> QueueSteps {
    if (part.systems == 0) return [](std::span<const Step>, const Stream&) {};
    const bool alone = problem.moves() || team.size() == 1;
    StepOptions mine = whole;
    mine.systems = part.systems;
    if (!alone) {
      mine.rank = static_cast<std::uint32_t>(rank);
      mine.gpus = static_cast<std::uint32_t>(team.size());
    }
    (*members)[rank] = std::make_unique<Member>(
        Member{.step = shared_step(mine),
               .ways = alone ? std::vector<Finally>{} : ways_to_others(team, rank)});
    return [=, &team](std::span<const Step> steps, const Stream& stream) {
      const Member& mine = *(*members)[rank];
      OtherSums others;
      for (const auto& other : *members)
        if (!alone && other.get() != &mine) others.sums.at(others.count++) = other->step.sums;
      for (const Step& step : steps) {
        mine.step.add_pairs(step, stream.get());
        if (!alone) team.join(rank);
        Work work = work_of(step);
        work.begin = part.begin;
        work.end = part.end;
        mine.step.end_step(work, others, stream.get());
        if (!alone) team.join(rank);  // the next step clears the sums that others read
      }
    };
  };
}

STRATA_RUNG("tensor_gpus", make);

}  // namespace
}  // namespace strata::nbody::tensor_gpus
