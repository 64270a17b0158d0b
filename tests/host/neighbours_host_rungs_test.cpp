// Every rung on this CPU, with every kind of its vectors, finds the neighbours that double
// precision finds, moves agents as it does, and computes as many distances as its data structure
// implies.
#include "harness/record/gates.hpp"
#include "nbody/neighbours/host/packed_cells.hpp"
#include "tests/host/host_kernels.hpp"
#include "tests/host/neighbours_sets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::neighbours {
namespace {

constexpr std::size_t few_steps = 3;

class NeighboursRung : public testing::TestWithParam<Rung> {
 protected:
#if defined(__SANITIZE_THREAD__)
  void SetUp() override {
    // It reports every access after a barrier of OpenMP, which it does not know, for minutes.
    if (GetParam().name == "neighbours_openmp") GTEST_SKIP() << "OpenMP with ThreadSanitizer";
  }
#endif
};

void expect_right(const Verification& seen, const Set& set) {
  EXPECT_EQ(seen.wrong, 0U);
  EXPECT_EQ(seen.checked, 2 * set.problem.agents);
  EXPECT_EQ(seen.motion.empty(), !set.problem.moves());
  for (const Accuracy& one : seen.motion) {
    const Gate gate = accuracy_gate(one);
    EXPECT_EQ(gate.verdict, Verdict::passed) << gate.detail;
  }
}

TEST_P(NeighboursRung, FindsWhatDoublePrecisionFinds) {
  const Rung& rung = GetParam();
  bool any = false;
  for (const Vectors vectors : known_to_this_cpu()) {
    for (const Set& set : all_sets()) {
      for (const Choice& choice : choices_of(rung)) {
        const auto kernel = prepared<MakeHostKernel>(rung, set.problem, choice, vectors);
        if (!kernel) continue;
        any = true;
        SCOPED_TRACE(set.name + ", " + std::to_string(choice.cells) + " cells, " +
                     kernel->instructions);
        expect_right(verify_on_host(*kernel, team(), set.problem, set.right, few_steps), set);
      }
    }
  }
  if (!any) GTEST_SKIP() << "this CPU or this build cannot do it";
}

TEST_P(NeighboursRung, ComputesAsManyDistancesAsPredicted) {
  const Rung& rung = GetParam();
  for (const Set& set : all_sets()) {
    for (const Choice& choice : choices_of(rung)) {
      const auto kernel = prepared<MakeHostKernel>(rung, set.problem, choice, widest_vectors());
      if (!kernel) GTEST_SKIP() << "this CPU or this build cannot do it";
      SCOPED_TRACE(set.name + ", " + std::to_string(choice.cells) + " cells");
      const auto seen = verify_on_host(*kernel, team(), set.problem, set.right, few_steps);
      const Predicted predicted =
          tests_of(rung)(set.problem, seen.places_before_each_step(), choice);
      const double tests = static_cast<double>(seen.tests.made) / few_steps;
      EXPECT_NEAR(tests, predicted.tests, 0.01 * predicted.tests);
      EXPECT_EQ(seen.rebuilds, predicted.rebuilds);
      EXPECT_GE(seen.tests.lanes, seen.tests.made);
    }
  }
}

TEST_P(NeighboursRung, DoesTheSameWithMoreThreadsThanAgents) {
  const Rung& rung = GetParam();
  ThreadTeam three = crowded_team(3);
  for (const Set& set : all_sets()) {
    if (set.problem.agents > 40) continue;
    const auto kernel =
        prepared<MakeHostKernel>(rung, set.problem, choices_of(rung).front(), widest_vectors());
    if (!kernel) GTEST_SKIP() << "this CPU or this build cannot do it";
    SCOPED_TRACE(set.name);
    const auto alone = verify_on_host(*kernel, team(), set.problem, set.right, few_steps);
    const auto seen = verify_on_host(*kernel, three, set.problem, set.right, few_steps);
    expect_right(seen, set);
    EXPECT_EQ(seen.end, alone.end);
    EXPECT_EQ(seen.end_counts, alone.end_counts);
  }
}

INSTANTIATE_TEST_SUITE_P(Rungs, NeighboursRung,
                         testing::ValuesIn(rungs_of("neighbours", Backend::host)),
                         [](const auto& rung) { return rung.param.name; });

// --- what a rung may get wrong ---

/// Tests the agents of `keep` of each row's agents, from and to.
struct FindSome {
  std::function<void(const PackedCells&, std::size_t at, std::size_t from, std::size_t to,
                     const std::function<void(std::size_t, std::size_t)>& test)>
      keep;

  template <class Collector>
  void operator()(const PackedCells& packed, std::size_t at, Collector& collector,
                  Work& /*work*/) const {
    Rows rows{packed.cells(), packed.place(at)};
    for (std::uint32_t first_cell = 0, last_cell = 0; rows.next(first_cell, last_cell);) {
      const auto [from, to] = packed.run(first_cell, last_cell);
      keep(packed, at, from, to, [&](std::size_t first, std::size_t last) {
        (void)test_run(packed.candidates(), first, last, packed.place(at), collector);
      });
    }
  }
};
constexpr auto keep_all = [](const PackedCells& /*packed*/, std::size_t /*at*/, std::size_t from,
                             std::size_t to, const auto& test) { test(from, to); };

HostKernel searching(const Problem& problem, const Cells& cells, FindSome find) {
  return on_all_cores(std::make_shared<PackedSearch<FindSome>>(problem, cells, std::move(find)));
}
/// Cells a little shorter than the reach, which is that of two of them.
Cells short_cells(const Problem& problem) {
  return cells_of(problem.low(), problem.extent(), std::sqrt(problem.radius_squared),
                  problem.kind == Kind::boids ? 14 : 6);
}

/// Agents that a kernel gives wrong neighbours, of each problem with 1000 agents.
std::size_t wrong_in(Kind kind, const std::function<HostKernel(const Problem&)>& make) {
  Problem problem = problem_of(kind, 1000);
  if (kind == Kind::boids) problem.world = 24;  // so few near that those far off count
  const ReferenceStep right = reference_step(problem, generate(problem));
  return verify_on_host(make(problem), team(), problem, right, 1).wrong;
}

class PlantedFault : public testing::TestWithParam<Kind> {};

TEST_P(PlantedFault, IsAbsentFromTheUnchangedSearch) {
  const auto sound = [](const Problem& problem) {
    return searching(problem, short_cells(problem), {keep_all});
  };
  EXPECT_EQ(wrong_in(GetParam(), sound), 0U);
}

// Of cells a little shorter than the reach, it rounds to one.
TEST_P(PlantedFault, IsSeenWhereTheReachIsRounded) {
  const auto rounded = [](const Problem& problem) {
    Cells cells = short_cells(problem);
    cells.reach =
        static_cast<std::uint32_t>(std::lround(std::sqrt(problem.radius_squared) / cells.length));
    EXPECT_EQ(cells.reach, 1U);
    EXPECT_EQ(short_cells(problem).reach, 2U);
    return searching(problem, cells, {keep_all});
  };
  EXPECT_GT(wrong_in(GetParam(), rounded), 0U);
}

TEST_P(PlantedFault, IsSeenWhereTheOwnCellIsSkipped) {
  const auto skipping = [](const Problem& problem) {
    return searching(problem, short_cells(problem),
                     {[](const PackedCells& packed, std::size_t at, std::size_t from,
                         std::size_t to, const auto& test) {
                       if (at < from || at >= to) return test(from, to);
                       const Vector<float> me = packed.place(at);
                       const std::uint32_t cell = packed.cells().of(me);
                       const auto [own, end] = packed.run(cell, cell);
                       test(from, own);
                       test(end, to);
                     }});
  };
  EXPECT_GT(wrong_in(GetParam(), skipping), 0U);
}

TEST_P(PlantedFault, IsSeenWhereTheTailOfARunIsLost) {
  const auto without_tail = [](const Problem& problem) {
    return searching(
        problem, short_cells(problem),
        {[](const PackedCells& /*packed*/, std::size_t /*at*/, std::size_t from, std::size_t to,
            const auto& test) { test(from, from + (to - from) / 8 * 8); }});
  };
  EXPECT_GT(wrong_in(GetParam(), without_tail), 0U);
}

TEST_P(PlantedFault, IsSeenWhereTheLastAgentIsForgotten) {
  const auto forgetful = [](const Problem& problem) {
    const HostKernel sound = searching(problem, short_cells(problem), {keep_all});
    return HostKernel{.run = [sound, problem](std::span<const Step> steps, ThreadTeam& threads) {
      sound.run(steps, threads);
      const std::size_t last = problem.agents - 1;
      steps.back().counts[last] = no_agent;
      steps.back().lists->set(last, {.first = 0, .count = no_agent, .pool = 0});
    }};
  };
  EXPECT_EQ(wrong_in(GetParam(), forgetful), 1U);
}

TEST_P(PlantedFault, IsSeenWhereNothingIsDone) {
  const auto idle = [](const Problem& /*problem*/) {
    return HostKernel{.run = [](std::span<const Step>, ThreadTeam&) {}};
  };
  EXPECT_EQ(wrong_in(GetParam(), idle), 1000U);
}

INSTANTIATE_TEST_SUITE_P(Problems, PlantedFault,
                         testing::Values(Kind::boids, Kind::circles, Kind::list),
                         [](const auto& kind) { return std::string{to_string(kind.param)}; });

TEST(NeighboursRungs, AreRefusedWhereAListIsCutAt32) {
  const auto cutting = [](const Problem& problem) {
    const HostKernel sound = searching(problem, short_cells(problem), {keep_all});
    return HostKernel{.run = [sound, problem](std::span<const Step> steps, ThreadTeam& threads) {
      sound.run(steps, threads);
      ListPools& lists = *steps.back().lists;
      for (std::size_t i = 0; i < problem.agents; ++i) {
        ListPools::Entry entry = lists.entry(i);
        entry.count = std::min(entry.count, 32U);
        lists.set(i, entry);
      }
    }};
  };
  EXPECT_GT(wrong_in(Kind::list, cutting), 0U);
}

TEST(NeighboursRungs, AreRefusedWhereABoidIsLeftWhereItWas) {
  const Set set = generated(Kind::boids, 130, Spread::uniform);
  const HostKernel lazy{.run = [&](std::span<const Step> steps, ThreadTeam& threads) {
    maker_of<MakeHostKernel>("neighbours_serial")(set.problem, {}, Vectors::none)
        .run(steps, threads);
    steps.back().to->part(Part::px)[7] = steps.back().from->part(Part::px)[7];
  }};
  const auto seen = verify_on_host(lazy, team(), set.problem, set.right, 1);
  EXPECT_EQ(seen.wrong, 0U);
  EXPECT_EQ(accuracy_gate(seen.motion.front()).verdict, Verdict::failed);
}

TEST(NeighboursRungs, WriteListsThatGrowAsFarAsTheyMust) {
  const Set set = generated(Kind::list, 1000, Spread::clustered);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < set.problem.agents; ++i)
    longest = std::max(longest, set.right.neighbours.of(i).size());
  EXPECT_GE(longest, 400U) << "the cluster is to have lists that no guess at their length holds";
}

}  // namespace
}  // namespace strata::neighbours
