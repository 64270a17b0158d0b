// The results of `strata access`, and the formats that show them.
#pragma once

#include "harness/access/command/counted_launch.hpp"
#include "harness/access/evaluate.hpp"
#include "harness/access/listing.hpp"
#include "harness/access/machine_code.hpp"
#include "harness/model/coalescing.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// An instruction of the machine code that several accesses of the PTX became.
struct MachineTraffic {
  std::string opcode;          ///< "LDS.128"
  std::uint64_t requests = 0;  ///< by the rules of 7.x
  std::uint64_t moved = 0;     ///< sectors, or wavefronts of shared memory
};

/// The memory requests of a launch in one row.
struct ExactTraffic {
  std::size_t launch = 0;  ///< into KernelReport::launches
  Access access;
  std::string hidden_by = {};                  ///< in words, if it is not exact
  std::string hidden_buffer = {};              ///< the buffer whose content is not given, if any
  std::optional<CountedAccess> counted = {};   ///< on a device, in unoptimised code
  std::string not_counted = {};                ///< why not, if its launch was counted
  std::optional<MachineTraffic> machine = {};  ///< at the first of the accesses that ptxas merges
  bool is_merged = false;                      ///< it is one of them
  std::string not_covered = {};  ///< the premise of the proof that its launch breaks, if any

  /// The prediction by the rules of 7.x, which is at index `generation` of the traffic: sectors of
  /// global and local memory, wavefronts of shared memory. Nothing if it is not exact.
  [[nodiscard]] std::optional<std::uint64_t> predicted(std::size_t generation) const;
  /// The same as counted on the device; nothing if it was not counted.
  [[nodiscard]] std::optional<std::uint64_t> moved() const;
  /// Whether both exist and are equal.
  [[nodiscard]] bool is_as_predicted(std::size_t generation) const;
};

struct ReportRow {
  Row row;
  std::vector<ExactTraffic> exact = {};

  /// Sectors, or wavefronts, over the fewest possible: the largest ratio of the launches that have
  /// one; otherwise the least ratio that is proved for every launch. Nothing if neither is known.
  [[nodiscard]] std::optional<double> moved_over_ideal() const;
};

/// A launch file that was run on the host, and perhaps on a device.
struct ReportedLaunch {
  std::string file;
  Extent grid = {};
  Extent block = {};
  std::uint64_t blocks_run = 0;                 ///< the others are estimated from them
  double seconds = 0;                           ///< the host's time for the evaluation
  std::string not_counted = {};                 ///< why a device did not count it; empty if one did
  std::optional<CountedAccess> optimised = {};  ///< whole launch, optimised by ptxas

  [[nodiscard]] bool is_sampled() const { return blocks_run < grid.count(); }
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
  std::string no_machine_code = {};  ///< why machine code was not read; empty if it was
  double most = 2;                   ///< rows with a larger moved_over_ideal() are findings
};

/// Adds the traffic of a launch to the rows of its kernel. With `counted`, each row also gets what
/// a device moved.
void add_launch(KernelReport& kernel, const ptx::Kernel& code, const Launch& launch,
                ReportedLaunch reported, const Evaluation& evaluation,
                const CountedLaunch* counted = nullptr);

/// Adds what ptxas merges to the last launch of a kernel: the module with merged accesses is
/// evaluated like the original.
void add_merged(KernelReport& kernel, const ptx::Module& module, const Launch& launch,
                const std::vector<MergedAccess>& merged, const EvaluateOptions& options);

/// Index of 7.x, the rules of devices that can count, among the requested generations; past the
/// last one if they were not requested.
[[nodiscard]] std::size_t newest_of(const Report& report);

/// The unit of accesses of a space: "sectors", or "wavefronts" of shared memory.
[[nodiscard]] std::string_view unit_of(ptx::Space space);
[[nodiscard]] std::string_view name_of(ptx::Space space);
[[nodiscard]] std::string_view name_of(AccessKind kind);

/// "exact" or "not exact".
[[nodiscard]] std::string_view method_of(const Access& access);

/// Why a number is not exact, in words.
[[nodiscard]] std::string doubt_text(const ExactTraffic& exact);

/// "threadIdx.x 28, blockIdx.x 28·blockDim.x".
[[nodiscard]] std::string steps_text(const AccessProof& proof);

struct TableOptions {
  bool shows_all = false;    ///< all accesses, not only the most wasteful ones
  bool shows_proof = false;  ///< what holds for any launch, and its premises
};
[[nodiscard]] std::string table_of(const Report& report, const TableOptions& options);
/// RFC 4180: one row per proof, and one per exact number and generation.
[[nodiscard]] std::string csv_of(const Report& report);
[[nodiscard]] std::string json_of(const Report& report);
/// SARIF 2.1.0: accesses that move more than they need, accesses that are not known, and accesses
/// outside memory.
[[nodiscard]] std::string sarif_of(const Report& report, std::string_view version);

}  // namespace strata::access
