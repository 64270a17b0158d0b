// Optimized kernels leave what the originals leave, bit for bit, and what cannot be optimized says
// why.
#include "access_runs.hpp"
#include "harness/access/optimize/choose.hpp"
#include "harness/access/optimize/launch_header.hpp"
#include "harness/access/optimize/same_results.hpp"
#include "harness/base/error.hpp"
#include "harness/model/split_mix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

namespace strata::access {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string text_of_file(const std::string& name) {
  std::ifstream in{std::string{STRATA_ACCESS_DATA} + '/' + name + ".ptx"};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// The number of the only kernel with this in its name.
std::uint32_t kernel_in(const ptx::Module& module, const std::string& part) {
  const auto found = std::ranges::find_if(module.kernels, [&](const ptx::Kernel& kernel) {
    return std::string{kernel.name}.find(part) != std::string::npos;
  });
  EXPECT_NE(found, module.kernels.end()) << part;
  return static_cast<std::uint32_t>(found - module.kernels.begin());
}

Optimized optimized_by(const ptx::Module& module, std::uint32_t kernel, const std::string& words) {
  return optimize(module, kernel, parse_change("--change", words, module, module.kernels[kernel]));
}

struct Case {
  const char* file;
  const char* kernel;
  const char* change;
  unsigned groups;   ///< accesses of several
  unsigned grouped;  ///< accesses in them
};

class OptimizedKernels : public testing::TestWithParam<Case> {};

TEST_P(OptimizedKernels, LeaveWhatTheOriginalsLeave) {
  const Case& one = GetParam();
  const ptx::Module module = ptx::read(text_of_file(one.file), one.file);
  const std::uint32_t kernel = kernel_in(module, one.kernel);
  const Optimized optimized = optimized_by(module, kernel, one.change);
  EXPECT_EQ(optimized.groups, one.groups);
  EXPECT_EQ(optimized.grouped, one.grouped);
  const Comparisons all = compare_samples(module, kernel, optimized, 6, 48);
  EXPECT_GE(all.compared, 2U) << all.fault << all.why;
  EXPECT_TRUE(all.worst.is_same()) << all.worst.failure << " seed " << all.seed << optimized.text;
  EXPECT_GT(all.worst.bytes, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    OfTheTests, OptimizedKernels,
    testing::Values(
        Case{"mend", "scale", "threads=4", 2, 8}, Case{"mend", "scale", "exchange=x", 0, 0},
        Case{"mend", "scale", "swap=x,y threads=2", 1, 2},  // neighbours load the same
        Case{"mend", "in_place", "threads=2", 2, 4},
        Case{"mend", "by_columns", "swap=x,y threads=4", 2, 8},
        Case{"mend", "column_of_block", "exchange=x threads=4", 2, 8},
        Case{"mend", "bytes", "threads=16", 3, 48}, Case{"mend", "shorts", "threads=8", 2, 16},
        Case{"mend", "rows_sum", "passes=16", 1, 16}, Case{"mend", "rows_sum", "passes=2", 1, 2},
        Case{"mend", "rows_sum", "threads=2 passes=4", 3, 10},
        Case{"mend", "grid_stride", "threads=4", 2, 8},
        Case{"mend", "gather_restrict", "threads=4", 2, 8},
        Case{"mend", "triples", "threads=4", 5, 28}, Case{"mend", "triples", "group=8", 2, 4},
        Case{"mend", "ways", "threads=4", 2, 8}, Case{"mend", "volume", "swap=x,z", 0, 0},
        Case{"mend", "volume", "swap_blocks=x,y", 0, 0},
        Case{"short_words", "addILj1ELj1ELj4E", "group=16", 3, 12},
        Case{"short_words", "addILj4ELj4ELj1E", "exchange=x threads=4 given=param_4:1", 3, 12},
        Case{"sobel", "8Original", "threads=4", 4, 30},
        Case{"sobel", "8SeedTool", "threads=4", 4, 16},
        Case{"rotation_forward", "8Original", "threads=4", 1, 4},
        Case{"rotation_backward", "8Original", "threads=16", 1, 16}));

TEST(OptimizedKernels, CountWhatSeveralThreadsAddUp) {
  // Atomics are no plain stores: the comparison holds them to the bit.
  const ptx::Module module = ptx::read(text_of_file("mend"), "mend.ptx");
  const std::uint32_t kernel = kernel_in(module, "histogram");
  const Optimized optimized = optimized_by(module, kernel, "threads=4");
  EXPECT_EQ(optimized.grouped, 4U);
  const Comparisons all = compare_samples(module, kernel, optimized, 4);
  EXPECT_EQ(all.compared, 4U);
  EXPECT_EQ(all.worst.different, 0U);
}

TEST(OptimizedKernels, MeetInTheSamePassOfALoop) {
  // Threads that skip a pass come to the store one pass later than their neighbours.
  const ptx::Module module =
      ptx::read(kernel_text(".param .u64 b",
                            "ld.param.u64 %rd0, [b];\nmov.u32 %r10, %ctaid.x;\n"
                            "mov.u32 %r11, %ntid.x;\nmov.u32 %r12, %tid.x;\n"
                            "mad.lo.s32 %r0, %r10, %r11, %r12;\nmul.wide.u32 %rd1, %r0, 4;\n"
                            "add.s64 %rd1, %rd0, %rd1;\nmov.u64 %rd2, 0;\n"
                            "again:\nadd.s64 %rd2, %rd2, 1;\nand.b32 %r2, %r0, 1;\n"
                            "setp.eq.u32 %p1, %r2, 1;\nsetp.eq.and.u64 %p1, %rd2, 1, %p1;\n"
                            "@%p1 bra again;\nmad.lo.s64 %rd3, %rd2, 16384, %rd1;\n"
                            "st.global.u32 [%rd3], %r0;\nsetp.lt.u64 %p2, %rd2, 4;\n"
                            "@%p2 bra again;\nret;"),
                "k.ptx");
  const Optimized optimized = optimized_by(module, 0, "threads=2");
  const Comparisons all = compare_samples(module, 0, optimized, 2);
  EXPECT_EQ(all.compared, 2U);
  EXPECT_TRUE(all.worst.is_same()) << optimized.text;
}

/// A kernel of the benchmarks, four threads in one.
std::string four_in_one(const std::string& file, const std::string& kernel) {
  const ptx::Module module = ptx::read(text_of_file(file), file);
  const Optimized optimized = optimized_by(module, kernel_in(module, kernel), "threads=4");
  const std::size_t begin = optimized.text.find("_mended(");
  return optimized.text.substr(begin, optimized.text.find("\n}\n", begin) - begin);
}

TEST(OptimizedKernels, AgreeWhereACheckedMultipleDecides) {
  // The width is checked to be a multiple of four, for the grouped loads of three rows: four
  // neighbours are all inside or all outside. In `scale` nothing asks that of the length.
  const std::string part = "$strata_0_c1:";
  const std::string sobel = four_in_one("sobel", "8Original");
  EXPECT_THAT(sobel, Not(HasSubstr(part)));
  EXPECT_THAT(sobel, HasSubstr("$strata_1_c1:"));  // the last of a row has no right neighbour
  EXPECT_THAT(four_in_one("mend", "scale"), HasSubstr(part));
}

TEST(OptimizedKernels, ComputeFromANeighbourWhatDiffersLittle) {
  const std::string sobel = four_in_one("sobel", "8Original");
  EXPECT_THAT(sobel, testing::ContainsRegex("mov.b32 %r[0-9]*, %strata_index;"));
  EXPECT_THAT(sobel, testing::ContainsRegex("add.s64 %rd[0-9]*.c3, %rd[0-9]*, 3;"));
  EXPECT_THAT(sobel, testing::ContainsRegex("setp.ne.u32 %p[0-9]*.c2, 0, 0;"));  // no column 0
  // A rotation's step to the right is a parameter.
  const std::string rotation = four_in_one("rotation_forward", "8Original");
  EXPECT_THAT(rotation,
              testing::ContainsRegex("add.s32 %r[0-9]*.c3, %r[0-9]*.c2, %strata_t[0-9]*;"));
}

TEST(OptimizedKernels, HaveParametersWhereverTheyBegin) {
  // Blocks are a parameter apart; the last threads of the grid go their own way.
  const ptx::Module module = ptx::read(
      kernel_text(".param .u64 b, .param .u32 n",
                  "ld.param.u64 %rd0, [b];\nld.param.u32 %r1, [n];\nmov.u32 %r10, %ctaid.x;\n"
                  "mov.u32 %r12, %tid.x;\nmad.lo.s32 %r0, %r10, %r1, %r12;\n"
                  "and.b32 %r2, %r0, 4095;\nmul.wide.u32 %rd1, %r2, 4;\n"
                  "add.s64 %rd1, %rd0, %rd1;\nred.global.add.u32 [%rd1], %r0;\nret;"),
      "k.ptx");
  const Optimized optimized = optimized_by(module, 0, "exchange=x threads=4");
  EXPECT_THAT(optimized.text, testing::ContainsRegex("add.s32 %r0.c1, %r0, %strata_t[0-9]*;"));
  const Comparisons all = compare_samples(module, 0, optimized, 4);
  EXPECT_EQ(all.compared, 4U) << all.why << all.fault;
  EXPECT_TRUE(all.worst.is_same()) << all.worst.failure << optimized.text;
}

TEST(OptimizedKernels, LeaveOnceWhereThreadsHaveNothingToDo) {
  // Of blocks that the original does not have, or beyond its data.
  const std::string alone = "@%strata_none ret;";
  EXPECT_THAT(four_in_one("rotation_backward", "8Original"), Not(HasSubstr(alone)));
  EXPECT_THAT(four_in_one("mend", "scale"), HasSubstr(alone));  // some of the four may have
}

TEST(OptimizedKernels, TakeBytesOutOfAWordAsNumbers) {
  // ptxas makes one slow instruction of bfe, or of a mask, and a conversion to float.
  const ptx::Module module =
      ptx::read(kernel_text(".param .u64 a, .param .u64 b",
                            std::string{"ld.param.u64 %rd0, [a];\nld.param.u64 %rd1, [b];\n"
                                        "mov.u32 %r12, %tid.x;\nmul.wide.u32 %rd2, %r12, 4;\n"
                                        "add.s64 %rd3, %rd0, %rd2;\nadd.s64 %rd4, %rd1, %rd2;\n"
                                        "ld.global.u8 %r1, [%rd3];\nld.global.s8 %r2, [%rd3+1];\n"
                                        "ld.global.u8 %r3, [%rd3+2];\nld.global.u8 %r4, [%rd3+3];\n"
                                        "and.b32 %r5, %r1, 255;\nand.b32 %r6, %r2, 255;\n"
                                        "and.b32 %r7, %r3, 127;\nand.b32 %r8, %r4, 511;\n"
                                        "shl.b32 %r6, %r6, 8;\nadd.s32 %r5, %r5, %r6;\n"
                                        "shl.b32 %r7, %r7, 16;\nadd.s32 %r5, %r5, %r7;\n"
                                        "shl.b32 %r8, %r8, 24;\nadd.s32 %r5, %r5, %r8;\n"
                                        "st.global.u32 [%rd4], %r5;\nret;"}),
                "k.ptx");
  const Optimized optimized = optimized_by(module, 0, "group=4");
  EXPECT_EQ(optimized.grouped, 4U);
  for (const char* const kept :
       {"prmt.b32 %r3,", "bfe.s32 %r2,", "mov.b32 %r5, %r1;", "mov.b32 %r8, %r4;",
        "and.b32 %r6, %r2, 255;", "and.b32 %r7, %r3, 127;"})
    EXPECT_THAT(optimized.alone, HasSubstr(kept));
  const Comparisons all = compare_samples(module, 0, optimized, 2);
  EXPECT_EQ(all.compared, 2U) << all.why << all.fault;
  EXPECT_TRUE(all.worst.is_same()) << optimized.alone;
}

TEST(OptimizedKernels, TakeNoBranchAgainThatIsDecided) {
  // Both the load and the store ask whether the pixel stays inside.
  const std::string rotation = four_in_one("rotation_forward", "8Original");
  EXPECT_THAT(rotation, HasSubstr("$strata_way0:"));
  EXPECT_THAT(four_in_one("sobel", "8Original"), Not(HasSubstr("$strata_way")));
}

TEST(OptimizedKernels, CountTheirThreadsIn32Bits) {
  const ptx::Module module = ptx::read(
      kernel_text(".param .u64 b",
                  "ld.param.u64 %rd0, [b];\nmov.u32 %r10, %ctaid.x;\nmov.u32 %r11, %ntid.x;\n"
                  "mov.u32 %r12, %tid.x;\nmad.lo.s32 %r0, %r10, %r11, %r12;\n"
                  "mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd0, %rd1;\n"
                  "st.global.u32 [%rd1], %r0;\nret;"),
      "k.ptx");
  const Optimized optimized = optimized_by(module, 0, "threads=4");
  Launch launch{.grid = {1U << 24U, 1, 1}, .block = {128, 1, 1}};
  launch.params.resize(8);
  launch.params[5] = 1;
  EXPECT_EQ(optimized.checks.failing(launch), std::nullopt);
  launch.grid.x *= 2;  // as many as the optimized kernel would take for none
  EXPECT_THAT(optimized.checks.failing(launch).value_or(""), HasSubstr("more than 2^31"));
}

TEST(OptimizedKernels, RunBlocksThatTheOriginalDoesNotHave) {
  // One block becomes as many as it has threads, of which one has something to do.
  const ptx::Module module = ptx::read(kernel_text(".param .u64 b", "ret;"), "k.ptx");
  const Comparisons all =
      compare_samples(module, 0, optimized_by(module, 0, "exchange=x"), 4, 16, /*budget=*/64);
  EXPECT_EQ(all.compared, 4U) << all.why << all.fault;
  EXPECT_TRUE(all.worst.is_same()) << all.worst.failure;
}

TEST(OptimizedKernels, AreComparedInFewerLaunchesWhereTheFirstIsLong) {
  const ptx::Module module = ptx::read(kernel_text(".param .u64 b", "ret;"), "k.ptx");
  const Optimized optimized = optimized_by(module, 0, "threads=2");
  const Comparisons one = compare_samples(module, 0, optimized, 1);
  ASSERT_EQ(one.compared, 1U) << one.why << one.fault;
  ASSERT_GT(one.worst.instructions, 0U);
  EXPECT_EQ(compare_samples(module, 0, optimized, 4).compared, 4U);
  EXPECT_EQ(compare_samples(module, 0, optimized, 4, 32, one.worst.instructions).compared, 1U);
}

TEST(OptimizedKernels, CanBeReadWhateverTheLastLineOfTheModule) {
  const std::string text = kernel_text(".param .u64 b", "ret;") + "@@DWARF .byte 0";
  const Optimized optimized = optimized_by(ptx::read(text, "k.ptx"), 0, "threads=2");
  EXPECT_EQ(ptx::read(optimized.alone, "mended.ptx").kernels.size(), 1U);
}

TEST(OptimizedKernels, StandBesideTheirOriginals) {
  const ptx::Module module = ptx::read(text_of_file("mend"), "mend.ptx");
  const Optimized optimized = optimized_by(module, kernel_in(module, "scale"), "threads=2");
  const ptx::Module after = ptx::read(optimized.text, "after.ptx");
  EXPECT_EQ(after.kernels.size(), module.kernels.size() + 1);
  EXPECT_EQ(after.kernels[kernel_in(after, "scale_mended")].params.size(), 5U);
}

/// The kernels of mend.cu, and a launch of one.
Launched launched(const std::string& yaml) {
  return {text_of_file("mend"), "schema: 1\n" + yaml};
}

TEST(OptimizedKernels, SwizzleTheBanksOfATransposition) {
  const Launched one = launched(
      "kernel: transpose\ngrid: [2, 2]\nblock: [32, 8]\narguments:\n"
      "  - {bytes: 16384, fill: random 1}\n  - {bytes: 16384}\n  - 64\n");
  const Chosen chosen = choose(one.modules[0], one.launch.kernel, {&one.launch, 1});
  ASSERT_TRUE(chosen.optimized) << chosen.why;
  EXPECT_EQ(chosen.optimized->change.swizzled_row, 7U);
  EXPECT_EQ(chosen.before.wavefronts, 4U * 8 * 4 * (1 + 32));
  EXPECT_EQ(chosen.after.wavefronts, 4U * 8 * 4 * 2);
  const SameResults same = compare_results(one.modules[0], one.launch, *chosen.optimized,
                                           ptx::read(chosen.optimized->text, "after.ptx"));
  EXPECT_TRUE(same.is_same()) << same.failure;
  EXPECT_EQ(same.bytes, 16384U);
  EXPECT_EQ(same.raced, 0U);
}

TEST(OptimizedKernels, AreChosenByWhatTheyAskFor) {
  const auto chosen = [&](const std::string& name, const std::string& shape,
                          const std::string& numbers) {
    const Launched one =
        launched("kernel: ^" + name + "$\n" + shape +
                 "\narguments:\n  - {bytes: 65536}\n  - {bytes: 65536}\n" + numbers);
    return choose(one.modules[0], one.launch.kernel, {&one.launch, 1});
  };
  const Chosen columns = chosen("column_of_block", "grid: 64\nblock: 64", "  - 64\n");
  ASSERT_TRUE(columns.optimized);
  EXPECT_TRUE(columns.optimized->change.exchange);
  EXPECT_EQ(columns.before.sectors, 2U * 64 * 64);
  EXPECT_EQ(columns.after.sectors, 2U * 64 * 64 / 8);
  const Chosen rows = chosen("by_columns", "grid: [2, 2]\nblock: [16, 16]", "  - 32\n  - 32\n");
  ASSERT_TRUE(rows.optimized);
  EXPECT_EQ(rows.optimized->change.thread_axes[0], 1U);
  const Chosen sums = chosen("rows_sum", "grid: 1\nblock: 32", "  - 64\n");
  ASSERT_TRUE(sums.optimized);
  EXPECT_EQ(sums.optimized->change.passes, 16U);
  EXPECT_EQ(sums.before.requests, 64U + 1);
  EXPECT_EQ(sums.after.requests, 64U / 16 + 1);
  // A launch that cannot have it: 4 bytes beyond a multiple of 16.
  const Chosen odd = chosen("rows_sum", "grid: 1\nblock: 32", "  - 63\n");
  EXPECT_FALSE(odd.optimized);
  EXPECT_THAT(odd.why, HasSubstr("no multiple of"));
}

// ---- traps: refused when it is optimized ----

struct Trap {
  const char* change;
  const char* body;
  const char* why;
  const char* before = "";
};

class Traps : public testing::TestWithParam<Trap> {};

TEST_P(Traps, AreRefusedWithLineAndReason) {
  const Trap& trap = GetParam();
  const ptx::Module module = ptx::read(
      kernel_text(".param .u64 a, .param .u64 b, .param .u32 n",
                  std::string{own_words} + trap.body + "\nst.global.u32 [%rd3], %r1;\nret;",
                  trap.before),
      "trap.ptx");
  const std::uint32_t kernel = kernel_in(module, "k");
  try {
    (void)optimized_by(module, kernel, trap.change);
    ADD_FAILURE() << "mended: " << trap.body;
  } catch (const NotOptimized& error) {
    const std::string text = text_of(module.kernels[kernel], error.refusal());
    EXPECT_THAT(text, HasSubstr(trap.why)) << trap.body;
    EXPECT_THAT(text, HasSubstr("line ")) << trap.body;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

constexpr const char* plain_load = "ld.global.u32 %r1, [%rd2];\n";
constexpr const char* large_tile = ".shared .align 4 .b8 tile[4096];";

INSTANTIATE_TEST_SUITE_P(
    Planted, Traps,
    testing::Values(
        Trap{"threads=2", "mov.u32 %r1, 1;\nbar.sync 0;", "a barrier"},
        Trap{"exchange=x", "mov.u32 %r1, 1;\nbar.sync 0;", "a barrier"},
        Trap{"swap=x,y", "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;", "lanes of a warp"},
        Trap{"threads=2", "vote.sync.ballot.b32 %r1, %p1, -1;", "lanes of a warp"},
        Trap{"swap=x,y", "redux.sync.add.u32 %r1, %r0, -1;", "lanes of a warp"},
        Trap{"swap=x,y", "activemask.b32 %r1;", "lanes of a warp"},
        Trap{"swap=x,y", "mov.u32 %r1, %laneid;", "which lane"},
        Trap{"threads=2", "mov.u32 %r1, %lanemask_lt;", "which lane"},
        Trap{"swap=x,y", "mov.u32 %r1, %warpid;", "which lane"},
        Trap{"group=16", "mov.u32 %r1, %smid;", "multiprocessor"},
        Trap{"group=16", "mov.u64 %rd9, %clock64;\ncvt.u32.u64 %r1, %rd9;", "a clock"},
        Trap{"threads=2", "mov.u64 %rd9, %globaltimer;\ncvt.u32.u64 %r1, %rd9;", "a clock"},
        Trap{"threads=2", "mov.u32 %r1, 1;\nmembar.gl;", "a fence"},
        Trap{"group=16", "mov.u32 %r1, 1;\nfence.acq_rel.gpu;", "a fence"},
        Trap{"swap=x,y", "ld.volatile.global.u32 %r1, [%rd2];", "volatile"},
        Trap{"swap=x,y", "ld.acquire.gpu.global.u32 %r1, [%rd2];", "acquire"},
        Trap{"threads=2", "mov.u32 %r1, 1;\nst.release.gpu.global.u32 [%rd2], %r1;", "release"},
        Trap{"threads=2", "ld.relaxed.gpu.global.u32 %r1, [%rd2];", "relaxed"},
        Trap{"threads=2", "call.uni (%r1), f, ();", "a call", ".extern .func (.reg .b32 r) f();"},
        Trap{"threads=2", "atom.global.exch.b32 %r1, [%rd0], %r0;", "order shows"},
        Trap{"swap=x,y", "red.global.add.f32 [%rd0], 0f3F800000;\nmov.u32 %r1, 1;", "order shows"},
        Trap{"swap=x,y", "atom.global.add.u32 %r1, [%rd0], 1;", "what it returns"},
        Trap{"exchange=x", "red.cta.global.add.u32 [%rd0], 1;\nmov.u32 %r1, 1;", "its own block"},
        Trap{"threads=2", "mapa.u64 %rd9, %rd0, 0;\nmov.u32 %r1, 1;", "a cluster"},
        Trap{"threads=2",
             "mov.u32 %r1, tile;\nshl.b32 %r2, %r12, 2;\nadd.s32 %r1, %r1, %r2;\n"
             "st.shared.u32 [%r1], %r0;",
             "memory of a block", large_tile},
        Trap{"swap=x,y",
             "mov.u32 %r1, tile;\nst.shared.u32 [%r1], %r0;\n"
             "ld.shared.u32 %r1, [%r1+4];",
             "without a barrier", large_tile},
        Trap{"threads=2", "ld.global.u32 %r1, [%rd3+4];", "in another thread"},
        Trap{"swap=x,y",
             "ld.global.u64 %rd6, [%rd0];\nadd.s64 %rd7, %rd0, %rd6;\n"
             "ld.global.u32 %r1, [%rd7];",
             "nothing tells where it leads"},
        Trap{"threads=2", "add.cc.u32 %r1, %r0, %r12;\naddc.u32 %r1, %r1, 0;", "a carry"},
        Trap{"group=16", "ld.global.u32 %r1, [word];", "a variable of the module",
             ".visible .global .align 4 .b32 word[1];"},
        Trap{"threads=2", "mov.b64 %rd9, {%r12, tile};\nmov.u32 %r1, 1;", "memory of a block",
             large_tile},
        Trap{"group=16", "here: mov.u32 %r1, here;", "an address of code"},
        Trap{"group=16", "mov.u64 %rd9, k;\nmov.u32 %r1, 1;", "an address of code"},
        Trap{"group=16", "mov.u64 %rd9, picture;\nmov.u32 %r1, 1;", "a variable of the module",
             ".global .texref picture;"},
        Trap{"group=16", ".param .b32 x;\nst.param.b32 [x], %r0;\nmov.u32 %r1, 1;",
             "an argument of a call"},
        Trap{"threads=2", "mov.u32 %r1, %clusterid.x;", "not followed"},
        Trap{"threads=2", "ld.param.u64 %rd9, [n];\ncvt.u32.u64 %r1, %rd9;",
             "beyond the parameter"},
        Trap{"group=16", "ld.param.v2.u32 {%r1, %r2}, [n];", "beyond the parameter"},
        Trap{"group=16", "ld.param.u32 %r1, [n-4];", "beyond the parameter"},
        Trap{"swizzle=128",
             "ld.global.u32 %r1, [%rd2];\nmov.u32 %r2, tile;\n"
             "add.s32 %r2, %r2, %r1;\nst.shared.u8 [%r2], %r0;",
             "may lie outside", large_tile},
        Trap{"swizzle=128", "mov.u32 %r2, tile;\nst.shared.u32 [%r2], %r2;\nmov.u32 %r1, 1;",
             "goes elsewhere", large_tile}));

TEST(Traps, HaveNoPointerBeyondAParameter) {
  // Behind the last one is a parameter of the optimized kernel's own.
  const ptx::Module module =
      ptx::read(kernel_text(".param .u32 n",
                            "mov.u64 %rd0, n;\nld.param.u64 %rd1, [%rd0];\nmov.u32 %r12, %tid.x;\n"
                            "mul.wide.u32 %rd2, %r12, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                            "st.global.u32 [%rd3], %r12;\nret;"),
                "k.ptx");
  const Comparisons all = compare_samples(module, 0, optimized_by(module, 0, "threads=2"), 1, 3);
  EXPECT_EQ(all.failed, 3U);
  EXPECT_TRUE(all.worst.is_same()) << all.worst.failure;
}

TEST(Traps, AreRefusedInTheKernelItself) {
  const ptx::Module module = ptx::read(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".entry k() .reqnctapercluster 2, 1, 1 { ret; }\n",
      "k.ptx");
  EXPECT_THROW((void)optimized_by(module, 0, "threads=2"), NotOptimized);
  EXPECT_THROW((void)optimized_by(module, 0, "threads=3"), NotOptimized);
  EXPECT_THROW((void)optimized_by(module, 0, "threads=fast"), UsageError);
  EXPECT_THROW((void)optimized_by(module, 0, "given=param_7:1"), UsageError);
}

TEST(Traps, AreRefusedWhereANameWouldBeAnothers) {
  for (const auto& [params, body] :
       {std::pair{"", "{ .shared .b32 t; st.shared.u32 [t], 5; }\n{ .shared .b32 t; }"},
        {"", ".reg .b32 %strata_t0;"},
        {"", ".reg .b32 %r1$c1;"},
        {", .param .u32 k_strata_blocks", ""}}) {
    const ptx::Module module = ptx::read(
        kernel_text(std::string{".param .u64 b"} + params, body + std::string{"\nret;"}), "k.ptx");
    try {
      (void)optimized_by(module, 0, "group=16");
      ADD_FAILURE() << "mended: " << params << body;
    } catch (const NotOptimized& error) {
      EXPECT_THAT(text_of(module.kernels[0], error.refusal()), HasSubstr("is taken"));
    }
  }
}

// ---- traps: caught by the check of a launch ----

class CheckedLaunch : public testing::Test {
 protected:
  struct Given {
    std::uint32_t grid = 4;
    std::uint32_t block = 64;
    std::uint64_t first = 0;           ///< of the first buffer, beyond its alignment
    std::uint64_t second = 0x1000000;  ///< of the second one, from the first
    std::uint32_t number = 250;
  };
  /// Why the original would be launched; empty where the optimized kernel is.
  std::string why(const std::string& kernel, const std::string& change, const Given& given) {
    const ptx::Module module = ptx::read(text_of_file("mend"), "mend.ptx");
    const std::uint32_t number = kernel_in(module, kernel);
    const Optimized optimized = optimized_by(module, number, change);
    Launch launch{.grid = {given.grid, grid_y, 1}, .block = {given.block, 1, 1}};
    const auto put = [&](std::uint32_t param, std::uint64_t value) {
      const ptx::Symbol& symbol = module.symbols[module.kernels[number].params.at(param)];
      launch.params.resize(
          std::max<std::size_t>(launch.params.size(), symbol.offset + symbol.bytes));
      for (std::uint64_t b = 0; b < symbol.bytes; ++b)
        launch.params[symbol.offset + b] = static_cast<std::uint8_t>(value >> (8 * b));
    };
    const std::size_t params = module.kernels[number].params.size();
    put(0, first_address + given.first);
    put(1, first_address + given.first + given.second);
    if (params > 2) put(2, params > 3 ? 0x3F800000 : given.number);
    if (params > 3) put(3, given.number);
    return optimized.checks.failing(launch).value_or("");
  }
  std::uint32_t grid_y = 1;
};

TEST_F(CheckedLaunch, TakesTheMendedKernelWhereAllIsWell) {
  EXPECT_THAT(why("scale", "threads=4", {}), IsEmpty());
  EXPECT_THAT(why("shorts", "threads=8", {}), IsEmpty());
  EXPECT_THAT(why("rows_sum", "passes=16", {.number = 256}), IsEmpty());
}
TEST_F(CheckedLaunch, NoticesAnOddPointer) {
  EXPECT_THAT(why("scale", "threads=4", {.first = 4}), HasSubstr("param_0 is no multiple of 16"));
  EXPECT_THAT(why("shorts", "threads=2", {.second = 0x1000002}), HasSubstr("no multiple of 4"));
}
TEST_F(CheckedLaunch, NoticesOverlap) {
  EXPECT_THAT(why("scale", "threads=4", {.second = 960}), HasSubstr("may meet"));
  EXPECT_THAT(why("scale", "threads=4", {.second = ~std::uint64_t{63}}), HasSubstr("may meet"));
  EXPECT_THAT(why("scale", "threads=4", {.second = 0}), HasSubstr("may meet"));
  // The guard tells where the last thread is: 250 words, though there are 256 threads.
  EXPECT_THAT(why("scale", "threads=4", {.second = 1008}), IsEmpty());
}
TEST_F(CheckedLaunch, NoticesAWrapAroundOf32Bits) {
  // The index is an int: beyond 2^31 it is another thread's.
  EXPECT_THAT(why("scale", "threads=4", {.grid = 1U << 26U, .second = std::uint64_t{1} << 50U}),
              HasSubstr("< 2^31"));
  EXPECT_THAT(why("rows_sum", "passes=16", {.grid = 1U << 20U, .number = 1U << 10U}),
              HasSubstr("< 2^31"));
}
TEST_F(CheckedLaunch, NoticesBlocksThatDoNotDivide) {
  EXPECT_THAT(why("scale", "threads=4", {.block = 96}), HasSubstr("no power of two"));
  EXPECT_THAT(why("bytes", "threads=16", {.block = 8}), HasSubstr("no multiple of 16"));
}
TEST_F(CheckedLaunch, NoticesPassesThatDoNotDivide) {
  EXPECT_THAT(why("rows_sum", "passes=16", {.number = 250}), HasSubstr("no multiple of 16"));
}
TEST_F(CheckedLaunch, NoticesAGridThatLeavesNoRoom) {
  grid_y = 2;
  EXPECT_THAT(why("scale", "exchange=x", {.number = 250}), IsEmpty());  // z is free
  EXPECT_THAT(why("scale", "threads=4", {.grid = 0}), HasSubstr("no such shape"));
}
TEST_F(CheckedLaunch, NoticesThreadsThatReachTheSame) {
  grid_y = 2;
  EXPECT_THAT(why("in_place", "threads=2", {.second = 0}), HasSubstr("grid.y is more than 1"));
}
TEST_F(CheckedLaunch, NoticesAnAddressThatIsNone) {
  EXPECT_THAT(why("scale", "threads=4", {.first = std::uint64_t{1} << 62U}),
              HasSubstr("beyond 2^57"));
}

// ---- whether the optimized kernel pays ----

/// A launch of a rotation of an image of 4096 × 4096 by the given cosine and sine, in 1/65536.
Launch rotation_by(const ptx::Module& module, std::uint32_t kernel, std::uint32_t cosine,
                   std::uint32_t sine) {
  Launch launch{.kernel = kernel, .grid = {256, 256, 1}, .block = {16, 16, 1}};
  const std::array<std::uint64_t, 2> pointers{first_address, first_address + (1U << 30U)};
  const std::array<std::uint32_t, 6> turn{4096, 4096, cosine, sine, 32768, 32768};
  const std::uint64_t end = module.symbols[module.kernels[kernel].params.back()].offset;
  launch.params.resize(end + sizeof turn);
  std::memcpy(launch.params.data(), pointers.data(), sizeof pointers);
  std::memcpy(launch.params.data() + end, turn.data(), sizeof turn);
  launch.params_known.assign(launch.params.size(), 1);
  return launch;
}

TEST(OptimizedKernels, PayWhereStoresReachNoMoreSectors) {
  const ptx::Module module = ptx::read(text_of_file("rotation_forward"), "r.ptx");
  const std::uint32_t kernel = kernel_in(module, "8Original");
  const Optimized optimized = optimized_by(module, kernel, "threads=4");
  EXPECT_TRUE(optimized.checks.may_not_pay());
  const auto launch = [&](int cosine, int sine) {
    return rotation_by(module, kernel, static_cast<std::uint32_t>(cosine),
                       static_cast<std::uint32_t>(sine));
  };
  for (const auto& [cosine, sine, pays] : {std::tuple{65536, 0, true},
                                           {-65536, 0, true},
                                           {0, 65536, true},
                                           {0, -65536, true},
                                           {56756, 32768, false},
                                           {32768, 56756, false},
                                           {-56756, -32768, false}}) {
    EXPECT_EQ(optimized.checks.failing(launch(cosine, sine)), std::nullopt);
    EXPECT_EQ(optimized.checks.pays(launch(cosine, sine)), pays) << cosine << ' ' << sine;
  }
  // Of a launch that is given, the choice is known: nothing is gained there.
  const Launch askew = launch(56756, 32768);
  const Change change = parse_change("--change", "threads=4", module, module.kernels[kernel]);
  const Chosen chosen = choose(module, kernel, {&askew, 1}, {}, change);
  EXPECT_EQ(chosen.after.sectors, chosen.before.sectors);
}

TEST(OptimizedKernels, PayWhereverTheirStoresAreGrouped) {
  const ptx::Module module = ptx::read(text_of_file("rotation_backward"), "r.ptx");
  const Optimized optimized = optimized_by(module, kernel_in(module, "8Original"), "threads=4");
  EXPECT_FALSE(optimized.checks.may_not_pay());
}

// ---- the numbers of a launch ----

TEST(LaunchMath, HoldsWhateverTheNumbersMake) {
  using namespace launch_math;
  __extension__ using Whole = __int128;
  SplitMix random{7};
  // Small numbers, and those near a bound that stands for all beyond it.
  const auto end = [&]() -> std::int64_t {
    const auto small = static_cast<std::int64_t>(random.below(41)) - 20;
    switch (random.below(8)) {
      case 0:
        return endless - static_cast<std::int64_t>(random.below(3));
      case 1:
        return -endless + static_cast<std::int64_t>(random.below(3));
      case 2:
        return (std::int64_t{1} << 61U) + small;
      default:
        return small;
    }
  };
  const auto range = [&] {
    const auto [low, high] = std::minmax({end(), end()});
    return Range{low, high};
  };
  const auto inside = [&](const Range& in) -> Whole {
    const Whole beyond = Whole{1} << 63U;  // products fit into 128 bits
    const Whole low = in.low == -endless ? -beyond : Whole{in.low};
    const Whole high = in.high == endless ? beyond : Whole{in.high};
    switch (random.below(3)) {
      case 0:
        return low;
      case 1:
        return high;
      default:
        return std::min(high, low + static_cast<Whole>(random.below(30)));
    }
  };
  const auto holds = [](const Range& in, Whole number) {
    return (in.low == -endless || number >= in.low) && (in.high == endless || number <= in.high);
  };
  const auto floor_of = [](Whole a, Whole b) { return a / b - (a % b < 0 ? 1 : 0); };
  for (int i = 0; i < 200'000; ++i) {
    const Range a = range();
    const Range b = range();
    const Whole x = inside(a);
    const Whole y = inside(b);
    ASSERT_TRUE(holds(add(a, b), x + y)) << i;
    ASSERT_TRUE(holds(multiply(a, b), x * y)) << i;
    ASSERT_TRUE(holds(least(a, b), std::min(x, y)) && holds(most(a, b), std::max(x, y))) << i;
    ASSERT_TRUE(holds(between(a, b), x) && holds(between(a, b), y)) << i;
    if (b.low <= 0) continue;
    ASSERT_TRUE(holds(quotient(a, b), floor_of(x, y))) << i;
    ASSERT_TRUE(holds(remainder(a, b), x - floor_of(x, y) * y)) << i;
  }
  EXPECT_EQ(multiply({0, endless}, {0, 3}).low, 0);
  EXPECT_FALSE(is_within({0, endless}, 0, endless));
  EXPECT_EQ(exactly(~std::uint64_t{0}).low, -endless);
}

TEST(LaunchMath, TellsWhetherPlacesAreSpread) {
  using namespace launch_math;
  const auto spread = [](std::int64_t stride, std::int64_t count, std::int64_t other,
                         std::int64_t bytes) {
    Stride all[]{{{other, other}, {4, 4}}, {{stride, stride}, {count, count}}};
    return are_spread(all, bytes);
  };
  EXPECT_TRUE(spread(4, 16, 64, 4));
  EXPECT_TRUE(spread(-4, 16, 64, 4));
  EXPECT_FALSE(spread(4, 17, 64, 4));  // a row reaches into the next
  EXPECT_FALSE(spread(4, 16, 64, 8));  // neighbours meet
  EXPECT_TRUE(spread(4, 1, 0, 4) == false && spread(0, 1, 64, 4));
}

}  // namespace
}  // namespace strata::access
