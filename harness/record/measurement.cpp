#include "harness/record/measurement.hpp"

#include <algorithm>

namespace strata {
namespace {

void append_reason(std::string& reasons, const Gate& gate) {
  if (gate.verdict != Verdict::failed && gate.verdict != Verdict::unverified) return;
  if (!reasons.empty()) reasons += "; ";
  reasons.append(gate.name).append(": ");
  // A gate without a detail still has its verdict.
  if (gate.detail.empty()) {
    reasons += to_string(gate.verdict);
  } else {
    reasons += gate.detail;
  }
}

/// Puts a gate of the counting phase beside the gates of the timing phase.
void merge_gate(std::vector<Gate>& gates, const Gate& counted) {
  const auto timed = std::ranges::find(gates, counted.name, &Gate::name);
  if (timed == gates.end()) {
    gates.push_back(counted);
    return;
  }
  if (timed->verdict == Verdict::failed && counted.verdict == Verdict::failed) {
    timed->detail += "; " + counted.detail;
    return;
  }
  const bool undecided =
      timed->verdict == Verdict::unverified || timed->verdict == Verdict::not_applicable;
  if (undecided || counted.verdict == Verdict::failed) *timed = counted;
}

}  // namespace

bool is_row_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto fits = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, fits);
}

bool CaseRecord::is_valid(const Measurement& m) const {
  const auto failed = [](const Gate& gate) { return gate.verdict == Verdict::failed; };
  return !failed(m.noise) && std::none_of(gates.begin(), gates.end(), failed);
}

std::string CaseRecord::reasons(const Measurement& m) const {
  std::string text;
  for (const auto& gate : gates)
    append_reason(text, gate);
  append_reason(text, m.noise);
  return text;
}

CaseRecord merged(const CaseRecord& timed, const CaseRecord& counted) {
  CaseRecord record = timed;
  if (timed.status != Status::measured) return record;
  if (counted.status != Status::measured) {
    for (auto& gate : record.gates) {
      if (gate.name != "level" || gate.verdict != Verdict::unverified) continue;
      gate.detail.assign("level unverified: counting ")
          .append(to_string(counted.status))
          .append(": ")
          .append(counted.reason);
    }
    return record;
  }
  for (const auto& gate : counted.gates)
    merge_gate(record.gates, gate);
  record.measurements.insert(record.measurements.end(), counted.measurements.begin(),
                             counted.measurements.end());
  record.facts.insert(counted.facts.begin(), counted.facts.end());
  return record;
}

}  // namespace strata
