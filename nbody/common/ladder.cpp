#include "nbody/common/ladder.hpp"

#include "harness/base/yaml_tree.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace strata {
namespace {

/// Properties that the rungs of a backend share.
struct Shared {
  std::vector<std::string> axes;
  std::vector<std::string> counter_sets;
  double seconds_per_case = 0;
};

struct Ladder {
  std::string prefix;
  std::size_t data_axes = 0;
  std::map<std::string, Axis, std::less<>> axes;
  std::vector<KernelPhase> kernels;  ///< that several rungs launch, and fills
  std::vector<Quantity> quantities;
  std::map<Backend, Shared> shared;
  std::vector<Rung> rungs;
};
using Ladders = std::map<std::string, Ladder, std::less<>>;

std::vector<std::string_view>& texts() {
  static std::vector<std::string_view> all;
  return all;
}

// --- YAML ---

std::string text_of(const TreeNode& node, std::string_view key) {
  const TreeNode* const found = node.find(key);
  return found == nullptr ? std::string{} : found->text;
}
double number_of(const TreeNode& node, std::string_view key) {
  const std::string text = text_of(node, key);
  return text.empty() ? 0 : std::stod(text);
}
unsigned whole_of(const TreeNode& node, std::string_view key) {
  return static_cast<unsigned>(number_of(node, key));
}
std::vector<std::string> words_of(const TreeNode& node, std::string_view key) {
  std::vector<std::string> words;
  if (const TreeNode* const found = node.find(key)) {
    for (const TreeNode& item : found->items)
      words.push_back(item.text);
  }
  return words;
}

Axis axis_of(const TreeNode& node) {
  node.allow_keys("an axis", {"name", "meaning", "choices", "range", "defaults"});
  Axis axis{.name = node.find("name") == nullptr ? node.key : text_of(node, "name"),
            .meaning = node.need("meaning", "text").text,
            .choices = words_of(node, "choices"),
            .defaults = words_of(node, "defaults")};
  if (axis.defaults.empty()) axis.defaults = axis.choices;
  if (const auto range = words_of(node, "range"); range.size() == 2) {
    axis.minimum = std::stoll(range[0]);
    axis.maximum = std::stoll(range[1]);
  }
  return axis;
}

void read_kernels(const TreeNode& node, std::vector<KernelPhase>& kernels) {
  if (const TreeNode* const found = node.find("kernels")) {
    for (const TreeNode& kernel : found->items)
      kernels.push_back({kernel.key, enum_from<StepPhase>(kernel.text).value()});
  }
}

void read_head(const TreeNode& root, Ladder& ladder) {
  ladder.prefix = text_of(root, "prefix");
  ladder.data_axes = whole_of(root, "data_axes");
  read_kernels(root, ladder.kernels);
  for (const TreeNode& axis : root.need("axes", "axes by name").items)
    ladder.axes.emplace(axis.key, axis_of(axis));
  for (const TreeNode& quantity : root.need("quantities", "quantities by name").items)
    ladder.quantities.push_back({.name = quantity.key, .meaning = quantity.text});
  for (const Backend backend : {Backend::host, Backend::cuda}) {
    const TreeNode& node = root.need(to_string(backend), "what its rungs share");
    node.allow_keys("a backend", {"axes", "counter_sets", "seconds_per_case"});
    ladder.shared[backend] = {.axes = words_of(node, "axes"),
                              .counter_sets = words_of(node, "counter_sets"),
                              .seconds_per_case = number_of(node, "seconds_per_case")};
  }
}

Rung rung_of(const TreeNode& node, const std::string& suite, const Ladder& ladder) {
  node.allow_keys("a rung", {"file",
                             "before",
                             "question",
                             "change",
                             "source",
                             "expectation",
                             "axes",
                             "most",
                             "approximate",
                             "kernels",
                             "issue_slots",
                             "special_functions",
                             "tests",
                             "traffic",
                             "build",
                             "costs",
                             "exact",
                             "sum",
                             "bodies_of_block",
                             "launch_for_each_system",
                             "threads_of_read",
                             "vector_operations",
                             "layouts"});
  const std::string& file = node.need("file", "host/NAME.cpp or rungs/NAME.cu").text;
  const std::size_t begin = file.find('/') + 1;
  const auto text = [&](std::string_view key) { return node.need(key, "text").text; };
  Rung rung{.suite = suite,
            .name = ladder.prefix + file.substr(begin, file.rfind('.') - begin),
            .backend = file.starts_with("host/") ? Backend::host : Backend::cuda,
            .before = text_of(node, "before"),
            .question = text("question"),
            .change = text("change"),
            .source = text("source"),
            .expectation = text("expectation"),
            .axes = {},
            .most = number_of(node, "most"),
            .approximate = text_of(node, "approximate") == "true",
            .kernels = ladder.kernels,
            .issue_slots = {},
            .special_functions = number_of(node, "special_functions"),
            .tests = text_of(node, "tests"),
            .traffic = text_of(node, "traffic"),
            .build = text_of(node, "build"),
            .costs = text_of(node, "costs"),
            .exact = text_of(node, "exact") != "false",
            .bodies_of_block = whole_of(node, "bodies_of_block"),
            .launch_for_each_system = text_of(node, "launch_for_each_system") == "true",
            .threads_of_read = whole_of(node, "threads_of_read"),
            .vector_operations = number_of(node, "vector_operations"),
            .layouts = words_of(node, "layouts")};
  std::vector<std::string> axes = ladder.shared.at(rung.backend).axes;
  std::ranges::copy(words_of(node, "axes"), std::back_inserter(axes));
  for (const std::string& axis : axes)
    rung.axes.push_back(ladder.axes.at(axis));
  read_kernels(node, rung.kernels);
  if (const TreeNode* const slots = node.find("issue_slots")) {
    if (slots->is_text()) rung.issue_slots[1] = std::stod(slots->text);
    for (const TreeNode& one : slots->items)
      rung.issue_slots[static_cast<std::uint32_t>(std::stoul(one.key))] = std::stod(one.text);
  }
  if (node.find("sum") != nullptr) rung.sum = enum_from<Sum>(text("sum")).value();
  return rung;
}

const Ladders& all_ladders() {
  static const Ladders all = [] {
    std::vector<TreeNode> roots;
    for (const std::string_view text : texts())
      roots.push_back(parse_yaml_tree(text, "ladder.yaml", "ladder"));
    std::stable_partition(roots.begin(), roots.end(),
                          [](const TreeNode& root) { return root.find("prefix") != nullptr; });
    Ladders made;
    for (const TreeNode& root : roots) {
      root.check_root("a ladder",
                      {"schema", "suite", "prefix", "data_axes", "host", "cuda", "quantities",
                       "kernels", "axes", "rungs"},
                      1);
      const std::string suite = root.need("suite", "a suite").text;
      Ladder& ladder = made[suite];
      if (root.find("prefix") != nullptr) read_head(root, ladder);
      for (const TreeNode& rung : root.need("rungs", "a list of rungs").items)
        ladder.rungs.push_back(rung_of(rung, suite, ladder));
    }
    return made;
  }();
  return all;
}

Benchmark declaration_of(const Ladder& ladder, const Rung& rung) {
  const Shared& shared = ladder.shared.at(rung.backend);
  return {.suite = rung.suite,
          .name = rung.name,
          .question = rung.question,
          .axes = rung.axes,
          .data_axes = ladder.data_axes,
          .counter_sets = shared.counter_sets,
          .quantities = ladder.quantities,
          .seconds_per_case = shared.seconds_per_case,
          .excludes = nullptr};
}

}  // namespace

double Rung::issue_slots_at(std::uint32_t value) const {
  const auto found = issue_slots.find(value);
  return found == issue_slots.end() ? 0 : found->second;
}

bool Rung::has_axis(std::string_view axis) const {
  return std::ranges::find(axes, axis, &Axis::name) != axes.end();
}

std::vector<std::string> ladders() {
  std::vector<std::string> suites;
  for (const auto& [suite, ladder] : all_ladders())
    suites.push_back(suite);
  return suites;
}

const std::vector<Rung>& ladder(std::string_view suite) {
  const auto found = all_ladders().find(suite);
  if (found != all_ladders().end()) return found->second.rungs;
  throw std::out_of_range{"no ladder '" + std::string{suite} + "'"};
}

const Rung& rung_named(std::string_view name) {
  for (const auto& [suite, ladder] : all_ladders()) {
    const auto found = std::ranges::find(ladder.rungs, name, &Rung::name);
    if (found != ladder.rungs.end()) return *found;
  }
  throw std::out_of_range{"no rung '" + std::string{name} + "'"};
}

bool add_rungs(std::string_view yaml) {
  texts().push_back(yaml);
  return true;
}

bool enrol_ladder(std::string_view suite, void (*complete)(Benchmark&, const Rung&)) {
  return detail::enrol_all([suite, complete] {
    std::vector<detail::Enrolment> all;
    const Ladder& ladder = all_ladders().find(suite)->second;
    for (const Rung& rung : ladder.rungs) {
      const auto code = detail::rung_codes().find(rung.name);
      all.push_back({.declare =
                         [&ladder, &rung, complete] {
                           Benchmark benchmark = declaration_of(ladder, rung);
                           complete(benchmark, rung);
                           return benchmark;
                         },
                     .backend = rung.backend,
                     .body = code == detail::rung_codes().end() ? nullptr : code->second.body});
    }
    return all;
  });
}

std::map<std::string, detail::RungCode, std::less<>>& detail::rung_codes() {
  static std::map<std::string, RungCode, std::less<>> all;
  return all;
}

}  // namespace strata
