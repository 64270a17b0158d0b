// Threads that stay on their CPUs, start together, and sleep in between.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace strata {

/// One thread on each of the CPUs given. They live as long as the team, so that a CPU's caches hold
/// from one run to the next what its thread left there.
class ThreadTeam {
 public:
  /// Throws std::system_error when a thread cannot be pinned, std::invalid_argument for no CPUs.
  explicit ThreadTeam(const std::vector<int>& cpus);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ThreadTeam(ThreadTeam&&) = delete;
  ThreadTeam& operator=(ThreadTeam&&) = delete;
  ~ThreadTeam();

  [[nodiscard]] std::size_t size() const noexcept;

  /// Calls work(rank) in every thread, rank from 0 to size() - 1 in the order of the CPUs. All
  /// threads are awake and wait in a spin barrier before the first call. Returns the seconds from
  /// the first thread's start to the last one's end. Rethrows the first exception in order of rank,
  /// after all threads have ended. Not to be called by two threads at once, nor from within `work`.
  double run(const std::function<void(std::size_t)>& work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata
