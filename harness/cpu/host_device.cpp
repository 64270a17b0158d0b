// The CPU as a device: its properties, its conditions, and its diagnosis for `strata doctor`.
#include "harness/base/text.hpp"
#include "harness/cpu/load.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/record/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace strata {
namespace {

/// Vector instruction sets of this CPU and its system; empty if there are none.
Facts vector_sets() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return {{"avx2", static_cast<bool>(__builtin_cpu_supports("avx2"))},
          {"avx512f", static_cast<bool>(__builtin_cpu_supports("avx512f"))}};
#else
  return {};
#endif
}

std::optional<double> load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? std::optional{load} : std::nullopt;
}

std::optional<std::string> governor(int cpu) {
  std::ifstream in{fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu)};
  std::string name;
  return in >> name ? std::optional{name} : std::nullopt;
}

/// The highest "cpu MHz" in /proc/cpuinfo, because other cores may be asleep.
std::optional<double> reported_clock_hertz() {
  std::ifstream in{"/proc/cpuinfo"};
  double megahertz = 0;
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (!line.starts_with("cpu MHz") || colon == std::string::npos) continue;
    std::istringstream value{line.substr(colon + 1)};
    if (double one = 0; value >> one) megahertz = std::max(megahertz, one);
  }
  return megahertz > 0 ? std::optional{megahertz * 1e6} : std::nullopt;
}

/// Counter ticks per dependent addition: the minimum over several pieces, because an interrupted
/// piece does not show the core's clock.
double ticks_per_add() {
  constexpr int tries = 16;
  double fastest = 0;
  for (int i = 0; i < tries; ++i)
    fastest = std::max(fastest, core_pace().cycles_per_tick);
  return 1 / fastest;
}

/// Keeps a core busy until its clock and the counter are stable, and reports the result.
Facts settle_core() {
  double adding = 0;
  const Settled settled = settle(0.1, 1, [&] {
    const double began = monotonic_raw_seconds();
    const std::uint64_t ticks = tsc_now();
    adding = ticks_per_add();
    const double seconds = monotonic_raw_seconds() - began;
    return std::array{adding, static_cast<double>(tsc_now() - ticks) / seconds};
  });
  return {{"settled", settled.steady},
          {"settling_seconds", settled.seconds},
          {"ticks_per_add", adding}};
}

class HostDevice final : public Device {
 public:
  HostDevice() : cpus_{measured_cpus(allowed_cpus())} {
    const HostInfo host = describe_host();
    // Every benchmark uses all CPUs that it may run on, and one number cannot describe two kinds.
    if (cpus_.size() < allowed_cpus().size()) pin_ = pin_to(cpus_);
    identity_.name = host.cpu;
    identity_.slug = slug(host.cpu);
    Facts& facts = identity_.facts = facts_of(host);
    facts["tsc_hz"] = tsc_hertz();
    facts["invariant_tsc"] = has_invariant_tsc();
    facts.merge(vector_sets());
  }

  [[nodiscard]] Backend backend() const override { return Backend::host; }
  [[nodiscard]] const DeviceIdentity& identity() const override { return identity_; }

  [[nodiscard]] Facts conditions() override {
    Facts facts;
    if (const auto load = load_average()) facts["load_average"] = *load;
    if (const auto hertz = reported_clock_hertz()) facts["core_clock_hz"] = *hertz;
    if (auto name = governor(cpus_.front())) facts["governor"] = std::move(*name);
    return facts;
  }

  [[nodiscard]] Facts timer_facts() override {
    const TscCalibration& calibration = tsc_calibration();
    Facts facts{{"tsc_hz", calibration.hertz},
                {"tsc_relative_spread", calibration.relative_spread},
                {"invariant_tsc", has_invariant_tsc()}};
    facts.insert(settled_.begin(), settled_.end());
    return facts;
  }

  void settle() override { settled_ = settle_core(); }
  void begin_case(const std::string& /*id*/) override {}
  void end_case() override {}
  [[nodiscard]] std::string poisoned() override { return {}; }

 private:
  std::vector<int> cpus_;
  Finally pin_;  // to one kind of core, if the machine has several
  DeviceIdentity identity_;
  Facts settled_;  // empty before settling
};

using enum Finding::State;

std::string cores_text(int cores) {
  return fmt::format("{} core{}", cores, cores == 1 ? "" : "s");
}

Finding diagnose_cores(const HostInfo& host) {
  std::string detail = host.cpu + ", " + cores_text(host.cores) + " for this process";
  Facts offered = vector_sets();
  if (offered["avx512f"] == Fact{true}) {
    detail += ", AVX-512";
  } else if (offered["avx2"] == Fact{true}) {
    detail += ", AVX2";
  }
  const auto limit = host.more.find("cpu_limit");
  if (limit == host.more.end()) return {ok, "CPU", detail, {}};
  const double cpus = std::get<double>(limit->second);
  detail += fmt::format(", limited to {:g} CPUs by a control group", cpus);
  if (cpus >= host.cores) return {ok, "CPU", detail, {}};
  return {warning, "CPU", detail,
          "measurements on all cores are throttled: raise the limit of the container"};
}

Finding diagnose_caches(const HostInfo& host) {
  std::vector<std::string> sizes;
  for (const auto& cache : host.caches) {
    if (cache.kind != "instruction")
      sizes.push_back(fmt::format("L{} {}", cache.level, size_text(cache.bytes)));
  }
  if (!sizes.empty()) return {ok, "CPU caches", joined(sizes), {}};
  return {absent, "CPU caches", "the system does not report their sizes",
          "cases that need a cache size are skipped"};
}

Finding diagnose_memory(const HostInfo& host) {
  if (host.memory_bytes == 0) {
    return {absent, "CPU memory", "the system does not report its size",
            "cases that need it are skipped"};
  }
  const std::string detail = size_text(host.memory_bytes);
  if (!host.more.contains("memory_limit_bytes")) return {ok, "CPU memory", detail, {}};
  return {warning, "CPU memory", "limited to " + detail + " by a control group",
          "cases that need more are skipped: raise the limit of the container"};
}

/// The finding about a CPU with several kinds of cores.
std::optional<Finding> diagnose_kinds(const HostInfo& host) {
  const auto kinds = host.more.find("core_kinds");
  if (kinds == host.more.end()) return std::nullopt;
  return Finding{warning, "CPU kinds of core", std::get<std::string>(kinds->second),
                 "to measure another kind, run strata under taskset -c with its CPUs"};
}

Finding diagnose_counter() {
  const std::string rate = fmt::format("{:.1f} MHz, ", tsc_hertz() / 1e6);
  if (has_invariant_tsc()) return {ok, "CPU counter", rate + "constant rate", {}};
  return {warning, "CPU counter", rate + "constant rate not guaranteed",
          "cycles on this CPU are not comparable between clocks"};
}

}  // namespace

Finding diagnose_load() {
  const auto load = load_average();
  if (!load) return {absent, "CPU load", "the system does not report it", {}};
  const std::string detail =
      fmt::format("load average {:.2g} on {}", *load, cores_text(describe_host().cores));
  if (*load < busy_load) return {ok, "CPU load", detail, {}};
  return {warning, "CPU load", detail, "other work disturbs CPU measurements: end it first"};
}

std::unique_ptr<Device> open_host_device() {
  return std::make_unique<HostDevice>();
}

std::vector<Finding> diagnose_host() {
  const HostInfo host = describe_host();
  std::vector<Finding> findings{diagnose_cores(host), diagnose_caches(host), diagnose_memory(host),
                                diagnose_counter(), diagnose_load()};
  if (auto kinds = diagnose_kinds(host)) findings.push_back(std::move(*kinds));
  if (const auto name = governor(measured_cpus(allowed_cpus()).front()); name == "performance") {
    findings.push_back({ok, "CPU governor", *name, {}});
  } else if (name) {
    findings.push_back(
        {warning, "CPU governor", *name,
         "clocks may change during measurements; the performance governor holds them constant"});
  }
  return findings;
}

}  // namespace strata
