// From a value that a case names to a template argument.
#pragma once

#include "harness/case/error.hpp"
#include "harness/model/layout.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace strata::nbody {

/// visit.operator()<n>() for the one of `choices` that is `wanted`. Throws Skipped for none.
template <unsigned first, unsigned... others, class Visit>
auto with_number(unsigned wanted, Visit&& visit) -> decltype(visit.template operator()<first>()) {
  if (wanted == first) return visit.template operator()<first>();
  if constexpr (sizeof...(others) > 0) return with_number<others...>(wanted, visit);
  throw Skipped{"this rung is not built for " + std::to_string(wanted)};
}

/// visit.operator()<L>() for the layout of that name. Throws Skipped for none.
template <class Visit>
auto with_layout_named(std::string_view name, Visit&& visit) {
  std::optional<decltype(visit.template operator()<Soaoas>())> result;
  with_layout(name, Posmass::name,
              [&]<class L, class>() { result = visit.template operator()<L>(); });
  if (!result) throw Skipped{"this rung has no layout '" + std::string{name} + "'"};
  return *std::move(result);
}

}  // namespace strata::nbody
