// What parent and worker say to each other: one JSON object a line. The parent's only line goes to
// the worker's stdin; the worker answers on descriptor 3, so nothing that a library prints to
// stdout or stderr can be taken for an answer.
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

/// The worker's orders: these cases, in this order.
struct WorkerJob {
  Plan plan;
  std::vector<Case> cases;
  std::string note;  ///< why a timed case has no counts (Counting::note)
};

void fields(JsonFields& json, WorkerJob& job);
/// Reads the job from `fd` (stdin) up to its end. Throws FormatError, std::system_error.
[[nodiscard]] WorkerJob read_job(int fd);

/// What a worker found when it was asked to open counters. Without a plan there are none.
struct CountersAnswer {
  std::optional<CounterPlan> plan;
  std::string reason;         ///< why they cannot be had
  std::string mend;           ///< what a person can do about it; empty when nothing
  std::string bad_selection;  ///< what was asked for does not exist: one line for the user
};

/// First of all: the device is open and, where it is to be timed, settled.
struct DeviceMessage {
  Backend backend = Backend::host;
  DeviceIdentity identity;
  Facts conditions;
  Facts timer;
  HostInfo host;
  Facts libraries;
  std::optional<CountersAnswer> counters;  ///< nothing when they were not asked for
};

/// Instead: the device cannot be used, for this reason. The last message.
struct RefusedMessage {
  std::string reason;
};

/// Instead, of a worker that counts: the counters cannot be used. The last message.
struct CountersRefusedMessage {
  std::string reason;
  std::string mend;
};

/// Work on this case starts now: whatever happens until its record, or until the next of these
/// where cases are counted together, is this case's doing.
struct BeginMessage {
  std::string id;
};

/// The case is finished. Fatal: the device is poisoned for this process, which now exits.
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

/// Splits what a non-blocking descriptor gives into lines of a bounded length.
class LineReader {
 public:
  static constexpr std::size_t default_limit = std::size_t{8} << 20;

  explicit LineReader(std::size_t limit = default_limit) : limit_{limit} {}

  struct Line {
    std::string text;  ///< without its newline; the start of it when too long
    bool too_long = false;
  };
  struct Batch {
    std::vector<Line> lines;
    std::size_t bytes = 0;  ///< read in this call
    bool closed = false;    ///< end of file, or an error: nothing more will come
  };

  /// All whole lines that can be had now. At end of file what is left of a line is dropped: its
  /// writer died within it. Gives up its turn after a few MiB, so that no writer can hold it.
  [[nodiscard]] Batch read(int fd);

 private:
  std::size_t limit_;
  std::string pending_;
  bool overflowed_ = false;  ///< in the rest of a line that was too long
};

}  // namespace strata
