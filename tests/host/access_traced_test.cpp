// A kernel that records its addresses, run on the host: what it wrote down is what the evaluation
// of the kernel as it was sees.
#include "access_random_kernels.hpp"
#include "access_runs.hpp"
#include "harness/access/block_runner.hpp"
#include "harness/access/inputs.hpp"
#include "harness/access/operands.hpp"
#include "harness/access/traced_ptx.hpp"
#include "harness/base/error.hpp"
#include "harness/base/regular_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace strata::access {
namespace {

using testing::HasSubstr;

constexpr std::array generations{Generation::cc7, Generation::cc3};

/// Runs every block, and returns the requests of its warps.
void observe(const ptx::Module& module, const Launch& launch,
             const std::function<void(const ObservedAccess&)>& take) {
  const Program program = compile(module, launch, Part::everything);
  std::vector<bool> trusted;
  for (const auto& buffer : launch.buffers)
    trusted.push_back(buffer.fill.kind != Fill::Kind::unknown);
  BlockRunner runner{module, launch, program, generations, trusted, [](std::uint64_t) {}};
  runner.observe(take);
  for (std::uint64_t block = 0; block < launch.grid.count(); ++block)
    runner.run(block);
}

/// The kernel of a launch, traced, and its records.
struct Traced {
  Traced(const ptx::Module& module, const Launch& of,
         const std::vector<std::uint32_t>& instructions, std::uint64_t records_of_thread) {
    TracedPtx made = trace(module, of.kernel, instructions);
    left_out = made.left_out;
    traced = ptx::read(std::move(made.text), "traced");
    const std::uint64_t threads = of.grid.count() * of.block.count();
    run = traced_launch(module, traced, of, threads * (records_of_thread * record_bytes + 4));
    words.resize(2 * threads * run.capacity);
    counts.resize(threads);
    const Buffer& record_buffer = run.launch.buffers[run.records];
    const Buffer& count_buffer = run.launch.buffers[run.counts];
    observe(traced, run.launch, [&](const ObservedAccess& seen) {
      for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        const std::uint64_t at = seen.addresses.at(lane);
        if ((seen.mask >> lane & 1U) == 0) continue;
        if (count_buffer.contains(at, 4)) {
          EXPECT_TRUE(seen.is_known);
          counts.at((at - count_buffer.address) / 4) =
              static_cast<std::uint32_t>(seen.stored[0].at(lane));
        } else if (record_buffer.contains(at, 16)) {
          EXPECT_TRUE(seen.is_known);
          const std::uint64_t word = (at - record_buffer.address) / 8;
          words.at(word) = seen.stored[0].at(lane);
          words.at(word + 1) = seen.stored[1].at(lane);
          ++written;
        }
      }
    });
  }
  [[nodiscard]] Records records() const {
    return {run.launch.grid, run.launch.block, run.capacity, words, counts};
  }

  std::vector<Untraced> left_out;
  ptx::Module traced;
  TracedLaunch run;
  std::vector<std::uint64_t> words;
  std::vector<std::uint32_t> counts;
  std::uint64_t written = 0;
};

using Seen = std::tuple<std::uint32_t, std::uint32_t, std::array<std::uint64_t, warp_lanes>>;

std::array<std::uint64_t, warp_lanes> of_lanes(std::array<std::uint64_t, warp_lanes> addresses,
                                               std::uint32_t mask) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if ((mask >> lane & 1U) == 0) addresses.at(lane) = 0;
  }
  return addresses;
}

/// Traces every access that is exact, and holds it against the evaluation. Returns how many.
std::size_t check(const ptx::Module& module, const Launch& launch) {
  const Evaluation expected =
      evaluate(module, launch, {.generations = {generations.begin(), generations.end()}});
  std::vector<Access> wanted;
  std::vector<std::uint32_t> instructions;
  for (const auto& access : expected.accesses) {
    const bool has_room = access.space == ptx::Space::global || access.space == ptx::Space::shared;
    if (!access.is_exact() || !has_room) continue;
    wanted.push_back(access);
    instructions.push_back(access.instruction);
  }
  const Traced traced{module, launch, instructions, 1024};
  for (const auto& one : traced.left_out) {
    std::erase_if(wanted, [&](const Access& of) { return of.instruction == one.instruction; });
    std::erase(instructions, one.instruction);
  }
  // Warp by warp and address by address …
  std::vector<Seen> seen;
  observe(module, launch, [&](const ObservedAccess& one) {
    if (std::ranges::count(instructions, one.instruction) == 0) return;
    // Of generic addresses each space is recorded apart, from its own beginning on.
    std::map<std::uint64_t, std::uint32_t> masks;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const bool is_shared =
          one.space == ptx::Space::generic && one.addresses.at(lane) >= shared_window;
      if ((one.mask >> lane & 1U) != 0) masks[is_shared ? shared_window : 0] |= 1U << lane;
    }
    for (const auto& [window, mask] : masks) {
      auto addresses = one.addresses;
      for (auto& address : addresses)
        address -= window;
      seen.emplace_back(one.instruction, mask, of_lanes(addresses, mask));
    }
  });
  std::vector<Seen> recorded;
  for (const auto& one : accesses_of(traced.records()))
    recorded.emplace_back(one.instruction, one.mask, of_lanes(one.addresses, one.mask));
  std::ranges::sort(seen);
  std::ranges::sort(recorded);
  EXPECT_EQ(seen, recorded);
  // … and summed up.
  const auto found =
      traced_accesses(module.kernels[launch.kernel], wanted, generations, traced.records())
          .accesses;
  EXPECT_EQ(found.size(), wanted.size());
  for (const auto& access : wanted) {
    const auto same = std::ranges::find_if(found, [&](const Access& one) {
      return one.instruction == access.instruction && one.space == access.space;
    });
    if (same == found.end()) {
      ADD_FAILURE() << "instruction " << access.instruction << " was not traced";
      continue;
    }
    EXPECT_EQ(same->warps, access.warps);
    EXPECT_EQ(same->lanes, access.lanes);
    EXPECT_EQ(same->kind, access.kind);
    EXPECT_EQ(same->width, access.width);
    EXPECT_EQ(same->ideal_sectors, access.ideal_sectors);
    EXPECT_EQ(same->contiguous_sectors, access.contiguous_sectors);
    EXPECT_EQ(same->wavefronts, access.wavefronts);
    EXPECT_EQ(same->ideal_wavefronts, access.ideal_wavefronts);
    if (access.space == ptx::Space::shared || access.warps == 0) continue;
    EXPECT_EQ(same->traffic, access.traffic);
  }
  return wanted.size();
}

std::size_t check(const std::string& text, const std::string& yaml) {
  const Launched of{text, yaml};
  return check(of.modules[0], of.launch);
}

std::string launch_of(const std::string& grid, const std::string& block,
                      const std::string& arguments) {
  return fmt::format("schema: 1\nkernel: k\ngrid: [{}]\nblock: [{}]\n{}", grid, block, arguments);
}

TEST(TracedPtx, RecordsWhatARandomKernelAsksFor) {
  std::size_t accesses = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const RandomKernel kernel{seed, /*loads=*/true};
    const Launched of{kernel.ptx(), kernel.launch("random 5")};
    accesses += check(of.modules[0], of.launch);
    if (HasFailure()) break;
  }
  EXPECT_GT(accesses, 100U);
}

TEST(TracedPtx, RecordsInBlocksOfAnyShape) {
  const std::string body =
      "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\n"
      "mov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ctaid.y;\nmov.u32 %r6, %ctaid.z;\n"
      "mad.lo.s32 %r7, %r2, 37, %r1;\nmad.lo.s32 %r7, %r3, 91, %r7;\n"
      "mad.lo.s32 %r7, %r4, 5, %r7;\nmad.lo.s32 %r7, %r5, 11, %r7;\n"
      "mad.lo.s32 %r7, %r6, 101, %r7;\nmul.wide.u32 %rd2, %r7, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3+64];\nret;\n";
  const std::string arguments = "arguments: [{bytes: 65536}]\n";
  for (const auto* grid : {"1", "3, 2, 2"}) {
    for (const auto* block : {"1", "32", "7, 5, 3", "16, 6"}) {
      EXPECT_EQ(check(kernel_text(".param .u64 p", body), launch_of(grid, block, arguments)), 1U);
    }
  }
}

TEST(TracedPtx, RecordsGuardedDivergedAndGenericAccesses) {
  const std::string body =
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 3;\n"
      "mul.wide.u32 %rd2, %r1, 12;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "setp.eq.u32 %p1, %r2, 1;\n@%p1 st.global.u32 [%rd3], %r1;\n@!%p1 ld.u32 %r9, [%rd3+8];\n"
      "mov.u32 %r3, 0;\n"
      "$loop:\nshl.b32 %r4, %r1, 4;\nmov.u32 %r5, tile;\nadd.s32 %r4, %r4, %r5;\n"
      "st.shared.v2.u32 [%r4+8], {%r1, %r2};\n"
      "add.s32 %r3, %r3, 1;\nsetp.le.u32 %p2, %r3, %r2;\n@%p2 bra $loop;\n"
      "cvt.u64.u32 %rd4, %r4;\nld.shared.u32 %r6, [tile+20];\n"
      "mov.u64 %rd5, tile;\ncvta.shared.u64 %rd5, %rd5;\n"
      "setp.lt.u32 %p3, %r1, 5;\nselp.b64 %rd6, %rd5, %rd1, %p3;\natom.add.u32 %r7, [%rd6+4], 1;\n"
      "setp.gt.u32 %p4, %r1, 20;\n@%p4 ret;\nld.global.u8 %r8, [%rd3];\nret;\n";
  const std::string arguments = "arguments: [{bytes: 4096}]\n";
  const std::string text = kernel_text(".param .u64 p", body, ".shared .align 16 .b8 tile[2048];");
  EXPECT_EQ(check(text, launch_of("2", "48", arguments)), 7U);
}

TEST(TracedPtx, RecordsKernelsWithoutParametersAndOfOldVersions) {
  const std::string text =
      ".version 5.0\n.target sm_50\n.address_size 64\n.shared .b32 t[64];\n"
      "// .entry { ( of a comment\n.visible .entry k /* ) { */ .maxntid 64, 1, 1 {\n"
      ".reg .b32 %r<4>;\nmov.u32 %r1, %tid.x;\nst.shared.u32 [t], %r1; ld.shared.u32 %r2, [t+8];\n"
      "ret; }\n";
  EXPECT_EQ(check(text, launch_of("1", "64", "")), 2U);
  const auto module = ptx::read(text, "old");
  EXPECT_EQ(ptx::read(trace(module, 0, {}).text, "traced").version, 62U);
}

TEST(TracedPtx, FindsAKernelBehindItsDeclarationAndOthers) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 k_param_0);\n"
      ".visible .entry other() { ret; }\n"
      ".visible .entry k(.param .u64 k_param_0) {\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
      "ld.param.u64 %rd1, [k_param_0]; ld.global.u32 %r1, [%rd1+12]; ret; }\n";
  EXPECT_EQ(check(text, launch_of("1", "32", "arguments: [{bytes: 64}]\n")), 1U);
}

/// A loop of so many loads.
Launched looping(unsigned times) {
  return {kernel_text(".param .u64 p",
                      fmt::format("ld.param.u64 %rd1, [p];\nmov.u32 %r1, 0;\n"
                                  "$loop:\nld.global.u32 %r2, [%rd1];\nadd.s32 %r1, %r1, 1;\n"
                                  "setp.lt.u32 %p1, %r1, {};\n@%p1 bra $loop;\nret;\n",
                                  times)),
          launch_of("2", "32", "arguments: [{bytes: 64}]\n")};
}

std::uint32_t load_of(const ptx::Kernel& kernel) {
  const auto found = std::ranges::find_if(
      kernel.instructions, [](const auto& one) { return one.opcode == "ld" && one.has("global"); });
  return static_cast<std::uint32_t>(found - kernel.instructions.begin());
}

TEST(TracedPtx, SaysWhenThereIsNoRoomAndNeverCutsOff) {
  const Launched of = looping(5);
  const std::vector<std::uint32_t> load{load_of(of.kernel())};
  EXPECT_EQ(accesses_of(Traced{of.modules[0], of.launch, load, 5}.records()).size(), 10U);
  const Traced traced{of.modules[0], of.launch, load, 4};
  EXPECT_EQ(traced.written, 4 * 64U);  // and nothing beyond
  try {
    (void)accesses_of(traced.records());
    FAIL() << "an overflow that is not reported";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("thread 0 recorded 5 accesses, but there is room for only 4"));
    EXPECT_THAT(error.what(), HasSubstr("--megabytes"));
  }
  EXPECT_THROW((void)traced_launch(of.modules[0], traced.traced, of.launch, 64 * 20 - 1),
               UsageError);
}

TEST(TracedPtx, RefusesRecordsThatDoNotFitTogether) {
  const Launched of = looping(2);
  const std::vector<std::uint32_t> load{load_of(of.kernel())};
  const Traced sound{of.modules[0], of.launch, load, 2};
  const auto breaks = [&](const std::function<void(Traced&)>& harm) {
    Traced harmed{of.modules[0], of.launch, load, 2};
    harm(harmed);
    EXPECT_THROW((void)accesses_of(harmed.records()), std::runtime_error);
  };
  EXPECT_EQ(accesses_of(sound.records()).size(), 4U);
  breaks([](Traced& of_all) { of_all.counts[3] = 1; });          // a lane has one too few
  breaks([](Traced& of_all) { of_all.words[2 * 3 + 1] ^= 8; });  // it was not among its lanes
  breaks([](Traced& of_all) { of_all.words[2 * 3 + 1] ^= 1U << 5U; });
  breaks([](Traced& of_all) { of_all.words[2 * 3 + 1] |= std::uint64_t{7} << 56U; });
}

TEST(TracedPtx, KeepsVariablesOfTheModuleApart) {
  const std::string text =
      kernel_text(".param .u64 p",
                  "ld.param.u64 %rd1, [p];\nmov.u64 %rd2, early;\nld.global.u32 %r1, [%rd2+4];\n"
                  "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\n"
                  "ld.global.u32 %r2, [%rd3];\nret;\n",
                  ".global .align 4 .b8 early[64];") +
      ".global .align 4 .b8 later[32];\n.const .align 4 .b8 last[16];\n";
  const Launched of{text, launch_of("2", "32",
                                    "arguments: [{bytes: 4096}]\nsymbols: {early: {fill: iota}, "
                                    "later: {fill: zero}, last: {fill: zero}}\n")};
  EXPECT_EQ(check(of.modules[0], of.launch), 2U);
  const Traced traced{of.modules[0], of.launch, {load_of(of.kernel())}, 4};
  std::vector<std::string_view> names;
  for (const auto& buffer : traced.run.launch.buffers) {
    if (buffer.symbol == ptx::no_index) continue;
    EXPECT_EQ(traced.traced.symbols[buffer.symbol].name, buffer.name);
    names.push_back(traced.traced.symbols[buffer.symbol].name);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("early", "later", "last"));
}

TEST(TracedPtx, TakesMemoryOfAnotherBlockForNoGlobalMemory) {
  // Counted on an H200: follow_chain of distributed_shared moves no sector of global memory.
  const std::string body =
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, tile;\ncvt.u64.u32 %rd2, %r1;\n"
      "cvta.shared.u64 %rd2, %rd2;\nmapa.u64 %rd3, %rd2, 1;\nst.u64 [%rd3+8], %rd1;\n"
      "st.u64 [%rd1], %rd1;\nret;\n";
  const Launched of{kernel_text(".param .u64 p", body, ".shared .align 8 .b8 tile[64];"),
                    launch_of("2", "1", "cluster: [2, 1]\narguments: [{bytes: 64}]\n")};
  const auto evaluation = of.evaluate();
  std::vector<Access> wanted;
  for (const Access& access : evaluation.accesses) {
    if (!access.is_exact()) wanted.push_back(access);
  }
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(describe_hidden(of.kernel(), wanted[0].hidden_by), "mapa.u64 of line 17: not modelled");
  const std::uint32_t store = wanted[0].instruction;
  const TracedPtx traced = trace(of.modules[0], of.launch.kernel, std::vector{store});
  EXPECT_THAT(traced.text, HasSubstr("isspacep.shared::cluster"));
  // What a device records: lane 0 of each block, whose address is in the cluster's window only.
  const std::uint64_t what = (std::uint64_t{3} << 24U | store) << 32U | 1U;
  const std::vector<std::uint64_t> words{0x1000, what, 0x1000, what};
  const std::vector<std::uint32_t> counts{1, 1};
  const Records records{of.launch.grid, of.launch.block, 1, words, counts};
  EXPECT_TRUE(accesses_of(records).at(0).is_of_other_block);
  const TracedAccesses found = traced_accesses(of.kernel(), wanted, generations, records);
  EXPECT_TRUE(found.accesses.empty());  // it stays unknown
  ASSERT_EQ(found.left_out.size(), 1U);
  EXPECT_EQ(found.left_out[0].instruction, store);
  EXPECT_THAT(found.left_out[0].why, HasSubstr("another block of the cluster"));
}

TEST(TracedPtx, RecordsCopiesOfAConstantSize) {
  // As memcpy_async of libcu++ writes them.
  const std::string body =
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 16;\n"
      "add.s64 %rd1, %rd1, %rd2;\nmov.u32 %r2, tile;\nmad.lo.u32 %r2, %r1, 16, %r2;\n"
      "cp.async.cg.shared.global [%r2], [%rd1], 16, 16;\nret;\n";
  EXPECT_EQ(check(kernel_text(".param .u64 p", body, ".shared .align 16 .b8 tile[1024];"),
                  launch_of("2", "64", "arguments: [{bytes: 4096}]\n")),
            1U);
}

TEST(TracedPtx, LeavesOutWhatCannotBeTraced) {
  const Launched of{
      kernel_text(".param .u64 p",
                  "ld.param.u64 %rd1, [p];\nld.const.u32 %r1, [table];\nld.local.u32 %r2, [%rd1];\n"
                  "cp.async.ca.shared.global [tile], [%rd1], 16, %r1;\nret;\n",
                  ".const .b32 table[4];\n.shared .align 16 .b8 tile[64];"),
      launch_of("1", "32", "arguments: [{bytes: 64}]\n")};
  const auto made = trace(of.modules[0], of.launch.kernel, std::vector<std::uint32_t>{1, 2, 3, 4});
  ASSERT_EQ(made.left_out.size(), 4U);
  EXPECT_THAT(made.left_out[0].why, HasSubstr("neither global nor shared"));
  EXPECT_THAT(made.left_out[1].why, HasSubstr("neither global nor shared"));
  EXPECT_THAT(made.left_out[2].why, HasSubstr("its size is an operand"));
  EXPECT_THAT(made.left_out[3].why, HasSubstr("not a modelled access"));
}

/// All kernels of a module, each traced at everything that can be.
std::string all_traced(std::string text, std::size_t& accesses) {
  const std::size_t kernels = ptx::read(text, "text").kernels.size();
  for (std::uint32_t k = 0; k < kernels; ++k) {
    const auto module = ptx::read(text, "text");
    const auto& kernel = module.kernels[k];
    if (!kernel.entry || !kernel.defined) continue;
    std::vector<std::uint32_t> all(kernel.instructions.size());
    for (std::uint32_t i = 0; i < all.size(); ++i)
      all[i] = i;
    TracedPtx made = trace(module, k, all);
    accesses += all.size() - made.left_out.size();
    text = std::move(made.text);
  }
  return text;
}

/// Whether ptxas takes it; nothing where there is no ptxas.
std::optional<bool> is_taken(const std::string& text, std::string& why) {
  Tools tools;
  tools.architecture = ptx::read(text, "text").target;
  try {
    return !assemble(text, "text", tools).empty();
  } catch (const UsageError& error) {
    why = error.what();
    if (why.find("no ptxas") != std::string::npos) return std::nullopt;
    return false;
  }
}

TEST(TracedPtx, IsTakenByPtxasWhateverTheKernel) {
  std::size_t accesses = 0;
  std::size_t files = 0;
  for (const char* const folder : {STRATA_PTX_DATA, STRATA_ACCESS_DATA}) {
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
      if (entry.path().extension() != ".ptx") continue;
      SCOPED_TRACE(entry.path());
      std::string before = read_regular(entry.path(), 0, "PTX", ptx::max_ptx_bytes);
      // Of a newer compiler than ptxas may be, without anything new in it.
      const auto version = before.find(".version 9.");
      if (version != std::string::npos) before[version + 11] = '0';
      std::string why;
      const auto was_taken = is_taken(before, why);
      if (!was_taken) GTEST_SKIP() << why;
      if (!*was_taken) continue;
      const auto is = is_taken(all_traced(std::move(before), accesses), why);
      EXPECT_TRUE(is.value_or(false)) << why;
      ++files;
    }
  }
  EXPECT_GE(files, 10U);
  EXPECT_GT(accesses, 200U);
}

}  // namespace
}  // namespace strata::access
