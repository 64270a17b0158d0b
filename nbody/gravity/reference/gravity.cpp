#include "nbody/gravity/reference/gravity.hpp"

#include "harness/case/in_parallel.hpp"

#include <algorithm>
#include <cmath>

namespace strata::nbody {

Pull reference_pull(const Bodies& bodies, std::size_t i) {
  const std::size_t first = i / bodies.bodies * bodies.bodies;
  const auto at = [&](Field f, std::size_t j) { return static_cast<double>(bodies.at(f, j)); };
  const double x = at(Field::px, i);
  const double y = at(Field::py, i);
  const double z = at(Field::pz, i);
  Pull pull;
  for (std::size_t j = first; j < first + bodies.bodies; ++j) {
    const double dx = at(Field::px, j) - x;
    const double dy = at(Field::py, j) - y;
    const double dz = at(Field::pz, j) - z;
    const double inverse =
        1 / std::sqrt(dx * dx + dy * dy + dz * dz + static_cast<double>(softening_squared));
    const double mass = at(Field::mass, j);
    const double strength = mass * inverse * inverse * inverse;
    pull.acceleration[0] += strength * dx;
    pull.acceleration[1] += strength * dy;
    pull.acceleration[2] += strength * dz;
    if (j != i) pull.potential -= mass * inverse;
  }
  return pull;
}

std::vector<Pull> reference_pulls(const Bodies& bodies) {
  std::vector<Pull> pulls(bodies.total());
  constexpr std::size_t worth_a_thread = 64;
  in_parallel(
      pulls.size(),
      [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
          pulls[i] = reference_pull(bodies, i);
      },
      worth_a_thread);
  return pulls;
}

Error error_of(std::span<const Pull> reference, std::span<const float> x, std::span<const float> y,
               std::span<const float> z) {
  double difference = 0;
  double whole = 0;
  double worst = 0;
  Error error;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const std::array<float, 3> computed{x[i], y[i], z[i]};
    double here = 0;
    for (std::size_t c = 0; c < computed.size(); ++c) {
      const double wanted = reference[i].acceleration[c];
      const double off = static_cast<double>(computed[c]) - wanted;
      here += off * off;
      whole += wanted * wanted;
    }
    if (!std::isfinite(here)) error.finite = false;
    difference += here;
    worst = std::max(worst, here);
  }
  // A body alone, or two at one place: nothing pulls, and every difference is an error.
  const double scale = whole > 0 ? whole : 1;
  error.relative_rms = std::sqrt(difference / scale);
  error.relative_maximum =
      std::sqrt(worst / scale * static_cast<double>(std::max<std::size_t>(reference.size(), 1)));
  return error;
}

Error error_of(std::span<const Pull> reference, std::span<const float> accelerations) {
  const std::size_t n = reference.size();
  return error_of(reference, accelerations.subspan(0, n), accelerations.subspan(n, n),
                  accelerations.subspan(2 * n, n));
}

Conserved conserved(const Bodies& bodies, std::span<const Pull> pulls) {
  Conserved sum;
  for (std::size_t i = 0; i < bodies.total(); ++i) {
    const auto mass = static_cast<double>(bodies.at(Field::mass, i));
    const std::array<double, 3> velocity{static_cast<double>(bodies.at(Field::vx, i)),
                                         static_cast<double>(bodies.at(Field::vy, i)),
                                         static_cast<double>(bodies.at(Field::vz, i))};
    double squared = 0;
    for (std::size_t c = 0; c < velocity.size(); ++c) {
      sum.momentum[c] += mass * velocity[c];
      squared += velocity[c] * velocity[c];
    }
    sum.momentum_scale += mass * std::sqrt(squared);
    sum.energy += mass * (squared + pulls[i].potential) / 2;
  }
  return sum;
}

}  // namespace strata::nbody
