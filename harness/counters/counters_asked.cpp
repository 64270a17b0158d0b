#include "harness/counters/counters_asked.hpp"

#include "harness/case/error.hpp"
#include "harness/case/text.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    for (const auto name : split(flag, ',')) {
      if (name.empty()) {
        throw UsageError{
            fmt::format("--counters {}: an empty name; {}", in_quotes(flag), expected)};
      }
      if (std::ranges::find(asked, name) != asked.end()) {
        throw UsageError{fmt::format("--counters {}: named twice", in_quotes(name))};
      }
      asked.emplace_back(name);
    }
  }
  for (const char* alone : {counters_auto, counters_none}) {
    if (asked.size() > 1 && std::ranges::find(asked, alone) != asked.end()) {
      throw UsageError{
          fmt::format("--counters: {} cannot be combined with others; {}", alone, expected)};
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

}  // namespace strata
