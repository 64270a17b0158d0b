// What ptxas merges, from machine code that nvdisasm of CUDA 13.5 wrote, without either tool.
#include "harness/access/command/access_output.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/machine_code.hpp"
#include "harness/access/marked_ptx.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>

namespace strata::access {
namespace {

using testing::HasSubstr;

std::string text_of_fault(const std::string& name) {
  std::ifstream file{std::string{STRATA_ACCESS_DATA} + "/faults/" + name};
  return {std::istreambuf_iterator<char>{file}, {}};
}

class MachineCode : public testing::Test {
 protected:
  MachineCode() { modules_.push_back(ptx::read(text_of_fault("merged.ptx"), "merged.ptx")); }

  const ptx::Kernel& kernel() const { return modules_[0].kernels[0]; }
  std::vector<MachineAccess> machine() const {
    return machine_accesses(text_of_fault("merged.sass"), mark(modules_[0]).first_marks[0]);
  }

  std::vector<ptx::Module> modules_;
};

TEST_F(MachineCode, HasTheWidthOfEachAccess) {
  std::vector<std::string> found;
  for (const MachineAccess& one : machine()) {
    found.push_back(fmt::format("{} {} {}", one.opcode, one.width,
                                kernel().instructions[one.instruction].opcode));
  }
  EXPECT_THAT(found, testing::UnorderedElementsAre("LDG.E 4 ld", "STS 4 st", "LDS.128 16 ld",
                                                   "STG.E 4 st"));
}

TEST_F(MachineCode, MergesWhatTheMachineDoesAtOnce) {
  const auto merged = merged_accesses(kernel(), machine());
  ASSERT_EQ(merged.size(), 1U);
  EXPECT_EQ(merged[0].opcode, "LDS.128");
  EXPECT_EQ(merged[0].instructions.size(), 4U);
  const std::string text = merged_ptx(modules_[0], kernel(), merged);
  EXPECT_THAT(text, HasSubstr("ld.shared.v4.f32 {"));
  const ptx::Module changed = ptx::read(text, "changed.ptx");
  EXPECT_EQ(changed.kernels[0].instructions.size(), kernel().instructions.size() - 3);
}

TEST_F(MachineCode, MovesWhatTheModelGivesForOneWideAccess) {
  const Launch launch = parse_launch(text_of_fault("merged.yaml"), "merged.yaml", modules_);
  Report report{.generations = {Generation::cc7}};
  KernelReport made{.input = "merged", .target = "sm_90", .name = "k"};
  for (auto& row : list_accesses(modules_[0], 0))
    made.rows.push_back({.row = std::move(row)});
  add_launch(made, kernel(), launch, {.file = "merged.yaml"}, evaluate(modules_[0], launch, {}));
  add_merged(made, modules_[0], launch, merged_accesses(kernel(), machine()), {});
  report.kernels.push_back(std::move(made));
  // Rows of 32 bytes: two groups of eight lanes with 16 bytes each meet in the same banks.
  EXPECT_THAT(table_of(report, {}),
              HasSubstr("machine code, merged to LDS.128: 8 requests, 64 wavefronts\n"));
  EXPECT_THAT(json_of(report), HasSubstr("\"is_merged\": true"));
}

TEST_F(MachineCode, MergesNothingThatHasInstructionsOfItsOwn) {
  auto apart = machine();
  for (std::uint32_t i = 0; i < kernel().instructions.size(); ++i)
    apart.push_back({.instruction = i, .opcode = "LDS", .width = 4});
  EXPECT_TRUE(merged_accesses(kernel(), apart).empty());
  EXPECT_TRUE(machine_accesses("no machine code\n/*0000*/ LDG.E R0 ;", 1).empty());
}

}  // namespace
}  // namespace strata::access
