#include "harness/measure/engine.hpp"

#include "fake_machine.hpp"
#include "fakes.hpp"
#include "harness/measure/step_rows.hpp"
#include "message_of.hpp"
#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr double hertz = 2e9;

/// A stamp of `cycles` cycles from cycle `begin` on, by a clock of 2 GHz.
Stamp stamp_of(std::uint64_t cycles, std::uint32_t core = 0, std::uint64_t begin = 1000) {
  return {.cycles = {begin, begin + cycles},
          .nanoseconds = {50, 50 + cycles / 2},
          .result = 0,
          .core = core,
          .tag = 0};
}
Launched launched(double work, std::vector<Stamp> stamps) {
  return {.length = {.work = work}, .seconds = 0, .stamps = std::move(stamps)};
}

/// A fake machine, and a kernel of several writers on it: writer w takes 1000 cycles and 20 + 10 w
/// for each round; a launch takes 3 µs more than the last writer's rounds. Results are salted.
struct Bench {
  explicit Bench(std::size_t writers = 1, CounterSource* source = nullptr)
      : machine{writers}, fake{source} {
    experiment.slopes = {slope()};
  }

  [[nodiscard]] Slope slope(std::string name = "") {
    return {.launch =
                [this, name](const Call& call) {
                  machine.log("launch" + name + ":" + std::to_string(call.length.rounds));
                  found_poison = found_poison && machine.is_poisoned();
                  salts.push_back(call.salt);
                  run(call);
                },
            .prepare = [this, name](const Call&) { machine.log("prepare" + name); },
            .verify =
                [this, name](const Call& call, std::span<const Stamp> stamps, Tally& tally) {
                  machine.log("verify" + name);
                  for (const Stamp& stamp : stamps)
                    tally.one(stamp.result == call.salt + call.length.rounds);
                },
            .lengths = {.brief = {.rounds = 10, .work = 10}, .full = {.rounds = 50, .work = 50}}};
  }
  void run(const Call& call) {
    if (silent) return;
    std::uint64_t cycles = 0;
    for (std::size_t w = 0; w < machine.device.size(); ++w) {
      cycles = (20 + 10 * w) * call.length.rounds;
      machine.device[w] = stamp_of(1000 + cycles, static_cast<std::uint32_t>(w));
      machine.device[w].result = call.salt + call.length.rounds;
    }
    machine.seconds = 3e-6 + static_cast<double>(cycles) / hertz;
  }
  void measure() { strata::measure(fake.session, machine, experiment); }

  FakeMachine machine;
  FakeSession fake;
  Experiment experiment;
  std::vector<std::uint32_t> salts;
  bool found_poison = true;  ///< every launch found nothing of the one before
  bool silent = false;       ///< launches write nothing
};

double row(const Bench& bench, const std::string& name) {
  return rows_of(bench.fake.record).at(name).value;
}

// --- the order of one launch -----------------------------------------------------------------

TEST(EngineOrder, PreparesMovesPoisonsTimesAndVerifiesEachLaunchOfEachSlope) {
  Bench bench;
  bench.experiment.slopes = {bench.slope("A"), bench.slope("B")};
  bench.experiment.slopes[0].start = Start::evicted;
  bench.experiment.slopes[1].start = Start::in_l2;
  bench.experiment.prepare = [&] { bench.machine.log("sample"); };
  bench.experiment.observe = [&] {
    bench.machine.log("observe");
    return std::vector<double>{1};
  };
  bench.measure();
  EXPECT_EQ(bench.machine.calls,
            "sample "
            "prepareA evict poison time launchA:10 verifyA "
            "prepareA evict poison time launchA:50 verifyA "
            "prepareB touch poison time launchB:10 verifyB "
            "prepareB touch poison time launchB:50 verifyB "
            "observe");
}

TEST(EngineOrder, LeavesDataWhereTheyAreUnlessTold) {
  Bench bench;
  bench.experiment.slopes[0].prepare = nullptr;
  bench.experiment.slopes[0].verify = nullptr;
  bench.experiment.slopes[0].held = true;
  bench.measure();
  EXPECT_EQ(bench.machine.calls, "poison time_held launch:10 poison time_held launch:50");
}

TEST(EngineOrder, PreparesEachSampleAndKeepsNoWarmup) {
  Bench bench;
  bench.fake.plan = {.warmups = 2, .min_samples = 6, .max_samples = 6};
  int samples = 0;
  bench.experiment.prepare = [&] { ++samples; };
  add_both(bench.experiment, "cost", "cycle");
  bench.measure();
  EXPECT_EQ(samples, 8);
  EXPECT_EQ(bench.salts.size(), 16U);
  EXPECT_EQ(bench.fake.record.measurements.at(0).samples.size(), 6U);
}

TEST(EngineOrder, TouchesTheDeclaredBytes) {
  Bench bench;
  const std::vector<int> data(10);
  bench.experiment.slopes[0].start = Start::in_l2;
  bench.experiment.slopes[0].data = data.data();
  bench.experiment.slopes[0].bytes = 40;
  bench.measure();
  EXPECT_EQ(static_cast<const void*>(bench.machine.touched.data()), data.data());
  EXPECT_EQ(bench.machine.touched.size(), 40U);
}

TEST(EngineOrder, HidesTheResultsOfOneLaunchFromTheNext) {
  Bench bench{3};
  bench.experiment.slopes = {bench.slope(), bench.slope()};
  bench.measure();
  EXPECT_TRUE(bench.found_poison);
  EXPECT_EQ(std::set(bench.salts.begin(), bench.salts.end()).size(), 4U);
}

/// For launches whose stamps hold no times.
Window without_clocks() {
  return {.name = "test", .read = [](const Launched&, const Launched&) {
            return Inside{.cycles = 1, .slowest = 1, .low = 1, .high = 1, .hertz = 1, .cells = {}};
          }};
}

TEST(EngineOrder, FindsALaunchThatWritesNothing) {
  Bench bench;
  bench.experiment.checked = "sums";
  bench.silent = true;
  EXPECT_THAT([&] { bench.measure(); },
              testing::ThrowsMessage<std::runtime_error>(testing::EndsWith(
                  " sums differ), clock (1 of 1 writers have no rate of the clock)")));
  EXPECT_TRUE(bench.fake.record.measurements.empty());
  Bench timed;
  timed.experiment.slopes[0].window = without_clocks();
  timed.experiment.checked = "sums";
  timed.silent = true;
  timed.measure();
  EXPECT_EQ(timed.fake.verdict("result"), Verdict::failed);
  EXPECT_EQ(timed.fake.gate("result").detail, "2 of 2 sums differ");
}

TEST(EngineOrder, FindsALaunchThatStopsWritingWhatItWroteBefore) {
  Bench bench;
  // Right for each launch: only its absence distinguishes the third and fourth launch.
  bench.experiment.slopes[0].launch = [&](const Call& call) {
    bench.silent = bench.salts.size() >= 2;
    bench.salts.push_back(call.salt);
    bench.run({.length = {.rounds = 7}});
  };
  bench.experiment.slopes[0].verify = [](const Call&, std::span<const Stamp> stamps, Tally& tally) {
    tally.one(stamps[0].result == 7);
  };
  bench.experiment.slopes[0].window = without_clocks();
  bench.experiment.pairs = 2;
  bench.measure();
  EXPECT_EQ(bench.fake.gate("result").detail, "2 of 4  differ");
}

TEST(EngineOrder, VerifiesTheWritersOfTheSlopeAlone) {
  Bench bench{4};
  bench.experiment.slopes[0].writers = 2;
  bench.measure();
  EXPECT_EQ(bench.experiment.tally.checked, 4U);
  EXPECT_EQ(bench.experiment.tally.different, 0U);
}

TEST(EngineOrder, DecidesLengthsByLaunchesLikeTheTimedOnes) {
  Bench bench;
  bench.experiment.slopes[0].size = [](const auto& run) {
    const Launched trial = run(Length{.rounds = 3, .work = 3});
    EXPECT_EQ(trial.length.rounds, 3U);
    EXPECT_EQ(trial.stamps.size(), 1U);
    EXPECT_NEAR(trial.seconds, 3e-6 + 60 / hertz, 1e-12);
    return fifth_and_whole(100, 2);
  };
  bench.measure();
  EXPECT_EQ(bench.machine.calls,
            "prepare poison time launch:3 verify "
            "prepare poison time launch:20 verify "
            "prepare poison time launch:100 verify");
  EXPECT_EQ(bench.experiment.slopes[0].lengths.brief.work, 40);
  EXPECT_EQ(bench.experiment.slopes[0].lengths.full.work, 200);
}

TEST(EngineOrder, GivesASlopeWithoutLengthsThoseDecidedByTrial) {
  Bench bench;
  bench.experiment.slopes = {bench.slope("A"), bench.slope("B")};
  bench.experiment.slopes[0].lengths = {};
  bench.experiment.slopes[1].size = [](const auto& /*run*/) { return fifth_and_whole(5, 1); };
  bench.measure();
  EXPECT_THAT(bench.machine.calls, HasSubstr("launchA:1"));
  EXPECT_THAT(bench.machine.calls, HasSubstr("launchA:5"));
}

TEST(EngineOrder, OfASingleLaunchIsTheSame) {
  Bench bench{2};
  Slope slope = bench.slope();
  slope.start = Start::evicted;
  slope.cells = [] { return std::vector<double>{4, 5}; };
  slope.writers = 1;
  slope.work_done = [](std::span<const Stamp> stamps) {
    return static_cast<double>(stamps.size() + 8);
  };
  Tally tally;
  const Call call{.length = {.rounds = 7, .work = 7}, .salt = 1};
  const Launched seen = launch_once(bench.machine, slope, call, tally);
  EXPECT_EQ(bench.machine.calls, "prepare evict poison time launch:7 verify");
  EXPECT_THAT(seen.cells, ElementsAre(4, 5));
  EXPECT_EQ(seen.length.work, 9) << "the reported work";
  EXPECT_EQ(seen.stamps.size(), 1U);
  EXPECT_NEAR(seen.seconds, 3e-6 + 210 / hertz, 1e-15);
  EXPECT_EQ(tally.checked, 1U);
  EXPECT_EQ(tally.different, 0U);
}

TEST(EngineLengths, FollowFromTwoTrials) {
  std::vector<std::uint32_t> trials;
  // 1 ms to start, then 2 µs a round.
  const auto run = [&](const Length& length) {
    trials.push_back(length.rounds);
    return Launched{.length = length, .seconds = 1e-3 + 2e-6 * length.rounds, .stamps = {}};
  };
  const Lengths lengths = lengths_by_trial(1e-3, 3)(run);
  EXPECT_EQ(lengths.full.rounds, 500U);
  EXPECT_EQ(lengths.brief.rounds, 100U);
  EXPECT_EQ(lengths.full.work, 1500);
  const auto instant = [](const Length& length) {
    return Launched{.length = length, .seconds = 1, .stamps = {}};
  };
  EXPECT_EQ(lengths_by_trial(1e-3, 3)(instant).full.rounds, 96'000U) << "of a microsecond at least";
  const auto slow = [](const Length& length) {
    return Launched{.length = length, .seconds = 1.0 * length.rounds, .stamps = {}};
  };
  EXPECT_EQ(lengths_by_trial(1e-3, 3)(slow).full.rounds, 10U) << "however long a round takes";
  trials.clear();
  double requested_seconds = 0;
  const Lengths sized = size_by_trials(run, 4, [&](double seconds) {
    requested_seconds = seconds;
    return seconds == 0 ? 1000U : 400U;
  });
  EXPECT_NEAR(requested_seconds, 2e-6, 1e-12);
  EXPECT_EQ(sized.full.rounds, 400U);
  EXPECT_EQ(sized.brief.rounds, 80U);
  EXPECT_EQ(sized.full.work, 400);
  EXPECT_THAT(trials, ElementsAre(8, 8, 24)) << "16 rounds more are 32 µs";
}

// --- slopes ----------------------------------------------------------------------------------

TEST(EngineSlope, IsTheDifferenceOfTwoLaunchesForAUnitOfWork) {
  Bench bench{2};
  bench.experiment.slopes[0].lengths.brief.work = 30;
  bench.experiment.slopes[0].lengths.full.work = 70;
  add_both(bench.experiment, "cost", "cycle");
  bench.experiment.rows.push_back(
      {"unit_time", "s", By::outside, of_slope([](const Seen& seen) { return seen.seconds; })});
  bench.experiment.rows.push_back(
      {"grid_time", "s", By::whole, of_slope([](const Seen& seen) { return seen.full_seconds; })});
  bench.measure();
  // Writer 1 takes 30 cycles a round; 40 rounds more are 40 units of work.
  EXPECT_DOUBLE_EQ(row(bench, "cost by clock64_slope"), 30);
  EXPECT_NEAR(row(bench, "cost by event_slope"), 30, 1e-9);
  EXPECT_NEAR(row(bench, "unit_time by event_slope"), 30 / hertz, 1e-18);
  EXPECT_NEAR(row(bench, "grid_time by event"), 3e-6 + 1500 / hertz, 1e-15);
  EXPECT_NEAR(row(bench, "core_clock by clock64_over_globaltimer"), hertz, 1);
  EXPECT_EQ(bench.fake.verdict("timer"), Verdict::passed);
  EXPECT_EQ(bench.fake.verdict("clock"), Verdict::passed);
}

TEST(EngineSlope, HasARateByTheCyclesOfItsWindowNotByTheSlowestWriter) {
  const Sample sample{.slopes = {{.inside = {.cycles = 2, .slowest = 4}}}, .numbers = {}};
  EXPECT_DOUBLE_EQ(per_cycle(8)(sample), 4);
}

TEST(StepRows, OfferLaneSlotsOfFourWarpsInEachCycleOfEachSm) {
  const auto at = [](double rate) { return Sample{.slopes = {}, .numbers = {1, rate}}; };
  EXPECT_DOUBLE_EQ(lane_slots_per_second({at(1e9), at(2e9), at(9e9)}, 1, 3), 3 * 128 * 2e9);
}

TEST(EngineSlope, IsTheMedianOverPairs) {
  Bench bench;
  bench.experiment.pairs = 3;
  int pair = 0;
  const std::vector<double> disturbed{1, 100, 2};
  bench.experiment.slopes[0].window = {
      .name = "test", .read = [&](const Launched&, const Launched&) {
        const double x = disturbed[static_cast<std::size_t>(pair++)];
        return Inside{.cycles = x,
                      .slowest = 2 * x,
                      .low = 3 * x,
                      .high = 4 * x,
                      .hertz = 5 * x,
                      .cells = {6 * x, 7 * x}};
      }};
  bench.experiment.observe = [&] { return std::vector<double>{8.0 * pair, 9}; };
  std::vector<Value> parts{[](const Sample& s) { return s.slopes[0].inside.cycles; },
                           [](const Sample& s) { return s.slopes[0].inside.slowest; },
                           [](const Sample& s) { return s.slopes[0].inside.low; },
                           [](const Sample& s) { return s.slopes[0].inside.high; },
                           [](const Sample& s) { return s.slopes[0].inside.hertz; },
                           [](const Sample& s) { return s.slopes[0].inside.cells[0]; },
                           [](const Sample& s) { return s.slopes[0].inside.cells[1]; },
                           number_at(0),
                           number_at(1)};
  for (std::size_t i = 0; i < parts.size(); ++i)
    bench.experiment.rows.push_back({"part" + std::to_string(i), "1", "own", parts[i]});
  bench.measure();
  std::vector<double> seen;
  for (std::size_t i = 0; i < parts.size(); ++i)
    seen.push_back(row(bench, "part" + std::to_string(i) + " by own"));
  EXPECT_THAT(seen, ElementsAre(2, 4, 6, 8, 10, 12, 14, 16, 9));
  EXPECT_EQ(bench.salts.size(), 6U);
}

TEST(EngineSlope, TakesNumbersOfEachPairBeforeTheMedian) {
  Bench bench;
  bench.experiment.slopes = {bench.slope(), bench.slope()};
  bench.experiment.pairs = 3;
  int turn = 0;
  const std::vector<double> first{10, 30, 20};
  const std::vector<double> second{1, 15, 4};  // ratios 10, 2, 5
  for (std::size_t i = 0; i < 2; ++i) {
    bench.experiment.slopes[i].window.read = [&, i](const Launched&, const Launched&) {
      const auto pair = static_cast<std::size_t>(turn++ / 2);
      return Inside{.cycles = i == 0 ? first[pair] : second[pair], .hertz = 1, .cells = {}};
    };
  }
  bench.experiment.observe = [] { return std::vector<double>{7}; };
  bench.experiment.of_each_pair = {[](const Sample& seen) {
    return seen.slopes[0].inside.cycles / seen.slopes[1].inside.cycles;
  }};
  bench.experiment.rows = {{"own", "1", "own", number_at(0)}, {"ratio", "1", "own", number_at(1)}};
  bench.measure();
  EXPECT_EQ(row(bench, "own by own"), 7);
  EXPECT_EQ(row(bench, "ratio by own"), 5);
}

TEST(EngineSlope, IsByTheWorkThatLaunchesSayTheyDid) {
  Bench bench;
  int launches = 0;
  bench.experiment.slopes[0].work_done = [&](std::span<const Stamp>) {
    return ++launches % 2 == 0 ? 104.0 : 4.0;
  };
  add_both(bench.experiment, "cost", "cycle");
  bench.measure();
  EXPECT_DOUBLE_EQ(row(bench, "cost by clock64_slope"), 40 * 20 / 100.0);
  EXPECT_NEAR(row(bench, "cost by event_slope"), 40 * 20 / 100.0, 1e-9);
}

TEST(EngineSlope, OfAnInterruptedLaunchIsByAUnitOfWork) {
  Bench bench;
  int launches = 0;
  bench.experiment.slopes[0].work_done = [&](std::span<const Stamp>) {
    return ++launches % 2 == 0 ? 3.0 : 4.0;
  };
  add_both(bench.experiment, "cost", "cycle");
  bench.measure();
  EXPECT_DOUBLE_EQ(row(bench, "cost by clock64_slope"), 40 * 20);
  EXPECT_NEAR(row(bench, "cost by event_slope"), 40 * 20, 1e-9);
}

TEST(EngineSlope, TakesTheMedianOfTheOuterTimerToo) {
  Bench bench;
  bench.experiment.pairs = 3;
  const auto launch = bench.experiment.slopes[0].launch;
  bench.experiment.slopes[0].launch = [&, launch](const Call& call) {
    launch(call);
    if (bench.salts.size() == 4) bench.machine.seconds = 1;  // an interrupt in the second pair
  };
  for (const auto& [name, value] :
       {std::pair{"outside", &Seen::outside}, std::pair{"seconds", &Seen::seconds},
        std::pair{"full", &Seen::full_seconds}})
    bench.experiment.rows.push_back(
        {name, "1", "own", of_slope([value = value](const Seen& seen) { return seen.*value; })});
  bench.measure();
  EXPECT_NEAR(row(bench, "outside by own"), 20, 1e-9);
  EXPECT_NEAR(row(bench, "seconds by own"), 20 / hertz, 1e-18);
  EXPECT_NEAR(row(bench, "full by own"), 3e-6 + 1000 / hertz, 1e-15);
}

TEST(EngineSampling, TakesAFixedNumberOfSamplesAndConcludesFromAll) {
  Bench bench;
  bench.fake.plan = {.warmups = 3, .min_samples = 7, .max_samples = 9};
  bench.experiment.samples = 2;
  int turn = 0;
  bench.experiment.observe = [&] { return std::vector<double>{1.0 * ++turn}; };
  bench.experiment.watch = {number_at(0)};
  bench.experiment.has_clock = false;
  bench.experiment.conclude = [](Session& session, const std::vector<Sample>& seen) {
    session.fact("last", seen.back().numbers[0]);
  };
  bench.measure();
  EXPECT_EQ(turn, 2);
  EXPECT_EQ(std::get<double>(bench.fake.record.facts.at("last")), 2);
}

/// Six samples of a slope; the thread loses its CPU during the launches in `switched`, and waits
/// `waited` seconds for it.
struct DisturbedBench : Bench {
  explicit DisturbedBench(std::function<bool(std::size_t launch)> switched, double waited = 0) {
    fake.plan = {.warmups = 0, .min_samples = 6, .max_samples = 6, .seconds_per_case = 1e9};
    Slope disturbed = slope();
    disturbed.launch = [this, switched, waited, launch = disturbed.launch](const Call& call) {
      if (switched(salts.size())) {
        ++machine.switched;
        if (machine.waited) *machine.waited += waited;
      }
      launch(call);
    };
    experiment.slopes = {disturbed};
    experiment.prepare = [this] { ++prepared; };
    add_both(experiment, "cost", "cycle");
  }
  [[nodiscard]] std::int64_t fact(const std::string& name) const {
    const auto found = fake.record.facts.find(name);
    return found == fake.record.facts.end() ? 0 : std::get<std::int64_t>(found->second);
  }
  [[nodiscard]] std::optional<Gate> preempted() const {
    const auto& gates = fake.record.gates;
    const auto found = std::ranges::find(gates, "preempted", &Gate::name);
    return found == gates.end() ? std::nullopt : std::optional{*found};
  }
  int prepared = 0;
};

TEST(EnginePreemption, RepeatsADisturbedSampleAndTheOneAfterIt) {
  DisturbedBench bench{[](std::size_t launch) { return launch == 2; }};
  bench.measure();
  EXPECT_EQ(bench.salts.size(), 16U) << "launches of 8 samples";
  EXPECT_EQ(bench.prepared, 8);
  EXPECT_EQ(bench.fake.record.measurements.at(0).samples.size(), 6U);
  EXPECT_EQ(bench.fact("discarded_samples"), 2);
  EXPECT_EQ(bench.fact("preempted_samples"), 0);
  EXPECT_FALSE(bench.preempted());
}

TEST(EnginePreemption, RepeatsOnePairOfASample) {
  DisturbedBench bench{[](std::size_t launch) { return launch == 7; }};
  bench.experiment.pairs = 3;
  bench.measure();
  EXPECT_EQ(bench.salts.size(), 2 * (6U * 3 + 2));
  EXPECT_EQ(bench.fact("discarded_samples"), 2);
}

TEST(EnginePreemption, IsJudgedBySwitchesNotByValues) {
  DisturbedBench bench{[](std::size_t) { return false; }};
  bench.experiment.slopes[0].launch = [&, launch =
                                              bench.experiment.slopes[0].launch](const Call& call) {
    launch(call);
    if (bench.salts.size() == 4) bench.machine.seconds *= 100;
  };
  bench.measure();
  EXPECT_EQ(bench.salts.size(), 12U);
  const auto& outer = bench.fake.record.measurements.at(1).samples;
  EXPECT_GT(std::ranges::max(outer), 50 * std::ranges::min(outer));
}

TEST(EnginePreemption, EndsWithTheBudgetAndSaysSo) {
  const auto always = [](std::size_t) { return true; };
  DisturbedBench patient{always};
  patient.measure();
  EXPECT_EQ(patient.fact("discarded_samples"), 6 * 20);
  EXPECT_EQ(patient.fact("preempted_samples"), 6);
  ASSERT_TRUE(patient.preempted());
  EXPECT_EQ(patient.preempted()->verdict, Verdict::failed);
  EXPECT_THAT(patient.preempted()->detail, HasSubstr("interrupted 100 % of the samples"));

  DisturbedBench hasty{always};
  hasty.fake.plan.seconds_per_case = 0;
  hasty.measure();
  EXPECT_EQ(hasty.salts.size(), 12U);
  EXPECT_EQ(hasty.fact("discarded_samples"), 0);
  EXPECT_EQ(hasty.fact("preempted_samples"), 6);
  EXPECT_EQ(hasty.preempted()->verdict, Verdict::failed);
}

TEST(EnginePreemption, OfLongSamplesIsJudgedByTheTimeWithoutACpu) {
  const auto verdict = [](double waited) {
    DisturbedBench bench{[](std::size_t) { return true; }, waited};
    bench.fake.plan.seconds_per_case = 0;
    bench.machine.waited = 7;  // before the case
    bench.measure();
    return bench.preempted()->verdict;
  };
  EXPECT_EQ(verdict(0), Verdict::passed);
  EXPECT_EQ(verdict(1e6), Verdict::failed);
}

TEST(EnginePreemption, RepeatsATrialLaunch) {
  DisturbedBench bench{[](std::size_t launch) { return launch == 0; }};
  bench.experiment.slopes[0].size = [&](const auto& run) {
    EXPECT_EQ(run({.rounds = 4, .work = 4}).length.rounds, 4U);
    EXPECT_EQ(bench.salts.size(), 3U);
    return bench.slope().lengths;
  };
  bench.measure();
  EXPECT_EQ(bench.salts.size(), 15U);
}

/// Why sampling ended, where the values of `noisy` jump from sample to sample.
std::string stop_with(const std::string& noisy) {
  Bench bench;
  bench.fake.plan = {.warmups = 0, .min_samples = 6, .max_samples = 8};
  bench.experiment.slopes = {bench.slope(), bench.slope()};
  int turn = 0;
  const auto jump = [&] { return turn++ % 2 == 0 ? 1.0 : 2.0; };
  const auto steady = [](const Sample&) { return 1.0; };
  bench.experiment.slopes[1].window = {.name = "test",
                                       .read = [&](const Launched&, const Launched&) {
                                         return Inside{.cycles = noisy == "inside" ? jump() : 1,
                                                       .slowest = 1,
                                                       .low = 1,
                                                       .high = 1,
                                                       .hertz = noisy == "outside" ? jump() : 1,
                                                       .cells = {}};
                                       }};
  bench.experiment.has_clock = noisy == "clock" || noisy == "clock not reported";
  if (bench.experiment.has_clock)
    bench.experiment.core_hertz = [&](const Sample&) { return jump(); };
  if (noisy == "clock not reported") bench.experiment.has_clock = false;
  if (noisy == "row" || noisy == "modelled row" || noisy == "clock" ||
      noisy == "clock not reported") {
    bench.experiment.rows.push_back({"steady", "1", "own", steady});
  }
  if (noisy == "row") {
    bench.experiment.rows.push_back({"rate", "1/s", "own", [&](const Sample&) { return jump(); }});
  }
  if (noisy == "modelled row") {
    bench.experiment.rows.push_back(
        {"rate", "1/s", "own", [&](const Sample&) { return jump(); }, Provenance::modelled});
  }
  if (noisy == "watched") bench.experiment.watch = {[&](const Sample&) { return jump(); }};
  bench.measure();
  return std::get<std::string>(bench.fake.record.facts.at("stopped_by"));
}

TEST(EngineSampling, EndsWhenEveryTimedRowAndWhatIsWatchedIsPrecise) {
  for (const char* noisy : {"row", "clock", "watched", "inside", "outside"})
    EXPECT_EQ(stop_with(noisy), "sample cap") << noisy;
  for (const char* judged_by_no_noise_check : {"nothing", "modelled row", "clock not reported"})
    EXPECT_EQ(stop_with(judged_by_no_noise_check), "precise") << judged_by_no_noise_check;
}

// --- windows ---------------------------------------------------------------------------------

TEST(EngineWindow, OfTheSlowestWriterTakesTheSlowestOfEachLaunch) {
  const Window window = slowest_writer();
  EXPECT_EQ(window.name, "slowest writer");
  const Inside seen = window.read(launched(10, {stamp_of(300, 0), stamp_of(100, 1)}),
                                  launched(30, {stamp_of(500, 0), stamp_of(900, 1)}));
  EXPECT_DOUBLE_EQ(seen.cycles, (900 - 300) / 20.0);
  EXPECT_DOUBLE_EQ(seen.slowest, seen.cycles);
  EXPECT_DOUBLE_EQ(seen.low, seen.cycles);
  EXPECT_DOUBLE_EQ(seen.high, seen.cycles);
  EXPECT_DOUBLE_EQ(seen.hertz, hertz);
}

TEST(EngineWindow, OfTheSlowestWriterHasTheMedianClockOfTheLongLaunch) {
  Stamp fast = stamp_of(600);
  fast.nanoseconds[1] = fast.nanoseconds[0] + 100;
  const auto brief = launched(0, {fast, fast, fast});
  const auto full = launched(1, {stamp_of(1000), fast, stamp_of(1000)});
  EXPECT_DOUBLE_EQ(slowest_writer().read(brief, full).hertz, hertz);
}

TEST(EngineWindow, BySumsTakesTheClockFromTheSlopeOfAllWriters) {
  // The clocks are read 30 ns apart at each end: it cancels.
  const auto apart = [](std::uint64_t cycles) {
    Stamp stamp = stamp_of(cycles);
    stamp.nanoseconds[1] += 30;
    return stamp;
  };
  const Window window = slowest_writer_by_sums();
  EXPECT_EQ(window.name, "slowest writer");
  const Inside seen =
      window.read(launched(10, {apart(300), apart(100)}), launched(30, {apart(500), apart(900)}));
  EXPECT_DOUBLE_EQ(seen.cycles, (900 - 300) / 20.0);
  EXPECT_NEAR(seen.hertz, hertz, 1);
}

TEST(EngineWindow, OfTheMedianSmGoesFromItsFirstStartToItsLastEnd) {
  // Two writers on each of three SMs.
  const auto sm = [](std::uint64_t begin, std::uint64_t end) {
    return std::vector{stamp_of((end - begin) / 2, 0, begin),
                       stamp_of(end - begin - 7, 0, begin + 7)};
  };
  const auto launch = [&](double work, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    std::vector<Stamp> all;
    for (const std::uint64_t cycles : {a, b, c}) {
      const auto one = sm(2000, 2000 + cycles);
      all.insert(all.end(), one.begin(), one.end());
    }
    return launched(work, all);
  };
  const Window window = median_sm(2);
  EXPECT_EQ(window.name, "median SM");
  const Inside seen = window.read(launch(1, 100, 130, 110), launch(3, 900, 310, 350));
  EXPECT_DOUBLE_EQ(seen.cycles, (350 - 110) / 2.0);
  EXPECT_DOUBLE_EQ(seen.slowest, seen.cycles);
}

TEST(EngineResults, AreOfEveryWriter) {
  const std::vector<Stamp> stamps{{.result = 7}, {.result = 8}};
  Tally tally;
  results_are([](const Call&) { return std::uint64_t{7}; })({}, stamps, tally);
  EXPECT_EQ(tally.checked, 2U);
  EXPECT_EQ(tally.different, 1U);
  results_are([](const Call&, std::size_t writer) { return 7 + writer; })({}, stamps, tally);
  EXPECT_EQ(tally.checked, 4U);
  EXPECT_EQ(tally.different, 1U);
  results_add_up_to([](const Call&) { return 15U; })({}, stamps, tally);
  EXPECT_EQ(tally.different, 1U);
}

TEST(EngineWindow, OfEachCoreMatchesLaunchesByCore) {
  const Window window = each_core();
  EXPECT_EQ(window.name, "each core");
  const Inside seen =
      window.read(launched(10, {stamp_of(100, 7), stamp_of(200, 5), stamp_of(300, 9)}),
                  launched(20, {stamp_of(1300, 9), stamp_of(300, 7), stamp_of(600, 5)}));
  EXPECT_DOUBLE_EQ(seen.low, 20);
  EXPECT_DOUBLE_EQ(seen.cycles, 40);
  EXPECT_DOUBLE_EQ(seen.high, 100);
  EXPECT_DOUBLE_EQ(seen.slowest, 100);
  EXPECT_DOUBLE_EQ(seen.hertz, hertz);
}

TEST(EngineWindow, OfEachCoreComparesTheOuterTimerWithTheCoresThatTakeLongest) {
  const Inside seen = each_core().read(launched(0, {stamp_of(500, 0), stamp_of(100, 1)}),
                                       launched(1, {stamp_of(600, 0), stamp_of(700, 1)}));
  EXPECT_DOUBLE_EQ(seen.high, 600);
  EXPECT_DOUBLE_EQ(seen.slowest, 200);
}

TEST(EngineWindow, OfEachCoreThrowsForLaunchesOnOtherCores) {
  EXPECT_THROW((void)each_core().read(launched(0, {stamp_of(1, 0), stamp_of(1, 1)}),
                                      launched(1, {stamp_of(2, 0), stamp_of(2, 2)})),
               std::runtime_error);
  const Inside alone =
      each_core().read(launched(0, {stamp_of(10, 0)}), launched(1, {stamp_of(30, 2)}));
  EXPECT_DOUBLE_EQ(alone.cycles, 20) << "a single writer is taken as it is";
}

TEST(EngineWindow, OfTheLastSlopeIsAFact) {
  Bench bench;
  bench.experiment.slopes = {bench.slope(), bench.slope()};
  bench.experiment.slopes[1].window = median_sm(1);
  bench.experiment.facts = [](const Experiment&) { return Facts{{"rounds", std::int64_t{50}}}; };
  bench.measure();
  EXPECT_EQ(std::get<std::string>(bench.fake.record.facts.at("window")), "median SM");
  EXPECT_EQ(std::get<std::int64_t>(bench.fake.record.facts.at("rounds")), 50);
}

// --- rows and gates of samples ---------------------------------------------------------------

Seen seen_of(double inside, double outside, double core_hertz = hertz) {
  return {.inside = {.cycles = inside, .slowest = 2 * inside, .hertz = core_hertz},
          .outside = outside,
          .seconds = 0,
          .full_seconds = 0};
}

TEST(EngineRows, HaveTheTimersOfTheDevice) {
  Experiment experiment;
  experiment.rows = {{"a", "cycle", By::inside, number_at(0)},
                     {"a", "cycle", By::outside, number_at(1)},
                     {"b", "B/cycle", By::whole, number_at(2)},
                     {"c", "B/s", By::clock, number_at(3)},
                     {"d", "cycles", "graph_slope", number_at(0)}};
  experiment.has_clock = false;
  experiment.constants = {{"e", "B/cycle", Provenance::modelled, "model", 7}};
  const Sample sample{.slopes = {}, .numbers = {1, 2, 3, 4}};
  const auto units = [&](const TimerNames& names) {
    std::vector<std::string> all;
    for (const auto& [name, one] : rows_of(experiment, names, sample)) {
      EXPECT_EQ(one.provenance, name == "e by model" ? Provenance::modelled : Provenance::timed);
      all.push_back(name + " " + std::to_string(static_cast<int>(one.value)) + " " + one.unit);
    }
    return all;
  };
  EXPECT_THAT(units(cuda_timers),
              UnorderedElementsAre("a by clock64_slope 1 cycle", "a by event_slope 2 cycle",
                                   "b by event 3 B/cycle", "c by clock64_over_globaltimer 4 B/s",
                                   "d by graph_slope 1 cycles", "e by model 7 B/cycle"));
  EXPECT_THAT(units(host_timers),
              UnorderedElementsAre("a by tsc_slope 1 cycle", "a by monotonic_slope 2 cycle",
                                   "b by monotonic 3 B/cycle", "c by dependent_adds 4 B/s",
                                   "d by graph_slope 1 cycles", "e by model 7 B/cycle"));
}

TEST(EngineRows, MayBeOfAnotherProvenance) {
  Experiment experiment;
  experiment.has_clock = false;
  experiment.rows = {{"a", "cycle", "own", number_at(0), Provenance::modelled}};
  EXPECT_EQ(rows_of(experiment, host_timers, {.slopes = {}, .numbers = {1}}),
            (RowsSeen{{"a by own", {1, "cycle", Provenance::modelled}}}));
}

TEST(EngineRows, AreScaledAndOfTheirSlope) {
  Experiment experiment;
  add_both(experiment, "cost", "cycle", /*slope=*/1, /*scale=*/0.5);
  const auto rows =
      rows_of(experiment, cuda_timers, {.slopes = {seen_of(1, 2), seen_of(30, 50)}, .numbers = {}});
  EXPECT_DOUBLE_EQ(rows.at("cost by clock64_slope").value, 15);
  EXPECT_DOUBLE_EQ(rows.at("cost by event_slope").value, 25);
}

TEST(EngineRows, HaveASampleOfEachObservation) {
  Experiment experiment;
  experiment.rows = {{"a", "1", "own", number_at(0)}};
  experiment.has_clock = false;
  FakeSession fake;
  Collection<Sample> seen{.kept = {}, .stop = Stop::time_cap};
  for (const double x : {3.0, 1.0, 2.0})
    seen.kept.push_back({.slopes = {}, .numbers = {x}});
  report(fake.session, cuda_timers, experiment, seen);
  EXPECT_THAT(fake.record.measurements.at(0).samples, ElementsAre(3, 1, 2));
  EXPECT_EQ(std::get<std::string>(fake.record.facts.at("stopped_by")), "time cap");
}

TEST(EngineGates, CompareTheOuterTimerWithTheSlowestWriter) {
  Experiment experiment;
  add_both(experiment, "cost", "cycle");
  const auto verdict = [&](double inside, double outside) {
    return verdict_of("timer", experiment, {{.slopes = {seen_of(inside, outside)}, .numbers = {}}});
  };
  EXPECT_EQ(verdict(10, 20), Verdict::passed);
  EXPECT_EQ(verdict(10, 20.5), Verdict::failed);
  EXPECT_EQ(verdict(10, 10), Verdict::failed);
}

TEST(EngineGates, NameTheirTimers) {
  Experiment experiment;
  experiment.has_clock = false;
  experiment.checks.emplace_back(TimerPair{number_at(0), By::whole, number_at(1), "graph_slope"});
  FakeSession fake;
  report(fake.session, host_timers, experiment,
         {.kept = {{.slopes = {}, .numbers = {1, 2}}}, .stop = {}});
  EXPECT_THAT(fake.gate("timer").detail, HasSubstr("monotonic 1 against graph_slope 2"));
  EXPECT_EQ(fake.record.gates.size(), 1U);
}

TEST(EngineGates, CompareTimersOnlyFromTheLengthOnThatTheyCan) {
  Experiment experiment;
  experiment.has_clock = false;
  experiment.checks.emplace_back(
      TimerPair{number_at(0), By::inside, number_at(1), By::outside, /*least=*/10});
  for (const double length : {9.9, 10.0}) {
    FakeSession fake;
    report(fake.session, cuda_timers, experiment,
           {.kept = {{.slopes = {}, .numbers = {length, 1}}}, .stop = {}});
    EXPECT_EQ(fake.record.gates.size(), length < 10 ? 0U : 1U);
  }
}

TEST(EngineGates, SayWhyTimersCannotBeCompared) {
  Experiment experiment;
  experiment.has_clock = false;
  experiment.checks.emplace_back(TimersApart{"they time other things"});
  FakeSession fake;
  report(fake.session, cuda_timers, experiment, {});
  EXPECT_EQ(fake.verdict("timer"), Verdict::not_applicable);
  EXPECT_EQ(fake.gate("timer").detail, "they time other things");
}

TEST(EngineGates, JudgeTheClockOfTheLastSlopeOrOfTheBenchmarksOwn) {
  Experiment experiment;
  const auto two = [&](double first, double second) {
    return std::vector<Sample>{
        {.slopes = {seen_of(1, 1, 1e6), seen_of(1, 1, first)}, .numbers = {1e9}},
        {.slopes = {seen_of(1, 1, 9e6), seen_of(1, 1, second)}, .numbers = {1.5e9}}};
  };
  EXPECT_EQ(verdict_of("clock", experiment, two(hertz, 1.01 * hertz)), Verdict::passed);
  EXPECT_EQ(verdict_of("clock", experiment, two(hertz, 1.03 * hertz)), Verdict::failed);
  experiment.core_hertz = number_at(0);
  EXPECT_EQ(verdict_of("clock", experiment, two(hertz, hertz)), Verdict::failed);
  const auto rows = rows_of(experiment, cuda_timers, two(hertz, hertz)[0]);
  EXPECT_DOUBLE_EQ(rows.at("core_clock by clock64_over_globaltimer").value, 1e9);
  EXPECT_EQ(rows.at("core_clock by clock64_over_globaltimer").unit, "Hz");
}

TEST(EngineGates, DoNotJudgeAClockThatEachLaunchConvertsByItself) {
  Experiment experiment;
  const std::vector<Sample> samples{{.slopes = {seen_of(1, 1, 2e9)}, .numbers = {}},
                                    {.slopes = {seen_of(1, 1, 3e9)}, .numbers = {}}};
  const auto gates = [&](const TimerNames& names) {
    FakeSession fake;
    report(fake.session, names, experiment, Collection<Sample>{.kept = samples});
    return std::ranges::count(fake.record.gates, "clock", &Gate::name);
  };
  EXPECT_EQ(gates(cuda_timers), 1);
  EXPECT_EQ(gates(host_timers), 0);
}

TEST(EngineGates, HoldTheKernelsClockAgainstTheDriversWhereItReportsOne) {
  const Sample sample{.slopes = {{.inside = {.hertz = hertz}}}, .numbers = {}};
  const auto record_of = [&](const Experiment& experiment, std::optional<double> reported) {
    FakeSession fake;
    fake.device.clock = reported;
    report(fake.session, cuda_timers, experiment, Collection<Sample>{.kept = {sample}});
    return fake.record;
  };
  const auto verdict = [](const CaseRecord& record) {
    const auto found = std::ranges::find(record.gates, "driver_clock", &Gate::name);
    return found == record.gates.end() ? std::nullopt : std::optional{found->verdict};
  };
  Experiment experiment;
  experiment.slopes.resize(1);
  const CaseRecord agrees = record_of(experiment, 1.01 * hertz);
  EXPECT_EQ(verdict(agrees), Verdict::passed);
  EXPECT_EQ(agrees.facts.at("driver_clock_hz"), Fact{1.01 * hertz});
  const CaseRecord differs = record_of(experiment, 1.05 * hertz);
  EXPECT_EQ(verdict(differs), Verdict::unverified);
  ASSERT_FALSE(differs.measurements.empty());
  EXPECT_TRUE(differs.is_valid(differs.measurements.front()));
  EXPECT_THAT(differs.reasons(differs.measurements.front()), HasSubstr("driver_clock: "));
  for (const std::optional<double> nothing : {std::optional<double>{}, std::optional{0.0}}) {
    const CaseRecord silent = record_of(experiment, nothing);
    EXPECT_EQ(verdict(silent), std::nullopt);
    EXPECT_EQ(silent.facts.count("driver_clock_hz"), 0U);
  }
  // What a benchmark saw while its kernel ran goes before.
  experiment.reported_hertz = [] { return std::optional{1.1 * hertz}; };
  EXPECT_EQ(verdict(record_of(experiment, hertz)), Verdict::unverified);
  experiment.has_clock = false;
  EXPECT_EQ(verdict(record_of(experiment, hertz)), std::nullopt);
}

TEST(EngineGates, SayThatHostTimesMayNotRepeat) {
  Experiment experiment;
  experiment.has_clock = false;
  for (const bool host : {false, true}) {
    experiment.partly_host_time = host;
    FakeSession fake;
    report(fake.session, cuda_timers, experiment, {});
    EXPECT_EQ(fake.record.gates.size(), host ? 1U : 0U);
    if (host) {
      EXPECT_EQ(fake.verdict("repeat"), Verdict::unverified);
    }
  }
}

// --- gates of launches -----------------------------------------------------------------------

TEST(EngineGates, JudgeResultAndQueueOfLaunches) {
  for (const auto verdict : {Verdict::passed, Verdict::failed}) {
    Bench bench;
    bench.experiment.checked = "sums";
    bench.machine.own_gate = Gate{"queue", verdict, ""};
    bench.measure();
    EXPECT_EQ(bench.fake.verdict("result"), Verdict::passed);
    EXPECT_EQ(bench.fake.gate("result").detail, "2 sums");
    EXPECT_EQ(bench.fake.verdict("queue"), verdict);
  }
}

TEST(EngineGates, JudgeTheCodeOfAllKernels) {
  const int kernels[2]{};
  for (const int* const spilling : {&kernels[0], &kernels[1], static_cast<const int*>(nullptr)}) {
    Bench bench;
    bench.experiment.kernels = {&kernels[0], &kernels[1]};
    bench.machine.spilling = spilling;
    bench.measure();
    const bool good = spilling == nullptr;
    EXPECT_EQ(bench.fake.verdict("code"), good ? Verdict::passed : Verdict::failed);
    EXPECT_EQ(bench.fake.gate("code").detail,
              good ? "32 registers per thread, 0 bytes of local memory"
                   : "255 registers per thread, 8 bytes of local memory");
  }
}

TEST(EngineGates, FailWhereNothingWasChecked) {
  Bench bench;
  bench.experiment.slopes[0].verify = nullptr;
  bench.measure();
  EXPECT_EQ(bench.fake.verdict("result"), Verdict::failed);
}

TEST(EngineGates, JudgeResultsThatAreRightWithinABound) {
  const auto details = [](bool exact, std::vector<Accuracy> accuracy) {
    Bench bench;
    if (exact) bench.experiment.checked = "sums";
    if (!exact) bench.experiment.slopes[0].verify = nullptr;
    bench.experiment.accuracy = [accuracy](Session& session) {
      session.fact("asked", true);
      return accuracy;
    };
    bench.measure();
    EXPECT_EQ(bench.fake.record.facts.count("asked"), 1U);
    std::string all;
    for (const Gate& gate : bench.fake.record.gates) {
      if (gate.name != "result") continue;
      all += gate.detail.substr(0, gate.detail.find(' ')) + ':' +
             std::string{to_string(gate.verdict)} + ' ';
    }
    return all;
  };
  const Accuracy good{.what = "good"};
  const Accuracy bad{.what = "bad", .rms = 1};
  EXPECT_EQ(details(false, {good, bad}), "good:passed bad:failed ");
  EXPECT_EQ(details(true, {good}), "2:passed good:passed ");
  EXPECT_EQ(details(false, {}), "nothing:failed ");
}

TEST(EngineGates, AreOnlyThoseThatTheExperimentRequests) {
  Bench bench;
  bench.measure();
  std::vector<std::string> names;
  for (const Gate& gate : bench.fake.record.gates)
    names.push_back(gate.name);
  EXPECT_THAT(names, UnorderedElementsAre("clock", "result"));
}

TEST(EngineGates, WantEveryCoreToRunItsWarps) {
  const auto verdict = [](const Placement& placement, std::uint32_t tag, std::size_t writers = 2) {
    Bench bench{4};  // a writer on each of four cores
    bench.experiment.slopes[0].writers = writers;
    const auto launch = bench.experiment.slopes[0].launch;
    bench.experiment.slopes[0].launch = [&, launch](const Call& call) {
      launch(call);
      for (Stamp& stamp : bench.machine.device)
        stamp.tag = tag;
    };
    bench.experiment.placement = placement;
    bench.measure();
    return bench.fake.verdict("placement");
  };
  EXPECT_EQ(verdict({.cores = 2}, 0), Verdict::passed);
  EXPECT_EQ(verdict({.cores = 4}, 0), Verdict::failed);
  EXPECT_EQ(verdict({.cores = 4}, 0, 4), Verdict::passed);
  EXPECT_EQ(verdict({.cores = 2, .per_core = 2}, 0), Verdict::failed);
  EXPECT_EQ(verdict({.cores = 2, .per_core = 12, .of_tag = 4}, 3), Verdict::passed);
  EXPECT_EQ(verdict({.cores = 2, .per_core = 12, .of_tag = 4}, 2), Verdict::failed);
}

TEST(EngineGates, LeaveUnprovedWhatOnlyCountersDecide) {
  const auto gate = [](Unproved unproved) {
    Bench bench;
    bench.experiment.unproved = std::move(unproved);
    bench.measure();
    return bench.fake.record.gates.back();
  };
  const Gate level = gate({.gate = "level"});
  EXPECT_EQ(level.name, "level");
  EXPECT_EQ(level.verdict, Verdict::unverified);
  EXPECT_EQ(level.detail, "level unverified: counters were not requested");
  EXPECT_EQ(gate({.gate = "level", .why = "no counters"}).detail, "level unverified: no counters");
  const Gate model = gate({.gate = "model", .why = "no counters"});
  EXPECT_EQ(model.name, "model");
  EXPECT_EQ(model.verdict, Verdict::unverified);
  EXPECT_EQ(model.detail, "no counters");
}

TEST(EngineGates, FailWhatTheLaunchesRefute) {
  for (const bool refuted : {true, false}) {
    Bench bench{2};
    bench.experiment.slopes[0].writers = 1;
    bench.experiment.unproved = {
        .gate = "level",
        .why = "",
        .refuted = [&](std::span<const Stamp> stamps) -> std::optional<std::string> {
          EXPECT_EQ(stamps.size(), 1U);
          if (refuted) return "too fast";
          return std::nullopt;
        }};
    bench.measure();
    EXPECT_EQ(bench.fake.verdict("level"), refuted ? Verdict::failed : Verdict::unverified);
    if (refuted) {
      EXPECT_EQ(bench.fake.gate("level").detail, "too fast");
    }
  }
}

// --- counting --------------------------------------------------------------------------------

CountedQuantity quantity(const char* name, const char* unit) {
  return {.name = name,
          .metric = std::string{name} + ".sum",
          .unit = unit,
          .meaning = "",
          .set = "memory"};
}

/// Counts the kernel of a Bench: each round is a request of 4 sectors that L2 has, beside 3 of each
/// launch.
struct CountBench {
  CountBench()
      : source{{quantity("l1_load_requests", "request"), quantity("l1_load_sectors", "sector"),
                quantity("l1_load_hit_sectors", "sector"), quantity("l2_load_sectors", "sector"),
                quantity("l2_load_miss_sectors", "sector"), quantity("dram_read_bytes", "B"),
                quantity("l1_store_sectors", "sector"), quantity("l2_store_sectors", "sector"),
                quantity("l2_fabric_miss_sectors", "sector"), quantity("wavefronts", "wavefront")}},
        bench{1, &source} {
    bench.experiment.slopes[0].start = Start::evicted;
    const auto launch = bench.experiment.slopes[0].launch;
    bench.experiment.slopes[0].launch = [this, launch](const Call& call) {
      launch(call);
      const double rounds = call.length.rounds;
      source.now = {{"l1_load_requests", rounds + 3},
                    {"l1_load_sectors", 4 * rounds + 3},
                    {"l1_load_hit_sectors", l1_hits * rounds},
                    {"l2_load_sectors", (4 - l1_hits) * rounds + 3},
                    {"l2_load_miss_sectors", missed * rounds},
                    {"dram_read_bytes", memory * rounds},
                    {"l1_store_sectors", rounds + 1},
                    {"l2_store_sectors", rounds + 1},
                    {"wavefronts", 2 * rounds + 5}};
      if (!halves) return;
      source.now["l2_fabric_miss_sectors"] = far_misses * rounds + 60;
    };
    bench.experiment.checked = "sums";
    bench.experiment.counts = CountPlan{.length = {.rounds = 1000},
                                        .loads = LoadPrediction{.requests = 1000, .sectors = 4000},
                                        .served_by = ServedBy::l2,
                                        .reads = 500};
  }
  [[nodiscard]] CountPlan& plan() { return *bench.experiment.counts; }
  [[nodiscard]] std::string verdicts() const {
    std::string all;
    for (const Gate& gate : bench.fake.record.gates)
      all += gate.name + ":" + std::string{to_string(gate.verdict)} + " ";
    return all;
  }

  double l1_hits = 0;  ///< of the 4 sectors of a round, as the following
  double missed = 0;
  double memory = 0;
  bool halves = false;  ///< of L2
  double far_misses = 0;
  FakeSource source;
  Bench bench;
};

TEST(EngineGates, HoldARowAgainstItsLimitAndTheRateAgainstTheLatency) {
  Bench bench;
  const auto number = [](double value) { return Value{[value](const Sample&) { return value; }}; };
  bench.experiment.rows = {
      {.quantity = "share", .unit = "1", .method = By::outside, .value = number(1.1), .most = 1},
      {.quantity = "free", .unit = "1", .method = By::outside, .value = number(1.1)},
      {.quantity = "slow", .unit = "1", .method = By::outside, .value = number(1.1), .least = 1},
      {.quantity = "fast", .unit = "1", .method = By::outside, .value = number(0.9), .least = 1}};
  bench.experiment.checks = {InFlight{.count = 4, .latency = number(20), .interval = number(5)}};
  bench.measure();
  std::vector<std::pair<std::string, Verdict>> limits;
  for (const Gate& gate : bench.fake.record.gates) {
    if (gate.name == "limit") limits.emplace_back(gate.detail.substr(0, 26), gate.verdict);
  }
  EXPECT_THAT(limits, ElementsAre(Pair("share 1.1, its interval fr", Verdict::failed),
                                  Pair("slow 1.1, its interval to ", Verdict::passed),
                                  Pair("fast 0.9, its interval to ", Verdict::failed)));
  EXPECT_EQ(bench.fake.verdict("little"), Verdict::passed);
}

TEST(EngineGates, JudgeADependenceByItsOwnResultsOrByThoseOfAllLaunches) {
  Bench bench;
  bench.experiment.checks = {Dependence{"ends", {}}, Dependence{"altered ends", Tally{8, 1}},
                             Concurrency{4, 300, 280}};
  bench.measure();
  std::vector<Verdict> verdicts;
  for (const Gate& gate : bench.fake.record.gates) {
    if (gate.name == "dependence") verdicts.push_back(gate.verdict);
  }
  EXPECT_THAT(verdicts, ElementsAre(Verdict::passed, Verdict::failed, Verdict::passed));
}

TEST(EngineCounts, TheSameLaunchBesideOneWithoutWorkAndVerifiesIt) {
  CountBench counting;
  counting.bench.measure();
  EXPECT_EQ(counting.bench.machine.calls,
            "prepare evict poison launch:0 prepare evict poison launch:0 "
            "prepare evict poison launch:1000 prepare evict poison launch:1000 "
            "land verify");
  EXPECT_TRUE(counting.bench.found_poison);
  EXPECT_THAT(counting.source.names, ElementsAre("overhead", "work"));
  EXPECT_EQ(counting.verdicts(), "model:passed level:passed result:passed ");
  EXPECT_EQ(counting.bench.fake.gate("result").detail, "1 sums");
  EXPECT_EQ(counting.bench.fake.gate("model").detail,
            "1000 requests and 4000 sectors counted, 1000 and 4000 predicted");
  EXPECT_EQ(std::get<std::int64_t>(counting.bench.fake.record.facts.at("overhead_requests")), 3);
  EXPECT_EQ(std::get<std::int64_t>(counting.bench.fake.record.facts.at("overhead_sectors")), 3);
}

TEST(EngineCounts, RowsOfEachReadBesideTheModel) {
  CountBench counting;
  counting.bench.measure();
  const auto rows = rows_of(counting.bench.fake.record);
  EXPECT_DOUBLE_EQ(rows.at("requests_per_read by cupti_net").value, 2);
  EXPECT_DOUBLE_EQ(rows.at("sectors_per_read by coalescing_model").value, 8);
  EXPECT_DOUBLE_EQ(rows.at("sectors_per_request by cupti_net").value, 4);
  EXPECT_DOUBLE_EQ(rows.at("l2_hit_share by cupti_net").value, 1);
  EXPECT_FALSE(rows.contains("dram_share by cupti_net")) << "others read as much meanwhile";
  EXPECT_EQ(rows.at("requests_per_read by cupti_net").provenance, Provenance::counted);
  EXPECT_DOUBLE_EQ(rows.at("l1_load_requests by l1_load_requests.sum").value, 1003);
  for (const auto& [name, one] : rows)
    EXPECT_NE(one.provenance, Provenance::timed) << name;
}

TEST(EngineCounts, RowsOfEachLoadOrNone) {
  CountBench counting;
  counting.plan().rows = LoadRows::per_load;
  counting.plan().reads = 1000;
  counting.plan().loads->fetched_sectors = 8000;
  counting.missed = 8;
  counting.bench.measure();
  const auto rows = rows_of(counting.bench.fake.record);
  EXPECT_DOUBLE_EQ(rows.at("requests_per_load by cupti_net").value, 1);
  EXPECT_DOUBLE_EQ(rows.at("l2_missed_sectors_per_load by cupti_net").value, 2);
  EXPECT_DOUBLE_EQ(rows.at("l2_hit_share by cupti_net").value, 0);
  EXPECT_FALSE(counting.bench.fake.record.facts.contains("overhead_requests"));
  CountBench none;
  none.plan().rows = LoadRows::none;
  none.bench.measure();
  for (const auto& [name, one] : rows_of(none.bench.fake.record))
    EXPECT_THAT(name, HasSubstr(".sum"));
  EXPECT_EQ(none.verdicts(), "model:passed level:passed result:passed ");
}

TEST(EngineCounts, MissesOfL2AreSharesOfTheSectorsThatReachIt) {
  CountBench counting;
  counting.l1_hits = 3;
  counting.missed = 2;
  counting.plan().rows = LoadRows::per_load;
  counting.bench.measure();
  EXPECT_DOUBLE_EQ(
      rows_of(counting.bench.fake.record).at("l2_missed_sectors_per_load by cupti_net").value, 2);
  counting.bench.fake.record = {};
  counting.plan().rows = LoadRows::per_request;
  counting.bench.measure();
  EXPECT_DOUBLE_EQ(
      rows_of(counting.bench.fake.record).at("l2_missed_per_sector by cupti_net").value, 2);
}

TEST(EngineCounts, RowsOfBytesFromMemoryByHalfOfL2) {
  CountBench counting;
  counting.plan().rows = LoadRows::per_load;
  counting.plan().length.rounds = 1'000'000;
  counting.plan().loads->fetched_sectors = 2 * counting.plan().loads->sectors;
  counting.halves = true;
  counting.missed = 6;  // of 8 that L2 would fetch for each round
  counting.far_misses = 1;
  counting.memory = 4 * 32;
  counting.bench.measure();
  const auto rows = rows_of(counting.bench.fake.record);
  EXPECT_DOUBLE_EQ(rows.at("l2_hit_share by cupti_net").value, 0.25);
  EXPECT_DOUBLE_EQ(rows.at("dram_share by cupti_net").value, 0.5);
  EXPECT_DOUBLE_EQ(rows.at("dram_far_share by cupti_net").value, 0.125);
  counting.bench.fake.record = {};
  counting.memory = 9 * 32;
  counting.bench.measure();
  EXPECT_FALSE(rows_of(counting.bench.fake.record).contains("dram_share by cupti_net"))
      << "others read some of it";
}

TEST(EngineCounts, RowsOfEachRequestAndUsedByte) {
  CountBench counting;
  counting.plan().rows = LoadRows::per_request;
  counting.plan().used_bytes = 64'000;
  counting.missed = 8;
  counting.memory = 128;
  counting.bench.measure();
  auto rows = rows_of(counting.bench.fake.record);
  std::erase_if(rows, [](const auto& one) { return one.first.ends_with(".sum"); });
  const auto counted = Provenance::counted;
  EXPECT_EQ(
      rows,
      (RowsSeen{{"sectors_per_request by cupti_net", {4, "sector", counted}},
                {"sectors_per_request by coalescing_model", {4, "sector", Provenance::modelled}},
                {"l2_missed_per_sector by cupti_net", {2, "1", counted}},
                {"memory_bytes_per_used_byte by cupti_net", {2, "1", counted}}}));
}

TEST(EngineCounts, FailTheGateThatTheyRefute) {
  CountBench other;
  other.plan().loads->sectors = 4001;
  other.bench.measure();
  EXPECT_EQ(other.verdicts(), "model:failed level:passed result:passed ");
  CountBench memory;
  memory.missed = 4;
  memory.memory = 128;
  memory.bench.measure();
  EXPECT_EQ(memory.verdicts(), "model:passed level:failed result:passed ");
  memory.bench.fake.record = {};
  memory.plan().served_by = ServedBy::dram;
  memory.bench.measure();
  EXPECT_EQ(memory.verdicts(), "model:passed level:passed result:passed ");
  CountBench silent;
  silent.bench.silent = true;
  silent.bench.measure();
  EXPECT_EQ(silent.verdicts(), "model:passed level:passed result:failed ");
}

TEST(EngineCounts, DoNotTakePageTablesForMissingData) {
  CountBench counting;
  counting.memory = 128;
  counting.bench.measure();
  EXPECT_EQ(counting.bench.fake.verdict("level"), Verdict::failed);
  CountBench tables;
  tables.memory = 128;
  tables.plan().memory_is_no_proof = true;
  tables.bench.measure();
  EXPECT_EQ(tables.bench.fake.verdict("level"), Verdict::passed);
}

TEST(EngineCounts, HoldStoresAndOtherQuantitiesAgainstTheModelToo) {
  const auto bench = [](std::uint64_t stored, std::uint64_t reached, double wavefronts) {
    CountBench counting;
    counting.plan().stores = StorePrediction{.claimed = ServedBy::l2, .sectors = stored};
    counting.plan().expected = {{.quantity = "wavefronts", .predicted = wavefronts}};
    counting.plan().model = "bank_model";
    counting.plan().unit = "load";
    counting.plan().units = 100;
    const auto launch = counting.bench.experiment.slopes[0].launch;
    counting.bench.experiment.slopes[0].launch = [&, launch](const Call& call) {
      launch(call);
      counting.source.now["l2_store_sectors"] = static_cast<double>(reached * call.length.rounds);
    };
    counting.bench.measure();
    const auto rows = rows_of(counting.bench.fake.record);
    EXPECT_DOUBLE_EQ(rows.at("wavefronts_per_load by cupti_net").value, 20);
    EXPECT_DOUBLE_EQ(rows.at("wavefronts_per_load by bank_model").value, wavefronts / 100);
    return counting.verdicts();
  };
  EXPECT_EQ(bench(1000, 1, 2000), "model:passed level:passed result:passed ");
  EXPECT_EQ(bench(1001, 1, 2000), "model:failed level:passed result:passed ");
  EXPECT_EQ(bench(1000, 0, 2000), "model:passed level:failed result:passed ");
  EXPECT_EQ(bench(1000, 1, 2001), "model:failed level:passed result:passed ");
}

TEST(EngineCounts, OnlyTheGateOfOtherQuantitiesWithoutAUnit) {
  CountBench counting;
  counting.plan() = {.length = {.rounds = 1000},
                     .expected = {{.quantity = "wavefronts", .predicted = 2001, .bound = 1e-3}}};
  counting.bench.experiment.accuracy = [](Session&) {
    return std::vector<Accuracy>{{.what = "pulls"}};
  };
  counting.bench.measure();
  EXPECT_EQ(counting.verdicts(), "model:passed result:passed result:passed ");
  for (const auto& [name, row] : rows_of(counting.bench.fake.record))
    EXPECT_EQ(name.find("_per_"), std::string::npos) << name;
}

TEST(EngineCounts, TheSlopeThatThePlanNamesFromItsOwnPreparation) {
  CountBench counting;
  Bench& bench = counting.bench;
  bench.experiment.slopes.push_back(bench.slope("B"));
  const auto launch = bench.experiment.slopes[1].launch;
  bench.experiment.slopes[1].launch = [&, launch](const Call& call) {
    launch(call);
    counting.source.now["wavefronts"] = 3.0 * call.length.rounds;
  };
  counting.plan() = {.length = {.rounds = 20},
                     .none = {.rounds = 1, .blocks = 2},
                     .slope = 1,
                     .prepare = [&](const Call&) { bench.machine.log("lay"); },
                     .more =
                         [](Session& session, const Counted& counted) {
                           session.fact("wavefronts", counted.net("wavefronts").value_or(-1));
                         }};
  bench.measure();
  EXPECT_EQ(bench.machine.calls,
            "lay poison launchB:1 lay poison launchB:1 lay poison launchB:20 lay poison launchB:20 "
            "land verifyB");
  EXPECT_EQ(counting.verdicts(), "result:passed ");
  EXPECT_EQ(std::get<double>(bench.fake.record.facts.at("wavefronts")), 57);
}

TEST(EngineCounts, NothingOfACaseWithoutAPlan) {
  CountBench counting;
  counting.bench.experiment.counts.reset();
  counting.bench.experiment.not_counted = "a copy has no loads";
  EXPECT_EQ(message_of<Skipped>([&] { counting.bench.measure(); }), "a copy has no loads");
  EXPECT_EQ(counting.bench.machine.calls, "");
}

TEST(EngineCounts, AreRefusedBeforeCostlyPreparations) {
  CountBench counting;
  require_timed(counting.bench.fake.session, counting.bench.experiment);
  counting.bench.experiment.counts.reset();
  EXPECT_THROW(require_timed(counting.bench.fake.session, counting.bench.experiment), Skipped);
  Bench timed;
  require_timed(timed.fake.session, counting.bench.experiment);
}

// --- exceptions ------------------------------------------------------------------------------

TEST(EngineExceptions, OutOfAnyStepLeaveNoRows) {
  for (const std::string step : {"sample", "size", "prepare", "evict", "poison", "time",
                                 "launch:10", "launch:50", "verify", "window", "observe"}) {
    Bench bench;
    bench.machine.broken = step;
    Slope& slope = bench.experiment.slopes[0];
    slope.start = Start::evicted;
    slope.size = [&](const auto& /*run*/) {
      bench.machine.log("size");
      return slope.lengths;
    };
    slope.window.read = [&](const Launched& brief, const Launched& full) {
      bench.machine.log("window");
      return slowest_writer().read(brief, full);
    };
    bench.experiment.prepare = [&] { bench.machine.log("sample"); };
    bench.experiment.observe = [&] {
      bench.machine.log("observe");
      return std::vector<double>{};
    };
    add_both(bench.experiment, "cost", "cycle");
    EXPECT_THROW(bench.measure(), std::runtime_error) << step;
    EXPECT_THAT(bench.machine.calls, ::testing::EndsWith(step));
    EXPECT_TRUE(bench.fake.record.measurements.empty()) << step;
    EXPECT_TRUE(bench.fake.record.gates.empty()) << step;
  }
}

TEST(EngineExceptions, OutOfAnyStepOfCountingLeaveNoRows) {
  for (const std::string step :
       {"prepare", "evict", "poison", "launch:0", "launch:1000", "land", "verify"}) {
    CountBench counting;
    counting.bench.machine.broken = step;
    EXPECT_THROW(counting.bench.measure(), std::runtime_error) << step;
    EXPECT_THAT(counting.bench.machine.calls, ::testing::EndsWith(step));
    EXPECT_TRUE(counting.bench.fake.record.measurements.empty()) << step;
    EXPECT_TRUE(counting.bench.fake.record.gates.empty()) << step;
  }
}

TEST(EngineExceptions, OutOfTheTouchLeaveNoRows) {
  Bench bench;
  bench.machine.broken = "touch";
  bench.experiment.slopes[0].start = Start::in_l2;
  EXPECT_THROW(bench.measure(), std::runtime_error);
  EXPECT_TRUE(bench.fake.record.gates.empty());
}

// --- work that is repeated -----------------------------------------------------------------------

/// Turns of the work of `bench`, on half of the SMs.
struct Turns {
  explicit Turns(Bench& bench, int turns) {
    steady.sm_share = 0.5;
    steady.watch = [this, &bench, turns](const Repeated& seen) {
      bench.machine.calls.clear();
      for (int i = 0; i < turns; ++i)
        seconds.push_back(seen.turn());
      calls = bench.machine.calls;
      repetitions = seen.repetitions;
      rate = seen.rate("bandwidth", 1e-3);
      bench.machine.calls.clear();
    };
    bench.fake.counting.steady = &steady;
    bench.measure();
  }
  Steady steady;
  std::vector<double> seconds;
  std::string calls;
  double repetitions = 0;
  double rate = 0;
};

TEST(EngineRepeats, LongLaunchesOfTheLastSlopeBetweenVerifiedOnes) {
  Bench bench;
  bench.experiment.slopes = {bench.slope("A"), bench.slope("B")};
  bench.experiment.slopes[1].lengths.full.rounds = 50'000'000;  // half a second
  bench.experiment.rows = {{"bandwidth", "B/cycle", By::inside, [](const Sample&) { return 1.0; }},
                           {"bandwidth", "B/s", By::outside, per_second(2, 1)}};
  const Turns turns{bench, 2};
  EXPECT_EQ(turns.calls, "time launchB:50000000 time launchB:50000000");
  EXPECT_EQ(turns.repetitions, 1) << "a launch is longer than a turn";
  EXPECT_THAT(turns.seconds, ::testing::Each(::testing::DoubleNear(0.5, 1e-3)));
  EXPECT_NEAR(turns.rate, 2 * 50 / 1e-3, 1e-6) << "two bytes for each of 50 units in a millisecond";
  EXPECT_THAT(bench.machine.calls, HasSubstr("verifyB")) << "afterwards";
  EXPECT_EQ(bench.fake.verdict("result"), Verdict::passed);
  EXPECT_TRUE(bench.fake.record.measurements.empty());
}

TEST(EngineRepeats, ShortLaunchesOftenInATurn) {
  Bench bench;
  bench.experiment.rows = {{"bandwidth", "B/s", By::outside, per_second(1)}};
  const Turns turns{bench, 1};
  EXPECT_NEAR(turns.repetitions, 0.05 / (3e-6 + 50 * 20 / hertz), 1);
}

TEST(EngineRepeats, RefusesResultsThatAreWrongAfterwards) {
  Bench bench;
  bool is_right = true;
  bench.experiment.slopes[0].verify = [&](const Call&, std::span<const Stamp>, Tally& tally) {
    tally.one(is_right);
  };
  const Steady steady{.watch = [&](const Repeated&) { is_right = false; }};
  bench.fake.counting.steady = &steady;
  bench.measure();
  EXPECT_EQ(bench.fake.verdict("result"), Verdict::failed);
}

TEST(EngineRepeats, WholeObservationsWhereThereIsNoSlope) {
  Bench bench;
  bench.experiment.slopes.clear();
  bench.experiment.checked = "what is observed";
  bench.experiment.tally.one(true);
  bench.experiment.has_clock = false;
  bench.experiment.prepare = [&] { bench.machine.log("prepare"); };
  bench.experiment.observe = [&] {
    bench.machine.log("observe");
    return std::vector<double>{0.25, 0.26};
  };
  bench.experiment.rows = {
      {"bandwidth", "B/s", By::whole, [](const Sample& s) { return 10 / s.numbers.at(0); }}};
  const Turns turns{bench, 2};
  EXPECT_EQ(turns.calls, "prepare observe prepare observe");
  EXPECT_THAT(turns.seconds, ElementsAre(0.25, 0.25));
  EXPECT_NEAR(turns.rate, 1e4, 1e-9);
}

TEST(EngineRepeats, ObservationsWithoutTheirVerificationIfTheyCan) {
  Bench bench;
  bench.experiment.slopes.clear();
  bench.experiment.tally.one(true);
  bench.experiment.has_clock = false;
  bench.experiment.observe = [&] {
    bench.machine.log("observe");
    return std::vector<double>{0.25};
  };
  bench.experiment.again = [&] {
    bench.machine.log("again");
    return 0.2;
  };
  bench.experiment.rows = {
      {"bandwidth", "B/s", By::whole, [](const Sample& s) { return 10 / s.numbers.at(0); }}};
  const Turns turns{bench, 2};
  EXPECT_EQ(turns.calls, "again again");
  EXPECT_THAT(turns.seconds, ElementsAre(0.2, 0.2));
  EXPECT_EQ(bench.machine.calls, "observe") << "verified afterwards";
}

TEST(EngineRepeats, NamesARateThatIsMissing) {
  Bench bench;
  EXPECT_THAT(message_of<std::logic_error>([&] { Turns(bench, 1); }),
              HasSubstr("no rate bandwidth"));
}

}  // namespace
}  // namespace strata
