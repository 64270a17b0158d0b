#include "harness/cpu/topology.hpp"

#include "harness/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sched.h>
#include <set>
#include <sstream>
#include <system_error>
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

/// A cache, and the CPUs that share it; none if the system does not list them.
struct SharedCache {
  HostCache cache;
  std::vector<int> cpus;
};

std::vector<SharedCache> caches_from_files(int cpu, const fs::path& root) {
  const fs::path folder = root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "cache";
  constexpr int most_indices = 16;
  std::vector<SharedCache> caches;
  for (int i = 0; i < most_indices; ++i) {
    const fs::path index = folder / ("index" + std::to_string(i));
    const auto level = whole_number(read_text(index / "level"));
    const auto bytes = parse_size(read_text(index / "size"));
    if (!level || !bytes) continue;
    const std::string kind = lower(read_text(index / "type"));
    auto cpus = parse_cpu_list(read_text(index / "shared_cpu_list")).value_or(std::vector<int>{});
    caches.push_back(
        {{.level = static_cast<int>(*level),
          .kind = kind.empty() ? "unified" : kind,
          .bytes = *bytes,
          .line_bytes = whole_number(read_text(index / "coherency_line_size")).value_or(0),
          .shared_by = static_cast<int>(cpus.size())},
         std::move(cpus)});
  }
  return caches;
}

std::vector<SharedCache> caches_from_sysconf() {
  std::vector<SharedCache> caches;
  for (const auto& [level, kind, size, line] :
       {std::tuple{1, "data", _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_LINESIZE},
        std::tuple{1, "instruction", _SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_LINESIZE},
        std::tuple{2, "unified", _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_LINESIZE},
        std::tuple{3, "unified", _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_LINESIZE}}) {
    const long bytes = sysconf(size);
    if (bytes > 0) caches.push_back({{level, kind, bytes, std::max(sysconf(line), 0L), 0}, {}});
  }
  return caches;
}

std::vector<SharedCache> shared_caches_of(int cpu, const fs::path& root) {
  auto caches = caches_from_files(cpu, root);
  if (caches.empty() && root == "/") caches = caches_from_sysconf();
  std::ranges::sort(
      caches, {}, [](const SharedCache& one) { return std::tie(one.cache.level, one.cache.kind); });
  return caches;
}

/// Name of the unit that counts the events of each CPU. Only a CPU with several kinds of cores has
/// several units that list their CPUs (cpu_core and cpu_atom, armv8_cortex_a55).
std::map<int, std::string> units_of_cpus(const fs::path& root) {
  std::map<int, std::string> units;
  std::error_code error;
  for (const auto& folder : fs::directory_iterator{root / "sys/devices", error}) {
    const auto cpus = parse_cpu_list(read_text(folder.path() / "cpus"));
    for (const int cpu : cpus.value_or(std::vector<int>{}))
      units[cpu] = folder.path().filename().string();
  }
  return units;
}

/// Level → bytes of each data cache.
std::map<int, std::int64_t> data_sizes(const std::vector<HostCache>& caches) {
  std::map<int, std::int64_t> sizes;
  for (const HostCache& cache : caches)
    if (cache.kind != "instruction") sizes[cache.level] = cache.bytes;
  return sizes;
}

/// How `cpus` share the data caches of each level, as facts.
Facts sharing_facts(const std::vector<int>& cpus, const fs::path& root) {
  std::map<int, std::map<std::vector<int>, std::int64_t>> users;  // by level and sharing CPUs
  for (const int cpu : cpus) {
    for (auto& [cache, sharing] : shared_caches_of(cpu, root))
      if (cache.kind != "instruction" && !sharing.empty()) ++users[cache.level][sharing];
  }
  Facts facts;
  for (const auto& [level, caches] : users) {
    const std::string name = level == 1 ? "l1d" : "l" + std::to_string(level);
    facts[name + "_shared_by"] =
        std::ranges::max_element(caches, {}, [](const auto& one) { return one.second; })->second;
    facts[name + "_caches"] = static_cast<std::int64_t>(caches.size());
  }
  return facts;
}

/// "2 CPUs with L1 48 KiB, L2 1.25 MiB (cpu_core, measured)", joined by "; ".
std::string in_words(const std::vector<CoreKind>& kinds, int measured) {
  std::string text;
  for (const CoreKind& kind : kinds) {
    std::vector<std::string> sizes;
    for (const auto& [level, bytes] : data_sizes(kind.caches))
      sizes.push_back("L" + std::to_string(level) + ' ' + size_text(bytes));
    std::vector<std::string> remarks;
    if (!kind.unit.empty()) remarks.push_back(kind.unit);
    const bool is_measured = std::ranges::find(kind.cpus, measured) != kind.cpus.end();
    remarks.emplace_back(is_measured ? "measured" : "not measured");
    const auto count = kind.cpus.size();
    text += fmt::format("{}{} CPU{} with {} ({})", text.empty() ? "" : "; ", count,
                        count == 1 ? "" : "s", sizes.empty() ? "unknown caches" : joined(sizes),
                        fmt::join(remarks, ", "));
  }
  return text;
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

/// All of the first kind among `allowed`.
std::vector<int> measured_of(const std::vector<CoreKind>& kinds, const std::vector<int>& allowed) {
  for (const CoreKind& kind : kinds) {
    std::vector<int> cpus;
    std::ranges::set_intersection(kind.cpus, allowed, std::back_inserter(cpus));
    if (!cpus.empty()) return cpus;
  }
  return allowed;
}

template <class Number>
std::optional<Number> least(std::optional<Number> one, std::optional<Number> other) {
  return one && other ? std::min(one, other) : one ? one : other;
}

/// The least limit of the process's control groups that `controller` maintains: in_v2(folder) or
/// in_v1(folder) reads that of one group. A limit of a parent group also applies below.
template <class Number, class InV2, class InV1>
std::optional<Number> least_limit(const fs::path& root, const std::string& controller,
                                  const InV2& in_v2, const InV1& in_v1) {
  std::optional<Number> limit;
  const fs::path mount = root / "sys/fs/cgroup";
  const auto consider = [&](const fs::path& hierarchy, std::string_view group, const auto& read) {
    for (const fs::path& folder : group_and_parents(hierarchy, group))
      limit = least(limit, std::optional<Number>{read(folder)});
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
    } else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) {
      consider(mount / controllers, group, in_v1);
      consider(mount / controller, group, in_v1);
    }
  }
  return limit;
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
  std::vector<HostCache> caches;
  for (auto& shared : shared_caches_of(cpu, root))
    caches.push_back(std::move(shared.cache));
  return caches;
}

std::optional<std::int64_t> data_cache_bytes(const std::vector<HostCache>& caches, int level) {
  const auto found = std::ranges::find_if(caches, [level](const HostCache& cache) {
    return cache.level == level && cache.kind != "instruction";
  });
  return found == caches.end() ? std::nullopt : std::optional{found->bytes};
}

std::uint64_t last_level_bytes(const std::vector<HostCache>& caches) {
  const auto sizes = data_sizes(caches);
  return sizes.empty() ? 0 : static_cast<std::uint64_t>(sizes.rbegin()->second);
}

std::vector<CoreKind> core_kinds(const std::vector<int>& allowed, const fs::path& root) {
  auto cpus = parse_cpu_list(read_text(root / "sys/devices/system/cpu/online"));
  if (!cpus || cpus->empty()) cpus = allowed;
  const auto units = units_of_cpus(root);
  std::vector<CoreKind> kinds;
  for (const int cpu : *cpus) {
    const auto unit = units.find(cpu);
    CoreKind kind{.unit = unit == units.end() ? "" : unit->second,
                  .cpus = {},
                  .caches = caches_of(cpu, root)};
    auto same = std::ranges::find_if(kinds, [&](const CoreKind& other) {
      return other.unit == kind.unit && data_sizes(other.caches) == data_sizes(kind.caches);
    });
    if (same == kinds.end()) same = kinds.insert(same, std::move(kind));
    same->cpus.push_back(cpu);
  }
  std::ranges::stable_sort(kinds, std::ranges::greater{},
                           [](const CoreKind& kind) { return data_sizes(kind.caches); });
  return kinds;
}

std::vector<int> measured_cpus(const std::vector<int>& allowed, const fs::path& root) {
  return measured_of(core_kinds(allowed, root), allowed);
}

std::optional<double> cgroup_cpu_limit(const fs::path& root) {
  const auto in_v2 = [](const fs::path& folder) {
    return parse_cpu_max(read_text(folder / "cpu.max"));
  };
  const auto in_v1 = [](const fs::path& folder) {
    return parse_cpu_max(read_text(folder / "cpu.cfs_quota_us") + ' ' +
                         read_text(folder / "cpu.cfs_period_us"));
  };
  return least_limit<double>(root, "cpu", in_v2, in_v1);
}

std::optional<std::int64_t> cgroup_memory_limit(const fs::path& root) {
  const auto bytes = [](const fs::path& file) -> std::optional<std::int64_t> {
    const auto limit = whole_number(read_text(file));  // "max" in v2
    return limit && *limit > 0 ? std::optional<std::int64_t>{*limit} : std::nullopt;
  };
  // Beyond memory.high a process is slowed down until it hardly runs.
  const auto in_v2 = [&](const fs::path& folder) {
    return least(bytes(folder / "memory.max"), bytes(folder / "memory.high"));
  };
  const auto in_v1 = [&](const fs::path& folder) {
    return bytes(folder / "memory.limit_in_bytes");
  };
  return least_limit<std::int64_t>(root, "memory", in_v2, in_v1);
}

HostInfo describe_host(const fs::path& root, const std::vector<int>& allowed) {
  const auto kinds = core_kinds(allowed, root);
  const auto cpus = measured_of(kinds, allowed);
  utsname system{};
  (void)uname(&system);
  HostInfo info{.cpu = cpu_name(root, system),
                .cores = static_cast<int>(cpus.size()),
                .os = unquoted(value_in(root / "etc/os-release", "PRETTY_NAME", '=').value_or("")),
                .kernel = read_text(root / "proc/sys/kernel/osrelease"),
                .memory_bytes = memory_bytes(root),
                .caches = caches_of(cpus.front(), root),
                .more = sharing_facts(cpus, root)};
  if (info.os.empty()) info.os = "Linux";
  if (info.kernel.empty()) info.kernel = static_cast<const char*>(system.release);
  if (const auto limit = cgroup_cpu_limit(root)) info.more["cpu_limit"] = *limit;
  const auto limit = cgroup_memory_limit(root);
  if (limit && (info.memory_bytes == 0 || *limit < info.memory_bytes)) {
    info.memory_bytes = *limit;
    info.more["memory_limit_bytes"] = *limit;
  }
  if (kinds.size() > 1) info.more["core_kinds"] = in_words(kinds, cpus.front());
  return info;
}

Facts facts_of(const HostInfo& host) {
  Facts facts = host.more;
  facts["cores"] = std::int64_t{host.cores};
  for (const auto& [name, level] : {std::pair{"l1d_bytes", 1}, {"l2_bytes", 2}, {"l3_bytes", 3}})
    if (const auto bytes = data_cache_bytes(host.caches, level)) facts[name] = *bytes;
  if (!host.caches.empty() && host.caches.front().line_bytes > 0)
    facts["line_bytes"] = host.caches.front().line_bytes;
  if (host.memory_bytes > 0) facts["memory_bytes"] = host.memory_bytes;
  return facts;
}

std::string size_text(std::int64_t bytes) {
  constexpr double step = 1024;
  double size = static_cast<double>(bytes) / step;
  std::string_view unit = "KMG";
  for (; size >= step && unit.size() > 1; unit.remove_prefix(1))
    size /= step;
  return fmt::format("{:.4g} {}iB", size, unit.front());
}

}  // namespace strata
