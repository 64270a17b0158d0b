// The engine's view of a CUDA device: one stream, events around launches, a gate that holds them
// back, and stamps and outputs that are poisoned before a launch and copied to the host after it.
#pragma once

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/measure/machine.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/device_facts.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace strata {

/// Output of a launch in device memory, besides its stamps.
template <class T>
class Output {
 public:
  static constexpr int poison_byte = 0xA5;
  explicit Output(std::size_t count) : device_{count}, host_{count} {}
  [[nodiscard]] T* data() const noexcept { return device_.data(); }  ///< on the device
  [[nodiscard]] std::span<T> landed() const noexcept { return host_.span(); }
  [[nodiscard]] std::size_t size() const noexcept { return device_.size(); }
  void poison(cudaStream_t stream) { device_.poison(poison_byte, stream); }
  void land(cudaStream_t stream) { host_.download_from(device_, stream); }

 private:
  DeviceBuffer<T> device_;
  PinnedBuffer<T> host_;
};

class CudaMachine final : public Machine {
 public:
  enum class Stamps { by_writer, merged_by_sm };

  /// With room for the stamps of `writers`. If they are merged by SM, `writers` is not used, and
  /// stamps() holds those of the SMs that took part.
  CudaMachine(Session& session, std::size_t writers, Stamps stamps = Stamps::by_writer);

  /// The stream of all launches.
  [[nodiscard]] const Stream& stream() const;
  /// Device memory for the stamps of a kernel.
  [[nodiscard]] Stamp* device_stamps() const { return stamps_.data(); }
  /// Device memory for `count` elements that a launch writes, owned by the machine. `poisoned`
  /// before each launch, else once: whatever no launch writes is copied back, too.
  template <class T>
  Output<T>& output(std::size_t count, bool poisoned = true) {
    const auto made = std::make_shared<Output<T>>(count);
    if (poisoned) {
      poisons_.push_back([made](auto stream) { made->poison(stream); });
    } else {
      made->poison(stream().get());
    }
    landings_.push_back([made](auto stream) { made->land(stream); });
    return *made;
  }

  /// Captures `work`, which launches on the stream, repeatedly into one graph. Each call replays
  /// the graph and returns the seconds of one repetition, without the host between repetitions.
  /// Outputs are not copied to the host: land() does that.
  [[nodiscard]] std::function<double()> replays(int repetitions, const std::function<void()>& work);

  /// Seconds of work in which the host takes part. Nothing is poisoned or copied: the benchmark
  /// calls poison() and land(). Work in `around` counts only for the caller.
  [[nodiscard]] BothSides time_both_sides(const std::function<void()>& work, bool held,
                                          const Around& around = {});
  /// Seconds of the caller, without events around the work.
  [[nodiscard]] double time_caller(const std::function<void()>& work);

  /// A buffer larger than L2, for a kernel that evicts L2 within its launch (sweep.cuh).
  [[nodiscard]] const DeviceBuffer<uint4>& words_to_sweep();

  [[nodiscard]] const TimerNames& names() const override;
  void evict() override;
  void touch(const void* data, std::size_t bytes) override;
  void poison() override;
  void launch(const std::function<void()>& work) override;
  [[nodiscard]] double time(const std::function<void()>& work, bool held) override;
  void land() override;
  [[nodiscard]] std::span<const Stamp> stamps() const override { return landed_stamps_; }
  [[nodiscard]] KernelCode code(const void* kernel) const override;
  [[nodiscard]] std::optional<Gate> gate() const override;

 private:
  struct Tools;
  void queue_landing();
  void take_stamps();

  Session& session_;
  Tools& tools_;
  bool held_ = false;
  std::uint32_t held_before_;  // shut by earlier cases
  DeviceBuffer<Stamp> stamps_;
  PinnedBuffer<Stamp> stamps_host_;
  std::optional<PinnedBuffer<Stamp>> blank_;  // initial value of merged stamps
  std::vector<Stamp> landed_stamps_;
  using OnStream = std::function<void(cudaStream_t)>;  // for an output, which they own
  std::vector<OnStream> poisons_;
  std::vector<OnStream> landings_;
};

}  // namespace strata
