#include "harness/run/first_numbers.hpp"

#include "harness/base/text.hpp"
#include "harness/record/statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace strata {
namespace {

enum class Choice { lower_median, upper_median, highest, fastest_rung };
using Words = std::vector<std::string_view>;
const Words outside_timers{"event_slope", "monotonic_slope"};

/// The rows that a number is chosen from.
struct FirstNumber {
  std::string label;
  std::string_view benchmark;  ///< empty: any
  std::string_view quantity;
  Choice choice;
  Words other_methods{};  ///< of rows to leave out
  Params params{};        ///< of a case, if it has them
  double smallest = 0;    ///< footprint in bytes; a case without one has 0
  double largest = std::numeric_limits<double>::infinity();
  std::string_view beside{};  ///< a second quantity of the same cases
};

/// A row of measurements.csv.
struct NumberRow {
  const CaseRecord* record = nullptr;
  const Measurement* measurement = nullptr;
  double value = 0;
  Interval interval;  ///< the range of fewer than six samples
  bool is_valid = false;
  double share_of_limit = 0;  ///< of the device; 0 if it is not known

  [[nodiscard]] std::string_view param(std::string_view name, std::string_view absent = "") const {
    const auto entry = record->which.params.find(name);
    return entry == record->which.params.end() ? absent : entry->second;
  }
  [[nodiscard]] double count(std::string_view name) const {
    return static_cast<double>(whole_number(param(name)).value_or(0));
  }
};
using NumberRows = std::vector<NumberRow>;

NumberRow row_of(const CaseRecord& record, const Measurement& measurement) {
  const Centre centre = centre_of(measurement.samples, measurement.visits);
  const auto [low, high] = std::ranges::minmax(measurement.samples);
  NumberRow row{&record, &measurement, centre.value, centre.interval.value_or(Interval{low, high}),
                record.is_valid(measurement)};
  for (const Measurement& other : record.measurements)
    if (other.quantity == "share_of_limit" && record.is_valid(other))
      row.share_of_limit = centre_of(other.samples, other.visits).value;
  return row;
}

NumberRows rows_of(const std::vector<CaseRecord>& records, const FirstNumber& number) {
  NumberRows rows;
  for (const CaseRecord& record : records) {
    if (!number.benchmark.empty() && record.which.benchmark != number.benchmark) continue;
    for (const Measurement& measurement : record.measurements) {
      if (measurement.quantity != number.quantity ||
          measurement.provenance == Provenance::modelled ||
          std::ranges::find(number.other_methods, measurement.method) != number.other_methods.end())
        continue;
      const NumberRow row = row_of(record, measurement);
      const double footprint = row.count("footprint");
      const auto differs = [&row](const auto& param) {
        const auto& [name, wanted] = param;
        return row.param(name, wanted == "several" ? "one" : wanted) != wanted;
      };
      if (footprint >= number.smallest && footprint <= number.largest &&
          std::ranges::none_of(number.params, differs))
        rows.push_back(row);
    }
  }
  return rows;
}

bool any_is_valid(const NumberRows& rows) {
  return std::ranges::any_of(rows, &NumberRow::is_valid);
}

/// Longer chains than this wait for address translation: the last footprint of `tlb` before a load
/// takes 2.5 % (half the tolerance of plateaus.py) more cycles than from all shorter ones. Near the
/// knee the analysis, which fits plateaus, may differ by a point. 0 if it was not measured.
double tlb_reach(const std::vector<CaseRecord>& records) {
  std::map<double, double> cycles;  // by footprint
  const FirstNumber chains{
      "", "tlb", "load_cycles", Choice::highest, outside_timers, {{"allocation", "malloc"}}};
  for (const NumberRow& row : rows_of(records, chains))
    if (row.is_valid) cycles[row.count("footprint")] = row.value;
  double highest = 0;
  double reach = 0;
  for (const auto& [footprint, value] : cycles) {
    if (reach > 0 && value > 1.025 * highest) break;
    highest = std::max(highest, value);
    reach = footprint;
  }
  return cycles.size() < 4 ? 0 : reach;
}

/// What is printed, in this order.
std::vector<FirstNumber> table(const RunContext& context, const std::vector<CaseRecord>& records) {
  constexpr double beyond = 16;  // chains of main memory over the last cache, where no knee ends it
  const auto bytes = [&context](std::string_view name) {
    const auto fact = context.device.facts.find(name);
    const auto* const size =
        fact == context.device.facts.end() ? nullptr : std::get_if<std::int64_t>(&fact->second);
    return size == nullptr ? 0.0 : static_cast<double>(*size);
  };
  std::vector<FirstNumber> numbers;
  const auto add = [&numbers](auto... fields) { numbers.push_back({fields...}); };
  const auto latency = [&](auto level, auto space, double smallest, double largest) {
    add(fmt::format("{} latency", level), "latency_vs_footprint", "load_cycles",
        Choice::lower_median, outside_timers, Params{{"cores", "one"}, {"space", space}},
        std::max(1.0, smallest), largest, "load_time");
    if (context.backend != Backend::cuda || numbers.back().label != "L2 latency") return;
    // That of one SM depends on the SM.
    FirstNumber over = numbers.back();
    over.params["cores"] = "several";
    over.beside = {};
    if (any_is_valid(rows_of(records, numbers.back())) && any_is_valid(rows_of(records, over)))
      numbers.back() = std::move(over);
  };
  const double l2 = bytes("l2_bytes");
  if (context.backend == Backend::cuda) {
    const double reach = tlb_reach(records);
    latency("L1", "global_ca", 0, 16 << 10);
    latency("L2", "global_cg", 256 << 10, l2 / 4);
    latency("DRAM", "global_cg", 2 * l2, reach > 0 && l2 > 0 ? reach : beyond * l2);
  } else {
    const double l3 = bytes("l3_bytes");
    const double last = l3 > 0 ? l3 : l2;
    latency("L1", "memory", 0, bytes("l1d_bytes") / 2);
    latency("L2", "memory", 2 * bytes("l1d_bytes"), l2 / 2);
    latency("L3", "memory", 2 * l2, std::max(l3 / 4, std::min(4 * l2, l3 / 2)));
    latency("DRAM", "memory", 2 * last, beyond * last);
  }
  for (const auto& [name, level] :
       {std::pair{"L1", "l1"}, {"L2", "l2"}, {"L3", "l3"}, {"DRAM", "dram"}}) {
    FirstNumber number{fmt::format("{} bandwidth, reading", name),
                       "peak_bandwidth",
                       "bandwidth",
                       Choice::highest,
                       {},
                       {{"level", level}, {"operation", "read"}}};
    FirstNumber listed = number;  // shapes, of which the other benchmark searches the best
    listed.benchmark = "bandwidth";
    const bool is_found =
        any_is_valid(rows_of(records, number)) || rows_of(records, listed).empty();
    numbers.push_back(is_found ? std::move(number) : std::move(listed));
  }
  add("fp32 multiply-adds", "ceilings", "flops_per_second", Choice::highest, Words{},
      Params{{"arithmetic", "fp32"}});
  add("n-body interactions", "", "interactions_per_second", Choice::fastest_rung,
      Words{"globaltimer", "tsc", "wall"});
  // Time stamps of a CPU do not count cycles of its cores.
  add("core clock", "", "core_clock", Choice::upper_median, Words{"tsc_over_monotonic"});
  return numbers;
}

/// Of each n-body rung its fastest row at the largest single system that it computed, or at many
/// systems if few rungs computed a single one; without rungs on several GPUs.
NumberRows best_of_rungs(const NumberRows& rows) {
  std::map<std::string_view, bool> has_single;
  for (const NumberRow& row : rows)
    has_single[row.record->which.benchmark] |= row.param("problem") == "single";
  const auto single =
      std::ranges::count(has_single, true, [](const auto& rung) { return rung.second; });
  const std::string_view problem = 2 * single > std::ssize(has_single) ? "single" : "galaxies";
  std::map<std::string_view, std::tuple<bool, double, bool, double, const NumberRow*>> rungs;
  for (const NumberRow& row : rows) {
    auto& best = rungs[row.record->which.benchmark];
    const double interactions = row.count("systems") * std::pow(row.count("bodies"), 2);
    best = std::max(best,
                    {row.param("problem") == problem, interactions, row.is_valid, row.value, &row});
  }
  NumberRows best;
  for (const auto& [rung, merit] : rungs)
    if (const auto* const row = std::get<4>(merit); row->count("gpus") <= 1) best.push_back(*row);
  return best;
}

/// A valid row if there is any.
std::optional<NumberRow> choose(NumberRows rows, Choice choice) {
  if (choice == Choice::fastest_rung) rows = best_of_rungs(rows);
  if (any_is_valid(rows)) std::erase_if(rows, std::not_fn(&NumberRow::is_valid));
  if (rows.empty()) return std::nullopt;
  const auto merit = [](const NumberRow& row) {  // a case beyond the limit only if all are
    return std::pair{row.share_of_limit <= 1, row.value};
  };
  if (choice == Choice::highest || choice == Choice::fastest_rung)
    return std::ranges::max(rows, {}, merit);
  std::ranges::stable_sort(rows, {}, &NumberRow::value);
  return rows[(rows.size() - (choice == Choice::lower_median ? 1 : 0)) / 2];
}

/// A valid counted row of a case; NaN without one.
double counted(const CaseRecord& record, std::string_view quantity) {
  double share = std::numeric_limits<double>::quiet_NaN();
  for (const Measurement& m : record.measurements) {
    if (m.quantity != quantity || m.provenance != Provenance::counted) continue;
    if (record.is_valid(m) && (std::isnan(share) || m.method == "cupti_net"))
      share = centre_of(m.samples, m.visits).value;
  }
  return share;
}

/// Valid read rates of other benchmarks whose level is proven: by counters, or because the copies
/// cannot hit L1.
NumberRows proven_reads(const std::vector<CaseRecord>& records, std::string_view level) {
  constexpr double spill = 0.01;  // of the loads of a proven rate, served by another level
  const bool from_dram = level == "dram";
  NumberRows proven;
  if (level != "l2" && !from_dram) return proven;
  for (const auto* const benchmark : {"stride_gather", "layout_read"}) {
    for (const NumberRow& row :
         rows_of(records, {"", benchmark, "useful_bandwidth", Choice::highest})) {
      const CaseRecord& record = *row.record;
      if (row.is_valid && row.param("level", row.param("residency")) == level &&
          counted(record, from_dram ? "l2_hit_share" : "l1_hit_share") <= spill &&
          counted(record, from_dram ? "dram_share" : "l2_hit_share") >= 1 - spill)
        proven.push_back(row);
    }
  }
  for (const NumberRow& row : rows_of(records, {"", "async_copy", "bandwidth", Choice::highest})) {
    const std::string_view method = row.param("method");
    if (row.is_valid && row.param("residency") == level && level == "l2" &&
        row.param("cluster") == "1" && (method == "bulk" || method == "tensor"))
      proven.push_back(row);
  }
  return proven;
}

/// As in strata/model/units.py.
std::string in_unit(const NumberRow& row) {
  const std::string& unit = row.measurement->unit;
  const auto digits = [](double value, double whole) {
    return value >= whole ? 0 : value >= whole / 10 ? 1 : 2;
  };
  if (const double rate = row.value / 1e9; unit == "1/s")
    return fmt::format("{:.{}f} × 10⁹/s", rate, rate < 1 ? 3 : digits(rate, 999.5));
  if (unit.ends_with("cycle"))
    return fmt::format("{:.{}f} {}", row.value, digits(row.value, 999.5),
                       unit == "cycle" ? "cycles" : "TSC cycles");
  constexpr std::array prefixes{"P", "T", "G", "M", "k", "", "m", "µ", "n"};
  std::size_t prefix = 0;
  double value = row.value / 1e15;
  for (; value < 0.9995 && prefix + 1 < prefixes.size(); ++prefix)
    value *= 1000;
  return fmt::format("{:.{}f} {}{}", value, digits(value, 99.95), prefixes[prefix], unit);
}

/// The value, and the second quantity of the cases from which the row was chosen, if it has one.
std::string value_of(const FirstNumber& number, const NumberRow& row, const NumberRows& rows) {
  NumberRows seconds;
  for (const NumberRow& other : rows)
    for (const Measurement& beside : other.record->measurements)
      if (other.is_valid && beside.quantity == number.beside)
        seconds.push_back(row_of(*other.record, beside));
  const auto second = choose(std::move(seconds), number.choice);
  return in_unit(row) + (second && second->is_valid ? fmt::format(" ({})", in_unit(*second)) : "");
}

/// Another benchmark than the usual one, the share of a limit, and failed checks.
std::string remark_on(const FirstNumber& number, const NumberRow& row) {
  std::vector<std::string> parts;
  const std::string& benchmark = row.record->which.benchmark;
  if (!number.benchmark.empty() && benchmark != number.benchmark)
    parts.push_back(fmt::format("by {}", benchmark));
  if (row.is_valid && row.share_of_limit > 0)
    parts.push_back(fmt::format("{:.0f} % of the limit", 100 * row.share_of_limit));
  std::vector<Gate> checks = row.record->gates;
  checks.push_back(row.measurement->noise);
  for (const Gate& check : checks)
    if (check.verdict == Verdict::failed)
      parts.push_back(fmt::format("{}: {}", check.name, one_line(check.detail)));
  return parts.empty() ? "" : fmt::format("  {}", fmt::join(parts, "; "));
}

}  // namespace

std::vector<std::string> first_numbers(const RunContext& context,
                                       const std::vector<CaseRecord>& records) {
  std::vector<std::string> lines;
  for (const FirstNumber& number : table(context, records)) {
    const NumberRows rows = rows_of(records, number);
    auto row = choose(rows, number.choice);
    if (!row) continue;
    if (number.benchmark == "bandwidth" && row->is_valid) {
      const auto other = choose(proven_reads(records, number.params.at("level")), number.choice);
      if (other && other->interval.low > row->interval.high) row = other;
    }
    lines.push_back(fmt::format("{:<23}  {:>26}{}", number.label,
                                row->is_valid ? value_of(number, *row, rows) : "invalid",
                                remark_on(number, *row)));
  }
  return lines;
}

}  // namespace strata
