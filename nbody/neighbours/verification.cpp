#include "nbody/neighbours/verification.hpp"

#include "harness/base/enum_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace strata::neighbours {
namespace {

constexpr double rounding = 0x1p-21;  // of the square of a distance in single precision

Lists neighbours_at(const Problem& problem, const Places& places) {
  return search(places, static_cast<double>(problem.radius_squared), only_nearest(problem.kind))
      .lists;
}

/// Agents with wrong neighbours after a step; of circles, whose neighbours are not
/// written, a wrong number of them.
std::size_t wrong_after(const Problem& problem, const Outcome& seen, const Places& places,
                        const Lists& right, double slack) {
  const auto radius_squared = static_cast<double>(problem.radius_squared);
  if (problem.kind != Kind::circles) {
    // A row that contradicts its count is wrong as well.
    static constexpr std::array<std::uint32_t, 1> none_of_them{no_agent};
    return agents_with_wrong_neighbours(
        places, radius_squared, only_nearest(problem.kind), right,
        [&](std::size_t i) -> std::span<const std::uint32_t> {
          const auto found = seen.neighbours(i);
          if (seen.count(i) != found.size()) return none_of_them;
          return found;
        },
        slack);
  }
  // With slack, as many may be missing or too many as there are pairs so near the reach.
  const Lists inner = slack > 0 ? search(places, radius_squared * (1 - slack), false).lists : right;
  const Lists outer = slack > 0 ? search(places, radius_squared * (1 + slack), false).lists : right;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < problem.agents; ++i) {
    const std::uint32_t count = seen.count(i);
    wrong += count >= inner.of(i).size() && count <= outer.of(i).size() ? 0 : 1;
  }
  return wrong;
}

/// Agents that are not the same, bit for bit.
std::size_t different(const Agents& one, const Agents& other) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < other.size(); ++i) {
    bool same = true;
    for (std::size_t p = 0; p < part_count; ++p) {
      same = same && std::bit_cast<std::uint32_t>(one.parts[p][i]) ==
                         std::bit_cast<std::uint32_t>(other.parts[p][i]);
    }
    count += same ? 0 : 1;
  }
  return count;
}

}  // namespace

Tests& Tests::operator+=(const Tests& more) {
  made += more.made;
  lanes += more.lanes;
  idle += more.idle;
  return *this;
}

std::vector<std::uint32_t> Outcome::counts() const {
  std::vector<std::uint32_t> all(from.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = count(i);
  return all;
}

std::vector<Places> Verification::places_before_each_step() const {
  std::vector<Places> all;
  for (const Agents& agents : before_each_step)
    all.push_back(places_of(agents));
  return all;
}

ReferenceStep reference_step(const Problem& problem, Agents agents) {
  ReferenceStep step{.agents = std::move(agents), .places = {}, .neighbours = {}, .motion = {}};
  step.places = places_of(step.agents);
  step.neighbours = neighbours_at(problem, step.places);
  step.motion = motion_of(problem, in_double(step.agents), step.neighbours);
  return step;
}

const ReferenceStep& shared_reference(Session& session, const Problem& problem) {
  const std::string key = fmt::format("neighbours/{}/{}/{}/{}", to_string(problem.kind),
                                      to_string(problem.spread), problem.agents, problem.world);
  return session.cache().keep<ReferenceStep>(
      key, [&] { return reference_step(problem, generate(problem)); });
}

void verify_step(Verification& verification, const Problem& problem, const ReferenceStep& right,
                 const Outcome& seen, std::size_t step, std::size_t steps) {
  verification.before_each_step.push_back(seen.from);
  verification.end_counts = seen.counts();
  double neighbours = 0;
  for (const std::uint32_t count : verification.end_counts)
    neighbours += count;
  verification.neighbours += neighbours / static_cast<double>(steps);
  if (step + 1 == steps) verification.end = seen.left;
  if (step == 0) {
    verification.wrong += wrong_after(problem, seen, right.places, right.neighbours, /*slack=*/0);
    if (problem.moves()) verification.motion = accuracy_of(problem, seen.left, right.motion);
  } else if (step + 1 == steps) {
    const bool moved = problem.moves();
    const Places places = places_of(seen.from);
    verification.wrong += wrong_after(problem, seen, places,
                                      moved ? neighbours_at(problem, places) : right.neighbours,
                                      moved ? rounding : 0);
  } else {
    return;
  }
  verification.checked += problem.agents;
}

std::size_t different_at_end(const Problem& problem, const ReferenceStep& right,
                             const Verification& verified, const Outcome& seen) {
  std::size_t count = different(seen.left, verified.end);
  for (std::size_t i = 0; i < problem.agents; ++i)
    count += seen.count(i) == verified.end_counts[i] ? 0 : 1;
  if (problem.moves()) return count;
  return count + wrong_after(problem, seen, right.places, right.neighbours, 0);
}

std::size_t wrong_at_end(const Problem& problem, const Outcome& seen) {
  const Places places = places_of(seen.from);
  const auto lists_within = [&](double factor) {
    return search(places, static_cast<double>(problem.radius_squared) * factor, false).lists;
  };
  const Lists right = neighbours_at(problem, places);
  const std::size_t wrong =
      wrong_after(problem, seen, places, right, problem.moves() ? rounding : 0);
  if (wrong > 0 || !problem.moves()) return wrong;
  // A pair at the very reach, which rounding decides, moves its agents otherwise.
  Motion motion = motion_of(problem, in_double(seen.from), right);
  const Lists inner = lists_within(1 - rounding);
  const Lists outer = lists_within(1 + rounding);
  for (std::size_t i = 0; i < problem.agents; ++i) {
    if (inner.of(i).size() != outer.of(i).size()) motion.undecided[i] = 1;
    if (problem.kind != Kind::boids) continue;
    const auto found = seen.neighbours(i);
    if (!std::ranges::is_permutation(found, right.of(i))) motion.undecided[i] = 1;
  }
  const auto moved = accuracy_of(problem, seen.left, motion);
  const bool well = std::ranges::all_of(moved, [](const Accuracy& one) {
    return one.finite && one.rms <= one.rms_bound && one.largest <= one.largest_bound;
  });
  return well ? 0 : problem.agents;
}

}  // namespace strata::neighbours
