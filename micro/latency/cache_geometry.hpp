// How large is each cache, how long are its lines, and how much does a miss fetch?
//
// Size: the largest footprint of a chain with one word per line whose mean latency is that of a
// hit; one line more causes at least one miss per lap, whatever the replacement policy. Line: over
// a footprint slightly larger than the cache, strides longer than a line skip lines, and the rest
// fits. Sector: an untouched word is loaded, then one further on: a hit or a miss. change_point.hpp
// decides where the latency changes; without confidence there is no row.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/measure/machine.hpp"
#include "harness/measure/session.hpp"
#include "harness/model/change_point.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/latency/pointer_chase.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace strata::cache_geometry {

[[nodiscard]] Benchmark declare();

enum class Property {
  l1_size,
  l1_line,
  l1_sector,
  l2_size,
  l2_line,
  l2_sector,
  constant_l1_size,
  constant_l1_line,
  constant_l15_size,
};
inline constexpr auto properties =
    choices_of<Property>("l1_size", "l1_line", "l1_sector", "l2_size", "l2_line", "l2_sector",
                         "constant_l1_size", "constant_l1_line", "constant_l15_size");
/// The quantity of a property: "size", "line" or "sector".
[[nodiscard]] constexpr std::string_view quantity_of(Property property) {
  const std::string_view name = properties.name_of(property);
  return name.substr(name.rfind('_') + 1);
}

inline constexpr std::uint64_t kibi = 1024;

/// How L1 and shared memory divide one memory: KiB in total, and the maximum for shared memory.
struct Carveouts {
  std::uint64_t unified_kib = 0;
  std::vector<unsigned> shared_kib;
};
/// Empty for a compute capability ("9.0") that is not in the programming guide's table.
[[nodiscard]] std::optional<Carveouts> carveouts_of(std::string_view compute_capability);

/// As a percentage of the maximum for shared memory, rounded down: the driver takes the chip's next
/// larger step.
[[nodiscard]] constexpr int carveout_percent(unsigned kib, unsigned most_kib) {
  return static_cast<int>(100 * std::min(kib, most_kib) / most_kib);
}
/// Bytes of dynamic shared memory that fit this carve-out and no smaller one: one KiB of each block
/// is reserved for the system from compute capability 8.0 on.
[[nodiscard]] constexpr std::uint64_t bytes_that_force(unsigned kib,
                                                       std::uint64_t most_of_a_block) {
  return kib == 0 ? 0 : std::min(std::uint64_t{kib - 1} * 1024, most_of_a_block);
}

/// Mean cycles of a load along a chain, which differs in each repetition.
using LoadCycles =
    std::function<double(std::uint64_t footprint, std::uint64_t stride, unsigned repetition)>;

/// Strides that distinguish lines, and the footprint: larger than the cache by one part in `parts`.
/// The first stride that is longer than a line must skip more lines than that.
struct LineSearch {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t step = 0;
  std::uint64_t parts = 1;
};
/// Range of a search for a size.
struct Search {
  std::uint64_t least = 0;    ///< footprint that certainly fits
  std::uint64_t most = 0;     ///< largest examined footprint
  std::uint64_t granule = 0;  ///< footprints and last steps are multiples of it
  std::uint64_t stride = 0;   ///< of the chase: a line
  bool whole_laps = true;  ///< whether one line that does not fit is visible; otherwise a share of
                           ///< the rise must be
  double least_share = 0;  ///< of the rise from hit to miss: a footprint that costs less fits
};

/// A size that was found, with all observations.
struct Found {
  std::uint64_t bytes = 0;        ///< largest footprint that fits
  std::uint64_t least = 0;        ///< of the 95 % interval: this one fits,
  std::uint64_t most = 0;         ///< this one does not
  std::vector<double> estimates;  ///< of each repetition
  double hit = 0;                 ///< cycles of a load below it
  double miss = 0;                ///< of the largest examined footprint
  ChangePoint change;             ///< in the last window
  std::vector<ScanPoint> window;
  unsigned walks = 0;
};

/// The largest footprint that fits: by octaves, then in windows that narrow down, the last one
/// `repetitions` times. Throws Skipped if there is no change, or no confident one.
[[nodiscard]] Found find_size(const Search& search, const LoadCycles& cycles, unsigned repetitions);

/// Without multiples of `alias`, which would not spread over all of a power of two of sets.
[[nodiscard]] std::vector<std::uint64_t> strides_of(std::uint64_t least, std::uint64_t most,
                                                    std::uint64_t step, std::uint64_t alias);
[[nodiscard]] constexpr std::uint64_t footprint_beyond(std::uint64_t size, std::uint64_t parts) {
  return size + size / parts;
}
/// Finds the line of a cache that `footprint` exceeds. Throws Skipped like find_size.
[[nodiscard]] Found find_line(std::uint64_t footprint, std::span<const std::uint64_t> strides,
                              const LoadCycles& cycles, unsigned repetitions);

/// Lines and sectors are powers of two of bytes: throws Skipped where the median of the estimates
/// is not, because a change point that is a step off in all repetitions looks confident.
void require_power_of_two(Property property, const Found& found);

/// In random order, trial t loads the first word at `place_of(t)` and one `distance_of(t)` bytes
/// further.
struct Neighbours {
  std::uint32_t distances = 64;  ///< 0, step, 2 × step, …
  std::uint32_t step = 4;        ///< bytes
  std::uint32_t trials = 16;     ///< of each distance
  std::uint32_t spacing = 0;     ///< bytes from place to place, more than the largest distance
  std::uint32_t turn = 0;        ///< shifts the order, per launch

  [[nodiscard]] constexpr std::uint32_t places() const { return distances * trials; }
  [[nodiscard]] constexpr std::uint64_t bytes() const { return std::uint64_t{places()} * spacing; }
  /// A bijection of the trials, for a power of two of them: an odd factor and a shift.
  [[nodiscard]] constexpr std::uint32_t place_of(std::uint32_t t) const {
    return ((t + turn) * 0x9E3779B1U) & (places() - 1);
  }
  [[nodiscard]] constexpr std::uint32_t distance_of(std::uint32_t t) const {
    return (place_of(t) + turn) % distances * step;
  }
  /// Positions of trial t's first word and of its timed word.
  [[nodiscard]] constexpr std::uint64_t first_of(std::uint32_t t) const {
    return std::uint64_t{place_of(t)} * spacing;
  }
  [[nodiscard]] constexpr std::uint64_t second_of(std::uint32_t t) const {
    return first_of(t) + distance_of(t);
  }
};

/// Contents of the words: never all ones, which a kernel assumes to be impossible.
inline constexpr HashedWords neighbour_words{.mask = 0x7FFFFFFFU};
/// How a kernel combines the loads of its trials, so that none can be left out.
[[nodiscard]] STRATA_HD constexpr std::uint32_t joined(std::uint32_t sum, std::uint32_t first,
                                                       std::uint32_t second) {
  constexpr std::uint32_t factor = 0x85EBCA6BU;
  return (sum + first) * factor + second;
}
/// The expected result of a kernel's trials.
[[nodiscard]] std::uint32_t sum_of_trials(const Neighbours& plan);

/// The scan over distances of the cycles of each repetition's trials, in trial order.
[[nodiscard]] std::vector<ScanPoint> scan_of(const Neighbours& first,
                                             const std::vector<std::vector<double>>& cycles);
/// Finds the distance at which hits end. Throws Skipped like find_size.
[[nodiscard]] Found find_sector(std::vector<ScanPoint> scan);

struct Reported {
  std::uint64_t bytes = 0;
  const char* by = "";
};
/// From the driver or the programming guide, with that many KiB set aside, or from the system of a
/// CPU.
[[nodiscard]] std::optional<Reported> reported(Property property, unsigned carveout_kib,
                                               const GpuFacts& gpu);
[[nodiscard]] std::optional<Reported> reported(Property property, const CpuFacts& cpu);

/// Adds the size of a cache, or its line, and the reported value, to the session. Returns a
/// footprint of half the size, whose loads all hit.
std::uint64_t search(Session& session, Property property, const Search& where,
                     const LineSearch& lines, const std::optional<Reported>& reference,
                     const LoadCycles& cycles);

/// A chain that the caller writes anew for each step of a search; the caller also makes the launch.
class Chains {
 public:
  Chains(Machine& machine, std::uint64_t base)
      : chain{.cycle = {2, 0}, .base = base, .stride = 0}, machine_{machine} {
    experiment.facts = nullptr;
  }
  Chains(const Chains&) = delete;
  Chains& operator=(const Chains&) = delete;
  Chains(Chains&&) = delete;
  Chains& operator=(Chains&&) = delete;
  ~Chains() = default;

  /// Writes another chain, whose launches make `warm` loads before the clock is read.
  void lay(std::uint64_t footprint, std::uint64_t stride, unsigned repetition, std::uint32_t warm);
  /// Mean cycles of a load in one launch.
  double cycles_of(std::uint32_t loads);

  std::function<void(const PermutedChain&)> write;
  PermutedChain chain;
  pointer_chase::Chase chase{
      .word_at = [this](std::uint64_t step) { return chain.address_at(step); }, .walks = {2, 2, 1}};
  Experiment experiment = pointer_chase::describe(chase, {});

 private:
  Machine& machine_;
};

/// Each launch uses another turn of `plan`: a sample is the cycles of all trials, then the clock.
[[nodiscard]] Experiment describe_trials(Property property, const Neighbours& plan, int launches,
                                         const std::optional<Reported>& reference);

}  // namespace strata::cache_geometry
