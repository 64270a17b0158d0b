// Launch files of launches that no program made: they are read back as what was seen.
#include "harness/record/capture_file.hpp"

#include "harness/access/evaluate.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/program.hpp"
#include "temporary_folder.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>

namespace strata::access {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t first = 0x7f0000020100;  // an allocation of 4096 bytes
constexpr std::uint64_t second = 0x7f0000400000;

std::optional<MemoryRange> find(std::uint64_t address) {
  for (const MemoryRange range : {MemoryRange{first, 4096}, MemoryRange{second, 1U << 20U}}) {
    if (address >= range.address && address - range.address < range.bytes) return range;
  }
  return std::nullopt;
}

template <class... Numbers>
std::vector<std::uint8_t> bytes_of(Numbers... numbers) {
  std::vector<std::uint8_t> bytes;
  const auto add = [&](auto number) {
    std::array<std::uint8_t, sizeof number> one{};
    std::memcpy(one.data(), &number, sizeof number);
    bytes.insert(bytes.end(), one.begin(), one.end());
  };
  (add(numbers), ...);
  return bytes;
}

std::string content(const std::filesystem::path& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

TEST(CaptureFile, FindsTheMemoryThatParametersPointTo) {
  SeenLaunch launch;
  launch.parameters = {bytes_of(std::uint64_t{42}),
                       bytes_of(first + 256),
                       bytes_of(second),
                       bytes_of(1.0F),
                       bytes_of(std::uint32_t{7}, std::uint32_t{8}, first + 1000),
                       bytes_of(first + 64),
                       bytes_of(first + 4096)};
  const SeenMemory memory = memory_of(launch, find);
  ASSERT_EQ(memory.buffers.size(), 2U);
  EXPECT_EQ(memory.buffers[0].address, first + 64);  // the lowest that anybody holds
  EXPECT_EQ(memory.buffers[0].bytes, 4096U - 64);
  EXPECT_EQ(memory.buffers[1].address, second);
  EXPECT_EQ(memory.buffers[1].bytes, 1U << 20U);
  ASSERT_EQ(memory.pointers.size(), 4U);
  EXPECT_EQ(memory.pointers[0].parameter, 1U);
  EXPECT_EQ(memory.pointers[0].offset, 192U);
  EXPECT_EQ(memory.pointers[2].parameter, 4U);
  EXPECT_EQ(memory.pointers[2].at, 8U);
  EXPECT_EQ(memory.pointers[2].offset, 936U);
  EXPECT_EQ(memory.pointers[3].offset, 0U);
}

TEST(CaptureFile, FindsTheMemoryThatContentsPointTo) {
  const auto words =
      bytes_of(std::uint64_t{7}, first + 8, second + 16, second + 24, 1.5, first + 5000);
  const std::string_view text{reinterpret_cast<const char*>(words.data()), words.size()};
  const auto found = pointed_to(text, {{first + 64, 4096 - 64}}, find);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].address, first);  // what lies before the parameter's address
  EXPECT_EQ(found[0].bytes, 64U);
  EXPECT_EQ(found[1].address, second);
  EXPECT_EQ(found[1].bytes, 1U << 20U);
  EXPECT_TRUE(pointed_to(text, {{0x100000, 4096}}, find).empty());  // far from it
}

TEST(CaptureFile, MovesAddressesInContents) {
  // A chain whose words are addresses, beside a table of addresses of memory that no parameter
  // names.
  constexpr std::string_view text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1];\n"
      "ld.global.u64 %rd3, [%rd2];\nld.global.u64 %rd4, [%rd3];\nret;\n}\n";
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::read(std::string{text}, "k.ptx"));
  const TemporaryFolder folder;
  SeenLaunch seen{.kernel = "k", .block = {1, 1, 1}, .parameters = {bytes_of(first)}};
  SeenMemory memory = memory_of(seen, find);
  const auto chain = bytes_of(first + 8, second + 256);
  std::string content(4096, '\0');
  std::memcpy(content.data(), chain.data(), chain.size());
  for (const MemoryRange& one : pointed_to(content, memory.buffers, find))
    memory.buffers.push_back(one);
  ASSERT_EQ(memory.buffers.size(), 2U);
  ASSERT_EQ(write_new_file((folder.path() / "k-1.0.bin").string(), content), "");
  const std::string file = (folder.path() / "k-1.yaml").string();
  ASSERT_EQ(write_new_file(file, launch_text(seen, memory, {"file: k-1.0.bin", "fill: zero"})), "");
  const Launch read = read_launch(file, modules);
  ASSERT_EQ(read.buffers.size(), 2U);
  EXPECT_THAT(read.buffers[0].address_words, ElementsAre(0U, 1U));
  EXPECT_EQ(read.buffers[0].fill.read(0, 8), read.buffers[0].address + 8);
  EXPECT_EQ(read.buffers[0].fill.read(8, 8), read.buffers[1].address + 256);
  EXPECT_EQ(read.buffers[1].address % 65536, second % 65536);
  const auto accesses = evaluate(modules[0], read, {}).accesses;
  ASSERT_EQ(accesses.size(), 3U);
  for (const Access& one : accesses) {
    EXPECT_TRUE(one.is_exact());
    EXPECT_EQ(one.outside, 0U);
  }
}

TEST(CaptureFile, SaysWhichLostContentHoldsAddresses) {
  constexpr std::string_view text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 "
      "q) {\n"
      ".reg .b64 %rd<9>;\n.reg .b32 %r<3>;\nld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\n"
      "ld.global.u64 %rd3, [%rd1+8];\nld.global.u32 %r1, [%rd2];\nst.global.u32 [%rd3+4], %r1;\n"
      "ret;\n}\n";
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::read(std::string{text}, "k.ptx"));
  const SeenLaunch seen{.kernel = "k", .parameters = {bytes_of(first), bytes_of(second)}};
  const auto lost = [&](const ContentWords& words) {
    const SeenMemory memory = memory_of(seen, find);
    return lost_pointers(modules[0],
                         parse_launch(launch_text(seen, memory, words), "k.yaml", modules));
  };
  EXPECT_THAT(lost({"", "fill: zero"}), ElementsAre("p"));
  EXPECT_THAT(lost({"fill: zero", ""}), ElementsAre());  // of q only numbers are loaded
}

TEST(CaptureFile, SaysThatAChainLeadsThroughLostContent) {
  // As `visit` of l2_partition: a table of lines, each of which holds its own address.
  constexpr std::string_view text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1];\n"
      "atom.global.exch.b64 %rd3, [%rd2], %rd2;\natom.global.exch.b64 %rd4, [%rd3], %rd3;\n"
      "ret;\n}\n";
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::read(std::string{text}, "k.ptx"));
  const SeenLaunch seen{.kernel = "k", .parameters = {bytes_of(first)}};
  SeenMemory memory = memory_of(seen, find);
  memory.buffers.push_back({second, 1U << 20U});
  const auto lost = [&](const std::string& lines) {
    return lost_pointers(modules[0], parse_launch(launch_text(seen, memory, {"fill: zero", lines}),
                                                  "k.yaml", modules));
  };
  EXPECT_THAT(lost(""), ElementsAre("memory_0"));
  EXPECT_THAT(lost("fill: zero"), ElementsAre());
}

TEST(CaptureFile, KeepsTheSmallestBuffersThatFit) {
  const std::vector<MemoryRange> buffers{{1, 100}, {2, 10}, {3, 50}, {4, 41}};
  EXPECT_THAT(kept(buffers, 101), ElementsAre(false, true, true, true));
  EXPECT_THAT(kept(buffers, 100), ElementsAre(false, true, false, true));
  EXPECT_THAT(kept(buffers, 9), ElementsAre(false, false, false, false));
  EXPECT_THAT(kept(buffers, 1000), ElementsAre(true, true, true, true));
}

TEST(CaptureFile, IsReadBackAsItWasSeen) {
  constexpr std::string_view text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry _Z1kPfS_4Manyhth(\n"
      ".param .u64 _Z1kPfS_4Manyhth_param_0,\n.param .u64 _Z1kPfS_4Manyhth_param_1,\n"
      ".param .align 8 .b8 _Z1kPfS_4Manyhth_param_2[28],\n.param .u8 _Z1kPfS_4Manyhth_param_3,\n"
      ".param .u16 _Z1kPfS_4Manyhth_param_4,\n.param .align 1 .b8 _Z1kPfS_4Manyhth_param_5[3],\n"
      ".param .f32 _Z1kPfS_4Manyhth_param_6\n) { ret; }\n";
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::read(std::string{text}, "k.ptx"));
  const TemporaryFolder folder;
  SeenLaunch seen{.kernel = "_Z1kPfS_4Manyhth",
                  .grid = {5, 6, 7},
                  .block = {32, 2, 1},
                  .cluster = {5, 1, 1},
                  .dynamic_shared = 1024,
                  .parameters = {bytes_of(first + 64), bytes_of(std::uint64_t{0xfedcba9876543210}),
                                 bytes_of(second, std::uint32_t{9}, 2.5F, first + 96, -3),
                                 bytes_of(std::uint8_t{200}), bytes_of(std::uint16_t{50000}),
                                 std::vector<std::uint8_t>{1, 2, 255}, bytes_of(1.5F)}};
  const SeenMemory memory = memory_of(seen, find);
  std::string own(4096 - 64, '\0');
  own[17] = 'x';
  ASSERT_EQ(write_new_file((folder.path() / "k-1.0.bin").string(), own), "");
  const std::string yaml = launch_text(seen, memory, {"file: k-1.0.bin", "fill: zero"});
  const std::string file = (folder.path() / "k-1.yaml").string();
  ASSERT_EQ(write_new_file(file, yaml), "");
  const Launch read = read_launch(file, modules);
  EXPECT_EQ(read.grid, (Extent{5, 6, 7}));
  EXPECT_EQ(read.block, (Extent{32, 2, 1}));
  EXPECT_EQ(read.cluster, (Extent{5, 1, 1}));
  EXPECT_EQ(read.dynamic_shared, 1024U);
  ASSERT_EQ(read.buffers.size(), 2U);
  const auto buffer = [&](std::uint64_t bytes) {
    return *std::ranges::find(read.buffers, bytes, &Buffer::bytes);
  };
  EXPECT_EQ(buffer(4096 - 64).address % 65536, (first + 64) % 65536);
  EXPECT_EQ(buffer(4096 - 64).fill.read(17, 1), std::uint64_t{'x'});
  EXPECT_EQ(buffer(1U << 20U).address % 65536, second % 65536);
  EXPECT_EQ(buffer(1U << 20U).fill.kind, Fill::Kind::zero);
  // Every byte is as it was, but that addresses are those of the buffers of the file.
  ASSERT_EQ(read.pointers.size(), 3U);
  const auto& symbols = modules[0].symbols;
  for (std::size_t p = 0; p < seen.parameters.size(); ++p) {
    auto expected = seen.parameters[p];
    const std::uint64_t offset = symbols[modules[0].kernels[0].params[p]].offset;
    for (const auto& pointer : memory.pointers) {
      if (pointer.parameter != p) continue;
      const std::uint64_t address =
          buffer(memory.buffers[pointer.buffer].bytes).address + pointer.offset;
      std::memcpy(expected.data() + pointer.at, &address, sizeof address);
    }
    for (std::size_t b = 0; b < expected.size(); ++b) {
      EXPECT_EQ(read.params.at(offset + b), expected[b]) << p << ' ' << b << '\n' << yaml;
      EXPECT_EQ(read.params_known.at(offset + b), 1);
    }
  }
}

TEST(CaptureFile, GivesTheExactNumbersOfALaunch) {
  std::vector<ptx::Module> modules;
  modules.push_back(
      ptx::read(content(std::string{STRATA_PTX_DATA} + "/nvcc_inlined.ptx"), "inlined"));
  const auto find_two = [](std::uint64_t address) -> std::optional<MemoryRange> {
    if (address - second < 28000) return MemoryRange{second, 28000};
    if (address - 2 * second < 4000) return MemoryRange{2 * second, 4000};
    return std::nullopt;
  };
  const auto kernel = std::ranges::find(modules[0].kernels, true, &ptx::Kernel::entry);
  const SeenLaunch seen{.kernel = std::string{kernel->name},
                        .grid = {4, 1, 1},
                        .block = {256, 1, 1},
                        .parameters = {bytes_of(second), bytes_of(2 * second), bytes_of(1000)}};
  const SeenMemory memory = memory_of(seen, find_two);
  const Launch launch = parse_launch(launch_text(seen, memory, {"", ""}), "seen.yaml", modules);
  const Evaluation found = evaluate(modules[0], launch, {});
  ASSERT_EQ(found.accesses.size(), 5U);
  EXPECT_TRUE(found.is_exact());
  EXPECT_EQ(found.accesses.front().traffic.front().sectors, 875U);
  EXPECT_EQ(found.accesses.back().traffic.front().sectors, 125U);
}

TEST(CaptureFile, KeepsOneLaunchOfEachKernelAndShape) {
  SeenShapes shapes;
  SeenLaunch launch{.kernel = "_Z8energiesPK8ParticlePfi"};
  EXPECT_EQ(shapes.name_of_new(launch), "energies-1");
  launch.parameters = {bytes_of(1)};
  EXPECT_EQ(shapes.name_of_new(launch), std::nullopt);
  launch.grid[1] = 2;
  EXPECT_EQ(shapes.name_of_new(launch), "energies-2");
  launch.dynamic_shared = 4;
  EXPECT_EQ(shapes.name_of_new(launch), "energies-3");
  launch.kernel = "other";
  EXPECT_EQ(shapes.name_of_new(launch), "other-1");
  for (std::size_t i = 4; i < SeenShapes::most; ++i) {
    ++launch.block[0];
    EXPECT_TRUE(shapes.name_of_new(launch));
  }
  ++launch.block[0];
  EXPECT_EQ(shapes.name_of_new(launch), std::nullopt);
}

TEST(CaptureFile, NamesFilesByTheKernelAlone) {
  EXPECT_EQ(file_word("_Z8energiesPK8ParticlePfi"), "energies");
  EXPECT_EQ(file_word("_ZN5outer5innerIfLi4EEEvPT_"), "inner");
  EXPECT_EQ(file_word("triton_kernel_0d1d2d"), "triton_kernel_0d1d2d");
  EXPECT_EQ(file_word("../../etc/passwd"), "______etc_passwd");
  EXPECT_EQ(file_word(""), "kernel");
  EXPECT_EQ(file_word(std::string(500, 'k')).size(), 60U);
}

TEST(CaptureFile, KnowsAModuleByItsFirstBytes) {
  const std::string ptx = "//\n// Generated by …\n/* a\n comment */\n.version 8.0\n.target sm_90\n";
  const auto of_ptx = module_at(ptx.c_str());
  ASSERT_TRUE(of_ptx);
  EXPECT_EQ(of_ptx->kind, ModuleImage::Kind::ptx);
  EXPECT_EQ(of_ptx->bytes, ptx);

  const auto entry = [](std::uint16_t kind) {
    auto made = bytes_of(kind, std::uint16_t{257}, std::uint32_t{64}, std::uint64_t{8});
    made.resize(72);
    return made;
  };
  const auto fatbin_of = [](const std::vector<std::vector<std::uint8_t>>& entries) {
    auto made = bytes_of(std::uint32_t{0xba55ed50}, std::uint16_t{1}, std::uint16_t{16},
                         std::uint64_t{72 * entries.size()});
    for (const auto& one : entries)
      made.insert(made.end(), one.begin(), one.end());
    return made;
  };
  const auto fatbin = fatbin_of({entry(2), entry(1)});
  struct Wrapper {
    std::uint32_t magic = 0x466243b1;
    std::uint32_t version = 1;
    const void* data = nullptr;
    const void* more = nullptr;
  } wrapper;
  wrapper.data = fatbin.data();
  const auto of_wrapper = module_at(&wrapper);
  ASSERT_TRUE(of_wrapper);
  EXPECT_EQ(of_wrapper->kind, ModuleImage::Kind::fatbin);
  EXPECT_EQ(static_cast<const void*>(of_wrapper->bytes.data()), fatbin.data());
  EXPECT_EQ(of_wrapper->bytes.size(), 160U);
  EXPECT_TRUE(of_wrapper->has_ptx);
  const auto code = fatbin_of({entry(2), entry(2)});
  EXPECT_FALSE(module_at(code.data())->has_ptx);
  EXPECT_FALSE(module_at(fatbin_of({}).data()));
  EXPECT_EQ(suffix_of(of_wrapper->kind), ".fatbin");

  std::vector<std::uint8_t> elf(64);
  std::memcpy(elf.data(),
              "\x7f"
              "ELF",
              4);
  elf[0x28] = 200;  // where the table of sections begins
  elf[0x3a] = 64;   // bytes of an entry
  elf[0x3c] = 3;    // entries
  const auto of_elf = module_at(elf.data());
  ASSERT_TRUE(of_elf);
  EXPECT_EQ(of_elf->kind, ModuleImage::Kind::cubin);
  EXPECT_EQ(of_elf->bytes.size(), 200U + 3 * 64);
  EXPECT_FALSE(of_elf->has_ptx);

  EXPECT_FALSE(module_at("int main() {}"));
  EXPECT_FALSE(module_at("/* no end"));
  EXPECT_FALSE(module_at("\0\0\0\0\0\0\0"));
  EXPECT_FALSE(module_at(nullptr));
}

TEST(CaptureFile, LeavesNoHalfOfAFile) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "one").string();
  EXPECT_EQ(write_new_file(file, "first"), "");
  EXPECT_THAT(write_new_file(file, "second"), HasSubstr(file + ": File exists"));
  EXPECT_EQ(content(file), "first");
  EXPECT_THAT(write_new_file((folder.path() / "none" / "one").string(), "x"),
              HasSubstr("No such file or directory"));
  // In a process of its own, where no file may grow past 1000 bytes.
  const std::string large = (folder.path() / "large").string();
  const auto write_beyond = [&] {
    const rlimit limit{1000, 1000};
    (void)::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string why = write_new_file(large, std::string(2000, 'x'));
    std::_Exit(why == large + ": File too large" ? 0 : 1);
  };
  EXPECT_EXIT(write_beyond(), testing::ExitedWithCode(0), "");
  EXPECT_FALSE(std::filesystem::exists(large));
}

}  // namespace
}  // namespace strata::access
