// Which clock do the SMs hold under which load, which clock does the driver report, and how much
// power is drawn?
//
// Every SM runs 16 warps of one instruction mix in launches of 25 ms, from rest: first for
// `seconds`, where each launch gives a point of the clock over time, then for the samples. The
// kernel's clock is %clock64 over %globaltimer of every warp. Meanwhile a host thread queries NVML
// for its clock, the power drawn and the reasons for a lower clock. The driver may report a clock
// that no SM has: then cycles and seconds are right, but a rate computed from one of them and the
// driver's clock is not. Data are random, because repetitive data draw less power. Between two
// launches the device waits about 0.1 ms for the host.
//   fma              x → x·x + c, eight chains a warp: a chaotic map, which never settles
//   idle_lanes       the same in one lane of each warp
//   mufu             a power of two for each of those multiply-adds, and a sum
//   tensor           products of 16×16 and 16×8 half-precision numbers (mma.sync), accumulated in
//                    single precision; all are integers, so that sums are exact and can be checked
//   fma_tensor       four multiply-adds for each product
//   fma_tensor_mufu  the same with a power of two and a sum
//   memory           16 bytes a lane, eight at once, from a range many times the size of L2
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/cuda/nvml_watch.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/compute/chains.hpp"

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace strata::clock_under_load {

[[nodiscard]] Benchmark declare();

enum class Mix : std::uint8_t {
  fma,
  tensor,
  memory,
  idle_lanes,
  mufu,
  fma_tensor,
  fma_tensor_mufu
};
inline constexpr auto mixes = choices_of<Mix>("fma", "tensor", "memory", "idle_lanes", "mufu",
                                              "fma_tensor", "fma_tensor_mufu");
/// Duration of the load before the first sample.
inline constexpr Choices load_seconds{std::pair{"0.1", 0.1}, std::pair{"1", 1.0}};

inline constexpr unsigned warps = 16;  ///< of the one block on each SM
inline constexpr unsigned threads = warps * warp_lanes;

/// Contents of a loop step, and steps per iteration.
struct Recipe {
  unsigned fma = 0;
  unsigned mma = 0;
  unsigned mufu = 0;  ///< and the multiply-add that uses its result
  unsigned steps = 0;
  bool one_lane = false;

  [[nodiscard]] STRATA_HD constexpr unsigned instructions() const {
    return steps * (fma + mma + 2 * mufu);
  }
};
[[nodiscard]] STRATA_HD constexpr Recipe recipe_of(Mix mix) {
  switch (mix) {
    case Mix::fma:
      return {.fma = 1, .steps = 512};
    case Mix::idle_lanes:
      return {.fma = 1, .steps = 512, .one_lane = true};
    case Mix::mufu:
      return {.fma = 1, .mufu = 1, .steps = 128};
    case Mix::tensor:
      return {.mma = 1, .steps = 64};
    case Mix::fma_tensor:
      return {.fma = 4, .mma = 1, .steps = 64};
    case Mix::fma_tensor_mufu:
      return {.fma = 4, .mma = 1, .mufu = 1, .steps = 64};
    case Mix::memory:
      break;
  }
  return {};
}

/// Chains of a warp: of multiply-adds, of sums after special functions, of products. A mix has only
/// some of them.
inline constexpr unsigned chains = 8;
inline constexpr unsigned products = 4;
struct Rows {
  unsigned fma = 0;
  unsigned mufu = 0;
  unsigned mma = 0;  ///< four words of a lane for each product
  [[nodiscard]] STRATA_HD constexpr unsigned all() const { return fma + mufu + mma; }
};
[[nodiscard]] STRATA_HD constexpr Rows rows_of(Mix mix) {
  const Recipe recipe = recipe_of(mix);
  return {.fma = recipe.fma > 0 ? chains : 0,
          .mufu = recipe.mufu > 0 ? chains : 0,
          .mma = recipe.mma > 0 ? 4 * products : 0};
}

/// Words of a lane that a product uses: those of the 16×16 numbers, then for each product those of
/// two times 16×8. One and the other are used alternately; the second is the first with the
/// opposite sign and a small difference, so that sums stay small and every pair of products changes
/// them.
inline constexpr unsigned words_of_a = 4;
inline constexpr unsigned words_of_b = 2;
inline constexpr unsigned words_of_tiles = words_of_a + 2 * products * words_of_b;

/// Row after row for the lanes of a warp: the start values of all chains, in the order of Rows; c;
/// the words of the tiles.
[[nodiscard]] operations::WarpWords device_words(Mix mix);
/// The end values of the chains, in the order of the starts.
[[nodiscard]] operations::WarpWords expected_ends(Mix mix, std::uint32_t rounds);
/// After more iterations, the sums of products exceed the integers of single precision.
[[nodiscard]] std::uint32_t most_rounds(Mix mix);

/// Addresses of the loads of `memory`: in round r warp w of the grid reads piece (r mod turns) ×
/// warps of the grid + w, each once per iteration.
inline constexpr unsigned in_flight = 8;
inline constexpr std::uint32_t piece_words = in_flight * warp_lanes * 4;
struct Range {
  std::uint32_t grid_warps = 0;
  std::uint32_t turns = 0;

  [[nodiscard]] std::uint64_t words() const {
    return std::uint64_t{turns} * grid_warps * piece_words;
  }
  /// What warp `warp` adds up in so many rounds.
  [[nodiscard]] std::uint32_t sum(std::uint32_t rounds, std::uint64_t warp) const;
};
[[nodiscard]] Range range_of(const GpuFacts& gpu);

/// The host's work beside the launches.
struct Beside {
  std::function<void()> rest;                           ///< waits while the device does nothing
  std::function<void()> watch;                          ///< NVML is queried from now on
  std::function<double()> elapsed;                      ///< seconds since
  std::function<std::vector<TimedReading>()> readings;  ///< all of them; ends the watch
  std::function<Facts()> violations;  ///< NVML's: seconds since the driver was loaded
};

struct Load {
  Mix mix = Mix::fma;
  double seconds = 0.1;  ///< before the first sample
};

/// A launch writes the first warp's `ends`, or the sum of each warp. Per warp instruction of the
/// mix, on one SM.
[[nodiscard]] Experiment describe(const Load& load, const GpuFacts& gpu, const Beside& beside,
                                  std::span<const std::uint64_t> ends);

}  // namespace strata::clock_under_load
