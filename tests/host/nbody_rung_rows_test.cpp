// Every row, gate and fact of a rung's case, from samples and counts that are made up.
#include "nbody/gravity/rung_experiment.hpp"
#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::nbody {
namespace {

constexpr Provenance timed = Provenance::timed;
constexpr Provenance modelled = Provenance::modelled;

/// 2 systems of 10 bodies that move, or 10 bodies that do not: 200 or 100 interactions a step.
RungCase a_case(const char* rung, Kind kind) {
  const bool moves = kind == Kind::galaxies;
  return {.rung = rung_named(rung),
          .problem = {.kind = kind, .systems = moves ? 2U : 1U, .bodies = 10},
          .steps = moves ? 5U : 1U,
          .verified = {.error = {.relative_rms = 1e-7, .relative_maximum = 3e-7}},
          .sms = 100};
}

std::vector<std::string> gates_of(const CaseRecord& record) {
  std::vector<std::string> all;
  for (const Gate& gate : record.gates)
    all.push_back(gate.name + ':' + std::string{to_string(gate.verdict)});
  return all;
}

std::vector<std::string> results_of(const Experiment& experiment) {
  FakeSession fake;
  std::vector<std::string> all;
  for (const Accuracy& one : experiment.accuracy(fake.session))
    all.push_back(one.what + ':' + std::string{to_string(accuracy_gate(one).verdict)});
  return all;
}

TEST(RungRows, OfAGpuAreRatesStepsAndLimits) {
  const RungCase which = a_case("unrolled", Kind::galaxies);
  const Experiment experiment = describe(which);
  // 5 steps in 2 s by events, in 4 s by the SMs' timer, at 1 GHz.
  const auto rows = rows_of(experiment, cuda_timers, {.numbers = {2, 4, 1e9, 8}});
  EXPECT_EQ(rows,
            (RowsSeen{{"interactions_per_second by event", {500, "1/s", timed}},
                      {"interactions_per_second by globaltimer", {250, "1/s", timed}},
                      {"step_time by event", {0.4, "s", timed}},
                      {"step_time by globaltimer", {0.8, "s", timed}},
                      {"core_clock by clock64_over_globaltimer", {1e9, "Hz", timed}},
                      {"relative_rms_error by fp64_reference", {1e-7, "1", modelled}},
                      {"relative_maximum_error by fp64_reference", {3e-7, "1", modelled}},
                      {"nominal_flops_per_second by flop_20", {20 * 500, "FLOP/s", modelled}},
                      {"issue_limit by issue_slots", {100 * 128 * 1e9 / 14.03, "1/s", modelled}}}));
}

TEST(RungRows, HaveALimitBySpecialFunctionsWhereItIsTheLowerOne) {
  const auto limit = [](double special_functions) {
    RungCase which = a_case("unrolled", Kind::single);
    which.rung.special_functions = special_functions;
    return rows_of(describe(which), cuda_timers, {.numbers = {2, 4, 1e9, 8}})
        .at("issue_limit by issue_slots")
        .value;
  };
  EXPECT_DOUBLE_EQ(limit(1), 100 * 128 * 1e9 / 14.03);
  EXPECT_DOUBLE_EQ(limit(2), 100 * 16 * 1e9 / 2);
}

TEST(RungRows, HaveTheCallersTimeOnlyOfGravit) {
  for (const Kind kind : {Kind::galaxies, Kind::single, Kind::gravit}) {
    const Experiment experiment = describe(a_case("naive", kind));
    const auto rows = rows_of(experiment, cuda_timers, {.numbers = {2, 4, 1e9, 8}});
    EXPECT_EQ(rows.count("copied_step_time by wall"), kind == Kind::gravit ? 1U : 0U);
    EXPECT_EQ(experiment.partly_host_time, kind == Kind::gravit);
    if (kind != Kind::gravit) continue;
    EXPECT_EQ(rows.at("copied_step_time by wall"), (RowSeen{8, "s", timed}));
  }
}

TEST(RungRows, OfSeveralGpusAreOfTheLastOne) {
  const Experiment experiment = describe_several_gpus(a_case("several_gpus", Kind::galaxies));
  const auto rows = rows_of(experiment, cuda_timers, {.numbers = {2, 4, 8}});
  EXPECT_EQ(rows,
            (RowsSeen{{"interactions_per_second by wall", {500, "1/s", timed}},
                      {"interactions_per_second by event", {250, "1/s", timed}},
                      {"copied_interactions_per_second by wall", {125, "1/s", timed}},
                      {"step_time by wall", {0.4, "s", timed}},
                      {"relative_rms_error by fp64_reference", {1e-7, "1", modelled}},
                      {"relative_maximum_error by fp64_reference", {3e-7, "1", modelled}},
                      {"nominal_flops_per_second by flop_20", {20 * 500, "FLOP/s", modelled}}}));
  EXPECT_FALSE(experiment.counts.has_value());
  EXPECT_TRUE(experiment.checked.empty());
  EXPECT_THAT(results_of(experiment), testing::ElementsAre("accelerations:passed"));
}

TEST(RungRows, LeaveOutErrorsThatAreNoNumbers) {
  RungCase which = a_case("naive", Kind::single);
  which.verified.error.finite = false;
  const Experiment experiment = describe(which);
  EXPECT_EQ(rows_of(experiment, cuda_timers, {.numbers = {2, 4, 1e9, 8}}).size(), 6U);
  EXPECT_THAT(results_of(experiment), testing::ElementsAre("accelerations:failed"));
}

TEST(RungRows, TakeTheMedianOfAllSamples) {
  FakeSession fake;
  const Experiment experiment = describe(a_case("unrolled", Kind::single));
  report(
      fake.session, cuda_timers, experiment,
      {.kept = {
           {.numbers = {1, 1, 1e9, 1}}, {.numbers = {2, 2, 1e9, 2}}, {.numbers = {9, 9, 1e9, 9}}}});
  const auto value = [&](const std::string& quantity) {
    for (const Measurement& m : fake.record.measurements) {
      if (m.quantity == quantity) return m.samples.at(0);
    }
    throw std::out_of_range{quantity};
  };
  EXPECT_DOUBLE_EQ(value("nominal_flops_per_second"), 20 * 100.0 / 2);
}

TEST(RungGates, CompareTheTwoTimersOfEachBackend) {
  const auto verdicts = [](const Experiment& experiment) {
    std::string all;
    for (const double second : {2.01, 2.1, 1.9}) {
      all += to_string(verdict_of("timer", experiment, {{.numbers = {2, second, 1e9, 8}}}));
      all += ' ';
    }
    return all;
  };
  EXPECT_EQ(verdicts(describe(a_case("serial", Kind::single))), "passed failed failed ");
  EXPECT_EQ(verdicts(describe_several_gpus(a_case("several_gpus", Kind::single))),
            "passed failed failed ");
}

TEST(RungGates, JudgeTheFirstStepAndTheLastSample) {
  RungCase which = a_case("naive", Kind::single);
  which.error_at_end = [] { return Error{.relative_rms = 1}; };
  EXPECT_THAT(
      results_of(describe(which)),
      testing::ElementsAre("accelerations:passed", "accelerations of the last sample:failed"));
  which.verified.error.relative_maximum = 1;
  which.error_at_end = [] { return Error{.relative_rms = 1e-7}; };
  EXPECT_THAT(
      results_of(describe(which)),
      testing::ElementsAre("accelerations:failed", "accelerations of the last sample:passed"));
}

TEST(RungGates, CountWhatAStepMisplacesWhereBodiesMove) {
  for (const char* rung : {"naive", "serial"}) {
    RungCase which = a_case(rung, Kind::galaxies);
    which.verified.misplaced = 3;
    const Experiment experiment = describe(which);
    EXPECT_EQ(experiment.checked, "positions and masses after a step");
    EXPECT_EQ(experiment.tally.checked, 80U);
    EXPECT_EQ(experiment.tally.different, 3U);
    EXPECT_TRUE(describe(a_case(rung, Kind::single)).checked.empty());
  }
}

TEST(RungDrift, IsOfAllEnergyAndOfTheSumOfMomenta) {
  RungCase which = a_case("naive", Kind::galaxies);
  which.before = {.energy = -100, .momentum = {1, 2, 3}, .momentum_scale = 10};
  which.after = [] { return Conserved{.energy = -99, .momentum = {1, 2.5, 2.8}}; };
  FakeSession fake;
  EXPECT_EQ(describe(which).accuracy(fake.session).size(), 1U);
  EXPECT_EQ(rows_of(fake.record),
            (RowsSeen{{"energy_drift by fp64_reference", {0.01, "1", modelled}},
                      {"momentum_drift by fp64_reference", {0.05, "1", modelled}}}));
}

TEST(RungDrift, FailsTheResultWhereBodiesAreNowhere) {
  RungCase which = a_case("naive", Kind::galaxies);
  which.before = {.energy = -100, .momentum_scale = 10};
  which.after = [] { return Conserved{.energy = std::numeric_limits<double>::quiet_NaN()}; };
  EXPECT_THAT(
      results_of(describe(which)),
      testing::ElementsAre("accelerations:passed", "energy and momentum after the steps:failed"));
}

CountedQuantity quantity(const char* name) {
  return {.name = name, .metric = name, .unit = "x", .meaning = "", .set = "flops"};
}

TEST(RungCounts, ExpectOneRootForEachPairAndAFewForEachBody) {
  RungCase which = a_case("unrolled", Kind::single);
  which.square_roots = 100;
  const auto expected = describe(which).counts->expected;
  ASSERT_EQ(expected.size(), 1U);
  EXPECT_EQ(expected[0].predicted, 100);
  EXPECT_EQ(expected[0].bound, 16.0 / which.problem.bodies);
}

TEST(RungVerification, FindsAMassThatChanged) {
  const Bodies still = generate({.kind = Kind::single, .systems = 1, .bodies = 4});
  Bodies moved = still;
  const std::vector<Pull> right(4);
  const auto before = verification_of(still, moved, right).misplaced;
  moved.at(Field::mass, 2) *= 2;
  EXPECT_EQ(verification_of(still, moved, right).misplaced, before + 1);
}

TEST(RungCounts, AreOfEachInteraction) {
  FakeSource source{{quantity("fp32_add"), quantity("fp32_mul"), quantity("fp32_fma"),
                     quantity("executed_instructions"), quantity("dram_read_bytes"),
                     quantity("xu_thread_instructions")}};
  for (const double roots : {100.0, 300.0}) {
    FakeSession fake{&source};
    FakeMachine machine;
    RungCase which = a_case("unrolled", Kind::single);
    which.square_roots = 100;
    which.error_at_end = [] { return Error{}; };
    Experiment experiment = describe(which);
    Slope slope;
    slope.launch = [&](const Call& call) {
      const double steps = call.length.rounds;
      source.now = {{"fp32_add", 300 * steps},        {"fp32_mul", 400 * steps},
                    {"fp32_fma", 600 * steps},        {"executed_instructions", 50 * steps + 7},
                    {"dram_read_bytes", 200 * steps}, {"xu_thread_instructions", roots * steps}};
    };
    experiment.slopes = {slope};
    measure(fake.session, machine, experiment);
    std::map<std::string, RowSeen> net;
    for (const auto& [name, row] : rows_of(fake.record)) {
      if (name.ends_with("by cupti_net")) net.emplace(name, row);
    }
    constexpr Provenance counted = Provenance::counted;
    EXPECT_EQ(net,
              (RowsSeen{{"flops_per_interaction by cupti_net", {19, "FLOP", counted}},
                        {"instructions_per_interaction by cupti_net", {16, "instruction", counted}},
                        {"dram_bytes_per_interaction by cupti_net", {2, "B", counted}}}));
    EXPECT_THAT(gates_of(fake.record),
                testing::ElementsAre(roots == 100 ? "model:passed" : "model:failed",
                                     "result:passed", "result:passed"));
  }
}

Stamp stamp(std::uint64_t begin, std::uint64_t end, std::uint64_t cycles) {
  return {.cycles = {0, cycles}, .nanoseconds = {begin, end}};
}

TEST(StampedSteps, GoFromTheLastFirstStampToTheFirstLastOne) {
  constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
  const std::vector<Stamp> stamps{stamp(100, 1100, 1000), stamp(120, 1120, 2000),
                                  stamp(110, 1090, 980), stamp(130, 0, 0), stamp(none, 1080, 0)};
  const StampedSteps steps = stamped_steps(stamps);
  EXPECT_DOUBLE_EQ(steps.seconds, (1080 - 130) * 1e-9);
  EXPECT_DOUBLE_EQ(steps.core_hertz, 1e9);
  EXPECT_THROW((void)stamped_steps({}), std::runtime_error);
  EXPECT_THROW((void)stamped_steps(std::vector<Stamp>{stamp(none, 5, 0)}), std::runtime_error);
}

}  // namespace
}  // namespace strata::nbody
