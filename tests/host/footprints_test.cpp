// Footprints of a CPU's levels, from trees of files that describe machines.
#include "harness/cpu/footprints.hpp"

#include "harness/cpu/topology.hpp"
#include "message_of.hpp"
#include "temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace strata {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t mebi = 1024 * kibi;

/// A cache of every CPU: its size in KiB (0: not reported), and the CPUs that share that of a CPU.
struct CacheFiles {
  std::uint64_t kibibytes = 0;
  std::function<std::string(int cpu)> sharing;
};
std::function<std::string(int)> each_own() {
  return [](int cpu) { return std::to_string(cpu); };
}
/// Groups of `size` neighbours.
std::function<std::string(int)> in_groups_of(int size) {
  return [size](int cpu) {
    const int first = cpu / size * size;
    return fmt::format("{}-{}", first, first + size - 1);
  };
}

struct FakeCpu {
  int cpus = 2;
  CacheFiles l1{48, each_own()};
  CacheFiles l2{1024, each_own()};
  CacheFiles l3{32 * kibi, in_groups_of(2)};
  std::uint64_t memory_mebibytes = 64 * kibi;

  void write(const std::filesystem::path& root) const {
    const auto put = [&root](const std::string& file, const std::string& text) {
      std::filesystem::create_directories((root / file).parent_path());
      std::ofstream{root / file} << text << '\n';
    };
    put("proc/meminfo", fmt::format("MemTotal: {} kB", memory_mebibytes * 1024));
    for (int cpu = 0; cpu < cpus; ++cpu) {
      for (const auto& [level, cache] : {std::pair{1, &l1}, {2, &l2}, {3, &l3}}) {
        const auto folder = fmt::format("sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, level);
        put(folder + "level", std::to_string(level));
        put(folder + "type", level == 1 ? "Data" : "Unified");
        put(folder + "size", cache->kibibytes == 0 ? "" : fmt::format("{}K", cache->kibibytes));
        if (cache->sharing) put(folder + "shared_cpu_list", cache->sharing(cpu));
      }
    }
  }
  [[nodiscard]] CpuFacts facts() const {
    const TemporaryFolder folder;
    write(folder.path());
    std::vector<int> all(static_cast<std::size_t>(cpus));
    std::iota(all.begin(), all.end(), 0);
    return cpu_facts(facts_of(describe_host(folder.path(), all)));
  }
};

std::string reason_of(HostLevel level, const FakeCpu& machine) {
  return message_of<Skipped>([&] { return own_footprint(level, machine.facts()); });
}
std::uint64_t best(HostLevel level, const FakeCpu& machine) {
  return own_footprint(level, machine.facts()).best;
}
std::uint64_t best_in_all(const FakeCpu& machine) {
  return best(HostLevel::dram, machine) * static_cast<std::uint64_t>(machine.cpus);
}

TEST(OwnFootprint, IsHalfOfWhatACoreOwnsOfASmallCache) {
  EXPECT_EQ(best(HostLevel::l1, {}), 24 * kibi);
  EXPECT_EQ(best(HostLevel::l2, {}), 512 * kibi);
  EXPECT_EQ(best(HostLevel::l3, {}), 4 * mebi);
  // 2 threads of each core.
  const FakeCpu threads{.cpus = 4, .l1 = {48, in_groups_of(2)}, .l2 = {1024, in_groups_of(2)}};
  EXPECT_EQ(best(HostLevel::l1, threads), 12 * kibi);
  EXPECT_EQ(best(HostLevel::l2, threads), 256 * kibi);
}

TEST(OwnFootprint, ExceedsL2InASmallL3) {
  EXPECT_EQ(best(HostLevel::l3, {.l3 = {16 * kibi, in_groups_of(2)}}), 2 * mebi);
  EXPECT_EQ(best(HostLevel::l3, {.l3 = {8 * kibi, in_groups_of(2)}}), 2 * mebi);
  EXPECT_EQ(reason_of(HostLevel::l3, {.l3 = {4 * kibi, in_groups_of(2)}}),
            "L3 cannot be isolated: its part of 2 MiB is too small beside L2");
}

TEST(OwnFootprint, OfMemoryExceedsTheSumOfTheLastCaches) {
  EXPECT_GT(best_in_all({.l3 = {4 * kibi, in_groups_of(2)}}), 16 * mebi);
  EXPECT_GT(best_in_all({}), 128 * mebi);
  const FakeCpu two{.l3 = {16 * kibi, each_own()}};
  EXPECT_EQ(best(HostLevel::l3, two), 4 * mebi);
  EXPECT_GT(best_in_all(two), 128 * mebi);
}

TEST(OwnFootprint, WithoutL3IsThatOfL2) {
  const FakeCpu without{.l3 = {0, nullptr}};
  EXPECT_EQ(reason_of(HostLevel::l3, without), "the system does not report l3_bytes");
  EXPECT_GT(best_in_all(without), 8 * mebi);
  EXPECT_LT(best_in_all(without), 16 * mebi);
}

/// 96 cores of 2 threads, 8 cores to an L3.
FakeCpu many_l3s() {
  const auto threads = [](int cpu) { return fmt::format("{},{}", cpu % 96, cpu % 96 + 96); };
  const auto complex = [](int cpu) {
    const int first = cpu % 96 / 8 * 8;
    return fmt::format("{}-{},{}-{}", first, first + 7, first + 96, first + 103);
  };
  return {.cpus = 192, .l1 = {32, threads}, .l2 = {1024, threads}, .l3 = {32 * kibi, complex}};
}

TEST(OwnFootprint, CountsTheL3sOfALargeMachine) {
  const CpuFacts cpu = many_l3s().facts();
  EXPECT_EQ(cpu.l3.most, 16U);
  EXPECT_EQ(cpu.l3.caches, 12U);
  EXPECT_EQ(cpu.l2.most, 2U);
  EXPECT_EQ(cpu.l2.caches, 96U);
  const Footprint l3 = own_footprint(HostLevel::l3, cpu);
  EXPECT_GT(l3.best, mebi);
  EXPECT_LE(16 * l3.best, 32 * mebi);
  EXPECT_GT(192 * own_footprint(HostLevel::dram, cpu).best, 1536 * mebi);
  EXPECT_THAT(message_of<Skipped>([&] { (void)power_of_two_in(l3); }),
              HasSubstr("no power of two between 1.5"));
}

TEST(OwnFootprint, OverwhelmsTheL3ThatTheFewestCoresShare) {
  // CPU 2 is alone on the second L3.
  const FakeCpu uneven{.cpus = 3, .l3 = {16 * kibi, in_groups_of(2)}};
  EXPECT_GT(best(HostLevel::dram, uneven), 64 * mebi);
  EXPECT_LE(2 * best(HostLevel::l3, uneven), 16 * mebi);
}

TEST(OwnFootprint, ExceedsAnL2ThatFourCoresShare) {
  const FakeCpu clusters{
      .cpus = 8, .l2 = {2048, in_groups_of(4)}, .l3 = {30 * kibi, in_groups_of(8)}};
  EXPECT_EQ(best(HostLevel::l2, clusters), 256 * kibi);
  EXPECT_GT(best(HostLevel::l3, clusters), 2 * mebi);
  EXPECT_LE(8 * best(HostLevel::l3, clusters), 30 * mebi);
}

TEST(OwnFootprint, TakesAnL3OfUnknownSharingAsOneForAll) {
  const FakeCpu unknown{
      .cpus = 4, .l1 = {48, nullptr}, .l2 = {512, nullptr}, .l3 = {8 * kibi, nullptr}};
  EXPECT_EQ(best(HostLevel::l2, unknown), 256 * kibi);
  EXPECT_EQ(best(HostLevel::l3, unknown), mebi);
  EXPECT_GT(best_in_all(unknown), 32 * mebi);
}

TEST(OwnFootprint, IsSkippedWhereMemoryIsTooSmall) {
  const FakeCpu poor{.l3 = {300 * kibi, in_groups_of(2)}, .memory_mebibytes = 1024};
  EXPECT_EQ(reason_of(HostLevel::dram, poor), "too little memory for 4 times the cache");
  EXPECT_EQ(reason_of(HostLevel::l3, poor), "accepted");
}

TEST(CommonFootprint, IsSeenByEveryCore) {
  const CpuFacts cpu = FakeCpu{}.facts();
  EXPECT_EQ(common_footprint(HostLevel::l2, cpu).best, 512 * kibi);
  EXPECT_EQ(common_footprint(HostLevel::l3, cpu).best, 8 * mebi);
  const Footprint memory = common_footprint(HostLevel::dram, cpu);
  EXPECT_GT(memory.least, 128 * mebi);
  EXPECT_EQ(memory.best, 2 * memory.least);
  // A core's part must exceed a cache that it shares.
  const FakeCpu clusters{
      .cpus = 8, .l2 = {2048, in_groups_of(4)}, .l3 = {30 * kibi, in_groups_of(8)}};
  EXPECT_EQ(common_footprint(HostLevel::l3, clusters.facts()).best, 8 * mebi);
  EXPECT_THAT(
      message_of<Skipped>([] { (void)common_footprint(HostLevel::l3, many_l3s().facts()); }),
      HasSubstr("L3 cannot be isolated"));
  EXPECT_EQ(common_footprint(HostLevel::l3, alone(many_l3s().facts())).best, 8 * mebi);
  EXPECT_GT(common_footprint(HostLevel::dram, many_l3s().facts()).least, 1536 * mebi);
}

TEST(PowerOfTwo, IsTheOneBelowTheBestOrTheNextThatFits) {
  EXPECT_EQ(power_of_two_in({.least = 5, .best = 20, .most = 30}), 16U);
  EXPECT_EQ(power_of_two_in({.least = 17, .best = 20, .most = 32}), 32U);
  EXPECT_THROW((void)power_of_two_in({.least = 17, .best = 20, .most = 31}), Skipped);
}

}  // namespace
}  // namespace strata
