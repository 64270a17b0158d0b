// Helpers of rungs on a CPU: the division of a step among the threads of a team, its end, and the
// scalar computation of one body. Host only.
#pragma once

#include "harness/model/layout.hpp"
#include "nbody/common/host_rung.hpp"
#include "nbody/gravity/rung_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace strata::nbody {

using HostKernel = strata::HostKernel<Step>;
/// Prepares a rung for these vectors. Throws Skipped if they or this build do not support it.
using MakeHostKernel = HostKernel (*)(Vectors);

/// verified_step() of these bodies.
[[nodiscard]] Verification verify_on_host(const HostKernel& kernel, ThreadTeam& team,
                                          const std::string& layout, const Bodies& bodies,
                                          bool moves, std::span<const Pull> right);

/// Verifies a rung, then times it.
void measure_rung(Session& session, const Rung& rung, MakeHostKernel make);

/// Calls visit(system, first, last) for the bodies of this thread: those from `first` to `last`
/// (exclusive) of the system that begins at body `system` of all. The numbers of groups of `group`
/// bodies per thread differ by at most one; the last group of a system may be smaller.
template <class Visit>
void for_my_bodies(const Step& step, const ThreadRank& thread, std::size_t group, Visit&& visit) {
  const std::size_t groups = (step.bodies + group - 1) / group;  // per system
  const std::size_t all = groups * step.systems;
  const std::size_t end = all * (thread.rank + 1) / thread.size;
  for (std::size_t g = all * thread.rank / thread.size; g < end;) {
    const std::size_t system = g / groups;
    const std::size_t next = std::min(end, (system + 1) * groups);
    visit(system * step.bodies, (g - system * groups) * group,
          std::min<std::size_t>((next - system * groups) * group, step.bodies));
    g = next;
  }
}

/// A rung that computes one body after the other: one_body(step, system, i) computes body i of the
/// system that begins at body `system`.
template <class OneBody>
HostKernel body_by_body(OneBody one_body, std::string_view instructions = "scalar") {
  return HostKernel::on_all_cores(
      [one_body](const Step& step, const ThreadRank& thread) {
        for_my_bodies(step, thread, 1, [&](std::size_t system, std::size_t i, std::size_t last) {
          for (; i < last; ++i)
            one_body(step, system, i);
        });
      },
      instructions);
}

/// Index of the word that holds field `f` of body `i` of `n`, in a layout with one field per read.
/// Unlike word_of() it does not search.
template <Layout L, Field f>
[[nodiscard]] constexpr std::size_t word_at(std::size_t i, std::size_t n) {
  constexpr auto read = static_cast<std::size_t>(f);
  static_assert(L::reads[read].words == 1 && L::reads[read].fields[0] == static_cast<int>(f));
  return L::first_word(read, i, n);
}

/// Ends a step for body i of all: moves it, or stores its acceleration. A move updates the velocity
/// first, then the position with the new velocity, as on a GPU.
template <Layout L>
void finish(const Step& step, std::size_t i, float ax, float ay, float az) {
  const std::size_t n = step.total();
  if (!step.moves()) {
    step.acceleration[i] = ax;
    step.acceleration[n + i] = ay;
    step.acceleration[2 * n + i] = az;
    return;
  }
  const auto move = [&]<Field position, Field velocity>(float a) {
    const std::size_t p = word_at<L, position>(i, n);
    const std::size_t v = word_at<L, velocity>(i, n);
    const float moving = std::fma(a, step.time_step, step.from[v]);
    step.to[v] = moving;
    step.to[p] = std::fma(moving, step.time_step, step.from[p]);
  };
  move.template operator()<Field::px, Field::vx>(ax);
  move.template operator()<Field::py, Field::vy>(ay);
  move.template operator()<Field::pz, Field::vz>(az);
  const std::size_t m = word_at<L, Field::mass>(i, n);
  step.to[m] = step.from[m];
}

/// Computes and finishes body i of the system that begins at body `system`.
template <Layout L>
STRATA_SCALAR void one_body_scalar(const Step& step, std::size_t system, std::size_t i) {
  const std::size_t n = step.total();
  constexpr std::size_t stride = word_of<L>(Field::px, 1, 2) - word_of<L>(Field::px, 0, 2);
  const float* const px = step.from + word_at<L, Field::px>(system, n);
  const float* const py = step.from + word_at<L, Field::py>(system, n);
  const float* const pz = step.from + word_at<L, Field::pz>(system, n);
  const float* const mass = step.from + word_at<L, Field::mass>(system, n);
  const float x = px[stride * i];
  const float y = py[stride * i];
  const float z = pz[stride * i];
  const float softening = step.softening_squared;
  float ax = 0;
  float ay = 0;
  float az = 0;
  for (std::size_t j = 0; j < stride * step.bodies; j += stride) {
    const float dx = px[j] - x;
    const float dy = py[j] - y;
    const float dz = pz[j] - z;
    const float inverse = 1.0F / std::sqrt(dx * dx + (dy * dy + (dz * dz + softening)));
    const float strength = mass[j] * inverse * (inverse * inverse);
    ax += strength * dx;
    ay += strength * dy;
    az += strength * dz;
  }
  finish<L>(step, system + i, ax, ay, az);
}

}  // namespace strata::nbody
