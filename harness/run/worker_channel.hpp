// The messages between parent and worker: one JSON object per line. The parent writes one line to
// the worker's stdin; the worker answers on descriptor 3, so that output of libraries on stdout or
// stderr cannot be mistaken for an answer.
#pragma once

#include "harness/base/subprocess.hpp"
#include "harness/record/json_fields.hpp"
#include "harness/record/run_folder.hpp"

#include <cstddef>
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
  StepTimes steps;   ///< of traced cases
};

void fields(JsonFields& json, WorkerJob& job);
/// Reads the job from stdin up to its end. Throws FormatError.
[[nodiscard]] WorkerJob read_job();

/// The first message: the device is open and, for timing, settled.
struct DeviceMessage {
  static constexpr std::string_view kind = "device";
  Backend backend = Backend::host;
  DeviceIdentity identity;
  Facts conditions;
  Facts timer;
  HostInfo host;
  CountersInfo counters;  ///< of a probe: the counter plan, or why counters are unavailable
};

/// Sent instead, as the last message, when the device or the counters cannot be used.
struct RefusedMessage {
  static constexpr std::string_view kind = "refused";
  std::string reason;
  std::string mend;            ///< the remedy; empty if none
  bool bad_selection = false;  ///< the selection of counters has unknown names
};

/// Work on this case starts now. A crash before its record, or before the next BeginMessage where
/// cases are counted together, is attributed to this case.
struct BeginMessage {
  static constexpr std::string_view kind = "begin";
  std::string id;
};

/// The case is finished. `fatal`: this process can no longer use the device and exits.
struct CaseMessage {
  static constexpr std::string_view kind = "case";
  CaseRecord record;
  bool fatal = false;
};

/// Every case of the job is finished. The last message.
struct EndMessage {
  static constexpr std::string_view kind = "end";
  Facts conditions;
};

using WorkerMessage =
    std::variant<DeviceMessage, RefusedMessage, BeginMessage, CaseMessage, EndMessage>;

/// A case record that the format cannot hold (a sample that is not finite, …) is written as failed,
/// with the reason.
void fields(JsonFields& json, WorkerMessage& message);

/// The worker's side: writes one complete message to the parent. Throws std::system_error when the
/// parent is gone.
void send(const WorkerMessage& message);

/// What a non-blocking descriptor has to read now: a few MiB at most, so that no writer can block
/// the caller.
struct Available {
  std::string text;
  bool closed = false;  ///< end of file, or an error: nothing more will come
};
[[nodiscard]] Available read_available(int fd);

/// Splits the data of a non-blocking descriptor into lines of bounded length.
class LineReader {
 public:
  static constexpr std::size_t default_limit = std::size_t{8} << 20;

  struct Line {
    std::string text;  ///< without its newline; only the start of a line that is too long
    bool too_long = false;
  };
  struct Batch {
    std::vector<Line> lines;
    std::size_t bytes = 0;  ///< read in this call
    bool closed = false;
  };

  explicit LineReader(std::size_t limit = default_limit) : limit_{limit} {}
  /// All complete lines that are available now. An incomplete line at end of file is dropped: its
  /// writer died.
  [[nodiscard]] Batch read(int fd);

 private:
  std::size_t limit_;
  std::string pending_;
  bool overflowed_ = false;  ///< in the rest of a line that was too long
};

}  // namespace strata
