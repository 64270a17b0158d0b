// What a rung of the F-statistic reports: rows, gates and facts from fake samples, and the costs
// that are predicted.
#include "nbody/fstat/rung_experiment.hpp"
#include "tests/host/rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace strata::fstat {
namespace {

constexpr auto timed = Provenance::timed;
constexpr auto counted = Provenance::counted;
constexpr auto modelled = Provenance::modelled;

RungCase a_case() {
  const Costs costs{
      .queued = {.copies = 8, .bytes = 800, .launches = 4}, .allocations = 2, .idle_threads = 3};
  return {.rung = rung_named("fstat_warp_sum"),
          .terms = 1000,
          .results = 10,
          .accuracy = {{.what = "Fa", .rms = 1e-7, .rms_bound = 1e-6, .largest_bound = 1}},
          .counted = costs,
          .predicted = costs,
          .counted_terms = 1000,
          .sms = 100,
          .core_seconds = {4e-8},
          .different_at_end = [] { return std::size_t{0}; },
          .sample = [] { return 2.0; }};
}

TEST(FstatOnAGpu, ReportsRatesCostsAndLimits) {
  const auto rows = rows_of(describe(a_case()), cuda_timers, {.numbers = {2, 4, 1e9}});
  EXPECT_EQ(rows.at("terms_per_second by event"), (RowSeen{500, "1/s", timed}));
  EXPECT_EQ(rows.at("terms_per_second by globaltimer"), (RowSeen{250, "1/s", timed}));
  EXPECT_EQ(rows.at("seconds_per_sft by event"), (RowSeen{2e-3, "s", timed}));
  EXPECT_EQ(rows.at("terms by code"), (RowSeen{1000, "1", counted}));
  EXPECT_EQ(rows.at("terms by model"), (RowSeen{1000, "1", modelled}));
  EXPECT_EQ(rows.at("idle_threads by code"), (RowSeen{3, "1", counted}));
  EXPECT_EQ(rows.at("allocations by model"), (RowSeen{2, "1", modelled}));
  EXPECT_EQ(rows.at("copies by code"), (RowSeen{8, "1", counted}));
  EXPECT_EQ(rows.at("copied_bytes by model"), (RowSeen{800, "B", modelled}));
  EXPECT_EQ(rows.at("launches by code"), (RowSeen{4, "1", counted}));
  EXPECT_EQ(rows.at("fa_error by fp64_reference"), (RowSeen{1e-7, "1", modelled}));
  EXPECT_EQ(rows.at("core_seconds_per_sft by monotonic"), (RowSeen{4e-8, "s", timed}));
  const double slots = rung_named("fstat_warp_sum").issue_slots.at(1);
  EXPECT_EQ(rows.at("issue_limit by issue_slots"),
            (RowSeen{100 * 128 * 1e9 / slots, "1/s", modelled}));
}

TEST(FstatOnAGpu, IsLimitedByTheInstructionsOfItsChoice) {
  RungCase which = a_case();
  which.rung = rung_named("fstat_shared_reciprocal");
  which.choice.group = 4;
  const double slots = which.rung.issue_slots.at(4);
  EXPECT_EQ(rows_of(describe(which), cuda_timers, {.numbers = {2, 4, 1e9}})
                .at("issue_limit by issue_slots"),
            (RowSeen{100 * 128 * 1e9 / slots, "1/s", modelled}));
  for (const Rung& rung : ladder("fstat")) {
    const auto group = std::ranges::find(rung.axes, "group", &Axis::name);
    if (group != rung.axes.end()) {
      EXPECT_EQ(rung.issue_slots.size(), group->choices.size()) << rung.name;
    }
  }
}

TEST(FstatOnACpu, ReportsTheSecondsOfACore) {
  RungCase which = a_case();
  which.rung = rung_named("fstat_cpu_lanes");
  which.cores = 4;
  const auto rows = rows_of(describe(which), host_timers, {.numbers = {2, 4, 1e9}});
  EXPECT_EQ(rows.at("terms_per_second by monotonic"), (RowSeen{500, "1/s", timed}));
  EXPECT_EQ(rows.at("seconds_per_sft by monotonic"), (RowSeen{8e-3, "s", timed}));
  EXPECT_EQ(rows.count("copies by code"), 0U);
  EXPECT_EQ(rows.count("core_seconds_per_sft by monotonic"), 0U);
  EXPECT_EQ(rows.count("issue_limit by issue_slots"), 0U);
}

std::vector<Verdict> verdicts_of(const RungCase& which, const std::string& gate) {
  FakeSession fake;
  describe(which).conclude(fake.session, {Sample{.numbers = {2, 4, 1e9}}});
  std::vector<Verdict> all;
  for (const Gate& one : fake.record.gates) {
    if (one.name == gate) all.push_back(one.verdict);
  }
  return all;
}

TEST(FstatOnAGpu, IsHeldAgainstWhatIsPredicted) {
  constexpr Verdict yes = Verdict::passed;
  constexpr Verdict no = Verdict::failed;
  using Verdicts = std::vector<Verdict>;
  EXPECT_EQ(verdicts_of(a_case(), "model"), (Verdicts{yes, yes}));
  RungCase idle = a_case();
  ++idle.counted.idle_threads;
  EXPECT_EQ(verdicts_of(idle, "model"), (Verdicts{no, yes}));
  RungCase terms = a_case();
  --terms.counted_terms;
  EXPECT_EQ(verdicts_of(terms, "model"), (Verdicts{no, yes}));
  RungCase allocations = a_case();
  ++allocations.counted.allocations;
  EXPECT_EQ(verdicts_of(allocations, "model"), (Verdicts{no, yes}));
}

TEST(FstatOnAGpu, IsTracedByItsKernelsAndWhatItQueues) {
  const Experiment experiment = describe(a_case());
  ASSERT_TRUE(experiment.trace);
  for (const char* kernel : {"sum_signals", "write_terms", "sum_by_warp", "sum_by_lane",
                             "BatchMemcpyKernel", "make_polynomials"}) {
    EXPECT_EQ(std::ranges::count(experiment.trace->kernels, kernel, &KernelPhase::function), 1)
        << kernel;
  }
}

// ---- Costs --------------------------------------------------------------------------------------

/// Two stacks of two detectors, with 2 and 3, and 4 and 1 signals.
Observation tiny() {
  Observation seen{.problem = {.sky = 3, .cells = 2, .stacks = 2, .frequencies = 5},
                   .first_signal = {0, 2, 5, 9, 10}};
  seen.offsets.resize(10);
  return seen;
}
constexpr std::uint64_t spectrum = 64 * 8 + 8;  // and where it is
constexpr std::uint64_t of_sky = 10 * 24 + 2 * 16;

TEST(FstatCosts, OfCallsAreThoseOfEveryPiece) {
  const Costs costs = predict_per_call(tiny());
  const std::uint64_t calls = 3 * 2 * 5 * 4;
  const std::uint64_t signals = 3 * 2 * 5 * 10;
  EXPECT_EQ(costs.queued, (Queued{.copies = signals + 4 * calls,
                                  .bytes = signals * (spectrum + 24) + calls * 16,
                                  .launches = calls}));
  EXPECT_EQ(costs.allocations, signals + 4 * calls);
  EXPECT_EQ(costs.idle_threads, 0U);
  EXPECT_EQ(predict_kept_memory(tiny()), (Costs{.queued = costs.queued}));
  EXPECT_EQ(predict_gathered(tiny()).queued,
            (Queued{.copies = calls, .bytes = calls * 16, .launches = 4 * calls}));
  EXPECT_EQ(predict_packed(tiny()).queued,
            (Queued{.copies = 3 * 6 + calls,
                    .bytes = 3 * (10 * spectrum + 5 * 4 + of_sky) + calls * 16,
                    .launches = calls}));
}

TEST(FstatCosts, OfBandsAreVectorsInAndResultsOut) {
  const std::uint64_t vectors = 3 * (10 * spectrum + 5 * 4 + of_sky);
  const std::uint64_t results = 3 * 2 * 2 * 5 * 4;
  EXPECT_EQ(predict_one_launch(tiny()),
            (Costs{.queued = {.copies = 18 + 12, .bytes = vectors + results, .launches = 12},
                   // Blocks of 2 × 3 and of 2 × 4 threads for 5 signals each.
                   .idle_threads = 3 * 2 * 5 * (1 + 3)}));
  EXPECT_EQ(predict_all_stacks(tiny()),
            (Costs{.queued = {.copies = 18 + 6, .bytes = vectors + results, .launches = 6},
                   .idle_threads = 3 * 2 * 5 * (3 + 3)}));
  const Queued once{
      .copies = 3 + 9 + 6, .bytes = 10 * spectrum + 5 * 4 + 3 * of_sky + results, .launches = 6};
  EXPECT_EQ(predict_resident(tiny()).queued, once);
  EXPECT_EQ(predict_library(tiny()).queued.launches, 18U);
  // Of 8 warps of a block 3 have no frequency; of each of the others 27 lanes no signal.
  EXPECT_EQ(predict_warp_sum(tiny()),
            (Costs{.queued = once, .idle_threads = 3 * 2 * 2 * (3 * 32 + 5 * 27)}));
  // A block has room for 256 templates; a stack has 10.
  EXPECT_EQ(predict_lanes(tiny()),
            (Costs{.queued = {.copies = 3 + 9 + 3, .bytes = once.bytes, .launches = 3},
                   .idle_threads = 3 * 2 * 246}));
  EXPECT_EQ(predict_polynomial(tiny()).queued.launches, 4U);
}

}  // namespace
}  // namespace strata::fstat
