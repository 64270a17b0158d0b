#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/eviction.hpp"
#include "harness/cuda/stamps.cuh"
#include "harness/cuda/starting_gate.cuh"
#include "harness/cuda/timer.hpp"

#include <algorithm>
#include <chrono>

namespace strata {

/// What all cases of a device share: made once, since opening them costs more than a short case.
struct CudaMachine::Tools {
  Stream stream;
  Event begin;
  Event end;
  starting_gate::StartingGate gate;
};

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

constexpr Stamp blank_stamp{.cycles = {~0ULL, 0, 0, 0, 0, 0, 0, 0},
                            .nanoseconds = {~0ULL, 0},
                            .result = 0,
                            .core = 0,
                            .tag = 0};

}  // namespace

CudaMachine::CudaMachine(Session& session, std::size_t writers, Stamps stamps)
    : session_{session},
      tools_{session.cache().shared<Tools>()},
      merged_{stamps == Stamps::merged_by_sm},
      held_before_{tools_.gate.tickets()},
      stamps_{merged_ ? most_sms : std::max<std::size_t>(writers, 1)},
      stamps_host_{stamps_.size()} {
  if (!merged_) return;
  blank_ = std::make_unique<PinnedBuffer<Stamp>>(stamps_.size());
  std::ranges::fill(blank_->span(), blank_stamp);
}

CudaMachine::~CudaMachine() = default;

const Stream& CudaMachine::stream() const {
  return tools_.stream;
}
Stamp* CudaMachine::device_stamps() const {
  return stamps_.data();
}

std::function<double()> CudaMachine::replays(int repetitions, const std::function<void()>& work) {
  const auto timer = std::make_shared<GraphTimer>(tools_.stream, repetitions, work);
  return [timer] { return timer->seconds(); };
}

BothSides CudaMachine::time_both_sides(const std::function<void()>& work, bool held,
                                       const Around& around) {
  const auto began = Clock::now();
  BothSides seen;
  held_ = held_ || held;
  if (held) tools_.gate.shut(tools_.stream);
  if (around.before) launch(around.before);
  tools_.begin.record(tools_.stream.get());
  launch(work);
  seen.calls = since(began);
  tools_.end.record(tools_.stream.get());
  if (around.after) launch(around.after);
  if (held) tools_.gate.open();
  tools_.stream.synchronize();
  seen.caller = since(began);
  seen.device = tools_.end.seconds_since(tools_.begin);
  return seen;
}

double CudaMachine::time_caller(const std::function<void()>& work) {
  const auto began = Clock::now();
  launch(work);
  tools_.stream.synchronize();
  return since(began);
}

const TimerNames& CudaMachine::names() const {
  static const TimerNames names{.cycle = "cycle",
                                .inside = "clock64_slope",
                                .outside = "event_slope",
                                .whole = "event",
                                .clock = "clock64_over_globaltimer"};
  return names;
}

void CudaMachine::evict() {
  session_.cache().shared<Eviction>().evict(tools_.stream.get());
}

void CudaMachine::touch(const void* data, std::size_t bytes) {
  session_.cache().shared<Eviction>().touch(data, bytes, tools_.stream.get());
}

void CudaMachine::poison() {
  const cudaStream_t stream = tools_.stream.get();
  for (const auto& output : outputs_)
    output->poison(stream);
  if (merged_) {
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
  Stream& stream = tools_.stream;
  held_ = held_ || held;
  if (held) tools_.gate.shut(stream);
  tools_.begin.record(stream.get());
  launch(work);
  tools_.end.record(stream.get());
  queue_landing();
  if (held) tools_.gate.open();
  stream.synchronize();
  take_stamps();
  return tools_.end.seconds_since(tools_.begin);
}

void CudaMachine::land() {
  queue_landing();
  tools_.stream.synchronize();
  take_stamps();
}

void CudaMachine::queue_landing() {
  const cudaStream_t stream = tools_.stream.get();
  stamps_host_.download_from(stamps_, stream);
  for (const auto& output : outputs_)
    output->land(stream);
}

void CudaMachine::take_stamps() {
  const auto all = stamps_host_.span();
  landed_stamps_.assign(all.begin(), all.end());
  if (!merged_) return;
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

std::optional<Gate> CudaMachine::queue() const {
  if (!held_) return std::nullopt;
  return tools_.gate.gate(held_before_);
}

}  // namespace strata
