#include "harness/record/measurements_csv.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

namespace strata {
namespace {

CaseRecord measured() {
  CaseRecord record;
  record.which = {"micro", "layout_read", Backend::host, {{"layout", "soa"}, {"fields", "all"}}};
  record.status = Status::measured;
  record.gates = {{"result", Verdict::passed, "4224 sums"},
                  {"level", Verdict::unverified, "no counters, none"}};
  record.measurements.push_back({"seconds",
                                 "s",
                                 Provenance::timed,
                                 "tsc",
                                 {3, 1, 2, 6, 5, 4.5},
                                 {"noise", Verdict::passed, "1 %"}});
  return record;
}

TEST(CsvField, IsQuotedOnlyWhereRfc4180AsksForIt) {
  EXPECT_EQ(csv_field("plain; text=1"), "plain; text=1");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field("two\rlines"), "\"two\rlines\"");
}

TEST(Shortest, IsShortAndReadsBackAsTheSameNumber) {
  EXPECT_EQ(shortest(61), "61");
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(-2.5e-9), "-2.5e-09");
  std::mt19937_64 random{7};
  std::uniform_real_distribution<double> exponent{-300, 300};
  for (int i = 0; i < 1000; ++i) {
    const double number = std::pow(10, exponent(random));
    EXPECT_EQ(std::strtod(shortest(number).c_str(), nullptr), number);
  }
}

TEST(Shortest, HasADecimalPointWhateverTheLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"}) {
    if (std::setlocale(LC_NUMERIC, name) != nullptr) {
      EXPECT_EQ(shortest(1.5), "1.5");
    }
  }
  std::setlocale(LC_NUMERIC, before.c_str());
  EXPECT_EQ(shortest(1.5), "1.5");
}

TEST(MeasurementRows, HaveTheColumnsOfTheContractInItsOrder) {
  EXPECT_EQ(csv_header(),
            "run,device,backend,suite,benchmark,case,params,quantity,unit,provenance,method,value,"
            "ci_low,ci_high,minimum,maximum,samples,valid,reasons\r\n");
}

TEST(MeasurementRows, GiveMedianIntervalExtremesAndReasons) {
  EXPECT_EQ(csv_rows("run-1", "cpu", measured()),
            "run-1,cpu,host,micro,layout_read,micro/layout_read/host/fields=all/layout=soa,"
            "fields=all;layout=soa,seconds,s,timed,tsc,3.75,1,6,1,6,6,true,"
            "\"level: no counters, none\"\r\n");
}

TEST(MeasurementRows, LeaveTheIntervalEmptyWithFewerThanSixSamples) {
  auto record = measured();
  record.measurements[0].samples = {4};
  EXPECT_NE(csv_rows("r", "d", record).find(",tsc,4,,,4,4,1,true,"), std::string::npos);
}

TEST(MeasurementRows, AreInvalidWhenAGateOfTheCaseOrTheNoiseGateFailed) {
  auto noisy = measured();
  noisy.measurements[0].noise = {"noise", Verdict::failed, "9 %"};
  EXPECT_NE(csv_rows("r", "d", noisy).find(",false,"), std::string::npos);
  auto wrong = measured();
  wrong.gates[0].verdict = Verdict::failed;
  EXPECT_NE(csv_rows("r", "d", wrong).find(",false,"), std::string::npos);
}

TEST(MeasurementRows, AreAbsentForCasesWithoutMeasurementAndNumbersThatAreNone) {
  auto record = measured();
  record.measurements[0].samples[2] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(csv_rows("r", "d", record), "");
  record.measurements[0].samples.clear();
  EXPECT_EQ(csv_rows("r", "d", record), "");
  record = measured();
  record.status = Status::failed;
  EXPECT_EQ(csv_rows("r", "d", record), "");
}

TEST(MeasurementRows, HoldWhatWasCountedBesideWhatWasTimed) {
  CaseRecord counted;
  counted.phase = Phase::counting;
  counted.status = Status::measured;
  counted.gates = {{"level", Verdict::passed, "100 % of sectors from L1"}};
  counted.measurements.push_back({"l1_load_sectors",
                                  "sector",
                                  Provenance::counted,
                                  "cupti",
                                  {4096},
                                  {"noise", Verdict::not_applicable, ""}});
  EXPECT_EQ(
      csv_rows("r", "d", merged(measured(), counted)),
      "r,d,host,micro,layout_read,micro/layout_read/host/fields=all/layout=soa,"
      "fields=all;layout=soa,seconds,s,timed,tsc,3.75,1,6,1,6,6,true,\r\n"
      "r,d,host,micro,layout_read,micro/layout_read/host/fields=all/layout=soa,"
      "fields=all;layout=soa,l1_load_sectors,sector,counted,cupti,4096,,,4096,4096,1,true,\r\n");
}

TEST(MeasurementRows, StandInTheOrderInWhichTheyWereMeasured) {
  auto record = measured();
  record.measurements.push_back(record.measurements[0]);
  record.measurements[0].quantity = "zulu";
  record.measurements[1].quantity = "alpha";
  const std::string rows = csv_rows("r", "d", record);
  EXPECT_LT(rows.find("zulu"), rows.find("alpha"));
}

}  // namespace
}  // namespace strata
