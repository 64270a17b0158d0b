// What the F-statistic is computed of: spectra of short stretches of what detectors recorded, and
// the templates that they are held against. They are made here, from a seed, the same on every
// machine; a file of them is observation_file.hpp's. Host only.
//
// The shape is that of Breitbart 2008, 4.2: 45 sky points of 9 cells, 84 stacks of 161 frequencies,
// 2 detectors with about 45 signals each. A cell differs from the next by its spin-down; a stack is
// a day of the record, whose stretches of 30 minutes have gaps between them; a signal is one of
// these stretches, as its spectrum (LALSuite: an SFT).
#pragma once

#include "harness/measure/session.hpp"
#include "nbody/fstat/problem/elements.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace strata::fstat {

/// Numbers of sky points, cells, stacks, frequencies and detectors.
struct Problem {
  std::uint32_t sky = 45;  ///< points
  std::uint32_t cells = 9;
  std::uint32_t stacks = 84;
  std::uint32_t frequencies = 161;
  std::uint32_t detectors = 2;
  std::uint64_t seed = 2008;

  [[nodiscard]] std::uint32_t groups() const { return stacks * detectors; }
  /// Of a sky point; each has a result.
  [[nodiscard]] std::size_t templates() const { return std::size_t{cells} * stacks * frequencies; }
  [[nodiscard]] std::size_t results() const { return sky * templates(); }
  bool operator==(const Problem&) const = default;
};
/// As much as a file may hold.
inline constexpr Problem most{
    .sky = 4096, .cells = 256, .stacks = 4096, .frequencies = 4096, .detectors = 8};
/// A block has a thread for each.
inline constexpr std::uint32_t most_signals = 512;  // of a group

/// Signals are ordered by group; a group is a detector in a stack, stack × detectors + detector.
/// Results are ordered by sky point, cell, stack and frequency.
struct Observation {
  Problem problem;
  Grid grid;
  std::vector<std::uint32_t> first_signal;  ///< of each group; one more at the end
  std::vector<std::uint32_t> offsets;       ///< of each signal: where its spectrum begins
  std::vector<Bin> spectra;
  std::vector<Timing> timings;    ///< of all signals, sky point by sky point
  std::vector<Antenna> antennas;  ///< likewise

  [[nodiscard]] std::uint32_t signals() const { return static_cast<std::uint32_t>(offsets.size()); }
  [[nodiscard]] std::uint32_t signals_of(std::uint32_t group) const {
    return first_signal[group + 1] - first_signal[group];
  }
  [[nodiscard]] std::uint32_t signals_of_stack(std::uint32_t stack) const {
    return first_signal[std::size_t{stack + 1} * problem.detectors] -
           first_signal[std::size_t{stack} * problem.detectors];
  }
  [[nodiscard]] std::uint32_t longest_stack() const;
  /// The most that a group has: one of this stack, or of any.
  [[nodiscard]] std::uint32_t longest_group(std::uint32_t stack) const;
  [[nodiscard]] std::uint32_t longest_group() const;
  /// Signals × templates of all sky points.
  [[nodiscard]] double terms() const {
    return static_cast<double>(problem.sky) * problem.cells * problem.frequencies * signals();
  }
  bool operator==(const Observation&) const = default;
};

/// A problem's observation. One of fewer sky points, cells, stacks or frequencies is part of one
/// with more.
[[nodiscard]] Observation generate(const Problem& problem);

/// Throws UsageError that begins with `place` for an observation that no rung could be given.
void check(std::string_view place, const Problem& problem);
void check(std::string_view place, const Observation& observation);

/// Of each stack of a sky point.
[[nodiscard]] std::vector<Matrix> matrices_of(const Observation& seen, std::uint32_t sky);

/// The problem that a case's axes `sky`, `cells`, `stacks` and `frequencies` name.
[[nodiscard]] Problem problem_of(const Session& session);

}  // namespace strata::fstat
