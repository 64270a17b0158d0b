#include "harness/case/refusal.hpp"

#include "harness/case/error.hpp"
#include "harness/case/text.hpp"

#include <fmt/format.h>

namespace strata {

void refuse(const Place& place, std::string_view found, std::string_view expected,
            std::string_view mend) {
  const auto where = one_line(place.name);
  const auto line = place.line == 0 ? std::string{} : fmt::format(":{}", place.line);
  throw UsageError{fmt::format("{}{}: {}; expected {}; {}", where, line, found, expected, mend)};
}

std::string did_you_mean(std::string_view word, std::span<const std::string> names,
                         std::string_view otherwise) {
  if (const auto near = nearest_name(word, names)) return fmt::format("did you mean '{}'?", *near);
  return std::string{otherwise};
}

}  // namespace strata
