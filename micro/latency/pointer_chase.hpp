// What every benchmark that follows a chain of loads shares: how long its walks are, and what it
// reports of them.
#pragma once

#include "harness/measure/counted_loads.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"
#include "harness/measure/timed.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::pointer_chase {

/// Loads between two tests of a loop: every walk has a multiple of them.
inline constexpr std::uint32_t unroll = 16;

[[nodiscard]] constexpr std::uint64_t in_whole_turns(std::uint64_t loads) {
  return (loads + unroll - 1) / unroll * unroll;
}

/// Loads of a walk: `warm` before the clock is read, `brief` or `full` between two readings.
struct Loads {
  std::uint32_t warm = 0;
  std::uint32_t brief = 0;
  std::uint32_t full = 0;
  [[nodiscard]] double slope() const { return static_cast<double>(full - brief); }
};

/// Walks whose difference takes about `cycles` where a load takes `cycles_of_load`; the short one
/// is a quarter of the difference. Warm loads cost time too and their time varies: the difference
/// takes no less than a third of theirs. No walk, with its warm loads, has more than `most`.
[[nodiscard]] inline Loads loads_for(double cycles, double cycles_of_load, std::uint32_t warm,
                                     std::uint64_t most) {
  constexpr double cap = 1U << 16U;
  const double wanted = std::max(cycles / std::max(cycles_of_load, 1.0), warm / 3.0);
  // A quarter more than the difference is the long walk.
  const double room = most > warm ? static_cast<double>(most - warm) / 1.25 : 0;
  const double difference = std::min({wanted, cap, room});
  const auto turns = static_cast<std::uint32_t>(difference / unroll);
  if (turns < 4) throw std::length_error{"the chain is too short for a walk that can be timed"};
  const std::uint32_t brief = turns / 4 * unroll;
  return {.warm = warm, .brief = brief, .full = brief + turns * unroll};
}

/// What one core saw of one walk.
struct Walk {
  std::uint32_t core = 0;
  double cycles = 0;
  double seconds = 0;
};

/// What a pair of launches, short and long, showed.
struct Observation {
  double inside = 0;    ///< cycles of a load by the core's own clock, median over the cores
  double nearest = 0;   ///< of the core where it is least
  double farthest = 0;  ///< of the core where it is most
  double slowest = 0;   ///< by the cores that took longest in each launch
  double outside = 0;   ///< cycles of a load by the timer outside
  double seconds = 0;   ///< of a load, by the timer outside
  double core_hertz = 0;
};

/// Puts a pair of launches together. Cores are matched by name; every core must be in both. A
/// single walker is taken as it is: nothing promises that two launches of one block meet the same
/// core.
[[nodiscard]] inline Observation observed(const std::vector<Walk>& brief, double brief_seconds,
                                          const std::vector<Walk>& full, double full_seconds,
                                          const Loads& loads) {
  std::vector<double> each;
  std::vector<double> hertz;
  double most_brief = 0;
  double most_full = 0;
  for (const Walk& one : full) {
    const auto same =
        full.size() == 1 ? brief.begin() : std::ranges::find(brief, one.core, &Walk::core);
    if (same == brief.end()) throw std::runtime_error{"two launches ran on different cores"};
    each.push_back((one.cycles - same->cycles) / loads.slope());
    hertz.push_back(one.cycles / one.seconds);
    most_brief = std::max(most_brief, same->cycles);
    most_full = std::max(most_full, one.cycles);
  }
  const double core_hertz = median(hertz);
  const double seconds = (full_seconds - brief_seconds) / loads.slope();
  return {.inside = median(each),
          .nearest = *std::ranges::min_element(each),
          .farthest = *std::ranges::max_element(each),
          .slowest = (most_full - most_brief) / loads.slope(),
          .outside = seconds * core_hertz,
          .seconds = seconds,
          .core_hertz = core_hertz};
}

/// What the two timers and their unit are called.
struct Timers {
  const char* unit = "cycle";
  const char* inside = "clock64_slope";
  const char* outside = "event_slope";
  const char* clock = "clock64_over_globaltimer";
};

/// Adds every timed quantity and the timer and clock gates. The timer outside waits for the last
/// core, so where several cores walk it times the slowest of them.
inline void report(Session& session, const Collection<Observation>& seen, std::size_t cores,
                   const Timers& timers) {
  const Timed timed{session, seen};
  timed.add("load_cycles", timers.unit, timers.inside, &Observation::inside);
  if (cores == 1) {
    timed.add("load_cycles", timers.unit, timers.outside, &Observation::outside);
    timed.add("load_time", "s", timers.outside, &Observation::seconds);
  } else {
    timed.add("load_cycles_nearest", timers.unit, timers.inside, &Observation::nearest);
    timed.add("load_cycles_farthest", timers.unit, timers.inside, &Observation::farthest);
    timed.add("load_cycles_farthest", timers.unit, timers.outside, &Observation::outside);
  }
  timed.core_clock(timers.clock, &Observation::core_hertz);
  timed.timers(&Observation::slowest, timers.inside, &Observation::outside, timers.outside);
}

/// Adds what was counted of `loads` loads of one lane each: what they asked for, beside the model,
/// and who had it. Then the gate `model`: one request and one sector each, exactly. L2 counts
/// `sectors_of_miss` missed sectors for each that was asked for and not there: those that it
/// fetches at once.
inline void report_counts(Session& session, const LoadCounts& net, std::uint64_t loads,
                          double sectors_of_miss = 1) {
  const auto row = [&](const char* quantity, const char* unit, Provenance provenance,
                       const char* method, double value) {
    session.add(Measurement{.quantity = quantity,
                            .unit = unit,
                            .provenance = provenance,
                            .method = method,
                            .samples = {value}});
  };
  const auto counted = [&](const char* quantity, const char* unit, double value) {
    row(quantity, unit, Provenance::counted, "cupti_net", value);
  };
  counted("requests_per_load", "request", net.requests / static_cast<double>(loads));
  row("requests_per_load", "request", Provenance::modelled, "coalescing_model", 1);
  counted("sectors_per_load", "sector", net.sectors / static_cast<double>(loads));
  row("sectors_per_load", "sector", Provenance::modelled, "coalescing_model", 1);
  if (net.sectors > 0) counted("l1_hit_share", "1", net.l1_hit_sectors / net.sectors);
  // Beside a walk that stays in L1 next to nothing reaches L2: a share of it would be noise.
  if (net.l2_sectors > level_bound * net.sectors) {
    const double missed = net.l2_miss_sectors / net.l2_sectors;
    counted("l2_missed_sectors_per_load", "sector", missed);
    if (missed / sectors_of_miss <= 1 + level_bound) {
      counted("l2_hit_share", "1", std::max(1 - missed / sectors_of_miss, 0.0));
    }
    if (net.dram_bytes) {
      counted("dram_share", "1",
              *net.dram_bytes / (net.l2_sectors * static_cast<double>(sector_bytes)));
    }
  }
  session.add(
      model_gate(LoadPrediction{.requests = loads, .sectors = loads, .repeated_sectors = 0}, net));
}

}  // namespace strata::pointer_chase
