// Messages about bad input: one line with the place, what was found, what was expected, a remedy.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace strata {

/// A line of a file, or a flag or setting (which has no line).
struct Place {
  std::string_view name;
  std::size_t line = 0;
};

/// Throws UsageError "NAME:LINE: found; expected …; mend".
[[noreturn]] void refuse(const Place& place, std::string_view found, std::string_view expected,
                         std::string_view mend);

/// "did you mean 'NAME'?" where one of `names` is near `word`, else `otherwise`.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> names,
                                       std::string_view otherwise);

}  // namespace strata
