// Collectors: a collector receives the neighbours of an agent one after the other, keeps what its
// problem needs, and ends the agent's step. They are the same for every CPU rung, so that rungs
// differ only in how they search. Host only.
#pragma once

#include "nbody/neighbours/host/host_rung.hpp"
#include "nbody/neighbours/problem/motion.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace strata::neighbours {

[[nodiscard]] inline Vector<float> place_of(const Step& step, std::size_t i) {
  return {step.part(Part::px)[i], step.part(Part::py)[i], step.part(Part::pz)[i]};
}
[[nodiscard]] inline Vector<float> forward_of(const Step& step, std::size_t i) {
  return {step.part(Part::fx)[i], step.part(Part::fy)[i], step.part(Part::fz)[i]};
}

/// Boids: the nearest 7, by which the agent steers.
class Nearest {
 public:
  Nearest(const Step& step, const ThreadRank& /*thread*/)
      : step_{&step}, limit_{step.problem->radius_squared} {}

  void begin(std::uint32_t i) {
    self_ = i;
    count_ = 0;
    limit_ = step_->problem->radius_squared;
  }
  /// Only agents nearer than this can count.
  [[nodiscard]] float limit() const { return limit_; }
  [[nodiscard]] std::uint32_t self() const { return self_; }
  /// Agent `id`, nearer than the limit. Kept in order of distance.
  void take(std::uint32_t id, float squared, const Vector<float>& /*offset*/) {
    std::uint32_t at = count_ < nearest_count ? count_++ : nearest_count - 1;
    for (; at > 0 && squared_[at - 1] > squared; --at) {
      squared_[at] = squared_[at - 1];
      ids_[at] = ids_[at - 1];
    }
    squared_[at] = squared;
    ids_[at] = id;
    if (count_ == nearest_count) limit_ = squared_[nearest_count - 1];
  }
  void end() const {
    std::uint32_t* const row = step_->nearest + std::size_t{nearest_count} * self_;
    for (std::uint32_t n = 0; n < nearest_count; ++n)
      row[n] = n < count_ ? ids_[n] : no_agent;
    step_->counts[self_] = count_;
    const Agent<float> me{.place = place_of(*step_, self_),
                          .forward = forward_of(*step_, self_),
                          .speed = step_->part(Part::speed)[self_]};
    Steering<float> steering;
    for (std::uint32_t n = 0; n < count_; ++n) {
      steering.add(me.forward, place_of(*step_, ids_[n]) - me.place, forward_of(*step_, ids_[n]));
    }
    const Agent<float> after = moved(me, steering, step_->problem->world);
    const std::array<float, part_count> numbers{after.place.x,   after.place.y,   after.place.z,
                                                after.forward.x, after.forward.y, after.forward.z,
                                                after.speed};
    for (std::size_t p = 0; p < part_count; ++p)
      step_->to->parts[p][self_] = numbers[p];
  }

 private:
  const Step* step_;
  std::uint32_t self_ = 0;
  std::uint32_t count_ = 0;
  float limit_;
  std::array<float, nearest_count> squared_{};
  std::array<std::uint32_t, nearest_count> ids_{};
};

/// Circles: all push.
class Pushing {
 public:
  Pushing(const Step& step, const ThreadRank& /*thread*/)
      : step_{&step}, per_radius_{1 / std::sqrt(step.problem->radius_squared)} {}

  void begin(std::uint32_t i) {
    self_ = i;
    count_ = 0;
    push_ = {};
  }
  [[nodiscard]] float limit() const { return step_->problem->radius_squared; }
  [[nodiscard]] std::uint32_t self() const { return self_; }
  void take(std::uint32_t /*id*/, float squared, const Vector<float>& offset) {
    ++count_;
    push_.add(offset, squared, per_radius_);
  }
  void end() const {
    step_->counts[self_] = count_;
    const Vector<float> to = push_.moved(place_of(*step_, self_), count_, step_->problem->world);
    step_->to->part(Part::px)[self_] = to.x;
    step_->to->part(Part::py)[self_] = to.y;
    step_->to->part(Part::pz)[self_] = to.z;
  }

 private:
  const Step* step_;
  float per_radius_;
  std::uint32_t self_ = 0;
  std::uint32_t count_ = 0;
  Push<float> push_;
};

/// List: all are written.
class Listing {
 public:
  Listing(const Step& step, const ThreadRank& thread)
      : Listing{*step.lists, thread.rank, step.problem->radius_squared} {}
  Listing(ListPools& lists, std::size_t pool, float limit)
      : lists_{&lists}, pool_{pool}, limit_{limit} {}

  void begin(std::uint32_t i) {
    self_ = i;
    first_ = lists_->used(pool_);
  }
  [[nodiscard]] float limit() const { return limit_; }
  [[nodiscard]] std::uint32_t self() const { return self_; }
  void take(std::uint32_t id, float /*squared*/, const Vector<float>& /*offset*/) {
    *room(1) = id;
    keep(1);
  }
  /// Room for that many more; and to add them.
  [[nodiscard]] std::uint32_t* room(std::size_t more) { return lists_->room(pool_, more); }
  void keep(std::size_t more) { lists_->keep(pool_, more); }
  void end() const {
    lists_->set(self_, {.first = first_,
                        .count = static_cast<std::uint32_t>(lists_->used(pool_) - first_),
                        .pool = static_cast<std::uint32_t>(pool_)});
  }

 private:
  ListPools* lists_;
  std::size_t pool_;
  float limit_;
  std::uint32_t self_ = 0;
  std::uint64_t first_ = 0;
};

/// Calls visit(collector) with that of the step's problem, after resetting it.
template <class Visit>
void with_collector(const Step& step, const ThreadRank& thread, const Visit& visit) {
  switch (step.problem->kind) {
    case Kind::boids: {
      Nearest collector{step, thread};
      return visit(collector);
    }
    case Kind::circles: {
      Pushing collector{step, thread};
      return visit(collector);
    }
    case Kind::list: {
      step.lists->clear(thread.rank);
      Listing collector{step, thread};
      return visit(collector);
    }
  }
}

/// The candidates: their positions and ids; null: by storage position.
struct Candidates {
  const float* x = nullptr;
  const float* y = nullptr;
  const float* z = nullptr;
  const std::uint32_t* ids = nullptr;
};

/// Tests the candidates from `first` up to `last` one by one, and returns the number of tests.
template <class Collector>
inline std::size_t test_run(const Candidates& all, std::size_t first, std::size_t last,
                            const Vector<float>& me, Collector& collector) {
  std::size_t j = first;
  for (; j < last; ++j) {
    const Vector<float> offset{all.x[j] - me.x, all.y[j] - me.y, all.z[j] - me.z};
    const float squared = dot(offset, offset);
    if (squared < collector.limit()) {
      const auto id = all.ids == nullptr ? static_cast<std::uint32_t>(j) : all.ids[j];
      if (id != collector.self()) collector.take(id, squared, offset);
    }
  }
  return j - first;
}

}  // namespace strata::neighbours
