#include "nbody/gravity/reference/gravity.hpp"

#include "harness/base/in_parallel.hpp"
#include "nbody/gravity/problem/dataset_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace strata::nbody {
namespace {

constexpr std::size_t worth_a_thread = 64;  // bodies

/// The pull on body i by the `bodies` bodies of its system; at(field, j) returns a field of body j.
template <class At>
Pull pull_upon(std::size_t i, std::size_t bodies, double softening, const At& at) {
  const std::size_t first = i / bodies * bodies;
  const double x = at(Field::px, i);
  const double y = at(Field::py, i);
  const double z = at(Field::pz, i);
  Pull pull;
  for (std::size_t j = first; j < first + bodies; ++j) {
    const double dx = at(Field::px, j) - x;
    const double dy = at(Field::py, j) - y;
    const double dz = at(Field::pz, j) - z;
    const double inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + softening);
    const double mass = at(Field::mass, j);
    const double strength = mass * inverse * inverse * inverse;
    pull.acceleration[0] += strength * dx;
    pull.acceleration[1] += strength * dy;
    pull.acceleration[2] += strength * dz;
    if (j != i) pull.potential -= mass * inverse;
  }
  return pull;
}

/// Calls work(i) for every body, on all CPUs.
template <class Work>
void for_each_body(std::size_t bodies, const Work& work) {
  in_parallel(
      bodies,
      [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
          work(i);
      },
      worth_a_thread);
}

}  // namespace

Pull reference_pull(const Bodies& bodies, std::size_t i) {
  return pull_upon(i, bodies.bodies, static_cast<double>(softening_squared),
                   [&](Field f, std::size_t j) { return static_cast<double>(bodies.at(f, j)); });
}

std::vector<Pull> reference_pulls(const Bodies& bodies) {
  std::vector<Pull> pulls(bodies.total());
  for_each_body(pulls.size(), [&](std::size_t i) { pulls[i] = reference_pull(bodies, i); });
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
  // A single body, or two at the same position, have no acceleration: the error is absolute.
  const double scale = whole > 0 ? whole : 1;
  error.relative_rms = std::sqrt(difference / scale);
  error.relative_maximum =
      std::sqrt(worst / scale * static_cast<double>(std::max<std::size_t>(reference.size(), 1)));
  return error;
}

Conserved conserved(const Bodies& bodies, std::span<const Pull> pulls) {
  Conserved sum;
  for (std::size_t i = 0; i < bodies.total(); ++i) {
    const auto mass = static_cast<double>(bodies.at(Field::mass, i));
    double squared = 0;
    for (std::size_t c = 0; c < sum.momentum.size(); ++c) {
      const auto velocity = static_cast<double>(bodies.fields[3 + c][i]);
      sum.momentum[c] += mass * velocity;
      squared += velocity * velocity;
    }
    sum.momentum_scale += mass * std::sqrt(squared);
    sum.energy += mass * (squared + pulls[i].potential) / 2;
  }
  return sum;
}

Dataset moved(Dataset dataset, std::uint32_t steps) {
  if (steps > std::numeric_limits<std::uint32_t>::max() - dataset.steps) {
    throw std::overflow_error{"so many steps do not fit the header of a file of bodies"};
  }
  constexpr std::size_t axes = 3;
  Bodies& bodies = dataset.bodies;
  std::array<std::vector<double>, field_count> fields;  // positions, velocities, masses
  for (std::size_t f = 0; f < field_count; ++f)
    fields[f].assign(bodies.fields[f].begin(), bodies.fields[f].end());
  const auto at = [&](Field f, std::size_t i) { return fields[static_cast<std::size_t>(f)][i]; };
  const auto softening = static_cast<double>(dataset.softening_squared);
  const auto step = static_cast<double>(dataset.time_step);
  for (std::uint32_t s = 0; s < steps; ++s) {
    // Velocities are updated while others are still computed, positions only afterwards, because
    // the sums read them.
    for_each_body(bodies.total(), [&](std::size_t i) {
      const Pull pull = pull_upon(i, bodies.bodies, softening, at);
      for (std::size_t c = 0; c < axes; ++c)
        fields[axes + c][i] += step * pull.acceleration[c];
    });
    for (std::size_t c = 0; c < axes; ++c) {
      for (std::size_t i = 0; i < bodies.total(); ++i)
        fields[c][i] += step * fields[axes + c][i];
    }
  }
  for (std::size_t f = 0; f < field_count; ++f) {
    std::ranges::transform(fields[f], bodies.fields[f].begin(),
                           [](double number) { return static_cast<float>(number); });
  }
  dataset.steps += steps;
  return dataset;
}

}  // namespace strata::nbody
