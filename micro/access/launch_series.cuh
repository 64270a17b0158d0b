// Times or counts a kernel as launch_series.hpp describes it.
#pragma once

#include "harness/cuda/clock.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/measure/engine.hpp"
#include "micro/access/launch_series.hpp"

#include <functional>
#include <vector>

namespace strata::launch_series {

/// `alone` is one launch from a state without any of its results, verified: it is counted, or made
/// after the last timed one. work(n) queues the work n times.
inline void measure_series(Session& session, CudaMachine& machine, Experiment& experiment,
                           const Slope& alone, const Series& series,
                           const std::function<void(std::uint32_t)>& work) {
  if (session.counters() != nullptr) {
    experiment.slopes = {alone};
    measure(session, machine, experiment);
    return;
  }
  const cudaStream_t stream = machine.stream().get();
  const auto few = [&] { work(series.few); };
  const auto many = [&] { work(series.many); };
  const auto few_in_graph = machine.replays(1, few);
  const auto many_in_graph = machine.replays(1, many);
  const std::uint64_t step = measure_global_timer_step(stream);
  // Each series starts after untimed work. Its contents of L2, above all dirty lines, are
  // those that the later launches of a series find. Otherwise the first launch would differ from
  // the others, more so after a pause, and the slope would include it.
  const auto behind_another = [&](const auto& seconds) {
    machine.launch(few);
    return seconds();
  };
  experiment.observe = [&] {
    return std::vector{behind_another([&] { return machine.time(few, /*held=*/false); }),
                       behind_another([&] { return machine.time(many, /*held=*/false); }),
                       behind_another(few_in_graph), behind_another(many_in_graph),
                       measure_sm_clock(stream, step)};
  };
  experiment.conclude = [&](Session&, const std::vector<Sample>&) {
    (void)launch_once(machine, alone, {.length = {.rounds = 1}}, experiment.tally);
  };
  measure(session, machine, experiment);
}

}  // namespace strata::launch_series
