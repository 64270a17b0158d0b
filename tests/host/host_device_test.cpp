// The CPU as a device and its parts: pinning, thread teams, eviction, folder names.
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/record/device.hpp"
#include "harness/record/statistics.hpp"
#include "message_of.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace strata {
namespace {

void expect_finite(const Facts& facts) {
  for (const auto& [name, value] : facts) {
    if (const auto* number = std::get_if<double>(&value)) {
      EXPECT_TRUE(std::isfinite(*number)) << name;
    }
  }
}

TEST(HostDevice, SaysWhoItIs) {
  const auto device = open_host_device();
  EXPECT_EQ(device->backend(), Backend::host);
  const auto& identity = device->identity();
  EXPECT_EQ(identity.slug, slug(identity.name));
  EXPECT_EQ(identity.uuid, "");
  EXPECT_EQ(identity.facts.at("cores"), Fact{static_cast<std::int64_t>(allowed_cpus().size())});
  EXPECT_GT(std::get<double>(identity.facts.at("tsc_hz")), 1e6);
  for (const char* taken : {"slug", "name", "uuid"})
    EXPECT_FALSE(identity.facts.contains(taken));
  expect_finite(identity.facts);
}

TEST(HostDevice, SettlesAndSaysHow) {
  const auto device = open_host_device();
  EXPECT_FALSE(device->timer_facts().contains("settled"));
  device->settle();
  EXPECT_TRUE(device->timer_facts().contains("settled"));
  EXPECT_GT(std::get<double>(device->timer_facts().at("ticks_per_add")), 0);
  expect_finite(device->timer_facts());
  expect_finite(device->conditions());
}

TEST(HostDevice, IsNeverPoisoned) {
  const auto device = open_host_device();
  device->begin_case("some/case");
  device->end_case();
  EXPECT_EQ(device->poisoned(), "");
}

TEST(HostDiagnosis, NamesTheCpuItsCachesAndItsCounter) {
  std::set<std::string> subjects;
  for (const auto& finding : diagnose_host()) {
    subjects.insert(finding.what);
    EXPECT_FALSE(finding.detail.empty()) << finding.what;
    EXPECT_EQ((finding.what + finding.detail + finding.mend).find('\n'), std::string::npos);
  }
  for (const char* what : {"CPU", "CPU caches", "CPU memory", "CPU counter", "CPU load"}) {
    EXPECT_TRUE(subjects.contains(what)) << what;
  }
}

TEST(Pin, HoldsTheThreadOnOneCpuAndLetsGo) {
  const auto before = allowed_cpus();
  {
    const Finally pin = pin_to(before.back());
    EXPECT_EQ(allowed_cpus(), std::vector<int>{before.back()});
    EXPECT_EQ(sched_getcpu(), before.back());
  }
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(Pin, NamesTheCpuThatItCannotHave) {
  for (const int cpu : {-1, CPU_SETSIZE - 1, CPU_SETSIZE, 1 << 20}) {
    const auto before = allowed_cpus();
    if (before.back() == cpu) continue;
    const std::string message = message_of<std::system_error>([&] { return pin_to(cpu); });
    EXPECT_NE(message.find("CPU " + std::to_string(cpu)), std::string::npos) << message;
    EXPECT_EQ(allowed_cpus(), before);
  }
}

TEST(ThreadTeam, RunsEveryRankOnItsCpuAgainAndAgain) {
  const auto cpus = allowed_cpus();
  ThreadTeam team{cpus};
  ASSERT_EQ(team.size(), cpus.size());
  std::vector<std::atomic<int>> calls(cpus.size());
  std::atomic<int> elsewhere{0};
  constexpr int runs = 50;
  for (int i = 0; i < runs; ++i) {
    const double seconds = team.run([&](std::size_t rank) {
      ++calls[rank];
      if (sched_getcpu() != cpus[rank]) ++elsewhere;
    });
    EXPECT_GE(seconds, 0);
  }
  for (const auto& count : calls)
    EXPECT_EQ(count, runs);
  EXPECT_EQ(elsewhere, 0);
}

TEST(ThreadTeam, StartsAllBeforeAnyBegins) {
  // More threads than CPUs: the barrier must not need them all at once.
  const std::vector<int> cpus(5, allowed_cpus().front());
  ThreadTeam team{cpus};
  std::atomic<int> finished{0};
  const double seconds = team.run([&](std::size_t rank) {
    std::this_thread::sleep_for(std::chrono::milliseconds{rank == 3 ? 20 : 0});
    ++finished;
  });
  EXPECT_EQ(finished, 5) << "run() returns after the last";
  EXPECT_GE(seconds, 0.02);
}

TEST(ThreadTeam, CallsTheSecondWorkAfterTheTime) {
  const auto cpus = allowed_cpus();
  ThreadTeam team{cpus};
  std::atomic<int> calls{0};
  const double seconds = team.run([](std::size_t) {},
                                  [&](std::size_t rank) {
                                    if (rank == 0) {
                                      std::this_thread::sleep_for(std::chrono::seconds{2});
                                    }
                                    ++calls;
                                  });
  EXPECT_EQ(calls, static_cast<int>(cpus.size()));
  EXPECT_LT(seconds, 2);
}

TEST(ThreadTeam, CountsSwitchesDuringTheWork) {
  ThreadTeam team{std::vector<int>(2, allowed_cpus().front())};
  std::array<std::atomic<bool>, 2> seen{};
  // Whichever runs first spins until the other has run, on the same CPU.
  (void)team.run([&](std::size_t rank) {
    seen[rank] = true;
    while (!seen[1 - rank]) {
    }
  });
  EXPECT_GT(team.switches(), 0U);
}

TEST(HostMachine, CountsCyclesOfTheCore) {
  HostMachine machine{allowed_cpus().front()};
  EXPECT_FALSE(machine.gate()) << "nothing was launched";
  constexpr std::uint32_t turns = 1 << 13;
  const auto launch = machine.on_every_core([](std::size_t, const Call& call, Stamp& stamp) {
    std::uint64_t x = 1;
    for (std::uint32_t i = 0; i < call.length.rounds; ++i) {
#if defined(__x86_64__)
      asm volatile(".rept 64\n\tadd %0, %0\n\t.endr" : "+r"(x) : : "cc");
#else
      asm volatile(".rept 64\n\tadd %0, %0, %0\n\t.endr" : "+r"(x));
#endif
    }
    stamp.cycles[2] = tsc_now();
    return x;
  });
  std::vector<double> cycles;
  for (int i = 0; i < 21; ++i) {
    machine.poison();
    (void)machine.time([&] { launch({.length = {.rounds = turns}}); }, /*held=*/false);
    const Stamp& stamp = machine.stamps().front();
    EXPECT_LE(stamp.cycles[2], stamp.cycles[1]);
    EXPECT_EQ(stamp.cycles[3], 0xA5A5A5A5A5A5A5A5U) << "not written by the work";
    cycles.push_back(static_cast<double>(stamp.cycles[1] - stamp.cycles[0]) / (64 * turns));
  }
  EXPECT_NEAR(median(cycles), 1, 0.1);
  ASSERT_TRUE(machine.gate());
  EXPECT_EQ(machine.gate()->name, "clock");
  EXPECT_GT(machine.counted_seconds(), 0);
}

TEST(HostMachine, CountsTheSwitchesOfTheProcess) {
  HostMachine machine;
  const std::uint64_t before = machine.switches();
  const auto waited = machine.seconds_waited();
  ThreadTeam team{std::vector<int>(2, allowed_cpus().front())};
  std::array<std::atomic<bool>, 2> seen{};
  (void)team.run([&](std::size_t rank) {
    seen[rank] = true;
    while (!seen[1 - rank]) {
    }
  });
  EXPECT_GT(machine.switches(), before);
  if (waited) {
    EXPECT_GT(*machine.seconds_waited(), *waited);
  }
}

TEST(ThreadTeam, RethrowsTheFirstFailureAndGoesOn) {
  ThreadTeam team{std::vector<int>(3, allowed_cpus().front())};
  const auto fail = [](std::size_t rank) {
    if (rank > 0) throw std::runtime_error{"rank " + std::to_string(rank)};
  };
  EXPECT_EQ(message_of<std::runtime_error>([&] { return team.run(fail); }), "rank 1");
  std::atomic<int> calls{0};
  (void)team.run([&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 3);
}

TEST(ThreadTeam, RefusesCpusThatItCannotHave) {
  EXPECT_THROW(ThreadTeam{std::vector<int>{}}, std::invalid_argument);
  EXPECT_THROW((ThreadTeam{{allowed_cpus().front(), -1}}), std::system_error);
}

TEST(HostEviction, ReadsFourTimesTheCache) {
  const HostEviction eviction{std::size_t{4} << 20U};
  EXPECT_EQ(eviction.bytes(), std::size_t{16} << 20U);
  eviction.evict();
  EXPECT_GE(HostEviction{1}.bytes(), std::size_t{1} << 20U) << "some machines do not report caches";
}

TEST(Slug, IsLowerCaseWordsJoinedByHyphens) {
  EXPECT_EQ(slug("NVIDIA H200"), "nvidia-h200");
  EXPECT_EQ(slug("NVIDIA GeForce RTX 4090"), "nvidia-geforce-rtx-4090");
  EXPECT_EQ(slug("  Intel(R) Xeon(R) Platinum 8480C "), "intel-xeon-platinum-8480c");
  EXPECT_EQ(slug("Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz"), "intel-core-i7-8700k-cpu-3-70ghz");
  EXPECT_EQ(slug("AMD EPYC"), "amd-epyc");
  EXPECT_EQ(slug("../../etc"), "etc");
  EXPECT_EQ(slug("(R"), "r");
  EXPECT_EQ(slug("µ™"), "device");
  EXPECT_EQ(slug(""), "device");
}

}  // namespace
}  // namespace strata
