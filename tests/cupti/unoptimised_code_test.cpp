// What the counts of single accesses stand on: in machine code that is not optimised, each access
// of the PTX that somebody waits for has a machine instruction of its own, which leads back to it.
// Needs ptxas and CUPTI, no device.
#include "harness/access/inputs.hpp"
#include "harness/access/listing.hpp"
#include "harness/access/marked_ptx.hpp"
#include "harness/base/regular_file.hpp"
#include "harness/counters/kernel_counts.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace strata::access {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t threads = 256;

/// PTX lines of the accesses of a kernel that have no machine instruction.
std::vector<std::uint32_t> left_out(const ptx::Module& module, std::uint32_t index,
                                    const Assembly& assembly) {
  const MarkedPtx marked = mark(module);
  const ptx::Kernel& kernel = module.kernels[index];
  const std::string cubin =
      assemble(marked.text, "marked", {.architecture = std::string{module.target}}, assembly);
  const auto lines = source_lines(cubin, std::string{kernel.name});
  EXPECT_FALSE(lines.empty()) << kernel.name;
  std::vector<std::uint32_t> found;
  for (const auto& row : list_accesses(module, index)) {
    const std::uint32_t mark_of = marked.first_marks[index] + row.proof.instruction;
    if (std::ranges::find(lines, mark_of) == lines.end()) found.push_back(row.ptx_line);
  }
  return found;
}

TEST(UnoptimisedCode, HasAMachineInstructionForEachAccess) {
  std::size_t kernels = 0;
  for (const char* const folder : {STRATA_PTX_DATA, STRATA_ACCESS_DATA}) {
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
      const std::string file = entry.path().string();
      if (entry.path().extension() != ".ptx" || file.ends_with("nvcc_declarations.ptx")) continue;
      SCOPED_TRACE(file);
      std::string text = read_regular(file, 0, "PTX", ptx::max_ptx_bytes);
      // Of a newer compiler than ptxas may be, without anything new in it.
      const auto version = text.find(".version 9.");
      if (version != std::string::npos) text[version + 11] = '0';
      const auto module = ptx::read(std::move(text), file);
      for (std::uint32_t k = 0; k < module.kernels.size(); ++k) {
        const auto& kernel = module.kernels[k];
        if (!kernel.entry || !kernel.defined) continue;
        EXPECT_THAT(left_out(module, k, unoptimised(kernel.name, threads)), IsEmpty());
        ++kernels;
      }
    }
  }
  EXPECT_GE(kernels, 5U);
}

constexpr std::string_view pairs = R"(.version 8.0
.target sm_90
.address_size 64
.entry other() { ret; }
.entry pairs(.param .u64 p) {
  .reg .u64 %rd<4>;
  .reg .u32 %r<5>;
  .reg .f32 %f<4>;
  .shared .align 16 .b8 s[2048];
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  shl.b32 %r2, %r1, 3;
  mov.u32 %r3, s;
  add.u32 %r4, %r3, %r2;
  bar.sync 0;
  ld.shared.f32 %f1, [%r4];
  ld.shared.f32 %f2, [%r4+4];
  ld.global.f32 %f3, [%rd3+512];
  add.f32 %f1, %f1, %f2;
  st.global.f32 [%rd3], %f1;
  ret;
}
)";

TEST(UnoptimisedCode, KeepsApartWhatOptimisedCodeMerges) {
  const auto module = ptx::read(std::string{pairs}, "pairs");
  constexpr std::uint32_t second = 19;  // the line of the second load of shared memory
  constexpr std::uint32_t unused = 20;  // nobody waits for what this one brings
  EXPECT_THAT(left_out(module, 1, unoptimised("pairs", threads)), ElementsAre(unused));
  EXPECT_THAT(left_out(module, 1, {.entry = "pairs"}), Contains(second));
}

TEST(UnoptimisedCode, IsMadeOfOneKernelAlone) {
  const auto module = ptx::read(std::string{pairs}, "pairs");
  const std::string cubin = assemble(mark(module).text, "marked", {.architecture = "sm_90"},
                                     unoptimised("pairs", threads));
  EXPECT_FALSE(source_lines(cubin, "pairs").empty());
  EXPECT_THAT(source_lines(cubin, "other"), IsEmpty());
  EXPECT_THAT(source_lines("no cubin", "pairs"), IsEmpty());
}

}  // namespace
}  // namespace strata::access
