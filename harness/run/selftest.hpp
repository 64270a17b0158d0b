// The claims of `strata selftest`: known answers, experiments with deliberate mistakes and the gate
// that catches each, benchmarks that must agree, and how often repeated measurements differ. A
// claim is judged from the records of an ordinary run. Host only.
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

/// Whether the records support a claim. `unproved`: they neither support nor refute it, because
/// counters or an instruction are missing, or the number is too uncertain on a busy device.
enum class Proof { held, failed, unproved };
constexpr auto words_of(Proof /*unused*/) {
  return std::to_array<std::string_view>({"held", "failed", "unproved"});
}

struct Shown {
  Proof proof = Proof::unproved;
  std::string seen;  ///< numbers, the gate's detail, or why nothing is proved
};
using Judge = std::function<Shown(std::span<const CaseRecord>)>;

struct Claim {
  enum class Kind { known_answer, control, agreement, same_twice };
  Kind kind = Kind::known_answer;
  std::string what;
  std::vector<SweepEntry> cases;
  std::string expected;
  Judge judge;
};
constexpr auto words_of(Claim::Kind /*unused*/) {
  return std::to_array<std::string_view>({"known_answer", "control", "agreement", "same_twice"});
}

/// Whether a gate fails because the device was busy, and not because the number is wrong.
[[nodiscard]] bool is_of_conditions(std::string_view gate);

/// A row of a case.
struct RowName {
  std::string quantity;
  std::string method;
};
/// Each record has the row, valid, and its median is within `expected` for its parameters. A median
/// beyond it refutes the claim only if its confidence interval is, too; otherwise it proves
/// nothing.
[[nodiscard]] Judge value_is(const RowName& row,
                             const std::function<Interval(const Params&)>& expected);
/// For two records: the row of one ÷ (the row of the other × a fact of the first × `times`), judged
/// likewise.
[[nodiscard]] Judge ratio_is(const RowName& over, const RowName& under, const std::string& fact,
                             double times, Interval expected);
/// Each record passed all of these gates.
[[nodiscard]] Judge gates_pass(const std::vector<std::string>& gates);
/// For two records, in either order: the gate passed where parameter `mistake` is "none", and
/// failed in the other. `absent`: what it means if it passed there too, on chips that lack the
/// feature of the mistake.
[[nodiscard]] Judge caught_by(const std::string& gate, const std::string& absent = {});
/// Records that differ only in parameter `repeat`, in two halves. A pair is an alarm if its 95 %
/// intervals do not overlap and its medians differ by at least a percent, the smallest change of a
/// comparison. Held if there are no more alarms than chance allows for 95 % intervals.
[[nodiscard]] Judge rarely_alarms(const RowName& row);
/// Held if all are.
[[nodiscard]] Judge all_of(const std::vector<Judge>& judges);

/// The maximum number of alarms in `pairs` that chance gives with a probability of at least one in
/// a thousand: if two 95 % intervals do not overlap, at least one misses.
[[nodiscard]] std::size_t most_alarms(std::size_t pairs);

/// The claims of this kind of device, those of agreement.hpp included.
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
