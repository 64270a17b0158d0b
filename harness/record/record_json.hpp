// What the files of a run hold, as JSON: a case is one line of samples.jsonl, the context is
// context.json. What the format cannot hold is refused with a message that names the key: no number
// that is not finite ever reaches a file.
#pragma once

#include "harness/record/json_fields.hpp"
#include "harness/record/run_folder.hpp"

#include <string>
#include <string_view>

namespace strata {

/// Refuses, in both directions, measurements without samples, measurements of a case that was not
/// measured, others than counted and modelled ones of the counting phase, and others than these and
/// timed ones of the tracing phase.
void fields(JsonFields& json, CaseRecord& record);
void fields(JsonFields& json, Case& which);
void fields(JsonFields& json, Facts& facts);
/// A key that is absent keeps its default.
void fields(JsonFields& json, Plan& plan);
void fields(JsonFields& json, DeviceIdentity& device);
void fields(JsonFields& json, HostInfo& host);
/// `additive` is not written: it is for those who count, and they have the plan itself.
void fields(JsonFields& json, CounterPlan& plan);
void fields(JsonFields& json, CountersInfo& counters);
void fields(JsonFields& json, RunContext& context);

/// A line of samples.jsonl, without its newline: the record, and last the CRC-32 (that of gzip) of
/// the text before that field, so that a changed digit is seen. Throws FormatError.
[[nodiscard]] std::string sealed_line(const CaseRecord& record);
/// The record of a line. Throws FormatError where it is not as it was written; lines of older
/// builds have no checksum.
[[nodiscard]] CaseRecord record_in(std::string_view line);

/// The text of context.json, indented. Throws FormatError for numbers that are not finite.
[[nodiscard]] std::string to_json(const RunContext& context);

}  // namespace strata
