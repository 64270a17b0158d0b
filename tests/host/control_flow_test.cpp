#include "harness/access/control_flow.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

ptx::Module module_of(std::string_view body) {
  return ptx::read(fmt::format(".version 9.0\n.target sm_90\n.entry k()\n{{\n.reg .pred %p<9>;\n"
                               ".reg .b32 %r<9>;\n{}\n}}\n",
                               body),
                   "k.ptx");
}

ControlFlow flow_of(std::string_view body) {
  return control_flow(module_of(body).kernels.at(0));
}

TEST(ControlFlow, OfAStraightLineIsOneBlock) {
  const ControlFlow flow = flow_of("add.u32 %r1, %r1, 1;\nL:\nadd.u32 %r1, %r1, 2;\nret;");
  ASSERT_EQ(flow.blocks.size(), 1U) << "no branch to the label";
  EXPECT_EQ(flow.blocks[0].end, 3U);
  EXPECT_TRUE(flow.blocks[0].ends_threads);
  EXPECT_THAT(flow.post_dominator, ElementsAre(flow.exit()));
  EXPECT_TRUE(flow.reducible);
  EXPECT_THAT(flow.loops, IsEmpty());
}

TEST(ControlFlow, OfAnEmptyKernelIsOneEmptyBlock) {
  const ControlFlow flow = flow_of("");
  ASSERT_EQ(flow.blocks.size(), 1U);
  EXPECT_EQ(flow.blocks[0].end, 0U);
  EXPECT_TRUE(flow.blocks[0].ends_threads);
}

TEST(ControlFlow, LetsTheTwoSidesOfADiamondMeet) {
  const ControlFlow flow = flow_of(
      "@%p1 bra ELSE;\n add.u32 %r1, %r1, 1;\n bra END;\nELSE:\n add.u32 %r1, %r1, 2;\nEND:\n "
      "ret;");
  ASSERT_EQ(flow.blocks.size(), 4U);
  EXPECT_THAT(flow.blocks[0].successors, ElementsAre(1, 2)) << "the next block first";
  EXPECT_THAT(flow.blocks[3].predecessors, ElementsAre(1, 2));
  EXPECT_THAT(flow.dominator, ElementsAre(no_index, 0, 0, 0));
  EXPECT_THAT(flow.post_dominator, ElementsAre(3, 3, 3, flow.exit()));
  EXPECT_EQ(flow.meeting, flow.post_dominator);
  EXPECT_TRUE(flow.dominates(0, 3));
  EXPECT_TRUE(flow.dominates(3, 3));
  EXPECT_FALSE(flow.dominates(1, 3));
}

TEST(ControlFlow, ContinuingThreadsMeetAlthoughOthersEnd) {
  const ControlFlow flow =
      flow_of("@%p1 bra ELSE;\n @%p2 ret;\n bra END;\nELSE:\n @%p3 trap;\n bra END;\nEND:\n ret;");
  ASSERT_EQ(flow.blocks.size(), 6U);
  EXPECT_EQ(flow.post_dominator[0], flow.exit());
  EXPECT_EQ(flow.meeting[0], 5U);
  EXPECT_TRUE(flow.blocks[1].ends_threads);
  EXPECT_TRUE(flow.blocks[3].ends_threads);
}

TEST(ControlFlow, ASideThatTrapsMeetsNobody) {
  const ControlFlow flow = flow_of("@%p1 bra OUT;\n add.u32 %r1, %r1, 1;\n ret;\nOUT:\n trap;");
  ASSERT_EQ(flow.blocks.size(), 3U);
  EXPECT_EQ(flow.meeting[0], 1U);
  EXPECT_EQ(flow.meeting[2], no_index);
  EXPECT_EQ(flow.post_dominator[0], flow.exit());
}

TEST(ControlFlow, FindsLoopsWithinLoops) {
  const ControlFlow flow = flow_of(R"(
    mov.u32 %r1, 0;
OUTER:
    mov.u32 %r2, 0;
INNER:
    add.u32 %r2, %r2, 1;
    @%p1 bra INNER;
    @%p2 bra OUTER;
    ret;)");
  ASSERT_EQ(flow.blocks.size(), 5U);
  ASSERT_EQ(flow.loops.size(), 2U);
  EXPECT_EQ(flow.loops[0].header, 1U);
  EXPECT_THAT(flow.loops[0].latches, ElementsAre(3));
  EXPECT_EQ(flow.loops[0].parent, no_index);
  EXPECT_EQ(flow.loops[1].header, 2U);
  EXPECT_THAT(flow.loops[1].latches, ElementsAre(2));
  EXPECT_EQ(flow.loops[1].parent, 0U);
  EXPECT_EQ(flow.loops[1].depth, 2U);
  EXPECT_THAT(flow.loop_of, ElementsAre(no_index, 0, 1, 0, no_index));
  EXPECT_TRUE(flow.is_in(0, 2));
  EXPECT_FALSE(flow.is_in(1, 3));
}

TEST(ControlFlow, ACycleWithTwoEntriesIsNoLoop) {
  const ControlFlow flow = flow_of(R"(
    @%p1 bra B;
A:
    add.u32 %r2, %r2, 1;
B:
    add.u32 %r2, %r2, 1;
    @%p2 bra A;
    ret;)");
  EXPECT_FALSE(flow.reducible);
  EXPECT_THAT(flow.loops, IsEmpty());
}

TEST(ControlFlow, AnEndlessLoopHasNoWayToTheEnd) {
  const ControlFlow flow = flow_of("@%p1 bra L;\n ret;\nL:\n bra L;");
  ASSERT_EQ(flow.blocks.size(), 3U);
  EXPECT_THAT(flow.post_dominator, ElementsAre(1, flow.exit(), no_index));
  ASSERT_EQ(flow.loops.size(), 1U);
  EXPECT_THAT(flow.loops[0].latches, ElementsAre(2));
}

TEST(ControlFlow, FollowsAListOfLabels) {
  const ControlFlow flow = flow_of(R"(
  ts: .branchtargets A, B, A;
    brx.idx %r1, ts;
A:
    add.u32 %r2, %r2, 1;
B:
    ret;
    add.u32 %r2, %r2, 1;)");
  ASSERT_EQ(flow.blocks.size(), 4U);
  EXPECT_THAT(flow.blocks[0].successors, ElementsAre(1, 2));
  EXPECT_EQ(flow.dominator[3], no_index) << "nothing leads behind the ret";
  EXPECT_THAT(flow.order, ElementsAre(0, 1, 2));
  EXPECT_FALSE(flow.dominates(3, 3));
}

// ---- against brute force, on random kernels ----

/// A kernel of `blocks` blocks, each with a random end.
std::string random_body(unsigned blocks, std::mt19937& random) {
  const auto below = [&](unsigned most) { return static_cast<unsigned>(random() % most); };
  std::string body;
  for (unsigned at = 0; at < blocks; ++at) {
    body += fmt::format("L{}:\n add.u32 %r1, %r1, 1;\n", at);
    // Two of three lead on to near blocks, so that loops nest.
    const unsigned near = std::min(blocks - 1, at + 1 + below(3));
    const unsigned to = below(3) == 0 ? below(blocks) : near;
    switch (below(8)) {
      case 0:
        body += fmt::format(" bra L{};\n", to);
        break;
      case 1:
        body += below(2) == 0 ? " ret;\n" : " trap;\n";
        break;
      case 2:
        body += below(2) == 0 ? " @%p1 exit;\n" : " @!%p1 trap;\n";
        break;
      case 3:
        body += fmt::format(" T{}: .branchtargets L{}, L{};\n brx.idx %r1, T{};\n", at, to,
                            below(blocks), at);
        break;
      case 4:
        break;
      default:
        body += fmt::format(" @%p1 bra L{};\n", to);
        break;
    }
  }
  return body;
}

using Edges = std::vector<std::set<std::uint32_t>>;

/// Where each instruction may lead, one past the last one for the end of the kernel. `staying`: as
/// ControlFlow::meeting has it.
Edges instruction_edges(const ptx::Kernel& kernel, bool staying) {
  const auto count = static_cast<std::uint32_t>(kernel.instructions.size());
  Edges edges(count + 1);
  for (std::uint32_t at = 0; at < count; ++at) {
    const auto& one = kernel.instructions[at];
    const bool guarded = one.guard != no_index;
    const bool is_trap = one.opcode == "trap";
    if (one.opcode == "bra") {
      edges[at].insert(kernel.labels[one.operands[0].index].instruction);
    } else if (one.opcode == "brx") {
      for (const auto& item : one.operands[1].items)
        edges[at].insert(kernel.labels[item.index].instruction);
    } else if (one.opcode == "ret" || one.opcode == "exit" || is_trap) {
      if (!staying || (!guarded && !is_trap)) edges[at].insert(count);
    } else {
      edges[at].insert(at + 1);
      continue;
    }
    if (guarded) edges[at].insert(at + 1);
  }
  return edges;
}

/// What can be reached from `from` without `without`.
std::set<std::uint32_t> reached(const Edges& edges, std::uint32_t from, std::uint32_t without) {
  std::set<std::uint32_t> seen;
  if (from == without) return seen;
  std::vector<std::uint32_t> open{from};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (at == without || !seen.insert(at).second) continue;
    open.insert(open.end(), edges[at].begin(), edges[at].end());
  }
  return seen;
}

TEST(ControlFlow, AgreesWithBruteForceOnRandomKernels) {
  std::mt19937 random{7};
  int loops = 0;
  int irreducible = 0;
  for (int round = 0; round < 400; ++round) {
    const ptx::Module module =
        module_of(random_body(static_cast<unsigned>(1 + random() % 12), random));
    const ptx::Kernel& kernel = module.kernels[0];
    const ControlFlow flow = control_flow(kernel);
    const Edges edges = instruction_edges(kernel, false);
    const Edges staying = instruction_edges(kernel, true);
    const auto end = static_cast<std::uint32_t>(kernel.instructions.size());
    const std::set<std::uint32_t> from_entry = reached(edges, 0, no_index);

    // Blocks hold every instruction once, and only their last one leads elsewhere.
    std::uint32_t next = 0;
    for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
      ASSERT_EQ(flow.blocks[b].begin, next);
      next = flow.blocks[b].end;
      for (std::uint32_t at = flow.blocks[b].begin; at < next; ++at) {
        ASSERT_EQ(flow.block_of[at], b);
        ASSERT_TRUE(at + 1 == next || edges[at] == std::set{at + 1});
      }
      std::set<std::uint32_t> to;
      for (const std::uint32_t one : flow.blocks[b].successors)
        to.insert(flow.blocks[one].begin);
      if (flow.blocks[b].ends_threads) to.insert(end);
      ASSERT_EQ(to, edges[next - 1]);
    }
    ASSERT_EQ(next, end);

    // a dominates b: without a, b is out of reach.
    const auto first = [&](std::uint32_t block) { return flow.blocks[block].begin; };
    const auto last = [&](std::uint32_t block) { return flow.blocks[block].end - 1; };
    for (std::uint32_t a = 0; a < flow.blocks.size(); ++a) {
      const auto without = reached(edges, 0, first(a));
      for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
        const bool both = from_entry.contains(first(a)) && from_entry.contains(first(b));
        ASSERT_EQ(flow.dominates(a, b), both && !without.contains(first(b))) << a << ' ' << b;
        ASSERT_EQ(std::ranges::count(flow.order, b), from_entry.contains(first(b)) ? 1 : 0);
      }
    }

    // The immediate one is dominated by all others; in the same way from behind.
    for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
      std::uint32_t best = no_index;
      for (std::uint32_t a = 0; a < flow.blocks.size(); ++a) {
        if (a != b && flow.dominates(a, b) && (best == no_index || flow.dominates(best, a)))
          best = a;
      }
      ASSERT_EQ(flow.dominator[b], best);
      for (const auto& [graph, found] :
           {std::pair{&edges, flow.post_dominator[b]}, std::pair{&staying, flow.meeting[b]}}) {
        const auto ends = [&, &g = *graph](std::uint32_t from, std::uint32_t without) {
          return reached(g, from, without).contains(end);
        };
        std::uint32_t nearest = no_index;
        if (ends(last(b), no_index)) {
          nearest = flow.exit();
          for (std::uint32_t a = 0; a < flow.blocks.size(); ++a) {
            if (a == b || ends(last(b), first(a))) continue;
            // The nearest is the one that all other post-dominators come after.
            if (nearest == flow.exit() || !ends(first(a), first(nearest))) nearest = a;
          }
        }
        ASSERT_EQ(found, nearest) << "block " << b << " of round " << round;
      }
    }

    // A loop: what reaches a latch without passing the header that dominates it.
    std::map<std::uint32_t, std::set<std::uint32_t>> bodies;
    bool cycles_have_one_entry = true;
    for (const std::uint32_t b : flow.order) {
      for (const std::uint32_t to : flow.blocks[b].successors) {
        if (!flow.dominates(to, b)) continue;
        for (const std::uint32_t one : flow.order) {
          const auto way = reached(edges, first(one), first(to));
          if (one == to || (flow.dominates(to, one) && way.contains(last(b)))) {
            bodies[to].insert(one);
          }
        }
      }
    }
    ASSERT_EQ(flow.loops.size(), bodies.size());
    for (std::uint32_t l = 0; l < flow.loops.size(); ++l) {
      const Loop& loop = flow.loops[l];
      ASSERT_TRUE(bodies.contains(loop.header));
      for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
        ASSERT_EQ(flow.is_in(l, b), bodies[loop.header].contains(b));
      }
      for (const std::uint32_t latch : loop.latches) {
        ASSERT_EQ(std::ranges::count(flow.blocks[latch].successors, loop.header), 1);
        ASSERT_TRUE(flow.dominates(loop.header, latch));
      }
      if (loop.parent != no_index) {
        ASSERT_LT(loop.parent, l);
        ASSERT_TRUE(flow.is_in(loop.parent, loop.header));
        ASSERT_EQ(loop.depth, flow.loops[loop.parent].depth + 1);
      }
    }
    // Reducible: without the edges back to headers, no block comes after itself.
    Edges forward(flow.blocks.size());
    for (const std::uint32_t b : flow.order) {
      for (const std::uint32_t to : flow.blocks[b].successors) {
        if (!flow.dominates(to, b)) forward[b].insert(to);
      }
    }
    for (const std::uint32_t b : flow.order) {
      for (const std::uint32_t to : forward[b])
        cycles_have_one_entry &= !reached(forward, to, no_index).contains(b);
    }
    ASSERT_EQ(flow.reducible, cycles_have_one_entry);
    loops += static_cast<int>(flow.loops.size());
    irreducible += flow.reducible ? 0 : 1;
  }
  EXPECT_GT(loops, 100);
  EXPECT_GT(irreducible, 20);
}

TEST(ControlFlow, TakesAHundredThousandBlocksInARow) {
  std::string body;
  constexpr int blocks = 100'000;
  for (int at = 0; at < blocks; ++at)
    body += fmt::format("L{}: @%p1 bra L{};\n", at, blocks - 1 - at / 2);
  const ControlFlow flow = flow_of(body + "ret;");
  EXPECT_EQ(flow.blocks.size(), blocks + 1U);
  EXPECT_EQ(flow.order.size(), blocks + 1U);
}

}  // namespace
}  // namespace strata::access
