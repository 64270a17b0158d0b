#include "harness/base/error.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/base/text.hpp"
#include "harness/case/benchmark.hpp"
#include "harness/case/sweep.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/device_lock.hpp"
#include "harness/record/build_info.hpp"
#include "harness/record/statistics.hpp"
#include "harness/run/case_runner.hpp"
#include "harness/run/worker.hpp"
#include "nbody/gravity/problem/dataset_file.hpp"
#include "nbody/gravity/rung_experiment.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <utility>

namespace strata {
namespace {

constexpr int least_samples = 6;  // with fewer, the median has no 95 % interval

struct BenchOptions {
  std::string sweep = "default";
  std::string device = "auto";
  std::vector<std::string> settings;
  std::vector<std::string> counters;  ///< not empty: count the cases instead of timing them
  std::string result;                 ///< file for the bodies that a rung of nbody moved
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
std::unique_ptr<CounterSource> open_requested_counters(const BenchOptions& options,
                                                       const Sweep& sweep,
                                                       const DeviceRequest& device) {
  if (options.counters.empty()) return nullptr;
  const auto counter_names = parse_counters(options.counters);
  // An outside profiler counts: this process opens no counters.
  if (std::ranges::find(counter_names, "external") == counter_names.end()) {
    const CounterSelection selection =
        selection_of(counter_names, wanted_counter_sets(sweep, benchmarks()));
    return selection.wanted.empty() ? nullptr : open_device_counters(device, selection);
  }
  if (counter_names.size() == 1) return open_external_counters();
  throw UsageError{
      "bench: --counters external cannot be combined with others: the external profiler chooses "
      "what is counted"};
}

/// Seconds by sample: of the quantity in seconds, that of the whole grid first; otherwise of the
/// first quantity in cycles of a clock that was measured with it; otherwise of one of the
/// operations whose rate was measured. Empty if no time was measured.
std::vector<double> seconds_of(const CaseRecord& record) {
  const auto samples_of = [&](std::string_view unit, std::string_view quantity = {}) {
    for (const auto& m : record.measurements) {
      if (m.provenance == Provenance::timed && m.unit == unit &&
          (quantity.empty() || m.quantity == quantity)) {
        return m.samples;
      }
    }
    return std::vector<double>{};
  };
  if (auto seconds = samples_of("s", "grid_time"); !seconds.empty()) return seconds;
  if (auto seconds = samples_of("s"); !seconds.empty()) return seconds;
  std::vector<double> seconds;
  std::ranges::transform(samples_of("cycle"), samples_of("Hz", "core_clock"),
                         std::back_inserter(seconds), std::divides{});
  if (!seconds.empty()) return seconds;
  std::ranges::transform(samples_of("1/s"), std::back_inserter(seconds),
                         [](double rate) { return 1 / rate; });
  return seconds;
}

/// Passes sample `index` of a case to Google Benchmark: its manual time, a counter for each
/// quantity
/// ("quantity" if one method has it, otherwise "quantity:method"), and why the case is invalid.
/// What has one value per case has it in every repetition: models, counts, and the wall time of a
/// case without a time.
void report(const CaseRecord& record, std::size_t index, benchmark::State& state) {
  const auto seconds = seconds_of(record);
  if (!seconds.empty() && index >= seconds.size()) {
    return state.SkipWithError(fmt::format("the case has {} samples", seconds.size()).c_str());
  }
  while (state.KeepRunning())
    state.SetIterationTime(seconds.empty() ? record.seconds : seconds[index]);
  std::string reasons;
  for (const auto& m : record.measurements) {
    const bool one_method =
        std::ranges::count(record.measurements, m.quantity, &Measurement::quantity) == 1;
    const std::string name = one_method ? m.quantity : m.quantity + ':' + m.method;
    const bool one_value = m.provenance != Provenance::timed && m.samples.size() == 1;
    if (one_value || index < m.samples.size()) {
      state.counters[name] = benchmark::Counter(m.samples[one_value ? 0 : index]);
    }
    if (reasons.empty() && !record.is_valid(m)) reasons = "INVALID " + record.reasons(m);
  }
  if (!reasons.empty()) state.SetLabel(reasons.c_str());
}

/// Takes the number of repetitions from the last flag of Google Benchmark that sets it.
int repetitions_in(const std::vector<std::string>& words, int otherwise) {
  constexpr std::string_view flag = "--benchmark_repetitions=";
  constexpr long long most = 100000;  // as plan.max_samples
  for (const std::string& word : words) {
    if (!word.starts_with(flag)) continue;
    const auto number = whole_number(word.substr(flag.size()));
    if (!number || *number < 1 || *number > most) {
      throw UsageError{
          fmt::format("bench: {}; expected an integer from 1 to {}", in_quotes(word), most)};
    }
    otherwise = static_cast<int>(*number);
  }
  return otherwise;
}

/// Standard error without the warning that the library was built without NDEBUG, as distributions
/// build it: every time is taken by Strata, not by the library.
class WithoutBuildWarning : public std::stringbuf {
 public:
  WithoutBuildWarning() = default;
  WithoutBuildWarning(const WithoutBuildWarning&) = delete;
  WithoutBuildWarning& operator=(const WithoutBuildWarning&) = delete;
  WithoutBuildWarning(WithoutBuildWarning&&) = delete;
  WithoutBuildWarning& operator=(WithoutBuildWarning&&) = delete;
  ~WithoutBuildWarning() override { pass_on(); }

 protected:
  int sync() override {
    pass_on();
    return 0;
  }

 private:
  void pass_on() {
    std::istringstream lines{str()};
    str({});
    for (std::string line; std::getline(lines, line);) {
      if (line.find("Library was built as DEBUG") != std::string::npos) continue;
      (void)std::fputs((line + (lines.eof() ? "" : "\n")).c_str(), stderr);
    }
  }
};

/// A case, measured in its first repetition; each repetition reports one sample.
struct Repeated {
  std::optional<CaseRecord> record;
  std::size_t reported = 0;
};

/// A run of a built-in sweep reports nothing: it is written for GPUs and CPUs.
void report_dropped(const Sweep& sweep, Backend backend, bool lists) {
  if (lists || !is_builtin(sweep))
    print_dropped(sweep, dropped_items(sweep, backend, benchmarks()), /*each=*/lists);
}

/// Has the bodies that a rung of nbody moved written to a file.
class ResultFile {
 public:
  ResultFile(std::string file, Cache& cache) : file_{std::move(file)} {
    if (file_.empty()) return;
    check_target(file_, Existing::keep);
    cache.shared<nbody::ResultSink>().take = [this](const nbody::Bodies& moved, std::size_t steps) {
      if (std::exchange(is_written_, true)) {
        throw UsageError{"--write-result: two cases moved bodies; select one: --benchmark_filter"};
      }
      nbody::write_dataset(file_,
                           {.bodies = moved,
                            .seed = nbody::Problem{}.seed,
                            .steps = static_cast<std::uint32_t>(steps)},
                           Existing::keep);
    };
  }
  /// Throws UsageError if nothing was written.
  void require_written() const {
    if (file_.empty() || is_written_) return;
    throw UsageError{
        "bench: --write-result: no case moved bodies; expected a rung of nbody with "
        "problem=galaxies; select one: --benchmark_filter"};
  }

 private:
  std::string file_;
  bool is_written_ = false;
};

/// `words`: a name for argv[0], then the flags of Google Benchmark.
ExitCode bench(const BenchOptions& options, std::vector<std::string> words) {
  const bool lists = std::ranges::any_of(
      words, [](const auto& word) { return word.starts_with("--benchmark_list_tests"); });
  Sweep sweep = load_sweep(options.sweep, benchmarks(), last_level_bytes(describe_host().caches));
  apply_settings(sweep, options.settings, benchmarks());
  Plan& plan = sweep.plan;
  const int repetitions = repetitions_in(words, options.counters.empty() ? plan.min_samples : 1);
  plan.min_samples = std::max(repetitions, least_samples);
  plan.max_samples = plan.min_samples;
  words.push_back(fmt::format("--benchmark_repetitions={}", repetitions));
  words.emplace_back("--benchmark_min_warmup_time=0");  // the plan warms up
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
  const auto request = parse_device_request(options.device);
  std::unique_ptr<Device> device;  // opened last, destroyed last: the profiler uses it
  const auto counters = open_requested_counters(options, sweep, request);
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
  report_dropped(sweep, device->backend(), lists);
  add_context(*device);

  bool settled = false;
  bool failed = false;
  Cache cache;
  ResultFile result{options.result, cache};
  const Counting counting{.source = counters.get()};
  const auto measure = [&](const Case& which) {
    if (!settled) device->settle();
    settled = true;
    CaseRecord record = run_case(which, plan, *device, cache, counting);
    failed = failed || record.status == Status::failed;
    return record;
  };
  std::vector<Repeated> all(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto repeat = [&, i](benchmark::State& state) {
      auto& [record, reported] = all[i];
      if (!record) {
        if (const auto why = device->poisoned(); !why.empty()) {
          return state.SkipWithError(why.c_str());
        }
        record = measure(cases[i]);
      }
      if (record->status == Status::measured) return report(*record, reported++, state);
      state.SkipWithError(fmt::format("{}: {}", to_string(record->status), record->reason).c_str());
    };
    // One iteration, so that neither a minimum time nor an estimate of it runs a case again.
    benchmark::RegisterBenchmark(cases[i].id().c_str(), repeat)->UseManualTime()->Iterations(1);
  }
  benchmark::BenchmarkReporter* const reporter = benchmark::CreateDefaultDisplayReporter();
  WithoutBuildWarning messages;
  std::ostream errors{&messages};
  reporter->SetErrorStream(&errors);
  const std::size_t matched = benchmark::RunSpecifiedBenchmarks(reporter);
  reporter->SetErrorStream(&std::cerr);  // the library keeps the reporter
  benchmark::Shutdown();
  if (matched == 0) {
    throw UsageError{fmt::format(
        "bench: --benchmark_filter matches none of the {} cases; --benchmark_list_tests "
        "prints their names",
        cases.size())};
  }
  if (failed || !device->poisoned().empty()) return ExitCode::failed;
  if (!lists) result.require_written();
  return ExitCode::success;
}

}  // namespace

void add_bench(Command app, int& status) {
  const auto options = std::make_shared<BenchOptions>();
  auto sub = app.subcommand(
      "bench",
      "run the same cases as a Google Benchmark program; accepts every --benchmark_* flag");
  sub.footer(
      "A case is measured once. Each of its samples is a repetition with manual time, and each "
      "quantity a counter.\n--benchmark_repetitions=N: number of samples (default: min_samples of "
      "the plan; 1 with --counters). A case takes at\nleast 6 samples, of which the first N are "
      "reported. --benchmark_min_time and --benchmark_min_warmup_time change\nnothing: the plan "
      "decides.");
  sub.allow_extras();
  sub.option("--sweep", options->sweep, "sweep with the cases");
  sub.option("--device", options->device, "auto, cuda:N or host");
  sub.option("--set", options->settings, "as for strata run", "NAME.KEY=VALUE");
  sub.option(
      "--counters", options->counters,
      "count the cases instead of timing them, as for strata run; or external: run the work for "
      "an external profiler (ncu --nvtx --nvtx-include counted/)",
      "LIST");
  sub.option(
      "--write-result", options->result,
      "write the bodies that a rung of nbody moved (problem=galaxies) for strata nbody verify",
      "FILE");
  sub.on_run([=, &status] {
    auto words = sub.remaining();
    words.insert(words.begin(), "strata bench");
    status = static_cast<int>(bench(*options, words));
  });
}

}  // namespace strata
