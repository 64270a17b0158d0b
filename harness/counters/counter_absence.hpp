// Why hardware counters cannot be read here, and what a user can do about it. Pure functions of
// codes and texts, without CUPTI headers, so that every situation can be tested on any machine.
// ABSENCE.md lists every remedy; a test compares the two.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata {

/// Why counters cannot be read, and the remedy: each one line without a full stop.
struct Absence {
  std::string reason;
  std::string mend;
};

/// A result of CUPTI (cupti_result.h of CUDA 13.0) that names its cause.
struct CuptiCause {
  int code;
  std::string_view name;  ///< in CUPTI; a test compares codes and names with the library
  const char* reason;
  const char* mend;
};
/// In order of their codes.
[[nodiscard]] std::span<const CuptiCause> cupti_causes();
/// Empty for a result that names no cause.
[[nodiscard]] std::optional<Absence> absence_of(int code);

/// The remedy for unknown causes.
inline constexpr const char* unclear_mend =
    "check the kernel log (dmesg), and whether ncu can read counters here";

/// The properties of this process and machine that decide whether counters can be read.
struct CounterEnvironment {
  std::string driver_parameters;  ///< text of /proc/driver/nvidia/params; empty: cannot be read
  std::string process_status;     ///< text of /proc/self/status
  std::string kernel_version;     ///< text of /proc/version
  unsigned effective_user = 0;    ///< 0: root
  bool container = false;
  bool wsl_graphics = false;    ///< /dev/dxg exists
  bool mps = false;             ///< the MPS control daemon has its pipe here
  std::string injection;        ///< CUDA_INJECTION64_PATH: the library that a profiler injects
  std::optional<bool> mig;      ///< of the device, from NVML; empty: unknown
  int driver_cuda_version = 0;  ///< 1000 × major + 10 × minor; 0: unknown
  int cupti_cuda_version = 0;   ///< of the CUDA toolkit of this CUPTI; 0: unknown
};
/// Reads the environment of this process, except what needs a device or a driver (mig, both
/// versions).
[[nodiscard]] CounterEnvironment read_environment();

/// Why counters are certain to fail, before a trial. MIG, WSL, MPS and an older driver only make
/// failure likely: then the trial decides, and explain_counters() names them.
[[nodiscard]] std::optional<Absence> explain_environment(const CounterEnvironment& environment);

/// The cause of a CUPTI call that returned `code`, which CUPTI calls `name` and which is not
/// success. An unspecific code is interpreted with the environment: MIG, WSL, MPS or an older
/// driver is then named as the likely cause.
[[nodiscard]] Absence explain_counters(int code, std::string_view name, std::string_view call,
                                       const CounterEnvironment& environment = {});

/// A CUDA version as text: 13000 → "13.0".
[[nodiscard]] std::string cuda_version_text(int version);

/// For a chip that this CUPTI, of the given toolkit, does not know.
[[nodiscard]] Absence explain_chip(std::string_view chip, int cupti_cuda_version,
                                   std::span<const std::string> known);

/// For a libcupti older than the one of this build, by their cuptiGetVersion; empty if it fits.
[[nodiscard]] std::optional<Absence> explain_library(unsigned built_for, unsigned found);

/// For a build without counters; `why` is the reason that CMake found: without_cuda, or what the
/// CUDA toolkit lacks.
[[nodiscard]] Absence no_counters_in_this_build(std::string_view why);
inline constexpr std::string_view without_cuda = "without CUDA";
/// For a machine without a libcupti that loads; `detail` is the loader's message, or empty.
[[nodiscard]] Absence no_cupti_found(std::string_view detail);
/// For a machine without a GPU to count on; `detail` is the reason in one line.
[[nodiscard]] Absence no_gpu_to_count_on(std::string_view detail);

}  // namespace strata
