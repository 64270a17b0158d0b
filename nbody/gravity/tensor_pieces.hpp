// Gravity on tensor cores, the host part: bodies as half-precision numbers, the condition under
// which groups of bodies are far enough apart for them, and the order that keeps groups small.
//
// Tensor cores multiply half-precision numbers (11 bits) and accumulate in single precision. So a
// coordinate is split into a high and a low piece, x = h + l, and of x_i x_j the products h h, h l
// and l h are computed. r² = |i|² + |j|² − 2 i·j is then one product of two rows of 16 pieces.
//
// r⁻³ has only 11 bits. For two groups of bodies it is therefore split into f₀, the value for their
// centres, whose part is added in single precision from the groups' moments, and r⁻³ − f₀, which is
// small if the groups are far apart. The sign of its rounding error varies from pair to pair.
// Groups too near for that are computed in single precision.
#pragma once

#include "harness/model/layout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

namespace strata::nbody::tensor {

inline constexpr unsigned group_bodies = 64;
inline constexpr unsigned groups_of_tile = 8;  ///< a tile per block, a group per warp
inline constexpr unsigned tile_bodies = group_bodies * groups_of_tile;

/// The nearest half-precision number, ties to even; beyond 65504 infinite.
STRATA_HD inline float to_half(float x) {
#if defined(__CUDA_ARCH__)
  return __half2float(__float2half_rn(x));
#else
  constexpr std::uint32_t sign = 0x80000000U;
  constexpr std::uint32_t least_normal = 0x38800000U;  // 2^-14
  constexpr std::uint32_t largest = 0x477FE000U;       // 65504
  constexpr std::uint32_t infinite = 0x7F800000U;
  const auto word = std::bit_cast<std::uint32_t>(x);
  std::uint32_t magnitude = word & ~sign;
  if (magnitude > infinite) return x;
  if (magnitude < least_normal) {
    // Subnormal halves are multiples of 2^-24, the unit in the last place from 0.5 to 1.
    const float sum = std::bit_cast<float>(magnitude) + 0.5F;
    magnitude = std::bit_cast<std::uint32_t>(sum - 0.5F);
  } else {
    magnitude = (magnitude + 0xFFFU + (magnitude >> 13 & 1U)) & ~0x1FFFU;
    if (magnitude > largest) magnitude = infinite;
  }
  return std::bit_cast<float>(magnitude | (word & sign));
#endif
}

/// The 16 pieces of a body, whose product with those of another is r². Its coordinates are relative
/// to a centre, times the scale. `row`: whether it is in the rows of a product or in the columns;
/// one of the two includes `squared`, the softening.
template <bool row>
STRATA_HD inline std::array<float, 16> distance_pieces(float x, float y, float z, float squared) {
  std::array<float, 16> pieces{};
  constexpr float apart = 64;  // moves a low piece away from subnormal numbers
  constexpr std::array<float, 3> weights{256, 1, 0x1p-11F};
  const float sign = row ? -2.0F : 1.0F;
  const std::array<float, 3> coordinates{x, y, z};
  for (unsigned c = 0; c < 3; ++c) {
    const float high = to_half(coordinates[c]);
    const float low = to_half(sign * apart * (coordinates[c] - high));
    const float shrunk = to_half(sign / apart * high);
    pieces[c] = sign * high;
    pieces[3 + c] = row ? low : shrunk;
    pieces[6 + c] = row ? shrunk : low;
  }
  float rest = fmaf(x, x, fmaf(y, y, fmaf(z, z, squared)));
  for (unsigned k = 0; k < 3; ++k) {
    const float piece = to_half(rest / weights[k]);
    rest -= piece * weights[k];
    pieces[9 + k] = row ? piece : weights[k];
    pieces[12 + k] = row ? weights[k] : piece;
  }
  return pieces;
}

/// The factors of r⁻³: m x, m y, m z and m, high and low piece of each.
STRATA_HD inline std::array<float, 8> moment_pieces(float x, float y, float z, float mass) {
  const std::array<float, 4> moments{mass * x, mass * y, mass * z, mass};
  std::array<float, 8> pieces{};
  for (std::size_t c = 0; c < 4; ++c) {
    pieces[2 * c] = to_half(moments[c]);
    pieces[2 * c + 1] = to_half(moments[c] - pieces[2 * c]);
  }
  return pieces;
}

/// r⁻³ by multiply-adds, from r², minus `base`. The first guess of 1 / r is off by up to 3.4 %, so
/// t = r² guess² is near 1; the polynomial is t^(−3/2).
STRATA_HD inline float inverse_cube(float squared, float base) {
#if defined(__CUDA_ARCH__)
  const float guess = __int_as_float(0x5F375A86 - (__float_as_int(squared) >> 1));
#else
  const auto guess = std::bit_cast<float>(0x5F375A86 - (std::bit_cast<std::int32_t>(squared) >> 1));
#endif
  const float square = guess * guess;
  const float t = squared * square;
  const float p = fmaf(fmaf(fmaf(-2.19001310F, t, 8.45653710F), t, -11.84305199F), t, 6.57652007F);
  return fmaf(square * guess, p, -base);
}

/// A bounding sphere of a group of bodies; infinite if the group must be computed in single
/// precision with every other.
struct Sphere {
  float x;
  float y;
  float z;
  float radius;
};
STRATA_HD inline float distance_of(const Sphere& a, const Sphere& b) {
  const float dx = a.x - b.x;
  const float dy = a.y - b.y;
  const float dz = a.z - b.z;
  const float squared = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
#if defined(__CUDA_ARCH__)
  float root;  // accurate to one or two units in the last place, in a few instructions
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(squared));
  return root;
#else
  return std::sqrt(squared);
#endif
}

/// Smallest r² + ε², scaled: r⁻³ is then below 2^15.75, and the largest half is 65504.
inline constexpr float least_square = 6.9e-4F;
/// Smallest radius, scaled. The bodies of a smaller group, and of all at the same place, would
/// share one rounding error.
inline constexpr float least_radius = 0x1p-9F;
/// Bound of the distances of both groups from the common centre, scaled: the pieces of their
/// squares are far below 65504.
inline constexpr float most_reach = 1024;
/// Maximum error of r² over the square of the distances of both bodies from the centre. Low pieces
/// are accurate to 2^-22 of the coordinate, l l is left out: 6 × 2^-22 |i||j| together. The squares
/// are rounded to 2^-22, and adding up 16 products truncates each at 2^-24 of the largest.
inline constexpr float square_error = 1.5F * 0x1p-20F;
/// Maximum error of r².
inline constexpr float relative_square_error = 0x1p-8F;

/// The quantities that decide whether groups may be computed in tensor form.
struct Apart {
  float smallest_radius;
  float distance;  ///< between the groups' centres
  float radii;     ///< sum of the groups' radii
  float reach;     ///< their distances from the centre of the coordinates, plus `radii`
};
/// `ratio`: the minimum of `distance` over `radii`. From 1 on no two bodies touch, but at 1 the
/// forces on single bodies are off by up to 8e-3.
STRATA_HD inline bool is_far(const Apart& of, float ratio, float softening_squared, float scale) {
  const float gap = of.distance - of.radii;
  const float least = fmaf(gap, gap, softening_squared);
  return scale * of.smallest_radius >= least_radius && of.distance > ratio * of.radii &&
         least * (scale * scale) >= least_square && scale * of.reach <= most_reach &&
         least * relative_square_error >= square_error * (of.reach * of.reach);
}
/// For two groups, with coordinates relative to `centre`.
STRATA_HD inline Apart apart(const Sphere& a, const Sphere& b, const Sphere& centre) {
  const float radii = a.radius + b.radius;
  return {fminf(a.radius, b.radius), distance_of(a, b), radii,
          distance_of(a, centre) + distance_of(b, centre) + radii};
}

/// A sphere that holds the centres of all groups of a tile, and the extreme values of the groups.
struct Hull {
  Sphere centres;
  float smallest_radius;
  float largest_radius;
  float reach;  ///< largest distance of a group's centre from the centre of the coordinates
};
/// `at(g)`: the sphere of group g of the tile.
template <class At>
STRATA_HD inline Hull hull_of(const At& at, const Sphere& centre) {
  constexpr float share = 1.0F / groups_of_tile;
  Hull hull{{0, 0, 0, 0}, at(0).radius, 0, 0};
  for (unsigned g = 0; g < groups_of_tile; ++g) {
    const Sphere group = at(g);
    hull.centres.x = fmaf(share, group.x, hull.centres.x);
    hull.centres.y = fmaf(share, group.y, hull.centres.y);
    hull.centres.z = fmaf(share, group.z, hull.centres.z);
    hull.smallest_radius = fminf(hull.smallest_radius, group.radius);
    hull.largest_radius = fmaxf(hull.largest_radius, group.radius);
    hull.reach = fmaxf(hull.reach, distance_of(group, centre));
  }
  for (unsigned g = 0; g < groups_of_tile; ++g)
    hull.centres.radius = fmaxf(hull.centres.radius, distance_of(at(g), hull.centres));
  return hull;
}
/// The smallest possible distance between any group of a tile and another group: if that is far,
/// all eight are.
STRATA_HD inline Apart apart(const Hull& a, const Sphere& b, const Sphere& centre) {
  const float radii = a.largest_radius + b.radius;
  return {fminf(a.smallest_radius, b.radius), distance_of(a.centres, b) - a.centres.radius, radii,
          a.reach + distance_of(b, centre) + radii};
}

/// A power of two that scales the middle group, whose radii start at 2^exponent, to an eighth to a
/// quarter.
STRATA_HD inline float scale_for(int exponents, int groups) {
  if (groups == 0) return 1;
  const int middle = exponents / groups;
  return ldexpf(1.0F, middle < -120 ? 117 : middle > 120 ? -123 : -3 - middle);
}

/// A body heavier than this multiple of the mean dominates by itself: its rounding errors do not
/// vanish among those of others, and its group is computed in single precision.
inline constexpr float heavy = 16;
STRATA_HD inline float mass_limit(float mass, float bodies) {
  constexpr float least = 0x1p-100F;
  const float limit = heavy * (mass / bodies);
  return limit > least ? limit : least;
}

/// The tiles of a system form a ring. Each interacts with the half of it that follows, and with an
/// even number of tiles those in the first half also with the opposite one.
STRATA_HD inline bool meets(std::uint32_t tile, std::uint32_t other, std::uint32_t tiles) {
  const std::uint32_t ahead = other >= tile ? other - tile : other + tiles - tile;
  return 2 * ahead < tiles ? ahead > 0 : 2 * ahead == tiles && tile < tiles / 2;
}

/// A bit for each of the 32 groups from `first` that exists among `groups`.
STRATA_HD inline std::uint32_t groups_there(std::uint32_t first, std::uint32_t groups) {
  const std::uint32_t left = groups > first ? groups - first : 0;
  return left >= 32 ? 0xFFFFFFFFU : (1U << left) - 1;
}

/// The decomposition of the work of a system.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): shared with device code
struct Cut {
  std::uint32_t tiles;
  std::uint32_t tiles_of_set;  ///< whose coordinates are relative to one centre
  std::uint32_t sets;
  std::uint32_t words;       ///< per group, with one bit for each other group
  std::uint32_t chunk;       ///< maximum number of tiles with which a block interacts
  std::uint32_t shares = 1;  ///< of several GPUs, over which the sets are distributed in turn,
  std::uint32_t share = 0;   ///< and the number of this one

  /// Number of sets of this share.
  [[nodiscard]] STRATA_HD std::uint32_t own_sets() const {
    return (sets + shares - 1 - share) / shares;
  }
  /// Number of tiles of this share, the last set filled up.
  [[nodiscard]] STRATA_HD std::uint32_t own_tiles() const { return own_sets() * tiles_of_set; }
  /// The n-th of those tiles; `tiles` or more for those that fill up the last set.
  [[nodiscard]] STRATA_HD std::uint32_t own_tile(std::uint32_t n) const {
    return (n / tiles_of_set * shares + share) * tiles_of_set + n % tiles_of_set;
  }
  /// The n-th of their groups.
  [[nodiscard]] STRATA_HD std::uint32_t own_group(std::uint32_t n) const {
    return own_tile(n / groups_of_tile) * groups_of_tile + n % groups_of_tile;
  }
};
/// Words that hold the bits of all groups with which one interacts, starting with its own tile:
/// those of half the ring, one that begins before it and two that end after it; the last word may
/// not be full.
[[nodiscard]] STRATA_HD inline std::uint32_t words_of_half(const Cut& cut) {
  const std::uint32_t half = cut.tiles / 2 * groups_of_tile / 32 + 3;
  return half < cut.words ? half : cut.words;
}

/// For each centre there are pieces of all bodies, of 48 bytes; those of a share take 2 GiB, unless
/// one centre takes more already. A block costs about 0.4 tiles more than those with which it
/// interacts; larger chunks reduce their number, but more SMs wait for the last ones.
[[nodiscard]] inline Cut cut_of(std::uint32_t systems, std::uint32_t bodies,
                                std::uint32_t blocks_at_once, std::uint32_t shares = 1,
                                std::uint32_t share = 0) {
  constexpr std::uint64_t most_bytes = std::uint64_t{2} << 30U;
  constexpr std::uint64_t bytes_of_body = 48;
  constexpr std::uint32_t tiles_of_set = 128;
  const auto parts = [](std::uint32_t whole, std::uint32_t part) {
    return (whole + part - 1) / part;
  };
  const std::uint32_t tiles = parts(bodies, tile_bodies);
  const std::uint64_t bytes = systems * std::uint64_t{tiles} * tile_bodies * bytes_of_body;
  const std::uint64_t sets_of_share =
      std::clamp<std::uint64_t>(most_bytes / bytes, 1, parts(tiles, tiles_of_set * shares));
  const std::uint32_t in_set = parts(tiles, static_cast<std::uint32_t>(sets_of_share) * shares);
  const std::uint32_t half = tiles / 2;
  const double jobs = static_cast<double>(systems) * tiles * half / blocks_at_once / shares;
  return {
      .tiles = tiles,
      .tiles_of_set = in_set,
      .sets = parts(tiles, in_set),
      .words = parts(tiles * groups_of_tile, 32),
      .chunk = static_cast<std::uint32_t>(std::clamp(std::round(std::sqrt(0.8 * jobs)), 1.0, 16.0)),
      .shares = shares,
      .share = share};
}

/// Bits of each coordinate in a key of 32 bits, besides the number of the system and one spare bit:
/// on average, cells are far smaller than the space of a body, as far as the bits suffice.
[[nodiscard]] constexpr unsigned bits_of_curve(std::uint32_t systems, std::uint32_t bodies) {
  const unsigned free = 31 - static_cast<unsigned>(std::bit_width(systems - 1));
  const unsigned wanted = 2 * ((static_cast<unsigned>(std::bit_width(bodies)) + 2) / 3);
  return std::clamp(wanted, 1U, std::max(free / 3, 1U));
}

/// The position of a cell on Hilbert's curve, on which consecutive cells are adjacent (Skilling,
/// Programming the Hilbert curve, AIP Conf. Proc. 707, 2004).
STRATA_HD inline std::uint32_t place_on_curve(std::uint32_t x, std::uint32_t y, std::uint32_t z,
                                              unsigned bits) {
  std::array<std::uint32_t, 3> axis{x, y, z};
  for (std::uint32_t bit = 1U << (bits - 1); bit > 1; bit >>= 1U) {
    const std::uint32_t below = bit - 1;
    for (std::uint32_t& a : axis) {
      if ((a & bit) != 0) {
        axis[0] ^= below;
      } else {
        const std::uint32_t changed = (axis[0] ^ a) & below;
        axis[0] ^= changed;
        a ^= changed;
      }
    }
  }
  axis[1] ^= axis[0];
  axis[2] ^= axis[1];
  std::uint32_t turned = 0;
  for (std::uint32_t bit = 1U << (bits - 1); bit > 1; bit >>= 1U)
    if ((axis[2] & bit) != 0) turned ^= bit - 1;
  std::uint32_t place = 0;
  for (unsigned k = bits; k-- > 0;)
    for (const std::uint32_t a : axis)
      place = place << 1U | ((a ^ turned) >> k & 1U);
  return place;
}

/// The cell of a coordinate, with that many cells along the edge of a box that begins at `low`.
STRATA_HD inline std::uint32_t cell_of(float coordinate, float low, float edge, unsigned bits) {
  const auto cells = static_cast<float>(1U << bits);
  const float at = (coordinate - low) / edge * cells;
  return at >= 0 ? static_cast<std::uint32_t>(fminf(at, cells - 1)) : 0;  // NaN: 0
}

}  // namespace strata::nbody::tensor
