#include "harness/access/prove.hpp"
#include "harness/model/coalescing.hpp"
#include "tests/host/access_program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace strata::access {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

std::vector<AccessProof> proofs_of(const std::string& text) {
  const ptx::Module module = ptx::read(text, "sample.ptx");
  const ControlFlow flow = control_flow(module.kernels.front());
  KernelForms forms{module, module.kernels.front(), flow};
  return prove(forms);
}

/// The proofs of a kernel with parameters image (a pointer), n and m, in %rd1, %r1 and %r2; %r3 is
/// threadIdx.x, %r4 blockIdx.x, %r5 blockDim.x.
std::vector<AccessProof> proofs(const std::string& body, const std::string& directives = "") {
  return proofs_of(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 image, .param .u32 n, .param .u32 m)\n" +
      directives +
      "{\n.reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.reg .f32 %f<9>;\n"
      ".shared .align 16 .b8 tile[8192];\n"
      "ld.param.u64 %rd1, [image];\nld.param.u32 %r1, [n];\nld.param.u32 %r2, [m];\n"
      "mov.u32 %r3, %tid.x;\nmov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ntid.x;\n" +
      body + "ret;\n}\n");
}

/// Of the load of 4 bytes at image + `by` · %r6, after `makes` has made that register.
AccessProof load_at(const std::string& makes, unsigned by = 4, const std::string& directives = "") {
  const auto all = proofs(makes + "mul.wide.u32 %rd2, %r6, " + std::to_string(by) +
                              ";\nadd.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\n",
                          directives);
  EXPECT_FALSE(all.empty());
  return all.back();
}

std::string step_of(const AccessProof& proof, const std::string& index) {
  const auto found = std::ranges::find(proof.steps, index, &IndexStep::index);
  return found == proof.steps.end() ? "none" : found->text;
}

const std::string thread_index = "mad.lo.s32 %r6, %r4, %r5, %r3;\n";

TEST(Proof, NeighboursReadNeighbours) {
  const AccessProof proof = load_at(thread_index);
  EXPECT_EQ(proof.verdict, Verdict::coalesced);
  EXPECT_EQ(proof.parts, (Span{4, 4}));
  EXPECT_EQ(proof.ideal, 4U);
  EXPECT_EQ(proof.lanes, 32U);
  EXPECT_EQ(step_of(proof, "threadIdx.x"), "4");
  EXPECT_EQ(step_of(proof, "blockIdx.x"), "4·blockDim.x");
  EXPECT_THAT(proof.assumptions,
              ElementsAre("blockDim.x is a multiple of 32", "image is a multiple of 256"));
}

TEST(Proof, AnUnknownRowLengthMayMoveALineBySomeBytes) {
  const AccessProof proof = load_at("mov.u32 %r7, %tid.y;\nmad.lo.s32 %r6, %r7, %r1, %r3;\n");
  EXPECT_EQ(proof.verdict, Verdict::coalesced);
  EXPECT_EQ(proof.parts, (Span{4, 5}));
  EXPECT_THAT(proof.depends_on, Contains("n"));
}

TEST(Proof, AKnownShiftCostsOneSector) {
  const AccessProof proof = load_at("add.s32 %r6, %r3, 1;\n");
  EXPECT_EQ(proof.verdict, Verdict::coalesced);
  EXPECT_EQ(proof.parts, (Span{5, 5}));
  EXPECT_EQ(proof.ideal, 4U);
}

TEST(Proof, ColumnsOfARowMajorMatrixAreSwapped) {
  // The matrix addition of van den Braak et al. 2010, Fig. 6 (a): t · gridDim.x + b.
  const AccessProof proof = load_at("mov.u32 %r7, %nctaid.x;\nmad.lo.s32 %r6, %r3, %r7, %r4;\n");
  EXPECT_EQ(proof.verdict, Verdict::depends);
  EXPECT_EQ(step_of(proof, "threadIdx.x"), "4·gridDim.x");
  EXPECT_EQ(step_of(proof, "blockIdx.x"), "4");
  EXPECT_THAT(proof.depends_on, ElementsAre("gridDim.x"));
  EXPECT_THAT(proof.reason, HasSubstr("next to each other where gridDim.x is 1"));
  EXPECT_EQ(proof.remedy,
            "threadIdx.x steps 4·gridDim.x bytes while blockIdx.x steps 4: swap their roles");
}

TEST(Proof, RowsOfKnownLengthAreFarApart) {
  const AccessProof proof = load_at("mad.lo.s32 %r6, %r3, 512, %r4;\n");
  EXPECT_EQ(proof.verdict, Verdict::uncoalesced);
  EXPECT_EQ(proof.parts, (Span{32, 32}));
  EXPECT_EQ(step_of(proof, "threadIdx.x"), "2048");
  EXPECT_EQ(proof.remedy,
            "threadIdx.x steps 2048 bytes while blockIdx.x steps 4: swap their roles");
}

TEST(Proof, ABitThatIsSpreadOverARegisterChoosesAMask) {
  // Triton's swizzle: bit 2 of the thread, as 0 or −1, lets 256 through or not.
  const AccessProof proof = load_at(
      "bfe.s32 %r7, %r3, 2, 1;\nand.b32 %r8, %r7, 256;\nand.b32 %r9, %r3, 3;\n"
      "or.b32 %r6, %r8, %r9;\n",
      4, ".reqntid 32\n");
  EXPECT_EQ(proof.verdict, Verdict::uncoalesced);
  EXPECT_EQ(proof.parts, (Span{2, 2})) << proof.reason;
}

TEST(Proof, FieldsWithASignKeepIt) {
  // threadIdx.x · 2^28, of which bits 28 to 31 are −8 to 7.
  const AccessProof proof =
      load_at("shl.b32 %r7, %r3, 28;\nbfe.s32 %r8, %r7, 28, 4;\nadd.s32 %r6, %r8, 8;\n", 4,
              ".reqntid 32\n");
  EXPECT_EQ(proof.verdict, Verdict::coalesced);
  EXPECT_EQ(proof.parts, (Span{2, 2})) << proof.reason;
}

TEST(Proof, AKnownSignIsFolded) {
  // numba wraps a negative index around: index < 0 ? index + size : index, by bits.
  const auto all = proofs(
      "cvt.u64.u32 %rd2, %r3;\nadd.s64 %rd3, %rd2, 128;\n"
      "and.b64 %rd4, %rd3, -9223372036854775808;\nshr.u64 %rd5, %rd4, 55;\n"
      "add.s64 %rd6, %rd2, %rd5;\nshl.b64 %rd7, %rd6, 2;\nadd.s64 %rd8, %rd1, %rd7;\n"
      "ld.global.f32 %f1, [%rd8];\n");
  EXPECT_EQ(all.back().verdict, Verdict::coalesced) << all.back().reason;
}

TEST(Proof, RowsOfABlockAreTakenForWholeWarps) {
  const AccessProof proof = load_at("mov.u32 %r6, %tid.y;\n");
  EXPECT_EQ(proof.verdict, Verdict::coalesced);
  EXPECT_THAT(proof.assumptions, Contains("blockDim.x is a multiple of 32"));
}

TEST(Proof, WarpsAreAnalysedSeparatelyWhereBitsOfTheirNumberMatter) {
  // threadIdx.x ^ (threadIdx.x / 32): a swizzle of Triton.
  const std::string swizzled = "shr.u32 %r7, %r3, 5;\nxor.b32 %r6, %r3, %r7;\n";
  const AccessProof proof = load_at(swizzled, 4, ".reqntid 128\n");
  EXPECT_EQ(proof.verdict, Verdict::coalesced) << proof.reason;
  EXPECT_EQ(proof.parts, (Span{4, 4}));
  const AccessProof apart = load_at(swizzled, 64, ".reqntid 128\n");
  EXPECT_EQ(apart.verdict, Verdict::uncoalesced) << apart.reason;
  EXPECT_EQ(apart.parts, (Span{32, 32}));
}

TEST(Proof, LanesAgreeOnTheRowOfAnImage) {
  // threadIdx.x / n · 1024 + threadIdx.x % n.
  const AccessProof proof =
      load_at("div.u32 %r7, %r3, %r1;\nrem.u32 %r8, %r3, %r1;\nmad.lo.s32 %r6, %r7, 1024, %r8;\n");
  EXPECT_EQ(proof.verdict, Verdict::coalesced) << proof.reason;
  EXPECT_THAT(proof.assumptions, Contains("the lanes of a warp agree on (threadIdx.x / n)"));
}

TEST(Proof, LanesAgreeOnTheEdgeThatTheyAreClampedTo) {
  const AccessProof proof = load_at("min.s32 %r6, %r3, %r1;\n");
  EXPECT_EQ(proof.verdict, Verdict::coalesced) << proof.reason;
  EXPECT_EQ(proof.parts, (Span{1, 4})) << "all at the edge, or none";
}

TEST(Proof, AChoiceCommonToAllLanesIsCountedForBothOutcomes) {
  const std::string body =
      "setp.eq.s32 %p1, %r1, 0;\nshl.b32 %r7, %r3, {};\nselp.b32 %r6, %r3, %r7, %p1;\n";
  const AccessProof same = load_at(fmt::format(fmt::runtime(body), 0));
  EXPECT_EQ(same.verdict, Verdict::coalesced);
  const AccessProof one = load_at(fmt::format(fmt::runtime(body), 3));
  EXPECT_EQ(one.verdict, Verdict::depends) << "n = 0 alone is coalesced";
  EXPECT_EQ(one.parts, (Span{4, 32}));
}

TEST(Proof, ADependentVerdictNamesTheUsualOne) {
  const AccessProof rows = load_at("mul.lo.s32 %r6, %r3, %r1;\n");
  EXPECT_EQ(rows.verdict, Verdict::depends);
  EXPECT_EQ(rows.usual, Verdict::uncoalesced);
  EXPECT_EQ(rows.usual_where, "n is 4096");
  const AccessProof blocks = load_at("xor.b32 %r6, %r3, %r4;\n");
  EXPECT_EQ(blocks.verdict, Verdict::depends);
  EXPECT_EQ(blocks.usual, Verdict::coalesced);
  EXPECT_EQ(blocks.usual_where, "blockIdx.x is 0 or 3");
  const AccessProof scattered =
      load_at("mad.wide.u32 %rd9, %r3, 4, %rd1;\nld.global.u32 %r6, [%rd9];\n");
  EXPECT_EQ(scattered.verdict, Verdict::unknown);
  EXPECT_EQ(scattered.usual, Verdict::uncoalesced);
  EXPECT_THAT(scattered.usual_where, HasSubstr("is scattered"));
}

TEST(Proof, TheLastStrideOfAnArrayIsUsuallyThatOfItsElements) {
  // An array of Warp or CuPy: a pointer, then strides in bytes; here [row] and [element].
  const auto all = proofs_of(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 8 .b8 array[24])
{
.reg .b32 %r<9>;
.reg .b64 %rd<20>;
.reg .f32 %f<9>;
ld.param.u64 %rd1, [array];
ld.param.u64 %rd2, [array+8];
ld.param.u64 %rd3, [array+16];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
cvt.u64.u32 %rd4, %r1;
cvt.u64.u32 %rd5, %r2;
mul.lo.s64 %rd6, %rd5, %rd2;
mad.lo.s64 %rd7, %rd4, %rd3, %rd6;
add.s64 %rd8, %rd1, %rd7;
ld.global.f32 %f1, [%rd8];
mul.lo.s64 %rd9, %rd4, %rd2;
mad.lo.s64 %rd10, %rd5, %rd3, %rd9;
add.s64 %rd11, %rd1, %rd10;
ld.global.f32 %f2, [%rd11];
ret;
})");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].verdict, Verdict::depends);
  EXPECT_EQ(all[0].usual, Verdict::coalesced) << all[0].usual_where;
  EXPECT_EQ(all[1].verdict, Verdict::depends);
  EXPECT_EQ(all[1].usual, Verdict::uncoalesced) << all[1].usual_where;
}

TEST(Proof, BlocksAreFarApartWhateverTheirSize) {
  const AccessProof proof = load_at("mad.lo.s32 %r6, %r3, %r5, %r4;\n");
  EXPECT_EQ(proof.verdict, Verdict::uncoalesced);
  EXPECT_EQ(proof.parts, (Span{32, 32}));
}

TEST(Proof, PackedStructuresWasteTheirNeighbours) {
  const AccessProof proof = load_at(thread_index, 28);
  EXPECT_EQ(proof.verdict, Verdict::uncoalesced);
  EXPECT_EQ(proof.parts, (Span{28, 28}));
  EXPECT_THAT(proof.remedy, HasSubstr("lanes are 28 bytes apart and use 4"));
}

TEST(Proof, OneAddressForAllNeedsOneSector) {
  const AccessProof proof = load_at("mov.u32 %r6, %r4;\n");
  EXPECT_EQ(proof.verdict, Verdict::coalesced);
  EXPECT_EQ(proof.parts, (Span{1, 1}));
  EXPECT_EQ(proof.ideal, 1U);
}

TEST(Proof, WarpNumbersAreTheSameInAWarp) {
  const AccessProof proof = load_at(thread_index + "shr.u32 %r6, %r6, 5;\n");
  EXPECT_EQ(proof.verdict, Verdict::coalesced);
  EXPECT_EQ(proof.parts, (Span{1, 1}));
}

TEST(Proof, EachRemainderOfAnIndexPlusTheLaneIsCounted) {
  // Blocks of 32 elements, 224 apart, from element n on: whole where n is a multiple of 32, else in
  // two parts.
  const AccessProof proof = load_at(
      "add.s32 %r7, %r3, %r1;\nshr.u32 %r8, %r7, 5;\nand.b32 %r9, %r7, 31;\n"
      "mad.lo.s32 %r6, %r8, 224, %r9;\n");
  EXPECT_EQ(proof.verdict, Verdict::coalesced);
  EXPECT_EQ(proof.parts, (Span{4, 5}));
  EXPECT_THAT(proof.depends_on, Contains("n"));
  // Columns of 32, 4096 bytes apart, next to each other in the row: every lane alone, or two rows.
  const AccessProof column = load_at(
      "add.s32 %r7, %r3, %r1;\nshr.u32 %r8, %r7, 4;\nand.b32 %r9, %r7, 15;\n"
      "mad.lo.s32 %r6, %r9, 1024, %r8;\n");
  EXPECT_EQ(column.verdict, Verdict::uncoalesced);
  EXPECT_EQ(column.parts->least, 16U);
}

TEST(Proof, ARequiredBlockIsTakenAsItIs) {
  const std::string row = "mov.u32 %r7, %tid.y;\nmad.lo.s32 %r6, %r7, 100, %r3;\n";
  const AccessProof proof = load_at(row, 4, ".reqntid 16, 16, 1\n");
  // Two rows of 64 bytes, 400 apart: the second begins in the middle of a sector.
  EXPECT_EQ(proof.parts, (Span{5, 5}));
  EXPECT_THAT(proof.assumptions, Not(Contains("blockDim.x is a multiple of 32")));
}

TEST(Proof, PartOfAWarpIsLeftOutByAGuard) {
  const auto all = proofs(
      "and.b32 %r6, %r3, 31;\nsetp.ne.s32 %p1, %r6, 0;\n@%p1 bra END;\nmul.wide.u32 %rd2, %r3, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r3;\nEND:\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].lanes, 1U);
  EXPECT_EQ(all[0].parts, (Span{1, 1}));
  EXPECT_EQ(all[0].kind, AccessKind::store);
  EXPECT_THAT(all[0].lane_guards, IsEmpty());
}

TEST(Proof, ABoundaryIsNoted) {
  const auto all = proofs(thread_index +
                          "setp.ge.u32 %p1, %r6, %r1;\n@%p1 bra END;\nmul.wide.u32 %rd2, %r6, 4;\n"
                          "add.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r3;\nEND:\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].lanes, 32U);
  EXPECT_EQ(all[0].verdict, Verdict::coalesced);
  EXPECT_THAT(all[0].lane_guards, ElementsAre("threadIdx.x + blockDim.x·blockIdx.x < n"));
}

TEST(Proof, WhatNeverRunsIsSaidSo) {
  const auto all =
      proofs("setp.lt.u32 %p1, %r3, 2000;\n@%p1 bra END;\nst.global.u32 [%rd1], %r3;\nEND:\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].verdict, Verdict::never_runs);
}

TEST(Proof, ALoadedIndexIsNamed) {
  const AccessProof proof = load_at(
      "mul.wide.u32 %rd4, %r3, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r6, [%rd5];\n");
  EXPECT_EQ(proof.verdict, Verdict::unknown);
  EXPECT_THAT(proof.reason, MatchesRegex("value@.* is loaded from memory: ld, line .* of the PTX"));
}

TEST(Proof, ResultsOfALoadedNumberMayDifferBetweenLanes) {
  const AccessProof proof = load_at(
      "mul.wide.u32 %rd4, %r3, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.f32 %f2, [%rd5];\n"
      "add.f32 %f3, %f2, %f2;\ncvt.rzi.u32.f32 %r6, %f3;\n");
  EXPECT_EQ(proof.verdict, Verdict::unknown);
  EXPECT_THAT(proof.reason, HasSubstr("computed in floating point"));
}

TEST(Proof, AValueBroadcastByOneLaneIsUniform) {
  const std::string hand =
      "mul.wide.u32 %rd4, %r3, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r7, [%rd5];\n"
      "shfl.sync.{}.b32 %r8, %r7, {}, 31, -1;\nmad.lo.s32 %r6, %r8, 32, %r3;\n";
  const AccessProof handed = load_at(fmt::format(fmt::runtime(hand), "idx", "0"));
  EXPECT_EQ(handed.verdict, Verdict::coalesced);
  EXPECT_EQ(load_at(fmt::format(fmt::runtime(hand), "bfly", "1")).verdict, Verdict::unknown);
  EXPECT_EQ(load_at(fmt::format(fmt::runtime(hand), "idx", "%r3")).verdict, Verdict::unknown);
}

TEST(Proof, AnIndexThatAllLanesLoadMovesThemTogether) {
  const AccessProof proof = load_at("ld.global.u32 %r7, [%rd1];\nmad.lo.s32 %r6, %r7, 32, %r3;\n");
  EXPECT_EQ(proof.verdict, Verdict::coalesced);
  EXPECT_EQ(proof.parts, (Span{4, 4}));
}

TEST(Proof, ValuesAfterALoopMayDifferBetweenLanes) {
  const AccessProof proof = load_at(
      "mov.u32 %r6, 0;\nL1:\nld.global.u32 %r7, [%rd1];\nadd.s32 %r6, %r6, 1;\nadd.s32 %r8, %r7, "
      "%r3;\nsetp.lt.u32 %p1, %r8, 100;\n@%p1 bra L1;\n");
  EXPECT_EQ(proof.verdict, Verdict::unknown);
  EXPECT_THAT(proof.reason, HasSubstr("may differ between lanes"));
}

TEST(Proof, AStrideThatTheHostChoosesDecides) {
  const AccessProof proof = load_at("mul.lo.s32 %r6, %r3, %r1;\n");
  EXPECT_EQ(proof.verdict, Verdict::depends);
  EXPECT_THAT(proof.depends_on, ElementsAre("n"));
  EXPECT_THAT(proof.reason, HasSubstr("next to each other where n is 1"));
}

AccessProof shared_load(const std::string& makes) {
  const auto all = proofs(makes +
                          "mov.u32 %r8, tile;\nadd.s32 %r9, %r8, %r6;\n"
                          "ld.shared.f32 %f1, [%r9];\n");
  return all.back();
}

TEST(Proof, AColumnOfASharedTileMeetsInOneBank) {
  const AccessProof column = shared_load("shl.b32 %r6, %r3, 7;\n");
  EXPECT_EQ(column.space, ptx::Space::shared);
  EXPECT_EQ(column.verdict, Verdict::uncoalesced);
  EXPECT_EQ(column.parts, (Span{32, 32}));
  EXPECT_EQ(column.ideal, 1U);
  EXPECT_THAT(column.remedy, HasSubstr("pad the row from 32 to 33 words"));
  const AccessProof padded = shared_load("mul.lo.s32 %r6, %r3, 132;\n");
  EXPECT_EQ(padded.verdict, Verdict::coalesced);
  EXPECT_EQ(padded.parts, (Span{1, 1}));
}

TEST(Proof, AGenericPointerToASharedTileIsShared) {
  const auto all = proofs(
      "mov.u64 %rd4, tile;\ncvta.shared.u64 %rd5, %rd4;\nmul.wide.u32 %rd6, %r3, 8;\n"
      "add.s64 %rd7, %rd5, %rd6;\nld.f32 %f1, [%rd7];\n");
  EXPECT_EQ(all.back().space, ptx::Space::shared);
  EXPECT_EQ(all.back().parts, (Span{2, 2}));
}

TEST(Proof, AnAsynchronousCopyIsTwoAccesses) {
  const auto all = proofs(
      "shl.b32 %r6, %r3, 4;\nmov.u32 %r8, tile;\nadd.s32 %r9, %r8, %r6;\ncvt.u64.u32 %rd4, %r6;\n"
      "add.s64 %rd5, %rd1, %rd4;\ncp.async.cg.shared.global [%r9], [%rd5], 16;\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].space, ptx::Space::shared);
  EXPECT_EQ(all[0].parts, (Span{4, 4}));
  EXPECT_EQ(all[1].space, ptx::Space::global);
  EXPECT_EQ(all[1].parts, (Span{16, 16}));
}

TEST(Proof, WhatHasNoModelIsNotJudged) {
  const auto all = proofs(
      ".local .align 4 .b8 own[64];\n.reg .b64 %rdx;\nmov.u64 %rdx, own;\nst.local.u32 [%rdx], "
      "%r3;\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].verdict, Verdict::unmodelled);
}

TEST(Proof, NoControlFlowIsTooTangled) {
  // Branches that meet with other products each time, loops in loops, and guards upon guards: forms
  // give up, and nothing grows beyond their bounds.
  std::string body = "mov.u32 %r6, %r3;\n";
  for (int i = 0; i < 60; ++i) {
    body += fmt::format(
        "setp.gt.s32 %p1, %r6, {0};\n@%p1 bra A{0};\nmul.lo.s32 %r6, %r6, %r6;\nbra.uni B{0};\n"
        "A{0}:\nmad.lo.s32 %r6, %r6, %r1, %r4;\nB{0}:\nL{0}:\nadd.s32 %r6, %r6, 3;\n",
        i);
  }
  for (int i = 59; i >= 0; --i)
    body += fmt::format("setp.lt.u32 %p2, %r6, %r1;\n@%p2 bra L{};\n", i);
  body += "mul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r3;\n";
  const auto all = proofs(body);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].verdict, Verdict::unknown);
}

// ---------------------------------------------------------------------------------------------
// Random programs, run here, a warp at a time.

TEST(Proof, CountsTheSectorsThatWarpsOfRandomProgramsTouch) {
  std::size_t warps = 0;
  std::map<Verdict, std::size_t> verdicts;
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    program::Program made{seed};
    const ptx::Module module = ptx::read(made.ptx(), "random.ptx");
    const ptx::Kernel& kernel = module.kernels.front();
    const ControlFlow flow = control_flow(kernel);
    KernelForms forms{module, kernel, flow};
    const std::vector<std::uint32_t> lines = program::loop_lines(kernel, flow);
    std::map<std::uint32_t, AccessProof> by_line;
    for (AccessProof& proof : prove(forms))
      by_line[kernel.instructions[proof.instruction].line] = std::move(proof);

    for (int round = 0; round < 6; ++round) {
      using enum ptx::Special;
      program::Thread thread = made.thread();
      thread.special[ntid_x] = 32 * (1 + thread.special[ntid_x] / 33);
      const std::uint32_t first = thread.special[tid_x] % thread.special[ntid_x] / 32 * 32;
      thread.wide &= ~std::uint64_t{255};  // where it serves as a pointer
      // Lanes meet where they have run the same number of passes of every loop.
      struct Met {
        WarpAccess access;
        bool holds = true;
      };
      using Place = std::pair<std::uint32_t, std::map<std::uint32_t, std::uint64_t>>;
      std::map<Place, Met> met;
      bool all_run = true;
      for (unsigned lane = 0; lane < warp_lanes && all_run; ++lane) {
        thread.special[tid_x] = first + lane;
        const auto seen = made.run(thread);
        all_run = seen.has_value();
        if (!all_run) break;
        for (const program::Seen& one : *seen) {
          Met& place = met[{one.line, one.passes}];
          place.access.addresses[lane] = one.address;
          const AccessProof& proof = by_line.at(one.line);
          const AtomValues values = program::atoms_of(thread, one, module, lines);
          place.holds = place.holds && program::hold(forms.forms(), proof.premises, values);
        }
      }
      if (!all_run) continue;
      for (const auto& [place, one] : met) {
        const AccessProof& proof = by_line.at(place.first);
        const auto& addresses = one.access.addresses;
        SCOPED_TRACE(fmt::format("seed {} line {}: {}", seed, place.first, proof.address));
        const auto is_on = [](const auto& address) { return address.has_value(); };
        const auto is_aligned = [](const auto& address) { return !address || *address % 4 == 0; };
        const auto lanes = static_cast<unsigned>(std::ranges::count_if(addresses, is_on));
        if (!one.holds) continue;
        ASSERT_NE(proof.verdict, Verdict::never_runs);
        ASSERT_LE(lanes, proof.lanes);
        if (!proof.parts || lanes != proof.lanes) continue;
        if (!std::ranges::all_of(addresses, is_aligned)) continue;
        const Traffic moved = traffic(Generation::cc7, one.access);
        ASSERT_GE(moved.sectors, proof.parts->least);
        ASSERT_LE(moved.sectors, proof.parts->most);
        std::uint64_t lowest = ~std::uint64_t{0};
        for (const auto& address : addresses)
          lowest = std::min(lowest, address.value_or(lowest));
        std::uint64_t highest = 0;
        for (const auto& address : addresses)
          highest = std::max(highest, address.value_or(highest));
        if (highest - lowest > std::uint64_t{1} << 48U) continue;  // around the end of all memory
        const std::uint64_t needed = (lowest + moved.bytes_used - 1) / 32 - lowest / 32 + 1;
        if (proof.verdict == Verdict::coalesced) {
          ASSERT_LE(moved.sectors, needed);
        } else if (proof.verdict == Verdict::uncoalesced) {
          ASSERT_GT(moved.sectors, needed);
        }
        ++warps;
        ++verdicts[proof.verdict];
      }
    }
  }
  EXPECT_GT(warps, 900U);
  EXPECT_GT(verdicts[Verdict::coalesced], 300U);
  EXPECT_GT(verdicts[Verdict::uncoalesced], 50U);
}

}  // namespace
}  // namespace strata::access
