// Who records what ran when: the host's own marks here, and what the device did where a profiler
// records it.
#pragma once

#include "harness/case/enum_words.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {

/// What a part of a step is for; `idle` is what no record covers.
enum class StepPhase : std::uint8_t { allocate, copy_in, build, search, sum, move, copy_out, idle };
constexpr auto words_of(StepPhase /*unused*/) {
  return std::to_array<std::string_view>(
      {"allocate", "copy_in", "build", "search", "sum", "move", "copy_out", "idle"});
}
inline constexpr std::size_t step_phases = words_of(StepPhase{}).size();

/// Something that ran from `begin` to `end`, in nanoseconds of one clock.
struct Activity {
  enum class Of : std::uint8_t { kernel, fill, copy_in, copy_out, copy_within, host };
  Of of = Of::kernel;
  std::string kernel = {};           ///< as the linker knows it
  StepPhase host = StepPhase::idle;  ///< of work on the host: what it is for
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t bytes = 0;  ///< of copies
  std::uint64_t count = 1;  ///< of launches or copies, where it stands for several
};

/// Records the marks of the host, all of one thread at a time. For a device it is derived from.
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
  /// Nanoseconds of the clock of the records.
  [[nodiscard]] virtual std::int64_t now() const;
  /// Forgets what was recorded. The device is idle.
  virtual void begin() { marks_.clear(); }
  /// What was recorded since then. The device is idle. Throws std::runtime_error where something
  /// was lost.
  [[nodiscard]] virtual std::vector<Activity> end() { return std::exchange(marks_, {}); }

  void mark(Activity of_host) { marks_.push_back(std::move(of_host)); }
  /// What goes into the device's `queue` from here on is a piece of such work, up to end_piece().
  /// Only who keeps no records of the device's needs to be told.
  virtual void begin_piece(void* /*queue*/, Activity /*what*/) {}
  virtual void end_piece(void* /*queue*/) {}

 private:
  std::vector<Activity> marks_;
};

/// Points in the queue of a device, each with the time at which the device got there.
class DeviceMarks {
 public:
  DeviceMarks() = default;
  DeviceMarks(const DeviceMarks&) = delete;
  DeviceMarks& operator=(const DeviceMarks&) = delete;
  DeviceMarks(DeviceMarks&&) = delete;
  DeviceMarks& operator=(DeviceMarks&&) = delete;
  virtual ~DeviceMarks() = default;

  /// Forgets all.
  virtual void clear() = 0;
  /// Puts one behind the others.
  virtual void put(void* queue) = 0;
  /// Of each, in their order: nanoseconds since the first. All were reached.
  [[nodiscard]] virtual std::vector<std::int64_t> nanoseconds() = 0;
};

/// Stands in for a profiler's records: marks around every piece of work that the program queues. It
/// sees neither what somebody else queues nor what a graph consists of, each mark costs the queue
/// some time, and the clocks of host and device are as far apart as the first mark took.
class MarkTracer final : public Tracer {
 public:
  explicit MarkTracer(std::unique_ptr<DeviceMarks> marks) : device_{std::move(marks)} {}

  [[nodiscard]] const char* method() const override { return "cuda_event"; }
  void begin() override;
  [[nodiscard]] std::vector<Activity> end() override;
  void begin_piece(void* queue, Activity what) override;
  void end_piece(void* queue) override;

 private:
  std::unique_ptr<DeviceMarks> device_;
  std::vector<Activity> pieces_;  ///< whose times are told at the end
  std::int64_t zero_ = 0;         ///< when the first mark was put, by now()
};

/// Queues a piece of work of a device. Without a tracer it only does that.
template <class Work>
void queue_piece(Tracer* tracer, void* queue, Activity what, Work&& work) {
  if (tracer != nullptr) tracer->begin_piece(queue, std::move(what));
  std::forward<Work>(work)();
  if (tracer != nullptr) tracer->end_piece(queue);
}

/// What the host does while this lives is for `phase`. Without a tracer it does nothing.
class HostPhase {
 public:
  HostPhase(Tracer* tracer, StepPhase phase)
      : tracer_{tracer}, phase_{phase}, begin_{tracer == nullptr ? 0 : tracer->now()} {}
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
/// CUDA's events. Throws DeviceUnavailable in a build without CUDA.
[[nodiscard]] std::unique_ptr<DeviceMarks> open_device_marks();

}  // namespace strata
