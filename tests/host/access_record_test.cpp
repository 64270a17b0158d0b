// What `strata access --out` records of a kernel, with counts that no device had to give.
#include "harness/access/command/access_record.hpp"

#include "harness/access/evaluate.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/listing.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace strata::access {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string text_of(const std::string& name) {
  std::ifstream file{std::string{STRATA_PTX_DATA} + '/' + name};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// nvcc_inlined.ptx in its launch: four loads that move 875 sectors, a store that moves 125.
class AccessRecord : public testing::Test {
 protected:
  AccessRecord() { modules_.push_back(ptx::read(text_of("nvcc_inlined.ptx"), "inlined")); }

  /// `counted`: nothing, or a device's counts of every access.
  Report report(const std::string& launch_text, const CountedLaunch* counted, int times = 1) const {
    const Launch launch = parse_launch(launch_text, "energies.yaml", modules_);
    Report made{.generations = {Generation::cc7}};
    KernelReport kernel{.input = "inlined", .target = "sm_90", .name = "energies(Particle*)"};
    for (auto& row : list_accesses(modules_.front(), launch.kernel))
      kernel.rows.push_back({.row = std::move(row)});
    for (int i = 0; i < times; ++i) {
      add_launch(kernel, modules_.front().kernels[launch.kernel], launch,
                 {.file = "runs/energies.yaml",
                  .seconds = 10,
                  .not_counted = counted == nullptr ? "not counted: why" : ""},
                 evaluate(modules_.front(), launch, {.generations = made.generations}), counted);
    }
    made.kernels.push_back(std::move(kernel));
    return made;
  }

  CountedLaunch counts(const Report& of, std::uint64_t more) const {
    CountedLaunch made;
    for (const auto& row : of.kernels.front().rows) {
      const Access& access = row.exact.front().access;
      made.accesses[access.instruction] = {
          .executed = 32, .sectors = access.traffic.front().sectors + more, .tags = 7};
    }
    return made;
  }

  std::vector<ptx::Module> modules_;
  std::string launch_ = text_of("energies.yaml");
};

double value_of(const CaseRecord& record, const std::string& quantity) {
  const auto found = std::ranges::find(record.measurements, quantity, &Measurement::quantity);
  return found == record.measurements.end() ? -1 : found->samples.front();
}

TEST_F(AccessRecord, PredictsEachAccessInACaseOfItsOwn) {
  auto records = records_of(report(launch_, nullptr), Backend::host);
  ASSERT_EQ(records.size(), 6U);
  const CaseRecord whole = records.back();
  records.pop_back();
  std::set<std::string> ids;
  for (const auto& record : records) {
    ids.insert(record.which.id());
    EXPECT_EQ(strata::Case::from_id(record.which.id()), record.which);
    EXPECT_EQ(record.status, Status::measured);
    EXPECT_EQ(record.which.params.at("kernel"), "energies");
    EXPECT_EQ(record.which.params.at("launch"), "energies");
    EXPECT_EQ(value_of(record, "requests"), 32);
    EXPECT_EQ(value_of(record, "ideal_sectors"), 125);
    for (const auto& m : record.measurements) {
      EXPECT_EQ(m.provenance, Provenance::modelled);
      EXPECT_TRUE(record.is_valid(m));
      EXPECT_EQ(record.reasons(m), "model: not counted: why");
    }
  }
  EXPECT_EQ(ids.size(), 5U);
  EXPECT_EQ(value_of(records.front(), "sectors"), 875);
  EXPECT_EQ(value_of(records.back(), "sectors"), 125);
  EXPECT_EQ(records.front().which.params.at("line"), "inlined.cu-35+40");
  EXPECT_EQ(whole.which.id(),
            "access/kernel_launch/host/kernel=energies/launch=energies/space=global");
  EXPECT_EQ(value_of(whole, "sectors"), 4 * 875 + 125);
  EXPECT_EQ(value_of(whole, "requests"), 5 * 32);
  EXPECT_EQ(value_of(whole, "ideal_sectors"), 5 * 125);
  EXPECT_DOUBLE_EQ(whole.seconds, 10);
}

TEST_F(AccessRecord, AgreesWhereTheDeviceMovedWhatIsPredicted) {
  const CountedLaunch counted = counts(report(launch_, nullptr), 0);
  const auto records = records_of(report(launch_, &counted), Backend::cuda);
  ASSERT_EQ(records.size(), 12U);
  for (std::size_t i = 0; i < 6; ++i) {
    const CaseRecord& found = records[i + 6];
    EXPECT_EQ(found.phase, Phase::counting);
    EXPECT_EQ(found.which, records[i].which);
    EXPECT_EQ(value_of(found, "sectors"), value_of(records[i], "sectors"));
    EXPECT_EQ(value_of(found, "executed"), i < 5 ? 32 : 5 * 32);
    const CaseRecord both = merged(records[i], found);
    for (const auto& m : both.measurements)
      EXPECT_TRUE(both.is_valid(m)) << both.reasons(m);
    ASSERT_EQ(both.gates.size(), 1U);
    EXPECT_EQ(both.gates.front().verdict, strata::Verdict::passed);
  }
}

TEST_F(AccessRecord, HasNoValidRowWhereTheDeviceMovedOneSectorMore) {
  const CountedLaunch counted = counts(report(launch_, nullptr), 1);
  const auto records = records_of(report(launch_, &counted), Backend::cuda);
  ASSERT_EQ(records.size(), 12U);
  const CaseRecord whole = merged(records[5], records[11]);
  EXPECT_EQ(whole.reasons(whole.measurements.front()),
            "model: 3630 sectors counted, 3625 predicted");
  const CaseRecord both = merged(records[0], records[6]);
  ASSERT_EQ(both.measurements.size(), 6U);
  for (const auto& m : both.measurements) {
    EXPECT_FALSE(both.is_valid(m));
    EXPECT_EQ(both.reasons(m), "model: 876 sectors counted, 875 predicted");
  }
}

TEST_F(AccessRecord, SaysWhyAnAccessHasNoPrediction) {
  std::string unknown = launch_;
  unknown.replace(unknown.rfind("1000"), 4, "unknown");
  const auto records = records_of(report(unknown, nullptr), Backend::host);
  ASSERT_EQ(records.size(), 6U);
  for (const auto& record : records) {
    EXPECT_EQ(record.status, Status::skipped);
    EXPECT_THAT(record.reason, HasSubstr("is unknown"));
    EXPECT_TRUE(record.measurements.empty());
  }
  CountedLaunch counted;
  const Report uncounted = report(unknown, nullptr);
  for (const auto& row : uncounted.kernels.front().rows)
    counted.accesses[row.row.proof.instruction] = {.executed = 3, .sectors = 4};
  const auto both = records_of(report(unknown, &counted), Backend::cuda);
  ASSERT_EQ(both.size(), 12U);
  const CaseRecord one = merged(both[0], both[6]);
  EXPECT_EQ(one.status, Status::measured);
  EXPECT_EQ(value_of(one, "sectors"), 4);
  EXPECT_TRUE(one.is_valid(one.measurements.front()));
  EXPECT_EQ(one.gates.front().verdict, strata::Verdict::not_applicable);
}

TEST_F(AccessRecord, ComparesTheOptimisedKernelWithTheSums) {
  const CountedLaunch counted = counts(report(launch_, nullptr), 0);
  Report made = report(launch_, &counted);
  made.kernels.front().launches.front().optimised = {.sectors = 3000, .wavefronts = 5};
  const auto records = records_of(made, Backend::cuda);
  ASSERT_EQ(records.size(), 12U);
  const CaseRecord whole = merged(records[5], records[11]);
  EXPECT_EQ(value_of(whole, "optimised_sectors"), 3000);
  EXPECT_EQ(value_of(whole, "optimised_wavefronts"), -1);  // it has no access of shared memory
  EXPECT_EQ(whole.gates.front().verdict, strata::Verdict::passed);
  EXPECT_EQ(value_of(records[6], "optimised_sectors"), -1);
  EXPECT_THAT(table_of(made, {}),
              AllOf(HasSubstr("Counted on a device: 5 of 5 as predicted\n"),
                    HasSubstr("Counted as ptxas optimises it: 3000 sectors of global memory\n")));
  EXPECT_THAT(json_of(made), HasSubstr("\"not_counted\": null,\n          \"optimised\": {"));
}

TEST_F(AccessRecord, JudgesNoAccessThatPtxasLeavesOut) {
  CountedLaunch counted = counts(report(launch_, nullptr), 0);
  const std::uint32_t first = counted.accesses.begin()->first;
  counted.accesses.erase(first);
  counted.not_counted[first] = "left out";
  const Report made = report(launch_, &counted);
  const auto records = records_of(made, Backend::cuda);
  ASSERT_EQ(records.size(), 10U);  // neither it nor the sum has counts
  for (const std::size_t one : {0, 5}) {
    EXPECT_EQ(records[one].gates.front().verdict, strata::Verdict::unverified);
    EXPECT_EQ(records[one].gates.front().detail, "not counted: left out");
  }
  EXPECT_THAT(table_of(made, {}), HasSubstr("    not counted: left out\n"));
  EXPECT_THAT(json_of(made), HasSubstr("\"not_counted\": \"left out\""));
}

TEST_F(AccessRecord, TellsLaunchesOfOneNameApart) {
  const auto records = records_of(report(launch_, nullptr, 2), Backend::host);
  std::set<std::string> ids;
  std::set<std::string> launches;
  for (const auto& record : records) {
    ids.insert(record.which.id());
    launches.insert(record.which.params.at("launch"));
  }
  EXPECT_EQ(ids.size(), 12U);
  EXPECT_EQ(launches, (std::set<std::string>{"energies", "energies-2"}));
  const auto declared = declarations_of(records);
  ASSERT_EQ(declared.size(), 2U);
  for (const Benchmark& one : declared) {
    ASSERT_NE(one.axis("launch"), nullptr);
    EXPECT_EQ(one.axis("launch")->choices, (std::vector<std::string>{"energies", "energies-2"}));
  }
}

TEST_F(AccessRecord, MakesAWordOfAnyName) {
  Report named = report(launch_, nullptr);
  const auto word = [&](const std::string& name) {
    named.kernels.front().name = name;
    return records_of(named, Backend::host).front().which.params.at("kernel");
  };
  EXPECT_EQ(word("void strata::read<4u>(unsigned int const*)"), "strata_read_4u");
  EXPECT_EQ(word("(anonymous namespace)::f(int (*)(int), float)"), "anonymous_namespace_f");
  EXPECT_EQ(word("(((("), "_");
  EXPECT_EQ(word(""), "_");
  const std::string longest = word(std::string(1000, 'a'));
  EXPECT_EQ(longest.size(), 89U);
  EXPECT_NE(longest, word(std::string(1001, 'a')));
}

}  // namespace
}  // namespace strata::access
