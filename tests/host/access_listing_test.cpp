#include "harness/access/listing.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ptx::Module module_of(std::string_view functions) {
  return ptx::read(fmt::format(".version 9.0\n.target sm_90\n.address_size 64\n{}", functions),
                   "k.ptx");
}

std::vector<Verdict> verdicts(const std::vector<Row>& rows) {
  std::vector<Verdict> all;
  for (const auto& row : rows)
    all.push_back(row.proof.verdict);
  return all;
}

TEST(Listing, HasEveryInstructionThatTouchesMemoryAndNoOther) {
  const ptx::Module module = module_of(R"(
.global .texref image;
.shared .align 16 .b8 tile[1024];
.entry k(.param .u64 p)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, tile;
  add.s32 %r4, %r3, %r2;
  st.shared.f32 [%r4], %f1;
  tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [image, {%r1}];
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1, 0, 0;
  cp.async.bulk.commit_group;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 16;
  atom.global.add.u32 %r5, [%rd3], 1;
  ret;
})");
  std::vector<std::string> opcodes;
  for (const auto& row : list_accesses(module, 0))
    opcodes.push_back(row.opcode);
  EXPECT_THAT(opcodes,
              ElementsAre("ld.global.f32", "st.shared.f32", "tex.1d.v4.f32.s32",
                          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
                          "cp.async.bulk.global.shared::cta.bulk_group",
                          "cp.async.bulk.global.shared::cta.bulk_group", "atom.global.add.u32"));
}

TEST(Listing, ProvesNothingOfTheParametersOfAFunctionThatIsCalled) {
  constexpr std::string_view body = R"(
{
  .reg .b32 %r; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [a];
  ld.global.u32 %r, [%rd1];
  ret;
})";
  const ptx::Module module =
      module_of(fmt::format(".entry k(.param .u64 a){}\n.func f(.param .u64 a){}", body, body));
  EXPECT_THAT(verdicts(list_accesses(module, 0)), ElementsAre(Verdict::coalesced));
  const auto called = list_accesses(module, 1);
  EXPECT_THAT(verdicts(called), ElementsAre(Verdict::unknown));
  EXPECT_FALSE(called[0].proof.parts);
  EXPECT_TRUE(called[0].proof.steps.empty());
}

TEST(Listing, TellsPlacesFromTheInnermostOutwards) {
  const ptx::Module module = module_of(R"(
.shared .b32 s;
.entry k()
{
  .reg .b32 %r;
  .loc 1 9 3
  .loc 2 5 1, function_name $g, inlined_at 1 9 3
  ld.shared.u32 %r, [s];
  ret;
}
.file 1 "a.cu"
.file 2 "b.cuh"
.section .debug_str { $g: .b8 95,90,49,103,118,0 })");
  const auto rows = list_accesses(module, 0);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].ptx_line, 11U);
  EXPECT_THAT(rows[0].places, ElementsAre(Place{"b.cuh", 5, 1, "g()"}, Place{"a.cu", 9, 3, ""}));
}

TEST(Listing, BoundsAChainOfInlinedCalls) {
  std::string locations = ".loc 1 1 1\n";
  for (int line = 2; line < 1000; ++line)
    locations += fmt::format(".loc 1 {} 1, function_name $g, inlined_at 1 {} 1\n", line, line - 1);
  const ptx::Module module = module_of(fmt::format(
      ".shared .b32 s;\n.entry k() {{ .reg .b32 %r;\n{}\nld.shared.u32 %r, [s]; ret; }}",
      locations));
  EXPECT_EQ(list_accesses(module, 0).at(0).places.size(), 32U);
}

TEST(Names, AreReadable) {
  EXPECT_EQ(readable("_ZN6strata4readILj4EEEvPKj"), "void strata::read<4u>(unsigned int const*)");
  EXPECT_EQ(readable("energies"), "energies");
  EXPECT_EQ(readable("_Znonsense"), "_Znonsense");
  EXPECT_EQ(readable("a\nb"), "a\\x0ab");
}

TEST(Names, ThatWouldGrowWithoutEndStayAsTheyAre) {
  // Each parameter is a pair of the one before it twice: 2 to the power of their number.
  std::string name = "_Z1f1aI";
  for (int i = 0; i < 60; ++i)
    name += fmt::format("1bIS{0}_S{0}_E", i == 0 ? std::string{} : std::to_string(i % 10));
  name += "E";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(readable(name), name);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5});
}

}  // namespace
}  // namespace strata::access
