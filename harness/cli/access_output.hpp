// What `strata access` found, and the ways to show it.
#pragma once

#include "harness/access/evaluate.hpp"
#include "harness/access/listing.hpp"
#include "harness/cli/counted_launch.hpp"
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
  std::optional<CountedAccess> counted = {};  ///< on a device, in code that is not optimised
  std::string not_counted = {};               ///< why not, where the launch was

  /// What is predicted by the rules of 7.x, at index `generation` of the traffic: sectors of global
  /// and local memory, passes through the banks of shared memory. Nothing where it is not exact.
  [[nodiscard]] std::optional<std::uint64_t> predicted(std::size_t generation) const;
  /// The same as the device moved it; nothing where it was not counted.
  [[nodiscard]] std::optional<std::uint64_t> moved() const;
  /// Whether these two are there and equal.
  [[nodiscard]] bool is_as_predicted(std::size_t generation) const;
};

struct ReportRow {
  Row row;
  std::vector<ExactTraffic> exact = {};

  /// Sectors, or passes through the banks, over the fewest that could do: of the launches where
  /// they tell, the most; else what every launch moves at the least. Nothing where neither knows.
  [[nodiscard]] std::optional<double> moved_over_ideal() const;
};

/// A launch file that was run on the host, and perhaps on a device.
struct ReportedLaunch {
  std::string file;
  double seconds = 0;            ///< that the host took to evaluate it
  std::string not_counted = {};  ///< why a device did not count it; empty where one did
  std::optional<CountedAccess> optimised = {};  ///< all of it, as ptxas optimises the kernel
};

struct KernelReport {
  std::string input;   ///< "app#2"
  std::string target;  ///< "sm_90"
  std::string name;    ///< readable
  std::string symbol;
  std::vector<ReportedLaunch> launches = {};
  std::vector<ReportRow> rows = {};
};

struct Report {
  std::vector<Generation> generations;  ///< of exact numbers
  std::vector<KernelReport> kernels = {};
  double most = 2;  ///< moved_over_ideal() above which a row stands out
};

/// Puts the traffic of a launch beside the rows of its kernel. With `counted`, each row gets what a
/// device moved.
void add_launch(KernelReport& kernel, const ptx::Kernel& code, ReportedLaunch launch,
                const Evaluation& evaluation, const CountedLaunch* counted = nullptr);

/// Where the rules of the devices that can count, 7.x, stand among those asked for; behind the last
/// one where they were not asked for.
[[nodiscard]] std::size_t newest_of(const Report& report);

/// What the device moved of a space: sectors, or wavefronts of shared memory.
[[nodiscard]] std::uint64_t moved_in(ptx::Space space, const CountedAccess& counted);

/// "sectors", or "wavefronts" of shared memory: what accesses of the space are counted in.
[[nodiscard]] std::string_view unit_of(ptx::Space space);
[[nodiscard]] std::string_view name_of(ptx::Space space);
[[nodiscard]] std::string_view name_of(AccessKind kind);

/// "exact", "traced" or "not exact".
[[nodiscard]] std::string_view method_of(const Access& access);

/// Why a number is not exact, in words.
[[nodiscard]] std::string doubt_text(const ExactTraffic& exact);

[[nodiscard]] std::string table_of(const Report& report);
/// RFC 4180: a row for each proof, and for each exact number of each generation.
[[nodiscard]] std::string csv_of(const Report& report);
[[nodiscard]] std::string json_of(const Report& report);
/// SARIF 2.1.0: what moves more than it needs, what is not known, and what lies outside of memory.
[[nodiscard]] std::string sarif_of(const Report& report, std::string_view version);

}  // namespace strata::access
