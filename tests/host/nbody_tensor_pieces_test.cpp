// What rung tensor_cores computes, done here by the same pieces and roundings and held against
// double precision: its bound and what it calls far are proved without a GPU.
#include "harness/model/split_mix.hpp"
#include "nbody/gravity/ladder.hpp"
#include "nbody/gravity/tensor_pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace strata::nbody::tensor {
namespace {

// ---- Half precision -----------------------------------------------------------------------------

TEST(TensorHalf, IsTheNearestNumber) {
  for (const auto& [x, half] : std::initializer_list<std::pair<float, float>>{
           {0, 0},
           {1, 1},
           {-2.5F, -2.5F},
           {1 + 0x1p-11F, 1},                     // half-way: the even one
           {1 + 3 * 0x1p-11F, 1 + 2 * 0x1p-10F},  // half-way, upwards
           {1 + 0x1.1p-11F, 1 + 0x1p-10F},
           {65504, 65504},
           {65519, 65504},
           {65520, std::numeric_limits<float>::infinity()},
           {0x1p-14F, 0x1p-14F},
           {0x1p-24F, 0x1p-24F},
           {0x1p-25F, 0},
           {-0x1.8p-24F, -0x1p-23F},
           {0x1p-14F - 0x1p-25F, 0x1p-14F}}) {
    EXPECT_EQ(to_half(x), half) << x;
    EXPECT_EQ(to_half(half), half) << half;
    EXPECT_EQ(to_half(-x), -half) << x;
  }
  EXPECT_TRUE(std::isnan(to_half(std::numeric_limits<float>::quiet_NaN())));
}

TEST(TensorHalf, IsOffByHalfOfTheLastPlaceAtTheMost) {
  SplitMix random{1};
  for (int n = 0; n < 20000; ++n) {
    const float x = std::ldexp(static_cast<float>(random.below(1U << 24U)), n % 30 - 38);
    const float unit = std::max(0x1p-24F, std::ldexp(1.0F, std::ilogb(x) - 10));
    EXPECT_LE(std::abs(to_half(x) - x), unit / 2) << x;
  }
}

// ---- Arithmetic ---------------------------------------------------------------------------------

/// As tensor cores add up: each addend cut where the largest one has its 24th binary digit.
using Sixteen = std::array<float, 16>;
float product(const Sixteen& a, const Sixteen& b, float sum) {
  double largest = std::abs(sum);
  std::array<double, 17> addends{};
  addends[0] = sum;
  for (std::size_t k = 0; k < a.size(); ++k) {
    addends[k + 1] = static_cast<double>(a[k]) * b[k];
    largest = std::max(largest, std::abs(addends[k + 1]));
  }
  if (!(largest > 0)) return 0;
  const double unit = std::ldexp(1.0, std::ilogb(largest) - 24);
  double total = 0;
  for (const double addend : addends)
    total += std::trunc(addend / unit) * unit;
  return static_cast<float>(total);
}

struct Place {
  float x;
  float y;
  float z;
};

enum class Fault { none, stale_centre, lost_group, low_piece, turned };

float squared_by_pieces(const Place& i, const Place& j, float softening,
                        Fault fault = Fault::none) {
  auto row = distance_pieces<true>(i.x, i.y, i.z, 0);
  const auto column = distance_pieces<false>(j.x, j.y, j.z, softening);
  if (fault == Fault::low_piece) row[3] /= 64;
  return product(row, column, 0);
}

TEST(TensorPieces, GiveTheDistanceWithinItsBound) {
  SplitMix random{2};
  const auto coordinate = [&](float edge) {
    return edge * (static_cast<float>(random.below(1U << 24U)) * 0x1p-24F - 0.5F);
  };
  for (int n = 0; n < 20000; ++n) {
    const float edge = std::ldexp(1.0F, n % 20 - 10);
    const float other = std::ldexp(1.0F, n / 20 % 20 - 10);
    const Place i{coordinate(edge), coordinate(edge), coordinate(edge)};
    const Place j{coordinate(other), coordinate(other), coordinate(other)};
    const double right = std::pow(double{i.x} - j.x, 2) + std::pow(double{i.y} - j.y, 2) +
                         std::pow(double{i.z} - j.z, 2) + 1e-3;
    const double reach = std::hypot(i.x, i.y, i.z) + std::hypot(j.x, j.y, j.z);
    // Numbers too small to be normal are right to 2^-25, and so are products with them.
    EXPECT_LE(std::abs(squared_by_pieces(i, j, 1e-3F) - right),
              square_error * reach * reach + 0x1p-24 * (1 + reach))
        << n;
  }
}

TEST(TensorPieces, OfMomentsAreRightToTwiceElevenBits) {
  SplitMix random{3};
  for (int n = 0; n < 2000; ++n) {
    const float x = 20 * (static_cast<float>(random.below(1U << 24U)) * 0x1p-24F - 0.5F);
    const auto pieces = moment_pieces(x, -x, 2 * x, 0.75F);
    EXPECT_NEAR(pieces[0] + pieces[1], 0.75F * x, 0x1p-22 * std::abs(x) + 0x1p-25);
    EXPECT_NEAR(pieces[4] + pieces[5], 1.5F * x, 0x1p-21 * std::abs(x) + 0x1p-25);
    EXPECT_EQ(pieces[6] + pieces[7], 0.75F);
  }
}

TEST(TensorRoots, ByMultiplyAddsAreRightToAHundredThousandth) {
  double worst = 0;
  for (int n = 0; n < 30'000; ++n) {
    const float x = std::pow(1.0007F, static_cast<float>(n)) * 1e-3F;
    const double right = std::pow(double{x}, -1.5);
    worst = std::max(worst, std::abs(inverse_cube(x, 0) / right - 1));
  }
  EXPECT_LT(worst, 1e-5);
}

// ---- Order --------------------------------------------------------------------------------------

int steps_between(const std::array<int, 3>& a, const std::array<int, 3>& b) {
  return std::abs(a[0] - b[0]) + std::abs(a[1] - b[1]) + std::abs(a[2] - b[2]);
}

TEST(TensorCurve, VisitsEveryCellOnceFromNeighbourToNeighbour) {
  constexpr unsigned bits = 4;
  constexpr unsigned edge = 1U << bits;
  std::vector<std::array<int, 3>> cells(std::size_t{edge} * edge * edge, {-1, -1, -1});
  for (unsigned x = 0; x < edge; ++x)
    for (unsigned y = 0; y < edge; ++y)
      for (unsigned z = 0; z < edge; ++z)
        cells.at(place_on_curve(x, y, z, bits)) = {static_cast<int>(x), static_cast<int>(y),
                                                   static_cast<int>(z)};
  for (std::size_t n = 1; n < cells.size(); ++n)
    EXPECT_EQ(steps_between(cells[n], cells[n - 1]), 1) << n;
  EXPECT_GE(std::ranges::min(cells)[0], 0) << "a cell is missing";
}

TEST(TensorCurve, PutsEveryCoordinateIntoACell) {
  EXPECT_EQ(cell_of(-1, -1, 2, 4), 0U);
  EXPECT_EQ(cell_of(0, -1, 2, 4), 8U);
  EXPECT_EQ(cell_of(1, -1, 2, 4), 15U);
  EXPECT_EQ(cell_of(std::numeric_limits<float>::quiet_NaN(), -1, 2, 4), 0U);
  EXPECT_EQ(cell_of(std::numeric_limits<float>::infinity(), -1, 2, 4), 15U);
}

TEST(TensorCurve, HasACellForEveryBodyAndAKeyOfThirtyTwoBits) {
  for (const std::uint32_t systems : {1U, 2U, 32U, 1000U}) {
    for (const std::uint32_t bodies : {1U, 64U, 4096U, (1U << 26U) / systems}) {
      const unsigned bits = bits_of_curve(systems, bodies);
      EXPECT_GE(std::uint64_t{1} << 3 * bits, bodies);
      EXPECT_LE(3 * bits + 1 + static_cast<unsigned>(std::bit_width(systems - 1)), 32U);
    }
  }
}

TEST(TensorRing, HasAllGroupsThatOneMeetsInTheWordsOfItsHalf) {
  for (std::uint32_t tiles = 1; tiles <= 70; ++tiles) {
    const Cut cut = cut_of(1, tiles * tile_bodies, 264);
    for (std::uint32_t tile = 0; tile < tiles; ++tile) {
      std::set<std::uint32_t> asked;
      for (std::uint32_t k = 0; k < words_of_half(cut); ++k)
        asked.insert((tile * groups_of_tile / 32 + k) % cut.words);
      for (std::uint32_t group = 0; group < tiles * groups_of_tile; ++group) {
        const std::uint32_t other = group / groups_of_tile;
        if (other == tile || meets(tile, other, tiles)) {
          EXPECT_TRUE(asked.contains(group / 32)) << tile << " of " << tiles << ", " << group;
        }
      }
    }
  }
}

TEST(TensorGroups, AreThereUpToTheLastOne) {
  EXPECT_EQ(groups_there(0, 0), 0U);
  EXPECT_EQ(groups_there(0, 3), 7U);
  EXPECT_EQ(groups_there(0, 32), 0xFFFFFFFFU);
  EXPECT_EQ(groups_there(32, 33), 1U);
  EXPECT_EQ(groups_there(64, 33), 0U);
}

TEST(TensorRing, HasEachPairOfTilesOnce) {
  for (const std::uint32_t tiles : {1U, 2U, 3U, 8U, 9U}) {
    for (std::uint32_t a = 0; a < tiles; ++a) {
      EXPECT_FALSE(meets(a, a, tiles));
      for (std::uint32_t b = 0; b < a; ++b)
        EXPECT_NE(meets(a, b, tiles), meets(b, a, tiles)) << tiles << ' ' << a << ' ' << b;
    }
  }
}

/// Whether sets hold all tiles, and chunks and words are of some size.
bool is_sound(const Cut& cut, std::uint32_t systems, std::uint32_t bodies) {
  constexpr std::uint64_t most_bytes = 1ULL << 31U;
  const std::uint64_t bytes = std::uint64_t{48} * systems * cut.sets * cut.tiles * tile_bodies;
  return cut.tiles * tile_bodies >= bodies && (cut.tiles - 1) * tile_bodies < bodies &&
         cut.sets * cut.tiles_of_set >= cut.tiles &&
         (cut.sets - 1) * cut.tiles_of_set < cut.tiles && (cut.sets == 1 || bytes <= most_bytes) &&
         cut.chunk >= 1 && cut.chunk <= 16 && cut.words * 32 >= cut.tiles * groups_of_tile;
}

TEST(TensorCut, HasSetsThatHoldAllTilesAndChunksOfSomeSize) {
  for (const std::uint32_t bodies : {1U, 512U, 513U, 4096U, 100'000U, 1U << 22U})
    for (const std::uint32_t systems : {1U, 32U, 4096U})
      EXPECT_TRUE(is_sound(cut_of(systems, bodies, 264), systems, bodies)) << bodies;
  EXPECT_EQ(cut_of(1, 524288, 264).sets, 8U);
  EXPECT_EQ(cut_of(1, 524288, 264).chunk, 16U);
}

TEST(TensorCut, DealsEachTileToOneOfSeveralGpus) {
  for (const std::uint32_t tiles : {1U, 2U, 7U, 40U, 129U, 1024U, 1025U}) {
    for (const std::uint32_t shares : {1U, 2U, 3U, 8U}) {
      std::multiset<std::uint32_t> dealt;
      std::size_t most = 0;
      for (std::uint32_t share = 0; share < shares; ++share) {
        const Cut cut = cut_of(1, tiles * tile_bodies, 264, shares, share);
        EXPECT_TRUE(is_sound(cut, 1, tiles * tile_bodies)) << tiles;
        const std::size_t before = dealt.size();
        for (std::uint32_t n = 0; n < cut.own_tiles(); ++n) {
          const std::uint32_t tile = cut.own_tile(n);
          EXPECT_EQ(tile / cut.tiles_of_set % shares, share);
          EXPECT_EQ(cut.own_group(n * groups_of_tile + 3), tile * groups_of_tile + 3);
          if (tile < tiles) dealt.insert(tile);
        }
        most = std::max(most, dealt.size() - before);
      }
      EXPECT_EQ(dealt.size(), tiles);
      EXPECT_EQ(std::set(dealt.begin(), dealt.end()).size(), tiles);
      if (tiles >= 40) {
        EXPECT_LE(static_cast<double>(most), 1.15 * tiles / shares + 1) << tiles;
      }
    }
  }
}

// ---- What is far --------------------------------------------------------------------------------

struct FarCase {
  const char* what = "";
  bool far = false;
  Sphere a{};
  Sphere b{};
  float ratio = 1.25F;
  float softening = 1e-4F;
  float scale = 1;
  Sphere centre{};
};

TEST(TensorFar, NeedsRoomPrecisionAndRange) {
  const Sphere a{0, 0, 0, 0.1F};
  const Sphere b{1, 0, 0, 0.1F};
  const Sphere small{0, 0, 0, 0.002F};
  const Sphere beside{0.03F, 0, 0, 0.002F};
  for (const FarCase& one : std::initializer_list<FarCase>{
           {"far", true, a, b},
           {"just far", true, a, {0.26F, 0, 0, 0.1F}},
           {"too near for their size", false, a, {0.24F, 0, 0, 0.1F}},
           {"too near for the ratio", false, a, {0.29F, 0, 0, 0.1F}, 1.5F},
           {"r^-3 beyond 65504", false, small, beside, 1.25F, 0},
           {"below it", true, small, {0.031F, 0, 0, 0.002F}, 1.25F, 0},
           {"below it where softened", true, small, beside},
           {"below it where scaled", true, small, {0.02F, 0, 0, 0.002F}, 1.25F, 0, 2},
           {"all at one place", false, small, {1, 0, 0, 0.001F}},
           {"centre too far for the precision of r^2",
            false,
            a,
            b,
            1.25F,
            1e-4F,
            1,
            {100, 0, 0, 0}},
           {"r^2 / 256 beyond 65504", false, a, {2000, 0, 0, 0.1F}},
           {"single precision wanted", false, a, {1, 0, 0, INFINITY}},
           {"nowhere", false, a, {NAN, 0, 0, 0.1F}}}) {
    EXPECT_EQ(is_far(apart(one.a, one.b, one.centre), one.ratio, one.softening, one.scale), one.far)
        << one.what;
    EXPECT_EQ(is_far(apart(one.b, one.a, one.centre), one.ratio, one.softening, one.scale), one.far)
        << one.what;
  }
}

TEST(TensorScale, MakesRadiiAnEighthToAQuarter) {
  for (const float radius : {1e-6F, 0.04F, 0.24F, 1.0F, 77.0F}) {
    const float scaled = radius * scale_for(5 * std::ilogb(radius), 5);
    EXPECT_GE(scaled, 0.125F);
    EXPECT_LT(scaled, 0.25F);
  }
  EXPECT_EQ(scale_for(0, 0), 1);
  EXPECT_GT(scale_for(-149, 1), 0);
  EXPECT_TRUE(std::isfinite(scale_for(-149, 1)));
}

TEST(TensorScale, OfMassesIsSixteenTimesTheMean) {
  EXPECT_GT(mass_limit(0, 1), 0);
  EXPECT_EQ(mass_limit(8, 4), 32);
}

// ---- The whole step -----------------------------------------------------------------------------

struct Body {
  float x = 0;
  float y = 0;
  float z = 0;
  float mass = 1;
};
using Vector = std::array<double, 3>;

/// A system in the rung's order, and what the rung finds out about it.
struct System {
  std::vector<Body> bodies;  ///< filled up to whole tiles
  std::size_t real = 0;
  std::vector<Sphere> spheres;
  std::vector<float> masses;
  std::vector<Sphere> centres;
  Cut cut{};
  float length = 1;
  float limit = 1;
  float softening = 0;
  float ratio = 0;
  Fault fault = Fault::none;

  System(std::vector<Body> all, float softening_squared, float least_ratio)
      : bodies{std::move(all)},
        real{bodies.size()},
        softening{softening_squared},
        ratio{least_ratio} {
    const auto count = static_cast<std::uint32_t>(real);
    cut = cut_of(1, count, 264);
    sort();
    bodies.resize(std::size_t{cut.tiles} * tile_bodies,
                  {bodies.back().x, bodies.back().y, bodies.back().z, 0});
    int exponents = 0;
    int wide = 0;
    for (std::size_t g = 0; g < bodies.size() / group_bodies; ++g) {
      add_group(g);
      const float radius = spheres.back().radius;
      if (radius > 0) exponents += std::ilogb(radius), ++wide;
      const auto* const first = bodies.data() + g * group_bodies;
      if (std::any_of(first, first + group_bodies, [&](const Body& b) { return b.mass > limit; })) {
        spheres.back().radius = INFINITY;
      }
    }
    length = scale_for(exponents, wide);
    const std::size_t in_set = std::size_t{cut.tiles_of_set} * groups_of_tile;
    for (std::size_t set = 0; set < cut.sets; ++set) {
      Vector sum{};
      double n = 0;
      for (std::size_t g = set * in_set; g < std::min((set + 1) * in_set, spheres.size()); ++g) {
        if (g >= groups()) continue;
        sum[0] += spheres[g].x, sum[1] += spheres[g].y, sum[2] += spheres[g].z, n += 1;
      }
      n = std::max(n, 1.0);
      centres.push_back({static_cast<float>(sum[0] / n), static_cast<float>(sum[1] / n),
                         static_cast<float>(sum[2] / n), 0});
    }
  }

  [[nodiscard]] std::size_t groups() const { return (real + group_bodies - 1) / group_bodies; }
  [[nodiscard]] static std::uint32_t tile_of(std::size_t group) {
    return static_cast<std::uint32_t>(group / groups_of_tile);
  }
  [[nodiscard]] const Sphere& centre_of(std::size_t group) const {
    return centres[tile_of(group) / cut.tiles_of_set];
  }
  [[nodiscard]] bool rows(std::size_t group, std::size_t other) const {
    return meets(tile_of(group), tile_of(other), cut.tiles);
  }
  [[nodiscard]] bool far(std::size_t a, std::size_t b) const {
    if (tile_of(a) == tile_of(b)) return false;
    if (!rows(a, b)) std::swap(a, b);
    return is_far(apart(spheres[a], spheres[b], centre_of(a)), ratio, softening, length);
  }
  /// Whether all groups of a tile are far from a group, by the tile alone.
  [[nodiscard]] bool far_from_tile(std::size_t tile, std::size_t group) const {
    const std::size_t first = tile * groups_of_tile;
    const Sphere& centre = centre_of(first);
    const Hull hull = hull_of([&](std::size_t g) { return spheres[first + g]; }, centre);
    return is_far(apart(hull, spheres[group], centre), ratio, softening, length);
  }
  [[nodiscard]] double near_share() const {
    double near = 0;
    for (std::size_t a = 0; a < groups(); ++a)
      for (std::size_t b = 0; b < groups(); ++b)
        near += far(a, b) ? 0 : 1;
    return near / static_cast<double>(groups() * groups());
  }

  [[nodiscard]] Vector right(std::size_t i) const {
    Vector sum{};
    for (std::size_t j = 0; j < real; ++j) {
      const Vector d{double{bodies[j].x} - bodies[i].x, double{bodies[j].y} - bodies[i].y,
                     double{bodies[j].z} - bodies[i].z};
      const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening;
      if (!(square > 0)) continue;
      for (unsigned c = 0; c < 3; ++c)
        sum[c] += bodies[j].mass * d[c] / (square * std::sqrt(square));
    }
    return sum;
  }

  /// As the rung computes it.
  [[nodiscard]] Vector computed(std::size_t i) const {
    const std::size_t mine = i / group_bodies;
    std::array<float, 3> total{};
    std::array<float, 4> row_sums{};
    std::array<float, 4> column_sums{};
    std::uint32_t row_chunk = 0;    // a block adds up for its rows over a chunk,
    std::uint32_t column_tile = 0;  // and for columns over a tile
    const auto give = [&](const std::array<float, 4>& sums, const Sphere& centre) {
      const Place at = scaled(bodies[i], centre);
      const float back = length * length * limit;
      total[0] += back * std::fma(-at.x, sums[3], sums[0]);
      total[1] += back * std::fma(-at.y, sums[3], sums[1]);
      total[2] += back * std::fma(-at.z, sums[3], sums[2]);
    };
    for (std::size_t other = 0; other < groups(); ++other) {
      if (!far(mine, other)) {
        if (fault == Fault::lost_group && other == mine + 1) continue;
        const std::array<float, 3> near = single_precision(i, other);
        for (unsigned c = 0; c < 3; ++c)
          total[c] += near[c];
      } else if (rows(mine, other)) {
        const std::uint32_t ahead = (tile_of(other) + cut.tiles - tile_of(mine)) % cut.tiles;
        if ((ahead - 1) / cut.chunk != row_chunk) {
          give(row_sums, centre_of(mine));
          row_sums = {};
          row_chunk = (ahead - 1) / cut.chunk;
        }
        add_to(row_sums, i, other, true);
      } else {
        if (tile_of(other) != column_tile) {
          give(column_sums, centre_of(std::size_t{column_tile} * groups_of_tile));
          column_sums = {};
          column_tile = tile_of(other);
        }
        add_to(column_sums, i, other, false);
      }
    }
    give(row_sums, centre_of(mine));
    give(column_sums, centre_of(std::size_t{column_tile} * groups_of_tile));
    return {total[0], total[1], total[2]};
  }

 private:
  void sort() {
    std::array<float, 3> low{INFINITY, INFINITY, INFINITY};
    std::array<float, 3> high{-INFINITY, -INFINITY, -INFINITY};
    float mass = 0;
    for (const Body& b : bodies) {
      const std::array<float, 3> at{b.x, b.y, b.z};
      for (unsigned c = 0; c < 3; ++c)
        low[c] = std::min(low[c], at[c]), high[c] = std::max(high[c], at[c]);
      mass += b.mass;
    }
    limit = mass_limit(mass, static_cast<float>(real));
    float edge = std::numeric_limits<float>::min();
    for (unsigned c = 0; c < 3; ++c)
      edge = std::max(edge, high[c] - low[c]);
    const unsigned bits = bits_of_curve(1, static_cast<std::uint32_t>(real));
    std::vector<std::pair<std::uint64_t, std::size_t>> keys;
    keys.reserve(real);
    for (const Body& b : bodies) {
      const std::uint64_t place =
          place_on_curve(cell_of(b.x, low[0], edge, bits), cell_of(b.y, low[1], edge, bits),
                         cell_of(b.z, low[2], edge, bits), bits);
      keys.emplace_back((b.mass > limit ? std::uint64_t{1} << 3 * bits : 0) | place, keys.size());
    }
    std::ranges::sort(keys);
    std::vector<Body> sorted;
    sorted.reserve(real);
    for (const auto& [key, i] : keys)
      sorted.push_back(bodies[i]);
    bodies = std::move(sorted);
  }
  void add_group(std::size_t g) {
    const auto* const first = bodies.data() + g * group_bodies;
    Vector sum{};
    double mass = 0;
    for (unsigned k = 0; k < group_bodies; ++k) {
      sum[0] += double{first[k].mass} * first[k].x;
      sum[1] += double{first[k].mass} * first[k].y;
      sum[2] += double{first[k].mass} * first[k].z;
      mass += first[k].mass;
    }
    Sphere sphere{first->x, first->y, first->z, 0};
    if (mass > 0) {
      sphere = {static_cast<float>(sum[0] / mass), static_cast<float>(sum[1] / mass),
                static_cast<float>(sum[2] / mass), 0};
    }
    if (g * group_bodies < real) {
      for (unsigned k = 0; k < group_bodies; ++k)
        sphere.radius =
            std::max(sphere.radius, distance_of(sphere, {first[k].x, first[k].y, first[k].z, 0}));
    }
    spheres.push_back(sphere);
    masses.push_back(static_cast<float>(mass));
  }
  template <class At>
  [[nodiscard]] Place scaled(const At& at, const Sphere& centre) const {
    return {(at.x - centre.x) * length, (at.y - centre.y) * length, (at.z - centre.z) * length};
  }
  [[nodiscard]] std::array<float, 3> single_precision(std::size_t i, std::size_t group) const {
    std::array<float, 3> sum{};
    for (std::size_t j = group * group_bodies; j < (group + 1) * group_bodies; ++j) {
      const std::array<float, 3> d{bodies[j].x - bodies[i].x, bodies[j].y - bodies[i].y,
                                   bodies[j].z - bodies[i].z};
      const float square =
          std::fma(d[0], d[0], std::fma(d[1], d[1], std::fma(d[2], d[2], softening)));
      if (!(square > 0)) continue;
      const float root = 1 / std::sqrt(square);
      for (unsigned c = 0; c < 3; ++c)
        sum[c] = std::fma(bodies[j].mass * root * (root * root), d[c], sum[c]);
    }
    return sum;
  }
  /// Adds the moments of a far group, times r⁻³; of four, eight pieces in pairs.
  void add_to(std::array<float, 4>& sums, std::size_t i, std::size_t group, bool row) const {
    const Sphere& centre = centre_of(row ? i / group_bodies : group);
    const float scaled_softening = softening * length * length;
    const Place me = scaled(bodies[i], centre);
    const Place between = scaled(spheres[group], spheres[i / group_bodies]);
    const float root0 =
        1 / std::sqrt(std::fma(
                between.x, between.x,
                std::fma(between.y, between.y, std::fma(between.z, between.z, scaled_softening))));
    const float f0 = root0 * root0 * root0;
    std::array<float, 8> products{};
    for (unsigned first = 0; first < group_bodies; first += 16) {
      Sixteen strengths{};
      std::array<Sixteen, 8> pieces{};
      for (unsigned k = 0; k < 16; ++k) {
        const Body& other = bodies[group * group_bodies + first + k];
        Place at = scaled(other, centre);
        if (fault == Fault::stale_centre) at.x += 1e-3F;
        const float square = row ? squared_by_pieces(me, at, scaled_softening, fault)
                                 : squared_by_pieces(at, me, scaled_softening, fault);
        const float root = 1 / std::sqrt(square);
        strengths[k] =
            to_half(k % 8 == 0 ? inverse_cube(square, f0) : std::fma(root * root, root, -f0));
        const auto moments = moment_pieces(at.x, at.y, at.z, other.mass * (1 / limit));
        for (unsigned p = 0; p < 8; ++p)
          pieces[p][k] = moments[p];
      }
      if (fault == Fault::turned) std::swap(strengths[0], strengths[15]);
      for (unsigned p = 0; p < 8; ++p)
        products[p] = product(strengths, pieces[p], products[p]);
    }
    const Place at = scaled(spheres[group], centre);
    const float mass = masses[group] * (1 / limit);
    const std::array<float, 4> base{mass * at.x, mass * at.y, mass * at.z, mass};
    for (std::size_t c = 0; c < 4; ++c)
      sums[c] += products[2 * c] + std::fma(f0, base[c], products[2 * c + 1]);
  }
};

/// The error of some bodies, every so manieth.
Error error_of(const System& system, std::size_t sample) {
  std::vector<Pull> right;
  std::array<std::vector<float>, 3> found;
  const std::size_t step = std::max<std::size_t>(1, system.real / sample);
  for (std::size_t i = 0; i < system.real; i += step) {
    right.push_back({.acceleration = system.right(i)});
    const Vector computed = system.computed(i);
    for (unsigned c = 0; c < 3; ++c)
      found[c].push_back(static_cast<float>(computed[c]));
  }
  return nbody::error_of(right, found[0], found[1], found[2]);
}

std::vector<Body> some_bodies(const std::string& kind, std::size_t count) {
  SplitMix random{7};
  const auto uniform = [&] { return static_cast<float>(random.below(1U << 24U)) * 0x1p-24F; };
  std::vector<Body> all(count);
  for (Body& b : all) {
    if (kind == "plummer") {
      const float up = 2 * uniform() - 1;
      const float turn = 2 * std::numbers::pi_v<float> * uniform();
      const float inside = 0.9995F * uniform() + 1e-6F;
      const float radius = 1 / std::sqrt(std::pow(inside, -2.0F / 3) - 1);
      const float flat = std::sqrt(1 - up * up) * radius;
      b = {flat * std::cos(turn), flat * std::sin(turn), radius * up, 1};
    } else {
      const float x = uniform();
      const float y = uniform();
      b = {x, y, uniform(), 0.5F + uniform()};
    }
    if (kind == "ratio") b.mass = std::pow(1e6F, uniform());
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (kind == "offset") all[i].x += 100, all[i].y -= 100, all[i].z += 100;
    if (kind == "doubles" && i % 2 == 1) all[i] = all[i - 1];
    if (kind == "doubles" && i < count / 8) all[i] = all[0];
  }
  if (kind == "heavy") all[count / 2].mass = 1e6F;
  if (kind == "far out") all[count / 2].x = 1e5F;
  return all;
}

bool passes(const Error& error, std::size_t bodies, bool dominated = false) {
  const Accuracy found = accuracy_of(rung_named("tensor_cores"), static_cast<std::uint32_t>(bodies),
                                     error, "", dominated);
  return accuracy_gate(found).verdict == Verdict::passed;
}

TEST(TensorStep, AsksATileForItsEightGroups) {
  std::size_t far = 0;
  std::size_t far_at_once = 0;
  for (const char* kind : {"cube", "plummer", "ratio", "doubles", "heavy", "far out"}) {
    const System system{some_bodies(kind, 16'384), 1e-4F, 1.25F};
    for (std::size_t tile = 0; tile < system.groups() / groups_of_tile; ++tile) {
      for (std::size_t other = 0; other < system.groups(); ++other) {
        if (!meets(static_cast<std::uint32_t>(tile), System::tile_of(other), system.cut.tiles))
          continue;
        bool all = true;
        for (std::size_t g = 0; g < groups_of_tile; ++g)
          all = all && system.far(tile * groups_of_tile + g, other);
        const bool at_once = system.far_from_tile(tile, other);
        EXPECT_TRUE(all || !at_once) << kind << ": tile " << tile << ", group " << other;
        far += all ? 1 : 0;
        far_at_once += at_once ? 1 : 0;
      }
    }
  }
  EXPECT_GT(2 * far_at_once, far);
}

TEST(TensorStep, IsWithinTheRungsBound) {
  const std::size_t large = 4097;
  for (const char* kind : {"cube", "plummer", "ratio", "offset", "doubles", "heavy", "far out"}) {
    for (const auto& [bodies, ratio] :
         std::initializer_list<std::pair<std::size_t, float>>{{1, 1.25F},
                                                              {63, 1.25F},
                                                              {64, 1.25F},
                                                              {65, 1.25F},
                                                              {1025, 1.25F},
                                                              {large, 1.25F},
                                                              {large, 1.125F}}) {
      const System system{some_bodies(kind, bodies), 1e-4F, ratio};
      const Error error = error_of(system, 24);
      EXPECT_TRUE(passes(error, bodies, std::string_view{kind} == "heavy"))
          << kind << ' ' << bodies << ' ' << ratio << ": " << error.relative_rms << ", "
          << error.relative_maximum;
    }
  }
}

TEST(TensorStep, IsWithinItWhateverTheSoftening) {
  for (const char* kind : {"cube", "doubles"}) {
    for (const float softening : {0.0F, 2.5e-3F}) {
      const System system{some_bodies(kind, 4097), softening, 1.25F};
      EXPECT_TRUE(passes(error_of(system, 24), 4097)) << kind << ' ' << softening;
    }
  }
}

TEST(TensorStep, ComputesMostPairsOfManyBodiesInTensorForm) {
  EXPECT_LT((System{some_bodies("cube", 16384), 1e-4F, 1.25F}.near_share()), 0.2);
  EXPECT_LT((System{some_bodies("heavy", 16384), 1e-4F, 1.25F}.near_share()), 0.25);
  EXPECT_EQ((System{some_bodies("cube", 512), 1e-4F, 1.25F}.near_share()), 1);
}

TEST(TensorStep, IsNotWithinItWithAFault) {
  System system{some_bodies("cube", 4097), 1e-4F, 1.25F};
  EXPECT_TRUE(passes(error_of(system, 24), 4097));
  for (const Fault fault :
       {Fault::stale_centre, Fault::lost_group, Fault::low_piece, Fault::turned}) {
    system.fault = fault;
    EXPECT_FALSE(passes(error_of(system, 24), 4097)) << static_cast<int>(fault);
  }
}

}  // namespace
}  // namespace strata::nbody::tensor
