// GPUs other than the measuring one: a peer, whose memory is accessed and whose L2 is put into a
// known state; and several GPUs that work simultaneously, each driven by its own host thread.
#pragma once

#include "harness/base/finally.hpp"
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

/// Makes `device` current during the lifetime of the result.
[[nodiscard]] Finally current_device(int device);

/// Returns make(), called with `device` current.
template <class Make>
auto made_on(int device, Make&& make) {
  const Finally current = current_device(device);
  return std::forward<Make>(make)();
}

/// Enables access of the current device to the memory of `there` during the lifetime of the result.
/// Throws Skipped if there is no direct path.
[[nodiscard]] Finally peer_access(int there);

/// The next GPU after the current one among those visible to this process. No other run measures it
/// during the lifetime of this object.
class Peer {
 public:
  /// Throws Skipped if there is no other GPU, no direct path to its memory, or another run uses it.
  Peer();

  [[nodiscard]] int here() const { return here_; }
  [[nodiscard]] int there() const { return there_; }
  /// Its number and name, and the rank of the path to it if the driver knows one.
  [[nodiscard]] Facts facts() const;

  /// Evicts its L2; with Start::in_l2 then loads the `bytes` from `data` on, as far as they fit.
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
  std::optional<Cache> cache_;  // on the peer, created on first use
};

class GpuTeam {
 public:
  /// The GPUs visible to this process.
  [[nodiscard]] static std::size_t visible();

  /// The current device and the following ones, which no other run measures during the lifetime of
  /// this object. Creates their contexts. Throws Skipped if another run has one of them.
  explicit GpuTeam(std::size_t gpus);

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] int device(std::size_t rank) const { return members_[rank].device; }
  [[nodiscard]] const Stream& stream(std::size_t rank) const { return members_[rank].stream; }
  /// Seconds spent on creating the contexts.
  [[nodiscard]] double context_seconds() const { return context_seconds_; }

  /// Part of the work of a GPU: queues the work of GPU `rank` on its stream.
  using Part = std::function<void(std::size_t rank)>;
  /// Calls make(rank) for each GPU, with that GPU current.
  void on_each(const Part& make) const;
  /// Does the work of all GPUs, which start together. `device`: the time between the events around
  /// `work`, on the slowest GPU. `caller`: from the common start until the last GPU is done,
  /// including the work before and after the events. Rethrows the first GPU's exception.
  [[nodiscard]] BothSides time(const Part& work, const Part& before = nullptr,
                               const Part& after = nullptr);
  /// For use in the work of every GPU: later work in its stream waits for all earlier work in the
  /// streams of the others. A GPU whose work failed is not waited for.
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
  std::vector<DeviceLock> locks_;          // on all but the current one
  std::optional<std::barrier<>> meeting_;  // during work
  double context_seconds_ = 0;
};

}  // namespace strata
