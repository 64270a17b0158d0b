// The observation as a program keeps it that never thought of a GPU: in many small pieces of
// memory, a spectrum each, as in Breitbart 2008, Figure 4.8; and how it is packed. Host only.
#pragma once

#include "nbody/fstat/problem/observation.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace strata::fstat {

/// Pieces of one memory, in no order and with gaps, as on a heap: of each group a table of
/// its spectra and each spectrum, and from each sky point the timings and the antennas of each
/// group.
class Pieces {
 public:
  /// Bytes of the memory that they take up.
  [[nodiscard]] static std::size_t bytes_of(const Observation& seen);
  /// The memory must live as long as the pieces.
  Pieces(const Observation& seen, std::span<std::byte> memory);

  [[nodiscard]] Signals of(std::uint32_t sky, std::uint32_t group) const {
    return groups_[std::size_t{sky} * tables_ + group];
  }
  [[nodiscard]] std::span<const Matrix> matrices(std::uint32_t sky) const { return matrices_[sky]; }

 private:
  std::size_t tables_;
  std::vector<Signals> groups_;  ///< from each sky point
  std::vector<std::vector<Matrix>> matrices_;
};

/// Memory for an observation as seen from one sky point: vectors of data, and of their addresses.
struct Packed {
  std::span<Bin> bins;                ///< all spectra; empty: they and the next two stay
  std::span<const Bin*> spectra;      ///< of each signal
  std::span<std::uint32_t> first;     ///< signal of each group; one more at the end
  std::span<Timing> timings;          ///< of each signal
  std::span<Antenna> antennas;        ///< likewise
  std::span<Matrix> matrices;         ///< of each stack
  const Bin* bins_as_seen = nullptr;  ///< address of `bins` for the reader of `spectra`

  [[nodiscard]] Signals of(std::uint32_t group) const {
    const std::size_t from = first[group];
    return {.spectra = spectra.data() + from,
            .timings = timings.data() + from,
            .antennas = antennas.data() + from,
            .count = first[group + 1] - first[group]};
  }
};
/// The same on a CPU, in vectors of its own.
struct PackedVectors {
  std::vector<Bin> bins;
  std::vector<const Bin*> spectra;
  std::vector<Timing> timings;
  std::vector<Antenna> antennas;
  std::vector<std::uint32_t> first;
  std::vector<Matrix> matrices;

  explicit PackedVectors(const Observation& seen)
      : bins(std::size_t{seen.signals()} * seen.grid.bins),
        spectra(seen.signals()),
        timings(seen.signals()),
        antennas(seen.signals()),
        first(seen.problem.groups() + 1U),
        matrices(seen.problem.stacks) {}
  [[nodiscard]] Packed places() {
    return {bins, spectra, first, timings, antennas, matrices, bins.data()};
  }
};

/// Copies the pieces of a sky point together, as Breitbart's cuda_prepare does.
void pack(const Pieces& pieces, const Observation& seen, std::uint32_t sky, const Packed& to);

}  // namespace strata::fstat
