// Several GPUs at work at once, each driven by a host thread of its own.
#pragma once

#include "harness/cuda/stream.hpp"
#include "harness/measure/machine.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace strata {

class GpuTeam {
 public:
  /// The GPUs that this process sees.
  [[nodiscard]] static std::size_t visible();

  /// The current device and those after it. Makes their contexts.
  explicit GpuTeam(std::size_t gpus);

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] const Stream& stream(std::size_t rank) const { return members_[rank].stream; }
  /// What making the contexts took.
  [[nodiscard]] double context_seconds() const { return context_seconds_; }

  /// Calls make(rank) for each GPU, which is the current device meanwhile.
  void on_each(const std::function<void(std::size_t)>& make) const;

  /// Part of the work of a GPU: it queues what the GPU `rank` does on its stream.
  using Part = std::function<void(std::size_t rank)>;
  /// Does the work of all GPUs, which start together. `device`: between the events around `work`,
  /// of the GPU that took longest. `caller`: from the common start to when the last GPU is done,
  /// with what comes before and after the events inside. Rethrows the first GPU's exception.
  [[nodiscard]] BothSides time(const Part& work, const Part& before = nullptr,
                               const Part& after = nullptr);

 private:
  struct Member {
    int device;
    Stream stream;
    Event begin;
    Event end;
  };

  std::vector<Member> members_;
  double context_seconds_ = 0;
};

}  // namespace strata
