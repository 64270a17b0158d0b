// Data for drawing a boid: a matrix with its axes and its position. Nothing is drawn. Host and
// device.
#pragma once

#include "nbody/neighbours/problem/motion.hpp"

#include <cmath>

namespace strata::neighbours {

/// A column of a matrix of 4 × 4.
template <class Real>
struct alignas(4 * sizeof(Real)) Column {
  Vector<Real> of;
  Real last = 0;
};

template <class Real>
struct Drawn {
  Column<Real> side;
  Column<Real> up;
  Column<Real> forward;
  Column<Real> place;
};
static_assert(sizeof(Drawn<float>) == 64);

template <class Real>
STRATA_BOTH constexpr Vector<Real> cross(const Vector<Real>& a, const Vector<Real>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Upright, unless it flies straight up or down.
template <class Real>
STRATA_BOTH inline Drawn<Real> drawn(const Vector<Real>& place, const Vector<Real>& forward) {
  const bool steep = std::abs(forward.y) > static_cast<Real>(0.9F);
  const Vector<Real> above = steep ? Vector<Real>{1, 0, 0} : Vector<Real>{0, 1, 0};
  const Vector<Real> side = unit(cross(forward, above));
  return {{side, 0}, {cross(side, forward), 0}, {forward, 0}, {place, 1}};
}

/// Whether a matrix matches a boid: its position and flight direction bit for bit, its other axes
/// as in double precision.
[[nodiscard]] inline bool is_drawn(const Drawn<float>& seen, const Vector<float>& place,
                                   const Vector<float>& forward) {
  constexpr double rounding = 1e-5;
  const auto in_double = [](const Vector<float>& a) { return Vector<double>{a.x, a.y, a.z}; };
  const auto same = [](const Column<float>& a, const Vector<float>& b, float last) {
    return a.of.x == b.x && a.of.y == b.y && a.of.z == b.z && a.last == last;
  };
  const auto near = [&](const Column<float>& a, const Column<double>& b) {
    const Vector<double> off = in_double(a.of) - b.of;
    return dot(off, off) <= rounding * rounding && a.last == 0;  // false for NaN
  };
  const Drawn<double> right = drawn(in_double(place), in_double(forward));
  return same(seen.place, place, 1) && same(seen.forward, forward, 0) &&
         near(seen.side, right.side) && near(seen.up, right.up);
}

}  // namespace strata::neighbours
