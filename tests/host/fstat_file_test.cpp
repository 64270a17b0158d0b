// Files of observations: what is written comes back, and whatever is not as described is refused.
#include "nbody/fstat/reference/observation_file.hpp"
#include "tests/host/dataset_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace strata::fstat {
namespace {

using testing::HasSubstr;

constexpr std::size_t header_bytes = 128;

ObservationData small() {
  return {.seen = generate({.sky = 2, .cells = 2, .stacks = 1, .frequencies = 2, .detectors = 1}),
          .results = std::nullopt};
}

class ObservationFile : public DatasetFiles {
 protected:
  static std::string refusal(const path& file) { return refusal_of(read_observation, file); }
};

TEST_F(ObservationFile, GivesBackWhatWasWritten) {
  ObservationData data = small();
  write_observation(good_, data, Existing::keep);
  EXPECT_EQ(read_observation(good_), data);
  data.results = reference_of(data.seen);
  EXPECT_THROW(write_observation(good_, data, Existing::keep), UsageError);
  write_observation(good_, data, Existing::replace);
  EXPECT_EQ(read_observation(good_), data);
}

// The words of the description, by hand: another program must be able to write such a file.
TEST_F(ObservationFile, HasTheBytesThatItsDescriptionSays) {
  ObservationData data = small();
  data.results = reference_of(data.seen);
  write_observation(good_, data, Existing::keep);
  const std::string bytes = bytes_of(good_);
  const auto at = [&]<class T>(std::size_t place, T /*type*/) {
    T number{};
    std::memcpy(&number, bytes.data() + place, sizeof number);
    return number;
  };
  const auto word = [&](std::size_t place) { return at(place, std::uint32_t{}); };
  const auto real = [&](std::size_t place) { return at(place, double{}); };
  const std::size_t signals = data.seen.signals();
  EXPECT_EQ(bytes.substr(0, 8), "STRATANB");
  EXPECT_EQ((std::vector{word(12), word(16), word(20), word(24), word(28), word(32)}),
            (std::vector<std::uint32_t>{3, 2, 2, 1, 2, 1}));
  EXPECT_EQ(word(36), signals);
  EXPECT_EQ(word(40), 179969U);
  EXPECT_EQ(word(44), 64U);
  EXPECT_EQ(at(80, std::uint64_t{}), 2008U);
  EXPECT_EQ(real(88), 100);
  EXPECT_EQ(real(112), 1800);
  EXPECT_EQ(word(120), 64 * signals);
  EXPECT_EQ(word(124), 1U);
  EXPECT_EQ(word(header_bytes + 4), signals) << "where the only group ends";
  EXPECT_EQ(word(header_bytes + 8 + 4), 64U) << "where the second spectrum begins";
  const std::size_t spectra = header_bytes + 8 + 4 * signals;
  EXPECT_EQ(at(spectra + 4, float{}), data.seen.spectra[0].im);
  const std::size_t timings = spectra + 8 * 64 * signals;
  EXPECT_EQ(real(timings + 8), data.seen.timings[0].rate);
  const std::size_t antennas = timings + 2 * 16 * signals;
  EXPECT_EQ(at(antennas + 8 * signals + 4, float{}), data.seen.antennas[signals].b);
  const std::size_t results = antennas + 2 * 8 * signals;
  EXPECT_EQ(real(results + 32 + 16), data.results->sums[1].b.real());
  const std::size_t two_f = results + 8 * 32;
  EXPECT_EQ(real(two_f + 56), data.results->two_f[7]);
  EXPECT_EQ(bytes.size(), two_f + 64);
}

TEST_F(ObservationFile, IsRefusedWhereItIsDamaged) {
  write_observation(good_, small(), Existing::keep);
  expect_refused_where_damaged(read_observation, header_bytes, 997);
}

TEST_F(ObservationFile, SaysWhatIsWrongEvenWhenTheChecksumIsRight) {
  ObservationData data = small();
  data.results = reference_of(data.seen);
  write_observation(good_, data, Existing::keep);
  const std::size_t signals = data.seen.signals();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(with_word(12, 2)), HasSubstr("strata neighbours"));
  EXPECT_THAT(refusal(with_word(12, 4)), HasSubstr("newer"));
  EXPECT_THAT(refusal(with_word(16, 0)), HasSubstr("0 sky points"));
  EXPECT_THAT(refusal(with_word(20, 0xFFFFFFFF)), HasSubstr("4294967295 cells"));
  EXPECT_THAT(refusal(with_word(32, 0)), HasSubstr("0 detectors"));
  EXPECT_THAT(refusal(with_word(36, 0)), HasSubstr("0 signals"));
  EXPECT_THAT(refusal(with_word(36, 1)), HasSubstr("something was added"));
  EXPECT_THAT(refusal(with_word(44, 15)), HasSubstr("15 bins"));
  EXPECT_THAT(refusal(with_word(88, nan)), HasSubstr("the frequencies are nan Hz"));
  EXPECT_THAT(refusal(with_word(88, 100.1)), HasSubstr("multiples of 2^-30 Hz"));
  EXPECT_THAT(refusal(with_word(96, 0.01)), HasSubstr("steps of 0.01 Hz"));
  EXPECT_THAT(refusal(with_word(96, 0x1p-10)), HasSubstr("at most 1/32"));
  EXPECT_THAT(refusal(with_word(104, -1.0)), HasSubstr("spin step is -1"));
  EXPECT_THAT(refusal(with_word(112, 0.0)), HasSubstr("a step of frequency is 0 bins"));
  EXPECT_THAT(refusal(with_word(124, 2)), HasSubstr("the word 2 on its results"));
  EXPECT_THAT(refusal(with_word(header_bytes, 1)), HasSubstr("the groups do not hold all"));
  const std::size_t offsets = header_bytes + 8;
  EXPECT_THAT(refusal(with_word(offsets + 4, 1)), HasSubstr("signal 1 overlaps another"));
  EXPECT_THAT(refusal(with_word(offsets + 4, 0xFFFFFFFF)), HasSubstr("signal 1 runs out"));
  const std::size_t spectra = offsets + 4 * signals;
  EXPECT_THAT(refusal(with_word(spectra, std::numeric_limits<float>::infinity())),
              HasSubstr("number of the spectra 0 is not finite"));
  const std::size_t timings = spectra + 8 * 64 * signals;
  EXPECT_THAT(refusal(with_word(timings, nan)), HasSubstr("timing 0 is not finite"));
  EXPECT_THAT(refusal(with_word(timings, 1e12)), HasSubstr("signal 0 arrives at 1e+12 s"));
  EXPECT_THAT(refusal(with_word(timings + 8, 1.0005)), HasSubstr("outside the band"));
  const std::size_t antennas = timings + 2 * 16 * signals;
  EXPECT_THAT(refusal(with_word(antennas, std::numeric_limits<float>::quiet_NaN())),
              HasSubstr("antenna 0 is not finite"));
  const std::size_t sums = antennas + 2 * 8 * signals;
  EXPECT_THAT(refusal(with_word(sums + 2 * 32, nan)), HasSubstr("result 2 is not finite"));
  EXPECT_THAT(refusal(with_word(sums + 8 * 32 + 8, nan)), HasSubstr("result 1 is not finite"));
}

}  // namespace
}  // namespace strata::fstat
