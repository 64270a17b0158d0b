#include "harness/cpu/topology.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <sched.h>
#include <set>
#include <sstream>
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

/// The whole file, trimmed; nothing when it cannot be read.
std::optional<std::string> read_text(const fs::path& file) {
  std::ifstream in{file};
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return trimmed(text.str());
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class Number>
std::optional<Number> read_number(const fs::path& file) {
  const auto text = read_text(file);
  return text ? parse_number<Number>(*text) : std::nullopt;
}

/// "32K", "1M" or a number of bytes.
std::optional<std::int64_t> parse_size(std::string_view text) {
  std::int64_t unit = 1;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'M' || text.back() == 'G')) {
    constexpr std::int64_t kilo = 1024;
    unit = text.back() == 'K' ? kilo : text.back() == 'M' ? kilo * kilo : kilo * kilo * kilo;
    text.remove_suffix(1);
  }
  const auto number = parse_number<std::int64_t>(text);
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
    const auto level = read_number<int>(index / "level");
    const auto size = read_text(index / "size");
    const auto bytes = size ? parse_size(*size) : std::nullopt;
    if (!level || !bytes) continue;
    HostCache cache{
        .level = *level, .kind = read_text(index / "type").value_or("Unified"), .bytes = *bytes};
    std::transform(cache.kind.begin(), cache.kind.end(), cache.kind.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    cache.line_bytes = read_number<std::int64_t>(index / "coherency_line_size").value_or(0);
    const auto list = read_text(index / "shared_cpu_list");
    const auto cpus = list ? parse_cpu_list(*list) : std::nullopt;
    cache.shared_by = cpus ? static_cast<int>(cpus->size()) : 0;
    caches.push_back(std::move(cache));
  }
  return caches;
}

std::vector<HostCache> caches_from_sysconf() {
  struct Name {
    int level;
    const char* kind;
    int size;
    int line;
  };
  constexpr std::array names{
      Name{1, "data", _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_LINESIZE},
      Name{1, "instruction", _SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_LINESIZE},
      Name{2, "unified", _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_LINESIZE},
      Name{3, "unified", _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_LINESIZE}};
  std::vector<HostCache> caches;
  for (const auto& name : names) {
    const long bytes = sysconf(name.size);
    if (bytes <= 0) continue;
    caches.push_back({.level = name.level,
                      .kind = name.kind,
                      .bytes = bytes,
                      .line_bytes = std::max(sysconf(name.line), 0L),
                      .shared_by = 0});
  }
  return caches;
}

/// The folder of a control group and all above it, up to where the hierarchy is mounted.
std::vector<fs::path> group_and_parents(const fs::path& mount, const std::string& group) {
  std::vector<fs::path> folders{mount};
  fs::path folder = mount;
  for (const auto& part : fs::path{group}.relative_path()) {
    // A process outside its namespace's root sees "/../..": only the mount itself can be looked at.
    if (part == "..") return {mount};
    folders.push_back(folder /= part);
  }
  return folders;
}

/// "200000 100000" or "max 100000": CPUs, or nothing.
std::optional<double> parse_cpu_max(const std::string& text) {
  std::istringstream in{text};
  std::string quota;
  std::string period;
  in >> quota >> period;
  const auto granted = parse_number<std::int64_t>(quota);
  const auto of = parse_number<std::int64_t>(period);
  if (!granted || !of || *granted <= 0 || *of <= 0) return std::nullopt;
  return static_cast<double>(*granted) / static_cast<double>(*of);
}

std::optional<double> quota_in_v1(const fs::path& folder) {
  const auto quota = read_text(folder / "cpu.cfs_quota_us");
  const auto period = read_text(folder / "cpu.cfs_period_us");
  return quota && period ? parse_cpu_max(*quota + ' ' + *period) : std::nullopt;  // -1: no limit
}

std::string unquoted(std::string text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front()) {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

std::string cpu_name(const fs::path& root) {
  for (const char* key : {"model name", "Model", "Processor", "Hardware", "cpu model"}) {
    if (auto name = value_in(root / "proc/cpuinfo", key, ':'); name && !name->empty()) {
      return std::move(*name);
    }
  }
  utsname system{};
  return uname(&system) == 0 ? std::string{static_cast<const char*>(system.machine)} + " CPU"
                             : std::string{"unknown CPU"};
}

std::string kernel_release(const fs::path& root) {
  if (auto release = read_text(root / "proc/sys/kernel/osrelease")) return std::move(*release);
  utsname system{};
  return uname(&system) == 0 ? std::string{static_cast<const char*>(system.release)}
                             : std::string{};
}

std::int64_t memory_bytes(const fs::path& root) {
  // "MemTotal:  16384000 kB"
  if (const auto total = value_in(root / "proc/meminfo", "MemTotal", ':')) {
    constexpr std::int64_t kilo = 1024;
    const auto number = parse_number<std::int64_t>(total->substr(0, total->find(' ')));
    if (number) return *number * kilo;
  }
  if (root != "/") return 0;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? std::int64_t{pages} * page : 0;
}

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t set{};
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<int>(cpu));
    }
  } else {
    // More CPUs than the set has room for (EINVAL): all that are online.
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < std::min<long>(online, CPU_SETSIZE); ++cpu)
      cpus.push_back(cpu);
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  constexpr int most = 1 << 20;
  std::set<int> cpus;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const auto dash = part.find('-');
    const auto first = parse_number<int>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_number<int>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= most) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu)
      cpus.insert(cpu);
  }
  return std::vector<int>{cpus.begin(), cpus.end()};
}

std::vector<HostCache> caches_of(int cpu, const fs::path& root) {
  auto caches =
      caches_from_files(root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "cache");
  if (caches.empty() && root == "/") caches = caches_from_sysconf();
  std::sort(caches.begin(), caches.end(), [](const HostCache& a, const HostCache& b) {
    return std::pair{a.level, a.kind} < std::pair{b.level, b.kind};
  });
  return caches;
}

std::optional<std::int64_t> data_cache_bytes(const std::vector<HostCache>& caches, int level) {
  for (const auto& cache : caches) {
    if (cache.level == level && cache.kind != "instruction") return cache.bytes;
  }
  return std::nullopt;
}

std::optional<double> cgroup_cpu_limit(const fs::path& root) {
  std::optional<double> least;
  const auto consider = [&](std::optional<double> cpus) {
    if (cpus && (!least || *cpus < *least)) least = cpus;
  };
  const fs::path mount = root / "sys/fs/cgroup";
  std::ifstream in{root / "proc/self/cgroup"};
  // "0::/user.slice" (v2) or "4:cpu,cpuacct:/docker/abc" (v1); a limit above holds below as well.
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const auto& folder : group_and_parents(mount, group)) {
        if (const auto text = read_text(folder / "cpu.max")) consider(parse_cpu_max(*text));
      }
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      for (const fs::path& hierarchy : {mount / controllers, mount / "cpu"}) {
        for (const auto& folder : group_and_parents(hierarchy, group)) {
          consider(quota_in_v1(folder));
        }
      }
    }
  }
  return least;
}

HostInfo describe_host(const fs::path& root) {
  const auto cpus = allowed_cpus();
  HostInfo info{.cpu = cpu_name(root),
                .cores = static_cast<int>(cpus.size()),
                .os = unquoted(value_in(root / "etc/os-release", "PRETTY_NAME", '=').value_or("")),
                .kernel = kernel_release(root),
                .memory_bytes = memory_bytes(root),
                .caches = caches_of(cpus.front(), root),
                .more = {}};
  if (info.os.empty()) info.os = "Linux";
  if (const auto limit = cgroup_cpu_limit(root)) info.more["cpu_limit"] = *limit;
  return info;
}

}  // namespace strata
