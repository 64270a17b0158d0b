// Kernels whose addresses depend on contents of memory. The totals are those of an independent
// interpreter of PTX, or of a few lines of Python where it does not know an instruction.
#include "harness/access/evaluate.hpp"
#include "harness/access/launch_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace strata::access {
namespace {

struct Totals {
  std::uint64_t loaded = 0;      ///< sectors
  std::uint64_t stored = 0;      ///< sectors
  std::uint64_t called = 0;      ///< sectors, in functions
  std::uint64_t wavefronts = 0;  ///< of shared memory
  bool operator==(const Totals&) const = default;
};

class AccessContents : public testing::Test {
 protected:
  AccessContents() {
    std::ifstream file{std::string{STRATA_ACCESS_DATA} + "/contents.ptx"};
    modules_.push_back(ptx::read(
        {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}}, "contents.ptx"));
  }

  [[nodiscard]] Evaluation evaluated(const std::string& kernel, const std::string& arguments,
                                     const EvaluateOptions& options = {}) const {
    const Launch launch =
        parse_launch(fmt::format("schema: 1\nkernel: {}\ngrid: 4\nblock: 256\narguments: [{}]\n",
                                 kernel, arguments),
                     "test.yaml", modules_);
    kernel_ = &modules_[0].kernels[launch.kernel];
    return evaluate(modules_[0], launch, options);
  }

  void expect(const std::string& kernel, const std::string& arguments, const Totals& totals) {
    SCOPED_TRACE(kernel);
    for (const unsigned threads : {1U, 3U}) {
      const Evaluation found = evaluated(kernel, arguments, {.threads = threads});
      EXPECT_TRUE(found.is_exact());
      Totals all;
      for (const Access& one : found.accesses) {
        const bool is_call = kernel_->instructions[one.instruction].opcode == "call";
        if (one.space == ptx::Space::shared) {
          all.wavefronts += one.moved();
        } else {
          (is_call                         ? all.called
           : one.kind == AccessKind::store ? all.stored
                                           : all.loaded) += one.moved();
        }
      }
      EXPECT_EQ(all.loaded, totals.loaded);
      EXPECT_EQ(all.stored, totals.stored);
      EXPECT_EQ(all.called, totals.called);
      EXPECT_EQ(all.wavefronts, totals.wavefronts);
    }
  }

  std::vector<ptx::Module> modules_;
  mutable const ptx::Kernel* kernel_ = nullptr;
};

std::string words(unsigned seed, unsigned below) {
  return fmt::format("{{bytes: 4096, fill: random {}, element: 4, below: {}}}", seed, below);
}
constexpr const char* given = "{bytes: 16384, fill: random 9, element: 4}";
constexpr const char* zeros = "{bytes: 65536, fill: zero}";

TEST_F(AccessContents, AreFollowedWhereAThreadWritesWhatItHasRead) {
  expect("bfs",
         fmt::format("{{bytes: 4100, fill: iota, element: 4}}, {}, {}, {}, {}, "
                     "{{bytes: 4096, fill: zero}}, 1000",
                     words(2, 1024), words(3, 2), zeros, words(5, 2)),
         {.loaded = 1208, .stored = 595});
  expect("inplace", fmt::format("{}, {}, {}, 1000", words(6, 4096), given, zeros),
         {.loaded = 6322, .stored = 1882});
}

TEST_F(AccessContents, AreFollowedFromBarrierToBarrier) {
  expect("hist", fmt::format("{}, {}, {}, 1000", words(4, 1000), given, zeros),
         {.loaded = 1172, .stored = 125, .wavefronts = 264 + 99 + 315});
  expect("tile", fmt::format("{}, {}, {}", words(7, 100), given, zeros),
         {.loaded = 3113, .stored = 1152});
  expect("votes", fmt::format("{}, {}, {}, {}", words(9, 4000), zeros, given, zeros),
         {.loaded = 8157, .stored = 2432});
}

TEST_F(AccessContents, AreUnknownWhereAnotherWarpWritesThem) {
  const Evaluation found =
      evaluated("neighbour", fmt::format("{}, {}, {}, 1000", words(6, 4096), given, zeros));
  EXPECT_EQ(std::ranges::count_if(found.accesses, &Access::is_exact), 3);
  const auto gather = std::ranges::find(found.accesses, Doubt::address, &Access::doubt);
  ASSERT_NE(gather, found.accesses.end());
  EXPECT_EQ(gather->hidden_buffer, 0U);
}

TEST_F(AccessContents, OfAnOrderOfBlocksAreBetweenThoseAtTheStartAndThoseOfOneBlockAfterTheOther) {
  const std::string arguments = fmt::format("{}, {{bytes: 4100, fill: iota, element: 4}}, {}, 1000",
                                            words(2, 2), words(3, 1024));
  for (const unsigned threads : {1U, 3U}) {
    const Evaluation found = evaluated("levels", arguments, {.threads = threads});
    const auto store = std::ranges::find(found.accesses, AccessKind::store, &Access::kind);
    ASSERT_NE(store, found.accesses.end());
    EXPECT_FALSE(store->is_exact());
    EXPECT_EQ(store->moved(), 196U);  // each word once
    EXPECT_EQ(store->range, (MovedRange{196, 248}));
  }
}

TEST_F(AccessContents, OfSharedMemoryAreKnownWhereBuffersAreFollowed) {
  expect("steps", fmt::format("{}, {}, {}, {}", words(2, 4096), words(3, 4096), given, zeros),
         {.loaded = 1250, .stored = 256, .wavefronts = 64});
}

TEST_F(AccessContents, ThatAtomicsReturnAreThoseOfOneBlockAfterTheOther) {
  const Evaluation found =
      evaluated("last", fmt::format("{}, {{bytes: 4, fill: zero}}, {}", words(2, 2), words(3, 2)));
  const Access& store = found.accesses.back();
  ASSERT_EQ(store.kind, AccessKind::store);
  EXPECT_FALSE(store.is_exact());
  EXPECT_EQ(store.warps, 8U);  // of the last block
}

TEST_F(AccessContents, PassBetweenLanesAndThroughCallsAndNumbersOf16Bits) {
  expect("warpy", fmt::format("{}, {}, {}", words(8, 1000), given, zeros),
         {.loaded = 842, .stored = 203});
  expect(
      "calls",
      fmt::format("{{bytes: 8192, fill: random 5, element: 4, below: 4096}}, {}, {}", given, zeros),
      {.loaded = 529, .stored = 128, .called = 2239});
  expect("halves",
         fmt::format("{{bytes: 2048, fill: random 3, element: 2, below: 16000}}, "
                     "{{bytes: 2048, fill: random 4, element: 2, below: 17000}}, {}, {}",
                     given, zeros),
         {.loaded = 297, .stored = 128});
}

}  // namespace
}  // namespace strata::access
