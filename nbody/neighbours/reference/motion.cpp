#include "nbody/neighbours/reference/motion.hpp"

#include "harness/base/in_parallel.hpp"

#include <algorithm>
#include <cmath>

namespace strata::neighbours {
namespace {

using Exact = Vector<double>;

/// So near a limit, single precision may be on the other side.
constexpr double near = 1e-4;
bool is_near(double number, double limit) {
  return std::abs(number - limit) < near;
}

/// Whether a sum of so many vectors, each about 1 long, is too small to have a direction.
bool is_vague(const Exact& sum, double longest) {
  const double length = std::sqrt(dot(sum, sum));
  return length > 0 && length < 1e-3 * longest;
}

bool undecided(const Exact& forward, const Exact& offset) {
  const double squared = dot(offset, offset);
  if (is_near(squared, boids::always_near)) return true;
  if (squared < boids::always_near) return false;
  const double ahead = dot(forward, unit(offset));
  return is_near(ahead, boids::separation_angle) || is_near(ahead, boids::alignment_angle) ||
         is_near(ahead, boids::cohesion_angle);
}

Agent<double> boid_after(const Problem& problem, const std::vector<Agent<double>>& agents,
                         const Lists& neighbours, std::size_t i, char& is_undecided) {
  const Agent<double>& me = agents[i];
  Steering<double> steering;
  bool vague = false;
  double largest = 0;
  for (const std::uint32_t j : neighbours.of(i)) {
    const Exact offset = agents[j].place - me.place;
    vague = vague || undecided(me.forward, offset);
    steering.add(me.forward, offset, agents[j].forward);
    if (const double squared = dot(offset, offset); squared > 0) {
      largest = std::max(largest, 1 / std::sqrt(squared));
    }
  }
  const Agent<double> after = moved(me, steering, static_cast<double>(problem.world));
  const auto world = static_cast<double>(problem.world);
  const Exact straight = me.place + boids::time_step * (after.speed * after.forward);
  const bool at_border = std::abs(std::sqrt(dot(straight, straight)) - world) < near * world;
  vague = vague || at_border || is_vague(steering.separation, largest) ||
          is_vague(steering.alignment, 1) || is_vague(steering.cohesion, 1);
  is_undecided = vague ? 1 : 0;
  return after;
}

Agent<double> circle_after(const Problem& problem, const std::vector<Agent<double>>& agents,
                           const Lists& neighbours, std::size_t i) {
  const double per_radius = 1 / std::sqrt(static_cast<double>(problem.radius_squared));
  Push<double> push;
  for (const std::uint32_t j : neighbours.of(i)) {
    const Exact offset = agents[j].place - agents[i].place;
    push.add(offset, dot(offset, offset), per_radius);
  }
  Agent<double> after = agents[i];
  after.place = push.moved(after.place, static_cast<std::uint32_t>(neighbours.of(i).size()),
                           static_cast<double>(problem.world));
  return after;
}

/// Root mean square and largest of errors, over `scale`.
struct Errors {
  double squares = 0;
  double largest = 0;
  std::size_t count = 0;
  bool finite = true;

  void add(const Exact& error) {
    const double squared = dot(error, error);
    finite = finite && std::isfinite(squared);
    squares += squared;
    largest = std::max(largest, std::sqrt(squared));
    ++count;
  }
  [[nodiscard]] Accuracy over(double scale, double bound, double worst, const char* what) const {
    const auto n = static_cast<double>(std::max<std::size_t>(count, 1));
    return {.what = what,
            .rms = std::sqrt(squares / n) / scale,
            .rms_bound = bound,
            .largest = largest / scale,
            .largest_bound = worst,
            .finite = finite};
  }
};

}  // namespace

Motion motion_of(const Problem& problem, const std::vector<Agent<double>>& agents,
                 const Lists& neighbours) {
  Motion motion{.after = agents, .undecided = std::vector<char>(agents.size())};
  if (!problem.moves()) return motion;
  const auto move_some = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      motion.after[i] = problem.kind == Kind::boids
                            ? boid_after(problem, agents, neighbours, i, motion.undecided[i])
                            : circle_after(problem, agents, neighbours, i);
    }
  };
  in_parallel(agents.size(), move_some, 1024);
  return motion;
}

std::vector<Agent<double>> in_double(const Agents& agents) {
  std::vector<Agent<double>> all(agents.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto number = [&](Part p) { return static_cast<double>(agents.part(p)[i]); };
    all[i] = {.place = {number(Part::px), number(Part::py), number(Part::pz)},
              .forward = {number(Part::fx), number(Part::fy), number(Part::fz)},
              .speed = number(Part::speed)};
  }
  return all;
}

Agents in_single(const std::vector<Agent<double>>& agents) {
  Agents all{agents.size()};
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const auto& [place, forward, speed] = agents[i];
    const std::array<double, part_count> numbers{place.x,   place.y,   place.z, forward.x,
                                                 forward.y, forward.z, speed};
    for (std::size_t p = 0; p < part_count; ++p)
      all.parts[p][i] = static_cast<float>(numbers[p]);
  }
  return all;
}

Places places_of(const std::vector<Agent<double>>& agents) {
  Places places;
  for (const Agent<double>& one : agents) {
    places[0].push_back(one.place.x);
    places[1].push_back(one.place.y);
    places[2].push_back(one.place.z);
  }
  return places;
}

std::vector<Accuracy> accuracy_of(const Problem& problem, const Agents& moved,
                                  const Motion& right) {
  const std::vector<Agent<double>> all = in_double(moved);
  Errors places;
  Errors velocities;
  double speeds = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (right.undecided[i] != 0) continue;
    const Agent<double>& wanted = right.after[i];
    places.add(all[i].place - wanted.place);
    velocities.add(all[i].speed * all[i].forward - wanted.speed * wanted.forward);
    speeds += wanted.speed * wanted.speed;
  }
  // A place is rounded to half a unit in its last place along each axis, a step to less.
  constexpr double rounding = 0x1p-24;
  std::vector<Accuracy> results{places.over(static_cast<double>(problem.extent()), 2 * rounding,
                                            8 * rounding, "positions after a step")};
  if (problem.kind != Kind::boids) return results;
  // A direction is as right as the sum of up to 14 terms that it is of; a sum that nearly vanishes
  // is wrong by so much more, down to the thousandth at which an agent counts as undecided.
  const double mean =
      std::sqrt(speeds / static_cast<double>(std::max<std::size_t>(velocities.count, 1)));
  results.push_back(velocities.over(mean > 0 ? mean : 1, 16 * rounding, 2048 * rounding,
                                    "velocities after a step"));
  return results;
}

}  // namespace strata::neighbours
