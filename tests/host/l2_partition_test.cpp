#include "micro/latency/l2_partition.hpp"

#include "harness/model/word_patterns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace strata {
namespace {

using namespace l2_partition;

/// From -1 to 1, other at each call.
class Noise {
 public:
  double operator()() { return hashed_word(++state_) / 2147483648.0 - 1; }

 private:
  std::uint32_t state_ = 77;
};

bool side_of_sm(std::size_t sm) {
  return sm / 3 % 2 == 0;
}
bool side_of_line(std::size_t line) {
  return hashed_word(static_cast<std::uint32_t>(line)) % 2 == 0;
}

/// SMs and lines with distances of their own, noise, and `crossing` cycles between two sides.
Matrix chip(double crossing, double noise, std::size_t sms = 66, std::size_t count = 128) {
  Noise draw;
  std::vector<double> of_sm(sms);
  std::vector<double> of_line(count);
  std::ranges::generate(of_sm, [&] { return 20 * draw(); });
  std::ranges::generate(of_line, [&] { return 30 * draw(); });
  Matrix m{.rows = sms, .columns = count, .cells = {}};
  for (std::size_t s = 0; s < sms; ++s) {
    for (std::size_t l = 0; l < count; ++l) {
      const double far = side_of_sm(s) == side_of_line(l) ? 0 : crossing;
      m.cells.push_back(500 + of_sm[s] + of_line[l] + far + noise * draw());
    }
  }
  return m;
}

TEST(L2Split, FindsTwoSidesAndWhichIsNear) {
  const Split found = split(chip(/*crossing=*/120, /*noise=*/30));
  ASSERT_TRUE(found.two);
  EXPECT_LE(found.p_value, p_bound);
  EXPECT_GT(found.rows_apart, 0.95);
  for (std::size_t s = 0; s < found.row_side.size(); ++s) {
    for (std::size_t l = 0; l < found.column_side.size(); ++l)
      ASSERT_EQ(found.near(s, l), side_of_sm(s) == side_of_line(l)) << s << ' ' << l;
  }
}

TEST(L2Split, HoldsWhereOneSideHasFewSms) {
  Matrix m = chip(120, 20);
  m.rows = 8;  // of which SMs 3 to 5 stand on the other side
  m.cells.resize(m.rows * m.columns);
  const Split found = split(m);
  ASSERT_TRUE(found.two);
  EXPECT_EQ(std::ranges::count(found.row_side, found.row_side[3]), 3);
}

TEST(L2Split, SaysOneOfAChipWithoutHalves) {
  const Split found = split(chip(0, 30));
  EXPECT_FALSE(found.two);
  EXPECT_GT(found.p_value, p_bound);
}

TEST(L2Split, DoesNotTakeDistancesForHalves) {
  // SMs and slices along a line: the farther apart the slower, with no step anywhere.
  Matrix m = chip(0, 3);
  for (std::size_t s = 0; s < m.rows; ++s) {
    for (std::size_t l = 0; l < m.columns; ++l) {
      const double from = static_cast<double>(s) / static_cast<double>(m.rows) - 0.5;
      const double to = static_cast<double>(l) / static_cast<double>(m.columns) - 0.5;
      m.cells[s * m.columns + l] -= 80 * from * to;
    }
  }
  const Split found = split(m);
  EXPECT_LE(found.p_value, p_bound);  // a pattern, but
  EXPECT_FALSE(found.two) << found.rows_apart << ' ' << found.columns_apart;
}

TEST(L2Split, SaysNothingOfAMatrixThatIsTooSmallOrFlat) {
  EXPECT_FALSE(split({.rows = 2, .columns = 64, .cells = std::vector<double>(128, 300)}).two);
  EXPECT_FALSE(split({.rows = 16, .columns = 16, .cells = std::vector<double>(256, 300)}).two);
}

TEST(L2Lines, AreDifferentAndSpreadOverTheRoom) {
  const auto all = offsets();
  ASSERT_EQ(all.size(), lines);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), lines);
  for (const auto offset : all) {
    EXPECT_EQ(offset % 128, 0U);
    EXPECT_LT(offset, room_bytes);
  }
  EXPECT_GT(*std::ranges::max_element(all) - *std::ranges::min_element(all), room_bytes / 2);
}

TEST(L2Matrix, MedianIsCellByCell) {
  const std::vector<Matrix> three{{1, 2, {1, 10}}, {1, 2, {3, 30}}, {1, 2, {2, 20}}};
  EXPECT_EQ(median_of(three).cells, (std::vector<double>{2, 20}));
}

// --- the report

Observation seen(const Matrix& cycles) {
  return {.cycles = cycles, .slowest = 600, .outside = 601, .core_hertz = 1.98e9};
}

TEST(L2PartitionDeclaration, IsKnownToEveryBuild) {
  const auto* const found = find_benchmark("l2_partition");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->benchmark.excludes({}, Backend::host));
  EXPECT_FALSE(found->benchmark.excludes({}, Backend::cuda));
  EXPECT_EQ(seen(chip(0, 1)).cycles.columns, 128U);
}

}  // namespace
}  // namespace strata
