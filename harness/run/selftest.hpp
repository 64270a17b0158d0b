// What `strata selftest` claims: known answers, experiments that are wrong on purpose and the gate
// that catches each, and how often the same measured twice looks different. A claim is judged from
// the records of a run, so what it proves is what every run does. Host only.
#pragma once

#include "harness/case/sweep.hpp"
#include "harness/record/measurement.hpp"
#include "harness/record/statistics.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace strata {

/// Whether the records bear a claim out. `unproved`: they neither do nor speak against it, for want
/// of counters, of an instruction, or of a device at rest: a gate kept the number out.
enum class Proof { held, failed, unproved };
constexpr auto words_of(Proof /*unused*/) {
  return std::to_array<std::string_view>({"held", "failed", "unproved"});
}

struct Shown {
  Proof proof = Proof::unproved;
  std::string seen;  ///< numbers, what the gate said, or why nothing is proved
};
using Judge = std::function<Shown(std::span<const CaseRecord>)>;

struct Claim {
  enum class Kind { known_answer, control, same_twice };
  Kind kind = Kind::known_answer;
  std::string what;
  std::vector<SweepEntry> cases;
  std::string expected;
  Judge judge;
};
constexpr auto words_of(Claim::Kind /*unused*/) {
  return std::to_array<std::string_view>({"known_answer", "control", "same_twice"});
}

/// A gate that fails where the device was not at rest, and not where the number would be wrong.
[[nodiscard]] bool is_of_conditions(std::string_view gate);

/// A row of a case.
struct RowName {
  std::string quantity;
  std::string method;
};
/// Each record has the row, valid, within what `expected` gives for its parameters.
[[nodiscard]] Judge value_is(const RowName& row,
                             const std::function<Interval(const Params&)>& expected);
/// Of two records: the row of the one ÷ (the row of the other × a fact of the one × `times`).
[[nodiscard]] Judge ratio_is(const RowName& over, const RowName& under, const std::string& fact,
                             double times, Interval expected);
/// Each record passed all of these gates.
[[nodiscard]] Judge gates_pass(const std::vector<std::string>& gates);
/// Of two records, in whichever order: the gate passed where parameter `mistake` is "none", and
/// failed in the other. `absent`: what it means when it passed there too, where a chip may not have
/// what the mistake is made with.
[[nodiscard]] Judge caught_by(const std::string& gate, const std::string& absent = {});
/// Records that differ in parameter `repeat` alone, in two halves: the medians of a pair are
/// alarmingly different when their 95 % intervals lie apart and they differ by a percent or more,
/// which no comparison calls a change. No more pairs are than chance allows, were every interval
/// one of 95 %.
[[nodiscard]] Judge rarely_alarms(const RowName& row);
/// Held where all are.
[[nodiscard]] Judge all_of(const std::vector<Judge>& judges);

/// The most alarms of `pairs` that chance gives once in a thousand or more: two intervals of 95 %
/// that lie apart have at least one that misses.
[[nodiscard]] std::size_t most_alarms(std::size_t pairs);

/// The claims of this kind of device.
[[nodiscard]] std::vector<Claim> claims_of(Backend backend);

/// The cases of all claims.
[[nodiscard]] Sweep sweep_of(std::span<const Claim> claims);

struct Outcome {
  Shown shown;
  double seconds = 0;  ///< of timing its cases
};
/// An outcome for each claim, from the records of a run of sweep_of(claims) on `backend`.
[[nodiscard]] std::vector<Outcome> judge(std::span<const Claim> claims, Backend backend,
                                         std::span<const CaseRecord> records,
                                         std::span<const Enrolled> known);

}  // namespace strata
