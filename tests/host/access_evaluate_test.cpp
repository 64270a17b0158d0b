#include "access_runs.hpp"
#include "harness/base/error.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace strata::access {
namespace {

using ptx::Space;
using testing::HasSubstr;

constexpr const char* one_warp = "schema: 1\nkernel: k\ngrid: 1\nblock: 32\narguments:\n";

/// One warp of a kernel with a buffer `a` of a mebibyte, whose content is `fill`.
Launched warp_of(const std::string& body, const std::string& fill = "unknown",
                 const std::string& before = "") {
  return {kernel_text(".param .u64 a, .param .u32 n", body, before),
          std::string{one_warp} + "  - {bytes: 1048576, fill: " + fill + "}\n  - 5\n"};
}

std::vector<Access> accesses_of(const std::string& body, const std::string& fill = "unknown",
                                const std::string& before = "") {
  return warp_of(body, fill, before).evaluate().accesses;
}

/// The lane's own word: %rd2 is its address.
constexpr const char* own_word =
    "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [a];\nmul.wide.u32 %rd1, %r0, 4;\n"
    "add.s64 %rd2, %rd0, %rd1;\n";

TEST(Evaluate, CountsAWarpThatReadsAlongARow) {
  const auto found = accesses_of(std::string{own_word} + "ld.global.u32 %r1, [%rd2];\nret;");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].is_exact());
  EXPECT_EQ(found[0].warps, 1U);
  EXPECT_EQ(found[0].lanes, 32U);
  EXPECT_EQ(found[0].traffic[0].requests, 1U);
  EXPECT_EQ(found[0].traffic[0].sectors, 4U);
  EXPECT_EQ(found[0].ideal_sectors, 4U);
  EXPECT_DOUBLE_EQ(found[0].moved_over_ideal(), 1);
}

TEST(Evaluate, CountsLanesOfAnAtomicAtOneWordOneByOne) {
  // As `atomicAdd(&wrong, mine)` of async_copy, counted on an H200.
  const std::string body =
      "mov.u32 %r0, %tid.x;\nmov.u32 %r1, s;\nmad.lo.u32 %r2, %r0, 4, %r1;\n"
      "cvt.u64.u32 %rd1, %r1;\ncvta.shared.u64 %rd2, %rd1;\n"
      "atom.shared.add.u32 %r3, [%r1], %r0;\nred.shared.max.s32 [%r2], 1;\n"
      "atom.add.u32 %r4, [%rd2], 1;\natom.shared.cas.b32 %r5, [%r2], 0, 1;\n"
      "atom.shared.add.f32 %f1, [%r2], 0f3F800000;\natom.shared.exch.b64 %rd3, [s], 1;\nret;";
  const auto found = accesses_of(body, "unknown", ".shared .align 8 .b8 s[128];");
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[0].wavefronts, 32U);
  EXPECT_EQ(found[0].ideal_wavefronts, 1U);
  EXPECT_EQ(found[1].wavefronts, 1U);
  EXPECT_EQ(found[2].wavefronts, 32U);
  EXPECT_EQ(found[2].space, Space::shared);
  EXPECT_EQ(found[3].wavefronts, 2U);
  for (const std::size_t loop : {4U, 5U}) {
    EXPECT_EQ(found[loop].doubt, Doubt::cost);
    EXPECT_FALSE(found[loop].is_exact());
  }
}

TEST(Evaluate, EndsAPollingLoop) {
  // Thread 0 of block 0 waits for a word that block 1 writes.
  const std::string loop =
      "ld.param.u64 %rd0, [a];\nmov.u32 %r0, %ctaid.x;\nsetp.ne.u32 %p0, %r0, 0;\n"
      "@%p0 bra $write;\n$wait:\n{} %r1, [%rd0];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra $wait;\n"
      "bra $done;\n$write:\nst.global.u32 [%rd0], 1;\n$done:\nld.global.u32 %r2, [%rd0+128];\n"
      "ret;";
  for (const auto* load :
       {"ld.relaxed.sys.global.u32", "ld.volatile.global.u32", "ld.acquire.gpu.global.u32"}) {
    const Launched launched{kernel_text(".param .u64 a", fmt::format(fmt::runtime(loop), load)),
                            "schema: 1\nkernel: k\ngrid: 2\nblock: 32\narguments:\n"
                            "  - {bytes: 4096, fill: zero}\n"};
    const auto found = launched.evaluate({.budget = 1U << 20U}).accesses;
    ASSERT_EQ(found.size(), 3U);
    EXPECT_FALSE(found[0].is_exact()) << load;
    EXPECT_EQ(found[2].warps, 2U) << load;
  }
}

TEST(Evaluate, LeavesOutWarpsWhoseLanesAreAllOff) {
  const auto found = accesses_of(std::string{own_word} +
                                 "setp.gt.u32 %p0, %r0, 100;\nsetp.gt.u32 %p1, %r0, 30;\n"
                                 "@%p0 ld.global.u32 %r1, [%rd2];\n"
                                 "@%p1 ld.global.u32 %r1, [%rd2];\n"
                                 "@!%p1 ld.global.u32 %r1, [%rd2];\nret;");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].warps, 0U);
  EXPECT_EQ(found[0].traffic[0].requests, 0U);
  EXPECT_EQ(found[1].lanes, 1U);
  EXPECT_EQ(found[2].lanes, 31U);
}

TEST(Evaluate, CountsEveryWidth) {
  std::string body = "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [a];\n";
  const std::vector<std::pair<unsigned, std::string>> kinds{
      {1, "s8 %r1"},
      {2, "u16 %rs1"},
      {4, "b32 %r1"},
      {8, "v2.f32 {%f1, %f2}"},
      {16, "v4.u32 {%r1, %r2, %r3, %r4}"},
      {32, "v8.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}"}};
  for (const auto& [width, words] : kinds) {
    body += fmt::format("mul.wide.u32 %rd1, %r0, {};\nadd.s64 %rd2, %rd0, %rd1;\n", width);
    body += fmt::format("ld.global.{}, [%rd2];\n", words);
  }
  const auto found = accesses_of(body + "ret;");
  ASSERT_EQ(found.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(found[i].width, kinds[i].first);
    EXPECT_EQ(found[i].traffic[0].sectors, kinds[i].first);
    EXPECT_TRUE(found[i].is_exact());
  }
}

// --- divergence ----------------------------------------------------------------------------------

TEST(Evaluate, LetsLanesMeetBehindNestedBranches) {
  const auto found = accesses_of(std::string{own_word} +
                                 "and.b32 %r2, %r0, 1;\nsetp.eq.u32 %p0, %r2, 0;\n"
                                 "and.b32 %r3, %r0, 2;\nsetp.eq.u32 %p1, %r3, 0;\n"
                                 "@%p0 bra $EVEN;\nld.global.u32 %r1, [%rd2];\nbra $MEET;\n"
                                 "$EVEN:\n@%p1 bra $INNER;\nld.global.u32 %r1, [%rd2];\n"
                                 "$INNER:\nld.global.u32 %r1, [%rd2];\n"
                                 "$MEET:\nld.global.u32 %r1, [%rd2];\nret;");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].lanes, 16U);
  EXPECT_EQ(found[1].lanes, 8U);
  EXPECT_EQ(found[2].warps, 1U);
  EXPECT_EQ(found[2].lanes, 16U);
  EXPECT_EQ(found[3].warps, 1U);
  EXPECT_EQ(found[3].lanes, 32U);
}

TEST(Evaluate, RunsALoopAsOftenAsItsLongestLane) {
  // Lane k turns k % 4 + 1 times.
  const auto found = accesses_of(std::string{own_word} +
                                 "and.b32 %r2, %r0, 3;\n$LOOP:\nld.global.u32 %r1, [%rd2];\n"
                                 "setp.gt.u32 %p0, %r2, 0;\nsub.u32 %r2, %r2, 1;\n@%p0 bra $LOOP;\n"
                                 "ld.global.u32 %r1, [%rd2];\nret;");
  EXPECT_EQ(found[0].warps, 4U);
  EXPECT_EQ(found[0].lanes, 32U + 24 + 16 + 8);
  EXPECT_EQ(found[1].warps, 1U);
  EXPECT_EQ(found[1].lanes, 32U);
}

TEST(Evaluate, DoesNotLetLanesThatReturnKeepTheOthersApart) {
  // Inside a branch, some lanes branch to the end of the kernel.
  const auto found = accesses_of(std::string{own_word} +
                                 "setp.lt.u32 %p0, %r0, 16;\nsetp.lt.u32 %p1, %r0, 4;\n"
                                 "@!%p0 bra $SECOND;\n@%p1 bra $END;\nld.global.u32 %r1, [%rd2];\n"
                                 "$SECOND:\nld.global.u32 %r1, [%rd2];\n$END:\nret;");
  EXPECT_EQ(found[0].lanes, 12U);
  EXPECT_EQ(found[1].warps, 1U);
  EXPECT_EQ(found[1].lanes, 28U);
}

TEST(Evaluate, FollowsABranchByATable) {
  const auto found = accesses_of(std::string{own_word} +
                                 "and.b32 %r2, %r0, 3;\n"
                                 "$table: .branchtargets $A, $B, $B, $C;\n"
                                 "brx.idx %r2, $table;\n"
                                 "$A:\nld.global.u32 %r1, [%rd2];\nbra $END;\n"
                                 "$B:\nld.global.u32 %r1, [%rd2];\nbra $END;\n"
                                 "$C:\nld.global.u32 %r1, [%rd2];\n"
                                 "$END:\nld.global.u32 %r1, [%rd2];\nret;");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].lanes, 8U);
  EXPECT_EQ(found[1].lanes, 16U);
  EXPECT_EQ(found[1].warps, 1U);
  EXPECT_EQ(found[2].lanes, 8U);
  EXPECT_EQ(found[3].warps, 1U);
}

TEST(Evaluate, StopsALoopThatDoesNotEnd) {
  const Launched launched =
      warp_of(std::string{own_word} + "$LOOP:\nld.global.u32 %r1, [%rd2];\nbra $LOOP;\nret;");
  try {
    (void)launched.evaluate({.budget = 100'000});
    FAIL() << "it ended";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("k: more than 100000 warp instructions"));
    EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos);
  }
}

TEST(Evaluate, SkipsALoopThatAffectsNoAccess) {
  // It would not end, and its condition is not known.
  const Launched launched =
      warp_of(std::string{own_word} +
              "ld.global.u32 %r1, [%rd2];\n$LOOP:\nadd.u32 %r1, %r1, 3;\nsetp.ne.u32 %p0, %r1, 7;\n"
              "@%p0 bra $LOOP;\nst.global.u32 [%rd2], %r1;\nret;");
  const Evaluation found = launched.evaluate({.budget = 1000});
  EXPECT_TRUE(found.is_exact());
  EXPECT_EQ(found.accesses[1].lanes, 32U);
}

// --- what is unknown -----------------------------------------------------------------------------

TEST(Evaluate, NamesTheLoadThatHidesAnAddress) {
  const std::string body = std::string{own_word} +
                           "ld.global.u32 %r1, [%rd2];\nmul.wide.u32 %rd3, %r1, 4;\n"
                           "add.s64 %rd4, %rd0, %rd3;\nld.global.u32 %r2, [%rd4];\nret;";
  const Launched launched = warp_of(body);
  const auto found = launched.evaluate().accesses;
  EXPECT_TRUE(found[0].is_exact());
  EXPECT_EQ(found[1].doubt, Doubt::address);
  EXPECT_EQ(found[1].hidden_by, found[0].instruction);
  EXPECT_THAT(describe_hidden(launched.kernel(), found[1].hidden_by),
              HasSubstr("ld.global.u32 of line"));
  // Where the launch gives the contents, they are known.
  const auto known = accesses_of(body, "iota");
  EXPECT_TRUE(known[1].is_exact());
  EXPECT_EQ(known[1].traffic[0].sectors, 4U);
  EXPECT_TRUE(accesses_of(body, "zero")[1].is_exact());
  EXPECT_EQ(accesses_of(body, "zero")[1].traffic[0].sectors, 1U);
}

/// A kernel whose thread i stores `value` to word `to` of `a` and then gathers from `b` at the word
/// that it finds at its own word of `a`.
Evaluation gather_behind_store(const std::string& to, const std::string& value,
                               const std::string& between = "", const std::string& fill = "iota",
                               const std::string& how = "st.global.u32") {
  const Launched launched{
      kernel_text(".param .u64 a, .param .u64 b",
                  own_words + to + "mul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd0, %rd5;\n" +
                      value + how + " [%rd6], %r2;\n" + between +
                      "ld.global.u32 %r3, [%rd2];\nmul.wide.u32 %rd7, %r3, 4;\n"
                      "add.s64 %rd8, %rd1, %rd7;\nld.global.u32 %r4, [%rd8];\nret;"),
      fmt::format("schema: 1\nkernel: k\ngrid: 4\nblock: 64\narguments:\n"
                  "  - {{bytes: 4096, fill: {}}}\n  - {{bytes: 65536}}\n",
                  fill)};
  return launched.evaluate();
}

TEST(Evaluate, FollowsABufferThatTheKernelWrites) {
  const std::string own = "mov.u32 %r1, %r0;\n";
  const std::string strided = "mul.lo.u32 %r2, %r0, 8;\n";
  const Evaluation found = gather_behind_store(own, strided);
  ASSERT_EQ(found.accesses.size(), 3U);
  EXPECT_TRUE(found.is_exact());
  EXPECT_EQ(found.accesses[2].traffic[0].sectors, 8U * 32);
  EXPECT_EQ(found.written_buffers, std::vector<std::uint32_t>{0});
  // Also where the launch does not give what was there before.
  EXPECT_TRUE(gather_behind_store(own, strided, "", "unknown").is_exact());
  // The other half of the block: known behind a barrier.
  const std::string other = "xor.b32 %r1, %r0, 32;\n";
  EXPECT_TRUE(gather_behind_store(other, strided, "bar.sync 0;\n").is_exact());
  EXPECT_EQ(gather_behind_store(other, strided).accesses[2].doubt, Doubt::address);
  // Another block: in no order.
  for (const char* to : {"add.u32 %r1, %r0, 64;\n", "xor.b32 %r1, %r0, 64;\n",
                         "xor.b32 %r1, %r0, 128;\n", "sub.u32 %r1, 255, %r0;\n"}) {
    SCOPED_TRACE(to);
    const Evaluation mixed = gather_behind_store(to, strided, "bar.sync 0;\n");
    EXPECT_TRUE(mixed.accesses[1].is_exact());
    EXPECT_EQ(mixed.accesses[2].doubt, Doubt::address);
    EXPECT_EQ(mixed.accesses[2].hidden_buffer, 0U);
  }
}

TEST(Evaluate, KnowsWhatIntegerAtomicsLeaveInAnyOrder) {
  const std::string one = "mov.u32 %r2, 8;\n";
  const auto behind = [&](const char* to, const char* how) {
    return gather_behind_store(to, one, "bar.sync 0;\n", "zero", how).accesses[2];
  };
  // All threads of a block combine the words of its first threads.
  const std::string words = "and.b32 %r1, %r12, 7;\nmad.lo.u32 %r1, %r10, %r11, %r1;\n";
  const Access sum = behind(words.c_str(), "red.global.add.u32");
  EXPECT_TRUE(sum.is_exact());
  EXPECT_EQ(sum.traffic[0].bytes_used, 4U * (8 + 4));  // words 0 and 64, or 0
  EXPECT_FALSE(behind(words.c_str(), "atom.global.exch.b32 %r9,").is_exact());
  // Of other blocks, it is unknown how many have added.
  EXPECT_FALSE(behind("and.b32 %r1, %r0, 7;\n", "red.global.add.u32").is_exact());
}

TEST(Evaluate, DoubtsSharedMemoryThatTwoWarpsAccessInNoOrder) {
  const auto behind = [](const std::string& barrier) {
    const Launched launched{
        kernel_text(".param .u64 a",
                    "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [a];\nmov.u32 %r9, s;\n"
                    "shl.b32 %r1, %r0, 2;\nadd.u32 %r2, %r9, %r1;\nst.shared.u32 [%r2], %r0;\n" +
                        barrier +
                        "sub.u32 %r4, 63, %r0;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r5, %r9, %r4;\n"
                        "ld.shared.u32 %r6, [%r5];\nmul.wide.u32 %rd1, %r6, 4;\n"
                        "add.s64 %rd2, %rd0, %rd1;\nld.global.u32 %r7, [%rd2];\nret;",
                    ".shared .align 16 .b8 s[4096];\n"),
        "schema: 1\nkernel: k\ngrid: 2\nblock: 64\narguments:\n  - {bytes: 65536}\n"};
    return launched.evaluate().accesses.back().doubt;
  };
  EXPECT_EQ(behind("bar.sync 0;\n"), Doubt::none);
  EXPECT_EQ(behind(""), Doubt::address);
}

TEST(Evaluate, GivesTheTotalsOfTwoSeedsWhereContentsAreNotGiven) {
  const std::string body = std::string{own_word} +
                           "ld.global.u32 %r1, [%rd2];\nmul.wide.u32 %rd3, %r1, 4;\n"
                           "add.s64 %rd4, %rd0, %rd3;\nld.global.u32 %r2, [%rd4];\nret;";
  const Access gather = accesses_of(body).at(1);
  EXPECT_EQ(gather.doubt, Doubt::address);
  EXPECT_EQ(gather.hidden_buffer, 0U);
  EXPECT_EQ(gather.unknown, 0U);
  EXPECT_GT(gather.range.least, 8U);
  EXPECT_LE(gather.range.least, gather.moved());
  EXPECT_GE(gather.range.most, gather.moved());
  EXPECT_LE(gather.range.most, 32U);
  // Random words lead out of a small buffer: no totals.
  const Launched small{kernel_text(".param .u64 a", body),
                       std::string{one_warp} + "  - {bytes: 128}\n"};
  const Access outside = small.evaluate().accesses.at(1);
  EXPECT_EQ(outside.doubt, Doubt::address);
  EXPECT_GT(outside.unknown, 0U);
  EXPECT_EQ(outside.outside, 0U);
  EXPECT_EQ(outside.moved(), 0U);
}

TEST(Evaluate, EndsALoopWhoseEndDependsOnContentsThatAreNotGiven) {
  const auto found = accesses_of(std::string{own_word} +
                                 "$LOOP:\nld.global.u32 %r1, [%rd2];\nsetp.ne.u32 %p0, %r1, 999;\n"
                                 "@%p0 bra $LOOP;\nld.global.u32 %r2, [%rd2];\nret;");
  EXPECT_EQ(found[0].doubt, Doubt::path);
  EXPECT_GT(found[0].unknown, 0U);
  EXPECT_TRUE(found[1].is_exact());
  EXPECT_EQ(found[1].lanes, 32U);
}

TEST(Evaluate, SamplesTheBlocksOfALaunchOverTheBudget) {
  // Block b gathers its words b % 7 + 1 apart, and the last row of blocks does nothing.
  const std::string body =
      "ld.param.u64 %rd0, [a];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n"
      "mov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %nctaid.y;\nsub.u32 %r3, %r3, 1;\n"
      "setp.eq.u32 %p0, %r2, %r3;\n@%p0 ret;\nrem.u32 %r4, %r1, 7;\nadd.u32 %r4, %r4, 1;\n"
      "mul.lo.u32 %r5, %r4, %r0;\nmul.wide.u32 %rd1, %r5, 4;\nadd.s64 %rd2, %rd0, %rd1;\n"
      "ld.global.u32 %r6, [%rd2];\nret;";
  const Launched launched{kernel_text(".param .u64 a", body),
                          "schema: 1\nkernel: k\ngrid: [100, 30]\nblock: 256\narguments:\n"
                          "  - {bytes: 65536}\n"};
  const Evaluation all = launched.evaluate();
  EXPECT_TRUE(all.is_exact());
  EXPECT_FALSE(all.is_sampled());
  const Access& exact = all.accesses.at(0);
  EXPECT_EQ(exact.range, (MovedRange{exact.moved(), exact.moved()}));
  for (const std::uint64_t budget : {std::uint64_t{1} << 15U, std::uint64_t{1} << 17U}) {
    const Evaluation some = launched.evaluate({.budget = budget});
    EXPECT_EQ(some.blocks, 3000U);
    EXPECT_LT(some.blocks_run, 1500U);
    const Access& sampled = some.accesses.at(0);
    EXPECT_EQ(sampled.doubt, Doubt::sampled);
    EXPECT_LE(sampled.range.least, exact.moved());
    EXPECT_GE(sampled.range.most, exact.moved());
    EXPECT_GT(sampled.range.least, exact.moved() / 2);
    EXPECT_LT(sampled.range.most, exact.moved() * 3 / 2);
    EXPECT_EQ(launched.evaluate({.budget = budget, .threads = 3}).accesses.at(0).range,
              sampled.range);
  }
}

TEST(Evaluate, TrustsABufferBesideOneThatIsWritten) {
  const std::string body = std::string{own_word} +
                           "ld.param.u64 %rd8, [b];\nld.global.u32 %r1, [%rd2];\n"
                           "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd8, %rd3;\n"
                           "st.global.u32 [%rd4], %r1;\n"
                           // Somewhere in b.
                           "mov.u32 %r5, %clock;\nmul.wide.u32 %rd5, %r5, 4;\n"
                           "add.s64 %rd6, %rd8, %rd5;\nst.global.u32 [%rd6], %r1;\nret;";
  const Launched launched{
      kernel_text(".param .u64 a, .param .u64 b", body),
      std::string{one_warp} + "  - {bytes: 4096, fill: iota}\n  - {bytes: 4096}\n"};
  const Evaluation found = launched.evaluate();
  EXPECT_TRUE(found.accesses[1].is_exact());
  EXPECT_EQ(found.accesses[2].doubt, Doubt::address);
  EXPECT_EQ(found.read_buffers, std::vector<std::uint32_t>{0});
  EXPECT_EQ(found.written_buffers, std::vector<std::uint32_t>{1});
}

TEST(Evaluate, DoubtsEveryAccessOnAnUnknownPath) {
  const auto found =
      accesses_of(std::string{own_word} +
                  "ld.global.u32 %r1, [%rd2];\nsetp.eq.u32 %p0, %r1, 7;\nmov.u32 %r3, 1;\n"
                  "@%p0 bra $OTHER;\nld.global.u32 %r2, [%rd2];\nmov.u32 %r3, 2;\nbra $MEET;\n"
                  "$OTHER:\nld.global.u32 %r2, [%rd2];\n"
                  "$MEET:\nld.global.u32 %r2, [%rd2];\n"
                  "mul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
                  "ld.global.u32 %r2, [%rd4];\nret;");
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[1].doubt, Doubt::path);
  EXPECT_EQ(found[2].doubt, Doubt::path);
  EXPECT_TRUE(found[3].is_exact());
  EXPECT_EQ(found[4].doubt, Doubt::address);  // what the ways write differs
  for (const std::size_t i : {1U, 2U, 4U})
    EXPECT_EQ(found[i].hidden_by, found[0].instruction);
}

TEST(Evaluate, DoubtsWhatFollowsAReturnThatIsUnknown) {
  for (const char* leave : {"@%p0 ret;\n", "@%p0 bra $END;\n"}) {
    const auto found = accesses_of(std::string{own_word} +
                                   "ld.global.u32 %r1, [%rd2];\nsetp.eq.u32 %p0, %r1, 7;\n" +
                                   leave + "ld.global.u32 %r2, [%rd2];\n$END:\nret;");
    EXPECT_TRUE(found[0].is_exact());
    EXPECT_EQ(found[1].doubt, Doubt::ended);
    EXPECT_EQ(found[1].hidden_by, found[0].instruction);
  }
}

TEST(Evaluate, DoubtsWhatFollowsABarrierOfAWarpToWhichNotAllThreadsCome) {
  const auto behind = [](const std::string& members) {
    return accesses_of(std::string{own_word} +
                       "ld.global.u32 %r1, [%rd2];\nsetp.lt.u32 %p0, %r0, 5;\n"
                       "@!%p0 bra $END;\nbar.warp.sync " +
                       members + ";\nld.global.u32 %r2, [%rd2];\n" +
                       "$END:\nld.global.u32 %r2, [%rd2];\nret;");
  };
  const auto all = behind("0xFFFFFFFF");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0].is_exact());
  EXPECT_EQ(all[1].doubt, Doubt::apart);
  EXPECT_EQ(all[2].doubt, Doubt::apart);
  for (const Access& access : behind("0x1F"))
    EXPECT_TRUE(access.is_exact());
}

TEST(Evaluate, DoubtsWhatFollowsAnExchangeToWhichNotAllThreadsComeTogether) {
  const auto behind = [](const std::string& exchange, const std::string& members) {
    return accesses_of(std::string{own_word} + "setp.lt.u32 %p0, %r0, 5;\nmov.u32 %r3, 7;\n" +
                       "@!%p0 bra $END;\n" + exchange + ", " + members +
                       ";\nld.global.u32 %r2, [%rd2];\n$END:\nld.global.u32 %r2, [%rd2];\nret;");
  };
  for (const std::string exchange :
       {"shfl.sync.bfly.b32 %r1, %r3, 1, 31", "vote.sync.any.pred %p1, %p0",
        "match.any.sync.b32 %r1, %r3", "redux.sync.add.s32 %r1, %r3"}) {
    SCOPED_TRACE(exchange);
    // Nothing hangs on what it gives: what is undefined is which lanes go on together.
    for (const Access& access : behind(exchange, "-1"))
      EXPECT_EQ(access.doubt, Doubt::apart);
    for (const Access& access : behind(exchange, "31"))
      EXPECT_TRUE(access.is_exact());
    // Lane 4 comes, and is not among them.
    for (const Access& access : behind(exchange, "15"))
      EXPECT_EQ(access.doubt, Doubt::apart);
  }
}

TEST(Evaluate, DoubtsAnExchangeThatAGuardKeepsNamedThreadsFrom) {
  const auto behind = [](const std::string& guard) {
    return accesses_of(std::string{own_word} + "setp.lt.u32 %p0, %r0, 5;\n" + guard +
                       "shfl.sync.idx.b32 %r3, %r0, 0, 31, -1;\nld.global.u32 %r2, [%rd2];\nret;");
  };
  EXPECT_EQ(behind("@%p0 ").at(0).doubt, Doubt::apart);
  EXPECT_TRUE(behind("").at(0).is_exact());
}

TEST(Evaluate, DoubtsAnExchangeThatTwoPathsReachOneAfterTheOther) {
  // Each half of the warp, for itself, names all of it.
  const auto found = accesses_of(std::string{own_word} +
                                 "setp.lt.u32 %p0, %r0, 16;\n@%p0 bra $FIRST;\n"
                                 "shfl.sync.idx.b32 %r3, %r0, 0, 31, -1;\nbra $END;\n$FIRST:\n"
                                 "shfl.sync.idx.b32 %r3, %r0, 0, 31, -1;\n$END:\n"
                                 "ld.global.u32 %r2, [%rd2];\nret;");
  EXPECT_EQ(found.at(0).doubt, Doubt::apart);
}

TEST(Evaluate, TrustsAnExchangeAmongLanesThatNameThemselves) {
  // Two halves, each of which names its own lanes, at one instruction; and lanes that have ended.
  const auto found =
      accesses_of(std::string{own_word} +
                  "setp.lt.u32 %p0, %r0, 30;\n@!%p0 ret;\nsetp.lt.u32 %p1, %r0, 16;\n"
                  "selp.b32 %r1, 65535, -65536, %p1;\n"
                  "shfl.sync.bfly.b32 %r3, %r0, 1, 31, %r1;\nld.global.u32 %r2, [%rd2];\nret;");
  EXPECT_TRUE(found.at(0).is_exact());
}

TEST(Evaluate, DoubtsWhatFollowsABreakThatIsUnknown) {
  const auto found =
      accesses_of(std::string{own_word} +
                  "ld.global.u32 %r1, [%rd2];\nsetp.eq.u32 %p0, %r1, 7;\nmov.u32 %r3, 0;\n"
                  "setp.lt.u32 %p2, %r0, 9;\n"
                  "$LOOP:\n@!%p2 bra $NEXT;\n@%p0 bra $OUT;\nld.global.u32 %r2, [%rd2];\n"
                  "$NEXT:\nld.global.u32 %r2, [%rd2];\n"
                  "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 4;\n@%p1 bra $LOOP;\n"
                  "$OUT:\nld.global.u32 %r2, [%rd2];\nret;");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[1].doubt, Doubt::path);
  EXPECT_EQ(found[2].doubt, Doubt::path);
  EXPECT_TRUE(found[3].is_exact());  // all lanes come there
  EXPECT_EQ(found[3].warps, 1U);
  EXPECT_EQ(found[3].lanes, 32U);
}

TEST(Evaluate, DoubtsAnAccessWhoseGuardIsUnknown) {
  const auto found = accesses_of(
      std::string{own_word} +
      "ld.global.u32 %r1, [%rd2];\nsetp.eq.u32 %p0, %r1, 7;\n@%p0 ld.global.u32 %r2, [%rd2];\n"
      "setp.lt.u32 %p1, %r0, 0;\nand.pred %p2, %p1, %p0;\n@%p2 ld.global.u32 %r2, [%rd2];\nret;");
  EXPECT_EQ(found[1].doubt, Doubt::guard);
  // False, whatever was loaded.
  EXPECT_TRUE(found[2].is_exact());
  EXPECT_EQ(found[2].warps, 0U);
}

TEST(Evaluate, KnowsPredicatesThatAreConstants) {
  const auto found = accesses_of(
      std::string{own_word} +
      "mov.pred %p0, -1;\nmov.pred %p1, 0;\nxor.pred %p2, %p0, -1;\nor.pred %p3, %p1, 1;\n"
      "@%p0 ld.global.u32 %r2, [%rd2];\n@%p1 ld.global.u32 %r2, [%rd2];\n"
      "@%p2 ld.global.u32 %r2, [%rd2];\n@%p3 ld.global.u32 %r2, [%rd2];\nret;");
  ASSERT_EQ(found.size(), 4U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(found[i].is_exact());
    EXPECT_EQ(found[i].warps > 0, i == 0 || i == 3) << i;
  }
}

TEST(Evaluate, TreatsUnwrittenValuesAsUnknown) {
  const auto found =
      accesses_of(std::string{own_word} +
                  "setp.lt.u32 %p0, %r0, 16;\n@%p0 mov.u32 %r5, 4;\n"
                  "mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd0, %rd3;\n"
                  "@%p0 ld.global.u32 %r1, [%rd4];\nld.global.u32 %r1, [%rd4];\nret;");
  EXPECT_TRUE(found[0].is_exact());
  EXPECT_EQ(found[1].doubt, Doubt::address);
}

TEST(Evaluate, TreatsValuesWithTwoPossibleRoundingsAsUnknown) {
  // A product that an assembler may fuse with the sum, and one that it may not.
  const auto address_of = [](const char* multiply) {
    return accesses_of(fmt::format("mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [a];\n"
                                   "cvt.rn.f32.u32 %f0, %r0;\n{} %f1, %f0, 0f3F000000;\n"
                                   "add.f32 %f2, %f1, 0f40000000;\ncvt.rzi.u32.f32 %r1, %f2;\n"
                                   "mul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\n"
                                   "ld.global.u32 %r2, [%rd2];\nret;",
                                   multiply))
        .front();
  };
  EXPECT_FALSE(address_of("mul.f32").is_exact());
  const Access known = address_of("mul.rn.f32");
  EXPECT_TRUE(known.is_exact());
  EXPECT_EQ(known.traffic[0].bytes_used, 16U * 4);  // words 2 to 17
}

TEST(Evaluate, DoesNotKnowWhatADivisionByZeroGives) {
  const auto found = accesses_of(std::string{own_word} +
                                 "and.b32 %r1, %r0, 1;\ndiv.u32 %r2, %r0, %r1;\n"
                                 "mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd0, %rd3;\n"
                                 "setp.eq.u32 %p0, %r1, 1;\n@%p0 ld.global.u32 %r3, [%rd4];\n"
                                 "ld.global.u32 %r3, [%rd4];\nret;");
  EXPECT_TRUE(found[0].is_exact());
  EXPECT_EQ(found[0].lanes, 16U);
  EXPECT_FALSE(found[1].is_exact());
}

TEST(Evaluate, SaysWhatItDoesNotModel) {
  const Launched launched = warp_of(std::string{own_word} +
                                    "prefetch.global.L1 [%rd2];\nld.global.u32 %r1, [%rd2];\nret;");
  const Evaluation found = launched.evaluate();
  ASSERT_EQ(found.unmodelled.size(), 1U);
  EXPECT_EQ(found.unmodelled[0].why, "prefetch.global.L1");
  EXPECT_FALSE(found.is_exact());
  EXPECT_TRUE(found.accesses[0].is_exact());
}

// --- memories ------------------------------------------------------------------------------------

constexpr const char* shared_words = ".shared .align 16 .b8 s[4096];\n";

TEST(Evaluate, PassesValuesThroughSharedMemory) {
  // Each warp writes what the next one reads, behind a barrier.
  const std::string body =
      "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [a];\nmov.u32 %r9, s;\n"
      "shl.b32 %r1, %r0, 2;\nadd.u32 %r2, %r9, %r1;\nmul.lo.u32 %r3, %r0, 8;\n"
      "st.shared.u32 [%r2], %r3;\nBARRIER"
      "add.u32 %r4, %r0, 32;\nand.b32 %r4, %r4, 63;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r5, %r9, %r4;\n"
      "ld.shared.u32 %r6, [%r5];\nmul.wide.u32 %rd1, %r6, 4;\nadd.s64 %rd2, %rd0, %rd1;\n"
      "ld.global.u32 %r7, [%rd2];\nret;";
  const auto evaluated = [&](const std::string& barrier) {
    std::string text = body;
    text.replace(text.find("BARRIER"), 7, barrier);
    return Launched{kernel_text(".param .u64 a", text, shared_words),
                    "schema: 1\nkernel: k\ngrid: 2\nblock: 64\narguments:\n  - {bytes: 65536}\n"}
        .evaluate();
  };
  const Evaluation found = evaluated("bar.sync 0;\n");
  EXPECT_TRUE(found.is_exact());
  EXPECT_EQ(found.accesses[0].wavefronts, 4U);
  EXPECT_EQ(found.accesses[2].warps, 4U);
  EXPECT_EQ(found.accesses[2].traffic[0].sectors, 4U * 32);  // words 8 apart
  // What the barrier of some threads orders is not followed.
  EXPECT_FALSE(evaluated("bar.sync 1, 64;\n").is_exact());
}

TEST(Evaluate, DoesNotKnowSharedMemoryThatNobodyWroteOrTwoLanesDid) {
  const auto load_of = [](const char* value) {
    return accesses_of(
               fmt::format("mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [a];\nmov.u32 %r9, s;\n"
                           "st.shared.u32 [%r9], {};\nld.shared.u32 %r1, [%r9+{}];\n"
                           "mul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\n"
                           "ld.global.u32 %r2, [%rd2];\nret;",
                           value, std::string_view{value} == "8" ? 4 : 0),
               "unknown", shared_words)
        .back();
  };
  EXPECT_TRUE(load_of("7").is_exact());
  EXPECT_FALSE(load_of("%r0").is_exact());  // the lane whose value stays is undefined
  EXPECT_FALSE(load_of("8").is_exact());    // the next word
}

TEST(Evaluate, CountsConflictsOfSharedMemory) {
  const auto wavefronts_of = [](unsigned stride) {
    return accesses_of(fmt::format("mov.u32 %r0, %tid.x;\nmov.u32 %r9, s;\n"
                                   "mad.lo.u32 %r1, %r0, {}, %r9;\nld.shared.u32 %r2, [%r1];\nret;",
                                   stride),
                       "unknown", shared_words)
        .front();
  };
  EXPECT_EQ(wavefronts_of(4).wavefronts, 1U);
  EXPECT_EQ(wavefronts_of(8).wavefronts, 2U);
  EXPECT_EQ(wavefronts_of(128).wavefronts, 32U);
  EXPECT_EQ(wavefronts_of(128).ideal_wavefronts, 1U);
  EXPECT_DOUBLE_EQ(wavefronts_of(128).moved_over_ideal(), 32);
  EXPECT_EQ(wavefronts_of(132).outside, 0U);
  EXPECT_EQ(wavefronts_of(256).outside, 16U);  // beyond the variable
}

TEST(Evaluate, ResolvesGenericAddressesByTheirWindow) {
  const auto found =
      accesses_of(std::string{own_word} +
                      "mov.u64 %rd5, s;\ncvta.shared.u64 %rd6, %rd5;\nadd.s64 %rd7, %rd6, %rd1;\n"
                      "setp.lt.u32 %p0, %r0, 8;\nselp.b64 %rd8, %rd7, %rd2, %p0;\n"
                      "ld.u32 %r1, [%rd8];\nret;",
                  "unknown", shared_words);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].space, Space::global);
  EXPECT_EQ(found[0].lanes, 24U);
  EXPECT_EQ(found[0].traffic[0].sectors, 3U);
  EXPECT_EQ(found[1].space, Space::shared);
  EXPECT_EQ(found[1].lanes, 8U);
  EXPECT_EQ(found[1].wavefronts, 1U);
}

TEST(Evaluate, LaysLocalMemoryAcrossTheLanesAndPassesValuesThroughIt) {
  const auto found = accesses_of(
      std::string{own_word} +
      ".local .align 8 .b8 depot[64];\n"
      "mov.u64 %rd5, depot;\ncvta.local.u64 %rd6, %rd5;\n"
      "st.u32 [%rd6+8], %r0;\nst.local.u32 [%rd5+16], 3;\n"
      "ld.local.v2.u32 {%r5, %r6}, [%rd5+8];\n"
      "mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd0, %rd3;\nld.global.u32 %r1, [%rd4];\nret;");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].space, Space::local);
  EXPECT_EQ(found[0].traffic[0].sectors, 4U);
  EXPECT_EQ(found[2].traffic[0].sectors, 8U);
  EXPECT_TRUE(found[3].is_exact());
  EXPECT_EQ(found[3].traffic[0].sectors, 4U);
}

TEST(Evaluate, ReadsConstantsWithAnInitialiser) {
  const auto found = accesses_of(
      std::string{own_word} +
          "mov.u64 %rd5, table;\nand.b32 %r1, %r0, 1;\nmul.wide.u32 %rd6, %r1, 4;\n"
          "add.s64 %rd7, %rd5, %rd6;\nld.const.u32 %r2, [%rd7];\nmul.wide.u32 %rd3, %r2, 4;\n"
          "add.s64 %rd4, %rd0, %rd3;\nld.global.u32 %r3, [%rd4];\nret;",
      "unknown", ".const .align 4 .u32 table[2] = {64, 128};\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].space, Space::constant);
  EXPECT_TRUE(found[1].is_exact());
  EXPECT_EQ(found[1].traffic[0].sectors, 2U);
}

TEST(Evaluate, CountsAtomicsAndHidesWhatTheyReturn) {
  const auto found =
      accesses_of(std::string{own_word} +
                  "atom.global.add.u32 %r1, [%rd2], 1;\nred.global.add.u32 [%rd0], 1;\n"
                  "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd0, %rd3;\n"
                  "st.global.u32 [%rd4], %r1;\nret;");
  EXPECT_EQ(found[0].kind, AccessKind::atomic);
  EXPECT_EQ(found[0].traffic[0].sectors, 4U);
  EXPECT_EQ(found[1].kind, AccessKind::reduction);
  EXPECT_EQ(found[1].traffic[0].sectors, 1U);
  EXPECT_EQ(found[2].hidden_by, found[0].instruction);
}

TEST(Evaluate, CountsCopiesToSharedMemoryByWhatTheyRead) {
  const auto found = accesses_of(
      "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [a];\nmul.wide.u32 %rd1, %r0, 16;\n"
      "add.s64 %rd2, %rd0, %rd1;\nmov.u32 %r9, s;\nshl.b32 %r1, %r0, 4;\nadd.u32 %r2, %r9, %r1;\n"
      "cp.async.cg.shared.global [%r2], [%rd2], 16;\n"
      "setp.lt.u32 %p0, %r0, 8;\nselp.b32 %r3, 16, 0, %p0;\n"
      "cp.async.cg.shared.global [%r2], [%rd2], 16, %r3;\n"
      "cp.async.commit_group;\ncp.async.wait_group 0;\nret;",
      "unknown", shared_words);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].kind, AccessKind::copy);
  EXPECT_EQ(found[0].traffic[0].sectors, 16U);
  EXPECT_EQ(found[1].lanes, 8U);
  EXPECT_EQ(found[1].traffic[0].sectors, 4U);
}

TEST(Evaluate, CountsRowsOfMatrices) {
  const auto wavefronts_of = [](unsigned pitch) {
    return accesses_of(
               fmt::format("mov.u32 %r0, %tid.x;\nmov.u32 %r9, s;\nand.b32 %r1, %r0, 15;\n"
                           "mad.lo.u32 %r2, %r1, {}, %r9;\n"
                           "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r4, %r5, %r6, %r7}}, "
                           "[%r2];\nret;",
                           pitch),
               "unknown", shared_words)
        .front();
  };
  EXPECT_EQ(wavefronts_of(16).wavefronts, 4U);    // one a matrix
  EXPECT_EQ(wavefronts_of(128).wavefronts, 32U);  // all rows in the same banks
  EXPECT_EQ(wavefronts_of(144).wavefronts, 4U);
  EXPECT_EQ(wavefronts_of(16).ideal_wavefronts, 4U);
}

TEST(Evaluate, SaysWhichLanesLieOutsideAndWhichAddressesAreMisaligned) {
  const auto found = accesses_of(std::string{own_word} +
                                 "ld.global.u32 %r1, [%rd2+1048512];\n"
                                 "ld.global.u32 %r1, [%rd2+-4];\n"
                                 "ld.global.u32 %r1, [%rd2+2];\nret;");
  EXPECT_EQ(found[0].outside, 16U);
  EXPECT_TRUE(found[0].is_exact());
  EXPECT_EQ(found[1].outside, 1U);
  EXPECT_EQ(found[2].doubt, Doubt::misaligned);
}

TEST(Evaluate, RefusesMemoryThatNoBlockHas) {
  const auto message = [](const std::string& variable) {
    const Launched launched =
        warp_of(variable +
                "mov.u64 %rd5, big;\nld.u32 %r1, [%rd5];\nmul.wide.u32 %rd1, %r1, 4;\n"
                "ld.param.u64 %rd0, [a];\nadd.s64 %rd2, %rd0, %rd1;\n"
                "ld.global.u32 %r2, [%rd2];\nret;");
    try {
      (void)launched.evaluate();
    } catch (const UsageError& error) {
      return std::string{error.what()};
    }
    return std::string{"accepted"};
  };
  EXPECT_THAT(message(".shared .align 4 .b8 big[1000000];\n"), HasSubstr("bytes of shared memory"));
  EXPECT_THAT(message(".local .align 4 .b8 big[1000000];\n"),
              HasSubstr("1000000 bytes of local memory"));
}

TEST(Evaluate, DoesNotDecodeOperandsOfAnotherKindThanAnInstructionTakes) {
  for (const char* odd :
       {"add.u32 %p1, %r0, 1;", "setp.eq.u32 %r3, %r0, 1;", "selp.b32 %r3, 1, 2, %r0;",
        "and.pred %p1, %r0, %p2;", "add.u32 {%r3, %r4}, %r0, 1;", "add.u32 %r3, {%r0, %r0}, 1;",
        "mov.b64 %rd3, {};", "add.u32 %r3;", "activemask.b32 %p1;",
        "vote.sync.all.pred %r3, %r0, -1;", "shfl.sync.idx.b32 %p1, %p2, %p3, %p4, -1;"}) {
    // Guards hang on what it writes, so that it is run.
    const auto found =
        accesses_of(std::string{own_word} + odd +
                    "\nsetp.ne.u32 %p5, %r3, 77;\nsetp.ne.b64 %p6, %rd3, 77;\n"
                    "or.pred %p7, %p5, %p6;\nor.pred %p8, %p7, %p1;\n"
                    "ld.global.u32 %r1, [%rd2];\n@%p8 ld.global.u32 %r1, [%rd2];\nret;");
    ASSERT_EQ(found.size(), 2U) << odd;
    EXPECT_EQ(found[0].traffic[0].sectors, 4U) << odd;
    EXPECT_EQ(found[1].doubt, Doubt::guard) << odd;
  }
}

// --- between lanes -------------------------------------------------------------------------------

TEST(Evaluate, ShufflesAndVotesAsPtxDoes) {
  const auto words_of = [](const std::string& way) {
    return accesses_of(std::string{own_word} + way +
                       "mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd0, %rd3;\n"
                       "ld.global.u32 %r1, [%rd4];\nret;")
        .back();
  };
  const auto used = [&](const std::string& way) {
    const Access found = words_of(way);
    EXPECT_TRUE(found.is_exact()) << way;
    return found.traffic[0].bytes_used / 4;
  };
  EXPECT_EQ(used("shfl.sync.bfly.b32 %r5|%p0, %r0, 16, 31, -1;\n"), 32U);
  EXPECT_EQ(used("shfl.sync.idx.b32 %r5|%p0, %r0, 3, 31, -1;\n"), 1U);
  EXPECT_EQ(used("shfl.sync.idx.b32 %r5|%p0, %r0, 3, 0x181f, -1;\n"), 4U);  // groups of 8
  EXPECT_EQ(used("shfl.sync.up.b32 %r5|%p0, %r0, 1, 0, -1;\n"), 31U);       // lane 0 keeps its own
  EXPECT_EQ(used("shfl.sync.down.b32 %r5|%p0, %r0, 2, 31, -1;\n"), 30U);
  EXPECT_EQ(used("setp.lt.u32 %p0, %r0, 3;\nvote.sync.ballot.b32 %r5, %p0, -1;\n"), 1U);
  EXPECT_EQ(used("setp.lt.u32 %p0, %r0, 3;\nvote.sync.any.pred %p1, %p0, -1;\n"
                 "selp.b32 %r5, 1, %r0, %p1;\n"),
            1U);
  EXPECT_EQ(used("setp.lt.u32 %p0, %r0, 3;\nvote.sync.all.pred %p1, %p0, -1;\n"
                 "selp.b32 %r5, 1, %r0, %p1;\n"),
            32U);
  EXPECT_EQ(used("activemask.b32 %r5;\nand.b32 %r5, %r5, 255;\n"), 1U);
  // Of lanes that are elsewhere nothing is known.
  EXPECT_FALSE(words_of("setp.lt.u32 %p2, %r0, 16;\nmov.u32 %r5, 0;\n@!%p2 bra $SKIP;\n"
                        "shfl.sync.idx.b32 %r5|%p0, %r0, 20, 31, -1;\n$SKIP:\n")
                   .is_exact());
}

// --- the launch ----------------------------------------------------------------------------------

TEST(Evaluate, ReportsTheDoubtOfTheFirstBlockThatHasOne) {
  // The address is unknown in block 0, the guard in all others.
  const std::string body =
      "mov.u32 %r0, %ctaid.x;\nld.param.u64 %rd0, [a];\nld.global.u32 %r1, [%rd0];\n"
      "setp.eq.u32 %p0, %r0, 0;\nselp.u32 %r2, %r1, 0, %p0;\nselp.u32 %r3, 1, %r1, %p0;\n"
      "setp.ne.u32 %p1, %r3, 0;\nmul.wide.u32 %rd1, %r2, 4;\nadd.s64 %rd2, %rd0, %rd1;\n"
      "@%p1 ld.global.u32 %r4, [%rd2];\nret;";
  const Launched launched{kernel_text(".param .u64 a", body),
                          "schema: 1\nkernel: k\ngrid: 20000\nblock: 32\narguments:\n"
                          "  - {bytes: 4096}\n"};
  for (int repeat = 0; repeat < 8; ++repeat) {
    const auto accesses = launched.evaluate({.threads = 4}).accesses;
    EXPECT_EQ(accesses.at(1).doubt, Doubt::address);
    EXPECT_EQ(accesses[1].doubtful, 20000U);
  }
}

TEST(Evaluate, ComparesSectorsNotTransactionsWithTheIdeal) {
  const Access access{.traffic = {Traffic{.transactions = 8, .sectors = 6}}, .ideal_sectors = 2};
  EXPECT_DOUBLE_EQ(access.moved_over_ideal(), 3);
}

TEST(Evaluate, RunsEveryWarpOfEveryBlockWithItsPlace) {
  const std::string body =
      "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ctaid.y;\nmov.u32 %r2, %ctaid.z;\n"
      "mov.u32 %r3, %nctaid.x;\nmov.u32 %r4, %nctaid.y;\nmad.lo.u32 %r5, %r2, %r4, %r1;\n"
      "mad.lo.u32 %r5, %r5, %r3, %r0;\n"  // number of the block
      "mov.u32 %r6, %tid.x;\nmov.u32 %r7, %tid.y;\nmov.u32 %r8, %tid.z;\n"
      "mov.u32 %r9, %ntid.x;\nmov.u32 %r10, %ntid.y;\nmad.lo.u32 %r11, %r8, %r10, %r7;\n"
      "mad.lo.u32 %r11, %r11, %r9, %r6;\nmov.u32 %r12, %ntid.z;\nmul.lo.u32 %r13, %r9, %r10;\n"
      "mul.lo.u32 %r13, %r13, %r12;\nmad.lo.u32 %r14, %r5, %r13, %r11;\n"
      "mul.wide.u32 %rd1, %r14, 4;\nld.param.u64 %rd0, [a];\nadd.s64 %rd2, %rd0, %rd1;\n"
      "ld.global.u32 %r15, [%rd2];\nret;";
  // 5 × 3 × 2 blocks of 7 × 3 × 2 threads: together all words of the buffer, each once.
  const Launched launched{kernel_text(".param .u64 a", body),
                          "schema: 1\nkernel: k\ngrid: [5, 3, 2]\nblock: [7, 3, 2]\narguments:\n"
                          "  - {bytes: 5040}\n"};
  for (const unsigned threads : {1U, 2U, 5U}) {
    const Evaluation found = launched.evaluate({.threads = threads});
    EXPECT_TRUE(found.is_exact());
    EXPECT_EQ(found.blocks, 30U);
    EXPECT_EQ(found.warps, 60U);
    EXPECT_EQ(found.accesses[0].warps, 60U);
    EXPECT_EQ(found.accesses[0].lanes, 30U * 42);
    EXPECT_EQ(found.accesses[0].outside, 0U);
    EXPECT_EQ(found.accesses[0].traffic[0].bytes_used, 5040U);
  }
}

TEST(Evaluate, KnowsTheBlocksOfAClusterByTheirPlace) {
  const std::string body =
      "mov.u32 %r0, %cluster_ctarank;\nmul.wide.u32 %rd1, %r0, 32;\nld.param.u64 %rd0, [a];\n"
      "add.s64 %rd2, %rd0, %rd1;\nld.global.u32 %r1, [%rd2];\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;";
  const Launched launched{kernel_text(".param .u64 a", body),
                          "schema: 1\nkernel: k\ngrid: [4, 4]\nblock: 32\ncluster: [2, 2]\n"
                          "arguments:\n  - {bytes: 128}\n"};
  const Evaluation found = launched.evaluate();
  EXPECT_TRUE(found.accesses[0].is_exact());
  EXPECT_EQ(found.accesses[0].outside, 0U);
  EXPECT_EQ(found.accesses[0].warps, 16U);
}

}  // namespace
}  // namespace strata::access
