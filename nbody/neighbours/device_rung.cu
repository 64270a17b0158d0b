// Verification and timing of a rung on a GPU.
#include "harness/cpu/host_steps.hpp"
#include "nbody/common/device_run.hpp"
#include "nbody/neighbours/device_case.cuh"
#include "nbody/neighbours/device_rung.cuh"
#include "nbody/neighbours/rung_experiment.hpp"

#include <algorithm>
#include <optional>

namespace strata::neighbours {
namespace {

__global__ void __launch_bounds__(usual_block) draw(KernelStep step, Drawn<float>* matrices) {
  const std::uint32_t i = thread_number();
  if (i >= step.agents) return;
  matrices[i] = drawn(step.triple(step.to_places, i), step.triple(step.to_forwards, i));
}

void take_all(const DeviceKernel& kernel, DeviceCase& vectors, std::size_t steps, Queue& queue) {
  for (std::size_t s = 0; s < steps; ++s) {
    const DeviceStep step = vectors.step(s, s + 1 == steps, /*tested=*/false);
    kernel.step(step, queue);
    TwoSided<float>* const matrices = vectors.drawn();
    if (matrices == nullptr) continue;
    queue.launch(draw, step.agents(), step.for_kernel(),
                 reinterpret_cast<Drawn<float>*>(matrices->device.data()));
    queue.copy_out(*matrices);
  }
}

/// Agents that the sample's last step left otherwise than it should have.
std::size_t judged_at_end(const DeviceKernel& kernel, const Problem& problem,
                          const ReferenceStep& right, const Verification& verified,
                          DeviceCase& vectors, std::size_t steps) {
  const DeviceStep last = vectors.step(steps - 1, /*last=*/true, /*tested=*/false);
  const Agents from = vectors.from_of(last);
  const Agents left = vectors.left_by(last);
  const Outcome seen = vectors.outcome(last, from, left);
  return vectors.wrongly_drawn(last, left) +
         (kernel.in_any_order ? wrong_at_end(problem, seen)
                              : different_at_end(problem, right, verified, seen));
}

}  // namespace

KernelStep DeviceStep::for_kernel() const {
  return {.places = from->places.device.data(),
          .forwards = from->forwards.device.data(),
          .speeds = from->speeds.device.data(),
          .to_places = to->places.device.data(),
          .to_forwards = to->forwards.device.data(),
          .to_speeds = to->speeds.device.data(),
          .counts = results->counts.device.data(),
          .nearest = results->nearest.device.data(),
          .lists = results->lists.device.data(),
          .tests = tests,
          .room = room,
          .agents = agents(),
          .radius_squared = problem->radius_squared,
          .per_radius = 1 / std::sqrt(problem->radius_squared),
          .world = problem->world};
}

DeviceVerification verify_on_device(const DeviceKernel& kernel, const Problem& problem,
                                    const ReferenceStep& right, std::size_t steps) {
  const Stream stream;
  DeviceVerification verified;
  DeviceCase vectors{problem, right.agents, list_room(0), kernel};
  vectors.restore(stream);
  for (std::size_t s = 0; s < steps; ++s) {
    std::optional<Queue> queue;
    do {
      queue.emplace(stream);
      vectors.poison_results(stream);
      kernel.step(vectors.step(s, /*last=*/true, /*tested=*/true), *queue);
      queue->wait();
    } while (vectors.grow());
    const DeviceStep step = vectors.step(s, /*last=*/true, /*tested=*/true);
    const Agents from = vectors.from_of(step);
    const Agents left = vectors.left_by(step);
    verify_step(verified.seen, problem, right, vectors.outcome(step, from, left), s, steps);
    const Tests tests = vectors.tests();
    verified.seen.tests += tests;
    verified.seen.rebuilds += queue->rebuilds();
  }
  verified.room = vectors.room();
  return verified;
}

SampleSeen sample_on_device(const DeviceKernel& kernel, const Problem& problem,
                            const ReferenceStep& right, const DeviceVerification& verified,
                            std::size_t steps, bool shown) {
  const Stream stream;
  DeviceCase vectors{problem, right.agents, verified.room, kernel, shown};
  vectors.restore(stream);
  Queue queue{stream};
  take_all(kernel, vectors, steps, queue);
  queue.wait();
  return {.traffic = queue.traffic(),
          .different = judged_at_end(kernel, problem, right, verified.seen, vectors, steps)};
}

void measure_rung(Session& session, const Rung& rung, MakeDeviceKernel make) {
  const Problem problem = problem_of(session);
  const Choice choice = choice_of(session);
  const ReferenceStep& right = shared_reference(session, problem);
  const DeviceKernel kernel = make(problem, choice);
  DeviceRun run{session};
  const Stream& stream = run.stream();
  const DeviceVerification verified = verify_on_device(kernel, problem, right, choice.steps);
  DeviceCase vectors{problem, right.agents, verified.room, kernel, choice.shown};
  Queue queue{stream, session.tracer()};
  const auto all_steps = [&] { take_all(kernel, vectors, choice.steps, queue); };

  vectors.restore(stream);
  require_time_for_samples(session.plan(), run.machine().time_caller(all_steps), "the steps");
  RungCase which =
      case_of(rung, problem, verified.seen,
              tests_of(rung)(problem, verified.seen.places_before_each_step(), choice));
  which.counted.traffic = queue.traffic();
  const std::uint32_t longest = std::ranges::max(verified.seen.end_counts);
  which.predicted_traffic = traffic_of(rung)(problem, choice, choice.steps, longest) +
                            Traffic{.bytes = which.predicted.structure_bytes};
  if (choice.shown) {
    which.predicted_traffic = which.predicted_traffic + predict_shown(problem, choice.steps);
  }
  if (const auto build = build_of(rung)) which.predicted_build = build(problem, choice);
  which.sms = run.gpu().sms;
  if (run.gpu().dram_pin_bandwidth) {
    const double bytes = least_bytes(problem, longest, static_cast<double>(run.gpu().l2_bytes));
    which.least_step = bytes / *run.gpu().dram_pin_bandwidth;
  }
  which.different_at_end = [&] {
    return judged_at_end(kernel, problem, right, verified.seen, vectors, choice.steps);
  };
  which.sample = [&] { return run.seconds(all_steps); };
  which.facts = run.facts_of(kernel.kernels.front(), kernel.block);
  run.measure(
      session, describe(which), kernel.kernels, [&] { vectors.restore(stream); }, all_steps);
}

}  // namespace strata::neighbours
