// The CUDA part on a real GPU: errors, buffers, timers, clocks, eviction, the device itself.
#include "harness/base/error.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/counters/counters.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/nvml.hpp"
#include "harness/cuda/stamps.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/record/device.hpp"

#include <cuda_runtime_api.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata {
namespace {

std::vector<std::uint32_t> random_words(std::size_t count) {
  std::mt19937 generator{11};
  std::vector<std::uint32_t> words(count);
  for (auto& word : words)
    word = static_cast<std::uint32_t>(generator());
  return words;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

// ---- errors

TEST(CudaCheck, ThrowsWithTheNameAndThePlace) {
  try {
    cuda_check(cudaErrorInvalidValue);
    FAIL() << "nothing was thrown";
  } catch (const CudaError& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.code(), cudaErrorInvalidValue);
    EXPECT_FALSE(is_sticky(error.code()));
    EXPECT_NE(text.find("cudaErrorInvalidValue"), std::string::npos) << text;
    EXPECT_NE(text.find(" at gpu/device_test.cu:"), std::string::npos) << text;
  }
}

TEST(CudaCheck, PassesTheCallersPlaceThroughABuffer) {
  try {
    const DeviceBuffer<char> impossible{std::size_t{1} << 50U};
    FAIL() << "a pebibyte was allocated";
  } catch (const CudaError& error) {
    EXPECT_EQ(error.code(), cudaErrorMemoryAllocation);
    EXPECT_NE(std::string{error.what()}.find("gpu/device_test.cu:"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "it would be blamed on the next launch";
}

TEST(CudaCheck, TellsErrorsThatEndTheProcessFromThoseThatDoNot) {
  for (const cudaError_t fatal :
       {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorLaunchTimeout,
        cudaErrorMisalignedAddress, cudaErrorIllegalInstruction, cudaErrorECCUncorrectable,
        cudaErrorAssert, cudaErrorHardwareStackError}) {
    EXPECT_TRUE(is_sticky(fatal)) << cudaGetErrorName(fatal);
  }
  for (const cudaError_t mild :
       {cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation,
        cudaErrorInvalidConfiguration, cudaErrorNotSupported, cudaErrorNoDevice}) {
    EXPECT_FALSE(is_sticky(mild)) << cudaGetErrorName(mild);
  }
}

__global__ void write_to(std::uint32_t* where) {
  *where = 1;
}
__global__ void stop_at(std::uint32_t value) {
  consume(value);
}

/// In a process of its own, made for it by the death test: a device that a kernel has destroyed.
void poison_a_device(bool by_address) {
  const auto device = open_cuda_device(0);
  device->begin_case("test/poison");
  if (by_address) {
    write_to<<<1, 1>>>(nullptr);
  } else {
    stop_at<<<1, 1>>>(0xFFFFFFFFU);
  }
  bool thrown = false;
  try {
    cuda_check(cudaDeviceSynchronize());
  } catch (const CudaError& error) {
    thrown = is_sticky(error.code());
  }
  device->end_case();
  (void)device->conditions();  // must not throw now
  (void)std::fprintf(stderr, "thrown=%d poisoned=%s\n", thrown ? 1 : 0, device->poisoned().c_str());
  std::exit(thrown && !device->poisoned().empty() ? 0 : 1);
}

TEST(CudaDeviceDeathTest, RemembersTheErrorThatDestroyedItsContext) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(poison_a_device(true), testing::ExitedWithCode(0),
              "thrown=1 poisoned=cudaErrorIllegalAddress");
}

TEST(CudaDeviceDeathTest, ConsumingTheImpossibleValueTraps) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(poison_a_device(false), testing::ExitedWithCode(0), "thrown=1 poisoned=cudaError");
}

// ---- buffers and graphs

TEST(DeviceBuffer, GivesBackWhatItWasGiven) {
  const auto words = random_words(100'003);
  DeviceBuffer<std::uint32_t> buffer{std::span<const std::uint32_t>{words}};
  EXPECT_EQ(buffer.size(), words.size());
  EXPECT_EQ(buffer.size_bytes(), words.size() * sizeof(std::uint32_t));
  EXPECT_EQ(buffer.to_host(), words);

  auto other = words;
  std::reverse(other.begin(), other.end());
  buffer.upload(other);
  std::vector<std::uint32_t> back(other.size());
  buffer.download(back);
  EXPECT_EQ(back, other);

  const DeviceBuffer<std::uint32_t> moved{std::move(buffer)};
  EXPECT_EQ(moved.to_host(), other);
}

TEST(DeviceBuffer, PoisonsEveryByte) {
  const Stream stream;
  DeviceBuffer<std::uint32_t> buffer{1'001};
  buffer.upload(random_words(buffer.size()));
  buffer.poison(0xA5, stream.get());
  stream.synchronize();
  EXPECT_EQ(buffer.to_host(), std::vector<std::uint32_t>(buffer.size(), 0xA5A5A5A5U));
}

TEST(DeviceBuffer, RefusesCopiesOfAnotherSize) {
  DeviceBuffer<std::uint32_t> buffer{4};
  std::vector<std::uint32_t> five(5);
  EXPECT_THROW(buffer.upload(five), std::length_error);
  EXPECT_THROW(buffer.download(five), std::length_error);
  EXPECT_THROW(DeviceBuffer<std::uint32_t>{SIZE_MAX / 2}, std::length_error);
  EXPECT_TRUE(DeviceBuffer<std::uint32_t>{0}.to_host().empty());
}

TEST(PinnedBuffer, CopiesThroughAStream) {
  const Stream stream;
  const auto words = random_words(4'099);
  PinnedBuffer<std::uint32_t> out{words.size()};
  PinnedBuffer<std::uint32_t> back{words.size()};
  std::copy(words.begin(), words.end(), out.span().begin());
  const DeviceBuffer<std::uint32_t> device{words.size()};
  out.upload_to(device, stream.get());
  back.download_from(device, stream.get());
  stream.synchronize();
  EXPECT_TRUE(std::equal(words.begin(), words.end(), back.span().begin()));
  PinnedBuffer<std::uint32_t> shorter{words.size() - 1};
  EXPECT_THROW(shorter.download_from(device, stream.get()), std::length_error);
}

// ---- words that follow from their index

TEST(Fill, WritesEachWordOnceAndNoneBehindTheLast) {
  constexpr std::size_t count = (1U << 20U) + 7;  // more than the grid has threads, no multiple
  const HashedWords pattern{.step = 3, .first = 5};
  DeviceBuffer<std::uint32_t> words{count + 1};
  words.poison(0, nullptr);
  fill(words.data(), count, pattern, nullptr);
  const std::vector<std::uint32_t> seen = words.to_host();
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(seen[i], pattern.word(i)) << i;
  EXPECT_EQ(seen[count], 0U);
}

TEST(WordCheck, CountsTheWordsThatDiffer) {
  std::vector<std::uint32_t> host(100'000);
  for (std::size_t i = 0; i < host.size(); ++i)
    host[i] = HashedWords{}.word(i) + (i % 1000 == 999 ? 1 : 0);
  DeviceBuffer<std::uint32_t> words{host};
  WordCheck check;
  EXPECT_EQ(check.different(words.data(), words.size(), HashedWords{}, nullptr), 100U);
  EXPECT_EQ(check.different(words.data(), 999, HashedWords{}, nullptr), 0U);
  const HashedWords other{.first = 500'000};
  EXPECT_EQ(check.different(words.data(), words.size(), other, nullptr), host.size());
}

TEST(WordCheck, LeavesTheNextPatternBehind) {
  const LinearWords poison{.slope = 0, .start = 0xA5A5A5A5U};
  DeviceBuffer<std::uint32_t> words{100'000};
  WordCheck check;
  fill(words.data(), words.size(), LinearWords{}, nullptr);
  Tally tally;
  check.verify_and_refill(words.data(), words.size(), LinearWords{}, poison, tally, nullptr);
  EXPECT_GE(tally.checked, words.size());
  EXPECT_EQ(tally.different, 0U);
  EXPECT_EQ(words.to_host(), std::vector<std::uint32_t>(words.size(), poison.start));
}

__global__ void add_one(std::uint32_t* counter) {
  ++*counter;
}

TEST(Graph, RunsWhatWasCapturedOnceALaunchAndNeverBefore) {
  const Stream stream;
  DeviceBuffer<std::uint32_t> counter{1};
  counter.poison(0, stream.get());
  Graph graph{stream, [&] {
                for (int i = 0; i < 3; ++i)
                  add_one<<<1, 1, 0, stream.get()>>>(counter.data());
                cuda_check(cudaGetLastError());
              }};
  EXPECT_EQ(counter.to_host().front(), 0U);
  graph.launch(stream);
  graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(counter.to_host().front(), 6U);
}

TEST(Graph, LeavesTheStreamUsableWhenTheWorkThrows) {
  const Stream stream;
  EXPECT_THROW((Graph{stream, [] { throw std::runtime_error{"no"}; }}), std::runtime_error);
  DeviceBuffer<std::uint32_t> counter{1};
  counter.poison(0, stream.get());
  add_one<<<1, 1, 0, stream.get()>>>(counter.data());
  cuda_check(cudaGetLastError());
  stream.synchronize();
  EXPECT_EQ(counter.to_host().front(), 1U);
}

// ---- timers and clocks

/// One thread that does nothing for so many cycles of its SM.
__global__ void wait_for(std::uint64_t cycles) {
  const std::uint64_t start = cycles_now();
  while (cycles_now() - start < cycles) {
  }
}

TEST(Timers, EventsAroundALaunchAndAroundAGraphAgreeOnAMillisecond) {
  const Stream stream;
  const SettledClock clock = settle_clock(stream.get());
  const auto cycles = static_cast<std::uint64_t>(clock.hertz * 1e-3);
  const auto launch = [&] {
    wait_for<<<1, 1, 0, stream.get()>>>(cycles);
    cuda_check(cudaGetLastError());
  };
  constexpr int repetitions = 4;
  Graph graph{stream, [&] {
                for (int i = 0; i < repetitions; ++i)
                  launch();
              }};
  Event begin;
  Event end;
  const auto seconds = [&](const auto& work) {
    begin.record(stream);
    work();
    end.record(stream);
    return end.seconds_since(begin);
  };
  std::vector<double> by_event;
  std::vector<double> by_graph;
  for (int i = 0; i < 15; ++i) {
    by_event.push_back(seconds(launch));
    by_graph.push_back(seconds([&] { graph.launch(stream); }) / repetitions);
  }
  EXPECT_NEAR(median(by_event) / median(by_graph), 1, 0.05);
  EXPECT_NEAR(median(by_event) / 1e-3, 1, 0.25) << "the clock may have moved a little since";
}

TEST(Clocks, TheGlobalTimerMovesInStepsOfAtMostTwoMicroseconds) {
  const Stream stream;
  const auto step = measure_global_timer_step(stream.get());
  EXPECT_GE(step, 1U);
  EXPECT_LE(step, 2'000U);
  RecordProperty("step_nanoseconds", static_cast<int>(step));
}

/// The first GPU's reading of the SM clock by NVML, or 0.
double nvml_sm_clock(const NvmlDevice& nvml) {
  const auto facts = nvml.conditions();
  const auto found = facts.find("sm_clock_hz");
  return found == facts.end() ? 0 : std::get<double>(found->second);
}

TEST(Clocks, TheSmClockIsWhatNvmlSays) {
  const Stream stream;
  const auto device = open_cuda_device(0);
  const NvmlDevice nvml{device->identity().uuid};
  double measured = 0;
  for (int tries = 0; tries < 5; ++tries) {
    (void)settle_clock(stream.get());
    const double before = nvml_sm_clock(nvml);
    measured = measure_sm_clock(stream.get(), measure_global_timer_step(stream.get()));
    const double after = nvml_sm_clock(nvml);
    ASSERT_GT(measured, 0.2e9);
    ASSERT_LT(measured, 5e9);
    // Comparable only while the clock holds still.
    if (before > 0 && before == after && std::abs(measured / before - 1) <= 0.02) return;
    if (before == 0) GTEST_SKIP() << "NVML does not tell the clock: " << nvml.absence();
    if (before == after && tries == 4) EXPECT_NEAR(measured / before, 1, 0.02);
  }
}

TEST(Clocks, SettlingEndsAtASteadyClock) {
  const Stream stream;
  const SettledClock clock = settle_clock(stream.get());
  EXPECT_TRUE(clock.steady);
  EXPECT_GE(clock.seconds, 0.05);
  EXPECT_LT(clock.seconds, 3);
  EXPECT_GT(clock.hertz, 0.2e9);
  EXPECT_LT(clock.hertz, 5e9);
}

__global__ void list_sms(std::uint32_t* ids) {
  ids[blockIdx.x] = sm_id();
}

TEST(Clocks, SmIdsAreThoseOfTheDevice) {
  const auto device = open_cuda_device(0);
  const auto sms = std::get<std::int64_t>(device->identity().facts.at("sm_count"));
  DeviceBuffer<std::uint32_t> ids{static_cast<std::size_t>(sms) * 4};
  list_sms<<<static_cast<unsigned>(ids.size()), 32>>>(ids.data());
  cuda_check(cudaGetLastError());
  for (const auto id : ids.to_host())
    EXPECT_LT(id, static_cast<std::uint32_t>(sms));
}

// ---- eviction

constexpr unsigned probes = 512;
constexpr std::uint32_t probe_stride = 2048;  // words: 8 KiB, far apart for any prefetch

/// Times `probes` loads one by one, each from L2 or beyond. Every load's time holds two clock reads
/// and the compare of consume(); what is asserted are ratios.
__global__ void probe(const std::uint32_t* words, std::uint32_t* cycles) {
  for (unsigned i = 0; i < probes; ++i) {
    const std::uint32_t* at =
        words + (i * 97U % probes) * probe_stride;  // 97 and 512: a permutation
    const std::uint64_t start = cycles_now();
    std::uint32_t value = 0;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    consume(value);
    const std::uint64_t stop = cycles_now();
    cycles[i] = static_cast<std::uint32_t>(stop - start);
  }
}

class EvictionTest : public testing::Test {
 protected:
  EvictionTest() { words.poison(1, stream.get()); }

  double median_probe() {
    probe<<<1, 1, 0, stream.get()>>>(words.data(), cycles.data());
    cuda_check(cudaGetLastError());
    stream.synchronize();
    const auto landed = cycles.to_host();
    return median({landed.begin(), landed.end()});
  }

  Stream stream;
  Eviction eviction;
  DeviceBuffer<std::uint32_t> words{std::size_t{probes} * probe_stride};  // 4 MiB
  DeviceBuffer<std::uint32_t> cycles{probes};
};

TEST_F(EvictionTest, HoldsAtLeastTwiceTheCache) {
  int l2 = 0;
  cuda_check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
  EXPECT_GE(eviction.buffer().size_bytes(), 2 * static_cast<std::size_t>(l2));
}

TEST_F(EvictionTest, SendsTheNextReadsToMemory) {
  (void)settle_clock(stream.get());
  std::vector<double> warm;
  std::vector<double> cold;
  for (int i = 0; i < 9; ++i) {
    eviction.touch(words.data(), words.size_bytes(), stream.get());
    warm.push_back(median_probe());
    eviction.touch(words.data(), words.size_bytes(), stream.get());
    eviction.evict(stream.get());
    cold.push_back(median_probe());
  }
  EXPECT_GT(median(cold), 1.3 * median(warm));
  RecordProperty("warm_cycles", std::to_string(median(warm)));
  RecordProperty("cold_cycles", std::to_string(median(cold)));
  // No L2 answers in 100 cycles: a read that seems to was not waited for.
  EXPECT_GT(median(warm), 100) << "consume() does not hold the second clock read back";
}

TEST_F(EvictionTest, TouchesAnyRange) {
  const char* bytes = reinterpret_cast<const char*>(words.data());
  for (const auto& [offset, size] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 0}, {3, 0}, {0, 1}, {15, 2}, {1, 14}, {1, 15}, {1, 16}, {5, 4096}, {16, 31}}) {
    eviction.touch(bytes + offset, size, stream.get());
  }
  eviction.touch(bytes + 1, words.size_bytes() - 1, stream.get());
  stream.synchronize();
  const auto after = words.to_host();
  EXPECT_TRUE(std::all_of(after.begin(), after.end(), [](auto w) { return w == 0x01010101U; }))
      << "touching reads only";
}

TEST(PersistingL2, IsResetOrSaidToBeAbsent) {
  int most = 0;
  cuda_check(cudaFree(nullptr));  // a context: without one nothing can be reset
  cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0));
  const bool done = reset_persisting_l2();
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  if (most <= 0) EXPECT_FALSE(done);
  if (!done) GTEST_SKIP() << "this device has no persisting L2";
  std::size_t limit = 1;
  cuda_check(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize));
  EXPECT_EQ(limit, 0U);
}

// ---- the device

TEST(CudaDevice, SaysWhoItIs) {
  const auto device = open_cuda_device(0);
  EXPECT_EQ(device->backend(), Backend::cuda);
  const auto& [slug, name, uuid, facts] = device->identity();
  EXPECT_FALSE(slug.empty());
  EXPECT_TRUE(uuid.starts_with("GPU-") || uuid.starts_with("MIG-")) << uuid;
  EXPECT_EQ(uuid.size(), 40U);
  for (const char* name_of_fact :
       {"sm_count", "max_threads_per_sm", "max_warps_per_sm", "max_blocks_per_sm", "l2_bytes",
        "memory_bytes", "shared_bytes_per_sm", "shared_bytes_per_block_optin", "memory_bus_bits"}) {
    ASSERT_TRUE(facts.contains(name_of_fact)) << name_of_fact;
    EXPECT_GT(std::get<std::int64_t>(facts.at(name_of_fact)), 0) << name_of_fact;
  }
  EXPECT_EQ(std::get<std::string>(facts.at("module_loading")), "eager");
  for (const char* taken : {"slug", "name", "uuid"})
    EXPECT_FALSE(facts.contains(taken));
}

TEST(CudaDevice, KnowsItsConditionsAndItsTimers) {
  const auto device = open_cuda_device(0);
  device->settle();
  EXPECT_GT(std::get<double>(device->conditions().at("sm_clock_measured_hz")), 0.2e9);
  const auto timer = device->timer_facts();
  EXPECT_GE(std::get<double>(timer.at("globaltimer_step_seconds")), 1e-9);
  EXPECT_TRUE(timer.contains("settled"));
}

TEST(CudaDevice, IsNotPoisonedByAnErrorThatPasses) {
  const auto device = open_cuda_device(0);
  device->begin_case("test/mild");
  void* nothing = nullptr;
  EXPECT_NE(cudaMalloc(&nothing, std::size_t{1} << 50U), cudaSuccess);
  device->end_case();
  EXPECT_EQ(device->poisoned(), "");
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "the next case would be blamed";
  device->end_case();  // a case may end that never began
}

TEST(CudaDevice, SaysHowManyGpusThereAre) {
  int count = 0;
  cuda_check(cudaGetDeviceCount(&count));
  try {
    (void)open_cuda_device(count);
    FAIL() << "opened a GPU that is not there";
  } catch (const DeviceUnavailable& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("sees " + std::to_string(count) + " GPU"), std::string::npos) << text;
  }
  EXPECT_THROW((void)open_cuda_device(-1), DeviceUnavailable);
}

TEST(CudaDiagnosis, FindsTheDriverAndTheFirstGpu) {
  const auto findings = diagnose_cuda();
  const auto with = [&](const std::string& what) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const Finding& f) { return f.what == what; });
  };
  EXPECT_EQ(with("CUDA"), 1);
  EXPECT_EQ(with("cuda:0"), 1);
}

TEST(CounterCatalogue, NamesTheChipOfTheFirstGpuAndDescribesIt) {
  const std::string chip = chip_of_device(0);
  EXPECT_EQ(chip, chip_of_device(0));
  EXPECT_EQ(open_catalogue(chip)->chip(), chip);
}

TEST(CountersDiagnosis, SpeaksOfTheFirstGpu) {
  const auto findings = diagnose_counters();
  EXPECT_EQ(std::count_if(findings.begin(), findings.end(),
                          [](const Finding& f) { return f.what == "cuda:0 counters"; }),
            1);
}

}  // namespace
}  // namespace strata
