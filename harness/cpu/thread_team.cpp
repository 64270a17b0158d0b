#include "harness/cpu/thread_team.hpp"

#include "harness/cpu/pin.hpp"
#include "harness/cpu/tsc.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <sched.h>
#include <stdexcept>
#include <thread>

namespace strata {
namespace {

/// Tells the core that this is a spin loop.
void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" : : : "memory");
#endif
}

constexpr std::size_t cache_line_bytes = 128;  // two lines: what neighbours prefetch together

}  // namespace

struct ThreadTeam::State {
  /// What one thread leaves behind, on cache lines of its own.
  struct alignas(cache_line_bytes) Member {
    double began = 0;
    double ended = 0;
    std::exception_ptr failure;
  };

  /// Threads at the barrier of the current run.
  struct alignas(cache_line_bytes) Arrivals {
    std::atomic<std::size_t> count{0};
  };

  explicit State(std::size_t size) : members(size) {}

  Arrivals arrived;
  std::vector<Member> members;
  std::mutex mutex;
  std::condition_variable wake;                            // members wait for a run
  std::condition_variable done;                            // the owner waits for its end
  const std::function<void(std::size_t)>* work = nullptr;  // guarded by mutex
  std::uint64_t run = 0;                                   // guarded by mutex: number of runs
  std::size_t busy = 0;                                    // guarded by mutex
  bool stop = false;                                       // guarded by mutex
  std::vector<std::thread> threads;                        // last: ends before what it uses

  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  ~State() {
    {
      const std::lock_guard lock{mutex};
      stop = true;
    }
    wake.notify_all();
    for (auto& thread : threads)
      thread.join();
  }

  /// Waits until all threads of this run are here. Where there are more threads than CPUs at a time
  /// (a limit on CPU time) spinning alone would keep the last one from arriving.
  void meet() {
    constexpr int spins_before_yield = 10'000;
    arrived.count.fetch_add(1, std::memory_order_acq_rel);
    for (int spins = 0; arrived.count.load(std::memory_order_acquire) < members.size(); ++spins) {
      relax();
      if (spins > spins_before_yield) (void)sched_yield();
    }
  }

  void finished() {
    const std::lock_guard lock{mutex};
    if (--busy == 0) done.notify_one();
  }

  void serve(std::size_t rank, int cpu) {
    Member& me = members[rank];
    std::optional<Pin> pin;
    try {
      pin.emplace(cpu);
    } catch (...) {
      me.failure = std::current_exception();
    }
    finished();
    for (std::uint64_t last = 0;;) {
      const std::function<void(std::size_t)>* todo = nullptr;
      {
        std::unique_lock lock{mutex};
        wake.wait(lock, [&] { return stop || run != last; });
        if (stop) return;
        last = run;
        todo = work;
      }
      meet();
      me.began = monotonic_raw_seconds();
      try {
        (*todo)(rank);
      } catch (...) {
        me.failure = std::current_exception();
      }
      me.ended = monotonic_raw_seconds();
      finished();
    }
  }

  void wait_until_idle() {
    std::unique_lock lock{mutex};
    done.wait(lock, [&] { return busy == 0; });
  }

  void rethrow_first() {
    std::exception_ptr first;
    for (auto& member : members) {
      if (member.failure && !first) first = member.failure;
      member.failure = nullptr;
    }
    if (first) std::rethrow_exception(first);
  }
};

ThreadTeam::ThreadTeam(const std::vector<int>& cpus) {
  if (cpus.empty()) throw std::invalid_argument{"a team of no threads"};
  state_ = std::make_unique<State>(cpus.size());
  State& state = *state_;
  state.busy = cpus.size();
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    state.threads.emplace_back([&state, rank, cpu = cpus[rank]] { state.serve(rank, cpu); });
  }
  state.wait_until_idle();
  state.rethrow_first();
}

ThreadTeam::~ThreadTeam() = default;

std::size_t ThreadTeam::size() const noexcept {
  return state_->members.size();
}

double ThreadTeam::run(const std::function<void(std::size_t)>& work) {
  State& state = *state_;
  {
    const std::lock_guard lock{state.mutex};
    state.work = &work;
    state.arrived.count.store(0, std::memory_order_relaxed);
    state.busy = state.members.size();
    ++state.run;
  }
  state.wake.notify_all();
  state.wait_until_idle();
  state.rethrow_first();
  double began = state.members.front().began;
  double ended = state.members.front().ended;
  for (const auto& member : state.members) {
    began = std::min(began, member.began);
    ended = std::max(ended, member.ended);
  }
  return ended - began;
}

}  // namespace strata
