#include "harness/record/measurements_csv.hpp"

#include "harness/record/statistics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>

namespace strata {
namespace {

constexpr std::string_view line_end = "\r\n";  // RFC 4180, section 2, rule 1

std::string joined(std::initializer_list<std::string_view> fields) {
  std::string line;
  for (const auto field : fields) {
    if (!line.empty()) line += ',';
    line += csv_field(field);
  }
  line += line_end;
  return line;
}

bool is_a_row(const Measurement& m) {
  return !m.samples.empty() &&
         std::ranges::all_of(m.samples, [](double x) { return std::isfinite(x); });
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
  std::string quoted{'"'};
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

std::string shortest(double number) {
  std::array<char, 32> text{};  // "-2.2250738585072014e-308" is the longest: 24
  const auto result = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), result.ptr};
}

std::string csv_header() {
  return joined({"run", "device", "backend", "suite", "benchmark", "case", "params", "quantity",
                 "unit", "provenance", "method", "value", "ci_low", "ci_high", "minimum", "maximum",
                 "samples", "valid", "reasons"});
}

std::string csv_rows(std::string_view run, std::string_view device, const CaseRecord& record) {
  if (record.status != Status::measured) return {};
  std::string rows;
  for (const auto& m : record.measurements) {
    if (!is_a_row(m)) continue;
    const auto interval = median_interval(m.samples);
    const auto [minimum, maximum] = std::ranges::minmax(m.samples);
    rows +=
        joined({run, device, to_string(record.which.backend), record.which.suite,
                record.which.benchmark, record.which.id(), to_string(record.which.params),
                m.quantity, m.unit, to_string(m.provenance), m.method, shortest(median(m.samples)),
                interval ? shortest(interval->low) : "", interval ? shortest(interval->high) : "",
                shortest(minimum), shortest(maximum), std::to_string(m.samples.size()),
                record.is_valid(m) ? "true" : "false", record.reasons(m)});
  }
  return rows;
}

}  // namespace strata
