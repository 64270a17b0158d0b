// The work distribution of rung pair_once: each pair once, and equal work for every warp.
//
// The tiles of a system, of 32 × per_thread bodies, form a ring. Each tile interacts with itself
// and with the half of the ring that follows it, in groups of 32 bodies, one per lane, that rotate
// around the warp: at turn k, lane l computes the pairs of its bodies with body l + k of the group.
// 32 turns cover the whole group.
//
// Within a tile, turn 32 − k would compute the pairs of turn k from the other side, so turns 0 to
// 16 suffice. Turns 0 and 16 are their own other side: their pairs are computed twice, and count
// half. With an even number of tiles, two opposite tiles of the ring share the turns: one takes 0
// to 15, the other, from its side, 1 to 16. So every tile has the same number of turns.
#pragma once

#include "harness/model/layout.hpp"

#include <algorithm>
#include <cstdint>

namespace strata::nbody::pair_ring {

inline constexpr std::uint32_t lanes = 32;
inline constexpr std::uint32_t half = lanes / 2;

/// Consecutive turns of one tile with one group.
struct Turns {
  std::uint32_t group;  ///< index in the system
  std::uint32_t begin;
  std::uint32_t end;
  float weight;  ///< of its pairs
};

struct Ring {
  std::uint32_t tiles;
  std::uint32_t per_thread;  ///< groups of a tile

  /// Tiles with which a tile interacts completely.
  [[nodiscard]] STRATA_HD std::uint32_t ahead() const { return (tiles - 1) / 2; }
  [[nodiscard]] STRATA_HD std::uint32_t turns_of_tile() const {
    return per_thread * (half + 1 + ahead() * lanes + (tiles % 2 == 0 ? half : 0));
  }
  /// The work of a tile from turn `at` of its turns on, as far as it has one group and weight.
  [[nodiscard]] STRATA_HD Turns turns_from(std::uint32_t tile, std::uint32_t at) const {
    const std::uint32_t own = per_thread * (half + 1);
    const std::uint32_t whole = per_thread * ahead() * lanes;
    Turns turns{0, 0, 0, 1};
    if (at < own) {
      turns.group = at / (half + 1);
      turns.begin = at % (half + 1);
      turns.end = turns.begin == 0 ? 1 : turns.begin < half ? half : half + 1;
      turns.weight = turns.begin % half == 0 ? 0.5F : 1;
    } else if (at - own < whole) {
      turns.group = per_thread + (at - own) / lanes;
      turns.begin = (at - own) % lanes;
      turns.end = lanes;
    } else {
      const std::uint32_t opposite = at - own - whole;
      const std::uint32_t first = tile < tiles / 2 ? 0 : 1;
      turns.group = per_thread * (1 + ahead()) + opposite / half;
      turns.begin = first + opposite % half;
      turns.end = first + half;
    }
    turns.group += tile * per_thread;
    if (turns.group >= tiles * per_thread) turns.group -= tiles * per_thread;
    return turns;
  }
};

/// Divides by a number that is known before the launch. The division of a GPU uses the special
/// function unit, whose instructions are counted to prove that no pair is left out.
struct Divisor {
  explicit Divisor(std::uint64_t number) : by{number}, inverse{~std::uint64_t{0} / number} {}

  struct Result {
    std::uint64_t quotient;
    std::uint64_t rest;
  };
  [[nodiscard]] STRATA_HD Result divide(std::uint64_t number) const {
#if defined(__CUDA_ARCH__)
    const std::uint64_t low = __umul64hi(number, inverse);
#else
    __extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using)
    const auto low = static_cast<std::uint64_t>(Wide{number} * inverse >> 64U);
#endif
    const std::uint64_t rest = number - low * by;  // at most one too small
    return rest < by ? Result{low, rest} : Result{low + 1, rest - by};
  }

  std::uint64_t by;
  std::uint64_t inverse;
};

/// All turns of a launch, distributed evenly over its warps.
struct Shares {
  std::uint32_t warps;
  std::uint64_t each;
  std::uint64_t rest;  ///< the first warps have one more of these

  [[nodiscard]] STRATA_HD std::uint64_t begin_of(std::uint32_t warp) const {
    return warp * each + (warp < rest ? warp : rest);
  }
};

/// A multiple of as many warps as fit on the device at once: at least four, since warps do not
/// finish at the same time and the next ones take the places of the first, and more if a share
/// would exceed 1024 turns: the forces of one warp on a body form a running sum, whose error grows
/// with its length. A share of few turns would take longer to start and finish than to compute.
[[nodiscard]] inline Shares shares_of(std::uint64_t turns, std::uint32_t warps_at_once) {
  constexpr std::uint64_t most = 1024;
  constexpr std::uint64_t least = 16;
  constexpr std::uint64_t least_waves = 4;
  const auto parts = [](std::uint64_t whole, std::uint64_t part) {
    return (whole + part - 1) / part;
  };
  const std::uint64_t full =
      warps_at_once * std::max(least_waves, parts(turns, warps_at_once * most));
  const std::uint64_t warps = std::min(full, std::max<std::uint64_t>(turns / least, 1));
  return {static_cast<std::uint32_t>(warps), turns / warps, turns % warps};
}

}  // namespace strata::nbody::pair_ring
