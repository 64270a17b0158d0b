// Why hardware counters cannot be read here, and what a person can do about it. Pure functions over
// codes and texts, without any CUPTI header, so that every situation can be tested on any machine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata {

/// One reason why counters cannot be read, and its mending step. Each is one line without a full
/// stop at its end.
struct Absence {
  std::string reason;
  std::string mend;  ///< empty when nothing can be done
};

/// What a result of CUPTI (cupti_result.h of CUDA 13.0) says by itself.
struct CuptiCause {
  int code;
  std::string_view name;  ///< CUPTI's
  std::string_view reason;
  std::string_view mend;
};
/// In order of their codes. A test holds codes and names equal to CUPTI's.
[[nodiscard]] std::span<const CuptiCause> cupti_causes();

/// What this process and its machine say about who may read counters.
struct CounterEnvironment {
  std::string driver_parameters;  ///< text of /proc/driver/nvidia/params; empty: cannot be read
  std::string process_status;     ///< text of /proc/self/status
  std::string kernel_version;     ///< text of /proc/version
  unsigned effective_user = 0;    ///< 0: root
  bool container = false;
  bool wsl_graphics = false;    ///< /dev/dxg is there
  bool mps = false;             ///< a control daemon of MPS has its pipe here
  std::string injection;        ///< what a profiler had injected: CUDA_INJECTION64_PATH
  std::optional<bool> mig;      ///< NVML's word on the device; empty: not known
  int driver_cuda_version = 0;  ///< 1000 × major + 10 × minor; 0: not known
  int cupti_cuda_version = 0;   ///< of the CUDA toolkit that this CUPTI belongs to; 0: not known
};
/// Of this process, now. What a device or a driver has to tell (mig, both versions) is left out.
[[nodiscard]] CounterEnvironment read_environment();

/// What rules counters out before anything is tried. What only makes them unlikely (MIG, WSL, MPS,
/// an older driver) does not: the trial decides, and explain_counters() then names it.
[[nodiscard]] std::optional<Absence> explain_environment(const CounterEnvironment& environment);

/// CUpti_Profiler_Support_Level.
enum class Support { unknown, unsupported, disabled, supported };

/// What cuptiProfilerDeviceSupported answers (CUpti_Profiler_DeviceSupported_Params).
struct SupportFlags {
  Support overall = Support::unknown;
  Support architecture = Support::unknown;
  Support sli = Support::unknown;
  Support virtual_gpu = Support::unknown;
  Support confidential_computing = Support::unknown;
  Support crypto_mining = Support::unknown;
  Support wsl = Support::unknown;
};
/// Empty when the device supports profiling, or when CUPTI does not know.
[[nodiscard]] std::optional<Absence> explain_support(const SupportFlags& flags);

/// A call of CUPTI that answered `code`, which CUPTI calls `name` and which is not success. A code
/// that says little is read beside the environment: MIG, WSL, MPS or an older driver is then named
/// as the likely cause.
[[nodiscard]] Absence explain_counters(int code, std::string_view name, std::string_view call,
                                       const CounterEnvironment& environment = {});

/// CUDA's versions as people write them: 13000 → "13.0".
[[nodiscard]] std::string cuda_version_text(int version);

/// A chip that is not among those that this CUPTI knows (cuptiProfilerHostGetSupportedChips);
/// `cupti_version` as people write it, "13.0".
[[nodiscard]] Absence explain_chip(std::string_view chip, std::string_view cupti_version,
                                   std::span<const std::string> known);

/// A libcupti other than the one that this program was built for, by their cuptiGetVersion; empty
/// when it fits: the same or newer.
[[nodiscard]] std::optional<Absence> explain_library(unsigned built_for, unsigned found);

/// This build has no CUPTI; `without_cuda`: nor any CUDA part.
[[nodiscard]] Absence no_cupti_in_this_build(bool without_cuda);
/// There is nothing to count on; `detail` says why, in one line.
[[nodiscard]] Absence no_gpu_to_count_on(std::string_view detail);

/// Every mending step that the functions above give: harness/counters/ABSENCE.md has them all.
[[nodiscard]] std::span<const std::string_view> counter_mends();

}  // namespace strata
