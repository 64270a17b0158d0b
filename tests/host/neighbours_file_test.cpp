// Files of agents: what is written comes back, and whatever is not as described is refused.
#include "harness/base/error.hpp"
#include "nbody/neighbours/reference/agent_file.hpp"
#include "tests/host/dataset_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace strata::neighbours {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t header_bytes = 96;

AgentData data_of(Kind kind, std::uint32_t agents = 5) {
  Problem problem{.kind = kind, .agents = agents, .seed = 0x1122334455667788};
  problem.radius_squared = usual_radius_squared(kind);
  problem.world = usual_world(kind, agents);
  return {.problem = problem, .agents = generate(problem), .neighbours = std::nullopt};
}

class AgentFile : public DatasetFiles {
 protected:
  static std::string refusal(const path& file) { return refusal_of(read_agents, file); }
};

TEST_F(AgentFile, GivesBackWhatWasWritten) {
  for (const Kind kind : {Kind::boids, Kind::circles, Kind::list}) {
    AgentData data = data_of(kind, 300);
    write_agents(good_, data, Existing::replace);
    EXPECT_EQ(read_agents(good_), data);
    data = with_neighbours(data);
    EXPECT_FALSE(kind != Kind::boids && data.neighbours->ids.empty());
    write_agents(good_, data, Existing::replace);
    EXPECT_EQ(read_agents(good_), data);
  }
}

// The words of the description, by hand: another program must be able to write such a file.
TEST_F(AgentFile, HasTheBytesThatItsDescriptionSays) {
  AgentData two = data_of(Kind::circles, 2);
  two.agents = Agents{2};
  two.agents.part(Part::px)[1] = 1;
  two.problem.spread = Spread::clustered;
  two.steps = 3;
  write_agents(good_, with_neighbours(two), Existing::keep);
  using namespace std::string_view_literals;
  const std::string bytes = bytes_of(good_);
  EXPECT_EQ(bytes.substr(0, dataset_digest_at),
            "STRATANB\x04\x03\x02\x01\x02\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0\x01\0\0\0"
            "\0\0\x80\x40\0\0\x80\x40\x88\x77\x66\x55\x44\x33\x22\x11"sv);
  EXPECT_EQ(bytes.substr(80, 16), "\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"sv);
  const std::string agent(7 * sizeof(float), '\0');
  EXPECT_EQ(bytes.substr(header_bytes),
            agent + std::string{"\0\0\x80\x3f"sv} + agent.substr(4) +
                std::string{"\x01\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0"sv});
}

TEST_F(AgentFile, IsRefusedWhereItIsDamaged) {
  write_agents(good_, with_neighbours(data_of(Kind::boids)), Existing::keep);
  expect_refused_where_damaged(read_agents, header_bytes);
}

TEST_F(AgentFile, SaysWhatIsWrongEvenWhenTheChecksumIsRight) {
  write_agents(good_, data_of(Kind::list), Existing::keep);
  EXPECT_THAT(refusal(with_word(12, 1)), AllOf(HasSubstr("version 1"), HasSubstr("strata nbody")));
  EXPECT_THAT(refusal(with_word(12, 3)), HasSubstr("strata fstat"));
  EXPECT_THAT(refusal(with_word(16, 3)), HasSubstr("problem 3"));
  EXPECT_THAT(refusal(with_word(20, 0)), HasSubstr("0 agents"));
  EXPECT_THAT(refusal(with_word(20, 4)), HasSubstr("extra bytes"));
  EXPECT_THAT(refusal(with_word(20, 0xFFFFFFFF)), HasSubstr("4294967295 agents"));
  EXPECT_THAT(refusal(with_word(28, 3)), HasSubstr("spread 3"));
  EXPECT_THAT(refusal(with_word(32, std::bit_cast<std::uint32_t>(1.0F))), HasSubstr("reach is 2"));
  EXPECT_THAT(refusal(with_word(36, std::bit_cast<std::uint32_t>(-1.0F))),
              HasSubstr("reach is -1"));
  EXPECT_THAT(refusal(with_word(80, 2)), HasSubstr("the words 2, 0, 0"));
  EXPECT_THAT(refusal(with_word(84, 1)), HasSubstr("the words 0, 1, 0"));
  EXPECT_THAT(refusal(with_word(88, 1)), HasSubstr("the words 0, 0, 1"));
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(refusal(with_word(header_bytes + 28, std::bit_cast<std::uint32_t>(nan))),
              HasSubstr("px of agent 1 is nan"));
  EXPECT_THAT(refusal(with_word(header_bytes + 28, std::bit_cast<std::uint32_t>(-8.0F))),
              HasSubstr("agent 1 is at (-8,"));
}

TEST_F(AgentFile, HoldsNoListsInDisorder) {
  AgentData data = data_of(Kind::list, 4);
  for (std::size_t c = 0; c < 3; ++c)
    data.agents.parts[c].assign(4, 1);  // all at one place: each has the three others
  write_agents(good_, with_neighbours(data), Existing::keep);
  const std::size_t counts = header_bytes + std::size_t{4} * 7 * 4;
  const std::size_t ids = counts + std::size_t{4} * 4;
  EXPECT_THAT(refusal(with_word(counts, 4)), HasSubstr("13 neighbours"));
  EXPECT_THAT(refusal(with_word(ids, 2)), HasSubstr("neighbours of agent 0 are not sorted"));
  EXPECT_THAT(refusal(with_word(ids, 0)), HasSubstr("agent 0"));
  EXPECT_THAT(refusal(with_word(ids + 8, 4)), HasSubstr("agent 0"));
}

TEST_F(AgentFile, IsReplacedOnlyWhenAsked) {
  write_agents(good_, data_of(Kind::list), Existing::keep);
  EXPECT_THROW(write_agents(good_, data_of(Kind::boids), Existing::keep), UsageError);
  EXPECT_EQ(read_agents(good_), data_of(Kind::list));
  AgentData lost = data_of(Kind::list);
  lost.agents.part(Part::px)[0] = -1;
  EXPECT_THROW(write_agents(good_, lost, Existing::replace), UsageError);
  EXPECT_EQ(read_agents(good_), data_of(Kind::list));
}

TEST(MovedAgents, TakeAsManyStepsAtOnceAsInParts) {
  const AgentData begin = data_of(Kind::circles, 400);
  const AgentData whole = moved(begin, 4);
  const AgentData parts = moved(moved(begin, 3), 1);
  EXPECT_EQ(whole.steps, 4U);
  EXPECT_NE(whole.agents, begin.agents);
  for (std::size_t i = 0; i < whole.agents.size(); ++i) {
    // What lies between the parts is rounded once.
    EXPECT_NEAR(whole.agents.part(Part::px)[i], parts.agents.part(Part::px)[i], 1e-5);
  }
  EXPECT_EQ(moved(begin, 0), begin);
  EXPECT_EQ(moved(data_of(Kind::list), 2).agents, data_of(Kind::list).agents);
  AgentData old = begin;
  old.steps = std::numeric_limits<std::uint32_t>::max();
  EXPECT_THROW((void)moved(old, 1), UsageError);
}

}  // namespace
}  // namespace strata::neighbours
