#include "harness/access/ptx.hpp"

#include "harness/base/error.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace strata::ptx {
namespace {

using Kind = Operand::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view head = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// A module of one kernel with a pointer parameter.
std::string kernel_text(std::string_view body) {
  return fmt::format("{}.visible .entry k(.param .u64 p)\n{{\n{}\nret;\n}}\n", head, body);
}

Module read_kernel(std::string_view body) {
  return read(kernel_text(body), "k.ptx");
}

/// An operand as PTX writes it, from what was read of it.
std::string shown(const Module& module, const Kernel& kernel, const Operand& operand) {
  std::string text;
  const auto list = [&] {
    std::vector<std::string> items;
    for (const auto& item : operand.items)
      items.push_back(shown(module, kernel, item));
    return fmt::format("{}", fmt::join(items, ", "));
  };
  switch (operand.kind) {
    case Kind::none:
      text = "?";
      break;
    case Kind::reg:
      text = kernel.registers.at(operand.index).name;
      break;
    case Kind::integer:
      text = std::to_string(static_cast<std::int64_t>(operand.bits));
      break;
    case Kind::real:
      text = fmt::format("{}", std::bit_cast<double>(operand.bits));
      break;
    case Kind::special:
      text = fmt::format("special {}", static_cast<int>(operand.special));
      break;
    case Kind::symbol:
      text = module.symbols.at(operand.index).name;
      break;
    case Kind::function:
      text = fmt::format("{}()", module.kernels.at(operand.index).name);
      break;
    case Kind::label:
      text = fmt::format("{}@{}", kernel.labels.at(operand.index).name,
                         kernel.labels.at(operand.index).instruction);
      break;
    case Kind::vector:
      text = operand.address ? list() : "{" + list() + "}";
      break;
    case Kind::sink:
      text = "_";
      break;
  }
  if (operand.offset != 0) text += fmt::format("{:+}", operand.offset);
  if (operand.address) text = "[" + text + "]";
  return operand.negated ? "!" + text : text;
}

/// The instructions of the last kernel, as PTX writes them.
std::vector<std::string> shown(const Module& module) {
  std::vector<std::string> lines;
  const Kernel& kernel = module.kernels.back();
  for (const auto& one : kernel.instructions) {
    std::string line;
    if (one.guard != no_index) {
      line = fmt::format("@{}{} ", one.guard_negated ? "!" : "", kernel.registers[one.guard].name);
    }
    line += one.opcode;
    for (const auto& word : one.modifiers)
      line += fmt::format(".{}", word);
    for (const auto& operand : one.operands)
      line += (&operand == one.operands.data() ? " " : ", ") + shown(module, kernel, operand);
    lines.push_back(line);
  }
  return lines;
}

TEST(PtxReader, ReadsAKernelAsACompilerWritesIt) {
  const Module module = read_kernel(R"(
  .reg .pred %p<2>;
  .reg .f32 %f<3>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1; // a comment
  mov.u32 %r1, %tid.x;
  setp.gt.s32 %p1, %r1, -1; /* another
  one */
  @!%p1 bra $L__BB0_2;
  mul.wide.s32 %rd3, %r1, 0x10;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.nc.v2.f32 {%f1, _}, [%rd4+-8];
  st.global.f32 [%rd4+4], %f1;
$L__BB0_2:)");
  EXPECT_EQ(module.version, 90U);
  EXPECT_EQ(module.target, "sm_90");
  ASSERT_EQ(module.kernels.size(), 1U);
  EXPECT_TRUE(module.kernels[0].entry);
  EXPECT_EQ(module.kernels[0].line, 4U);
  EXPECT_THAT(
      shown(module),
      ElementsAre("ld.param.u64 %rd1, [p]", "cvta.to.global.u64 %rd2, %rd1",
                  "mov.u32 %r1, special 0", "setp.gt.s32 %p1, %r1, -1", "@!%p1 bra $L__BB0_2@9",
                  "mul.wide.s32 %rd3, %r1, 16", "add.s64 %rd4, %rd2, %rd3",
                  "ld.global.nc.v2.f32 {%f1, _}, [%rd4-8]", "st.global.f32 [%rd4+4], %f1", "ret"));
}

TEST(PtxReader, FindsRegistersOfRangesByTheirNumber) {
  const Module module = read_kernel(
      ".reg .b32 %r<4294967295>;\n.reg .f64 %r1<3>;\n.reg .b16 %s;\n"
      "mov.u32 %r4294967294, %r0;\nmov.f64 %r12, %r10;\nmov.b32 %r13, 0;\nmov.b16 %s, %s;");
  const Kernel& kernel = module.kernels[0];
  EXPECT_THAT(shown(module), ElementsAre("mov.u32 %r4294967294, %r0", "mov.f64 %r12, %r10",
                                         "mov.b32 %r13, 0", "mov.b16 %s, %s", "ret"));
  const auto type_of_first = [&](std::size_t at) {
    return kernel.registers[kernel.instructions[at].operands[0].index].type;
  };
  EXPECT_EQ(type_of_first(0), Type::b32);
  EXPECT_EQ(type_of_first(1), Type::f64) << "a range of %r1, declared in the same block and later";
  EXPECT_EQ(type_of_first(2), Type::b32) << "%r1<3> has no third one";
  EXPECT_EQ(kernel.registers.size(), 6U) << "made when they are named, and once";
}

TEST(PtxReader, KeepsTheNamesOfABlockInIt) {
  const Module module = read_kernel(R"(
  .reg .b32 %r<4>;
  mov.b32 %r1, 1;
  { .reg .b64 %r1; .reg .f32 %r<3>;
    mov.b64 %r1, 2;
    mov.f32 %r2, 0f40000000;
    { .reg .pred %r1; @%r1 trap; }
    mov.b64 %r1, 3; }
  mov.b32 %r1, %r2;)");
  const Kernel& kernel = module.kernels[0];
  std::vector<Type> types;
  for (const auto& one : kernel.instructions) {
    if (one.guard != no_index) types.push_back(kernel.registers[one.guard].type);
    if (!one.operands.empty()) types.push_back(kernel.registers[one.operands[0].index].type);
  }
  using enum Type;
  EXPECT_THAT(types, ElementsAre(b32, b64, f32, pred, b64, b32));
  EXPECT_EQ(kernel.instructions[0].operands[0].index, kernel.instructions[5].operands[0].index);
}

TEST(PtxReader, GivesEachBlockItsOwnLabels) {
  const Module module = read_kernel(R"(
  .reg .pred p;
  { WAIT: @p bra DONE; bra WAIT; DONE: }
  { WAIT: @p bra DONE; bra WAIT; DONE: }
  bra END;
  { { bra END; } END: }
END:)");
  EXPECT_THAT(shown(module), ElementsAre("@p bra DONE@2", "bra WAIT@0", "@p bra DONE@4",
                                         "bra WAIT@2", "bra END@6", "bra END@6", "ret"));
  EXPECT_EQ(module.kernels[0].instructions[4].operands[0].index, 5U) << "the outer one";
  EXPECT_EQ(module.kernels[0].instructions[5].operands[0].index, 4U) << "the one around it";
}

TEST(PtxReader, ReadsOperandsOfEveryShape) {
  const Module module = read_kernel(R"(
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .v4 .f32 %v;
  .shared .align 16 .b8 tile[1024];
  .shared .align 16 .v2 .b32 pairs[4][8];
  .global .texref image;
  shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;
  setp.lt.and.s32 %p1|_, %r1, %r2, !%p2;
  tex.2d.v4.f32.f32 {%f1,%f2,_,%f3}, [image, {%f4, %f5}];
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
     [%r1], [%rd1, {%r2, %r3}], [%r4 + 8];
  mov.v4.f32 {%f1, %f2, %f3, %f4}, %v;
  mov.f32 %v.y, %v.a;
  vadd.u32.u32.s32 %r1, %r2.b0, %r3.h1;
  mov.u32 %r1, tile + 4 * (3 - 1);
  mov.u32 %r1, tile[3];
  mov.u32 %r1, pairs[5];
  ld.shared.u32 %r1, [tile+0x10+16];
  ld.shared.u32 %r1, [64];
  ld.shared.u32 %r1, [%r1-4];
  mov.u32 %r1, %clock;
  mov.u64 %rd1, %gridid;
  mov.v4.u32 {%r1,%r2,%r3,_}, %tid;
  mov.b128 {%rd1, %rd2}, {%rd3, %rd4};
  ld.global.L2::cache_hint.v2.b64 {%rd1, %rd2}, [%rd3], %rd4;
  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd1}, {%rd2}, {%rd3}, {%rd4};)");
  EXPECT_THAT(
      shown(module),
      ElementsAre(
          "shfl.sync.bfly.b32 %r1, %p1, %r2, 16, 31, -1", "setp.lt.and.s32 %p1, _, %r1, %r2, !%p2",
          "tex.2d.v4.f32.f32 {%f1, %f2, _, %f3}, [image, {%f4, %f5}]",
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile."
          "mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4+8]",
          "mov.v4.f32 {%f1, %f2, %f3, %f4}, {%v, %v, %v, %v}", "mov.f32 %v, %v",
          "vadd.u32.u32.s32 %r1, %r2, %r3", "mov.u32 %r1, tile+8", "mov.u32 %r1, tile+3",
          "mov.u32 %r1, pairs+20", "ld.shared.u32 %r1, [tile+32]", "ld.shared.u32 %r1, [64]",
          "ld.shared.u32 %r1, [%r1-4]",
          fmt::format("mov.u32 %r1, special {}", static_cast<int>(Special::clock)),
          fmt::format("mov.u64 %rd1, special {}", static_cast<int>(Special::other)),
          fmt::format("mov.v4.u32 {{%r1, %r2, %r3, _}}, special {}",
                      static_cast<int>(Special::other)),
          "mov.b128 {%rd1, %rd2}, {%rd3, %rd4}",
          "ld.global.L2::cache_hint.v2.b64 {%rd1, %rd2}, [%rd3], %rd4",
          "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd1}, {%rd2}, {%rd3}, {%rd4}", "ret"));
  const Kernel& kernel = module.kernels[0];
  const auto& parts = kernel.instructions[4].operands[1].items;
  EXPECT_EQ(kernel.instructions[5].operands[0].index, parts[1].index);
  EXPECT_EQ(kernel.instructions[5].operands[1].index, parts[3].index);
}

TEST(PtxReader, KnowsTheTypesSpacesAndWidthsOfOpcodes) {
  const Module module = read_kernel(R"(
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<9>;
  cvt.u64.u32 %rd1, %r1;
  ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%r1,%r2,%r3,%r4}, [%rd1];
  st.shared::cta.v2.b64 [%r1], {%rd1, %rd2};
  ld.b8 %h1, [%rd1];
  atom.acq_rel.gpu.global.cas.b128 %rd1, [%rd2], %rd3, %rd4;
  cvt.rn.satfinite.e4m3x2.f32 %h1, %r1, %r2;
  suld.b.1d.b32.trap {%r1}, [%rd1, {%r2}];
  bar.sync 0;)");
  const auto& code = module.kernels[0].instructions;
  EXPECT_EQ(code[0].type(), Type::u32);
  EXPECT_EQ(code[0].type(1), Type::u64);
  EXPECT_EQ(code[0].type(2), Type::none);
  EXPECT_EQ(code[1].type(), Type::f32);
  EXPECT_EQ(code[1].space(), Space::global);
  EXPECT_EQ(code[1].vector_width(), 4U);
  EXPECT_TRUE(code[1].has("L2::128B"));
  EXPECT_FALSE(code[1].has("L2"));
  EXPECT_EQ(code[2].space(), Space::shared);
  EXPECT_EQ(code[3].space(), Space::generic);
  EXPECT_EQ(code[3].vector_width(), 1U);
  EXPECT_EQ(code[4].type(), Type::b128);
  EXPECT_EQ(code[5].type(1), Type::other);
  EXPECT_EQ(code[6].space(), Space::texture);
  EXPECT_EQ(code[7].type(), Type::none);
  EXPECT_EQ(bytes_of(Type::b128), 16U);
  EXPECT_EQ(bytes_of(Type::bf16x2), 4U);
  EXPECT_EQ(bytes_of(Type::other), 0U);
}

TEST(PtxReader, ReadsConstantsInEveryNotation) {
  struct Example {
    std::string_view text;
    Kind kind;
    std::uint64_t bits;
  };
  const auto real = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const auto negative = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  for (const Example& one :
       std::vector<Example>{{"0x1fU", Kind::integer, 31},
                            {"0b101", Kind::integer, 5},
                            {"017", Kind::integer, 15},
                            {"0", Kind::integer, 0},
                            {"-128", Kind::integer, negative(-128)},
                            {"0xffffffffffffffff", Kind::integer, ~std::uint64_t{0}},
                            {"0f3F800000", Kind::real, real(1)},
                            {"0FC0000000", Kind::real, real(-2)},
                            {"0d3FF8000000000000", Kind::real, real(1.5)},
                            {"-0f3F800000", Kind::real, real(-1)},
                            {"1.5e-3", Kind::real, real(1.5e-3)},
                            {"2.0", Kind::real, real(2)},
                            {"WARP_SZ", Kind::integer, 32},
                            {"1+2*3", Kind::integer, 7},
                            {"(1+2)*3", Kind::integer, 9},
                            {"-7/2", Kind::integer, negative(-3)},
                            {"-7%4", Kind::integer, negative(-3)},
                            {"-8>>1", Kind::integer, negative(-4)},
                            {"(.u64)-8>>1", Kind::integer, negative(-8) >> 1U},
                            {"1<<4|3", Kind::integer, 19},
                            {"1<<70", Kind::integer, 0},
                            {"~0&0xff^1", Kind::integer, 254},
                            {"3>2&&2>=2", Kind::integer, 1},
                            {"-1<1", Kind::integer, 1},
                            {"-1<1U", Kind::integer, 0},
                            {"0==1||2!=2", Kind::integer, 0},
                            {"1<2?10:20", Kind::integer, 10},
                            {"- - +5", Kind::integer, 5},
                            {"1.0/4", Kind::real, real(0.25)},
                            {"(.s64)2.75", Kind::integer, 2}}) {
    const Module module =
        read_kernel(fmt::format(".reg .b64 %rd<2>;\nmov.b64 %rd1, {};", one.text));
    const Operand& operand = module.kernels[0].instructions[0].operands[1];
    EXPECT_EQ(operand.kind, one.kind) << one.text;
    EXPECT_EQ(operand.bits, one.bits) << one.text;
  }
}

const Symbol& symbol_of(const Module& module, std::string_view name) {
  return *std::ranges::find(module.symbols, name, &Symbol::name);
}

TEST(PtxReader, LaysOutParametersAsTheLaunchDoes) {
  const Module module = read(std::string{head} + R"(
.entry k(.param .u8 a, .param .align 8 .b8 b[12], .param .u16 c,
         .param .u64 .ptr .global .align 128 d, .param .align 16 .b8 e[16])
.maxntid 64, 2
.reqntid 32
.reqnctapercluster 2, 1, 1
.minnctapersm 4
.maxnreg 64
.pragma "nounroll";
{ ret; })",
                             "k.ptx");
  const Kernel& kernel = module.kernels[0];
  std::vector<std::uint64_t> offsets;
  for (const std::uint32_t param : kernel.params) {
    const Symbol& symbol = module.symbols[param];
    EXPECT_EQ(symbol.space, Space::param);
    EXPECT_EQ(symbol.kernel, 0U);
    offsets.push_back(symbol.offset);
  }
  EXPECT_THAT(offsets, ElementsAre(0, 8, 20, 24, 32));
  EXPECT_EQ(module.symbols[kernel.params[1]].bytes, 12U);
  EXPECT_EQ(module.symbols[kernel.params[3]].align, 8U) << "128 is of what it points to";
  EXPECT_THAT(kernel.most_block, ElementsAre(64, 2, 1));
  EXPECT_THAT(kernel.required_block, ElementsAre(32, 1, 1));
  EXPECT_THAT(kernel.cluster, ElementsAre(2, 1, 1));
}

TEST(PtxReader, ReadsVariablesAndTheirInitialisers) {
  const Module module = read(std::string{head} + R"(
.extern .shared .align 16 .b8 dynamic[];
.extern .global .f32 later;
.visible .global .f32 later = 1.5;
.const .align 8 .b32 matrix[2][3] = {{1, 2}, {-1, 0x10}};
.const .b16 open[] = {1, 2, 3};
.global .v4 .f32 colour = {0f3F800000, 2.0};
.global .b8 zeros[1000000000];
.global .u64 pointer = generic(matrix)+8;
.global .u64 pointers[2] = {7, matrix};
.global .b8 bytes[2] = {0xff(matrix), 0xff00(matrix)};
.global .samplerref sampler = { addr_mode_0 = wrap, filter_mode = nearest };
.weak .global .attribute(.managed) .align 4 .u32 managed;
.shared .b64 a, b[2];
.entry k() { .local .align 4 .b8 depot[20]; .shared .b32 a; ret; })",
                             "k.ptx");
  const auto initial = [&](std::string_view name) { return symbol_of(module, name).initial; };
  EXPECT_EQ(symbol_of(module, "dynamic").bytes, 0U);
  EXPECT_EQ(symbol_of(module, "dynamic").align, 16U);
  EXPECT_EQ(symbol_of(module, "dynamic").space, Space::shared);
  EXPECT_EQ(std::ranges::count(module.symbols, "later", &Symbol::name), 1);
  EXPECT_THAT(initial("later"), ElementsAre(0, 0, 0xC0, 0x3F));
  EXPECT_EQ(symbol_of(module, "matrix").bytes, 24U);
  EXPECT_EQ(symbol_of(module, "matrix").align, 8U);
  EXPECT_EQ(symbol_of(module, "matrix").space, Space::constant);
  EXPECT_THAT(initial("matrix"),
              ElementsAre(1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 16, 0, 0, 0));
  EXPECT_EQ(symbol_of(module, "open").bytes, 6U);
  EXPECT_EQ(symbol_of(module, "colour").bytes, 16U);
  EXPECT_EQ(symbol_of(module, "colour").align, 16U);
  EXPECT_THAT(initial("colour"), ElementsAre(0, 0, 0x80, 0x3F, 0, 0, 0, 0x40));
  EXPECT_EQ(symbol_of(module, "zeros").bytes, 1'000'000'000U);
  EXPECT_TRUE(initial("zeros").empty());
  EXPECT_TRUE(symbol_of(module, "zeros").initial_is_known);
  for (const auto* const name : {"pointer", "pointers", "bytes", "sampler"}) {
    EXPECT_FALSE(symbol_of(module, name).initial_is_known) << name;
    EXPECT_TRUE(initial(name).empty()) << name;
  }
  EXPECT_EQ(symbol_of(module, "managed").bytes, 4U);
  EXPECT_EQ(symbol_of(module, "b").bytes, 16U);
  EXPECT_EQ(symbol_of(module, "depot").kernel, 0U);
  EXPECT_EQ(symbol_of(module, "depot").space, Space::local);
  EXPECT_EQ(std::ranges::count(module.symbols, "a", &Symbol::name), 2) << "the kernel has its own";
}

TEST(PtxReader, FollowsCallsToFunctionsThatComeLater) {
  const Module module = read(std::string{head} + R"(
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.func (.reg .u32 %out) twice (.reg .u32 %in) .noreturn;
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  { .param .b32 param0; .param .b32 retval0;
    st.param.b32 [param0+0], %r1;
    call.uni (retval0), vprintf, (param0, 5);
    call (%r1), twice, (%r2);
    call twice;
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);
    mov.u64 %rd1, twice;
    call (retval0), %rd1, (param0), prototype_0;
  }
  ret;
}
.func (.reg .u32 %out) twice (.reg .u32 %in)
{ add.u32 %out, %in, %in; ret; }
.alias same, twice;
.entry l() { call same; ret; })",
                             "k.ptx");
  ASSERT_EQ(module.kernels.size(), 4U);
  EXPECT_EQ(module.kernels[0].name, "vprintf");
  EXPECT_FALSE(module.kernels[0].defined);
  EXPECT_FALSE(module.kernels[1].entry);
  EXPECT_TRUE(module.kernels[1].defined);
  EXPECT_EQ(module.kernels[1].instructions.size(), 2U);
  EXPECT_EQ(module.kernels[1].registers.size(), 2U);
  EXPECT_THAT(shown(module), ElementsAre("call twice()", "ret"));
  std::vector<std::string> calls;
  const Kernel& kernel = module.kernels[2];
  for (const auto& one : kernel.instructions) {
    std::vector<std::string> words;
    for (const auto& operand : one.operands)
      words.push_back(shown(module, kernel, operand));
    calls.push_back(fmt::format("{}", fmt::join(words, " ")));
  }
  EXPECT_THAT(calls,
              ElementsAre("[param0] %r1", "{retval0} vprintf() {param0, 5}", "{%r1} twice() {%r2}",
                          "twice()", "%rd1 twice()", "{retval0} %rd1 {param0} prototype_0@4", ""));
}

TEST(PtxReader, NamesTheTargetsOfAnIndirectBranch) {
  const Module module = read_kernel(R"(
  .reg .b32 %r;
  ts: .branchtargets L1, L2,
    L1;
  brx.idx.uni %r, ts;
  L1: mov.b32 %r, 1;
  L2:)");
  EXPECT_EQ(shown(module)[0], "brx.idx.uni %r, {L1@1, L2@2, L1@1}");
}

/// "f.cu:3 in g at f.cu:9 …" of an instruction.
std::string place_of(const Module& module, const Kernel& kernel, std::size_t instruction) {
  std::string text;
  for (std::uint32_t at = kernel.instructions.at(instruction).location; at != no_index;
       at = kernel.locations[at].inlined_at) {
    const Location& one = kernel.locations[at];
    text += fmt::format("{}{}:{}:{}", text.empty() ? "" : " at ", module.files.at(one.file),
                        one.line, one.column);
    if (!one.function.empty()) text += fmt::format(" in {}", one.function);
  }
  return text;
}

TEST(PtxReader, FollowsInlinedCallsOutwards) {
  const Module module = read(kernel_text(R"(
  .loc 1 9 3
  bar.sync 0;
  .loc 2 5 1, function_name $g, inlined_at 1 9 3
  bar.sync 1;
  .loc 2 1 7, function_name $h+2, inlined_at 2 5 1
  bar.sync 2;
  .loc 1 10 0)") + R"(
  .file 1 "main.cu"
  .file 2 "helper.cuh", 1395721, 2048
  .section .debug_abbrev { .b8 1
  .b8 2 }
  .section .debug_str
  {
$g:
.b8 103,0
$h:
.b8 95,95,104
.b8 101,0
  })",
                             "k.ptx");
  const Kernel& kernel = module.kernels[0];
  EXPECT_EQ(place_of(module, kernel, 0), "main.cu:9:3");
  EXPECT_EQ(place_of(module, kernel, 1), "helper.cuh:5:1 in g at main.cu:9:3");
  EXPECT_EQ(place_of(module, kernel, 2),
            "helper.cuh:1:7 in he at helper.cuh:5:1 in g at main.cu:9:3");
  EXPECT_EQ(place_of(module, kernel, 3), "main.cu:10:0");
}

TEST(PtxReader, AMoveOfAModuleKeepsItsNames) {
  Module first = read_kernel(".reg .b32 %r<2>;\nmov.u32 %r1, %tid.x;");
  const Module second = std::move(first);
  EXPECT_EQ(shown(second)[0], "mov.u32 %r1, special 0");
}

// ---- what compilers write ----

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, std::istreambuf_iterator<char>{}};
}

std::vector<std::filesystem::path> samples() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{STRATA_PTX_DATA}) {
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// Operands that instructions of every compiler have.
struct Operands {
  std::string_view opcode;
  std::size_t least;
  std::size_t most;
};
constexpr std::array operand_counts{
    Operands{"ld", 2, 3},    Operands{"st", 2, 3},   Operands{"add", 3, 3}, Operands{"sub", 3, 3},
    Operands{"mul", 3, 3},   Operands{"mad", 4, 4},  Operands{"fma", 4, 4}, Operands{"mov", 2, 2},
    Operands{"cvt", 2, 3},   Operands{"cvta", 2, 2}, Operands{"shl", 3, 3}, Operands{"shr", 3, 3},
    Operands{"setp", 3, 5},  Operands{"selp", 4, 4}, Operands{"bra", 1, 1}, Operands{"ret", 0, 0},
    Operands{"shfl", 5, 6},  Operands{"bar", 1, 2},  Operands{"and", 3, 3}, Operands{"or", 3, 3},
    Operands{"atom", 3, 5},  Operands{"red", 2, 3},  Operands{"abs", 2, 2}, Operands{"neg", 2, 2},
    Operands{"wgmma", 0, 12}};

TEST(PtxReader, ReadsWhatEveryCompilerWrites) {
  const auto files = samples();
  ASSERT_GE(files.size(), 7U);
  std::size_t counted = 0;
  for (const auto& file : files) {
    const Module module = read(text_of(file), file.filename().native());
    const auto defined = std::ranges::count(module.kernels, true, &Kernel::defined);
    EXPECT_GE(defined, 1) << file;
    for (const auto& kernel : module.kernels) {
      for (const auto& one : kernel.instructions) {
        EXPECT_NE(one.location, no_index) << file << ':' << one.line;
        const auto* known = std::ranges::find(operand_counts, one.opcode, &Operands::opcode);
        if (known == operand_counts.end()) continue;
        ++counted;
        EXPECT_TRUE(one.operands.size() >= known->least && one.operands.size() <= known->most)
            << file << ':' << one.line << ' ' << one.opcode;
      }
    }
  }
  EXPECT_GT(counted, 500U);
}

TEST(PtxReader, ReadsThePredicatedLoadsOfTriton) {
  const Module module =
      read(text_of(std::string{STRATA_PTX_DATA} + "/triton_scale.ptx"), "triton_scale.ptx");
  const Kernel& kernel = module.kernels.at(0);
  EXPECT_THAT(kernel.required_block, ElementsAre(128, 1, 1));
  EXPECT_EQ(kernel.params.size(), 5U);
  const auto guarded = std::ranges::count_if(kernel.instructions, [](const Instruction& one) {
    return one.guard != no_index && (one.opcode == "ld" || one.opcode == "st") &&
           one.space() == Space::global;
  });
  EXPECT_EQ(guarded, 16) << "1024 elements of 128 threads, read and written";
}

// ---- what is not PTX ----

/// The message of what is refused; "" where it is read.
std::string refusal(std::string text) {
  try {
    (void)read(std::move(text), "f.ptx");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(PtxReader, SaysWhereAndWhyItRefuses) {
  using namespace std::string_literals;
  const std::string h{head};
  for (const auto& [text, start] : std::vector<std::pair<std::string, std::string>>{
           {"", "f.ptx:1: nothing; expected '.version'"},
           {"// a comment\n\x7f"
            "ELF",
            "f.ptx:2: '\\x7f'; expected '.version'"},
           {"__global__ void k() {}", "f.ptx:1: '__global__'; expected '.version'"},
           {".version 10.0\n", "f.ptx:1: PTX 10.0; expected at most PTX 9.9; compile with"},
           {".version 9\n", "f.ptx:1: '9'; expected the PTX version"},
           {".version 9.\n", "f.ptx:1: '9.'; expected the PTX version"},
           {h + "\0"s, "f.ptx:4: a NUL; expected"},
           {h + "// \xff\n", "f.ptx:4: bytes that are not UTF-8"},
           {h + "/* \n", "f.ptx:4: an unterminated comment"},
           {h + ".file 1 \"a\n\"", "f.ptx:4: an unterminated string"},
           {h + ".file 9999999 \"a\"", "f.ptx:4: file number 9999999"},
           {h + "%", "f.ptx:4: '%'; expected a directive"},
           {h + ".entry k() {\n", "f.ptx:5: the text ends; expected an instruction or '}'"},
           {h + ".entry k() { { }\n", "f.ptx:5: the text ends; expected an instruction or '}'"},
           {h + ".entry k() { } }\n", "f.ptx:4: '}'; expected a directive"},
           {h + ".entry k() {\n\nmov.b32 %r1, 1; }", "f.ptx:6: '%r1' is not declared"},
           {h + ".entry k() { .reg .b32 %r<2>; mov.b32 %r2, 1; }", "f.ptx:4: '%r2' is not"},
           {h + ".entry k() { .reg .b32 %r<2>; mov.b32 %r01, 1; }", "f.ptx:4: '%r01' is not"},
           {h + ".entry k() { { .reg .b32 x; } mov.b32 x, 1; }", "f.ptx:4: 'x' is not declared"},
           {h + ".entry k() { bra L; }", "f.ptx:4: 'L' is not declared"},
           {h + ".entry k() { { L: } bra L; }", "f.ptx:4: 'L' is not declared"},
           {h + ".entry k() { L: L: }", "f.ptx:4: a second label 'L'"},
           {h + ".entry k() { bra 5; }", "f.ptx:4: a branch to something other than a label"},
           {h + ".entry k() { .reg .b32 x; L: brx.idx x, L; }", "f.ptx:4: 'L' is of the other"},
           {h + ".entry k() { L: T: .branchtargets L; bra T; }", "f.ptx:4: 'T' is of the other"},
           {h + ".entry k() { @p ret; }", "f.ptx:4: 'p' is not declared"},
           {h + ".entry k() { .reg .b32 p; @p ret; }", "f.ptx:4: 'p' guards an instruction"},
           {h + ".entry k() { .reg .b32 a; add.u32 a, a, !a; }", "f.ptx:4: 'a' is negated"},
           {h + ".entry k() { .reg .padd p; }", "f.ptx:4: a register without a type"},
           {h + ".entry k() { ret }", "f.ptx:4: '}'; expected an operand"},
           {h + ".entry k() { } .entry k() { }", "f.ptx:4: 'k' is defined twice"},
           {h + ".entry k(.param .b32 a, ) {}", "f.ptx:4: ')'; expected '.param'"},
           {h + ".entry k(.reg .b32 a) {}", "f.ptx:4: '.reg'; expected '.param'"},
           {h + ".global .align 3 .b8 a;", "f.ptx:4: an alignment of 3; expected a power of two"},
           {h + ".global .b8 a[0x7fffffffffffffff];", "f.ptx:4: an array that exceeds"},
           {h + ".entry k(.param .b8 a[1048577]) {}", "f.ptx:4: parameters of more than 1048576"},
           {h + ".global .b32 a = 1/0;", "f.ptx:4: '/' has no value here"},
           {h + ".global .b32 a = 0x;", "f.ptx:4: '0x'; expected a number of 64 bits"},
           {h + ".global .b64 a = 0x1ffffffffffffffff;",
            "f.ptx:4: '0x1ffffffffffffffff'; expected"},
           {h + ".global .b8 a[2][281474976710656] = {{},{},{}};", "f.ptx:4: an array that"},
           {h + std::string(max_ptx_line + 1, ' '),
            "f.ptx:4: a line of more than 8388608 bytes"}}) {
    EXPECT_THAT(refusal(text), testing::StartsWith(start)) << text.substr(0, 200);
  }
}

TEST(PtxReader, RefusesWhatIsNestedTooDeeply) {
  const auto many = [](std::string_view one) {
    std::string text;
    for (int i = 0; i < 100'000; ++i)
      text += one;
    return text;
  };
  const std::string start = std::string{head} + ".entry k() { .reg .b32 r; ";
  EXPECT_THAT(refusal(start + many("{")), HasSubstr("more than 64 nested lists or blocks"));
  EXPECT_THAT(refusal(start + "mov.b32 r, " + many("{")), HasSubstr("more than 64 nested lists"));
  EXPECT_THAT(refusal(start + "mov.b32 r, " + many("[")), HasSubstr("more than 64 nested lists"));
  EXPECT_THAT(refusal(start + "mov.b32 r, " + many("(")), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal(start + "mov.b32 r, " + many("1?")), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal(start + "mov.b32 r, " + many("(.s64)")), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal(start + "mov.b32 r, " + many("!")), HasSubstr("'!'"));
  EXPECT_THAT(refusal(start + "mov.b32 r, " + many("-") + "1; }"), "");
  EXPECT_THAT(refusal(start + "mov.b32 r, 1" + many("+1") + "; }"), "");
  EXPECT_THAT(refusal(std::string{head} + ".global .b8 a = " + many("{")),
              HasSubstr("more than 64 nested lists"));
}

TEST(PtxReader, BoundsWhatATextMayTakeInMemory) {
  const std::string start = std::string{head} + ".entry k() { .reg .v4 .b32 v; ";
  // An instruction of two modifiers and one operand, which is four registers.
  const auto parts = [&](std::size_t instructions) {
    std::string text = start;
    for (std::size_t i = 0; i < instructions; ++i)
      text += "a.b.c v; ";
    return text + "}";
  };
  constexpr std::size_t most = 100;
  EXPECT_NO_THROW((void)read(parts(11), "f.ptx", most));
  EXPECT_THAT([&] { (void)read(parts(12), "f.ptx", most); },
              testing::ThrowsMessage<UsageError>(HasSubstr("f.ptx:4: more than 100 instructions")));
}

TEST(PtxReader, TakesATextThatEndsAnywhere) {
  const std::string whole = text_of(std::string{STRATA_PTX_DATA} + "/clang_inlined.ptx") +
                            R"(.section .debug_str { $a: .b8 1, 2 }
.global .u32 t[2][2] = {{1, -(2+3)}, {generic(x), 0xff(y)}}; /* c */
.func (.reg .u32 %out) f(.param .align 4 .b8 p[4]) .attribute(.unified(1, 2)) {
  .reg .v2 .b32 %v<3>; .shared .b8 s[4];
  { .loc 1 2 3, function_name $a+1, inlined_at 1 2 3
    L: T: .branchtargets L; .reg .pred %p<2>; @!%p1 brx.idx %out, T; }
  tex.1d.v2.f32.s32 {%out, _}, [s, {%v1.x}]; call (%out), f, (%out); mov.b32 %out, s+4;
  ret; })";
  ASSERT_EQ(refusal(whole), "");
  std::size_t refused = 0;
  for (std::size_t end = 0; end <= whole.size(); ++end) {
    const std::string message = refusal(whole.substr(0, end));
    ASSERT_EQ(message.find('\n'), std::string::npos);
    refused += message.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, whole.size() / 2);
}

TEST(PtxReader, ReadsAHundredThousandLinesInNoTime) {
  std::string text = std::string{head} + ".entry k() {\n.reg .f32 %f<200000>;\n.reg .b64 %rd<9>;\n";
  constexpr int lines = 100'000;
  for (int i = 0; i < lines; ++i)
    text += fmt::format("\tld.global.nc.f32 \t%f{}, [%rd{}+{}];\n", i, i % 9, 4 * i);
  const auto begin = std::chrono::steady_clock::now();
  const Module module = read(text + "}\n", "k.ptx");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(module.kernels[0].instructions.size(), lines);
  EXPECT_LT(took.count(), 60) << "only against a reader that is quadratic: sanitizers are slow";
}

}  // namespace
}  // namespace strata::ptx
