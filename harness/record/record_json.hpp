// The JSON files of a run: a case is one line of samples.jsonl, the context is context.json. Values
// that the format cannot hold are refused with a message that names the key; a number that is not
// finite never reaches a file.
#pragma once

#include "harness/record/json_fields.hpp"
#include "harness/record/run_folder.hpp"

#include <string>
#include <string_view>

namespace strata {

/// Refuses, in both directions, measurements without samples, measurements of a case that was not
/// measured, other than counted and modelled ones in the counting phase, and other than these and
/// timed ones in the tracing phase.
void fields(JsonFields& json, CaseRecord& record);
void fields(JsonFields& json, Case& which);
void fields(JsonFields& json, Facts& facts);
/// A key that is absent keeps its default.
void fields(JsonFields& json, Plan& plan);
void fields(JsonFields& json, DeviceIdentity& device);
void fields(JsonFields& json, HostInfo& host);
/// `additive` is not written: only counting needs it, and has the plan itself.
void fields(JsonFields& json, CounterPlan& plan);
void fields(JsonFields& json, CountersInfo& counters);
void fields(JsonFields& json, RunContext& context);

/// A line of samples.jsonl, without its newline: the record, and last the CRC-32 (as in gzip) of
/// the text before that field, so that a changed digit is detected. Throws FormatError.
[[nodiscard]] std::string sealed_line(const CaseRecord& record);
/// The record of a line. Throws FormatError if the line was modified or has no checksum, as in runs
/// of older versions, which this build does not resume.
[[nodiscard]] CaseRecord record_in(std::string_view line);

/// The text of context.json, indented. Throws FormatError for numbers that are not finite.
[[nodiscard]] std::string to_json(const RunContext& context);

}  // namespace strata
