#include "harness/base/text.hpp"
#include "harness/case/controls.hpp"
#include "harness/case/sweep.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/cpu/load.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/device_lock.hpp"
#include "harness/record/build_info.hpp"
#include "harness/run/disturbed_rows.hpp"
#include "harness/run/first_numbers.hpp"
#include "harness/run/supervisor.hpp"
#include "harness/run/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <optional>
#include <ratio>
#include <tuple>
#include <unistd.h>
#include <variant>

namespace strata {
namespace {

struct RunOptions {
  std::string sweep = "default";
  std::string device = "auto";
  std::string filter;
  std::vector<std::string> settings;
  std::string out = "runs";
  std::string resume;
  std::optional<double> minutes;
  std::vector<std::string> counters;  ///< empty: auto, or the counters of the resumed run
  bool dry_run = false;
  bool quiet = false;
  bool anonymous = false;
  std::vector<std::string> command;
  std::chrono::steady_clock::time_point stop_at = std::chrono::steady_clock::time_point::max();
};

// Not fmt::print, which throws if the pipe is closed: that must not end the run. What is lost for
// another reason fails the command at its end (program.cpp).
void print_output(const std::string& line) {
  (void)std::fputs((line + '\n').c_str(), stdout);
  (void)std::fflush(stdout);
}
void print_notice(const std::string& line) {
  (void)std::fputs(("strata: " + one_line(line) + '\n').c_str(), stderr);
}

/// `task`: empty, "--probe", "--count" or "--trace".
ChildCommand worker_on(const std::string& device, const std::string& task = {},
                       const CounterSelection& counters = {}) {
  ChildCommand command{.arguments = {"strata", "worker", "--device", device}};
  auto& words = command.arguments;
  if (!task.empty()) words.push_back(task);
  for (const auto& name : counters.wanted)
    words.insert(words.end(), {"--counters", name});
  if (counters.by_benchmark) words.emplace_back("--by-benchmark");
  return command;
}

constexpr const char* not_counted_yet = "not counted yet";

bool can_count(const CountersInfo& counters) {
  return !counters.plan.chip.empty();
}

/// Queries the device and the state of these counters on it through a worker, before timing. Throws
/// UsageError for a selection with unknown names.
DeviceMessage query_device(const std::string& device, const std::vector<std::string>& counter_names,
                           const CounterSelection& counters) {
  DeviceMessage answer;
  try {
    answer = probe(worker_on(device, "--probe", counters));
    if (can_count(answer.counters)) answer.counters.reason = not_counted_yet;
  } catch (const DeviceUnavailable& error) {
    if (counters.wanted.empty()) throw;
    // A profiler that crashes its process must not end the run: query again without it.
    answer = probe(worker_on(device, "--probe"));
    answer.counters = {.state = CountersInfo::State::unavailable,
                       .reason = fmt::format("cannot test the profiler: {}", error.what()),
                       .mend = "see strata doctor"};
  }
  answer.counters.requested = counter_names;
  return answer;
}

/// Prints one line if requested counters are unavailable. Without a request, the CPU's are not
/// expected.
void report_absent_counters(const RunOptions& options, const CountersInfo& counters,
                            Backend backend) {
  const bool by_default = counters.requested == std::vector<std::string>{counters_auto};
  if (by_default && (options.quiet || backend == Backend::host)) return;
  print_notice(fmt::format("nothing will be counted: {}{}{}", counters.reason,
                           counters.mend.empty() ? "" : "; ", counters.mend));
}

/// Throws UsageError for a set that does not exist. On a device without counters nothing else reads
/// the names.
void check_sets(const std::vector<std::string>& counter_names) {
  for (const auto& name : counter_names) {
    if (name != counters_auto && name != counters_none && !is_raw_metric(name))
      (void)load_counter_set(name, "--counters");
  }
}

/// Warns if other work disturbs the CPU, as strata doctor does.
void report_load(const RunOptions& options) {
  const Finding load = diagnose_load();
  if (options.quiet || load.state != Finding::State::warning) return;
  print_notice(fmt::format("{}: {}; {}", load.what, load.detail, load.mend));
}

bool is_same_counting(const CounterPlan& then, const CounterPlan& now) {
  const auto meaning = [](const CountedQuantity& one) {
    return std::tie(one.name, one.metric, one.set);
  };
  return std::ranges::equal(then.quantities, now.quantities, {}, meaning, meaning);
}

/// The cases of the sweep on this backend, in canonical order; reports what is dropped. Throws
/// DeviceUnavailable if there are none, UsageError if the filter matches none.
std::vector<Case> cases_of(const Sweep& sweep, Backend backend, const RunOptions& options,
                           const std::vector<DroppedItem>& dropped) {
  auto cases = expand(sweep, backend, benchmarks());
  const auto all = cases.size();
  if (!options.filter.empty()) cases = filter(std::move(cases), options.filter);
  if (cases.empty() && all > 0) {
    throw UsageError{fmt::format(
        "--filter {}: matches none of the {} cases; strata list --cases {} --backend {} prints "
        "their ids",
        options.filter, all, sweep.name, to_string(backend))};
  }
  if (options.dry_run || !options.quiet || !is_builtin(sweep))
    print_dropped(sweep, dropped, options.dry_run);
  if (!cases.empty()) return cases;
  throw DeviceUnavailable{
      fmt::format("{}: this device can run none of its cases; use another device, or another "
                  "sweep: strata list",
                  sweep.file)};
}

/// Removes what identifies this machine or its user and is not needed by a measurement.
void leave_out_names(RunContext& context) {
  context.command = {"strata", "run", "--anonymous"};
  context.device.uuid = hidden_uuid(context.device.uuid);
  context.device.facts.erase("pci_bus_id");
  context.sweep.file = std::filesystem::path{context.sweep.file}.filename().string();
  // Requested counters may be names of files.
  for (auto& name : context.counters.requested)
    name = std::filesystem::path{name}.filename().string();
}

RunContext context_for(const RunOptions& options, const Sweep& sweep, const DeviceMessage& device,
                       const std::vector<Case>& cases) {
  SweepInfo info{
      .name = sweep.name, .file = sweep.file, .text = sweep.text, .plan = sweep.plan, .cases = {}};
  for (const auto& [what, reason] : dropped_items(sweep, device.backend, benchmarks_and_controls()))
    info.dropped.push_back(fmt::format("{}: {}", what, reason));
  std::ranges::transform(cases, std::back_inserter(info.cases), &Case::id);
  RunContext context{.strata = build_info(),
                     .command = options.command,
                     .backend = device.backend,
                     .device = device.identity,
                     .host = device.host,
                     .sweep = std::move(info),
                     .counters = device.counters,
                     .clocks_before = device.conditions,
                     .timer = device.timer,
                     .declarations = describe_benchmarks(cases)};
  if (options.anonymous) leave_out_names(context);
  return context;
}

/// "32768 B data L1 of 2 cores, …".
std::string in_words(const std::vector<HostCache>& caches) {
  std::vector<std::string> words;
  std::ranges::transform(caches, std::back_inserter(words), [](const HostCache& one) {
    return fmt::format("{} B {} L{} of {} cores", one.bytes, one.kind, one.level, one.shared_by);
  });
  return joined(words);
}

std::string fact_in_words(const Facts& facts, std::string_view name) {
  const auto found = facts.find(name);
  if (found == facts.end()) return "none";
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, found->second);
}

/// Refuses to mix records of different code, or of a machine in two states, in one run.
void check_same_ground(const RunFolder& folder) {
  const auto require = [&](std::string_view what, const std::string& then, const std::string& now,
                           const std::string& mend) {
    if (then == now) return;
    throw UsageError{
        fmt::format("{}: was started with {} ({} then, {} now); {}, or start a new run",
                    folder.path().string(), what, in_quotes(then), in_quotes(now), mend)};
  };
  const BuildInfo& then = folder.context().strata;
  const BuildInfo& now = build_info();
  const std::string build =
      fmt::format("build commit {} again", then.commit.empty() ? "unknown" : one_line(then.commit));
  require("other kernel sources", then.source_digest, now.source_digest, build);
  const std::string same_build = "resume it with the executable that started it";
  require("another build type", then.build_type, now.build_type, same_build);
  require("another compiler", then.compiler, now.compiler, same_build);
  require("another CUDA compiler", then.cuda_compiler, now.cuda_compiler, same_build);
  require("other compiler flags", then.flags, now.flags, same_build);
  require("other GPU architectures", then.cuda_architectures, now.cuda_architectures, same_build);

  const HostInfo& before = folder.context().host;
  const HostInfo here = describe_host();
  const std::string same_machine = "resume it on the same machine, with the same cores";
  require("another CPU", before.cpu, here.cpu, same_machine);
  require("other cores", std::to_string(before.cores), std::to_string(here.cores), same_machine);
  require("another limit on CPU time", fact_in_words(before.more, "cpu_limit"),
          fact_in_words(here.more, "cpu_limit"), same_machine);
  require("another limit on memory", fact_in_words(before.more, "memory_limit_bytes"),
          fact_in_words(here.more, "memory_limit_bytes"), same_machine);
  require("other caches", in_words(before.caches), in_words(here.caches), same_machine);
  require("another kernel", before.kernel, here.kernel, same_machine);
}

/// "751 counted in 9.1 s (timing took 26.0 s)", or why not.
std::string counting_in_words(const RunCounts& counts, const CountersInfo& counters) {
  if (counters.state == CountersInfo::State::not_asked) return "not counted: not requested";
  if (counters.plan.quantities.empty()) return "not counted: " + counters.reason;
  std::string text = fmt::format("{} counted in {:.1f} s (timing took {:.1f} s)", counts.counted,
                                 counters.counting_seconds, counters.timing_seconds);
  if (counts.counting_skipped > 0) text += fmt::format(", {} skipped", counts.counting_skipped);
  if (counts.counting_failed > 0) text += fmt::format(", {} failed", counts.counting_failed);
  if (counts.uncounted > 0) text += fmt::format(", {} still to count", counts.uncounted);
  if (!counters.reason.empty()) text += ": " + counters.reason;
  return text;
}

/// "1034 of 1205 timed rows valid (85.8 %), 489 of 519 others": as `strata summary` counts them.
std::string validity_in_words(const std::vector<CaseRecord>& records) {
  std::array<std::size_t, 2> rows{};  // timed, others
  std::array<std::size_t, 2> valid{};
  for (const auto& record : records)
    for (const auto& m : record.measurements) {
      const std::size_t kind = m.provenance == Provenance::timed ? 0 : 1;
      ++rows.at(kind);
      valid.at(kind) += record.is_valid(m) ? 1 : 0;
    }
  const auto [timed, others] = rows;
  std::string text = fmt::format("{} of {} timed rows valid", valid[0], timed);
  if (timed > 0)
    text += fmt::format(" ({:.1f} %)",
                        100.0 * static_cast<double>(valid[0]) / static_cast<double>(timed));
  if (others > 0) text += fmt::format(", {} of {} others", valid[1], others);
  return text;
}

ExitCode finish(const RunSummary& summary, const RunFolder& folder, bool quiet) {
  const auto& c = summary.counts;
  // Without --quiet the progress display has shown them already.
  for (const auto& failure : summary.failures) {
    if (quiet) print_notice("failed: " + failure);
  }
  const auto rows = c.valid_rows + c.invalid_rows;
  const RunContext& context = folder.context();
  const auto records = rows == 0
                           ? std::vector<CaseRecord>{}
                           : read_samples(folder.path() / "samples.jsonl", context.sweep.cases);
  if (!quiet && rows > 0 && summary.state != RunState::interrupted) {
    const auto numbers = first_numbers(context, records);
    if (!numbers.empty()) print_output(fmt::format("{} ({})", context.device.name, context.run));
    std::ranges::for_each(numbers, print_output);
  }
  if (const auto why = explain_disturbed_rows(context, records); !why.empty()) print_output(why);
  const std::size_t dropped = context.sweep.dropped.size();
  print_output(fmt::format("{} measured, {} skipped, {} failed, {} still to do{}; {}; {:.1f} s; {}",
                           c.measured, c.skipped, c.failed, c.missing,
                           dropped == 0 ? "" : fmt::format(", {} dropped from the sweep", dropped),
                           validity_in_words(records), summary.seconds,
                           counting_in_words(c, folder.context().counters)));
  if (const WorkLeft& left = summary.left; summary.state == RunState::interrupted) {
    print_output(
        fmt::format("interrupted with {} of {} cases unfinished: {} to time, {} further visits, {} "
                    "to count, {} to trace; resume it with: strata run --resume {}",
                    left.cases, folder.cases().size(), left.timing, left.visits, left.counting,
                    left.tracing, folder.path().string()));
  }
  print_output(folder.path().string());
  return summary.exit_code;
}

/// The counter sets with which a run was started, besides `memory`. If nothing could be counted
/// then: those that its cases use.
std::vector<std::string> wanted_by(const RunFolder& folder) {
  std::vector<std::string> sets = folder.context().counters.plan.sets;
  if (!sets.empty()) {
    std::erase(sets, "memory");
    return sets;
  }
  std::vector<std::string> names;
  std::ranges::transform(folder.cases(), std::back_inserter(names), &Case::benchmark);
  return wanted_counter_sets(names, benchmarks_and_controls());
}

/// `counts`: whether the counters named in the context are available.
RunSummary supervise_in(RunFolder& folder, const std::string& device, std::vector<Case> cases,
                        bool counts, const RunOptions& options) {
  Progress progress{options.quiet ? ProgressOptions{} : progress_on(STDERR_FILENO)};
  const CountersInfo& counters = folder.context().counters;
  SuperviseOptions how{
      .worker = worker_on(device), .plan = folder.context().sweep.plan, .cases = std::move(cases)};
  how.stop_at = options.stop_at;
  if (counts) {
    how.note = not_counted_yet;
    how.counter = worker_on(device, "--count", selection_of(counters.requested, wanted_by(folder)));
  } else if (!counters.reason.empty()) {
    how.note = counters.reason;
  }
  // Without counters, no profiler records phases either.
  if (counters.state != CountersInfo::State::not_asked) {
    // "auto" may select the CPU, which needs no profiler.
    const bool on_host = folder.context().backend == Backend::host;
    how.tracer = worker_on(on_host ? "host" : device, "--trace");
  }
  return supervise(how, folder, progress);
}

/// Whether the counters of the run are available now; updates the context. Throws UsageError if
/// their names have changed their meaning.
bool can_still_count(const RunOptions& options, const std::string& device, RunFolder& folder) {
  RunContext context = folder.context();
  const CountersInfo& then = context.counters;
  const auto selection = selection_of(then.requested, wanted_by(folder));
  if (selection.wanted.empty()) return false;
  CountersInfo now = query_device(device, then.requested, selection).counters;
  const bool counts = can_count(now);
  if (!counts) {
    now.plan = then.plan;  // of the earlier counts
    report_absent_counters(options, now, context.backend);
  } else if (!then.plan.quantities.empty() && !is_same_counting(then.plan, now.plan)) {
    throw UsageError{
        fmt::format("{}: was started with other counters than --counters {} now selects; restore "
                    "the sets, or start a new run",
                    folder.path().string(), fmt::join(then.requested, ","))};
  }
  if (counts && then.state == CountersInfo::State::counted) {
    now.state = CountersInfo::State::counted;
    now.reason.clear();
  }
  now.counting_seconds = then.counting_seconds;
  now.timing_seconds = then.timing_seconds;
  context.counters = std::move(now);
  folder.update(std::move(context));
  return counts;
}

std::chrono::steady_clock::time_point minutes_from_now(double minutes) {
  using Clock = std::chrono::steady_clock;
  constexpr double a_week = 7 * 24 * 60;
  if (!(minutes > 0 && minutes <= a_week)) {
    throw UsageError{
        fmt::format("--minutes {:g}: expected more than 0 and at most {:g}", minutes, a_week)};
  }
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double, std::ratio<60>>{minutes});
}

ExitCode print_ids(const std::vector<Case>& cases) {
  for (const auto& which : cases)
    print_output(which.id());
  return ExitCode::success;
}

ExitCode resume(const RunOptions& options) {
  if (options.resume.empty())
    throw UsageError{"--resume: no name; expected the run folder that strata run printed"};
  RunFolder folder = RunFolder::open_for_resume(options.resume);
  if (std::ranges::any_of(folder.cases(), [](const Case& of) { return of.suite == "access"; })) {
    throw UsageError{
        fmt::format("{}: was written by strata access, which cannot be resumed; expected a run of "
                    "strata run; run strata access again",
                    folder.path().string())};
  }
  check_same_ground(folder);
  check_recorded((folder.path() / "context.json").string(), folder.cases(),
                 folder.context().sweep.plan, folder.context().backend, benchmarks_and_controls());
  if (!folder.repair().empty()) print_notice(folder.repair());
  auto cases = folder.remaining();
  if (options.dry_run) return print_ids(cases);
  const bool on_host = folder.context().backend == Backend::host;
  const std::string device =
      options.device != "auto" ? options.device : (on_host ? "host" : "cuda");
  const DeviceIdentity& known = folder.context().device;
  // For an anonymous run the name of the GPU must be queried.
  const bool has_name = on_host || !known.uuid.starts_with("sha256-");
  const DeviceLock lock =
      DeviceLock::acquire(has_name ? known : probe(worker_on(device, "--probe")).identity);
  if (on_host) report_load(options);
  const bool something_is_left = !cases.empty() || !folder.unvisited().empty() ||
                                 !folder.uncounted().empty() || !folder.untraced().empty();
  const bool counts = something_is_left && can_still_count(options, device, folder);
  return finish(supervise_in(folder, device, std::move(cases), counts, options), folder,
                options.quiet);
}

ExitCode run(const RunOptions& options) {
  Sweep sweep = load_sweep(options.sweep, benchmarks(), last_level_bytes(describe_host().caches));
  apply_settings(sweep, options.settings, benchmarks());
  (void)parse_device_request(options.device);
  const auto counter_names = parse_counters(options.counters);
  const DeviceMessage device =
      query_device(options.device, counter_names,
                   selection_of(counter_names, wanted_counter_sets(sweep, benchmarks())));
  if (device.counters.reason == host_has_no_counters) check_sets(counter_names);
  const auto dropped = dropped_items(sweep, device.backend, benchmarks());
  auto cases = cases_of(sweep, device.backend, options, dropped);
  if (options.dry_run) {
    double seconds = 0;
    for (const auto& which : cases)
      seconds += find_benchmark(which.benchmark)->benchmark.seconds_per_case;
    (void)print_ids(cases);
    print_notice(fmt::format("{} cases on {}, about {:.0f} s{}", cases.size(), device.identity.name,
                             seconds * sweep.plan.visits,
                             dropped.empty() ? "" : fmt::format("; {} dropped", dropped.size())));
    return ExitCode::success;
  }
  const DeviceLock lock = DeviceLock::acquire(device.identity);
  RunFolder folder = RunFolder::create(options.out, context_for(options, sweep, device, cases));
  if (!options.quiet) {
    print_notice(fmt::format("{} cases of sweep '{}' on {}, into {}", cases.size(), sweep.name,
                             device.identity.name, folder.path().string()));
  }
  if (device.counters.state == CountersInfo::State::unavailable && !can_count(device.counters)) {
    report_absent_counters(options, device.counters, device.backend);
  }
  if (device.backend == Backend::host) report_load(options);
  return finish(
      supervise_in(folder, options.device, std::move(cases), can_count(device.counters), options),
      folder, options.quiet);
}

}  // namespace

RecordedRun record_run(const std::function<Sweep(Backend)>& sweep_on, const std::string& device,
                       const std::string& out, const std::vector<std::string>& command,
                       bool quiet) {
  const std::vector<Enrolled>& known = benchmarks_and_controls();
  (void)parse_device_request(device);
  const auto counter_names = parse_counters({});
  // The counters of the sweep depend on the device, so one query requests every set that some case
  // may use.
  std::vector<std::string> names;
  for (const Backend backend : {Backend::cuda, Backend::host}) {
    for (const SweepEntry& entry : sweep_on(backend).entries)
      names.push_back(entry.benchmark);
  }
  const DeviceMessage answer = query_device(
      device, counter_names, selection_of(counter_names, wanted_counter_sets(names, known)));
  const Sweep sweep = sweep_on(answer.backend);
  auto cases = expand(sweep, answer.backend, known);
  const DeviceLock lock = DeviceLock::acquire(answer.identity);
  RunOptions options;
  options.command = command;
  options.quiet = quiet;
  RunFolder folder = RunFolder::create(out, context_for(options, sweep, answer, cases));
  const RunSummary summary =
      supervise_in(folder, device, std::move(cases), can_count(answer.counters), options);
  return {.folder = folder.path(), .context = folder.context(), .state = summary.state};
}

void add_run(Command app, int& status, const std::vector<std::string>& command) {
  const auto options = std::make_shared<RunOptions>();
  options->command = command;
  auto sub = app.subcommand(
      "run", "measure a sweep in isolated worker processes; an interrupted run can be resumed");
  sub.option("sweep", options->sweep, "sweep file, or quick, default, full or ceilings", "SWEEP");
  sub.option("--device", options->device, "auto, cuda:N or host");
  sub.option("--filter", options->filter, "measure only cases whose id matches", "RE");
  sub.option("--set", options->settings,
             "replace an axis or a plan value: layout_read.layout=aos,soa, plan.max_samples=9",
             "NAME.KEY=VALUE");
  sub.option("--out", options->out, "folder in which to create the run folder", "DIR");
  sub.option("--resume", options->resume, "resume this run folder", "RUN");
  sub.option("--minutes", options->minutes,
             "stop after this many minutes as if interrupted; --resume continues the run", "N");
  sub.option("--counters", options->counters,
             "what to count after timing: auto, none (also omits the phases of steps), or a "
             "comma-separated list of counter sets, files of sets and metrics",
             "LIST");
  sub.flag("--dry-run", options->dry_run,
           "print the cases, their estimated cost, and what the device cannot run; then exit");
  sub.flag("--quiet", options->quiet, "do not show progress");
  sub.flag("--anonymous", options->anonymous,
           "omit what identifies this machine or its user from context.json");
  sub.footer(
      "The run folder records the command line, the sweep, the device with its UUID and bus "
      "address, the\nCPU, the kernel version and the build of strata. It does not record host "
      "name, user or environment.\nWith --anonymous it omits UUID and bus address, and your own "
      "words and paths in the command line and\nthe sweep file.");
  sub.on_run([sub, options, &status] {
    // Until the process ends, because stdout is flushed again at exit.
    (void)std::signal(SIGPIPE, SIG_IGN);
    const bool resumes = sub.has("--resume");
    if (options->minutes) options->stop_at = minutes_from_now(*options->minutes);
    for (const char* name : {"sweep", "--filter", "--set", "--out", "--counters", "--anonymous"}) {
      if (!resumes || !sub.has(name)) continue;
      throw UsageError{
          fmt::format("{}: a resumed run keeps its cases and counters; omit this option", name)};
    }
    status = static_cast<int>(resumes ? resume(*options) : run(*options));
  });
}

}  // namespace strata
