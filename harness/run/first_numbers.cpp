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
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace strata {
namespace {

constexpr std::size_t most = 10;
constexpr double kib = 1024;

/// Case ids and display names, nearest first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> levels{
    {{"shared", "shared"}, {"l1", "L1"}, {"l2", "L2"}, {"l3", "L3"}, {"dram", "DRAM"}}};

constexpr std::array<std::string_view, 2> clocks{"clock64_slope", "tsc_slope"};
/// In the order of preference: the kernel's clock, then timers outside of it.
constexpr std::array<std::string_view, 4> timers{"clock64_slope", "tsc_slope", "event_slope",
                                                 "monotonic_slope"};

/// A row of measurements.csv.
struct Row {
  const CaseRecord* record = nullptr;
  const Measurement* measurement = nullptr;
  double value = 0;
  bool valid = false;

  [[nodiscard]] std::string_view axis(std::string_view name, std::string_view absent = "") const {
    const auto found = record->which.params.find(name);
    return found == record->which.params.end() ? absent : std::string_view{found->second};
  }
  [[nodiscard]] double size(std::string_view name = "footprint") const {
    return static_cast<double>(whole_number(axis(name)).value_or(0));
  }
  [[nodiscard]] bool is_by(std::span<const std::string_view> methods) const {
    return std::ranges::find(methods, measurement->method) != methods.end();
  }
};
using Rows = std::vector<Row>;

Row row_of(const CaseRecord& record, const Measurement& measurement) {
  return {.record = &record,
          .measurement = &measurement,
          .value = centre_of(measurement.samples, measurement.visits).value,
          .valid = record.is_valid(measurement)};
}

/// The rows that a number is chosen from.
struct Rule {
  std::string_view what{};
  std::string_view benchmark{};  ///< empty: any
  std::string_view quantity;
  std::array<std::pair<std::string_view, std::string_view>, 2> params{};  ///< of the case
  std::string_view share_of{};  ///< what `share_of_limit` relates to
};

constexpr Rule chase{
    .what = "latency", .benchmark = "latency_vs_footprint", .quantity = "load_cycles"};
constexpr Rule pages{
    .benchmark = "tlb", .quantity = "load_cycles", .params = {{{"allocation", "malloc"}}}};
constexpr Rule reads{.what = "bandwidth, reading",
                     .benchmark = "bandwidth",
                     .quantity = "bandwidth",
                     .params = {{{"operation", "read"}}},
                     .share_of = "the pin bandwidth"};
constexpr Rule layouts{.what = "useful bandwidth, best layout",
                       .benchmark = "layout_read",
                       .quantity = "useful_bandwidth",
                       .params = {{{"cores", "all"}, {"fields", "all"}}}};
constexpr Rule one_warp{.what = "latency, cheapest layout",
                        .benchmark = "layout_read",
                        .quantity = "warp_read_cycles",
                        .params = {{{"warps_per_sm", "1"}}}};
constexpr Rule multiply_adds{.what = "fp32 multiply-adds",
                             .benchmark = "ceilings",
                             .quantity = "flops_per_second",
                             .params = {{{"arithmetic", "fp32"}}},
                             .share_of = "lanes × clock"};
constexpr Rule bodies{.what = "n-body interactions", .quantity = "interactions_per_second"};
constexpr Rule core_clock{.what = "core clock", .quantity = "core_clock"};

Rows candidates(const std::vector<CaseRecord>& records, const Rule& rule) {
  Rows rows;
  for (const CaseRecord& record : records) {
    if (!rule.benchmark.empty() && record.which.benchmark != rule.benchmark) continue;
    for (const Measurement& one : record.measurements) {
      if (one.quantity == rule.quantity && one.provenance != Provenance::modelled)
        rows.push_back(row_of(record, one));
    }
  }
  std::erase_if(rows, [&](const Row& row) {
    return std::ranges::any_of(
        rule.params, [&](const auto& param) { return row.axis(param.first) != param.second; });
  });
  return rows;
}

template <class Condition>
Rows where(const Rows& rows, const Condition& condition) {
  Rows found;
  std::ranges::copy_if(rows, std::back_inserter(found), condition);
  return found;
}

/// Another valid row of the same case, by the first of `timers` that has one.
std::optional<Row> beside(const Row& row, std::string_view quantity) {
  for (const std::string_view method : timers) {
    for (const Measurement& one : row.record->measurements) {
      if (one.quantity == quantity && one.method == method && row.record->is_valid(one))
        return row_of(*row.record, one);
    }
  }
  return std::nullopt;
}

/// The highest, of those that do not exceed the limit of the device if there are any; a valid one
/// before an invalid one.
std::optional<Row> best(const Rows& rows) {
  const auto exceeds = [](const Row& row) {
    return std::ranges::any_of(row.record->measurements, [&row](const Measurement& one) {
      return one.quantity == "share_of_limit" && row.record->is_valid(one) &&
             row_of(*row.record, one).value > 1;
    });
  };
  const auto merit = [&](const Row& row) {
    return std::tuple{row.valid, !exceeds(row), row.value};
  };
  const auto found = std::ranges::max_element(rows, {}, merit);
  return found == rows.end() ? std::nullopt : std::optional{*found};
}

/// The median row of the valid ones, or of all if none is valid; the lower of two.
std::optional<Row> middle(Rows rows) {
  if (std::ranges::any_of(rows, &Row::valid)) std::erase_if(rows, std::not_fn(&Row::valid));
  if (rows.empty()) return std::nullopt;
  std::ranges::stable_sort(rows, {}, &Row::value);
  return rows[(rows.size() - 1) / 2];
}

// --- Text: as strata/model/units.py of the analysis ----------------------------------------------

std::string number_text(double value) {
  if (value != 0 && std::abs(value) < 0.1) return fmt::format("{:.3g}", value);
  return fmt::format("{:.{}f}", value, value >= 999.5 ? 0 : value >= 99.95 ? 1 : 2);
}

std::string in_unit(double value, std::string_view unit) {
  using Step = std::pair<double, std::string_view>;
  constexpr std::array<Step, 6> rates{
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
  constexpr std::array<Step, 4> times{{{1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}}};
  if (unit == "cycle") return number_text(value) + " cycles";
  if (unit == "tsc_cycle") return number_text(value) + " TSC cycles";
  const std::span<const Step> steps =
      unit == "s" ? std::span<const Step>{times} : std::span<const Step>{rates};
  const auto found = std::ranges::find_if(
      steps, [value](const Step& step) { return value >= 0.9995 * step.first; });
  const auto& [scale, prefix] = found == steps.end() ? steps.back() : *found;
  value /= scale;
  return fmt::format("{:.{}f} {}{}", value,
                     value >= 99.95   ? 0
                     : value >= 9.995 ? 1
                                      : 2,
                     prefix, unit);
}

std::string in_unit(const Row& row) {
  return in_unit(row.value, row.measurement->unit);
}

std::string size_text(double bytes) {
  constexpr std::array<std::pair<double, std::string_view>, 4> steps{
      {{kib * kib * kib, "GiB"}, {kib * kib, "MiB"}, {kib, "KiB"}, {1, "B"}}};
  const auto found =
      std::ranges::find_if(steps, [bytes](const auto& step) { return bytes >= step.first; });
  const auto& [scale, name] = found == steps.end() ? steps.back() : *found;
  std::string text = fmt::format("{:.1f}", bytes / scale);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return fmt::format("{} {}", text, name);
}

/// "gate: detail" of each failed gate.
std::string why_invalid(const Row& row) {
  std::string text;
  const auto add = [&text](const Gate& gate) {
    if (gate.verdict != Verdict::failed) return;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", gate.name, gate.detail);
  };
  std::ranges::for_each(row.record->gates, add);
  add(row.measurement->noise);
  return one_line(text);
}

FirstNumber shown(std::string what, const Row& row, std::string value, std::string remark = {}) {
  if (row.valid) return {std::move(what), std::move(value), std::move(remark)};
  return {std::move(what), "invalid", why_invalid(row)};
}

/// "97 % of the pin bandwidth", or "127.0 B/cycle per SM".
std::string against_limit(const Row& row, std::string_view share_of) {
  if (const auto share = beside(row, "share_of_limit"); share && !share_of.empty())
    return fmt::format("{:.0f} % of {}", 100 * share->value, share_of);
  const auto rate = beside(row, "bandwidth_per_sm");
  if (!rate) return {};
  const bool on_host = row.record->which.backend == Backend::host;
  return fmt::format(
      "{:.1f} {} per {}", rate->value,
      rate->measurement->unit.find("tsc") == std::string::npos ? "B/cycle" : "B/TSC cycle",
      on_host ? "core" : "SM");
}

// --- The numbers ---------------------------------------------------------------------------------

/// The footprints that a level alone serves, in bytes, and the space that is read.
struct Window {
  std::string_view level;
  std::string_view space;
  double low = 0;
  double high = 0;
};

/// Points of a curve, ends included.
struct Stretch {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The longest stretch of points in [begin, end) within `width`; none is shorter than four points
/// and 0.7 octaves.
std::optional<Stretch> longest_flat(std::span<const double> octaves, std::span<const double> logs,
                                    std::size_t begin, std::size_t end, double width) {
  std::optional<Stretch> found;
  double most_octaves = 0;
  for (std::size_t first = begin; first < end; ++first) {
    double low = logs[first];
    double high = low;
    std::size_t last = first;
    for (std::size_t next = first + 1; next < end; ++next) {
      low = std::min(low, logs[next]);
      high = std::max(high, logs[next]);
      if (high - low > width) break;
      last = next;
    }
    const double length = octaves[last] - octaves[first];
    if (length <= most_octaves || length < 0.7 || last - first < 3) continue;
    most_octaves = length;
    found = Stretch{first, last};
  }
  return found;
}

/// The point at which the first plateau of a curve ends, as strata/model/plateaus.py of the
/// analysis finds it; empty without a plateau.
std::optional<std::size_t> end_of_first_plateau(std::span<const double> octaves,
                                                std::span<const double> logs) {
  const double step = std::log(1.15);  // a smaller one is not a knee
  double noise = 0;
  if (logs.size() >= 4) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < logs.size(); ++i)
      steps.push_back(logs[i] - logs[i - 1]);
    const double middle = median(steps);
    for (double& one : steps)
      one = std::abs(one - middle);
    noise = 1.4826 * median(steps) / std::sqrt(2);
  }
  const double width = std::log(1 + std::max(0.05, 5 * noise));
  const auto level = [&](const Stretch& of) {
    return median(logs.subspan(of.first, of.last - of.first + 1));
  };
  auto plateau = longest_flat(octaves, logs, 0, logs.size(), width);
  if (!plateau) return std::nullopt;
  while (const auto left = longest_flat(octaves, logs, 0, plateau->first, width)) {
    if (level(*plateau) - level(*left) < step) {
      plateau->first = left->first;
    } else {
      plateau = left;
    }
  }
  while (const auto right = longest_flat(octaves, logs, plateau->last + 1, logs.size(), width)) {
    if (level(*right) - level(*plateau) >= step) break;
    plateau->last = right->last;
  }
  const double middle = level(*plateau);
  std::size_t last = plateau->last;
  while (last + 1 < logs.size() && std::abs(logs[last + 1] - middle) <= width / 2)
    ++last;
  return last;
}

/// The largest footprint whose loads do not wait for address translation; 0 if none was found.
double tlb_reach(const std::vector<CaseRecord>& records) {
  std::map<double, double> cycles;  // by footprint
  for (const Row& row : candidates(records, pages)) {
    if (row.valid && row.is_by(clocks) && row.size() > 0 && row.value > 0)
      cycles[row.size()] = row.value;
  }
  std::vector<double> octaves;
  std::vector<double> logs;
  for (const auto& [size, value] : cycles) {
    octaves.push_back(std::log2(size));
    logs.push_back(std::log(value));
  }
  const auto last = end_of_first_plateau(octaves, logs);
  return last ? std::next(cycles.begin(), static_cast<std::ptrdiff_t>(*last))->first : 0;
}

std::vector<Window> windows(const RunContext& context, const std::vector<CaseRecord>& records) {
  constexpr double beyond = 16;
  const auto fact = [&](std::string_view name) {
    const auto found = context.device.facts.find(name);
    const auto* const bytes =
        found == context.device.facts.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    return bytes == nullptr ? 0.0 : static_cast<double>(*bytes);
  };
  const double l2 = fact("l2_bytes");
  if (context.backend == Backend::cuda) {
    const double reach = tlb_reach(records);
    return {{"shared", "shared", 0, 16 * kib},
            {"l1", "global_ca", 0, 16 * kib},
            {"l2", "global_cg", 256 * kib, l2 / 4},
            {"dram", "global_cg", 2 * l2,
             l2 == 0     ? 0
             : reach > 0 ? reach
                         : beyond * l2}};
  }
  const double l1 = fact("l1d_bytes");
  const double l3 = fact("l3_bytes");
  const double last = l3 > 0 ? l3 : l2;
  return {{"l1", "memory", 0, l1 / 2},
          {"l2", "memory", 2 * l1, l2 / 2},
          {"l3", "memory", 2 * l2, l3 / 4},
          {"dram", "memory", 2 * last, beyond * last}};
}

std::string_view name_of(std::string_view level) {
  return std::ranges::find(levels, level, &decltype(levels)::value_type::first)->second;
}

/// The median case of a dependent load by one core for each level.
void add_latencies(const RunContext& context, const std::vector<CaseRecord>& records,
                   std::vector<FirstNumber>& numbers) {
  Rows rows = candidates(records, chase);
  std::erase_if(rows, [](const Row& row) {
    return !row.is_by(clocks) || row.axis("cores", "one") != "one" || row.size() == 0;
  });
  const bool has_l1 =
      std::ranges::any_of(rows, [](const Row& row) { return row.axis("space") == "global_ca"; });
  for (const Window& window : windows(context, records)) {
    if (window.level == "shared" && has_l1) continue;
    const Rows here = where(rows, [&](const Row& row) {
      return row.axis("space") == window.space && window.low <= row.size() &&
             row.size() <= window.high;
    });
    const auto cycles = middle(here);
    if (!cycles) continue;
    Rows times;
    for (const Row& row : here) {
      const auto& all = row.record->measurements;
      const auto last = std::find_if(all.rbegin(), all.rend(), [&row](const Measurement& one) {
        return one.quantity == "load_time" && row.record->is_valid(one);
      });
      if (row.valid && last != all.rend()) times.push_back(row_of(*row.record, *last));
    }
    std::string text = in_unit(*cycles);
    if (const auto seconds = middle(std::move(times)); seconds && seconds->valid)
      text += fmt::format(" ({})", in_unit(*seconds));
    numbers.push_back(
        shown(fmt::format("{} {}", name_of(window.level), chase.what), *cycles, std::move(text)));
  }
}

/// The best read bandwidth of each level.
void add_bandwidths(const std::vector<CaseRecord>& records, std::vector<FirstNumber>& numbers) {
  const Rows rows = candidates(records, reads);
  for (const auto& [level, name] : levels) {
    if (level == "shared") continue;
    const auto found =
        best(where(rows, [&](const Row& row) { return row.axis("level") == level; }));
    if (!found) continue;
    numbers.push_back(shown(fmt::format("{} {}", name, reads.what), *found, in_unit(*found),
                            against_limit(*found, level == "dram" ? reads.share_of : "")));
  }
}

/// The cache sizes: as found by loads, for a divided L2 as reported.
void add_cache_sizes(const RunContext& context, const std::vector<CaseRecord>& records,
                     std::vector<FirstNumber>& numbers) {
  std::string text;
  for (const std::string_view level : {"l1", "l2"}) {
    const std::string property = fmt::format("{}_size", level);
    const auto largest = [&](std::string_view quantity) {
      const auto row = best(candidates(records, {.benchmark = "cache_geometry",
                                                 .quantity = quantity,
                                                 .params = {{{"property", property}}}}));
      return row && row->valid ? row->value : 0.0;
    };
    const bool is_divided = context.backend == Backend::cuda && level == "l2";
    const double reported = largest("reported");
    const double found = largest("size");
    const double bytes = is_divided || found == 0 ? (reported > 0 ? reported : found) : found;
    if (bytes == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(level),
                        size_text(std::round(bytes)));
  }
  if (!text.empty()) numbers.push_back({"cache sizes", std::move(text), ""});
}

Rows of_level(const Rows& rows, std::string_view level) {
  return where(rows, [&](const Row& row) { return row.valid && row.axis("residency") == level; });
}

/// The layout with the most useful bandwidth from the farthest level.
void add_best_layout(const std::vector<CaseRecord>& records, std::vector<FirstNumber>& numbers) {
  const Rows rows = candidates(records, layouts);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    const auto found = best(of_level(rows, level->first));
    if (!found) continue;
    numbers.push_back({fmt::format("best layout in {}", level->second),
                       std::string{found->axis("layout")}, in_unit(*found) + " of useful data"});
    return;
  }
}

/// For a run of layouts alone: by level, the cheapest for one warp and the best under load.
void add_layouts(const std::vector<CaseRecord>& records, std::vector<FirstNumber>& numbers) {
  Rows alone = candidates(records, one_warp);
  const auto by_all = where(alone, [](const Row& row) { return row.axis("cores") == "all"; });
  const auto by_one = where(alone, [](const Row& row) { return row.axis("cores") == "one"; });
  alone = where(by_one.size() > by_all.size() ? by_one : by_all,
                [](const Row& row) { return row.axis("fields") == "all"; });
  const auto block = [](const Row& row) { return row.size("block_size"); };
  if (!alone.empty()) {
    const double smallest = block(std::ranges::min(alone, {}, block));
    std::erase_if(alone, [&](const Row& row) { return block(row) != smallest; });
  }
  const Rows loaded = candidates(records, layouts);
  for (const auto& [level, name] : levels) {
    const Rows timed = of_level(alone, level);
    const auto cheapest = std::ranges::min_element(timed, {}, &Row::value);
    const auto add = [&, &name = name](const Rule& rule, const Row& row) {
      numbers.push_back(
          {fmt::format("{} {}", name, rule.what), in_unit(row), std::string{row.axis("layout")}});
    };
    if (cheapest != timed.end()) add(one_warp, *cheapest);
    if (const auto found = best(of_level(loaded, level))) add(layouts, *found);
  }
}

/// The fastest rung of the n-body ladder on one device, each at the largest single system that it
/// computed; at many systems if few rungs computed a single one.
void add_bodies(const std::vector<CaseRecord>& records, std::vector<FirstNumber>& numbers) {
  Rows rows = candidates(records, bodies);
  std::erase_if(rows, [](const Row& row) { return row.record->which.suite != "nbody"; });
  // By rung: whether it computed a single system.
  std::map<std::string_view, bool> rungs;
  for (const Row& row : rows)
    rungs[row.record->which.benchmark] |= row.axis("problem") == "single";
  const auto single = std::ranges::count(rungs, true, &decltype(rungs)::value_type::second);
  const std::string_view problem = 2 * single > std::ssize(rungs) ? "single" : "galaxies";
  std::map<std::string_view, Row> chosen;
  const auto merit = [&](const Row& row) {
    const double n = row.size("bodies");
    return std::tuple{row.axis("problem") == problem, row.size("systems") * n * n, row.valid,
                      row.value};
  };
  for (const Row& row : rows) {
    const auto [at, is_new] = chosen.try_emplace(row.record->which.benchmark, row);
    if (!is_new && merit(at->second) < merit(row)) at->second = row;
  }
  Rows fastest;
  for (const auto& [rung, row] : chosen) {
    if (row.axis("gpus", "1") == "1") fastest.push_back(row);
  }
  const auto found = best(fastest);
  if (!found) return;
  std::string rung = found->record->which.benchmark;
  std::ranges::replace(rung, '_', ' ');
  const double rate = found->value / 1e9;
  const std::string text = rate >= 1 ? number_text(rate) : fmt::format("{:.3f}", rate);
  numbers.push_back(shown(std::string{bodies.what}, *found, text + " × 10⁹/s", std::move(rung)));
}

}  // namespace

std::vector<FirstNumber> first_numbers(const RunContext& context,
                                       const std::vector<CaseRecord>& records) {
  std::vector<FirstNumber> numbers;
  add_latencies(context, records, numbers);
  add_bandwidths(records, numbers);
  add_cache_sizes(context, records, numbers);
  if (!numbers.empty()) add_best_layout(records, numbers);
  if (const auto found = best(candidates(records, multiply_adds))) {
    numbers.push_back(shown(std::string{multiply_adds.what}, *found, in_unit(*found),
                            against_limit(*found, multiply_adds.share_of)));
  }
  add_bodies(records, numbers);
  if (numbers.empty()) add_layouts(records, numbers);
  if (numbers.size() < most) {
    Rows rows = candidates(records, core_clock);
    // The rate of a CPU's time stamps is not the clock of its cores.
    std::erase_if(rows, [](const Row& row) {
      return !row.valid || row.measurement->method == "tsc_over_monotonic";
    });
    std::ranges::stable_sort(rows, {}, &Row::value);
    if (!rows.empty()) {
      numbers.push_back({std::string{core_clock.what}, in_unit(rows[rows.size() / 2]),
                         fmt::format("{} to {}", in_unit(rows.front()), in_unit(rows.back()))});
    }
  }
  numbers.resize(std::min(numbers.size(), most));
  return numbers;
}

std::vector<std::string> in_columns(const std::vector<FirstNumber>& numbers) {
  const auto width = [&](std::string FirstNumber::*column) {
    std::ptrdiff_t widest = 0;
    for (const FirstNumber& one : numbers) {
      // Bytes that begin a character of UTF-8.
      widest = std::max(
          widest, std::ranges::count_if(one.*column, [](char c) { return (c & 0xC0) != 0x80; }));
    }
    return widest;
  };
  const auto what = width(&FirstNumber::what);
  const auto value = width(&FirstNumber::value);
  std::vector<std::string> lines;
  for (const FirstNumber& one : numbers) {
    std::string line =
        fmt::format("{:<{}}  {:>{}}  {}", one.what, what, one.value, value, one.remark);
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace strata
