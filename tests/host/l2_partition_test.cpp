#include "micro/latency/l2_partition.cu"

#include "harness/base/error.hpp"
#include "harness/model/word_patterns.hpp"
#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace strata::l2_partition {
namespace {

/// From -1 to 1, other at each call.
class Noise {
 public:
  double operator()() { return hashed_word(++state_) / 2147483648.0 - 1; }

 private:
  std::uint32_t state_ = 77;
};

bool side_of_sm(std::size_t sm) {
  return sm / 3 % 2 == 0;
}
bool side_of_line(std::size_t line) {
  return hashed_word(static_cast<std::uint32_t>(line)) % 2 == 0;
}

/// SMs and lines with distances of their own, noise, and `crossing` cycles between two sides.
Matrix chip(double crossing, double noise, std::size_t sms = 66, std::size_t count = 128) {
  Noise draw;
  std::vector<double> of_sm(sms);
  std::vector<double> of_line(count);
  std::ranges::generate(of_sm, [&] { return 20 * draw(); });
  std::ranges::generate(of_line, [&] { return 30 * draw(); });
  Matrix m{.rows = sms, .columns = count, .cells = {}};
  for (std::size_t s = 0; s < sms; ++s) {
    for (std::size_t l = 0; l < count; ++l) {
      const double far = side_of_sm(s) == side_of_line(l) ? 0 : crossing;
      m.cells.push_back(500 + of_sm[s] + of_line[l] + far + noise * draw());
    }
  }
  return m;
}

TEST(L2Split, FindsTwoSidesAndWhichIsNear) {
  const Split found = split(chip(/*crossing=*/120, /*noise=*/30));
  ASSERT_TRUE(found.two);
  EXPECT_LE(found.p_value, p_bound);
  EXPECT_GT(found.rows_apart, 0.95);
  EXPECT_GT(found.columns_apart, 0.95);
  for (std::size_t s = 0; s < found.row_side.size(); ++s) {
    for (std::size_t l = 0; l < found.column_side.size(); ++l)
      ASSERT_EQ(found.near(s, l), side_of_sm(s) == side_of_line(l)) << s << ' ' << l;
  }
}

TEST(L2Split, HoldsWhereOneSideHasFewSms) {
  Matrix m = chip(120, 20);
  m.rows = 8;  // of which SMs 3 to 5 are on the other side
  m.cells.resize(m.rows * m.columns);
  const Split found = split(m);
  ASSERT_TRUE(found.two);
  EXPECT_EQ(std::ranges::count(found.row_side, found.row_side[3]), 3);
}

TEST(L2Split, SaysOneOfAChipWithoutHalves) {
  const Split found = split(chip(0, 30));
  EXPECT_FALSE(found.two);
  EXPECT_GT(found.p_value, p_bound);
}

TEST(L2Split, DoesNotTakeDistancesForHalves) {
  // SMs and slices along a line: the farther apart the slower, with no step anywhere.
  Matrix m = chip(0, 3);
  for (std::size_t s = 0; s < m.rows; ++s) {
    for (std::size_t l = 0; l < m.columns; ++l) {
      const double from = static_cast<double>(s) / static_cast<double>(m.rows) - 0.5;
      const double to = static_cast<double>(l) / static_cast<double>(m.columns) - 0.5;
      m.cells[s * m.columns + l] -= 80 * from * to;
    }
  }
  const Split found = split(m);
  EXPECT_LE(found.p_value, p_bound);  // a pattern, but
  EXPECT_FALSE(found.two) << found.rows_apart << ' ' << found.columns_apart;
}

TEST(L2Split, WantsBothSmsAndLinesInTwoGroups) {
  // Lines along a line, as seen from two groups of SMs; and the other way round.
  for (const bool lines_in_groups : {false, true}) {
    Matrix m = chip(0, 3);
    for (std::size_t s = 0; s < m.rows; ++s) {
      for (std::size_t l = 0; l < m.columns; ++l) {
        const double sm = static_cast<double>(s) / static_cast<double>(m.rows) - 0.5;
        const double line = static_cast<double>(l) / static_cast<double>(m.columns) - 0.5;
        m.cells[s * m.columns + l] -= lines_in_groups ? 80 * sm * (side_of_line(l) ? 0.5 : -0.5)
                                                      : 80 * line * (side_of_sm(s) ? 0.5 : -0.5);
      }
    }
    const Split found = split(m);
    EXPECT_LE(found.p_value, p_bound);
    EXPECT_EQ(found.columns_apart > found.rows_apart, lines_in_groups);
    EXPECT_FALSE(found.two) << found.rows_apart << ' ' << found.columns_apart;
  }
}

TEST(L2Split, FindsNoSplitInASmallOrFlatMatrix) {
  EXPECT_FALSE(split({.rows = 2, .columns = 64, .cells = std::vector<double>(128, 300)}).two);
  EXPECT_FALSE(split({.rows = 16, .columns = 16, .cells = std::vector<double>(256, 300)}).two);
}

TEST(L2Split, FindsNoSplitInASingleSlowCell) {
  Matrix m{.rows = 16, .columns = 16, .cells = std::vector<double>(256, 300)};
  m.row(5)[9] = 400;
  const Split found = split(m);
  EXPECT_GE(found.rows_apart, apart_bound);
  EXPECT_GE(found.columns_apart, apart_bound);
  EXPECT_GT(found.p_value, p_bound);
  EXPECT_FALSE(found.two);
}

TEST(L2Lines, AreDifferentAndSpreadOverTheRoom) {
  const auto all = offsets();
  ASSERT_EQ(all.size(), lines);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), lines);
  for (const auto offset : all) {
    EXPECT_EQ(offset % 128, 0U);
    EXPECT_LT(offset, room_bytes);
  }
  EXPECT_GT(*std::ranges::max_element(all) - *std::ranges::min_element(all), room_bytes / 2);
}

TEST(L2Lines, HaveOthersOfTheirPageBesideThem) {
  const auto all = offsets();
  const auto beside = offsets_beside();
  ASSERT_EQ(beside.size(), lines);
  for (std::size_t i = 0; i < lines; ++i) {
    EXPECT_EQ(beside[i] % 128, 0U);
    EXPECT_EQ(beside[i] / (128U << 10U), all[i] / (128U << 10U));
    const auto nearest = std::ranges::min(all, {}, [&](std::uint64_t line) {
      return line > beside[i] ? line - beside[i] : beside[i] - line;
    });
    EXPECT_GE(std::max(nearest, beside[i]) - std::min(nearest, beside[i]), 4U << 10U);
  }
}

TEST(L2Lines, AfterASweepAreLoadedByOneSmEach) {
  std::vector<std::set<std::uint32_t>> of_block(lines);
  for (std::uint32_t sweep = 0; sweep < full_sweeps; ++sweep) {
    std::set<std::uint32_t> at_once;
    for (std::size_t block = 0; block < lines; ++block) {
      at_once.insert(line_of(block, sweep));
      of_block[block].insert(line_of(block, sweep));
    }
    EXPECT_EQ(at_once.size(), lines);
  }
  for (const auto& loaded : of_block)
    EXPECT_EQ(loaded.size(), full_sweeps);
}

TEST(L2Matrix, MedianIsNoneWhereACellIsMissing) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> cells =
      median_of(std::vector<Matrix>{{1, 2, {1, 10}}, {1, 2, {3, none}}, {1, 2, {2, 20}}}).cells;
  EXPECT_EQ(cells[0], 2);
  EXPECT_TRUE(std::isnan(cells[1]));
}

TEST(L2Matrix, MedianIsCellByCell) {
  const std::vector<Matrix> three{{1, 2, {1, 10}}, {1, 2, {3, 30}}, {1, 2, {2, 20}}};
  EXPECT_EQ(median_of(three).cells, (std::vector<double>{2, 20}));
}

// --- the description

constexpr unsigned some_sms = 8;

/// A launch of so many accesses to each line, in which one of SM s to line l costs `cycles`(s, l).
/// Blocks run on the SMs from `first` on.
template <class Cycles>
Launched launch(std::uint32_t accesses, std::size_t first, Cycles&& cycles) {
  Launched launched{.length = {.work = double{1} * accesses * lines}};
  for (std::size_t block = 0; block < some_sms; ++block) {
    const std::size_t sm = (first + block) % some_sms;
    launched.stamps.push_back({.cycles = {100, 2100 + 1000ULL * accesses},
                               .nanoseconds = {1, 1001 + 500ULL * accesses},
                               .result = 0,
                               .core = static_cast<std::uint32_t>(sm),
                               .tag = 0});
    for (std::size_t line = 0; line < lines; ++line)
      launched.cells.push_back(40 + accesses * cycles(sm, line));
  }
  return launched;
}
double two_sides(std::size_t sm, std::size_t line) {
  return 500 + (side_of_sm(sm) == side_of_line(line) ? 0 : 100) + (sm == 2 ? 20 : 0);
}
double loads_of_two_sides(std::size_t sm, std::size_t line) {
  return two_sides(sm, line) - 210;
}
double loads_of_copies(std::size_t sm, std::size_t line) {
  return 290 + (two_sides(sm, line) > 590 ? 20 : 0);
}
std::vector<Verdict> verdicts_of(const std::string& gate, const FakeSession& fake) {
  std::vector<Verdict> verdicts;
  for (const Gate& one : fake.record.gates) {
    if (one.name == gate) verdicts.push_back(one.verdict);
  }
  return verdicts;
}
/// A launch of so many sweeps: a line that no block loads holds what nothing wrote.
template <class Cycles>
Launched swept(std::uint32_t sweeps, std::size_t first, Cycles&& cycles) {
  Launched launched = launch(1, first, cycles);
  launched.length = {.rounds = sweeps, .work = double{1} * sweeps};
  std::ranges::fill(launched.cells, 1e18);
  for (std::size_t block = 0; block < some_sms; ++block) {
    launched.stamps[block].cycles[1] = 100 + 90'000ULL * sweeps + 1'000;
    launched.stamps[block].nanoseconds[1] = 1 + 45'000ULL * sweeps + 500;
    const std::size_t sm = (first + block) % some_sms;
    for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
      const std::uint32_t line = line_of(block, sweep);
      launched.cells[block * lines + line] = cycles(sm, line);
    }
  }
  return launched;
}
/// What the window of a slope makes of launches of which an access costs `cycles`.
template <class Cycles>
Inside inside_of(const Slope& slope, std::uint32_t accesses_of_round, Cycles&& cycles) {
  return slope.window.read(launch(slope.lengths.brief.rounds * accesses_of_round, 0, cycles),
                           launch(slope.lengths.full.rounds * accesses_of_round, 0, cycles));
}
double memory_of_two_sides(std::size_t sm, std::size_t line) {
  return 1.5 * two_sides(sm, line) - 100;
}
template <class Exchanges, class Loads, class Memory>
Sample sample_where(const Experiment& experiment, Exchanges&& exchange, Loads&& load,
                    Memory&& memory) {
  Sample sample;
  for (const Inside& inside :
       {inside_of(experiment.slopes.at(exchanges), turn, exchange),
        inside_of(experiment.slopes.at(single_loads), 1, load),
        experiment.slopes.at(evicted_loads)
            .window.read(swept(brief_sweeps, 0, memory), swept(full_sweeps, 0, memory))})
    sample.slopes.push_back({.inside = inside, .outside = inside.slowest});
  return sample;
}

TEST(L2PartitionWindow, GivesEachSmAndLineItsOwnSlope) {
  const Experiment experiment = describe({}, {.sms = some_sms});
  const Window& window = experiment.slopes.at(0).window;
  const Inside seen = window.read(launch(brief_turns * turn, 0, two_sides),
                                  launch(full_turns * turn, 3, two_sides));
  ASSERT_EQ(seen.cells.size(), some_sms * lines);
  double slowest = 0;
  for (std::size_t sm = 0; sm < some_sms; ++sm) {
    double sum = 0;
    for (std::size_t line = 0; line < lines; ++line) {
      EXPECT_DOUBLE_EQ(seen.cells[sm * lines + line], two_sides(sm, line));
      sum += two_sides(sm, line);
    }
    slowest = std::max(slowest, sum / lines);
  }
  EXPECT_DOUBLE_EQ(seen.slowest, slowest);
  EXPECT_DOUBLE_EQ(seen.hertz, 2e9);
  // Of loads the cells are a part of what the SM did.
  EXPECT_DOUBLE_EQ(inside_of(experiment.slopes.at(1), 1, two_sides).slowest, 1000.0 / lines);
  Launched elsewhere = launch(full_turns * turn, 0, two_sides);
  elsewhere.stamps[0].core = some_sms;
  EXPECT_THROW((void)window.read(launch(brief_turns * turn, 0, two_sides), elsewhere),
               std::runtime_error);
}

TEST(L2PartitionWindow, HasAfterSweepsTheLinesThatAnSmLoads) {
  const Experiment experiment = describe({}, {.sms = some_sms});
  const Window& window = experiment.slopes.at(evicted_loads).window;
  const Inside seen = window.read(swept(brief_sweeps, 0, memory_of_two_sides),
                                  swept(full_sweeps, 3, memory_of_two_sides));
  ASSERT_EQ(seen.cells.size(), some_sms * lines);
  EXPECT_DOUBLE_EQ(seen.slowest, 90'000);
  std::size_t loaded = 0;
  for (std::size_t sm = 0; sm < some_sms; ++sm) {
    for (std::size_t line = 0; line < lines; ++line) {
      const double cell = seen.cells[sm * lines + line];
      if (std::isnan(cell)) continue;
      EXPECT_DOUBLE_EQ(cell, memory_of_two_sides(sm, line));
      ++loaded;
    }
  }
  EXPECT_EQ(loaded, some_sms * full_sweeps);
}

Sample sample_of(const Experiment& experiment) {
  return sample_where(experiment, two_sides, loads_of_two_sides, memory_of_two_sides);
}

TEST(L2PartitionRows, SayHowFarTheOtherSideIs) {
  const Experiment experiment = describe({}, {.sms = some_sms});
  FakeSession fake;
  report(fake.session, cuda_timers, experiment,
         Collection<Sample>{.kept = {sample_of(experiment), sample_of(experiment)}});
  const auto row = [&](const std::string& quantity) {
    const auto found =
        std::ranges::find(fake.record.measurements, quantity, &Measurement::quantity);
    EXPECT_NE(found, fake.record.measurements.end()) << quantity;
    return *found;
  };
  std::size_t left = 0;
  for (std::size_t line = 0; line < lines; ++line)
    left += side_of_line(line) ? 1 : 0;
  EXPECT_EQ(row("partitions").samples, std::vector<double>{2});
  EXPECT_EQ(row("partitions").provenance, Provenance::modelled);
  EXPECT_EQ(row("access_cycles").method, "clock64_slope");
  EXPECT_EQ(row("access_cycles").samples.size(), 2U);
  EXPECT_DOUBLE_EQ(row("core_clock").samples.at(0), 2e9);
  for (const char* quantity : {"near_cycles", "far_cycles", "crossing_cycles", "near_share"}) {
    EXPECT_EQ(row(quantity).samples.size(), some_sms);
    EXPECT_EQ(row(quantity).method, "double_centred_split");
    EXPECT_EQ(row(quantity).unit, quantity == std::string{"near_share"} ? "1" : "cycle");
  }
  for (std::size_t sm = 0; sm < some_sms; ++sm) {
    EXPECT_DOUBLE_EQ(row("near_cycles").samples[sm], sm == 2 ? 520 : 500);
    EXPECT_DOUBLE_EQ(row("far_cycles").samples[sm], sm == 2 ? 620 : 600);
    EXPECT_DOUBLE_EQ(row("crossing_cycles").samples[sm], 100);
    const double share = static_cast<double>(left) / lines;
    EXPECT_DOUBLE_EQ(row("near_share").samples[sm], side_of_sm(sm) ? share : 1 - share);
  }
  const std::vector<std::pair<std::string, double>> medians{{"near_load_cycles", 290},
                                                            {"far_load_cycles", 390},
                                                            {"crossing_load_cycles", 100},
                                                            {"near_dram_cycles", 650},
                                                            {"far_dram_cycles", 800}};
  for (const auto& [quantity, cycles] : medians)
    EXPECT_EQ(row(quantity).samples, (std::vector{cycles, cycles})) << quantity;
  EXPECT_EQ(row("far_cycles").noise.detail, "one sample per SM");
  EXPECT_TRUE(row("far_load_cycles").noise.detail.empty());
  EXPECT_EQ(row("sms_of_smaller_side").samples, std::vector<double>{3});
  EXPECT_EQ(row("far_load_cycles").method, "single_loads");
  EXPECT_EQ(fake.record.measurements.size(), 13U);
  EXPECT_EQ(verdicts_of("model", fake), (std::vector(3, Verdict::passed)));
  EXPECT_EQ(fake.verdict("clock"), Verdict::passed);
  EXPECT_TRUE(fake.record.facts.contains("p_value"));
}

TEST(L2PartitionGates, RefuseFarLoadsThatACopyServed) {
  const Experiment experiment = describe({}, {.sms = some_sms});
  FakeSession fake;
  report(fake.session, cuda_timers, experiment,
         Collection<Sample>{
             .kept = {sample_where(experiment, two_sides, loads_of_copies, memory_of_two_sides)}});
  EXPECT_EQ(verdicts_of("model", fake),
            (std::vector{Verdict::passed, Verdict::failed, Verdict::passed}));
}

TEST(L2PartitionGates, RefuseLoadsOfMemoryThatL2Served) {
  const Experiment experiment = describe({}, {.sms = some_sms});
  FakeSession fake;
  report(fake.session, cuda_timers, experiment,
         Collection<Sample>{.kept = {sample_where(experiment, two_sides, loads_of_two_sides,
                                                  loads_of_two_sides)}});
  EXPECT_EQ(verdicts_of("model", fake),
            (std::vector{Verdict::passed, Verdict::passed, Verdict::failed}));
}

TEST(L2PartitionGates, RefuseAnSmThatBelongsToNeitherSide) {
  const Experiment experiment = describe({}, {.sms = some_sms});
  FakeSession fake;
  const auto one_between = [](std::size_t sm, std::size_t line) {
    return sm == some_sms - 1 ? 550.0 : two_sides(sm, line);
  };
  report(fake.session, cuda_timers, experiment,
         Collection<Sample>{.kept = {sample_where(experiment, one_between, loads_of_two_sides,
                                                  memory_of_two_sides)}});
  ASSERT_FALSE(verdicts_of("model", fake).empty()) << "two sides are found without it";
  EXPECT_EQ(verdicts_of("model", fake).front(), Verdict::failed);
}

TEST(L2PartitionRows, AreFewWhereThereIsOnePartition) {
  const Experiment experiment = describe({}, {.sms = some_sms});
  const auto flat = [](std::size_t, std::size_t) { return 500.0; };
  const RowsSeen rows =
      rows_of(experiment, cuda_timers, sample_where(experiment, flat, flat, flat));
  EXPECT_EQ(rows,
            (RowsSeen{{"access_cycles by clock64_slope", {500, "cycle"}},
                      {"core_clock by clock64_over_globaltimer", {2e9, "Hz"}},
                      {"partitions by double_centred_split", {1, "1", Provenance::modelled}}}));
}

}  // namespace
}  // namespace strata::l2_partition
