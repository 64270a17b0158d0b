#include "micro/transfer/allocation.hpp"

#include <algorithm>
#include <vector>

namespace strata::allocation {

Benchmark declare() {
  return {.suite = "micro",
          .name = "allocation",
          .question = "What does it cost to allocate memory for a GPU and to release it?",
          .axes = {memories.axis("memory",
                                 "of the GPU, of its memory pool, or pinned memory of the host"),
                   number_axis("bytes", "size of a piece", 1, std::uint64_t{1} << 28U,
                               {"512", "65536", "1048576", "16777216"})},
          .quantities = {{"allocation_seconds",
                          "one more allocation with its release, for its caller (wall)"}},
          .seconds_per_case = 0.1};
}

std::size_t misplaced(std::span<const std::uintptr_t> pieces, std::size_t bytes,
                      std::uintptr_t alignment) {
  std::vector<std::uintptr_t> sorted(pieces.begin(), pieces.end());
  std::ranges::sort(sorted);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool apart = i + 1 == sorted.size() || sorted[i + 1] - sorted[i] >= bytes;
    if (!apart || sorted[i] == 0 || sorted[i] % alignment != 0) ++wrong;
  }
  return wrong;
}

Experiment describe() {
  const Value seconds = number_at(0);
  Experiment experiment{.rows = {{"allocation_seconds", "s", "wall_slope", seconds}},
                        .has_clock = false,
                        .checked = "addresses of pieces that overlap or are not aligned",
                        .partly_host_time = true,
                        .not_counted = "no kernel runs"};
  experiment.checks.emplace_back(
      TimersApart{"the calls are the host's alone: a GPU has no time for them"});
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::allocation
