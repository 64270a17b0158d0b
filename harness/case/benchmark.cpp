#include "harness/case/benchmark.hpp"

#include "harness/base/text.hpp"
#include "harness/case/controls.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

namespace strata {
namespace {

/// The registrations made before main; local, so that it exists before the first file enrols.
struct Registry {
  std::vector<detail::Enrolment> entries;
  std::vector<std::function<std::vector<detail::Enrolment>()>> lists;
  bool closed = false;  // the list was read: it can no longer change
};
Registry& registry() {
  static Registry all;
  return all;
}

[[noreturn]] void refuse_declaration(const Benchmark& benchmark, const std::string& what) {
  throw std::logic_error{"benchmark " + in_quotes(benchmark.name) + ": " + what};
}

void check_words(const Benchmark& benchmark, const std::string& what,
                 std::span<const std::string> words) {
  std::set<std::string_view> seen;
  for (const auto& word : words) {
    if (!is_canonical_word(word))
      refuse_declaration(benchmark, what + " has a bad name " + in_quotes(word));
    if (!seen.insert(word).second)
      refuse_declaration(benchmark, what + " has " + in_quotes(word) + " twice");
  }
}

/// Checks what case ids, sweeps and settings rely on.
void check(const Benchmark& benchmark) {
  if (!is_canonical_word(benchmark.suite) || !is_canonical_word(benchmark.name))
    refuse_declaration(benchmark, "its suite or name is not allowed in a case id");
  // --set reads "plan.KEY" as a key of the plan and cuts "BENCHMARK.AXIS" at the first dot.
  if (benchmark.name == "plan" || benchmark.name.find('.') != std::string::npos) {
    refuse_declaration(benchmark,
                       "its name is 'plan' or contains a dot, which --set could not distinguish");
  }
  std::vector<std::string> names;
  for (const auto& axis : benchmark.axes) {
    names.push_back(axis.name);
    const std::string what = "axis " + in_quotes(axis.name);
    check_words(benchmark, what, axis.choices);
    check_words(benchmark, what + " by default", axis.defaults);
    if (axis.choices.empty() && axis.minimum > axis.maximum)
      refuse_declaration(benchmark, what + " is empty");
    if (axis.defaults.empty()) refuse_declaration(benchmark, what + " has no defaults");
    for (const auto& value : axis.defaults) {
      if (axis.canonical(value) != value)
        refuse_declaration(benchmark, what + " does not include its default " + in_quotes(value));
    }
  }
  check_words(benchmark, "its list of axes", names);
}

/// The first field in which two declarations of one name differ, or empty.
std::string difference(const Benchmark& a, const Benchmark& b) {
  if (a.suite != b.suite) return "suite";
  if (a.question != b.question) return "question";
  if (a.axes != b.axes) return "axes";
  if (a.data_axes != b.data_axes) return "data_axes";
  if (a.quantities != b.quantities) return "quantities";
  if (a.seconds_per_case != b.seconds_per_case) return "seconds_per_case";
  if (!a.excludes != !b.excludes) return "excludes";
  return {};
}

}  // namespace

std::optional<std::string> Axis::canonical(std::string_view text) const {
  if (!choices.empty()) {
    const auto found = std::ranges::find(choices, text);
    return found == choices.end() ? std::nullopt : std::optional{*found};
  }
  const auto number = whole_number(text);
  if (!number || *number < minimum || *number > maximum) return std::nullopt;
  return std::string{text};
}

std::string Axis::describe() const {
  if (!choices.empty()) return joined(choices);
  return "an integer from " + std::to_string(minimum) + " to " + std::to_string(maximum);
}

const Axis* Benchmark::axis(std::string_view axis_name) const {
  const auto found = std::ranges::find(axes, axis_name, &Axis::name);
  return found == axes.end() ? nullptr : &*found;
}

const std::vector<Enrolled>& benchmarks() {
  static const std::vector<Enrolled> some = [] {
    std::vector<Enrolled> chosen = benchmarks_and_controls();
    std::erase_if(chosen,
                  [](const Enrolled& one) { return one.benchmark.suite == controls_suite; });
    return chosen;
  }();
  return some;
}

const std::vector<Enrolled>& benchmarks_and_controls() {
  static const std::vector<Enrolled> all = [] {
    registry().closed = true;
    std::vector<detail::Enrolment> entries = registry().entries;
    for (const auto& list : registry().lists)
      std::ranges::move(list(), std::back_inserter(entries));
    return detail::merge(entries);
  }();
  return all;
}

const Enrolled* find_benchmark(std::string_view name, std::span<const Enrolled> known) {
  const auto found =
      std::ranges::find_if(known, [&](const Enrolled& one) { return one.benchmark.name == name; });
  return found == known.end() ? nullptr : &*found;
}

namespace detail {

bool enrol(Benchmark (*declare)(), Backend backend, Body body, Description describe) {
  // `declare` is not called yet, because static objects that it uses may not be initialised.
  if (registry().closed)
    throw std::logic_error{"a benchmark was registered after the list was read"};
  registry().entries.push_back({declare, backend, body, describe});
  return true;
}

bool enrol_all(std::function<std::vector<Enrolment>()> list) {
  registry().lists.push_back(std::move(list));
  return true;
}

std::vector<Enrolled> merge(const std::vector<Enrolment>& entries) {
  std::map<std::string, Enrolled> by_name;
  for (const auto& [declare, backend, body, describe] : entries) {
    const auto declared = declare();
    check(declared);
    auto& enrolled = by_name.try_emplace(declared.name, Enrolled{declared}).first->second;
    if (const auto field = difference(enrolled.benchmark, declared); !field.empty())
      refuse_declaration(declared, "its declarations differ in '" + field + "'");
    if (describe != nullptr) enrolled.describe = describe;
    if (body == nullptr) continue;  // only a declaration
    auto& slot = backend == Backend::cuda ? enrolled.cuda : enrolled.host;
    if (slot != nullptr)
      refuse_declaration(declared, "registered twice for " + std::string{to_string(backend)});
    slot = body;
  }
  std::vector<Enrolled> all;
  all.reserve(by_name.size());
  for (auto& [name, enrolled] : by_name)
    all.push_back(std::move(enrolled));
  return all;
}

}  // namespace detail
}  // namespace strata
