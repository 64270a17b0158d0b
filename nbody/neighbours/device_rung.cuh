// Types of rungs on a GPU: the vectors of a case on both sides, and a queue that
// counts what is copied and launched.
#pragma once

#include "harness/cuda/queue.hpp"
#include "nbody/neighbours/ladder.hpp"
#include "nbody/neighbours/search_step.hpp"
#include "nbody/neighbours/verification.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace strata::neighbours {

inline constexpr unsigned usual_block = 128;  ///< threads
/// Marker written by threads without an agent, in place of their number of tests.
inline constexpr std::uint32_t idle_thread = no_agent - 1;
/// Blocks that an SM has room for, of searches in cells: left to itself, ptxas makes room for more
/// and spills.
inline constexpr unsigned usual_blocks = 8;

[[nodiscard]] __device__ inline std::uint32_t thread_number() {
  return blockIdx.x * usual_block + threadIdx.x;
}

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

/// Verifies a rung, then times it.
void measure_rung(Session& session, const Rung& rung, MakeDeviceKernel make);

}  // namespace strata::neighbours
