// Other GPUs than the one that measures: the one beside it, whose memory is reached and whose L2 is
// put into a known state, and several at work at once, each driven by a host thread of its own.
#pragma once

#include "harness/case/finally.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/measure/device_lock.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/measure/machine.hpp"
#include "harness/record/measurement.hpp"

#include <barrier>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata {

/// `device` is the current one until the result goes.
[[nodiscard]] Finally current_device(int device);

/// What `make` makes on `device`.
template <class Make>
auto made_on(int device, Make&& make) {
  const Finally current = current_device(device);
  return std::forward<Make>(make)();
}

/// The current device reaches the memory of `there` until the result goes. Throws Skipped where
/// there is no direct way.
[[nodiscard]] Finally peer_access(int there);

/// The GPU after the current one among those that this process sees. No other run measures it as
/// long as this lives.
class Peer {
 public:
  /// Throws Skipped where there is no other GPU, no direct way to its memory, or another run on it.
  Peer();

  [[nodiscard]] int here() const { return here_; }
  [[nodiscard]] int there() const { return there_; }
  /// Its number and name, and the rank of the way to it where the driver knows one.
  [[nodiscard]] Facts facts() const;

  /// Its L2 holds nobody's data when this returns; with Start::in_l2 the `bytes` from `data` on, as
  /// far as they fit.
  void prepare(Start start, const void* data, std::size_t bytes);

 private:
  struct Cache {
    Eviction eviction;
    Stream stream;
  };

  int here_ = 0;
  int there_ = 0;
  std::string name_;
  std::optional<DeviceLock> lock_;
  std::optional<Cache> cache_;  // on the peer, when it is first asked for
};

class GpuTeam {
 public:
  /// The GPUs that this process sees.
  [[nodiscard]] static std::size_t visible();

  /// The current device and those after it, which no other run measures as long as this lives.
  /// Makes their contexts. Throws Skipped where another run has one of them.
  explicit GpuTeam(std::size_t gpus);

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] int device(std::size_t rank) const { return members_[rank].device; }
  [[nodiscard]] const Stream& stream(std::size_t rank) const { return members_[rank].stream; }
  /// What making the contexts took.
  [[nodiscard]] double context_seconds() const { return context_seconds_; }

  /// Part of the work of a GPU: it queues what the GPU `rank` does on its stream.
  using Part = std::function<void(std::size_t rank)>;
  /// Calls make(rank) for each GPU, which is the current device meanwhile.
  void on_each(const Part& make) const;
  /// Does the work of all GPUs, which start together. `device`: between the events around `work`,
  /// of the GPU that took longest. `caller`: from the common start to when the last GPU is done,
  /// with what comes before and after the events inside. Rethrows the first GPU's exception.
  [[nodiscard]] BothSides time(const Part& work, const Part& before = nullptr,
                               const Part& after = nullptr);
  /// Called in the work of every GPU: what its stream is given from here on waits for all that the
  /// streams of the others were given before. Nobody waits for a GPU whose work failed.
  void join(std::size_t rank);

 private:
  struct Member {
    int device;
    Stream stream;
    Event begin;
    Event joined;
    Event end;
  };

  std::vector<Member> members_;
  std::vector<DeviceLock> locks_;          // on all but the current device, which the run has
  std::optional<std::barrier<>> meeting_;  // while work is done
  double context_seconds_ = 0;
};

}  // namespace strata
