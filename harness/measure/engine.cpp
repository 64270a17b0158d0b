#include "harness/measure/engine.hpp"

#include "harness/base/error.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/run_folder.hpp"
#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace strata {
namespace {

constexpr std::uint32_t first_salt = 0x51ED270BU;
constexpr std::uint32_t salt_step = 0x9E3779B9U;

using Clock = std::chrono::steady_clock;

std::string name_of(const Method& method, const TimerNames& names) {
  switch (method.timer) {
    case By::inside:
      return names.inside;
    case By::outside:
      return names.outside;
    case By::whole:
      return names.whole;
    case By::clock:
      return names.clock;
    case By::named:
      break;
  }
  return method.name;
}

Value core_hertz(const Experiment& experiment) {
  return experiment.core_hertz.value_or(
      [](const Sample& one) { return one.slopes.back().inside.hertz; });
}

/// What the noise check will judge, so that sampling does not end before it can pass.
std::vector<Value> watched(const Experiment& experiment) {
  std::vector<Value> values = experiment.watch;
  for (const Row& row : experiment.rows) {
    if (row.provenance == Provenance::timed) values.push_back(row.value);
  }
  if (values.empty()) {
    for (std::size_t i = 0; i < experiment.slopes.size(); ++i) {
      values.push_back(cycles_of(i));
      values.push_back(outside_of(i));
    }
  }
  if (experiment.has_clock) values.push_back(core_hertz(experiment));
  return values;
}

/// The median of each number over several observations.
Sample medians(const std::vector<Sample>& several) {
  Sample middle = several.front();
  const auto take = [&](auto&& number) {
    std::vector<double> values;
    values.reserve(several.size());
    for (Sample one : several)
      values.push_back(number(one));
    number(middle) = median(values);
  };
  for (std::size_t i = 0; i < middle.slopes.size(); ++i) {
    for (double Inside::*const part :
         {&Inside::cycles, &Inside::slowest, &Inside::low, &Inside::high, &Inside::hertz})
      take([&](Sample& o) -> double& { return o.slopes[i].inside.*part; });
    for (double Seen::*const part : {&Seen::outside, &Seen::seconds, &Seen::full_seconds})
      take([&](Sample& o) -> double& { return o.slopes[i].*part; });
    for (std::size_t cell = 0; cell < middle.slopes[i].inside.cells.size(); ++cell)
      take([&](Sample& o) -> double& { return o.slopes[i].inside.cells[cell]; });
  }
  for (std::size_t n = 0; n < middle.numbers.size(); ++n)
    take([&](Sample& o) -> double& { return o.numbers[n]; });
  return middle;
}

/// The stamps of the last launch.
std::span<const Stamp> stamps_of(const Machine& machine, const Slope& slope) {
  return slope.writers == 0 ? machine.stamps() : machine.stamps().first(slope.writers);
}

/// The state that a launch starts from. Nothing of an earlier launch may be left to pass for its
/// result.
void make_ready(Machine& machine, const Slope& slope, const Call& call,
                const std::function<void(const Call&)>& prepare) {
  if (prepare) prepare(call);
  if (slope.start == Start::evicted) machine.evict();
  if (slope.start == Start::in_l2) machine.touch(slope.data, slope.bytes);
  machine.poison();
}

void verify(const Machine& machine, const Slope& slope, const Call& call, Tally& tally) {
  if (slope.verify) slope.verify(call, stamps_of(machine, slope), tally);
}

/// Launches the slopes of an experiment, as the protocol requires.
class Launches {
 public:
  /// Other processes disturb a CPU: what they disturb is repeated for `budget` in all.
  Launches(Machine& machine, Experiment& experiment, std::chrono::duration<double> budget)
      : machine_{machine},
        experiment_{experiment},
        watched_{strata::watched(experiment)},
        budget_{budget} {}

  void decide_lengths() {
    Lengths decided;
    for (Slope& slope : experiment_.slopes) {
      if (!slope.size) continue;
      slope.lengths = slope.size([&](const Length& length) {
        return undisturbed([&] { return run(slope, length); }).first;
      });
      decided = slope.lengths;
    }
    for (Slope& slope : experiment_.slopes) {
      if (slope.lengths.full.work == 0) slope.lengths = decided;
    }
    discarded_ = 0;  // trials may be long: samples have a budget of their own
    discarded_time_ = {};
  }

  void prepare() const {
    if (experiment_.prepare) experiment_.prepare();
  }

  Sample observe() {
    std::vector<Sample> several;
    several.reserve(static_cast<std::size_t>(experiment_.pairs));
    int preempted = 0;
    for (int i = 0; i < experiment_.pairs; ++i) {
      auto [seen, is_disturbed] = undisturbed([&] { return observe_once(); });
      preempted += is_disturbed ? 1 : 0;
      several.push_back(std::move(seen));
    }
    Sample sample = several.size() == 1 ? std::move(several.front()) : medians(several);
    sample.preempted = preempted;
    return sample;
  }

  [[nodiscard]] std::vector<double> watched(const Sample& seen) const {
    std::vector<double> values;
    values.reserve(watched_.size());
    for (const Value& value : watched_)
      values.push_back(value(seen));
    return values;
  }

  [[nodiscard]] std::int64_t discarded() const { return discarded_; }
  /// The clock of the stopping rule, which excludes discarded samples.
  [[nodiscard]] Clock::time_point now() const { return Clock::now() - discarded_time_; }

  [[nodiscard]] Call call_of(const Length& length) {
    salt_ += salt_step;
    return {.length = length, .salt = salt_};
  }

 private:
  /// The result of `attempt`, and whether other processes disturbed it although it was repeated.
  /// The switches of the threads decide that, never a measured value.
  template <class Attempt>
  std::pair<std::invoke_result_t<Attempt>, bool> undisturbed(const Attempt& attempt) {
    constexpr int most_repeats = 20;
    for (int repeats = 0;; ++repeats) {
      const auto began = Clock::now();
      auto result = attempt();
      const bool is_disturbed = was_disturbed();
      if (!is_disturbed || repeats == most_repeats || discarded_time_ >= budget_) {
        return {std::move(result), is_disturbed};
      }
      ++discarded_;
      prepare();
      discarded_time_ += Clock::now() - began;
    }
  }

  /// Also after a switch: the caches then hold the data of others.
  bool was_disturbed() {
    const std::uint64_t switches = machine_.switches();
    const bool is_switched = switches != std::exchange(switches_, switches);
    return std::exchange(are_caches_lost_, is_switched) || is_switched;
  }

  Launched run(const Slope& slope, const Length& length) {
    return launch_once(machine_, slope, call_of(length), experiment_.tally);
  }

  Sample observe_once() {
    Sample seen;
    for (const Slope& slope : experiment_.slopes) {
      const Launched brief = run(slope, slope.lengths.brief);
      Launched full = run(slope, slope.lengths.full);
      // Where a launch ends by itself, an interrupted long one may have done less than a short one.
      if (slope.work_done) full.length.work = std::max(full.length.work, brief.length.work + 1);
      Seen one{.inside = slope.window.read(brief, full), .full_seconds = full.seconds};
      one.seconds = (full.seconds - brief.seconds) / (full.length.work - brief.length.work);
      one.outside = one.seconds * one.inside.hertz;
      seen.slopes.push_back(std::move(one));
    }
    if (experiment_.observe) seen.numbers = experiment_.observe();
    for (const Value& value : experiment_.of_each_pair)
      seen.numbers.push_back(value(seen));
    return seen;
  }

  Machine& machine_;
  Experiment& experiment_;
  std::vector<Value> watched_;
  std::chrono::duration<double> budget_;
  Clock::duration discarded_time_{};
  std::int64_t discarded_ = 0;
  std::uint64_t switches_ = machine_.switches();
  bool are_caches_lost_ = false;
  std::uint32_t salt_ = first_salt;
};

void judge_results(Session& session, const Experiment& experiment) {
  const auto accuracy =
      experiment.accuracy ? experiment.accuracy(session) : std::vector<Accuracy>{};
  if (accuracy.empty() || !experiment.checked.empty()) {
    session.add(
        result_gate(experiment.tally.checked, experiment.tally.different, experiment.checked));
  }
  for (const Accuracy& one : accuracy)
    session.add(accuracy_gate(one));
}

void count_once(Session& session, Machine& machine, Experiment& experiment) {
  if (!experiment.counts) throw Skipped{experiment.not_counted};
  const CountPlan& plan = *experiment.counts;
  const Slope& slope = experiment.slopes.at(plan.slope);
  Launches launches{machine, experiment, {}};
  const Call work = launches.call_of(plan.length);
  const Call none{.length = plan.none, .salt = work.salt};
  const auto& prepare = plan.prepare ? plan.prepare : slope.prepare;
  const std::optional<Counted> counted =
      count(session, {.prepare = [&] { make_ready(machine, slope, work, prepare); },
                      .work = [&] { machine.launch([&] { slope.launch(work); }); },
                      .overhead = [&] { machine.launch([&] { slope.launch(none); }); },
                      .check =
                          [&] {
                            machine.land();
                            verify(machine, slope, work, experiment.tally);
                          }});
  if (!counted) return;
  judge_counts(session, plan, *counted);
  judge_results(session, experiment);
}

Gate placement_of(const Placement& placement, std::span<const Stamp> stamps) {
  std::vector<std::uint32_t> core_of_warp;
  for (const Stamp& stamp : stamps) {
    const std::size_t warps = placement.of_tag == 0 ? 1 : std::size_t{stamp.tag} * placement.of_tag;
    core_of_warp.insert(core_of_warp.end(), warps, stamp.core);
  }
  return placement_gate(core_of_warp, placement.cores, placement.per_core);
}

Gate gate_of(const Unproved& unproved, std::span<const Stamp> stamps, const std::string& note) {
  if (unproved.refuted) {
    if (const auto evidence = unproved.refuted(stamps)) {
      return {unproved.gate, Verdict::failed, *evidence};
    }
  }
  const std::string& why = unproved.why.empty() ? note : unproved.why;
  if (unproved.gate == "level") return level_unverified(why);
  return {unproved.gate, Verdict::unverified, why};
}

/// What the scheduler did during the samples, which began at `began`; the threads had waited for
/// `waited` before.
void judge_preemption(Session& session, const Machine& machine, const Experiment& experiment,
                      const Collection<Sample>& seen, std::int64_t discarded,
                      Clock::time_point began, std::optional<double> waited) {
  if (discarded > 0) session.fact("discarded_samples", discarded);
  std::int64_t preempted = 0;
  for (const Sample& sample : seen.kept)
    preempted += sample.preempted;
  if (preempted == 0) return;
  session.fact("preempted_samples", preempted);
  const auto now = machine.seconds_waited();
  std::optional<double> share;
  if (waited && now) {
    share = (*now - *waited) / std::chrono::duration<double>{Clock::now() - began}.count();
  }
  session.add(preempted_gate(
      static_cast<double>(preempted) / (static_cast<double>(seen.kept.size()) * experiment.pairs),
      share));
}

/// The core clock that the driver reports; 0 if it reports none.
double reported_hertz(Session& session, const Experiment& experiment) {
  if (!experiment.has_clock) return 0;
  return (experiment.reported_hertz ? experiment.reported_hertz()
                                    : session.device().reported_clock())
      .value_or(0);
}

/// Adds the gate of each kind of check.
struct Judge {
  Session& session;
  const Experiment& experiment;
  const Collection<Sample>& seen;
  const TimerNames& names;

  void operator()(const TimerPair& pair) const {
    if (pair.least > 0 && median(seen.series(pair.first)) < pair.least) return;
    session.add(timer_gate(seen.series(pair.first), name_of(pair.first_method, names),
                           seen.series(pair.second), name_of(pair.second_method, names),
                           pair.bound > 0 ? pair.bound : timer_bound.value));
  }
  void operator()(const TimersApart& timers) const {
    session.add(Gate{"timer", Verdict::not_applicable, timers.why});
  }
  void operator()(const InFlight& flight) const {
    session.add(little_gate(median(seen.series(flight.latency)),
                            median(seen.series(flight.interval)), flight.count));
  }
  void operator()(const Linearity& line) const {
    const auto bends = seen.series(line.bend);
    session.add(linear_gate(bends, line.length(seen.kept.front())));
    session.fact("linearity_error_cycles", median(bends));
  }
  void operator()(const Overlap& copies) const {
    session.add(overlap_gate(seen.series(copies.share)));
  }
  void operator()(const Dependence& chain) const {
    const Tally& tally = chain.altered ? *chain.altered : experiment.tally;
    session.add(dependence_gate(tally.checked, tally.different, chain.what));
  }
  void operator()(const Concurrency& round) const {
    session.add(concurrency_gate(round.accesses, round.round_cycles, round.single_cycles));
  }
};

/// What the launches left behind, and what the compiler made of the kernels.
void judge_launches(Session& session, const Machine& machine, const Experiment& experiment) {
  const auto stamps =
      experiment.slopes.empty() ? machine.stamps() : stamps_of(machine, experiment.slopes.back());
  judge_results(session, experiment);
  if (experiment.placement) session.add(placement_of(*experiment.placement, stamps));
  if (const auto gate = machine.gate()) session.add(*gate);
  KernelCode most;
  for (const void* kernel : experiment.kernels) {
    const KernelCode code = machine.code(kernel);
    most = {.local_bytes = std::max(most.local_bytes, code.local_bytes),
            .registers = std::max(most.registers, code.registers)};
  }
  if (!experiment.kernels.empty()) session.add(spill_gate(most.local_bytes, most.registers));
  if (!experiment.unproved.gate.empty()) {
    session.add(gate_of(experiment.unproved, stamps, session.counting_note()));
  }
  if (!experiment.slopes.empty()) session.fact("window", experiment.slopes.back().window.name);
}

/// Of a row, with units of work that take `seconds` in all.
double rate_of(const Experiment& experiment, Sample sample, const std::string& quantity,
               double seconds) {
  if (experiment.slopes.empty()) {
    for (double& number : sample.numbers)
      number = seconds;
  } else {
    Seen& seen = sample.slopes.back();
    seen.seconds = seconds / experiment.slopes.back().lengths.full.work;
    seen.full_seconds = seconds;
  }
  for (const Row& row : experiment.rows) {
    if (row.quantity == quantity && row.unit.ends_with("/s")) return row.value(sample);
  }
  throw std::logic_error{"the experiment has no rate " + quantity};
}

/// Repeats the last slope's long launch, which only reads or writes the same again, or whole
/// observations. Launches are verified before and after.
void repeat(Session& session, Machine& machine, Experiment& experiment) {
  constexpr double turn_seconds = 0.05;  // the wait after each turn is a thousandth of it
  Launches launches{machine, experiment, {}};
  launches.decide_lengths();
  launches.prepare();
  const Sample first = launches.observe();
  Repeated repeated{.rate = [&](const std::string& quantity, double seconds) {
    return rate_of(experiment, first, quantity, seconds);
  }};
  if (experiment.slopes.empty()) {
    repeated.turn = [&] {
      if (experiment.again) return experiment.again();
      launches.prepare();
      return experiment.observe().at(0);
    };
  } else {
    const Slope& slope = experiment.slopes.back();
    repeated.repetitions =
        std::max(1.0, std::round(turn_seconds / first.slopes.back().full_seconds));
    repeated.turn = [&, call = launches.call_of(slope.lengths.full)] {
      const auto work = [&] {
        for (double i = 0; i < repeated.repetitions; ++i)
          slope.launch(call);
      };
      return machine.time(work, /*held=*/false);
    };
  }
  session.steady()->watch(repeated);
  launches.prepare();
  (void)launches.observe();
  judge_launches(session, machine, experiment);
}

}  // namespace

Launched launch_once(Machine& machine, const Slope& slope, const Call& call, Tally& tally) {
  make_ready(machine, slope, call, slope.prepare);
  const double seconds = machine.time([&] { slope.launch(call); }, slope.held);
  verify(machine, slope, call, tally);
  const auto stamps = stamps_of(machine, slope);
  Length length = call.length;
  if (slope.work_done) length.work = slope.work_done(stamps);
  return {.length = length,
          .seconds = seconds,
          .stamps = {stamps.begin(), stamps.end()},
          .cells = slope.cells ? slope.cells() : std::vector<double>{}};
}

void run_untimed(Machine& machine, Start start, const std::function<void()>& work) {
  if (start == Start::evicted) machine.evict();
  machine.launch(work);
}

void report(Session& session, const TimerNames& names, const Experiment& experiment,
            const Collection<Sample>& seen) {
  session.fact("stopped_by", std::string{to_string(seen.stop)});
  if (experiment.trace) {
    session.fact(std::string{step_fact},
                 median(seen.series(experiment.whole_sample)) / experiment.trace->steps);
  }
  // This comes first, because the driver lowers the clock soon after the last launch.
  const double reported = reported_hertz(session, experiment);
  const auto hertz =
      experiment.has_clock ? seen.series(core_hertz(experiment)) : std::vector<double>{};
  const auto add = [&](const Row& row) {
    std::vector<double> samples = seen.series(row.value);
    if (row.most) session.add(limit_gate(row.quantity, samples, *row.most, hertz));
    if (row.least) {
      session.add(limit_gate(row.quantity, samples, *row.least, hertz, Bound::least));
    }
    session.add(Measurement{.quantity = row.quantity,
                            .unit = row.unit,
                            .provenance = row.provenance,
                            .method = name_of(row.method, names),
                            .samples = std::move(samples)});
  };
  for (const Row& row : experiment.rows)
    add(row);
  if (experiment.has_clock) {
    if (!names.clock_may_change) session.add(clock_gate(hertz));
    if (reported > 0) {
      session.add(driver_clock_gate(hertz, reported));
      session.fact("driver_clock_hz", reported);
    }
    session.add(Measurement{.quantity = "core_clock",
                            .unit = "Hz",
                            .provenance = Provenance::timed,
                            .method = name_of(By::clock, names),
                            .samples = hertz});
  }
  for (const Check& check : experiment.checks)
    std::visit(Judge{session, experiment, seen, names}, check);
  for (const Constant& one : experiment.constants) {
    session.add(Measurement{.quantity = one.quantity,
                            .unit = one.unit,
                            .provenance = one.provenance,
                            .method = one.method,
                            .samples = {one.value}});
  }
  if (experiment.partly_host_time) session.add(repeat_unverified());
  if (experiment.conclude) experiment.conclude(session, seen.kept);
}

void require_timed(const Session& session, const Experiment& experiment) {
  if (session.counters() != nullptr && !experiment.counts) throw Skipped{experiment.not_counted};
}

void measure(Session& session, Machine& machine, Experiment& experiment) {
  if (session.counters() != nullptr) {
    count_once(session, machine, experiment);
    return;
  }
  if (Tracer* const tracer = session.tracer()) {
    if (!experiment.trace) throw Skipped{"its steps have no phases"};
    trace_phases(session, *tracer, *experiment.trace, [&] {
      if (experiment.prepare) experiment.prepare();
      machine.land();  // work that the preparation queued is not part of the sample
    });
    return;
  }
  if (session.steady() != nullptr) {
    repeat(session, machine, experiment);
    return;
  }
  Plan plan = session.plan();
  constexpr double most_seconds = 2;
  constexpr double times = 6;  // a lost CPU comes back after several slices of the scheduler
  Launches launches{
      machine, experiment,
      std::chrono::duration<double>{std::min(times * plan.seconds_per_case, most_seconds)}};
  if (experiment.samples != 0) {
    plan.warmups = 0;
    plan.min_samples = experiment.samples;
    plan.max_samples = experiment.samples;
  }
  try {
    launches.decide_lengths();
    const auto began = Clock::now();
    const auto waited = machine.seconds_waited();
    const auto seen = collect(launches, plan, [&] { return launches.now(); });
    judge_preemption(session, machine, experiment, seen, launches.discarded(), began, waited);
    report(session, machine.names(), experiment, seen);
  } catch (const NoClock& error) {
    judge_launches(session, machine, experiment);  // their checks state why
    throw std::runtime_error{session.failures() + "clock (" + error.what() + ")"};
  }
  judge_launches(session, machine, experiment);
  if (experiment.facts) {
    for (auto& [name, value] : experiment.facts(experiment))
      session.fact(name, value);
  }
}

}  // namespace strata
