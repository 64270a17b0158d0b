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

struct NeighboursOptions {
  std::string problem = "boids";
  std::string spread = "uniform";
  std::uint32_t agents = 16384;
  std::optional<float> world;
  std::optional<float> radius;
  std::uint64_t seed = 2008;
  std::string file;
  std::string other;  ///< the file to compare with, or the result
  std::uint32_t steps = 0;
  double tolerance = 1e-6;
  bool overwrite = false;
};

template <class Enum>
Enum named(const char* of, const std::string& text) {
  const auto value = enum_from<Enum>(text);
  if (!value) {
    refuse({of}, "there is no " + in_quotes(text), one_of_words<Enum>(), "use one of these");
  }
  return *value;
}

neighbours::Problem problem_of(const NeighboursOptions& options) {
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

void write(const NeighboursOptions& options, const std::string& file,
           const std::function<AgentData()>& make) {
  write_new(file, options.overwrite, make, neighbours::write_agents,
            [](const AgentData& data) { return summary(data); });
}

void generate(const NeighboursOptions& options) {
  const neighbours::Problem problem = problem_of(options);
  write(options, options.file, [&] {
    return AgentData{
        .problem = problem, .agents = neighbours::generate(problem), .neighbours = std::nullopt};
  });
}

void reference(const NeighboursOptions& options) {
  AgentData data = neighbours::read_agents(options.file);
  write(options, options.other, [&] {
    return neighbours::with_neighbours(neighbours::moved(std::move(data), options.steps));
  });
}

// --- verify ---

/// The differences in header: such files belong to different datasets.
std::string header_differences(const AgentData& one, const AgentData& other) {
  Differences found;
  found.between("problem", to_string(one.problem.kind), to_string(other.problem.kind));
  found.between("spread", to_string(one.problem.spread), to_string(other.problem.spread));
  found.between("agents", one.problem.agents, other.problem.agents);
  found.between("world", one.problem.world, other.problem.world);
  found.between("squared reach", one.problem.radius_squared, other.problem.radius_squared);
  found.between("seed", one.problem.seed, other.problem.seed);
  found.between("steps", one.steps, other.steps);
  return found.text();
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

ExitCode verify(const NeighboursOptions& options) {
  if (!std::isfinite(options.tolerance) || options.tolerance < 0) {
    refuse({"--tolerance"}, fmt::format("{} is out of range", options.tolerance),
           "a finite number, 0 or more", "use another number");
  }
  const AgentData data = neighbours::read_agents(options.file);
  const AgentData other = neighbours::read_agents(options.other);
  if (const std::string different = header_differences(data, other); !different.empty()) {
    print_note("header", "belong to different datasets: they differ in " + different);
    return ExitCode::failed;
  }
  print_note("header", "the same: " + summary(other));
  const bool places = same_places(data, other, options.tolerance);
  const bool neighbours = same_neighbours(data, other);
  return places && neighbours ? ExitCode::success : ExitCode::failed;
}

}  // namespace

void add_neighbours(Command app, int& status) {
  const auto options = std::make_shared<NeighboursOptions>();
  auto group = app.subcommand("neighbours",
                              "generate files of agents, find their neighbours, compare files");
  group.require_subcommand();
  const auto add_overwrite = [&](Command sub) {
    sub.flag("--overwrite", options->overwrite, "overwrite an existing file");
  };

  auto sub = group.subcommand("generate", "generate agents from a seed and write them to a file");
  sub.option("--problem", options->problem, "boids, circles or list", "NAME");
  sub.option("--spread", options->spread, "uniform, clustered or jittered", "NAME");
  sub.option("--agents", options->agents, "number of agents").shows_default();
  sub.option("--world", options->world,
             "radius of the sphere for boids (default 50), edge of the cube otherwise (density 1; "
             "jittered: about 1/16)");
  sub.option("--radius", options->radius,
             "agents closer than this are neighbours (boids: √18, others: 2)");
  sub.option("--seed", options->seed, "seed of the generator: the same seed gives the same agents")
      .is_seed()
      .shows_default();
  sub.option("file", options->file, "output file", "FILE").required();
  add_overwrite(sub);
  sub.on_run([options] { generate(*options); });

  sub = group.subcommand(
      "reference", "move the agents of a file and find their neighbours, in double precision");
  sub.option("file", options->file, "file of agents", "FILE").required();
  sub.option("out", options->other, "output file", "OUT").required();
  sub.option("--steps", options->steps, "number of time steps before the search").shows_default();
  add_overwrite(sub);
  sub.on_run([options] { reference(*options); });

  sub = group.subcommand(
      "verify",
      "compare two files of agents: header, positions, neighbours; exit status 1 if they differ");
  sub.option("file", options->file, "file of agents", "FILE").required();
  sub.option("reference", options->other, "file of reference agents", "REFERENCE").required();
  sub.option(
         "--tolerance", options->tolerance,
         "largest allowed distance of an agent from its reference, relative to the extent of the "
         "world")
      .shows_default();
  sub.on_run([options, &status] { status = static_cast<int>(verify(*options)); });
}

}  // namespace strata
