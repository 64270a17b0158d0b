#include "harness/record/measurements_csv.hpp"

#include "harness/record/statistics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>

namespace strata {
namespace {

/// A line ends in CR LF (RFC 4180, section 2, rule 1).
std::string csv_line(std::initializer_list<std::string_view> fields) {
  std::string line;
  for (const auto field : fields)
    line += (line.empty() ? "" : ",") + csv_field(field);
  return line + "\r\n";
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
  std::string quoted{'"'};
  for (const char c : text)
    quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string shortest(double number) {
  std::array<char, 32> text{};  // "-2.2250738585072014e-308" is the longest: 24
  const auto result = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), result.ptr};
}

std::string csv_header() {
  return csv_line({"run", "device", "backend", "suite", "benchmark", "case", "params", "quantity",
                   "unit", "provenance", "method", "value", "ci_low", "ci_high", "minimum",
                   "maximum", "samples", "valid", "reasons"});
}

std::string csv_rows(std::string_view run, std::string_view device, const CaseRecord& record) {
  if (record.status != Status::measured) return {};
  std::string rows;
  for (const auto& m : record.measurements) {
    const bool finite = std::ranges::all_of(m.samples, [](double x) { return std::isfinite(x); });
    if (m.samples.empty() || !finite) continue;
    const auto [value, interval] = centre_of(m.samples, m.visits);
    const auto [minimum, maximum] = std::ranges::minmax(m.samples);
    rows +=
        csv_line({run, device, to_string(record.which.backend), record.which.suite,
                  record.which.benchmark, record.which.id(), to_string(record.which.params),
                  m.quantity, m.unit, to_string(m.provenance), m.method, shortest(value),
                  interval ? shortest(interval->low) : "", interval ? shortest(interval->high) : "",
                  shortest(minimum), shortest(maximum), std::to_string(m.samples.size()),
                  record.is_valid(m) ? "true" : "false", record.reasons(m)});
  }
  return rows;
}

}  // namespace strata
