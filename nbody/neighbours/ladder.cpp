#include "nbody/neighbours/ladder.hpp"

#include "harness/case/choices.hpp"
#include "harness/case/text.hpp"

#include <charconv>
#include <optional>
#include <stdexcept>

namespace strata::neighbours {
namespace {

constexpr std::string_view suite = "neighbours";
constexpr std::string_view order{STRATA_RUNGS};  // of CMakeLists.txt: ",neighbours_serial,…,"

std::optional<std::string> excluded(const Rung& rung, const Params& params, Backend backend) {
  if (backend != rung.backend) return "it is a rung of another backend";
  const bool sphere = params.at("problem") == to_string(Kind::boids);
  const bool fits = params.at("world") == "fit";
  if (sphere && fits) return "the world of boids has a radius";
  if (!sphere && !fits) return "the world has density 1";
  if (!sphere && params.contains("shown") && params.at("shown") == "yes") {
    return "only boids are shown";
  }
  if (number_of<std::uint32_t>(params, "agents") > rung.most_agents) {
    return "a case of so many agents would not end in time";
  }
  return std::nullopt;
}

}  // namespace

Axis cells_axis(std::uint32_t most) {
  return number_axis("cells", "a dimension; 0: the most that are longer than the reach", 0, most,
                     {"0"});
}

Axis skin_axis() {
  return listed_axis("skin", "beyond the reach, within which a list has all neighbours",
                     {"0.1", "0.2", "0.5", "1"}, {"0.2"});
}

Axis shown_axis() {
  return listed_axis("shown", "boids: the 64 B an agent that drawing needs are copied out",
                     {"no", "yes"}, {"no"});
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
    if (error != std::errc{}) throw std::out_of_range{"the skin is no number: " + text};
  }
  if (session.params().contains("curve")) {
    choice.curve = enum_from<Curve>(session.param("curve")).value();
  }
  choice.shown = session.params().contains("shown") && session.param("shown") == "yes";
  return choice;
}

Benchmark declare_rung(const Rung& rung) {
  Benchmark benchmark{
      .suite = std::string{suite},
      .name = rung.name,
      .question = rung.question,
      .axes = {listed_axis("problem", "what is computed of the neighbours",
                           {"boids", "circles", "list"}),
               listed_axis("spread", "how the agents fill their world", {"uniform", "clustered"},
                           {"uniform"}),
               number_axis("agents", "how many there are", 1, 1 << 22, {"4096"}),
               listed_axis("world", "boids: its radius; fit: a cube of density 1",
                           {"fit", "50", "100", "200"}, {"fit", "50"})},
      .data_axes = 4,
      .quantities =
          {{"agent_steps_per_second", "agents × steps, by each timer"},
           {"steps_per_second", "of all agents, by each timer"},
           {"neighbours_per_second", "found, each of a pair for itself, by each timer"},
           {"distance_tests", "of a step, in the mean: counted as made, and modelled"},
           {"used_threads", "part of the threads, or lanes of vectors, whose test was wanted"},
           {"idle_threads", "without an agent, of a step: counted, and modelled"},
           {"active_idle_threads", "of them, those in a warp with a thread that has one"},
           {"copies", "between host and GPU, of a step in the mean: counted and predicted"},
           {"copied_bytes", "of them"},
           {"launches", "of kernels and fills, likewise"},
           {"fp32_instructions", "of a step: that its distances need, by idle threads too"},
           {"build_bytes", "of a step: read and written by the kernels that build"},
           {"build_instructions", "of a step: issued by their threads, where they compare"},
           {"issue_limit", "agents × steps, if warps issued a search's tests in every cycle"},
           {"bytes_limit", "the same, if memory moved what no cache of L2's size can keep"},
           {"phase_copy_in", "of a step: to the GPU (traced, as are all phases)"},
           {"phase_build", "of a step: of the data structure, by the GPU or the host"},
           {"phase_search", "of a step: of neighbours, and what moves each agent by them"},
           {"phase_copy_out", "of a step: to the host"},
           {"phase_idle", "of a step: what nothing covers"},
           {"copies_in", "of `copies`, those to the GPU, as they were recorded"},
           {"copied_in_bytes", "of them"},
           {"rebuilds", "of the data structure, in the steps of a sample: counted, and modelled"},
           {"wrong_neighbours", "agents whose neighbours are not those of double precision"}},
      .seconds_per_case = 0.6,
      .excludes = [rung](const Params& params, Backend backend) {
        return excluded(rung, params, backend);
      }};
  benchmark.axes.insert(benchmark.axes.end(), rung.axes.begin(), rung.axes.end());
  if (rung.backend == Backend::cuda && !rung.joins_steps) benchmark.axes.push_back(shown_axis());
  return benchmark;
}

bool detail::add_to_ladder(const Rung& rung, Benchmark (*declare)(), Body body) {
  return strata::detail::add_rung(suite, order, rung, declare, body);
}

}  // namespace strata::neighbours
