// The agents whose neighbours a rung finds: which problem, how many, how they are spread, and what
// counts as a neighbour. They are made here, from a seed, the same on every machine; a file of them
// is agent_file.hpp's. Host only.
//
// Positions are on a lattice, so that every squared distance within reach is a number of single
// precision: dx² + dy² + dz² is then exact however it is rounded and fused, and every rung can be
// held to the same neighbours bit for bit.
#pragma once

#include "harness/base/enum_words.hpp"
#include "harness/measure/session.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::neighbours {

/// The computation.
///   boids    a sphere of agents that steer by the 7 nearest within reach and move; one that
///            leaves on one side enters on the other (Breitbart 2008, ch. 5; Reynolds, OpenSteer)
///   circles  a cube of agents that all others within reach push away (FLAME GPU 2's circles)
///   list     the same cube, at rest: the lists of all neighbours, written
enum class Kind { boids, circles, list };
constexpr auto words_of(Kind /*unused*/) {
  return std::to_array<std::string_view>({"boids", "circles", "list"});
}

/// Distribution of the agents in their world.
///   uniform    evenly
///   clustered  half of them evenly, half in balls that are 10,000 times as dense
///   jittered   not boids: on a cubic grid whose spacing is the reach, in its order, each at most
///              1/200 of that off its point; the grid fills half of the usual world (NVIDIA's
///              sample `particles`)
enum class Spread { uniform, clustered, jittered };
constexpr auto words_of(Spread /*unused*/) {
  return std::to_array<std::string_view>({"uniform", "clustered", "jittered"});
}

/// A problem, without its agents.
struct Problem {
  Kind kind = Kind::boids;
  Spread spread = Spread::uniform;
  std::uint32_t agents = 1;
  float world = 50;  ///< boids: radius of the sphere about the origin; otherwise edge of the cube
                     ///< at the origin
  float radius_squared = 18;  ///< agents closer than this are within reach
  std::uint64_t seed = 2008;

  [[nodiscard]] bool moves() const { return kind != Kind::list; }
  /// The smallest coordinate of the world, and the length of its edge, or diameter.
  [[nodiscard]] float low() const { return kind == Kind::boids ? -world : 0; }
  [[nodiscard]] float extent() const { return kind == Kind::boids ? 2 * world : world; }
  bool operator==(const Problem&) const = default;
};

/// Maximum neighbours of a boid that count: the nearest.
inline constexpr std::uint32_t nearest_count = 7;
/// Fills the row of a boid with fewer than 7 neighbours, and results that no step has written.
inline constexpr std::uint32_t no_agent = 0xFFFFFFFFU;

/// Whether only the nearest count.
[[nodiscard]] constexpr bool only_nearest(Kind kind) {
  return kind == Kind::boids;
}
inline constexpr std::uint32_t most_agents = std::uint32_t{1} << 26U;

/// Lattice steps per unit of length.
[[nodiscard]] constexpr std::uint32_t lattice(Kind kind) {
  return kind == Kind::boids ? 256 : 512;
}
/// Squared reach: as in Breitbart's thesis, and as in FLAME GPU 2.
[[nodiscard]] constexpr float usual_radius_squared(Kind kind) {
  return kind == Kind::boids ? 18 : 4;
}
/// The default world: for boids radius 50, otherwise the cube of density 1, or of which a jittered
/// grid fills half; at least twice as large as the reach of its agents.
[[nodiscard]] float usual_world(Kind kind, std::uint32_t agents, Spread spread = Spread::uniform);

/// Data of each agent.
enum class Part { px, py, pz, fx, fy, fz, speed };
inline constexpr std::size_t part_count = 7;

/// Positions, forward directions and speeds, part by part in the order of Part. Only boids have the
/// latter two; elsewhere they are 0.
struct Agents {
  std::array<std::vector<float>, part_count> parts;

  Agents() = default;
  explicit Agents(std::size_t count) { parts.fill(std::vector<float>(count)); }
  [[nodiscard]] std::size_t size() const { return parts.front().size(); }
  [[nodiscard]] auto& part(Part p) { return parts[static_cast<std::size_t>(p)]; }
  [[nodiscard]] const auto& part(Part p) const { return parts[static_cast<std::size_t>(p)]; }
  bool operator==(const Agents&) const = default;
};

/// Agents of a problem, without ties: no boid has its 7th and 8th neighbour at the same distance.
/// An agent with a tie is moved. Throws UsageError if ties remain after many attempts.
[[nodiscard]] Agents generate(const Problem& problem);

/// Throws UsageError that begins with `place` for invalid agents: none, outside their world or not
/// finite, a reach that is not above 0 or larger than the world, or a jittered grid that the world
/// cannot hold.
void check(std::string_view place, const Problem& problem, const Agents& agents);
/// The same of a problem alone.
void check(std::string_view place, const Problem& problem);

/// The problem of a case's axes `problem`, `spread`, `agents` and `world`.
[[nodiscard]] Problem problem_of(const Session& session);

}  // namespace strata::neighbours
