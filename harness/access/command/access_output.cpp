#include "harness/access/command/access_output.hpp"

#include "harness/base/text.hpp"
#include "harness/record/measurements_csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace strata::access {

using Json = nlohmann::ordered_json;
using ptx::Space;

std::string_view name_of(Space space) {
  switch (space) {
    case Space::generic:
      return "generic";
    case Space::global:
      return "global";
    case Space::shared:
      return "shared";
    case Space::local:
      return "local";
    case Space::constant:
      return "constant";
    case Space::param:
      return "param";
    case Space::texture:
      return "texture";
  }
  return "";
}

std::string_view name_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::load:
      return "load";
    case AccessKind::store:
      return "store";
    case AccessKind::atomic:
      return "atomic";
    case AccessKind::reduction:
      return "reduction";
    case AccessKind::copy:
      return "copy";
    case AccessKind::matrix:
      return "matrix";
  }
  return "";
}

std::string_view unit_of(Space space) {
  return space == Space::shared ? "wavefronts" : "sectors";
}

std::string_view method_of(const Access& access) {
  return access.is_exact() ? "exact" : "not exact";
}

std::size_t newest_of(const Report& report) {
  return static_cast<std::size_t>(std::ranges::find(report.generations, Generation::cc7) -
                                  report.generations.begin());
}

namespace {

Json json_or_null(std::string_view text) {
  return text.empty() ? Json{} : Json(one_line(text));
}

Json place_json(const Place& place) {
  return {{"file", one_line(place.file)},
          {"line", place.line},
          {"column", place.column == 0 ? Json{} : Json(place.column)},
          {"function", json_or_null(place.function)}};
}

Json proof_json(const AccessProof& proof) {
  if (!proof.parts) return nullptr;
  return {{"unit", unit_of(proof.space)},
          {"least", proof.parts->least},
          {"most", proof.parts->most},
          {"ideal", proof.ideal},
          {"lanes", proof.lanes},
          {"depends_on", proof.depends_on},
          {"conditions", proof.conditions},
          {"lane_guards", proof.lane_guards},
          {"assumptions", proof.assumptions}};
}

Json usual_json(const AccessProof& proof) {
  if (!proof.usual) return nullptr;
  return {{"verdict", access::name_of(*proof.usual)}, {"where", proof.usual_where}};
}

Json counts_json(const CountedAccess& counted) {
  return {{"executed", counted.executed},
          {"sectors", counted.sectors},
          {"tags", counted.tags},
          {"wavefronts", counted.wavefronts},
          {"local_sectors", counted.local_sectors}};
}

Json launch_json(const ReportedLaunch& launch) {
  return {{"launch", one_line(launch.file)},
          {"blocks", launch.grid.count()},
          {"blocks_run", launch.blocks_run},
          {"not_counted", json_or_null(launch.not_counted)},
          {"optimised", launch.optimised ? counts_json(*launch.optimised) : Json{}}};
}

Json exact_json(const Report& report, const KernelReport& kernel, const ExactTraffic& exact) {
  const Access& access = exact.access;
  Json made{{"launch", one_line(kernel.launches[exact.launch].file)},
            {"space", name_of(access.space)},
            {"is_exact", access.is_exact()},
            {"doubt", access.is_exact() ? Json{} : Json(describe(access.doubt))},
            {"doubtful", access.doubtful},
            {"hidden_by", json_or_null(exact.hidden_by)},
            {"hidden_buffer", json_or_null(exact.hidden_buffer)},
            {"least_moved", access.range.least},
            {"most_moved", access.range.most},
            {"not_covered_by_proof", json_or_null(exact.not_covered)},
            {"warps", access.warps},
            {"lanes", access.lanes}};
  if (access.space == Space::shared) {
    made["wavefronts"] = access.wavefronts;
    made["ideal_wavefronts"] = access.ideal_wavefronts;
  }
  if (!access.traffic.empty()) {
    made["ideal_sectors"] = access.ideal_sectors;
    made["contiguous_sectors"] = access.contiguous_sectors;
    made["traffic"] = Json::array();
    for (std::size_t g = 0; g < access.traffic.size(); ++g) {
      const Traffic& traffic = access.traffic[g];
      made["traffic"].push_back({{"generation", info_of(report.generations[g]).name},
                                 {"requests", traffic.requests},
                                 {"transactions", traffic.transactions},
                                 {"sectors", traffic.sectors},
                                 {"lines", traffic.lines},
                                 {"bytes_moved", traffic.bytes_moved},
                                 {"bytes_used", traffic.bytes_used}});
    }
  }
  if (exact.counted) {
    made["counted"] = counts_json(*exact.counted);
    made["counted"]["as_predicted"] = exact.is_as_predicted(newest_of(report));
  } else if (!exact.not_counted.empty()) {
    made["not_counted"] = one_line(exact.not_counted);
  }
  if (exact.machine) {
    made["machine_code"] = {{"instruction", exact.machine->opcode},
                            {"requests", exact.machine->requests},
                            {"moved", exact.machine->moved}};
  }
  made["is_merged"] = exact.is_merged;
  made["moved_over_ideal"] = access.moved_over_ideal();
  made["outside"] = access.outside;
  if (access.outside > 0) made["first_outside"] = fmt::format("{:#x}", access.first_outside);
  return made;
}

Json row_json(const Report& report, const KernelReport& kernel, const ReportRow& one) {
  const AccessProof& proof = one.row.proof;
  Json inlined = Json::array();
  for (std::size_t p = 1; p < one.row.places.size(); ++p)
    inlined.push_back(place_json(one.row.places[p]));
  Json steps = Json::array();
  for (const IndexStep& step : proof.steps) {
    steps.push_back({{"index", step.index},
                     {"bytes", step.bytes ? Json(*step.bytes) : Json{}},
                     {"text", step.text}});
  }
  Json exact = Json::array();
  for (const ExactTraffic& traffic : one.exact)
    exact.push_back(exact_json(report, kernel, traffic));
  const auto moved = one.moved_over_ideal();
  return {{"source", one.row.places.empty() ? Json{} : place_json(one.row.places.front())},
          {"inlined_into", std::move(inlined)},
          {"ptx_line", one.row.ptx_line},
          {"instruction", one.row.opcode},
          {"kind", name_of(proof.kind)},
          {"space", name_of(proof.space)},
          {"bytes_of_lane", proof.width == 0 ? Json{} : Json(proof.width)},
          {"verdict", access::name_of(proof.verdict)},
          {"reason", json_or_null(proof.reason)},
          {"address", json_or_null(proof.address)},
          {"steps", std::move(steps)},
          {"proved", proof_json(proof)},
          {"usual", usual_json(proof)},
          {"exact", std::move(exact)},
          {"moved_over_ideal", moved ? Json(*moved) : Json{}},
          {"remedy", json_or_null(proof.remedy)}};
}

}  // namespace

std::string doubt_text(const ExactTraffic& exact) {
  std::string text{describe(exact.access.doubt)};
  if (exact.access.doubtful > 0) {
    text += fmt::format(" in {} execution{}", exact.access.doubtful,
                        exact.access.doubtful == 1 ? "" : "s");
  }
  if (!exact.hidden_by.empty()) text += ": " + exact.hidden_by;
  if (!exact.hidden_buffer.empty())
    text += fmt::format("; the launch file does not give the content of {}", exact.hidden_buffer);
  return text;
}

std::string steps_text(const AccessProof& proof) {
  std::string text;
  for (const IndexStep& step : proof.steps)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", step.index, step.text);
  return text;
}

namespace {

/// "particle.cuh:12 ← main.cu:40 ← 9": the innermost first.
std::string places_text(const std::vector<Place>& places) {
  std::string text;
  std::string_view last;
  for (const Place& place : places) {
    if (!text.empty()) text += " ← ";
    if (text.empty() || place.file != last) {
      text += std::filesystem::path{place.file}.filename().string() + ':';
    }
    text += std::to_string(place.line);
    last = place.file;
  }
  return one_line(text);
}

// ---- CSV ----

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const auto& field : fields)
    line += (line.empty() && &field == fields.data() ? "" : ",") + csv_field(field);
  return line + "\r\n";
}

std::string list_text(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, "; "));
}

/// The columns of a row besides the instruction.
struct CsvNumbers {
  std::string method;
  Space space = Space::generic;
  std::string reason = {};
  std::string launch = {};
  std::string generation = {};
  std::string requests = {};
  std::string least = {};
  std::string most = {};
  std::string ideal = {};
  std::string ratio = {};
};

/// Fills in the numbers of `requests` requests.
CsvNumbers numbered(CsvNumbers row, std::uint64_t requests, const Span& moved,
                    std::uint64_t ideal) {
  row.requests = std::to_string(requests);
  row.least = std::to_string(moved.least);
  row.most = std::to_string(moved.most);
  row.ideal = std::to_string(ideal);
  if (ideal != 0) {
    row.ratio = shortest(static_cast<double>(moved.least) / static_cast<double>(ideal));
  }
  return row;
}

CsvNumbers csv_of_proof(const AccessProof& proof) {
  CsvNumbers row{.method = "unknown", .space = proof.space, .reason = proof.reason};
  if (!proof.parts) return row;
  row.method = "proved";
  row.generation = info_of(Generation::cc7).name;
  return numbered(row, 1, *proof.parts, proof.ideal);
}

/// One row for shared memory, one per generation for other spaces; a single row without numbers if
/// there are none.
std::vector<CsvNumbers> csv_of_launch(const Report& report, const KernelReport& kernel,
                                      const ExactTraffic& exact) {
  const Access& access = exact.access;
  CsvNumbers row{.method = std::string{method_of(access)},
                 .space = access.space,
                 .reason = access.is_exact() ? "" : doubt_text(exact),
                 .launch = one_line(kernel.launches[exact.launch].file)};
  std::vector<CsvNumbers> rows;
  if (access.space == Space::shared) {
    rows.push_back(numbered(row, access.warps, {access.wavefronts, access.wavefronts},
                            access.ideal_wavefronts));
  }
  for (std::size_t g = 0; g < access.traffic.size(); ++g) {
    const Traffic& traffic = access.traffic[g];
    row.generation = info_of(report.generations[g]).name;
    rows.push_back(
        numbered(row, traffic.requests, {traffic.sectors, traffic.sectors}, access.ideal_sectors));
  }
  if (rows.empty()) rows.push_back(row);
  if (exact.counted) {
    const std::uint64_t moved = *exact.moved();
    row.method = "counted";
    row.reason = exact.is_as_predicted(newest_of(report)) ? "as predicted" : "differs";
    row.generation = info_of(Generation::cc7).name;
    rows.push_back(numbered(row, exact.counted->executed, {moved, moved}, 0));
  }
  return rows;
}

std::string csv_row(const KernelReport& kernel, const Row& row, const CsvNumbers& numbers) {
  const AccessProof& proof = row.proof;
  const bool has_place = !row.places.empty();
  const Place place = has_place ? row.places.front() : Place{};
  const std::vector<Place> outer{row.places.begin() + (has_place ? 1 : 0), row.places.end()};
  return csv_line({one_line(kernel.input),
                   kernel.name,
                   one_line(kernel.symbol),
                   one_line(place.file),
                   has_place ? std::to_string(place.line) : "",
                   place.column == 0 ? "" : std::to_string(place.column),
                   places_text(outer),
                   std::to_string(row.ptx_line),
                   row.opcode,
                   std::string{name_of(proof.kind)},
                   std::string{name_of(numbers.space)},
                   proof.width == 0 ? "" : std::to_string(proof.width),
                   numbers.method,
                   numbers.launch,
                   numbers.generation,
                   numbers.requests,
                   numbers.least.empty() ? "" : std::string{unit_of(numbers.space)},
                   numbers.least,
                   numbers.most,
                   numbers.ideal,
                   numbers.ratio,
                   std::string{access::name_of(proof.verdict)},
                   one_line(numbers.reason),
                   proof.address,
                   steps_text(proof),
                   list_text(proof.conditions),
                   list_text(proof.assumptions),
                   proof.remedy});
}

// ---- SARIF ----

/// A URI reference of a path (RFC 3986).
std::string uri_of(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view{"/-._~"}.find(c) != std::string_view::npos;
    if (is_plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", byte);
    }
  }
  return uri;
}

struct Rule {
  std::string_view id;
  std::string_view level;
  std::string_view text;
};
constexpr std::array rules{
    Rule{"uncoalesced", "warning",
         "An access to global memory moves more sectors than its bytes need."},
    Rule{"bank-conflict", "warning",
         "An access to shared memory needs more wavefronts than its bytes do."},
    Rule{"outside", "error", "An access is outside the buffers of its launch."},
    Rule{"unknown-address", "note",
         "The address cannot be followed, so nothing is known about this access."}};

Json location_json(std::string_view file, std::uint32_t line, std::uint32_t column,
                   std::string_view message = {}) {
  Json region{{"startLine", std::max(line, 1U)}};
  if (column > 0) region["startColumn"] = column;
  Json location{{"physicalLocation",
                 {{"artifactLocation", {{"uri", uri_of(file)}}}, {"region", std::move(region)}}}};
  if (!message.empty()) location["message"] = {{"text", message}};
  return location;
}

/// The rule that a row breaks, and the message; nothing if it breaks none.
std::optional<std::pair<std::size_t, std::string>> finding_of(const Report& report,
                                                              const ReportRow& one) {
  const AccessProof& proof = one.row.proof;
  const auto found = [](std::size_t rule, std::string text) {
    return std::optional{std::pair{rule, std::move(text)}};
  };
  for (const auto& exact : one.exact) {
    if (exact.access.outside == 0) continue;
    return found(2, fmt::format("{}: {} lane accesses outside the buffers, the first at {:#x}",
                                one.row.opcode, exact.access.outside, exact.access.first_outside));
  }
  const bool is_shared = proof.space == Space::shared;
  if (const auto moved = one.moved_over_ideal(); moved && *moved > report.most) {
    std::string text = fmt::format("{} moves {:.2f} times the {} that its bytes need",
                                   one.row.opcode, *moved, unit_of(proof.space));
    if (!proof.steps.empty()) text += "; a step adds " + steps_text(proof);
    if (!proof.remedy.empty()) text += "; " + proof.remedy;
    return found(is_shared ? 1 : 0, std::move(text));
  }
  const bool is_known = std::ranges::any_of(
      one.exact, [](const ExactTraffic& exact) { return exact.access.is_exact(); });
  if (proof.verdict == Verdict::unknown && !is_known) {
    return found(3, fmt::format("{}: {}", one.row.opcode, proof.reason));
  }
  return std::nullopt;
}

/// The premise of a proof that a launch breaks; empty if it breaks none.
std::string broken_premise(const AccessProof& proof, const Launch& launch) {
  if (!proof.parts) return {};
  if (std::ranges::count(proof.assumptions, even_blocks) > 0 && launch.block.x % warp_lanes != 0) {
    return fmt::format("{}, and here it is {}", even_blocks, launch.block.x);
  }
  if (!proof.aligned_parameter || *proof.aligned_parameter + 8 > launch.params.size()) return {};
  std::uint64_t pointer = 0;
  std::memcpy(&pointer, launch.params.data() + *proof.aligned_parameter, sizeof pointer);
  if (pointer % pointer_alignment == 0) return {};
  return fmt::format("a pointer is a multiple of {}, and here it is {} more", pointer_alignment,
                     pointer % pointer_alignment);
}

}  // namespace

std::optional<std::uint64_t> ExactTraffic::predicted(std::size_t generation) const {
  return predicted_in(access, generation);
}

std::optional<std::uint64_t> ExactTraffic::moved() const {
  return counted ? std::optional{moved_in(access.space, *counted)} : std::nullopt;
}

bool ExactTraffic::is_as_predicted(std::size_t generation) const {
  return counted && predicted(generation) == moved();
}

std::optional<double> ReportRow::moved_over_ideal() const {
  std::optional<double> most;
  for (const auto& one : exact) {
    if (one.access.is_exact() && one.access.warps > 0) {
      most = std::max(most.value_or(0), one.access.moved_over_ideal());
    }
  }
  if (most) return most;
  if (!row.proof.parts || row.proof.ideal == 0) return std::nullopt;
  return static_cast<double>(row.proof.parts->least) / static_cast<double>(row.proof.ideal);
}

void add_launch(KernelReport& kernel, const ptx::Kernel& code, const Launch& launch,
                ReportedLaunch reported, const Evaluation& evaluation,
                const CountedLaunch* counted) {
  const std::size_t place = kernel.launches.size();
  reported.grid = launch.grid;
  reported.block = launch.block;
  reported.blocks_run = evaluation.blocks_run;
  kernel.launches.push_back(std::move(reported));
  for (const Access& access : evaluation.accesses) {
    const auto of_instruction = [&](const ReportRow& one) {
      return one.row.proof.instruction == access.instruction;
    };
    const auto of_space = [&](const ReportRow& one) {
      return of_instruction(one) && one.row.proof.space == access.space;
    };
    auto found = std::ranges::find_if(kernel.rows, of_space);
    if (found == kernel.rows.end()) found = std::ranges::find_if(kernel.rows, of_instruction);
    if (found == kernel.rows.end()) continue;
    found->exact.push_back({.launch = place,
                            .access = access,
                            .hidden_by = access.hidden_by == ptx::no_index
                                             ? std::string{}
                                             : describe_hidden(code, access.hidden_by),
                            .hidden_buffer = access.hidden_buffer < launch.buffers.size()
                                                 ? launch.buffers[access.hidden_buffer].name
                                                 : std::string{},
                            .not_covered = broken_premise(found->row.proof, launch)});
    if (counted == nullptr) continue;
    // Accesses that moved nothing are not reported: no warp reached them, or no lane took part.
    if (const auto why = counted->not_counted.find(access.instruction);
        why != counted->not_counted.end()) {
      found->exact.back().not_counted = why->second;
      continue;
    }
    found->exact.back().counted = counted->of(access.instruction);
  }
}

void add_merged(KernelReport& kernel, const ptx::Module& module, const Launch& launch,
                const std::vector<MergedAccess>& merged, const EvaluateOptions& options) {
  if (merged.empty()) return;
  const ptx::Module machine =
      ptx::read(merged_ptx(module, module.kernels[launch.kernel], merged), kernel.input);
  EvaluateOptions newest = options;
  newest.generations = {Generation::cc7};
  const Evaluation evaluation = evaluate(machine, launch, newest);
  const auto& code = machine.kernels[launch.kernel].instructions;
  for (const MergedAccess& one : merged) {
    const auto access = std::ranges::find(
        evaluation.accesses, one.line, [&](const Access& of) { return code[of.instruction].line; });
    if (access == evaluation.accesses.end() || !access->is_exact()) continue;
    const bool is_shared = access->space == Space::shared;
    if (!is_shared && access->traffic.empty()) continue;
    MachineTraffic traffic{.opcode = one.opcode,
                           .requests = is_shared ? access->warps : access->traffic[0].requests,
                           .moved = is_shared ? access->wavefronts : access->traffic[0].sectors};
    for (ReportRow& row : kernel.rows) {
      if (std::ranges::count(one.instructions, row.row.proof.instruction) == 0) continue;
      for (ExactTraffic& exact : row.exact) {
        if (exact.launch + 1 != kernel.launches.size()) continue;
        exact.is_merged = true;
        if (row.row.proof.instruction == one.instructions.front()) exact.machine = traffic;
      }
    }
  }
}

std::string csv_of(const Report& report) {
  std::string out = csv_line(
      {"input",      "kernel",     "symbol",           "file",     "line",   "column",
       "inlined",    "ptx_line",   "instruction",      "kind",     "space",  "bytes_of_lane",
       "method",     "launch",     "generation",       "requests", "unit",   "moved_least",
       "moved_most", "ideal",      "moved_over_ideal", "verdict",  "reason", "address",
       "steps",      "conditions", "assumptions",      "remedy"});
  for (const auto& kernel : report.kernels) {
    for (const auto& one : kernel.rows) {
      out += csv_row(kernel, one.row, csv_of_proof(one.row.proof));
      for (const auto& exact : one.exact) {
        for (const auto& numbers : csv_of_launch(report, kernel, exact))
          out += csv_row(kernel, one.row, numbers);
      }
    }
  }
  return out;
}

std::string json_of(const Report& report) {
  Json document{{"schema_version", 1}, {"generations", Json::array()}, {"kernels", Json::array()}};
  for (const Generation generation : report.generations) {
    const GenerationInfo& info = info_of(generation);
    document["generations"].push_back(
        {{"generation", info.name}, {"rule", info.rule}, {"source", info.source}});
  }
  for (const auto& kernel : report.kernels) {
    Json accesses = Json::array();
    for (const auto& one : kernel.rows)
      accesses.push_back(row_json(report, kernel, one));
    Json launches = Json::array();
    for (const auto& launch : kernel.launches)
      launches.push_back(launch_json(launch));
    document["kernels"].push_back({{"input", one_line(kernel.input)},
                                   {"target", kernel.target},
                                   {"name", kernel.name},
                                   {"symbol", one_line(kernel.symbol)},
                                   {"launches", std::move(launches)},
                                   {"accesses", std::move(accesses)}});
  }
  return document.dump(2) + '\n';
}

std::string sarif_of(const Report& report, std::string_view version) {
  Json known = Json::array();
  for (const Rule& rule : rules) {
    known.push_back({{"id", rule.id},
                     {"shortDescription", {{"text", rule.text}}},
                     {"defaultConfiguration", {{"level", rule.level}}}});
  }
  Json results = Json::array();
  std::set<std::string> seen;  // copies of an unrolled loop, and instances of a template
  for (const auto& kernel : report.kernels) {
    for (const auto& one : kernel.rows) {
      const auto finding = finding_of(report, one);
      if (!finding) continue;
      const Rule& rule = rules.at(finding->first);
      const auto& places = one.row.places;
      Json related = Json::array();
      for (std::size_t p = 1; p < places.size(); ++p) {
        related.push_back(
            location_json(places[p].file, places[p].line, places[p].column, "inlined here"));
      }
      Json result{{"ruleId", rule.id},
                  {"ruleIndex", finding->first},
                  {"level", rule.level},
                  {"message", {{"text", one_line(finding->second)}}},
                  {"locations",
                   Json::array({places.empty() ? location_json(kernel.input, one.row.ptx_line, 0)
                                               : location_json(places[0].file, places[0].line,
                                                               places[0].column)})}};
      if (!related.empty()) result["relatedLocations"] = std::move(related);
      if (!seen.insert(result.dump()).second) continue;
      result["properties"] = {{"kernel", kernel.name}};
      results.push_back(std::move(result));
    }
  }
  const Json document{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs",
       Json::array(
           {{{"tool", {{"driver", {{"name", "strata"}, {"version", version}, {"rules", known}}}}},
             {"columnKind", "utf16CodeUnits"},
             {"results", results}}})}};
  return document.dump(2) + '\n';
}

}  // namespace strata::access
