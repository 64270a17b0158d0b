// How the threads of a team share out a step, and how they end it. Host only.
#pragma once

#include "harness/cpu/thread_team.hpp"
#include "harness/model/layout.hpp"
#include "nbody/gravity/host/climb_host.hpp"

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

/// Threads that compute a step together meet here. They spin: between two steps there is no time to
/// sleep.
class Meeting {
 public:
  explicit Meeting(std::size_t size) : size_{size} {}

  /// Returns when all have come.
  void wait() noexcept {
    constexpr int spins_before_yield = 10'000;  // more threads than CPUs at a time: see ThreadTeam
    const std::size_t round = round_.load(std::memory_order_acquire);
    if (here_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
      here_.store(0, std::memory_order_relaxed);
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
  alignas(128) std::atomic<std::size_t> here_{0};
  alignas(128) std::atomic<std::size_t> round_{0};
  std::size_t size_;
};

/// One thread among those that compute a step.
struct Place {
  std::size_t rank = 0;
  std::size_t size = 1;
  Meeting* meeting = nullptr;  ///< null: it is alone

  void meet() const noexcept {
    if (meeting != nullptr) meeting->wait();
  }
};

/// Calls work(rank) on every core. What is thrown there ends the process: the others would wait for
/// ever at the next meeting.
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

/// A rung of which every core does its part of each step: part(step, place) computes it.
template <class Part>
HostClimber on_all_cores(Part part, std::string_view instructions) {
  return {.climb =
              [part](std::span<const HostStep> steps, ThreadTeam& team) {
                Meeting meeting{team.size()};
                on_every_core(team, [&](std::size_t rank) {
                  const Place place{.rank = rank, .size = team.size(), .meeting = &meeting};
                  for (const HostStep& step : steps) {
                    part(step, place);
                    place.meet();
                  }
                });
              },
          .instructions = std::string{instructions}};
}

/// Some bodies of one system: from `first` up to `last`, counted from the system's first.
struct Stretch {
  std::size_t system = 0;  ///< its first body, counted from that of all systems
  std::size_t first = 0;
  std::size_t last = 0;
};
/// Calls visit(Stretch) for the bodies that fall to this place: as many groups of `group` as to
/// each other, one more or less; the last group of a system may be smaller.
template <class Visit>
void for_my_bodies(const HostStep& step, const Place& place, std::size_t group, Visit&& visit) {
  const std::size_t groups = (step.bodies + group - 1) / group;  // of a system
  const std::size_t all = groups * step.systems;
  const std::size_t end = all * (place.rank + 1) / place.size;
  for (std::size_t g = all * place.rank / place.size; g < end;) {
    const std::size_t system = g / groups;
    const std::size_t next = std::min(end, (system + 1) * groups);
    visit(Stretch{.system = system * step.bodies,
                  .first = (g - system * groups) * group,
                  .last = std::min<std::size_t>((next - system * groups) * group, step.bodies)});
    g = next;
  }
}

/// Where field `f` of body `i` of `n` is. In which read it is, is decided when this is compiled:
/// word_of() looks for it.
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

/// Ends a step for body i of all: moves it, or leaves its acceleration. First the velocity, then
/// the position by the new velocity, as on a GPU.
template <Layout L>
void finish(const HostStep& step, std::size_t i, float ax, float ay, float az) {
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
