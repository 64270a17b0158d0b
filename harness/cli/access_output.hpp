// What `strata access` found, and the ways to show it.
#pragma once

#include "harness/access/evaluate.hpp"
#include "harness/access/listing.hpp"
#include "harness/cli/access_count.hpp"
#include "harness/model/coalescing.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// What a launch asks of memory in one row.
struct ExactTraffic {
  std::size_t launch = 0;  ///< into KernelReport::launches
  Access access;
  std::string hidden_by = {};                 ///< in words, where it is not exact
  std::optional<CountedAccess> counted = {};  ///< on a device

  /// Whether the device moved what is predicted by the rules of 7.x, at index `generation` of the
  /// traffic: sectors of global and local memory, passes through the banks of shared memory.
  [[nodiscard]] bool is_as_predicted(std::size_t generation) const;
};

struct ReportRow {
  Row row;
  std::vector<ExactTraffic> exact = {};

  /// Sectors, or passes through the banks, over the fewest that could do: of the launches where
  /// they tell, the most; else what every launch moves at the least. Nothing where neither knows.
  [[nodiscard]] std::optional<double> moved_over_ideal() const;
};

struct KernelReport {
  std::string input;   ///< "app#2"
  std::string target;  ///< "sm_90"
  std::string name;    ///< readable
  std::string symbol;
  std::vector<std::string> launches = {};  ///< their files
  std::vector<ReportRow> rows = {};
};

struct Report {
  std::vector<Generation> generations;  ///< of exact numbers
  std::vector<KernelReport> kernels = {};
  double most = 2;  ///< moved_over_ideal() above which a row stands out
};

/// Puts the traffic of a launch beside the rows of its kernel. `file` names the launch.
/// With `counted`, each row gets what a device moved.
void add_launch(KernelReport& kernel, const ptx::Kernel& code, const std::string& file,
                const Evaluation& evaluation, const CountedLaunch* counted = nullptr);

[[nodiscard]] std::string table_of(const Report& report);
/// RFC 4180: a row for each proof, and for each exact number of each generation.
[[nodiscard]] std::string csv_of(const Report& report);
[[nodiscard]] std::string json_of(const Report& report);
/// SARIF 2.1.0: what moves more than it needs, what is not known, and what lies outside of memory.
[[nodiscard]] std::string sarif_of(const Report& report, std::string_view version);

}  // namespace strata::access
