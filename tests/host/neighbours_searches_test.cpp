// What the threads of the rungs on a GPU do, done thread by thread on a CPU: the same neighbours as
// double precision, the same motion, and as many distances as the data structure implies.
#include "nbody/neighbours/half_stencil.hpp"
#include "nbody/neighbours/hit_queue.hpp"
#include "nbody/neighbours/lasting_lists.hpp"
#include "nbody/neighbours/model/traffic.hpp"
#include "nbody/neighbours/tiles.hpp"
#include "nbody/neighbours/z_curve.hpp"
#include "tests/host/neighbours_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace strata::neighbours {
namespace {

/// Cells and their agents.
struct Built {
  Cells cells;
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> ids;
  std::vector<OrderedAgent> ordered;

  Built(const Problem& problem, const Choice& choice, const KernelStep& step)
      : cells{cells_of(problem.low(), problem.extent(),
                       std::sqrt(problem.radius_squared) + choice.skin, choice.cells)},
        starts(cells.all() + 1),
        ids(step.agents) {
    build_cells(cells, step, starts, ids);
    for (const std::uint32_t id : ids)
      ordered.push_back({.place = step.place(id), .id = id});
    ordered.resize(ordered.size() + SearchWithQueue::batch);
  }
};

/// The same agents, whose cells follow each other along a curve.
struct AlongCurve {
  const Built& built;
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> starts;
  std::vector<OrderedAgent> ordered;

  AlongCurve(const Built& all, Curve curve)
      : built{all},
        places{curve == Curve::z ? along_z_curve(all.cells) : along_hilbert_curve(all.cells)},
        starts{0} {
    std::vector<std::uint32_t> cells(places.size());
    for (std::uint32_t cell = 0; cell < places.size(); ++cell)
      cells[places[cell]] = cell;
    for (const std::uint32_t cell : cells) {
      ordered.insert(ordered.end(), all.ordered.begin() + all.starts[cell],
                     all.ordered.begin() + all.starts[cell + 1]);
      starts.push_back(static_cast<std::uint32_t>(ordered.size()));
    }
  }
  [[nodiscard]] SearchCellsAlongCurve search() const {
    return {built.cells, starts.data(), ordered.data(), places.data()};
  }
};

/// Everybody, in groups as tiles of shared memory have them: the last is filled up.
struct AskGroups {
  std::vector<OrderedAgent> all;

  explicit AskGroups(const KernelStep& step) {
    for (std::uint32_t j = 0; j < step.agents; ++j)
      all.push_back({.place = step.place(j), .id = j});
    all.resize((all.size() + group_size - 1) / group_size * group_size,
               {.place = {INFINITY, 0, 0}, .id = no_agent});
  }
  template <class Found>
  std::uint32_t operator()(const KernelStep& step, const Vector<float>& me, Found& found) const {
    for (std::size_t first = 0; first < all.size(); first += group_size)
      test_group(me, all.data() + first, found);
    return step.agents;
  }
};

/// A step whose pairs are tested once: by all threads of the kernel that finds them, and then by
/// all of the one that moves agents.
template <Kind kind>
void by_pairs(const SearchRows& runs, const KernelStep& step) {
  const std::uint32_t threads = step.agents + 3;
  std::vector<std::uint32_t> counts(step.agents);
  std::vector<std::uint32_t> lists(kind == Kind::list ? 0 : step.agents * step.agents);
  const HalfStencil pairs{runs, counts.data(), lists.data(), step.agents};
  std::fill_n(step.counts, step.agents, 0);
  for (std::uint32_t at = 0; at < threads; ++at)
    pairs.find<kind>(step, at);
  if constexpr (kind != Kind::list) {
    for (std::uint32_t at = 0; at < threads; ++at)
      take_step_noted<kind>(step, at, pairs);
  }
}

/// One step by all threads of a kernel, one after the other, and some beyond the last agent.
template <Kind kind>
void by_every_thread(const std::string& search, const Problem& problem, const Choice& choice,
                     const KernelStep& step) {
  const Built built{problem, choice, step};
  const AlongCurve along_curve{built, choice.curve};
  const AskGroups groups{step};
  const SearchRows runs{built.cells, built.starts.data(), built.ordered.data()};
  std::array<std::uint32_t, SearchWithQueue::room> hits{};
  std::array<OrderedAgent, SearchTiles::room> tile{};
  if (search == "pairs") return by_pairs<kind>(runs, step);
  for (std::uint32_t thread = 0; thread < step.agents + 3; ++thread) {
    if (search == "all") take_own_step<kind>(step, thread, SearchAll{});
    if (search == "groups") take_own_step<kind>(step, thread, groups);
    if (search == "cells") {
      take_own_step<kind>(step, thread,
                          SearchCellIds{built.cells, built.starts.data(), built.ids.data()});
    }
    if (search == "ordered") {
      take_step_in_order<kind>(step, thread,
                               SearchCells{built.cells, built.starts.data(), built.ordered.data()});
    }
    if (search == "runs") {
      take_step_in_order<kind>(step, thread, runs);
    }
    if (search == "tiles") take_step_tiled<kind>(step, thread, {runs, tile.data(), 0});
    if (search == "curve") take_step_in_order<kind>(step, thread, along_curve.search());
    if (search == "queue")
      take_step_in_order<kind>(step, thread, SearchWithQueue{runs, hits.data(), 1});
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

struct Search {
  std::string name;
  PredictedTests predicted;
};
const std::vector<Search>& searches() {
  static const std::vector<Search> all{
      {"all", predict_all_pairs},     {"groups", predict_all_pairs},
      {"cells", predict_cells},       {"ordered", predict_packed_cells},
      {"runs", predict_rows},         {"curve", predict_curve_cells},
      {"queue", predict_rows},        {"tiles", predict_rows},
      {"pairs", predict_half_stencil}};
  return all;
}

class ThreadsOfAGpu : public testing::TestWithParam<Search> {};

TEST_P(ThreadsOfAGpu, FindWhatDoublePrecisionFinds) {
  const Search& search = GetParam();
  for (const Set& set : all_sets()) {
    for (const std::uint32_t cells : {0U, 1U, 14U}) {
      SCOPED_TRACE(set.name + ", " + std::to_string(cells) + " cells");
      const Choice choice{.cells = cells};
      (void)expect_right(set, choice, search.predicted, few_steps, [&](const KernelStep& step) {
        by_every_thread(search.name, set.problem, choice, step);
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Searches, ThreadsOfAGpu, testing::ValuesIn(searches()),
                         [](const auto& search) { return search.param.name; });

/// The vectors of lists that outlast a step, on this side.
class Lasting {
 public:
  Lasting(const Problem& problem, const Choice& choice, std::uint32_t room)
      : problem_{problem},
        choice_{choice},
        room_{room},
        made_at_(3 * std::size_t{problem.agents}),
        counts_(problem.agents),
        lists_(std::size_t{room} * problem.agents),
        tests_(problem.agents) {}

  /// All kernels of a step, thread by thread.
  void take(const KernelStep& step) {
    is_old_ = built_ ? 0 : 1;
    const std::uint32_t threads = step.agents + 3;
    for (std::uint32_t i = 0; i < threads; ++i)
      lists().follow(step, i);
    if (is_old_ != 0) {
      built_.emplace(problem_, choice_, step);
      ++rebuilds_;
    }
    for (std::uint32_t at = 0; at < threads; ++at)
      lists().renew(step, at);
    for (std::uint32_t at = 0; at < threads; ++at) {
      if (problem_.kind == Kind::boids) take_step_listed<Kind::boids>(step, at, lists());
      if (problem_.kind == Kind::circles) take_step_listed<Kind::circles>(step, at, lists());
      if (problem_.kind == Kind::list) take_step_listed<Kind::list>(step, at, lists());
    }
  }
  [[nodiscard]] std::size_t rebuilds() const { return rebuilds_; }
  [[nodiscard]] std::uint32_t longest() const { return std::ranges::max(counts_); }

 private:
  LastingLists lists() {
    const double reach = std::sqrt(static_cast<double>(problem_.radius_squared)) + choice_.skin;
    LastingLists all{.reach_squared = static_cast<float>(reach * reach),
                     .moved_squared = lasting(choice_.skin),
                     .is_old = &is_old_,
                     .made_at = made_at_.data(),
                     .counts = counts_.data(),
                     .lists = lists_.data(),
                     .tests = tests_.data(),
                     .room = room_};
    if (built_) {
      all.cells = built_->cells;
      all.starts = built_->starts.data();
      all.ordered = built_->ordered.data();
    }
    return all;
  }

  Problem problem_;
  Choice choice_;
  std::uint32_t room_;
  std::optional<Built> built_;
  std::size_t rebuilds_ = 0;
  std::uint32_t is_old_ = 0;
  std::vector<float> made_at_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> lists_;
  std::vector<std::uint32_t> tests_;
};

// Of skins that some agent outruns in each step, in some, and in none.
TEST(ThreadsOfAGpu, KeepListsUntilAnAgentHasMovedByHalfTheSkin) {
  constexpr std::size_t steps = 5;
  std::size_t some = 0;
  for (const Set& set : all_sets()) {
    for (const Choice& choice : std::vector<Choice>{{.skin = 0.001},
                                                    {.cells = 1, .skin = 0.12},
                                                    {.skin = 0.25},
                                                    {.cells = 14, .skin = 1}}) {
      SCOPED_TRACE(set.name + ", skin " + std::to_string(choice.skin));
      Lasting lists{set.problem, choice, set.problem.agents};
      const Predicted predicted = expect_right(set, choice, predict_lists, steps,
                                               [&](const KernelStep& step) { lists.take(step); });
      EXPECT_EQ(lists.rebuilds(), predicted.rebuilds);
      EXPECT_TRUE(set.problem.moves() || lists.rebuilds() == 1);
      some += lists.rebuilds() > 1 && lists.rebuilds() < steps ? 1 : 0;
    }
  }
  EXPECT_GT(some, 5U);
}

TEST(ThreadsOfAGpu, TellHowLongALastingListIsThatHasNoRoom) {
  const Set set = generated(Kind::circles, 400, Spread::clustered);
  const Choice choice{.skin = 0.5};
  Lasting cut{set.problem, choice, list_grain};
  Lasting whole{set.problem, choice, set.problem.agents};
  Memory memory{set.problem, set.right.agents, list_grain};
  cut.take(memory.step());
  whole.take(memory.step());
  EXPECT_GT(whole.longest(), list_grain);
  EXPECT_EQ(cut.longest(), whole.longest());
}

// Bit for bit: neighbours are taken in the same order, and so are sums.
TEST(ThreadsOfAGpu, TakeGroupsAndHitsPutOffAsTheyTakeOneAfterTheOther) {
  for (const auto& [one, other] :
       {std::pair{"all", "groups"}, std::pair{"runs", "queue"}, std::pair{"runs", "tiles"}}) {
    for (const Kind kind : {Kind::boids, Kind::circles, Kind::list}) {
      const Set set = generated(kind, 400, Spread::clustered);
      const std::uint32_t room = list_room(longest_list(set.right.neighbours));
      Memory one_by_one{set.problem, set.right.agents, room};
      Memory together{set.problem, set.right.agents, room};
      by_every_thread(one, set.problem, {}, one_by_one.step());
      by_every_thread(other, set.problem, {}, together.step());
      EXPECT_EQ(together.left(), one_by_one.left()) << to_string(kind) << ", " << other;
      EXPECT_EQ(together.results(), one_by_one.results()) << to_string(kind) << ", " << other;
    }
  }
}

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

// Nothing is written behind the room of a list, and its length is reported.
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

TEST(ThreadsOfAGpu, FindTheSameAlongAHilbertCurve) {
  for (const Set& set : all_sets()) {
    for (const std::uint32_t cells : {0U, 14U}) {
      SCOPED_TRACE(set.name + ", " + std::to_string(cells) + " cells");
      const Choice choice{.cells = cells, .curve = Curve::hilbert};
      (void)expect_right(set, choice, predict_curve_cells, few_steps, [&](const KernelStep& step) {
        by_every_thread("curve", set.problem, choice, step);
      });
    }
  }
}

// A cell shares a side with the previous one on the curve, and all cells are on it.
TEST(CellsAlongAHilbertCurve, FollowEachOtherSideBySide) {
  for (const std::uint32_t count : {2U, 4U, 8U, 32U}) {
    const std::vector<std::uint32_t> places = along_hilbert_curve({.count = count});
    std::vector<std::uint32_t> cells(places.size(), no_agent);
    for (std::uint32_t cell = 0; cell < places.size(); ++cell)
      cells.at(places[cell]) = cell;
    EXPECT_EQ(std::ranges::count(cells, no_agent), 0);
    EXPECT_EQ(cells.front(), 0U);
    for (std::size_t at = 1; at < cells.size(); ++at) {
      std::uint32_t apart = 0;
      for (std::uint32_t one = cells[at], other = cells[at - 1], c = 0; c < 3; ++c) {
        const std::uint32_t a = one % count;
        const std::uint32_t b = other % count;
        apart += a > b ? a - b : b - a;
        one /= count;
        other /= count;
      }
      ASSERT_EQ(apart, 1U) << count << " cells, " << at;
    }
  }
  EXPECT_EQ(along_hilbert_curve({.count = 1}), std::vector<std::uint32_t>{0});
  std::vector<std::uint32_t> odd = along_hilbert_curve({.count = 3});
  std::ranges::sort(odd);
  EXPECT_EQ(odd.front(), 0U);
  EXPECT_EQ(odd.back(), 26U);
}

// Eight cells of a cube are one after the other, and so are eight such cubes.
TEST(CellsAlongAZCurve, TurnWithinCubes) {
  EXPECT_EQ(along_z_curve({.count = 2}), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  const std::vector<std::uint32_t> places = along_z_curve({.count = 4});
  ASSERT_EQ(places.size(), 64U);
  const auto at = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return places[(z * 4 + y) * 4 + x];
  };
  EXPECT_EQ(at(1, 1, 1), 7U);
  EXPECT_EQ(at(2, 0, 0), 8U);
  EXPECT_EQ(at(0, 2, 0), 16U);
  EXPECT_EQ(at(3, 3, 1), 31U);
  EXPECT_EQ(at(0, 0, 2), 32U);
  EXPECT_EQ(at(3, 3, 3), 63U);
  // Where there are no cells, the curve goes on with the next one.
  EXPECT_EQ(along_z_curve({.count = 3})[2], 8U);
  EXPECT_EQ(along_z_curve({.count = 3})[26], 26U);
  EXPECT_EQ(every_third(255), 0x249249U);
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
