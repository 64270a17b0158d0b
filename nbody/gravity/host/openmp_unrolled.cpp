// The loops of Papadouli et al. 2026: forces of all bodies of a system, and then their motion, each
// unrolled as often as there.
#include "nbody/gravity/host/host_rung.hpp"

// OpenMP 5.1, of which GCC reports an earlier version.
#if defined(_OPENMP) && (_OPENMP >= 202011 || (!defined(__clang__) && __GNUC__ >= 15))
#define STRATA_HAS_OMP_UNROLL
#endif

namespace strata::nbody::openmp_unrolled {
namespace {

#if defined(STRATA_HAS_OMP_UNROLL)

STRATA_SCALAR void one_system(const Step& step, std::size_t first) {
  constexpr std::size_t stride = field_count;
  const std::size_t n = step.total();
  const float* const bodies = step.from + word_at<Aos, Field::px>(first, n);
  const float softening = step.softening_squared;
  for (std::size_t i = 0; i < step.bodies; ++i) {
    const float* const me = bodies + stride * i;
    float fx = 0;
    float fy = 0;
    float fz = 0;
#pragma omp unroll partial(32)
    for (std::size_t j = 0; j < step.bodies; ++j) {
      const float* const other = bodies + stride * j;
      const float dx = other[0] - me[0];
      const float dy = other[1] - me[1];
      const float dz = other[2] - me[2];
      const float inverse = 1.0F / std::sqrt(dx * dx + (dy * dy + (dz * dz + softening)));
      const float strength =
          other[static_cast<std::size_t>(Field::mass)] * (inverse * inverse) * inverse;
      fx += strength * dx;
      fy += strength * dy;
      fz += strength * dz;
    }
    step.acceleration[first + i] = fx;
    step.acceleration[n + first + i] = fy;
    step.acceleration[2 * n + first + i] = fz;
  }
  if (!step.moves()) return;
#pragma omp unroll partial(16)
  for (std::size_t i = first; i < first + step.bodies; ++i) {
    finish<Aos>(step, i, step.acceleration[i], step.acceleration[n + i],
                step.acceleration[2 * n + i]);
  }
}

#endif

HostKernel make(Vectors /*have*/) {
#if defined(STRATA_HAS_OMP_UNROLL)
  return HostKernel::step_by_step([](const Step& step, ThreadTeam& team) {
    const int threads = static_cast<int>(std::min<std::size_t>(step.systems, team.size()));
    const std::size_t systems = step.systems;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t system = 0; system < systems; ++system)
      one_system(step, system * step.bodies);
  });
#else
  throw Skipped{
      "this compiler has no omp unroll: it needs GCC 15, or clang 16 with -fopenmp-version=51"};
#endif
}

STRATA_RUNG("openmp_unrolled", make);

}  // namespace
}  // namespace strata::nbody::openmp_unrolled
