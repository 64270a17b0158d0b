// The host half of CUPTI, as it is: these tests hold what the harness takes for granted of it.
#include "harness/cuda/cupti_host.hpp"

#include "harness/base/error.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/counters/counters.hpp"
#include "harness/cuda/cupti_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace {

using strata::CounterSelection;
using strata::CuptiHost;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

using Names = std::vector<std::string>;

const std::string good = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

/// From Turing, the oldest that the toolkit of CUPTI's host API builds for.
std::vector<std::string> chips_since_turing() {
  auto chips = strata::known_chips();
  std::erase_if(chips, [](const std::string& chip) { return chip.starts_with("GV"); });
  return chips;
}

CounterSelection every_set() {
  return {strata::counter_set_names()};
}

template <class Function>
std::string refusal_of(Function&& function) {
  try {
    function();
  } catch (const strata::UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

TEST(CuptiHost, KnowsTheChipsFromTuringToBlackwell) {
  const auto chips = strata::known_chips();
  for (const auto* const chip : {"TU102", "GA100", "AD102", "GH100", "GB100", "GB202", "GB20B"})
    EXPECT_THAT(chips, Contains(chip));
  EXPECT_GE(chips.size(), 29U);
}

TEST(CuptiHost, RefusesAnUnknownChipAndNamesTheNearest) {
  const auto message = refusal_of([] { const CuptiHost host{"GH10"}; });
  EXPECT_THAT(message,
              AllOf(HasSubstr("'GH10'"), HasSubstr("did you mean 'GH100'"), Not(HasSubstr("\n"))));
}

TEST(CuptiHost, SaysOfAChipThatItCannotDescribeWhatCuptiSays) {
  const auto chips = strata::known_chips();
  if (std::find(chips.begin(), chips.end(), "GV11B") == chips.end())
    GTEST_SKIP() << "this CUPTI does not list it";
  try {
    const CuptiHost host{"GV11B"};
    GTEST_SKIP() << "this CUPTI can";
  } catch (const strata::CountersUnavailable& absent) {
    EXPECT_THAT(absent.what(), AllOf(HasSubstr("GV11B"), HasSubstr("CUPTI_ERROR_NOT_SUPPORTED")));
  }
}

TEST(CuptiHost, TellsUnitAndMeaningOfAMetric) {
  CuptiHost host{"GH100"};
  const auto sectors = host.find(good);
  ASSERT_TRUE(sectors);
  EXPECT_EQ(sectors->unit, "sector");
  EXPECT_THAT(sectors->meaning, HasSubstr("global loads"));
  EXPECT_EQ(host.find("dram__bytes_read.sum")->unit, "B");
  EXPECT_EQ(host.find("dram__bytes_read.sum.per_second")->unit, "B/s");
}

TEST(CuptiHost, DoesNotTakeANameWithoutRollupForAMetric) {
  CuptiHost host{"GH100"};
  const auto bare = good.substr(0, good.find('.'));
  EXPECT_FALSE(host.find(bare));
  EXPECT_FALSE(host.passes(Names{bare}));
  EXPECT_THAT(host.nearest(bare), Contains(good));
  EXPECT_THAT(host.base_metrics(), Contains(bare));
  EXPECT_EQ(host.describe(bare).unit, "sector");
}

TEST(CuptiHost, FindsTheNearestNamesForAMistypedOne) {
  CuptiHost host{"GH100"};
  EXPECT_EQ(host.nearest("l1tex__t_sector_pipe_lsu_mem_global_op_ld.sum").at(0), good);
  EXPECT_EQ(host.nearest("dram__byte_read.sum").at(0), "dram__bytes_read.sum");
  EXPECT_LE(host.nearest("dram__byte_read.sum").size(), 3U);
  EXPECT_TRUE(host.nearest("nothing_of_this_kind_is_counted_by_any_chip").empty());
}

TEST(CuptiHost, ABadNameSpoilsNoLaterAnswer) {
  CuptiHost host{"GH100"};
  const Names bad{good, "l1tex__no_such_metric.sum"};
  EXPECT_FALSE(host.passes(bad));
  EXPECT_THROW((void)host.config_image(bad), strata::CuptiError);
  EXPECT_EQ(host.passes(Names{good}), 1U);
  EXPECT_FALSE(host.config_image(Names{good}).empty());
  EXPECT_TRUE(host.find(good));
}

TEST(CuptiHost, AFailedCallNamesItsErrorAndPlace) {
  CuptiHost host{"GH100"};
  try {
    (void)host.config_image(Names{"l1tex__no_such_metric.sum"});
    FAIL() << "accepted";
  } catch (const strata::CuptiError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("CUPTI_ERROR_"), HasSubstr("cupti_host.cpp:")));
  }
}

TEST(CuptiHost, CountsNothingInNoPass) {
  EXPECT_EQ(CuptiHost{"GH100"}.passes(Names{}), 0U);
}

TEST(CounterSets, MemoryTakesAtMostTwoPassesOnEveryChipSinceTuring) {
  for (const auto& chip : chips_since_turing()) {
    CuptiHost host{chip};
    const auto plan = strata::resolve({}, host);
    EXPECT_LE(plan.passes, 2U) << chip;
    EXPECT_GE(plan.passes, 1U) << chip;
  }
}

TEST(CounterSets, MemoryOnAnH200HasAllOfItsQuantities) {
  CuptiHost host{"GH100"};
  const auto plan = strata::resolve({}, host);
  EXPECT_TRUE(plan.absent.empty()) << plan.absent.front();
  std::set<std::string> names;
  for (const auto& quantity : plan.quantities)
    names.insert(quantity.name);
  const std::set<std::string> expected{
      "l1_load_requests", "l1_load_sectors",        "l1_load_hit_sectors",
      "l1_store_sectors", "l2_load_sectors",        "l2_load_miss_sectors",
      "l2_store_sectors", "l2_fabric_sectors",      "dram_read_bytes",
      "dram_write_bytes", "l1_sectors_per_request", "l2_fabric_miss_sectors",
      "active_warps",     "active_blocks"};
  EXPECT_EQ(names, expected);
}

TEST(CounterSets, EveryMetricOfABuiltInSetIsOneThatSomeChipCanCount) {
  CuptiHost host{"GH100"};
  for (const auto& name : strata::counter_set_names()) {
    for (const auto& quantity : strata::load_counter_set(name, "test").quantities) {
      for (const auto& metric : quantity.metrics) {
        EXPECT_TRUE(host.find(metric.name) || host.known_elsewhere(metric.name))
            << name << ":" << metric.line << ": " << metric.name;
      }
    }
  }
}

// What a chip may lack; anything else that is absent is a slip in a set or a new kind of chip.
TEST(CounterSets, EveryChipSinceTuringHasTheCoreOfEverySet) {
  const std::set<std::string> may_lack{"memory.l2_fabric_sectors",
                                       "memory.l2_fabric_miss_sectors",
                                       "memory.dram_read_bytes",
                                       "memory.dram_write_bytes",
                                       "issue.pipe_fp16",
                                       "issue.pipe_tma",
                                       "stalls.stall_gmma",
                                       "stalls.stall_imc_miss",
                                       "l2.l2_coalescer_answered_sectors",
                                       "l2.l2_coalescer_asked_sectors"};
  for (const auto& chip : chips_since_turing()) {
    CuptiHost host{chip};
    const auto plan = strata::resolve(every_set(), host);
    EXPECT_EQ(plan.chip, chip);
    for (const auto& line : plan.absent)
      EXPECT_TRUE(may_lack.contains(line.substr(0, line.find(':')))) << line;
    EXPECT_GE(plan.quantities.size(), 60U) << chip;
  }
}

TEST(CounterSets, AChipWithoutTheFirstMetricIsCountedByTheFallback) {
  CuptiHost host{"GB202"};
  const auto plan = strata::resolve({}, host);
  const auto read = std::find_if(plan.quantities.begin(), plan.quantities.end(),
                                 [](const auto& one) { return one.name == "dram_read_bytes"; });
  ASSERT_NE(read, plan.quantities.end());
  EXPECT_EQ(read->metric, "fbpa__dram_read_bytes.sum");
  EXPECT_THAT(plan.absent, Contains(AllOf(HasSubstr("memory.l2_fabric_sectors"),
                                          HasSubstr("lts__t_sectors_srcunit_ltcfabric.sum"))));
}

TEST(CounterSets, ABadMetricInAUsersFileIsRefusedWithItsLineAndSpoilsNothing) {
  const auto file = testing::TempDir() + "strata_bad_metric.yaml";
  std::ofstream{file} << "schema: 1\ntitle: mine\nquantities:\n  - name: a\n    unit: B\n"
                         "    meaning: x\n    metrics: [dram__bytes_read.sum]\n"
                         "  - name: b\n    unit: sector\n    meaning: y\n"
                         "    metrics: [l1tex__t_sector_pipe_lsu_mem_global_op_ld.sum]\n";
  CuptiHost host{"GH100"};
  const auto message = refusal_of([&] { (void)strata::resolve({{file}}, host); });
  EXPECT_THAT(message, AllOf(HasSubstr("strata_bad_metric.yaml:11: "), HasSubstr(good),
                             Not(HasSubstr("\n"))));
  EXPECT_EQ(strata::resolve({}, host).passes, 2U);
}

TEST(CounterSets, AMetricThatOnlyOtherChipsHaveIsRefusedWithThatReason) {
  CuptiHost host{"TU102"};
  const auto message =
      refusal_of([&] { (void)strata::resolve({{"lts__t_sectors_srcunit_ltcfabric.sum"}}, host); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("--counters"), HasSubstr("TU102, unlike other chips, has no")));
}

}  // namespace
