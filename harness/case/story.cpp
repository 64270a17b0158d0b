#include "harness/case/story.hpp"

#include <map>
#include <utility>

namespace strata {
namespace {

struct AddedStories {
  std::string_view order;
  std::vector<Story> stories;
};
/// Stories by suite, in the order in which they were added.
std::map<std::string, AddedStories, std::less<>>& stories_by_suite() {
  static std::map<std::string, AddedStories, std::less<>> all;
  return all;
}

}  // namespace

std::vector<Ladder> ladders() {
  std::vector<Ladder> all;
  for (const auto& [suite, ladder] : stories_by_suite()) {
    all.push_back({.suite = suite, .stories = ladder.stories});
    sort_as_listed(all.back().stories, ladder.order);
  }
  return all;
}

bool detail::add_story(std::string_view suite, std::string_view order, Story story) {
  AddedStories& ladder = stories_by_suite()[std::string{suite}];
  ladder.order = order;
  ladder.stories.push_back(std::move(story));
  return true;
}

}  // namespace strata
