// Counting what each instruction of a launch moves, on a device, in a worker: a kernel that crashes
// or hangs costs that process only.
#pragma once

#include "harness/access/evaluate.hpp"
#include "harness/access/ptx.hpp"
#include "harness/access/traced_ptx.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// The metrics of CUPTI that CountedAccess is made of.
namespace sass {
inline constexpr std::string_view executed = "smsp__sass_inst_executed";
inline constexpr std::string_view sectors = "smsp__sass_sectors_mem_global";
inline constexpr std::string_view tags = "smsp__sass_l1tex_tags_mem_global";
inline constexpr std::string_view wavefronts = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared";
inline constexpr std::string_view local_sectors = "smsp__sass_sectors_mem_local";
}  // namespace sass

/// Counts of one PTX instruction, summed over the machine instructions that were made of it.
struct CountedAccess {
  std::uint64_t executed = 0;    ///< by a warp, of those that access memory
  std::uint64_t sectors = 0;     ///< of global memory
  std::uint64_t tags = 0;        ///< of L1, looked up
  std::uint64_t wavefronts = 0;  ///< of shared memory
  std::uint64_t local_sectors = 0;
};

struct CountedLaunch {
  std::map<std::uint32_t, CountedAccess> accesses = {};  ///< by instruction of the kernel
  std::vector<std::string> overrun = {};                 ///< buffers around which the kernel wrote
  std::string chip = {};                                 ///< "GH100": whose counters
  std::string failure = {};                              ///< why it was not counted; empty: it was
};

/// Launches the kernels of these launch files once each on the device ("cuda:0") and counts. A
/// kernel that fails, or that is not done after `patience`, costs its own counts only. Throws
/// UsageError for PTX that ptxas refuses, CountersUnavailable where nothing can be counted, and
/// DeviceUnavailable.
[[nodiscard]] std::vector<CountedLaunch> count_launches(const ptx::Module& module,
                                                        const std::vector<std::string>& files,
                                                        const std::string& device,
                                                        std::chrono::seconds patience);

/// What of a launch is to be recorded: accesses of which the host's evaluation is in doubt.
struct TraceRequest {
  std::string file;
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
[[nodiscard]] std::vector<TraceAnswer> trace_launches(const ptx::Module& module,
                                                      const std::vector<TraceRequest>& requests,
                                                      const std::vector<Generation>& generations,
                                                      const std::string& device,
                                                      std::chrono::seconds patience,
                                                      std::uint64_t bytes);

}  // namespace strata::access
