// Counts what each instruction of launches moves, on a device, in a worker that takes one launch
// after the other: a kernel that crashes or hangs costs only its own counts and its worker.
#pragma once

#include "harness/access/command/counted_launch.hpp"
#include "harness/access/command/optimize_trials.hpp"
#include "harness/access/evaluate.hpp"
#include "harness/access/ptx.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace strata::access {

struct LaunchFile {
  std::size_t module = 0;  ///< index of the module whose kernel it launches
  std::string file;
};

/// Launches the kernels of these launch files on the device ("cuda:0") and counts twice: as ptxas
/// optimises them, for their sums, and as their PTX is written, for each access. One worker counts
/// all launches in turn. A kernel that fails, or is not done after `patience`, loses only its own
/// counts: another worker continues with the others. A launch that fails after others is tried
/// again as the first of a worker, in case those are to blame. Throws UsageError for PTX that ptxas
/// refuses, CountersUnavailable if nothing can be counted, and DeviceUnavailable.
[[nodiscard]] std::vector<CountedLaunch> count_launches(std::span<const ptx::Module> modules,
                                                        const std::vector<LaunchFile>& launches,
                                                        const std::string& device,
                                                        std::chrono::seconds patience);

/// Launches the original and the optimized kernel of each request by turns. Otherwise as
/// count_launches, but without counters.
[[nodiscard]] std::vector<Trial> try_changes(const ptx::Module& module,
                                             const std::vector<TrialRequest>& requests,
                                             const std::string& device,
                                             std::chrono::seconds patience);

}  // namespace strata::access
