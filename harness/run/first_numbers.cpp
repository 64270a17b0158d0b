#include "harness/run/first_numbers.hpp"

#include "harness/case/text.hpp"
#include "harness/record/statistics.hpp"

#include <fmt/format.h>

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
  const auto value = [](const Measurement& m) { return centre_of(m.samples, m.visits).value; };
  NumberRow row{&record, &measurement, value(measurement), record.is_valid(measurement)};
  for (const Measurement& other : record.measurements)
    if (other.quantity == "share_of_limit" && record.is_valid(other))
      row.share_of_limit = value(other);
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
        return row.param(param.first, param.second) != param.second;
      };
      if (footprint >= number.smallest && footprint <= number.largest &&
          std::ranges::none_of(number.params, differs))
        rows.push_back(row);
    }
  }
  return rows;
}

/// The latency of one SM depends on which SM the run chose, so that of all SMs is printed where it
/// was measured.
void prefer_all_sms(FirstNumber& latency, const std::vector<CaseRecord>& records) {
  FirstNumber all = latency;
  all.params["cores"] = "several";
  all.beside = {};
  const auto is_of_all = [](const NumberRow& row) {
    return row.is_valid && row.param("cores") == "several";
  };
  if (std::ranges::any_of(rows_of(records, all), is_of_all)) latency = std::move(all);
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
  const auto latency = [&add](auto level, auto space, double smallest, double largest) {
    add(fmt::format("{} latency", level), "latency_vs_footprint", "load_cycles",
        Choice::lower_median, outside_timers, Params{{"cores", "one"}, {"space", space}},
        std::max(1.0, smallest), largest, "load_time");
  };
  const double l2 = bytes("l2_bytes");
  if (context.backend == Backend::cuda) {
    const double reach = tlb_reach(records);
    latency("L1", "global_ca", 0, 16 << 10);
    latency("L2", "global_cg", 256 << 10, l2 / 4);
    prefer_all_sms(numbers.back(), records);
    latency("DRAM", "global_cg", 2 * l2, reach > 0 && l2 > 0 ? reach : beyond * l2);
  } else {
    const double l3 = bytes("l3_bytes");
    const double last = l3 > 0 ? l3 : l2;
    latency("L1", "memory", 0, bytes("l1d_bytes") / 2);
    latency("L2", "memory", 2 * bytes("l1d_bytes"), l2 / 2);
    latency("L3", "memory", 2 * l2, std::max(l3 / 4, std::min(4 * l2, l3 / 2)));
    latency("DRAM", "memory", 2 * last, beyond * last);
  }
  // Without the search of a GPU, other benchmarks may read faster: only the analysis compares them.
  const std::string_view search = context.backend == Backend::cuda ? "peak_bandwidth" : "bandwidth";
  for (const auto& [name, level] :
       {std::pair{"L1", "l1"}, {"L2", "l2"}, {"L3", "l3"}, {"DRAM", "dram"}}) {
    add(fmt::format("{} bandwidth, reading", name), search, "bandwidth", Choice::highest, Words{},
        Params{{"level", level}, {"operation", "read"}});
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
  if (std::ranges::any_of(rows, &NumberRow::is_valid))
    std::erase_if(rows, std::not_fn(&NumberRow::is_valid));
  if (rows.empty()) return std::nullopt;
  const auto merit = [](const NumberRow& row) {  // a case beyond the limit only if all are
    return std::pair{row.share_of_limit <= 1, row.value};
  };
  if (choice == Choice::highest || choice == Choice::fastest_rung)
    return std::ranges::max(rows, {}, merit);
  std::ranges::stable_sort(rows, {}, &NumberRow::value);
  return rows[(rows.size() - (choice == Choice::lower_median ? 1 : 0)) / 2];
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

}  // namespace

std::vector<std::string> first_numbers(const RunContext& context,
                                       const std::vector<CaseRecord>& records) {
  std::vector<std::string> lines;
  for (const FirstNumber& number : table(context, records)) {
    const NumberRows rows = rows_of(records, number);
    const auto row = choose(rows, number.choice);
    if (!row) continue;
    std::string remark;
    if (row->is_valid && row->share_of_limit > 0)
      remark = fmt::format("  {:.0f} % of the limit", 100 * row->share_of_limit);
    std::vector<Gate> checks = row->record->gates;
    checks.push_back(row->measurement->noise);
    for (const Gate& check : checks)
      if (check.verdict == Verdict::failed)
        remark += fmt::format("{}{}: {}", remark.empty() ? "  " : "; ", check.name,
                              one_line(check.detail));
    lines.push_back(fmt::format("{:<23}  {:>26}{}", number.label,
                                row->is_valid ? value_of(number, *row, rows) : "invalid", remark));
  }
  return lines;
}

}  // namespace strata
