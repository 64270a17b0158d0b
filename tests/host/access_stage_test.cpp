// Accesses exchanged within a block through shared memory.
#include "harness/access/evaluate.hpp"
#include "harness/access/optimize/choose.hpp"
#include "harness/access/optimize/same_results.hpp"
#include "harness/model/split_mix.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace strata::access {
namespace {

using testing::HasSubstr;

/// Of tests/data/access/stage.ptx.
class AccessStage : public testing::Test {
 protected:
  AccessStage() {
    std::ifstream file{std::string{STRATA_ACCESS_DATA} + "/stage.ptx"};
    modules_.push_back(ptx::read(
        {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}}, "stage.ptx"));
  }

  [[nodiscard]] std::uint32_t number(std::string_view kernel) const {
    const auto found = std::ranges::find(modules_[0].kernels, kernel, &ptx::Kernel::name);
    return static_cast<std::uint32_t>(found - modules_[0].kernels.begin());
  }
  [[nodiscard]] Launch launch(const std::string& kernel, const std::string& rest) const {
    return parse_launch(fmt::format("schema: 1\nkernel: ^{}$\n{}\n", kernel, rest), "test.yaml",
                        modules_);
  }
  [[nodiscard]] Optimized staged(std::string_view kernel, unsigned threads) const {
    return optimize(modules_[0], number(kernel), {.bytes = 1, .staged = threads});
  }
  [[nodiscard]] std::string refusal(std::string_view kernel) const {
    try {
      (void)staged(kernel, 256);
    } catch (const NotOptimized& error) {
      return error.what();
    }
    return "none";
  }

  /// Sectors of global memory of the original and of the exchanged kernel, which do the same.
  struct Sectors {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
  };
  [[nodiscard]] Sectors compare(const Launch& launch) const {
    const std::uint64_t threads = launch.block.count();
    const ptx::Kernel& kernel = modules_[0].kernels[launch.kernel];
    const Optimized made = staged(kernel.name, static_cast<unsigned>((threads + 31) / 32 * 32));
    EXPECT_EQ(made.checks.failing(launch), std::nullopt);
    const ptx::Module changed = ptx::read(made.alone, "staged.ptx");
    const SameResults same = compare_results(modules_[0], launch, made, changed);
    EXPECT_TRUE(same.is_same()) << same.failure << ' ' << same.different;
    EXPECT_GT(same.bytes, 0U);
    const auto sectors = [](const Evaluation& found) {
      std::uint64_t sum = 0;
      for (const Access& one : found.accesses) {
        EXPECT_TRUE(one.is_exact());
        if (one.space == ptx::Space::global) sum += one.moved();
      }
      return sum;
    };
    return {sectors(evaluate(modules_[0], launch, {})),
            sectors(evaluate(changed, optimized_launch(made, modules_[0], changed, launch), {}))};
  }

  std::vector<ptx::Module> modules_;
};

constexpr const char* buffers =
    "arguments: [{bytes: 262144, fill: random 1, element: 4}, {bytes: 262144, fill: zero}";

TEST_F(AccessStage, StoresColumnsOfATransposeAsRows) {
  for (const std::string kernel : {"transposed", "gathered"}) {
    SCOPED_TRACE(kernel);
    // Whole tiles: 4 sectors a warp of each load and store.
    const Sectors whole = compare(
        launch(kernel, fmt::format("grid: [4, 4]\nblock: [32, 32]\n{}, 128, 128]", buffers)));
    EXPECT_EQ(whole.before, 16U * 32 * (4 + 32));
    EXPECT_EQ(whole.after, 16U * 32 * (4 + 4));
    // Threads beyond the matrix access memory for others.
    for (const std::string shape :
         {"block: [32, 8]", "block: [8, 32]", "block: [5, 7]", "block: [16, 4, 2]"}) {
      SCOPED_TRACE(shape);
      const Sectors part =
          compare(launch(kernel, fmt::format("grid: [5, 9]\n{}\n{}, 125, 67]", shape, buffers)));
      EXPECT_LT(part.after, part.before);
    }
  }
}

TEST_F(AccessStage, AccessesFieldsOfStructuresOneAfterTheOther) {
  const Sectors energies =
      compare(launch("energy", fmt::format("grid: 8\nblock: 256\n{}, 2000]", buffers)));
  EXPECT_EQ(energies.before, 62U * 7 * 28 + 14 * 7 + 250);  // 62 whole warps and half of one
  EXPECT_LE(energies.after, 2000U * 28 / 32 + 250 + 3 * 64);
  const Sectors kicks = compare(
      launch("kick",
             "grid: 8\nblock: 250\narguments: [{bytes: 262144, fill: random 1, element: 4}, "
             "0.5, 1990]"));
  EXPECT_LT(3 * kicks.after, kicks.before);
}

TEST_F(AccessStage, LeavesTheSameInRandomLaunches) {
  SplitMix random{20261129};
  const auto below = [&](std::uint64_t most) { return random.next() % most + 1; };
  constexpr unsigned count = 40;
  for (unsigned i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    const std::uint64_t wide = below(32);
    const std::uint64_t high = 3 + below(13);
    const std::string shape =
        fmt::format("grid: [{}, {}]\nblock: [{}, {}, {}]\n{}, {}, {}]", below(4), below(4), wide,
                    high, below(2), buffers, below(130), below(130));
    (void)compare(launch(i % 2 == 0 ? "transposed" : "gathered", shape));
    const std::string row = fmt::format("grid: {}\nblock: {}\n", below(6), below(512));
    (void)compare(launch("energy", fmt::format("{}{}, {}]", row, buffers, below(2000))));
    (void)compare(
        launch("kick",
               fmt::format("{}arguments: [{{bytes: 262144, fill: random {}, element: 4}}, 0.5, {}]",
                           row, i + 1, below(2000))));
  }
}

TEST_F(AccessStage, IsChosenWhereItPays) {
  const std::vector<Launch> launches{
      launch("kick",
             "grid: 8\nblock: 256\narguments: [{bytes: 262144, fill: random 1, "
             "element: 4}, 0.5, 2000]")};
  const Chosen chosen = choose(modules_[0], number("kick"), launches);
  ASSERT_TRUE(chosen.optimized);
  EXPECT_EQ(chosen.optimized->change.staged, 256U);
  EXPECT_GT(chosen.before.cycles, 2 * chosen.after.cycles);
}

TEST_F(AccessStage, IsNotTakenForLargerBlocks) {
  const Optimized made = staged("transposed", 128);
  const auto why = [&](std::string_view block) {
    return made.checks
        .failing(launch("transposed", fmt::format("grid: 1\nblock: {}\n{}, 8, 8]", block, buffers)))
        .value_or("");
  };
  EXPECT_EQ(why("[32, 4]"), "");
  EXPECT_THAT(why("[32, 8]"), HasSubstr("more than 128 threads"));
  EXPECT_THAT(why("[32, 2]"), HasSubstr("block.y is less than 4"));
}

TEST_F(AccessStage, IsRefusedWhereThreadsOrOrdersWouldDiffer) {
  EXPECT_THAT(refusal("waits"), HasSubstr("memory of a block"));
  EXPECT_THAT(refusal("around"), HasSubstr("a branch around the accesses"));
  EXPECT_THAT(refusal("rows"), HasSubstr("no accesses that an exchange"));
}

}  // namespace
}  // namespace strata::access
