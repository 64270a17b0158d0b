// The CUDA backend of launch_overhead: launch_overhead.hpp says what it asks.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/transfer/launch_overhead.hpp"

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace strata::launch_overhead {
namespace {

constexpr int poison_byte = 0xA5;

__global__ void write_word(std::uint32_t* word, std::uint32_t value) {
  *word = value;
}

double since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

class Launcher {
 public:
  explicit Launcher(How how) : how_{how} {
    if (how == How::graph) {
      one_ = recorded(1);
      few_ = recorded(few);
      many_ = recorded(many);
    }
  }

  void prepare() {}  // each series poisons its words itself

  Observation observe() {
    const Series brief = series(few, few_.get());
    const Series full = series(many, many_.get());
    Observation seen = observation_of(brief, full);
    if (how_ != How::synchronised) seen.alone_seconds = one_by_one();
    return seen;
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.event_seconds, seen.wall_seconds, seen.alone_seconds};
  }
  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "words that launches wrote against their numbers");
  }

 private:
  void launch(std::uint32_t number) {
    write_word<<<1, 1, 0, stream_.get()>>>(words_.data() + number, token(number));
    cuda_check(cudaGetLastError());
  }

  std::unique_ptr<GraphExec> recorded(std::uint32_t count) {
    auto graph = std::make_unique<GraphExec>(Graph::capture(stream_.get(), [&] {
      for (std::uint32_t i = 0; i < count; ++i)
        launch(i);
    }));
    graph->upload(stream_.get());
    stream_.synchronize();
    return graph;
  }

  Series series(std::uint32_t count, GraphExec* graph) {
    words_.poison(poison_byte, stream_.get());
    stream_.synchronize();
    Series seen;
    const auto began = std::chrono::steady_clock::now();
    begin_.record(stream_.get());
    if (graph != nullptr) {
      graph->launch(stream_.get());
    } else {
      for (std::uint32_t i = 0; i < count; ++i) {
        launch(i);
        if (how_ == How::synchronised) stream_.synchronize();
      }
    }
    seen.calls = since(began);
    end_.record(stream_.get());
    stream_.synchronize();
    seen.wall = since(began);
    seen.event = end_.seconds_since(begin_);
    check(count);
    return seen;
  }

  /// The middle of some launches, each waited for before anything else happens.
  double one_by_one() {
    std::vector<double> seconds;
    for (std::uint32_t i = 0; i < alone; ++i) {
      words_.poison(poison_byte, stream_.get());
      stream_.synchronize();
      const auto began = std::chrono::steady_clock::now();
      if (one_) {
        one_->launch(stream_.get());
      } else {
        launch(0);
      }
      stream_.synchronize();
      seconds.push_back(since(began));
      check(1);
    }
    return middle_mean(seconds);
  }

  /// The words that were to be written are, and no other.
  void check(std::uint32_t count) {
    constexpr std::uint32_t poison = 0xA5A5A5A5U;
    const std::vector<std::uint32_t> landed = words_.to_host();
    for (std::uint32_t i = 0; i < many; ++i) {
      ++checked_;
      if (landed[i] != (i < count ? token(i) : poison)) ++different_;
    }
  }

  How how_;
  Stream stream_;
  DeviceBuffer<std::uint32_t> words_{many};
  Event begin_;
  Event end_;
  std::unique_ptr<GraphExec> one_;
  std::unique_ptr<GraphExec> few_;
  std::unique_ptr<GraphExec> many_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

void run(Session& session) {
  if (session.counters() != nullptr) throw Skipped{"a launch has nothing to count"};
  const How how = how_of(session);
  Launcher launcher{how};
  const auto seen = collect(launcher, session.plan());
  report(session, seen, how);
  session.add(launcher.result());
  session.add(repeat_unverified());
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, write_word));
  session.add(spill_gate(attributes.localSizeBytes, attributes.numRegs));
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::launch_overhead
