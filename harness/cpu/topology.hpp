// Properties of the machine around the device, as reported by the system. Every function that reads
// files takes the folder that represents "/", so that tests can provide machines.
#pragma once

#include "harness/record/run_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// A device's name in folder names: lower-case words joined by '-'. "NVIDIA H200" gives
/// "nvidia-h200". ASCII letters and digits only, without "(R)" and "(TM)"; "device" if nothing
/// remains.
[[nodiscard]] std::string slug(std::string_view name);

/// The logical CPUs that this process may run on, ascending; never empty.
[[nodiscard]] std::vector<int> allowed_cpus();

/// The CPUs of a list in the kernel's format ("0-3,8"), ascending. Nothing for other text.
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// The caches of CPU `cpu`, by level, data before instruction. Without such files of the system,
/// those of sysconf (only for "/"); a cache of unknown size is left out.
[[nodiscard]] std::vector<HostCache> caches_of(int cpu, const std::filesystem::path& root = "/");

/// Bytes of the data or unified cache of that level; nothing if there is none.
[[nodiscard]] std::optional<std::int64_t> data_cache_bytes(const std::vector<HostCache>& caches,
                                                           int level);

/// Bytes of the last level; 0 if no cache is known.
[[nodiscard]] std::uint64_t last_level_bytes(const std::vector<HostCache>& caches);

/// CPUs whose caches have the same sizes and whose events the same unit counts.
struct CoreKind {
  std::string unit;  ///< "cpu_core"; empty if the system does not distinguish units
  std::vector<int> cpus;
  std::vector<HostCache> caches;  ///< of the first CPU
};

/// The kinds of cores among all CPUs of the machine, or among `allowed` if the system does not list
/// them. The first kind has the largest L1; of equal ones the largest L2, then L3.
[[nodiscard]] std::vector<CoreKind> core_kinds(const std::vector<int>& allowed,
                                               const std::filesystem::path& root = "/");

/// The CPUs of `allowed` that are measured: all of the first kind that it contains.
[[nodiscard]] std::vector<int> measured_cpus(const std::vector<int>& allowed,
                                             const std::filesystem::path& root = "/");

/// CPU time, in CPUs, that control groups (v2 or v1) grant this process; nothing without a limit.
[[nodiscard]] std::optional<double> cgroup_cpu_limit(const std::filesystem::path& root = "/");

/// Bytes of memory that control groups grant this process. A group without a limit may report a
/// number beyond every memory.
[[nodiscard]] std::optional<std::int64_t> cgroup_memory_limit(
    const std::filesystem::path& root = "/");

/// CPU, measured cores and their caches, memory, operating system and kernel. `memory_bytes` is at
/// most the limit of the control groups. In `more`: limits, the kinds of cores if there are several
/// (core_kinds), and for each level of cache how many measured CPUs share one at most
/// (l2_shared_by) and how many there are (l2_caches).
[[nodiscard]] HostInfo describe_host(const std::filesystem::path& root = "/",
                                     const std::vector<int>& allowed = allowed_cpus());

/// The same as facts of a device: `more`, cores, sizes of data caches and of memory.
[[nodiscard]] Facts facts_of(const HostInfo& host);

/// "32 KiB", "1.5 MiB".
[[nodiscard]] std::string size_text(std::int64_t bytes);

}  // namespace strata
