#include "harness/case/benchmark.hpp"
#include "harness/case/error.hpp"
#include "harness/case/subprocess.hpp"
#include "harness/case/sweep.hpp"
#include "harness/case/text.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/measure/device_lock.hpp"
#include "harness/record/build_info.hpp"
#include "harness/record/statistics.hpp"
#include "harness/run/case_runner.hpp"
#include "harness/run/worker.hpp"

#include <CLI/CLI.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace strata {
namespace {

struct BenchOptions {
  std::string sweep = "default";
  std::string device = "auto";
  std::vector<std::string> settings;
  std::vector<std::string> counters;  ///< not empty: count the cases instead of timing them
};

/// Google Benchmark keeps this context until the process ends.
void add_context(Device& device) {
  const BuildInfo& build = build_info();
  benchmark::AddCustomContext("strata_version", build.version);
  benchmark::AddCustomContext("strata_commit", build.commit.empty() ? "unknown" : build.commit);
  benchmark::AddCustomContext("strata_dirty", build.dirty ? "true" : "false");
  benchmark::AddCustomContext("strata_build_type", build.build_type);
  benchmark::AddCustomContext("device", device.identity().name);
  benchmark::AddCustomContext("device_uuid", device.identity().uuid);
  for (const auto& [name, fact] : device.conditions()) {
    benchmark::AddCustomContext(
        "device_" + name, std::visit([](const auto& v) { return fmt::format("{}", v); }, fact));
  }
}

/// The counters that --counters selects, opened before the device; null if the cases are to be
/// timed. Throws CountersUnavailable.
std::unique_ptr<CounterSource> open_asked_counters(const BenchOptions& options, const Sweep& sweep,
                                                   const DeviceRequest& device) {
  if (options.counters.empty()) return nullptr;
  const auto asked = parse_counters(options.counters);
  // An outside profiler counts: this process opens no counters.
  if (std::ranges::find(asked, "external") == asked.end()) {
    const CounterSelection selection =
        selection_of(asked, wanted_counter_sets(sweep, benchmarks()));
    return selection.wanted.empty() ? nullptr : open_device_counters(device, selection);
  }
  if (asked.size() == 1) return open_external_counters();
  throw UsageError{
      "bench: --counters external cannot be combined with others: the external profiler chooses "
      "what is counted"};
}

/// The quantity that represents the time of a case: that of the whole grid, otherwise the first one
/// in seconds, otherwise the wall time of the case.
double seconds_of(const CaseRecord& record) {
  const Measurement* best = nullptr;
  for (const auto& m : record.measurements) {
    if (m.unit != "s") continue;
    if (best == nullptr || m.quantity == "grid_time") best = &m;
  }
  return best == nullptr ? record.seconds : median(best->samples);
}

/// Passes a case to Google Benchmark: its manual time, a counter for each quantity ("quantity" if
/// one method has it, otherwise "quantity:method"), and why a row is invalid.
void report(const CaseRecord& record, benchmark::State& state) {
  state.SetIterationTime(seconds_of(record));
  std::string reasons;
  for (const auto& m : record.measurements) {
    const bool one_method =
        std::ranges::count(record.measurements, m.quantity, &Measurement::quantity) == 1;
    const std::string name = one_method ? m.quantity : m.quantity + ':' + m.method;
    state.counters[name] = benchmark::Counter(median(m.samples));
    if (reasons.empty() && !record.is_valid(m)) reasons = "INVALID " + record.reasons(m);
  }
  if (!reasons.empty()) state.SetLabel(reasons.c_str());
}

/// `words`: a name for argv[0], then the flags of Google Benchmark.
ExitCode bench(const BenchOptions& options, std::vector<std::string> words) {
  const bool lists = std::ranges::any_of(
      words, [](const auto& word) { return word.starts_with("--benchmark_list_tests"); });
  auto argv = argument_vector(words);
  int argc = static_cast<int>(words.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) {
    throw UsageError{fmt::format(
        "bench: unknown flag {}; see --benchmark_* of Google Benchmark, and strata bench --help",
        argv[1])};
  }
  // Google Benchmark would add a line of its own to the refusal of a malformed one.
  const std::string filter = benchmark::GetBenchmarkFilter();
  (void)matcher("bench: --benchmark_filter", filter.substr(filter.starts_with('-') ? 1 : 0));
  Sweep sweep = load_sweep(options.sweep, benchmarks());
  apply_settings(sweep, options.settings, benchmarks());
  const auto request = parse_device_request(options.device);
  std::unique_ptr<Device> device;  // opened last, destroyed last: the profiler uses it
  const auto counters = open_asked_counters(options, sweep, request);
  device = open_device(request);
  if (counters) {
    if (device->backend() == Backend::host) {
      throw CountersUnavailable{std::string{host_has_no_counters}, {}};
    }
    counters->attach();
  }
  std::optional<DeviceLock> lock;  // listing names measures nothing
  if (!lists) lock = DeviceLock::acquire(device->identity());
  const auto cases = expand(sweep, device->backend(), benchmarks());
  add_context(*device);

  bool settled = false;
  bool failed = false;
  Cache cache;
  const Counting counting{.source = counters.get()};
  // One iteration is a whole measurement by the plan: warm-ups, samples, stopping rule.
  const auto measure = [&](benchmark::State& state, const Case& which) {
    if (const auto why = device->poisoned(); !why.empty()) return state.SkipWithError(why.c_str());
    if (!settled) device->settle();
    settled = true;
    const CaseRecord record = run_case(which, sweep.plan, *device, cache, counting);
    if (record.status == Status::measured) {
      for (auto _ : state)
        report(record, state);
    } else {
      state.SkipWithError(fmt::format("{}: {}", to_string(record.status), record.reason).c_str());
    }
    failed = failed || record.status == Status::failed;
  };
  for (const Case& which : cases) {
    benchmark::RegisterBenchmark(which.id().c_str(), measure, which)
        ->UseManualTime()
        ->Iterations(1);
  }
  const std::size_t matched = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (matched == 0) {
    throw UsageError{fmt::format(
        "bench: --benchmark_filter matches none of the {} cases; --benchmark_list_tests "
        "prints their names",
        cases.size())};
  }
  return failed || !device->poisoned().empty() ? ExitCode::failed : ExitCode::success;
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  const auto options = std::make_shared<BenchOptions>();
  auto* sub = app.add_subcommand(
      "bench",
      "run the same cases as a Google Benchmark program; accepts every --benchmark_* flag");
  sub->allow_extras();
  option(sub, "--sweep", options->sweep, "sweep with the cases");
  option(sub, "--device", options->device, "auto, cuda:N or host");
  option(sub, "--set", options->settings, "as for strata run", "NAME.KEY=VALUE");
  option(sub, "--counters", options->counters,
         "count the cases instead of timing them, as for strata run; or external: run the work for "
         "an external profiler (ncu --nvtx --nvtx-include counted/)",
         "LIST");
  sub->callback([=, &status] {
    auto words = sub->remaining();
    words.insert(words.begin(), "strata bench");
    status = static_cast<int>(bench(*options, words));
  });
}

}  // namespace strata
