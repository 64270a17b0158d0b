// Results of a GPU thread: the neighbours that it finds, and the motion of its agent.
// In registers: no index depends on run time alone. Also compiled for the CPU, where tests run it.
#pragma once

#include "nbody/neighbours/problem/motion.hpp"
#include "nbody/neighbours/problem/problem.hpp"

#include <cstddef>
#include <cstdint>

namespace strata::neighbours {

/// Inputs and outputs of the kernels of a step. Coordinates are stored as all x, all y, all z.
struct KernelStep {
  const float* places = nullptr;
  const float* forwards = nullptr;  ///< boids, as speeds
  const float* speeds = nullptr;
  float* to_places = nullptr;  ///< if agents move, in the same order
  float* to_forwards = nullptr;
  float* to_speeds = nullptr;
  std::uint32_t* counts = nullptr;   ///< neighbours of each agent that count
  std::uint32_t* nearest = nullptr;  ///< boids: the nearest of all, the next of all, …
  std::uint32_t* lists = nullptr;    ///< list: in the same order, as far as there is room
  std::uint32_t* tests = nullptr;    ///< per thread, counted; null: not requested
  std::uint32_t room = 0;            ///< of a list
  std::uint32_t agents = 0;
  float radius_squared = 0;
  float per_radius = 0;
  float world = 0;

  [[nodiscard]] STRATA_BOTH Vector<float> triple(const float* all, std::uint32_t i) const {
    return {all[i], all[std::size_t{agents} + i], all[2 * std::size_t{agents} + i]};
  }
  [[nodiscard]] STRATA_BOTH Vector<float> place(std::uint32_t i) const { return triple(places, i); }
  STRATA_BOTH void put(float* all, std::uint32_t i, const Vector<float>& what) const {
    all[i] = what.x;
    all[std::size_t{agents} + i] = what.y;
    all[2 * std::size_t{agents} + i] = what.z;
  }
};

template <Kind kind>
class Gathering;

/// Boids: the nearest 7, in order of distance, by which the agent steers.
template <>
class Gathering<Kind::boids> {
 public:
  STRATA_BOTH Gathering(const KernelStep& step, std::uint32_t self) : self_{self} {
    for (std::uint32_t n = 0; n < nearest_count; ++n) {
      squared_[n] = step.radius_squared;
      ids_[n] = no_agent;
    }
  }
  /// Only agents nearer than this can count.
  [[nodiscard]] STRATA_BOTH float limit() const { return squared_[nearest_count - 1]; }
  [[nodiscard]] STRATA_BOTH std::uint32_t self() const { return self_; }
  /// Agent `id`, nearer than the limit. Each entry takes the previous one, or the agent, or stays:
  /// of two equally near agents, the first one found comes first.
  STRATA_BOTH void take(std::uint32_t id, float squared, const Vector<float>& /*offset*/) {
    for (std::uint32_t n = nearest_count - 1; n > 0; --n) {
      const bool moves_up = squared < squared_[n - 1];
      const bool is_here = !moves_up && squared < squared_[n];
      squared_[n] = moves_up ? squared_[n - 1] : is_here ? squared : squared_[n];
      ids_[n] = moves_up ? ids_[n - 1] : is_here ? id : ids_[n];
    }
    const bool is_nearest = squared < squared_[0];
    squared_[0] = is_nearest ? squared : squared_[0];
    ids_[0] = is_nearest ? id : ids_[0];
  }
  STRATA_BOTH void end(const KernelStep& step) const {
    const Agent<float> me{step.place(self_), step.triple(step.forwards, self_), step.speeds[self_]};
    Steering<float> steering;
    std::uint32_t count = 0;
    for (std::uint32_t n = 0; n < nearest_count; ++n) {
      step.nearest[std::size_t{n} * step.agents + self_] = ids_[n];
      if (ids_[n] == no_agent) continue;
      ++count;
      steering.add(me.forward, step.place(ids_[n]) - me.place, step.triple(step.forwards, ids_[n]));
    }
    step.counts[self_] = count;
    const Agent<float> after = moved(me, steering, step.world);
    step.put(step.to_places, self_, after.place);
    step.put(step.to_forwards, self_, after.forward);
    step.to_speeds[self_] = after.speed;
  }

 private:
  std::uint32_t self_;
  float squared_[nearest_count];
  std::uint32_t ids_[nearest_count];
};

/// Circles: all push.
template <>
class Gathering<Kind::circles> {
 public:
  STRATA_BOTH Gathering(const KernelStep& step, std::uint32_t self)
      : self_{self}, limit_{step.radius_squared}, per_radius_{step.per_radius} {}
  [[nodiscard]] STRATA_BOTH float limit() const { return limit_; }
  [[nodiscard]] STRATA_BOTH std::uint32_t self() const { return self_; }
  STRATA_BOTH void take(std::uint32_t /*id*/, float squared, const Vector<float>& offset) {
    ++count_;
    push_.add(offset, squared, per_radius_);
  }
  STRATA_BOTH void end(const KernelStep& step) const {
    step.counts[self_] = count_;
    step.put(step.to_places, self_, push_.moved(step.place(self_), count_, step.world));
  }

 private:
  std::uint32_t self_;
  float limit_;
  float per_radius_;
  std::uint32_t count_ = 0;
  Push<float> push_;
};

/// List: all are written, as far as there is room; their number is stored in any case.
template <>
class Gathering<Kind::list> {
 public:
  STRATA_BOTH Gathering(const KernelStep& step, std::uint32_t self)
      : self_{self},
        limit_{step.radius_squared},
        agents_{step.agents},
        room_{step.room},
        list_{step.lists + self} {}
  [[nodiscard]] STRATA_BOTH float limit() const { return limit_; }
  [[nodiscard]] STRATA_BOTH std::uint32_t self() const { return self_; }
  STRATA_BOTH void take(std::uint32_t id, float /*squared*/, const Vector<float>& /*offset*/) {
    if (count_ < room_) list_[std::size_t{count_} * agents_] = id;
    ++count_;
  }
  STRATA_BOTH void end(const KernelStep& step) const { step.counts[self_] = count_; }

 private:
  std::uint32_t self_;
  float limit_;
  std::uint32_t agents_;
  std::uint32_t room_;
  std::uint32_t* list_;
  std::uint32_t count_ = 0;
};

/// Tests agent `id` at `place` from an agent at `me`.
template <class Found>
STRATA_BOTH inline void test(const Vector<float>& me, const Vector<float>& place, std::uint32_t id,
                             Found& found) {
  const Vector<float> offset = place - me;
  const float squared = dot(offset, offset);
  if (squared < found.limit() && id != found.self()) found.take(id, squared, offset);
}

}  // namespace strata::neighbours
