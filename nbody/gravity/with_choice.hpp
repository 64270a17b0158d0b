// From a number that a case names to a number that a template can have.
#pragma once

#include "harness/case/error.hpp"
#include "harness/model/layout.hpp"

#include <string>
#include <string_view>

namespace strata::nbody {

/// Calls visit.operator()<n>() for the one of `choices` that is `wanted`. Throws Skipped for none.
template <unsigned... choices, class Visit>
void with_number(unsigned wanted, Visit&& visit) {
  const bool found =
      ((choices == wanted ? (visit.template operator()<choices>(), true) : false) || ...);
  if (!found) throw Skipped{"this rung is not built for " + std::to_string(wanted)};
}

/// Calls visit.operator()<L>() for the layout of that name. Throws Skipped for none.
template <class Visit>
void with_layout_named(std::string_view name, Visit&& visit) {
  const bool found =
      with_layout(name, Posmass::name, [&]<class L, class>() { visit.template operator()<L>(); });
  if (!found) throw Skipped{"this rung has no layout '" + std::string{name} + "'"};
}

}  // namespace strata::nbody
