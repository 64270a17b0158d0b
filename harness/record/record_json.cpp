// Every place where the harness writes or reads JSON: samples.jsonl, context.json and the words
// between parent and worker.
#include "harness/record/record_json.hpp"

#include "harness/case/text.hpp"
#include "harness/record/run_folder.hpp"
#include "harness/run/worker_channel.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <set>
#include <utility>

namespace strata {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of results/schema/README.md

// --- writing
// --------------------------------------------------------------------------------------

std::string text_of(const Json& value) {
  constexpr int one_line = -1;
  return value.dump(one_line, ' ', false, Json::error_handler_t::replace);
}

double finite(double number, std::string_view where) {
  // JSON has no NaN or infinity, and the library would quietly write null.
  if (!std::isfinite(number)) {
    throw FormatError{fmt::format("{} is {}, not a finite number", where, number)};
  }
  return number;
}

Json json_of(const Facts& facts) {
  Json object = Json::object();
  for (const auto& [name, fact] : facts) {
    std::visit(
        [&, &key = name](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
            object[key] = finite(value, "fact " + key);
          } else {
            object[key] = value;
          }
        },
        fact);
  }
  return object;
}

Json json_of(const Plan& plan) {
  return {{"warmups", plan.warmups},
          {"min_samples", plan.min_samples},
          {"max_samples", plan.max_samples},
          {"relative_half_width", finite(plan.relative_half_width, "plan.relative_half_width")},
          {"seconds_per_case", finite(plan.seconds_per_case, "plan.seconds_per_case")},
          {"time_limit", finite(plan.time_limit, "plan.time_limit")}};
}

void add_case(Json& object, const Case& which) {
  object["suite"] = which.suite;
  object["benchmark"] = which.benchmark;
  object["backend"] = to_string(which.backend);
  Json params = Json::object();
  for (const auto& [name, value] : which.params)
    params[name] = value;
  object["params"] = std::move(params);
}

Json json_of(const Case& which) {
  Json object = Json::object();
  add_case(object, which);
  return object;
}

Json json_of(const Measurement& m) {
  Json samples = Json::array();
  for (const double sample : m.samples) {
    samples.push_back(
        finite(sample, fmt::format("sample {} of {}", samples.size() + 1, m.quantity)));
  }
  return {{"quantity", m.quantity},
          {"unit", m.unit},
          {"provenance", to_string(m.provenance)},
          {"method", m.method},
          {"samples", std::move(samples)},
          {"noise", {{"verdict", to_string(m.noise.verdict)}, {"detail", m.noise.detail}}}};
}

/// What the format asks of a record beyond the types of its keys; the same in both directions.
void check(const CaseRecord& record) {
  if (record.status != Status::measured) {
    if (!record.measurements.empty()) {
      throw FormatError{
          fmt::format("measurements of a case that was {}", to_string(record.status))};
    }
    if (record.reason.empty()) {
      throw FormatError{
          fmt::format("a case that was {} without a reason", to_string(record.status))};
    }
  }
  std::set<std::pair<std::string, std::string>> rows;
  for (const auto& m : record.measurements) {
    for (const auto& name : {m.quantity, m.method}) {
      if (!is_row_name(name)) {
        throw FormatError{fmt::format("{} {}", in_quotes(name), row_names_are)};
      }
    }
    if (m.samples.empty()) throw FormatError{fmt::format("{} has no samples", m.quantity)};
    const bool countable =
        m.provenance == Provenance::counted || m.provenance == Provenance::modelled;
    if (record.phase == Phase::counting && !countable) {
      throw FormatError{fmt::format("{} is {}, among counts", m.quantity, to_string(m.provenance))};
    }
    if (!rows.emplace(m.quantity, m.method).second) {
      throw FormatError{fmt::format("{} by {} twice in one case", m.quantity, m.method)};
    }
  }
}

constexpr std::string_view timed_kind = "case";
constexpr std::string_view counted_kind = "counts";

Json json_of(const CaseRecord& record) {
  check(record);
  Json object{{"schema_version", schema_version},
              {"kind", record.phase == Phase::counting ? counted_kind : timed_kind},
              {"case", record.which.id()}};
  add_case(object, record.which);
  object["status"] = to_string(record.status);
  object["reason"] = record.reason;
  object["started"] = record.started;
  object["seconds"] = finite(record.seconds, "seconds");
  object["facts"] = json_of(record.facts);
  Json gates = Json::array();
  for (const auto& gate : record.gates) {
    gates.push_back(
        {{"gate", gate.name}, {"verdict", to_string(gate.verdict)}, {"detail", gate.detail}});
  }
  object["gates"] = std::move(gates);
  Json measurements = Json::array();
  for (const auto& m : record.measurements)
    measurements.push_back(json_of(m));
  object["measurements"] = std::move(measurements);
  return object;
}

Json json_of(const HostInfo& host) {
  Json object{{"cpu", host.cpu},
              {"cores", host.cores},
              {"os", host.os},
              {"kernel", host.kernel},
              {"memory_bytes", host.memory_bytes}};
  Json caches = Json::array();
  for (const auto& cache : host.caches) {
    caches.push_back({{"level", cache.level},
                      {"type", cache.kind},
                      {"bytes", cache.bytes},
                      {"line_bytes", cache.line_bytes},
                      {"shared_by", cache.shared_by}});
  }
  object["caches"] = std::move(caches);
  object.update(json_of(host.more));
  return object;
}

Json json_of(const DeviceIdentity& device) {
  Json object{{"slug", device.slug}, {"name", device.name}, {"uuid", nullptr}};
  if (!device.uuid.empty()) object["uuid"] = device.uuid;
  for (const auto& key : {"slug", "name", "uuid"}) {
    if (device.facts.contains(key)) {
      throw FormatError{fmt::format("a device fact may not be called {}", key)};
    }
  }
  object.update(json_of(device.facts));
  return object;
}

/// `additive` is not written: it is for those who count, and they have the plan itself.
Json json_of(const CounterPlan& plan) {
  Json quantities = Json::array();
  for (const auto& q : plan.quantities) {
    quantities.push_back({{"name", q.name},
                          {"metric", q.metric},
                          {"unit", q.unit},
                          {"meaning", q.meaning},
                          {"set", q.set}});
  }
  return {{"chip", plan.chip},
          {"sets", plan.sets},
          {"passes", plan.passes},
          {"quantities", std::move(quantities)},
          {"absent", plan.absent}};
}

Json json_of(const CountersInfo& counters) {
  Json object{{"asked", counters.asked},
              {"state", to_string(counters.state)},
              {"reason", counters.reason},
              {"mend", counters.mend}};
  object.update(json_of(counters.plan));
  object["counting_seconds"] = finite(counters.counting_seconds, "counters.counting_seconds");
  object["timing_seconds"] = finite(counters.timing_seconds, "counters.timing_seconds");
  return object;
}

Json json_of(const CountersAnswer& answer) {
  if (answer.plan) return {{"plan", json_of(*answer.plan)}};
  return {
      {"reason", answer.reason}, {"mend", answer.mend}, {"bad_selection", answer.bad_selection}};
}

// --- reading
// --------------------------------------------------------------------------------------

constexpr std::size_t longest_complaint = 200;

Json parsed(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw FormatError{fmt::format("not JSON: {:.{}}", error.what(), longest_complaint)};
  }
}

[[noreturn]] void refuse_json(const std::string& where, std::string_view expected,
                              const Json& found) {
  throw FormatError{fmt::format("{}: expected {}, found {:.{}}", where, expected, text_of(found),
                                longest_complaint)};
}

/// An object whose keys must be there and of the right type; whatever else it has is ignored.
class Fields {
 public:
  Fields(const Json& object, std::string where) : object_{object}, where_{std::move(where)} {
    if (!object_.is_object()) refuse_json(where_.empty() ? "text" : where_, "an object", object_);
  }

  [[nodiscard]] bool has(const std::string& key) const {
    return object_.contains(key) && !object_.at(key).is_null();
  }
  [[nodiscard]] std::string place(const std::string& key) const {
    return where_.empty() ? key : where_ + "." + key;
  }
  [[nodiscard]] const Json& at(const std::string& key) const {
    if (!object_.contains(key)) throw FormatError{fmt::format("key '{}' is missing", place(key))};
    return object_.at(key);
  }
  [[nodiscard]] Fields object(const std::string& key) const { return {at(key), place(key)}; }
  [[nodiscard]] const Json& array(const std::string& key) const {
    const Json& value = at(key);
    if (!value.is_array()) refuse_json(place(key), "a list", value);
    return value;
  }
  [[nodiscard]] std::string text(const std::string& key) const {
    const Json& value = at(key);
    if (!value.is_string()) refuse_json(place(key), "a string", value);
    return value.get<std::string>();
  }
  /// Empty when absent or null.
  [[nodiscard]] std::string text_or_none(const std::string& key) const {
    return has(key) ? text(key) : std::string{};
  }
  [[nodiscard]] bool flag(const std::string& key) const {
    const Json& value = at(key);
    if (!value.is_boolean()) refuse_json(place(key), "true or false", value);
    return value.get<bool>();
  }
  [[nodiscard]] double number(const std::string& key) const {
    const Json& value = at(key);
    if (!value.is_number()) refuse_json(place(key), "a number", value);
    return value.get<double>();
  }
  template <class Integer>
  [[nodiscard]] Integer integer(const std::string& key) const {
    const Json& value = at(key);
    const bool fits =
        value.is_number_integer() &&
        (value.is_number_unsigned() ? std::in_range<Integer>(value.get<std::uint64_t>())
                                    : std::in_range<Integer>(value.get<std::int64_t>()));
    if (!fits) refuse_json(place(key), "a whole number in range", value);
    return value.get<Integer>();
  }
  /// One of the words that `from` knows.
  template <class From>
  [[nodiscard]] auto word(const std::string& key, From&& from, std::string_view expected) const {
    const auto value = from(text(key));
    if (!value) refuse_json(place(key), expected, at(key));
    return *value;
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& key) const {
    std::vector<std::string> result;
    for (const auto& value : array(key)) {
      if (!value.is_string()) refuse_json(place(key), "strings", value);
      result.push_back(value.get<std::string>());
    }
    return result;
  }
  /// Every key but these, as facts.
  [[nodiscard]] Facts facts(std::initializer_list<std::string_view> but = {}) const {
    Facts result;
    for (const auto& [key, value] : object_.items()) {
      if (std::ranges::find(but, key) != but.end()) continue;
      result[key] = fact(value, place(key));
    }
    return result;
  }
  [[nodiscard]] Facts facts_at(const std::string& key) const {
    return has(key) ? object(key).facts() : Facts{};
  }

 private:
  static Fact fact(const Json& value, const std::string& where) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return value.get<double>();
    if (value.is_number_integer() &&
        !(value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>()))) {
      return value.get<std::int64_t>();
    }
    refuse_json(where, "true, false, a number or a string", value);
  }

  const Json& object_;
  std::string where_;
};

void check_context_version(const Fields& fields) {
  const int version = fields.integer<int>("schema_version");
  if (version != schema_version) {
    throw FormatError{fmt::format("schema version {}: this build completes runs of version {} only",
                                  version, schema_version)};
  }
}

/// Throws FormatError for a version that is not known, and for a kind that it does not have.
Phase phase_of(const Fields& fields) {
  const int version = fields.integer<int>("schema_version");
  if (version < oldest_record_version || version > schema_version) {
    throw FormatError{fmt::format("schema version {}: this build reads versions {} to {}", version,
                                  oldest_record_version, schema_version)};
  }
  const std::string kind = fields.text("kind");
  if (kind == timed_kind) return Phase::timing;
  constexpr int first_with_counts = 2;
  if (version < first_with_counts) refuse_json(fields.place("kind"), "case", fields.at("kind"));
  if (kind != counted_kind) refuse_json(fields.place("kind"), "case or counts", fields.at("kind"));
  return Phase::counting;
}

Plan plan_of(const Fields& fields) {
  Plan plan;
  const auto integer = [&](const std::string& key, int& value) {
    if (fields.has(key)) value = fields.integer<int>(key);
  };
  const auto number = [&](const std::string& key, double& value) {
    if (fields.has(key)) value = fields.number(key);
  };
  integer("warmups", plan.warmups);
  integer("min_samples", plan.min_samples);
  integer("max_samples", plan.max_samples);
  number("relative_half_width", plan.relative_half_width);
  number("seconds_per_case", plan.seconds_per_case);
  number("time_limit", plan.time_limit);
  return plan;
}

Case case_of(const Fields& fields) {
  const auto canonical = [](const std::string& text, const std::string& where) {
    if (!is_canonical_word(text)) {
      throw FormatError{fmt::format("{}: '{}' cannot stand in a case id", where, text)};
    }
    return text;
  };
  Case which;
  which.suite = canonical(fields.text("suite"), fields.place("suite"));
  which.benchmark = canonical(fields.text("benchmark"), fields.place("benchmark"));
  which.backend = fields.word("backend", backend_from, "cuda or host");
  const Fields params = fields.object("params");
  for (const auto& [name, value] : fields.at("params").items()) {
    which.params[canonical(name, "params")] = canonical(params.text(name), params.place(name));
  }
  return which;
}

Gate gate_of(const Fields& fields, std::string name) {
  return {std::move(name),
          fields.word("verdict", verdict_from, "passed, failed, unverified or not_applicable"),
          fields.text("detail")};
}

Measurement measurement_of(const Fields& fields) {
  Measurement m;
  m.quantity = fields.text("quantity");
  m.unit = fields.text("unit");
  m.provenance =
      fields.word("provenance", provenance_from, "timed, counted, modelled or published");
  m.method = fields.text("method");
  for (const auto& sample : fields.array("samples")) {
    if (!sample.is_number()) refuse_json(fields.place("samples"), "numbers", sample);
    m.samples.push_back(sample.get<double>());
  }
  m.noise = gate_of(fields.object("noise"), "noise");
  return m;
}

CaseRecord record_of(const Fields& fields) {
  CaseRecord record;
  record.phase = phase_of(fields);
  record.which = case_of(fields);
  if (const std::string id = record.which.id(); fields.text("case") != id) {
    refuse_json(fields.place("case"), id + " as its parameters say", fields.at("case"));
  }
  record.status = fields.word("status", status_from, "measured, skipped or failed");
  record.reason = fields.text("reason");
  record.started = fields.text("started");
  record.seconds = fields.number("seconds");
  record.facts = fields.facts_at("facts");
  // A case that was not measured need not list what it does not have.
  const auto each = [&](const std::string& key, auto&& take) {
    if (record.status != Status::measured && !fields.has(key)) return;
    std::size_t index = 0;
    for (const auto& item : fields.array(key)) {
      take(Fields{item, fmt::format("{}[{}]", fields.place(key), index++)});
    }
  };
  each("gates",
       [&](const Fields& gate) { record.gates.push_back(gate_of(gate, gate.text("gate"))); });
  each("measurements", [&](const Fields& m) { record.measurements.push_back(measurement_of(m)); });
  check(record);
  return record;
}

HostInfo host_of(const Fields& fields) {
  HostInfo host;
  host.cpu = fields.text("cpu");
  host.cores = fields.integer<int>("cores");
  host.os = fields.text("os");
  host.kernel = fields.text("kernel");
  host.memory_bytes = fields.integer<std::int64_t>("memory_bytes");
  for (const auto& item : fields.array("caches")) {
    const Fields cache{item, fields.place("caches")};
    host.caches.push_back(
        {.level = cache.integer<int>("level"),
         .kind = cache.text("type"),
         .bytes = cache.integer<std::int64_t>("bytes"),
         .line_bytes = cache.integer<std::int64_t>("line_bytes"),
         .shared_by = cache.has("shared_by") ? cache.integer<int>("shared_by") : 0});
  }
  host.more = fields.facts({"cpu", "cores", "os", "kernel", "memory_bytes", "caches"});
  return host;
}

DeviceIdentity device_of(const Fields& fields) {
  return {fields.text("slug"), fields.text("name"), fields.text_or_none("uuid"),
          fields.facts({"slug", "name", "uuid"})};
}

CounterPlan counter_plan_of(const Fields& fields) {
  CounterPlan plan{.chip = fields.text("chip"),
                   .sets = fields.texts("sets"),
                   .quantities = {},
                   .absent = fields.texts("absent"),
                   .passes = fields.integer<std::size_t>("passes")};
  for (const auto& item : fields.array("quantities")) {
    const Fields quantity{item, fields.place("quantities")};
    plan.quantities.push_back({.name = quantity.text("name"),
                               .metric = quantity.text("metric"),
                               .unit = quantity.text("unit"),
                               .meaning = quantity.text("meaning"),
                               .set = quantity.text("set")});
  }
  return plan;
}

std::optional<CountersInfo::State> counters_state_from(std::string_view text) {
  using State = CountersInfo::State;
  for (const auto state : {State::counted, State::not_asked, State::unavailable, State::external}) {
    if (to_string(state) == text) return state;
  }
  return std::nullopt;
}

CountersInfo counters_of(const Fields& fields) {
  return {.asked = fields.texts("asked"),
          .state = fields.word("state", counters_state_from,
                               "counted, not_asked, unavailable or external"),
          .reason = fields.text("reason"),
          .mend = fields.text("mend"),
          .plan = counter_plan_of(fields),
          .counting_seconds = fields.number("counting_seconds"),
          .timing_seconds = fields.number("timing_seconds")};
}

CountersAnswer counters_answer_of(const Fields& fields) {
  CountersAnswer answer;
  if (fields.has("plan")) {
    answer.plan = counter_plan_of(fields.object("plan"));
    return answer;
  }
  answer.reason = fields.text("reason");
  answer.mend = fields.text("mend");
  answer.bad_selection = fields.text("bad_selection");
  return answer;
}

std::optional<RunState> state_from(std::string_view text) {
  for (const auto state :
       {RunState::running, RunState::complete, RunState::interrupted, RunState::aborted}) {
    if (to_string(state) == text) return state;
  }
  return std::nullopt;
}

// The contract knows no empty commit: a tree that is no repository has an unknown one.
constexpr std::string_view unknown_commit = "unknown";

Json or_null(const std::string& text) {
  return text.empty() ? Json{} : Json(text);
}

}  // namespace

// --- records
// --------------------------------------------------------------------------------------

std::string to_json(const CaseRecord& record) {
  return text_of(json_of(record));
}

CaseRecord record_from_json(std::string_view line) {
  const Json json = parsed(line);
  return record_of({json, ""});
}

std::string to_json(const Facts& facts) {
  return text_of(json_of(facts));
}

Facts facts_from_json(std::string_view text) {
  const Json json = parsed(text);
  return Fields{json, ""}.facts();
}

std::string to_json(const Plan& plan) {
  return text_of(json_of(plan));
}

Plan plan_from_json(std::string_view text) {
  const Json json = parsed(text);
  return plan_of({json, ""});
}

std::string to_json(const Case& which) {
  return text_of(json_of(which));
}

Case case_from_json(std::string_view text) {
  const Json json = parsed(text);
  return case_of({json, ""});
}

std::optional<Case> case_from_id(std::string_view id) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= id.size();) {
    const std::size_t end = std::min(id.find('/', start), id.size());
    parts.emplace_back(id.substr(start, end - start));
    start = end + 1;
  }
  constexpr std::size_t fixed = 3;  // suite, benchmark, backend
  if (parts.size() < fixed) return std::nullopt;
  const auto backend = backend_from(parts[2]);
  if (!backend || !is_canonical_word(parts[0]) || !is_canonical_word(parts[1])) return std::nullopt;
  Case which{parts[0], parts[1], *backend, {}};
  for (std::size_t i = fixed; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos) return std::nullopt;
    const std::string name = parts[i].substr(0, equals);
    const std::string value = parts[i].substr(equals + 1);
    if (!is_canonical_word(name) || !is_canonical_word(value)) return std::nullopt;
    which.params[name] = value;
  }
  if (which.id() != id) return std::nullopt;  // unsorted or doubled: not how an id is written
  return which;
}

// --- the context of a run
// -------------------------------------------------------------------------

std::string to_json(const RunContext& context) {
  const BuildInfo& build = context.strata;
  Json object{{"schema_version", schema_version}, {"run", context.run}};
  object["strata"] = {{"version", build.version},
                      {"commit", build.commit.empty() ? unknown_commit : build.commit},
                      {"dirty", build.dirty},
                      {"source_digest", build.source_digest},
                      {"build_type", build.build_type},
                      {"compiler", build.compiler},
                      {"cuda_compiler", or_null(build.cuda_compiler)},
                      {"flags", build.flags},
                      {"cuda_architectures", or_null(build.cuda_architectures)}};
  object["started"] = context.started;
  object["finished"] = or_null(context.finished);
  if (!context.resumed.empty()) object["resumed"] = context.resumed;
  object["state"] = to_string(context.state);
  object["command"] = context.command;
  object["backend"] = to_string(context.backend);
  object["device"] = json_of(context.device);
  object["host"] = json_of(context.host);
  object["libraries"] = json_of(context.libraries);
  object["sweep"] = {{"name", context.sweep.name},
                     {"file", context.sweep.file},
                     {"digest", context.sweep.digest},
                     {"plan", json_of(context.sweep.plan)},
                     {"cases", context.sweep.cases}};
  object["counters"] = json_of(context.counters);
  object["clocks"] = {{"before", json_of(context.clocks_before)},
                      {"after", json_of(context.clocks_after)}};
  object["timer"] = json_of(context.timer);
  constexpr int indent = 2;  // people read it
  return object.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunContext context_from_json(std::string_view text) {
  const Json json = parsed(text);
  const Fields fields{json, ""};
  check_context_version(fields);
  RunContext context;
  context.run = fields.text("run");
  const Fields build = fields.object("strata");
  context.strata = {.version = build.text("version"),
                    .commit = build.text("commit"),
                    .dirty = build.flag("dirty"),
                    .source_digest = build.text("source_digest"),
                    .build_type = build.text("build_type"),
                    .compiler = build.text("compiler"),
                    .cuda_compiler = build.text_or_none("cuda_compiler"),
                    .flags = build.text("flags"),
                    .cuda_architectures = build.text_or_none("cuda_architectures")};
  if (context.strata.commit == unknown_commit) context.strata.commit.clear();
  context.started = fields.text("started");
  context.finished = fields.text_or_none("finished");
  if (fields.has("resumed")) context.resumed = fields.texts("resumed");
  context.state = fields.word("state", state_from, "running, complete, interrupted or aborted");
  context.command = fields.texts("command");
  context.backend = fields.word("backend", backend_from, "cuda or host");
  context.device = device_of(fields.object("device"));
  context.host = host_of(fields.object("host"));
  context.libraries = fields.facts_at("libraries");
  const Fields sweep = fields.object("sweep");
  context.sweep = {.name = sweep.text("name"),
                   .file = sweep.text("file"),
                   .digest = sweep.text("digest"),
                   .plan = plan_of(sweep.object("plan")),
                   .cases = sweep.texts("cases")};
  context.counters = counters_of(fields.object("counters"));
  const Fields clocks = fields.object("clocks");
  context.clocks_before = clocks.facts_at("before");
  context.clocks_after = clocks.facts_at("after");
  context.timer = fields.facts_at("timer");
  return context;
}

// --- between parent and worker
// --------------------------------------------------------------------

std::string to_json(const WorkerJob& job) {
  Json cases = Json::array();
  for (const auto& which : job.cases)
    cases.push_back(json_of(which));
  return text_of({{"plan", json_of(job.plan)}, {"note", job.note}, {"cases", std::move(cases)}});
}

WorkerJob job_from_json(std::string_view line) {
  const Json json = parsed(line);
  const Fields fields{json, ""};
  WorkerJob job;
  job.plan = plan_of(fields.object("plan"));
  job.note = fields.text("note");
  for (const auto& item : fields.array("cases"))
    job.cases.push_back(case_of({item, "cases"}));
  return job;
}

namespace {

Json json_of_message(const DeviceMessage& message) {
  return {{"kind", "device"},
          {"backend", to_string(message.backend)},
          {"identity", json_of(message.identity)},
          {"conditions", json_of(message.conditions)},
          {"timer", json_of(message.timer)},
          {"host", json_of(message.host)},
          {"libraries", json_of(message.libraries)},
          {"counters", message.counters ? json_of(*message.counters) : Json{}}};
}

Json json_of_message(const RefusedMessage& message) {
  return {{"kind", "refused"}, {"reason", message.reason}};
}

Json json_of_message(const CountersRefusedMessage& message) {
  return {{"kind", "counters_refused"}, {"reason", message.reason}, {"mend", message.mend}};
}

Json json_of_message(const BeginMessage& message) {
  return {{"kind", "begin"}, {"case", message.id}};
}

Json json_of_message(const CaseMessage& message) {
  Json object{{"kind", "case"}, {"fatal", message.fatal}};
  try {
    object["record"] = json_of(message.record);
  } catch (const FormatError& error) {
    // The case must not be lost with the number that it cannot have.
    const CaseRecord& said = message.record;
    CaseRecord failed{said.which,
                      said.phase,
                      Status::failed,
                      fmt::format("cannot be recorded: {}", error.what()),
                      said.started,
                      std::isfinite(said.seconds) ? said.seconds : 0,
                      {},
                      {},
                      {}};
    object["record"] = json_of(failed);
  }
  return object;
}

Json json_of_message(const EndMessage& message) {
  return {{"kind", "end"}, {"conditions", json_of(message.conditions)}};
}

}  // namespace

std::string to_json(const WorkerMessage& message) {
  return text_of(std::visit([](const auto& said) { return json_of_message(said); }, message));
}

WorkerMessage message_from_json(std::string_view line) {
  const Json json = parsed(line);
  const Fields fields{json, ""};
  const std::string kind = fields.text("kind");
  if (kind == "begin") return BeginMessage{fields.text("case")};
  if (kind == "case") {
    return CaseMessage{record_of(fields.object("record")), fields.flag("fatal")};
  }
  if (kind == "device") {
    DeviceMessage message{fields.word("backend", backend_from, "cuda or host"),
                          device_of(fields.object("identity")),
                          fields.facts_at("conditions"),
                          fields.facts_at("timer"),
                          host_of(fields.object("host")),
                          fields.facts_at("libraries"),
                          std::nullopt};
    if (fields.has("counters")) message.counters = counters_answer_of(fields.object("counters"));
    return message;
  }
  if (kind == "refused") return RefusedMessage{fields.text("reason")};
  if (kind == "counters_refused") {
    return CountersRefusedMessage{fields.text("reason"), fields.text("mend")};
  }
  if (kind == "end") return EndMessage{fields.facts_at("conditions")};
  throw FormatError{fmt::format("no message is of kind '{:.{}}'", kind, longest_complaint)};
}

}  // namespace strata
