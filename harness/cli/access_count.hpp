// Counting what each instruction of a launch moves, on a device, in a worker: a kernel that crashes
// or hangs costs that process only.
#pragma once

#include "harness/access/ptx.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace strata::access {

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

}  // namespace strata::access
