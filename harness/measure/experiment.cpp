#include "harness/measure/experiment.hpp"

#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace strata {
namespace {

double cycles_of(const Stamp& stamp) {
  return static_cast<double>(stamp.cycles[1] - stamp.cycles[0]);
}
double seconds_of(const Stamp& stamp) {
  constexpr double nano = 1e-9;
  return static_cast<double>(stamp.nanoseconds[1] - stamp.nanoseconds[0]) * nano;
}

double work_between(const Launched& brief, const Launched& full) {
  return full.length.work - brief.length.work;
}

double slowest_of(const Launched& launched) {
  double most = 0;
  for (const Stamp& stamp : launched.stamps)
    most = std::max(most, cycles_of(stamp));
  return most;
}

/// The clock, as the slope of the sums over all writers.
double hertz_of_sums(const Launched& brief, const Launched& full) {
  double cycles = 0;
  double seconds = 0;
  for (const Stamp& stamp : full.stamps) {
    cycles += cycles_of(stamp);
    seconds += seconds_of(stamp);
  }
  for (const Stamp& stamp : brief.stamps) {
    cycles -= cycles_of(stamp);
    seconds -= seconds_of(stamp);
  }
  return cycles / seconds;
}

Inside all_alike(double cycles, double hertz) {
  return {.cycles = cycles,
          .slowest = cycles,
          .low = cycles,
          .high = cycles,
          .hertz = hertz,
          .cells = {}};
}

double median_window_of_sms(const Launched& launched, std::size_t writers) {
  std::vector<double> of_sms;
  for (std::size_t first = 0; first + writers <= launched.stamps.size(); first += writers) {
    std::uint64_t begin = launched.stamps[first].cycles[0];
    std::uint64_t end = launched.stamps[first].cycles[1];
    for (std::size_t i = first; i < first + writers; ++i) {
      begin = std::min(begin, launched.stamps[i].cycles[0]);
      end = std::max(end, launched.stamps[i].cycles[1]);
    }
    of_sms.push_back(static_cast<double>(end - begin));
  }
  return median(of_sms);
}

}  // namespace

Lengths fifth_and_whole(std::uint32_t rounds, double work_of_round) {
  const std::uint32_t brief = rounds / 5;
  return {.brief = {.rounds = brief, .work = brief * work_of_round},
          .full = {.rounds = rounds, .work = rounds * work_of_round}};
}

Lengths size_by_trials(const std::function<Launched(const Length&)>& run, std::uint32_t unit,
                       const std::function<std::uint32_t(double)>& rounds_for) {
  constexpr std::uint32_t factor = 4;
  constexpr double clear_seconds = 3e-5;
  const auto length = [](std::uint32_t rounds) {
    return Length{.rounds = rounds, .work = double{1} * rounds};
  };
  const auto seconds = [&](std::uint32_t rounds) { return run(length(rounds)).seconds; };
  const std::uint32_t most = rounds_for(0);
  const std::uint32_t small = 2 * unit;
  std::uint32_t large = std::min(3 * small, most);
  (void)seconds(small);  // loads the code
  const double first = seconds(small);
  double longer = seconds(large) - first;
  while (longer < clear_seconds && factor * large <= most) {
    large *= factor;
    longer = seconds(large) - first;
  }
  const std::uint32_t full = rounds_for(longer / std::max(large - small, 1U));
  return {.brief = length(std::max(full / 5 / unit, 1U) * unit), .full = length(full)};
}

Window slowest_writer() {
  return {.name = "slowest writer", .read = [](const Launched& brief, const Launched& full) {
            return all_alike((slowest_of(full) - slowest_of(brief)) / work_between(brief, full),
                             median_hertz(full));
          }};
}

Window slowest_writer_by_sums() {
  return {.name = "slowest writer", .read = [](const Launched& brief, const Launched& full) {
            return all_alike((slowest_of(full) - slowest_of(brief)) / work_between(brief, full),
                             hertz_of_sums(brief, full));
          }};
}

Window median_sm(std::size_t writers) {
  return {.name = "median SM", .read = [writers](const Launched& brief, const Launched& full) {
            return all_alike(
                (median_window_of_sms(full, writers) - median_window_of_sms(brief, writers)) /
                    work_between(brief, full),
                median_hertz(full));
          }};
}

Window each_core() {
  return {.name = "each core", .read = [](const Launched& brief, const Launched& full) {
            const double work = work_between(brief, full);
            std::vector<double> each;
            for (const Stamp& stamp : full.stamps) {
              const auto same = full.stamps.size() == 1
                                    ? brief.stamps.begin()
                                    : std::ranges::find(brief.stamps, stamp.core, &Stamp::core);
              if (same == brief.stamps.end()) {
                throw std::runtime_error{"two launches ran on different cores"};
              }
              each.push_back((cycles_of(stamp) - cycles_of(*same)) / work);
            }
            return Inside{.cycles = median(each),
                          .slowest = (slowest_of(full) - slowest_of(brief)) / work,
                          .low = *std::ranges::min_element(each),
                          .high = *std::ranges::max_element(each),
                          .hertz = median_hertz(full),
                          .cells = {}};
          }};
}

std::function<void(const Call&, std::span<const Stamp>, Tally&)> results_are(
    std::function<std::uint64_t(const Call&)> expected) {
  return [expected = std::move(expected)](const Call& call, std::span<const Stamp> stamps,
                                          Tally& tally) {
    const std::uint64_t wanted = expected(call);
    for (const Stamp& stamp : stamps)
      tally.one(stamp.result == wanted);
  };
}

std::function<void(const Call&, std::span<const Stamp>, Tally&)> results_are(
    std::function<std::uint64_t(const Call&, std::size_t)> expected) {
  return [expected = std::move(expected)](const Call& call, std::span<const Stamp> stamps,
                                          Tally& tally) {
    for (std::size_t i = 0; i < stamps.size(); ++i)
      tally.one(stamps[i].result == expected(call, i));
  };
}

std::function<void(const Call&, std::span<const Stamp>, Tally&)> results_add_up_to(
    std::function<std::uint32_t(const Call&)> expected) {
  return [expected = std::move(expected)](const Call& call, std::span<const Stamp> stamps,
                                          Tally& tally) {
    std::uint32_t sum = 0;
    for (const Stamp& stamp : stamps)
      sum += static_cast<std::uint32_t>(stamp.result);
    tally.one(sum == expected(call));
  };
}

Value of_slope(std::function<double(const Seen&)> value, std::size_t index) {
  return [value = std::move(value), index](const Sample& seen) {
    return value(seen.slopes.at(index));
  };
}

Value cycles_of(std::size_t index, double scale) {
  return of_slope([scale](const Seen& seen) { return seen.inside.cycles * scale; }, index);
}

Value outside_of(std::size_t index, double scale) {
  return of_slope([scale](const Seen& seen) { return seen.outside * scale; }, index);
}

Value number_at(std::size_t index) {
  return [index](const Sample& seen) { return seen.numbers.at(index); };
}

Value per_second(double amount, std::size_t index) {
  return of_slope([amount](const Seen& seen) { return amount / seen.seconds; }, index);
}

Value per_cycle(double amount, std::size_t index) {
  return of_slope([amount](const Seen& seen) { return amount / seen.inside.cycles; }, index);
}

Row grid_time(std::size_t index) {
  return {"grid_time", "s", By::whole,
          of_slope([](const Seen& seen) { return seen.full_seconds; }, index)};
}

void add_both(Experiment& experiment, const std::string& quantity, const std::string& unit,
              std::size_t slope, double scale) {
  experiment.rows.push_back({quantity, unit, By::inside, cycles_of(slope, scale)});
  experiment.rows.push_back({quantity, unit, By::outside, outside_of(slope, scale)});
  const Value slowest =
      of_slope([scale](const Seen& seen) { return seen.inside.slowest * scale; }, slope);
  experiment.checks.emplace_back(
      TimerPair{slowest, By::inside, outside_of(slope, scale), By::outside});
}

Experiment bandwidth_of(std::size_t cores, const std::string& quantity) {
  const Value inside = per_cycle(1);
  const Value outside = of_slope([](const Seen& seen) { return 1 / seen.outside; });
  Experiment experiment;
  experiment.rows = {{quantity, "B/s", By::outside, per_second(static_cast<double>(cores))},
                     {quantity + "_per_sm", "B/cycle", By::inside, inside},
                     {quantity + "_per_sm", "B/cycle", By::outside, outside},
                     grid_time()};
  experiment.checks.emplace_back(TimerPair{inside, By::inside, outside, By::outside});
  return experiment;
}

std::function<Lengths(const std::function<Launched(const Length&)>&)> lengths_by_trial(
    double seconds, double work_of_round) {
  return [=](const std::function<Launched(const Length&)>& run) {
    constexpr std::uint32_t few = 32;
    constexpr std::uint32_t many = 4 * few;
    constexpr double least_seconds = 1e-6;
    constexpr double least_rounds = 10;
    (void)run({.rounds = few});  // loads the code
    const double brief = run({.rounds = few}).seconds;
    const double full = run({.rounds = many}).seconds;
    const double of_round = std::max(full - brief, least_seconds) / (many - few);
    return fifth_and_whole(
        static_cast<std::uint32_t>(std::max(least_rounds, std::floor(seconds / of_round))),
        work_of_round);
  };
}

double median_hertz(const Launched& launched) {
  std::vector<double> hertz;
  hertz.reserve(launched.stamps.size());
  for (const Stamp& stamp : launched.stamps)
    hertz.push_back(cycles_of(stamp) / seconds_of(stamp));
  const auto missing =
      std::ranges::count_if(hertz, [](double rate) { return !std::isfinite(rate); });
  if (missing > 0) {
    throw NoClock{fmt::format("{} of {} writers have no rate of the clock", missing, hertz.size())};
  }
  return median(hertz);
}

StampedSteps stamped_steps(std::span<const Stamp> stamps) {
  constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
  constexpr double nano = 1e-9;
  std::uint64_t first = 0;
  std::uint64_t last = none;
  std::vector<double> hertz;
  for (const Stamp& stamp : stamps) {
    const auto [before, after] = stamp.nanoseconds;
    if (before != none) first = std::max(first, before);
    if (after != 0) last = std::min(last, after);
    if (before == none || after == 0) continue;
    hertz.push_back(cycles_of(stamp) / seconds_of(stamp));
  }
  if (hertz.empty()) throw std::runtime_error{"no SM wrote both stamps"};
  return {.seconds = static_cast<double>(last - first) * nano, .core_hertz = median(hertz)};
}

}  // namespace strata
