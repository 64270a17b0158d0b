// What a case of a rung on a GPU reports, from counts that are made up; and what its copies and
// launches must come to, by hand.
#include "nbody/neighbours/rung_experiment.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

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
          .predicted = {.tests = 5010, .rebuilds = 8, .used = 0.505},
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
                            {"used_threads by model", {0.505, "1", modelled}},
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
  EXPECT_EQ(verdicts_of(a_case()), (Verdicts{yes, yes, yes}));
  RungCase idle = a_case();
  idle.counted.used = 0.49;
  EXPECT_EQ(verdicts_of(idle), (Verdicts{yes, no, yes}));
  RungCase one_byte = a_case();
  one_byte.counted.traffic.bytes += 1;
  EXPECT_EQ(verdicts_of(one_byte), (Verdicts{yes, yes, no}));
  RungCase one_launch = a_case();
  one_launch.counted.traffic.launches -= 1;
  EXPECT_EQ(verdicts_of(one_launch), (Verdicts{yes, yes, no}));
  RungCase tests = a_case();
  tests.counted.tests = 4950;
  EXPECT_EQ(verdicts_of(tests), (Verdicts{no, yes, yes}));
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

TEST(NeighboursLanes, AreThoseOfTheThreadWithTheMostTests) {
  std::vector<std::uint32_t> tests(40, 1);
  tests[3] = 5;
  tests[39] = 2;
  EXPECT_EQ(lanes_of(tests), 32U * 5 + 32U * 2);
  EXPECT_EQ(lanes_of({}), 0U);
}

}  // namespace
}  // namespace strata::neighbours
