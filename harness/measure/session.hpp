#pragma once

#include "harness/case/plan.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/tracer.hpp"
#include "harness/record/device.hpp"
#include "harness/record/measurement.hpp"

#include <any>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>

namespace strata {

/// What a worker keeps between cases, so that neighbours on the outer axes share their data.
class Cache {
 public:
  /// The object made for `key`, made now when the last one was made for another key: only one is
  /// held, so a benchmark's data sets never add up.
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
  /// The one T of this device, made on first use and held as long as the device is open.
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

/// Whether a case is counted or traced now, and if not, what is to be said of its level.
struct Counting {
  CounterSource* source = nullptr;  ///< null: the case is timed, or traced
  std::string note = "counters were not requested";
  Tracer* tracer = nullptr;  ///< null: the case is timed, or counted
  double timed_step = 0;     ///< seconds, of a case that is traced
};

/// All that a benchmark may see of the outside world. It prints nothing and keeps no globals.
class Session {
 public:
  Session(const Plan& plan, Device& device, Cache& cache, CaseRecord& record,
          const Counting& counting)
      : plan_{plan}, device_{device}, cache_{cache}, record_{record}, counting_{counting} {}

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Device& device() { return device_; }
  [[nodiscard]] Cache& cache() { return cache_; }

  /// Null while the case is timed. Else the benchmark does its work under this source and reports
  /// what was counted, nothing timed.
  [[nodiscard]] CounterSource* counters() const { return counting_.source; }
  /// Null unless the case is traced.
  [[nodiscard]] Tracer* tracer() const { return counting_.tracer; }
  /// Seconds of a step of the case that is traced, as it was timed; 0 where that is not known.
  [[nodiscard]] double timed_step() const { return counting_.timed_step; }
  /// The counts of the case come later: what it said now is dropped, and it is run again then.
  void wait_for_counts() { is_waiting_ = true; }
  [[nodiscard]] bool is_waiting() const { return is_waiting_; }
  /// Why a timed case has no counts: the detail of its level gate.
  [[nodiscard]] const std::string& counting_note() const { return counting_.note; }

  /// Of the session's case.
  [[nodiscard]] const Params& params() const { return record_.which.params; }
  /// The value of an axis. Throws std::out_of_range for an axis that the benchmark did not declare.
  [[nodiscard]] const std::string& param(std::string_view axis) const;
  /// Of an axis of whole numbers. Throws std::out_of_range for a value that is none.
  [[nodiscard]] long long whole(std::string_view axis) const;
  /// The same, as an int, which it must fit.
  [[nodiscard]] int integer(std::string_view axis) const;

  void add(Measurement m) { record_.measurements.push_back(std::move(m)); }
  /// The same of samples that are no repetitions, so that their spread is no noise: `they_are` says
  /// what they are instead.
  void add_unrepeated(Measurement m, const std::string& they_are) {
    m.noise.detail = they_are;
    add(std::move(m));
  }
  /// Adds a gate that passed where `holds`, and else failed.
  void judge(const std::string& gate, bool holds, const std::string& detail) {
    add(Gate{gate, holds ? Verdict::passed : Verdict::failed, detail});
  }
  void add(Gate gate) { record_.gates.push_back(std::move(gate)); }
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
