#include "nbody/gravity/reference/moved.hpp"

#include "harness/case/in_parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

namespace strata::nbody {
namespace {

constexpr std::size_t axes = 3;

/// Fields as a dataset has them: 0 to 2 places, 3 to 5 velocities, 6 masses.
using Fields = std::array<std::vector<double>, field_count>;

struct Slice {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Acceleration of body i by the bodies of its system.
std::array<double, axes> acceleration(const Fields& fields, const Slice& system, std::size_t i,
                                      double softening) {
  const auto& [px, py, pz, vx, vy, vz, mass] = fields;
  std::array<double, axes> sum{};
  for (std::size_t j = system.begin; j < system.end; ++j) {
    const double dx = px[j] - px[i];
    const double dy = py[j] - py[i];
    const double dz = pz[j] - pz[i];
    const double squared = dx * dx + dy * dy + dz * dz + softening;
    const double strength = mass[j] / (squared * std::sqrt(squared));
    sum[0] += strength * dx;
    sum[1] += strength * dy;
    sum[2] += strength * dz;
  }
  return sum;
}

}  // namespace

Dataset moved(Dataset dataset, std::uint32_t steps) {
  if (steps > std::numeric_limits<std::uint32_t>::max() - dataset.steps) {
    throw std::overflow_error{"so many steps do not fit the header of a file of bodies"};
  }
  Bodies& bodies = dataset.bodies;
  Fields fields;
  for (std::size_t f = 0; f < field_count; ++f)
    fields[f].assign(bodies.fields[f].begin(), bodies.fields[f].end());
  const auto softening = static_cast<double>(dataset.softening_squared);
  const auto step = static_cast<double>(dataset.time_step);
  for (std::uint32_t s = 0; s < steps; ++s) {
    // Velocities change while others are still computed; places, which those read, only after.
    constexpr std::size_t worth_a_thread = 64;
    in_parallel(
        bodies.total(),
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const std::size_t first = i / bodies.bodies * bodies.bodies;
            const auto pull = acceleration(fields, {first, first + bodies.bodies}, i, softening);
            for (std::size_t c = 0; c < axes; ++c)
              fields[axes + c][i] += step * pull[c];
          }
        },
        worth_a_thread);
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
