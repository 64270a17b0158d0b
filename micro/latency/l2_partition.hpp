// Is L2 one cache or two, and what does it cost to reach the other half?
//
// If L2 has two partitions, each line has its home in one of them, and the other may hold a copy,
// so that repeated loads show no difference. Atomic operations are executed at the line's home:
// therefore each SM exchanges one word of each of a few hundred lines many times. A word holds its
// own address, so the result of an exchange is the address of the next. In the difference of far
// and near the cost of the exchange itself cancels, and the differences show which lines and SMs
// are on the same side.
//
// Loads are timed one by one, from a clock reading before the load until its value can be used.
// Each follows an exchange of its word, which leaves the line at its home without a copy elsewhere.
// The time of the same code without the load is subtracted. If a copy were nearer, far loads would
// be as fast as near ones: the gate `model` requires, for each SM, at least half of an exchange's
// cost of crossing.
//
// Memory, too, is attached to one half or the other. To time loads that memory serves, all SMs
// first read four times the size of L2; then the SMs, one after the other, each load one of the
// lines, whose page was touched before. Since there are few lines, the sweep is repeated for each
// load.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/experiment.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace strata::l2_partition {

[[nodiscard]] Benchmark declare();

inline constexpr std::uint32_t lines = 256;
inline constexpr std::uint64_t room_bytes = std::uint64_t{16} << 20U;  ///< that the lines span
inline constexpr std::uint32_t turn = 4;                               ///< unrolled exchanges
inline constexpr std::uint32_t brief_turns = 2;  ///< of each line in the short launch
inline constexpr std::uint32_t full_turns = 6;
inline constexpr std::uint32_t brief_loads = 2;  ///< of each line, in the short launch of loads
inline constexpr std::uint32_t full_loads = 10;
inline constexpr std::uint32_t brief_sweeps = 4;  ///< loads by each SM after each sweep
inline constexpr std::uint32_t full_sweeps = 36;
inline constexpr std::uint32_t sweepers = 1024;    ///< threads of each SM that sweep
inline constexpr std::uint32_t apart_cycles = 64;  ///< between the loads of two SMs

/// The slopes of the experiment.
inline constexpr std::size_t exchanges = 0;
inline constexpr std::size_t single_loads = 1;
inline constexpr std::size_t evicted_loads = 2;

/// The line that a block loads after the sweep with that number: at any time a different one for
/// each block, and never one again.
constexpr std::uint32_t line_of(std::size_t block, std::uint32_t sweep) {
  constexpr std::uint32_t step = 7;  // odd, as the lines are a power of two
  return (static_cast<std::uint32_t>(block) + step * sweep) % lines;
}

/// Byte offsets of the lines in their room, all different and on line boundaries.
[[nodiscard]] std::vector<std::uint64_t> offsets();
/// For each of the lines another one, within 128 KiB and at least 4 KiB away from all of them.
[[nodiscard]] std::vector<std::uint64_t> offsets_beside();

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

/// The cell-wise median; all matrices have one size. NaN where one is NaN.
[[nodiscard]] Matrix median_of(std::span<const Matrix> several);

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
/// Without the mean excess of each SM and line, two partitions leave one pattern: lines of one half
/// are fast for one group of SMs and slow for the other. The groups are the signs of the largest
/// singular vectors. They count if chance does not make such a pattern (a permutation test) and
/// both vectors fall into two clusters instead of a gradient.
[[nodiscard]] Split split(const Matrix& cycles);

/// Three slopes: exchanges, loads that each follow an exchange, and loads that each follow a sweep.
/// Cells: the cycles of each SM and line; NaN for lines that an SM does not load. A stamp's result:
/// lines that returned another address.
[[nodiscard]] Experiment describe(unsigned sms);

}  // namespace strata::l2_partition
