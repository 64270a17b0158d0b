// Threads that stay on their CPUs, start together, and sleep between runs.
#pragma once

#include "harness/base/finally.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace strata {

/// Pins the calling thread to `cpus` during the lifetime of the result, which must end in the same
/// thread. Throws std::system_error that names a CPU if the system refuses.
[[nodiscard]] Finally pin_to(const std::vector<int>& cpus);
[[nodiscard]] Finally pin_to(int cpu);

/// Involuntary context switches so far of the calling thread, or of all threads of the process.
[[nodiscard]] std::uint64_t involuntary_switches(bool of_process) noexcept;

/// One thread on each of the given CPUs. They live as long as the team, so that a CPU's caches keep
/// their thread's data from one run to the next.
class ThreadTeam {
 public:
  /// Throws std::system_error if a thread cannot be pinned, std::invalid_argument for no CPUs.
  explicit ThreadTeam(const std::vector<int>& cpus);

  [[nodiscard]] std::size_t size() const noexcept;

  using Work = std::function<void(std::size_t rank)>;
  /// Calls work(rank) in every thread, with rank from 0 to size() - 1 in the order of the CPUs. All
  /// threads are awake and wait in a spin barrier before the first call. Returns the seconds from
  /// the first thread's start to the last one's end; then each thread calls after(rank). Rethrows
  /// the first exception in order of rank, after all threads have ended. Must not be called by two
  /// threads at once, nor within `work`.
  double run(const Work& work, const Work& after = nullptr);

  /// Involuntary context switches of the threads during the runs so far, without those on the way
  /// to the barrier.
  [[nodiscard]] std::uint64_t switches() const;

  /// For use within `work`: returns when all threads have called it. It spins, because there is no
  /// time to sleep between two pieces of work.
  void meet() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;  // not shared: it can destroy a type that is incomplete here
};

/// An array of words for each core, beginning at a cache line. Each core touches its own array
/// first, so that its memory is local.
class CoreWords {
 public:
  /// `word(rank, i)` gives word `i` of a core.
  template <class Word>
  CoreWords(ThreadTeam& team, std::size_t words, const Word& word)
      : memory_(team.size()), data_(team.size()) {
    (void)team.run([&](std::size_t rank) {
      constexpr std::size_t line = 64;
      memory_[rank].resize(words + line / sizeof(std::uint32_t));
      void* at = memory_[rank].data();
      std::size_t room = memory_[rank].size() * sizeof(std::uint32_t);
      data_[rank] = static_cast<std::uint32_t*>(std::align(line, room - line, at, room));
      for (std::size_t i = 0; i < words; ++i)
        data_[rank][i] = word(rank, i);
    });
  }
  [[nodiscard]] std::uint32_t* of(std::size_t rank) const { return data_[rank]; }

 private:
  std::vector<std::vector<std::uint32_t>> memory_;
  std::vector<std::uint32_t*> data_;
};

}  // namespace strata
