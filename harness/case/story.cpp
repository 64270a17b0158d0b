#include "harness/case/story.hpp"

#include <map>
#include <utility>

namespace strata {
namespace {

struct Told {
  std::string_view order;
  std::vector<Story> stories;
};
/// Stories by suite, in the order in which they were added.
std::map<std::string, Told, std::less<>>& told() {
  static std::map<std::string, Told, std::less<>> all;
  return all;
}

}  // namespace

std::vector<Ladder> ladders() {
  std::vector<Ladder> all;
  for (const auto& [suite, ladder] : told()) {
    all.push_back({.suite = suite, .stories = ladder.stories});
    sort_as_listed(all.back().stories, ladder.order);
  }
  return all;
}

bool detail::tell(std::string_view suite, std::string_view order, Story story) {
  Told& ladder = told()[std::string{suite}];
  ladder.order = order;
  ladder.stories.push_back(std::move(story));
  return true;
}

}  // namespace strata
