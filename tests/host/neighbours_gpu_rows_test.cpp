// What a case of a rung on a GPU reports, from counts that are made up; and what its copies and
// launches must come to, by hand.
#include "harness/base/error.hpp"
#include "harness/record/run_folder.hpp"
#include "nbody/neighbours/drawing.hpp"
#include "nbody/neighbours/rung_experiment.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace strata::neighbours {
namespace {

constexpr Provenance timed = Provenance::timed;
constexpr Provenance modelled = Provenance::modelled;
constexpr Provenance counted = Provenance::counted;

RungCase a_case() {
  return {.rung = rung_named("neighbours_runs"),
          .problem = {.kind = Kind::list, .agents = 100},
          .steps = 8,
          .checked = 200,
          .counted = {.tests = 5000,
                      .used = 0.5,
                      .rebuilds = 8,
                      .neighbours = 700,
                      .traffic = {.copies = 16, .bytes = 1600, .launches = 48}},
          .predicted = {.tests = 5010, .rebuilds = 8, .used = 0.5},
          .predicted_traffic = {.copies = 16, .bytes = 1600, .launches = 48},
          .different_at_end = [] { return std::size_t{0}; }};
}

TEST(NeighboursOnAGpu, ReportWhatTheyCopyAndLaunchBesideWhatIsPredicted) {
  // 8 steps in 2 s by events, in 4 s by the SMs' timer, at 1 GHz.
  const auto rows = rows_of(describe(a_case()), cuda_timers, {.numbers = {2, 4, 1e9}});
  EXPECT_EQ(rows, (RowsSeen{{"agent_steps_per_second by event", {400, "1/s", timed}},
                            {"agent_steps_per_second by globaltimer", {200, "1/s", timed}},
                            {"steps_per_second by event", {4, "1/s", timed}},
                            {"steps_per_second by globaltimer", {2, "1/s", timed}},
                            {"neighbours_per_second by event", {2800, "1/s", timed}},
                            {"neighbours_per_second by globaltimer", {1400, "1/s", timed}},
                            {"core_clock by clock64_over_globaltimer", {1e9, "Hz", timed}},
                            {"distance_tests by code", {5000, "1", counted}},
                            {"distance_tests by model", {5010, "1", modelled}},
                            {"used_threads by code", {0.5, "1", counted}},
                            {"used_threads by model", {0.5, "1", modelled}},
                            {"fp32_instructions by model", {60120, "1", modelled}},
                            {"rebuilds by code", {8, "1", counted}},
                            {"rebuilds by model", {8, "1", modelled}},
                            {"copies by code", {2, "1", counted}},
                            {"copies by model", {2, "1", modelled}},
                            {"copied_bytes by code", {200, "B", counted}},
                            {"copied_bytes by model", {200, "B", modelled}},
                            {"launches by code", {6, "1", counted}},
                            {"launches by model", {6, "1", modelled}},
                            {"wrong_neighbours by fp64_reference", {0, "1", modelled}}}));
}

TEST(NeighboursOnAGpu, ReportLimitsAndWhatBuildsWhereTheyAreKnown) {
  RungCase which = a_case();
  which.sms = 100;
  which.least_step = 0.25;
  which.predicted_build = {.bytes = 4000, .instructions = 0};
  const Experiment experiment = describe(which);
  const auto rows = rows_of(experiment, cuda_timers, {.numbers = {2, 4, 1e9}});
  EXPECT_EQ(rows.at("bytes_limit by dram_pins"), (RowSeen{400, "1/s", modelled}));
  EXPECT_EQ(rows.at("build_bytes by model"), (RowSeen{4000, "B", modelled}));
  EXPECT_EQ(rows.count("build_instructions by model"), 0U);
  // 10,000 tests, idle threads' among them, of 14.5 instructions each.
  EXPECT_EQ(rows.at("issue_limit by issue_slots"),
            (RowSeen{100 * (100 * 128 * 1e9) / (14.5 * 10000), "1/s", modelled}));
}

TEST(NeighboursBuild, IsTheWordsThatItsKernelsReadAndWrite) {
  const Problem problem{.kind = Kind::circles, .agents = 1000, .world = 10};
  const Choice choice{.cells = 4};
  // 65 counts are filled, then scanned in place.
  constexpr double counts = 65 * 4 + 65 * 8;
  EXPECT_EQ(predict_sorted_ids(problem, choice), (Build{counts + 1000 * (20 + 24), 0}));
  EXPECT_EQ(predict_sorted_agents(problem, choice), (Build{counts + 1000 * (20 + 36), 0}));
  EXPECT_EQ(predict_sorted_by_table(problem, choice), (Build{counts + 1000 * (20 + 36 + 8), 0}));
  // A block of 128 threads for the cells, which looks at eight tiles of 128 agents.
  const Build looking = predict_looking_at_all(problem, choice);
  EXPECT_DOUBLE_EQ(looking.bytes, 2 * 12000 + 65 * 8 + 2 * 65 * 4 + 4000);
  EXPECT_DOUBLE_EQ(looking.instructions, 128 * 1024 * (107.0 / 32 + 120.0 / 16));
}

TEST(NeighboursBuild, MovesAtLeastWhatNoCacheKeeps) {
  const Problem boids{.kind = Kind::boids, .agents = 1000};
  EXPECT_EQ(least_bytes(boids, 7, 8000), 88000 - 8000);
  EXPECT_EQ(least_bytes(boids, 7, 90000), 0);
}

TEST(NeighboursTraffic, OfAgentsThatAreShownIsAMatrixOut) {
  EXPECT_EQ(predict_shown({.kind = Kind::boids, .agents = 100}, 8),
            (Traffic{.copies = 8, .bytes = 8 * 100 * 64, .launches = 8}));
}

TEST(NeighboursDrawing, IsItsOwnAxesAndItsPlace) {
  const Vector<float> place{1, 2, 3};
  for (const Vector<float>& ahead :
       {Vector<float>{0, 0, 1}, Vector<float>{0, 1, 0}, unit(Vector<float>{-1, 5, 2})}) {
    const Drawn<float> good = drawn(place, ahead);
    EXPECT_TRUE(is_drawn(good, place, ahead));
    EXPECT_NEAR(dot(cross(good.up.of, good.side.of), ahead), 1, 1e-5) << "not its mirror image";
    Drawn<float> bad = good;
    bad.place.of.z += 1e-6F;
    EXPECT_FALSE(is_drawn(bad, place, ahead));
    bad = good;
    bad.side.of = -1.0F * good.side.of;
    EXPECT_FALSE(is_drawn(bad, place, ahead));
    bad = good;
    bad.up.of.x = NAN;
    EXPECT_FALSE(is_drawn(bad, place, ahead));
  }
}

/// The verdicts of gate `model`: of tests, of threads, of copies and launches.
std::vector<Verdict> verdicts_of(const RungCase& which) {
  FakeSession fake;
  describe(which).conclude(fake.session, {});
  std::vector<Verdict> all;
  for (const Gate& gate : fake.record.gates) {
    if (gate.name == "model") all.push_back(gate.verdict);
  }
  return all;
}

TEST(NeighboursOnAGpu, AreHeldAgainstWhatIsPredicted) {
  constexpr Verdict yes = Verdict::passed;
  constexpr Verdict no = Verdict::failed;
  using Verdicts = std::vector<Verdict>;
  EXPECT_EQ(verdicts_of(a_case()), (Verdicts{yes, yes}));
  RungCase idle = a_case();
  idle.counted.used = 0.48;
  EXPECT_EQ(verdicts_of(idle), (Verdicts{no, yes}));
  RungCase tests = a_case();
  tests.counted.tests = 4950;
  EXPECT_EQ(verdicts_of(tests), (Verdicts{no, yes}));
  RungCase rebuilt = a_case();
  rebuilt.counted.rebuilds = 7;
  EXPECT_EQ(verdicts_of(rebuilt), (Verdicts{no, yes}));
}

TEST(NeighboursOnAGpu, AreTracedByTheirKernelsAndWhatTheyQueue) {
  RungCase which = a_case();
  which.rung = rung_named("neighbours_scan_grid");
  which.sample = [] { return 2.0; };
  const Experiment experiment = describe(which);
  ASSERT_TRUE(experiment.trace);
  const TracePlan& plan = *experiment.trace;
  const auto phase_of = [&](const char* function) {
    const auto found = std::ranges::find(plan.kernels, function, &KernelPhase::function);
    return found == plan.kernels.end() ? StepPhase::idle : found->phase;
  };
  EXPECT_EQ(phase_of("step_of"), StepPhase::search);
  EXPECT_EQ(phase_of("put_ids"), StepPhase::build);
  EXPECT_EQ(phase_of("count"), StepPhase::build) << "a kernel of its own";
  EXPECT_EQ(phase_of(fill_name), StepPhase::build);
  EXPECT_EQ(phase_of("draw"), StepPhase::copy_out) << "what is shown is made to be copied";
  EXPECT_EQ(phase_of("stray"), StepPhase::idle) << "no phase";
}

Problem of(Kind kind, float world) {
  return {
      .kind = kind, .agents = 100, .world = world, .radius_squared = usual_radius_squared(kind)};
}

TEST(NeighboursTraffic, OfEveryVectorInEachStepIsBothWays) {
  // Places, directions and speeds before and after a step, 28 B each; counts; 7 neighbours.
  EXPECT_EQ(
      predict_copying(of(Kind::boids, 50), {}, 8, 7),
      (Traffic{.copies = 2 * 8 * 8, .bytes = 2 * 8 * 100 * (28 + 28 + 4 + 28), .launches = 8}));
  EXPECT_EQ(predict_copying(of(Kind::circles, 10), {}, 8, 40),
            (Traffic{.copies = 2 * 3 * 8, .bytes = 2 * 8 * 100 * (12 + 12 + 4), .launches = 8}));
  // Of agents at rest places, counts, and lists with room for 64.
  EXPECT_EQ(predict_copying(of(Kind::list, 10), {}, 8, 40),
            (Traffic{.copies = 2 * 3 * 8, .bytes = 2 * 8 * 100 * (12 + 4 + 256), .launches = 8}));
}

TEST(NeighboursTraffic, OfLazyVectorsIsInOnceAndOutOnce) {
  EXPECT_EQ(predict_lazy(of(Kind::boids, 50), {}, 8, 7),
            (Traffic{.copies = 3 + 5, .bytes = 100 * (28 + 28 + 4 + 28), .launches = 8}));
  EXPECT_EQ(predict_lazy(of(Kind::list, 10), {}, 8, 32),
            (Traffic{.copies = 1 + 2, .bytes = 100 * (12 + 4 + 128), .launches = 8}));
  EXPECT_EQ(predict_scan_grid(of(Kind::circles, 10), {}, 8, 0).launches, 8U * 5);
  EXPECT_EQ(predict_counting_sort(of(Kind::circles, 10), {}, 8, 0).launches, 8U * 6);
  // A kernel, a sort by one block, leaves and the next level of 100 agents, the search; of many, a
  // sort in four passes, and seven levels.
  EXPECT_EQ(predict_tree(of(Kind::circles, 10), {}, 8, 0).launches, 8U * 4);
  Problem many = of(Kind::circles, 102);
  many.agents = 1U << 20U;
  EXPECT_EQ(predict_tree(many, {}, 8, 0).launches, 8U * (2 + 12 + 3));
  EXPECT_EQ(predict_half_stencil(of(Kind::circles, 10), {}, 8, 0).launches, 8U * 8);
  EXPECT_EQ(predict_half_stencil(of(Kind::list, 10), {}, 8, 0).launches, 8U * 7);
  EXPECT_EQ(predict_persistent(of(Kind::boids, 50), {}, 8, 7),
            (Traffic{.copies = 3 + 5, .bytes = 100 * (28 + 28 + 4 + 28), .launches = 1}));
  EXPECT_EQ(predict_verlet(of(Kind::circles, 10), {}, 8, 0).launches, 8U * 9);
}

TEST(NeighboursTraffic, OfAHostsGridHasPlacesOutAndCellsIn) {
  const Choice choice{.cells = 4};
  const Traffic lazy = predict_lazy(of(Kind::circles, 10), choice, 8, 0);
  // Before all steps but the first places come out; 65 beginnings and 100 numbers go in.
  EXPECT_EQ(predict_host_grid(of(Kind::circles, 10), choice, 8, 0),
            (Traffic{.copies = lazy.copies + 7 + 16,
                     .bytes = lazy.bytes + 7 * 1200 + 8 * (260 + 400),
                     .launches = 8}));
  const Traffic at_rest = predict_lazy(of(Kind::list, 10), choice, 8, 0);
  EXPECT_EQ(predict_host_grid(of(Kind::list, 10), choice, 8, 0).copies, at_rest.copies + 16);
}

TEST(NeighboursTraffic, OfBoxesOfAHostHasPlacesOutAndAgentsIn) {
  const Traffic lazy = predict_lazy(of(Kind::circles, 10), {}, 8, 0);
  EXPECT_EQ(predict_host_boxes(of(Kind::circles, 10), {}, 8, 0),
            (Traffic{.copies = lazy.copies + 7 + 16,
                     .bytes = lazy.bytes + 7 * 1200 + 8 * 1600,
                     .launches = 8}));
  const Traffic at_rest = predict_lazy(of(Kind::list, 10), {}, 8, 0);
  EXPECT_EQ(predict_host_boxes(of(Kind::list, 10), {}, 8, 0).copies, at_rest.copies + 16);
}

TEST(NeighboursOnAGpu, ReportThreadsWithoutAnAgentWhereThereMayBeSome) {
  RungCase which = a_case();
  which.counted.idle = {.all = 80, .active = 24};
  which.predicted.idle = {.all = 80, .active = 16};
  const auto rows = rows_of(describe(which), cuda_timers, {.numbers = {2, 4, 1e9}});
  EXPECT_EQ(rows.at("idle_threads by code"), (RowSeen{10, "1", counted}));
  EXPECT_EQ(rows.at("active_idle_threads by code"), (RowSeen{3, "1", counted}));
  EXPECT_EQ(rows.at("active_idle_threads by model"), (RowSeen{2, "1", modelled}));
  constexpr Verdict yes = Verdict::passed;
  constexpr Verdict no = Verdict::failed;
  EXPECT_EQ(verdicts_of(which), (std::vector<Verdict>{no, yes}));
  which.predicted.idle = which.counted.idle;
  EXPECT_EQ(verdicts_of(which), (std::vector<Verdict>{yes, yes}));
}

TEST(NeighboursLanes, AreThoseOfTheThreadWithTheMostTests) {
  std::vector<std::uint32_t> tests(40, 1);
  tests[3] = 5;
  tests[39] = 2;
  EXPECT_EQ(lanes_of(tests), 32U * 5 + 32U * 2);
  EXPECT_EQ(lanes_of({}), 0U);
}

}  // namespace
}  // namespace strata::neighbours
