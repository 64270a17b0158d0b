// The motion of agents by their neighbours: the same law in single precision, for the rungs, and in
// double precision, for the reference. For CPU and GPU.
#pragma once

#include <cmath>
#include <cstdint>

#if defined(__CUDACC__)
#define STRATA_BOTH __host__ __device__
#else
#define STRATA_BOTH
#endif

namespace strata::neighbours {

template <class Real>
struct Vector {
  Real x = 0;
  Real y = 0;
  Real z = 0;
};
template <class Real>
STRATA_BOTH constexpr Vector<Real> operator+(const Vector<Real>& a, const Vector<Real>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class Real>
STRATA_BOTH constexpr Vector<Real> operator-(const Vector<Real>& a, const Vector<Real>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class Real>
STRATA_BOTH constexpr Vector<Real> operator*(Real a, const Vector<Real>& b) {
  return {a * b.x, a * b.y, a * b.z};
}
template <class Real>
STRATA_BOTH constexpr Real dot(const Vector<Real>& a, const Vector<Real>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
/// Normalised to length 1; a zero vector stays unchanged.
template <class Real>
STRATA_BOTH inline Vector<Real> unit(const Vector<Real>& a) {
  const Real squared = dot(a, a);
  return squared > 0 ? (1 / std::sqrt(squared)) * a : a;
}
/// Limited to this length.
template <class Real>
STRATA_BOTH inline Vector<Real> at_most(const Vector<Real>& a, Real longest) {
  const Real squared = dot(a, a);
  return squared > longest * longest ? (longest / std::sqrt(squared)) * a : a;
}

/// A moving agent.
template <class Real>
struct Agent {
  Vector<Real> place;
  Vector<Real> forward;
  Real speed = 0;
};

/// OpenSteer's `Boids`: separation, alignment and cohesion of neighbours ahead, or very near. Not
/// included are the minimum speed, the smoothing of accelerations, and the wings: they do not
/// involve neighbours.
namespace boids {
inline constexpr double time_step = 1.0 / 60;
inline constexpr double most_force = 27;  // of a boid of mass 1
inline constexpr double most_speed = 9;
inline constexpr double always_near = 1.5 * 1.5;  ///< squared: within it, direction does not matter
/// Cosine of the maximum angle to the forward direction at which a neighbour counts, and the
/// weight.
inline constexpr double separation_angle = -0.707;
inline constexpr double separation_weight = 12;
inline constexpr double alignment_angle = 0.7;
inline constexpr double alignment_weight = 8;
inline constexpr double cohesion_angle = -0.15;
inline constexpr double cohesion_weight = 8;
}  // namespace boids

/// Influence of the neighbours on a boid.
template <class Real>
struct Steering {
  Vector<Real> separation;
  Vector<Real> alignment;
  Vector<Real> cohesion;

  /// A neighbour, `offset` away.
  STRATA_BOTH void add(const Vector<Real>& forward, const Vector<Real>& offset,
                       const Vector<Real>& its_forward) {
    const Real squared = dot(offset, offset);
    const Real ahead = dot(forward, unit(offset));
    const bool always = squared < static_cast<Real>(boids::always_near);
    const auto counts = [&](double angle) { return always || ahead > static_cast<Real>(angle); };
    if (counts(boids::separation_angle) && squared > 0) {
      separation = separation - (1 / squared) * offset;
    }
    if (counts(boids::alignment_angle)) alignment = alignment + (its_forward - forward);
    if (counts(boids::cohesion_angle)) cohesion = cohesion + offset;
  }
  [[nodiscard]] STRATA_BOTH Vector<Real> force() const {
    const Vector<Real> all = static_cast<Real>(boids::separation_weight) * unit(separation) +
                             (static_cast<Real>(boids::alignment_weight) * unit(alignment) +
                              static_cast<Real>(boids::cohesion_weight) * unit(cohesion));
    return at_most(all, static_cast<Real>(boids::most_force));
  }
};

/// The boid after a step. A boid that leaves the sphere enters on the other side.
template <class Real>
STRATA_BOTH inline Agent<Real> moved(const Agent<Real>& boid, const Steering<Real>& steering,
                                     Real world) {
  const Real step = static_cast<Real>(boids::time_step);
  const Vector<Real> velocity = at_most(boid.speed * boid.forward + step * steering.force(),
                                        static_cast<Real>(boids::most_speed));
  Agent<Real> after;
  after.speed = std::sqrt(dot(velocity, velocity));
  after.forward = after.speed > 0 ? (1 / after.speed) * velocity : boid.forward;
  after.place = boid.place + step * velocity;
  const Real away = std::sqrt(dot(after.place, after.place));
  if (away > world) after.place = (1 - 2 * world / away) * after.place;
  return after;
}

/// FLAME GPU 2's `circles`: a neighbour pushes if it is nearer than half the reach, and pulls
/// beyond, by a sine of its distance. The cube has walls.
namespace circles {
inline constexpr double repulsion = 0.05;

/// sin 2π(x − 1/2) / x for x = √squared ≤ 1. It is smooth in x²: a polynomial, fitted to 6e-8,
/// takes the place of a root, a sine and a quotient, which would cost more than the search.
STRATA_BOTH constexpr float pull(float squared) {
  const float t = squared - 0.5F;
  float sum = -0.06156911F;
  sum = sum * t + 0.3984104F;
  sum = sum * t - 1.9233688F;
  sum = sum * t + 6.7609797F;
  sum = sum * t - 15.917253F;
  sum = sum * t + 22.178528F;
  sum = sum * t - 13.918541F;
  sum = sum * t + 0.3097666F;
  return sum * t + 1.3631641F;
}
inline double pull(double squared) {
  constexpr double two_pi = 6.283185307179586;
  const double x = std::sqrt(squared);
  return x > 0 ? std::sin(two_pi * (x - 0.5)) / x : -two_pi;
}
}  // namespace circles

/// Influence of the neighbours on a circle.
template <class Real>
struct Push {
  Vector<Real> sum;

  /// A neighbour, `offset` away; no influence if it is at the same place.
  STRATA_BOTH void add(const Vector<Real>& offset, Real squared, Real per_radius) {
    sum = sum + per_radius * circles::pull(squared * (per_radius * per_radius)) * offset;
  }
  /// The position of an agent with that many neighbours after a step.
  [[nodiscard]] STRATA_BOTH Vector<Real> moved(const Vector<Real>& place, std::uint32_t neighbours,
                                               Real world) const {
    if (neighbours == 0) return place;
    const Vector<Real> to =
        place + (static_cast<Real>(circles::repulsion) / static_cast<Real>(neighbours)) * sum;
    const auto within = [world](Real at) { return at < 0 ? Real{0} : at > world ? world : at; };
    return {within(to.x), within(to.y), within(to.z)};
  }
};

}  // namespace strata::neighbours
