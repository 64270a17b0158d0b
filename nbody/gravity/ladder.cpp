#include "nbody/gravity/ladder.hpp"

#include "harness/case/choices.hpp"
#include "harness/model/layout.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace strata::nbody {
namespace {

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

void complete(Benchmark& benchmark, const Rung& rung) {
  benchmark.axes.insert(benchmark.axes.begin() + 3, {.name = "layout",
                                                     .meaning = "memory layout of the bodies",
                                                     .choices = names_of<Layouts>(),
                                                     .defaults = {rung.layouts.front()}});
  benchmark.excludes = [rung](const Params& params, Backend backend) {
    return excluded(rung, params, backend);
  };
}

[[maybe_unused]] const bool is_enrolled = enrol_ladder("nbody", complete);

}  // namespace

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

}  // namespace strata::nbody
