// What the threads of the rungs on a GPU do, done thread by thread on a CPU: the same neighbours as
// double precision, the same motion, and as many distances as the data structure says.
#include "nbody/neighbours/model/traffic.hpp"
#include "nbody/neighbours/searches.hpp"
#include "tests/host/neighbours_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace strata::neighbours {
namespace {

constexpr std::size_t few_steps = 3;

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
        counts_(agents.size(), nobody),
        nearest_(nearest_count * agents.size(), nobody),
        lists_(std::size_t{room} * agents.size(), nobody),
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

/// Cells, and who stands in them.
struct Built {
  Cells cells;
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> ids;
  std::vector<Standing> standing;

  Built(const Problem& problem, const Choice& choice, const KernelStep& step)
      : cells{cells_of(problem.low(), problem.extent(), std::sqrt(problem.radius_squared),
                       choice.cells)},
        starts(cells.all() + 1),
        ids(step.agents) {
    build_cells(cells, step, starts, ids);
    for (const std::uint32_t id : ids)
      standing.push_back({.place = step.place(id), .id = id});
  }
};

/// One step by all threads of a kernel, one after the other, and some beyond the last agent.
template <Kind kind>
void by_every_thread(const std::string& search, const Problem& problem, const Choice& choice,
                     const KernelStep& step) {
  const Built built{problem, choice, step};
  for (std::uint32_t thread = 0; thread < step.agents + 3; ++thread) {
    if (search == "all") take_own_step<kind>(step, thread, AskAll{});
    if (search == "cells") {
      take_own_step<kind>(step, thread,
                          AskCells{built.cells, built.starts.data(), built.ids.data()});
    }
    if (search == "standing") {
      take_step_standing<kind>(
          step, thread, AskStanding{built.cells, built.starts.data(), built.standing.data()});
    }
    if (search == "runs") {
      take_step_standing<kind>(step, thread,
                               AskRuns{built.cells, built.starts.data(), built.standing.data()});
    }
  }
}
void by_every_thread(const std::string& search, const Problem& problem, const Choice& choice,
                     const KernelStep& step) {
  switch (problem.kind) {
    case Kind::boids:
      return by_every_thread<Kind::boids>(search, problem, choice, step);
    case Kind::circles:
      return by_every_thread<Kind::circles>(search, problem, choice, step);
    case Kind::list:
      return by_every_thread<Kind::list>(search, problem, choice, step);
  }
}

std::uint32_t longest_list(const Lists& lists) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < lists.size(); ++i)
    longest = std::max(longest, lists.of(i).size());
  return static_cast<std::uint32_t>(longest);
}

struct Search {
  std::string name;
  PredictedTests predicted;
};
const std::vector<Search>& searches() {
  static const std::vector<Search> all{{"all", predict_all_pairs},
                                       {"cells", predict_cells},
                                       {"standing", predict_packed_cells},
                                       {"runs", predict_rows}};
  return all;
}

class ThreadsOfAGpu : public testing::TestWithParam<Search> {};

TEST_P(ThreadsOfAGpu, FindWhatDoublePrecisionFinds) {
  const Search& search = GetParam();
  for (const Set& set : all_sets()) {
    for (const std::uint32_t cells : {0U, 1U, 14U}) {
      SCOPED_TRACE(set.name + ", " + std::to_string(cells) + " cells");
      const Choice choice{.cells = cells};
      Verification seen;
      Tests tests;
      Agents agents = set.right.agents;
      for (std::size_t s = 0; s < few_steps; ++s) {
        Memory memory{set.problem, agents, list_room(longest_list(set.right.neighbours))};
        by_every_thread(search.name, set.problem, choice, memory.step());
        verify_step(seen, set.problem, set.right, memory.outcome(), s, few_steps);
        tests.made += std::accumulate(memory.tests().begin(), memory.tests().end(), 0ULL);
        tests.lanes += lanes_of(memory.tests());
        agents = memory.left();
      }
      EXPECT_EQ(seen.wrong, 0U);
      EXPECT_EQ(seen.checked, 2 * set.problem.agents);
      for (const Accuracy& one : seen.motion)
        EXPECT_EQ(accuracy_gate(one).verdict, Verdict::passed) << accuracy_gate(one).detail;

      const Predicted predicted =
          search.predicted(set.problem, seen.places_before_each_step(), choice);
      const auto made = static_cast<double>(tests.made);
      EXPECT_NEAR(made / few_steps, predicted.tests, 0.01 * predicted.tests);
      EXPECT_NEAR(made / static_cast<double>(tests.lanes), predicted.used, 0.01);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Searches, ThreadsOfAGpu, testing::ValuesIn(searches()),
                         [](const auto& search) { return search.param.name; });

TEST(ThreadsOfAGpu, AddAnythingInAnotherOrderAndAreStillRight) {
  for (const Kind kind : {Kind::boids, Kind::circles, Kind::list}) {
    const Set set = generated(kind, 400, Spread::clustered);
    Memory memory{set.problem, set.right.agents, list_room(longest_list(set.right.neighbours))};
    by_every_thread("cells", set.problem, {}, memory.step());
    EXPECT_EQ(wrong_at_end(set.problem, memory.outcome()), 0U) << to_string(kind);
  }
}

TEST(ThreadsOfAGpu, AreSeenWhereTheLastStepOfASampleIsWrong) {
  const Set set = generated(Kind::circles, 400, Spread::uniform);
  Memory memory{set.problem, set.right.agents, list_grain};
  const KernelStep step = memory.step();
  by_every_thread("cells", set.problem, {}, step);
  step.to_places[17] += 0.01F;
  EXPECT_EQ(wrong_at_end(set.problem, memory.outcome()), 400U) << "moved wrongly";
  step.counts[17] += 1;
  EXPECT_EQ(wrong_at_end(set.problem, memory.outcome()), 1U);
}

// Nothing is written behind the room of a list, and its length is told.
TEST(ThreadsOfAGpu, TellHowLongAListIsThatHasNoRoom) {
  const Set set = generated(Kind::list, 400, Spread::clustered);
  const std::uint32_t longest = longest_list(set.right.neighbours);
  ASSERT_GT(longest, list_grain);
  Memory memory{set.problem, set.right.agents, list_grain};
  by_every_thread("runs", set.problem, {}, memory.step());
  EXPECT_EQ(std::ranges::max(memory.counts()), longest);
  EXPECT_EQ(list_room(longest) % list_grain, 0U);
  EXPECT_GE(list_room(longest), longest);
  EXPECT_EQ(list_room(0), list_grain);
}

TEST(CellsOfAHost, HaveEveryAgentOnceInTheOrderOfNumbers) {
  const Set set = generated(Kind::list, 400, Spread::clustered);
  Memory memory{set.problem, set.right.agents, list_grain};
  const KernelStep step = memory.step();
  const Built built{set.problem, {.cells = 3}, step};
  ASSERT_EQ(built.starts.size(), 28U);
  EXPECT_EQ(built.starts.front(), 0U);
  EXPECT_EQ(built.starts.back(), 400U);
  std::vector<bool> seen(400);
  for (std::uint32_t cell = 0; cell < 27; ++cell) {
    for (std::uint32_t at = built.starts[cell]; at < built.starts[cell + 1]; ++at) {
      const std::uint32_t id = built.ids[at];
      EXPECT_EQ(built.cells.of(step.place(id)), cell);
      EXPECT_FALSE(seen[id]);
      seen[id] = true;
      EXPECT_TRUE(at == built.starts[cell] || id > built.ids[at - 1]);
    }
  }
}

}  // namespace
}  // namespace strata::neighbours
