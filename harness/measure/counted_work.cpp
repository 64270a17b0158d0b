#include "harness/measure/counted_work.hpp"

#include "harness/case/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace strata {
namespace {

std::optional<double> find(const Counts& counts, std::string_view quantity) {
  const auto found = counts.find(quantity);
  if (found == counts.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

const CountedQuantity* planned(const CounterPlan& plan, std::string_view quantity) {
  const auto found = std::ranges::find(plan.quantities, quantity, &CountedQuantity::name);
  return found == plan.quantities.end() ? nullptr : &*found;
}

}  // namespace

std::optional<double> Counted::net(std::string_view quantity) const {
  const auto all = find(whole, quantity);
  const auto other = find(overhead, quantity);
  if (!all || !other) return std::nullopt;
  return *all - *other;
}

std::optional<Counted> count(Session& session, const CountedWork& work) {
  CounterSource* source = session.counters();
  if (source == nullptr) throw std::logic_error{"count: the session does not count"};
  // The work comes last, so that the caller finds what it left behind.
  const std::array<CountedRange, 2> ranges{
      CountedRange{.name = "overhead", .prepare = work.prepare, .work = work.overhead},
      CountedRange{.name = "work", .prepare = work.prepare, .work = work.work}};
  auto answer = source->count(ranges);
  if (!answer) {
    session.wait_for_counts();
    return std::nullopt;
  }
  auto& counted = *answer;
  if (counted.size() != ranges.size()) {
    throw std::runtime_error{
        fmt::format("{} ranges were counted, not {}", counted.size(), ranges.size())};
  }
  if (counted.back().empty()) throw Skipped{"counted by a profiler outside"};
  if (work.check) work.check();
  for (const auto& quantity : source->plan().quantities) {
    if (const auto value = find(counted.back(), quantity.name)) {
      session.add(Measurement{.quantity = quantity.name,
                              .unit = quantity.unit,
                              .provenance = Provenance::counted,
                              .method = quantity.metric,
                              .samples = {*value}});
    }
  }
  Counted result{.whole = std::move(counted.back()), .overhead = std::move(counted.front())};
  for (const auto& quantity : source->plan().quantities) {
    if (quantity.additive) continue;
    result.whole.erase(quantity.name);
    result.overhead.erase(quantity.name);
  }
  return result;
}

Gate model_gate(std::span<const Expectation> expected, const Counted& counted) {
  Gate gate{"model", Verdict::passed, ""};
  for (const auto& one : expected) {
    const auto net = counted.net(one.quantity);
    std::string detail;
    if (!net) {
      if (gate.verdict == Verdict::passed) gate.verdict = Verdict::unverified;
      detail = fmt::format("{} was not counted", one.quantity);
    } else {
      if (std::abs(*net - one.predicted) > one.bound * std::abs(one.predicted)) {
        gate.verdict = Verdict::failed;
      }
      detail =
          fmt::format("{}: {:.0f} counted, {:.0f} predicted", one.quantity, *net, one.predicted);
      if (one.bound > 0) detail += fmt::format(" (bound {:g} %)", 100 * one.bound);
    }
    gate.detail += (gate.detail.empty() ? "" : ", ") + detail;
  }
  return gate;
}

void report_expected(Session& session, const Modelled& model, const Counted& counted) {
  const CounterPlan& plan = session.counters()->plan();
  for (const auto& one : model.expected) {
    const auto* const quantity = planned(plan, one.quantity);
    const auto net = counted.net(one.quantity);
    if (quantity == nullptr || !net) continue;
    const auto add = [&](Provenance provenance, const std::string& method, double value) {
      session.add(Measurement{.quantity = one.quantity + "_per_" + model.unit,
                              .unit = quantity->unit,
                              .provenance = provenance,
                              .method = method,
                              .samples = {value / model.units}});
    };
    add(Provenance::counted, "cupti_net", *net);
    add(Provenance::modelled, model.method, one.predicted);
  }
}

std::optional<Counted> count_and_compare(Session& session, const CountedWork& work,
                                         const Modelled& model) {
  auto counted = count(session, work);
  if (!counted) return counted;
  report_expected(session, model, *counted);
  session.add(model_gate(model.expected, *counted));
  return counted;
}

}  // namespace strata
