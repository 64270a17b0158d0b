#pragma once

#include "harness/case/plan.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/tracer.hpp"
#include "harness/record/device.hpp"
#include "harness/record/device_facts.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/measurement.hpp"

#include <algorithm>
#include <any>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>

namespace strata {

/// Data that a worker keeps between cases, so that cases that differ only in inner axes share them.
class Cache {
 public:
  /// The object for `key`, made now if the last one was for another key. Only one is held, so that
  /// data sets do not accumulate.
  template <class T, class Make>
  T& keep(const std::string& key, Make&& make) {
    if (key_ != key || !std::any_cast<std::shared_ptr<T>>(&held_)) {
      held_.reset();
      key_.clear();
      held_ = std::make_shared<T>(std::forward<Make>(make)());
      key_ = key;
    }
    return **std::any_cast<std::shared_ptr<T>>(&held_);
  }
  /// The one T of this device, made on first use and held until the device is closed.
  template <class T>
  T& shared() {
    auto& slot = shared_[std::type_index{typeid(T)}];
    if (!slot) slot = std::make_shared<T>();
    return *static_cast<T*>(slot.get());
  }

 private:
  std::map<std::type_index, std::shared_ptr<void>> shared_;  // outlives held_, which may use it
  std::string key_;
  std::any held_;
};

/// Work that is repeated back to back.
struct Repeated {
  std::function<double()> turn;  ///< runs `repetitions` and waits: their seconds by the outer timer
  double repetitions = 1;        ///< of a turn
  /// The row `quantity`, a rate, if a repetition takes `seconds`. Throws std::logic_error if the
  /// experiment has none.
  std::function<double(const std::string& quantity, double seconds)> rate;
};
/// Replaces the timing of a case: its work is repeated, on a part of the SMs.
struct Steady {
  double sm_share = 1;
  std::function<void(const Repeated&)> watch;  ///< calls turn() as often as it wants
};

/// Whether a case is counted, traced or repeated now; if not, the detail of its level gate.
struct Counting {
  CounterSource* source = nullptr;  ///< null: the case is timed, or traced
  std::string note = "counters were not requested";
  Tracer* tracer = nullptr;              ///< null: the case is timed, or counted
  std::vector<double> timed_steps = {};  ///< seconds per step of each visit, when tracing
  const Steady* steady = nullptr;        ///< null: its work is not repeated
};

/// All that a benchmark may access. It prints nothing and keeps no globals.
class Session {
 public:
  Session(const Plan& plan, Device& device, Cache& cache, CaseRecord& record,
          const Counting& counting)
      : plan_{plan}, device_{device}, cache_{cache}, record_{record}, counting_{counting} {}

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Device& device() { return device_; }
  /// With the SMs that may work. Throws Skipped naming a fact that the device does not report.
  [[nodiscard]] GpuFacts gpu() {
    GpuFacts facts = gpu_facts(device_.identity().facts);
    if (steady() == nullptr) return facts;
    facts.sms = static_cast<unsigned>(std::max(1.0, std::round(facts.sms * steady()->sm_share)));
    return facts;
  }
  [[nodiscard]] Cache& cache() { return cache_; }

  /// Null while the case is timed. Otherwise the benchmark does its work under this source and
  /// reports counts only.
  [[nodiscard]] CounterSource* counters() const { return counting_.source; }
  /// Null unless the case is traced.
  [[nodiscard]] Tracer* tracer() const { return counting_.tracer; }
  /// Null unless the work of the case is repeated.
  [[nodiscard]] const Steady* steady() const { return counting_.steady; }
  /// Seconds per timed step of the traced case, visit by visit; empty if unknown.
  [[nodiscard]] const std::vector<double>& timed_steps() const { return counting_.timed_steps; }
  /// The counts of the case come later: its present results are dropped, and it is run again then.
  void wait_for_counts() { is_waiting_ = true; }
  [[nodiscard]] bool is_waiting() const { return is_waiting_; }
  /// Why a timed case has no counts: the detail of its level gate.
  [[nodiscard]] const std::string& counting_note() const { return counting_.note; }

  /// The session's case.
  [[nodiscard]] const Case& which() const { return record_.which; }
  /// Of the session's case.
  [[nodiscard]] const Params& params() const { return record_.which.params; }
  /// The value of an axis. Throws std::out_of_range for an axis that the benchmark did not declare.
  [[nodiscard]] const std::string& param(std::string_view axis) const;
  /// Of an integer axis. Throws std::out_of_range for a value that is not an integer.
  [[nodiscard]] long long whole(std::string_view axis) const;
  /// The same as an int. Throws std::out_of_range if it does not fit.
  [[nodiscard]] int integer(std::string_view axis) const;

  void add(Measurement m) { record_.measurements.push_back(std::move(m)); }
  /// The same for samples that are not repetitions, so that their spread is not noise: `they_are`
  /// names what they are instead.
  void add_unrepeated(Measurement m, const std::string& they_are) {
    m.noise.detail = they_are;
    add(std::move(m));
  }
  /// Adds none_gate().
  void none_of(const std::string& gate, std::size_t exceptions, std::size_t all,
               const std::string& what) {
    add(none_gate(gate, exceptions, all, what));
  }
  /// Adds predicted_gate().
  void as_predicted(std::span<const ComparedCount> numbers) { add(predicted_gate(numbers)); }
  void add(Gate gate) { record_.gates.push_back(std::move(gate)); }
  /// "result (…), placement (…), " of the gates that failed so far.
  [[nodiscard]] std::string failures() const {
    std::string words;
    for (const Gate& gate : record_.gates) {
      if (gate.verdict == Verdict::failed) words += gate.name + " (" + gate.detail + "), ";
    }
    return words;
  }
  void fact(const std::string& name, Fact value) { record_.facts[name] = std::move(value); }

 private:
  const Plan& plan_;
  Device& device_;
  Cache& cache_;
  CaseRecord& record_;
  const Counting& counting_;
  bool is_waiting_ = false;
};

}  // namespace strata
