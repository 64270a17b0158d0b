#include "harness/base/error.hpp"
#include "nbody/fstat/host/host_rung.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace strata::fstat::cpu_openmp {
namespace {

const Rung rung{.name = "fstat_cpu_openmp",
                .before = "fstat_cpu_packed",
                .question = "What does it bring to share the bands out among all cores?",
                .change = "bands of frequencies on all cores, as many on each",
                .source = seed("listing 4.1: loops that can be carried out in parallel"),
                .expectation = "as many times as there are cores: no two share what they write"};

HostKernel make([[maybe_unused]] const Observation& seen, Vectors /*have*/) {
#if defined(_OPENMP)
  return packed_bands(
      seen,
      [](ThreadTeam& team, std::size_t count, const auto& visit) {
        const int threads = static_cast<int>(team.size());
#pragma omp parallel for schedule(static) num_threads(threads)
        for (std::size_t band = 0; band < count; ++band)
          visit(band, band + 1);
      },
      &scalar_band);
#else
  throw Skipped{"this build has no OpenMP"};
#endif
}

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::cpu_openmp
