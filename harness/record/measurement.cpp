#include "harness/record/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace strata {
namespace {

/// Merges a gate of the counting phase with the gates of the timing phase.
void merge_gate(std::vector<Gate>& gates, const Gate& counted) {
  const auto timed = std::ranges::find(gates, counted.name, &Gate::name);
  if (timed == gates.end()) {
    gates.push_back(counted);
  } else if (timed->verdict == Verdict::failed && counted.verdict == Verdict::failed) {
    timed->detail += "; " + counted.detail;
  } else if (timed->verdict == Verdict::unverified || timed->verdict == Verdict::not_applicable ||
             counted.verdict == Verdict::failed) {
    *timed = counted;
  }
}

}  // namespace

bool is_row_name(std::string_view text) {
  constexpr std::string_view allowed =
      "_.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr auto letters = allowed.substr(allowed.find('a'));
  return !text.empty() && letters.find(text.front()) != std::string_view::npos &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

bool CaseRecord::is_valid(const Measurement& m) const {
  const auto failed = [](const Gate& gate) { return gate.verdict == Verdict::failed; };
  return !failed(m.noise) && std::none_of(gates.begin(), gates.end(), failed);
}

std::string CaseRecord::reasons(const Measurement& m) const {
  std::string text;
  const auto add = [&](const Gate& gate) {
    if (gate.verdict != Verdict::failed && gate.verdict != Verdict::unverified) return;
    text.append(text.empty() ? "" : "; ").append(gate.name).append(": ");
    text += gate.detail.empty() ? to_string(gate.verdict) : gate.detail;
  };
  std::ranges::for_each(gates, add);
  add(m.noise);
  return text;
}

CaseRecord revisited(const CaseRecord& before, const CaseRecord& later) {
  CaseRecord record = before;
  if (before.status != Status::measured || later.status != Status::measured) return record;
  const auto fail = [&](Gate& gate, const Gate& again) {
    if (again.verdict != Verdict::failed || gate.verdict == Verdict::failed) return;
    gate = {gate.name, Verdict::failed, fmt::format("visit {}: {}", later.visit, again.detail)};
  };
  // Both visits add the same gates in the same order, unless one had nothing to compare.
  for (std::size_t i = 0; i < later.gates.size(); ++i) {
    const Gate& again = later.gates[i];
    if (i < record.gates.size() && record.gates[i].name == again.name) {
      fail(record.gates[i], again);
    } else if (again.verdict == Verdict::failed) {
      record.gates.push_back(again);
    }
  }
  for (Measurement& m : record.measurements) {
    const auto again = std::ranges::find_if(later.measurements, [&](const Measurement& one) {
      return one.quantity == m.quantity && one.method == m.method;
    });
    if (again == later.measurements.end() || m.provenance != Provenance::timed) continue;
    if (m.visits.empty()) m.visits = {m.samples.size()};
    m.visits.push_back(again->samples.size());
    m.samples.insert(m.samples.end(), again->samples.begin(), again->samples.end());
    fail(m.noise, again->noise);
  }
  record.seconds += later.seconds;
  record.visit = later.visit;
  return record;
}

CaseRecord merged(const CaseRecord& timed, const CaseRecord& counted) {
  CaseRecord record = timed;
  if (timed.status != Status::measured) return record;
  if (counted.status != Status::measured) {
    for (auto& gate : record.gates) {
      if (gate.name != "level" || gate.verdict != Verdict::unverified) continue;
      gate.detail = "level unverified: counting ";
      gate.detail.append(to_string(counted.status)).append(": ").append(counted.reason);
    }
    return record;
  }
  for (const auto& gate : counted.gates)
    merge_gate(record.gates, gate);
  std::ranges::copy(counted.measurements, std::back_inserter(record.measurements));
  record.facts.insert(counted.facts.begin(), counted.facts.end());
  return record;
}

CaseRecord with_trace(CaseRecord record, const CaseRecord& trace) {
  if (record.status != Status::measured) return record;
  if (trace.status != Status::measured) {
    record.gates.push_back({"phases", Verdict::unverified,
                            fmt::format("tracing {}: {}", to_string(trace.status), trace.reason)});
    return record;
  }
  std::string why;
  for (const Gate& gate : trace.gates) {
    if (gate.verdict == Verdict::failed) {
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", gate.name, gate.detail);
    } else {
      record.gates.push_back(gate);
    }
  }
  for (const Measurement& m : trace.measurements) {
    record.measurements.push_back(m);
    if (!why.empty()) record.measurements.back().noise = {"noise", Verdict::failed, why};
  }
  record.facts.insert(trace.facts.begin(), trace.facts.end());
  return record;
}

}  // namespace strata
