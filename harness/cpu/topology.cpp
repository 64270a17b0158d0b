#include "harness/cpu/topology.hpp"

#include "harness/case/text.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sched.h>
#include <set>
#include <sstream>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace strata {
namespace {

namespace fs = std::filesystem;

std::string trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return std::string{text.substr(first, text.find_last_not_of(blanks) - first + 1)};
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The whole file, trimmed; empty if it cannot be read.
std::string read_text(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return trimmed(text.str());
}

/// "32K", "1M" or a number of bytes.
std::optional<std::int64_t> parse_size(std::string_view text) {
  constexpr std::string_view units = "KMG";
  std::int64_t unit = 1;
  if (const auto power = text.empty() ? std::string_view::npos : units.find(text.back());
      power != std::string_view::npos) {
    unit = std::int64_t{1024} << (10 * power);
    text.remove_suffix(1);
  }
  const auto number = whole_number(text);
  if (!number || *number <= 0) return std::nullopt;
  return *number * unit;
}

/// The value of the first line "key<separator>value".
std::optional<std::string> value_in(const fs::path& file, std::string_view key, char separator) {
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) {
    const auto at = line.find(separator);
    if (at != std::string::npos && trimmed(std::string_view{line}.substr(0, at)) == key) {
      return trimmed(std::string_view{line}.substr(at + 1));
    }
  }
  return std::nullopt;
}

std::vector<HostCache> caches_from_files(const fs::path& folder) {
  constexpr int most_indices = 16;
  std::vector<HostCache> caches;
  for (int i = 0; i < most_indices; ++i) {
    const fs::path index = folder / ("index" + std::to_string(i));
    const auto level = whole_number(read_text(index / "level"));
    const auto bytes = parse_size(read_text(index / "size"));
    if (!level || !bytes) continue;
    const std::string kind = lower(read_text(index / "type"));
    const auto cpus = parse_cpu_list(read_text(index / "shared_cpu_list"));
    caches.push_back(
        {.level = static_cast<int>(*level),
         .kind = kind.empty() ? "unified" : kind,
         .bytes = *bytes,
         .line_bytes = whole_number(read_text(index / "coherency_line_size")).value_or(0),
         .shared_by = cpus ? static_cast<int>(cpus->size()) : 0});
  }
  return caches;
}

std::vector<HostCache> caches_from_sysconf() {
  std::vector<HostCache> caches;
  for (const auto& [level, kind, size, line] :
       {std::tuple{1, "data", _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_LINESIZE},
        std::tuple{1, "instruction", _SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_LINESIZE},
        std::tuple{2, "unified", _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_LINESIZE},
        std::tuple{3, "unified", _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_LINESIZE}}) {
    const long bytes = sysconf(size);
    if (bytes > 0) caches.push_back({level, kind, bytes, std::max(sysconf(line), 0L), 0});
  }
  return caches;
}

/// The folder of a control group and all its parents, up to the mount point of the hierarchy.
std::vector<fs::path> group_and_parents(const fs::path& mount, std::string_view group) {
  std::vector<fs::path> folders{mount};
  fs::path folder = mount;
  for (const auto& part : fs::path{group}.relative_path()) {
    // A process outside its namespace's root sees "/../..": only the mount itself is accessible.
    if (part == "..") return {mount};
    folders.push_back(folder /= part);
  }
  return folders;
}

/// CPU time in CPUs: "200000 100000" grants two. Nothing for "max 100000", or -1 in v1.
std::optional<double> parse_cpu_max(const std::string& text) {
  const auto words = split(text, ' ');
  const auto granted = whole_number(words.front());
  const auto of = whole_number(words.back());
  if (words.size() != 2 || !granted || !of || *granted <= 0 || *of <= 0) return std::nullopt;
  return static_cast<double>(*granted) / static_cast<double>(*of);
}

std::string cpu_name(const fs::path& root, const utsname& system) {
  for (const char* key : {"model name", "Model", "Processor", "Hardware", "cpu model"}) {
    if (auto name = value_in(root / "proc/cpuinfo", key, ':'); name && !name->empty()) {
      return std::move(*name);
    }
  }
  const std::string machine = static_cast<const char*>(system.machine);
  return machine.empty() ? "unknown CPU" : machine + " CPU";
}

std::int64_t memory_bytes(const fs::path& root) {
  // "MemTotal:  16384000 kB"
  const std::string total = value_in(root / "proc/meminfo", "MemTotal", ':').value_or("");
  if (const auto kibi = whole_number(total.substr(0, total.find(' ')))) return *kibi * 1024;
  if (root != "/") return 0;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? std::int64_t{pages} * page : 0;
}

std::string unquoted(std::string text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front()) {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

}  // namespace

std::string slug(std::string_view name) {
  std::string text;
  bool gap = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto rest = name.substr(i);
    if (rest.starts_with("(R)") || rest.starts_with("(TM)")) i += rest.find(')');
    if (std::isalnum(static_cast<unsigned char>(name[i])) == 0) {
      gap = true;
      continue;
    }
    if (std::exchange(gap, false) && !text.empty()) text += '-';
    text += name[i];
  }
  return text.empty() ? "device" : lower(std::move(text));
}

std::vector<int> allowed_cpus() {
  cpu_set_t set{};
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<int>(cpu));
    }
  } else {
    // More CPUs than the set can hold (EINVAL): all online CPUs.
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < std::min<long>(online, CPU_SETSIZE); ++cpu)
      cpus.push_back(cpu);
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  constexpr int most = 1 << 20;
  if (text.empty()) return std::vector<int>{};
  std::set<int> cpus;
  for (const std::string_view part : split(text, ',')) {
    const auto ends = split(part, '-');
    const auto first = whole_number(ends.front());
    const auto last = whole_number(ends.back());
    if (ends.size() > 2 || !first || !last || *last < *first || *last >= most) return std::nullopt;
    for (auto cpu = *first; cpu <= *last; ++cpu)
      cpus.insert(static_cast<int>(cpu));
  }
  return std::vector<int>{cpus.begin(), cpus.end()};
}

std::vector<HostCache> caches_of(int cpu, const fs::path& root) {
  auto caches =
      caches_from_files(root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "cache");
  if (caches.empty() && root == "/") caches = caches_from_sysconf();
  std::ranges::sort(caches, {}, [](const HostCache& c) { return std::tie(c.level, c.kind); });
  return caches;
}

std::optional<std::int64_t> data_cache_bytes(const std::vector<HostCache>& caches, int level) {
  const auto found = std::ranges::find_if(caches, [level](const HostCache& cache) {
    return cache.level == level && cache.kind != "instruction";
  });
  return found == caches.end() ? std::nullopt : std::optional{found->bytes};
}

std::optional<double> cgroup_cpu_limit(const fs::path& root) {
  std::optional<double> least;
  const fs::path mount = root / "sys/fs/cgroup";
  // A limit of a parent group also applies below.
  const auto consider = [&](const fs::path& hierarchy, std::string_view group, const auto& quota) {
    for (const fs::path& folder : group_and_parents(hierarchy, group)) {
      const auto cpus = parse_cpu_max(quota(folder));
      if (cpus && (!least || *cpus < *least)) least = cpus;
    }
  };
  const auto in_v2 = [](const fs::path& folder) { return read_text(folder / "cpu.max"); };
  const auto in_v1 = [](const fs::path& folder) {
    return read_text(folder / "cpu.cfs_quota_us") + ' ' + read_text(folder / "cpu.cfs_period_us");
  };
  std::ifstream in{root / "proc/self/cgroup"};
  // "0::/user.slice" (v2) or "4:cpu,cpuacct:/docker/abc" (v1).
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      consider(mount, group, in_v2);
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      consider(mount / controllers, group, in_v1);
      consider(mount / "cpu", group, in_v1);
    }
  }
  return least;
}

HostInfo describe_host(const fs::path& root) {
  const auto cpus = allowed_cpus();
  utsname system{};
  (void)uname(&system);
  HostInfo info{.cpu = cpu_name(root, system),
                .cores = static_cast<int>(cpus.size()),
                .os = unquoted(value_in(root / "etc/os-release", "PRETTY_NAME", '=').value_or("")),
                .kernel = read_text(root / "proc/sys/kernel/osrelease"),
                .memory_bytes = memory_bytes(root),
                .caches = caches_of(cpus.front(), root),
                .more = {}};
  if (info.os.empty()) info.os = "Linux";
  if (info.kernel.empty()) info.kernel = static_cast<const char*>(system.release);
  if (const auto limit = cgroup_cpu_limit(root)) info.more["cpu_limit"] = *limit;
  return info;
}

}  // namespace strata
