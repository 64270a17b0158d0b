#include "harness/record/record_json.hpp"

#include "harness/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {
namespace {

/// The format version that this code writes. A run is completed only in the version in which it was
/// started.
constexpr int schema_version = 3;
/// The oldest version whose records it reads. In version 1 every line is a timed record; version 2
/// has counts too.
constexpr int oldest_record_version = 1;

/// What the lines of a phase may hold.
bool may_hold(Phase phase, Provenance provenance) {
  const bool countable = provenance == Provenance::counted || provenance == Provenance::modelled;
  return phase == Phase::timing || countable ||
         (phase == Phase::tracing && provenance == Provenance::timed);
}

template <class... Args>
[[noreturn]] void refuse_record(fmt::format_string<Args...> message, Args&&... args) {
  throw FormatError{fmt::format(message, std::forward<Args>(args)...)};
}

/// The rules of the format beyond the types of its keys, for both directions.
void check(const CaseRecord& record) {
  const auto status = to_string(record.status);
  const bool measured = record.status == Status::measured;
  if (!measured && !record.measurements.empty())
    refuse_record("measurements of a case that was {}", status);
  if (!measured && record.reason.empty())
    refuse_record("a case that was {} without a reason", status);
  std::set<std::pair<std::string, std::string>> rows;
  for (const auto& m : record.measurements) {
    for (const auto& name : {m.quantity, m.method}) {
      if (!is_row_name(name)) refuse_record("{} {}", in_quotes(name), row_names_are);
    }
    if (m.samples.empty()) refuse_record("{} has no samples", m.quantity);
    for (std::size_t i = 0; i < m.samples.size(); ++i) {
      if (std::isfinite(m.samples[i])) continue;
      refuse_record("sample {} of {} is {}, not a finite number", i + 1, m.quantity, m.samples[i]);
    }
    if (!may_hold(record.phase, m.provenance)) {
      refuse_record("{} is {}, among {}", m.quantity, to_string(m.provenance),
                    record.phase == Phase::counting ? "counts" : "what was traced");
    }
    if (!rows.emplace(m.quantity, m.method).second)
      refuse_record("{} by {} appears twice in one case", m.quantity, m.method);
  }
}

/// CRC-32 as in gzip, PNG and Python's zlib.
std::uint32_t crc32(std::string_view text) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> all{};
    for (std::uint32_t byte = 0; byte < all.size(); ++byte) {
      std::uint32_t rest = byte;
      for (int bit = 0; bit < 8; ++bit)
        rest = rest >> 1U ^ ((rest & 1U) != 0 ? 0xEDB88320U : 0U);
      all[byte] = rest;
    }
    return all;
  }();
  std::uint32_t sum = ~0U;
  for (const char c : text)
    sum = sum >> 8U ^ table[(sum ^ static_cast<unsigned char>(c)) & 0xFFU];
  return ~sum;
}

constexpr std::string_view seal_key = R"(,"crc32":")";
/// The checksum field between the text of a record and the brace that closes its line.
std::string seal_of(std::string_view text) {
  return fmt::format("{}{:08x}\"", seal_key, crc32(text));
}
constexpr std::size_t seal_bytes = seal_key.size() + 9;

}  // namespace

std::string sealed_line(const CaseRecord& record) {
  std::string line = to_json(record);
  line.pop_back();
  return line + seal_of(line) + "}";
}

CaseRecord record_in(std::string_view line) {
  const auto text = line.substr(0, line.size() - std::min(line.size(), seal_bytes + 1));
  const auto seal = line.substr(text.size(), seal_bytes);
  const bool sealed = seal.starts_with(seal_key);
  if (sealed && seal != seal_of(text))
    refuse_record("the line does not match its checksum: it was changed after it was written");
  auto record = from_json<CaseRecord>(line);
  if (!sealed) refuse_record("the line has no checksum: it was changed after it was written");
  return record;
}

// Not in a namespace of their own: JsonFields finds them by their argument.

static void fields(JsonFields& json, Gate& gate) {
  json.field("gate", gate.name);
  json.field("verdict", gate.verdict);
  json.field("detail", gate.detail);
}

static void fields(JsonFields& json, Measurement& m) {
  json.field("quantity", m.quantity);
  json.field("unit", m.unit);
  json.field("provenance", m.provenance);
  json.field("method", m.method);
  json.field("samples", m.samples);
  JsonFields noise = json.object("noise");
  noise.field("verdict", m.noise.verdict);
  noise.field("detail", m.noise.detail);
}

static void fields(JsonFields& json, HostCache& cache) {
  json.field("level", cache.level);
  json.field("type", cache.kind);
  json.field("bytes", cache.bytes);
  json.field("line_bytes", cache.line_bytes);
  json.optional("shared_by", cache.shared_by);
}

static void fields(JsonFields& json, CountedQuantity& quantity) {
  json.field("name", quantity.name);
  json.field("metric", quantity.metric);
  json.field("unit", quantity.unit);
  json.field("meaning", quantity.meaning);
  json.field("set", quantity.set);
}

void fields(JsonFields& json, CountersInfo& counters) {
  json.field("asked", counters.requested);
  json.field("state", counters.state);
  json.field("reason", counters.reason);
  json.field("mend", counters.mend);
  fields(json, counters.plan);
  json.field("counting_seconds", counters.counting_seconds);
  json.field("timing_seconds", counters.timing_seconds);
}

static void fields(JsonFields& json, BuildInfo& build) {
  // The format has no empty commit: outside a repository it is "unknown".
  constexpr std::string_view unknown = "unknown";
  std::string commit{build.commit.empty() ? unknown : build.commit};
  json.field("version", build.version);
  json.field("commit", commit);
  build.commit = commit == unknown ? "" : commit;
  json.field("dirty", build.dirty);
  json.field("source_digest", build.source_digest);
  json.field("build_type", build.build_type);
  json.field("compiler", build.compiler);
  json.text_or_null("cuda_compiler", build.cuda_compiler);
  json.field("flags", build.flags);
  json.text_or_null("cuda_architectures", build.cuda_architectures);
}

static void fields(JsonFields& json, SweepInfo& sweep) {
  json.field("name", sweep.name);
  json.field("file", sweep.file);
  json.unless_empty("text", sweep.text);
  json.unless_empty("digest", sweep.digest);
  json.field("plan", sweep.plan);
  json.field("cases", sweep.cases);
  json.unless_empty("dropped", sweep.dropped);
}

static void fields(JsonFields& json, Params& params) {
  for (const auto& key : json.keys())
    params.try_emplace(key);
  for (auto& [key, value] : params)
    json.field(key, value);
}

void fields(JsonFields& json, Facts& facts) {
  json.other_fields(facts);
}

void fields(JsonFields& json, Plan& plan) {
  json.optional("warmups", plan.warmups);
  json.optional("min_samples", plan.min_samples);
  json.optional("max_samples", plan.max_samples);
  json.optional("relative_half_width", plan.relative_half_width);
  json.optional("seconds_per_case", plan.seconds_per_case);
  json.optional("time_limit", plan.time_limit);
  json.optional("visits", plan.visits);
}

void fields(JsonFields& json, Case& which) {
  json.field("suite", which.suite);
  json.field("benchmark", which.benchmark);
  json.field("backend", which.backend);
  json.field("params", which.params);
  if (!json.reading()) return;
  std::vector<std::string> words{which.suite, which.benchmark};
  for (const auto& [name, value] : which.params)
    words.insert(words.end(), {name, value});
  const auto bad = std::ranges::find_if_not(words, is_canonical_word);
  if (bad != words.end()) refuse_record("'{}' is not allowed in a case id", *bad);
}

void fields(JsonFields& json, CaseRecord& record) {
  if (!json.reading()) check(record);
  int version = schema_version;
  json.field("schema_version", version);
  if (version < oldest_record_version || version > schema_version) {
    refuse_record("schema version {}: this build reads versions {} to {}", version,
                  oldest_record_version, schema_version);
  }
  json.field("kind", record.phase);
  if (version == 1 && record.phase != Phase::timing) json.refuse("kind", "case");
  if (version == 2 && record.phase == Phase::tracing) json.refuse("kind", "case or counts");
  if (json.reading() || record.visit != 1) json.optional("visit", record.visit);
  if (record.visit < 1 || (record.visit > 1 && record.phase != Phase::timing)) {
    json.refuse("visit", "an integer of at least 1, in a line of kind case");
  }
  std::string id = record.which.id();
  json.field("case", id);
  fields(json, record.which);
  if (id != record.which.id())
    json.refuse("case", record.which.id() + " as its parameters require");
  json.field("status", record.status);
  json.field("reason", record.reason);
  json.field("started", record.started);
  json.field("seconds", record.seconds);
  json.optional("facts", record.facts);
  // A case that was not measured may leave these out.
  const bool measured = record.status == Status::measured;
  if (measured || !json.reading() || json.has("gates")) json.field("gates", record.gates);
  if (measured || !json.reading() || json.has("measurements"))
    json.field("measurements", record.measurements);
  if (json.reading()) check(record);
}

void fields(JsonFields& json, HostInfo& host) {
  json.field("cpu", host.cpu);
  json.field("cores", host.cores);
  json.field("os", host.os);
  json.field("kernel", host.kernel);
  json.field("memory_bytes", host.memory_bytes);
  json.field("caches", host.caches);
  json.other_fields(host.more);
}

void fields(JsonFields& json, DeviceIdentity& device) {
  json.field("slug", device.slug);
  json.field("name", device.name);
  json.text_or_null("uuid", device.uuid);
  json.other_fields(device.facts);
}

void fields(JsonFields& json, CounterPlan& plan) {
  json.field("chip", plan.chip);
  json.field("sets", plan.sets);
  json.field("passes", plan.passes);
  json.field("quantities", plan.quantities);
  json.field("absent", plan.absent);
}

void fields(JsonFields& json, RunContext& context) {
  int version = schema_version;
  json.field("schema_version", version);
  if (version != schema_version) {
    refuse_record("schema version {}: this build resumes runs of version {} only", version,
                  schema_version);
  }
  json.field("run", context.run);
  json.field("strata", context.strata);
  json.field("started", context.started);
  json.text_or_null("finished", context.finished);
  json.unless_empty("resumed", context.resumed);
  json.field("state", context.state);
  json.field("command", context.command);
  json.field("backend", context.backend);
  json.field("device", context.device);
  json.field("host", context.host);
  json.optional("libraries", context.libraries);
  json.field("sweep", context.sweep);
  json.field("counters", context.counters);
  JsonFields clocks = json.object("clocks");
  clocks.optional("before", context.clocks_before);
  clocks.optional("after", context.clocks_after);
  json.optional("timer", context.timer);
  json.verbatim({"benchmarks", "rungs", "ladders", "bounds"}, context.declarations);
}

std::string to_json(const RunContext& context) {
  constexpr int indent = 2;  // people read it
  return to_json<RunContext>(context, indent) + "\n";
}

}  // namespace strata
