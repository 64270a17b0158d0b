// Types of rungs on a CPU: inputs and outputs of a step. Host only.
#pragma once

#include "harness/counters/tracer.hpp"
#include "nbody/common/host_rung.hpp"
#include "nbody/neighbours/ladder.hpp"
#include "nbody/neighbours/problem/problem.hpp"
#include "nbody/neighbours/verification.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace strata::neighbours {

/// Numbers that vectors may read behind the last agent of an array.
inline constexpr std::size_t padding = 16;

/// Work of a thread in the steps of a sample; on cache lines of its own.
struct alignas(128) Work {
  std::uint64_t tests = 0;     ///< distances computed
  std::uint64_t lanes = 0;     ///< of vectors that computed them, wanted or not
  std::uint32_t rebuilds = 0;  ///< of the data structure; counted by the first thread
};

/// The lists of all agents, in a pool of each thread. A pool that is full grows: nothing is cut.
class ListPools {
 public:
  /// Place of a list.
  struct Entry {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t pool = 0;
  };
  ListPools() = default;
  ListPools(std::size_t agents, std::size_t threads) : entries_(agents), pools_(threads) {}

  /// Forgets all lists, and that there were any; called before a sample.
  void poison() {
    for (Entry& entry : entries_)
      entry = {.first = 0, .count = no_agent, .pool = 0};
  }
  /// The list of agent i; only after it was written.
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t i) const {
    const Entry& entry = entries_[i];
    if (entry.count == no_agent) return {};
    return std::span{pools_[entry.pool].ids}.subspan(entry.first, entry.count);
  }
  [[nodiscard]] std::uint32_t count(std::size_t i) const { return entries_[i].count; }
  [[nodiscard]] const Entry& entry(std::size_t i) const { return entries_[i]; }

  /// Forgets the lists of a thread: before it writes those of a step.
  void clear(std::size_t pool) { pools_[pool].used = 0; }
  /// Room for `more` numbers behind the last list of a pool, and some that a vector may overwrite.
  [[nodiscard]] std::uint32_t* room(std::size_t pool, std::size_t more) {
    Pool& mine = pools_[pool];
    const std::size_t wanted = mine.used + more + padding;
    if (mine.ids.size() < wanted) mine.ids.resize(wanted + wanted / 2);
    return mine.ids.data() + mine.used;
  }
  /// Numbers that were written there belong to the list.
  void keep(std::size_t pool, std::size_t more) { pools_[pool].used += more; }
  [[nodiscard]] std::uint64_t used(std::size_t pool) const { return pools_[pool].used; }
  void set(std::size_t i, const Entry& entry) { entries_[i] = entry; }

 private:
  struct alignas(128) Pool {
    std::vector<std::uint32_t> ids;
    std::size_t used = 0;
  };
  std::vector<Entry> entries_;
  std::vector<Pool> pools_;
};

/// One time step: find neighbours, then move the agents.
struct Step {
  const Problem* problem = nullptr;
  const Agents* from = nullptr;      ///< `padding` numbers longer than there are agents
  Agents* to = nullptr;              ///< where agents move: where they are then
  std::uint32_t* counts = nullptr;   ///< neighbours of each agent that count: boids and circles
  std::uint32_t* nearest = nullptr;  ///< boids: 7 for each
  ListPools* lists = nullptr;        ///< list: all of each
  Work* work = nullptr;              ///< one for each thread, added to
  bool first = false;                ///< of a sample: nothing is left of an earlier step
  Tracer* tracer = nullptr;          ///< of one thread's marks; null: not traced

  [[nodiscard]] std::uint32_t agents() const { return problem->agents; }
  /// While this lives, the first thread builds what is searched.
  [[nodiscard]] HostPhase building(std::size_t rank) const {
    return {rank == 0 ? tracer : nullptr, StepPhase::build};
  }
  [[nodiscard]] const float* part(Part p) const { return from->part(p).data(); }
};

using HostKernel = strata::HostKernel<Step>;
/// Prepares a rung. Throws Skipped where it cannot be done with these vectors or in this build.
using MakeHostKernel = HostKernel (*)(const Problem&, const Choice&, Vectors);

/// Takes so many steps, one at a time, and compares neighbours of the first and the last.
[[nodiscard]] Verification verify_on_host(const HostKernel& kernel, ThreadTeam& team,
                                          const Problem& problem, const ReferenceStep& right,
                                          std::size_t count);

/// Verifies a rung, then times it.
void measure_rung(Session& session, const Rung& rung, MakeHostKernel make);

/// Agents differ in what they cost.
using Pieces = WorkQueue<64>;

/// A rung whose state is a `Search`: every core calls search.step(step, thread).
template <class Search>
HostKernel on_all_cores(std::shared_ptr<Search> search, std::string_view instructions = "scalar") {
  return HostKernel::on_all_cores(
      [search](const Step& step, const ThreadRank& thread) { search->step(step, thread); },
      instructions);
}

}  // namespace strata::neighbours
