// The description of a machine, from trees of files that describe machines.
#include "harness/cpu/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <unistd.h>

namespace strata {
namespace {

namespace fs = std::filesystem;

/// A folder in place of "/", removed after the test.
class Topology : public testing::Test {
 protected:
  Topology() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root = fs::path{testing::TempDir()} /
           (std::string{"strata_topology_"} + test->name() + '_' + std::to_string(getpid()));
    fs::remove_all(root);
    fs::create_directories(root);
  }
  ~Topology() override {
    std::error_code ignored;
    fs::remove_all(root, ignored);
  }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  Topology(Topology&&) = delete;
  Topology& operator=(Topology&&) = delete;

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root / file).parent_path());
    std::ofstream{root / file} << text;
  }
  void write_cache(int cpu, int index, const std::map<std::string, std::string>& files) const {
    for (const auto& [name, text] : files) {
      write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" +
                std::to_string(index) + '/' + name,
            text + '\n');
    }
  }

  fs::path root;
};

TEST_F(Topology, ReadsEveryCacheWithItsSharing) {
  write_cache(3, 3,
              {{"level", "3"},
               {"type", "Unified"},
               {"size", "32M"},
               {"coherency_line_size", "64"},
               {"shared_cpu_list", "0-7,64-71"}});
  write_cache(3, 0,
              {{"level", "1"},
               {"type", "Instruction"},
               {"size", "64K"},
               {"coherency_line_size", "64"},
               {"shared_cpu_list", "3"}});
  write_cache(3, 1,
              {{"level", "1"},
               {"type", "Data"},
               {"size", "48K"},
               {"coherency_line_size", "64"},
               {"shared_cpu_list", "3,67"}});
  write_cache(
      3, 2,
      {{"level", "2"}, {"type", "Unified"}, {"size", "2048K"}, {"coherency_line_size", "128"}});
  const auto caches = caches_of(3, root);
  ASSERT_EQ(caches.size(), 4U);
  EXPECT_EQ(caches[0].kind, "data");
  EXPECT_EQ(caches[0].bytes, 48 * 1024);
  EXPECT_EQ(caches[0].shared_by, 2);
  EXPECT_EQ(caches[1].kind, "instruction");
  EXPECT_EQ(caches[2].level, 2);
  EXPECT_EQ(caches[2].line_bytes, 128);
  EXPECT_EQ(caches[2].shared_by, 0) << "its sharers are unknown";
  EXPECT_EQ(caches[3].bytes, 32 * 1024 * 1024);
  EXPECT_EQ(caches[3].shared_by, 16);
  EXPECT_EQ(data_cache_bytes(caches, 1), 48 * 1024);
  EXPECT_EQ(data_cache_bytes(caches, 4), std::nullopt);
}

TEST_F(Topology, LeavesOutACacheOfUnknownSize) {
  write_cache(0, 0, {{"level", "1"}, {"type", "Data"}, {"size", ""}});
  write_cache(0, 1, {{"level", "one"}, {"type", "Data"}, {"size", "32K"}});
  write_cache(0, 2, {{"level", "2"}, {"type", "Unified"}, {"size", "0K"}});
  EXPECT_TRUE(caches_of(0, root).empty());
  EXPECT_TRUE(caches_of(1, root).empty()) << "no such folder";
}

TEST(CpuList, IsReadAsTheKernelWritesIt) {
  using List = std::vector<int>;
  EXPECT_EQ(parse_cpu_list(""), List{});
  EXPECT_EQ(parse_cpu_list("0"), List{0});
  EXPECT_EQ(parse_cpu_list("0-3"), (List{0, 1, 2, 3}));
  EXPECT_EQ(parse_cpu_list("8,0-1,1"), (List{0, 1, 8}));
  for (const char* bad : {"a", "-1", "3-1", "1,,2", "0-", "0-99999999999", "0-2000000", "1 2"}) {
    EXPECT_EQ(parse_cpu_list(bad), std::nullopt) << bad;
  }
}

TEST_F(Topology, TakesTheTightestLimitOfNestedControlGroups) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  EXPECT_EQ(cgroup_cpu_limit(root), std::nullopt);
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(root), std::nullopt);
  write("sys/fs/cgroup/outer/cpu.max", "250000 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(root), 2.5);
  write("sys/fs/cgroup/outer/inner/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(root), 0.5);
}

TEST_F(Topology, ReadsLimitsOfTheFirstControlGroups) {
  write("proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/jobs\n0::/\n");
  write("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_limit(root), std::nullopt);
  write("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(cgroup_cpu_limit(root), 1.5);
}

TEST_F(Topology, LooksAtTheMountWhenTheGroupIsOutsideItsNamespace) {
  write("proc/self/cgroup", "0::/../../somewhere\n");
  write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(root), 3.0);
}

TEST_F(Topology, TakesTheTightestLimitOfMemory) {
  write("proc/meminfo", "MemTotal: 16384000 kB\n");
  write("proc/self/cgroup", "0::/outer/inner\n");
  EXPECT_EQ(cgroup_memory_limit(root), std::nullopt);
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  EXPECT_EQ(cgroup_memory_limit(root), std::nullopt);
  EXPECT_FALSE(describe_host(root).more.contains("memory_limit_bytes"));
  write("sys/fs/cgroup/outer/memory.max", "1073741824\n");
  EXPECT_EQ(cgroup_memory_limit(root), 1 << 30);
  EXPECT_EQ(describe_host(root).memory_bytes, 1 << 30);
  EXPECT_EQ(describe_host(root).more, (Facts{{"memory_limit_bytes", std::int64_t{1} << 30U}}));
  write("sys/fs/cgroup/outer/inner/memory.high", "536870912\n");
  EXPECT_EQ(cgroup_memory_limit(root), 1 << 29);
}

TEST_F(Topology, ReadsLimitsOfMemoryOfTheFirstControlGroups) {
  write("proc/meminfo", "MemTotal: 16384000 kB\n");
  write("proc/self/cgroup", "9:memory:/jobs/mine\n0::/\n");
  write("sys/fs/cgroup/memory/jobs/mine/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(describe_host(root).memory_bytes, 16384000LL * 1024) << "a group without a limit";
  EXPECT_TRUE(describe_host(root).more.empty());
  write("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "2147483648\n");
  EXPECT_EQ(describe_host(root).memory_bytes, std::int64_t{1} << 31U);
}

/// CPU 0: a fast core with an L2 of its own. CPUs 1 to 4: small cores that share one.
class TwoKinds : public Topology {
 protected:
  TwoKinds() {
    write("sys/devices/system/cpu/online", "0-4\n");
    for (int cpu = 0; cpu < 5; ++cpu) {
      const bool fast = cpu == 0;
      write_cache(cpu, 0, {{"level", "1"}, {"type", "Data"}, {"size", fast ? "48K" : "32K"}});
      write_cache(cpu, 2,
                  {{"level", "2"},
                   {"type", "Unified"},
                   {"size", fast ? "1280K" : "2048K"},
                   {"shared_cpu_list", fast ? "0" : "1-4"}});
      write_cache(
          cpu, 3,
          {{"level", "3"}, {"type", "Unified"}, {"size", "30720K"}, {"shared_cpu_list", "0-4"}});
    }
  }
};

TEST_F(TwoKinds, AreRecordedAndTheFirstIsMeasured) {
  const auto host = describe_host(root, {0, 1, 2, 3, 4});
  EXPECT_EQ(host.cores, 1);
  EXPECT_EQ(data_cache_bytes(host.caches, 1), 48 * 1024);
  EXPECT_EQ(host.more.at("core_kinds"),
            Fact{std::string{"1 CPU with L1 48 KiB, L2 1.25 MiB, L3 30 MiB (measured); "
                             "4 CPUs with L1 32 KiB, L2 2 MiB, L3 30 MiB (not measured)"}});
  EXPECT_EQ(host.more.at("l3_shared_by"), Fact{std::int64_t{1}}) << "only measured CPUs count";
  // As the worker sees it, which may run on the first kind only.
  EXPECT_EQ(describe_host(root, {0}).more, host.more);
}

TEST_F(TwoKinds, AreMeasuredByTheSecondWhereTheFirstIsNotAllowed) {
  const auto host = describe_host(root, {2, 3, 4});
  EXPECT_EQ(host.cores, 3);
  EXPECT_EQ(data_cache_bytes(host.caches, 1), 32 * 1024);
  EXPECT_EQ(host.more.at("l2_shared_by"), Fact{std::int64_t{3}});
  EXPECT_EQ(host.more.at("l2_caches"), Fact{std::int64_t{1}});
  EXPECT_THAT(std::get<std::string>(host.more.at("core_kinds")),
              testing::HasSubstr("L3 30 MiB (measured)"));
  EXPECT_EQ(measured_cpus({2, 3, 4}, root), (std::vector{2, 3, 4}));
}

TEST_F(TwoKinds, DifferInTheUnitThatCountsTheirEvents) {
  for (int cpu = 0; cpu < 5; ++cpu)
    write_cache(cpu, 0, {{"level", "1"}, {"type", "Data"}, {"size", "32K"}});
  write_cache(0, 2, {{"size", "2048K"}});
  EXPECT_EQ(core_kinds({0, 1, 2, 3, 4}, root).size(), 1U) << "sharing alone is no kind";
  write("sys/devices/cpu_core/cpus", "0\n");
  write("sys/devices/cpu_atom/cpus", "1-4\n");
  EXPECT_EQ(core_kinds({0, 1, 2, 3, 4}, root).size(), 2U);
  EXPECT_THAT(std::get<std::string>(describe_host(root, {0, 1}).more.at("core_kinds")),
              testing::HasSubstr("(cpu_core, measured)"));
}

TEST_F(TwoKinds, DifferInTheirL3) {
  for (int cpu = 0; cpu < 5; ++cpu) {
    write_cache(cpu, 0, {{"level", "1"}, {"type", "Data"}, {"size", "48K"}});
    write_cache(cpu, 2, {{"size", "1024K"}});
    write_cache(cpu, 3, {{"size", cpu < 3 ? "8192K" : "16384K"}});
  }
  EXPECT_EQ(measured_cpus({0, 1, 2, 3, 4}, root), (std::vector{3, 4}));
}

TEST_F(Topology, DescribesTheMachine) {
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Example CPU (R) 9000\ncpu MHz\t: 1\n");
  write("proc/meminfo", "MemTotal:       16384000 kB\nMemFree: 1 kB\n");
  write("proc/sys/kernel/osrelease", "6.1.0-example\n");
  write("etc/os-release", "NAME=Example\nPRETTY_NAME=\"Example Linux 12 (worm)\"\n");
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "100000 100000\n");
  const auto host = describe_host(root);
  EXPECT_EQ(host.cpu, "Example CPU (R) 9000");
  EXPECT_EQ(host.memory_bytes, 16384000LL * 1024);
  EXPECT_EQ(host.kernel, "6.1.0-example");
  EXPECT_EQ(host.os, "Example Linux 12 (worm)");
  EXPECT_EQ(host.cores, static_cast<int>(allowed_cpus().size()));
  EXPECT_EQ(host.more, (Facts{{"cpu_limit", 1.0}}));
}

TEST_F(Topology, NamesWhatItCanOnAMachineWithoutFiles) {
  const auto host = describe_host(root);
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_EQ(host.os, "Linux");
  EXPECT_FALSE(host.kernel.empty());
  EXPECT_EQ(host.memory_bytes, 0);
  EXPECT_TRUE(host.caches.empty());
  EXPECT_TRUE(host.more.empty());
}

TEST(ThisMachine, IsDescribedPlausibly) {
  const auto cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
  const auto host = describe_host();
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_GT(host.memory_bytes, std::int64_t{64} << 20U);
  for (const auto& cache : host.caches) {
    EXPECT_GE(cache.level, 1);
    EXPECT_GT(cache.bytes, 1024);
  }
}

}  // namespace
}  // namespace strata
