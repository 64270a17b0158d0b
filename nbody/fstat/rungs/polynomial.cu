#include "nbody/fstat/lanes.cuh"
#include "nbody/fstat/window_polynomial.hpp"

namespace strata::fstat::polynomial {
namespace {

/// Two coefficients, as they are read.
struct alignas(16) Pair {
  Bin even;
  Bin odd;
};
constexpr std::uint32_t pairs = coefficients / 2;

/// The polynomials of all spectra's windows.
struct Polynomials {
  const WindowPolynomial* parts;
  Pair* pairs;  ///< of each window, the lowest powers first; of each spectrum its windows
  std::uint32_t signals;
  std::uint32_t windows;  ///< of a spectrum

  [[nodiscard]] __device__ Pair* of(std::uint32_t signal, std::uint32_t first_bin) const {
    return pairs + (signal * windows + first_bin) * polynomial::pairs;
  }
};

/// A thread makes two coefficients of one window, with the sign of its 8th bin's number.
__global__ void __launch_bounds__(usual_block)
    make_polynomials(KernelStep step, Polynomials polynomials) {
  const std::uint32_t thread = blockIdx.x * usual_block + threadIdx.x;
  const std::uint32_t pair = thread % pairs;
  const std::uint32_t bin = thread / pairs % polynomials.windows;
  const std::uint32_t signal = thread / pairs / polynomials.windows;
  if (signal >= polynomials.signals) return;
  const bool odd = (step.grid.first_bin + bin + half_window - 1) % 2 == 1;
  Pair made;
  for (std::uint32_t l = 0; l < window; ++l) {
    const Bin x = bin_at(step.spectra[signal] + bin + l);
    const float* const parts = (*polynomials.parts)[l].data() + 2 * pair;
    const float even = odd ? -parts[0] : parts[0];
    const float next = odd ? -parts[1] : parts[1];
    made.even = {made.even.re + even * x.re, made.even.im + even * x.im};
    made.odd = {made.odd.re + next * x.re, made.odd.im + next * x.im};
  }
  polynomials.of(signal, bin)[pair] = made;
}

__global__ void __launch_bounds__(usual_block, usual_blocks)
    sum_by_lane(KernelStep step, Polynomials polynomials) {
  sum_in_fixed_point(
      step, [&](Sums& sums, std::uint32_t signal, const FixedArrival& at, const Antenna& antenna) {
        const float4* const powers =
            reinterpret_cast<const float4*>(polynomials.of(signal, at.arrival.bin));
        const float x = 2 * at.arrival.kappa - 1;
        const float4 highest = __ldg(powers + pairs - 1);
        float re = highest.z * x + highest.x;
        float im = highest.w * x + highest.y;
#pragma unroll
        for (std::uint32_t p = pairs - 1; p-- > 0;) {
          const float4 two = __ldg(powers + p);
          re = (re * x + two.z) * x + two.x;
          im = (im * x + two.w) * x + two.y;
        }
        add(sums, re, im, 1.0F, turn_by(at.cycles), antenna);
      });
}

struct Memory {
  DeviceBuffer<WindowPolynomial> parts;
  DeviceBuffer<Pair> pairs;

  Memory(const Observation& seen, std::uint32_t windows)
      : parts{1}, pairs{std::size_t{seen.signals()} * windows * polynomial::pairs} {
    const WindowPolynomial of_host = window_polynomial();
    parts.upload(std::span{&of_host, 1});
  }
};

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  const std::uint32_t windows = seen.grid.bins - window + 1;
  const auto memory = std::make_shared<Memory>(seen, windows);
  const Polynomials all{memory->parts.data(), memory->pairs.data(), seen.signals(), windows};
  const auto prepare = [memory, all](const KernelStep& step, Queue& queue) {
    const std::uint32_t threads = all.signals * all.windows * pairs;
    queue.launch_blocks(make_polynomials, {(threads + usual_block - 1) / usual_block, usual_block},
                        step, all);
  };
  const auto sum = [memory, all, signals = seen.longest_stack()](const KernelStep& step,
                                                                 Queue& queue) {
    queue.launch_blocks(sum_by_lane, shape_in_fixed_point(step, signals), step, all);
  };
  return lanes_of_sky(seen, code_of(sum_by_lane), {.prepare = prepare, .sum = sum});
}

STRATA_RUNG("fstat_polynomial", make);

}  // namespace
}  // namespace strata::fstat::polynomial
