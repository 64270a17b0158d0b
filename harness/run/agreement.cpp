#include "harness/run/agreement.hpp"

#include "harness/case/builtin_files.hpp"
#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>

namespace strata {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::pair<std::string, std::string>> named(std::span<const std::string> words) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& word : words) {
    if (word.empty()) continue;
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      throw std::invalid_argument{"agreement: not NAME=VALUE: " + word};
    pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return pairs;
}

AgreementSide side_of(const std::string& rows, const std::string& picked,
                      const std::string& cases) {
  const auto words = split(rows, ' ');
  auto quantities = split(picked, ' ');
  AgreementSide side{.benchmark = words.front(),
                     .params = named(std::span{words}.subspan(1)),
                     .pick = quantities.front(),
                     .quantities = {},
                     .cases = named(split(cases, ' '))};
  side.quantities.assign(quantities.begin() + 1, quantities.end());
  return side;
}

bool matches(const std::string& value, const std::string& wanted) {
  const auto dots = wanted.find("..");
  if (dots == std::string::npos) return value == wanted;
  const std::string high = wanted.substr(dots + 2);
  const std::uint64_t number = std::stoull(value);
  return number >= std::stoull(wanted.substr(0, dots)) &&
         (high.empty() || number <= std::stoull(high));
}

double combined(const std::string& pick, const std::vector<double>& values) {
  if (pick == "min") return std::ranges::min(values);
  if (pick == "max") return std::ranges::max(values);
  if (pick == "mean") {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  return median(values);
}

}  // namespace

bool AgreementSide::has(const Params& of) const {
  return std::ranges::all_of(params, [&](const auto& wanted) {
    const auto found = of.find(wanted.first);
    return found != of.end() && matches(found->second, wanted.second);
  });
}

AgreementSide::Value AgreementSide::value(std::span<const CaseRecord> records) const {
  std::vector<double> values;
  std::string reasons;
  for (const CaseRecord& record : records) {
    if (record.which.benchmark != benchmark || !has(record.which.params)) continue;
    for (const Measurement& row : record.measurements) {
      if (row.provenance != Provenance::timed || std::ranges::count(quantities, row.quantity) == 0)
        continue;
      if (record.is_valid(row)) {
        values.push_back(centre_of(row.samples, row.visits).value);
      } else {
        reasons = ": " + record.reasons(row);
      }
    }
  }
  if (values.empty()) return {{}, "no valid row of " + benchmark + reasons};
  return {combined(pick, values), {}};
}

SweepEntry AgreementSide::entry(std::span<const Enrolled> known) const {
  SweepEntry entry{.benchmark = benchmark, .axes = {}};
  const Enrolled* const found = find_benchmark(benchmark, known);
  if (found == nullptr) throw std::invalid_argument{"agreement: no benchmark " + benchmark};
  for (const Axis& axis : found->benchmark.axes) {
    std::vector<std::string> values = axis.defaults;
    for (const auto* const column : {&params, &cases}) {
      for (const auto& [name, value] : *column) {
        if (name == axis.name && value.find("..") == std::string::npos) values = split(value, '|');
      }
    }
    entry.axes.emplace_back(axis.name, std::move(values));
  }
  return entry;
}

std::vector<AgreementPair> parse_agreement(std::string_view table) {
  constexpr std::string_view header =
      "quantity,backend,first,first_rows,second,second_rows,tolerance,reason,first_cases,"
      "second_cases";
  std::vector<AgreementPair> pairs;
  const auto lines = split(table, '\n');
  if (lines.front() != header) throw std::invalid_argument{"agreement: another header"};
  for (const std::string& line : std::span{lines}.subspan(1)) {
    if (line.empty()) continue;
    const auto cells = split(line, ',');
    if (cells.size() != 10) throw std::invalid_argument{"agreement: not ten cells: " + line};
    pairs.push_back({.quantity = cells[0],
                     .backend = cells[1] == "host" ? Backend::host : Backend::cuda,
                     .first = side_of(cells[2], cells[3], cells[8]),
                     .second = side_of(cells[4], cells[5], cells[9]),
                     .tolerance = std::stod(cells[6]),
                     .reason = cells[7]});
  }
  return pairs;
}

Judge sides_agree(const AgreementPair& pair) {
  return [=](std::span<const CaseRecord> records) -> Shown {
    const auto first = pair.first.value(records);
    const auto second = pair.second.value(records);
    for (const AgreementSide::Value& side : {first, second}) {
      if (!side.number) return {Proof::unproved, side.why_not};
    }
    const double difference = *second.number / *first.number - 1;
    return {
        std::abs(difference) <= pair.tolerance ? Proof::held : Proof::failed,
        fmt::format("{:.5g} by {}, {:.5g} by {}: {:+.1f} %", *first.number, pair.first.benchmark,
                    *second.number, pair.second.benchmark, 100 * difference)};
  };
}

std::vector<Claim> agreement_claims(Backend backend, std::span<const Enrolled> known) {
  std::vector<Claim> claims;
  for (const AgreementPair& pair : parse_agreement(builtin_agreement().front().second)) {
    const auto is_missing = [&](const AgreementSide& side) {
      return find_benchmark(side.benchmark, known) == nullptr;
    };
    if (pair.backend != backend || is_missing(pair.first) || is_missing(pair.second)) continue;
    claims.push_back(
        {.kind = Claim::Kind::agreement,
         .what = pair.quantity,
         .cases = {pair.first.entry(known), pair.second.entry(known)},
         .expected = fmt::format("within {:.0f} %: {}", 100 * pair.tolerance, pair.reason),
         .judge = sides_agree(pair)});
  }
  return claims;
}

}  // namespace strata
