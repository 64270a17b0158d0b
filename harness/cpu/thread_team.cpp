#include "harness/cpu/thread_team.hpp"

#include "harness/cpu/tsc.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace strata {
namespace {

/// Marks a spin loop for the core.
void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" : : : "memory");
#endif
}

constexpr std::size_t cache_line_bytes = 128;  // two lines, prefetched together

}  // namespace

Finally pin_to(const std::vector<int>& cpus) {
  const auto fail = [](int cpu, int error, const char* what) {
    throw std::system_error{error, std::generic_category(),
                            what + std::string{" CPU "} + std::to_string(cpu)};
  };
  cpu_set_t only{};
  for (const int cpu : cpus) {
    // Beyond the end of cpu_set_t the macro writes nothing, and the kernel would refuse an empty
    // set.
    if (cpu < 0 || cpu >= CPU_SETSIZE) fail(cpu, EINVAL, "cannot pin a thread to");
    CPU_SET(static_cast<unsigned>(cpu), &only);
  }
  cpu_set_t before{};
  if (sched_getaffinity(0, sizeof before, &before) != 0)
    fail(cpus.front(), errno, "cannot read where the thread may run, to pin it to");
  if (sched_setaffinity(0, sizeof only, &only) != 0)
    fail(cpus.front(), errno, "cannot pin a thread to");
  // May fail if the allowed CPUs have changed meanwhile; the thread then stays where it is.
  return finally([before] { (void)sched_setaffinity(0, sizeof before, &before); });
}

std::uint64_t involuntary_switches(bool of_process) noexcept {
  rusage usage{};
  (void)getrusage(of_process ? RUSAGE_SELF : RUSAGE_THREAD, &usage);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access): glibc declares it so
  return static_cast<std::uint64_t>(usage.ru_nivcsw);
}

Finally pin_to(int cpu) {
  return pin_to(std::vector{cpu});
}

struct ThreadTeam::State {
  /// The result of one thread, on its own cache lines.
  struct alignas(cache_line_bytes) Member {
    double began = 0;
    double ended = 0;
    std::uint64_t switches = 0;  // of all runs
    std::exception_ptr failure;
  };

  explicit State(std::size_t size) : members(size), busy{size} {}

  alignas(cache_line_bytes) std::atomic<std::size_t> arrived{0};  // threads at the barrier
  alignas(cache_line_bytes) std::atomic<std::size_t> round{0};    // number of completed barriers
  alignas(cache_line_bytes) std::vector<Member> members;
  std::atomic<std::size_t> busy;  // the owner waits until it is 0
  const Work* work = nullptr;     // written while no member is busy
  const Work* after = nullptr;    // the same
  std::mutex mutex;
  std::condition_variable_any wake;   // members wait for a run
  std::uint64_t run = 0;              // guarded by mutex: number of runs
  std::vector<std::jthread> threads;  // last, so that they stop before the members that they use

  /// Waits until all threads of this run have arrived. If there are more threads than usable CPUs
  /// (a limit on CPU time), spinning alone would keep the last one from arriving.
  void meet() noexcept {
    constexpr int spins_before_yield = 10'000;
    const std::size_t mine = round.load(std::memory_order_acquire);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == members.size()) {
      arrived.store(0, std::memory_order_relaxed);
      round.store(mine + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; round.load(std::memory_order_acquire) == mine; ++spins) {
      relax();
      if (spins > spins_before_yield) (void)sched_yield();
    }
  }

  void serve(const std::stop_token& stop, std::size_t rank, int cpu) {
    Member& me = members[rank];
    const auto attempt = [&](const auto& task) {
      try {
        task();
      } catch (...) {
        me.failure = std::current_exception();
      }
    };
    const auto finish = [&] {
      if (--busy == 0) busy.notify_one();
    };
    Finally pin;
    attempt([&] { pin = pin_to(cpu); });
    finish();
    for (std::uint64_t last = 0;; ++last) {
      {
        std::unique_lock lock{mutex};
        if (!wake.wait(lock, stop, [&] { return run != last; })) return;
      }
      meet();
      const std::uint64_t before = involuntary_switches(/*of_process=*/false);
      meet();  // a thread that was switched away from the first barrier starts late
      me.began = monotonic_raw_seconds();
      attempt([&] { (*work)(rank); });
      me.ended = monotonic_raw_seconds();
      if (*after) attempt([&] { (*after)(rank); });
      me.switches += involuntary_switches(/*of_process=*/false) - before;
      finish();
    }
  }

  /// Waits for all members, and rethrows the first failure.
  void wait_for_all() {
    for (std::size_t left = busy; left != 0; left = busy)
      busy.wait(left);
    std::exception_ptr first;
    for (auto& member : members) {
      const auto failure = std::exchange(member.failure, nullptr);
      if (!first) first = failure;
    }
    if (first) std::rethrow_exception(first);
  }
};

ThreadTeam::ThreadTeam(const std::vector<int>& cpus) {
  if (cpus.empty()) throw std::invalid_argument{"a team without threads"};
  state_ = std::make_shared<State>(cpus.size());
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    state_->threads.emplace_back(
        [state = state_.get(), rank, cpu = cpus[rank]](const std::stop_token& stop) {
          state->serve(stop, rank, cpu);
        });
  }
  state_->wait_for_all();
}

std::size_t ThreadTeam::size() const noexcept {
  return state_->members.size();
}

void ThreadTeam::meet() noexcept {
  state_->meet();
}

std::uint64_t ThreadTeam::switches() const {
  std::uint64_t all = 0;
  for (const auto& member : state_->members)
    all += member.switches;
  return all;
}

double ThreadTeam::run(const Work& work, const Work& after) {
  State& state = *state_;
  state.work = &work;
  state.after = &after;
  state.busy = size();
  {
    const std::lock_guard lock{state.mutex};
    ++state.run;
  }
  state.wake.notify_all();
  state.wait_for_all();
  return std::ranges::max(state.members, {}, &State::Member::ended).ended -
         std::ranges::min(state.members, {}, &State::Member::began).began;
}

}  // namespace strata
