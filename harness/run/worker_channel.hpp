// The messages between parent and worker: one JSON object a line. The parent writes one line to the
// worker's stdin; the worker answers on descriptor 3, so that output of libraries on stdout or
// stderr cannot be mistaken for an answer.
#pragma once

#include "harness/case/case.hpp"
#include "harness/case/plan.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/device.hpp"
#include "harness/record/json_fields.hpp"
#include "harness/record/measurement.hpp"
#include "harness/record/run_folder.hpp"
#include "harness/run/subprocess.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strata {

/// The cases that a worker measures, in this order.
struct WorkerJob {
  Plan plan;
  std::vector<Case> cases;
  std::string note;  ///< why a timed case has no counts (Counting::note)
};

void fields(JsonFields& json, WorkerJob& job);
/// Reads the job from `fd` (stdin) up to its end. Throws FormatError, std::system_error.
[[nodiscard]] WorkerJob read_job(int fd);

/// The result of opening counters in a worker. Without a plan there are none.
struct CountersAnswer {
  std::optional<CounterPlan> plan;
  std::string reason;         ///< why they cannot be had
  std::string mend;           ///< what a person can do about it; empty when nothing
  std::string bad_selection;  ///< the selection has unknown names: one line for the user
};

/// The first message: the device is open and, for timing, settled.
struct DeviceMessage {
  Backend backend = Backend::host;
  DeviceIdentity identity;
  Facts conditions;
  Facts timer;
  HostInfo host;
  Facts libraries;
  std::optional<CountersAnswer> counters;  ///< nothing when they were not asked for
};

/// Sent instead when the device cannot be used. The last message.
struct RefusedMessage {
  std::string reason;
};

/// Sent instead by a counting worker when the counters cannot be used. The last message.
struct CountersRefusedMessage {
  std::string reason;
  std::string mend;
};

/// Work on this case starts now. A crash before its record, or before the next BeginMessage where
/// cases are counted together, is attributed to this case.
struct BeginMessage {
  std::string id;
};

/// The case is finished. Fatal: this process can no longer use the device and exits.
struct CaseMessage {
  CaseRecord record;
  bool fatal = false;
};

/// Every case of the job is finished. The last message.
struct EndMessage {
  Facts conditions;
};

using WorkerMessage = std::variant<DeviceMessage, RefusedMessage, CountersRefusedMessage,
                                   BeginMessage, CaseMessage, EndMessage>;

/// A case record that the format cannot hold (a sample that is not finite, …) is written as a
/// failed one whose reason says so.
void fields(JsonFields& json, WorkerMessage& message);

/// The worker's side: writes one message to the parent, whole. Throws std::system_error when the
/// parent is gone.
void send(const WorkerMessage& message, int fd = worker_channel_fd);

/// Splits the data of a non-blocking descriptor into lines of bounded length.
class LineReader {
 public:
  static constexpr std::size_t default_limit = std::size_t{8} << 20;

  explicit LineReader(std::size_t limit = default_limit) : limit_{limit} {}

  struct Line {
    std::string text;  ///< without its newline; only the start of a line that is too long
    bool too_long = false;
  };
  struct Batch {
    std::vector<Line> lines;
    std::size_t bytes = 0;  ///< read in this call
    bool closed = false;    ///< end of file, or an error: nothing more will come
  };

  /// All complete lines that are available now. An incomplete line at end of file is dropped: its
  /// writer died. Returns after a few MiB, so that no writer can block the caller.
  [[nodiscard]] Batch read(int fd);

 private:
  std::size_t limit_;
  std::string pending_;
  bool overflowed_ = false;  ///< in the rest of a line that was too long
};

}  // namespace strata
