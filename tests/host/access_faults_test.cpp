// Kernels of which wrong or missing numbers were once reported.
#include "harness/access/evaluate.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/listing.hpp"
#include "harness/access/optimize/choose.hpp"
#include "harness/access/optimize/refusals.hpp"
#include "harness/access/optimize/same_results.hpp"
#include "harness/access/program.hpp"
#include "harness/base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace strata::access {
namespace {

std::string path_of(const std::string& file) {
  return std::string{STRATA_ACCESS_DATA} + "/faults/" + file;
}

struct Fault {
  explicit Fault(const std::string& name) {
    std::ifstream file{path_of(name + ".ptx")};
    modules.push_back(
        ptx::read({std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}}, name));
  }
  [[nodiscard]] std::vector<Access> accesses(const std::string& launch,
                                             const EvaluateOptions& options = {}) const {
    return evaluate(modules[0], read_launch(path_of(launch), modules), options).accesses;
  }
  std::vector<ptx::Module> modules;
};

TEST(AccessFaults, AShuffleOfWordsIsNoPointerToEverything) {
  const auto found = Fault{"shuffle_distrusts_all"}.accesses("shuffle_distrusts_all.yaml");
  EXPECT_TRUE(found.at(1).is_exact());
  EXPECT_EQ(found[1].warps, 32U);
  EXPECT_EQ(found[1].moved(), 1004U);
  EXPECT_FALSE(found.back().is_exact());  // at an index that an atomic returned
}

TEST(AccessFaults, AnIndexIsReadBeforeItsThreadOverwritesIt) {
  const auto found = Fault{"in_place_index"}.accesses("in_place_index.yaml");
  EXPECT_TRUE(std::ranges::all_of(found, &Access::is_exact));
  EXPECT_EQ(found.at(1).warps, 32U);
  EXPECT_EQ(found[1].moved(), 912U);
}

TEST(AccessFaults, AccessesOfACalledFunctionAreThoseOfTheCall) {
  const Fault fault{"call_undercounted"};
  const auto found = fault.accesses("call_undercounted.yaml");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(std::ranges::all_of(found, &Access::is_exact));
  EXPECT_EQ(found[0].warps, 32U);
  EXPECT_EQ(found[0].moved(), 1024U);
  EXPECT_EQ(found[1].moved(), 128U);
  const auto kernel = static_cast<std::uint32_t>(
      std::ranges::find(fault.modules[0].kernels, "k", &ptx::Kernel::name) -
      fault.modules[0].kernels.begin());
  const auto rows = list_accesses(fault.modules[0], kernel);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].proof.instruction, found[0].instruction);
  EXPECT_EQ(rows[0].opcode, "call.uni");
}

TEST(AccessFaults, ARealNumberIsNoIntegerParameter) {
  try {
    (void)Fault{"float_for_int"}.accesses("float_for_int.yaml");
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("1e2 for param_2; expected an integer"));
  }
}

TEST(AccessFaults, ALargeLaunchIsSampled) {
  const Fault fault{"budget_called_unchanged"};
  const auto all = fault.accesses("budget_called_unchanged.yaml");
  const auto some = fault.accesses("budget_called_unchanged.yaml", {.budget = 1U << 21U});
  ASSERT_EQ(all.size(), some.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(all[i].is_exact());
    EXPECT_EQ(some[i].doubt, Doubt::sampled);
    EXPECT_LE(some[i].range.least, all[i].moved());
    EXPECT_GE(some[i].range.most, all[i].moved());
  }
}

TEST(AccessFaults, NumbersOf16BitsRunOnTheHost) {
  const Fault fault{"half_not_compared"};
  const Launch launch = parse_launch(
      "schema: 1\nkernel: k\ngrid: 1\nblock: 32\narguments: [{bytes: 64}, {bytes: 64}, 32]\n",
      "test.yaml", fault.modules);
  const Program program = compile(fault.modules[0], launch, Part::results);
  EXPECT_TRUE(std::ranges::none_of(program.steps,
                                   [](const Step& step) { return step.kind == StepKind::hide; }));
}

TEST(AccessFaults, ATableOfTheCompilerIsNoReasonToRefuse) {
  const Fault fault{"module_table_refused"};
  const auto refusal = refusal_of(fault.modules[0], fault.modules[0].kernels[0], {});
  EXPECT_FALSE(refusal) << refusal->why;
}

TEST(AccessFaults, AChangeIsComparedInTheLaunchThatIsGiven) {
  const Fault fault{"transpose_not_compared"};
  const std::vector<Launch> launches{
      read_launch(path_of("transpose_not_compared.yaml"), fault.modules)};
  const Chosen chosen = choose(fault.modules[0], launches[0].kernel, launches);
  ASSERT_TRUE(chosen.optimized);
  const Comparisons compared =
      compare_samples(fault.modules[0], launches[0].kernel, *chosen.optimized, /*wanted=*/1,
                      /*seeds=*/0, compared_instructions, launches);
  EXPECT_EQ(compared.compared, 1U) << compared.why << compared.fault;
  EXPECT_TRUE(compared.worst.is_same());
}

}  // namespace
}  // namespace strata::access
