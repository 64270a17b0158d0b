// Words at several places of L2, half of them near an SM and half far, where the chip's L2 has two
// partitions. The distance of a place follows from the cycles of accesses to it. Host only.
#pragma once

#include "harness/measure/experiment.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace strata::two_sides {

/// Places to choose from: a line, or two, in each of `candidates` pieces of a buffer.
inline constexpr std::uint32_t candidates = 64;
inline constexpr std::uint32_t candidate_pitch = 65536;
inline constexpr std::uint32_t places_timed = 16;  ///< that a timed launch visits

/// An order of the candidates in which half of the first `places_timed` are near and half far, if
/// their cycles fall into two groups; otherwise the given one.
struct Homes {
  std::vector<std::uint32_t> order;
  bool are_two = false;
};

/// Byte offsets of the candidates, in that order; by default the first one first.
[[nodiscard]] inline std::vector<std::uint32_t> candidate_offsets(
    std::span<const std::uint32_t> order = {}) {
  constexpr std::uint32_t apart = 256;  // the most that the words at a place take
  std::vector<std::uint32_t> offsets;
  for (std::uint32_t i = 0; i < candidates; ++i) {
    const std::uint32_t piece = order.empty() ? i : order[i];
    offsets.push_back(piece * candidate_pitch +
                      hashed_word(piece) % (candidate_pitch / apart) * apart);
  }
  return offsets;
}

[[nodiscard]] inline Homes balanced(std::span<const double> cycles) {
  constexpr double share_bound = 0.85;  // uniformly spread latencies give 0.75
  constexpr std::size_t half = places_timed / 2;
  Homes homes{.order = std::vector<std::uint32_t>(cycles.size())};
  std::iota(homes.order.begin(), homes.order.end(), 0U);
  const TwoGroups groups = two_groups(cycles);
  homes.are_two =
      groups.share >= share_bound && groups.lower >= half && cycles.size() - groups.lower >= half;
  if (!homes.are_two) return homes;
  std::ranges::stable_sort(homes.order, {}, [&](std::uint32_t i) { return cycles[i]; });
  const auto middle = homes.order.begin() + static_cast<std::ptrdiff_t>(groups.lower);
  std::sort(homes.order.begin(), middle);  // in an order that is independent of distance
  std::sort(middle, homes.order.end());
  std::rotate(homes.order.begin() + half, middle, middle + half);
  return homes;
}

/// Adds rows `quantity`_near and `quantity`_far, if there are two sides, and facts. The cells of
/// the first slope's launches are the cycles at each place, whose part of an operation is 1 ÷
/// (rounds × `operations`).
inline void add_sides(Experiment& experiment, const std::string& quantity, bool are_two,
                      double operations = 1) {
  Slope& slope = experiment.slopes.front();
  slope.window.read = [read = slope.window.read, operations](const Launched& brief,
                                                             const Launched& full) {
    Inside seen = read(brief, full);
    for (const double cycles : full.cells)
      seen.cells.push_back(cycles / (full.length.rounds * operations));
    return seen;
  };
  const auto mean_of = [](std::size_t first) {
    return [first](const Sample& sample) {
      std::vector<double> cells = sample.slopes.front().inside.cells;
      std::ranges::sort(cells);
      constexpr std::size_t half = places_timed / 2;
      return std::accumulate(cells.begin() + static_cast<std::ptrdiff_t>(first),
                             cells.begin() + static_cast<std::ptrdiff_t>(first + half), 0.0) /
             half;
    };
  };
  if (are_two) {
    constexpr const char* method = "clock64_of_words";
    experiment.rows.push_back({quantity + "_near", "cycle", method, mean_of(0)});
    experiment.rows.push_back({quantity + "_far", "cycle", method, mean_of(places_timed / 2)});
  }
  experiment.facts = [=, others = experiment.facts](const Experiment& measured) {
    Facts facts = others(measured);
    facts["latency_places"] = std::int64_t{places_timed};
    facts["latency_homes"] = std::string{are_two ? "half near, half far" : "one side"};
    return facts;
  };
}

}  // namespace strata::two_sides
