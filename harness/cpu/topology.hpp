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

/// The caches of CPU `cpu`, by level, data before instruction. If the system's files do not say,
/// those of sysconf (only for "/"); a cache of unknown size is left out.
[[nodiscard]] std::vector<HostCache> caches_of(int cpu, const std::filesystem::path& root = "/");

/// Bytes of the data or unified cache of that level; nothing if there is none.
[[nodiscard]] std::optional<std::int64_t> data_cache_bytes(const std::vector<HostCache>& caches,
                                                           int level);

/// CPU time, in CPUs, that control groups (v2 or v1) grant this process; nothing without a limit.
[[nodiscard]] std::optional<double> cgroup_cpu_limit(const std::filesystem::path& root = "/");

/// CPU, cores, caches, memory, operating system and kernel; a limit on CPU time is in `more`.
[[nodiscard]] HostInfo describe_host(const std::filesystem::path& root = "/");

}  // namespace strata
