// How the rungs of a ladder are added, ordered and found. A ladder has a `Rung` type of its own,
// with the members of a Story and further ones; the functions here are called by its
// ladder.cpp, which knows the order. Host only.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/story.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strata {
namespace detail {

/// As they were added, in whatever order.
template <class Rung>
std::vector<Rung>& enrolled_rungs() {
  static std::vector<Rung> all;
  return all;
}

/// Adds a rung to its ladder and to the benchmarks, before main. `order`: ",serial,openmp,…,".
template <class Rung>
bool add_rung(std::string_view suite, std::string_view order, const Rung& rung,
              Benchmark (*declare)(), Body body) {
  enrolled_rungs<Rung>().push_back(rung);
  add_story(suite, order, story_of(rung));
  return enrol(declare, rung.backend, body);
}

/// What measures a rung. `make`: a Body; or what prepares the rung, which measure_rung of its
/// backend takes; or null, where a build lacks the code: every build knows every rung.
template <const auto& rung, auto make>
Body body_of() {
  using Make = std::remove_const_t<decltype(make)>;
  if constexpr (std::is_same_v<Make, Body> || std::is_null_pointer_v<Make>) {
    return make;
  } else {
    makers<Make>().emplace(rung.name, make);
    return [](Session& session) { measure_rung(session, rung, make); };
  }
}

/// add_to_ladder and declare_rung are those of the rung's ladder.
template <const auto& rung, auto make>
bool enrol_rung() {
  return add_to_ladder(
      rung, [] { return declare_rung(rung); }, body_of<rung, make>());
}

}  // namespace detail

/// All rungs of this type, as `order` lists their names.
template <class Rung>
[[nodiscard]] const std::vector<Rung>& rungs_in_order(std::string_view order) {
  static const std::vector<Rung> all = [order] {
    std::vector<Rung> rungs = detail::enrolled_rungs<Rung>();
    sort_as_listed(rungs, order);
    return rungs;
  }();
  return all;
}

/// Throws std::out_of_range for a name that no rung has.
template <class Rung>
[[nodiscard]] const Rung& rung_of(const std::vector<Rung>& ladder, std::string_view name) {
  const auto found = std::ranges::find(ladder, name, &Rung::name);
  if (found != ladder.end()) return *found;
  throw std::out_of_range{"there is no rung '" + std::string{name} + "'"};
}

}  // namespace strata

/// Registers a rung: its story, and what prepares it for its backend.
#define STRATA_RUNG(story, make)                            \
  [[maybe_unused]] static const bool strata_rung_enrolled = \
      ::strata::detail::enrol_rung<story, make>()
