// A device's counts of a launch, attributed to the accesses of its PTX.
#pragma once

#include "harness/access/evaluate.hpp"
#include "harness/access/marked_ptx.hpp"
#include "harness/access/ptx.hpp"
#include "harness/counters/kernel_counts.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// The CUPTI metrics behind CountedAccess.
namespace sass {
inline constexpr std::string_view executed = "smsp__sass_inst_executed";
inline constexpr std::string_view sectors = "smsp__sass_sectors_mem_global";
inline constexpr std::string_view tags = "smsp__sass_l1tex_tags_mem_global";
inline constexpr std::string_view wavefronts = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared";
inline constexpr std::string_view local_sectors = "smsp__sass_sectors_mem_local";
}  // namespace sass

/// Counts of machine instructions that moved something.
struct CountedAccess {
  std::uint64_t executed = 0;    ///< by a warp
  std::uint64_t sectors = 0;     ///< of global memory
  std::uint64_t tags = 0;        ///< tag lookups in L1
  std::uint64_t wavefronts = 0;  ///< of shared memory
  std::uint64_t local_sectors = 0;
  CountedAccess& operator+=(const CountedAccess& other);
};

struct CountedLaunch {
  /// By instruction of the kernel, in unoptimised code. Instructions that moved nothing are
  /// missing.
  std::map<std::uint32_t, CountedAccess> accesses = {};
  /// Why an access has no counts: it has no machine instruction, or several.
  std::map<std::uint32_t, std::string> not_counted = {};
  std::optional<CountedAccess> optimised = {};  ///< the whole kernel, optimised by ptxas
  std::vector<std::string> overrun = {};        ///< buffers with overwritten guards
  std::string chip = {};                        ///< "GH100": whose counters
  std::string failure = {};                     ///< why no access was counted; empty if they were

  /// All 0 for an instruction that moved nothing.
  [[nodiscard]] CountedAccess of(std::uint32_t instruction) const;
};

/// Counts of a kernel's machine code, which was compiled from `marked`.
struct CodeCounts {
  const MarkedPtx& marked;
  std::uint32_t kernel;
  std::span<const InstructionCounts> counts;
};

constexpr std::uint64_t warps_of(std::uint64_t threads) {
  return (threads + 31) / 32;
}

/// Executions of the first machine instruction, to which no branch leads: the number of warps
/// launched, if the counts are those of one launch.
[[nodiscard]] std::uint64_t warps_begun(std::span<const InstructionCounts> counts);

/// Whether anything was counted: every launch executes something.
[[nodiscard]] bool is_anything_counted(std::span<const InstructionCounts> counts);

/// The sum over all instructions, including those inlined from other functions.
[[nodiscard]] CountedAccess sum_of(const CodeCounts& code);

/// What an exact access moves by the rules of a generation, an index into Access::traffic: sectors
/// of global and local memory, wavefronts of shared memory. Nothing if it is not exact.
[[nodiscard]] std::optional<std::uint64_t> predicted_in(const Access& access,
                                                        std::size_t generation);
/// What `counted` moved in a space: sectors, or wavefronts of shared memory.
[[nodiscard]] std::uint64_t moved_in(ptx::Space space, const CountedAccess& counted);

/// Whether some access whose requests are known was counted otherwise. `generation`: an index into
/// Access::traffic.
[[nodiscard]] bool differs(const Evaluation& evaluation, const CountedLaunch& counted,
                           std::size_t generation);

/// Moves the accesses that a second launch counted otherwise to `counted.not_counted`.
void keep_what_repeats(CountedLaunch& counted, const CountedLaunch& again);

/// CountedLaunch::accesses and not_counted, for code in which ptxas merged and moved nothing.
/// `lines`: the mark of each machine instruction, by position.
void count_accesses(const CodeCounts& code, const ptx::Kernel& kernel,
                    std::span<const std::uint32_t> lines, CountedLaunch& launch);

}  // namespace strata::access
