#include "harness/cli/commands.hpp"
#include "harness/core/benchmark.hpp"
#include "harness/core/build_info.hpp"
#include "harness/core/device.hpp"
#include "harness/core/error.hpp"
#include "harness/core/sweep.hpp"
#include "harness/runner/enrolment.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <variant>
#include <vector>

namespace strata {
namespace {

std::string text_of(const Fact& fact) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
          return value;
        } else {
          return fmt::format("{}", value);
        }
      },
      fact);
}

/// Google Benchmark keeps what it is told for good: the same text for library and device.
void add_context(Device& device) {
  const BuildInfo& build = build_info();
  benchmark::AddCustomContext("strata_version", build.version);
  benchmark::AddCustomContext("strata_commit", build.commit.empty() ? "unknown" : build.commit);
  benchmark::AddCustomContext("strata_dirty", build.dirty ? "true" : "false");
  benchmark::AddCustomContext("strata_build_type", build.build_type);
  benchmark::AddCustomContext("device", device.identity().name);
  benchmark::AddCustomContext("device_uuid", device.identity().uuid);
  for (const auto& [name, fact] : device.conditions()) {
    benchmark::AddCustomContext("device_" + name, text_of(fact));
  }
}

}  // namespace

int bench_command(const BenchOptions& options) {
  std::vector<std::string> words{"strata bench"};
  words.insert(words.end(), options.flags.begin(), options.flags.end());
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (auto& word : words)
    argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) {
    throw UsageError{
        fmt::format("bench: unknown flag {}; see --benchmark_* of Google Benchmark, and "
                    "strata bench --help",
                    argv[1])};
  }

  Sweep sweep = load_sweep(options.sweep, benchmarks());
  for (const auto& setting : options.settings)
    apply_setting(sweep, setting, benchmarks());
  const auto device = open_device(parse_device_request(options.device));
  const auto cases = expand(sweep, device->backend(), benchmarks());
  add_context(*device);

  bool settled = false;
  int failed = 0;
  Cache cache;
  enrol_with_google_benchmark(
      cases, sweep.plan, *device, cache,
      {.begin =
           [&](const Case&) {
             if (!settled) device->settle();
             settled = true;
           },
       .end = [&](const CaseRecord& record) { failed += record.status == Status::failed ? 1 : 0; },
       .stop = {}});
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  const bool poisoned = !device->poisoned().empty();
  return static_cast<int>(failed > 0 || poisoned ? ExitCode::failed : ExitCode::success);
}

}  // namespace strata
