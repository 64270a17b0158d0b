#include "nbody/neighbours/device_rung.cuh"

#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace strata::neighbours::graph {
namespace {

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
  DeviceKernel kernel = maker_of<MakeDeviceKernel>("neighbours_runs")(problem, choice);
  const auto steps = std::make_shared<RecordedSteps>(std::move(kernel.step));
  kernel.step = [steps](const DeviceStep& step, Queue& queue) { steps->take(step, queue); };
  return kernel;
}

STRATA_RUNG("neighbours_graph", make);

}  // namespace
}  // namespace strata::neighbours::graph
