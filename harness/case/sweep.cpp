#include "harness/case/sweep.hpp"

#include "harness/base/text.hpp"
#include "harness/base/yaml_tree.hpp"
#include "harness/case/builtin_files.hpp"
#include "harness/case/octaves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>

namespace strata {
namespace {

constexpr int schema = 1;

using Names = std::vector<std::string>;

// --- names and values ---

/// The element of `all` that is called `name`. Throws UsageError "`no_such` 'NAME'" followed by the
/// available names; `none` replaces an empty list.
template <class All, class NameOf>
const auto& known_name(const Place& place, std::string_view name, const All& all, NameOf name_of,
                       std::string_view no_such, std::string_view none,
                       std::string_view otherwise) {
  const auto found = std::ranges::find(all, name, name_of);
  if (found != all.end()) return *found;
  Names names;
  std::ranges::transform(all, std::back_inserter(names),
                         [&](const auto& one) { return std::string{std::invoke(name_of, one)}; });
  // Before the names, of which there may be a hundred.
  const auto near = nearest_name(name, names);
  refuse(place,
         fmt::format("{} {}{}", no_such, in_quotes(name),
                     near ? fmt::format(" (did you mean '{}'?)", *near) : ""),
         names.empty() ? std::string{none} : fmt::format("one of {}", joined(names)), otherwise);
}

const Benchmark& known_benchmark(const Place& place, std::string_view name,
                                 std::span<const Enrolled> known) {
  return known_name(
             place, name, known,
             [](const Enrolled& one) -> const std::string& { return one.benchmark.name; },
             "no benchmark", "one, but this executable has none", "'strata list' shows them")
      .benchmark;
}

const Axis& known_axis(const Place& place, std::string_view name, const Benchmark& benchmark) {
  return known_name(place, name, benchmark.axes, &Axis::name,
                    fmt::format("benchmark {} has no axis", benchmark.name), "no axes",
                    "remove it or correct its name");
}

/// The canonical form of "08", "+8", "8.0" or "0x8" on an axis of whole numbers.
std::optional<std::string> meant_number(const Axis& axis, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);  // reads all of these spellings
  constexpr double exact = 1e15;
  if (text.empty() || end != text.c_str() + text.size() || !(std::abs(number) < exact)) return {};
  if (number != std::trunc(number)) return {};
  return axis.canonical(std::to_string(static_cast<long long>(number)));
}

/// The canonical values of `written`, all different.
Names canonical_values(const Axis& axis, std::span<const TreeNode> written) {
  const bool any_number = axis.choices.empty();
  Names values;
  std::set<std::string, std::less<>> seen;
  for (const auto& one : written) {
    const Place& place = one.place;
    if (!one.is_text()) {
      refuse(place, fmt::format("{} among the values of axis {}", one.describe(), axis.name),
             axis.describe(), "list single values");
    }
    const auto value = axis.canonical(one.text);
    if (!value) {
      const auto meant = any_number ? meant_number(axis, one.text) : std::nullopt;
      refuse(place, fmt::format("axis {} has no value {}", axis.name, in_quotes(one.text)),
             any_number ? axis.describe() : fmt::format("one of {}", axis.describe()),
             meant ? fmt::format("write {}", *meant)
                   : did_you_mean(one.text, axis.choices, "correct or remove it"));
    }
    if (!seen.insert(*value).second) {
      refuse(place, fmt::format("axis {} has {} twice", axis.name, in_quotes(*value)),
             "each value once", "remove one of them");
    }
    values.push_back(*value);
  }
  return values;
}

/// One number of the plan.
struct PlanField {
  std::string_view name;
  std::variant<int Plan::*, double Plan::*> member;
  double least;  // of a whole number; a real one must be above it
  double most;
  std::string_view expected;
};

constexpr double just_below_one = 1 - std::numeric_limits<double>::epsilon() / 2;
constexpr std::string_view some_seconds = "a number of seconds above 0 and up to 86400";
// The limits keep a typing error from requesting a year; 6 samples are the fewest with a 95 %
// interval of the median.
constexpr std::array<PlanField, 7> plan_fields{
    {{"warmups", &Plan::warmups, 0, 1000, "an integer from 0 to 1000"},
     {"min_samples", &Plan::min_samples, 6, 100000, "an integer from 6 to 100000"},
     {"max_samples", &Plan::max_samples, 6, 100000, "an integer from 6 to 100000"},
     {"relative_half_width", &Plan::relative_half_width, 0, just_below_one,
      "a number above 0 and below 1"},
     {"seconds_per_case", &Plan::seconds_per_case, 0, 86400, some_seconds},
     {"time_limit", &Plan::time_limit, 0, 86400, some_seconds},
     {"visits", &Plan::visits, 1, 100, "an integer from 1 to 100"}}};

const PlanField& known_plan_field(const Place& place, std::string_view key) {
  return known_name(place, key, plan_fields, &PlanField::name, "plan has no key", "",
                    "remove it or correct its name");
}

bool is_in_range(const PlanField& field, double number) {
  const bool is_whole = std::holds_alternative<int Plan::*>(field.member);
  // Written so that NaN is refused too.
  return (is_whole ? number >= field.least : number > field.least) && number <= field.most;
}

void set_plan_field(const Place& place, Plan& plan, const PlanField& field, std::string_view text) {
  if (const auto* const whole = std::get_if<int Plan::*>(&field.member)) {
    const auto number = whole_number(text);
    if (number && is_in_range(field, static_cast<double>(*number))) {
      plan.** whole = static_cast<int>(*number);
      return;
    }
  } else {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc{} && stop == end && is_in_range(field, number)) {
      plan.*std::get<double Plan::*>(field.member) = number;
      return;
    }
  }
  refuse(place, fmt::format("{} is {}", field.name, in_quotes(text)), field.expected,
         "correct it or omit it");
}

/// Checks the numbers of a plan for consistency.
void check_plan(const Place& place, const Plan& plan) {
  if (plan.max_samples < plan.min_samples) {
    refuse(
        place,
        fmt::format("max_samples {} is below min_samples {}", plan.max_samples, plan.min_samples),
        "max_samples of at least min_samples", "raise max_samples or lower min_samples");
  }
  if (plan.time_limit <= plan.seconds_per_case) {
    refuse(place,
           fmt::format("time_limit {} is not longer than seconds_per_case {}", plan.time_limit,
                       plan.seconds_per_case),
           "a time_limit that leaves room for sampling", "raise time_limit");
  }
}

// --- the file ---

using Kind = TreeNode::Kind;

Plan read_plan(const TreeNode& node) {
  Plan plan;
  for (const auto& item : node.filled(Kind::mapping, "plan", "keys with numbers",
                                      "write plan: {min_samples: 7} or omit it")) {
    const auto& field = known_plan_field(item.key_place, item.key);
    if (item.kind != Kind::word) {
      refuse(item.place,
             fmt::format("{} is {}{}", field.name, item.describe(),
                         item.is_text() ? " in quotes" : ""),
             field.expected, "write the number without quotes");
    }
    set_plan_field(item.place, plan, field, item.text);
  }
  check_plan(node.items.back().place, plan);
  return plan;
}

/// What the values of a sweep are checked against.
struct Known {
  std::span<const Enrolled> benchmarks;
  std::uint64_t last_level_bytes = 0;  ///< of the CPU; 0 if unknown
};

/// The values of an axis of whole numbers given as a range, evenly spaced by octaves.
Names read_range(const Axis& axis, const TreeNode& node, std::uint64_t last_level_bytes) {
  constexpr std::uint64_t most_number = std::uint64_t{1} << 60U;
  constexpr std::uint64_t most_per_octave = 64;
  node.allow_keys(fmt::format("the range of axis {}", axis.name),
                  {"from", "to", "to_caches", "per_octave", "multiple_of"});
  const auto whole = [](const TreeNode& item, std::uint64_t most) {
    const auto value = item.kind == Kind::word ? whole_number(item.text) : std::nullopt;
    if (!value || *value < 1 || static_cast<std::uint64_t>(*value) > most) {
      item.refuse_as(item.key, fmt::format("an integer from 1 to {}", most),
                     "write the number without quotes");
    }
    return static_cast<std::uint64_t>(*value);
  };
  const auto from = whole(node.need("from", "the smallest value"), most_number);
  auto to = whole(node.need("to", "the largest value"), most_number);
  if (const auto* const caches = node.find("to_caches")) {
    constexpr std::uint64_t most_caches = 64;
    const std::uint64_t beyond = whole(*caches, most_caches) * last_level_bytes;
    to = std::max(to, std::min(std::bit_ceil(std::min(beyond, most_number)),
                               static_cast<std::uint64_t>(axis.maximum)));
  }
  const auto per_octave = whole(node.need("per_octave", "values per octave"), most_per_octave);
  const auto* const factor = node.find("multiple_of");
  const auto multiple = factor == nullptr ? 1 : whole(*factor, most_number);
  std::vector<TreeNode> values;
  for (const auto& number :
       texts_of(octaves(from, to, static_cast<unsigned>(per_octave), multiple)))
    values.push_back({.kind = Kind::word, .place = node.place, .text = number});
  if (values.empty()) {
    refuse(node.place, fmt::format("the range of axis {} is empty", axis.name),
           "'from' of at most 'to', and a multiple of 'multiple_of' between them",
           "correct one of them");
  }
  return canonical_values(axis, values);
}

Names read_values(const Axis& axis, const TreeNode& node, std::uint64_t last_level_bytes) {
  if (node.is_text()) {
    refuse(node.place,
           fmt::format("axis {} is the single value {}", axis.name, in_quotes(node.text)),
           "a list of values", fmt::format("write {}: [{}]", axis.name, one_line(node.text)));
  }
  const bool is_range = node.kind == Kind::mapping && !node.items.empty();
  if (is_range && axis.choices.empty()) return read_range(axis, node, last_level_bytes);
  return canonical_values(
      axis, node.filled(Kind::list, "axis " + axis.name, "a list of values",
                        fmt::format("write {}: [{}], or omit it for that default", axis.name,
                                    joined(axis.defaults))));
}

SweepEntry read_entry(const TreeNode& node, const Known& known) {
  if (node.kind != Kind::mapping) {
    refuse(node.place, fmt::format("{} as an entry of cases", node.describe()),
           "'- benchmark: NAME', optionally followed by 'axes:'",
           node.is_text() ? fmt::format("write '- benchmark: {}'", one_line(node.text))
                          : std::string{"write it like that"});
  }
  node.allow_keys("an entry of cases", {"benchmark", "axes"});
  const auto& name = node.need("benchmark", "the name of a benchmark");
  if (!name.is_text()) {
    name.refuse_as("benchmark", "the name of a benchmark",
                   "write 'benchmark: NAME', one entry for each");
  }
  const auto& benchmark = known_benchmark(name.place, name.text, known.benchmarks);
  SweepEntry entry{.benchmark = benchmark.name, .axes = {}};
  const auto* const axes = node.find("axes");
  if (axes == nullptr) return entry;
  for (const auto& item :
       axes->filled(Kind::mapping, "axes", "axis names, each with its list of values",
                    "omit 'axes' to take the defaults of every axis")) {
    const auto& axis = known_axis(item.key_place, item.key, benchmark);
    entry.axes.emplace_back(axis.name, read_values(axis, item, known.last_level_bytes));
  }
  return entry;
}

// --- the points ---

const Names& values_on(const Axis& axis, const SweepEntry& entry) {
  for (const auto& [name, values] : entry.axes) {
    if (name == axis.name) return values;
  }
  return axis.defaults;
}

/// For each axis, the index of the value in the axis's canonical order.
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

Params params_at(const Benchmark& benchmark, const Point& point) {
  Params params;
  for (std::size_t a = 0; a < point.size(); ++a)
    params.emplace(benchmark.axes[a].name, value_at(benchmark.axes[a], point[a]));
  return params;
}

/// Why the parameters are not a case; empty if they are one.
std::optional<std::string> why_excluded(const Benchmark& benchmark, const Params& params,
                                        Backend backend) {
  return benchmark.excludes ? benchmark.excludes(params, backend) : std::nullopt;
}

/// Adds every combination of an entry's values.
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

}  // namespace

Sweep parse_sweep(std::string_view text, const std::string& file, std::span<const Enrolled> known,
                  std::uint64_t last_level_bytes) {
  const auto root = parse_yaml_tree(text, file, "sweep");
  root.check_root("a sweep", {"schema", "name", "plan", "cases"}, schema);
  Sweep sweep{.file = file, .text = std::string{text}};
  constexpr std::size_t longest = 64;
  constexpr std::string_view name_is = "1 to 64 letters, digits, '.', '_', '+' or '-'";
  const auto& name = root.need("name", name_is);
  if (!name.is_text() || !is_canonical_word(name.text) || name.text.size() > longest)
    name.refuse_as("name", name_is, "change the name");
  sweep.name = name.text;
  if (const auto* const plan = root.find("plan")) sweep.plan = read_plan(*plan);
  constexpr std::string_view cases_are = "a list of entries '- benchmark: NAME'";
  for (const auto& item :
       root.need("cases", cases_are)
           .filled(Kind::list, "cases", cases_are, "add at least one, each with its '- '"))
    sweep.entries.push_back(read_entry(item, {known, last_level_bytes}));
  return sweep;
}

Sweep load_sweep(const std::string& name, std::span<const Enrolled> known,
                 std::uint64_t last_level_bytes) {
  std::error_code error;
  const auto status = std::filesystem::status(name, error);
  const bool is_folder = std::filesystem::is_directory(status);
  if (std::filesystem::exists(status) && !is_folder) {
    return parse_sweep(read_yaml_file(name, "sweep"), name, known, last_level_bytes);
  }
  Names names;
  for (const auto& [builtin, text] : builtin_sweeps()) {
    if (builtin == name) return parse_sweep(text, name, known, last_level_bytes);
    names.emplace_back(builtin);
  }
  const auto found = is_folder ? std::string{"a folder"}
                     : error   ? error.message()
                               : std::string{"no such file"};
  refuse({name.empty() ? std::string_view{"''"} : std::string_view{name}},
         fmt::format("tried it as a file: {}", found),
         fmt::format("a sweep file, or one of the built-in sweeps {}", joined(names)),
         did_you_mean(name, names, "give the path of an existing file"));
}

namespace {

/// One `--set`. The numbers of the plan are checked later.
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
    set_plan_field(place, sweep.plan, known_plan_field(place, key), right);
    return;
  }

  const auto& benchmark = known_benchmark(place, owner, known);
  const auto& axis = known_axis(place, key, benchmark);
  std::vector<TreeNode> written;
  for (const auto value : split(right, ','))
    written.push_back({.kind = Kind::word, .place = place, .text = std::string{value}});
  const auto values = canonical_values(axis, written);

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

}  // namespace

void apply_settings(Sweep& sweep, const std::vector<std::string>& settings,
                    std::span<const Enrolled> known) {
  Sweep set = sweep;
  std::string of_plan;
  for (const auto& setting : settings) {
    apply_setting(set, setting, known);
    if (setting.starts_with("plan.")) of_plan = "--set " + in_quotes(setting);
  }
  if (!of_plan.empty()) check_plan({of_plan}, set.plan);
  sweep = std::move(set);
}

namespace {

/// The combinations of values of each benchmark with a body for the backend, excluded ones
/// included.
std::map<std::string, std::set<Point>> points_of(const Sweep& sweep, Backend backend,
                                                 std::span<const Enrolled> known) {
  std::map<std::string, std::set<Point>> points;
  std::size_t points_in_all = 0;
  for (const auto& entry : sweep.entries) {
    const auto* const enrolled = find_benchmark(entry.benchmark, known);
    if (enrolled == nullptr)
      throw std::invalid_argument{"no benchmark " + in_quotes(entry.benchmark)};
    if (enrolled->body(backend) == nullptr) continue;
    std::size_t points_of_entry = 1;
    for (const auto& axis : enrolled->benchmark.axes)
      points_of_entry =
          std::min(points_of_entry * values_on(axis, entry).size(), max_sweep_points + 1);
    points_in_all += points_of_entry;
    if (points_in_all > max_sweep_points) {
      refuse({sweep.file}, fmt::format("more than {} combinations of values", max_sweep_points),
             "a finite sweep", "list fewer values or split the sweep");
    }
    add_points(enrolled->benchmark, entry, points[entry.benchmark]);
  }
  return points;
}

/// How often each reason excluded a combination.
using Reasons = std::map<std::string, std::size_t>;

/// The most frequent: other rules may exclude some combinations of a dropped value as well.
std::string main_reason(const Reasons& reasons) {
  return std::ranges::max_element(reasons, {}, &Reasons::value_type::second)->first;
}

/// A value: the index of its axis, and its place on it.
using ValuePlace = std::pair<std::size_t, long long>;

/// The values that the sweep names for axes of a benchmark.
std::set<ValuePlace> named_values(const Sweep& sweep, const Benchmark& benchmark) {
  std::set<ValuePlace> named;
  for (const auto& entry : sweep.entries) {
    if (entry.benchmark != benchmark.name) continue;
    for (const auto& [name, values] : entry.axes) {
      const auto axis = std::ranges::find(benchmark.axes, name, &Axis::name);
      for (const auto& value : values)
        named.emplace(axis - benchmark.axes.begin(), place_on(*axis, value));
    }
  }
  return named;
}

void add_dropped(const Benchmark& benchmark, const std::set<Point>& points, Backend backend,
                 std::set<ValuePlace> named, std::vector<DroppedItem>& dropped) {
  bool runs = false;
  Reasons reasons;
  std::map<ValuePlace, Reasons> reasons_of_value;
  for (const auto& point : points) {
    const auto why = why_excluded(benchmark, params_at(benchmark, point), backend);
    runs = runs || !why;
    if (why) ++reasons[*why];
    for (std::size_t axis = 0; axis < point.size(); ++axis) {
      const ValuePlace value{axis, point[axis]};
      if (why) {
        ++reasons_of_value[value][*why];
      } else {
        named.erase(value);
      }
    }
  }
  if (!runs) {
    dropped.push_back({benchmark.name, main_reason(reasons)});
    return;
  }
  for (const auto& value : named) {
    const Axis& axis = benchmark.axes[value.first];
    dropped.push_back(
        {fmt::format("{}.{}={}", benchmark.name, axis.name, value_at(axis, value.second)),
         main_reason(reasons_of_value.at(value))});
  }
}

}  // namespace

std::vector<Case> expand(const Sweep& sweep, Backend backend, std::span<const Enrolled> known) {
  std::vector<Case> cases;
  for (const auto& [name, points] : points_of(sweep, backend, known)) {
    const auto& benchmark = find_benchmark(name, known)->benchmark;
    for (const auto& point : points) {
      Params params = params_at(benchmark, point);
      if (why_excluded(benchmark, params, backend)) continue;
      cases.push_back({benchmark.suite, benchmark.name, backend, std::move(params)});
    }
  }
  return cases;
}

std::vector<DroppedItem> dropped_items(const Sweep& sweep, Backend backend,
                                       std::span<const Enrolled> known) {
  const auto points = points_of(sweep, backend, known);
  std::set<std::string> names;
  std::ranges::transform(sweep.entries, std::inserter(names, names.end()), &SweepEntry::benchmark);
  std::vector<DroppedItem> dropped;
  for (const auto& name : names) {
    const auto& benchmark = find_benchmark(name, known)->benchmark;
    if (const auto found = points.find(name); found != points.end()) {
      add_dropped(benchmark, found->second, backend, named_values(sweep, benchmark), dropped);
    } else {
      dropped.push_back(
          {name, backend == Backend::host ? "it runs on GPUs only" : "it runs on CPUs only"});
    }
  }
  return dropped;
}

bool is_builtin(const Sweep& sweep) {
  const auto all = builtin_sweeps();
  return std::ranges::find(all, std::string_view{sweep.text}, &NamedText::second) != all.end();
}

void check_recorded(std::string_view place, const std::vector<Case>& cases, const Plan& plan,
                    Backend backend, std::span<const Enrolled> known) {
  constexpr std::string_view mend = "start a new run";
  for (const auto& field : plan_fields) {
    const double number = std::visit(
        [&](const auto& member) { return static_cast<double>(plan.*member); }, field.member);
    if (!is_in_range(field, number))
      refuse({place}, fmt::format("{} of its plan is {}", field.name, number), field.expected,
             mend);
  }
  check_plan({place}, plan);
  for (const auto& which : cases) {
    const auto refuse_case = [&](const std::string& why, std::string_view expected) {
      refuse({place}, fmt::format("its case {}: {}", one_line(which.id()), why), expected, mend);
    };
    const auto* const enrolled = find_benchmark(which.benchmark, known);
    if (enrolled == nullptr || enrolled->benchmark.suite != which.suite)
      refuse_case("no such benchmark", "benchmarks that strata list shows");
    if (which.backend != backend)
      refuse_case("not of the backend of the run", fmt::format("{} cases", to_string(backend)));
    const Benchmark& benchmark = enrolled->benchmark;
    const bool has_all_axes =
        which.params.size() == benchmark.axes.size() &&
        std::ranges::all_of(benchmark.axes, [&](const Axis& axis) {
          const auto value = which.params.find(axis.name);
          return value != which.params.end() && axis.canonical(value->second) == value->second;
        });
    if (!has_all_axes) refuse_case("wrong parameters", "a value of each axis of the benchmark");
    if (const auto why = why_excluded(benchmark, which.params, backend))
      refuse_case(*why, "a case of the benchmark");
  }
}

std::vector<Case> filter(std::vector<Case> cases, const std::string& expression) {
  const auto matches = matcher("--filter", expression);
  std::erase_if(cases, [&](const Case& one) { return !matches(one.id()); });
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
