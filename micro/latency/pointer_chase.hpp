// Shared by all benchmarks that follow a chain of loads: where launches begin and end, their
// lengths, and their rows and gates.
#pragma once

#include "harness/measure/experiment.hpp"
#include "micro/pattern/permuted_chain.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

namespace strata::pointer_chase {

/// Loads between two tests of a loop: every launch has a multiple of this.
inline constexpr std::uint32_t unroll = 16;

/// Of fewer than 2^32 loads.
[[nodiscard]] constexpr std::uint32_t in_whole_turns(std::uint64_t loads) {
  return static_cast<std::uint32_t>((loads + unroll - 1) / unroll * unroll);
}

[[nodiscard]] constexpr Length length_of(std::uint32_t loads) {
  return {.rounds = loads, .work = static_cast<double>(loads)};
}

/// Launches whose difference takes about `cycles`, and at least a third of the `warm` loads, whose
/// time varies. None has more than `most` including those; throws std::length_error if too few
/// remain.
[[nodiscard]] inline Lengths lengths_for(double cycles, double cycles_of_load, std::uint32_t warm,
                                         std::uint64_t most) {
  constexpr double cap = 1U << 16U;
  const double wanted = std::max(cycles / std::max(cycles_of_load, 1.0), warm / 3.0);
  // The long launch is a quarter longer than the difference.
  const double room = most > warm ? static_cast<double>(most - warm) / 1.25 : 0;
  const auto turns = static_cast<std::uint32_t>(std::min({wanted, cap, room}) / unroll);
  if (turns < 4) throw std::length_error{"the chain is too short to be timed"};
  const std::uint32_t brief = turns / 4 * unroll;
  return {.brief = length_of(brief), .full = length_of(brief + turns * unroll)};
}

/// The chain of a case, and where each launch begins and must end. Must outlive its experiment.
struct Chase {
  /// The loaded value at a step of the cycle: an address or an index.
  std::function<std::uint64_t(std::uint64_t step)> word_at;
  CycleWalks walks;
  std::size_t walkers = 1;  ///< a core each
  std::uint32_t warm = 0;   ///< loads of each launch before the clock is read
  std::uint64_t first = 0;  ///< step at which walker 0 begins the next launch
  std::uint64_t begin = 0;  ///< word_at(first)
  std::uint32_t core = 0;   ///< of walker 0 in the last launch

  /// Continues where the last launch ended.
  void go_on(const Call& call) { begin_at(walks.begin(loads_of(call))); }
  void begin_at(std::uint64_t step) {
    first = step;
    begin = word_at(step);
  }
  [[nodiscard]] std::uint64_t end_of(std::size_t walker, const Call& call) const {
    return word_at(walks.end(first, walker, loads_of(call)));
  }
  [[nodiscard]] std::uint64_t loads_of(const Call& call) const {
    return std::uint64_t{warm} + call.length.rounds;
  }
};

/// The first `words` words of memory that holds a chain of byte offsets.
[[nodiscard]] inline std::vector<std::uint32_t> words_of(const PermutedChain& chain,
                                                         std::size_t words) {
  std::vector<std::uint32_t> result(words, 0x9E3779B9U);
  for (std::uint64_t step = 0; step < chain.cycle.slots(); ++step) {
    result[chain.address_at(step) / sizeof(std::uint32_t)] =
        static_cast<std::uint32_t>(chain.address_at(step + 1));
  }
  return result;
}

/// How the lengths of launches are determined.
struct Sizing {
  std::uint32_t pilot = 256;  ///< loads of a trial launch
  double cycles = 5e5;        ///< of the difference of the long launch and the short one
  double least_loads = 0;     ///< minimum loads in it, however long they take
};

/// Slope, rows and gates of a chase; the caller makes the launch. The outer timer waits for the
/// last core, so with several walkers it times the slowest.
[[nodiscard]] inline Experiment describe(Chase& chase, const Sizing& sizing) {
  Experiment experiment;
  Slope& slope = experiment.slopes.emplace_back();
  slope.prepare = [&chase](const Call& call) { chase.go_on(call); };
  slope.verify = [&chase](const Call& call, std::span<const Stamp> stamps, Tally& tally) {
    chase.core = stamps.front().core;
    for (std::size_t walker = 0; walker < chase.walkers; ++walker)
      tally.one(stamps[walker].result == chase.end_of(walker, call));
  };
  slope.size = [&chase, sizing](const std::function<Launched(const Length&)>& run) {
    const Length pilot{.rounds = sizing.pilot};
    (void)run(pilot);  // may meet code and translations for the first time
    std::uint64_t slowest = 0;
    for (const Stamp& stamp : run(pilot).stamps)
      slowest = std::max(slowest, stamp.cycles[1] - stamp.cycles[0]);
    const double of_load = static_cast<double>(slowest) / sizing.pilot;
    return lengths_for(std::max(sizing.cycles, sizing.least_loads * of_load), of_load, chase.warm,
                       chase.walks.most_loads());
  };
  slope.writers = chase.walkers;
  slope.window = each_core();
  if (chase.walkers == 1) {
    add_both(experiment, "load_cycles", "cycle");
    experiment.rows.push_back(
        {"load_time", "s", By::outside, of_slope([](const Seen& seen) { return seen.seconds; })});
  } else {
    const auto inside = [](double Inside::*number) {
      return of_slope([number](const Seen& seen) { return seen.inside.*number; });
    };
    experiment.rows = {{"load_cycles", "cycle", By::inside, cycles_of()},
                       {"load_cycles_nearest", "cycle", By::inside, inside(&Inside::low)},
                       {"load_cycles_farthest", "cycle", By::inside, inside(&Inside::high)},
                       {"load_cycles_farthest", "cycle", By::outside, outside_of()}};
    experiment.checks.emplace_back(
        TimerPair{inside(&Inside::slowest), By::inside, outside_of(), By::outside});
  }
  experiment.checked = "chain ends against the cycle";
  experiment.checks.emplace_back(Dependence{"ends of chains", {}});
  experiment.facts = [&chase](const Experiment& done) {
    Facts facts{{"slots", static_cast<std::int64_t>(chase.walks.slots())},
                {"loads", std::int64_t{done.slopes[0].lengths.full.rounds}},
                {"warm_loads", std::int64_t{chase.warm}}};
    if (chase.walkers == 1) facts["sm"] = std::int64_t{chase.core};
    return facts;
  };
  return experiment;
}

/// `loads` of one lane by each walker: a request and a sector each. If L2 holds none of it, it
/// fetches `fetched` sectors for each.
[[nodiscard]] inline CountPlan counts_of(const Chase& chase, std::uint32_t loads,
                                         std::uint64_t fetched = 1) {
  const std::uint64_t all = std::uint64_t{loads} * chase.walkers;
  return {
      .length = {.rounds = loads},
      .loads = LoadPrediction{.requests = all, .sectors = all, .fetched_sectors = fetched * all},
      .rows = LoadRows::per_load,
      .reads = static_cast<double>(all)};
}

}  // namespace strata::pointer_chase
