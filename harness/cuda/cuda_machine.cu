#include "harness/cuda/access.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/stamps.cuh"

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace strata {
namespace {

/// Waits until *word has reached `ticket`, for at most `patience` nanoseconds: a gate that is never
/// opened (by a call that waits for the work behind it) must not hang the device.
__global__ void hold(const std::uint32_t* word, std::uint32_t ticket, std::uint64_t patience,
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

/// Holds work back in its stream until the host releases it. The time between two events around it
/// is then only the device's, because the calls that queue it returned long before the first event.
/// Can be shut and opened repeatedly, one after the other.
class StartingGate {
 public:
  StartingGate() {
    std::ranges::fill(words_.span(), 0U);
    void* seen = nullptr;
    cuda_check(cudaHostGetDevicePointer(&seen, words_.data(), 0));
    seen_by_device_ = static_cast<std::uint32_t*>(seen);
  }

  /// Work launched on `stream` from here on waits for open().
  void shut(const Stream& stream) {
    constexpr std::uint64_t patience = 200'000'000;
    ++ticket_;
    hold<<<1, 1, 0, stream.get()>>>(seen_by_device_, ticket_, patience, seen_by_device_ + 1);
    cuda_check(cudaGetLastError());
  }
  void open() {
    std::atomic_ref<std::uint32_t>{words_.span()[0]}.store(ticket_, std::memory_order_release);
  }

  /// The number of times that it was shut.
  [[nodiscard]] std::uint32_t tickets() const { return ticket_; }
  /// `queue`: after the first `before` times, no work ran before it was released. Call it only when
  /// no work is in flight.
  [[nodiscard]] Gate gate(std::uint32_t before) const {
    const std::uint32_t lost = words_.span()[1];
    if (lost <= before) return {"queue", Verdict::passed, "all work was queued before it began"};
    return {"queue", Verdict::failed,
            "the kernel that holds back the work timed out, last at " + std::to_string(lost) +
                " of " + std::to_string(ticket_)};
  }

 private:
  PinnedBuffer<std::uint32_t> words_{2};
  std::uint32_t* seen_by_device_ = nullptr;
  std::uint32_t ticket_ = 0;
};

constexpr Stamp blank_stamp{.cycles = {~0ULL}, .nanoseconds = {~0ULL}};

}  // namespace

/// State shared by all cases of a device, created once because that costs more than a short case.
struct CudaMachine::Tools {
  Stream stream;
  Event begin;
  Event end;
  StartingGate gate;
};

CudaMachine::CudaMachine(Session& session, std::size_t writers, Stamps stamps)
    : session_{session},
      tools_{session.cache().shared<Tools>()},
      held_before_{tools_.gate.tickets()},
      stamps_{stamps == Stamps::merged_by_sm ? most_sms : std::max<std::size_t>(writers, 1)},
      stamps_host_{stamps_.size()} {
  if (stamps == Stamps::merged_by_sm) {
    std::ranges::fill(blank_.emplace(stamps_.size(), Where::current()).span(), blank_stamp);
  }
  poison();  // A benchmark without stamps never does, but each timing copies them to the host.
}

const Stream& CudaMachine::stream() const {
  return tools_.stream;
}

std::function<double()> CudaMachine::replays(int repetitions, const std::function<void()>& work) {
  if (repetitions < 1) throw std::invalid_argument{"a graph needs at least one repetition"};
  return strata::replays(tools_.stream, tools_.begin, tools_.end, repetitions, work);
}

BothSides CudaMachine::time_both_sides(const std::function<void()>& work, bool held,
                                       const Around& around) {
  const auto began = HostClock::now();
  BothSides seen;
  held_ = held_ || held;
  if (held) tools_.gate.shut(tools_.stream);
  if (around.before) launch(around.before);
  tools_.begin.record(tools_.stream);
  launch(work);
  seen.calls = since(began);
  tools_.end.record(tools_.stream);
  if (around.after) launch(around.after);
  if (held) tools_.gate.open();
  tools_.stream.synchronize();
  seen.caller = since(began);
  seen.device = tools_.end.seconds_since(tools_.begin);
  return seen;
}

double CudaMachine::time_caller(const std::function<void()>& work) {
  const auto began = HostClock::now();
  launch(work);
  tools_.stream.synchronize();
  return since(began);
}

const TimerNames& CudaMachine::names() const {
  static const TimerNames names{.inside = "clock64_slope",
                                .outside = "event_slope",
                                .whole = "event",
                                .clock = "clock64_over_globaltimer"};
  return names;
}

void CudaMachine::evict() {
  session_.cache().shared<Eviction>().evict(tools_.stream.get());
}

const DeviceBuffer<uint4>& CudaMachine::words_to_sweep() {
  return session_.cache().shared<Eviction>().buffer();
}

void CudaMachine::touch(const void* data, std::size_t bytes) {
  session_.cache().shared<Eviction>().touch(data, bytes, tools_.stream.get());
}

void CudaMachine::poison() {
  const cudaStream_t stream = tools_.stream.get();
  for (const OnStream& poison : poisons_)
    poison(stream);
  if (blank_) {
    blank_->upload_to(stamps_, stream);
  } else {
    stamps_.poison(Output<Stamp>::poison_byte, stream);
  }
}

void CudaMachine::launch(const std::function<void()>& work) {
  work();
  cuda_check(cudaGetLastError());
}

double CudaMachine::time(const std::function<void()>& work, bool held) {
  const BothSides seen = time_both_sides(work, held, {.after = [&] { queue_landing(); }});
  take_stamps();
  return seen.device;
}

void CudaMachine::land() {
  queue_landing();
  tools_.stream.synchronize();
  take_stamps();
}

void CudaMachine::queue_landing() {
  const cudaStream_t stream = tools_.stream.get();
  stamps_host_.download_from(stamps_, stream);
  for (const OnStream& land : landings_)
    land(stream);
}

void CudaMachine::take_stamps() {
  const auto all = stamps_host_.span();
  landed_stamps_.assign(all.begin(), all.end());
  if (!blank_) return;
  for (std::size_t sm = 0; sm < landed_stamps_.size(); ++sm)
    landed_stamps_[sm].core = static_cast<std::uint32_t>(sm);
  std::erase_if(landed_stamps_, [](const Stamp& stamp) { return stamp.tag == 0; });
}

KernelCode CudaMachine::code(const void* kernel) const {
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel));
  return {.local_bytes = attributes.localSizeBytes,
          .registers = attributes.numRegs,
          .shared_bytes = attributes.sharedSizeBytes};
}

std::optional<Gate> CudaMachine::gate() const {
  if (!held_) return std::nullopt;
  return tools_.gate.gate(held_before_);
}

}  // namespace strata
