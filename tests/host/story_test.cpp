// The stories of ladders, in whatever order their rungs were added.
#include "harness/case/story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace strata {
namespace {

std::vector<std::string> names_of(const std::vector<Story>& stories) {
  std::vector<std::string> names;
  for (const Story& story : stories)
    names.push_back(story.name);
  return names;
}

TEST(Stories, StandInTheOrderOfTheirLadderAndThoseItDoesNotNameComeLast) {
  constexpr std::string_view order = ",b,ab,a,";
  for (const char* name : {"a", "other", "ab", "b"}) {
    detail::add_story("stories_test", order, {.name = name});
  }
  const std::vector<Ladder> all = ladders();
  const auto found = std::ranges::find(all, "stories_test", &Ladder::suite);
  ASSERT_NE(found, all.end());
  EXPECT_EQ(names_of(found->stories), (std::vector<std::string>{"b", "ab", "a", "other"}));
}

TEST(Stories, AreToldOfEveryLadderBySuite) {
  const std::vector<Ladder> all = ladders();
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Ladder::suite));
  const auto found = std::ranges::find(all, "neighbours", &Ladder::suite);
  ASSERT_NE(found, all.end());
  ASSERT_FALSE(found->stories.empty());
  for (const Story& story : found->stories) {
    EXPECT_THAT(story.name, testing::StartsWith("neighbours_"));
    for (const std::string& text : {story.question, story.change, story.source, story.expectation})
      EXPECT_FALSE(text.empty()) << story.name;
    // A rung changes one that comes before it.
    const auto names = names_of(found->stories);
    const auto at = [&](const std::string& name) { return std::ranges::find(names, name); };
    EXPECT_TRUE(story.before.empty() || at(story.before) < at(story.name)) << story.name;
  }
}

}  // namespace
}  // namespace strata
