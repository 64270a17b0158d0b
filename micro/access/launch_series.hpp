// The time of a kernel in a series of equal launches: the time of one more launch, without launch
// overhead. Rows and timers of kernels that are timed as a whole.
#pragma once

#include "harness/measure/experiment.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace strata::launch_series {

/// How often the work is done in the shorter and the longer series.
struct Series {
  std::uint32_t few = 1;
  std::uint32_t many = 3;
};

/// Rows of the work's seconds by two timers, and of the bandwidth of its `bytes` by the outer one.
[[nodiscard]] inline Experiment described(double bytes, const Value& first,
                                          const Method& first_method, const Value& second,
                                          const Method& second_method) {
  Experiment experiment;
  experiment.rows = {{"kernel_time", "s", first_method, first},
                     {"kernel_time", "s", second_method, second},
                     {"useful_bandwidth", "B/s", By::outside,
                      [bytes, seconds = first_method.timer == By::outside ? first : second](
                          const Sample& seen) { return bytes / seconds(seen); }}};
  experiment.checks.emplace_back(TimerPair{first, first_method, second, second_method});
  experiment.facts = [bytes](const Experiment&) {
    return Facts{{"footprint_bytes", static_cast<std::int64_t>(bytes)}};
  };
  return experiment;
}

/// On a GPU. Samples hold the seconds of the shorter series and of the longer one by events, the
/// same two by replays of a graph, and the clock of the core.
[[nodiscard]] inline Experiment on_gpu(double bytes, const Series& series) {
  const auto slope_of = [&](std::size_t first) -> Value {
    return [first, more = static_cast<double>(series.many - series.few)](const Sample& seen) {
      return (seen.numbers.at(first + 1) - seen.numbers.at(first)) / more;
    };
  };
  Experiment experiment = described(bytes, slope_of(0), By::outside, slope_of(2), "graph_slope");
  experiment.core_hertz = number_at(4);
  return experiment;
}

/// On a CPU: one slope, by passes.
[[nodiscard]] inline Experiment on_cpu(double bytes) {
  const Value inside =
      of_slope([](const Seen& seen) { return seen.inside.cycles / seen.inside.hertz; });
  const Value outside = of_slope([](const Seen& seen) { return seen.seconds; });
  Experiment experiment = described(bytes, inside, By::inside, outside, By::outside);
  experiment.unproved = {.gate = "level", .why = "no hardware counters on the host"};
  return experiment;
}

/// The counts of one launch, whose traffic `model` predicts.
[[nodiscard]] inline CountPlan count_launch(const LaunchTraffic& traffic, const char* model) {
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  return {
      .length = {.rounds = 1},
      .expected = {{.quantity = "l1_load_requests", .predicted = number(traffic.load_requests)},
                   {.quantity = "l1_load_sectors", .predicted = number(traffic.load_sectors)},
                   {.quantity = "l1_store_sectors", .predicted = number(traffic.store_sectors)}},
      .model = model,
      .unit = "launch"};
}

/// For Slope::size: the slope's own lengths, and as many pairs of runs per sample, of which the
/// median counts, as take a hundredth of a second.
[[nodiscard]] inline std::function<Lengths(const std::function<Launched(const Length&)>&)>
pairs_by_trial(Experiment& experiment, const Lengths& lengths) {
  return [&experiment, lengths](const auto& trial) {
    constexpr double sample_seconds = 1e-2;
    constexpr int least_pairs = 3;
    constexpr int most_pairs = 7;
    (void)trial(lengths.brief);  // loads the code
    const double seconds =
        trial(lengths.brief).seconds * (lengths.brief.rounds + lengths.full.rounds);
    experiment.pairs =
        std::clamp(static_cast<int>(sample_seconds / seconds), least_pairs, most_pairs);
    return lengths;
  };
}

}  // namespace strata::launch_series
