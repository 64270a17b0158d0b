// What the threads of a rung on a GPU do, done thread by thread on a CPU: its vectors, and its
// steps held against double precision and what is predicted.
#pragma once

#include "nbody/neighbours/gathering.hpp"
#include "nbody/neighbours/model/traffic.hpp"
#include "tests/host/neighbours_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace strata::neighbours {

inline constexpr std::size_t few_steps = 3;

/// The vectors of a kernel, on this side.
class Memory {
 public:
  Memory(const Problem& problem, const Agents& agents, std::uint32_t room)
      : problem_{problem},
        agents_{agents},
        to_{agents},
        room_{room},
        places_(3 * agents.size()),
        forwards_(places_.size()),
        to_places_(places_.size()),
        to_forwards_(places_.size()),
        counts_(agents.size(), no_agent),
        nearest_(nearest_count * agents.size(), no_agent),
        lists_(std::size_t{room} * agents.size(), no_agent),
        tests_(agents.size()) {
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t i = 0; i < agents.size(); ++i) {
        places_[c * agents.size() + i] = agents.parts[c][i];
        forwards_[c * agents.size() + i] = agents.parts[3 + c][i];
      }
    }
  }

  [[nodiscard]] KernelStep step() {
    return {.places = places_.data(),
            .forwards = forwards_.data(),
            .speeds = agents_.part(Part::speed).data(),
            .to_places = to_places_.data(),
            .to_forwards = to_forwards_.data(),
            .to_speeds = to_.part(Part::speed).data(),
            .counts = counts_.data(),
            .nearest = nearest_.data(),
            .lists = lists_.data(),
            .tests = tests_.data(),
            .room = room_,
            .agents = problem_.agents,
            .radius_squared = problem_.radius_squared,
            .per_radius = 1 / std::sqrt(problem_.radius_squared),
            .world = problem_.world};
  }
  [[nodiscard]] const std::vector<std::uint32_t>& tests() const { return tests_; }
  [[nodiscard]] const std::vector<std::uint32_t>& counts() const { return counts_; }

  /// Counts and neighbours, by position.
  [[nodiscard]] std::array<std::vector<std::uint32_t>, 3> results() const {
    return {counts_, nearest_, lists_};
  }

  /// The agents after the step.
  [[nodiscard]] const Agents& left() {
    if (!problem_.moves()) return agents_;
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t i = 0; i < to_.size(); ++i) {
        to_.parts[c][i] = to_places_[c * to_.size() + i];
        if (problem_.kind == Kind::boids) to_.parts[3 + c][i] = to_forwards_[c * to_.size() + i];
      }
    }
    return to_;
  }
  [[nodiscard]] Outcome outcome() {
    rows_.assign(agents_.size(), {});
    const auto& all = problem_.kind == Kind::boids ? nearest_ : lists_;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (std::size_t n = 0;
           n < std::min(counts_[i], problem_.kind == Kind::boids ? nearest_count : room_); ++n)
        rows_[i].push_back(all[n * rows_.size() + i]);
    }
    return {
        .from = agents_,
        .left = left(),
        .count = [this](std::size_t i) { return counts_[i]; },
        .neighbours = [this](std::size_t i) { return std::span<const std::uint32_t>{rows_[i]}; }};
  }

 private:
  Problem problem_;
  Agents agents_;
  Agents to_;
  std::uint32_t room_;
  std::vector<float> places_;
  std::vector<float> forwards_;
  std::vector<float> to_places_;
  std::vector<float> to_forwards_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> nearest_;
  std::vector<std::uint32_t> lists_;
  std::vector<std::uint32_t> tests_;
  std::vector<std::vector<std::uint32_t>> rows_;
};

inline std::uint32_t longest_list(const Lists& lists) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < lists.size(); ++i)
    longest = std::max(longest, lists.of(i).size());
  return static_cast<std::uint32_t>(longest);
}

/// Takes steps by take(step), each from what the one before left, and holds them against double
/// precision and what is predicted.
template <class Take>
Predicted expect_right(const Set& set, const Choice& choice, PredictedTests predict,
                       std::size_t steps, const Take& take) {
  Verification seen;
  Tests tests;
  Agents agents = set.right.agents;
  for (std::size_t s = 0; s < steps; ++s) {
    Memory memory{set.problem, agents, list_room(longest_list(set.right.neighbours))};
    take(memory.step());
    verify_step(seen, set.problem, set.right, memory.outcome(), s, steps);
    tests.made += std::accumulate(memory.tests().begin(), memory.tests().end(), 0ULL);
    tests.lanes += lanes_of(memory.tests());
    agents = memory.left();
  }
  EXPECT_EQ(seen.wrong, 0U);
  EXPECT_EQ(seen.checked, 2 * set.problem.agents);
  for (const Accuracy& one : seen.motion)
    EXPECT_EQ(accuracy_gate(one).verdict, Verdict::passed) << accuracy_gate(one).detail;

  const Predicted predicted = predict(set.problem, seen.places_before_each_step(), choice);
  const auto made = static_cast<double>(tests.made);
  EXPECT_NEAR(made / static_cast<double>(steps), predicted.tests, 0.01 * predicted.tests);
  EXPECT_NEAR(made / static_cast<double>(std::max<std::uint64_t>(tests.lanes, 1)), predicted.used,
              0.01);
  return predicted;
}

}  // namespace strata::neighbours
