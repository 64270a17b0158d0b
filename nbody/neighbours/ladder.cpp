#include "nbody/neighbours/ladder.hpp"

#include "harness/base/text.hpp"
#include "harness/case/choices.hpp"

#include <charconv>
#include <optional>
#include <stdexcept>

namespace strata::neighbours {
namespace {

constexpr std::string_view suite = "neighbours";
constexpr std::string_view order{STRATA_RUNGS};  // of CMakeLists.txt: ",neighbours_serial,…,"

std::optional<std::string> excluded(const Rung& rung, const Params& params, Backend backend) {
  if (backend != rung.backend) return "the rung belongs to another backend";
  const bool sphere = params.at("problem") == to_string(Kind::boids);
  const bool fits = params.at("world") == "fit";
  if (sphere && fits) return "the world of boids needs a radius";
  if (sphere && params.at("spread") == to_string(Spread::jittered)) {
    return "boids on a jittered grid would have ties";
  }
  if (!sphere && !fits) return "the world has density 1";
  if (!sphere && params.contains("shown") && params.at("shown") == "yes") {
    return "only boids can be shown";
  }
  if (number_of<std::uint32_t>(params, "agents") > rung.most_agents) {
    return "a case with so many agents would exceed its time limit";
  }
  return std::nullopt;
}

}  // namespace

Axis cells_axis(std::uint32_t most) {
  return number_axis(
      "cells", "cells per dimension; 0: the largest number whose cells are longer than the reach",
      0, most, {"0"});
}

Axis skin_axis() {
  return listed_axis("skin", "distance beyond the reach that a list covers",
                     {"0.1", "0.2", "0.5", "1"}, {"0.2"});
}

Axis shown_axis() {
  return listed_axis("shown", "boids: whether the 64 B per agent that drawing needs are copied out",
                     {"no", "yes"}, {"no"});
}

Axis steps_axis() {
  return listed_axis("steps", "time steps of a sample, for which agents are copied in and out once",
                     {"8", "64"}, {"8"});
}

const std::vector<Rung>& ladder() {
  return rungs_in_order<Rung>(order);
}

const Rung& rung_named(std::string_view name) {
  return rung_of(ladder(), name);
}

Choice choice_of(const Session& session) {
  Choice choice;
  if (session.params().contains("cells")) {
    choice.cells = static_cast<std::uint32_t>(session.whole("cells"));
  }
  if (session.params().contains("skin")) {
    const std::string& text = session.param("skin");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), choice.skin);
    if (error != std::errc{}) throw std::out_of_range{"the skin is not a number: " + text};
  }
  if (session.params().contains("curve")) {
    choice.curve = enum_from<Curve>(session.param("curve")).value();
  }
  choice.shown = session.params().contains("shown") && session.param("shown") == "yes";
  if (session.params().contains("steps"))
    choice.steps = static_cast<std::size_t>(session.whole("steps"));
  return choice;
}

Benchmark declare_rung(const Rung& rung) {
  Benchmark benchmark{
      .suite = std::string{suite},
      .name = rung.name,
      .question = rung.question,
      .axes = {listed_axis("problem", "what is computed from the neighbours",
                           {"boids", "circles", "list"}),
               listed_axis("spread", "distribution of the agents in their world",
                           {"uniform", "clustered", "jittered"}, {"uniform"}),
               number_axis("agents", "number of agents", 1, 1 << 22, {"4096"}),
               listed_axis(
                   "world",
                   "boids: radius of the world; fit: a cube of density 1; jittered: about 1/16",
                   {"fit", "50", "100", "200"}, {"fit", "50"})},
      .data_axes = 4,
      .quantities =
          {{"agent_steps_per_second", "agents × steps, by each timer"},
           {"steps_per_second", "steps of all agents, by each timer"},
           {"neighbours_per_second",
            "neighbours found, counted for each agent of a pair, by each timer"},
           {"distance_tests", "mean per step: counted and modelled"},
           {"used_threads",
            "fraction of the threads, or vector lanes, that computed a wanted test"},
           {"idle_threads", "threads without an agent, per step: counted and modelled"},
           {"active_idle_threads", "idle threads in a warp with a thread that has an agent"},
           {"copies", "copies between host and GPU, mean per step: counted and predicted"},
           {"copied_bytes", "bytes of these copies"},
           {"launches", "launches of kernels and fills, likewise"},
           {"fp32_instructions",
            "per step: instructions for its distances, including idle threads"},
           {"build_bytes", "per step: bytes that the build kernels read and write"},
           {"build_instructions",
            "per step: instructions of the build kernels, where they compare"},
           {"issue_limit",
            "agents × steps per second, if warps issued distance tests in every cycle"},
           {"bytes_limit",
            "the same, if memory moved at full bandwidth what a cache of L2's size cannot keep"},
           {"phase_copy_in", "per step: copies to the GPU (traced, like all phases)"},
           {"phase_build", "per step: building the data structure, on the GPU or the host"},
           {"phase_search", "per step: finding neighbours, and moving each agent by them"},
           {"phase_copy_out", "per step: copies to the host"},
           {"phase_idle", "per step: time that no record covers"},
           {"copies_in", "recorded copies to the GPU"},
           {"copied_in_bytes", "bytes of these copies"},
           {"rebuilds",
            "rebuilds of the data structure in the steps of a sample: counted and modelled"},
           {"wrong_neighbours", "agents whose neighbours differ from those of double precision"}},
      .seconds_per_case = 0.6,
      .excludes = [rung](const Params& params, Backend backend) {
        return excluded(rung, params, backend);
      }};
  benchmark.axes.insert(benchmark.axes.end(), rung.axes.begin(), rung.axes.end());
  if (rung.backend == Backend::cuda) benchmark.axes.push_back(steps_axis());
  if (rung.backend == Backend::cuda && !rung.joins_steps) benchmark.axes.push_back(shown_axis());
  return benchmark;
}

bool add_to_ladder(const Rung& rung, Benchmark (*declare)(), Body body) {
  return strata::detail::add_rung(suite, order, rung, declare, body);
}

}  // namespace strata::neighbours
