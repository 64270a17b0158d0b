// The reference for large problems, itself compared with the host's.
#include "harness/model/split_mix.hpp"
#include "nbody/gravity/rung_kernels.cuh"

#include <cmath>
#include <numeric>
#include <stdexcept>

namespace strata::nbody {
namespace {

constexpr unsigned block = 128;

/// `pulls`: four numbers per body: x, y, z of its acceleration, and its potential.
__global__ void __launch_bounds__(block)
    pull_all(const float* posmass, std::uint32_t bodies, std::uint32_t total,
             double softening_squared, double* pulls) {
  __shared__ double tile[4][block];
  const std::uint32_t mine = blockIdx.x * block + threadIdx.x;
  const std::uint32_t first = blockIdx.y * bodies;
  const bool real = mine < bodies;
  double me[3] = {0, 0, 0};
  for (unsigned c = 0; c < 3; ++c)
    if (real) me[c] = posmass[c * std::size_t{total} + first + mine];
  double sum[4] = {0, 0, 0, 0};
  for (std::uint32_t start = 0; start < bodies; start += block) {
    for (unsigned c = 0; c < 4; ++c) {
      const std::uint32_t j = start + threadIdx.x;
      tile[c][threadIdx.x] = j < bodies ? posmass[c * std::size_t{total} + first + j] : 0;
    }
    __syncthreads();
    for (unsigned k = 0; k < block; ++k) {
      const double dx = tile[0][k] - me[0];
      const double dy = tile[1][k] - me[1];
      const double dz = tile[2][k] - me[2];
      const double inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + softening_squared);
      const double potential = tile[3][k] * inverse;
      const double strength = potential * inverse * inverse;
      sum[0] += strength * dx;
      sum[1] += strength * dy;
      sum[2] += strength * dz;
      if (start + k != mine) sum[3] -= potential;
    }
    __syncthreads();
  }
  if (!real) return;
  for (unsigned c = 0; c < 4; ++c)
    pulls[c * std::size_t{total} + first + mine] = sum[c];
}

void check_some(const Bodies& bodies, std::span<const Pull> pulls) {
  constexpr std::size_t some = 24;
  constexpr double bound = 1e-11;
  double scale = 0;
  for (const Pull& p : pulls)
    scale += std::inner_product(p.acceleration.begin(), p.acceleration.end(),
                                p.acceleration.begin(), 0.0);
  scale = std::max(std::sqrt(scale / static_cast<double>(pulls.size())), 1e-300);
  SplitMix random{1};
  for (std::size_t n = 0; n < some; ++n) {
    const std::size_t i = random.below(static_cast<std::uint32_t>(pulls.size()));
    const Pull host = reference_pull(bodies, i);
    double off =
        std::abs(host.potential - pulls[i].potential) / std::max(std::abs(host.potential), 1e-300);
    for (std::size_t c = 0; c < 3; ++c)
      off = std::max(off, std::abs(host.acceleration[c] - pulls[i].acceleration[c]) / scale);
    if (!(off <= bound)) {
      throw std::runtime_error{"the reference on the device differs from the host's by " +
                               std::to_string(off) + " at body " + std::to_string(i)};
    }
  }
}

}  // namespace

std::vector<Pull> device_reference(const Bodies& bodies) {
  const std::size_t total = bodies.total();
  std::vector<float> posmass;
  for (const Field f : {Field::px, Field::py, Field::pz, Field::mass})
    posmass.insert(posmass.end(), bodies.field(f).begin(), bodies.field(f).end());
  const DeviceBuffer<float> from{std::span<const float>{posmass}};
  DeviceBuffer<double> to{4 * total};
  constexpr int poison = 0xFF;  // NaN
  to.poison(poison, nullptr);
  const dim3 grid{blocks_for(bodies.bodies, block), bodies.systems};
  pull_all<<<grid, block>>>(from.data(), bodies.bodies, static_cast<std::uint32_t>(total),
                            static_cast<double>(softening_squared), to.data());
  cuda_check(cudaGetLastError());
  const std::vector<double> numbers = to.to_host();
  std::vector<Pull> pulls(total);
  for (std::size_t i = 0; i < total; ++i) {
    pulls[i] = {.acceleration = {numbers[i], numbers[total + i], numbers[2 * total + i]},
                .potential = numbers[3 * total + i]};
  }
  check_some(bodies, pulls);
  return pulls;
}

}  // namespace strata::nbody
