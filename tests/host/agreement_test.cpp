#include "harness/run/agreement.hpp"

#include "harness/case/builtin_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace strata {
namespace {

using testing::HasSubstr;

constexpr const char* header =
    "quantity,backend,first,first_rows,second,second_rows,tolerance,reason,first_cases,"
    "second_cases\n";

AgreementPair pair_of(const std::string& row) {
  return parse_agreement(header + row + "\n").at(0);
}

const AgreementPair latency = pair_of(
    "L1 latency,cuda,chase space=l1 footprint=1024..4096,median load_cycles,"
    "check,median load_cycles,0.04,the loops differ,footprint=1024|4096,");

CaseRecord record_of(const std::string& benchmark, Params params, double cycles,
                     Verdict result = Verdict::passed) {
  return {.which = {"micro", benchmark, Backend::cuda, std::move(params)},
          .status = Status::measured,
          .gates = {{"result", result, ""}},
          .measurements = {{.quantity = "load_cycles",
                            .unit = "cycle",
                            .provenance = Provenance::timed,
                            .method = "clock",
                            .samples = {cycles}}}};
}

Shown shown(double first, double second, Verdict result = Verdict::passed) {
  return sides_agree(latency)(std::vector<CaseRecord>{
      record_of("chase", {{"space", "l1"}, {"footprint", "1024"}}, first - 1),
      record_of("chase", {{"space", "l1"}, {"footprint", "4096"}}, first + 1),
      record_of("chase", {{"space", "l1"}, {"footprint", "8192"}}, 300),
      record_of("chase", {{"space", "l2"}, {"footprint", "4096"}}, 300),
      record_of("check", {}, second, result)});
}

TEST(Agreement, HoldsWithinItsTolerance) {
  EXPECT_EQ(shown(32, 33).proof, Proof::held);
  const Shown apart = shown(32, 21.3);
  EXPECT_EQ(apart.proof, Proof::failed);
  EXPECT_EQ(apart.seen, "32 by chase, 21.3 by check: -33.4 %");
}

TEST(Agreement, IsUnprovedWithoutAValidRow) {
  EXPECT_EQ(shown(32, 33, Verdict::failed).proof, Proof::unproved);
  EXPECT_THAT(shown(32, 33, Verdict::failed).seen, HasSubstr("no valid row of check: result"));
  EXPECT_EQ(sides_agree(latency)({}).proof, Proof::unproved);
}

TEST(Agreement, RefusesATableOfAnotherShape) {
  EXPECT_THROW((void)parse_agreement("quantity,backend\n"), std::invalid_argument);
  EXPECT_THROW((void)pair_of("L1 latency,cuda"), std::invalid_argument);
}

TEST(AgreementTable, HasCasesOfItsBenchmarksOnBothSides) {
  const auto pairs = parse_agreement(builtin_agreement().front().second);
  EXPECT_GE(pairs.size(), 14U);
  auto known = benchmarks();
  for (Enrolled& one : known)
    one.cuda = [](Session&) {};  // in a build without CUDA, too
  std::size_t claims = 0;
  for (const Backend backend : {Backend::cuda, Backend::host})
    claims += agreement_claims(backend, known).size();
  EXPECT_EQ(claims, pairs.size());
  for (const AgreementPair& pair : pairs) {
    for (const AgreementSide* const side : {&pair.first, &pair.second}) {
      const Enrolled* const found = find_benchmark(side->benchmark, known);
      ASSERT_NE(found, nullptr) << side->benchmark;
      for (const auto* const column : {&side->params, &side->cases}) {
        for (const auto& [name, value] : *column)
          EXPECT_NE(found->benchmark.axis(name), nullptr) << side->benchmark << ' ' << name;
      }
      Sweep sweep;
      sweep.entries = {side->entry(known)};
      const auto cases = expand(sweep, pair.backend, known);
      EXPECT_FALSE(cases.empty()) << pair.quantity;
      EXPECT_LE(cases.size(), 8U) << pair.quantity;
      for (const Case& which : cases)
        EXPECT_TRUE(side->has(which.params)) << pair.quantity << ' ' << which.id();
    }
  }
}

}  // namespace
}  // namespace strata
