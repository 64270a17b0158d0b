// strata model: the traffic of each GPU generation by its published rules, without a device.
#include "harness/base/text.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/generation_option.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/lanes.hpp"
#include "harness/model/layout.hpp"
#include "harness/record/measurements_csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace strata {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

struct ModelOptions {
  Names layouts;  ///< empty: all, here and below
  Names fields;
  Names generations;
  std::string format = "table";
  // A pattern instead of layouts.
  std::optional<long long> width;
  std::optional<long long> stride;
  std::optional<long long> offset;
  std::string permutation;
};

/// The requested pattern; otherwise null. Lane k reads element offset + stride × (position of k).
Json pattern_of(const ModelOptions& options) {
  if (!options.width) {
    if (options.stride || options.offset || !options.permutation.empty()) {
      refuse({"strata model"}, "a pattern without its width", "--width BYTES beside --stride",
             "add --width 4, for example");
    }
    return nullptr;
  }
  if (!options.layouts.empty() || !options.fields.empty()) {
    refuse({"strata model"}, "both a pattern and a layout", "--width or --layout and --fields",
           "give one of them");
  }
  if (std::ranges::count(std::array{1, 2, 4, 8, 16}, *options.width) == 0) {
    refuse({"--width"}, fmt::format("no lane can read {} bytes at once", *options.width),
           "1, 2, 4, 8 or 16", "read the element in parts of one of these widths");
  }
  const Names order = options.permutation.empty() ? Names{} : Names{options.permutation};
  const std::string permutation =
      chosen("--permutation", order, permutations.names(), "use one of these").front();
  const auto elements = [](std::string_view option, long long number) {
    constexpr long long most = std::numeric_limits<std::uint32_t>::max();
    if (number < 0 || number > most) {
      refuse({option}, fmt::format("{} is out of range", number),
             fmt::format("an integer from 0 to {}", most), "use another number");
    }
    return static_cast<std::uint64_t>(number);
  };
  return {{"width", *options.width},
          {"stride", elements("--stride", options.stride.value_or(1))},
          {"offset", elements("--offset", options.offset.value_or(0))},
          {"permutation", permutation}};
}

Json counts_of(const SequenceTraffic& traffic) {
  const Traffic& t = traffic.total;
  return {{"requests", t.requests},
          {"transactions", t.transactions},
          {"sectors", t.sectors},
          {"lines", t.lines},
          {"wavefronts_at_least", t.wavefronts == 0 ? Json{} : Json(t.wavefronts)},
          {"bytes_moved", t.bytes_moved},
          {"bytes_used", t.bytes_used},
          {"moved_over_used", t.moved_over_used()},
          {"repeated_share", traffic.repeated_share()}};
}

/// The content of every format: the pattern, unless layouts were requested; the generations; and a
/// prediction for each generation and pattern, or each layout and field set.
Json document_of(const ModelOptions& options) {
  Json document{{"schema_version", 1}};
  const Json pattern = pattern_of(options);
  if (!pattern.is_null()) document["pattern"] = pattern;
  document["generations"] = Json::array();
  Json predictions = Json::array();
  const auto names = chosen_generations(options.generations);
  const auto layouts = chosen("--layout", options.layouts, names_of<Layouts>());
  const auto field_sets = chosen("--fields", options.fields, names_of<FieldSets>());
  for (const auto& name : names) {
    const GenerationInfo& info = info_of(*generation_from(name));
    document["generations"].push_back({{"generation", info.name},
                                       {"chips", info.chips},
                                       {"rule", info.rule},
                                       {"source", info.source}});
    const auto predict = [&](Json what, const SequenceTraffic& traffic) {
      what.update(counts_of(traffic));
      predictions.push_back(std::move(what));
    };
    if (!pattern.is_null()) {
      const auto elements =
          lane_elements(pattern["stride"], pattern["offset"],
                        permutations.of(pattern["permutation"].get<std::string>()));
      const std::array accesses{access_of(pattern["width"], elements)};
      predict({{"generation", name}}, traffic(info.generation, accesses));
      continue;
    }
    for (const auto& fields : field_sets) {
      for (const auto& layout : layouts) {
        (void)with_layout(layout, fields, [&]<class L, class Fields>() {
          predict({{"generation", name}, {"layout", layout}, {"fields", fields}},
                  warp_read_traffic<L, Fields>(info.generation));
        });
      }
    }
  }
  document["predictions"] = std::move(predictions);
  return document;
}

/// A line of the table. A pattern has no column for repeated sectors and layouts, because one load
/// has neither.
void print_line(bool is_pattern, const std::array<std::string, 11>& cells) {
  constexpr std::array<int, 11> widths{12, 9, 9, 8, 9, 9, 7, 8, 7, 8, 10};
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (is_pattern && (c == 1 || c == 2 || c == 10)) continue;
    fmt::print("{}", c < 3 ? fmt::format("{:<{}}", cells[c], widths[c])
                           : fmt::format("{:>{}}", cells[c], widths[c]));
  }
  fmt::print("\n");
}

void print_predictions(const Json& document) {
  const bool is_pattern = document.contains("pattern");
  print_line(is_pattern,
             {"compute", "", "", "", "trans-", "", "", "bytes", "bytes", "moved", "sectors"});
  print_line(is_pattern, {"capability", "layout", "fields", "requests", "actions", "sectors",
                          "lines", "moved", "used", "÷ used", "repeated"});
  std::string last;
  std::string last_fields;
  for (const auto& one : document["predictions"]) {
    const std::string name = one["generation"];
    const std::string fields = one.value("fields", "");
    const bool first = name != last;
    if (!last.empty() && !is_pattern && (first || fields != last_fields)) fmt::print("\n");
    last = name;
    last_fields = fields;
    print_line(is_pattern,
               {first ? name : "", one.value("layout", ""), fields, one["requests"].dump(),
                one["transactions"].dump(), one["sectors"].dump(), one["lines"].dump(),
                one["bytes_moved"].dump(), one["bytes_used"].dump(),
                fmt::format("{:.2f}", one["moved_over_used"].get<double>()),
                fmt::format("{:.0f} %", 100 * one["repeated_share"].get<double>())});
  }
}

void print_table(const Json& document) {
  const bool is_pattern = document.contains("pattern");
  if (is_pattern) {
    const Json& p = document["pattern"];
    fmt::print("One load of a warp: lane k reads {} byte{} at element {} + {} × {}\n\n",
               p["width"].dump(), p["width"] == 1 ? "" : "s", p["offset"].dump(),
               p["stride"].dump(),
               p["permutation"] == "identity"   ? "k"
               : p["permutation"] == "reversed" ? "(31 − k)"
                                                : "(position of k in a random order)");
  } else {
    fmt::print("Memory traffic of a warp that reads 32 particles\n\n");
  }
  print_predictions(document);
  fmt::print("\n");
  print_note("requests",
             "memory requests of the pipeline; sectors (32 bytes) and lines (128) count again in "
             "each request that touches them");
  print_note("used", is_pattern ? "distinct bytes that some lane accesses"
                                : "bytes of the wanted fields; padding is moved, but not used");
  if (!is_pattern) {
    print_note("repeated",
               "sectors that an earlier load of the same read touched; a cache that serves loads "
               "saves them (2.x, and 6.0 and later)");
  }
  for (const auto& one : document["generations"]) {
    const auto text = [&](const char* key) { return one[key].get<std::string>(); };
    fmt::print("\n");
    print_note(text("generation"), fmt::format("{}. {}", text("chips"), text("rule")));
    print_note("", fmt::format("Source: {}.", text("source")));
  }
}

/// Empty for null; the shortest text for a real number.
std::string csv_value(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return csv_field(value.get<std::string>());
  return value.is_number_float() ? shortest(value.get<double>()) : value.dump();
}

void print_csv(const Json& document) {
  Params pattern;
  if (document.contains("pattern")) {
    for (const auto& [name, value] : document["pattern"].items())
      pattern[name] = csv_value(value);
  }
  const auto& predictions = document["predictions"];
  for (const auto& one : predictions) {
    Json row{{"generation", one["generation"]}};
    if (!pattern.empty()) row["pattern"] = to_string(pattern);
    row.update(one);
    Names names;
    Names values;
    for (const auto& [name, value] : row.items()) {
      names.push_back(name);
      values.push_back(csv_value(value));
    }
    if (&one == &predictions.front()) fmt::print("{}\r\n", fmt::join(names, ","));
    fmt::print("{}\r\n", fmt::join(values, ","));
  }
}

}  // namespace

void add_model(Command app) {
  const auto options = std::make_shared<ModelOptions>();
  auto sub = app.subcommand(
      "model",
      "predict the memory traffic of a warp's reads for each GPU generation; needs no GPU");
  sub.option("--layout", options->layouts, "only these particle layouts", "NAMES")
      .separated_by(',');
  sub.option("--fields", options->fields, "only these sets of fields", "NAMES").separated_by(',');
  sub.option("--generation", options->generations,
             "only these generations: names, or compute capabilities such as 9.0", "NAMES")
      .separated_by(',');
  sub.option("--width", options->width, "predict one load instead of layouts: bytes per lane",
             "BYTES");
  sub.option("--stride", options->stride,
             "distance between adjacent lanes, in elements (default 1)", "ELEMENTS");
  sub.option("--offset", options->offset, "first element (default 0)", "ELEMENTS");
  sub.option("--permutation", options->permutation, "lane order: identity, reversed or random",
             "ORDER");
  sub.option("--format", options->format, "output format").one_of({"table", "csv", "json"});
  sub.footer(
      "Applies the published coalescing rules of each compute capability to the addresses; the "
      "table cites\nthem. Counts are for a warp that reads 32 particles, or for one "
      "load.\nExamples: strata model --generation 1.0-1.1,9.0 --fields all\n          strata model "
      "--width 4 --stride 2 --offset 1");
  sub.on_run([options] {
    const Json document = document_of(*options);
    if (options->format == "csv") return print_csv(document);
    if (options->format == "json") return fmt::print("{}\n", document.dump(2));
    print_table(document);
  });
}

}  // namespace strata
