// The checks that decide whether a number is valid. Pure functions of the observations.
#pragma once

#include "harness/record/measurement.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace strata {

inline constexpr double timer_bound = 0.02;  ///< two timer methods agree within this ratio
inline constexpr double clock_bound = 0.02;  ///< the core clock holds within this ratio

/// `result`: every checked output equals its reference.
[[nodiscard]] Gate result_gate(std::size_t checked, std::size_t different, const std::string& what);

/// How far results are from a reference that they cannot equal bit for bit.
struct Accuracy {
  std::string what;  ///< "accelerations"
  double rms = 0;    ///< root mean square of the errors ÷ that of the reference
  double rms_bound = 0;
  double largest = 0;  ///< largest error ÷ the root mean square of the reference
  double largest_bound = 0;
  bool finite = true;
};
/// `result`: every number is there, and right within the bounds.
[[nodiscard]] Gate accuracy_gate(const Accuracy& accuracy);

/// `timer`: the medians of two independent methods agree within `timer_bound` of the second.
[[nodiscard]] Gate timer_gate(std::span<const double> first, const std::string& first_method,
                              std::span<const double> second, const std::string& second_method);

/// `clock`: max ÷ min − 1 of the per-sample core clock is within `clock_bound`.
[[nodiscard]] Gate clock_gate(std::span<const double> hertz);

inline constexpr double driver_clock_bound = 0.02;
/// `driver_clock`: the median of the kernel's clock is within `driver_clock_bound` of the one that
/// the driver reported meanwhile. Unverified where it is not: cycles and seconds are both right,
/// but one does not follow from the other by the driver's clock.
[[nodiscard]] Gate driver_clock_gate(std::span<const double> hertz, double reported);

/// `level`: no counters say which level served the accesses.
[[nodiscard]] Gate level_unverified(const std::string& why);

/// `repeat`: part of the time is the host's (memory, link, calls). Two runs on a shared host
/// differed by up to 20 %, although each knew its median to 1 %.
[[nodiscard]] Gate repeat_unverified();

/// `code`: the kernel spills no registers.
[[nodiscard]] Gate spill_gate(std::size_t local_bytes, int registers);

/// `placement`: each of `expected_cores` cores ran `expected_warps` warps. `core_of_warp`: the core
/// on which each warp found itself.
[[nodiscard]] Gate placement_gate(std::span<const std::uint32_t> core_of_warp,
                                  std::size_t expected_cores, int expected_warps);

/// `noise`: half the 95 % interval of the median ÷ the median is within `bound`.
[[nodiscard]] Gate noise_gate(std::span<const double> samples, double bound);

/// `model`: work of n, 2n and 4n operations, `length` being n, costs in proportion within a cycle.
/// `bends`: by how many cycles the second is off the line through the others.
[[nodiscard]] Gate linear_gate(std::span<const double> bends, double length);

/// The steps of the event timer in a launch of milliseconds: on an H200 chains at the limit of the
/// banks took 0.006 to 0.021 % fewer cycles by events than there can be, and 0.005 % more by
/// %clock64.
inline constexpr double limit_slack = 5e-4;
/// `limit`: the 95 % interval of the median of `samples`, widened by how far the clock moved
/// (`hertz`, may be empty) and by `limit_slack`, does not lie above `limit`, or below it where that
/// is the least there can be.
enum class Bound : std::uint8_t { most, least };
[[nodiscard]] Gate limit_gate(const std::string& quantity, std::span<const double> samples,
                              double limit, std::span<const double> hertz,
                              Bound bound = Bound::most);

inline constexpr double little_bound = 0.05;
/// `little`: latency ÷ interval is `count`, what is in flight, within `little_bound`. Unverified
/// where it is not: the latency is then a median of operations that were served before others.
[[nodiscard]] Gate little_gate(double latency, double interval, double count);

}  // namespace strata
