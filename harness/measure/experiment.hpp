// The description of a measurement: what is launched, from which state, and what must come out. A
// benchmark fills it in; the engine (engine.hpp) prepares, poisons, launches, verifies, takes the
// slope, judges and counts. Host only.
#pragma once

#include "harness/measure/counts.hpp"
#include "harness/measure/phases.hpp"
#include "harness/measure/session.hpp"
#include "harness/measure/stamp.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/measurement.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strata {

/// How long a launch is.
struct Length {
  std::uint32_t rounds = 0;
  std::uint32_t blocks = 0;  ///< where launches differ in their number; else unused
  double work = 0;           ///< units of work in the launch, in whatever the slope is per
};
struct Lengths {
  Length brief;
  Length full;
};
/// Launches of a fifth of `rounds` and of all of them, `work_of_round` units of work in each round.
[[nodiscard]] Lengths fifth_and_whole(std::uint32_t rounds, double work_of_round);

/// One launch as the benchmark makes it.
struct Call {
  Length length;
  std::uint32_t salt = 0;  ///< another one for each launch: nothing of the last can pass for it
};

/// One launch as it was seen.
struct Launched {
  Length length;
  double seconds = 0;  ///< by the outer timer
  std::vector<Stamp> stamps;
  std::vector<double> cells;  ///< what Slope::cells read
};

/// What the clocks inside two launches say of one unit of work.
struct Inside {
  double cycles = 0;          ///< by the window's writer (the slowest, the median one, …)
  double slowest = 0;         ///< by the writer that the outer timer waits for
  double low = 0;             ///< the least of the writers, or a low percentile
  double high = 0;            ///< the most of them, or a high percentile
  double hertz = 0;           ///< rate of the core's clock meanwhile
  std::vector<double> cells;  ///< what else the window reads from the stamps
};

/// Which writers' clocks count, and from which to which of their marks. How samples are aggregated
/// is said here and never implied: the name is recorded as the fact `window`.
struct Window {
  std::string name;
  std::function<Inside(const Launched& brief, const Launched& full)> read;
};
/// From the first to the last mark of the writer that takes longest; each launch has its own.
[[nodiscard]] Window slowest_writer();
/// The same; the core's clock is the slope of all writers' sums, in which the time between the
/// readings of both clocks cancels.
[[nodiscard]] Window slowest_writer_by_sums();
/// From the first start to the last end among the `writers` that follow each other on an SM; the
/// median over the SMs.
[[nodiscard]] Window median_sm(std::size_t writers);
/// Each core's own slope, matched by core: median, least and most. The outer timer is compared with
/// the cores that take longest. A single writer is taken as it is: nothing promises that two
/// launches of one block meet the same SM. Throws std::runtime_error for launches on other cores.
[[nodiscard]] Window each_core();

/// How many values were held against what they must be.
struct Tally {
  std::size_t checked = 0;
  std::size_t different = 0;
  void one(bool right) {
    ++checked;
    different += right ? 0 : 1;
  }
};

/// Where a launch finds its data.
enum class Start : std::uint8_t {
  as_left,  ///< where the last launch, or `prepare`, left them
  evicted,  ///< not in the caches
  in_l2,    ///< in L2, as far as they fit
};

/// Work whose cost is the slope between a short and a long launch.
struct Slope {
  std::function<void(const Call&)> launch;   ///< queues the work and returns
  std::function<void(const Call&)> prepare;  ///< lays the data, before `start` moves them
  std::function<void(const Call&, std::span<const Stamp>, Tally&)> verify;
  Start start = Start::as_left;
  const void* data = nullptr;  ///< with Start::in_l2
  std::size_t bytes = 0;
  Lengths lengths;  ///< left empty: those of the slope that decides by trial
  /// Decides the lengths by trial launches, before the first sample. May be empty.
  std::function<Lengths(const std::function<Launched(const Length&)>& run)> size;
  std::size_t writers = 0;  ///< stamps that a launch leaves; 0: all that the machine has
  Window window = slowest_writer();
  bool held = false;  ///< launches wait until they are queued (gate `queue`)
  /// Numbers that a launch leaves beside its stamps, for the window. May be empty.
  std::function<std::vector<double>()> cells;
  /// Work that a launch did, in place of its length's, where only the launch tells. May be empty.
  std::function<double(std::span<const Stamp>)> work_done;
};

/// For Slope::verify: the result of each writer is the one that `expected` gives for the call, or
/// for the call and the place of the writer's stamp.
[[nodiscard]] std::function<void(const Call&, std::span<const Stamp>, Tally&)> results_are(
    std::function<std::uint64_t(const Call&)> expected);
[[nodiscard]] std::function<void(const Call&, std::span<const Stamp>, Tally&)> results_are(
    std::function<std::uint64_t(const Call&, std::size_t writer)> expected);
/// The results of all writers come to that sum, modulo 2^32.
[[nodiscard]] std::function<void(const Call&, std::span<const Stamp>, Tally&)> results_add_up_to(
    std::function<std::uint32_t(const Call&)> expected);

/// What a pair of launches showed of one unit of work.
struct Seen {
  Inside inside;
  double outside = 0;       ///< cycles by the outer timer, at the rate of the core's clock
  double seconds = 0;       ///< by the outer timer
  double full_seconds = 0;  ///< the long launch as a whole
};

/// One sample: every slope, and the numbers of what is no slope.
struct Sample {
  std::vector<Seen> slopes;
  std::vector<double> numbers;
};
using Value = std::function<double(const Sample&)>;

/// The timers of a device. A method is one of them, or has a name of its own.
enum class By : std::uint8_t { inside, outside, whole, clock, named };
struct Method {
  By timer = By::named;
  std::string name;
  Method(By which) : timer{which} {}                 // NOLINT(google-explicit-constructor)
  Method(const char* own) : name{own} {}             // NOLINT(google-explicit-constructor)
  Method(std::string own) : name{std::move(own)} {}  // NOLINT(google-explicit-constructor)
};

/// A quantity that is reported: a sample of it from every observation. In `unit` the word `cycle`
/// becomes the device's ("B/cycle" is "B/tsc_cycle" on a CPU).
struct Row {
  std::string quantity;
  std::string unit;
  Method method;
  Value value;
  Provenance provenance = Provenance::timed;
  bool core_cycles = false;     ///< the unit's cycle is the core's own, on every device
  std::optional<double> most;   ///< what no device can exceed (gate `limit`)
  std::optional<double> least;  ///< what no device can fall below
};
/// A modelled or reported number of a case: it has no samples, and no noise.
struct Constant {
  std::string quantity;
  std::string unit;
  Provenance provenance;
  std::string method;
  double value = 0;
};

/// Two methods that share nothing and must agree (gate `timer`).
struct TimerPair {
  Value first;
  Method first_method;
  Value second;
  Method second_method;
  double least = 0;  ///< compared only where the median of the first comes to so much
};

/// Work of n, 2n and 4n operations costs in proportion (gate `model`, fact
/// `linearity_error_cycles`).
struct Linearity {
  Value bend;    ///< cycles by which the second is off the line through the others
  Value length;  ///< n
};

/// Little's law (gate `little`): `count` operations are in flight where each takes `latency` and
/// one ends every `interval`, in the same unit. Where it does not hold, some wait while others are
/// served, and the latency is not theirs.
struct InFlight {
  double count = 1;
  Value latency;
  Value interval;
};

/// Every SM of `cores` ran exactly `per_core` warps (gate `placement`). A stamp stands for one, or
/// for `of_tag` × its tag where SMs merge the stamps of their blocks.
struct Placement {
  std::size_t cores = 0;
  int per_core = 1;
  std::uint32_t of_tag = 0;
};

/// What is counted, and what it must come to. The same description is launched with the rounds of
/// `none`, and what that counts is taken off.
struct CountPlan {
  Length length;
  Length none;
  std::size_t slope = 0;
  std::function<void(const Call&)> prepare;  ///< in place of the slope's own, where it differs
  /// Requests and sectors of the loads, exactly (gate `model`), and who served them (gate `level`).
  std::optional<LoadPrediction> loads;
  std::optional<ServedBy> served_by;
  LoadRows rows = LoadRows::per_read;
  double reads = 1;                 ///< per-read rows are of one of these
  double used_bytes = 0;            ///< of LoadRows::per_request
  bool memory_is_no_proof = false;  ///< page tables may come from memory: not judged
  std::optional<StorePrediction> stores;
  /// Further quantities: for each a row `QUANTITY_per_UNIT` counted and one modelled (method
  /// `model`), both ÷ `units`; without a unit no rows, only the gate.
  std::vector<Expectation> expected;
  std::string model;
  std::string unit;
  double units = 1;
  bool any_level = false;  ///< no level is claimed: gate `level` says which one it was
  bool past_l1 = false;    ///< and L1 may not be it
  /// More rows and gates from what was counted.
  std::function<void(Session&, const Counted&)> more;
};
/// Adds the rows and the gates of what was counted.
void judge_counts(Session& session, const CountPlan& plan, const Counted& counted);

/// What the counters would decide, and why they cannot where they cannot.
struct Unproved {
  std::string gate;  ///< "level", "model"; empty: nothing
  std::string why;   ///< empty: why the case was not counted
  /// Evidence against the claim that the launches themselves gave: the gate then fails. May be
  /// empty.
  std::function<std::optional<std::string>(std::span<const Stamp>)> refuted;
};

/// A measurement from beginning to end.
struct Experiment {
  std::vector<Slope> slopes;
  /// What is no slope of rounds (copies, launches, steps): the numbers of one sample.
  std::function<void()> prepare;  ///< before each sample
  std::function<std::vector<double>()> observe;
  int pairs = 1;  ///< samples are medians of so many pairs of launches: most meet no interrupt

  std::vector<Row> rows;
  std::vector<Constant> constants;
  std::vector<TimerPair> timers;
  std::string timers_apart;  ///< why no two timers can be compared, where they cannot
  std::vector<Value> watch;  ///< numbers that must be precise before sampling ends; empty: of each
                             ///< slope the cycles by both timers
  std::optional<Value> core_hertz;  ///< default: of the last slope
  bool has_clock = true;            ///< rows `core_clock`, gates `clock` and `driver_clock`
  /// The core's clock as the driver reported it meanwhile, in Hz. Empty: the device is asked right
  /// after the last launch.
  std::function<std::optional<double>()> reported_hertz;

  std::string checked;  ///< what was verified: "warp sums against the host's"
  Tally tally;
  std::vector<const void*> kernels;  ///< whose code is judged (gate `code`)
  std::optional<Placement> placement;
  Unproved unproved;
  bool partly_host_time = false;  ///< gate `repeat`

  std::optional<CountPlan> counts;
  std::string not_counted;  ///< why not, where `counts` is empty

  /// Of a benchmark whose steps have phases; a sample is then whole_sample() seconds.
  std::optional<TracePlan> trace;
  Value whole_sample = nullptr;

  std::function<Facts(const Experiment&)> facts;

  /// Rows, gates and facts of all samples together, after the rows above. May be empty.
  std::function<void(Session&, const std::vector<Sample>&)> conclude;
  int samples = 0;  ///< exactly so many, and no warm-ups; 0: as the plan and their precision say
  /// Results held against a reference that they cannot equal bit for bit, asked after the last
  /// launch, timed or counted. It may add rows of what it found. In place of `checked`, or beside
  /// it.
  std::function<std::vector<Accuracy>(Session&)> accuracy;
  /// Numbers of each pair of launches, taken before the median over `pairs` is: what two slopes of
  /// one pair share, such as the clock, cancels. They stand behind the numbers of `observe`.
  std::vector<Value> of_each_pair;
  std::optional<Linearity> linear;
  std::optional<InFlight> in_flight;
};

/// Lengths by trial launches, for Slope::size. `rounds_for` gives the rounds of a long launch, a
/// multiple of `unit`, from the seconds that one takes; from 0 the most that are allowed. The
/// second trial is made longer until it differs from the first by much more than one launch from
/// the next. A round is a unit of work.
[[nodiscard]] Lengths size_by_trials(const std::function<Launched(const Length&)>& run,
                                     std::uint32_t unit,
                                     const std::function<std::uint32_t(double)>& rounds_for);

/// A value of the slope `index`.
[[nodiscard]] Value cycles_of(std::size_t index = 0, double scale = 1);
[[nodiscard]] Value outside_of(std::size_t index = 0, double scale = 1);
[[nodiscard]] Value of_slope(std::function<double(const Seen&)> value, std::size_t index = 0);
[[nodiscard]] Value number_at(std::size_t index);
/// `amount`, which is of one unit of work, over the seconds or cycles that the unit took by a
/// timer.
[[nodiscard]] Value per_second(double amount, std::size_t index = 0);  ///< outer
[[nodiscard]] Value per_cycle(double amount, std::size_t index = 0);   ///< inner
/// The row of the long launch as a whole, start-up included.
[[nodiscard]] Row grid_time(std::size_t index = 0);

/// The rows of `quantity` by both timers, and the pair that must agree.
void add_both(Experiment& experiment, const std::string& quantity, const std::string& unit,
              std::size_t slope = 0, double scale = 1);

/// What `cores` move together, where work is the bytes of one of them: rows `quantity`,
/// `quantity`_per_sm by both timers, which must agree, and `grid_time`.
[[nodiscard]] Experiment bandwidth_of(std::size_t cores, const std::string& quantity);

/// Lengths by trial, for Slope::size: what a round takes is told by launches of 32 rounds and of
/// 128. The long launch takes about `seconds`, or 10 rounds, the short one a fifth of them.
[[nodiscard]] std::function<Lengths(const std::function<Launched(const Length&)>&)>
lengths_by_trial(double seconds, double work_of_round);

/// The rate of the core's clock during a launch: the median of all writers, from their first mark
/// to their second.
[[nodiscard]] double median_hertz(const Launched& launched);

/// The inner timer of the steps of a sample on a GPU, from stamps that each SM left before them and
/// after them: from the last SM that had passed the first stamp to the first that reached the
/// second. Throws std::runtime_error when no SM left both.
struct StampedSteps {
  double seconds = 0;
  double core_hertz = 0;  ///< median of the SMs
};
[[nodiscard]] StampedSteps stamped_steps(std::span<const Stamp> stamps);

}  // namespace strata
