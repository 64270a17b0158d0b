// What does it cost to create a context on each GPU, and is it hidden beside the preparation of
// data?
//
// A host thread for each GPU creates a further context (cuCtxCreate), all at the same time, and
// destroys it again. Papadouli et al. (2026, phases 0 to 2) create contexts while the input is
// generated, because creation took longer than all work of the GPUs, and reset the devices at the
// end. The input here is theirs: 32 × 4096 bodies of seven numbers, by one thread of the host. The
// process has a context on each GPU before, so that the start of the driver is in no number.
#include "harness/cuda/benchmark.cuh"
#include "harness/model/split_mix.hpp"
#include "micro/transfer/host_calls.hpp"

#ifdef __CUDACC__
#include "harness/cuda/peer.hpp"

#include <cuda.h>

#include <thread>
#endif

namespace strata::context_creation {
namespace {

Benchmark declare() {
  return {.suite = "micro",
          .name = "context_creation",
          .question =
              "What does it cost to create a context on each GPU, and is it hidden beside the "
              "preparation of data?",
          .axes = {listed_axis("gpus", "GPUs, each with a thread of the host", {"1", "2", "4"})},
          .quantities = {{"creation_seconds", "contexts on all GPUs, created at once (wall)"},
                         {"destruction_seconds", "the same contexts, destroyed at once (wall)"},
                         {"preparation_seconds", "the data alone (wall)"},
                         {"ready_seconds", "contexts and data, at the same time (wall)"}},
          .seconds_per_case = 4};
}

/// A sample.
struct Seconds {
  double creation = 0;
  double destruction = 0;
  double preparation = 0;
  double ready = 0;
};

[[maybe_unused]] std::vector<float> prepared() {
  constexpr std::size_t numbers = std::size_t{32} * 4096 * 7;
  SplitMix random{/*seed=*/2026};
  std::vector<float> data(numbers);
  for (float& one : data)
    one = static_cast<float>(random.fraction());
  return data;
}

Experiment describe(const Params& /*params*/, const GpuFacts& /*gpu*/) {
  return host_calls({{"creation_seconds", "s", "wall", number(&Seconds::creation)},
                     {"destruction_seconds", "s", "wall", number(&Seconds::destruction)},
                     {"preparation_seconds", "s", "wall", number(&Seconds::preparation)},
                     {"ready_seconds", "s", "wall", number(&Seconds::ready)}},
                    "contexts that do not exist, and data that differ from the first");
}

#ifdef __CUDACC__

using Create = CUresult (*)(CUcontext*, unsigned, CUdevice);
using Destroy = CUresult (*)(CUcontext);

/// Contexts of all GPUs, created and destroyed by a thread each.
class Contexts {
 public:
  explicit Contexts(const GpuTeam& team) : all_(team.size()) {
    for (std::size_t rank = 0; rank < team.size(); ++rank)
      devices_.push_back(team.device(rank));
    if (create_ == nullptr || destroy_ == nullptr) {
      throw Skipped{"the driver has no cuCtxCreate of CUDA 3.2 for a build with this CUDA version"};
    }
  }
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;
  Contexts(Contexts&&) = delete;
  Contexts& operator=(Contexts&&) = delete;
  ~Contexts() { destroy(); }

  /// Meanwhile, this thread does `work`.
  template <class Work>
  void create(const Work& work) {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < all_.size(); ++rank) {
      threads.emplace_back([this, rank] {
        if (create_(&all_[rank], 0, devices_[rank]) != CUDA_SUCCESS) all_[rank] = nullptr;
      });
    }
    work();
  }
  void destroy() {
    std::vector<std::jthread> threads;
    for (CUcontext& one : all_) {
      if (one != nullptr)
        threads.emplace_back([this, &one] { (void)destroy_(one), one = nullptr; });
    }
  }
  [[nodiscard]] std::size_t missing() const {
    return static_cast<std::size_t>(std::ranges::count(all_, nullptr));
  }

 private:
#if CUDART_VERSION >= 12050
  static constexpr unsigned since = 3020;
  Create create_ = driver_function<Create>("cuCtxCreate", since);
  Destroy destroy_ = driver_function<Destroy>("cuCtxDestroy", 4000);
#else  // these builds get the newest form, which takes other arguments
  Create create_ = nullptr;
  Destroy destroy_ = nullptr;
#endif
  std::vector<CUcontext> all_;
  std::vector<CUdevice> devices_;
};

void run(Session& session) {
  const auto gpus = static_cast<std::size_t>(session.whole("gpus"));
  if (gpus > GpuTeam::visible()) {
    throw Skipped{"this process sees " + std::to_string(GpuTeam::visible()) + " GPUs"};
  }
  Experiment experiment = describe(session.params(), session.gpu());
  require_timed(session, experiment);
  CudaMachine machine{session, 0};
  const GpuTeam team{gpus};
  Contexts contexts{team};
  const std::vector<float> expected = prepared();
  experiment.observe = [&] {
    std::vector<float> data;
    Tally& tally = experiment.tally;
    Seconds seconds;
    seconds.creation = machine.time_caller([&] { contexts.create([] {}); });
    tally.different += contexts.missing();
    seconds.destruction = machine.time_caller([&] { contexts.destroy(); });
    seconds.preparation = machine.time_caller([&] { data = prepared(); });
    tally.one(std::exchange(data, {}) == expected);
    seconds.ready = machine.time_caller([&] { contexts.create([&] { data = prepared(); }); });
    tally.one(data == expected);
    tally.different += contexts.missing();
    tally.checked += 2 * gpus;
    contexts.destroy();
    return sample_of(seconds);
  };
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::context_creation
