// What the file of a rung on a GPU uses: the vectors of a case on both sides, and a queue that
// counts what is copied and launched.
#pragma once

#include "harness/cuda/queue.hpp"
#include "nbody/neighbours/ladder.hpp"
#include "nbody/neighbours/searches.hpp"
#include "nbody/neighbours/verification.hpp"

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace strata::neighbours {

inline constexpr unsigned usual_block = 128;  ///< threads
/// Marker written by threads without an agent, in place of their number of tests.
inline constexpr std::uint32_t idle_thread = nobody - 1;
/// Blocks that an SM has room for, of searches in cells: left to itself, ptxas makes room for more
/// and spills.
inline constexpr unsigned usual_blocks = 8;

/// The state of agents. Coordinates are contiguous, as in KernelStep.
struct AgentVectors {
  TwoSided<float> places;
  TwoSided<float> forwards;
  TwoSided<float> speeds;
  TwoSided<std::uint32_t> ids;  ///< of a rung that reorders: the agent at each position

  AgentVectors(std::size_t agents, bool reorders)
      : places{3 * agents}, forwards{3 * agents}, speeds{agents}, ids{reorders ? agents : 1} {}
};
struct ResultVectors {
  TwoSided<std::uint32_t> counts;
  TwoSided<std::uint32_t> nearest;
  TwoSided<std::uint32_t> lists;
};

/// One time step: find neighbours, then move the agents.
struct DeviceStep {
  const Problem* problem = nullptr;
  AgentVectors* from = nullptr;
  AgentVectors* to = nullptr;
  ResultVectors* results = nullptr;
  std::uint64_t memory = 0;        ///< another number: other memory, if at the same address
  std::uint32_t room = 0;          ///< of a list
  std::uint32_t* tests = nullptr;  ///< on the GPU, one for each thread; null: not needed
  bool first = false;              ///< of a sample: agents are on the host alone
  bool last = false;               ///< results, and where agents are, belong on the host
  bool reorders = false;           ///< as DeviceKernel

  [[nodiscard]] std::uint32_t agents() const { return problem->agents; }
  [[nodiscard]] KernelStep for_kernel() const;

  /// Calls visit(vector) with each that the search reads.
  template <class Visit>
  void visit_read(const Visit& visit) const {
    visit_agents(*from, visit);
  }
  /// With each that it writes.
  template <class Visit>
  void visit_written(const Visit& visit) const {
    if (problem->moves()) {
      visit_agents(*to, visit);
    } else if (reorders) {
      visit(to->ids);
    }
    visit(results->counts);
    if (problem->kind == Kind::boids) visit(results->nearest);
    if (problem->kind == Kind::list) visit(results->lists);
  }

 private:
  template <class Visit>
  void visit_agents(AgentVectors& agents, const Visit& visit) const {
    visit(agents.places);
    if (reorders) visit(agents.ids);
    if (problem->kind != Kind::boids) return;
    visit(agents.forwards);
    visit(agents.speeds);
  }
};

/// A queue that knows how often the data structure was built.
class Queue : public strata::Queue {
 public:
  using strata::Queue::Queue;

  [[nodiscard]] std::uint64_t rebuilds() const { return rebuilds_; }
  void count_rebuild() { ++rebuilds_; }

  /// In blocks of usual_block, of which the last is filled up.
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), std::uint32_t threads, const Arguments&... arguments) {
    launch_blocks(kernel, {(threads + usual_block - 1) / usual_block, usual_block}, arguments...);
  }

 private:
  std::uint64_t rebuilds_ = 0;
};

/// A rung, prepared for a problem.
struct DeviceKernel {
  /// Queues a step. Waits only where the host has a part in it.
  std::function<void(const DeviceStep&, Queue&)> step;
  std::vector<const void*> kernels;  ///< the search first
  /// Neighbour order is nondeterministic, so sums round differently.
  bool in_any_order = false;
  /// The results of a step are in the order of the ids that it writes, and refer to agents by their
  /// positions in that order.
  bool reorders = false;
  unsigned block = usual_block;  ///< threads of a block of the search
  std::size_t most_threads = 0;  ///< of the search, where there may be more than agents
};
/// Prepares a rung. Throws Skipped where the device cannot do it.
using MakeDeviceKernel = DeviceKernel (*)(const Problem&, const Choice&);

/// Takes so many steps, one at a time, from the agents of `right`, and verifies them. Lists grow
/// until nothing is cut. Throws std::runtime_error unless as many threads as there are agents
/// report their number of tests.
struct DeviceVerification {
  Verification seen;
  std::uint32_t room = 0;  ///< that lists needed
};
[[nodiscard]] DeviceVerification verify_on_device(const DeviceKernel& kernel,
                                                  const Problem& problem,
                                                  const ReferenceStep& right, std::size_t steps);

/// Traffic and results of a sample of so many steps, as it is timed. `shown`: what drawing needs is
/// copied out after each step.
struct SampleSeen {
  Traffic traffic;
  std::size_t different = 0;  ///< agents that differ from the verified steps
};
[[nodiscard]] SampleSeen sample_on_device(const DeviceKernel& kernel, const Problem& problem,
                                          const ReferenceStep& right,
                                          const DeviceVerification& verified, std::size_t steps,
                                          bool shown = false);

/// Verifies a rung, then times it.
void measure_rung(Session& session, const Rung& rung, MakeDeviceKernel make);

[[nodiscard]] inline Cells cells_for(const Problem& problem, const Choice& choice) {
  return cells_of(problem.low(), problem.extent(), std::sqrt(problem.radius_squared), choice.cells);
}

/// Copy policy.
enum class Copies {
  all,  ///< every vector, in before a step and out after it
  lazy  ///< what the search reads, in before the first step; what it writes, out after the last
};

/// A thread for each agent, or as many blocks as the search requires. A search may have the agents
/// in an order of its own.
template <class Search>
void launch_search(void (*kernel)(KernelStep, Search), const DeviceStep& step, const Search& search,
                   Queue& queue) {
  KernelStep all = step.for_kernel();
  if constexpr (requires { search.in_order; }) search.in_order.replace(all);
  if constexpr (requires { search.blocks; }) {
    queue.launch_blocks(kernel, {search.blocks, Search::block}, all, search);
  } else {
    queue.launch(kernel, step.agents(), all, search);
  }
}

/// A rung whose step ends with the kernel kernel_of.operator()<kind>(), which is given the step and
/// what prepare(step, queue) returns. Vectors are on the GPU while that is called.
template <class KernelOf, class Prepare>
[[nodiscard]] DeviceKernel searching(Kind kind, Copies copies, const KernelOf& kernel_of,
                                     const Prepare& prepare) {
  const auto rung_of = [&](auto kernel) -> DeviceKernel {
    const auto step_of = [=](const DeviceStep& step, Queue& queue) {
      const auto in = [&](auto& vector) { queue.copy_in(vector); };
      const auto out = [&](auto& vector) { queue.copy_out(vector); };
      const bool all = copies == Copies::all;
      if (all || step.first) step.visit_read(in);
      if (all) step.visit_written(in);
      const auto search = prepare(step, queue);
      launch_search(kernel, step, search, queue);
      if (all) step.visit_read(out);
      if (all || step.last) step.visit_written(out);
    };
    return {.step = step_of, .kernels = {code_of(kernel)}};
  };
  switch (kind) {
    case Kind::boids:
      return rung_of(kernel_of.template operator()<Kind::boids>());
    case Kind::circles:
      return rung_of(kernel_of.template operator()<Kind::circles>());
    case Kind::list:
      break;
  }
  return rung_of(kernel_of.template operator()<Kind::list>());
}
/// A search of all pairs, which needs no preparation.
template <class KernelOf>
[[nodiscard]] DeviceKernel searching_all(Kind kind, Copies copies, const KernelOf& kernel_of) {
  return searching(kind, copies, kernel_of, [](const DeviceStep&, Queue&) { return AskAll{}; });
}

[[nodiscard]] __device__ inline std::uint32_t thread_number() {
  return blockIdx.x * usual_block + threadIdx.x;
}

/// All-pairs search, tiled through shared memory: each agent is read once for a whole block, and
/// one test decides whether any agent of a group is near. Padding of the last tile is out of reach
/// of all agents.
template <Kind kind>
__device__ inline void walk_tiles(const KernelStep& step) {
  __shared__ Standing tile[usual_block];
  const std::uint32_t i = thread_number();
  const bool real = i < step.agents;
  const Vector<float> me = step.place(real ? i : 0);
  Gathering<kind> found{step, i};
#pragma unroll 1
  for (std::uint32_t start = 0; start < step.agents; start += usual_block) {
    const std::uint32_t j = start + threadIdx.x;
    Standing other{{INFINITY, 0, 0}, nobody};
    if (j < step.agents) other = {step.place(j), j};
    tile[threadIdx.x] = other;
    __syncthreads();
    if (real) {
      const Standing* group = tile;  // from an index, its address is computed anew for each group
#pragma unroll 1
      for (unsigned left = usual_block; left > 0; left -= group_size, group += group_size)
        test_group(me, group, found);
    }
    __syncthreads();
  }
  if (!real) return;
  found.end(step);
  if (step.tests != nullptr) step.tests[i] = step.agents;
}

}  // namespace strata::neighbours
