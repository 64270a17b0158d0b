#include "nbody/neighbours/problem/problem.hpp"

#include "harness/base/text.hpp"
#include "harness/model/split_mix.hpp"
#include "nbody/neighbours/problem/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>

namespace strata::neighbours {
namespace {

/// A place in steps of the lattice.
using Site = std::array<std::int64_t, 3>;

constexpr double contrast = 1e4;              // density of a cluster over that between them
constexpr std::uint32_t cluster_size = 1024;  // agents of a cluster, or as many as there are
constexpr double jitter = 0.005;              // of the spacing of a grid, to each side
constexpr double cruising = 0.3;              // speed of a boid that sets out, of the highest
constexpr double highest_speed = 9;           // OpenSteer, Boids

std::int64_t squared(const Site& site) {
  return site[0] * site[0] + site[1] * site[1] + site[2] * site[2];
}

/// Points of a cubic grid along one axis that is large enough for so many agents.
std::uint32_t grid_side(std::uint32_t agents) {
  std::uint32_t side = 1;
  while (std::uint64_t{side} * side * side < agents)
    ++side;
  return side;
}

/// Draws places in a world.
class Sites {
 public:
  explicit Sites(const Problem& problem)
      : problem_{problem},
        random_{problem.seed},
        steps_{lattice(problem.kind)},
        world_{static_cast<std::int64_t>(problem.world * static_cast<float>(steps_))},
        spacing_{static_cast<std::int64_t>(std::sqrt(problem.radius_squared) *
                                           static_cast<float>(steps_))},
        side_{grid_side(problem.agents)} {
    if (problem.spread == Spread::clustered) place_clusters();
  }

  /// A place for agent i, another each time.
  Site draw(std::uint32_t i) {
    if (problem_.spread == Spread::jittered) return near_point(i);
    if (centres_.empty() || i % 2 == 0) return in_world(0);
    return around(centres_[i / 2 % centres_.size()]);
  }
  SplitMix& random() { return random_; }

 private:
  [[nodiscard]] bool is_sphere() const { return problem_.kind == Kind::boids; }

  /// Of the world's points that are `margin` or more away from its border.
  Site in_world(std::int64_t margin) {
    if (is_sphere()) return in_ball(world_ - margin);
    Site site{};
    for (auto& along : site)
      along = margin + random_.below(static_cast<std::uint32_t>(world_ - 2 * margin));
    return site;
  }
  Site in_ball(std::int64_t radius) {
    for (;;) {
      Site site{};
      for (auto& along : site)
        along = std::int64_t{random_.below(static_cast<std::uint32_t>(2 * radius + 1))} - radius;
      if (squared(site) <= radius * radius) return site;
    }
  }
  Site around(const Site& centre) {
    Site site = in_ball(cluster_radius_);
    for (std::size_t c = 0; c < site.size(); ++c)
      site[c] += centre[c];
    return site;
  }
  /// Of the grid whose cells, one for each agent, begin at the origin.
  Site near_point(std::uint32_t i) {
    const auto most = std::lround(jitter * static_cast<double>(spacing_));
    Site site{i % side_, i / side_ % side_, i / side_ / side_};
    for (auto& along : site) {
      const std::int64_t off = random_.below(static_cast<std::uint32_t>(2 * most + 1));
      along = along * spacing_ + spacing_ / 2 + off - most;
    }
    return site;
  }
  /// Half of the agents fill the world; the others, in balls of 1 / contrast of it.
  void place_clusters() {
    const std::uint32_t clusters = std::max(problem_.agents / 2 / cluster_size, 1U);
    const double ball = 4.0 / 3 * std::numbers::pi;
    const auto edge = static_cast<double>(world_);
    const double volume = (is_sphere() ? ball : 1) * edge * edge * edge;
    cluster_radius_ = static_cast<std::int64_t>(std::cbrt(volume / (contrast * clusters) / ball));
    for (std::uint32_t c = 0; c < clusters; ++c)
      centres_.push_back(in_world(cluster_radius_));
  }

  const Problem& problem_;
  SplitMix random_;
  std::uint32_t steps_;
  std::int64_t world_;    ///< in steps of the lattice, as all lengths here
  std::int64_t spacing_;  ///< of the points of a grid
  std::uint32_t side_;    ///< points of a grid along an axis
  std::int64_t cluster_radius_ = 0;
  std::vector<Site> centres_;
};

void put(Agents& agents, std::size_t i, const Site& site, std::uint32_t steps) {
  for (std::size_t c = 0; c < site.size(); ++c)
    agents.parts[c][i] = static_cast<float>(site[c]) / static_cast<float>(steps);
}

/// A direction, every one as likely.
std::array<double, 3> direction(SplitMix& random) {
  for (;;) {
    std::array<double, 3> along{};
    double length = 0;
    for (double& one : along) {
      one = 2 * random.fraction() - 1;
      length += one * one;
    }
    constexpr double least = 1e-4;
    if (length > 1 || length < least) continue;
    for (double& one : along)
      one /= std::sqrt(length);
    return along;
  }
}

}  // namespace

float usual_world(Kind kind, std::uint32_t agents, Spread spread) {
  if (kind == Kind::boids) return 50;
  const float reach = std::sqrt(usual_radius_squared(kind));
  const float to_both_sides = 2 * reach;
  if (spread == Spread::jittered) {
    const float filled = reach * static_cast<float>(grid_side(agents));
    return std::max(std::round(filled * std::cbrt(2.0F)), to_both_sides);
  }
  return std::max(std::ceil(std::cbrt(static_cast<float>(agents))), to_both_sides);
}

Agents generate(const Problem& problem) {
  check("generate", problem);
  Agents agents{problem.agents};
  Sites sites{problem};
  const std::uint32_t steps = lattice(problem.kind);
  for (std::uint32_t i = 0; i < problem.agents; ++i)
    put(agents, i, sites.draw(i), steps);
  if (!only_nearest(problem.kind)) return agents;

  for (std::uint32_t i = 0; i < problem.agents; ++i) {
    const auto forward = direction(sites.random());
    for (std::size_t c = 0; c < forward.size(); ++c)
      agents.parts[3 + c][i] = static_cast<float>(forward[c]);
    agents.part(Part::speed)[i] = static_cast<float>(cruising * highest_speed);
  }
  constexpr int most_passes = 50;
  for (int pass = 0; pass < most_passes; ++pass) {
    const auto tied = search(places_of(agents), static_cast<double>(problem.radius_squared),
                             /*nearest=*/true)
                          .tied;
    if (tied.empty()) return agents;
    for (const std::uint32_t i : tied)
      put(agents, i, sites.draw(i), steps);
  }
  refuse({"generate"}, fmt::format("{} agents are too dense to exclude ties", problem.agents),
         "fewer agents, or a larger world", "change the number of agents or the world");
}

void check(std::string_view place, const Problem& problem) {
  if (problem.agents == 0 || problem.agents > most_agents) {
    refuse({place}, fmt::format("{} agents", problem.agents), fmt::format("1 to {}", most_agents),
           "change the number of agents");
  }
  constexpr float most_extent = 1 << 15U;  // single precision has no more places on the lattice
  if (!(problem.extent() > 0) || !(problem.extent() <= most_extent)) {
    refuse({place}, fmt::format("the world is {}", problem.world),
           fmt::format("a finite number above 0, at most {}", most_extent / 2),
           "use another world");
  }
  const float radius = std::sqrt(problem.radius_squared);
  if (!(problem.radius_squared > 0) || !std::isfinite(problem.radius_squared)) {
    refuse({place}, fmt::format("the squared reach is {}", problem.radius_squared),
           "a finite number above 0", "use another reach");
  }
  const float most_exact = 4096 / static_cast<float>(lattice(problem.kind));
  if (radius > most_exact) {
    refuse({place}, fmt::format("the reach is {:g}", radius),
           fmt::format("at most {:g}, within which squared distances are exact", most_exact),
           "use a smaller reach");
  }
  if (2 * radius > problem.extent()) {
    refuse({place}, fmt::format("the reach is {:g}", radius),
           fmt::format("at most that of the world, {:g}", problem.extent() / 2),
           "use a smaller reach or a larger world");
  }
  if (problem.spread != Spread::jittered) return;
  if (problem.kind == Kind::boids) {
    refuse({place}, "boids on a jittered grid", "circles or list: boids would have ties",
           "use another problem or spread");
  }
  const float filled = radius * static_cast<float>(grid_side(problem.agents));
  if (filled > problem.world) {
    refuse({place}, fmt::format("the world is {}", problem.world),
           fmt::format("at least {:g}, the edge of the jittered grid", filled),
           "use a larger world or fewer agents");
  }
}

void check(std::string_view place, const Problem& problem, const Agents& agents) {
  check(place, problem);
  if (agents.size() != problem.agents) {
    refuse({place}, fmt::format("{} agents", agents.size()), std::to_string(problem.agents),
           "generate them again");
  }
  constexpr std::array<std::string_view, part_count> names{"px", "py", "pz",   "fx",
                                                           "fy", "fz", "speed"};
  // A boid that came in on the other side is there to a rounding.
  constexpr float rounding = 1e-6F;
  const float most = problem.world * (1 + rounding);
  for (std::size_t i = 0; i < agents.size(); ++i) {
    double distance = 0;
    for (std::size_t p = 0; p < part_count; ++p) {
      const float number = agents.parts[p][i];
      if (!std::isfinite(number)) {
        refuse({place}, fmt::format("{} of agent {} is {}", names[p], i, number), "finite numbers",
               "generate them again");
      }
      if (p < 3) distance += static_cast<double>(number) * static_cast<double>(number);
    }
    const auto in_box = [&](Part along) {
      const float at = agents.part(along)[i];
      return at >= 0 && at <= most;
    };
    const bool inside = problem.kind == Kind::boids
                            ? std::sqrt(distance) <= static_cast<double>(most)
                            : in_box(Part::px) && in_box(Part::py) && in_box(Part::pz);
    if (inside) continue;
    refuse({place},
           fmt::format("agent {} is at ({:g}, {:g}, {:g}), outside the world", i,
                       agents.parts[0][i], agents.parts[1][i], agents.parts[2][i]),
           problem.kind == Kind::boids
               ? fmt::format("positions within {:g} of the origin", problem.world)
               : fmt::format("coordinates from 0 to {:g}", problem.world),
           "generate them again");
  }
}

Problem problem_of(const Session& session) {
  const auto of = [&]<class Enum>(const char* axis, Enum /*unused*/) {
    const auto value = enum_from<Enum>(session.param(axis));
    if (!value) throw std::out_of_range{"there is no " + session.param(axis)};
    return *value;
  };
  Problem problem{.kind = of("problem", Kind{}),
                  .spread = of("spread", Spread{}),
                  .agents = static_cast<std::uint32_t>(session.whole("agents"))};
  problem.radius_squared = usual_radius_squared(problem.kind);
  problem.world = session.param("world") == "fit"
                      ? usual_world(problem.kind, problem.agents, problem.spread)
                      : static_cast<float>(session.whole("world"));
  return problem;
}

}  // namespace strata::neighbours
