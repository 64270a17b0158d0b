// Pairs of benchmarks that measure one quantity with different kernels must agree. The analysis
// reads the same table: analysis/src/strata/model/agreement.csv. Host only.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/run/selftest.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {

/// Rows of one benchmark, selected by parameters (a range is "low..high"), and how they are
/// combined.
struct AgreementSide {
  std::string benchmark;
  std::vector<std::pair<std::string, std::string>> params;
  std::string pick;  ///< median, mean, min or max
  std::vector<std::string> quantities;
  std::vector<std::pair<std::string, std::string>> cases;  ///< axis values that selftest measures

  struct Value {
    std::optional<double> number;
    std::string why_not;  ///< without a number
  };

  [[nodiscard]] bool has(const Params& of) const;
  /// Of the valid timed rows.
  [[nodiscard]] Value value(std::span<const CaseRecord> records) const;
  /// The cases of the selftest. Axes that neither column names have their default values.
  [[nodiscard]] SweepEntry entry(std::span<const Enrolled> known) const;
};

struct AgreementPair {
  std::string quantity;
  Backend backend = Backend::cuda;
  AgreementSide first;
  AgreementSide second;
  double tolerance = 0;  ///< of the second value, relative to the first
  std::string reason;    ///< physical reason for the tolerance
};

/// Throws std::invalid_argument for a table of another shape.
[[nodiscard]] std::vector<AgreementPair> parse_agreement(std::string_view table);

/// A claim for each pair of the embedded table on this backend.
[[nodiscard]] std::vector<Claim> agreement_claims(Backend backend, std::span<const Enrolled> known);
[[nodiscard]] Judge sides_agree(const AgreementPair& pair);

}  // namespace strata
