// A sweep file is first parsed as YAML (yaml_tree), then checked against the benchmarks.

#include "harness/case/sweep.hpp"

#include "harness/case/builtin_files.hpp"
#include "harness/case/expression.hpp"
#include "harness/case/octaves.hpp"
#include "harness/case/refusal.hpp"
#include "harness/case/text.hpp"
#include "harness/case/yaml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>

namespace strata {
namespace {

constexpr int schema = 1;

// --- names and values ---

using Names = std::vector<std::string>;

const Enrolled* find(std::span<const Enrolled> known, std::string_view name) {
  const auto found =
      std::ranges::find_if(known, [&](const Enrolled& one) { return one.benchmark.name == name; });
  return found == known.end() ? nullptr : &*found;
}

const Benchmark& known_benchmark(const Place& place, std::string_view name,
                                 std::span<const Enrolled> known) {
  if (const auto* const one = find(known, name)) return one->benchmark;
  Names names;
  for (const auto& one : known)
    names.push_back(one.benchmark.name);
  refuse(
      place, fmt::format("no benchmark {}", in_quotes(name)),
      names.empty() ? "one, but this executable has none" : fmt::format("one of {}", joined(names)),
      did_you_mean(name, names, "'strata list' shows them"));
}

const Axis& known_axis(const Place& place, std::string_view name, const Benchmark& benchmark) {
  if (const auto* const axis = benchmark.axis(name)) return *axis;
  Names names;
  for (const auto& axis : benchmark.axes)
    names.push_back(axis.name);
  refuse(place, fmt::format("benchmark {} has no axis {}", benchmark.name, in_quotes(name)),
         names.empty() ? "no axes" : fmt::format("one of {}", joined(names)),
         did_you_mean(name, names, "remove it or correct its name"));
}

/// A value in a file, and its line.
struct Written {
  std::string_view text;
  std::size_t line = 0;
};

/// The canonical form of "08", "+8", "8.0" or "0x8" on an axis of whole numbers.
std::optional<std::string> meant_number(const Axis& axis, std::string_view text) {
  const std::string copy{text};
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);  // reads all of these spellings
  constexpr double exact = 1e15;
  if (copy.empty() || end != copy.c_str() + copy.size() || !(std::abs(number) < exact)) return {};
  if (number != std::trunc(number)) return {};
  return axis.canonical(std::to_string(static_cast<long long>(number)));
}

std::string canonical_value(const Place& place, const Axis& axis, std::string_view text) {
  if (auto value = axis.canonical(text)) return *std::move(value);
  const bool any_number = axis.choices.empty();
  const auto meant = any_number ? meant_number(axis, text) : std::nullopt;
  refuse(place, fmt::format("axis {} has no value {}", axis.name, in_quotes(text)),
         any_number ? axis.describe() : fmt::format("one of {}", axis.describe()),
         meant ? fmt::format("write {}", *meant)
               : did_you_mean(text, axis.choices, "correct or remove it"));
}

/// The canonical values of `written`, all different. `name` is the file or setting.
Names canonical_values(std::string_view name, const Axis& axis, std::span<const Written> written) {
  Names values;
  std::set<std::string, std::less<>> seen;
  for (const auto& one : written) {
    auto value = canonical_value({name, one.line}, axis, one.text);
    if (!seen.insert(value).second) {
      refuse({name, one.line}, fmt::format("axis {} has {} twice", axis.name, in_quotes(value)),
             "each value once", "remove one of them");
    }
    values.push_back(std::move(value));
  }
  return values;
}

/// One number of the plan: its name, its member, its bounds.
struct PlanField {
  std::string_view name;
  int Plan::*whole;
  double Plan::*real;
  double least;  // for a real number: must be above it
  double most;   // for relative_half_width: must be below it
  std::string_view expected;
};

constexpr double just_below_one = 1 - std::numeric_limits<double>::epsilon() / 2;
constexpr std::string_view some_seconds = "a number of seconds above 0 and up to 86400";
// The caps keep a slip of the keyboard from asking for a year; 6 samples are the fewest that have a
// 95 % interval of the median.
constexpr std::array<PlanField, 6> plan_fields{
    {{"warmups", &Plan::warmups, nullptr, 0, 1000, "a whole number from 0 to 1000"},
     {"min_samples", &Plan::min_samples, nullptr, 6, 100000, "a whole number from 6 to 100000"},
     {"max_samples", &Plan::max_samples, nullptr, 6, 100000, "a whole number from 6 to 100000"},
     {"relative_half_width", nullptr, &Plan::relative_half_width, 0, just_below_one,
      "a number above 0 and below 1"},
     {"seconds_per_case", nullptr, &Plan::seconds_per_case, 0, 86400, some_seconds},
     {"time_limit", nullptr, &Plan::time_limit, 0, 86400, some_seconds}}};

const PlanField& known_plan_field(const Place& place, std::string_view key) {
  Names names;
  for (const auto& field : plan_fields) {
    if (field.name == key) return field;
    names.emplace_back(field.name);
  }
  refuse(place, fmt::format("plan has no key {}", in_quotes(key)),
         fmt::format("one of {}", joined(names)),
         did_you_mean(key, names, "remove it or correct its name"));
}

void set_plan_field(const Place& place, Plan& plan, const PlanField& field, std::string_view text) {
  if (field.whole != nullptr) {
    const auto number = whole_number(text);
    if (number && static_cast<double>(*number) >= field.least &&
        static_cast<double>(*number) <= field.most) {
      plan.*field.whole = static_cast<int>(*number);
      return;
    }
  } else {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    // Written so that nan is refused too.
    if (error == std::errc{} && stop == end && number > field.least && number <= field.most) {
      plan.*field.real = number;
      return;
    }
  }
  refuse(place, fmt::format("{} is {}", field.name, in_quotes(text)), field.expected,
         "correct it or leave it out");
}

/// Checks the numbers of a plan against each other.
void check_plan(const Place& place, const Plan& plan) {
  if (plan.max_samples < plan.min_samples) {
    refuse(
        place,
        fmt::format("max_samples {} is below min_samples {}", plan.max_samples, plan.min_samples),
        "max_samples no smaller than min_samples", "raise max_samples or lower min_samples");
  }
  if (plan.time_limit <= plan.seconds_per_case) {
    refuse(place,
           fmt::format("time_limit {} is no longer than seconds_per_case {}", plan.time_limit,
                       plan.seconds_per_case),
           "a time_limit that leaves room for the sampling", "raise time_limit");
  }
}

/// Checks the tree of a sweep file against the benchmarks.
class Reader {
 public:
  Reader(std::string_view file, std::span<const Enrolled> known) : file_{file}, known_{known} {}

  [[nodiscard]] Sweep sweep(const TreeNode& root) const {
    if (root.kind != TreeNode::Kind::mapping) {
      refuse({file_, std::max<std::size_t>(root.line, 1)}, root.describe(),
             "a sweep with the keys schema, name, plan and cases", "start with 'schema: 1'");
    }
    allow_keys(file_, root, "a sweep", {"schema", "name", "plan", "cases"});
    check_schema(file_, root, schema);
    Sweep sweep;
    sweep.name = name(root);
    if (const auto* const plan = root.find("plan")) sweep.plan = this->plan(*plan);
    const auto& cases = need(root, "cases", "a list of entries '- benchmark: NAME'");
    if (cases.kind != TreeNode::Kind::list || cases.items.empty()) {
      refuse({file_, cases.line}, fmt::format("cases is {}", cases.describe()),
             "a list of entries '- benchmark: NAME'", "add at least one, each with its '- '");
    }
    for (const auto& item : cases.items)
      sweep.entries.push_back(entry(item));
    return sweep;
  }

 private:
  [[nodiscard]] Place at(const TreeNode& node) const { return {file_, node.line}; }

  [[nodiscard]] const TreeNode& need(const TreeNode& mapping, std::string_view key,
                                     std::string_view expected) const {
    return need_key(file_, mapping, key, expected);
  }

  [[nodiscard]] std::string name(const TreeNode& root) const {
    constexpr std::size_t longest = 64;
    constexpr std::string_view expected = "1 to 64 letters, digits, '.', '_', '+' or '-'";
    const auto& node = need(root, "name", expected);
    if (!node.is_text() || !is_canonical_word(node.text) || node.text.size() > longest) {
      refuse(at(node), fmt::format("name is {}", node.describe()), expected, "give it such a name");
    }
    return node.text;
  }

  [[nodiscard]] Plan plan(const TreeNode& node) const {
    if (node.kind != TreeNode::Kind::mapping || node.items.empty()) {
      refuse(at(node), fmt::format("plan is {}", node.describe()), "keys with numbers",
             "write plan: {min_samples: 7} or leave it out");
    }
    Plan plan;
    std::size_t line = node.line;
    for (const auto& item : node.items) {
      const auto& field = known_plan_field({file_, item.key_line}, item.key);
      if (item.kind != TreeNode::Kind::word) {
        refuse(at(item),
               fmt::format("{} is {}{}", field.name, item.describe(),
                           item.is_text() ? " in quotes" : ""),
               field.expected, "write the number as it is");
      }
      set_plan_field(at(item), plan, field, item.text);
      line = item.line;
    }
    check_plan({file_, line}, plan);
    return plan;
  }

  [[nodiscard]] SweepEntry entry(const TreeNode& node) const {
    if (node.kind != TreeNode::Kind::mapping) {
      refuse(at(node), fmt::format("{} as an entry of cases", node.describe()),
             "'- benchmark: NAME', then 'axes:' if wanted",
             node.is_text() ? fmt::format("write '- benchmark: {}'", one_line(node.text))
                            : std::string{"write it so"});
    }
    allow_keys(file_, node, "an entry of cases", {"benchmark", "axes"});
    const auto& name = need(node, "benchmark", "the name of one");
    if (!name.is_text()) {
      refuse(at(name), fmt::format("benchmark is {}", name.describe()), "the name of one",
             "write 'benchmark: NAME', one entry for each");
    }
    const auto& benchmark = known_benchmark(at(name), name.text, known_);
    SweepEntry entry{.benchmark = benchmark.name, .axes = {}};
    const auto* const axes = node.find("axes");
    if (axes == nullptr) return entry;
    if (axes->kind != TreeNode::Kind::mapping || axes->items.empty()) {
      refuse(at(*axes), fmt::format("axes is {}", axes->describe()),
             "axis names, each with its list of values",
             "leave 'axes' out to take every axis at its defaults");
    }
    for (const auto& item : axes->items) {
      const auto& axis = known_axis({file_, item.key_line}, item.key, benchmark);
      entry.axes.emplace_back(axis.name, values(axis, item));
    }
    return entry;
  }

  [[nodiscard]] Names values(const Axis& axis, const TreeNode& node) const {
    if (node.is_text()) {
      refuse(at(node),
             fmt::format("axis {} is the single value {}", axis.name, in_quotes(node.text)),
             "a list of values", fmt::format("write {}: [{}]", axis.name, one_line(node.text)));
    }
    const bool is_range = node.kind == TreeNode::Kind::mapping && !node.items.empty();
    if (is_range && axis.choices.empty()) return range(axis, node);
    if (node.kind != TreeNode::Kind::list || node.items.empty()) {
      refuse(at(node), fmt::format("axis {} is {}", axis.name, node.describe()), "a list of values",
             fmt::format("write {}: [{}], or leave it out for that default", axis.name,
                         joined(axis.defaults)));
    }
    std::vector<Written> written;
    for (const auto& item : node.items) {
      if (!item.is_text()) {
        refuse(at(item), fmt::format("{} among the values of axis {}", item.describe(), axis.name),
               axis.describe(), "list single values");
      }
      written.push_back({item.text, item.line});
    }
    return canonical_values(file_, axis, written);
  }

  /// The values of an axis of whole numbers that are given as a range, evenly spread by octaves.
  [[nodiscard]] Names range(const Axis& axis, const TreeNode& node) const {
    constexpr std::uint64_t most_number = std::uint64_t{1} << 60U;
    constexpr std::uint64_t most_per_octave = 64;
    allow_keys(file_, node, fmt::format("the range of axis {}", axis.name),
               {"from", "to", "per_octave", "multiple_of"});
    const auto whole = [&](const TreeNode& item, std::uint64_t most) {
      const auto value = item.kind == TreeNode::Kind::word ? whole_number(item.text) : std::nullopt;
      if (!value || *value < 1 || static_cast<std::uint64_t>(*value) > most) {
        refuse(at(item), fmt::format("{} is {}", item.key, item.describe()),
               fmt::format("a whole number from 1 to {}", most), "write the number as it is");
      }
      return static_cast<std::uint64_t>(*value);
    };
    const auto from = whole(need(node, "from", "the least value"), most_number);
    const auto to = whole(need(node, "to", "the largest value"), most_number);
    const auto per_octave =
        whole(need(node, "per_octave", "how many values from one to its double"), most_per_octave);
    const auto* const factor = node.find("multiple_of");
    const auto multiple = factor == nullptr ? 1 : whole(*factor, most_number);
    Names texts;  // must outlive `written`
    for (const auto number : octaves(from, to, static_cast<unsigned>(per_octave), multiple))
      texts.push_back(std::to_string(number));
    std::vector<Written> written;
    written.reserve(texts.size());
    for (const auto& text : texts)
      written.push_back({text, node.line});
    if (written.empty()) {
      refuse(at(node), fmt::format("the range of axis {} is empty", axis.name),
             "'from' no more than 'to', and a multiple of 'multiple_of' between them",
             "correct one of them");
    }
    return canonical_values(file_, axis, written);
  }

  std::string_view file_;
  std::span<const Enrolled> known_;
};

// --- the points ---

const Names& values_on(const Axis& axis, const SweepEntry& entry) {
  for (const auto& [name, values] : entry.axes) {
    if (name == axis.name) return values;
  }
  return axis.defaults;
}

/// For each axis, the place of the value in the axis's canonical order.
using Point = std::vector<long long>;

long long place_on(const Axis& axis, const std::string& value) {
  if (axis.canonical(value) != value) {
    throw std::invalid_argument{"axis " + axis.name + " has no value " + in_quotes(value)};
  }
  if (axis.choices.empty()) return whole_number(value).value();
  return std::ranges::find(axis.choices, value) - axis.choices.begin();
}

std::string value_at(const Axis& axis, long long place) {
  return axis.choices.empty() ? std::to_string(place)
                              : axis.choices[static_cast<std::size_t>(place)];
}

/// Adds every combination of the values of an entry.
void add_points(const Benchmark& benchmark, const SweepEntry& entry, std::set<Point>& points) {
  std::vector<Point> product{{}};
  for (const auto& axis : benchmark.axes) {
    std::vector<Point> longer;
    for (const auto& point : product) {
      for (const auto& value : values_on(axis, entry)) {
        longer.push_back(point);
        longer.back().push_back(place_on(axis, value));
      }
    }
    product = std::move(longer);
  }
  points.insert(product.begin(), product.end());
}

/// The number of combinations of an entry, or max_sweep_points + 1 for more.
std::size_t count_points(const Benchmark& benchmark, const SweepEntry& entry) {
  std::size_t count = 1;
  for (const auto& axis : benchmark.axes) {
    count = std::min(count * values_on(axis, entry).size(), max_sweep_points + 1);
  }
  return count;
}

}  // namespace

Sweep parse_sweep(std::string_view text, const std::string& file, std::span<const Enrolled> known) {
  auto sweep = Reader{file, known}.sweep(parse_yaml_tree(text, file, "sweep"));
  sweep.file = file;
  sweep.text = text;
  return sweep;
}

Sweep load_sweep(const std::string& name, std::span<const Enrolled> known) {
  std::error_code error;
  const auto status = std::filesystem::status(name, error);
  const bool is_folder = std::filesystem::is_directory(status);
  if (std::filesystem::exists(status) && !is_folder) {
    return parse_sweep(read_yaml_file(name, "sweep"), name, known);
  }
  Names names;
  for (const auto& [builtin, text] : builtin_sweeps()) {
    if (builtin == name) return parse_sweep(text, name, known);
    names.emplace_back(builtin);
  }
  const auto found = is_folder ? std::string{"a folder"}
                     : error   ? error.message()
                               : std::string{"no such file"};
  refuse({name.empty() ? std::string_view{"''"} : std::string_view{name}},
         fmt::format("tried it as a file: {}", found),
         fmt::format("a sweep file, or one of the built-in sweeps {}", joined(names)),
         did_you_mean(name, names, "give the path of a file that is there"));
}

void apply_setting(Sweep& sweep, std::string_view setting, std::span<const Enrolled> known) {
  const auto shown = "--set " + in_quotes(setting);
  const Place place{shown};
  const auto equals = setting.find('=');
  const auto left = setting.substr(0, equals);
  const auto dot = left.find('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos) {
    refuse(place, "no '.' or no '='", "BENCHMARK.AXIS=VALUE,… or plan.KEY=NUMBER",
           "write it like layout_read.warps_per_sm=1,2");
  }
  const auto owner = left.substr(0, dot);
  const auto key = left.substr(dot + 1);
  const auto right = setting.substr(equals + 1);

  if (owner == "plan") {
    Plan plan = sweep.plan;
    set_plan_field(place, plan, known_plan_field(place, key), right);
    check_plan(place, plan);
    sweep.plan = plan;
    return;
  }

  const auto& benchmark = known_benchmark(place, owner, known);
  const auto& axis = known_axis(place, key, benchmark);
  std::vector<Written> written;
  for (const auto value : split(right, ','))
    written.push_back({value});
  const auto values = canonical_values(shown, axis, written);

  bool found = false;
  for (auto& entry : sweep.entries) {
    if (entry.benchmark != benchmark.name) continue;
    found = true;
    std::erase_if(entry.axes, [&](const auto& named) { return named.first == axis.name; });
    entry.axes.emplace_back(axis.name, values);
  }
  if (found) return;
  refuse(place, fmt::format("sweep {} does not run {}", sweep.name, benchmark.name),
         "a benchmark of the sweep", "add an entry for it to a sweep file");
}

std::vector<Case> expand(const Sweep& sweep, Backend backend, std::span<const Enrolled> known) {
  std::map<std::string, std::set<Point>> points;  // by benchmark
  std::size_t asked = 0;
  for (const auto& entry : sweep.entries) {
    const auto* const enrolled = find(known, entry.benchmark);
    if (enrolled == nullptr)
      throw std::invalid_argument{"no benchmark " + in_quotes(entry.benchmark)};
    if (enrolled->body(backend) == nullptr) continue;
    asked += count_points(enrolled->benchmark, entry);
    if (asked > max_sweep_points) {
      refuse({sweep.file}, fmt::format("more than {} combinations of values", max_sweep_points),
             "a sweep that ends", "list fewer values or split the sweep");
    }
    add_points(enrolled->benchmark, entry, points[entry.benchmark]);
  }
  std::vector<Case> cases;
  for (const auto& [name, wanted] : points) {
    const auto& benchmark = find(known, name)->benchmark;
    for (const auto& point : wanted) {
      Params params;
      for (std::size_t a = 0; a < point.size(); ++a)
        params.emplace(benchmark.axes[a].name, value_at(benchmark.axes[a], point[a]));
      if (benchmark.excludes && benchmark.excludes(params, backend)) continue;
      cases.push_back({benchmark.suite, benchmark.name, backend, std::move(params)});
    }
  }
  return cases;
}

std::vector<Case> filter(std::vector<Case> cases, const std::string& expression) {
  const Expression wanted{"--filter", expression};
  std::erase_if(cases, [&](const Case& one) { return !wanted.found_in(one.id()); });
  return cases;
}

std::vector<std::string> wanted_counter_sets(std::span<const std::string> names,
                                             std::span<const Enrolled> known) {
  std::set<std::string> sets;
  for (const auto& one : known) {
    if (std::ranges::find(names, one.benchmark.name) == names.end()) continue;
    sets.insert(one.benchmark.counter_sets.begin(), one.benchmark.counter_sets.end());
  }
  return {sets.begin(), sets.end()};
}

std::vector<std::string> wanted_counter_sets(const Sweep& sweep, std::span<const Enrolled> known) {
  Names names;
  for (const auto& entry : sweep.entries)
    names.push_back(entry.benchmark);
  return wanted_counter_sets(names, known);
}

}  // namespace strata
