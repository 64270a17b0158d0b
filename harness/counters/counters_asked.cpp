#include "harness/counters/counters_asked.hpp"

#include "harness/case/error.hpp"
#include "harness/case/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

namespace strata {

std::vector<std::string> parse_counters(const std::vector<std::string>& flags) {
  constexpr std::string_view expected =
      "expected auto, none, or names of counter sets, files of sets (*.yaml) and metrics, joined "
      "by "
      "commas; strata counters lists the sets";
  if (flags.empty()) return {counters_auto};
  std::vector<std::string> asked;
  for (const std::string_view flag : flags) {
    for (std::size_t start = 0; start <= flag.size();) {
      const std::size_t end = std::min(flag.find(',', start), flag.size());
      std::string name{flag.substr(start, end - start)};
      if (name.empty()) {
        throw UsageError{
            fmt::format("--counters {}: an empty name; {}", in_quotes(flag), expected)};
      }
      if (std::ranges::find(asked, name) != asked.end()) {
        throw UsageError{fmt::format("--counters {}: named twice", in_quotes(name))};
      }
      asked.push_back(std::move(name));
      start = end + 1;
    }
  }
  for (const char* alone : {counters_auto, counters_none}) {
    if (asked.size() > 1 && std::ranges::find(asked, alone) != asked.end()) {
      throw UsageError{fmt::format("--counters: {} stands alone; {}", alone, expected)};
    }
  }
  return asked;
}

CounterSelection selection_of(const std::vector<std::string>& asked,
                              std::span<const std::string> wanted) {
  if (asked == std::vector<std::string>{counters_none}) return {};
  if (asked != std::vector<std::string>{counters_auto}) return {.wanted = asked};
  CounterSelection selection{.wanted = {"memory"}, .by_benchmark = true};
  selection.wanted.insert(selection.wanted.end(), wanted.begin(), wanted.end());
  return selection;
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

}  // namespace strata
