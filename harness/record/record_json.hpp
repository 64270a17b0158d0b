// A case as one line of samples.jsonl, and back. What cannot be said in the format is refused with
// a message that names the key: no number that is not finite ever reaches a file.
#pragma once

#include "harness/case/plan.hpp"
#include "harness/record/measurement.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace strata {

/// Version of the run folder's format that this code writes. A run is completed only in the version
/// that it was begun in.
inline constexpr int schema_version = 2;
/// The oldest version whose records it reads. Version 1 has no counts: each line is a timed record.
inline constexpr int oldest_record_version = 1;

/// Text that is not what the format says, or a value that the format cannot hold.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One line without its newline. Throws FormatError for numbers that are not finite, for
/// measurements without samples, for measurements of a case that was not measured and for others
/// than counted and modelled ones of the counting phase. Bytes that are not UTF-8 become U+FFFD: a
/// strange message never costs a record.
[[nodiscard]] std::string to_json(const CaseRecord& record);
/// Throws FormatError for anything that to_json would not write; ignores keys that it does not
/// know.
[[nodiscard]] CaseRecord record_from_json(std::string_view line);

/// A JSON object, sorted by name. Throws FormatError for a number that is not finite.
[[nodiscard]] std::string to_json(const Facts& facts);
[[nodiscard]] Facts facts_from_json(std::string_view text);

[[nodiscard]] std::string to_json(const Plan& plan);
/// A key that is absent keeps its default.
[[nodiscard]] Plan plan_from_json(std::string_view text);

[[nodiscard]] std::string to_json(const Case& which);
[[nodiscard]] Case case_from_json(std::string_view text);

/// The case that has this id, or nothing when no case could have it.
[[nodiscard]] std::optional<Case> case_from_id(std::string_view id);

}  // namespace strata
