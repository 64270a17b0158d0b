#include "harness/run/selftest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace strata {
namespace {

std::string joined_numbers(const std::vector<double>& values) {
  std::string text;
  for (const double value : values)
    text += fmt::format("{}{:.4g}", text.empty() ? "" : ", ", value);
  return text;
}

const Gate* find_gate(const CaseRecord& record, std::string_view name) {
  const auto found = std::ranges::find(record.gates, name, &Gate::name);
  return found == record.gates.end() ? nullptr : &*found;
}

std::string gate_text(const Gate& gate) {
  return gate.name + ": " + gate.detail;
}

/// Why a case cannot be judged, if it cannot.
std::optional<Shown> without_result(const CaseRecord& record) {
  if (record.status == Status::measured) return std::nullopt;
  return Shown{record.status == Status::failed ? Proof::failed : Proof::unproved, record.reason};
}

/// A gate against the case: one of its conditions, or of what it claims.
Shown refuted(const Gate& gate) {
  return {is_of_conditions(gate.name) ? Proof::unproved : Proof::failed, gate_text(gate)};
}

/// Why the row of a case gives no number, if it gives none.
std::optional<Shown> without_row(const CaseRecord& record, const Measurement* row) {
  if (row == nullptr) {
    // Without counters there are no counted rows, and a gate records why.
    for (const Gate& gate : record.gates) {
      if (gate.verdict == Verdict::unverified) return Shown{Proof::unproved, gate_text(gate)};
    }
    return Shown{Proof::unproved, "there is no such row"};
  }
  for (const Gate& gate : record.gates) {
    if (gate.verdict == Verdict::failed) return refuted(gate);
  }
  if (row->noise.verdict == Verdict::failed) return refuted(row->noise);
  return std::nullopt;
}

const Measurement* find_row(const CaseRecord& record, const RowName& name) {
  const auto found = std::ranges::find_if(record.measurements, [&](const Measurement& m) {
    return m.quantity == name.quantity && m.method == name.method;
  });
  return found == record.measurements.end() ? nullptr : &*found;
}

/// A number, and the confidence interval of it; without one, the number alone.
struct Number {
  double value = 0;
  Interval possible;
};

Number number_of(const Measurement& row) {
  const auto [value, interval] = centre_of(row.samples, row.visits);
  return {value, interval.value_or(Interval{value, value})};
}

/// What a number proves of a claim that it is `wanted`.
Proof proof_of(const Number& number, const Interval& wanted) {
  const auto& [value, possible] = number;
  if (value >= wanted.low && value <= wanted.high) return Proof::held;
  const bool is_beyond = possible.high < wanted.low || possible.low > wanted.high;
  return is_beyond ? Proof::failed : Proof::unproved;
}

bool is_alarm(const Measurement& one, const Measurement& other) {
  constexpr double least_change = 0.01;  // the least change that `strata compare` reports
  const auto [a, of_a] = centre_of(one.samples, one.visits);
  const auto [b, of_b] = centre_of(other.samples, other.visits);
  if (!of_a || !of_b) return false;
  const bool apart = of_a->high < of_b->low || of_b->high < of_a->low;
  return apart && std::abs(a / b - 1) >= least_change;
}

/// Why a case gives no number of the row.
std::optional<Shown> without_number(const CaseRecord& record, const RowName& row) {
  if (auto none = without_result(record)) return none;
  return without_row(record, find_row(record, row));
}

/// What the gate of an experiment with a mistake proves, next to the gate of the one without.
Shown judged_pair(const Gate* without, const Gate* with, const std::string& absent) {
  if (without == nullptr || with == nullptr) return {Proof::unproved, "there is no such gate"};
  if (without->verdict == Verdict::failed) {
    Shown shown = refuted(*without);
    shown.seen = "without the mistake, " + shown.seen;
    return shown;
  }
  for (const Gate* const gate : {without, with}) {
    if (gate->verdict == Verdict::unverified) return {Proof::unproved, gate_text(*gate)};
  }
  if (with->verdict == Verdict::failed) return {Proof::held, gate_text(*with)};
  if (!absent.empty()) return {Proof::unproved, absent + "; " + gate_text(*with)};
  return {Proof::failed, "passed " + gate_text(*with)};
}

/// The first half of each series of repetitions next to the second.
std::vector<std::pair<const CaseRecord*, const CaseRecord*>> pairs_of(
    std::span<const CaseRecord> records) {
  // By number: as text, 10 would come before 2.
  std::map<std::string, std::map<int, const CaseRecord*>> series;
  for (const CaseRecord& record : records) {
    Params rest = record.which.params;
    const int repeat = std::stoi(rest.at("repeat"));
    rest.erase("repeat");
    series[to_string(rest)][repeat] = &record;
  }
  std::vector<std::pair<const CaseRecord*, const CaseRecord*>> pairs;
  for (const auto& [params, repeats] : series) {
    const auto half = static_cast<std::ptrdiff_t>(repeats.size() / 2);
    auto other = std::next(repeats.begin(), half);
    for (auto one = repeats.begin(); std::distance(repeats.begin(), one) < half; ++one, ++other)
      pairs.emplace_back(one->second, other->second);
  }
  return pairs;
}

}  // namespace

bool is_of_conditions(std::string_view gate) {
  constexpr std::array conditions{"timer", "clock", "noise", "queue", "limit", "preempted"};
  return std::ranges::count(conditions, gate) > 0;
}

Judge value_is(const RowName& row, const std::function<Interval(const Params&)>& expected) {
  return [=](std::span<const CaseRecord> records) -> Shown {
    std::vector<double> values;
    Proof proof = Proof::held;
    for (const CaseRecord& record : records) {
      if (auto none = without_result(record)) return *none;
      const Measurement* const found = find_row(record, row);
      if (auto none = without_row(record, found)) return *none;
      const Number number = number_of(*found);
      values.push_back(number.value);
      const Proof one = proof_of(number, expected(record.which.params));
      if (proof == Proof::held || one == Proof::failed) proof = one;
    }
    return {proof, joined_numbers(values)};
  };
}

Judge ratio_is(const RowName& over, const RowName& under, const std::string& fact, double times,
               Interval expected) {
  return [=](std::span<const CaseRecord> records) -> Shown {
    Number ratio{1 / times, {1 / times, 1 / times}};
    for (const CaseRecord& record : records) {
      if (auto none = without_result(record)) return *none;
      const Measurement* const first = find_row(record, over);
      const Measurement* const row = first == nullptr ? find_row(record, under) : first;
      if (auto none = without_row(record, row)) return *none;
      const auto [value, possible] = number_of(*row);
      const auto& [low, high] = ratio.possible;
      if (first == nullptr) {
        ratio = {ratio.value / value, {low / possible.high, high / possible.low}};
      } else {
        const auto each = static_cast<double>(std::get<std::int64_t>(record.facts.at(fact)));
        ratio = {ratio.value * value / each,
                 {low * possible.low / each, high * possible.high / each}};
      }
    }
    return {proof_of(ratio, expected), joined_numbers({ratio.value})};
  };
}

Judge gates_pass(const std::vector<std::string>& gates) {
  return [=](std::span<const CaseRecord> records) -> Shown {
    std::string seen;
    for (const CaseRecord& record : records) {
      if (auto none = without_result(record)) return *none;
      for (const std::string& name : gates) {
        const Gate* const gate = find_gate(record, name);
        if (gate == nullptr) return {Proof::unproved, "there is no gate " + name};
        if (gate->verdict == Verdict::failed) return refuted(*gate);
        if (gate->verdict != Verdict::passed) return {Proof::unproved, gate_text(*gate)};
        seen += (seen.empty() ? "" : "; ") + gate->detail;
      }
    }
    return {Proof::held, seen};
  };
}

Judge caught_by(const std::string& gate, const std::string& absent) {
  return [=](std::span<const CaseRecord> records) -> Shown {
    const CaseRecord* right = nullptr;
    const CaseRecord* wrong = nullptr;
    for (const CaseRecord& record : records) {
      if (auto none = without_result(record)) return *none;
      (record.which.params.at("mistake") == "none" ? right : wrong) = &record;
    }
    if (right == nullptr || wrong == nullptr) return {Proof::unproved, "it was not run"};
    return judged_pair(find_gate(*right, gate), find_gate(*wrong, gate), absent);
  };
}

std::size_t most_alarms(std::size_t pairs) {
  constexpr double confidence = 0.95;
  constexpr double rare = 1e-3;
  const double p = 1 - confidence * confidence;
  const auto n = static_cast<double>(pairs);
  double probability = std::pow(1 - p, n);  // of exactly `count` alarms
  double tail = 1 - probability;            // of more
  std::size_t count = 0;
  while (tail >= rare && count < pairs) {
    const auto k = static_cast<double>(count);
    probability *= (n - k) / (k + 1) * p / (1 - p);
    tail -= probability;
    ++count;
  }
  return count;
}

Judge rarely_alarms(const RowName& row) {
  return [=](std::span<const CaseRecord> records) -> Shown {
    std::size_t pairs = 0;
    std::size_t compared = 0;
    std::size_t alarms = 0;
    std::string reason;
    for (const auto& [one, other] : pairs_of(records)) {
      ++pairs;
      auto none = without_number(*one, row);
      if (!none) none = without_number(*other, row);
      if (none && none->proof == Proof::failed) return *none;
      if (none) {
        reason = none->seen;
        continue;
      }
      ++compared;
      if (is_alarm(*find_row(*one, row), *find_row(*other, row))) ++alarms;
    }
    const std::size_t most = most_alarms(compared);
    const std::string seen = fmt::format("{} of {} pairs ({} allowed)", alarms, compared, most);
    // Where many cases are invalid, the device was disturbed, and the others may be wrong as well.
    if (4 * compared < 3 * pairs || compared == 0) return {Proof::unproved, seen + "; " + reason};
    return {alarms <= most ? Proof::held : Proof::failed, seen};
  };
}

Judge all_of(const std::vector<Judge>& judges) {
  return [=](std::span<const CaseRecord> records) -> Shown {
    Shown all{Proof::held, {}};
    for (const Judge& one : judges) {
      Shown shown = one(records);
      if (shown.proof == Proof::failed) return shown;
      if (all.proof == Proof::unproved) continue;
      if (shown.proof == Proof::unproved) all = {Proof::unproved, {}};
      all.seen += (all.seen.empty() ? "" : "; ") + shown.seen;
    }
    return all;
  };
}

Sweep sweep_of(std::span<const Claim> claims) {
  Sweep sweep{.name = "selftest",
              .file = "selftest",
              .text = "# every case of a claim of strata selftest\n",
              .plan = {},
              .entries = {}};
  sweep.plan.seconds_per_case = 0.5;  // a number that stays noisy is unproved
  sweep.plan.visits = 3;              // as of the default sweep
  for (const Claim& claim : claims)
    sweep.entries.insert(sweep.entries.end(), claim.cases.begin(), claim.cases.end());
  return sweep;
}

std::vector<Outcome> judge(std::span<const Claim> claims, Backend backend,
                           std::span<const CaseRecord> records, std::span<const Enrolled> known) {
  std::vector<Outcome> outcomes;
  for (const Claim& claim : claims) {
    std::vector<CaseRecord> its;
    Outcome outcome;
    const auto cases = expand(sweep_of({&claim, 1}), backend, known);
    for (const Case& which : cases) {
      const auto found = std::ranges::find(records, which, &CaseRecord::which);
      if (found == records.end()) continue;
      outcome.seconds += found->seconds;
      its.push_back(*found);
    }
    outcome.shown = cases.empty() || its.size() < cases.size()
                        ? Shown{Proof::unproved, "not measured"}
                        : claim.judge(its);
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace strata
