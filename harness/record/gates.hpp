// The checks that decide whether a number is valid. Pure functions of the observations.
#pragma once

#include "harness/record/measurement.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata {

/// A bound of a gate, and the evidence or reason for its value. context.json has all of them.
struct CheckBound {
  std::string_view name;
  double value = 0;
  std::string_view evidence;
  constexpr operator double() const { return value; }  // NOLINT(google-explicit-constructor)
};

/// Two timer methods agree within this ratio.
inline constexpr CheckBound timer_bound{
    "timer", 0.02, "99 % of 8636 pairs agree within 1.2 %: H200, default run of d153f73"};
/// The core clock holds within this ratio.
inline constexpr CheckBound clock_bound{
    "clock", 0.02, "held within 1.3 % in 99 % of 9839 cases: H200, default run of d153f73"};
/// Share of the sectors that may come from other levels than the claimed one (gate `level`).
inline constexpr CheckBound level_bound{
    "level", 0.01,
    "counts are exact but for requests of others: up to 41 KiB on an otherwise idle H200"};

/// `result`: every checked output equals its reference.
[[nodiscard]] Gate result_gate(std::size_t checked, std::size_t different, const std::string& what);

/// `gate`: none of `all` things is what it must not be; `what` reads "SMs are too slow".
[[nodiscard]] Gate none_gate(const std::string& gate, std::size_t exceptions, std::size_t all,
                             const std::string& what);

/// A number that was counted and that a model predicts.
struct ComparedCount {
  std::string what;  ///< "distance tests per step"
  double counted = 0;
  double predicted = 0;
  double bound = 0;  ///< of the difference ÷ the prediction, or ÷ 1 if that is more
};
/// `model`: every number was counted as predicted, within its bound.
[[nodiscard]] Gate predicted_gate(std::span<const ComparedCount> numbers);

inline constexpr CheckBound overlap_bound{
    "overlap", 0.9,
    "copies that waited for each other moved 1.00 times the bytes of one direction: H200, ccc1418"};
/// `overlap`: the median share of the time in which two copies were under way is at least
/// `overlap_bound`. If one copy waits for the other, each has the link to itself.
[[nodiscard]] Gate overlap_gate(std::span<const double> shares);

/// `dependence`: each step of a chain needs the one before it, as results show that differ if one
/// does not. `what` reads "ends of chains".
[[nodiscard]] Gate dependence_gate(std::size_t checked, std::size_t different,
                                   const std::string& what);

inline constexpr CheckBound serial_bound{
    "serial", 0.5,
    "half way between accesses that cost nothing more and accesses that wait for each other"};
/// `dependence`: the accesses of a round do not wait for each other. A round of `accesses` takes at
/// most the cycles of a `single` access, and `serial_bound` of them for each further one.
[[nodiscard]] Gate concurrency_gate(double accesses, double round_cycles, double single_cycles);

/// Errors of results that cannot equal their reference bit for bit.
struct Accuracy {
  std::string what;  ///< "accelerations"
  double rms = 0;    ///< root mean square of the errors ÷ that of the reference
  double rms_bound = 0;
  double largest = 0;  ///< largest error ÷ the root mean square of the reference
  double largest_bound = 0;
  bool finite = true;
};
/// `result`: every number is finite and within the bounds.
[[nodiscard]] Gate accuracy_gate(const Accuracy& accuracy);

/// `timer`: the medians of two independent methods agree within `bound` of the second.
[[nodiscard]] Gate timer_gate(std::span<const double> first, const std::string& first_method,
                              std::span<const double> second, const std::string& second_method,
                              double bound = timer_bound);

/// `clock`: max ÷ min − 1 of the per-sample rate of the clock that counts cycles is within
/// `clock_bound`.
[[nodiscard]] Gate clock_gate(std::span<const double> hertz);

inline constexpr CheckBound whole_bound{
    "whole", 0.01, "a thread that shares the core delays additions more than multiplications"};
/// `clock`, where dependent additions are the clock of a CPU's core: a dependent multiplication
/// takes a whole number of `additions` within `whole_bound`. A thread that shares the core delays
/// additions, of which the next could start in each cycle, more than multiplications.
[[nodiscard]] Gate own_core_gate(std::span<const double> additions);

inline constexpr CheckBound preempted_bound{"preempted", 0.1,
                                            "the median of samples lies within the rest of them"};
inline constexpr CheckBound waited_bound{"waited", 0.02,
                                         "changes a sample by no more than two timers may differ"};
/// `preempted`: at most `preempted_bound` of the kept samples were disturbed by other processes, or
/// the threads waited for a CPU during at most `waited_bound` of the time (empty: unknown), as
/// during a long sample in which the system did short work.
[[nodiscard]] Gate preempted_gate(double share_of_samples, std::optional<double> waited_share);

inline constexpr CheckBound driver_clock_bound{
    "driver_clock", 0.02,
    "the driver's clock is within 1.7 % in 99 % of 9839 cases: H200, default run of d153f73"};
/// `driver_clock`: the median of the kernel's clock is within `driver_clock_bound` of the clock
/// that the driver reported meanwhile. Otherwise unverified: cycles and seconds are both right, but
/// cannot be converted with the driver's clock.
[[nodiscard]] Gate driver_clock_gate(std::span<const double> hertz, double reported);

/// `level`: there are no counters to show which level served the accesses.
[[nodiscard]] Gate level_unverified(const std::string& why);

/// `repeat`: part of the time is the host's (memory, link, calls). Two runs on a shared host
/// differed by up to 20 %, although each had an interval of 1 %.
[[nodiscard]] Gate repeat_unverified();

/// `code`: the kernel spills no registers.
[[nodiscard]] Gate spill_gate(std::size_t local_bytes, int registers);

/// `placement`: each of `expected_cores` cores ran `expected_warps` warps. `core_of_warp`: the core
/// that each warp reported.
[[nodiscard]] Gate placement_gate(std::span<const std::uint32_t> core_of_warp,
                                  std::size_t expected_cores, int expected_warps);

/// `noise`: half the 95 % interval of the median ÷ the median is within `bound`. Unverified if the
/// samples fall into two groups whose medians differ by more than twice the bound: the median is
/// then that of the larger group.
[[nodiscard]] Gate noise_gate(std::span<const double> samples, double bound);

inline constexpr CheckBound linear_bound{
    "linear", 1, "cycles, the clock's step; below 0.005 in 87 cases: H200, default run of d153f73"};
/// `model`: costs of n, 2n and 4n operations (`length` is n) are proportional within
/// `linear_bound`. `bends`: distance in cycles of the second from the line through the others.
[[nodiscard]] Gate linear_gate(std::span<const double> bends, double length);

/// Tolerance for the steps of the event timer in a launch of milliseconds.
inline constexpr CheckBound limit_slack{"limit", 5e-4,
                                        "on an H200, chains at the limit of the banks took 0.006 "
                                        "to 0.021 % fewer cycles by events than "
                                        "possible, and 0.005 % more by %clock64"};
/// `limit`: the 95 % interval of the median of `samples`, widened by the clock's variation
/// (`hertz`, may be empty) and by `limit_slack`, is not entirely above `limit`, or below it for a
/// lower bound.
enum class Bound : std::uint8_t { most, least };
[[nodiscard]] Gate limit_gate(const std::string& quantity, std::span<const double> samples,
                              double limit, std::span<const double> hertz,
                              Bound bound = Bound::most);

inline constexpr CheckBound little_bound{
    "little", 0.05,
    "within 0.3 % in half of 2100 cases; beyond 5 % in the tenth in which some warps are served "
    "first: H200, default run of d153f73"};
/// `little`: latency ÷ interval equals `count`, the operations in flight, within `little_bound`.
/// Otherwise unverified: `latency`, a median by the operations' own clocks, then leaves out the
/// wait of those that are served later.
[[nodiscard]] Gate little_gate(double latency, double interval, double count);

/// `occupancy`: the counted active warps of an SM are the declared ones within `occupancy_bound`.
/// Unverified if more than half were active: warps that an SM serves first end first, and the
/// others go on without them. Failed beyond that: two waves of warps that never shared an SM have
/// half on average. Unverified without a count.
inline constexpr CheckBound occupancy_bound{
    "occupancy", 0.1,
    "within 2.2 % in half of 1090 cases and 10 % in 92 % of them: H200, default run of d153f73"};
[[nodiscard]] Gate occupancy_gate(std::optional<double> active_warps, double declared);

/// `phases`: phases and idle time of a traced step add up to the timed step (measure/phases.hpp).
inline constexpr CheckBound phases_bound{
    "phases", 0.03, "7 of 8 steps of a millisecond or more within 1.2 %: H200, run of 12579b9"};
inline constexpr CheckBound brief_phases_bound{
    "brief_phases", 0.1, "21 of 23 shorter steps within 2 %: H200, run of 12579b9"};

/// `model`: distance tests of a search that were counted are those predicted.
inline constexpr CheckBound tests_bound{
    "tests", 0.01, "within 0.0024 % in 72 cases: H200, default run of d153f73"};

inline constexpr CheckBound energy_integral_bound{
    "energy_integral", 0.02, "a tenth of the smallest difference between prices of two levels"};
/// `energy_integral`: the mean power by the energy counter and by the integral of power readings
/// agree within `energy_integral_bound`. Both may come from one sensor. Unverified without
/// readings.
[[nodiscard]] Gate energy_integral_gate(double counter_watts, std::optional<double> integral_watts);

inline constexpr CheckBound temperature_bound{
    "temperature", 3, "degrees Celsius; leakage grows by about half a per cent with each"};
/// `temperature`: the chip's temperature changed by at most `temperature_bound` while its power was
/// measured. Unverified without readings.
[[nodiscard]] Gate temperature_gate(std::optional<double> change_celsius);

inline constexpr std::array check_bounds{
    timer_bound,  clock_bound,           level_bound,      overlap_bound,      serial_bound,
    whole_bound,  waited_bound,          preempted_bound,  driver_clock_bound, limit_slack,
    little_bound, linear_bound,          occupancy_bound,  phases_bound,       brief_phases_bound,
    tests_bound,  energy_integral_bound, temperature_bound};

}  // namespace strata
