// The checks that make a number valid or name why it is not. Pure functions of what was observed.
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

/// `timer`: the medians of two independent methods agree within `timer_bound` of the second.
[[nodiscard]] Gate timer_gate(std::span<const double> first, const std::string& first_method,
                              std::span<const double> second, const std::string& second_method);

/// `clock`: max ÷ min − 1 of the per-sample core clock is within `clock_bound`.
[[nodiscard]] Gate clock_gate(std::span<const double> hertz);

/// `level`: nobody counted which level served the accesses.
[[nodiscard]] Gate level_unverified(const std::string& why);

/// `repeat`: the time is partly the host's (its memory, its link, its calls), which moves between
/// runs by more than any run sees in itself. Two runs on a host that others share differed by up to
/// 20 %, each sure of its median to 1 %.
[[nodiscard]] Gate repeat_unverified();

/// `code`: the kernel keeps everything in registers.
[[nodiscard]] Gate spill_gate(std::size_t local_bytes, int registers);

/// `placement`: every core that takes part ran as many warps at once as the case says.
/// `core_of_warp`: the core that each warp says it ran on.
[[nodiscard]] Gate placement_gate(std::span<const std::uint32_t> core_of_warp,
                                  std::size_t expected_cores, int expected_warps);

/// `noise`: half the 95 % interval of the median ÷ the median is within `bound`.
[[nodiscard]] Gate noise_gate(std::span<const double> samples, double bound);

}  // namespace strata
