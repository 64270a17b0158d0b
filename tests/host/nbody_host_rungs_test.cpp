// Every rung on this CPU, with every kind of its vectors, against double precision.
#include "nbody/gravity/host/host_rung.hpp"
#include "tests/host/host_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strata::nbody {
namespace {

struct JudgedBodies {
  std::string name;
  Bodies bodies;
  std::vector<Pull> right;
  bool dominated = false;  ///< by one body
};

JudgedBodies judged(std::string name, Bodies bodies) {
  auto right = reference_pulls(bodies);
  return {std::move(name), std::move(bodies), std::move(right)};
}
Bodies some(std::uint32_t bodies, std::uint32_t systems = 1) {
  return generate(
      {.kind = systems > 1 ? Kind::galaxies : Kind::single, .systems = systems, .bodies = bodies});
}

const std::vector<JudgedBodies>& samples() {
  static const std::vector<JudgedBodies> all = [] {
    std::vector<JudgedBodies> made;
    for (const std::uint32_t n : {1U, 16U, 37U, 100U, 130U})
      made.push_back(judged(std::to_string(n), some(n)));
    Bodies together = some(2);
    for (const Field f : {Field::px, Field::py, Field::pz})
      together.at(f, 1) = together.at(f, 0);
    made.push_back(judged("two at one place", std::move(together)));
    for (const std::uint32_t heavy : {0U, 256U}) {
      Bodies bodies = some(257);
      bodies.at(Field::mass, heavy) = 1e6F;
      made.push_back(judged("heavy " + std::to_string(heavy), std::move(bodies)));
      made.back().dominated = true;
    }
    made.push_back(judged("three systems", some(45, 3)));
    return made;
  }();
  return all;
}

class RungOnThisCpu : public testing::TestWithParam<Rung> {};

void expect_right(const Rung& rung, const HostKernel& kernel, const std::string& layout,
                  bool moves) {
  for (const JudgedBodies& sample : samples()) {
    SCOPED_TRACE(layout + ", " + sample.name + ", " + kernel.instructions);
    const auto verification =
        verify_on_host(kernel, team(), layout, sample.bodies, moves, sample.right);
    const Gate gate = accuracy_gate(accuracy_of(rung, sample.bodies.bodies, verification.error,
                                                "accelerations", sample.dominated));
    EXPECT_EQ(gate.verdict, Verdict::passed) << gate.detail;
    EXPECT_EQ(verification.misplaced, 0U);
  }
}

TEST_P(RungOnThisCpu, ComputesWhatDoublePrecisionDoes) {
  const Rung& rung = GetParam();
  bool any = false;
  for (const Vectors vectors : known_to_this_cpu()) {
    const auto kernel = prepared<MakeHostKernel>(rung, vectors);
    if (!kernel) continue;
    any = true;
    for (const std::string& layout : rung.layouts) {
      expect_right(rung, *kernel, layout, /*moves=*/false);
      expect_right(rung, *kernel, layout, /*moves=*/true);
    }
  }
  if (!any) GTEST_SKIP() << "this CPU or this build cannot do it";
}

TEST_P(RungOnThisCpu, DoesTheSameWithMoreThreadsThanBodies) {
  const Rung& rung = GetParam();
  ThreadTeam three = crowded_team(3);
  for (const Vectors vectors : known_to_this_cpu()) {
    const auto kernel = prepared<MakeHostKernel>(rung, vectors);
    if (!kernel) continue;
    for (const JudgedBodies& sample : samples()) {
      if (sample.bodies.total() > 40) continue;
      const auto verification = verify_on_host(*kernel, three, rung.layouts.front(), sample.bodies,
                                               /*moves=*/true, sample.right);
      EXPECT_LE(verification.error.relative_rms, rms_bound(rung, sample.bodies.bodies))
          << sample.name;
      EXPECT_EQ(verification.misplaced, 0U);
    }
  }
}

/// A kernel with a fault.
using Fault = std::function<HostKernel(const HostKernel&, const std::string& layout)>;

Gate judged_with(const Fault& fault, const Rung& rung, const JudgedBodies& sample, bool moves) {
  const std::string& layout = rung.layouts.front();
  const auto sound = prepared<MakeHostKernel>(rung, widest_vectors());
  if (!sound) throw Skipped{"not on this CPU"};
  const auto verification =
      verify_on_host(fault(*sound, layout), team(), layout, sample.bodies, moves, sample.right);
  return accuracy_gate(
      accuracy_of(rung, sample.bodies.bodies, verification.error, "accelerations"));
}

/// The accelerations of the last of the bodies never come.
HostKernel without_tail(const HostKernel& sound, const std::string& /*layout*/) {
  return {.run = [sound](std::span<const Step> steps, ThreadTeam& threads) {
    for (const Step& step : steps) {
      const std::size_t last = 3 * step.total() - 1;
      const float before = step.acceleration[last];
      sound.run(std::span{&step, 1}, threads);
      step.acceleration[last] = before;
    }
  }};
}

/// A body in the middle attracts no other.
HostKernel without_a_mass(const HostKernel& sound, const std::string& layout) {
  return {.run = [sound, layout](std::span<const Step> steps, ThreadTeam& threads) {
    for (Step step : steps) {
      const auto words = with_layout_named(layout, [&]<class L>() {
        std::vector<float> all(step.from, step.from + L::words(step.total()));
        all[word_of<L>(Field::mass, step.total() / 2, step.total())] = 0;
        return all;
      });
      step.from = words.data();
      sound.run(std::span{&step, 1}, threads);
    }
  }};
}

/// Bodies that are near each other pull too much.
HostKernel without_softening(const HostKernel& sound, const std::string& /*layout*/) {
  return {.run = [sound](std::span<const Step> steps, ThreadTeam& threads) {
    for (Step step : steps) {
      step.softening_squared /= 2;
      sound.run(std::span{&step, 1}, threads);
    }
  }};
}

/// Nothing is done.
HostKernel idle(const HostKernel& /*sound*/, const std::string& /*layout*/) {
  return {.run = [](std::span<const Step>, ThreadTeam&) {}};
}

TEST_P(RungOnThisCpu, IsRefusedWhenItIsWrong) {
  const JudgedBodies& sample = samples().at(3);
  ASSERT_EQ(sample.bodies.bodies, 100U);
  if (!prepared<MakeHostKernel>(GetParam(), widest_vectors()))
    GTEST_SKIP() << "this CPU or build cannot do it";
  for (const auto& [name, fault] :
       std::vector<std::pair<std::string, Fault>>{{"the tail is dropped", without_tail},
                                                  {"a mass is forgotten", without_a_mass},
                                                  {"half the softening", without_softening},
                                                  {"nothing is done", idle}}) {
    EXPECT_EQ(judged_with(fault, GetParam(), sample, /*moves=*/false).verdict, Verdict::failed)
        << name;
  }
  EXPECT_EQ(judged_with(without_a_mass, GetParam(), sample, /*moves=*/true).verdict,
            Verdict::failed);
  EXPECT_EQ(judged_with(idle, GetParam(), sample, /*moves=*/true).verdict, Verdict::failed);
}

INSTANTIATE_TEST_SUITE_P(Rungs, RungOnThisCpu, testing::ValuesIn(rungs_of("nbody", Backend::host)),
                         [](const auto& rung) { return rung.param.name; });

TEST(HostRungs, SeeABodyThatIsLeftWhereItWas) {
  const JudgedBodies& sample = samples().at(2);
  const HostKernel lazy{.run = [](std::span<const Step> steps, ThreadTeam& threads) {
    maker_of<MakeHostKernel>("serial")(Vectors::none).run(steps, threads);
    for (const Step& step : steps)
      step.to[word_of<Aos>(Field::py, 7, step.total())] =
          step.from[word_of<Aos>(Field::py, 7, step.total())];
  }};
  EXPECT_EQ(
      verify_on_host(lazy, team(), "aos", sample.bodies, /*moves=*/true, sample.right).misplaced,
      1U);
}

TEST(HostRungs, SayThatTheyAreNotThere) {
  EXPECT_THROW((void)maker_of<MakeHostKernel>("naive"), std::out_of_range);
  EXPECT_THROW((void)maker_of<MakeHostKernel>("simd")(Vectors::none), Skipped);
  EXPECT_THROW((void)maker_of<MakeHostKernel>("cpu_blocked")(Vectors::none), Skipped);
}

}  // namespace
}  // namespace strata::nbody
