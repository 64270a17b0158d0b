#include "harness/counters/counter_set.hpp"

#include "harness/base/error.hpp"
#include "harness/base/text.hpp"
#include "harness/base/yaml_tree.hpp"
#include "harness/case/builtin_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace strata {
namespace {

constexpr int set_schema = 1;
constexpr std::size_t longest_name = 64;
constexpr std::size_t longest_line = 200;  // of a title, a meaning or a metric's name

using Names = std::vector<std::string>;

/// The element whose `name` is this; null without one.
template <class T>
const T* find(const std::vector<T>& all, std::string_view wanted, std::string T::*name) {
  const auto found = std::ranges::find(all, wanted, name);
  return found == all.end() ? nullptr : &*found;
}

using Kind = TreeNode::Kind;

bool is_line(const TreeNode& node) {
  return node.is_text() && !node.text.empty() && node.text.size() <= longest_line &&
         one_line(node.text) == node.text;
}

std::string read_line(const TreeNode& mapping, std::string_view key) {
  const auto expected = fmt::format("one line of at most {} bytes", longest_line);
  const auto& node = mapping.need(key, expected);
  if (!is_line(node)) node.refuse_as(key, expected, "use one line");
  return node.text;
}

SetQuantity read_quantity(const TreeNode& node) {
  if (node.kind != Kind::mapping) {
    refuse(node.place, fmt::format("{} as an entry of quantities", node.describe()),
           "the keys name, unit, meaning and metrics", "write '- name: …', then the others");
  }
  node.allow_keys("an entry of quantities", {"name", "unit", "meaning", "metrics"});
  constexpr std::string_view expected = "1 to 64 letters, digits, '.', '_', '+' or '-', no '__'";
  const auto& name = node.need("name", expected);
  if (!name.is_text() || !is_canonical_word(name.text) || name.text.size() > longest_name ||
      is_raw_metric(name.text)) {
    name.refuse_as("name", expected, "change the name");
  }
  SetQuantity quantity{.name = name.text,
                       .unit = read_line(node, "unit"),
                       .meaning = read_line(node, "meaning"),
                       .metrics = {}};
  constexpr std::string_view metrics_are = "a list of metrics, in order of preference";
  for (const auto& item :
       node.need("metrics", metrics_are)
           .filled(Kind::list, "metrics", metrics_are, "write metrics: [l1tex__t_bytes.sum]")) {
    if (!is_line(item) || !is_raw_metric(item.text)) {
      refuse(item.place, fmt::format("{} in the metrics of {}", item.describe(), name.text),
             "names like l1tex__t_bytes.sum", "'strata counters --metrics RE' lists them");
    }
    if (find(quantity.metrics, item.text, &NamedMetric::name) != nullptr) {
      refuse(item.place,
             fmt::format("metric {} of {} appears twice", in_quotes(item.text), name.text),
             "each metric once", "remove one of them");
    }
    quantity.metrics.push_back({.name = item.text, .line = item.place.line});
  }
  return quantity;
}

bool names_a_file(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") ||
         name.find('/') != std::string_view::npos;
}

/// `who_has` begins the sentence: "GH100 has no", "no known chip has".
[[noreturn]] void refuse_metric(const Place& place, std::string_view who_has,
                                const std::string& metric, MetricCatalogue& catalogue) {
  const Names near = catalogue.nearest(metric);
  refuse(place, fmt::format("{} metric '{}'", who_has, one_line(metric)),
         "a name with its rollup, like l1tex__t_bytes.sum",
         near.empty() ? "'strata counters --metrics RE' lists the names"
                      : fmt::format("did you mean {}'{}'?", near.size() > 1 ? "one of " : "",
                                    fmt::join(near, "', '")));
}

/// A metric is counted once, under the first name that refers to it.
void add_quantity(CounterPlan& plan, const CounterSet& set, const ResolvedQuantity& quantity) {
  const auto& requested = quantity.requested;
  const auto absent = [&](const std::string& why) {
    plan.absent.push_back(fmt::format("{}.{}: {}", set.name, requested.name, why));
  };
  if (!quantity.choice) {
    return absent(fmt::format("{} has {} {}", plan.chip,
                              requested.metrics.size() == 1 ? "no" : "none of",
                              metric_names(requested)));
  }
  const auto& metric = quantity.metric();
  if (const auto* same = find(plan.quantities, metric, &CountedQuantity::metric)) {
    if (same->name != requested.name) absent("counted as " + same->name);
    return;
  }
  if (const auto* clash = find(plan.quantities, requested.name, &CountedQuantity::name)) {
    refuse({set.file, requested.metrics[*quantity.choice].line},
           fmt::format("{} is {}, and {} in {}", requested.name, metric, clash->metric, clash->set),
           "one meaning for each name", "rename it");
  }
  plan.quantities.push_back({.name = requested.name,
                             .metric = metric,
                             .unit = requested.unit,
                             .meaning = requested.meaning,
                             .set = set.name});
}

void add_raw(CounterPlan& plan, const std::string& metric, MetricCatalogue& catalogue,
             std::string_view flag) {
  const auto facts = catalogue.find(metric);
  if (!facts) {
    refuse_metric({flag},
                  catalogue.known_elsewhere(metric)
                      ? fmt::format("{}, unlike other chips, has no", plan.chip)
                      : "no known chip has the",
                  metric, catalogue);
  }
  if (!catalogue.passes(std::span{&metric, 1})) {
    refuse({flag}, fmt::format("'{}' exists, but cannot be counted on {}", metric, plan.chip),
           "a metric of hardware counters", "omit it");
  }
  if (find(plan.quantities, metric, &CountedQuantity::metric) != nullptr) return;
  plan.quantities.push_back({.name = metric,
                             .metric = metric,
                             .unit = facts->unit,
                             .meaning = facts->meaning,
                             .set = {}});
}

}  // namespace

bool is_raw_metric(std::string_view name) {
  return !names_a_file(name) && name.find("__") != std::string_view::npos;
}

std::string metric_names(const SetQuantity& quantity) {
  Names names;
  for (const auto& metric : quantity.metrics)
    names.push_back(metric.name);
  return joined(names);
}

CounterSet parse_counter_set(std::string_view text, const std::string& file) {
  const auto root = parse_yaml_tree(text, file, "counter set");
  root.check_root("a counter set", {"schema", "title", "quantities"}, set_schema);
  CounterSet set{.name = std::filesystem::path{file}.stem().string(),
                 .file = file,
                 .title = read_line(root, "title")};
  constexpr std::string_view quantities_are = "a list of entries '- name: …'";
  for (const auto& item :
       root.need("quantities", quantities_are)
           .filled(Kind::list, "quantities", quantities_are, "add at least one, each with '- '")) {
    auto quantity = read_quantity(item);
    if (find(set.quantities, quantity.name, &SetQuantity::name) != nullptr) {
      refuse(item.find("name")->place,
             fmt::format("quantity {} appears twice", in_quotes(quantity.name)), "each name once",
             "rename or remove one of them");
    }
    set.quantities.push_back(std::move(quantity));
  }
  return set;
}

Names counter_set_names() {
  Names names;
  for (const auto& [name, text] : builtin_counter_sets())
    names.emplace_back(name);
  std::ranges::sort(names);
  return names;
}

CounterSet load_counter_set(const std::string& name, std::string_view flag) {
  if (names_a_file(name)) return parse_counter_set(read_yaml_file(name, "counter set"), name);
  for (const auto& [builtin, text] : builtin_counter_sets()) {
    if (builtin != name) continue;
    auto set = parse_counter_set(text, name);
    set.built_in = true;
    return set;
  }
  const auto names = counter_set_names();
  refuse({flag}, fmt::format("no counter set {}", in_quotes(name)),
         fmt::format("one of {}, a set file (*.yaml) or a metric with its rollup (….sum)",
                     joined(names)),
         did_you_mean(name, names, "'strata counters' lists the sets"));
}

Names ResolvedSet::metrics() const {
  Names names;
  for (const auto& quantity : quantities) {
    if (quantity.choice && std::ranges::find(names, quantity.metric()) == names.end()) {
      names.push_back(quantity.metric());
    }
  }
  return names;
}

// Until the hardware counts every metric that is left.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
ResolvedSet resolve_set(const CounterSet& set, MetricCatalogue& catalogue) {
  for (const auto& quantity : set.quantities) {
    for (const auto& metric : quantity.metrics) {
      // The built-in sets are tested; an older library may lack some of their metrics, which is not
      // the user's fault.
      if (set.built_in || catalogue.find(metric.name) || catalogue.known_elsewhere(metric.name)) {
        continue;
      }
      refuse_metric({set.file, metric.line}, "no known chip has the", metric.name, catalogue);
    }
  }
  std::set<std::string> uncountable;
  for (;;) {
    ResolvedSet resolved{.set = set, .quantities = {}, .passes = 0};
    for (const auto& requested : set.quantities) {
      auto& quantity = resolved.quantities.emplace_back(ResolvedQuantity{requested, std::nullopt});
      for (std::size_t m = 0; m < requested.metrics.size() && !quantity.choice; ++m) {
        const auto& metric = requested.metrics[m].name;
        if (!uncountable.contains(metric) && catalogue.find(metric)) quantity.choice = m;
      }
    }
    const auto metrics = resolved.metrics();
    if (const auto passes = catalogue.passes(metrics)) {
      resolved.passes = *passes;
      return resolved;
    }
    // A name that the library describes may still be nothing that the hardware counts.
    const auto known = uncountable.size();
    for (const auto& metric : metrics) {
      if (!catalogue.passes(std::span{&metric, 1})) uncountable.insert(metric);
    }
    if (uncountable.size() == known) {
      refuse({set.file},
             fmt::format("these metrics cannot be counted together on {}", catalogue.chip()),
             "metrics that can", "split the set");
    }
  }
}

CounterPlan resolve(const CounterSelection& selection, MetricCatalogue& catalogue,
                    std::string_view flag) {
  CounterPlan plan{.chip = catalogue.chip()};
  Names all{std::string{memory_set}};
  all.insert(all.end(), selection.wanted.begin(), selection.wanted.end());
  for (const auto& wanted : all) {
    if (is_raw_metric(wanted)) {
      add_raw(plan, wanted, catalogue, flag);
    } else if (std::ranges::find(plan.sets, wanted) == plan.sets.end()) {
      const auto resolved = resolve_set(load_counter_set(wanted, flag), catalogue);
      plan.sets.push_back(wanted);
      for (const auto& quantity : resolved.quantities)
        add_quantity(plan, resolved.set, quantity);
    }
  }
  Names metrics;
  for (auto& quantity : plan.quantities) {
    metrics.push_back(quantity.metric);
    // Sums of parts add up; averages, shares and ratios do not.
    quantity.additive = quantity.metric.ends_with(".sum");
  }
  const auto passes = catalogue.passes(metrics);
  if (!passes) {
    refuse({flag}, fmt::format("these metrics cannot be counted together on {}", plan.chip),
           "metrics that can", "request fewer at once");
  }
  plan.passes = *passes;
  return plan;
}

Names parse_counters(const Names& flags) {
  constexpr std::string_view expected =
      "auto, none, or a comma-separated list of counter sets, set files (*.yaml) and metrics";
  constexpr std::string_view mend = "strata counters lists the sets";
  if (flags.empty()) return {counters_auto};
  Names requested;
  for (const std::string_view flag : flags) {
    for (const auto name : split(flag, ',')) {
      if (name.empty()) refuse({"--counters " + in_quotes(flag)}, "an empty name", expected, mend);
      if (std::ranges::find(requested, name) != requested.end()) {
        throw UsageError{fmt::format("--counters {}: given twice", in_quotes(name))};
      }
      requested.emplace_back(name);
    }
  }
  for (const char* alone : {counters_auto, counters_none}) {
    if (requested.size() > 1 && std::ranges::find(requested, alone) != requested.end()) {
      refuse({"--counters"}, fmt::format("{} cannot be combined with others", alone), expected,
             mend);
    }
  }
  return requested;
}

CounterSelection selection_of(const Names& requested, std::span<const std::string> wanted) {
  if (requested == Names{counters_none}) return {};
  if (requested != Names{counters_auto}) return {.wanted = requested};
  CounterSelection selection{.wanted = {std::string{memory_set}}, .by_benchmark = true};
  selection.wanted.insert(selection.wanted.end(), wanted.begin(), wanted.end());
  return selection;
}

}  // namespace strata
