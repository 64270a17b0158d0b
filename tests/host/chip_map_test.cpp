#include "micro/latency/chip_map.cu"

#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace strata::chip_map {
namespace {

using testing::ElementsAre;

TEST(ChipMapLines, AreHalfInOnePageAndHalfInManyOthers) {
  const auto all = offsets();
  ASSERT_EQ(all.size(), lines);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), lines);
  std::map<std::uint64_t, std::uint32_t> of_page;
  for (const std::uint64_t offset : all) {
    EXPECT_EQ(offset % line_bytes, 0U);
    ++of_page[offset / page_bytes];
  }
  EXPECT_EQ(of_page.size(), 1 + other_pages);
  EXPECT_LT(of_page.rbegin()->first, pages);
  for (const auto& [page, count] : of_page)
    EXPECT_EQ(count, page == 0 ? lines_of_first_page : lines_of_other_page) << page;
}

TEST(ChipMapLines, DifferInEveryBitOfAnAddress) {
  const auto all = offsets();
  for (std::uint64_t bit = line_bytes; bit < pages * page_bytes; bit *= 2) {
    const auto set = std::ranges::count_if(all, [bit](auto offset) { return (offset & bit) != 0; });
    EXPECT_GT(set, lines / 8) << bit;
    EXPECT_LT(set, lines * 7 / 8) << bit;
  }
}

TEST(ChipMapGroups, LinkSmsThroughOthers) {
  SmGroups groups{6};
  groups.link(4, 5);
  groups.link(1, 3);
  groups.link(3, 5);
  EXPECT_THAT(groups.lowest(), ElementsAre(0, 1, 2, 1, 1, 1));
}

constexpr std::size_t sms = 3;
constexpr GpuFacts some_gpu{.sms = sms, .memory_bytes = std::uint64_t{8} << 30U};

/// A pair of launches in which an access by an SM to a line takes `cycles(sm, line)`.
template <class Cycles>
Sample sample_of(const Experiment& experiment, const Cycles& cycles) {
  const Slope& slope = experiment.slopes.front();
  const auto launched = [&](const Length& length) {
    Launched seen{.length = length, .seconds = 1e-3};
    for (std::size_t block = 0; block < sms; ++block) {
      Stamp stamp{};
      stamp.core = static_cast<std::uint32_t>(sms - 1 - block);  // not in the order of blocks
      stamp.cycles[1] = 2'000'000;
      stamp.nanoseconds[1] = 1'000'000;
      seen.stamps.push_back(stamp);
      for (std::size_t line = 0; line < lines; ++line)
        seen.cells.push_back(100 + length.work / lines * cycles(stamp.core, line));
    }
    return seen;
  };
  Sample sample;
  sample.slopes.push_back(
      {.inside = slope.window.read(launched(slope.lengths.brief), launched(slope.lengths.full))});
  return sample;
}

const Measurement& row(const CaseRecord& record, const std::string& quantity) {
  return *std::ranges::find(record.measurements, quantity, &Measurement::quantity);
}

TEST(ChipMapRows, HaveTheMedianOfEachCellInTheOrderOfSms) {
  const Experiment experiment = describe({{"operation", "load"}}, some_gpu);
  std::vector<Sample> samples;
  for (const double more : {0.0, 1.0, 40.0}) {
    samples.push_back(sample_of(experiment, [more](std::size_t sm, std::size_t line) {
      return 300.1 + 10.0 * static_cast<double>(sm) + static_cast<double>(line % 7) + more;
    }));
  }
  FakeSession fake;
  conclude(fake.session, samples);
  const auto& cells = row(fake.record, "line_cycles").samples;
  ASSERT_EQ(cells.size(), sms * lines);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t expected = 301 + 10 * (i / lines) + i % lines % 7;
    ASSERT_EQ(cells[i], static_cast<double>(expected)) << i;
  }
  EXPECT_EQ(row(fake.record, "line_offset").samples.size(), lines);
  // The mean of the first and the last, against the one between them.
  EXPECT_NEAR(row(fake.record, "line_noise_cycles").samples.front(), 19, 1e-9);
}

TEST(ChipMapRows, HaveAnOuterTimerForTheSlowestSm) {
  const Experiment experiment = describe({{"operation", "load"}}, some_gpu);
  const Sample sample =
      sample_of(experiment, [](std::size_t sm, std::size_t) { return sm == 1 ? 500.0 : 300.0; });
  EXPECT_DOUBLE_EQ(sample.slopes.front().inside.slowest, 500);
  EXPECT_DOUBLE_EQ(sample.slopes.front().inside.cycles, 300);
}

}  // namespace
}  // namespace strata::chip_map
