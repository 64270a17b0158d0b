// Random kernels, evaluated from their PTX and run thread by thread from the trees that they were
// written from, must request the same.
#include "access_random_kernels.hpp"

#include "access_runs.hpp"
#include "harness/model/word_patterns.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace strata::access {
namespace {

const std::vector<Generation> all_generations{Generation::cc1_0, Generation::cc1_2,
                                              Generation::cc2,   Generation::cc3,
                                              Generation::cc5,   Generation::cc7};

void expect_same(const Access& found, const RandomKernel::Requested& requested) {
  EXPECT_EQ(found.warps, requested.warps);
  EXPECT_EQ(found.lanes, requested.lanes);
  EXPECT_EQ(found.traffic, requested.traffic);
  EXPECT_EQ(found.ideal_sectors, requested.ideal_sectors);
  EXPECT_EQ(found.outside, 0U);
}

constexpr std::uint64_t kernels_of_a_test = 60;

TEST(AccessRandomKernels, AskForWhatTheirThreadsDo) {
  std::uint64_t accesses = 0;
  for (std::uint64_t seed = 0; seed < kernels_of_a_test; ++seed) {
    const RandomKernel kernel{seed, /*loads=*/false};
    SCOPED_TRACE(seed);
    const Launched launched{kernel.ptx(), kernel.launch("unknown")};
    const Evaluation found = launched.evaluate({.generations = all_generations});
    const auto requested = kernel.run(all_generations, {});
    ASSERT_EQ(found.accesses.size(), requested.size()) << kernel.ptx();
    EXPECT_TRUE(found.is_exact());
    for (std::size_t i = 0; i < requested.size(); ++i) {
      expect_same(found.accesses[i], requested[i]);
      accesses += requested[i].warps;
    }
    if (HasFailure()) {
      FAIL() << kernel.ptx() << kernel.launch("unknown");
    }
  }
  EXPECT_GT(accesses, 2'500U);  // else the kernels prove little
}

/// So many bytes, of which element i of 4 bytes is number i of the generator.
std::vector<std::uint8_t> random_bytes(std::uint64_t seed, std::uint64_t count) {
  SplitMix numbers{seed};
  std::vector<std::uint8_t> bytes;
  std::uint64_t number = 0;
  for (std::uint64_t byte = 0; byte < count; ++byte) {
    number = byte % 4 == 0 ? numbers.next() : number >> 8U;
    bytes.push_back(static_cast<std::uint8_t>(number));
  }
  return bytes;
}

TEST(AccessRandomKernels, AskForWhatTheirThreadsDoWithValuesThatTheyLoad) {
  const std::vector<std::uint8_t> content = random_bytes(5, buffer_bytes / 4);
  for (std::uint64_t seed = 1000; seed < 1000 + kernels_of_a_test; ++seed) {
    const RandomKernel kernel{seed, /*loads=*/true};
    SCOPED_TRACE(seed);
    const Launched launched{kernel.ptx(), kernel.launch("random 5")};
    const Evaluation found = launched.evaluate();
    const auto requested = kernel.run(
        {Generation::cc7}, [&](unsigned, std::uint64_t byte) { return content.at(byte); });
    ASSERT_EQ(found.accesses.size(), requested.size()) << kernel.ptx();
    EXPECT_TRUE(found.is_exact());
    for (std::size_t i = 0; i < requested.size(); ++i)
      expect_same(found.accesses[i], requested[i]);
    if (HasFailure()) {
      FAIL() << kernel.ptx() << kernel.launch("random 5");
    }
  }
}

TEST(AccessRandomKernels, AreSaidToBeExactOnlyWhereNoLoadedValueMatters) {
  std::uint64_t exact = 0;
  std::uint64_t doubtful = 0;
  for (std::uint64_t seed = 2000; seed < 2000 + kernels_of_a_test; ++seed) {
    const RandomKernel kernel{seed, /*loads=*/true};
    SCOPED_TRACE(seed);
    const Launched launched{kernel.ptx(), kernel.launch("unknown")};
    const Evaluation found = launched.evaluate();
    const Evaluation other = launched.evaluate({.seed = 99});
    for (std::size_t i = 0; i < found.accesses.size(); ++i) {
      EXPECT_EQ(found.accesses[i].doubt, other.accesses[i].doubt);
      if (!found.accesses[i].is_exact()) continue;
      EXPECT_EQ(found.accesses[i].range, other.accesses[i].range);
    }
    for (std::uint32_t world = 0; world < 4; ++world) {
      const auto requested = kernel.run({Generation::cc7}, [&](unsigned tag, std::uint64_t byte) {
        // Few bits in one world, so that branches go either way.
        const std::uint32_t word = hashed_word(static_cast<std::uint32_t>(byte) * 31 + tag + world);
        return static_cast<std::uint8_t>(world % 2 == 0 ? word : byte % 4 == 0 ? word & 3U : 0U);
      });
      ASSERT_EQ(found.accesses.size(), requested.size());
      for (std::size_t i = 0; i < requested.size(); ++i) {
        if (!found.accesses[i].is_exact()) {
          ++doubtful;
          EXPECT_NE(found.accesses[i].hidden_by, ptx::no_index);
          continue;
        }
        ++exact;
        expect_same(found.accesses[i], requested[i]);
      }
    }
    if (HasFailure()) {
      FAIL() << kernel.ptx() << kernel.launch("unknown");
    }
  }
  // Both must happen often, or the test proves little.
  EXPECT_GT(exact, 300U);
  EXPECT_GT(doubtful, 300U);
}

}  // namespace
}  // namespace strata::access
