// Records of what ran when: the host's own marks, and the device's work if a profiler records it.
#pragma once

#include "harness/base/enum_words.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {

/// The purpose of a part of a step; `idle` is time that no record covers.
enum class StepPhase : std::uint8_t { allocate, copy_in, build, search, sum, move, copy_out, idle };
constexpr auto words_of(StepPhase /*unused*/) {
  return std::to_array<std::string_view>(
      {"allocate", "copy_in", "build", "search", "sum", "move", "copy_out", "idle"});
}
inline constexpr std::size_t step_phases = static_cast<std::size_t>(StepPhase::idle) + 1;

/// Something that ran from `begin` to `end`, in nanoseconds of one clock.
struct Activity {
  enum class Of : std::uint8_t { kernel, fill, copy_in, copy_out, copy_within, host };
  Of of = Of::kernel;
  std::string kernel = {};           ///< mangled name
  StepPhase host = StepPhase::idle;  ///< for work on the host: its purpose
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t bytes = 0;         ///< of copies
  std::uint64_t count = 1;         ///< of launches or copies that it represents
  std::uint64_t graph_launch = 0;  ///< the launch of a graph that it is part of; 0: none
};

/// Records the marks of the host, at most one thread at a time. Derived classes add a device.
class Tracer {
 public:
  Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  Tracer(Tracer&&) = delete;
  Tracer& operator=(Tracer&&) = delete;
  virtual ~Tracer() = default;

  /// The method of its rows.
  [[nodiscard]] virtual const char* method() const { return "host_clock"; }
  /// Whether a sample takes longer while it is recorded.
  [[nodiscard]] virtual bool slows() const { return false; }
  /// Nanoseconds of the clock of the records.
  [[nodiscard]] virtual std::int64_t now() const;
  /// Discards earlier records. The device is idle.
  virtual void begin() {
    marks_.clear();
    records_ = true;
  }
  /// Returns the records since begin(). The device is idle. Throws std::runtime_error if records
  /// were lost.
  [[nodiscard]] virtual std::vector<Activity> end() {
    records_ = false;
    return std::exchange(marks_, {});
  }

  void mark(Activity of_host) { marks_.push_back(std::move(of_host)); }
  /// Work put into the device's `queue` from here to end_piece() is one piece of kind `what`. Only
  /// a tracer without records of the device needs this.
  virtual void begin_piece(void* /*queue*/, const Activity& /*what*/) {}
  virtual void end_piece(void* /*queue*/) {}

  /// Itself between begin() and end(), otherwise null, so that marks cost no time.
  [[nodiscard]] Tracer* if_recording() { return records_ ? this : nullptr; }

 private:
  std::vector<Activity> marks_;
  bool records_ = false;
};
[[nodiscard]] inline Tracer* if_recording(Tracer* tracer) {
  return tracer == nullptr ? nullptr : tracer->if_recording();
}

/// Marks in the queue of a device, each with the time at which the device reached it.
class DeviceMarks {
 public:
  DeviceMarks() = default;
  DeviceMarks(const DeviceMarks&) = delete;
  DeviceMarks& operator=(const DeviceMarks&) = delete;
  DeviceMarks(DeviceMarks&&) = delete;
  DeviceMarks& operator=(DeviceMarks&&) = delete;
  virtual ~DeviceMarks() = default;

  /// Removes all marks.
  virtual void clear() = 0;
  /// Appends a mark.
  virtual void put(void* queue) = 0;
  /// Nanoseconds of each mark since the first, in order. All must have been reached.
  [[nodiscard]] virtual std::vector<std::int64_t> nanoseconds() = 0;
};

/// Replaces a profiler's records by marks around every piece of work that the program queues. It
/// does not see other programs' work or the parts of a graph, each mark costs the queue some time,
/// and the clocks of host and device differ by the time that the first mark took.
class MarkTracer final : public Tracer {
 public:
  explicit MarkTracer(std::unique_ptr<DeviceMarks> marks) : device_{std::move(marks)} {}

  [[nodiscard]] const char* method() const override { return "cuda_event"; }
  [[nodiscard]] bool slows() const override { return true; }
  void begin() override;
  [[nodiscard]] std::vector<Activity> end() override;
  void begin_piece(void* queue, const Activity& what) override;
  void end_piece(void* queue) override;

 private:
  std::unique_ptr<DeviceMarks> device_;
  std::vector<Activity> pieces_;  ///< whose times become known at the end
  std::int64_t zero_ = 0;         ///< now() at the first mark
};

/// Queues a piece of device work, marked if there is a tracer.
template <class Work>
void queue_piece(Tracer* tracer, void* queue, const Activity& what, Work&& work) {
  tracer = if_recording(tracer);
  if (tracer != nullptr) tracer->begin_piece(queue, what);
  std::forward<Work>(work)();
  if (tracer != nullptr) tracer->end_piece(queue);
}

/// Marks the host's work during its lifetime as `phase`. Without a tracer it does nothing.
class HostPhase {
 public:
  HostPhase(Tracer* tracer, StepPhase phase)
      : tracer_{if_recording(tracer)},
        phase_{phase},
        begin_{tracer_ == nullptr ? 0 : tracer_->now()} {}
  HostPhase(const HostPhase&) = delete;
  HostPhase& operator=(const HostPhase&) = delete;
  HostPhase(HostPhase&&) = delete;
  HostPhase& operator=(HostPhase&&) = delete;
  ~HostPhase() {
    if (tracer_ == nullptr) return;
    tracer_->mark(
        {.of = Activity::Of::host, .host = phase_, .begin = begin_, .end = tracer_->now()});
  }

 private:
  Tracer* tracer_;
  StepPhase phase_;
  std::int64_t begin_;
};

/// Records what a GPU does. Call it before the device is opened. Throws CountersUnavailable. The
/// implementation is a link-time choice: CUPTI, or a stand-in that reports its absence.
[[nodiscard]] std::unique_ptr<Tracer> open_device_tracer(int ordinal);
/// Device marks by CUDA events. Throws DeviceUnavailable in a build without CUDA.
[[nodiscard]] std::unique_ptr<DeviceMarks> open_device_marks();

}  // namespace strata
