// Preparation, execution and timing of rungs on a CPU. Host only.
//
// The time of a step includes the barrier of all threads after it. Threads are woken once for all
// steps of a sample.
#pragma once

#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/host_steps.hpp"
#include "harness/cpu/thread_rank.hpp"
#include "harness/cpu/vectors.hpp"
#include "nbody/common/ladder.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace strata {

/// Every core does its part of each step: part(step, thread) computes it. An exception there ends
/// the process: the other threads would wait for ever at the next barrier.
template <class Step, class Part>
void run_on_all_cores(std::span<const Step> steps, ThreadTeam& team, const Part& part) {
  (void)team.run([&](std::size_t rank) noexcept {
    const ThreadRank thread{.rank = rank, .size = team.size(), .team = &team};
    for (const Step& step : steps) {
      part(step, thread);
      thread.wait_for_all();
    }
  });
}

/// A rung, prepared for a problem and vectors.
template <class Step>
struct HostKernel {
  /// Computes the steps one after the other, each from the result of the previous one.
  std::function<void(std::span<const Step>, ThreadTeam&)> run;
  std::string instructions = "scalar";
  bool one_core = false;

  /// A rung whose cores do part(step, thread).
  template <class Part>
  static HostKernel on_all_cores(Part part, std::string_view instructions = "scalar") {
    return {.run = [part](std::span<const Step> steps,
                          ThreadTeam& team) { run_on_all_cores(steps, team, part); },
            .instructions = std::string{instructions}};
  }
  /// A rung that does compute(step, team).
  template <class Compute>
  static HostKernel step_by_step(Compute compute) {
    return {.run = [compute](std::span<const Step> steps, ThreadTeam& team) {
      for (const Step& step : steps)
        compute(step, team);
    }};
  }
};

/// A rung's samples on all cores that the process may use.
class HostRun {
 public:
  /// work(team) computes a sample.
  explicit HostRun(std::function<void(ThreadTeam&)> work);

  [[nodiscard]] ThreadTeam& team() { return team_; }
  /// Takes a sample: its seconds by the system's clock.
  [[nodiscard]] double seconds();
  /// Measures: restore() precedes each sample.
  void measure(Session& session, Experiment experiment, const std::function<void()>& restore);

 private:
  ThreadTeam team_;
  HostMachine machine_;
  std::function<void(const Call&)> launch_;
};

}  // namespace strata
