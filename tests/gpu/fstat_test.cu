// Every rung of the F-statistic that runs on a GPU sums what double precision sums, and computes,
// allocates, copies and launches as much as predicted. And faults that were planted.
#include "harness/record/gates.hpp"
#include "nbody/fstat/device_rung.hpp"
#include "nbody/fstat/signal_terms.cuh"
#include "tests/host/rungs_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace strata::fstat {
namespace {

/// Of odd numbers of everything: some blocks and warps are not full.
const Case& odd_case() {
  static const Case which =
      case_of({.sky = 2, .cells = 3, .stacks = 3, .frequencies = 7, .seed = 5});
  return which;
}

bool right(const Case& which, const DeviceResults& seen) {
  return std::ranges::all_of(
      accuracy_of(which, seen.sums, seen.two_f, /*approximate=*/true),
      [](const Accuracy& one) { return accuracy_gate(one).verdict == Verdict::passed; });
}

class FstatOnGpu : public testing::TestWithParam<Rung> {};

void expect_right(const Rung& rung, const Case& which, const Choice& choice) {
  const DeviceKernel kernel = maker_of<MakeDeviceKernel>(rung.name)(which.seen, choice);
  const DeviceResults verified = pass_on_device(kernel, which.seen, Wanted::everything);
  for (const Accuracy& one : accuracy_of(which, verified.sums, verified.two_f, rung.approximate))
    EXPECT_EQ(accuracy_gate(one).verdict, Verdict::passed) << accuracy_gate(one).detail;
  EXPECT_EQ(verified.terms, which.seen.terms());
  const Costs predicted = costs_of(rung)(which.seen);
  EXPECT_EQ(verified.costs.idle_threads, predicted.idle_threads);

  const DeviceResults timed = pass_on_device(kernel, which.seen, Wanted::two_f);
  EXPECT_EQ(different(timed.two_f, verified.two_f), 0U);
  EXPECT_EQ(timed.costs.allocations, predicted.allocations);
  EXPECT_EQ(timed.costs.queued.copies, predicted.queued.copies);
  EXPECT_EQ(timed.costs.queued.bytes, predicted.queued.bytes);
  EXPECT_EQ(timed.costs.queued.launches, predicted.queued.launches);
}

TEST_P(FstatOnGpu, IsThatOfDoublePrecisionAndCostsWhatIsPredicted) {
  const bool in_groups = std::ranges::count(GetParam().axes, "group", &Axis::name) > 0;
  for (const std::uint32_t group : in_groups ? std::vector{1U, 2U, 4U, 8U, 16U} : std::vector{1U}) {
    SCOPED_TRACE(std::to_string(group) + " bins share a reciprocal");
    expect_right(GetParam(), odd_case(), {.group = group});
  }
}

/// As many templates as the seed has of a stack: blocks begin and end inside of cells.
TEST_P(FstatOnGpu, IsRightInTheShapeOfTheSeed) {
  if (GetParam().most < 1e7) GTEST_SKIP() << "too many calls";
  expect_right(GetParam(), case_of({.sky = 3, .stacks = 5}), {.group = 2});
}

INSTANTIATE_TEST_SUITE_P(Ladder, FstatOnGpu, testing::ValuesIn(rungs_of("fstat", Backend::cuda)),
                         [](const auto& rung) { return rung.param.name; });

// ---- Planted faults -----------------------------------------------------------------------------

enum class Fault { none, single_phases, plain_cosine };

/// A thread sums all signals of a template as LALSuite writes them, but for the fault.
template <Fault fault>
__global__ void sum_faulty(KernelStep step) {
  const std::uint32_t j = threadIdx.x;
  Sums sums;
  for (std::uint32_t s = step.first[blockIdx.x * step.detectors];
       s < step.first[(blockIdx.x + 1) * step.detectors]; ++s) {
    const Timing& timing = step.timings[s];
    const double spin = step.grid.spin(step.cell);
    const double frequency = step.grid.frequency(j);
    const Arrival at = arrival_at(step.grid, bins_at(step.grid, frequency, spin, timing));
    double phase = cycles_at(frequency, spin, timing.delta);
    if (fault == Fault::single_phases) {
      const auto delta = static_cast<float>(timing.delta);
      const auto cycles =
          static_cast<float>(frequency) * delta + 0.5F * static_cast<float>(spin) * delta * delta;
      phase = cycles - rintf(cycles);
    }
    const double lambda = (at.kappa + (at.odd ? 1 : 0)) / 2 - phase;
    const float sine = sinpif(2 * at.kappa);
    const float cosine = fault == Fault::plain_cosine ? cospif(2 * at.kappa) - 1
                                                      : -2 * sinpif(at.kappa) * sinpif(at.kappa);
    const Bin sum = Weighted<1>{}(step.spectra[s] + at.bin, kappa_of(at.kappa));
    const float re = (sum.re * sine - sum.im * cosine) / 6.28318531F;
    const float im = (sum.im * sine + sum.re * cosine) / 6.28318531F;
    add(sums, re, im, 1.0F, turn_of(static_cast<float>(rint(lambda) - lambda)), step.antennas[s]);
  }
  store_result(step, blockIdx.x, blockIdx.x * step.frequencies + j, sums);
}
template <Fault fault>
DeviceKernel faulty(const Observation& seen) {
  return {.run = packed_cells(
              seen, Spectra::each_sky_point,
              [](const KernelStep& step, Queue& queue) {
                queue.launch_blocks(sum_faulty<fault>, {step.stacks, step.frequencies}, step);
              }),
          .kernels = {}};
}
/// The sums of all_stacks, whose step change(step) spoils first.
template <class Change>
DeviceKernel changed(const Observation& seen, const Change& change) {
  const std::uint32_t signals = seen.longest_group();
  const Problem p = seen.problem;
  return {.run = packed_cells(seen, Spectra::each_sky_point,
                              [=](KernelStep step, Queue& queue) {
                                std::uint32_t threads = signals;
                                change(step, threads);
                                queue_signal_sums(queue, step, p.frequencies, p.stacks, threads,
                                                  p.detectors);
                              }),
          .kernels = {}};
}
bool is_right(const Case& which, const DeviceKernel& kernel) {
  return right(which, pass_on_device(kernel, which.seen, Wanted::everything));
}

TEST(PlantedFaultsInFstat, AreRefused) {
  const Case& which = odd_case();
  EXPECT_TRUE(is_right(which, faulty<Fault::none>(which.seen)));
  EXPECT_FALSE(is_right(which, faulty<Fault::single_phases>(which.seen)));
  EXPECT_TRUE(is_right(which, changed(which.seen, [](KernelStep&, std::uint32_t&) {})));
  EXPECT_FALSE(is_right(which, changed(which.seen, [](KernelStep& step, std::uint32_t&) {
                          step.grid.first_bin += 1;  // windows are one bin off
                        })));
  EXPECT_FALSE(is_right(which, changed(which.seen, [](KernelStep&, std::uint32_t& threads) {
                          --threads;  // the tail of the longest group is lost
                        })));
}

TEST(PlantedFaultsInFstat, AreRefusedWhereTheCosineIsTakenAsItIs) {
  // All signals so near a whole bin that nothing of cos 2πκ − 1 is left but rounding.
  Observation seen = odd_case().seen;
  for (Timing& timing : seen.timings) {
    const double bins = std::rint(seen.grid.first_frequency * seen.grid.seconds * timing.rate);
    timing.rate = (bins + 1e-4) / (seen.grid.first_frequency * seen.grid.seconds);
  }
  seen.grid.spin_step = 0;
  seen.problem.frequencies = 1;
  const Case near{.seen = seen, .right = reference_of(seen)};
  EXPECT_TRUE(is_right(near, faulty<Fault::none>(near.seen)));
  EXPECT_FALSE(is_right(near, faulty<Fault::plain_cosine>(near.seen)));
}

TEST(PlantedFaultsInFstat, AreRefusedWhereOffsetsAreStale) {
  // Those of another observation, whose groups begin elsewhere.
  const Observation other = case_of({.sky = 1, .cells = 1, .stacks = 3, .frequencies = 1}).seen;
  DeviceBuffer<std::uint32_t> stale{other.first_signal.size()};
  stale.upload(other.first_signal);
  const Case& which = odd_case();
  ASSERT_NE(other.first_signal, which.seen.first_signal);
  EXPECT_FALSE(is_right(which, changed(which.seen, [&](KernelStep& step, std::uint32_t&) {
                          step.first = stale.data();
                        })));
}

TEST(PlantedFaultsInFstat, AreRefusedWhereNothingIsDone) {
  const DeviceKernel idle{.run = [](const DevicePass&, Queue&) {}, .kernels = {}};
  EXPECT_FALSE(is_right(odd_case(), idle));
}

}  // namespace
}  // namespace strata::fstat
