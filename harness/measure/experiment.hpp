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
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace strata {

/// Length of a launch.
struct Length {
  std::uint32_t rounds = 0;
  std::uint32_t blocks = 0;  ///< if launches differ in their number of blocks; otherwise unused
  double work = 0;           ///< units of work in the launch, in the unit that the slope is per
};
struct Lengths {
  Length brief;
  Length full;
};
/// Launches of a fifth of `rounds` and of all of them, with `work_of_round` units of work per
/// round.
[[nodiscard]] Lengths fifth_and_whole(std::uint32_t rounds, double work_of_round);

/// One launch, as requested from the benchmark.
struct Call {
  Length length;
  std::uint32_t salt =
      0;  ///< different for each launch, so that old results cannot pass as new ones
};

/// One launch, as observed.
struct Launched {
  Length length;
  double seconds = 0;  ///< by the outer timer
  std::vector<Stamp> stamps;
  std::vector<double> cells;  ///< values that Slope::cells read
};

/// One unit of work by the clocks inside two launches.
struct Inside {
  double cycles = 0;          ///< by the window's writer (the slowest, the median one, …)
  double slowest = 0;         ///< by the writer that the outer timer waits for
  double low = 0;             ///< minimum over the writers, or a low percentile
  double high = 0;            ///< maximum over the writers, or a high percentile
  double hertz = 0;           ///< rate of the core's clock during the launches
  std::vector<double> cells;  ///< further values that the window reads from the stamps
};

/// Which writers' clocks count, between which of their marks, and how samples are aggregated. That
/// is always explicit: the name is recorded as the fact `window`.
struct Window {
  std::string name;
  std::function<Inside(const Launched& brief, const Launched& full)> read;
};
/// From the first to the last mark of the writer that takes longest; each launch has its own.
[[nodiscard]] Window slowest_writer();
/// The same. The core's clock is the slope of all writers' sums, in which the time between the
/// readings of both clocks cancels.
[[nodiscard]] Window slowest_writer_by_sums();
/// From the first start to the last end of the consecutive `writers` of an SM; the median over SMs.
[[nodiscard]] Window median_sm(std::size_t writers);
/// Each core's own slope, matched by core: median, minimum and maximum. The outer timer is compared
/// with the slowest cores. A single writer is used as it is, because two launches of one block may
/// run on different SMs. Throws std::runtime_error if launches ran on different cores.
[[nodiscard]] Window each_core();

/// Number of values compared with their expected values.
struct Tally {
  std::size_t checked = 0;
  std::size_t different = 0;
  void one(bool right) {
    ++checked;
    different += right ? 0 : 1;
  }
};

/// Where the data of a launch are.
enum class Start : std::uint8_t {
  as_left,  ///< where the last launch, or `prepare`, left them
  evicted,  ///< not in the caches
  in_l2,    ///< in L2, as far as they fit
};

/// Work whose cost is the slope between a short and a long launch.
struct Slope {
  std::function<void(const Call&)> launch;   ///< queues the work and returns
  std::function<void(const Call&)> prepare;  ///< writes the data, before `start` moves them
  std::function<void(const Call&, std::span<const Stamp>, Tally&)> verify;
  Start start = Start::as_left;
  const void* data = nullptr;  ///< with Start::in_l2
  std::size_t bytes = 0;
  Lengths lengths;  ///< if empty: those of the slope that decides by trial
  /// Decides the lengths by trial launches, before the first sample. May be empty.
  std::function<Lengths(const std::function<Launched(const Length&)>& run)> size;
  std::size_t writers = 0;  ///< stamps per launch; 0: all that the machine has
  Window window = slowest_writer();
  bool held = false;  ///< launches wait until all are queued (gate `queue`)
  /// Further numbers that a launch stores, for the window. May be empty.
  std::function<std::vector<double>()> cells;
  /// Work that a launch did, instead of that of its length, if only the launch knows it. May be
  /// empty.
  std::function<double(std::span<const Stamp>)> work_done;
};

/// For Slope::verify: each writer's result equals `expected` for the call, or for the call and the
/// position of the writer's stamp.
[[nodiscard]] std::function<void(const Call&, std::span<const Stamp>, Tally&)> results_are(
    std::function<std::uint64_t(const Call&)> expected);
[[nodiscard]] std::function<void(const Call&, std::span<const Stamp>, Tally&)> results_are(
    std::function<std::uint64_t(const Call&, std::size_t writer)> expected);
/// The results of all writers add up to that sum, modulo 2^32.
[[nodiscard]] std::function<void(const Call&, std::span<const Stamp>, Tally&)> results_add_up_to(
    std::function<std::uint32_t(const Call&)> expected);

/// One unit of work, from a pair of launches.
struct Seen {
  Inside inside;
  double outside = 0;       ///< cycles by the outer timer, at the rate of the core's clock
  double seconds = 0;       ///< by the outer timer
  double full_seconds = 0;  ///< the long launch as a whole
};

/// One sample: every slope, and the numbers that are not slopes.
struct Sample {
  std::vector<Seen> slopes;
  std::vector<double> numbers;
  int preempted = 0;  ///< pairs of launches, or observations, that other processes disturbed
};
using Value = std::function<double(const Sample&)>;

/// The timers of a device. A method is one of them, or has a separate name.
enum class By : std::uint8_t { inside, outside, whole, clock, named };
struct Method {
  By timer = By::named;
  std::string name;
  Method(By which) : timer{which} {}                 // NOLINT(google-explicit-constructor)
  Method(const char* own) : name{own} {}             // NOLINT(google-explicit-constructor)
  Method(std::string own) : name{std::move(own)} {}  // NOLINT(google-explicit-constructor)
};

/// A reported quantity, with a sample from every observation.
struct Row {
  std::string quantity;
  std::string unit;
  Method method;
  Value value;
  Provenance provenance = Provenance::timed;
  std::optional<double> most;   ///< physical maximum (gate `limit`)
  std::optional<double> least;  ///< physical minimum
};
/// A modelled or reported number of a case, without samples and noise.
struct Constant {
  std::string quantity;
  std::string unit;
  Provenance provenance;
  std::string method;
  double value = 0;
};

/// Two independent methods that must agree (gate `timer`).
struct TimerPair {
  Value first;
  Method first_method;
  Value second;
  Method second_method;
  double least = 0;  ///< compared only if the median of the first is at least this
  double bound = 0;  ///< 0: timer_bound
};

/// No two timers can be compared.
struct TimersApart {
  std::string why;
};

/// Costs of n, 2n and 4n operations are proportional (gate `model`, fact `linearity_error_cycles`).
struct Linearity {
  Value bend;    ///< distance in cycles of the second from the line through the others
  Value length;  ///< n
};

/// Little's law (gate `little`): `count` operations are in flight if each takes `latency` and one
/// ends every `interval`, in the same unit. If it does not hold, some operations wait while others
/// are served, and the latency is not theirs.
struct InFlight {
  double count = 1;
  Value latency;
  Value interval;
};

/// Copies in both directions at once (gate `overlap`): the share of the time in which both were
/// under way.
struct Overlap {
  Value share;
};

/// Each step of a chain needs the one before it (gate `dependence`). `altered`: results of launches
/// whose always-zero kernel arguments were not 0, against a host that follows the chain. Without:
/// the results of all launches, if the end of a chain cannot be computed without its steps.
struct Dependence {
  std::string what;  ///< "ends of chains"
  std::optional<Tally> altered;
};

/// The accesses of a round do not wait for each other (gate `dependence`): cycles that a warp alone
/// takes for a round of several accesses, and for a round of one.
struct Concurrency {
  double accesses = 1;
  double round_cycles = 0;
  double single_cycles = 0;
};

/// What a benchmark claims of its samples, beyond what every measurement must show. The gates of
/// `record/gates.hpp` decide, in this order.
using Check =
    std::variant<TimerPair, TimersApart, InFlight, Linearity, Overlap, Dependence, Concurrency>;

/// Every SM of `cores` ran exactly `per_core` warps (gate `placement`). A stamp represents one, or
/// `of_tag` × its tag where SMs merge the stamps of their blocks.
struct Placement {
  std::size_t cores = 0;
  int per_core = 1;
  std::uint32_t of_tag = 0;
};

/// What is counted, and the predicted values. The same description is launched with the rounds of
/// `none`, and those counts are subtracted.
struct CountPlan {
  Length length;
  Length none;
  std::size_t slope = 0;
  std::function<void(const Call&)> prepare;  ///< instead of the slope's, if different
  /// Requests and sectors of the loads, exactly (gate `model`), and the level that served them
  /// (gate `level`).
  std::optional<LoadPrediction> loads;
  std::optional<ServedBy> served_by;
  LoadRows rows = LoadRows::per_read;
  double reads = 1;                 ///< per-read rows are per one of these
  double used_bytes = 0;            ///< of LoadRows::per_request
  bool memory_is_no_proof = false;  ///< page tables may come from memory: not judged
  std::optional<StorePrediction> stores;
  /// Further quantities: for each, a counted row `QUANTITY_per_UNIT` and a modelled one (method
  /// `model`), both ÷ `units`. Without a unit only the gate, no rows.
  std::vector<Expectation> expected;
  std::string model;
  std::string unit;
  double units = 1;
  double warps_per_sm = 0;        ///< resident during the work (gate `occupancy`); 0: not declared
  std::uint32_t sms_of_line = 0;  ///< load each line at once (gate `level`); 0: none is merged
  bool any_level = false;         ///< no level is claimed: gate `level` reports which one it was
  bool past_l1 = false;           ///< and it must not be L1
  /// Further rows and gates from the counts.
  std::function<void(Session&, const Counted&)> more;
};
/// Adds the rows and gates of the counts.
void judge_counts(Session& session, const CountPlan& plan, const Counted& counted);

/// A gate that counters would decide, and why they cannot.
struct Unproved {
  std::string gate;  ///< "level", "model"; empty: nothing
  std::string why;   ///< empty: the reason why the case was not counted
  /// Evidence against the claim from the launches themselves: the gate then fails. May be empty.
  std::function<std::optional<std::string>(std::span<const Stamp>)> refuted;
};

/// A complete measurement.
struct Experiment {
  std::vector<Slope> slopes;
  /// For measurements that are not slopes of rounds (copies, launches, steps): the numbers of one
  /// sample.
  std::function<void()> prepare;  ///< before each sample
  std::function<std::vector<double>()> observe;
  /// For work that is repeated: the same without its verification, in seconds by the outer timer.
  /// Empty: `observe`, whose first number that is.
  std::function<double()> again;
  int pairs = 1;  ///< a sample is the median of this many pairs of launches, most of which meet no
                  ///< interrupt

  std::vector<Row> rows;
  std::vector<Constant> constants;
  std::vector<Check> checks;
  /// Sampling ends when the values of all timed rows are precise, and these, from which `conclude`
  /// makes rows. Without any of either: the cycles of each slope by both timers.
  std::vector<Value> watch;
  std::optional<Value> core_hertz;  ///< default: of the last slope
  bool has_clock = true;            ///< a row of the clock, gates `clock` and `driver_clock`
  /// The core's clock that the driver reported meanwhile, in Hz. Empty: the device is queried
  /// right after the last launch.
  std::function<std::optional<double>()> reported_hertz;

  std::string checked;  ///< what was verified: "warp sums against the host's"
  Tally tally;
  std::vector<const void*> kernels;  ///< whose code is judged (gate `code`)
  std::optional<Placement> placement;
  Unproved unproved;
  bool partly_host_time = false;  ///< gate `repeat`

  std::optional<CountPlan> counts;
  std::string not_counted;  ///< the reason, if `counts` is empty

  /// For a benchmark whose steps have phases; a sample is then whole_sample() seconds.
  std::optional<TracePlan> trace;
  Value whole_sample = nullptr;

  std::function<Facts(const Experiment&)> facts;

  /// Rows, gates and facts from all samples, after the rows above. May be empty.
  std::function<void(Session&, const std::vector<Sample>&)> conclude;
  int samples = 0;  ///< exactly this many samples without warm-ups; 0: as the plan and their
                    ///< precision require
  /// Results compared with a reference that they cannot equal bit for bit, after the last launch,
  /// timed or counted. It may add rows. Instead of `checked`, or in addition.
  std::function<std::vector<Accuracy>(Session&)> accuracy;
  /// Numbers of each pair of launches, computed before the median over `pairs`: what both slopes of
  /// a pair share, such as the clock, cancels. They follow the numbers of `observe`.
  std::vector<Value> of_each_pair;
};

/// Lengths by trial launches, for Slope::size. `rounds_for` gives the rounds of a long launch, a
/// multiple of `unit`, from the seconds that one takes; from 0, the maximum. The second trial gets
/// longer until it differs from the first by much more than launches vary. A round is a unit of
/// work.
[[nodiscard]] Lengths size_by_trials(const std::function<Launched(const Length&)>& run,
                                     std::uint32_t unit,
                                     const std::function<std::uint32_t(double)>& rounds_for);

/// A value of slope `index`.
[[nodiscard]] Value cycles_of(std::size_t index = 0, double scale = 1);
[[nodiscard]] Value outside_of(std::size_t index = 0, double scale = 1);
[[nodiscard]] Value of_slope(std::function<double(const Seen&)> value, std::size_t index = 0);
[[nodiscard]] Value number_at(std::size_t index);
/// `amount` per unit of work, over the seconds or cycles of the unit by a timer.
[[nodiscard]] Value per_second(double amount, std::size_t index = 0);  ///< outer
[[nodiscard]] Value per_cycle(double amount, std::size_t index = 0);   ///< inner
/// The row of the whole long launch, including start-up.
[[nodiscard]] Row grid_time(std::size_t index = 0);

/// The rows of `quantity` by both timers, and the pair that must agree.
void add_both(Experiment& experiment, const std::string& quantity, const std::string& unit,
              std::size_t slope = 0, double scale = 1);

/// The bandwidth of `cores` together, where work is the bytes of one of them: rows `quantity`,
/// `quantity`_per_sm by both timers, which must agree, and `grid_time`.
[[nodiscard]] Experiment bandwidth_of(std::size_t cores, const std::string& quantity);

/// Lengths by trial, for Slope::size: launches of 32 and of 128 rounds show what a round takes. The
/// long launch takes about `seconds`, or 10 rounds, the short one a fifth of that.
[[nodiscard]] std::function<Lengths(const std::function<Launched(const Length&)>&)>
lengths_by_trial(double seconds, double work_of_round);

/// Clocks that give no rate: both were read at one time, or a writer left no stamp.
class NoClock : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The rate of the core's clock during a launch: the median of all writers, from their first mark
/// to their second. Throws NoClock if a writer has none.
[[nodiscard]] double median_hertz(const Launched& launched);

/// The inner timer of the steps of a sample on a GPU, from stamps of each SM before and after them:
/// from the last SM that passed the first stamp to the first that reached the second. Throws
/// std::runtime_error if no SM left both.
struct StampedSteps {
  double seconds = 0;
  double core_hertz = 0;  ///< median of the SMs
};
[[nodiscard]] StampedSteps stamped_steps(std::span<const Stamp> stamps);

}  // namespace strata
