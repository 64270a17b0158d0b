// Threads that stay on their CPUs, start together, and sleep in between.
#pragma once

#include "harness/case/finally.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace strata {

/// The calling thread runs on `cpu` only, until the result goes, which it must in the same thread.
/// Throws std::system_error that names the CPU when the system does not allow it.
[[nodiscard]] Finally pin_to(int cpu);

/// One thread on each of the CPUs given. They live as long as the team, so that a CPU's caches hold
/// from one run to the next what its thread left there.
class ThreadTeam {
 public:
  /// Throws std::system_error when a thread cannot be pinned, std::invalid_argument for no CPUs.
  explicit ThreadTeam(const std::vector<int>& cpus);

  [[nodiscard]] std::size_t size() const noexcept;

  /// Calls work(rank) in every thread, rank from 0 to size() - 1 in the order of the CPUs. All
  /// threads are awake and wait in a spin barrier before the first call. Returns the seconds from
  /// the first thread's start to the last one's end. Rethrows the first exception in order of rank,
  /// after all threads have ended. Not to be called by two threads at once, nor from within `work`.
  double run(const std::function<void(std::size_t)>& work);

  /// From within `work`: returns when all threads have called it. It spins: between two pieces of
  /// work there is no time to sleep.
  void meet() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared by nobody: it destroys what is not defined here
};

}  // namespace strata
