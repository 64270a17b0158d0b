// Single instructions, worked by hand from PTX ISA 9.0, chapters 9.7.1 to 9.7.9.
#include "access_runs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata::access {
namespace {

struct Worked {
  const char* code;  ///< leaves its result in %r1, %rd1, %rs1 or %p1
  const char* result;
};

/// Loads where the result is another one, and where it is that one.
std::vector<Access> held(const Worked& one) {
  const std::string code = one.code;
  const bool is_predicate = code.find("%p1") != std::string::npos;
  const bool is_wide = code.find("%rd1,") != std::string::npos;
  const bool is_short = code.find("%rs1,") != std::string::npos;
  const std::string compare =
      is_predicate ? fmt::format(
                         "mov.pred %p0, %p1;\nmov.b32 %r30, {};\nsetp.ne.b32 %p2, %r30, 0;\n"
                         "xor.pred %p0, %p0, %p2;\n",
                         one.result)
                   : fmt::format("setp.ne.b{} %p0, %{}1, {};\n",
                                 is_wide    ? 64
                                 : is_short ? 16
                                            : 32,
                                 is_wide    ? "rd"
                                 : is_short ? "rs"
                                            : "r",
                                 one.result);
  const Launched launched{
      kernel_text(".param .u64 a", "ld.param.u64 %rd30, [a];\n" + code + ";\n" + compare +
                                       "@%p0 ld.global.u32 %r31, [%rd30];\n"
                                       "@!%p0 ld.global.u32 %r31, [%rd30];\nret;"),
      "schema: 1\nkernel: k\ngrid: 1\nblock: 1\narguments:\n  - {bytes: 4}\n"};
  return launched.evaluate().accesses;
}

void expect_worked(const std::vector<Worked>& all) {
  for (const Worked& one : all) {
    const auto found = held(one);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(found[0].is_exact()) << one.code;
    EXPECT_EQ(found[0].warps, 0U) << one.code;
    EXPECT_EQ(found[1].warps, 1U) << one.code;
  }
}

void expect_unknown(const std::vector<const char*>& all) {
  for (const char* code : all)
    EXPECT_FALSE(held({code, "0"})[0].is_exact()) << code;
}

TEST(Arithmetic, OfIntegersWrapsAround) {
  expect_worked({
      {"add.u32 %r1, 0xFFFFFFFF, 2", "1"},
      {"add.s16 %rs1, 0x7FFF, 1", "0x8000"},
      {"add.sat.s32 %r1, 0x7FFFFFFF, 1", "0x7FFFFFFF"},
      {"sub.sat.s32 %r1, -2147483648, 1", "-2147483648"},
      {"sub.u64 %rd1, 0, 1", "0xFFFFFFFFFFFFFFFF"},
      {"mul.lo.u32 %r1, 0x10001, 0x10001", "0x20001"},
      {"mul.hi.u32 %r1, 0xFFFFFFFF, 0xFFFFFFFF", "0xFFFFFFFE"},
      {"mul.hi.s32 %r1, -1, 5", "-1"},
      {"mul.hi.u64 %rd1, 0xFFFFFFFFFFFFFFFF, 16", "15"},
      {"mul.hi.s64 %rd1, -1, 16", "-1"},
      {"mul.wide.s32 %rd1, -2, 3", "-6"},
      {"mul.wide.u32 %rd1, -2, 3", "0x2FFFFFFFA"},
      {"mul.wide.s16 %r1, -2, 3", "-6"},
      {"mul.wide.u16 %r1, 0xFFFE, 3", "0x2FFFA"},
      {"mad.lo.s32 %r1, -3, 4, 5", "-7"},
      {"mad.hi.u32 %r1, 0x80000000, 4, 7", "9"},
      {"mad.wide.u32 %rd1, 0xFFFFFFFF, 2, 3", "0x200000001"},
      {"mad.wide.s32 %rd1, -1, 2, 3", "1"},
      {"sad.s32 %r1, -5, 7, 100", "112"},
      {"sad.u32 %r1, 7, 5, 1", "3"},
      {"div.s32 %r1, -7, 2", "-3"},
      {"rem.s32 %r1, -7, 2", "-1"},
      {"div.u32 %r1, -7, 2", "0x7FFFFFFC"},
      {"abs.s32 %r1, -2147483648", "-2147483648"},
      {"neg.s16 %rs1, 1", "0xFFFF"},
      {"min.s32 %r1, -1, 1", "-1"},
      {"min.u32 %r1, -1, 1", "1"},
      {"max.s64 %rd1, -1, 1", "1"},
      {"dp4a.u32.u32 %r1, 0x01020304, 0x05060708, 1", "71"},
      {"dp4a.s32.u32 %r1, 0x000000FF, 0x00000002, 0", "-2"},
  });
}

TEST(Arithmetic, Of16BitNumbersRoundsOnce) {
  const auto of = [](const char* operation, const std::vector<const char*>& operands,
                     const char* result) {
    std::string code;
    for (std::size_t i = 0; i < operands.size(); ++i)
      code += fmt::format("mov.b16 %rs{}, {};\n", i + 2, operands[i]);
    code += fmt::format("{} %rs1, %rs2", operation);
    for (std::size_t i = 1; i < operands.size(); ++i)
      code += fmt::format(", %rs{}", i + 2);
    expect_worked({{code.c_str(), result}});
  };
  of("add.f16", {"0x99c9", "0x3e5f"}, "0x3e5c");
  of("add.rn.f16", {"0x3c00", "0x1000"}, "0x3c00");  // halfway: to even
  of("sub.f16", {"0x3c00", "0x3c00"}, "0");
  of("mul.f16", {"0x1657", "0x37c6"}, "0x1229");
  of("mul.f16", {"0x7bff", "0x4000"}, "0x7c00");  // infinite
  of("mul.sat.f16", {"0x4000", "0x4000"}, "0x3c00");
  of("fma.rn.f16", {"0xdd7a", "0x861d", "0x0ddf"}, "0x283b");
  of("fma.rn.f16", {"0xc962", "0x526f", "0x10cf"}, "0xe054");
  of("add.bf16", {"0x104e", "0x37ae"}, "0x37ae");
  of("mul.bf16", {"0x104e", "0x37ae"}, "0x088c");
  of("fma.rn.bf16", {"0x2a18", "0x7628", "0xc365"}, "0x60c7");  // 0x60c8 if rounded twice
  of("fma.rn.bf16", {"0xc790", "0xe43c", "0xbe3d"}, "0x6c53");
  of("neg.f16", {"0x3c00"}, "0xbc00");
  of("abs.bf16", {"0xbf80"}, "0x3f80");
  of("max.f16", {"0x7e00", "0x3c00"}, "0x3c00");  // the one that is a number
  of("cvt.rzi.f16.f16", {"0x3e00"}, "0x3c00");
  expect_worked({
      {"mov.b16 %rs2, 0x3C00;\ncvt.f32.f16 %f1, %rs2;\nmov.b32 %r1, %f1", "0x3F800000"},
      {"mov.b16 %rs2, 1;\ncvt.f32.f16 %f1, %rs2;\nmov.b32 %r1, %f1", "0x33800000"},
      {"mov.b16 %rs2, 0x3F80;\ncvt.f32.bf16 %f1, %rs2;\nmov.b32 %r1, %f1", "0x3F800000"},
      {"mov.b32 %f1, 0x477FF000;\ncvt.rn.f16.f32 %rs1, %f1", "0x7C00"},  // 65520
      {"mov.b32 %f1, 0x477FF000;\ncvt.rz.f16.f32 %rs1, %f1", "0x7BFF"},
      {"mov.b32 %f1, 0x3F808000;\ncvt.rn.bf16.f32 %rs1, %f1", "0x3F80"},
      {"cvt.rn.f16.s32 %rs1, -3", "0xC200"},
      {"mov.b16 %rs2, 0xC200;\ncvt.rzi.s32.f16 %r1, %rs2", "-3"},
      {"mov.b32 %f1, 0x3F800000;\nmov.b32 %f2, 0x40000000;\n"
       "cvt.rn.f16x2.f32 %r1, %f1, %f2",
       "0x3C004000"},
      {"mov.b32 %r2, 0x3C004000;\nadd.f16x2 %r1, %r2, %r2", "0x40004400"},
      {"mov.b32 %r2, 0x3F804000;\nmul.bf16x2 %r1, %r2, %r2", "0x3F804080"},
      {"mov.b16 %rs2, 0xBC00;\nmov.b16 %rs3, 0x3C00;\nsetp.lt.f16 %p1, %rs2, %rs3", "1"},
  });
}

TEST(Arithmetic, OfBitsIsThatOfTheManual) {
  expect_worked({
      {"not.b32 %r1, 0x0F0F0F0F", "0xF0F0F0F0"},
      {"cnot.b32 %r1, 0", "1"},
      {"shl.b32 %r1, 1, 31", "0x80000000"},
      {"shl.b32 %r1, 1, 32", "0"},
      {"shr.u32 %r1, 0x80000000, 40", "0"},
      {"shr.s32 %r1, 0x80000000, 40", "-1"},
      {"shr.s64 %rd1, -8, 1", "-4"},
      {"shr.b16 %rs1, 0x8000, 15", "1"},
      {"shf.l.wrap.b32 %r1, 0x80000000, 1, 33", "3"},
      {"shf.l.clamp.b32 %r1, 0x12345678, 1, 40", "0x12345678"},
      {"shf.r.wrap.b32 %r1, 2, 1, 1", "0x80000001"},
      {"shf.r.clamp.b32 %r1, 2, 0x12345678, 32", "0x12345678"},
      {"lop3.b32 %r1, 0xF0, 0xCC, 0xAA, 0x80", "0x80"},
      {"lop3.b32 %r1, 0xF0, 0xCC, 0xAA, 0x96", "0x96"},
      {"prmt.b32 %r1, 0x33221100, 0x77665544, 0x7531", "0x77553311"},
      {"prmt.b32 %r1, 0x00008000, 0, 0x9999", "0xFFFFFFFF"},
      {"prmt.b32.f4e %r1, 0x33221100, 0x77665544, 1", "0x44332211"},
      {"prmt.b32.b4e %r1, 0x33221100, 0x77665544, 1", "0x66770011"},
      {"prmt.b32.rc8 %r1, 0x33221100, 0x77665544, 2", "0x22222222"},
      {"prmt.b32.ecl %r1, 0x33221100, 0x77665544, 2", "0x33222222"},
      {"prmt.b32.ecr %r1, 0x33221100, 0x77665544, 1", "0x11111100"},
      {"prmt.b32.rc16 %r1, 0x33221100, 0x77665544, 1", "0x33223322"},
      {"bfe.u32 %r1, 0xABCD1234, 8, 8", "0x12"},
      {"bfe.s32 %r1, 0x0000F000, 12, 4", "-1"},
      {"bfe.s32 %r1, 0x80000000, 24, 16", "-128"},
      {"bfe.u64 %rd1, 0xABCD123400000000, 32, 16", "0x1234"},
      {"bfi.b32 %r1, 0xFF, 0, 8, 4", "0xF00"},
      {"bfi.b32 %r1, 5, 3, 2, 32", "0x17"},
      {"bfi.b64 %rd1, 1, 0, 63, 5", "0x8000000000000000"},
      {"bfi.b32 %r1, 1, 7, 32, 5", "7"},
      {"bfind.u32 %r1, 0x00010000", "16"},
      {"bfind.s32 %r1, -256", "7"},
      {"bfind.u32 %r1, 0", "-1"},
      {"bfind.shiftamt.u32 %r1, 0x00010000", "15"},
      {"bfind.u64 %r1, 0x100000000", "32"},
      {"brev.b32 %r1, 0x80000001", "0x80000001"},
      {"brev.b64 %rd1, 1", "0x8000000000000000"},
      {"popc.b64 %r1, 0xFF00000000000001", "9"},
      {"clz.b32 %r1, 1", "31"},
      {"clz.b64 %r1, 0", "64"},
  });
}

TEST(Arithmetic, ConvertsAndMoves) {
  expect_worked({
      {"mov.b64 %rd1, {1, 2}", "0x200000001"},
      {"mov.b64 %rd2, 0x1122334455667788;\nmov.b64 {%r2, %r1}, %rd2", "0x11223344"},
      {"mov.b32 %r2, 0xAABBCCDD;\nmov.b32 {%rs1, %rs2}, %r2;\nmov.b16 %rs1, %rs2", "0xAABB"},
      {"mov.b32 %r2, 0x1FF;\ncvt.u32.u8 %r1, %r2", "0xFF"},
      {"mov.b32 %r2, 0x1FF;\ncvt.s32.s8 %r1, %r2", "-1"},
      {"mov.b32 %r2, -1;\ncvt.s64.s32 %rd1, %r2", "-1"},
      {"mov.b32 %r2, -1;\ncvt.u64.u32 %rd1, %r2", "0xFFFFFFFF"},
      {"mov.b64 %rd2, 0x1234567890;\ncvt.u32.u64 %r1, %rd2", "0x34567890"},
      {"mov.b32 %r2, 300;\ncvt.sat.u8.u32 %r1, %r2", "255"},
      {"mov.b32 %r2, -300;\ncvt.sat.s8.s32 %r1, %r2", "-128"},
      {"mov.b32 %r2, 0x18080;\ncvt.s16.s32 %r1, %r2", "0xFFFF8080"},
      {"mov.f32 %f1, 0fC0200000;\ncvt.rzi.s32.f32 %r1, %f1", "-2"},
      {"mov.f32 %f1, 0fC0200000;\ncvt.rmi.s32.f32 %r1, %f1", "-3"},
      {"mov.f32 %f1, 0f40200000;\ncvt.rni.s32.f32 %r1, %f1", "2"},
      {"mov.f32 %f1, 0f40200000;\ncvt.rpi.u32.f32 %r1, %f1", "3"},
      {"mov.f32 %f1, 0fC0200000;\ncvt.rzi.u32.f32 %r1, %f1", "0"},
      {"mov.f32 %f1, 0f7F800000;\ncvt.rzi.s32.f32 %r1, %f1", "0x7FFFFFFF"},
      {"mov.b32 %r2, 16777217;\ncvt.rn.f32.u32 %f1, %r2;\nmov.b32 %r1, %f1", "0x4B800000"},
      {"mov.b32 %r2, 16777217;\ncvt.rp.f32.u32 %f1, %r2;\nmov.b32 %r1, %f1", "0x4B800001"},
      {"mov.f64 %fd1, 0d3FF0000010000000;\ncvt.rn.f32.f64 %f1, %fd1;\nmov.b32 %r1, %f1",
       "0x3F800000"},
      {"mov.f64 %fd1, 0d3FF0000010000000;\ncvt.rp.f32.f64 %f1, %fd1;\nmov.b32 %r1, %f1",
       "0x3F800001"},
      {"mov.f32 %f1, 0f3F800000;\ncvt.f64.f32 %fd1, %f1;\nmov.b64 %rd1, %fd1",
       "0x3FF0000000000000"},
      {"mov.f32 %f1, 0f40200000;\ncvt.rni.f32.f32 %f2, %f1;\nmov.b32 %r1, %f2", "0x40000000"},
      {"mov.f32 %f1, 0f40200000;\ncvt.sat.f32.f32 %f2, %f1;\nmov.b32 %r1, %f2", "0x3F800000"},
  });
}

TEST(Arithmetic, OfFloatingPointIsRoundedAsItSays) {
  expect_worked({
      {"mov.f32 %f1, 0f3F800000;\nadd.rn.f32 %f2, %f1, 0f33800000;\nmov.b32 %r1, %f2",
       "0x3F800000"},
      {"mov.f32 %f1, 0f3F800000;\nadd.rp.f32 %f2, %f1, 0f33800000;\nmov.b32 %r1, %f2",
       "0x3F800001"},
      {"mov.f32 %f1, 0f3F800000;\nsub.rm.f32 %f2, %f1, 0f32800000;\nmov.b32 %r1, %f2",
       "0x3F7FFFFF"},
      {"mov.f32 %f1, 0f3F800001;\nmul.rz.f32 %f2, %f1, %f1;\nmov.b32 %r1, %f2", "0x3F800002"},
      {"mov.f32 %f1, 0f3F800001;\nfma.rn.f32 %f2, %f1, %f1, 0fBF800002;\nmov.b32 %r1, %f2",
       "0x28800000"},
      {"mov.f32 %f1, 0f3F800000;\ndiv.rn.f32 %f2, %f1, 0f40400000;\nmov.b32 %r1, %f2",
       "0x3EAAAAAB"},
      {"mov.f32 %f1, 0f3F800000;\ndiv.rz.f32 %f2, %f1, 0f40400000;\nmov.b32 %r1, %f2",
       "0x3EAAAAAA"},
      {"mov.f32 %f1, 0f40000000;\nsqrt.rn.f32 %f2, %f1;\nmov.b32 %r1, %f2", "0x3FB504F3"},
      {"mov.f32 %f1, 0f40400000;\nrcp.rn.f32 %f2, %f1;\nmov.b32 %r1, %f2", "0x3EAAAAAB"},
      {"mov.f32 %f1, 0f00000001;\nadd.rn.ftz.f32 %f2, %f1, 0f00000001;\nmov.b32 %r1, %f2", "0"},
      {"mov.f32 %f1, 0f40000000;\nadd.rn.sat.f32 %f2, %f1, %f1;\nmov.b32 %r1, %f2", "0x3F800000"},
      {"mov.f32 %f1, 0f7F800000;\nsub.rn.f32 %f2, %f1, %f1;\nmov.b32 %r1, %f2", "0x7FFFFFFF"},
      {"mov.f32 %f1, 0f80000000;\nmin.f32 %f2, %f1, 0f00000000;\nmov.b32 %r1, %f2", "0x80000000"},
      {"mov.f32 %f1, 0fBF800000;\nabs.f32 %f2, %f1;\nmov.b32 %r1, %f2", "0x3F800000"},
      {"mov.f64 %fd1, 0d4000000000000000;\nsqrt.rn.f64 %fd2, %fd1;\nmov.b64 %rd1, %fd2",
       "0x3FF6A09E667F3BCD"},
  });
}

TEST(Arithmetic, ComparesAndChooses) {
  expect_worked({
      {"setp.lt.s32 %p1, -1, 1", "1"},
      {"setp.lt.u32 %p1, -1, 1", "0"},
      {"setp.lo.u32 %p1, 1, 2", "1"},
      {"setp.hs.u64 %p1, 2, 2", "1"},
      {"mov.f32 %f1, 0f7FFFFFFF;\nsetp.lt.f32 %p1, %f1, 0f00000000", "0"},
      {"mov.f32 %f1, 0f7FFFFFFF;\nsetp.ltu.f32 %p1, %f1, 0f00000000", "1"},
      {"mov.f32 %f1, 0f7FFFFFFF;\nsetp.ne.f32 %p1, %f1, %f1", "0"},
      {"mov.f32 %f1, 0f7FFFFFFF;\nsetp.neu.f32 %p1, %f1, %f1", "1"},
      {"mov.f32 %f1, 0f7FFFFFFF;\nsetp.nan.f32 %p1, %f1, %f1", "1"},
      {"setp.eq.s32 %p3, 1, 1;\nsetp.eq.and.s32 %p1, 1, 2, %p3", "0"},
      {"setp.eq.s32 %p3, 1, 1;\nsetp.eq.or.s32 %p1, 1, 2, !%p3", "0"},
      {"setp.eq.s32 %p3, 1, 1;\nsetp.eq.xor.s32 %p4|%p1, 1, 2, %p3", "0"},
      {"setp.lt.s32 %p4|%p1, 1, 2", "0"},
      {"setp.lt.s32 %p3, 1, 2;\nnot.pred %p1, %p3", "0"},
      {"setp.lt.s32 %p3, 1, 2;\nselp.b32 %r1, 7, 9, %p3", "7"},
      {"setp.lt.s32 %p3, 1, 2;\nselp.b32 %r1, 7, 9, !%p3", "9"},
      {"slct.u32.s32 %r1, 7, 9, -1", "9"},
      {"slct.u32.f32 %r1, 7, 9, 0f80000000", "7"},
      {"set.lt.u32.s32 %r1, -1, 1", "0xFFFFFFFF"},
      {"set.lt.f32.s32 %f1, -1, 1;\nmov.b32 %r1, %f1", "0x3F800000"},
  });
}

TEST(Arithmetic, LeavesOpenWhatPtxDoes) {
  expect_unknown({
      "div.u32 %r1, 1, 0",
      "rem.s64 %rd1, 1, 0",
      "div.s32 %r1, -2147483648, -1",
      "mov.f32 %f1, 0f3F800000;\nsqrt.approx.f32 %f2, %f1;\nmov.b32 %r1, %f2",
      "mov.f32 %f1, 0f3F800000;\ndiv.full.f32 %f2, %f1, %f1;\nmov.b32 %r1, %f2",
      "mov.f32 %f1, 0f3F800000;\nex2.approx.f32 %f2, %f1;\nmov.b32 %r1, %f2",
      "mov.f32 %f1, 0f7FFFFFFF;\nneg.f32 %f2, %f1;\nmov.b32 %r1, %f2",
      "mov.f64 %fd1, 0d7FF0000000000000;\nsub.rn.f64 %fd2, %fd1, %fd1;\nmov.b64 %rd1, %fd2",
      "add.cc.u32 %r1, 1, 2",
      "mov.u32 %r1, %smid",
      "mov.u32 %r1, %r20",
      "mov.f32 %f1, 0f3F800000;\nmul.f32 %f2, %f1, %f1;\nmov.f32 %f3, %f2;\nadd.f32 %f4, %f3, "
      "%f1;\n"
      "mov.b32 %r1, %f4",
  });
}

}  // namespace
}  // namespace strata::access
