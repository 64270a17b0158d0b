// Comparison of a rung's results with double precision, on any backend. Host only.
#pragma once

#include "harness/measure/session.hpp"
#include "nbody/neighbours/model/tests.hpp"
#include "nbody/neighbours/problem/problem.hpp"
#include "nbody/neighbours/problem/search.hpp"
#include "nbody/neighbours/reference/motion.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace strata::neighbours {

/// The first step from the agents of a problem, in double precision.
struct ReferenceStep {
  Agents agents;
  Places places;
  Lists neighbours;
  Motion motion;
};
[[nodiscard]] ReferenceStep reference_step(const Problem& problem, Agents agents);
/// For the problem's own agents, computed on first use, for all rungs.
[[nodiscard]] const ReferenceStep& shared_reference(Session& session, const Problem& problem);

/// Input and result of a step, on the host.
struct Outcome {
  const Agents& from;
  const Agents& left;                               ///< `from`, if agents do not move
  std::function<std::uint32_t(std::size_t)> count;  ///< neighbours of an agent that count
  std::function<std::span<const std::uint32_t>(std::size_t)> neighbours;  ///< unless circles

  [[nodiscard]] std::vector<std::uint32_t> counts() const;
};

/// Distances that a rung computed.
struct Tests {
  std::uint64_t made = 0;
  std::uint64_t lanes = 0;  ///< of vectors or warps that computed them, wanted or not
  IdleThreads idle;         ///< of a GPU
  Tests& operator+=(const Tests& more);
};

/// Verification of a rung in the steps of a sample, before its time counts.
struct Verification {
  std::size_t checked = 0;                ///< agents whose neighbours were compared, of all steps
  std::size_t wrong = 0;                  ///< of them, those with other neighbours
  std::vector<Accuracy> motion;           ///< after the first step, if agents move
  std::vector<Agents> before_each_step;   ///< input of the step
  Agents end;                             ///< result of the step
  std::vector<std::uint32_t> end_counts;  ///< neighbours of each agent in the last step
  double neighbours = 0;                  ///< found, mean per step
  Tests tests;                            ///< of all steps
  std::uint64_t rebuilds = 0;             ///< of the data structure, in all steps

  [[nodiscard]] std::vector<Places> places_before_each_step() const;
};

/// Adds step number `step` of `steps`: neighbours of the first and the last step are compared.
void verify_step(Verification& verification, const Problem& problem, const ReferenceStep& right,
                 const Outcome& seen, std::size_t step, std::size_t steps);

/// Agents that differ between a sample's last step and the verified steps, bit for bit; and wrong
/// lists of agents at rest.
[[nodiscard]] std::size_t different_at_end(const Problem& problem, const ReferenceStep& right,
                                           const Verification& verified, const Outcome& seen);
/// The same for a rung with nondeterministic summation order: agents with wrong neighbours in the
/// sample's last step, from that step's input, or all if it moved them wrongly.
[[nodiscard]] std::size_t wrong_at_end(const Problem& problem, const Outcome& seen);

}  // namespace strata::neighbours
