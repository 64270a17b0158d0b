// The arrays of a case on a GPU: inputs and outputs of its steps, initial state, and results.
#pragma once

#include "nbody/neighbours/device_rung.cuh"
#include "nbody/neighbours/drawing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace strata::neighbours {

/// The arrays of a case.
class DeviceCase {
 public:
  /// `shown`: with a matrix for each agent.
  DeviceCase(const Problem& problem, const Agents& begin, std::uint32_t room,
             const DeviceKernel& kernel, bool shown = false)
      : problem_{problem},
        begin_{begin},
        reorders_{kernel.reorders},
        from_{problem.agents, reorders_},
        to_{problem.agents, reorders_},
        results_{TwoSided<std::uint32_t>{problem.agents},
                 TwoSided<std::uint32_t>{
                     problem.kind == Kind::boids ? std::size_t{nearest_count} * problem.agents : 1},
                 lists_with(room)},
        room_{room},
        tests_{std::max(kernel.most_threads, std::size_t{problem.agents} + usual_block)} {
    if (shown) drawn_.emplace(sizeof(Drawn<float>) / sizeof(float) * problem.agents);
  }

  /// The initial agents, on the host only; all other memory is poisoned. Waits.
  void restore(const Stream& stream) {
    for (AgentVectors* const agents : {&from_, &to_}) {
      agents->places.poison(stream);
      agents->forwards.poison(stream);
      agents->speeds.poison(stream);
      agents->ids.poison(stream);
    }
    const auto ids = from_.ids.host.span();
    std::iota(ids.begin(), ids.end(), 0U);
    for (std::size_t c = 0; c < 3; ++c) {
      std::ranges::copy(begin_.parts[c], from_.places.host.data() + c * begin_.size());
      std::ranges::copy(begin_.parts[3 + c], from_.forwards.host.data() + c * begin_.size());
    }
    std::ranges::copy(begin_.part(Part::speed), from_.speeds.host.data());
    poison_results(stream);
  }
  /// Waits.
  void poison_results(const Stream& stream) {
    constexpr int all_set = 0xFF;
    results_.counts.poison(stream);
    results_.nearest.poison(stream);
    results_.lists.poison(stream);
    if (drawn_) drawn_->poison(stream);
    tests_.poison(all_set, stream.get());
    stream.synchronize();
  }

  /// Step `number` of a sample. If agents move, each step starts from the result of the previous
  /// one.
  [[nodiscard]] DeviceStep step(std::size_t number, bool last, bool tested) {
    const bool back = problem_.moves() && number % 2 == 1;
    return {.problem = &problem_,
            .from = back ? &to_ : &from_,
            .to = back ? &from_ : &to_,
            .results = &results_,
            .memory = memory_,
            .room = room_,
            .tests = tested ? tests_.data() : nullptr,
            .first = number == 0,
            .last = last,
            .reorders = reorders_};
  }

  /// Matrices of 16 numbers; null if agents are not shown.
  [[nodiscard]] TwoSided<float>* drawn() { return drawn_ ? &*drawn_ : nullptr; }
  /// Agents whose matrices on the host do not match their positions.
  [[nodiscard]] std::size_t wrongly_drawn(const DeviceStep& step, const Agents& left) const {
    if (!drawn_) return 0;
    const Order order = order_of(step);
    std::size_t wrong = 0;
    for (std::uint32_t i = 0; i < left.size(); ++i) {
      Drawn<float> one;
      std::memcpy(static_cast<void*>(&one), drawn_->host.data() + 16 * order.position(i),
                  sizeof one);
      const auto triple = [&](std::size_t first) {
        return Vector<float>{left.parts[first][i], left.parts[first + 1][i],
                             left.parts[first + 2][i]};
      };
      wrong += is_drawn(one, triple(0), triple(3)) ? 0 : 1;
    }
    return wrong;
  }

  /// Whether a list overflowed; lists have enough room afterwards.
  bool grow() {
    if (problem_.kind != Kind::list) return false;
    std::uint32_t longest = 0;
    for (const std::uint32_t count : results_.counts.host.span()) {
      if (count < problem_.agents) longest = std::max(longest, count);  // else it was not written
    }
    if (longest <= room_) return false;
    room_ = list_room(longest);
    results_.lists = lists_with(room_);
    memory_ = next_memory();
    return true;
  }
  [[nodiscard]] std::uint32_t room() const { return room_; }

  /// The input and the result of the step.
  [[nodiscard]] Agents from_of(const DeviceStep& step) const {
    return agents(step.from->places.device.to_host(), step.from->forwards.device.to_host(),
                  step.from->speeds.device.to_host(), Order{step.from->ids.device.to_host()});
  }
  [[nodiscard]] Agents left_by(const DeviceStep& step) const {
    if (!problem_.moves()) return from_of(step);
    const auto on_host = [](const TwoSided<float>& vector) {
      const auto all = vector.host.span();
      return std::vector<float>(all.begin(), all.end());
    };
    return agents(on_host(step.to->places), on_host(step.to->forwards), on_host(step.to->speeds),
                  order_of(step));
  }
  /// From the results on the host. The agents and the case must outlive it.
  [[nodiscard]] Outcome outcome(const DeviceStep& step, const Agents& from, const Agents& left) {
    read_results(order_of(step));
    return {.from = from,
            .left = left,
            .count = [this](std::size_t i) { return counts_[i]; },
            .neighbours = [this](std::size_t i) { return rows_.of(i); }};
  }
  /// Distance tests of the last step, reported by every thread with an agent.
  [[nodiscard]] Tests tests() const {
    std::vector<std::uint32_t> all = tests_.to_host();
    Tests sum;
    sum.idle = idle_of(all, idle_thread);
    std::size_t reported = 0;
    for (std::uint32_t& one : all) {
      if (one == no_agent || one == idle_thread) {
        one = 0;
        continue;
      }
      ++reported;
      sum.made += one;
    }
    sum.lanes = lanes_of(all);
    if (reported == problem_.agents) return sum;
    throw std::runtime_error{std::to_string(reported) + " threads reported their tests, not " +
                             std::to_string(problem_.agents)};
  }

 private:
  static std::uint64_t next_memory() {
    static std::uint64_t last = 0;
    return ++last;
  }
  [[nodiscard]] TwoSided<std::uint32_t> lists_with(std::uint32_t room) const {
    return TwoSided<std::uint32_t>{problem_.kind == Kind::list ? std::size_t{room} * problem_.agents
                                                               : 1};
  }
  /// The agent at each position.
  class Order {
   public:
    /// Throws std::runtime_error unless every agent has a position. One id: the order is that of
    /// the ids.
    explicit Order(std::vector<std::uint32_t> ids) : ids_{std::move(ids)} {
      if (ids_.size() < 2) ids_.clear();
      positions_.assign(ids_.size(), no_agent);
      for (std::uint32_t at = 0; at < ids_.size(); ++at) {
        if (ids_[at] >= ids_.size() || positions_[ids_[at]] != no_agent) {
          throw std::runtime_error{"the ids that a step wrote are no order of all agents"};
        }
        positions_[ids_[at]] = at;
      }
    }
    [[nodiscard]] std::uint32_t position(std::uint32_t id) const {
      return positions_.empty() ? id : positions_[id];
    }
    [[nodiscard]] std::uint32_t id(std::uint32_t position) const {
      return position < ids_.size() ? ids_[position] : position;
    }

   private:
    std::vector<std::uint32_t> ids_;
    std::vector<std::uint32_t> positions_;
  };
  /// That of the step's results, on the host.
  [[nodiscard]] static Order order_of(const DeviceStep& step) {
    const auto ids = step.to->ids.host.span();
    return Order{{ids.begin(), ids.end()}};
  }
  /// From arrays of boids; other problems have positions only.
  [[nodiscard]] Agents agents(const std::vector<float>& places, const std::vector<float>& forwards,
                              const std::vector<float>& speeds, const Order& order) const {
    Agents all = begin_;
    const auto part = [&](std::vector<float>& to, const std::vector<float>& from, std::size_t c) {
      for (std::uint32_t i = 0; i < to.size(); ++i)
        to[i] = from[c * to.size() + order.position(i)];
    };
    for (std::size_t c = 0; c < 3; ++c) {
      part(all.parts[c], places, c);
      if (problem_.kind == Kind::boids) part(all.parts[3 + c], forwards, c);
    }
    if (problem_.kind == Kind::boids) part(all.part(Part::speed), speeds, 0);
    return all;
  }
  /// Counts, and row by row, from arrays that are ordered by neighbour, as many as each agent has.
  void read_results(const Order& order) {
    rows_ = {};
    counts_.clear();
    for (std::uint32_t i = 0; i < problem_.agents; ++i)
      counts_.push_back(results_.counts.host.span()[order.position(i)]);
    if (problem_.kind == Kind::circles) return;
    const bool nearest = problem_.kind == Kind::boids;
    const auto all = (nearest ? results_.nearest : results_.lists).host.span();
    const std::uint32_t most = nearest ? nearest_count : room_;
    for (std::uint32_t i = 0; i < problem_.agents; ++i) {
      const std::uint32_t count = counts_[i];
      for (std::size_t n = 0; count != no_agent && n < std::min(count, most); ++n)
        rows_.ids.push_back(order.id(all[n * problem_.agents + order.position(i)]));
      rows_.first.push_back(rows_.ids.size());
    }
  }

  std::uint64_t memory_ = next_memory();
  Problem problem_;
  Agents begin_;
  bool reorders_;
  AgentVectors from_;
  AgentVectors to_;
  ResultVectors results_;
  std::uint32_t room_;
  std::optional<TwoSided<float>> drawn_;
  DeviceBuffer<std::uint32_t> tests_;  ///< of every thread, including those without an agent
  std::vector<std::uint32_t> counts_;
  Lists rows_;
};

/// Takes so many steps, one at a time, from the agents of `right`, and verifies them. Lists grow
/// until nothing is cut. Throws std::runtime_error unless as many threads as there are agents
/// report their number of tests.
struct DeviceVerification {
  Verification seen;
  std::uint32_t room = 0;  ///< that lists needed
};
[[nodiscard]] DeviceVerification verify_on_device(const DeviceKernel& kernel,
                                                  const Problem& problem,
                                                  const ReferenceStep& right, std::size_t steps);

/// Traffic and results of a sample of so many steps, as it is timed. `shown`: what drawing needs is
/// copied out after each step.
struct SampleSeen {
  Traffic traffic;
  std::size_t different = 0;  ///< agents that differ from the verified steps
};
[[nodiscard]] SampleSeen sample_on_device(const DeviceKernel& kernel, const Problem& problem,
                                          const ReferenceStep& right,
                                          const DeviceVerification& verified, std::size_t steps,
                                          bool shown = false);

}  // namespace strata::neighbours
