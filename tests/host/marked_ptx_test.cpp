#include "harness/access/marked_ptx.hpp"

#include "harness/base/regular_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {
namespace {

std::vector<std::string> samples() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator{STRATA_PTX_DATA}) {
    if (entry.path().extension() == ".ptx") files.push_back(entry.path().string());
  }
  return files;
}

TEST(MarkedPtx, HasALineForEachInstructionAndChangesNothingElse) {
  ASSERT_GE(samples().size(), 4U);
  for (const auto& file : samples()) {
    const auto before = ptx::read(read_regular(file, 0, "PTX", ptx::max_ptx_bytes), file);
    const auto marked = mark(before);
    const auto after = ptx::read(marked.text, file);
    ASSERT_EQ(after.kernels.size(), before.kernels.size());
    std::uint32_t next = 1;
    for (std::size_t k = 0; k < before.kernels.size(); ++k) {
      const auto& kernel = after.kernels[k];
      ASSERT_EQ(kernel.instructions.size(), before.kernels[k].instructions.size());
      for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
        const auto& instruction = kernel.instructions[i];
        const auto& location = kernel.locations.at(instruction.location);
        EXPECT_EQ(location.line, next);
        EXPECT_EQ(location.file, 1U);
        EXPECT_EQ(location.inlined_at, ptx::no_index);
        EXPECT_EQ(instruction.opcode, before.kernels[k].instructions[i].opcode);
        EXPECT_EQ(instruction.modifiers, before.kernels[k].instructions[i].modifiers);
        EXPECT_EQ(instruction.guard, before.kernels[k].instructions[i].guard);
        const InstructionPlace place{static_cast<std::uint32_t>(k), i};
        EXPECT_EQ(marked.place_of(next), place);
        ++next;
      }
    }
    EXPECT_FALSE(marked.place_of(0));
    EXPECT_FALSE(marked.place_of(next));
  }
}

TEST(MarkedPtx, TakesInstructionsOfOneLineApart) {
  constexpr std::string_view text =
      ".version 9.0\n.target sm_90\n.file 7 \"a.cu\"\n.entry k() { .reg .pred %p; .loc 7 3 1\n"
      "bar.sync 0; /* @ */ @!%p bra $e; $e: ret; }\n";
  const auto marked = mark(ptx::read(std::string{text}, "k"));
  EXPECT_EQ(
      marked.text,
      ".version 9.0\n.target sm_90\n\n.entry k() { .reg .pred %p; .loc 7 3 1\n"
      "\n.loc 1 1 0\nbar.sync 0; /* @ */ \n.loc 1 2 0\n@!%p bra $e; $e: \n.loc 1 3 0\nret; }\n"
      "\n.file 1 \"marks\"\n");
}

}  // namespace
}  // namespace strata::access
