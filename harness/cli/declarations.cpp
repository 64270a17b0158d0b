// The declarations of benchmarks for context.json.
#include "harness/cli/commands.hpp"
#include "harness/record/gates.hpp"

#include <nlohmann/json.hpp>

#include <utility>

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

}  // namespace

std::string describe_benchmarks(const std::vector<Benchmark>& benchmarks) {
  Declaration declarations = Declaration::object();
  for (const Benchmark& benchmark : benchmarks)
    declarations[benchmark.name] = declaration_of(benchmark);
  Declaration bounds = Declaration::object();
  for (const auto& [name, value, evidence] : check_bounds)
    bounds[std::string{name}] = {{"value", value}, {"evidence", evidence}};
  return Declaration{{"benchmarks", std::move(declarations)}, {"bounds", std::move(bounds)}}.dump();
}

}  // namespace strata
