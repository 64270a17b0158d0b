// Hardware counters as a benchmark sees them: a source runs a piece of work as many times as
// needed, each time from the same starting state, and returns what the hardware counted. The
// implementation is a link-time choice: CUPTI, or a stand-in that reports its absence.
#pragma once

#include "harness/counters/counter_absence.hpp"
#include "harness/record/device.hpp"

#include <cstddef>
#include <functional>
#include <stdexcept>

namespace strata {

/// What is to be counted: names of sets, files of sets (*.yaml), raw metric names.
struct CounterSelection {
  std::vector<std::string> wanted;
  /// A case counts only `memory` and the sets of its own benchmark: every further pass runs its
  /// work again.
  bool by_benchmark = false;
};

/// Counters cannot be read here. The run continues without them.
struct CountersUnavailable : std::runtime_error {
  explicit CountersUnavailable(const Absence& absence)
      : CountersUnavailable{absence.reason, absence.mend} {}
  CountersUnavailable(const std::string& reason, std::string remedy)
      : std::runtime_error{reason}, mend{std::move(remedy)} {}
  std::string mend;  ///< the remedy; may be empty
};

/// A piece of work to count. For each pass, `prepare` establishes the starting state, then `work`
/// launches without waiting.
struct CountedRange {
  std::string name;
  std::function<void()> prepare;
  std::function<void()> work;
};

/// Quantity → its count over a whole range and all SMs.
using Counts = std::map<std::string, double, std::less<>>;

/// Counts work of many cases in one session, for sources whose sessions are expensive to open:
/// begin; begin_pass, run for every range and end_pass until that returns true; results. Every pass
/// runs the same ranges in the same order. Calls throw std::runtime_error when the source fails; an
/// exception from a range's own functions passes through run() and breaks the source.
class CounterPasses {
 public:
  virtual ~CounterPasses() = default;

  virtual void begin(std::size_t most_ranges) = 0;
  virtual void begin_pass() = 0;
  /// Names of ranges are unique within the session.
  virtual void run(const CountedRange& range) = 0;
  /// True after the last pass.
  [[nodiscard]] virtual bool end_pass() = 0;
  /// The counts, by name of the range.
  [[nodiscard]] virtual std::map<std::string, Counts, std::less<>> results() = 0;
  /// True when this process can count nothing more.
  [[nodiscard]] virtual bool broken() const = 0;
};

class CounterSource {
 public:
  virtual ~CounterSource() = default;

  [[nodiscard]] virtual const CounterPlan& plan() const = 0;
  /// Acquires the counters of the current device and tries them: after the device is opened, before
  /// count(). Throws CountersUnavailable.
  virtual void attach() = 0;
  /// Counts every range in one session and returns one element for each, empty where an outside
  /// profiler counts. Nothing where the counts come with a later pass: the case is run again then.
  /// Throws std::runtime_error.
  [[nodiscard]] virtual std::optional<std::vector<Counts>> count(
      std::span<const CountedRange> ranges) = 0;
  /// Restricts the following sessions, and plan(), to these sets. For sources that have passes().
  virtual void narrow(const std::vector<std::string>& /*sets*/) {}
  /// Null for a source with cheap sessions, which can count each case in its own.
  [[nodiscard]] virtual CounterPasses* passes() { return nullptr; }
};

/// Call it before the device is opened: the profiler must come first. Throws CountersUnavailable,
/// and UsageError for a selection with unknown names.
[[nodiscard]] std::unique_ptr<CounterSource> open_counters(const DeviceRequest& device,
                                                           const CounterSelection& selection);

/// A source for outside profilers: runs each range once inside an NVTX range "counted"
/// (ncu --nvtx --nvtx-include "counted/").
[[nodiscard]] std::unique_ptr<CounterSource> open_external_counters();

/// The findings of `strata doctor` about counters, one for each device.
[[nodiscard]] std::vector<Finding> diagnose_counters();

}  // namespace strata
