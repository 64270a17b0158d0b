// strata neighbours: files of agents and their neighbours, without a device.
#include "harness/base/error.hpp"
#include "harness/base/text.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/dataset_command.hpp"
#include "nbody/neighbours/reference/agent_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata {
namespace {

using neighbours::AgentData;

struct AgentsWanted {
  std::string problem = "boids";
  std::string spread = "uniform";
  std::uint32_t agents = 16384;
  std::optional<float> world;
  std::optional<float> radius;
  std::uint64_t seed = 2008;
};

template <class Enum>
Enum named(const char* of, const std::string& text) {
  const auto value = enum_from<Enum>(text);
  if (!value) {
    refuse({of}, "there is no " + in_quotes(text), one_of_words<Enum>(), "use one of these");
  }
  return *value;
}

neighbours::Problem problem_of(const AgentsWanted& options) {
  neighbours::Problem problem{.kind = named<neighbours::Kind>("--problem", options.problem),
                              .spread = named<neighbours::Spread>("--spread", options.spread),
                              .agents = options.agents,
                              .seed = options.seed};
  problem.world =
      options.world.value_or(neighbours::usual_world(problem.kind, options.agents, problem.spread));
  problem.radius_squared = neighbours::usual_radius_squared(problem.kind);
  if (options.radius) {
    if (!(*options.radius > 0)) {
      refuse({"--radius"}, fmt::format("the reach is {}", *options.radius),
             "a finite number above 0", "use another reach");
    }
    problem.radius_squared = *options.radius * *options.radius;
  }
  check("strata neighbours generate", problem);
  return problem;
}

/// "16384 boids, uniform in a world of 50, seed 2008, steps 0, 156000 neighbours".
std::string summary(const AgentData& data) {
  const auto& [kind, spread, agents, world, radius_squared, seed] = data.problem;
  return fmt::format("{} agents of {}, {} in a world of {:g}, reach {:.6g}, seed {}, steps {}, {}",
                     agents, to_string(kind), to_string(spread), world, std::sqrt(radius_squared),
                     seed, data.steps,
                     data.neighbours ? fmt::format("{} neighbours", data.neighbours->ids.size())
                                     : "without neighbours");
}

void compare_headers(Differences& found, const AgentData& one, const AgentData& other) {
  found.between("problem", to_string(one.problem.kind), to_string(other.problem.kind));
  found.between("spread", to_string(one.problem.spread), to_string(other.problem.spread));
  found.between("agents", one.problem.agents, other.problem.agents);
  found.between("world", one.problem.world, other.problem.world);
  found.between("squared reach", one.problem.radius_squared, other.problem.radius_squared);
  found.between("seed", one.problem.seed, other.problem.seed);
  found.between("steps", one.steps, other.steps);
}

/// Whether every position equals the reference's within `tolerance` of the world's extent.
bool same_places(const AgentData& data, const AgentData& reference, double tolerance) {
  std::size_t differing = 0;
  std::string first;
  double largest = 0;
  for (std::size_t i = 0; i < data.agents.size(); ++i) {
    double squared = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double off = static_cast<double>(data.agents.parts[c][i]) -
                         static_cast<double>(reference.agents.parts[c][i]);
      squared += off * off;
    }
    const double off = std::sqrt(squared) / static_cast<double>(data.problem.extent());
    largest = std::max(largest, off);
    if (off > tolerance && ++differing == 1) first = fmt::format("agent {}", i);
  }
  print_note("places",
             differing == 0
                 ? fmt::format("all {} agree within {:g} of the world; largest difference {:.3g}",
                               data.agents.size(), tolerance, largest)
                 : fmt::format("{} of {} differ by more than {:g} of the world, first {}; largest "
                               "difference {:.3g}",
                               differing, data.agents.size(), tolerance, first, largest));
  return differing == 0;
}

/// Whether every agent has the neighbours of the reference.
bool same_neighbours(const AgentData& data, const AgentData& reference) {
  if (!data.neighbours || !reference.neighbours) {
    print_note("neighbours", "not compared: one of the files has no neighbours");
    return true;
  }
  // In a moved file, a pair whose distance is within rounding of the reach may count or not.
  constexpr double rounding = 0x1p-20;
  const std::size_t wrong = neighbours::agents_with_wrong_neighbours(
      neighbours::places_of(reference.agents),
      static_cast<double>(reference.problem.radius_squared),
      neighbours::only_nearest(reference.problem.kind), *reference.neighbours,
      [&](std::size_t i) { return data.neighbours->of(i); }, data.steps == 0 ? 0 : rounding);
  print_note("neighbours",
             wrong == 0
                 ? fmt::format("all {} agents have the same neighbours", data.agents.size())
                 : fmt::format("{} of {} agents have other neighbours", wrong, data.agents.size()));
  return wrong == 0;
}

}  // namespace

void add_neighbours(Command app, int& status) {
  const auto wanted = std::make_shared<AgentsWanted>();
  (void)add_dataset<AgentData>(
      app, status,
      {.name = "neighbours",
       .about = "generate files of agents, find their neighbours, compare files",
       .what = "agents",
       .reference = "move the agents of a file and find their neighbours, in double precision",
       .tolerance = "largest allowed distance of an agent from its reference, relative to the "
                    "extent of the world (default: 1e-06)",
       .generate =
           [wanted] {
             const neighbours::Problem problem = problem_of(*wanted);
             return AgentData{.problem = problem,
                              .agents = neighbours::generate(problem),
                              .neighbours = std::nullopt};
           },
       .check = [wanted] { (void)problem_of(*wanted); },
       .compute =
           [](AgentData data, std::uint32_t steps) {
             return neighbours::with_neighbours(neighbours::moved(std::move(data), steps));
           },
       .steps = DatasetFiles<AgentData>::Steps::optional,
       .read = neighbours::read_agents,
       .write = neighbours::write_agents,
       .summary = summary,
       .compare_headers = compare_headers,
       .agree =
           [](const AgentData& data, const AgentData& other, std::optional<double> tolerance) {
             const bool places = same_places(data, other, tolerance.value_or(1e-6));
             return same_neighbours(data, other) && places;
           }},
      [&](Command& sub) {
        sub.option("--problem", wanted->problem, "boids, circles or list", "NAME");
        sub.option("--spread", wanted->spread, "uniform, clustered or jittered", "NAME");
        sub.option("--agents", wanted->agents, "number of agents").shows_default();
        sub.option("--world", wanted->world,
                   "radius of the sphere for boids (default 50), edge of the cube otherwise "
                   "(density 1; jittered: about 1/16)");
        sub.option("--radius", wanted->radius,
                   "agents closer than this are neighbours (boids: √18, others: 2)");
        sub.option("--seed", wanted->seed,
                   "seed of the generator: the same seed gives the same agents")
            .is_seed()
            .shows_default();
      });
}

}  // namespace strata
