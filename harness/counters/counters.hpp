// Hardware counters as a benchmark sees them: something that runs a piece of work as often as it
// must, each time from the same starting state, and says what the hardware counted. What is behind
// it is a link-time choice (harness/counters): CUPTI, or nothing, which says so.
#pragma once

#include "harness/record/counter_plan.hpp"
#include "harness/record/device.hpp"
#include "harness/record/measurement.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata {

/// What a user asked to be counted: names of sets, files of sets (*.yaml), raw metric names.
struct CounterSelection {
  std::vector<std::string> wanted;
  /// A case counts `memory` and what its own benchmark wants, not all that is wanted here: each
  /// more pass is another run of its work.
  bool by_benchmark = false;
};

/// Counters cannot be read here. Not an error of the run: timings go on without.
class CountersUnavailable : public std::runtime_error {
 public:
  CountersUnavailable(const std::string& reason, std::string mend)
      : std::runtime_error{reason}, mend_{std::move(mend)} {}
  /// What a person can do about it; empty when nothing.
  [[nodiscard]] const std::string& mend() const { return mend_; }

 private:
  std::string mend_;
};

/// A piece of work that is counted: `work` launches and waits for nothing, `prepare` brings about
/// the state that it starts from. Both run once for each pass, in this order.
struct CountedRange {
  std::string name;
  std::function<void()> prepare;
  std::function<void()> work;
};

/// Quantity → what was counted over a whole range, all SMs.
using Counts = std::map<std::string, double, std::less<>>;

/// Pieces of work of many cases, counted in one session: for sources where opening a session is
/// dear beside the work. The order of calls: begin, then as often as it takes begin_pass, run of
/// every range, end_pass; then results. Every pass runs the same ranges in the same order. Calls
/// throw std::runtime_error when the source fails; an exception out of a range's own functions
/// passes through run(), and the source is broken from then on.
class CounterPasses {
 public:
  CounterPasses() = default;
  CounterPasses(const CounterPasses&) = delete;
  CounterPasses& operator=(const CounterPasses&) = delete;
  CounterPasses(CounterPasses&&) = delete;
  CounterPasses& operator=(CounterPasses&&) = delete;
  virtual ~CounterPasses() = default;

  virtual void begin(std::size_t most_ranges) = 0;
  virtual void begin_pass() = 0;
  /// The name of a range is its own within the session.
  virtual void run(const CountedRange& range) = 0;
  /// True after the last pass.
  [[nodiscard]] virtual bool end_pass() = 0;
  /// What was counted, by name of the range.
  [[nodiscard]] virtual std::map<std::string, Counts, std::less<>> results() = 0;
  /// Nothing more can be counted in this process.
  [[nodiscard]] virtual bool broken() const = 0;
};

class CounterSource {
 public:
  CounterSource() = default;
  CounterSource(const CounterSource&) = delete;
  CounterSource& operator=(const CounterSource&) = delete;
  CounterSource(CounterSource&&) = delete;
  CounterSource& operator=(CounterSource&&) = delete;
  virtual ~CounterSource() = default;

  [[nodiscard]] virtual const CounterPlan& plan() const = 0;
  /// Takes hold of the counters of the current device and tries them. After the device was opened,
  /// before count(). Throws CountersUnavailable.
  virtual void attach() = 0;
  /// Counts every range, in one session: one element for each. Empty elements come from a source
  /// that lets somebody else count. Throws std::runtime_error.
  [[nodiscard]] virtual std::vector<Counts> count(std::span<const CountedRange> ranges) = 0;
  /// From the next session on counts these sets of its plan only, and plan() is theirs. Without
  /// this it counts all. For sources that have passes().
  virtual void narrow(const std::vector<std::string>& /*sets*/) {}
  /// Null where a session costs nothing, and each case may have its own.
  [[nodiscard]] virtual CounterPasses* passes() { return nullptr; }
};

/// Before the device is opened: the profiler wants to be first. Throws CountersUnavailable, and
/// UsageError for a selection that names what does not exist.
[[nodiscard]] std::unique_ptr<CounterSource> open_counters(const DeviceRequest& device,
                                                           const CounterSelection& selection);

/// A source that counts nothing itself: it runs each range once inside an NVTX range "counted", so
/// that a profiler outside (ncu --nvtx --nvtx-include "counted/") can.
[[nodiscard]] std::unique_ptr<CounterSource> open_external_counters();

/// What `strata doctor` says of counters on each device.
[[nodiscard]] std::vector<Finding> diagnose_counters();

}  // namespace strata
