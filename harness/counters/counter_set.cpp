#include "harness/counters/counter_set.hpp"

#include "harness/case/builtin_files.hpp"
#include "harness/case/case.hpp"
#include "harness/case/refusal.hpp"
#include "harness/case/text.hpp"
#include "harness/case/yaml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <span>
#include <utility>

namespace strata {
namespace {

constexpr int set_schema = 1;
constexpr std::size_t longest_name = 64;
constexpr std::size_t longest_line = 200;  // of a title, a meaning or a metric's name

using Names = std::vector<std::string>;

// --- the file ---

/// Checks the tree of a counter set.
class SetReader {
 public:
  explicit SetReader(std::string_view file) : file_{file} {}

  [[nodiscard]] CounterSet set(const TreeNode& root) const {
    if (root.kind != TreeNode::Kind::mapping) {
      refuse({file_, std::max<std::size_t>(root.line, 1)}, root.describe(),
             "a counter set with the keys schema, title and quantities", "start with 'schema: 1'");
    }
    allow_keys(file_, root, "a counter set", {"schema", "title", "quantities"});
    check_schema(file_, root, set_schema);
    CounterSet set;
    set.title = line(root, "title");
    const auto& quantities = need_key(file_, root, "quantities", "a list of entries '- name: …'");
    if (quantities.kind != TreeNode::Kind::list || quantities.items.empty()) {
      refuse(at(quantities), fmt::format("quantities is {}", quantities.describe()),
             "a list of entries '- name: …'", "add at least one, each with its '- '");
    }
    std::set<std::string, std::less<>> names;
    for (const auto& item : quantities.items) {
      auto quantity = this->quantity(item);
      if (!names.insert(quantity.name).second) {
        refuse(at(*item.find("name")), fmt::format("quantity {} twice", in_quotes(quantity.name)),
               "each name once", "rename or remove one of them");
      }
      set.quantities.push_back(std::move(quantity));
    }
    return set;
  }

 private:
  [[nodiscard]] Place at(const TreeNode& node) const { return {file_, node.line}; }

  /// The text under `key`: one line that is not empty.
  [[nodiscard]] std::string line(const TreeNode& mapping, std::string_view key) const {
    const auto expected = fmt::format("one line of at most {} bytes", longest_line);
    const auto& node = need_key(file_, mapping, key, expected);
    if (!node.is_text() || node.text.empty() || node.text.size() > longest_line ||
        one_line(node.text) != node.text) {
      refuse(at(node), fmt::format("{} is {}", key, node.describe()), expected, "write it so");
    }
    return node.text;
  }

  [[nodiscard]] SetQuantity quantity(const TreeNode& node) const {
    if (node.kind != TreeNode::Kind::mapping) {
      refuse(at(node), fmt::format("{} as an entry of quantities", node.describe()),
             "the keys name, unit, meaning and metrics", "write '- name: …', then the others");
    }
    allow_keys(file_, node, "an entry of quantities", {"name", "unit", "meaning", "metrics"});
    constexpr std::string_view expected = "1 to 64 letters, digits, '.', '_', '+' or '-', no '__'";
    const auto& name = need_key(file_, node, "name", expected);
    if (!name.is_text() || !is_canonical_word(name.text) || name.text.size() > longest_name ||
        is_raw_metric(name.text)) {
      refuse(at(name), fmt::format("name is {}", name.describe()), expected, "give it such a name");
    }
    SetQuantity quantity{.name = name.text,
                         .unit = line(node, "unit"),
                         .meaning = line(node, "meaning"),
                         .metrics = {}};
    const auto& metrics = need_key(file_, node, "metrics", "a list of metrics, the best first");
    if (metrics.kind != TreeNode::Kind::list || metrics.items.empty()) {
      refuse(at(metrics), fmt::format("metrics is {}", metrics.describe()),
             "a list of metrics, the best first", "write metrics: [l1tex__t_bytes.sum]");
    }
    for (const auto& item : metrics.items)
      quantity.metrics.push_back(metric(item, quantity));
    return quantity;
  }

  [[nodiscard]] NamedMetric metric(const TreeNode& node, const SetQuantity& of) const {
    if (!node.is_text() || !is_raw_metric(node.text) || node.text.size() > longest_line ||
        one_line(node.text) != node.text) {
      refuse(at(node), fmt::format("{} among the metrics of {}", node.describe(), of.name),
             "names like l1tex__t_bytes.sum", "'strata counters --metrics RE' shows them");
    }
    if (std::ranges::find(of.metrics, node.text, &NamedMetric::name) != of.metrics.end()) {
      refuse(at(node), fmt::format("metric {} of {} twice", in_quotes(node.text), of.name),
             "each metric once", "remove one of them");
    }
    return {.name = node.text, .line = node.line};
  }

  std::string_view file_;
};

bool names_a_file(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") ||
         name.find('/') != std::string_view::npos;
}

// --- what a chip can count ---

/// The metrics that keep `metrics` from being counted: those that cannot be even alone.
Names unschedulable(std::span<const std::string> metrics, MetricCatalogue& catalogue) {
  Names found;
  if (metrics.empty() || catalogue.passes(metrics)) return found;
  std::ranges::copy_if(metrics, std::back_inserter(found), [&](const std::string& metric) {
    return !catalogue.passes(std::span{&metric, 1});
  });
  return found;
}

std::string mend_of(const Names& near) {
  if (near.empty()) return "'strata counters --metrics RE' shows the names";
  std::string list;
  for (const auto& name : near)
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", name);
  return fmt::format("did you mean {}{}?", near.size() > 1 ? "one of " : "", list);
}

/// `who_has` begins the sentence: "GH100 has no", "no known chip has".
[[noreturn]] void refuse_metric(const Place& place, std::string_view who_has,
                                const std::string& metric, MetricCatalogue& catalogue) {
  refuse(place, fmt::format("{} metric '{}'", who_has, one_line(metric)),
         "a name with its rollup, like l1tex__t_bytes.sum", mend_of(catalogue.nearest(metric)));
}

/// Sums of parts add up; averages, shares and ratios do not.
bool adds_up(std::string_view metric) {
  return metric.ends_with(".sum");
}

/// Refuses a metric of a user's file that no chip has: a typing mistake. (The built-in sets are
/// tested; an older library may lack some of their metrics, which is not the user's fault.)
void check_names(const CounterSet& set, MetricCatalogue& catalogue) {
  for (const auto& quantity : set.quantities) {
    for (const auto& metric : quantity.metrics) {
      if (catalogue.find(metric.name) || catalogue.known_elsewhere(metric.name)) continue;
      refuse_metric({set.file, metric.line}, "no known chip has the", metric.name, catalogue);
    }
  }
}

/// The first metric of each quantity that the chip has and that is not in `banned`.
std::vector<ResolvedQuantity> choose(const CounterSet& set, const std::set<std::string>& banned,
                                     MetricCatalogue& catalogue) {
  std::vector<ResolvedQuantity> quantities;
  for (const auto& asked : set.quantities) {
    auto& quantity = quantities.emplace_back(ResolvedQuantity{.asked = asked, .choice = {}});
    for (std::size_t m = 0; m < asked.metrics.size() && !quantity.choice; ++m) {
      const auto& metric = asked.metrics[m].name;
      if (!banned.contains(metric) && catalogue.find(metric)) quantity.choice = m;
    }
  }
  return quantities;
}

// --- the plan ---

/// Collects the counted quantities, each metric once.
class PlanBuilder {
 public:
  PlanBuilder(MetricCatalogue& catalogue, std::string_view flag)
      : catalogue_{catalogue}, flag_{flag} {
    plan_.chip = catalogue.chip();
  }

  void add_set(const std::string& wanted) {
    const auto resolved = resolve_set(load_counter_set(wanted, flag_), catalogue_);
    const auto& set = resolved.set;
    if (std::ranges::find(plan_.sets, wanted) != plan_.sets.end()) return;
    plan_.sets.push_back(wanted);
    for (const auto& quantity : resolved.quantities)
      add(set, quantity);
  }

  void add_raw(const std::string& metric) {
    const auto facts = catalogue_.find(metric);
    if (!facts) {
      const bool elsewhere = catalogue_.known_elsewhere(metric);
      refuse_metric({flag_},
                    elsewhere ? fmt::format("{}, unlike other chips, has no", plan_.chip)
                              : std::string{"no known chip has the"},
                    metric, catalogue_);
    }
    if (!catalogue_.passes(std::span{&metric, 1})) {
      refuse({flag_}, fmt::format("'{}' is known and cannot be counted on {}", metric, plan_.chip),
             "a metric that hardware counters give", "leave it out");
    }
    if (counted(metric) != nullptr) return;
    plan_.quantities.push_back({.name = metric,
                                .metric = metric,
                                .unit = facts->unit,
                                .meaning = facts->meaning,
                                .set = {},
                                .additive = adds_up(metric)});
  }

  [[nodiscard]] CounterPlan take() {
    Names metrics;
    for (const auto& quantity : plan_.quantities)
      metrics.push_back(quantity.metric);
    const auto passes = catalogue_.passes(metrics);
    if (!passes) {
      refuse({flag_}, fmt::format("these cannot be counted together on {}", plan_.chip),
             "metrics that can", "ask for fewer at once");
    }
    plan_.passes = *passes;
    return std::move(plan_);
  }

 private:
  [[nodiscard]] const CountedQuantity* counted(std::string_view metric) const {
    const auto found = std::ranges::find(plan_.quantities, metric, &CountedQuantity::metric);
    return found == plan_.quantities.end() ? nullptr : &*found;
  }

  void add(const CounterSet& set, const ResolvedQuantity& quantity) {
    const auto& asked = quantity.asked;
    if (!quantity.choice) {
      Names tried;
      for (const auto& metric : asked.metrics)
        tried.push_back(metric.name);
      plan_.absent.push_back(fmt::format("{}.{}: {} has {} {}", set.name, asked.name, plan_.chip,
                                         tried.size() == 1 ? "no" : "none of", joined(tried)));
      return;
    }
    const auto& metric = quantity.metric();
    if (const auto* const same = counted(metric)) {
      if (same->name == asked.name) return;
      plan_.absent.push_back(fmt::format("{}.{}: counted as {}", set.name, asked.name, same->name));
      return;
    }
    const auto clash = std::ranges::find(plan_.quantities, asked.name, &CountedQuantity::name);
    if (clash != plan_.quantities.end()) {
      refuse({set.file, asked.metrics[*quantity.choice].line},
             fmt::format("{} is {}, and {} in {}", asked.name, metric, clash->metric, clash->set),
             "one meaning for each name", "rename it");
    }
    plan_.quantities.push_back({.name = asked.name,
                                .metric = metric,
                                .unit = asked.unit,
                                .meaning = asked.meaning,
                                .set = set.name,
                                .additive = adds_up(metric)});
  }

  MetricCatalogue& catalogue_;
  std::string_view flag_;
  CounterPlan plan_;
};

}  // namespace

bool is_raw_metric(std::string_view name) {
  return !names_a_file(name) && name.find("__") != std::string_view::npos;
}

CounterSet parse_counter_set(std::string_view text, const std::string& file) {
  auto set = SetReader{file}.set(parse_yaml_tree(text, file, "counter set"));
  set.name = std::filesystem::path{file}.stem().string();
  set.file = file;
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
  if (names_a_file(name)) {
    return parse_counter_set(read_yaml_file(name, "counter set"), name);
  }
  for (const auto& [builtin, text] : builtin_counter_sets()) {
    if (builtin != name) continue;
    auto set = parse_counter_set(text, name);
    set.built_in = true;
    return set;
  }
  const auto names = counter_set_names();
  refuse({flag}, fmt::format("no counter set {}", in_quotes(name)),
         fmt::format("one of {}, a file of one (*.yaml) or a metric with its rollup (….sum)",
                     joined(names)),
         did_you_mean(name, names, "'strata counters' shows them"));
}

Names ResolvedSet::metrics() const {
  Names names;
  for (const auto& quantity : quantities) {
    if (!quantity.choice) continue;
    const auto& metric = quantity.metric();
    if (std::ranges::find(names, metric) == names.end()) names.push_back(metric);
  }
  return names;
}

ResolvedSet resolve_set(const CounterSet& set, MetricCatalogue& catalogue) {
  if (!set.built_in) check_names(set, catalogue);
  ResolvedSet resolved{.set = set, .quantities = {}, .passes = 0};
  std::set<std::string> banned;
  for (;;) {
    resolved.quantities = choose(set, banned, catalogue);
    const auto metrics = resolved.metrics();
    if (const auto passes = catalogue.passes(metrics)) {
      resolved.passes = *passes;
      return resolved;
    }
    // A name that the library describes may still be nothing that the hardware counts.
    const auto culprits = unschedulable(metrics, catalogue);
    if (culprits.empty()) {
      refuse({set.file}, fmt::format("these cannot be counted together on {}", catalogue.chip()),
             "metrics that can", "split the set");
    }
    banned.insert(culprits.begin(), culprits.end());
  }
}

CounterPlan resolve(const CounterSelection& selection, MetricCatalogue& catalogue,
                    std::string_view flag) {
  PlanBuilder plan{catalogue, flag};
  plan.add_set(std::string{memory_set});
  for (const auto& wanted : selection.wanted) {
    if (is_raw_metric(wanted)) {
      plan.add_raw(wanted);
    } else {
      plan.add_set(wanted);
    }
  }
  return plan.take();
}

}  // namespace strata
