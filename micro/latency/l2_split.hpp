// Do a chip's SMs and lines fall into two sides? Decided from the cycles of each SM and line alone.
#pragma once

#include "harness/model/word_patterns.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace strata::l2_partition {

/// Cycles of an access: rows are SMs, columns lines.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> cells;
  [[nodiscard]] std::span<const double> row(std::size_t r) const {
    return std::span{cells}.subspan(r * columns, columns);
  }
  [[nodiscard]] std::span<double> row(std::size_t r) {
    return std::span{cells}.subspan(r * columns, columns);
  }
};

struct Split {
  bool two = false;
  double p_value = 1;        ///< that rows in random order show a pattern as strong
  double rows_apart = 0;     ///< share of the variance of the SMs' weights that two groups explain
  double columns_apart = 0;  ///< the same of the lines' weights
  std::vector<bool> row_side;  ///< of each SM; meaningful if there are two
  std::vector<bool> column_side;
  [[nodiscard]] bool near(std::size_t row, std::size_t column) const {
    return row_side[row] == column_side[column];
  }
};
/// Bounds of Split for two partitions: uniformly spread weights give 0.75, normally distributed
/// ones 0.64.
inline constexpr double p_bound = 0.01;
inline constexpr double apart_bound = 0.85;

/// Subtracts what a whole row or a whole column has in common.
inline void centre(Matrix& m) {
  std::vector<double> of_row(m.rows);
  std::vector<double> of_column(m.columns);
  for (std::size_t r = 0; r < m.rows; ++r) {
    for (std::size_t c = 0; c < m.columns; ++c) {
      of_row[r] += m.row(r)[c] / static_cast<double>(m.columns);
      of_column[c] += m.row(r)[c] / static_cast<double>(m.rows);
    }
  }
  const double all =
      std::accumulate(of_row.begin(), of_row.end(), 0.0) / static_cast<double>(m.rows);
  for (std::size_t r = 0; r < m.rows; ++r) {
    for (std::size_t c = 0; c < m.columns; ++c)
      m.row(r)[c] += all - of_row[r] - of_column[c];
  }
}

/// The largest singular value and its vectors.
struct Pattern {
  double strength = 0;
  std::vector<double> rows;
  std::vector<double> columns;
};

inline double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

inline double normalise(std::vector<double>& v) {
  const double length = std::sqrt(product(v, v));
  if (length > 0) std::ranges::transform(v, v.begin(), [=](double x) { return x / length; });
  return length;
}

/// By power iteration. It is inexact where two patterns are equally strong, and then neither is a
/// partition.
inline Pattern pattern_of(const Matrix& m) {
  constexpr int turns = 24;
  Pattern result{.rows = std::vector<double>(m.rows), .columns = std::vector<double>(m.columns)};
  for (std::size_t c = 0; c < m.columns; ++c) {
    constexpr double half = 2147483648.0;
    result.columns[c] = hashed_word(static_cast<std::uint32_t>(c)) / half - 1;
  }
  for (int i = 0; i < turns; ++i) {
    for (std::size_t r = 0; r < m.rows; ++r)
      result.rows[r] = product(m.row(r), result.columns);
    (void)normalise(result.rows);
    std::ranges::fill(result.columns, 0.0);
    for (std::size_t r = 0; r < m.rows; ++r) {
      for (std::size_t c = 0; c < m.columns; ++c)
        result.columns[c] += m.row(r)[c] * result.rows[r];
    }
    result.strength = normalise(result.columns);
  }
  return result;
}

/// The cells of each row in random order.
inline Matrix shuffled(Matrix m, std::uint32_t& state) {
  for (std::size_t r = 0; r < m.rows; ++r) {
    for (std::size_t c = m.columns - 1; c > 0; --c)
      std::swap(m.row(r)[c], m.row(r)[hashed_word(++state) % (c + 1)]);
  }
  return m;
}

/// The cell-wise median; all matrices have one size. NaN where one is NaN.
inline Matrix median_of(std::span<const Matrix> several) {
  Matrix result = several.front();
  std::vector<double> values(several.size());
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    std::ranges::transform(several, values.begin(), [i](const Matrix& m) { return m.cells[i]; });
    const bool all = std::ranges::none_of(values, [](double x) { return std::isnan(x); });
    result.cells[i] = all ? median(values) : std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

/// Without the mean excess of each SM and line, two partitions leave one pattern: lines of one half
/// are fast for one group of SMs and slow for the other. The groups are the signs of the largest
/// singular vectors. They count if chance does not make such a pattern (a permutation test) and
/// both vectors fall into two clusters instead of a gradient.
inline Split split(const Matrix& cycles) {
  Split result{.row_side = std::vector<bool>(cycles.rows),
               .column_side = std::vector<bool>(cycles.columns)};
  if (std::min(cycles.rows, cycles.columns) < 4) return result;
  Matrix centred = cycles;
  centre(centred);
  const Pattern pattern = pattern_of(centred);
  if (!(pattern.strength > 0)) return result;
  constexpr int times = 199;
  constexpr double clearly = 0.95;  // one slow cell gives nearly the same strength anywhere
  int as_strong = 0;
  std::uint32_t state = 0;
  for (int i = 0; i < times; ++i) {
    Matrix by_chance = shuffled(centred, state);
    centre(by_chance);
    if (pattern_of(by_chance).strength >= clearly * pattern.strength) ++as_strong;
  }
  result.p_value = (1.0 + as_strong) / (1.0 + times);
  result.rows_apart = two_groups(pattern.rows).share;
  result.columns_apart = two_groups(pattern.columns).share;
  // Where the product of both weights is positive, the access is slower than its row and column
  // explain: the line is far.
  for (std::size_t r = 0; r < cycles.rows; ++r)
    result.row_side[r] = pattern.rows[r] > 0;
  for (std::size_t c = 0; c < cycles.columns; ++c)
    result.column_side[c] = !(pattern.columns[c] > 0);
  result.two = result.p_value <= p_bound && result.rows_apart >= apart_bound &&
               result.columns_apart >= apart_bound;
  return result;
}

}  // namespace strata::l2_partition
