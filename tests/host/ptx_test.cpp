#include "harness/access/ptx.hpp"

#include "harness/case/error.hpp"

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

}  // namespace
}  // namespace strata::ptx
