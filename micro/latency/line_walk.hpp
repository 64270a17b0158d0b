// One thread of each SM visits many lines of L2, one after the other: the cycles of each SM and
// line from two such launches. Host only.
#pragma once

#include "harness/measure/experiment.hpp"
#include "micro/latency/l2_split.hpp"

#include <cstdint>
#include <stdexcept>
#include <utility>

namespace strata::l2_partition {

inline constexpr std::uint32_t turn = 4;  ///< unrolled accesses of a timed chain

/// The stamps of a launch in the order of their SMs.
inline std::vector<std::size_t> by_sm(const Launched& launched) {
  std::vector<std::size_t> order(launched.stamps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return launched.stamps[i].core; });
  return order;
}

/// Cycles of a unit of work on the SM with the most.
inline double slowest_of(const Launched& brief, const Launched& full) {
  const auto of_brief = by_sm(brief);
  const auto of_full = by_sm(full);
  const auto cycles = [](const Stamp& stamp) {
    return static_cast<double>(stamp.cycles[1] - stamp.cycles[0]);
  };
  double slowest = 0;
  for (std::size_t i = 0; i < of_full.size(); ++i) {
    const Stamp& first = brief.stamps[of_brief[i]];
    const Stamp& second = full.stamps[of_full[i]];
    if (first.core != second.core) {
      throw std::runtime_error{"two launches ran on different SMs"};
    }
    slowest = std::max(slowest,
                       (cycles(second) - cycles(first)) / (full.length.work - brief.length.work));
  }
  return slowest;
}

/// Cycles of an access by each SM to each of `lines`, in the order of SMs, from two launches
/// matched by SM.
inline Inside read_cells(const Launched& brief, const Launched& full, std::size_t lines) {
  const auto of_brief = by_sm(brief);
  const auto of_full = by_sm(full);
  const double accesses = (full.length.work - brief.length.work) / static_cast<double>(lines);
  Inside seen{.slowest = slowest_of(brief, full), .hertz = median_hertz(full)};
  for (std::size_t i = 0; i < of_full.size(); ++i) {
    for (std::size_t line = 0; line < lines; ++line) {
      const double more =
          full.cells[of_full[i] * lines + line] - brief.cells[of_brief[i] * lines + line];
      seen.cells.push_back(more / accesses);
    }
  }
  seen.cycles = median(seen.cells);
  return seen;
}

/// The same where these accesses are all that the long launch does beyond the short one: the
/// slowest SM is computed from its cells, so that the outer timer proves them.
inline Inside read_walks(const Launched& brief, const Launched& full, std::size_t lines) {
  Inside seen = read_cells(brief, full, lines);
  const auto count = static_cast<std::ptrdiff_t>(lines);
  seen.slowest = 0;
  for (auto row = seen.cells.begin(); row != seen.cells.end(); row += count) {
    const double all = std::accumulate(row, row + count, 0.0);
    seen.slowest = std::max(seen.slowest, all / static_cast<double>(lines));
  }
  return seen;
}

/// For Slope::verify: each stamp's result is how many of its `lines` returned another address.
[[nodiscard]] inline auto no_line_astray(std::size_t lines) {
  return [lines](const Call&, std::span<const Stamp> stamps, Tally& tally) {
    tally.checked += lines * stamps.size();
    for (const Stamp& stamp : stamps)
      tally.different += std::min<std::uint64_t>(stamp.result, lines);
  };
}

/// Lines from which a thread alone ends elsewhere if each holds the address of the next one: the
/// thread makes `exchanges` at each line, and each of them needs the word of the one before.
[[nodiscard]] inline std::uint64_t lines_that_lead_away(std::uint32_t lines,
                                                        std::uint32_t exchanges) {
  std::vector<std::uint32_t> next(lines);
  for (std::uint32_t line = 0; line < lines; ++line)
    next[line] = (line + 1) % lines;
  std::uint64_t away = 0;
  for (std::uint32_t line = 0; line < lines; ++line) {
    std::uint32_t at = line;
    for (std::uint32_t e = 0; e < exchanges; ++e)
      at = std::exchange(next[at], at);
    away += at == line ? 0 : 1;
  }
  return away;
}

}  // namespace strata::l2_partition
