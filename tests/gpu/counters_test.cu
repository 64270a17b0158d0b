// Counting on a real GPU: the model against the hardware, and the level gate against cases that
// claim a level that did not serve them. A program of its own: counters come before the context.
#include "harness/base/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/run/case_runner.hpp"
#include "harness/run/count_batches.hpp"
#include "micro/access/layout_read.hpp"

#include <cuda_runtime_api.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace strata {
namespace {

const std::vector<std::string> every_set{"memory", "flops"};

/// The counters and the device of this process, opened in the one order that works.
struct Opened {
  std::unique_ptr<CounterSource> source;
  std::unique_ptr<Device> device;
  std::string absence;

  Opened() {
    try {
      source = open_counters({.kind = DeviceRequest::Kind::cuda, .ordinal = 0}, {every_set});
      device = open_cuda_device(0);
      source->attach();
    } catch (const CountersUnavailable& unavailable) {
      absence = unavailable.what();
      source.reset();
    }
  }
};

Opened& opened() {
  static Opened all;
  return all;
}

class Counters : public ::testing::Test {
 protected:
  void SetUp() override {
    if (opened().source == nullptr) GTEST_SKIP() << opened().absence;
  }
  [[nodiscard]] static Device& device() { return *opened().device; }
  [[nodiscard]] static Cache& cache() {
    (void)opened();
    static Cache kept;
    return kept;
  }
  [[nodiscard]] static Counting counting() { return {.source = opened().source.get()}; }

  [[nodiscard]] static CaseRecord count(const std::string& benchmark, const Params& params) {
    return run_case(
        {.suite = "micro", .benchmark = benchmark, .backend = Backend::cuda, .params = params},
        Plan{}, device(), cache(), counting());
  }
};

Params layout_params(const std::string& layout, const std::string& residency,
                     const std::string& fields, int block, int warps) {
  return {{"layout", layout},
          {"residency", residency},
          {"cores", "all"},
          {"fields", fields},
          {"block_size", std::to_string(block)},
          {"warps_per_sm", std::to_string(warps)}};
}

const Gate& gate(const CaseRecord& record, const std::string& name) {
  for (const auto& one : record.gates) {
    if (one.name == name) return one;
  }
  throw std::runtime_error{"no gate " + name};
}

std::vector<double> samples_of(const CaseRecord& record, const std::string& quantity) {
  for (const auto& m : record.measurements) {
    if (m.quantity == quantity) return m.samples;
  }
  return {};
}

void expect_passed(const CaseRecord& record) {
  ASSERT_EQ(record.status, Status::measured) << record.which.id() << ": " << record.reason;
  for (const char* name : {"result", "model", "level"}) {
    EXPECT_EQ(gate(record, name).verdict, Verdict::passed)
        << record.which.id() << ' ' << name << ": " << gate(record, name).detail;
  }
}

TEST_F(Counters, ProveTheLevelOfEveryLayoutAndFieldSet) {
  for (const char* residency : {"l1", "l2", "dram"}) {
    for (const char* layout : {"aos", "soa", "aoas", "soaoas", "aosoa32"}) {
      for (const char* fields : {"all", "posmass"}) {
        expect_passed(count("layout_read", layout_params(layout, residency, fields, 32, 1)));
      }
    }
  }
}

TEST_F(Counters, ProveTheLevelOnAFullChip) {
  for (const std::string residency : {"l1", "l2", "dram"}) {
    for (const auto& [block, warps] :
         std::vector<std::pair<int, int>>{{32, 8}, {128, 48}, {256, 64}, {1024, 32}}) {
      // Of more warps that read from L2, one percent meet by chance, and L2 answers them as one.
      if (residency == "l2" && warps > 32) continue;
      expect_passed(count("layout_read", layout_params("soaoas", residency, "all", block, warps)));
    }
  }
}

TEST_F(Counters, SeeLoadsOfSeveralSmsMergeOnlyWhereTheyComeTogether) {
  const auto asked_of_l2 = [](const char* sms, const char* delay) {
    const auto record = count("request_merging", {{"sms", sms}, {"delay", delay}});
    if (record.status == Status::skipped) return 0.0;
    expect_passed(record);
    return samples_of(record, "l2_sectors_per_missed_sector").at(0);
  };
  const double together = asked_of_l2("2", "0");
  if (together == 0) GTEST_SKIP() << "no clusters";
  EXPECT_NEAR(together, 0.5, 0.05);
  EXPECT_NEAR(asked_of_l2("4", "0"), 0.25, 0.05);
  EXPECT_GT(asked_of_l2("2", "1000"), 0.99);
}

TEST_F(Counters, ProveTheLevelOfTheTimersChain) {
  expect_passed(count("timer_check", {{"residency", "l1"}}));
}

TEST_F(Counters, AgreeWithTheModelOnRandomPatterns) {
  std::mt19937 generator{7};
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(generator() % bound); };
  const std::vector<std::string> orders{"identity", "reversed", "random"};
  for (int i = 0; i < 100; ++i) {
    expect_passed(count("coalescing", {{"width", std::to_string(1U << below(5))},
                                       {"stride", std::to_string(1 + below(128))},
                                       {"misalignment", std::to_string(below(32))},
                                       {"permutation", orders.at(below(3))}}));
  }
}

/// The record of an `l2` or `dram` case whose particles are somewhere else.
CaseRecord mislabelled(const std::string& claimed, const std::string& residency, Cache& cache) {
  CaseRecord record;
  record.which = {.suite = "micro",
                  .benchmark = "layout_read",
                  .backend = Backend::cuda,
                  .params = layout_params("soaoas", claimed, "all", 32, 1)};
  const Plan plan{};
  const Counting counting{.source = opened().source.get()};
  Session session{plan, *opened().device, cache, record, counting};
  layout_read::measure(session, layout_read::levels.of(residency));
  return record;
}

TEST_F(Counters, CatchAnL2CaseThatIsWarmInL1) {
  const auto record = mislabelled("l2", "l1", cache());
  EXPECT_EQ(gate(record, "result").verdict, Verdict::passed);
  EXPECT_EQ(gate(record, "level").verdict, Verdict::failed) << gate(record, "level").detail;
}

TEST_F(Counters, CatchADramCaseThatIsWarmInL2) {
  const auto record = mislabelled("dram", "l2", cache());
  EXPECT_EQ(gate(record, "level").verdict, Verdict::failed) << gate(record, "level").detail;
}

TEST_F(Counters, CatchAnL1CaseThatDoesNotFit) {
  const auto record = mislabelled("l1", "l2", cache());
  EXPECT_EQ(gate(record, "level").verdict, Verdict::failed) << gate(record, "level").detail;
}

// --- a plain stream, to set the scene by hand ----------------------------------------------------

__global__ void read_all(const uint4* data, std::uint32_t count, std::uint32_t* sink) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(data + i));
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  atomicAdd(sink, sum);
}

/// 4 MiB of random words, far less than any L2, read once.
struct Stream4MiB {
  static constexpr std::uint32_t quads = (4U << 20U) / sizeof(uint4);
  static constexpr unsigned blocks = 256;
  static constexpr unsigned threads = 256;

  Stream4MiB() {
    std::mt19937 generator{3};
    std::vector<uint4> host(quads);
    for (auto& q : host)
      q = {static_cast<unsigned>(generator()), static_cast<unsigned>(generator()),
           static_cast<unsigned>(generator()), static_cast<unsigned>(generator())};
    data.upload(host);
    sink.poison(0, stream.get());
  }

  void read(std::uint32_t count) {
    read_all<<<blocks, threads, 0, stream.get()>>>(data.data(), count, sink.data());
    cuda_check(cudaGetLastError());
  }

  /// Counts the stream as `claimed`, after `prepare`.
  CaseRecord counted(ServedBy claimed, std::function<void()> prepare, Cache& cache) {
    CaseRecord record;
    const Plan plan{};
    const Counting counting{.source = opened().source.get()};
    Session session{plan, *opened().device, cache, record, counting};
    const auto counts = count(session, {.prepare = std::move(prepare),
                                        .work = [this] { read(quads); },
                                        .overhead = [this] { read(0); }});
    judge_counts(session,
                 {.loads = LoadPrediction{.requests = quads / 32, .sectors = quads / 2},
                  .served_by = claimed,
                  .reads = quads / 32},
                 counts.value());
    return record;
  }

  DeviceBuffer<uint4> data{quads};
  DeviceBuffer<std::uint32_t> sink{1};
  Stream stream;
  Eviction eviction;
};

TEST_F(Counters, BelieveAStreamFromMemoryAfterAnEviction) {
  Stream4MiB stream;
  const auto record = stream.counted(
      ServedBy::dram, [&] { stream.eviction.evict(stream.stream.get()); }, cache());
  EXPECT_EQ(gate(record, "model").verdict, Verdict::passed) << gate(record, "model").detail;
  EXPECT_EQ(gate(record, "level").verdict, Verdict::passed) << gate(record, "level").detail;
}

TEST_F(Counters, CatchADramStreamThatWasJustRead) {
  Stream4MiB stream;
  const auto record = stream.counted(
      ServedBy::dram, [&] { stream.read(Stream4MiB::quads); }, cache());
  EXPECT_EQ(gate(record, "level").verdict, Verdict::failed) << gate(record, "level").detail;
  const auto honest = stream.counted(
      ServedBy::l2, [&] { stream.read(Stream4MiB::quads); }, cache());
  EXPECT_EQ(gate(honest, "level").verdict, Verdict::passed) << gate(honest, "level").detail;
}

TEST_F(Counters, CatchADramStreamThatAPersistingSetAsideKept) {
  int most = 0;
  cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0));
  Stream4MiB stream;
  const std::size_t bytes = stream.data.size_bytes();
  const cudaError_t status = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 2 * bytes);
  if (status != cudaSuccess || most <= 0) {
    (void)cudaGetLastError();
    GTEST_SKIP() << "no L2 can be set aside here: at most " << most << " bytes, "
                 << cudaGetErrorName(status);
  }
  cudaStreamAttrValue window{};
  window.accessPolicyWindow.base_ptr = stream.data.data();
  window.accessPolicyWindow.num_bytes = bytes;
  window.accessPolicyWindow.hitRatio = 1.0F;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cuda_check(
      cudaStreamSetAttribute(stream.stream.get(), cudaStreamAttributeAccessPolicyWindow, &window));
  const auto record = stream.counted(
      ServedBy::dram,
      [&] {
        stream.read(Stream4MiB::quads);
        stream.eviction.evict(stream.stream.get());
      },
      cache());
  EXPECT_EQ(gate(record, "level").verdict, Verdict::failed) << gate(record, "level").detail;
  // The door that every case goes through closes it again.
  opened().device->begin_case("after");
  opened().device->end_case();
  std::size_t limit = 1;
  cuda_check(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize));
  EXPECT_EQ(limit, 0U);
}

TEST_F(Counters, GiveTheSameCountsTwice) {
  const auto params = layout_params("aos", "l2", "all", 32, 1);
  const auto once = count("layout_read", params);
  const auto again = count("layout_read", params);
  for (const char* quantity : {"l1_load_requests", "l1_load_sectors"})
    EXPECT_EQ(samples_of(once, quantity), samples_of(again, quantity)) << quantity;
}

TEST_F(Counters, AreTheSameTogetherAsAlone) {
  std::vector<Case> cases;
  for (const char* layout : {"aos", "soaoas"}) {
    for (const int warps : {1, 8}) {
      cases.push_back({.suite = "micro",
                       .benchmark = "layout_read",
                       .backend = Backend::cuda,
                       .params = layout_params(layout, "l2", "all", 32, warps)});
    }
  }
  cases.push_back({.suite = "micro",
                   .benchmark = "timer_check",
                   .backend = Backend::cuda,
                   .params = {{"residency", "l1"}}});
  std::vector<CaseRecord> together;
  count_in_batches(cases, Plan{}, device(), cache(), *opened().source, false,
                   {.begin = [](const Case&) {},
                    .end = [&](const CaseRecord& record) { together.push_back(record); },
                    .stop = [] { return false; }});
  ASSERT_EQ(together.size(), cases.size());
  for (const auto& record : together) {
    expect_passed(record);
    const auto alone = count(record.which.benchmark, record.which.params);
    for (const auto& m : alone.measurements) {
      if (m.quantity != "l1_load_requests" && m.quantity != "l1_load_sectors") continue;
      EXPECT_EQ(samples_of(record, m.quantity), m.samples) << record.which.id();
    }
  }
}

TEST_F(Counters, AreTheSameOfFewerSets) {
  const auto params = layout_params("aos", "l2", "all", 32, 1);
  const auto whole = count("layout_read", params);
  ASSERT_FALSE(samples_of(whole, "fp32_add").empty());
  opened().source->narrow({"memory"});
  const auto narrowed = count("layout_read", params);
  opened().source->narrow(every_set);
  const auto again = count("layout_read", params);
  expect_passed(narrowed);
  EXPECT_TRUE(samples_of(narrowed, "fp32_add").empty());
  for (const char* quantity : {"l1_load_requests", "l1_load_sectors"}) {
    EXPECT_EQ(samples_of(narrowed, quantity), samples_of(whole, quantity)) << quantity;
    EXPECT_EQ(samples_of(again, quantity), samples_of(whole, quantity)) << quantity;
  }
  EXPECT_EQ(samples_of(again, "fp32_add"), samples_of(whole, "fp32_add"));
}

TEST_F(Counters, SayThatTheyAreBrokenAfterWorkThatThrew) {
  const CountedRange broken{
      .name = "work", .prepare = [] {}, .work = [] { throw Skipped{"as asked"}; }};
  EXPECT_FALSE(opened().source->passes()->broken());
  EXPECT_THROW((void)opened().source->count({&broken, 1}), Skipped);
  EXPECT_TRUE(opened().source->passes()->broken());
}

}  // namespace
}  // namespace strata
