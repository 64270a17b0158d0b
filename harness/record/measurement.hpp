#pragma once

#include "harness/case/case.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strata {

/// Provenance of a number: timed by events or a clock, counted by hardware counters, modelled on
/// the host, taken from the literature, or reported by the driver or the system.
enum class Provenance { timed, counted, modelled, published, reported };
constexpr auto words_of(Provenance /*unused*/) {
  return std::to_array<std::string_view>({"timed", "counted", "modelled", "published", "reported"});
}

/// The result of a check. `unverified`: it could not be made here; the row stays valid.
enum class Verdict { passed, failed, unverified, not_applicable };
constexpr auto words_of(Verdict /*unused*/) {
  return std::to_array<std::string_view>({"passed", "failed", "unverified", "not_applicable"});
}

/// One check of one case: "result", "timer", "level", "model", "clock", "driver_clock", "code",
/// "placement", "limit", "little", "occupancy", "preempted", "repeat", "energy_integral",
/// "temperature" or "noise".
struct Gate {
  std::string name;
  Verdict verdict = Verdict::unverified;
  std::string detail;  ///< the numbers behind the verdict, in one line
};

/// A scalar that describes a case, a device or a condition; not a measured quantity.
using Fact = std::variant<bool, std::int64_t, double, std::string>;
using Facts = std::map<std::string, Fact, std::less<>>;

/// The raw samples of one quantity of one case. Case, quantity and method identify a row.
struct Measurement {
  std::string quantity;  ///< "warp_read_cycles"
  std::string unit;      ///< "cycle", "s", "B/s", "Hz", "1/s"
  Provenance provenance = Provenance::timed;
  std::string method;           ///< "clock64_slope", "event_slope", …
  std::vector<double> samples;  ///< in the order taken, unfiltered, finite
  /// Judged after the case, unless a benchmark states why its samples have no noise.
  Gate noise{"noise", Verdict::not_applicable, ""};
  std::vector<std::size_t> visits{};  ///< samples per visit; empty: there was one
};

/// Whether it is a valid name of a quantity or a method (results/schema).
[[nodiscard]] bool is_row_name(std::string_view text);
inline constexpr const char* row_names_are =
    "names a quantity or a method: a letter, then letters, digits, _ and .";

/// A quantity that hardware counters can count on the chip at hand.
struct CountedQuantity {
  std::string name;      ///< ours: "l1_load_sectors"
  std::string metric;    ///< the chip's: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
  std::string unit;      ///< "sector", "B", "1", …
  std::string meaning;   ///< one line
  std::string set;       ///< the counter set that requested it; empty for a raw metric
  bool additive = true;  ///< counts of parts add up to the count of the whole (sums; not ratios)
};

/// What is counted in a run, and how.
struct CounterPlan {
  std::string chip;               ///< "GH100"
  std::vector<std::string> sets;  ///< names, as requested
  std::vector<CountedQuantity> quantities;
  std::vector<std::string> absent;  ///< "set.quantity: this chip has none of …", one line each
  std::size_t passes = 0;           ///< most runs of the work that are needed to count it once
};

/// A case is timed first, in a process without a profiler, then counted where possible, and traced
/// last if its steps have phases.
enum class Phase { timing, counting, tracing };
/// The kinds of lines in samples.jsonl.
constexpr auto words_of(Phase /*unused*/) {
  return std::to_array<std::string_view>({"case", "counts", "trace"});
}

enum class Status { measured, skipped, failed };
constexpr auto words_of(Status /*unused*/) {
  return std::to_array<std::string_view>({"measured", "skipped", "failed"});
}

/// What one run recorded about one case in one phase: a line of samples.jsonl.
struct CaseRecord {
  Case which;
  Phase phase = Phase::timing;
  int visit = 1;  ///< number of the visit in this run
  Status status = Status::failed;
  std::string reason;   ///< why it was skipped or failed; empty when measured
  std::string started;  ///< UTC, ISO 8601
  double seconds = 0;   ///< wall time spent on the case
  Facts facts;
  std::vector<Gate> gates;
  std::vector<Measurement> measurements;

  /// Whether neither a gate of the case nor the noise gate of `m` failed.
  [[nodiscard]] bool is_valid(const Measurement& m) const;
  /// "gate: detail" of each failed or unverified gate of `m`, joined by "; ".
  [[nodiscard]] std::string reasons(const Measurement& m) const;
};

/// The record of a case that was timed again: timed samples are appended to those of earlier
/// visits, and a gate that failed once stays failed. A later visit that was not measured changes
/// nothing.
[[nodiscard]] CaseRecord revisited(const CaseRecord& before, const CaseRecord& later);

/// The record of a case that was timed and then counted. A gate of the counting phase replaces the
/// unverified one of the same name; a gate that failed in either phase stays failed. If counting
/// failed or was skipped, an unverified level gate gets the reason. A case without timings is
/// unchanged.
[[nodiscard]] CaseRecord merged(const CaseRecord& timed, const CaseRecord& counted);

/// The record of a case that was then traced: the rows and facts of the trace are appended. Its
/// gates judge only its own rows: a failed one becomes their failed noise gate, the others join
/// those of the case. A trace that was not measured adds the gate `phases`, unverified with its
/// reason.
[[nodiscard]] CaseRecord with_trace(CaseRecord record, const CaseRecord& trace);

}  // namespace strata
