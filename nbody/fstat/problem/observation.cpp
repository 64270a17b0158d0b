#include "nbody/fstat/problem/observation.hpp"

#include "harness/base/text.hpp"
#include "harness/model/split_mix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

namespace strata::fstat {
namespace {

constexpr double turn = 2 * std::numbers::pi;
constexpr double year = 31558150;  // sidereal, in seconds
constexpr double day = 86164;      // likewise
constexpr double light_to_sun = 499.005;
constexpr double light_to_axis = 0.0150;   // of a detector at 45° of latitude
constexpr double between_stacks = 120000;  // seconds
constexpr std::uint32_t stretches = 50;    // of a stack, of which 40 to 50 were recorded
constexpr std::uint32_t fewest_stretches = 40;

/// A generator for one part of the observation: another part changes nothing of it.
SplitMix random_of(std::uint64_t seed, std::uint64_t part, std::uint64_t number) {
  SplitMix mixing{seed + (part << 32U) + number};
  return SplitMix{mixing.next()};
}

/// Rounded so that the result does not depend on the libm.
double rounded(double number, double unit) {
  return std::round(number / unit) * unit;
}

/// Where a sky point is seen from the sun, and how the year and the day move a detector towards it.
struct Direction {
  double longitude;
  double latitude;

  [[nodiscard]] Timing timing(double time, std::uint32_t detector) const {
    const double in_year = turn * time / year - longitude;
    const double in_day = turn * time / day - longitude + 0.5 * detector;
    const double orbit = light_to_sun * std::cos(latitude);
    const double spin = light_to_axis * std::cos(latitude);
    return {.delta = rounded(time + orbit * std::cos(in_year) + spin * std::cos(in_day), 0x1p-20),
            .rate = rounded(
                1 - orbit * turn / year * std::sin(in_year) - spin * turn / day * std::sin(in_day),
                0x1p-44)};
  }
  [[nodiscard]] Antenna antenna(double time, std::uint32_t detector) const {
    const double in_day = turn * time / day - longitude + 0.5 * detector;
    const auto of = [](double number) { return static_cast<float>(rounded(number, 0x1p-16)); };
    return {.a = of(0.3 * std::cos(2 * in_day) + 0.4 * std::sin(latitude) * std::sin(in_day)),
            .b = of(0.5 * std::sin(2 * in_day) + 0.2 * std::cos(latitude) * std::cos(in_day))};
  }
};

/// Times of a group's stretches: of 50, all but some.
std::vector<double> times_of(const Problem& problem, const Grid& grid, std::uint32_t group) {
  const std::uint32_t stack = group / problem.detectors;
  SplitMix random = random_of(problem.seed, 1, group);
  std::uint32_t left = fewest_stretches + random.below(stretches - fewest_stretches + 1);
  std::vector<double> times;
  for (std::uint32_t at = 0; at < stretches; ++at) {
    if (random.below(stretches - at) >= left) continue;
    --left;
    times.push_back(between_stacks * stack + grid.seconds * (at + 0.5));
  }
  return times;
}

std::string range(std::uint64_t last) {
  return fmt::format("1 to {}", last);
}

/// That every number of `numbers` is finite.
template <class Element, class... Numbers>
void check_finite(std::string_view place, const char* what, std::span<const Element> all,
                  Numbers Element::*... numbers) {
  for (const Element& one : all) {
    if ((std::isfinite(one.*numbers) && ...)) continue;
    refuse({place}, fmt::format("{} {} is not finite", what, &one - all.data()), "finite numbers",
           "generate them again");
  }
}

void check(std::string_view place, const Grid& grid) {
  const auto require = [&](bool holds, const std::string& found, const char* expected) {
    if (!holds) refuse({place}, found, expected, "give another grid");
  };
  constexpr double unit = 0x1p-30;
  constexpr double most_hertz = 0x1p20;
  const auto exact = [](double hertz) { return std::nearbyint(hertz / unit) * unit == hertz; };
  require(grid.first_frequency > 0 && grid.first_frequency <= most_hertz &&
              exact(grid.first_frequency) && exact(grid.frequency_step),
          fmt::format("the frequencies are {:g} Hz and steps of {:g} Hz", grid.first_frequency,
                      grid.frequency_step),
          "multiples of 2^-30 Hz, so that each is exact in double precision");
  constexpr double most_step = 1.0 / 32;  // lanes of a vector then meet at most two windows
  const double step = grid.frequency_step * grid.seconds;
  require(step > 0 && step <= most_step, fmt::format("a step of frequency is {:g} bins", step),
          "more than 0, at most 1/32");
  require(std::abs(grid.spin_step) < unit, fmt::format("the spin step is {} Hz/s", grid.spin_step),
          "less than 2^-30");
  require(grid.bins >= window && grid.bins <= 1U << 16U, fmt::format("{} bins", grid.bins),
          "16 to 65536");
}

void check_signals(std::string_view place, const Observation& seen) {
  const Problem& problem = seen.problem;
  const auto require = [&](bool holds, const auto& found, const std::string& expected) {
    if (!holds) refuse({place}, found(), expected, "generate them again");
  };
  const auto& first = seen.first_signal;
  require(
      first.size() == problem.groups() + 1U && first.front() == 0 && first.back() == seen.signals(),
      [&] { return fmt::format("the groups do not hold all {} signals", seen.signals()); },
      "where each group begins, and where the last ends");
  for (std::uint32_t group = 0; group < problem.groups(); ++group) {
    require(
        first[group] < first[group + 1] && first[group + 1] - first[group] <= most_signals,
        [&] {
          return fmt::format("detector {} has signals {} to {} in stack {}",
                             group % problem.detectors, first[group], first[group + 1],
                             group / problem.detectors);
        },
        range(most_signals) + " of them");
  }
  std::vector<std::uint32_t> in_order(seen.signals());
  std::iota(in_order.begin(), in_order.end(), 0U);
  std::ranges::sort(in_order, {}, [&](std::uint32_t s) { return seen.offsets[s]; });
  std::uint64_t end = 0;
  for (const std::uint32_t signal : in_order) {
    const std::uint64_t offset = seen.offsets[signal];
    require(
        offset >= end,
        [&] { return fmt::format("the spectrum of signal {} overlaps another", signal); },
        fmt::format("{} numbers for each", seen.grid.bins));
    end = offset + seen.grid.bins;
    require(
        end <= seen.spectra.size(),
        [&] {
          return fmt::format("the spectrum of signal {} runs out at number {}", signal,
                             seen.spectra.size());
        },
        fmt::format("{} numbers from {} on", seen.grid.bins, offset));
  }
  const std::size_t all = std::size_t{problem.sky} * seen.signals();
  require(
      seen.timings.size() == all && seen.antennas.size() == all,
      [&] { return fmt::format("{} timings", seen.timings.size()); },
      fmt::format("{}: of each signal from each sky point", all));
  check_finite<Bin>(place, "number of the spectra", seen.spectra, &Bin::re, &Bin::im);
  check_finite<Timing>(place, "timing", seen.timings, &Timing::delta, &Timing::rate);
  check_finite<Antenna>(place, "antenna", seen.antennas, &Antenna::a, &Antenna::b);
}

/// Checks that all templates' windows are in the spectra: bins are linear in frequency and in spin.
void check_windows(std::string_view place, const Observation& seen) {
  const auto& [problem, grid] = std::pair{seen.problem, seen.grid};
  constexpr double most_delta = 1e9;
  for (std::size_t at = 0; at < seen.timings.size(); ++at) {
    const Timing& timing = seen.timings[at];
    const auto signal = at % seen.signals();
    if (std::abs(timing.delta) > most_delta || std::abs(timing.rate - 1) > 0.5) {
      refuse({place},
             fmt::format("signal {} arrives at {:g} s, at a rate of {:g}", signal, timing.delta,
                         timing.rate),
             "within 10^9 s, at a rate near 1", "generate them again");
    }
    for (const std::uint32_t cell : {0U, problem.cells - 1}) {
      for (const std::uint32_t j : {0U, problem.frequencies - 1}) {
        const double bins =
            (grid.frequency(j) + grid.spin(cell) * timing.delta) * grid.seconds * timing.rate -
            grid.first_bin;
        const double first = std::floor(bins) - (half_window - 1);
        // Nor within a rounding of a window outside.
        if (first - 1e-6 >= 0 && first + window + 1e-6 <= grid.bins) continue;
        refuse({place},
               fmt::format("frequency {} of cell {} needs bins {:.0f} to {:.0f} of signal {}, seen "
                           "from sky point {}: it is outside the band",
                           j, cell, first, first + window - 1, signal, at / seen.signals()),
               fmt::format("windows within its bins 0 to {}", grid.bins - 1),
               "give spectra of more bins, or another grid");
      }
    }
  }
}

}  // namespace

std::uint32_t Observation::longest_stack() const {
  std::uint32_t longest = 0;
  for (std::uint32_t stack = 0; stack < problem.stacks; ++stack)
    longest = std::max(longest, signals_of_stack(stack));
  return longest;
}
std::uint32_t Observation::longest_group(std::uint32_t stack) const {
  std::uint32_t longest = 0;
  for (std::uint32_t d = 0; d < problem.detectors; ++d)
    longest = std::max(longest, signals_of(stack * problem.detectors + d));
  return longest;
}
std::uint32_t Observation::longest_group() const {
  std::uint32_t longest = 0;
  for (std::uint32_t stack = 0; stack < problem.stacks; ++stack)
    longest = std::max(longest, longest_group(stack));
  return longest;
}

Observation generate(const Problem& problem) {
  check("generate", problem);
  Observation seen{.problem = problem, .grid = {}, .first_signal = {0}};
  std::vector<std::pair<double, std::uint32_t>> signals;  // when, and which detector's
  for (std::uint32_t group = 0; group < problem.groups(); ++group) {
    for (const double time : times_of(problem, seen.grid, group))
      signals.emplace_back(time, group % problem.detectors);
    seen.first_signal.push_back(static_cast<std::uint32_t>(signals.size()));
    SplitMix random = random_of(problem.seed, 2, group);
    const auto noise = [&] { return static_cast<float>((2 * random.fraction() - 1) * 1.2247449); };
    while (seen.offsets.size() < signals.size()) {
      seen.offsets.push_back(static_cast<std::uint32_t>(seen.spectra.size()));
      for (std::uint32_t bin = 0; bin < seen.grid.bins; ++bin)
        seen.spectra.push_back({.re = noise(), .im = noise()});  // |X|² is 1 in the mean
    }
  }
  for (std::uint32_t sky = 0; sky < problem.sky; ++sky) {
    SplitMix random = random_of(problem.seed, 3, sky);
    const Direction point{.longitude = turn * random.fraction(),
                          .latitude = std::asin(2 * random.fraction() - 1)};
    for (const auto& [time, detector] : signals) {
      seen.timings.push_back(point.timing(time, detector));
      seen.antennas.push_back(point.antenna(time, detector));
    }
  }
  check("generate", seen);
  return seen;
}

void check(std::string_view place, const Problem& problem) {
  const auto require = [&](const char* what, std::uint32_t count, std::uint32_t most_of_it) {
    if (count >= 1 && count <= most_of_it) return;
    refuse({place}, fmt::format("{} {}", count, what), range(most_of_it), "change their number");
  };
  require("sky points", problem.sky, most.sky);
  require("cells", problem.cells, most.cells);
  require("stacks", problem.stacks, most.stacks);
  require("frequencies", problem.frequencies, most.frequencies);
  require("detectors", problem.detectors, most.detectors);
  constexpr std::size_t most_results = std::size_t{1} << 28U;
  if (problem.results() <= most_results) return;
  refuse({place}, fmt::format("{} results", problem.results()), range(most_results),
         "request fewer templates");
}

void check(std::string_view place, const Observation& observation) {
  check(place, observation.problem);
  check(place, observation.grid);
  check_signals(place, observation);
  check_windows(place, observation);
  for (std::uint32_t sky = 0; sky < observation.problem.sky; ++sky) {
    const auto all = matrices_of(observation, sky);
    const auto alike = std::ranges::find_if_not(
        all, [](const Matrix& m) { return m.inverse > 0 && std::isfinite(m.inverse); });
    if (alike == all.end()) continue;
    refuse({place},
           fmt::format("the polarisations of stack {} cannot be distinguished from sky point {}",
                       alike - all.begin(), sky),
           "antennas whose a and b are not proportional", "generate them again");
  }
}

std::vector<Matrix> matrices_of(const Observation& seen, std::uint32_t sky) {
  const std::span all = std::span{seen.antennas}.subspan(std::size_t{sky} * seen.signals());
  std::vector<Matrix> matrices;
  for (std::uint32_t stack = 0; stack < seen.problem.stacks; ++stack) {
    double a = 0;
    double b = 0;
    double ab = 0;
    const std::uint32_t first = seen.first_signal[std::size_t{stack} * seen.problem.detectors];
    const std::uint32_t end = seen.first_signal[(std::size_t{stack} + 1) * seen.problem.detectors];
    for (const Antenna& one : all.subspan(first, end - first)) {
      a += static_cast<double>(one.a) * static_cast<double>(one.a);
      b += static_cast<double>(one.b) * static_cast<double>(one.b);
      ab += static_cast<double>(one.a) * static_cast<double>(one.b);
    }
    constexpr double least = 1e-6;  // of single precision little would be left
    const double determinant = a * b - ab * ab;
    matrices.push_back(
        {.a = static_cast<float>(a),
         .b = static_cast<float>(b),
         .ab = static_cast<float>(ab),
         .inverse = determinant > least * a * b ? static_cast<float>(1 / determinant) : 0.0F});
  }
  return matrices;
}

Problem problem_of(const Session& session) {
  const auto of = [&](const char* axis) { return static_cast<std::uint32_t>(session.whole(axis)); };
  return {.sky = of("sky"),
          .cells = of("cells"),
          .stacks = of("stacks"),
          .frequencies = of("frequencies")};
}

}  // namespace strata::fstat
