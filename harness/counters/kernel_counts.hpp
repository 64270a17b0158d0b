// What each machine instruction of one launch of a kernel moved, by CUPTI's SASS metrics: code that
// CUPTI patches into the kernel counts it, so no other program's work is in the numbers and no time
// means anything. The implementation is a link-time choice: CUPTI, or a stand-in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace strata {

/// Device memory of a launch, and the parameters that point into it.
struct LaunchMemory {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< its remainder by `placing` is kept, nothing else of it
  std::vector<std::uint8_t> content = {};  ///< `bytes` of them, or none: random
  struct Pointer {
    std::size_t at;        ///< byte of the parameters
    std::uint64_t offset;  ///< from the first byte of this memory
  };
  std::vector<Pointer> pointers = {};
  std::string variable = {};  ///< of the module, which has its memory: only the content counts
};
inline constexpr std::uint64_t placing = 1U << 16U;

/// One kernel of a cubin, and what it is launched with.
struct KernelLaunch {
  std::string cubin;
  std::string function;  ///< as the cubin spells it
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  std::array<unsigned, 3> cluster{};  ///< 0: none is asked for
  std::uint64_t dynamic_shared = 0;
  std::vector<std::uint8_t> parameters;  ///< all of them, pointers to be filled in
  std::vector<std::size_t> parameter_offsets;
  std::vector<LaunchMemory> memory;
};

/// Of one machine instruction.
struct InstructionCounts {
  std::uint64_t pc = 0;    ///< bytes from the function's first
  std::uint32_t line = 0;  ///< that the cubin gives it; 0: none
  std::map<std::string, std::uint64_t> counts;
};

struct KernelCounts {
  std::string chip;  ///< "GH100": whose counters
  std::vector<InstructionCounts> instructions;
  /// Indices of memory around which the kernel wrote.
  std::vector<std::size_t> overrun;
};

/// "sm_90" of a device; with the letter of `target` where that is of the same number: "sm_90a".
/// Throws DeviceUnavailable.
[[nodiscard]] std::string architecture_of(int ordinal, const std::string& target);

/// Names of all SASS metrics of a device, with what each counts.
[[nodiscard]] std::map<std::string, std::string> sass_metrics(int ordinal);

/// Launches the kernel once on the device and counts `metrics` of each of its machine instructions.
/// All memory has guards, and content that is not told is random. The context is made, or that of
/// the launch before is taken: then CUPTI may find no memory, or count nothing, and renew_context()
/// helps. The process is lost with a kernel that fails: call it in a worker. Throws
/// CountersUnavailable where nothing can be counted, std::runtime_error where the launch fails.
[[nodiscard]] KernelCounts count_kernel(int ordinal, const KernelLaunch& launch,
                                        const std::vector<std::string>& metrics);

/// Ends the process's context on the device, and with it what CUPTI keeps of earlier launches: the
/// next launch makes another. Throws std::runtime_error.
void renew_context(int ordinal);

/// Launches the kernel once on the device, without counting, and gives what lies in memory
/// afterwards: of each of `wanted`, indices of memory. Otherwise as count_kernel.
[[nodiscard]] std::vector<std::vector<std::uint8_t>> run_kernel(
    int ordinal, const KernelLaunch& launch, const std::vector<std::size_t>& wanted);

/// The source line of each machine instruction of a kernel, in their order; 0 where the cubin has
/// none. Needs no device.
[[nodiscard]] std::vector<std::uint32_t> source_lines(const std::string& cubin,
                                                      const std::string& function);

}  // namespace strata
