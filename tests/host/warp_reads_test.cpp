#include "harness/counters/counters.hpp"
#include "harness/model/lanes.hpp"
#include "harness/run/case_runner.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace strata {
namespace {

using enum Generation;

template <class>
struct AsTypes;
template <class... Ls>
struct AsTypes<std::tuple<Ls...>> {
  using type = testing::Types<Ls...>;
};
template <class L>
class WarpReads : public testing::Test {};
TYPED_TEST_SUITE(WarpReads, AsTypes<Layouts>::type);

constexpr std::array all{cc1_0, cc1_2, cc2, cc3, cc5, cc7};
constexpr std::uint64_t base = std::uint64_t{7} << 32U;

TYPED_TEST(WarpReads, AskForEveryWantedFieldOfEveryParticleOnceAndInsideTheStorage) {
  constexpr std::size_t particles = 96;
  const auto check = []<class Fields>() {
    std::set<std::uint64_t> wanted;
    for (std::size_t i = 32; i < 64; ++i) {
      for (int f = 0; f < static_cast<int>(field_count); ++f) {
        if (!Fields::wants(f)) continue;
        wanted.insert(base + 4 * word_of<TypeParam>(static_cast<Field>(f), i, particles));
      }
    }
    std::set<std::uint64_t> requested_words;
    std::size_t words = 0;
    for (const auto& access : warp_reads<TypeParam, Fields>(32, particles, base)) {
      for (const auto& address : access.addresses) {
        ASSERT_TRUE(address);
        EXPECT_LE(*address + access.width, base + 4 * TypeParam::words(particles));
        for (unsigned byte = 0; byte < access.width; byte += 4) {
          requested_words.insert(*address + byte);
          ++words;
        }
      }
    }
    EXPECT_EQ(requested_words.size(), words) << "some word is requested twice";
    for (const auto word : wanted)
      EXPECT_TRUE(requested_words.contains(word));
  };
  check.template operator()<AllFields>();
  check.template operator()<Posmass>();
}

// A prediction for a whole walk relies on this: one group of 32 represents all of them.
TYPED_TEST(WarpReads, CostTheSameForEveryGroupOf32OfAnOddNumber) {
  const auto check = []<class Fields>() {
    for (const std::size_t groups : {1U, 3U, 7U, 33U, 1001U}) {
      const std::size_t particles = 32 * groups;
      for (const auto generation : all) {
        const auto first = traffic(generation, warp_reads<TypeParam, Fields>(0, particles, base));
        // And whatever number of groups there is.
        const auto alone = traffic(generation, warp_reads<TypeParam, Fields>(0, 32, base));
        EXPECT_EQ(first.total, alone.total);
        EXPECT_EQ(first.repeated_sectors, alone.repeated_sectors);
        for (const std::size_t group : {std::size_t{1}, groups / 2, groups - 1}) {
          if (group >= groups) continue;
          const auto other =
              traffic(generation, warp_reads<TypeParam, Fields>(32 * group, particles, base));
          EXPECT_EQ(other.total, first.total) << "group " << group << " of " << groups;
          EXPECT_EQ(other.repeated_sectors, first.repeated_sectors);
        }
      }
    }
  };
  check.template operator()<AllFields>();
  check.template operator()<Posmass>();
}

TYPED_TEST(WarpReads, LeaveOutLanesBeyondTheLastParticle) {
  const auto accesses = warp_reads<TypeParam, AllFields>(32, 40, 0);
  EXPECT_EQ(accesses.size(), TypeParam::reads.size());
  for (const auto& access : accesses) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      EXPECT_EQ(access.addresses[lane].has_value(), lane < 8);
  }
  for (const auto& access : warp_reads<TypeParam, AllFields>(64, 40, 0))
    EXPECT_EQ(traffic(cc7, access), Traffic{});
}

TYPED_TEST(WarpReads, UseTheWantedFieldsAndNothingElse) {
  for (const auto generation : all) {
    EXPECT_EQ((warp_read_traffic<TypeParam, AllFields>(generation).total.bytes_used), 32U * 28);
    EXPECT_EQ((warp_read_traffic<TypeParam, Posmass>(generation).total.bytes_used), 32U * 16);
    auto traffic_of_group = traffic(generation, warp_reads<TypeParam, Posmass>(0, 32, 0)).total;
    traffic_of_group.bytes_used = 32U * 16;
    EXPECT_EQ((warp_read_traffic<TypeParam, Posmass>(generation).total), traffic_of_group);
    EXPECT_GE((warp_read_traffic<TypeParam, AllFields>(generation).total.moved_over_used()), 1);
  }
}

template <class L, class Fields = AllFields>
SequenceTraffic of(Generation generation) {
  return traffic(generation, warp_reads<L, Fields>(0, 32, 0));
}

// Siegel, Ributzka, Li (2009) on an 8800 GTX: what their drawings of memory accesses come to. Two
// half-warps each.
TEST(WarpReadsOn8800Gtx, OfPackedStructuresAreSevenReadsNotCoalesced) {  // Figure 3
  const auto t = of<Aos>(cc1_0).total;
  EXPECT_EQ(t.requests, 7U * 2);
  EXPECT_EQ(t.transactions, 7U * 2 * 16);
  EXPECT_EQ(t.bytes_moved, 7U * 2 * 16 * 32);
  EXPECT_EQ(t.bytes_used, 32U * 28);
}

TEST(WarpReadsOn8800Gtx, OfArraysAreSevenReadsCoalesced) {  // Figure 5
  const auto t = of<Soa>(cc1_0).total;
  EXPECT_EQ(t.transactions, 7U * 2);
  EXPECT_EQ(t.bytes_moved, 7U * 2 * 64);
  EXPECT_DOUBLE_EQ(t.moved_over_used(), 1);
}

TEST(WarpReadsOn8800Gtx, OfAlignedStructuresAreTwoReadsNotCoalesced) {  // Figure 7
  const auto t = of<Aoas>(cc1_0).total;
  EXPECT_EQ(t.requests, 2U * 2);
  EXPECT_EQ(t.transactions, 2U * 2 * 16);
  EXPECT_EQ(t.bytes_moved, 2U * 2 * 16 * 32);
  EXPECT_EQ(t.bytes_used, 32U * 32);  // the hidden word is read too
}

TEST(WarpReadsOn8800Gtx, OfArraysOfAlignedStructuresAreTwoReadsCoalesced) {  // Figure 9
  const auto t = of<Soaoas>(cc1_0).total;
  EXPECT_EQ(t.transactions, 2U * 2 * 2);
  EXPECT_EQ(t.bytes_moved, 2U * 2 * 2 * 128);
  EXPECT_DOUBLE_EQ(t.moved_over_used(), 1);
}

// Figures 10 and 11: soaoas is the fastest and aos the slowest. Between them the number of reads
// decided more than coalescing, which a count of transactions does not see: it puts soa first.
TEST(WarpReadsOn8800Gtx, PutTheSlowestAndTheFastestLayoutAtTheEnds) {
  const auto aos = of<Aos>(cc1_0).total.transactions;
  const auto soaoas = of<Soaoas>(cc1_0).total.transactions;
  for (const auto& between : {of<Soa>(cc1_0), of<Aoas>(cc1_0)}) {
    EXPECT_GT(aos, between.total.transactions);
    EXPECT_LT(soaoas, between.total.transactions);
  }
}

TEST(WarpReadsToday, OfPackedStructuresTouchTheSameSectorsSevenTimes) {
  const auto t = of<Aos>(cc7);
  EXPECT_EQ(t.total.requests, 7U);
  EXPECT_EQ(t.total.sectors, 7U * 28);
  EXPECT_EQ(t.total.lines, 7U * 7);
  EXPECT_EQ(t.repeated_sectors, 6U * 28);
  EXPECT_DOUBLE_EQ(t.total.moved_over_used(), 7);
}

TEST(WarpReadsToday, OfAlignedStructuresTouchEverySectorTwice) {
  // A structure is one sector, and either half of it is read by one of the two loads.
  const auto t = of<Aoas>(cc7);
  EXPECT_EQ(t.total.requests, 2U);
  EXPECT_EQ(t.total.sectors, 2U * 32);
  EXPECT_EQ(t.repeated_sectors, 32U);
  EXPECT_EQ(t.total.wavefronts, 2U * 4);
}

TEST(WarpReadsToday, OfArraysMoveNothingInVain) {
  for (const auto& t : {of<Soa>(cc7), of<Soaoas>(cc7), of<Aosoa32>(cc7)}) {
    EXPECT_DOUBLE_EQ(t.total.moved_over_used(), 1);
    EXPECT_EQ(t.repeated_sectors, 0U);
  }
  EXPECT_EQ(of<Soa>(cc7).total.requests, 7U);
  EXPECT_EQ(of<Soaoas>(cc7).total.requests, 2U);
}

TEST(WarpReadsToday, OfPositionAndMassLeaveOutTheVelocities) {
  EXPECT_EQ((of<Soaoas, Posmass>(cc7).total.bytes_moved), 512U);
  EXPECT_EQ((of<Soa, Posmass>(cc7).total.bytes_moved), 512U);
  // The mass alone of the second read of aoas: 4 bytes out of each sector, which is there already.
  const auto aoas = of<Aoas, Posmass>(cc7);
  EXPECT_EQ(aoas.total.bytes_used, 32U * 20);
  EXPECT_EQ(aoas.total.sectors, 64U);
  EXPECT_EQ(aoas.repeated_sectors, 32U);
}

/// A source that must not be used.
class NoCounters : public CounterSource {
 public:
  [[nodiscard]] const CounterPlan& plan() const override { return plan_; }
  void attach() override {}
  std::optional<std::vector<Counts>> count(std::span<const CountedRange> /*ranges*/) override {
    throw std::logic_error("a model was counted");
  }

 private:
  CounterPlan plan_;
};

class LayoutTraffic : public testing::Test {
 protected:
  CaseRecord run(const std::string& generation, const std::string& layout,
                 const Counting& counting = {}) {
    Cache cache;
    return run_case({.suite = "micro",
                     .benchmark = "layout_traffic",
                     .backend = Backend::host,
                     .params = {{"generation", generation}, {"layout", layout}, {"fields", "all"}}},
                    Plan{}, *device_, cache, counting);
  }

 private:
  std::unique_ptr<Device> device_ = open_host_device();
};

TEST_F(LayoutTraffic, ReportsTheModelAndCallsItModelled) {
  const CaseRecord record = run("1.0-1.1", "aoas");
  ASSERT_EQ(record.status, Status::measured) << record.reason;
  std::map<std::string, double> values;
  for (const auto& m : record.measurements) {
    EXPECT_EQ(m.provenance, Provenance::modelled);
    ASSERT_EQ(m.samples.size(), 1U);
    EXPECT_TRUE(record.is_valid(m));
    values[m.quantity] = m.samples[0];
  }
  EXPECT_EQ(values["requests_per_read"], 4);
  EXPECT_EQ(values["transactions_per_read"], 64);
  EXPECT_EQ(values["bytes_moved_per_read"], 2048);
  EXPECT_EQ(values["bytes_used_per_read"], 896);
  EXPECT_DOUBLE_EQ(values["moved_over_used"], 2048.0 / 896);
}

TEST_F(LayoutTraffic, HasEveryGenerationOnItsAxis) {
  for (const GenerationInfo& info : generations())
    EXPECT_EQ(run(std::string{info.name}, "soa").status, Status::measured);
}

TEST_F(LayoutTraffic, IsSkippedWhereCasesAreCounted) {
  NoCounters counters;
  const CaseRecord record = run("7.x", "soa", {.source = &counters, .note = ""});
  EXPECT_EQ(record.status, Status::skipped);
  EXPECT_EQ(record.reason, "a model: nothing to count");
}

}  // namespace
}  // namespace strata
