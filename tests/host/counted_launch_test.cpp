// From counts of machine instructions, which no device had to give, to accesses of the PTX.
#include "harness/access/command/counted_launch.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace strata::access {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;

constexpr std::string_view module_text = R"(.version 9.0
.target sm_90
.address_size 64
.entry other() { ret; }
.entry k(.param .u64 p) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<3>;
  .shared .u32 s;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  st.shared.u32 [s], %r1;
  atom.shared.add.u32 %r2, [s], 1;
  ret;
}
)";

class CountedLaunches : public testing::Test {
 protected:
  /// Instruction `i` of k: 0 ld.param, 1 ld.global, 2 st.shared, 3 atom, 4 ret.
  std::uint32_t line(std::uint32_t i) const { return marked_.first_marks.at(1) + i; }

  void add(std::uint32_t line, std::string_view metric, std::uint64_t count) {
    counts_.push_back(
        {.line = line,
         .counts = {{std::string{sass::executed}, 10}, {std::string{metric}, count}}});
  }

  CountedLaunch by_access(const std::vector<std::uint32_t>& lines) const {
    CountedLaunch made;
    count_accesses({marked_, 1, counts_}, module_.kernels[1], lines, made);
    return made;
  }

  ptx::Module module_ = ptx::read(std::string{module_text}, "k");
  MarkedPtx marked_ = mark(module_);
  std::vector<InstructionCounts> counts_;
};

TEST_F(CountedLaunches, GivesEachAccessItsMachineInstruction) {
  add(line(0), sass::sectors, 0);  // what the address is made of moves nothing
  add(line(1), sass::sectors, 0);
  add(line(1), sass::sectors, 40);
  add(line(2), sass::wavefronts, 20);
  add(marked_.first_marks.at(0), sass::sectors, 99);  // another kernel's
  add(0, sass::sectors, 99);
  const CountedLaunch found = by_access({line(0), line(1), line(2), line(3), line(4)});
  EXPECT_THAT(found.accesses, ElementsAre(Key(1), Key(2)));
  EXPECT_EQ(found.accesses.at(1).sectors, 40U);
  EXPECT_EQ(found.accesses.at(1).executed, 10U);
  EXPECT_EQ(found.accesses.at(2).wavefronts, 20U);
  EXPECT_TRUE(found.not_counted.empty());
  EXPECT_FALSE(found.optimised);
}

TEST_F(CountedLaunches, SaysWhichAccessHasNoMachineInstruction) {
  const CountedLaunch found = by_access({line(0), line(2), line(3), line(4), 0});
  EXPECT_THAT(found.not_counted, ElementsAre(Key(1)));
  EXPECT_THAT(found.not_counted.at(1), HasSubstr("removed it"));
}

TEST_F(CountedLaunches, SaysWhichAccessIsALoopOfSeveral) {
  add(line(3), sass::wavefronts, 3);
  add(line(3), sass::wavefronts, 5);
  const CountedLaunch found = by_access({line(0), line(1), line(2), line(3), line(4)});
  EXPECT_TRUE(found.accesses.empty());
  EXPECT_THAT(found.not_counted, ElementsAre(Key(3)));
  EXPECT_THAT(found.not_counted.at(3), HasSubstr("2 accesses"));
}

TEST_F(CountedLaunches, SaysWhichCountsAreImpossible) {
  const std::vector<std::uint32_t> lines{line(0), line(1), line(2), line(3), line(4)};
  add(line(1), sass::sectors, 320);     // of ten executions: every lane a sector of its own
  add(line(2), sass::wavefronts, 320);  // or a pass
  EXPECT_THAT(by_access(lines).accesses, ElementsAre(Key(1), Key(2)));
  counts_.clear();
  add(line(1), sass::sectors, 321);
  add(line(2), sass::wavefronts, 321);
  const CountedLaunch found = by_access(lines);
  EXPECT_TRUE(found.accesses.empty());
  ASSERT_THAT(found.not_counted, ElementsAre(Key(1), Key(2)));
  EXPECT_EQ(found.not_counted.at(1),
            "inconsistent counts: 321 sectors in 10 executions, each of which moves at most 32");
}

TEST_F(CountedLaunches, KeepsOnlyWhatASecondLaunchCountsAsWell) {
  // Counted on an H200 in `hold`, and of cp.async.cg in async_copy.
  CountedLaunch first;
  first.accesses[1] = {.executed = 4224, .sectors = 67088};
  first.accesses[2] = {.executed = 8, .wavefronts = 256};
  CountedLaunch second = first;
  second.accesses[1].sectors = 67584;
  Evaluation evaluation;
  evaluation.accesses.push_back({.instruction = 1, .traffic = {{.sectors = 67584}}});
  evaluation.accesses.push_back(
      {.instruction = 2, .space = ptx::Space::shared, .traffic = {}, .wavefronts = 256});
  EXPECT_TRUE(differs(evaluation, first, 0));
  EXPECT_FALSE(differs(evaluation, second, 0));
  EXPECT_FALSE(differs(evaluation, first, 1));  // a generation that was not requested
  keep_what_repeats(first, second);
  EXPECT_THAT(first.accesses, ElementsAre(Key(2)));
  EXPECT_THAT(first.not_counted.at(1),
              HasSubstr("two launches differ: 67088 sectors and 0 wavefronts in 4224 executions"));
  EXPECT_FALSE(differs(evaluation, first, 0));
  // What both count stays, however wrong; and a second launch that failed has no counts.
  CountedLaunch wrong = second;
  wrong.accesses[2].wavefronts = 8;
  CountedLaunch same = wrong;
  keep_what_repeats(wrong, same);
  keep_what_repeats(wrong, {.failure = "cudaErrorIllegalAddress"});
  EXPECT_TRUE(differs(evaluation, wrong, 0));
}

TEST_F(CountedLaunches, TellsWhetherCountsAreThoseOfOneWholeLaunch) {
  EXPECT_FALSE(is_anything_counted(counts_));
  EXPECT_EQ(warps_begun(counts_), 0U);
  counts_.push_back({.pc = 16, .line = line(1), .counts = {{std::string{sass::executed}, 0}}});
  EXPECT_FALSE(is_anything_counted(counts_));
  add(line(0), sass::sectors, 0);  // the first one, executed ten times
  EXPECT_TRUE(is_anything_counted(counts_));
  EXPECT_EQ(warps_begun(counts_), 10U);
}

TEST_F(CountedLaunches, KeepsSpilledRegistersApart) {
  add(line(1), sass::sectors, 40);
  add(line(1), sass::local_sectors, 8);
  const CountedLaunch found = by_access({line(0), line(1), line(2), line(3), line(4)});
  EXPECT_EQ(found.accesses.at(1).local_sectors, 0U);
  EXPECT_EQ(found.accesses.at(1).executed, 10U);
  EXPECT_TRUE(found.not_counted.empty());
}

TEST_F(CountedLaunches, SumsUpWhateverTheKernelMoves) {
  add(line(0), sass::sectors, 0);  // is not among what is executed
  add(line(1), sass::sectors, 40);
  add(line(1), sass::sectors, 40);
  add(line(1), sass::local_sectors, 8);
  add(line(2), sass::wavefronts, 20);
  add(marked_.first_marks.at(0), sass::sectors, 99);
  const CountedAccess sum = sum_of({marked_, 1, counts_});
  EXPECT_EQ(sum.sectors, 80U);
  EXPECT_EQ(sum.local_sectors, 8U);
  EXPECT_EQ(sum.wavefronts, 20U);
  EXPECT_EQ(sum.executed, 40U);
}

}  // namespace
}  // namespace strata::access
