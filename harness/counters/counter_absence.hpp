// Why hardware counters cannot be read here, and what a person can do about it. Pure functions over
// codes and texts, without any CUPTI header, so that every situation can be tested on any machine.
// ABSENCE.md has every remedy: a test holds them equal.
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
  std::string_view name;  ///< CUPTI's: a test holds codes and names equal to the library's
  const char* reason;
  const char* mend;
};
/// In order of their codes.
[[nodiscard]] std::span<const CuptiCause> cupti_causes();
/// Empty for a result that names no cause.
[[nodiscard]] std::optional<Absence> absence_of(int code);

/// The remedy where nobody says what is wrong.
inline constexpr const char* unclear_mend =
    "check the kernel log (dmesg), and whether ncu can read counters here";

/// The properties of this process and machine that decide whether counters can be read.
struct CounterEnvironment {
  std::string driver_parameters;  ///< text of /proc/driver/nvidia/params; empty: cannot be read
  std::string process_status;     ///< text of /proc/self/status
  std::string kernel_version;     ///< text of /proc/version
  unsigned effective_user = 0;    ///< 0: root
  bool container = false;
  bool wsl_graphics = false;    ///< /dev/dxg is there
  bool mps = false;             ///< a control daemon of MPS has its pipe here
  std::string injection;        ///< CUDA_INJECTION64_PATH: the library that a profiler injects
  std::optional<bool> mig;      ///< of the device, from NVML; empty: not known
  int driver_cuda_version = 0;  ///< 1000 × major + 10 × minor; 0: not known
  int cupti_cuda_version = 0;   ///< of the CUDA toolkit that this CUPTI belongs to; 0: not known
};
/// Of this process; leaves out what needs a device or a driver (mig, both versions).
[[nodiscard]] CounterEnvironment read_environment();

/// Why counters are certain to fail, before anything is tried. MIG, WSL, MPS and an older driver
/// only make failure likely: for them the trial decides, and explain_counters() then names them.
[[nodiscard]] std::optional<Absence> explain_environment(const CounterEnvironment& environment);

/// A call of CUPTI that answered `code`, which CUPTI calls `name` and which is not success. A code
/// that says little is read beside the environment: MIG, WSL, MPS or an older driver is then named
/// as the likely cause.
[[nodiscard]] Absence explain_counters(int code, std::string_view name, std::string_view call,
                                       const CounterEnvironment& environment = {});

/// CUDA's versions as people write them: 13000 → "13.0".
[[nodiscard]] std::string cuda_version_text(int version);

/// A chip that is not among those that this CUPTI, of that toolkit, knows.
[[nodiscard]] Absence explain_chip(std::string_view chip, int cupti_cuda_version,
                                   std::span<const std::string> known);

/// A libcupti older than the one that this program was built for, by their cuptiGetVersion; empty
/// when it fits.
[[nodiscard]] std::optional<Absence> explain_library(unsigned built_for, unsigned found);

/// This build has no CUPTI or, `without_cuda`, no CUDA part at all.
[[nodiscard]] Absence no_cupti_in_this_build(bool without_cuda);
/// There is no GPU to count on; `detail` is the reason in one line.
[[nodiscard]] Absence no_gpu_to_count_on(std::string_view detail);

}  // namespace strata
