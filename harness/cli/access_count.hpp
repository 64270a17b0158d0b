// Counting what each instruction of launches moves, on a device, in a worker that takes one after
// the other: a kernel that crashes or hangs costs itself and its worker.
#pragma once

#include "harness/access/evaluate.hpp"
#include "harness/access/ptx.hpp"
#include "harness/access/traced_ptx.hpp"
#include "harness/cli/counted_launch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace strata::access {

struct LaunchFile {
  std::size_t module = 0;  ///< of those that were given: whose kernel it launches
  std::string file;
};

/// Launches the kernels of these launch files on the device ("cuda:0") and counts: once as ptxas
/// optimises them, for their sums, and once as their PTX stands, for each access. All are counted
/// by one worker in turn. A kernel that fails, or that is not done after `patience`, costs its own
/// counts only: the others go on in another worker. What fails behind others is tried again as the
/// first of a worker, in case that they are to blame. Throws UsageError for PTX that ptxas refuses,
/// CountersUnavailable where nothing can be counted, and DeviceUnavailable.
[[nodiscard]] std::vector<CountedLaunch> count_launches(std::span<const ptx::Module> modules,
                                                        const std::vector<LaunchFile>& launches,
                                                        const std::string& device,
                                                        std::chrono::seconds patience);

/// What of a launch is to be recorded: accesses of which the host's evaluation is in doubt.
struct TraceRequest {
  LaunchFile launch;
  std::vector<Access> wanted;
};

struct TraceAnswer {
  std::vector<Access> accesses = {};
  std::vector<Untraced> left_out = {};
  std::string failure = {};  ///< why nothing was recorded, or not all; empty: it was
};

/// Launches kernels that record these accesses (traced_ptx.hpp) once each, with room for `bytes` of
/// records, and says what they ask of memory by the rules of `generations`. Otherwise as
/// count_launches.
[[nodiscard]] std::vector<TraceAnswer> trace_launches(std::span<const ptx::Module> modules,
                                                      const std::vector<TraceRequest>& requests,
                                                      const std::vector<Generation>& generations,
                                                      const std::string& device,
                                                      std::chrono::seconds patience,
                                                      std::uint64_t bytes);

}  // namespace strata::access
