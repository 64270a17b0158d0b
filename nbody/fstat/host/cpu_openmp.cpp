#include "harness/base/error.hpp"
#include "nbody/fstat/host/host_rung.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace strata::fstat::cpu_openmp {
namespace {

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

STRATA_RUNG("fstat_cpu_openmp", make);

}  // namespace
}  // namespace strata::fstat::cpu_openmp
