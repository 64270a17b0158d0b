// strata counters: sets, metrics of a chip and the number of passes. Needs no GPU
// where a chip is named.
#include "harness/case/error.hpp"
#include "harness/case/text.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/device.hpp"
#include "harness/record/measurements_csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {
namespace {

constexpr std::string_view flag = "counters";        // begins the messages
constexpr std::string_view raw_metrics = "metrics";  // the heading of those that no set names

/// The selection resolved on one chip.
struct ChipReport {
  std::string chip;
  std::string unavailable;  ///< why the library cannot describe it; empty: it can
  std::vector<ResolvedSet> sets;
  std::size_t passes = 0;  ///< for all of it and the set "memory", which is part of every plan
};

// --- what was asked for ---

struct Asked {
  std::vector<CounterSet> sets;
  std::vector<std::string> raw;
  CounterSelection selection;
};

Asked what_is_asked(const std::vector<std::string>& wanted) {
  Asked asked;
  asked.selection.wanted = wanted;
  if (wanted.empty()) {
    // The set that every plan holds first, then by name.
    auto names = counter_set_names();
    std::stable_partition(names.begin(), names.end(),
                          [](const std::string& name) { return name == memory_set; });
    asked.selection.wanted = names;
  }
  for (const auto& one : asked.selection.wanted) {
    if (is_raw_metric(one)) {
      asked.raw.push_back(one);
    } else {
      asked.sets.push_back(load_counter_set(one, flag));
    }
  }
  return asked;
}

/// The raw metrics of the selection as a set of their own.
ResolvedSet resolve_raw(const std::vector<std::string>& metrics, MetricCatalogue& catalogue) {
  ResolvedSet raw{
      .set = {.name = std::string{raw_metrics}, .file = {}, .built_in = true, .title = "as named"},
      .quantities = {},
      .passes = 0};
  for (const auto& metric : metrics) {
    const auto facts = catalogue.find(metric);
    raw.quantities.push_back({.asked = {.name = metric,
                                        .unit = facts ? facts->unit : "",
                                        .meaning = facts ? facts->meaning : "",
                                        .metrics = {{metric}}},
                              .choice = facts ? std::optional<std::size_t>{0} : std::nullopt});
  }
  raw.passes = catalogue.passes(raw.metrics()).value_or(0);
  return raw;
}

ChipReport report_on(const Asked& asked, MetricCatalogue& catalogue, bool whole_selection) {
  ChipReport report{.chip = catalogue.chip(), .unavailable = {}, .sets = {}, .passes = 0};
  auto selection = asked.selection;
  if (!whole_selection) {
    // A chip may lack metrics of other chips; a name that no chip has is still refused.
    std::erase_if(selection.wanted, [&](const std::string& one) {
      return is_raw_metric(one) && !catalogue.find(one) && catalogue.known_elsewhere(one);
    });
  }
  report.passes = resolve(selection, catalogue, flag).passes;
  for (const auto& set : asked.sets)
    report.sets.push_back(resolve_set(set, catalogue));
  if (!asked.raw.empty()) report.sets.push_back(resolve_raw(asked.raw, catalogue));
  return report;
}

std::vector<ChipReport> report_on_all(const Asked& asked) {
  std::vector<ChipReport> reports;
  for (const auto& chip : known_chips()) {
    try {
      reports.push_back(report_on(asked, *open_catalogue(chip), false));
    } catch (const CountersUnavailable& absent) {
      reports.push_back({.chip = chip, .unavailable = absent.what(), .sets = {}, .passes = 0});
    }
  }
  return reports;
}

std::string chip_here(const std::string& device) {
  const auto request = parse_device_request(device);
  if (request.kind == DeviceRequest::Kind::host) {
    throw UsageError{
        "--device host: the counters of a CPU are not read; expected cuda:N; or name "
        "a chip with --chip"};
  }
  try {
    return chip_of_device(request.ordinal);
  } catch (const DeviceUnavailable& absent) {
    throw DeviceUnavailable{
        fmt::format("{}; name a chip instead: --all-chips, or --chip with one of {}", absent.what(),
                    joined(known_chips()))};
  }
}

// --- words ---

/// "2 passes", "1 pass".
std::string passes(std::size_t count) {
  return fmt::format("{} pass{}", count, count == 1 ? "" : "es");
}

std::size_t absent_in(const ResolvedSet& set) {
  return static_cast<std::size_t>(
      std::count_if(set.quantities.begin(), set.quantities.end(),
                    [](const ResolvedQuantity& one) { return !one.choice; }));
}

/// The metric, marked when it is not the first choice, or the missing ones.
std::string stand_in(const ResolvedQuantity& quantity) {
  if (!quantity.choice) return fmt::format("absent: {}", metric_names(quantity.asked));
  return quantity.metric() + (*quantity.choice == 0 ? "" : " (fallback)");
}

std::string cell(const ResolvedSet& set) {
  const auto absent = absent_in(set);
  return absent == 0 ? std::to_string(set.passes) : fmt::format("{} (−{})", set.passes, absent);
}

/// Columns as wide as their widest cell; the last is left as it is.
void print_table(const std::vector<std::vector<std::string>>& rows, std::string_view indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], row[c].size());
  }
  for (const auto& row : rows) {
    std::string line{indent};
    for (std::size_t c = 0; c + 1 < row.size(); ++c)
      line += fmt::format("{:<{}}  ", row[c], widths[c]);
    fmt::print("{}{}\n", line, row.back());
  }
}

void print_markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const auto& text : cells)
    line += fmt::format(" {} |", text);
  fmt::print("{}\n", line);
}

void print_markdown_head(const std::vector<std::string>& cells) {
  print_markdown_row(cells);
  print_markdown_row(std::vector<std::string>(cells.size(), "---"));
}

// --- one chip ---

void print_chip_table(const ChipReport& report) {
  fmt::print("{}\n", report.chip);
  for (const auto& [set, quantities, count] : report.sets) {
    fmt::print("\n{}: {}; {}\n", set.name, set.title, passes(count));
    std::vector<std::vector<std::string>> rows;
    rows.reserve(quantities.size());
    for (const auto& quantity : quantities)
      rows.push_back(
          {quantity.asked.name, quantity.asked.unit, stand_in(quantity), quantity.asked.meaning});
    print_table(rows, "  ");
  }
  fmt::print("\nall of this, with {}: {}\n", memory_set, passes(report.passes));
}

void print_chip_markdown(const ChipReport& report) {
  fmt::print("# Counters of {}\n\nAll of this, with `{}`: {}.\n", report.chip, memory_set,
             passes(report.passes));
  for (const auto& [set, quantities, count] : report.sets) {
    fmt::print("\n## `{}`\n\n{}; {}.\n\n", set.name, set.title, passes(count));
    print_markdown_head({"quantity", "unit", "metric", "meaning"});
    for (const auto& quantity : quantities) {
      print_markdown_row({fmt::format("`{}`", quantity.asked.name), quantity.asked.unit,
                          stand_in(quantity), quantity.asked.meaning});
    }
  }
}

// --- many chips ---

std::vector<std::string> set_columns(const std::vector<ChipReport>& reports) {
  std::vector<std::string> columns{"chip"};
  for (const auto& report : reports) {
    if (!report.unavailable.empty()) continue;
    for (const auto& resolved : report.sets)
      columns.push_back(resolved.set.name);
    break;
  }
  columns.emplace_back("all together");
  return columns;
}

std::vector<std::string> chip_row(const ChipReport& report, std::size_t columns) {
  std::vector<std::string> row{report.chip};
  for (const auto& set : report.sets)
    row.push_back(cell(set));
  if (report.unavailable.empty()) {
    row.push_back(std::to_string(report.passes));
  } else {
    row.resize(columns, "–");
  }
  return row;
}

void print_chips_table(const std::vector<ChipReport>& reports) {
  const auto columns = set_columns(reports);
  std::vector<std::vector<std::string>> rows{columns};
  for (const auto& report : reports) {
    if (report.unavailable.empty()) rows.push_back(chip_row(report, columns.size()));
  }
  fmt::print("passes to count each set alone (−n: quantities that the chip does not have)\n\n");
  print_table(rows, "");
  for (const auto& report : reports) {
    if (!report.unavailable.empty()) fmt::print("{}: {}\n", report.chip, report.unavailable);
  }
}

/// The quantities that some chips lack or count by a fallback.
void print_differences(const std::vector<ChipReport>& reports) {
  using Key = std::pair<std::string, std::string>;
  std::vector<std::pair<Key, std::vector<std::string>>> differences;
  for (const auto& report : reports) {
    for (const auto& [set, quantities, count] : report.sets) {
      for (const auto& quantity : quantities) {
        if (quantity.choice == 0) continue;
        const Key key{fmt::format("`{}` of {}", quantity.asked.name, set.name),
                      quantity.choice ? fmt::format("`{}`", quantity.metric()) : "absent"};
        auto at = std::find_if(differences.begin(), differences.end(),
                               [&](const auto& one) { return one.first == key; });
        if (at == differences.end()) at = differences.insert(differences.end(), {key, {}});
        at->second.push_back(report.chip);
      }
    }
  }
  std::stable_sort(differences.begin(), differences.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  fmt::print("\n## Absent, or counted by a fallback\n\n");
  print_markdown_head({"quantity", "counted as", "on"});
  for (const auto& [key, chips] : differences)
    print_markdown_row({key.first, key.second, joined(chips)});
}

void print_chips_markdown(const std::vector<ChipReport>& reports) {
  fmt::print(
      "# What each chip can count\n\n"
      "Made by `strata counters --all-chips --format markdown` with {}, which needs no GPU for "
      "it.\n"
      "Numbers are passes: how often a piece of work runs so that the set is counted once; (−n) "
      "says that the\nchip does not have n of its quantities. Each set stands alone in its column; "
      "the last holds all of them.\n\n",
      catalogue_version());
  const auto columns = set_columns(reports);
  print_markdown_head(columns);
  for (const auto& report : reports)
    print_markdown_row(chip_row(report, columns.size()));
  for (const auto& report : reports) {
    if (!report.unavailable.empty()) fmt::print("\n{}: {}.\n", report.chip, report.unavailable);
  }
  print_differences(reports);
  const auto described = std::find_if(reports.begin(), reports.end(),
                                      [](const ChipReport& one) { return !one.sets.empty(); });
  if (described == reports.end()) return;
  for (const auto& [set, quantities, count] : described->sets) {
    fmt::print("\n## `{}`: {}\n\n", set.name, set.title);
    print_markdown_head({"quantity", "unit", "meaning", "metrics, the first that there is"});
    for (const auto& [asked, choice] : quantities) {
      print_markdown_row({fmt::format("`{}`", asked.name), asked.unit, asked.meaning,
                          fmt::format("`{}`", metric_names(asked))});
    }
  }
}

// --- for programs ---

void print_csv(const std::vector<ChipReport>& reports) {
  fmt::print("chip,set,set_passes,passes,quantity,unit,metric,choice,meaning\n");
  for (const auto& report : reports) {
    for (const auto& [set, quantities, count] : report.sets) {
      for (const auto& [asked, choice] : quantities) {
        fmt::print("{},{},{},{},{},{},{},{},{}\n", csv_field(report.chip), csv_field(set.name),
                   count, report.passes, csv_field(asked.name), csv_field(asked.unit),
                   choice ? csv_field(asked.metrics[*choice].name) : "",
                   choice ? std::to_string(*choice + 1) : "", csv_field(asked.meaning));
      }
    }
  }
}

void print_json(const std::vector<ChipReport>& reports) {
  using Json = nlohmann::ordered_json;
  auto chips = Json::array();
  for (const auto& report : reports) {
    Json chip{{"chip", report.chip}};
    if (!report.unavailable.empty()) {
      chip["unavailable"] = report.unavailable;
      chips.push_back(std::move(chip));
      continue;
    }
    chip["passes"] = report.passes;
    chip["sets"] = Json::array();
    for (const auto& [set, quantities, count] : report.sets) {
      Json one{{"set", set.name}, {"title", set.title}, {"passes", count}};
      one["quantities"] = Json::array();
      for (const auto& [asked, choice] : quantities) {
        Json quantity{{"name", asked.name}, {"unit", asked.unit}, {"meaning", asked.meaning}};
        quantity["metric"] = choice ? Json(asked.metrics[*choice].name) : Json(nullptr);
        quantity["choice"] = choice ? Json(*choice + 1) : Json(nullptr);
        one["quantities"].push_back(std::move(quantity));
      }
      chip["sets"].push_back(std::move(one));
    }
    chips.push_back(std::move(chip));
  }
  const Json all{{"library", catalogue_version()}, {"chips", std::move(chips)}};
  fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
}

// --- the metrics of a chip ---

int list_metrics(MetricCatalogue& catalogue, const CountersOptions& options) {
  const auto matches = matcher("--metrics", options.metrics);
  std::vector<std::vector<std::string>> rows;
  for (const auto& name : catalogue.base_metrics()) {
    if (!matches(name)) continue;
    const auto facts = catalogue.describe(name);
    rows.push_back({name, facts.unit, facts.meaning});
  }
  if (rows.empty()) {
    throw UsageError{
        fmt::format("--metrics {}: no metric of {} matches; expected an expression "
                    "that some of its {} names match; '.' matches all",
                    in_quotes(options.metrics), catalogue.chip(), catalogue.base_metrics().size())};
  }
  if (options.format == "csv") {
    fmt::print("chip,metric,unit,meaning\n");
    for (const auto& row : rows)
      fmt::print("{},{},{},{}\n", catalogue.chip(), csv_field(row[0]), csv_field(row[1]),
                 csv_field(row[2]));
  } else if (options.format == "json") {
    auto metrics = nlohmann::ordered_json::array();
    for (const auto& row : rows)
      metrics.push_back({{"metric", row[0]}, {"unit", row[1]}, {"meaning", row[2]}});
    const nlohmann::ordered_json all{{"chip", catalogue.chip()}, {"metrics", std::move(metrics)}};
    fmt::print("{}\n", all.dump(2));
  } else if (options.format == "markdown") {
    print_markdown_head({"metric", "unit", "meaning"});
    for (const auto& row : rows)
      print_markdown_row({fmt::format("`{}`", row[0]), row[1], row[2]});
  } else {
    print_table(rows, "");
  }
  return 0;
}

}  // namespace

int counters_command(const CountersOptions& options) {
  const auto asked = what_is_asked(options.wanted);
  if (options.all_chips) {
    const auto reports = report_on_all(asked);
    if (options.format == "csv") print_csv(reports);
    if (options.format == "json") print_json(reports);
    if (options.format == "markdown") print_chips_markdown(reports);
    if (options.format == "table") print_chips_table(reports);
    return 0;
  }
  const auto catalogue =
      open_catalogue(options.chip.empty() ? chip_here(options.device) : options.chip);
  if (!options.metrics.empty()) return list_metrics(*catalogue, options);
  const std::vector<ChipReport> reports{report_on(asked, *catalogue, true)};
  if (options.format == "csv") print_csv(reports);
  if (options.format == "json") print_json(reports);
  if (options.format == "markdown") print_chip_markdown(reports.front());
  if (options.format == "table") print_chip_table(reports.front());
  return 0;
}

}  // namespace strata
