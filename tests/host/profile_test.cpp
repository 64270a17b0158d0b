// What `strata profile` makes of the launches of a program: totals in bounded memory, the parts of
// its processes, the choice of what is counted, and the records of a run.
#include "harness/profile/part.hpp"
#include "harness/profile/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace strata::profile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

KernelShape shape_of(const std::string& kernel, unsigned blocks) {
  return {.kernel = kernel, .grid = {blocks, 1, 1}, .block = {128, 1, 1}};
}

/// A process with `count` launches of `duration` ns of each kernel.
Part part_with(const std::map<KernelShape, std::pair<std::uint64_t, std::uint64_t>>& launches) {
  Part part;
  part.program = "app";
  part.process = 7;
  part.begun = 5;
  std::uint64_t now = 1000;
  for (const auto& [shape, times] : launches) {
    for (std::uint64_t i = 0; i < times.first; ++i, now += times.second + 100)
      part.add_kernel(0, shape, now, now + times.second, false, {.registers = 32});
  }
  return part;
}

TEST(ProfileDurations, AreExactInTotalAndSampledUniformlyInBoundedMemory) {
  Durations times;
  for (std::uint64_t i = 1; i <= 100'000; ++i)
    times.add(i);
  EXPECT_EQ(times.count(), 100'000U);
  EXPECT_EQ(times.total(), 100'000ULL * 100'001 / 2);
  EXPECT_EQ(times.least(), 1U);
  EXPECT_EQ(times.most(), 100'000U);
  ASSERT_THAT(times.samples(), SizeIs(Durations::most_samples));
  // 100 uniform samples: each third holds a third of them, within five standard deviations.
  for (const std::uint64_t third : {1ULL, 33'334ULL, 66'667ULL}) {
    const auto inside = std::ranges::count_if(times.samples(), [&](const auto& one) {
      return one.duration >= third && one.duration < third + 33'333;
    });
    EXPECT_NEAR(static_cast<double>(inside), 33.3, 23.6);
  }
}

TEST(ProfileBusyTime, IsTheUnionOfOperationsThatArriveOutOfOrder) {
  BusyTime busy;
  busy.add(300, 400);
  busy.add(100, 200);
  busy.add(150, 250);  // beside the one before
  busy.add(120, 130);  // within it
  busy.settle();
  EXPECT_EQ(busy.first(), 100U);
  EXPECT_EQ(busy.last(), 400U);
  EXPECT_EQ(busy.busy(), 250U);
  EXPECT_EQ(busy.gaps(), 1U);
  EXPECT_EQ(busy.longest_gap(), 50U);
}

TEST(ProfileBusyTime, OfManyOperationsIsThatOfAll) {
  BusyTime busy;
  for (std::uint64_t i = 0; i < 200'000; i += 2) {
    busy.add(100 * i + 101, 100 * i + 180);
    busy.add(100 * i + 1, 100 * i + 80);
  }
  busy.settle();
  EXPECT_EQ(busy.busy(), 200'000ULL * 79);
  EXPECT_EQ(busy.gaps(), 199'999U);
  EXPECT_EQ(busy.longest_gap(), 21U);
}

TEST(ProfilePart, IsReadAsItWasWritten) {
  Part part = part_with({{shape_of("_Z1av", 3), {5, 70}}});
  part.add_copy(0, "host_to_device", 9000, 9100, 4096);
  part.devices[0] = {.name = "NVIDIA H200", .uuid = "GPU-1", .capability = "9.0"};
  part.metrics = {"a.sum", "b.avg"};
  part.counted.push_back({.device = 0,
                          .shape = shape_of("_Z1av", 3),
                          .ordinal = 2,
                          .values = {0.1, std::numeric_limits<double>::quiet_NaN()}});
  part.note("one\tline\n");
  part.is_whole = true;
  const std::string text = part_text(part);
  const Part read = read_part(text);
  EXPECT_EQ(read.program, "app");
  EXPECT_EQ(read.process, 7);
  EXPECT_TRUE(read.is_whole);
  EXPECT_EQ(read.devices.at(0).name, "NVIDIA H200");
  const Launches& launches = read.kernels.at(0).at(shape_of("_Z1av", 3));
  EXPECT_EQ(launches.times.count(), 5U);
  EXPECT_EQ(launches.times.total(), 350U);
  EXPECT_EQ(launches.registers, 32U);
  EXPECT_EQ(read.copies.at(0).at("host_to_device").bytes, 4096U);
  EXPECT_EQ(read.busy.at(0).busy(), part.busy.at(0).busy());
  ASSERT_THAT(read.counted, SizeIs(1));
  EXPECT_EQ(read.counted[0].ordinal, 2U);
  EXPECT_EQ(read.counted[0].values[0], 0.1);
  EXPECT_TRUE(std::isnan(read.counted[0].values[1]));
  EXPECT_THAT(read.notes, ElementsAre("one line "));
  // A process that was killed while it wrote: every line but the last is kept.
  const Part cut = read_part(std::string_view{text}.substr(0, text.rfind("counted") + 9));
  EXPECT_FALSE(cut.is_whole);
  EXPECT_EQ(cut.kernels.at(0).size(), 1U);
  EXPECT_THAT(cut.counted, IsEmpty());
}

TEST(ProfileChoice, IsTheSlowestKernelsAndLaunchesSpreadOverTheProgram) {
  const Part part = part_with({{shape_of("fast", 1), {100, 10}},
                               {shape_of("slow", 1), {10, 1000}},
                               {shape_of("slow", 2), {2, 1000}},
                               {shape_of("slow", 3), {1, 1}},
                               {shape_of("_Z4ncclv", 1), {9, 9000}}});
  const Selection chosen = choose({part}, {.top = 1, .launches = 3, .matches = {}});
  ASSERT_THAT(chosen.launches, SizeIs(2)) << "a shape without a hundredth of the time is left out";
  EXPECT_THAT(chosen.launches.at(shape_of("slow", 1)), ElementsAre(3, 6, 9));
  EXPECT_THAT(chosen.launches.at(shape_of("slow", 2)), ElementsAre(1, 2));
  Part graphed = part_with({{shape_of("both", 1), {5, 100}}});
  for (std::uint64_t i = 0; i < 4; ++i)
    graphed.add_kernel(0, shape_of("both", 1), 9000, 9100, true, {});
  graphed.add_kernel(0, shape_of("graph alone", 1), 9000, 9900, true, {});
  const Selection outside = choose({graphed}, {.top = 9, .launches = 9, .matches = {}});
  ASSERT_THAT(outside.launches, SizeIs(1));
  EXPECT_THAT(outside.launches.at(shape_of("both", 1)), ElementsAre(1, 2, 3, 4, 5));
  const Selection named = choose(
      {part},
      {.top = 5, .launches = 1, .matches = [](const std::string& name) { return name == "fast"; }});
  ASSERT_THAT(named.launches, SizeIs(1));
  EXPECT_THAT(named.launches.at(shape_of("fast", 1)), ElementsAre(51));
  const Selection read = read_selection(selection_text(chosen));
  EXPECT_EQ(read.launches, chosen.launches);
}

TEST(ProfileRecords, NameKernelsByTheirNamesAndShapes) {
  const Part part = part_with({{shape_of("_ZN2at5scaleILi4EEEvPfi", 8), {2, 50}},
                               {shape_of("_ZN12_GLOBAL__N_15scaleEPf", 8), {1, 40}},
                               {shape_of("_Z3addPf", 8), {1, 30}},
                               {shape_of("_Z3addPd", 8), {1, 20}}});
  const auto records = records_of({.times = &part, .device = 0, .why_no_counts = "none"}, {}, "t");
  std::vector<std::string> ids;
  for (const auto& record : records) {
    if (record.phase == Phase::timing) ids.push_back(record.which.id());
  }
  EXPECT_THAT(ids, ElementsAre("profile/at_scale/cuda/block=128x1x1/grid=8x1x1/template=4",
                               "profile/anonymous_scale/cuda/block=128x1x1/grid=8x1x1",
                               "profile/add/cuda/block=128x1x1/grid=8x1x1",
                               "profile/add/cuda/block=128x1x1/grid=8x1x1/overload=2",
                               "profile/device_timeline/cuda"));
}

TEST(ProfileRecords, HaveTheCountsOfTheirOwnLaunches) {
  const KernelShape shape = shape_of("k", 8);
  const Part times = part_with({{shape, {4, 50}}, {shape_of("k", 9), {4, 50}}});
  Part counts;
  counts.metrics = {"x.sum", "y.sum"};
  counts.counted = {
      {0, shape, 2, {5, 1}}, {0, shape, 3, {7, NAN}}, {0, shape_of("k", 9), 2, {1, 1}}};
  CounterPlan plan;
  plan.quantities = {{.name = "x", .metric = "x.sum", .unit = "1"},
                     {.name = "z", .metric = "z.sum", .unit = "1"}};
  Selection selection;
  selection.launches[shape] = {2, 3};
  const auto records = records_of(
      {.times = &times, .device = 0, .selection = &selection, .counts = &counts}, plan, "t");
  const auto counted = std::ranges::find_if(records, [](const auto& one) {
    return one.phase == Phase::counting && one.status == Status::measured;
  });
  ASSERT_NE(counted, records.end());
  ASSERT_THAT(counted->measurements, SizeIs(1));
  EXPECT_EQ(counted->measurements[0].quantity, "x");
  EXPECT_THAT(counted->measurements[0].samples, ElementsAre(5, 7));
  const auto skipped = std::ranges::find(records, Status::skipped, &CaseRecord::status);
  ASSERT_NE(skipped, records.end());
  EXPECT_EQ(skipped->reason, "it takes little of the time");
}

TEST(ProfileRecords, PairCountsWithTheTimesOfTheSameLaunches) {
  const KernelShape shape = shape_of("k", 8);
  Part times;
  for (const std::uint64_t duration : {10, 20, 30, 40})
    times.add_kernel(0, shape, 1000, 1000 + duration, false, {});
  Part counts;
  counts.metrics = {"x.sum"};
  counts.counted = {{0, shape, 4, {8}}, {0, shape, 2, {4}}};
  const auto paired = [&] {
    const auto records = records_of({.times = &times, .device = 0, .counts = &counts}, {}, "t");
    const auto row =
        std::ranges::find(records.front().measurements, "paired_time", &Measurement::quantity);
    return row == records.front().measurements.end() ? std::vector<double>{} : row->samples;
  };
  EXPECT_THAT(paired(), ElementsAre(40e-9, 20e-9));
  counts.counted[1].ordinal = 5;  // not in the first run
  EXPECT_THAT(paired(), IsEmpty());
}

TEST(ProfileRecords, RefusePairsWithOtherDurations) {
  const KernelShape shape = shape_of("k", 8);
  Part times;
  for (const std::uint64_t duration : {50'000, 100'000})
    times.add_kernel(0, shape, 1000, 1000 + duration, false, {});
  Part counts;
  counts.metrics = {"gpu__time_duration.sum"};
  const auto verdict = [&](double first, double second) {
    counts.counted = {{0, shape, 1, {first}}, {0, shape, 2, {second}}};
    const auto records = records_of({.times = &times, .device = 0, .counts = &counts}, {}, "t");
    const auto row =
        std::ranges::find(records.front().measurements, "paired_time", &Measurement::quantity);
    return row->noise.verdict;
  };
  EXPECT_EQ(verdict(54'000, 108'000), Verdict::not_applicable);
  EXPECT_EQ(verdict(100'000, 50'000), Verdict::failed);
}

/// Counts of one launch with `hits` and `misses` of 1000 sectors, in an L2 of 1 MB.
std::map<std::string, Verdict> verdicts_of(double hits, double misses, double read,
                                           double written) {
  const KernelShape shape = shape_of("k", 8);
  const Part times = part_with({{shape, {4, 50}}});
  const std::vector<std::pair<std::string, double>> values{
      {"l2_load_sectors", 1000}, {"l2_hit_sectors", hits},      {"l2_load_miss_sectors", misses},
      {"dram_read_bytes", read}, {"dram_write_bytes", written}, {"fp32_add", 1}};
  Part counts;
  counts.counted = {{0, shape, 2, {}}};
  CounterPlan plan;
  for (const auto& [name, value] : values) {
    counts.metrics.push_back(name);
    counts.counted[0].values.push_back(value);
    plan.quantities.push_back({.name = name, .metric = name, .unit = "1"});
  }
  Selection selection;
  selection.launches[shape] = {2};
  std::map<std::string, Verdict> verdicts;
  for (const auto& record : records_of({.times = &times,
                            .device = 0,
                            .selection = &selection,
                            .counts = &counts,
                            .l2_bytes = 1e6},
                                       plan, "t")) {
    if (record.phase != Phase::counting) continue;
    for (const auto& row : record.measurements)
      verdicts[row.quantity] = row.noise.verdict;
  }
  return verdicts;
}

TEST(ProfileRecords, RefuseCachesThatPassesOfAReplayFoundDifferent) {
  auto found = verdicts_of(500, 1000, 5e7, 5e7);  // one pass hits where another one misses
  for (const char* const name :
       {"l2_hit_sectors", "l2_load_miss_sectors", "dram_read_bytes", "dram_write_bytes"}) {
    EXPECT_EQ(found[name], Verdict::failed) << name;
  }
  EXPECT_EQ(found["fp32_add"], Verdict::not_applicable);
  EXPECT_EQ(found["l2_load_sectors"], Verdict::not_applicable);
  found = verdicts_of(100, 900, 5e7, 5e7);
  EXPECT_EQ(found["dram_read_bytes"], Verdict::not_applicable);
  EXPECT_EQ(found["dram_write_bytes"], Verdict::not_applicable);
  found = verdicts_of(100, 900, 5e5, 5e6);  // as much as L2 holds
  EXPECT_EQ(found["dram_read_bytes"], Verdict::unverified);
  EXPECT_EQ(found["dram_write_bytes"], Verdict::unverified);
  EXPECT_EQ(found["l2_hit_sectors"], Verdict::not_applicable);
}

TEST(ProfileParts, OfTwoRunsMatchByProgramAndOrder) {
  const auto part = [](const std::string& program) {
    Part made;
    made.program = program;
    return made;
  };
  const std::vector<Part> counts{part("b"), part("a"), part("a")};
  const auto matched = matching_parts({part("a"), part("b"), part("a"), part("a")}, counts);
  EXPECT_THAT(matched, ElementsAre(&counts[1], &counts[0], &counts[2], nullptr));
}

}  // namespace
}  // namespace strata::profile
