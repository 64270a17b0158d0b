#include "nbody/neighbours/device_rung.cuh"

#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace strata::neighbours::graph {
namespace {

const Rung rung{
    .name = "neighbours_graph",
    .backend = Backend::cuda,
    .before = "neighbours_runs",
    .costs = {.issue_slots = 14.5, .build = predict_sorted_agents},
    .question = "How much does it gain to launch a whole step as a graph?",
    .change = "a step's copies, fills and launches are captured once; a step is one graph launch",
    .source = "Gray, Getting started with CUDA Graphs, NVIDIA, 2019",
    .expectation =
        "of some 2 µs for each of six launches, one launch and shorter gaps remain: a large gain "
        "where 16,384 agents take tens of microseconds, none where a step takes a millisecond",
    .predicted_tests = predict_rows,
    .predicted_traffic = predict_lazy,
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
/// The steps of another rung, each recorded when it is first needed.
class RecordedSteps {
 public:
  explicit RecordedSteps(std::function<void(const DeviceStep&, Queue&)> step)
      : step_{std::move(step)} {}

  void take(const DeviceStep& step, Queue& queue) {
    std::unique_ptr<Recorded>& mine = steps_[key_of(step)];
    if (mine == nullptr) mine = recorded(step, queue.stream());
    mine->graph.launch(queue.stream());
    queue.count(mine->traffic);
    queue.count_rebuild();
  }

 private:
  struct Recorded {
    Traffic traffic;
    Graph graph;
  };
  /// Everything that one step may do otherwise than another: where its vectors are, and what
  /// belongs on the other side before it and after. A graph must not outlive its memory: launched
  /// with new memory at the same addresses, it is an invalid argument.
  using Key = std::tuple<std::uint64_t, const void*, const void*, bool, bool>;

  static Key key_of(const DeviceStep& step) {
    return {step.memory, step.from, step.tests, step.first, step.last};
  }
  [[nodiscard]] std::unique_ptr<Recorded> recorded(const DeviceStep& step, const Stream& stream) {
    Queue queue{stream};
    Graph graph{stream, [&] { step_(step, queue); }};
    Traffic traffic = queue.traffic();
    traffic.launches = 1;
    return std::make_unique<Recorded>(Recorded{traffic, std::move(graph)});
  }

  std::function<void(const DeviceStep&, Queue&)> step_;
  std::map<Key, std::unique_ptr<Recorded>> steps_;
};

DeviceKernel make(const Problem& problem, const Choice& choice) {
  DeviceKernel kernel = makers<MakeDeviceKernel>().at(rung.before)(problem, choice);
  const auto steps = std::make_shared<RecordedSteps>(std::move(kernel.step));
  kernel.step = [steps](const DeviceStep& step, Queue& queue) { steps->take(step, queue); };
  return kernel;
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::graph
