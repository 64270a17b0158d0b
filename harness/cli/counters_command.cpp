// strata counters: sets, metrics of a chip, and the number of passes. Needs no GPU if a chip is
// named.
#include "harness/base/error.hpp"
#include "harness/base/text.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/record/measurements_csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace strata {
namespace {

struct CountersOptions {
  std::vector<std::string> wanted;
  std::string chip;  ///< empty: the chip of the device
  std::string device = "auto";
  bool all_chips = false;
  std::string format = "table";
  std::string metrics;
};

constexpr std::string_view flag = "counters";  // begins the messages

/// The selection resolved on one chip.
struct ChipReport {
  std::string chip;
  std::string unavailable;  ///< why the library cannot describe it; empty if it can
  std::vector<ResolvedSet> sets;
  std::size_t passes = 0;  ///< for all of it and the set "memory", which every plan contains
};

// --- requested sets and metrics ---

struct Request {
  CounterSelection selection;
  std::vector<CounterSet> sets;  ///< the raw metrics are the last, without units and meanings
};

Request request_for(const std::vector<std::string>& wanted) {
  Request request{.selection = {.wanted = wanted.empty() ? counter_set_names() : wanted}};
  if (wanted.empty()) {
    // The set that every plan contains first, then by name.
    // Not std::ranges::stable_partition, which clang 14 cannot compile.
    std::stable_partition(request.selection.wanted.begin(), request.selection.wanted.end(),
                          [](const std::string& name) { return name == memory_set; });
  }
  CounterSet raw{.name = "metrics", .built_in = true, .title = "as named"};
  for (const auto& one : request.selection.wanted) {
    if (is_raw_metric(one))
      raw.quantities.push_back({.name = one, .metrics = {{one}}});
    else
      request.sets.push_back(load_counter_set(one, flag));
  }
  if (!raw.quantities.empty()) request.sets.push_back(std::move(raw));
  return request;
}

ChipReport report_on(const Request& request, MetricCatalogue& catalogue, bool whole_selection) {
  ChipReport report{.chip = catalogue.chip()};
  auto selection = request.selection;
  if (!whole_selection) {
    // A chip may lack metrics of other chips; a name that no chip has is still refused.
    std::erase_if(selection.wanted, [&](const std::string& one) {
      return is_raw_metric(one) && !catalogue.find(one) && catalogue.known_elsewhere(one);
    });
  }
  report.passes = resolve(selection, catalogue, flag).passes;
  for (const auto& set : request.sets) {
    for (auto& [quantity, choice] :
         report.sets.emplace_back(resolve_set(set, catalogue)).quantities) {
      if (!choice || !quantity.unit.empty()) continue;
      const auto facts = catalogue.find(quantity.name);  // a raw metric
      quantity.unit = facts->unit;
      quantity.meaning = facts->meaning;
    }
  }
  return report;
}

std::vector<ChipReport> report_on_all(const Request& request) {
  std::vector<ChipReport> reports;
  for (const auto& chip : known_chips()) {
    try {
      reports.push_back(report_on(request, *open_catalogue(chip), false));
    } catch (const CountersUnavailable& absent) {
      reports.push_back({.chip = chip, .unavailable = absent.what()});
    }
  }
  return reports;
}

std::string chip_here(const std::string& device) {
  const auto request = parse_device_request(device);
  if (request.kind == DeviceRequest::Kind::host) {
    throw UsageError{
        "--device host: CPU counters are not supported; expected cuda:N, or a chip given with "
        "--chip"};
  }
  try {
    return chip_of_device(request.ordinal);
  } catch (const DeviceUnavailable& absent) {
    throw DeviceUnavailable{
        fmt::format("{}; give a chip instead: --all-chips, or --chip with one of {}", absent.what(),
                    joined(known_chips()))};
  }
}

// --- words ---

/// "2 passes", "1 pass".
std::string passes(std::size_t count) {
  return fmt::format("{} pass{}", count, count == 1 ? "" : "es");
}

/// The metric, marked if it is not the first choice; or the missing ones.
std::string stand_in(const ResolvedQuantity& quantity) {
  if (!quantity.choice) return fmt::format("absent: {}", metric_names(quantity.requested));
  return quantity.metric() + (*quantity.choice == 0 ? "" : " (fallback)");
}

std::string as_code(std::string_view name) {
  return fmt::format("`{}`", name);
}

using Row = std::vector<std::string>;

/// As "markdown", as "csv", or as a table. A table has no `head`, and its columns are as wide as
/// their widest cell, except the last.
void print_rows(std::string_view format, const Row& head, const std::vector<Row>& rows,
                std::string_view indent = "") {
  if (format == "markdown") {
    const auto print_row = [](const Row& row) { fmt::print("| {} |\n", fmt::join(row, " | ")); };
    print_row(head);
    print_row(Row(head.size(), "---"));
    std::ranges::for_each(rows, print_row);
    return;
  }
  if (format == "csv") {
    fmt::print("{}\n", fmt::join(head, ","));
    for (Row row : rows) {
      std::ranges::transform(row, row.begin(), csv_field);
      fmt::print("{}\n", fmt::join(row, ","));
    }
    return;
  }
  std::vector<std::size_t> widths(head.size());
  for (const auto& row : rows) {
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

// --- one chip ---

void print_chip(const ChipReport& report, const std::string& format) {
  const bool markdown = format == "markdown";
  if (markdown) {
    fmt::print("# Counters of {}\n\nAll together, with `{}`: {}.\n", report.chip, memory_set,
               passes(report.passes));
  } else {
    fmt::print("{}\n", report.chip);
  }
  for (const auto& [set, quantities, count] : report.sets) {
    if (markdown) {
      fmt::print("\n## `{}`\n\n{}; {}.\n\n", set.name, set.title, passes(count));
    } else {
      fmt::print("\n{}: {}; {}\n", set.name, set.title, passes(count));
    }
    std::vector<Row> rows;
    for (const auto& one : quantities) {
      const auto& [name, unit, meaning, metrics] = one.requested;
      rows.push_back({markdown ? as_code(name) : name, unit, stand_in(one), meaning});
    }
    print_rows(format, {"quantity", "unit", "metric", "meaning"}, rows, "  ");
  }
  if (!markdown) fmt::print("\nall together, with {}: {}\n", memory_set, passes(report.passes));
}

// --- many chips ---

/// The passes of each set on each chip.
void print_passes(const std::vector<ChipReport>& reports, const std::string& format) {
  const bool markdown = format == "markdown";
  Row head{"chip"};
  if (const auto described = std::ranges::find(reports, "", &ChipReport::unavailable);
      described != reports.end()) {
    for (const auto& resolved : described->sets)
      head.push_back(resolved.set.name);
  }
  head.emplace_back("all together");
  std::vector<Row> rows;
  if (!markdown) rows.push_back(head);
  std::string unavailable;
  for (const auto& report : reports) {
    Row row{report.chip};
    for (const auto& set : report.sets) {
      const auto absent = std::ranges::count(set.quantities, std::optional<std::size_t>{},
                                             &ResolvedQuantity::choice);
      row.push_back(absent == 0 ? std::to_string(set.passes)
                                : fmt::format("{} (−{})", set.passes, absent));
    }
    if (report.unavailable.empty()) {
      row.push_back(std::to_string(report.passes));
      rows.push_back(std::move(row));
      continue;
    }
    row.resize(head.size(), "–");
    if (markdown) rows.push_back(std::move(row));
    unavailable += markdown ? fmt::format("\n{}: {}.\n", report.chip, report.unavailable)
                            : fmt::format("{}: {}\n", report.chip, report.unavailable);
  }
  print_rows(format, head, rows);
  fmt::print("{}", unavailable);
}

/// The quantities that some chips lack or count by a fallback.
void print_differences(const std::vector<ChipReport>& reports) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> differences;
  for (const auto& report : reports) {
    for (const auto& [set, quantities, count] : report.sets) {
      for (const auto& one : quantities) {
        if (one.choice == 0) continue;
        differences[{fmt::format("`{}` of {}", one.requested.name, set.name),
                     one.choice ? as_code(one.metric()) : "absent"}]
            .push_back(report.chip);
      }
    }
  }
  std::vector<Row> rows;
  rows.reserve(differences.size());
  for (const auto& [key, chips] : differences)
    rows.push_back({key.first, key.second, joined(chips)});
  fmt::print("\n## Missing, or counted by a fallback\n\n");
  print_rows("markdown", {"quantity", "counted as", "on"}, rows);
}

void print_chips_markdown(const std::vector<ChipReport>& reports) {
  fmt::print(
      "# What each chip can count\n\nMade by `strata counters --all-chips --format markdown` with "
      "{}, without a GPU. Numbers are passes: how\noften the work runs to count the set once. (−n) "
      "means that the chip lacks n of its quantities. Each\ncolumn is one set alone; the last "
      "column is all sets together.\n\n",
      catalogue_version());
  print_passes(reports, "markdown");
  print_differences(reports);
  const auto described =
      std::ranges::find_if(reports, [](const ChipReport& one) { return !one.sets.empty(); });
  if (described == reports.end()) return;
  for (const auto& [set, quantities, count] : described->sets) {
    fmt::print("\n## `{}`: {}\n\n", set.name, set.title);
    std::vector<Row> rows;
    rows.reserve(quantities.size());
    for (const auto& [requested, choice] : quantities)
      rows.push_back({as_code(requested.name), requested.unit, requested.meaning,
                      as_code(metric_names(requested))});
    print_rows("markdown", {"quantity", "unit", "meaning", "metrics, in order of preference"},
               rows);
  }
}

// --- for programs ---

void print_csv(const std::vector<ChipReport>& reports) {
  std::vector<Row> rows;
  for (const auto& report : reports) {
    for (const auto& [set, quantities, count] : report.sets) {
      for (const auto& [requested, choice] : quantities) {
        rows.push_back({report.chip, set.name, std::to_string(count), std::to_string(report.passes),
                        requested.name, requested.unit,
                        choice ? requested.metrics[*choice].name : "",
                        choice ? std::to_string(*choice + 1) : "", requested.meaning});
      }
    }
  }
  print_rows(
      "csv",
      {"chip", "set", "set_passes", "passes", "quantity", "unit", "metric", "choice", "meaning"},
      rows);
}

void print_json(const std::vector<ChipReport>& reports) {
  using Json = nlohmann::ordered_json;
  auto chips = Json::array();
  for (const auto& report : reports) {
    if (!report.unavailable.empty()) {
      chips.push_back({{"chip", report.chip}, {"unavailable", report.unavailable}});
      continue;
    }
    auto sets = Json::array();
    for (const auto& [set, all, count] : report.sets) {
      auto quantities = Json::array();
      for (const auto& [requested, choice] : all) {
        quantities.push_back(
            {{"name", requested.name},
             {"unit", requested.unit},
             {"meaning", requested.meaning},
             {"metric", choice ? Json(requested.metrics[*choice].name) : Json(nullptr)},
             {"choice", choice ? Json(*choice + 1) : Json(nullptr)}});
      }
      sets.push_back({{"set", set.name},
                      {"title", set.title},
                      {"passes", count},
                      {"quantities", std::move(quantities)}});
    }
    chips.push_back({{"chip", report.chip}, {"passes", report.passes}, {"sets", std::move(sets)}});
  }
  const Json all{{"library", catalogue_version()}, {"chips", std::move(chips)}};
  fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
}

// --- the metrics of a chip ---

void list_metrics(MetricCatalogue& catalogue, const CountersOptions& options) {
  const auto matches = matcher("--metrics", options.metrics);
  std::vector<Row> rows;
  for (const auto& name : catalogue.base_metrics()) {
    if (!matches(name)) continue;
    const auto facts = catalogue.describe(name);
    rows.push_back({name, facts.unit, facts.meaning});
  }
  if (rows.empty()) {
    throw UsageError{
        fmt::format("--metrics {}: no metric of {} matches; expected a regular expression that "
                    "matches some of its {} names; '.' matches all",
                    in_quotes(options.metrics), catalogue.chip(), catalogue.base_metrics().size())};
  }
  Row head{"metric", "unit", "meaning"};
  if (options.format == "json") {
    auto metrics = nlohmann::ordered_json::array();
    for (const auto& row : rows)
      metrics.push_back({{"metric", row[0]}, {"unit", row[1]}, {"meaning", row[2]}});
    const nlohmann::ordered_json all{{"chip", catalogue.chip()}, {"metrics", std::move(metrics)}};
    fmt::print("{}\n", all.dump(2));
    return;
  }
  for (auto& row : rows) {
    if (options.format == "markdown") row[0] = as_code(row[0]);
    if (options.format == "csv") row.insert(row.begin(), catalogue.chip());
  }
  if (options.format == "csv") head.insert(head.begin(), "chip");
  print_rows(options.format, head, rows);
}

void describe_counters(const CountersOptions& options) {
  const auto request = request_for(options.wanted);
  std::vector<ChipReport> reports;
  if (options.all_chips) {
    reports = report_on_all(request);
  } else {
    const auto catalogue =
        open_catalogue(options.chip.empty() ? chip_here(options.device) : options.chip);
    if (!options.metrics.empty()) return list_metrics(*catalogue, options);
    reports.push_back(report_on(request, *catalogue, true));
  }
  if (options.format == "csv") return print_csv(reports);
  if (options.format == "json") return print_json(reports);
  if (!options.all_chips) return print_chip(reports.front(), options.format);
  if (options.format == "markdown") return print_chips_markdown(reports);
  fmt::print("passes to count each set alone (−n: quantities that the chip lacks)\n\n");
  print_passes(reports, options.format);
}

}  // namespace

void add_counters(Command app) {
  const auto options = std::make_shared<CountersOptions>();
  auto sub = app.subcommand(
      "counters",
      "list what a chip can count: sets, metrics, passes; with --chip it needs CUPTI, but no GPU");
  sub.option("wanted", options->wanted,
             "counter sets, files of sets, or metrics; default: every set", "SET|FILE|METRIC");
  auto chip = sub.option("--chip", options->chip, "chip to describe, such as GH100", "NAME");
  auto device = sub.option("--device", options->device, "device to describe: auto or cuda:N");
  auto all_chips =
      sub.flag("--all-chips", options->all_chips, "describe every chip that CUPTI knows");
  device.excludes(chip);
  all_chips.excludes(chip).excludes(device);
  sub.option("--format", options->format, "output format")
      .one_of({"table", "csv", "json", "markdown"});
  sub.option("--metrics", options->metrics, "list the chip's metrics whose names match", "RE")
      .excludes(all_chips);
  sub.on_run([options] { describe_counters(*options); });
}

}  // namespace strata
