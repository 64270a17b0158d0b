#include "access_runs.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/base/error.hpp"
#include "harness/model/split_mix.hpp"
#include "temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace strata::access {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* buffer_and_numbers =
    ".param .u64 k_param_0, .param .u32 k_param_1, .param .f32 k_param_2, "
    ".param .align 8 .b8 k_param_3[24]";

std::vector<ptx::Module> modules(const std::string& before = "") {
  std::vector<ptx::Module> made;
  made.push_back(ptx::read(
      kernel_text(buffer_and_numbers, "ld.param.f32 %f0, [k_param_2];\nret;", before), "test.ptx"));
  return made;
}

constexpr const char* grid_of_k = "schema: 1\nkernel: k\ngrid: [3, 2]\nblock: [16, 4, 2]\n";
constexpr const char* arguments =
    "arguments:\n  - {bytes: 4096, fill: iota}\n  - 0x10\n  - 1.5\n"
    "  - fields: {0: u32 1920, 8: {bytes: 64, align: 512, offset: 4}, 16: s16 -2}\n";

Launch parsed(const std::string& text) {
  const auto all = modules();
  return parse_launch(text, "launch.yaml", all);
}

/// The message of a launch that is refused.
std::string refused(const std::string& text, const std::string& before = "") {
  const auto all = modules(before);
  try {
    (void)parse_launch(text, "launch.yaml", all);
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

std::uint64_t param_at(const Launch& launch, std::uint64_t offset, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned b = 0; b < bytes; ++b) {
    EXPECT_EQ(launch.params_known.at(offset + b), 1);
    value |= std::uint64_t{launch.params.at(offset + b)} << (8 * b);
  }
  return value;
}

TEST(LaunchFile, GivesTheShapeAndTheBytesOfTheParameters) {
  const Launch launch = parsed(std::string{grid_of_k} + "dynamic_shared: 1024\n" + arguments);
  EXPECT_EQ(launch.grid, (Extent{3, 2, 1}));
  EXPECT_EQ(launch.block, (Extent{16, 4, 2}));
  EXPECT_EQ(launch.dynamic_shared, 1024U);
  EXPECT_FALSE(launch.is_clustered);
  ASSERT_EQ(launch.params.size(), 40U);
  ASSERT_EQ(launch.buffers.size(), 2U);
  EXPECT_EQ(param_at(launch, 0, 8), launch.buffers[0].address);
  EXPECT_EQ(launch.buffers[0].name, "param_0");
  EXPECT_EQ(launch.buffers[0].bytes, 4096U);
  EXPECT_EQ(param_at(launch, 8, 4), 16U);
  EXPECT_EQ(param_at(launch, 12, 4), 0x3FC00000U);
  EXPECT_EQ(param_at(launch, 16, 4), 1920U);
  EXPECT_EQ(param_at(launch, 24, 8), launch.buffers[1].address);
  EXPECT_EQ(launch.buffers[1].name, "param_3+8");
  EXPECT_EQ(param_at(launch, 32, 2), 0xFFFEU);
  EXPECT_EQ(launch.params_known[20], 0);  // between the fields
}

TEST(LaunchFile, TakesArgumentsByName) {
  const Launch launch = parsed(std::string{grid_of_k} +
                               "arguments:\n  param_3: unknown\n  k_param_2: 0x7f800000\n"
                               "  param_1: -1\n  param_0: {bytes: 1}\n");
  EXPECT_EQ(param_at(launch, 8, 4), 0xFFFFFFFFU);
  EXPECT_EQ(param_at(launch, 12, 4), 0x7F800000U);
  EXPECT_EQ(launch.params_known[16], 0);
}

TEST(LaunchFile, PlacesBuffersFarApartAndNoMoreAlignedThanTheySay) {
  const Launch launch = parsed(std::string{grid_of_k} + arguments);
  const Buffer& first = launch.buffers[0];
  const Buffer& second = launch.buffers[1];
  EXPECT_EQ(first.address % 512, 256U);
  EXPECT_EQ(second.address % 1024, 512U + 4);
  EXPECT_GE(second.address - (first.address + first.bytes), address_gap);
  EXPECT_TRUE(first.contains(first.address, 4096));
  EXPECT_FALSE(first.contains(first.address + 1, 4096));
  EXPECT_FALSE(first.contains(first.address - 1, 1));
}

TEST(LaunchFile, PutsABufferWhereItIsToldAndTheOthersElsewhere) {
  const Launch launch =
      parsed(std::string{grid_of_k} +
             fmt::format("arguments:\n  - {{bytes: 4096}}\n  - 1\n  - 1.0\n  - fields: "
                         "{{0: {{bytes: 64, address: {}}}, 8: {{of: param_0, at: 12}}}}\n",
                         first_address + 4));
  ASSERT_EQ(launch.buffers.size(), 2U);
  EXPECT_EQ(launch.buffers[0].address, first_address + 4);
  EXPECT_GE(launch.buffers[1].address, first_address + 68 + address_gap);
  EXPECT_EQ(param_at(launch, 24, 8), launch.buffers[1].address + 12);
}

TEST(LaunchFile, FindsTheKernelByNameOrExpressionAmongAllModules) {
  std::vector<ptx::Module> all;
  all.push_back(
      ptx::read(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry ab() { ret; }\n"
                ".visible .entry a() { ret; }\n",
                "one.ptx"));
  all.push_back(
      ptx::read(".version 8.0\n.target sm_90\n.address_size 64\n"
                ".visible .entry _ZN5space4readILj4EEEvPKj() { ret; }\n",
                "two.ptx"));
  const auto launch_of = [&](const std::string& name) {
    return parse_launch("schema: 1\nkernel: '" + name + "'\ngrid: 1\nblock: 1\n", "l.yaml", all);
  };
  EXPECT_EQ(launch_of("a").kernel, 1U);  // exactly, though both match
  EXPECT_EQ(launch_of("^ab").kernel, 0U);
  EXPECT_EQ(launch_of("space::read<4u>").module, 1U);
  EXPECT_EQ(launch_of("readILj4").module, 1U);
  EXPECT_THROW((void)launch_of("b|read"), UsageError);
  EXPECT_THROW((void)launch_of("nothing"), UsageError);
  EXPECT_THROW((void)launch_of("("), UsageError);
}

TEST(LaunchFile, SaysWhichOfSeveralInputsItsKernelIsOf) {
  const std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.entry a() { ret; }\n";
  const std::vector<std::string> names{"left/one.ptx", "right/one.ptx", "copy.ptx"};
  std::vector<ptx::Module> all;
  all.push_back(ptx::read(std::string{text}, names[0]));
  all.push_back(ptx::read(text + "// another\n", names[1]));
  all.push_back(ptx::read(std::string{text}, names[2]));
  const auto module_of = [&](const std::string& input, std::span<const ptx::Module> of) {
    return parse_launch("schema: 1\n" + input + "kernel: a\ngrid: 1\nblock: 1\n", "l.yaml", of,
                        std::span{names}.first(of.size()))
        .module;
  };
  EXPECT_EQ(module_of("input: right/one.ptx\n", all), 1U);
  EXPECT_EQ(module_of("input: copy.ptx\n", all), 2U);
  EXPECT_THROW((void)module_of("input: one.ptx\n", all), UsageError);  // two of that name
  EXPECT_THROW((void)module_of("", all), UsageError);
  try {
    (void)module_of("input: two.ptx\n", all);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("l.yaml:2"), HasSubstr("copy.ptx")));
  }
  // What is loaded twice is one.
  std::swap(all[1], all[2]);
  EXPECT_EQ(module_of("", std::span{all}.first(2)), 0U);
}

TEST(LaunchFile, RefusesWhatIsWrongInOneLineWithItsPlace) {
  const std::string good = std::string{grid_of_k} + arguments;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return refused(text.replace(at, from.size(), to));
  };
  EXPECT_THAT(with("[16, 4, 2]", "[1024, 2]"),
              AllOf(HasSubstr("launch.yaml:4:"), HasSubstr("2048 threads")));
  EXPECT_THAT(with("[3, 2]", "[0, 2]"), AllOf(HasSubstr("launch.yaml:3:"), HasSubstr("grid.x")));
  EXPECT_THAT(with("[3, 2]", "[3, 65536]"), HasSubstr("grid.y"));
  EXPECT_THAT(with("[3, 2]", "[1, 1, 1, 1]"), HasSubstr("grid"));
  EXPECT_THAT(with("[16, 4, 2]", "[1, 1, 65]"), HasSubstr("block.z"));
  EXPECT_THAT(with("  - 1.5\n", ""), HasSubstr("launch.yaml:8: 8 bytes at 8 of param_2"));
  EXPECT_THAT(with("  - 1.5\n", "  - 1\n"), HasSubstr("floating-point"));
  EXPECT_THAT(with("  - 1.5\n", "  - u64 1\n"), HasSubstr("4 bytes"));
  EXPECT_THAT(with("0x10", "0x1000000000"), HasSubstr("param_1"));
  EXPECT_THAT(with("  - 0x10\n", "  - {bytes: 4}\n"), HasSubstr("8 bytes, which holds a pointer"));
  EXPECT_THAT(with("u32 1920", "1920"), HasSubstr("typed value"));
  EXPECT_THAT(with("16: s16", "6: s64"), HasSubstr("byte 8 of param_3 twice"));
  EXPECT_THAT(with("16: s16", "23: s16"), HasSubstr("2 bytes at 23 of param_3"));
  EXPECT_THAT(with("iota", "iotas"), HasSubstr("zero, random SEED, iota or unknown"));
  EXPECT_THAT(with("fill: iota", "fill: zero, below: 3"), HasSubstr("'below'"));
  EXPECT_THAT(with("fill: iota", "element: 3, fill: iota"), HasSubstr("element"));
  EXPECT_THAT(with("bytes: 4096", "bytes: 0"), HasSubstr("bytes"));
  EXPECT_THAT(with("align: 512", "align: 48"), HasSubstr("power of two"));
  EXPECT_THAT(with("align: 512", "alingn: 512"), HasSubstr("did you mean 'align'?"));
  EXPECT_THAT(with("bytes: 4096, fill: iota", "of: param_9"), HasSubstr("no buffer 'param_9'"));
  EXPECT_THAT(with("fill: iota", "file: /none/there"), HasSubstr("/none/there"));
  EXPECT_THAT(with("fill: iota", "hex: '00 11'"), HasSubstr("2 bytes for a buffer of 4096"));
  EXPECT_THAT(with("fill: iota", "hex: '0g'"), HasSubstr("hexadecimal"));
  EXPECT_THAT(with("schema: 1", "schema: 2"), HasSubstr("schema"));
  EXPECT_THAT(refused(good + "  - 7\n"), HasSubstr("argument 5"));
  EXPECT_THAT(refused(good + "symbols: {nothing: {fill: zero}}\n"),
              HasSubstr("no variable 'nothing'"));
  EXPECT_THAT(refused(good + "cluster: [2]\n"), HasSubstr("divides the grid"));
  EXPECT_THAT(refused(good + "dynamic_shared: 1000000\n"), HasSubstr("dynamic_shared"));
  EXPECT_THAT(refused(grid_of_k), HasSubstr("no argument for param_0"));
  EXPECT_THAT(refused(std::string{grid_of_k} + "arguments: {param_7: 1}\n"),
              HasSubstr("the kernel has no parameter 'param_7'"));
  EXPECT_THAT(refused(std::string{grid_of_k} + "arguments: {param_1: 1, k_param_1: 2}\n"),
              HasSubstr("param_1 twice"));
  const std::string two =
      "arguments:\n  - {bytes: 64, address: 4096}\n  - 1\n  - 1.0\n"
      "  - fields: {0: {bytes: 8, address: 4152}}\n";
  EXPECT_THAT(refused(grid_of_k + two),
              AllOf(HasSubstr("launch.yaml:9:"), HasSubstr("overlaps param_0")));
}

TEST(LaunchFile, NumbersAreOfTheKindThatTheKernelUses) {
  const auto bits_of = [](const std::string& number, const std::string& body) {
    std::vector<ptx::Module> all;
    all.push_back(ptx::read(kernel_text(".param .b32 k_param_0", body), "test.ptx"));
    const Launch launch = parse_launch(
        "schema: 1\nkernel: k\ngrid: 1\nblock: 1\narguments: [" + number + "]\n", "l.yaml", all);
    return param_at(launch, 0, 4);
  };
  const auto message_of = [&](const std::string& number, const std::string& body) -> std::string {
    try {
      (void)bits_of(number, body);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string load = "ld.param.b32 %r1, [k_param_0];\n";
  const std::string whole = load + "mul.wide.u32 %rd1, %r1, 4;\nret;";
  const std::string converted = load + "cvt.rn.f32.s32 %f1, %r1;\nret;";
  const std::string real = load + "mul.rn.f32 %r2, %r1, %r1;\nret;";
  const std::string open = load + "mov.b32 %r2, %r1;\nret;";
  EXPECT_EQ(bits_of("4294967295", whole), 0xFFFFFFFFU);
  EXPECT_EQ(bits_of("-1", converted), 0xFFFFFFFFU);
  EXPECT_EQ(bits_of("1.5", real), 0x3FC00000U);
  EXPECT_EQ(bits_of("0x3FC00000", real), 0x3FC00000U);
  EXPECT_EQ(bits_of("1.5", open), 0x3FC00000U);
  EXPECT_EQ(bits_of("f32 1.5", whole), 0x3FC00000U) << "an explicit type is taken as written";
  for (const char* number : {"1.5", "1e3", "nan", "inf"}) {
    EXPECT_THAT(message_of(number, whole), HasSubstr("an integer, as the kernel uses it"));
    EXPECT_THAT(message_of(number, converted), HasSubstr("an integer, as the kernel uses it"));
  }
  EXPECT_THAT(message_of("1", real), HasSubstr("a floating-point number"));
  for (const char* number : {"4294967296", "-2147483649", "99999999999999999999999"}) {
    for (const auto& body : {whole, open})
      EXPECT_THAT(message_of(number, body), HasSubstr("a number of 4 bytes")) << number;
  }
}

TEST(LaunchFile, HoldsToWhatTheKernelWasCompiledFor) {
  const auto kernel = [](const std::string& directive) {
    std::vector<ptx::Module> all;
    all.push_back(ptx::read(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() " +
                                directive + " { ret; }\n",
                            "k.ptx"));
    return all;
  };
  const auto launch_of = [&](const std::string& directive, const std::string& more) {
    const auto all = kernel(directive);
    return parse_launch("schema: 1\nkernel: k\ngrid: 4\n" + more, "l.yaml", all);
  };
  EXPECT_EQ(launch_of(".maxntid 128, 1, 1", "block: [32, 4]\n").block.count(), 128U);
  EXPECT_THROW((void)launch_of(".maxntid 128, 1, 1", "block: 129\n"), UsageError);
  EXPECT_EQ(launch_of(".reqntid 64", "block: 64\n").block.x, 64U);
  EXPECT_THROW((void)launch_of(".reqntid 64", "block: 32\n"), UsageError);
  EXPECT_EQ(launch_of(".reqnctapercluster 2", "block: 32\n").cluster.x, 2U);
  EXPECT_THROW((void)launch_of(".reqnctapercluster 2", "block: 32\ncluster: 4\n"), UsageError);
  EXPECT_THROW((void)launch_of("", "block: 32\ncluster: [4, 8]\n"), UsageError);
}

TEST(LaunchFile, ReadsABufferFromAFileBesideIt) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream{folder.path() / name, std::ios::binary} << text;
  };
  write("data.bin", std::string{"\x01\x02\x03\x04\x05", 5});
  const auto launch_of = [&](unsigned bytes) {
    write("launch.yaml",
          fmt::format("{}arguments:\n  - {{bytes: {}, file: data.bin}}\n  - 1\n  - 1.0\n"
                      "  - unknown\n",
                      grid_of_k, bytes));
    const auto all = modules();
    return read_launch((folder.path() / "launch.yaml").string(), all);
  };
  const Launch launch = launch_of(4);
  EXPECT_EQ(launch.buffers[0].fill.read(0, 4), 0x04030201U);
  EXPECT_EQ(launch.buffers[0].fill.read(2, 2), 0x0403U);
  EXPECT_THROW((void)launch_of(6), UsageError);
}

TEST(LaunchFile, GivesVariablesOfTheModuleAnAddressAndAContent) {
  const std::string before =
      ".const .align 4 .u32 known[2] = {7, 9};\n.global .align 4 .b8 table[64];\n"
      ".global .align 4 .u32 counter = 3;\n";
  const auto all = modules(before);
  const Launch launch =
      parse_launch(std::string{grid_of_k} + arguments + "symbols: {table: {fill: random 1}}\n",
                   "launch.yaml", all);
  ASSERT_EQ(launch.buffers.size(), 5U);
  const auto named = [&](const std::string& name) {
    return *std::ranges::find(launch.buffers, name, &Buffer::name);
  };
  EXPECT_EQ(named("known").fill.read(4, 4), 9U);
  EXPECT_EQ(named("known").space, ptx::Space::constant);
  EXPECT_EQ(named("table").fill.kind, Fill::Kind::random);
  // A host may have set it before the launch.
  EXPECT_EQ(named("counter").fill.kind, Fill::Kind::unknown);
}

TEST(LaunchFile, TakesOneOfTheCopiesOfATemplatesInstance) {
  // As CUB's kernels, which each module of a program has: C++ makes them one.
  const auto text = [](const char* linkage, const char* target, const char* more) {
    return fmt::format(
        ".version 8.0\n.target {}\n.address_size 64\n{}\n{} .entry _Z1kv()\n{{ ret; }}\n", target,
        more, linkage);
  };
  const auto read = [](const std::string& first, const std::string& second) {
    std::vector<ptx::Module> all;
    all.push_back(ptx::read(first, "a.ptx"));
    all.push_back(ptx::read(second, "b.ptx"));
    return parse_launch("schema: 1\nkernel: _Z1kv\ngrid: 1\nblock: 32\n", "launch.yaml", all);
  };
  const std::string other = text(".weak", "sm_90", ".global .u32 more;");
  EXPECT_EQ(read(text(".weak", "sm_90", ""), other).module, 0U);
  EXPECT_THROW((void)read(text(".visible", "sm_90", ""), other), UsageError);
  EXPECT_THROW((void)read(text(".weak", "sm_80", ""), other), UsageError);
}

TEST(Fill, IsElementByElement) {
  const Fill iota{.kind = Fill::Kind::iota, .element = 2};
  EXPECT_EQ(iota.read(6, 2), 3U);
  EXPECT_EQ(iota.read(0x20002, 2), 1U);  // wraps around
  EXPECT_EQ(iota.read(1, 4), 0x02000100U);
  const Fill random{.kind = Fill::Kind::random, .seed = 42, .element = 4};
  SplitMix numbers{42};
  for (std::uint64_t i = 0; i < 20; ++i)
    EXPECT_EQ(random.read(4 * i, 4), numbers.next() & 0xFFFFFFFFU);
  EXPECT_EQ(random.read(2, 4), (random.read(0, 8) >> 16U) & 0xFFFFFFFFU);
  const Fill scaled{.kind = Fill::Kind::random, .seed = 1, .below = 10, .element = 8};
  std::uint64_t seen = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    ASSERT_LT(scaled.read(8 * i, 8), 10U);
    seen |= std::uint64_t{1} << scaled.read(8 * i, 8);
  }
  EXPECT_EQ(seen, 0x3FFU);
  const Fill bytes{.kind = Fill::Kind::bytes, .bytes = {1, 2}};
  EXPECT_EQ(bytes.read(1, 4), 2U);  // zero behind the end
}

}  // namespace
}  // namespace strata::access
