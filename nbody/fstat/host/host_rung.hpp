// Types of rungs on a CPU: inputs and outputs of a pass, and the division of its bands. Host only.
#pragma once

#include "harness/counters/tracer.hpp"
#include "nbody/common/host_rung.hpp"
#include "nbody/fstat/ladder.hpp"
#include "nbody/fstat/pieces.hpp"
#include "nbody/fstat/terms.hpp"
#include "nbody/fstat/verification.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::fstat {

/// One pass over all sky points.
struct HostPass {
  const Observation* seen = nullptr;
  const Pieces* pieces = nullptr;
  std::span<Sums> sums;    ///< of each result
  std::span<float> two_f;  ///< likewise
  Tracer* tracer = nullptr;
};

/// All frequencies of a stack, from a sky point and for a cell.
struct Band {
  const Grid* grid = nullptr;
  const Signals* groups = nullptr;  ///< of each detector
  std::uint32_t detectors = 0;
  std::uint32_t frequencies = 0;
  double spin = 0;
  Matrix matrix;
  Sums* sums = nullptr;    ///< of each frequency
  float* two_f = nullptr;  ///< likewise
};

/// Calls one_band(band) for so many bands of a sky point, from `first` on, whose groups are
/// of(group).
template <class Of, class OneBand>
void visit_bands(const HostPass& pass, std::uint32_t sky, std::span<const Matrix> matrices,
                 std::size_t first, std::size_t last, const Of& of, const OneBand& one_band) {
  const Problem& problem = pass.seen->problem;
  std::vector<Signals> groups(problem.detectors);
  for (std::size_t band = first; band < last; ++band) {
    const auto stack = static_cast<std::uint32_t>(band % problem.stacks);
    for (std::uint32_t d = 0; d < problem.detectors; ++d)
      groups[d] = of(stack * problem.detectors + d);
    const std::size_t result = sky * problem.templates() + band * problem.frequencies;
    one_band(Band{.grid = &pass.seen->grid,
                  .groups = groups.data(),
                  .detectors = problem.detectors,
                  .frequencies = problem.frequencies,
                  .spin = pass.seen->grid.spin(static_cast<std::uint32_t>(band / problem.stacks)),
                  .matrix = matrices[stack],
                  .sums = pass.sums.data() + result,
                  .two_f = pass.two_f.data() + result});
  }
}
[[nodiscard]] inline std::size_t bands_of(const Problem& problem) {
  return std::size_t{problem.cells} * problem.stacks;
}

using HostKernel = strata::HostKernel<HostPass>;
/// Prepares a rung. Throws Skipped where it cannot be done with these vectors or in this build.
using MakeHostKernel = HostKernel (*)(const Observation&, Vectors);

/// Results of a pass.
struct HostResults {
  std::vector<Sums> sums;
  std::vector<float> two_f;
};
[[nodiscard]] HostResults pass_on_host(const HostKernel& kernel, ThreadTeam& team,
                                       const Observation& seen);

/// Verifies a rung, then times it.
void measure_rung(Session& session, const Rung& rung, MakeHostKernel make);

/// One number after the other.
STRATA_SCALAR inline void scalar_band(const Band& band) {
  for (std::uint32_t j = 0; j < band.frequencies; ++j) {
    const double frequency = band.grid->frequency(j);
    Sums sums;
    for (std::uint32_t d = 0; d < band.detectors; ++d) {
      const Signals& of = band.groups[d];
      for (std::uint32_t s = 0; s < of.count; ++s)
        add_signal(sums, of.spectra[s], *band.grid, of.timings[s], of.antennas[s], frequency,
                   band.spin);
    }
    band.sums[j] = sums;
    band.two_f[j] = two_f(sums, band.matrix);
  }
}

/// A rung that packs each sky point and then has its bands summed: all_bands(team, count, visit)
/// calls visit(first, last) for parts of `count` bands, and ends when all are done.
template <class AllBands, class OneBand>
[[nodiscard]] HostKernel packed_bands(const Observation& seen, const AllBands& all_bands,
                                      const OneBand& one_band) {
  const auto vectors = std::make_shared<PackedVectors>(seen);
  return HostKernel::step_by_step([=](const HostPass& pass, ThreadTeam& team) {
    const Packed packed = vectors->places();
    for (std::uint32_t sky = 0; sky < pass.seen->problem.sky; ++sky) {
      {
        const HostPhase packing{pass.tracer, StepPhase::build};
        pack(*pass.pieces, *pass.seen, sky, packed);
      }
      all_bands(team, bands_of(pass.seen->problem), [&](std::size_t first, std::size_t last) {
        visit_bands(
            pass, sky, packed.matrices, first, last,
            [&](std::uint32_t group) { return packed.of(group); }, one_band);
      });
    }
  });
}

}  // namespace strata::fstat
