#include "nbody/fstat/model/costs.hpp"

namespace strata::fstat {
namespace {

constexpr std::uint64_t sums_bytes = sizeof(Sums);
constexpr std::uint64_t pointer_bytes = sizeof(void*);  // to a spectrum
constexpr std::uint64_t gather_launches = 3;  // CUB: the tiles' states, small pieces, large ones

/// Adds up of_group(signals) over all groups, once for each sky point, cell and frequency.
template <class OfGroup>
std::uint64_t over_calls(const Observation& seen, const OfGroup& of_group) {
  std::uint64_t all = 0;
  for (std::uint32_t group = 0; group < seen.problem.groups(); ++group)
    all += of_group(std::uint64_t{seen.signals_of(group)});
  const Problem& p = seen.problem;
  return std::uint64_t{p.sky} * p.cells * p.frequencies * all;
}
std::uint64_t calls_of(const Observation& seen) {
  return over_calls(seen, [](std::uint64_t) { return std::uint64_t{1}; });
}

std::uint64_t bytes_of_spectra(const Observation& seen) {
  return std::uint64_t{seen.signals()} * (seen.grid.bins * sizeof(Bin) + pointer_bytes);
}
/// Timings, antennas and matrices of a sky point.
std::uint64_t bytes_of_sky(const Observation& seen) {
  return std::uint64_t{seen.signals()} * (sizeof(Timing) + sizeof(Antenna)) +
         seen.problem.stacks * sizeof(Matrix);
}
/// Six vectors for each sky point.
Queued vectors_in(const Observation& seen) {
  const std::uint64_t sky = seen.problem.sky;
  const std::uint64_t first = (seen.problem.groups() + 1U) * sizeof(std::uint32_t);
  return {.copies = 6 * sky, .bytes = sky * (bytes_of_spectra(seen) + first + bytes_of_sky(seen))};
}
/// Three of them once, the others for each.
Queued vectors_in_once(const Observation& seen) {
  const std::uint64_t sky = seen.problem.sky;
  const std::uint64_t first = (seen.problem.groups() + 1U) * sizeof(std::uint32_t);
  return {.copies = 3 + 3 * sky,
          .bytes = bytes_of_spectra(seen) + first + sky * bytes_of_sky(seen)};
}
/// All 2F out in so many copies, each behind so many launches.
Queued results_out(const Observation& seen, std::uint64_t copies, std::uint64_t launches = 1) {
  return {.copies = copies,
          .bytes = seen.problem.results() * sizeof(float),
          .launches = launches * copies};
}
/// Threads of blocks with a thread for each signal of the longest group of each detector.
std::uint64_t idle_beside(const Observation& seen, std::uint64_t longest_of_each) {
  const Problem& p = seen.problem;
  return std::uint64_t{p.sky} * p.cells * p.frequencies *
         (p.detectors * longest_of_each - seen.signals());
}
std::uint64_t sum_of_longest(const Observation& seen) {
  std::uint64_t all = 0;
  for (std::uint32_t stack = 0; stack < seen.problem.stacks; ++stack)
    all += seen.longest_group(stack);
  return all;
}
/// Threads of blocks of `templates` templates each, of which there are `count`, with so many
/// threads each.
std::uint64_t idle_at_end(std::uint64_t count, std::uint64_t templates, std::uint64_t threads) {
  return ((count + templates - 1) / templates * templates - count) * threads;
}

}  // namespace

Costs predict_per_call(const Observation& seen) {
  Costs costs = predict_kept_memory(seen);
  costs.allocations = over_calls(seen, [](std::uint64_t signals) { return signals + 4; });
  return costs;
}

Costs predict_kept_memory(const Observation& seen) {
  constexpr std::uint64_t others = 3;  // table, timings, antennas
  const std::uint64_t bytes_of_signal =
      seen.grid.bins * sizeof(Bin) + pointer_bytes + sizeof(Timing) + sizeof(Antenna);
  const std::uint64_t calls = calls_of(seen);
  return {
      .queued = {
          .copies = over_calls(seen, [](std::uint64_t signals) { return signals + others + 1; }),
          .bytes = over_calls(
              seen, [=](std::uint64_t signals) { return signals * bytes_of_signal + sums_bytes; }),
          .launches = calls}};
}

Costs predict_gathered(const Observation& seen) {
  const std::uint64_t calls = calls_of(seen);
  return {.queued = {.copies = calls,
                     .bytes = calls * sums_bytes,
                     .launches = calls * (1 + gather_launches)}};
}

Costs predict_packed(const Observation& seen) {
  const std::uint64_t calls = calls_of(seen);
  return {.queued = vectors_in(seen) +
                    Queued{.copies = calls, .bytes = calls * sums_bytes, .launches = calls}};
}

Costs predict_one_launch(const Observation& seen) {
  const Problem& p = seen.problem;
  return {.queued = vectors_in(seen) + results_out(seen, std::uint64_t{p.sky} * p.cells * p.stacks),
          .idle_threads = idle_beside(seen, sum_of_longest(seen))};
}

Costs predict_all_stacks(const Observation& seen) {
  const Problem& p = seen.problem;
  return {.queued = vectors_in(seen) + results_out(seen, std::uint64_t{p.sky} * p.cells),
          .idle_threads = idle_beside(seen, std::uint64_t{p.stacks} * seen.longest_group())};
}

Costs predict_resident(const Observation& seen) {
  Costs costs = predict_all_stacks(seen);
  costs.queued = vectors_in_once(seen) +
                 results_out(seen, std::uint64_t{seen.problem.sky} * seen.problem.cells);
  return costs;
}

Costs predict_library(const Observation& seen) {
  Costs costs = predict_resident(seen);
  costs.queued.launches *= 3;
  return costs;
}

Costs predict_warp_sum(const Observation& seen) {
  const Problem& p = seen.problem;
  Costs costs = predict_resident(seen);
  costs.idle_threads = std::uint64_t{p.sky} * p.cells * p.stacks *
                       idle_at_end(p.frequencies, templates_of_block, 32);
  // Where a stack has fewer signals than a warp has lanes, some lanes have no term.
  for (std::uint32_t stack = 0; stack < p.stacks; ++stack) {
    const std::uint32_t signals = seen.signals_of_stack(stack);
    if (signals < 32) {
      costs.idle_threads += std::uint64_t{p.sky} * p.cells * p.frequencies * (32 - signals);
    }
  }
  return costs;
}

Costs predict_lanes(const Observation& seen) {
  const Problem& p = seen.problem;
  return {.queued = vectors_in_once(seen) + results_out(seen, p.sky),
          .idle_threads = std::uint64_t{p.sky} * p.stacks *
                          idle_at_end(std::uint64_t{p.cells} * p.frequencies, usual_block, 1)};
}

Costs predict_polynomial(const Observation& seen) {
  Costs costs = predict_lanes(seen);
  ++costs.queued.launches;
  return costs;
}

}  // namespace strata::fstat
