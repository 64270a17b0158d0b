// A core keeps several vectors of bodies in registers, so each source body is read once for all of
// them. Sources are processed in pieces of 1024 (16 KiB), which stay in L1 while all of a core's
// bodies interact with them. After every 256 sources the sums in registers are added to the totals
// and restart. Besides the reciprocal square root a pair takes 14 instructions (AVX-512).
#include "nbody/gravity/host/vectors.hpp"

namespace strata::nbody::cpu_blocked {
namespace {

constexpr std::size_t piece = 1024;  // sources that stay in L1 together
constexpr std::size_t sources_of_sum = 256;

/// Vectors of bodies, one body per lane.
struct Group {
  Sources at;  ///< the first body
  std::array<float*, 3> totals;
  std::size_t count;  ///< bodies, at most vectors × lanes
};

template <unsigned vectors>
struct AddPulls {
  template <unsigned lanes>
  [[STRATA_INLINE]] static void run(const Group& group, const Sources& from, std::size_t first,
                                    std::size_t last, float softening_squared) {
    using V = Floats<lanes>;
    struct Held {
      V x, y, z, ax, ay, az;
    };
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): all of it is filled next
    std::array<Held, vectors> held;
    const auto count_in = [&](std::size_t v) {
      return std::min<std::size_t>(group.count - v * lanes, lanes);
    };
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) {
      held[v].x = load<lanes>(group.at.x + v * lanes, count_in(v));
      held[v].y = load<lanes>(group.at.y + v * lanes, count_in(v));
      held[v].z = load<lanes>(group.at.z + v * lanes, count_in(v));
    }
    while (first < last) {
      const std::size_t end = std::min(first + sources_of_sum, last);
#pragma GCC unroll 4
      for (Held& h : held)
        h.ax = h.ay = h.az = V{};
      for (std::size_t j = first; j < end; ++j) {
#pragma GCC unroll 4
        for (Held& h : held) {
          const V dx = from.x[j] - h.x;
          const V dy = from.y[j] - h.y;
          const V dz = from.z[j] - h.z;
          const V strength =
              from.mass[j] *
              inverse_cube<lanes>(dx * dx + (dy * dy + (dz * dz + softening_squared)));
          h.ax += strength * dx;
          h.ay += strength * dy;
          h.az += strength * dz;
        }
      }
      // A thread's totals have room for whole vectors.
      constexpr float scale = inverse_cube_scale(lanes);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vectors; ++v) {
        const auto add = [v](float* totals, const V& sums) __attribute__((always_inline)) {
          store<lanes>(totals + v * lanes, load<lanes>(totals + v * lanes) + scale * sums);
        };
        add(group.totals[0], held[v].ax);
        add(group.totals[1], held[v].ay);
        add(group.totals[2], held[v].az);
      }
      first = end;
    }
  }
};

/// The functions for groups of 1, 2, … vectors.
struct Code {
  std::size_t lanes;
  std::size_t most;  ///< vectors that fit in registers
  std::array<void (*)(const Group&, const Sources&, std::size_t, std::size_t, float), 4> of_vectors;
};

/// Computes the system's bodies from `first` to `last` (exclusive), piece by piece of its sources.
void compute(const Step& step, std::size_t system, std::size_t first, std::size_t last,
             const Code& code) {
  const Sources from = sources_of(step, system);
  const std::size_t count = last - first;
  const std::size_t padded = (count + code.lanes - 1) / code.lanes * code.lanes;
  thread_local std::vector<float> totals;
  totals.assign(3 * padded, 0.0F);
  for (std::size_t start = 0; start < step.bodies; start += piece) {
    const std::size_t end = std::min<std::size_t>(start + piece, step.bodies);
    for (std::size_t at = 0; at < count;) {
      const std::size_t vectors = std::min((padded - at) / code.lanes, code.most);
      const std::size_t bodies = std::min(vectors * code.lanes, count - at);
      code.of_vectors[vectors - 1](
          {.at = from + (first + at),
           .totals = {&totals[at], &totals[padded + at], &totals[2 * padded + at]},
           .count = bodies},
          from, start, end, step.softening_squared);
      at += bodies;
    }
  }
  for (std::size_t b = 0; b < count; ++b)
    finish<Soa>(step, system + first + b, totals[b], totals[padded + b], totals[2 * padded + b]);
}

HostKernel make(Vectors have) {
  const bool wide = have == Vectors::avx512;
  const auto add_pulls = [have]<unsigned... vectors>() {
    return std::array{kernel_for<AddPulls<vectors>, const Group&, const Sources&, std::size_t,
                                 std::size_t, float>(have)...};
  };
  const Code code{.lanes = wide ? avx512_lanes : avx2_lanes,
                  .most = wide ? 4U : 2U,
                  .of_vectors = add_pulls.operator()<1, 2, 3, 4>()};
  const auto part = [code](const Step& step, const ThreadRank& thread) {
    for_my_bodies(step, thread, code.lanes,
                  [&](std::size_t system, std::size_t first, std::size_t last) {
                    compute(step, system, first, last, code);
                  });
  };
  return HostKernel::on_all_cores(part, to_string(have));
}

STRATA_RUNG("cpu_blocked", make);

}  // namespace
}  // namespace strata::nbody::cpu_blocked
