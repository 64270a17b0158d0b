#include "nbody/gravity/ladder.hpp"

#include "harness/case/choices.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace strata::nbody {
namespace {

constexpr std::string_view order{STRATA_RUNGS};  // of CMakeLists.txt: ",serial,openmp,…,"

std::optional<std::string> excluded(const Rung& rung, const Params& params, Backend backend) {
  if (backend != rung.backend) return "the rung belongs to another backend";
  if (std::ranges::count(rung.layouts, params.at("layout")) == 0) {
    return "the rung is not built for that layout";
  }
  const auto sort_every = params.find("sort_every");
  if (sort_every != params.end() && sort_every->second != "1" &&
      params.at("problem") != to_string(Kind::galaxies)) {
    return "a sample is one step, which sorts";
  }
  const bool alone = params.at("systems") == "1";
  constexpr long long most_of_many = 32768;
  if (params.at("problem") != to_string(Kind::galaxies)) {
    return alone ? std::nullopt : std::optional<std::string>{"the problem is one system"};
  }
  if (alone) return "galaxies are several systems";
  if (std::stoll(params.at("bodies")) > most_of_many) {
    return "a system of so many bodies fills a GPU alone: use problem single";
  }
  return std::nullopt;
}

}  // namespace

const std::vector<Rung>& ladder() {
  return rungs_in_order<Rung>(order);
}

const Rung& rung_named(std::string_view name) {
  return rung_of(ladder(), name);
}

double rms_bound(const Rung& rung, std::uint32_t bodies, bool dominated) {
  constexpr double rounding = 0x1p-24;
  constexpr double of_a_term = 8;
  constexpr double block = 256;
  const auto of_a_sum = [&](double terms) { return dominated ? terms : std::sqrt(terms); };
  const double terms = bodies;
  const double sums =
      rung.sum == Sum::running ? of_a_sum(terms) : of_a_sum(block) + of_a_sum(terms / block);
  const double bound = (rung.approximate ? 2 : 1) * rounding * (of_a_term + sums);
  constexpr double of_halves = 0x1p-19;
  return rung.sum == Sum::halves ? bound + of_halves : bound;
}

Accuracy accuracy_of(const Rung& rung, std::uint32_t bodies, const Error& error, std::string what,
                     bool dominated) {
  constexpr double maximum_over_rms = 64;
  const double bound = rms_bound(rung, bodies, dominated);
  return {.what = std::move(what),
          .rms = error.relative_rms,
          .rms_bound = bound,
          .largest = error.relative_maximum,
          .largest_bound = maximum_over_rms * bound,
          .finite = error.finite};
}

Benchmark declare_rung(const Rung& rung) {
  const bool gpu = rung.backend == Backend::cuda;
  Benchmark benchmark{
      .suite = "nbody",
      .name = rung.name,
      .question = rung.question,
      .axes = {listed_axis("problem", "what is computed, and for how many systems",
                           {"galaxies", "single", "gravit"}, {"galaxies", "single"}),
               number_axis("systems", "independent systems (single, gravit: 1)", 1, 4096,
                           {"1", gpu ? "32" : "4"}),
               {.name = "bodies",
                .meaning = "bodies per system",
                .minimum = 1,
                .maximum = 1 << 22,
                .defaults = gpu ? std::vector<std::string>{"4096", "65536"}
                                : std::vector<std::string>{"1024"}},
               {.name = "layout",
                .meaning = "memory layout of the bodies",
                .choices = names_of<Layouts>(),
                .defaults = {rung.layouts.front()}}},
      .data_axes = 3,
      .counter_sets =
          gpu ? std::vector<std::string>{"flops", "issue", "occupancy", "shared", "stalls"}
              : std::vector<std::string>{},
      .quantities =
          {{"interactions_per_second", "N² interactions of each system and step, by each timer"},
           {"step_time", "one step of all systems"},
           {"nominal_flops_per_second", "20 operations per interaction, as in the literature"},
           {"relative_rms_error",
            "root mean square error of the accelerations against double precision"},
           {"relative_maximum_error", "error of the worst body, over the root mean square of all"},
           {"energy_drift", "galaxies: relative change of total energy over the steps of a sample"},
           {"momentum_drift", "galaxies: change of total momentum over the sum of m|v|"},
           {"issue_limit", "interactions per second if a warp issued in every cycle"}},
      .seconds_per_case = gpu ? 0.2 : 0.3,
      .excludes = [rung](const Params& params, Backend backend) {
        return excluded(rung, params, backend);
      }};
  benchmark.axes.insert(benchmark.axes.end(), rung.axes.begin(), rung.axes.end());
  return benchmark;
}

bool add_to_ladder(const Rung& rung, Benchmark (*declare)(), Body body) {
  return strata::detail::add_rung("nbody", order, rung, declare, body);
}

}  // namespace strata::nbody
