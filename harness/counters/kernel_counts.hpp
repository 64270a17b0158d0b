// What each machine instruction of one kernel launch moved, by CUPTI's SASS metrics. Code that
// CUPTI patches into the kernel counts it, so the numbers contain no other program's work, and
// times are meaningless. The implementation is a link-time choice: CUPTI, or a stand-in.
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
  std::uint64_t address = 0;               ///< only its remainder modulo `placing` is kept
  std::vector<std::uint8_t> content = {};  ///< `bytes` of them; empty: random
  /// The 8-byte words of the content that are addresses: between `address` and its end, of this or
  /// other memory of the launch.
  std::vector<std::uint32_t> address_words = {};
  struct Pointer {
    std::size_t at;        ///< byte offset in the parameters
    std::uint64_t offset;  ///< byte offset in this memory
  };
  std::vector<Pointer> pointers = {};
  std::string variable = {};  ///< variable of the module that this is: only the content is used
};
inline constexpr std::uint64_t placing = 1U << 16U;

/// One kernel of a cubin, and its launch.
struct KernelLaunch {
  std::string cubin;
  std::string function;  ///< as in the cubin
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  std::array<unsigned, 3> cluster{};  ///< 0: no cluster
  std::uint64_t dynamic_shared = 0;
  std::vector<std::uint8_t> parameters;  ///< all bytes; pointers are filled in
  std::vector<std::size_t> parameter_offsets;
  std::vector<LaunchMemory> memory;
};

/// Counts of one machine instruction.
struct InstructionCounts {
  std::uint64_t pc = 0;    ///< byte offset in the function
  std::uint32_t line = 0;  ///< in the cubin; 0: none
  std::map<std::string, std::uint64_t> counts;
};

struct KernelCounts {
  std::string chip;  ///< "GH100"
  std::vector<InstructionCounts> instructions;
  /// Indices of memory whose guards the kernel overwrote.
  std::vector<std::size_t> overrun;
};

/// Architecture of a device: "sm_90", or with the letter of `target` if its number is the same:
/// "sm_90a". Throws DeviceUnavailable.
[[nodiscard]] std::string architecture_of(int ordinal, const std::string& target);

/// Names of all SASS metrics of a device, with their descriptions.
[[nodiscard]] std::map<std::string, std::string> sass_metrics(int ordinal);

/// Launches the kernel once on the device and counts `metrics` of each of its machine instructions.
/// All memory has guards, and contents that are not given are random. Creates a context, or uses
/// that of the previous launch; then CUPTI may run out of memory or count nothing, which
/// renew_context() solves. A kernel that fails costs the process, so call this in a worker. Throws
/// CountersUnavailable if nothing can be counted, std::runtime_error if the launch fails.
[[nodiscard]] KernelCounts count_kernel(int ordinal, const KernelLaunch& launch,
                                        const std::vector<std::string>& metrics);

/// Destroys the process's context on the device, and with it what CUPTI keeps of earlier launches:
/// the next launch creates another. Throws std::runtime_error.
void renew_context(int ordinal);

/// Two kernels that were launched by turns, without counting.
struct KernelTurns {
  std::vector<double> first = {};   ///< seconds a launch, of each turn
  std::vector<double> second = {};  ///< of the same turns
  std::uint64_t different = 0;      ///< bytes that the second stores differently
  /// Indices of memory whose guards one of them overwrote; then nothing was timed.
  std::vector<std::size_t> overrun = {};
};

/// Launches both kernels on the same memory: once each with its first contents, to compare the
/// bytes that they store; then by turns, each turn a graph of as many launches as take a
/// millisecond, but one at least. `second` has the memory of `first`. Otherwise as count_kernel.
[[nodiscard]] KernelTurns run_by_turns(int ordinal, const KernelLaunch& first,
                                       const KernelLaunch& second, unsigned turns);

/// The source line of each machine instruction of a kernel, in order; 0 if the cubin has none.
/// Needs no device.
[[nodiscard]] std::vector<std::uint32_t> source_lines(const std::string& cubin,
                                                      const std::string& function);

}  // namespace strata
