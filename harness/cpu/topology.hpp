// What the machine around the device is made of, as the system tells it. Every function that reads
// files takes the folder that stands for "/", so that tests bring machines of their own.
#pragma once

#include "harness/record/run_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// A device's name as it stands in folder names: lower-case words joined by '-'. "NVIDIA H200"
/// gives "nvidia-h200". ASCII letters and digits only, without "(R)" and "(TM)"; "device" when
/// nothing is left.
[[nodiscard]] std::string slug(std::string_view name);

/// The logical CPUs that this process may run on, ascending; never empty.
[[nodiscard]] std::vector<int> allowed_cpus();

/// The CPUs of a list as the kernel writes it ("0-3,8"), ascending. Nothing for another text.
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// The caches that CPU `cpu` uses, by level, data before instruction. Where the system's files do
/// not say, what sysconf says (for "/" only); a cache of unknown size is left out.
[[nodiscard]] std::vector<HostCache> caches_of(int cpu, const std::filesystem::path& root = "/");

/// Bytes of the data or unified cache of that level; nothing when there is none.
[[nodiscard]] std::optional<std::int64_t> data_cache_bytes(const std::vector<HostCache>& caches,
                                                           int level);

/// CPUs' worth of time that control groups (v2 or v1) grant this process; nothing without a limit.
[[nodiscard]] std::optional<double> cgroup_cpu_limit(const std::filesystem::path& root = "/");

/// CPU, cores, caches, memory, operating system and kernel; a limit on CPU time stands in `more`.
[[nodiscard]] HostInfo describe_host(const std::filesystem::path& root = "/");

}  // namespace strata
