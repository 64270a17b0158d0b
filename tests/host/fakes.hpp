// A device and a source of counts that pretend, for tests of what uses them.
#pragma once

#include "harness/counters/counters.hpp"
#include "harness/record/device.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strata {

/// A device that does nothing, and remembers which cases began and ended on it.
class FakeDevice final : public Device {
 public:
  explicit FakeDevice(Backend backend = Backend::cuda) : backend_{backend} {}

  [[nodiscard]] Backend backend() const override { return backend_; }
  [[nodiscard]] const DeviceIdentity& identity() const override { return identity_; }
  [[nodiscard]] Facts conditions() override { return {}; }
  [[nodiscard]] std::optional<double> reported_clock() override { return clock; }
  [[nodiscard]] Facts timer_facts() override { return {}; }
  void settle() override {}
  void begin_case(const std::string& id) override {
    calls += "begin " + id + ";";
    ++open;
  }
  void end_case() override {
    calls += "end;";
    --open;
  }
  [[nodiscard]] std::string poisoned() override { return {}; }

  std::string calls;
  int open = 0;                 ///< cases that began and did not end
  std::optional<double> clock;  ///< that its driver reports

 private:
  Backend backend_;
  DeviceIdentity identity_;
};

/// Counts what the fake work writes into `now`; runs each range twice, as for two passes.
class FakeSource final : public CounterSource {
 public:
  explicit FakeSource(std::vector<CountedQuantity> quantities)
      : plan_{.chip = "FAKE",
              .sets = {"memory"},
              .quantities = std::move(quantities),
              .absent = {},
              .passes = 2} {}

  [[nodiscard]] const CounterPlan& plan() const override { return plan_; }
  void attach() override {}
  [[nodiscard]] std::optional<std::vector<Counts>> count(
      std::span<const CountedRange> ranges) override {
    std::vector<Counts> all;
    for (const auto& range : ranges) {
      for (int pass = 0; pass < 2; ++pass) {
        now = {};
        range.prepare();
        range.work();
      }
      names.push_back(range.name);
      all.push_back(now);
    }
    if (lose_one) all.pop_back();
    return all;
  }

  Counts now;
  std::vector<std::string> names;  ///< of the ranges counted, in order
  bool lose_one = false;           ///< forgets the last range

 private:
  CounterPlan plan_;
};

}  // namespace strata
