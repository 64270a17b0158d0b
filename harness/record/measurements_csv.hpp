// measurements.csv: one row per quantity of each measured case, derived from the records.
#pragma once

#include "harness/record/measurement.hpp"

#include <string>
#include <string_view>

namespace strata {

/// A field by RFC 4180, quoted only where necessary.
[[nodiscard]] std::string csv_field(std::string_view text);

/// The shortest decimal text that reads back as exactly this number, in any locale.
[[nodiscard]] std::string shortest(double number);

/// The header line, with its line end.
[[nodiscard]] std::string csv_header();

/// The rows of one case, each with its line end, in the order of measurement; none for a case that
/// was not measured or a quantity without finite samples.
[[nodiscard]] std::string csv_rows(std::string_view run, std::string_view device,
                                   const CaseRecord& record);

}  // namespace strata
