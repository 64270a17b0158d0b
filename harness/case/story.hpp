// Stories of ladders. A ladder is a chain of benchmarks with one reference, each of which changes
// one thing of the one before it; every suite may have one. Host only.
#pragma once

#include "harness/case/case.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// The story of a rung.
struct Story {
  std::string name;  ///< of the rung and its benchmark
  Backend backend = Backend::host;
  std::string before;       ///< the rung that it changes; empty for the first of a backend
  std::string question;     ///< that it answers
  std::string change;       ///< the one thing that is new
  std::string source;       ///< first publication
  std::string expectation;  ///< of its effect, and of its counts
  bool operator==(const Story&) const = default;
};

/// The story of a rung, without its other members.
template <class Rung>
[[nodiscard]] Story story_of(const Rung& rung) {
  return {.name = rung.name,
          .backend = rung.backend,
          .before = rung.before,
          .question = rung.question,
          .change = rung.change,
          .source = rung.source,
          .expectation = rung.expectation};
}

/// A work that several rungs follow; call it with the place in the work.
struct Source {
  const char* work;
  [[nodiscard]] std::string operator()(const char* place) const {
    return std::string{work} + ", " + place;
  }
};

struct Ladder {
  std::string suite;
  std::vector<Story> stories;  ///< in the order of the ladder
};
/// Every ladder of this executable, by suite.
[[nodiscard]] std::vector<Ladder> ladders();

/// Sorts rungs, or stories, as `order` (",serial,openmp,…,") lists their names; those that it does
/// not name come last.
template <class Rungs>
void sort_as_listed(Rungs& rungs, std::string_view order) {
  std::ranges::stable_sort(rungs, {},
                           [&](const auto& rung) { return order.find("," + rung.name + ","); });
}

/// The functions that prepare the rungs of this executable, by rung name: one map per type of
/// function, which each ladder and backend has separately.
template <class Make>
[[nodiscard]] std::map<std::string, Make, std::less<>>& makers() {
  static std::map<std::string, Make, std::less<>> all;
  return all;
}

namespace detail {

/// Adds a story to the ladder of `suite`, before main. `order` lists the names of all its rungs.
bool add_story(std::string_view suite, std::string_view order, Story story);

}  // namespace detail
}  // namespace strata
