// strata model: the traffic of each GPU generation by its published rules, without a device.
#include "harness/case/text.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/page.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/lanes.hpp"
#include "harness/model/layout.hpp"
#include "harness/record/measurements_csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace strata {
namespace {

/// A pattern of addresses that belongs to no layout.
struct Pattern {
  unsigned width = 4;  ///< bytes of an element
  std::uint64_t stride = 1;
  std::uint64_t offset = 0;
  std::string permutation;
};

/// The predicted traffic of one layout and field set, or of the pattern, on one generation.
struct Prediction {
  GenerationInfo generation;
  std::string layout;
  std::string fields;
  SequenceTraffic traffic;
};

struct Model {
  std::optional<Pattern> pattern;  ///< else layouts
  std::vector<Prediction> predictions;
};

/// The names of `known` that were asked for, in the order of `known`; all when nothing was.
std::vector<std::string> chosen(std::string_view option, const std::vector<std::string>& asked,
                                const std::vector<std::string>& known) {
  for (const auto& name : asked) {
    if (std::ranges::find(known, name) != known.end()) continue;
    refuse({option}, "there is no " + in_quotes(name), joined(known),
           did_you_mean(name, known, "leave it out for all"));
  }
  std::vector<std::string> result;
  for (const auto& name : known) {
    if (asked.empty() || std::ranges::find(asked, name) != asked.end()) result.push_back(name);
  }
  return result;
}

/// The generation of "9.0" or "9.x", or nothing.
std::optional<Generation> of_capability(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = whole_number(text.substr(0, dot));
  const bool any = text.substr(dot + 1) == "x";
  const auto minor = any ? 0 : whole_number(text.substr(dot + 1));
  if (!major || !minor || *major < 1 || *major > 99 || *minor < 0 || *minor > 9) {
    return std::nullopt;
  }
  if (*major == 4 || (*major == 1 && any)) return std::nullopt;  // there is no 4.x; 1.x are two
  return generation_of(static_cast<int>(*major), static_cast<int>(*minor));
}

std::vector<const GenerationInfo*> chosen_generations(std::vector<std::string> asked) {
  std::vector<std::string> known;
  for (const auto& info : generations())
    known.emplace_back(info.name);
  for (auto& name : asked) {
    if (generation_from(name)) continue;
    if (const auto generation = of_capability(name)) name = info_of(*generation).name;
  }
  std::vector<const GenerationInfo*> result;
  for (const auto& name : chosen("--generation", asked, known))
    result.push_back(&info_of(*generation_from(name)));
  return result;
}

std::uint64_t number_in(std::string_view option, std::optional<long long> value,
                        long long otherwise, long long most) {
  const long long number = value.value_or(otherwise);
  if (number < 0 || number > most) {
    refuse({option}, fmt::format("{} is out of range", number),
           fmt::format("a whole number from 0 to {}", most), "give another number");
  }
  return static_cast<std::uint64_t>(number);
}

/// The pattern that was asked for, if one was.
std::optional<Pattern> pattern_of(const ModelOptions& options) {
  constexpr long long most = std::numeric_limits<std::uint32_t>::max();
  if (!options.width) {
    if (options.stride || options.offset || !options.permutation.empty()) {
      refuse({"strata model"}, "a pattern without its width", "--width BYTES beside --stride",
             "add --width 4, say");
    }
    return std::nullopt;
  }
  if (!options.layouts.empty() || !options.fields.empty()) {
    refuse({"strata model"}, "both a pattern and a layout", "--width or --layout and --fields",
           "ask for one at a time");
  }
  constexpr std::array<long long, 5> widths{1, 2, 4, 8, 16};
  if (std::ranges::find(widths, *options.width) == widths.end()) {
    refuse({"--width"}, fmt::format("no lane reads {} bytes at once", *options.width),
           "1, 2, 4, 8 or 16", "read the element in parts of such a width");
  }
  const std::vector<std::string> known = permutations.names();
  const std::string permutation = options.permutation.empty() ? known.front() : options.permutation;
  if (std::ranges::find(known, permutation) == known.end()) {
    refuse({"--permutation"}, "there is no " + in_quotes(permutation), joined(known),
           did_you_mean(permutation, known, "name one of these"));
  }
  return Pattern{.width = static_cast<unsigned>(*options.width),
                 .stride = number_in("--stride", options.stride, 1, most),
                 .offset = number_in("--offset", options.offset, 0, most),
                 .permutation = permutation};
}

WarpAccess load_of(const Pattern& pattern) {
  return access_of(pattern.width, lane_elements(pattern.stride, pattern.offset,
                                                permutations.of(pattern.permutation)));
}

Model model_of(const ModelOptions& options) {
  Model model{.pattern = pattern_of(options)};
  const auto asked = chosen_generations(options.generations);
  const auto layouts = chosen("--layout", options.layouts, names_of<Layouts>());
  const auto field_sets = chosen("--fields", options.fields, names_of<FieldSets>());
  for (const GenerationInfo* info : asked) {
    if (model.pattern) {
      const std::array accesses{load_of(*model.pattern)};
      model.predictions.push_back({*info, "", "", traffic(info->generation, accesses)});
      continue;
    }
    for (const auto& fields : field_sets) {
      for (const auto& layout : layouts) {
        (void)with_layout(layout, fields, [&]<class L, class Fields>() {
          model.predictions.push_back(
              {*info, layout, fields, warp_read_traffic<L, Fields>(info->generation)});
        });
      }
    }
  }
  return model;
}

/// The rule of each generation that the model names, and where it is written down.
void print_rules(const Model& model) {
  std::optional<Generation> last;
  for (const auto& one : model.predictions) {
    const GenerationInfo& info = one.generation;
    if (info.generation == last) continue;
    last = info.generation;
    fmt::print("\n");
    print_note(info.name, fmt::format("{}. {}", info.chips, info.rule));
    print_note("", fmt::format("Source: {}.", info.source));
  }
}

void print_table(const Model& model) {
  if (model.pattern) {
    const Pattern& p = *model.pattern;
    fmt::print("One load of a warp: lane k reads {} byte{} at element {} + {} × {}\n\n", p.width,
               p.width == 1 ? "" : "s", p.offset, p.stride,
               p.permutation == "identity"   ? "k"
               : p.permutation == "reversed" ? "(31 − k)"
                                             : "(place of k in a random order)");
  } else {
    fmt::print("What a warp asks of memory to read 32 particles\n\n");
  }
  // One load repeats nothing, so a pattern has no column for that.
  const std::string what = model.pattern ? "" : fmt::format("{:<9}{:<9}", "layout", "fields");
  const std::string no_what(what.size(), ' ');
  fmt::print("{:<12}{}{:>8}{:>9}{:>9}{:>7}{:>8}{:>7}{:>8}{}\n", "compute", no_what, "", "trans-",
             "", "", "bytes", "bytes", "moved", model.pattern ? "" : "   sectors");
  fmt::print("{:<12}{}{:>8}{:>9}{:>9}{:>7}{:>8}{:>7}{:>8}{}\n", "capability", what, "requests",
             "actions", "sectors", "lines", "moved", "used", "÷ used",
             model.pattern ? "" : "  repeated");
  std::optional<Generation> last;
  std::string_view last_fields;
  for (const auto& one : model.predictions) {
    const bool first = one.generation.generation != last;
    if (last && !model.pattern && (first || one.fields != last_fields)) fmt::print("\n");
    last = one.generation.generation;
    last_fields = one.fields;
    const Traffic& t = one.traffic.total;
    fmt::print("{:<12}{}{:>8}{:>9}{:>9}{:>7}{:>8}{:>7}{:>8.2f}{}\n",
               first ? one.generation.name : "",
               model.pattern ? "" : fmt::format("{:<9}{:<9}", one.layout, one.fields), t.requests,
               t.transactions, t.sectors, t.lines, t.bytes_moved, t.bytes_used, t.moved_over_used(),
               model.pattern ? "" : fmt::format("{:>8.0f} %", 100 * one.traffic.repeated_share()));
  }
  fmt::print("\n");
  print_note("requests",
             "what the pipeline takes one by one; sectors (32 bytes) and lines (128) "
             "count again in each request that touches them");
  print_note("used", model.pattern ? "distinct bytes that some lane asked for"
                                   : "bytes of the wanted fields: padding is moved, not used");
  if (!model.pattern) {
    print_note("repeated",
               "sectors that an earlier load of the same read touched: a cache next to "
               "the warp spares them, where there is one for loads: on 2.x, and from 6.0 on");
  }
}

/// The columns that both kinds of prediction have, with their values.
nlohmann::ordered_json counts_of(const Prediction& one) {
  const Traffic& t = one.traffic.total;
  nlohmann::ordered_json counts{{"requests", t.requests},
                                {"transactions", t.transactions},
                                {"sectors", t.sectors},
                                {"lines", t.lines},
                                {"wavefronts_at_least", nullptr},
                                {"bytes_moved", t.bytes_moved},
                                {"bytes_used", t.bytes_used},
                                {"moved_over_used", t.moved_over_used()},
                                {"repeated_share", one.traffic.repeated_share()}};
  if (t.wavefronts != 0) counts["wavefronts_at_least"] = t.wavefronts;
  return counts;
}

/// A count as a field of CSV: nothing for null, the shortest text for a real number.
std::string csv_count(const nlohmann::ordered_json& count) {
  if (count.is_null()) return {};
  return count.is_number_float() ? shortest(count.get<double>()) : count.dump();
}

void print_csv(const Model& model) {
  bool header = true;
  for (const auto& one : model.predictions) {
    std::vector<std::pair<std::string, std::string>> row{
        {"generation", std::string{one.generation.name}}};
    if (model.pattern) {
      const Pattern& p = *model.pattern;
      row.emplace_back("pattern", fmt::format("offset={};permutation={};stride={};width={}",
                                              p.offset, p.permutation, p.stride, p.width));
    } else {
      row.emplace_back("layout", one.layout);
      row.emplace_back("fields", one.fields);
    }
    const auto counts = counts_of(one);
    for (const auto& [name, count] : counts.items())
      row.emplace_back(name, csv_count(count));
    const auto line = [&row](auto part) {
      std::string text;
      for (const auto& field : row)
        text += (text.empty() ? "" : ",") + csv_field(field.*part);
      return text;
    };
    using Field = std::pair<std::string, std::string>;
    if (header) fmt::print("{}\r\n", line(&Field::first));
    header = false;
    fmt::print("{}\r\n", line(&Field::second));
  }
}

void print_json(const Model& model) {
  using Json = nlohmann::ordered_json;
  Json document{{"schema_version", 1}};
  if (model.pattern) {
    document["pattern"] = {{"width", model.pattern->width},
                           {"stride", model.pattern->stride},
                           {"offset", model.pattern->offset},
                           {"permutation", model.pattern->permutation}};
  }
  document["generations"] = Json::array();
  document["predictions"] = Json::array();
  std::optional<Generation> last;
  for (const auto& one : model.predictions) {
    if (one.generation.generation != last) {
      last = one.generation.generation;
      document["generations"].push_back({{"generation", one.generation.name},
                                         {"chips", one.generation.chips},
                                         {"rule", one.generation.rule},
                                         {"source", one.generation.source}});
    }
    Json line{{"generation", one.generation.name}};
    if (!model.pattern) {
      line["layout"] = one.layout;
      line["fields"] = one.fields;
    }
    line.update(counts_of(one));
    document["predictions"].push_back(std::move(line));
  }
  fmt::print("{}\n", document.dump(2));
}

}  // namespace

int model_command(const ModelOptions& options) {
  const Model model = model_of(options);
  if (options.format == "csv") {
    print_csv(model);
  } else if (options.format == "json") {
    print_json(model);
  } else {
    print_table(model);
    print_rules(model);
  }
  return 0;
}

}  // namespace strata
