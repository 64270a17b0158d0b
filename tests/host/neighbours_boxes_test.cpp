// Boxes that are made for the agents: each agent is in one, all agents within reach are in tested
// ones, and as many threads as predicted have no agent.
#include "nbody/neighbours/boxes.hpp"
#include "tests/host/neighbours_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace strata::neighbours {
namespace {

/// Agents in the order of their boxes, and the ranges of agents that each box tests.
struct Divided {
  std::vector<OrderedAgent> agents;
  std::vector<Slab> boxes;  ///< without from and to, where `tested` names boxes
  std::vector<std::vector<Slab>> tested;
  std::uint64_t bytes = 0;

  Divided(const std::string& rung, const Problem& problem, const KernelStep& step) {
    for (std::uint32_t i = 0; i < step.agents; ++i)
      agents.push_back({.place = step.place(i), .id = i});
    const World world = world_of(problem);
    if (rung == "slabs") boxes = sorted_slabs(agents, world);
    if (rung == "split_slabs") boxes = divided_slabs(agents, world);
    for (const Slab& one : boxes)
      tested.push_back({{.first = one.from, .count = one.to - one.from}});
    bytes = boxes.size() * sizeof(Slab);
    if (!boxes.empty()) return;
    const std::vector<Box> all = boxes_of(agents, world);
    const float limit = rung == "boxes" ? static_cast<float>(world.reach * world.reach) : 0;
    for (const Box& one : all) {
      boxes.push_back({.first = one.first, .count = one.count});
      tested.emplace_back();
      for (const Box& other : all) {
        if (are_near(one, other, limit))
          tested.back().push_back({.first = other.first, .count = other.count});
      }
    }
    bytes = all.size() * sizeof(Box);
  }

  /// The work of the block of a box, thread by thread. Returns the tests of each thread.
  template <Kind kind>
  std::vector<std::uint32_t> take(KernelStep step) const {
    std::vector<std::uint32_t> thread_tests(boxes.size() * box_size, no_agent - 1);
    step.tests = nullptr;
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      for (std::uint32_t thread = 0; thread < boxes[b].count; ++thread) {
        const OrderedAgent mine = agents[boxes[b].first + thread];
        Gathering<kind> found{step, mine.id};
        thread_tests[b * box_size + thread] = 0;
        for (const Slab& other : tested[b]) {
          for (std::uint32_t at = other.first; at < other.first + other.count; ++at)
            test(mine.place, agents[at].place, agents[at].id, found);
          thread_tests[b * box_size + thread] += other.count;
        }
        found.end(step);
      }
    }
    return thread_tests;
  }
  std::vector<std::uint32_t> take(Kind kind, const KernelStep& step) const {
    return kind == Kind::boids     ? take<Kind::boids>(step)
           : kind == Kind::circles ? take<Kind::circles>(step)
                                   : take<Kind::list>(step);
  }
};

class BoxesOfAgents : public testing::TestWithParam<const char*> {};

/// The sets of every rung, and some that have many boxes.
std::vector<Set> sets_for_boxes() {
  std::vector<Set> sets = all_sets();
  for (const Kind kind : {Kind::boids, Kind::circles, Kind::list}) {
    sets.push_back(generated(kind, 2049, Spread::uniform));
    sets.push_back(generated(kind, 2049, Spread::clustered));
  }
  sets.push_back(placed("three hundred at one place", Kind::list,
                        std::vector(300, std::array{1.F, 2.F, 3.F})));
  return sets;
}

TEST_P(BoxesOfAgents, FindWhatDoublePrecisionFindsAndLeaveAsManyThreadsIdleAsPredicted) {
  const std::string rung = GetParam();
  const Rung& declared = rung_named("neighbours_" + rung);
  for (const Set& set : sets_for_boxes()) {
    SCOPED_TRACE(set.name);
    Memory memory{set.problem, set.right.agents, list_room(longest_list(set.right.neighbours))};
    const KernelStep step = memory.step();
    const Divided divided{rung, set.problem, step};
    const std::vector<std::uint32_t> thread_tests = divided.take(set.problem.kind, step);
    Verification seen;
    verify_step(seen, set.problem, set.right, memory.outcome(), 0, 2);
    EXPECT_TRUE(seen.wrong == 0 || !declared.exact) << seen.wrong;

    const Predicted predicted = tests_of(declared)(set.problem, seen.places_before_each_step(), {});
    const IdleThreads idle = idle_of(thread_tests, no_agent - 1);
    EXPECT_EQ(idle, predicted.idle);
    EXPECT_EQ(thread_tests.size() - idle.all, set.problem.agents);
    EXPECT_EQ(divided.bytes, predicted.structure_bytes);
    std::vector<std::uint32_t> tests = thread_tests;
    std::ranges::replace(tests, no_agent - 1, 0U);
    const auto made = static_cast<double>(std::accumulate(tests.begin(), tests.end(), 0ULL));
    EXPECT_NEAR(made, predicted.tests, 0.01 * predicted.tests);
    EXPECT_NEAR(made / static_cast<double>(lanes_of(tests)), predicted.used, 0.01);
  }
}

INSTANTIATE_TEST_SUITE_P(Rungs, BoxesOfAgents,
                         testing::Values("slabs", "split_slabs", "boxes", "early_stop"),
                         [](const auto& rung) { return std::string{rung.param}; });

TEST(BoxesOfAgents, HaveEveryAgentOnceAndWithinTheirBorders) {
  for (const Spread spread : {Spread::uniform, Spread::clustered}) {
    const Set set = generated(Kind::boids, 5000, spread);
    Memory memory{set.problem, set.right.agents, list_grain};
    const Divided divided{"boxes", set.problem, memory.step()};
    std::vector<OrderedAgent> agents = divided.agents;
    const std::vector<Box> boxes = boxes_of(agents, world_of(set.problem));
    std::vector<int> seen(5000);
    std::uint32_t before = 0;
    for (const Box& box : boxes) {
      EXPECT_EQ(box.first, before);
      EXPECT_GT(box.count, 0U);
      EXPECT_LE(box.count, box_size);
      before += box.count;
      for (std::uint32_t at = box.first; at < before; ++at) {
        const auto& [place, id] = agents[at];
        ++seen[id];
        EXPECT_TRUE(are_near(box, {.low = place, .high = place}, 0));
      }
    }
    EXPECT_EQ(std::ranges::count(seen, 1), 5000);
  }
}

// Table 7.1 of the seed: 62.5 % of the threads used, 9821 idle and 3878 of them in active warps; of
// one axis 59.5 %, 11152 and 3201. Its agents came from another generator.
TEST(BoxesOfAgents, LeaveAsManyThreadsIdleAsTheSeedSays) {
  const Problem problem{.kind = Kind::boids, .agents = 16384};
  const std::vector<Places> places{places_of(generate(problem))};
  const auto used = [](const IdleThreads& idle) {
    return 16384.0 / static_cast<double>(16384 + idle.all);
  };
  const IdleThreads boxes = predict_boxes(problem, places, {}).idle;
  EXPECT_NEAR(used(boxes), 0.625, 0.01);
  EXPECT_NEAR(static_cast<double>(boxes.active), 3878, 400);
  const IdleThreads slabs = predict_split_slabs(problem, places, {}).idle;
  EXPECT_NEAR(used(slabs), 0.595, 0.02);
  EXPECT_EQ(predict_slabs(problem, places, {}).idle, IdleThreads{});
}

// What touches is not what is near: in a world that is crowded for its reach, neighbours are
// missed.
TEST(BoxesOfAgents, MissNeighboursWhereTheyAskOnlyWhatTouches) {
  const auto wrong_of = [](Set set) {
    Memory memory{set.problem, set.right.agents, list_grain};
    const KernelStep step = memory.step();
    (void)Divided{"early_stop", set.problem, step}.take(set.problem.kind, step);
    Verification seen;
    verify_step(seen, set.problem, set.right, memory.outcome(), 0, 2);
    return seen.wrong;
  };
  EXPECT_GT(wrong_of(generated(Kind::boids, 2049, Spread::clustered)), 0U);
  EXPECT_EQ(wrong_of(generated(Kind::boids, 400, Spread::uniform)), 0U);
}

TEST(IdleThreads, AreActiveInWarpsWithAThreadThatIsNot) {
  std::vector<std::uint32_t> thread_tests(96, 7);
  std::fill(thread_tests.begin() + 20, thread_tests.begin() + 64, 9U);
  EXPECT_EQ(idle_of(thread_tests, 9), (IdleThreads{.all = 44, .active = 12}));
  EXPECT_EQ(idle_of({}, 9), IdleThreads{});
}

}  // namespace
}  // namespace strata::neighbours
