// Work that waits in its stream until the host lets it go. The time between two events around it is
// then the device's alone: the calls that queue it have long returned when the first event happens.
#pragma once

#include "harness/cuda/access.cuh"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/record/measurement.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace strata::starting_gate {

/// Waits until *word has come to `ticket`, and no longer than `patience` nanoseconds: whoever holds
/// a gate and never opens it (a call that waits for the work behind it) must not hang the device.
static __global__ void hold(const std::uint32_t* word, std::uint32_t ticket, std::uint64_t patience,
                            std::uint32_t* lost) {
  const std::uint64_t began = global_nanoseconds();
  while (true) {
    const auto seen = load_word<Access::global_relaxed_sys>(word);
    if (static_cast<std::int32_t>(seen - ticket) >= 0) return;
    if (global_nanoseconds() - began > patience) {
      *lost = ticket;
      return;
    }
  }
}

/// One gate, shut and opened any number of times, one after the other.
class StartingGate {
 public:
  StartingGate() {
    words_.span()[0] = 0;
    words_.span()[1] = 0;
    void* seen = nullptr;
    cuda_check(cudaHostGetDevicePointer(&seen, words_.data(), 0));
    seen_by_device_ = static_cast<std::uint32_t*>(seen);
  }

  /// What is launched on `stream` from here on waits for open().
  void shut(const Stream& stream) {
    constexpr std::uint64_t patience = 200'000'000;
    ++ticket_;
    hold<<<1, 1, 0, stream.get()>>>(seen_by_device_, ticket_, patience, seen_by_device_ + 1);
    cuda_check(cudaGetLastError());
  }
  void open() {
    std::atomic_ref<std::uint32_t>{words_.span()[0]}.store(ticket_, std::memory_order_release);
  }

  /// How often it was shut.
  [[nodiscard]] std::uint32_t tickets() const { return ticket_; }

  /// `queue`: no work after the first `before` times went before it was let go. To be asked when
  /// nothing is on its way.
  [[nodiscard]] Gate gate(std::uint32_t before = 0) const {
    const std::uint32_t lost = words_.span()[1];
    if (lost <= before) return {"queue", Verdict::passed, "all work was queued before it began"};
    return {"queue", Verdict::failed,
            "the kernel that holds work back gave up waiting, last at " + std::to_string(lost) +
                " of " + std::to_string(ticket_)};
  }

 private:
  PinnedBuffer<std::uint32_t> words_{2};
  std::uint32_t* seen_by_device_ = nullptr;
  std::uint32_t ticket_ = 0;
};

}  // namespace strata::starting_gate
