#include "micro/compute/atomics.cu"

#include "case_here.hpp"
#include "example_gpu.hpp"
#include "micro/pattern/random_cycle.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace strata::atomics {
namespace {

constexpr LaunchShape small{.blocks = 2, .warps_of_block = 3, .chains = in_flight};
constexpr std::uint32_t some_operations = 16;

/// What the kernel does, its threads taken in some order, an operation of each at a time.
struct Simulated {
  std::vector<std::uint64_t> words;
  std::vector<std::uint32_t> left;
};

/// Whether an operation needs the result of the one before; `zero` is the kernel's argument.
struct Chain {
  std::uint64_t zero = 0;
  bool forgets = false;
};

/// `operand` with the bits of `old` that `zero` selects.
std::uint64_t tied(Operation operation, std::uint64_t old, std::uint64_t zero,
                   std::uint64_t operand) {
  if (operation != Operation::add_float) return (old & zero) | operand;
  const auto bits = [](std::uint64_t number) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  };
  const auto tied_bits = (bits(old) & static_cast<std::uint32_t>(zero)) | bits(operand);
  return static_cast<std::uint64_t>(std::bit_cast<float>(tied_bits));
}

Simulated simulate(const Variant& variant, const LaunchShape& launch, std::uint64_t seed,
                   std::uint32_t operations_of_lane = some_operations, const Chain& chain = {}) {
  const auto total = static_cast<std::uint32_t>(Places::of_threads(variant, launch).words);
  const bool shared = variant.space == StateSpace::shared;
  const std::uint32_t area = shared ? total / launch.blocks : total;
  const std::uint32_t of_block = launch.warps_of_block * warp_lanes;
  const WordPitch pitch = pitch_of(variant);
  const std::uint64_t mask =
      variant.operation == Operation::add_int64 ? ~std::uint64_t{0} : 0xFFFFFFFFU;
  Simulated done{.words = std::vector<std::uint64_t>(total),
                 .left = std::vector<std::uint32_t>(launch.threads())};
  for (std::uint32_t i = 0; i < total; ++i)
    done.words[i] = initial_word(variant.operation, i % area);
  std::vector<std::vector<std::uint64_t>> held(launch.threads());
  for (std::uint32_t t = 0; t < launch.threads(); ++t) {
    for (std::uint32_t c = 0; c < launch.chains; ++c)
      held[t].push_back(operand_of(variant.operation, t, c));
  }
  for (std::uint32_t i = 0; i < operations_of_lane; ++i) {
    for (const std::uint32_t t : random_order(launch.threads(), seed + i)) {
      const std::uint32_t warp = (shared ? t % of_block : t) / warp_lanes;
      const std::uint32_t byte = warp * pitch.by_warp + t % warp_lanes * pitch.by_lane;
      auto& word =
          done.words.at((shared ? t / of_block * area : 0) + byte / width_of(variant.operation));
      auto& mine = held[t][i % launch.chains];
      const std::uint64_t old = word;
      const std::uint64_t operand = operand_of(variant.operation, t, i % launch.chains);
      if (variant.operation == Operation::exch_int) {
        word = mine;
        mine = old;
      } else if (variant.operation == Operation::cas_int) {
        if (old == mine) {
          word = (old + swap_step) & mask;
          ++done.left[t];
        }
        mine = old;
      } else {
        word = (old + mine) & mask;
        mine = tied(variant.operation, old, chain.zero, operand);
      }
      if (chain.forgets) mine = operand;
    }
  }
  for (std::uint32_t t = 0; t < launch.threads(); ++t) {
    for (const std::uint64_t mine : held[t]) {
      const auto low = static_cast<std::uint32_t>(mine);
      if (variant.operation == Operation::exch_int) done.left[t] += hashed_word(low);
      if (variant.operation != Operation::exch_int && variant.operation != Operation::cas_int)
        done.left[t] += low;
    }
  }
  return done;
}

Tally compare(const Variant& variant, const Simulated& done,
              std::uint32_t operations_of_lane = some_operations) {
  Tally tally;
  comparison(variant.operation, small.chains, Places::of_threads(variant, small))(
      done.words, done.left, [=](std::size_t) { return operations_of_lane; }, tally);
  return tally;
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const StateSpace space : {StateSpace::shared, StateSpace::global}) {
    for (const Target target : {Target::same, Target::warp, Target::disjoint}) {
      for (const Operation operation :
           {Operation::add_int, Operation::add_float, Operation::add_int64, Operation::cas_int,
            Operation::exch_int})
        all.push_back({.space = space, .target = target, .operation = operation});
    }
  }
  return all;
}

TEST(AtomicsExpected, AcceptsEveryOrderOfTheSameOperations) {
  for (const auto& variant : variants()) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const auto done = simulate(variant, small, seed);
      const Tally tally = compare(variant, done);
      EXPECT_EQ(tally.different, 0U);
      EXPECT_EQ(tally.checked,
                done.words.size() + (is_addition(variant.operation) ? done.left.size() : 0U));
    }
  }
}

TEST(AtomicsExpected, FindsAWrongWordAnOperationTooFewAndAWrongThread) {
  for (const auto& variant : variants()) {
    const auto done = simulate(variant, small, 1);
    for (std::size_t i = 0; i < done.words.size(); i += 7) {
      auto wrong = done;
      ++wrong.words[i];
      EXPECT_GE(compare(variant, wrong).different, 1U);
    }
    auto changed = done;
    ++changed.left.back();
    EXPECT_GE(compare(variant, changed).different, 1U);
    if (!is_addition(variant.operation)) continue;
    const auto less = simulate(variant, small, 1, some_operations - in_flight);
    EXPECT_GE(compare(variant, less).different, 1U);
  }
}

TEST(AtomicsExpected, RefusesAResultOfAnotherSize) {
  auto done = simulate({}, small, 1);
  done.words.pop_back();
  EXPECT_THROW((void)compare({}, done), std::length_error);
}

TEST(AtomicsExpected, KnowsThatAnUncontendedSwapWinsEverySecondTime) {
  const Variant variant{
      .space = StateSpace::global, .target = Target::disjoint, .operation = Operation::cas_int};
  const auto done = simulate(variant, lone_warp, 1);
  for (const std::uint32_t wins : done.left)
    EXPECT_EQ(wins, 8U);
}

TEST(AtomicsDependence, ShowsWhereAnOperationDoesNotNeedThePreviousResult) {
  for (Variant variant : variants()) {
    variant.target = Target::disjoint;
    for (const std::uint32_t chains : {1U, in_flight}) {
      const LaunchShape one_warp{.chains = chains};
      const Places places = Places::of_threads(variant, one_warp);
      const auto tally_of = [&](const Chain& chain) {
        const auto done = simulate(variant, one_warp, 1, some_operations, chain);
        Tally tally;
        chained(variant.operation, chains, places)(
            done.words, done.left, [](std::size_t) { return some_operations; }, tally);
        return tally;
      };
      EXPECT_EQ(tally_of({.zero = altered_zero}).different, 0U);
      EXPECT_EQ(tally_of({.zero = altered_zero}).checked, 2U * warp_lanes);
      EXPECT_GT(tally_of({.zero = altered_zero, .forgets = true}).different, warp_lanes / 4);
    }
  }
}

TEST(AtomicsPlaces, AreOneAWarpOrOneALaneOrOneForAll) {
  const auto targets = [](Target target) {
    const WordPitch pitch = pitch_of({.target = target, .operation = Operation::add_int64});
    std::set<std::uint32_t> bytes;
    for (std::uint32_t warp = 0; warp < warps_per_sm; ++warp) {
      for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        bytes.insert(warp * pitch.by_warp + lane * pitch.by_lane);
    }
    return bytes;
  };
  EXPECT_EQ(targets(Target::same).size(), 1U);
  EXPECT_EQ(targets(Target::warp).size(), warps_per_sm);
  EXPECT_EQ(targets(Target::disjoint).size(), block_threads);
  EXPECT_EQ(*targets(Target::disjoint).rbegin() + 8, block_threads * 8);
}

TEST(AtomicsPlaces, OfAWarpAloneAreOfBothHalvesOfL2) {
  std::vector<double> cycles(candidates);
  std::set<std::uint32_t> far;
  for (std::uint32_t i = 0; i < candidates; ++i) {
    const bool is_far = i % 3 == 0;
    if (is_far) far.insert(i);
    cycles[i] = (is_far ? 590 : 379) + i % 7;
  }
  const two_sides::Homes homes = two_sides::balanced(cycles);
  EXPECT_TRUE(homes.are_two);
  EXPECT_EQ(std::set(homes.order.begin(), homes.order.end()).size(), candidates);
  const auto first = homes.order.begin();
  EXPECT_EQ(std::count_if(first, first + places_alone, [&](auto i) { return far.contains(i); }),
            places_alone / 2);
  const auto offsets = two_sides::candidate_offsets(homes.order);
  const std::set<std::uint32_t> distinct(offsets.begin(), offsets.end());
  EXPECT_EQ(distinct.size(), candidates);
  EXPECT_LE(*distinct.rbegin() + 256, candidates * two_sides::candidate_pitch);
}

TEST(AtomicsPlaces, OfAWarpAloneAreTheFirstWhereL2HasOnePart) {
  std::vector<double> cycles(candidates);
  for (std::uint32_t i = 0; i < candidates; ++i)
    cycles[i] = 280 + i;
  EXPECT_FALSE(two_sides::balanced(cycles).are_two);
  EXPECT_EQ(two_sides::balanced(cycles).order.at(5), 5U);
  cycles.assign(candidates, 280);
  for (std::uint32_t i = 0; i < places_alone / 2 - 1; ++i)
    cycles[i] = 500;  // too few of them
  EXPECT_FALSE(two_sides::balanced(cycles).are_two);
}

TEST(AtomicsPlaces, OfSeveralVisitsHaveWorkersOfTheirOwn) {
  for (const auto& variant : variants()) {
    const Places one = Places::of_threads(variant, lone_warp);
    const Places all = one.times(3);
    ASSERT_EQ(all.words, 3 * one.words);
    ASSERT_EQ(all.target.size(), 3U * warp_lanes);
    EXPECT_EQ(all.area, one.area);
    EXPECT_EQ(all.target.at(2 * warp_lanes + 5), 2 * one.words + one.target.at(5));
  }
}

TEST(AtomicsRows, OfGlobalMemoryAreOfBothHalves) {
  const Params params{
      {"space", "global"}, {"operation", "add_int"}, {"returns", "yes"}, {"target", "disjoint"}};
  Experiment experiment = describe(params, example_gpu());
  two_sides::add_sides(experiment, "atomic_latency", /*are_two=*/true);
  const Launched brief{.length = {.rounds = 16, .work = 16}, .stamps = {Stamp{}}};
  Launched full{.length = {.rounds = 80, .work = 80}, .stamps = {Stamp{}}};
  for (std::uint32_t place = 0; place < places_alone; ++place)
    full.cells.push_back(80 * (place % 2 == 0 ? 379.0 : 590.0));
  Sample sample;
  for (int i = 0; i < 2; ++i) {
    sample.slopes.push_back(
        {.inside = {.cycles = 16, .slowest = 16, .hertz = 1e9}, .outside = 16, .seconds = 16e-9});
  }
  sample.slopes[0].inside = {.cycles = 484.5 * places_alone,
                             .hertz = 1e9,
                             .cells = experiment.slopes[0].window.read(brief, full).cells};
  const auto rows = rows_of(experiment, cuda_timers, sample);
  EXPECT_DOUBLE_EQ(rows.at("atomic_latency by clock64_slope").value, 484.5);
  EXPECT_DOUBLE_EQ(rows.at("atomic_latency_near by clock64_of_words").value, 379);
  EXPECT_DOUBLE_EQ(rows.at("atomic_latency_far by clock64_of_words").value, 590);
  EXPECT_EQ(std::get<std::string>(experiment.facts(experiment).at("latency_homes")),
            "half near, half far");

  Experiment of_one = describe(params, example_gpu());
  two_sides::add_sides(of_one, "atomic_latency", /*are_two=*/false);
  EXPECT_FALSE(
      rows_of(of_one, cuda_timers, sample).contains("atomic_latency_near by clock64_of_words"));
}

TEST(AtomicsSizes, KeepFloatsExact) {
  constexpr LaunchShape chip = full_chip(132);
  for (const auto& variant : variants()) {
    const std::uint32_t operations =
        operations_for(variant.operation, Places::of_threads(variant, chip), unroll, 2.5e-4, 1e-12);
    EXPECT_EQ(operations % unroll, 0U);
    EXPECT_GE(operations, 2 * unroll);
    if (variant.operation != Operation::add_float) continue;
    const std::uint64_t sharers = variant.target == Target::disjoint    ? 1
                                  : variant.target == Target::warp      ? warp_lanes
                                  : variant.space == StateSpace::shared ? block_threads
                                                                        : chip.threads();
    EXPECT_LT(4 + sharers * operations * 2, exact_floats);
  }
}

// --------------------------------------------------------------------------------------- on a CPU

constexpr std::size_t some_cores = 5;

std::vector<Variant> host_variants() {
  std::vector<Variant> all;
  for (const Target target : {Target::same, Target::line, Target::disjoint}) {
    for (const Operation operation :
         {Operation::add_int, Operation::add_float, Operation::add_int64, Operation::cas_int,
          Operation::exch_int})
      all.push_back({.space = StateSpace::global, .target = target, .operation = operation});
  }
  return all;
}

/// What a core did, and what its chains hold at the end.
struct CoreResult {
  std::uint64_t operations = 0;
  std::uint32_t left = 0;
};
struct SimulatedCores {
  std::vector<std::uint64_t> words;
  std::vector<CoreResult> cores;
};

/// What cores do that have their turns in some order, some of them more often than others.
SimulatedCores simulate_cores(const Variant& variant, std::size_t cores, std::uint32_t chains,
                              std::uint64_t seed) {
  const std::uint64_t mask =
      variant.operation == Operation::add_int64 ? ~std::uint64_t{0} : 0xFFFFFFFFU;
  const Places places = Places::of_cores(variant, cores);
  SimulatedCores done{.words = std::vector<std::uint64_t>(places.words),
                      .cores = std::vector<CoreResult>(cores)};
  for (std::uint32_t i = 0; i < done.words.size(); ++i)
    done.words[i] = initial_word(variant.operation, i);
  std::vector<std::vector<std::uint64_t>> held(cores);
  std::vector<std::uint32_t> turns;
  for (std::uint32_t core = 0; core < cores; ++core) {
    for (std::uint32_t c = 0; c < chains; ++c)
      held[core].push_back(operand_of(variant.operation, core, c));
    turns.insert(turns.end(), std::size_t{chains} * (3 + core), core);
  }
  for (const std::uint32_t turn : random_order(static_cast<std::uint32_t>(turns.size()), seed)) {
    const std::uint32_t core = turns[turn];
    CoreResult& mine = done.cores[core];
    std::uint64_t& word = done.words.at(places.target[core]);
    std::uint64_t& mine_now = held[core][mine.operations++ % chains];
    const std::uint64_t old = word;
    if (variant.operation == Operation::exch_int) {
      word = mine_now;
      mine_now = old;
    } else if (variant.operation == Operation::cas_int) {
      if (old == mine_now) {
        word = (old + swap_step) & mask;
        ++mine.left;
      }
      mine_now = old;
    } else {
      word = (old + mine_now) & mask;
    }
  }
  for (std::size_t core = 0; core < cores; ++core) {
    for (const std::uint64_t mine : held[core]) {
      if (variant.operation == Operation::exch_int)
        done.cores[core].left += hashed_word(static_cast<std::uint32_t>(mine));
      else if (is_addition(variant.operation))
        done.cores[core].left += static_cast<std::uint32_t>(mine);
    }
  }
  return done;
}

Tally compare(const Variant& variant, std::uint32_t chains, const std::vector<std::uint64_t>& words,
              const std::vector<CoreResult>& cores) {
  std::vector<std::uint32_t> left;
  for (const CoreResult& core : cores)
    left.push_back(core.left);
  Tally tally;
  comparison(variant.operation, chains, Places::of_cores(variant, cores.size()))(
      words, left, [&](std::size_t core) { return cores[core].operations; }, tally);
  return tally;
}

TEST(AtomicsOfCores, AreAcceptedInEveryOrderAndWithUnequalShares) {
  for (const auto& variant : host_variants()) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const auto done = simulate_cores(variant, some_cores, in_flight, seed);
      const auto compared = compare(variant, in_flight, done.words, done.cores);
      EXPECT_EQ(compared.different, 0U);
      EXPECT_GE(compared.checked, done.words.size());
    }
    const auto alone = simulate_cores(variant, 1, 1, 1);
    EXPECT_EQ(compare(variant, 1, alone.words, alone.cores).different, 0U);
  }
}

TEST(AtomicsOfCores, ShowAWrongWordAndAWrongCore) {
  for (const auto& variant : host_variants()) {
    const auto done = simulate_cores(variant, some_cores, in_flight, 1);
    for (std::size_t i = 0; i < done.words.size(); i += 3) {
      auto words = done.words;
      ++words[i];
      EXPECT_GE(compare(variant, in_flight, words, done.cores).different, 1U);
    }
    auto cores = done.cores;
    ++cores.back().left;
    EXPECT_GE(compare(variant, in_flight, done.words, cores).different, 1U);
    if (!is_addition(variant.operation)) continue;
    cores = done.cores;
    cores.front().operations += in_flight;  // reported, but not in the word
    EXPECT_GE(compare(variant, in_flight, done.words, cores).different, 1U);
  }
}

TEST(AtomicsOfCores, DetectAnUncontendedSwapThatDoesNotWinEverySecondTime) {
  const Variant variant{
      .space = StateSpace::global, .target = Target::same, .operation = Operation::cas_int};
  auto alone = simulate_cores(variant, 1, 1, 1);
  alone.cores.front().operations += 2;
  EXPECT_EQ(compare(variant, 1, alone.words, alone.cores).different, 1U);
}

TEST(AtomicsPlaces, OfCoresShareALineOrTwoOrNone) {
  for (const Operation operation : {Operation::add_int, Operation::add_int64}) {
    const std::uint32_t width = width_of(operation);
    const auto words = [&](Target target) {
      return Places::of_cores({.target = target, .operation = operation}, 8).target;
    };
    const auto set_of = [](const auto& all) {
      return std::set<std::size_t>(all.begin(), all.end());
    };
    const auto same = set_of(words(Target::same));
    const auto line = set_of(words(Target::line));
    std::set<std::size_t> pairs;
    for (const std::size_t word : words(Target::disjoint)) {
      pairs.insert(word * width / core_pitch);
      const Variant variant{.target = Target::disjoint, .operation = operation};
      EXPECT_EQ(Places::of_cores(variant, pairs.size()).words * width, pairs.size() * core_pitch);
    }
    EXPECT_EQ(same.size(), 1U);
    EXPECT_EQ(line.size(), 8U);
    EXPECT_LE((*line.rbegin() + 1) * width, 64U);
    EXPECT_EQ(pairs.size(), 8U);
  }
  const Variant line{.target = Target::line, .operation = Operation::add_int64};
  EXPECT_EQ(Places::of_cores(line, 17).words, 32U);
  EXPECT_THROW((void)Places::of_cores({.target = Target::warp}, 1), std::logic_error);
}

// ----------------------------------------------------------------------------------------- rows

class AtomicsOnThisCpu : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(AtomicsOnThisCpu, LeaveTheRightWordsBehind) {
  const auto& [operation, returns] = GetParam();
  const bool returned = std::string{returns} == "yes";
  for (const char* const target : {"same", "line", "disjoint"}) {
    const CaseRecord record = measure_here(
        "atomics",
        {{"space", "global"}, {"operation", operation}, {"returns", returns}, {"target", target}},
        6, /*dependent=*/returned);
    std::set<std::string> quantities;
    for (const auto& m : record.measurements)
      quantities.insert(m.quantity);
    EXPECT_EQ(quantities.contains("atomic_latency"), returned);
    for (const char* const quantity :
         {"core_atomic_cycles", "atomics_per_cycle", "atomic_rate", "core_clock"})
      EXPECT_TRUE(quantities.contains(quantity)) << quantity;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, AtomicsOnThisCpu,
    testing::Values(std::tuple{"add_int", "yes"}, std::tuple{"add_int", "no"},
                    std::tuple{"add_int64", "yes"}, std::tuple{"add_int64", "no"},
                    std::tuple{"add_float", "yes"}, std::tuple{"cas_int", "yes"},
                    std::tuple{"exch_int", "yes"}),
    [](const auto& row) {
      return std::string{std::get<0>(row.param)} + "_" + std::get<1>(row.param);
    });

}  // namespace
}  // namespace strata::atomics
