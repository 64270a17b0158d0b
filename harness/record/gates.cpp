#include "harness/record/gates.hpp"

#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace strata {
namespace {

Verdict passed_if(bool held) {
  return held ? Verdict::passed : Verdict::failed;
}

/// The two groups that samples fall into, if they do and differ by more than `apart`. A random
/// sample of a distribution with one peak hardly ever passes: of 12 samples, some do by chance.
std::string groups_of(std::span<const double> samples, double apart) {
  constexpr std::size_t fewest = 20;
  constexpr double share_bound = 0.85;
  constexpr double smaller_group = 0.2;
  if (samples.size() < fewest) return {};
  const TwoGroups groups = two_groups(samples);
  const auto count = static_cast<double>(samples.size());
  const double lower = static_cast<double>(groups.lower) / count;
  if (groups.share < share_bound || std::min(lower, 1 - lower) < smaller_group) return {};
  std::vector<double> ordered{samples.begin(), samples.end()};
  std::ranges::sort(ordered);
  const std::span<const double> all{ordered};
  const double low = median(all.first(groups.lower));
  const double high = median(all.subspan(groups.lower));
  if (!(high - low > apart * std::abs(median(samples)))) return {};
  return fmt::format("two groups of samples: {} near {:.5g}, {} near {:.5g}", groups.lower, low,
                     samples.size() - groups.lower, high);
}

}  // namespace

Gate result_gate(std::size_t checked, std::size_t different, const std::string& what) {
  if (checked == 0) return {"result", Verdict::failed, "nothing was checked"};
  if (different == 0) return {"result", Verdict::passed, fmt::format("{} {}", checked, what)};
  return {"result", Verdict::failed, fmt::format("{} of {} {} differ", different, checked, what)};
}

Gate accuracy_gate(const Accuracy& a) {
  const bool right = a.finite && a.rms <= a.rms_bound && a.largest <= a.largest_bound;
  return {"result", right ? Verdict::passed : Verdict::failed,
          fmt::format("{} against double precision: root mean square {:.2g} (bound {:.2g}), "
                      "largest {:.2g} (bound {:.2g}){}",
                      a.what, a.rms, a.rms_bound, a.largest, a.largest_bound,
                      a.finite ? "" : ", and some are not finite")};
}

Gate timer_gate(std::span<const double> first, const std::string& first_method,
                std::span<const double> second, const std::string& second_method, double bound) {
  if (first.empty() || second.empty()) {
    return {"timer", Verdict::unverified, "a second method has no samples"};
  }
  const double a = median(first);
  const double b = median(second);
  const double ratio = a / b - 1;
  return {"timer", passed_if(std::isfinite(ratio) && std::abs(ratio) <= bound),
          fmt::format("{} {:.5g} against {} {:.5g}: {:+.2f} % (bound {:g} %)", first_method, a,
                      second_method, b, 100 * ratio, 100 * bound)};
}

Gate clock_gate(std::span<const double> hertz) {
  if (hertz.empty()) return {"clock", Verdict::unverified, "the core clock was not sampled"};
  const auto [low, high] = std::ranges::minmax(hertz);
  const double spread = high / low - 1;
  return {"clock", passed_if(std::isfinite(spread) && spread <= clock_bound),
          fmt::format("{:.1f} to {:.1f} MHz: {:.2f} % (bound {:.0f} %)", low / 1e6, high / 1e6,
                      100 * spread, 100 * clock_bound)};
}

Gate own_core_gate(std::span<const double> additions) {
  const double ratio = median(additions);
  const double off = ratio / std::round(ratio) - 1;
  const bool is_whole = std::abs(off) <= whole_bound;
  return {"clock", passed_if(is_whole),
          fmt::format("a dependent multiplication takes {:.4g} dependent additions: {:+.2f} % from "
                      "a whole number (bound {:.0f} %){}",
                      ratio, 100 * off, 100 * whole_bound,
                      is_whole ? "" : ", as when another thread shares the core")};
}

Gate preempted_gate(double share_of_samples, std::optional<double> waited_share) {
  const bool holds =
      share_of_samples <= preempted_bound || (waited_share && *waited_share <= waited_bound);
  const std::string waited =
      waited_share ? fmt::format("; threads waited for a CPU {:.1f} % of the time (bound {:.0f} %)",
                                 100 * *waited_share, 100 * waited_bound)
                   : "";
  return {"preempted", passed_if(holds),
          fmt::format("other processes interrupted {:.0f} % of the samples although they were "
                      "repeated (bound {:.0f} %){}",
                      100 * share_of_samples, 100 * preempted_bound, waited)};
}

Gate driver_clock_gate(std::span<const double> hertz, double reported) {
  if (hertz.empty()) return {"driver_clock", Verdict::unverified, "the core clock was not sampled"};
  const double held = median(hertz);
  const double off = held / reported - 1;
  const bool agrees = std::isfinite(off) && std::abs(off) <= driver_clock_bound;
  return {"driver_clock", agrees ? Verdict::passed : Verdict::unverified,
          fmt::format("the kernel's clock {:.1f} MHz, the driver's {:.1f} MHz: {:+.2f} % (bound "
                      "{:.0f} %)",
                      held / 1e6, reported / 1e6, 100 * off, 100 * driver_clock_bound)};
}

Gate level_unverified(const std::string& why) {
  return {"level", Verdict::unverified, "level unverified: " + why};
}

Gate repeat_unverified() {
  return {"repeat", Verdict::unverified,
          "part of the time is the host's: results vary between runs beyond this interval"};
}

Gate spill_gate(std::size_t local_bytes, int registers) {
  return {"code", passed_if(local_bytes == 0),
          fmt::format("{} registers per thread, {} bytes of local memory", registers, local_bytes)};
}

Gate placement_gate(std::span<const std::uint32_t> core_of_warp, std::size_t expected_cores,
                    int expected_warps) {
  if (core_of_warp.empty()) return {"placement", Verdict::failed, "no warp reported where it ran"};
  std::map<std::uint32_t, int> on;
  for (const auto core : core_of_warp)
    ++on[core];
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [fewest, most] = std::minmax_element(on.begin(), on.end(), by_count);
  const bool held = on.size() == expected_cores && fewest->second == expected_warps &&
                    most->second == expected_warps;
  return {"placement", passed_if(held),
          fmt::format("{} to {} warps on each of {} cores (expected {} on {})", fewest->second,
                      most->second, on.size(), expected_warps, expected_cores)};
}

Gate noise_gate(std::span<const double> samples, double bound) {
  const auto interval = median_interval(samples);
  if (!interval) {
    return {"noise", Verdict::failed,
            fmt::format("{} samples are too few for an interval", samples.size())};
  }
  const double width = relative_half_width(*interval, median(samples));
  std::string detail =
      fmt::format("half-width {:.2f} % of the median (bound {:.2f} %)", 100 * width, 100 * bound);
  Verdict verdict = passed_if(width <= bound);
  if (const std::string groups = groups_of(samples, 2 * bound); !groups.empty()) {
    detail += "; " + groups;
    if (verdict == Verdict::passed) verdict = Verdict::unverified;
  }
  return {"noise", verdict, detail};
}

Gate none_gate(const std::string& gate, std::size_t exceptions, std::size_t all,
               const std::string& what) {
  return {gate, passed_if(exceptions == 0), fmt::format("{} of {} {}", exceptions, all, what)};
}

Gate predicted_gate(std::span<const ComparedCount> numbers) {
  bool held = true;
  std::string detail;
  for (const auto& [what, counted, predicted, bound] : numbers) {
    held = held && std::abs(counted - predicted) <= bound * std::max(std::abs(predicted), 1.0);
    detail += fmt::format("{}{:.15g} {} counted, {:.15g} predicted", detail.empty() ? "" : "; ",
                          counted, what, predicted);
    if (bound > 0) detail += fmt::format(" (bound {:g} %)", 100 * bound);
  }
  return {"model", passed_if(held), detail};
}

Gate overlap_gate(std::span<const double> shares) {
  const double share = median(shares);
  return {
      "overlap", passed_if(share >= overlap_bound),
      fmt::format("copies in both directions overlapped {:.1f} % of the time (at least {:.0f} %)",
                  100 * share, 100 * overlap_bound)};
}

Gate dependence_gate(std::size_t checked, std::size_t different, const std::string& what) {
  return {"dependence", passed_if(checked > 0 && different == 0),
          fmt::format("{} of {} {} are not those of a chain", different, checked, what)};
}

Gate concurrency_gate(double accesses, double round_cycles, double single_cycles) {
  const double most = (1 + serial_bound * (accesses - 1)) * single_cycles;
  return {
      "dependence", passed_if(round_cycles <= most),
      fmt::format("a warp alone takes {:.4g} cycles for a round of {:g} accesses, {:.4g} for one "
                  "access (bound {:.4g}): accesses {} each other",
                  round_cycles, accesses, single_cycles, most,
                  round_cycles <= most ? "do not wait for" : "wait for")};
}

Gate linear_gate(std::span<const double> bends, double length) {
  const double bend = median(bends);
  return {"model", passed_if(std::abs(bend) <= linear_bound),
          fmt::format("chains of {:.0f}, {:.0f} and {:.0f} operations: the second is {:+.2f} "
                      "cycles off the line (bound {:g})",
                      length, 2 * length, 4 * length, bend, linear_bound.value)};
}

Gate limit_gate(const std::string& quantity, std::span<const double> samples, double limit,
                std::span<const double> hertz, Bound bound) {
  const auto [least, greatest] = std::ranges::minmax(samples);
  const auto [low, high] = median_interval(samples).value_or(Interval{least, greatest});
  double moved = 0;
  if (!hertz.empty()) {
    const auto [slow, fast] = std::ranges::minmax(hertz);
    moved = fast / slow - 1;
  }
  const bool above = bound == Bound::least;
  const double slack = 1 + moved + limit_slack;
  return {"limit", passed_if(above ? high * slack >= limit : low <= limit * slack),
          fmt::format("{} {:.5g}, its interval {} {:.5g}, of at {} {:.5g}; the clock moved by "
                      "{:.2f} %",
                      quantity, median(samples), above ? "to" : "from", above ? high : low,
                      above ? "least" : "most", limit, 100 * moved)};
}

Gate little_gate(double latency, double interval, double count) {
  const double in_flight = latency / interval;
  const bool held = std::abs(in_flight / count - 1) <= little_bound;
  return {
      "little", held ? Verdict::passed : Verdict::unverified,
      fmt::format("{:.5g} in flight by latency and rate, {:g} actual (bound {:.0f} %){}", in_flight,
                  count, 100 * little_bound,
                  held ? ""
                       : ": the median by the warps' own clocks leaves out the wait of those that "
                         "are served later")};
}

Gate occupancy_gate(std::optional<double> active_warps, double declared) {
  if (!active_warps) return {"occupancy", Verdict::unverified, "active warps were not counted"};
  constexpr double half = 0.5;
  const double share = *active_warps / declared;
  const bool held = std::abs(share - 1) <= occupancy_bound;
  const bool one_wave = share > half + occupancy_bound / 2 && share < 1;
  return {"occupancy",
          held       ? Verdict::passed
          : one_wave ? Verdict::unverified
                     : Verdict::failed,
          fmt::format("{:.3g} warps active on an SM on average, {:g} declared (bound {:.0f} %){}",
                      *active_warps, declared, 100 * occupancy_bound,
                      !held && one_wave ? ": some warps ended before others" : "")};
}

Gate energy_integral_gate(double counter_watts, std::optional<double> integral_watts) {
  if (!integral_watts) return {"energy_integral", Verdict::unverified, "power was not read"};
  const double off = *integral_watts / counter_watts - 1;
  return {"energy_integral", passed_if(std::abs(off) <= energy_integral_bound),
          fmt::format("{:.5g} W by the energy counter, {:.5g} W by the integral of power readings: "
                      "{:+.2f} % (bound {:g} %); both may come from one sensor",
                      counter_watts, *integral_watts, 100 * off, 100 * energy_integral_bound)};
}

Gate temperature_gate(std::optional<double> change_celsius) {
  if (!change_celsius) return {"temperature", Verdict::unverified, "it was not read"};
  return {"temperature", passed_if(std::abs(*change_celsius) <= temperature_bound),
          fmt::format("changed by {:+.0f} degrees Celsius (bound {:g})", *change_celsius,
                      temperature_bound.value)};
}

}  // namespace strata
