#include "harness/case/benchmark.hpp"
#include "harness/cli/commands.hpp"
#include "nbody/gravity/ladder.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace strata {
namespace {

using Declaration = nlohmann::ordered_json;

Declaration declaration_of(const Benchmark& benchmark) {
  Declaration axes = Declaration::array();
  for (const Axis& axis : benchmark.axes) {
    Declaration one{{"name", axis.name}, {"meaning", axis.meaning}, {"defaults", axis.defaults}};
    if (axis.choices.empty()) {
      one["minimum"] = axis.minimum;
      one["maximum"] = axis.maximum;
    } else {
      one["choices"] = axis.choices;
    }
    axes.push_back(std::move(one));
  }
  Declaration quantities = Declaration::array();
  for (const Quantity& quantity : benchmark.quantities)
    quantities.push_back({{"name", quantity.name}, {"meaning", quantity.meaning}});
  return {{"suite", benchmark.suite},
          {"question", benchmark.question},
          {"axes", std::move(axes)},
          {"quantities", std::move(quantities)}};
}

Declaration ladder() {
  Declaration rungs = Declaration::array();
  for (const nbody::Rung& rung : nbody::ladder()) {
    rungs.push_back({{"name", rung.name},
                     {"backend", to_string(rung.backend)},
                     {"before", rung.before},
                     {"question", rung.question},
                     {"change", rung.change},
                     {"source", rung.source},
                     {"expectation", rung.expectation},
                     {"sum", rung.sum == nbody::Sum::blocks ? "blocks" : "running"},
                     {"approximate", rung.approximate},
                     {"issue_slots", rung.issue_slots},
                     {"bodies_of_block", rung.bodies_of_block},
                     {"launch_for_each_system", rung.launch_for_each_system},
                     {"threads_of_read", rung.threads_of_read},
                     {"vector_operations", rung.vector_operations},
                     {"layouts", rung.layouts}});
  }
  return rungs;
}

}  // namespace

std::string describe_benchmarks(const std::vector<Case>& cases) {
  Declaration benchmarks = Declaration::object();
  for (const Case& which : cases) {
    const Enrolled* const known = find_benchmark(which.benchmark);
    if (known == nullptr || benchmarks.contains(which.benchmark)) continue;
    benchmarks[which.benchmark] = declaration_of(known->benchmark);
  }
  Declaration described{{"benchmarks", std::move(benchmarks)}};
  if (std::ranges::any_of(cases, [](const Case& which) { return which.suite == "nbody"; })) {
    described["rungs"] = ladder();
  }
  return described.dump();
}

}  // namespace strata
