// How the threads of a team share out a step, and how they end it. Host only.
#pragma once

#include "harness/cpu/thread_team.hpp"
#include "harness/model/layout.hpp"
#include "nbody/gravity/host/host_rung.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <exception>
#include <sched.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace strata::nbody {

/// A barrier that spins: between two steps there is no time to sleep.
class SpinBarrier {
 public:
  explicit SpinBarrier(std::size_t threads) : threads_{threads} {}

  /// Returns when all threads have arrived.
  void wait() noexcept {
    constexpr int spins_before_yield = 10'000;  // more threads than CPUs at a time: see ThreadTeam
    const std::size_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; round_.load(std::memory_order_acquire) == round; ++spins) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      if (spins > spins_before_yield) (void)sched_yield();
    }
  }

 private:
  alignas(128) std::atomic<std::size_t> arrived_{0};
  alignas(128) std::atomic<std::size_t> round_{0};
  std::size_t threads_;
};

/// One thread among those that compute a step.
struct ThreadRank {
  std::size_t rank = 0;
  std::size_t size = 1;
  SpinBarrier* barrier = nullptr;  ///< null: it is alone

  void wait_for_all() const noexcept {
    if (barrier != nullptr) barrier->wait();
  }
};

/// Calls work(rank) on every core. An exception there ends the process: the other threads would
/// wait for ever at the next barrier.
template <class Work>
void on_every_core(ThreadTeam& team, Work&& work) {
  (void)team.run([&](std::size_t rank) {
    try {
      work(rank);
    } catch (...) {
      std::terminate();
    }
  });
}

/// A rung of which every core does its part of each step: part(step, thread) computes it.
template <class Part>
HostKernel on_all_cores(Part part, std::string_view instructions) {
  return {.run =
              [part](std::span<const Step> steps, ThreadTeam& team) {
                SpinBarrier barrier{team.size()};
                on_every_core(team, [&](std::size_t rank) {
                  const ThreadRank thread{.rank = rank, .size = team.size(), .barrier = &barrier};
                  for (const Step& step : steps) {
                    part(step, thread);
                    thread.wait_for_all();
                  }
                });
              },
          .instructions = std::string{instructions}};
}

/// Some bodies of one system: from `first` up to `last`, counted from the system's first.
struct BodyRange {
  std::size_t system = 0;  ///< its first body, counted from that of all systems
  std::size_t first = 0;
  std::size_t last = 0;
};
/// Calls visit(BodyRange) for the bodies of this thread: every thread has as many groups of `group`
/// as the others, one more or less; the last group of a system may be smaller.
template <class Visit>
void for_my_bodies(const Step& step, const ThreadRank& thread, std::size_t group, Visit&& visit) {
  const std::size_t groups = (step.bodies + group - 1) / group;  // of a system
  const std::size_t all = groups * step.systems;
  const std::size_t end = all * (thread.rank + 1) / thread.size;
  for (std::size_t g = all * thread.rank / thread.size; g < end;) {
    const std::size_t system = g / groups;
    const std::size_t next = std::min(end, (system + 1) * groups);
    visit(BodyRange{.system = system * step.bodies,
                    .first = (g - system * groups) * group,
                    .last = std::min<std::size_t>((next - system * groups) * group, step.bodies)});
    g = next;
  }
}

/// A rung that computes one body after the other: one_body(step, system, i) computes body i of the
/// system that begins at body `system`.
template <class OneBody>
HostKernel body_by_body(OneBody one_body, std::string_view instructions) {
  return on_all_cores(
      [one_body](const Step& step, const ThreadRank& thread) {
        for_my_bodies(step, thread, 1, [&](const BodyRange& mine) {
          for (std::size_t i = mine.first; i < mine.last; ++i)
            one_body(step, mine.system, i);
        });
      },
      instructions);
}

/// Index of the word that holds field `f` of body `i` of `n`. Which read holds the field is decided
/// at compile time, unlike in word_of().
template <Layout L, Field f>
[[nodiscard]] constexpr std::size_t word_at(std::size_t i, std::size_t n) {
  constexpr auto found = [] {
    for (std::size_t r = 0; r < L::reads.size(); ++r) {
      for (std::size_t w = 0; w < L::reads[r].words; ++w) {
        if (L::reads[r].fields[w] == static_cast<int>(f)) return std::pair{r, w};
      }
    }
    throw "no read holds that field";
  }();
  return L::first_word(found.first, i, n) + found.second;
}

/// Ends a step for body i of all: moves it, or stores its acceleration. First the velocity, then
/// the position by the new velocity, as on a GPU.
template <Layout L>
void finish(const Step& step, std::size_t i, float ax, float ay, float az) {
  const std::size_t n = step.total();
  if (!step.moves()) {
    step.acceleration[i] = ax;
    step.acceleration[n + i] = ay;
    step.acceleration[2 * n + i] = az;
    return;
  }
  const auto move = [&]<Field position, Field velocity>(float a) {
    const std::size_t p = word_at<L, position>(i, n);
    const std::size_t v = word_at<L, velocity>(i, n);
    const float moving = std::fma(a, step.time_step, step.from[v]);
    step.to[v] = moving;
    step.to[p] = std::fma(moving, step.time_step, step.from[p]);
  };
  move.template operator()<Field::px, Field::vx>(ax);
  move.template operator()<Field::py, Field::vy>(ay);
  move.template operator()<Field::pz, Field::vz>(az);
  const std::size_t m = word_at<L, Field::mass>(i, n);
  step.to[m] = step.from[m];
}

}  // namespace strata::nbody
