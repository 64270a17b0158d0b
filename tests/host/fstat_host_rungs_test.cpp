// Every rung on this CPU, with every kind of its vectors, sums what double precision sums; and
// faults that were planted.
#include "harness/record/gates.hpp"
#include "nbody/fstat/host/host_rung.hpp"
#include "tests/host/host_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace strata::fstat {
namespace {

struct Set {
  std::string name;
  Case which;
};

/// An observation whose signals arrive `off` bins beyond a whole one at the first frequency.
Case near_whole_bins(double off) {
  Observation seen = generate({.sky = 1, .cells = 1, .stacks = 2, .frequencies = 1});
  const double whole = seen.grid.first_frequency * seen.grid.seconds;
  seen.grid.spin_step = 0;
  for (Timing& timing : seen.timings)
    timing.rate = (std::rint(whole * timing.rate) + off) / whole;
  check("near_whole_bins", seen);
  Case which{.seen = std::move(seen), .right = {}};
  which.right = reference_of(which.seen);
  return which;
}

const std::vector<Set>& sets() {
  static const std::vector<Set> all = [] {
    std::vector<Set> made;
    // Less than a vector, one, a little more; the last of 161 frequencies stand in none.
    for (const std::uint32_t frequencies : {1U, 8U, 16U, 17U, 161U}) {
      made.push_back({std::to_string(frequencies) + " frequencies",
                      case_of({.sky = 2, .cells = 2, .stacks = 3, .frequencies = frequencies})});
    }
    made.push_back(
        {"one detector",
         case_of({.sky = 1, .cells = 9, .stacks = 2, .frequencies = 20, .detectors = 1})});
    for (const double off : {0.0, 1e-9, 1e-4, -1e-9, -1e-4})
      made.push_back({std::to_string(off) + " bins off", near_whole_bins(off)});
    return made;
  }();
  return all;
}

bool right(const Case& which, const HostResults& seen, bool approximate = false) {
  return std::ranges::all_of(
      accuracy_of(which, seen.sums, seen.two_f, approximate),
      [](const Accuracy& one) { return accuracy_gate(one).verdict == Verdict::passed; });
}

class FstatRung : public testing::TestWithParam<Rung> {};

TEST_P(FstatRung, IsThatOfDoublePrecision) {
  const Rung& rung = GetParam();
  bool any = false;
  for (const Vectors vectors : known_to_this_cpu()) {
    for (const auto& [name, which] : sets()) {
      const auto kernel = prepared<MakeHostKernel>(rung, which.seen, vectors);
      if (!kernel) continue;
      any = true;
      SCOPED_TRACE(name + ", " + kernel->instructions);
      const HostResults seen = pass_on_host(*kernel, team(), which.seen);
      for (const Accuracy& one : accuracy_of(which, seen.sums, seen.two_f, rung.approximate))
        EXPECT_EQ(accuracy_gate(one).verdict, Verdict::passed) << accuracy_gate(one).detail;
    }
  }
  if (!any) GTEST_SKIP() << "this CPU or this build cannot do it";
}

TEST_P(FstatRung, IsTheSameWithMoreThreadsThanBands) {
  const Case& which = sets().front().which;
  ThreadTeam many = crowded_team(7);
  const auto kernel = prepared<MakeHostKernel>(GetParam(), which.seen, widest_vectors());
  if (!kernel) GTEST_SKIP() << "this CPU or this build cannot do it";
  const HostResults alone = pass_on_host(*kernel, team(), which.seen);
  EXPECT_EQ(different(pass_on_host(*kernel, many, which.seen).two_f, alone.two_f), 0U);
}

INSTANTIATE_TEST_SUITE_P(Rungs, FstatRung, testing::ValuesIn(rungs_of("fstat", Backend::host)),
                         [](const auto& rung) { return rung.param.name; });

TEST(FstatOnOneCore, TakesSomeTimeATerm) {
  for (const double seconds : seconds_of_core())
    EXPECT_GT(seconds, 0);
}

// --- what a rung may get wrong ---

/// The band of a rung of packed vectors that spoil(band) changes before it is summed.
HostKernel spoiled(const Observation& seen, const std::function<void(Band&)>& spoil) {
  return packed_bands(
      seen, [](ThreadTeam&, std::size_t count, const auto& visit) { visit(0, count); },
      [spoil](Band band) {
        spoil(band);
        scalar_band(band);
      });
}
bool is_right(const Case& which, const std::function<void(Band&)>& spoil) {
  return right(which, pass_on_host(spoiled(which.seen, spoil), team(), which.seen), true);
}

const Case& faulty_case() {
  return sets()[3].which;
}

TEST(FstatPlantedFault, IsNoneInTheBandThatTheyArePlantedIn) {
  EXPECT_TRUE(is_right(faulty_case(), [](Band&) {}));
}
TEST(FstatPlantedFault, IsRefusedWhereWindowsAreOneBinOff) {
  Grid off = faulty_case().seen.grid;
  off.first_bin += 1;
  EXPECT_FALSE(is_right(faulty_case(), [&](Band& band) { band.grid = &off; }));
}
TEST(FstatPlantedFault, IsRefusedWhereOffsetsAreStale) {
  // Those of the stack before: other spectra, or as many as it had.
  std::vector<Signals> before;
  EXPECT_FALSE(is_right(faulty_case(), [&](Band& band) {
    const std::vector<Signals> now(band.groups, band.groups + band.detectors);
    static std::vector<Signals> stale;
    stale = before.empty() ? now : before;
    before = now;
    for (std::size_t d = 0; d < stale.size(); ++d) {
      Signals mixed = now[d];
      mixed.spectra = stale[d].spectra;
      mixed.count = std::min(mixed.count, stale[d].count);
      stale[d] = mixed;
    }
    band.groups = stale.data();
  }));
}
TEST(FstatPlantedFault, IsRefusedWhereATailIsLost) {
  EXPECT_FALSE(is_right(faulty_case(), [](Band& band) {
    static std::vector<Signals> cut;
    cut.assign(band.groups, band.groups + band.detectors);
    --cut.back().count;
    band.groups = cut.data();
  }));
}
TEST(FstatPlantedFault, IsRefusedWherePhasesAreOfSinglePrecision) {
  EXPECT_FALSE(is_right(faulty_case(), [](Band& band) {
    static std::vector<std::vector<Timing>> rounded;
    static std::vector<Signals> groups;
    rounded.assign(band.detectors, {});
    groups.assign(band.groups, band.groups + band.detectors);
    for (std::size_t d = 0; d < groups.size(); ++d) {
      for (std::uint32_t s = 0; s < groups[d].count; ++s) {
        const Timing& timing = groups[d].timings[s];
        rounded[d].push_back({static_cast<double>(static_cast<float>(timing.delta)), timing.rate});
      }
      groups[d].timings = rounded[d].data();
    }
    band.groups = groups.data();
  }));
}
TEST(FstatPlantedFault, IsRefusedWhereTheCosineIsTakenAsItIs) {
  // cos 2πκ − 1 of single precision, where κ is 10^-4.
  const Case near = near_whole_bins(1e-4);
  const HostKernel plain = packed_bands(
      near.seen, [](ThreadTeam&, std::size_t count, const auto& visit) { visit(0, count); },
      [](const Band& band) {
        Sums sums;
        for (std::uint32_t d = 0; d < band.detectors; ++d) {
          const Signals& of = band.groups[d];
          for (std::uint32_t s = 0; s < of.count; ++s) {
            const double f = band.grid->first_frequency;
            const Arrival at = arrival_at(*band.grid, bins_at(*band.grid, f, 0, of.timings[s]));
            const Bin x = Weighted<1>{}(of.spectra[s] + at.bin, at.kappa);
            const float angle = 6.28318531F * at.kappa;
            const float sine = std::sin(angle) / 6.28318531F;
            const float cosine = (std::cos(angle) - 1) / 6.28318531F;
            const double lambda = (static_cast<double>(at.kappa) + (at.odd ? 1 : 0)) / 2 -
                                  cycles_at(f, 0, of.timings[s].delta);
            add(sums, x.re * sine - x.im * cosine, x.im * sine + x.re * cosine, 1.0F,
                turn_of(static_cast<float>(nearest(lambda) - lambda)), of.antennas[s]);
          }
        }
        *band.sums = sums;
        *band.two_f = two_f(sums, band.matrix);
      });
  EXPECT_FALSE(right(near, pass_on_host(plain, team(), near.seen), true));
  EXPECT_TRUE(is_right(near, [](Band&) {}));
}

}  // namespace
}  // namespace strata::fstat
