// Kernels run whole on the host: what they leave in memory, and what is refused as undefined.
#include "access_runs.hpp"
#include "harness/access/execute.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace strata::access {
namespace {

using testing::Each;
using testing::HasSubstr;

/// The buffers of a launch, at the addresses that it gives them.
class Buffers final : public DeviceMemory {
 public:
  explicit Buffers(const Launch& launch) {
    for (const Buffer& buffer : launch.buffers) {
      all_.push_back({buffer.address, std::vector<std::uint8_t>(buffer.bytes)});
      for (std::uint64_t b = 0; b < buffer.bytes; ++b)
        all_.back().bytes[b] = static_cast<std::uint8_t>(buffer.fill.read(b, 1));
    }
  }
  std::uint8_t* at(std::uint64_t address, std::uint64_t bytes) override {
    for (auto& one : all_) {
      if (address >= one.address && address - one.address + bytes <= one.bytes.size())
        return one.bytes.data() + (address - one.address);
    }
    return nullptr;
  }
  template <class T>
  [[nodiscard]] std::vector<T> words(std::size_t buffer) const {
    std::vector<T> made(all_[buffer].bytes.size() / sizeof(T));
    std::memcpy(made.data(), all_[buffer].bytes.data(), made.size() * sizeof(T));
    return made;
  }

 private:
  struct One {
    std::uint64_t address;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<One> all_;
};

constexpr const char* two_buffers = ".param .u64 a, .param .u64 b, .param .u32 n";

struct LaunchShape {
  unsigned grid = 1;
  unsigned block = 32;
  unsigned words = 32;  ///< of each of the two buffers: 0, 1, 2, … and zeros
  ExecuteOptions options = {};
};

Buffers left_by(const std::string& body, const LaunchShape& shape = {},
                const std::string& before = "") {
  const Launched made{
      kernel_text(two_buffers, body, before),
      fmt::format("schema: 1\nkernel: k\ngrid: {}\nblock: {}\narguments:\n"
                  "  - {{bytes: {}, fill: iota}}\n"
                  "  - {{bytes: {}, fill: zero}}\n  - {}\n",
                  shape.grid, shape.block, 4 * shape.words, 4 * shape.words, shape.words)};
  Buffers memory{made.launch};
  const Program program = compile(made.modules[0], made.launch, Part::results);
  execute(made.modules[0], made.launch, program, memory, shape.options);
  return memory;
}
/// What the launch is refused for.
std::string fault_of(const std::string& body, const LaunchShape& shape = {},
                     const std::string& before = "") {
  try {
    (void)left_by(body, shape, before);
  } catch (const ExecutionFault& fault) {
    return fault.what();
  }
  return "nothing";
}

constexpr const char* own_word_of_tile =
    "mov.u32 %r20, tile;\nshl.b32 %r21, %r12, 2;\nadd.s32 %r22, %r20, %r21;\n";
constexpr const char* small_tile = ".shared .align 4 .b8 tile[1024];";

TEST(Execute, LeavesWhatTheKernelStores) {
  const LaunchShape shape{.grid = 3, .block = 48, .words = 144};
  const auto memory = left_by(std::string{own_words} +
                                  "ld.global.u32 %r1, [%rd2];\nadd.s32 %r1, %r1, 7;\n"
                                  "st.global.u32 [%rd3], %r1;\nret;",
                              shape);
  std::vector<std::uint32_t> wanted(144);
  std::iota(wanted.begin(), wanted.end(), 7U);
  EXPECT_EQ(memory.words<std::uint32_t>(1), wanted);
}

TEST(Execute, PassesValuesThroughSharedMemoryAtABarrier) {
  // The words of a block, the last one first.
  const auto memory = left_by(std::string{own_words} + own_word_of_tile +
                                  "ld.global.u32 %r1, [%rd2];\nst.shared.u32 [%r22], %r1;\n"
                                  "bar.sync 0;\nsub.s32 %r23, %r11, %r12;\n"
                                  "shl.b32 %r23, %r23, 2;\nadd.s32 %r23, %r20, %r23;\n"
                                  "ld.shared.u32 %r2, [%r23+-4];\n"
                                  "st.global.u32 [%rd3], %r2;\nret;",
                              {.block = 96, .words = 96}, small_tile);
  std::vector<std::uint32_t> wanted(96);
  std::iota(wanted.rbegin(), wanted.rend(), 0U);
  EXPECT_EQ(memory.words<std::uint32_t>(1), wanted);
}

TEST(Execute, CombinesAtomically) {
  const auto left = [](const std::string& what) {
    const auto memory = left_by(std::string{own_words} + what + "\nret;");
    return memory.words<std::uint32_t>(1)[0];
  };
  EXPECT_EQ(left("red.global.add.u32 [%rd1], %r0;"), 31U * 32 / 2);
  EXPECT_EQ(left("atom.global.max.s32 %r1, [%rd1], %r0;"), 31U);
  EXPECT_EQ(left("atom.global.inc.u32 %r1, [%rd1], 9;"), 2U);  // 32 turns of ten
  EXPECT_EQ(left("atom.global.cas.b32 %r1, [%rd1], 0, 5;"), 5U);
  EXPECT_EQ(std::bit_cast<float>(left("red.global.add.f32 [%rd1], 0f3F000000;")), 16.0F);
  // Each lane gets the old value: together all numbers once.
  const auto memory = left_by(std::string{own_words} +
                              "atom.global.add.u32 %r1, [%rd0], 1;\nst.global.u32 [%rd3], %r1;\n"
                              "ret;");
  auto ranks = memory.words<std::uint32_t>(1);
  std::ranges::sort(ranks);
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(ranks[i], i);
}

TEST(Execute, ApproximatesAsTheHostDoes) {
  const auto memory = left_by(std::string{own_words} +
                              "add.s32 %r1, %r0, 1;\ncvt.rn.f32.u32 %f1, %r1;\n"
                              "rsqrt.approx.ftz.f32 %f2, %f1;\nst.global.f32 [%rd3], %f2;\nret;");
  const auto roots = memory.words<float>(1);
  for (std::size_t i = 0; i < roots.size(); ++i)
    EXPECT_FLOAT_EQ(roots[i], 1 / std::sqrt(static_cast<float>(i + 1)));
}

/// Counts block after block at a word, and waits until all have been there.
constexpr const char* meeting_of_blocks =
    "atom.global.add.u32 %r1, [%rd1], 1;\nmov.u32 %r3, %nctaid.x;\n"
    "$again:\nld.acquire.gpu.global.u32 %r2, [%rd1];\nsetp.lt.u32 %p1, %r2, %r3;\n"
    "@%p1 bra $again;\nst.global.u32 [%rd2], %r2;\nret;";

TEST(Execute, CombinesTheLanesOfAWarpAndTheWarpsOfABlock) {
  const auto words = [](const std::string& what) {
    const auto memory = left_by(std::string{own_words} + what + "st.global.u32 [%rd3], %r1;\nret;",
                                {.block = 64, .words = 64});
    return memory.words<std::uint32_t>(1);
  };
  const auto sums = words("redux.sync.add.u32 %r1, %r0, -1;\n");
  EXPECT_EQ(sums[0], 31U * 32 / 2);
  EXPECT_EQ(sums[32], 31U * 32 / 2 + 32U * 32);
  EXPECT_EQ(words("redux.sync.min.u32 %r1, %r0, -1;\n")[63], 32U);
  EXPECT_EQ(words("sub.s32 %r2, 5, %r0;\nredux.sync.max.s32 %r1, %r2, -1;\n")[63], ~26U);
  // Lanes of equal words: every fourth one, or all.
  EXPECT_EQ(words("and.b32 %r2, %r0, 3;\nmatch.any.sync.b32 %r1, %r2, -1;\n")[34], 0x44444444U);
  EXPECT_EQ(words("shr.u32 %r2, %r0, 5;\nmatch.all.sync.b32 %r1, %r2, -1;\n")[34], ~0U);
  EXPECT_EQ(words("and.b32 %r2, %r0, 3;\nmatch.all.sync.b32 %r1|%p2, %r2, -1;\n"
                  "@!%p2 add.u32 %r1, %r1, 5;\n")[34],
            5U);
  // Threads 40 to 63 of the block.
  const std::string of_block = "setp.ge.u32 %p1, %r0, 40;\n";
  EXPECT_THAT(words(of_block + "bar.red.popc.u32 %r1, 0, %p1;\n"), Each(24U));
  const std::string to_word = "selp.b32 %r1, 1, 0, %p2;\n";
  EXPECT_THAT(words(of_block + "bar.red.or.pred %p2, 0, %p1;\n" + to_word), Each(1U));
  EXPECT_THAT(words(of_block + "bar.red.and.pred %p2, 0, %p1;\n" + to_word), Each(0U));
  // Twice: votes of one barrier are not those of the next.
  EXPECT_THAT(words(of_block + "bar.red.popc.u32 %r2, 0, %p1;\n"
                               "bar.red.popc.u32 %r1, 0, !%p1;\n"),
              Each(40U));
}

TEST(Execute, LetsTheBlocksOfACooperativeLaunchWaitForOneAnother) {
  const LaunchShape all_at_once{
      .grid = 4, .block = 1, .words = 4, .options = {.cooperative = true}};
  const auto memory = left_by(std::string{own_words} + meeting_of_blocks, all_at_once);
  EXPECT_THAT(memory.words<std::uint32_t>(0), Each(4U));
  LaunchShape in_turn = all_at_once;
  in_turn.options = {.budget = 1U << 20U};
  EXPECT_THAT(fault_of(std::string{own_words} + meeting_of_blocks, in_turn),
              HasSubstr("more than 1048576 warp instructions"));
}

TEST(Execute, RefusesWhatIsUndefined) {
  const auto fault = [](const std::string& what) {
    return fault_of(std::string{own_words} + own_word_of_tile + what + "\nret;", {.block = 64},
                    small_tile);
  };
  // Both buffers have 32 words, and the block 64 threads.
  EXPECT_THAT(fault("st.global.u32 [%rd3], %r0;"),
              HasSubstr("st.global.u32 of line 25: 4 bytes at"));
  EXPECT_THAT(fault("st.global.u32 [%rd3], %r0;"),
              HasSubstr("are not allocated, in thread 32 of block 0"));
  EXPECT_THAT(fault("ld.shared.u32 %r1, [%r22];\nst.global.u32 [%rd1], %r1;"),
              HasSubstr("the stored value depends on ld.shared.u32 of line 25"));
  EXPECT_THAT(fault("ld.shared.u32 %r1, [%r22];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra $end;\n$end:"),
              HasSubstr("its guard depends on ld.shared.u32"));
  EXPECT_THAT(fault("st.shared.u32 [%r22+1000], %r0;"), HasSubstr("are not allocated"));
  EXPECT_THAT(fault("ld.global.u32 %r1, [%rd0+2];"), HasSubstr("is not a multiple of 4 bytes"));
  EXPECT_THAT(fault("setp.lt.u32 %p1, %r0, 7;\n@%p1 bra $end;\nbar.sync 0;\n$end:\n"
                    "st.shared.u32 [%r22], %r0;"),
              HasSubstr("not all lanes reach it"));
  EXPECT_THAT(fault("elect.sync %r1|%p1, -1;"), HasSubstr("not modelled"));
  EXPECT_THAT(fault("setp.lt.u32 %p1, %r0, 7;\n@!%p1 redux.sync.add.u32 %r1, %r0, -1;"),
              HasSubstr("not reached by exactly the lanes that it names"));
  // All lanes of a warp write one word, each something else.
  EXPECT_THAT(fault("st.shared.u32 [tile], %r0;\nld.shared.u32 %r1, [tile];\n"
                    "st.global.u32 [%rd1], %r1;"),
              HasSubstr("the stored value depends on"));
  EXPECT_EQ(fault("st.shared.u32 [tile], 5;\nld.shared.u32 %r1, [tile];\n"
                  "st.global.u32 [%rd1], %r1;"),
            "nothing");
}

TEST(Execute, FindsRacesInSharedMemory) {
  const auto fault = [](const std::string& what) {
    return fault_of(std::string{own_words} + own_word_of_tile + what + "\nret;",
                    {.block = 64, .words = 64, .options = {.finds_races = true}}, small_tile);
  };
  constexpr const char* race = "another warp accesses the same shared memory";
  // The word of the first thread of the other warp.
  const std::string of_other = "xor.b32 %r23, %r22, 128;\n";
  const std::string write = "st.shared.u32 [%r22], %r0;\n";
  const std::string read_other = of_other + "ld.shared.u32 %r1, [%r23];\n";
  EXPECT_EQ(fault(write + "bar.sync 0;\n" + read_other), "nothing");
  EXPECT_THAT(fault(write + read_other), HasSubstr(race));
  EXPECT_THAT(fault(write + "bar.sync 0;\n" + read_other + write), HasSubstr(race));
  EXPECT_EQ(fault(write + "bar.sync 0;\n" + read_other + "bar.sync 0;\n" + write), "nothing");
  EXPECT_THAT(fault("st.shared.u32 [tile], 5;"), HasSubstr(race));
  // Both warps read, and both combine.
  EXPECT_EQ(fault(write + "bar.sync 0;\nld.shared.u32 %r1, [tile];\nbar.sync 0;\n"
                          "red.shared.add.u32 [tile], 1;"),
            "nothing");
  EXPECT_THAT(fault(write + "bar.sync 0;\nred.shared.add.u32 [tile], 1;\n"
                            "ld.shared.u32 %r1, [tile];"),
              HasSubstr(race));
}

}  // namespace
}  // namespace strata::access
