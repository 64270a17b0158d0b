#include "harness/record/measurement.hpp"

#include <algorithm>
#include <iterator>

namespace strata {
namespace {

/// Puts a gate of the counting phase beside the gates of the timing phase.
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
  return !text.empty() && letters.find(text.front()) != letters.npos &&
         text.find_first_not_of(allowed) == text.npos;
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

}  // namespace strata
