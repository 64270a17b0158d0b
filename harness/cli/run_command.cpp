#include "harness/case/benchmark.hpp"
#include "harness/case/error.hpp"
#include "harness/case/sweep.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/describe_benchmarks.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/measure/device_lock.hpp"
#include "harness/record/build_info.hpp"
#include "harness/record/run_folder.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace strata {
namespace {

/// To stdout; a closed pipe does not end the run.
void say(const std::string& line) {
  (void)std::fputs((line + '\n').c_str(), stdout);
  (void)std::fflush(stdout);
}

/// To stderr. Not fmt::print, which throws when the pipe is closed.
void tell(const std::string& line) {
  (void)std::fputs(("strata: " + line + '\n').c_str(), stderr);
}

double estimate_seconds(const std::vector<Case>& cases) {
  double seconds = 0;
  for (const auto& which : cases) {
    if (const auto* known = find_benchmark(which.benchmark)) {
      seconds += known->benchmark.seconds_per_case;
    }
  }
  return seconds;
}

/// `task`: nothing, "--probe" or "--count".
WorkerCommand worker_on(const std::string& device, const std::string& task = {},
                        const CounterSelection& counters = {}) {
  WorkerCommand command{.arguments = {"strata", "worker", "--device", device}};
  if (!task.empty()) command.arguments.push_back(task);
  for (const auto& name : counters.wanted) {
    command.arguments.emplace_back("--counters");
    command.arguments.push_back(name);
  }
  if (counters.by_benchmark) command.arguments.emplace_back("--by-benchmark");
  return command;
}

/// Asks a worker for the device, and whether `counters` are available on it. Throws UsageError for
/// a selection with unknown names.
DeviceMessage ask(const std::string& device, const CounterSelection& counters) {
  DeviceMessage answer;
  try {
    answer = probe(worker_on(device, "--probe", counters));
  } catch (const DeviceUnavailable& error) {
    if (counters.wanted.empty()) throw;
    // A profiler that crashes its process must not end the run: ask again without it.
    answer = probe(worker_on(device, "--probe"));
    answer.counters =
        CountersAnswer{.plan = std::nullopt,
                       .reason = fmt::format("the profiler cannot be tried: {}", error.what()),
                       .mend = "strata doctor says more"};
  }
  if (answer.counters && !answer.counters->bad_selection.empty()) {
    throw UsageError{answer.counters->bad_selection};
  }
  return answer;
}

constexpr const char* not_counted_yet = "not counted yet";

/// The state of the counters before timing.
CountersInfo counters_before(std::vector<std::string> asked,
                             const std::optional<CountersAnswer>& answer) {
  CountersInfo info;
  info.asked = std::move(asked);
  if (!answer) return info;
  info.state = CountersInfo::State::unavailable;
  info.reason = answer->plan ? not_counted_yet : answer->reason;
  info.mend = answer->mend;
  if (answer->plan) info.plan = *answer->plan;
  return info;
}

/// One line for whoever asked for counts that cannot be had. Nobody asked the CPU for any by asking
/// for nothing.
void tell_of_absent_counters(const RunOptions& options, const CountersInfo& counters,
                             Backend backend) {
  const bool by_default = counters.asked == std::vector<std::string>{counters_auto};
  if (by_default && (options.quiet || backend == Backend::host)) return;
  tell(fmt::format("nothing will be counted: {}{}{}", counters.reason,
                   counters.mend.empty() ? "" : "; ", counters.mend));
}

bool is_same_counting(const CounterPlan& then, const CounterPlan& now) {
  return std::ranges::equal(then.quantities, now.quantities, [](const auto& a, const auto& b) {
    return a.name == b.name && a.metric == b.metric && a.set == b.set;
  });
}

/// The cases of the sweep on this backend, in canonical order. Throws UsageError when there are
/// none.
std::vector<Case> cases_of(const Sweep& sweep, Backend backend, const std::string& expression) {
  auto cases = expand(sweep, backend, benchmarks());
  const auto all = cases.size();
  if (!expression.empty()) cases = filter(std::move(cases), expression);
  if (!cases.empty()) return cases;
  if (all == 0) {
    throw UsageError{fmt::format("{}: no case for the {} backend; see strata list", sweep.file,
                                 to_string(backend))};
  }
  throw UsageError{
      fmt::format("--filter {}: matches none of the {} cases; strata list --cases {} "
                  "--backend {} prints their ids",
                  expression, all, sweep.name, to_string(backend))};
}

RunContext context_for(const RunOptions& options, const Sweep& sweep, const DeviceMessage& device,
                       const std::vector<Case>& cases, CountersInfo counters) {
  RunContext context;
  context.strata = build_info();
  context.command = options.command;
  context.backend = device.backend;
  context.device = device.identity;
  context.host = device.host;
  context.libraries = device.libraries;
  context.clocks_before = device.conditions;
  context.timer = device.timer;
  context.sweep = {
      .name = sweep.name, .file = sweep.file, .text = sweep.text, .plan = sweep.plan, .cases = {}};
  context.counters = std::move(counters);
  for (const auto& which : cases)
    context.sweep.cases.push_back(which.id());
  context.declarations = describe_benchmarks(cases);
  return context;
}

/// Records of different code on one device are not one run.
void check_same_code(const RunFolder& folder) {
  const auto& then = folder.context().strata;
  const auto& now = build_info();
  if (then.source_digest == now.source_digest) return;
  throw UsageError{
      fmt::format("{}: was begun with other kernel sources ({} then, {} now); build "
                  "commit {} again, or start a new run",
                  folder.path().string(), then.source_digest, now.source_digest,
                  then.commit.empty() ? "unknown" : then.commit)};
}

/// "751 counted in 9.1 s (timing took 26.0 s)", or why not.
std::string counting_in_words(const RunCounts& counts, const CountersInfo& counters) {
  if (counters.state == CountersInfo::State::not_asked) return "not counted: not asked for";
  if (counters.plan.quantities.empty()) return "not counted: " + counters.reason;
  std::string text = fmt::format("{} counted in {:.1f} s (timing took {:.1f} s)", counts.counted,
                                 counters.counting_seconds, counters.timing_seconds);
  if (counts.counting_skipped > 0) text += fmt::format(", {} skipped", counts.counting_skipped);
  if (counts.counting_failed > 0) text += fmt::format(", {} failed", counts.counting_failed);
  if (counts.uncounted > 0) text += fmt::format(", {} still to count", counts.uncounted);
  if (!counters.reason.empty()) text += ": " + counters.reason;
  return text;
}

int finish(const RunSummary& summary, const RunFolder& folder, bool quiet) {
  const auto& c = summary.counts;
  // Without --quiet the progress has shown them as they came.
  for (const auto& failure : summary.failures) {
    if (quiet) tell(fmt::format("failed: {}", failure));
  }
  const auto rows = c.valid_rows + c.invalid_rows;
  // A run is whole without: its numbers wait in the folder.
  const bool wanted = !quiet && rows > 0 && summary.state != RunState::interrupted;
  if (wanted && !say_first_numbers(folder.path().string())) {
    tell(
        "no summary here: the analysis package does not start; `make setup` installs what it "
        "needs");
  }
  say(fmt::format(
      "{} measured, {} skipped, {} failed, {} still to do; {} of {} rows valid ({:.1f} %)"
      "; {:.1f} s; {}",
      c.measured, c.skipped, c.failed, c.missing, c.valid_rows, rows,
      rows == 0 ? 0.0 : 100.0 * static_cast<double>(c.valid_rows) / static_cast<double>(rows),
      summary.seconds, counting_in_words(c, folder.context().counters)));
  if (summary.state == RunState::interrupted) {
    say("interrupted; complete it with: strata run --resume " + folder.path().string());
  }
  say(folder.path().string());
  return static_cast<int>(summary.exit_code);
}

/// The counter sets that a run was begun with, beside `memory`. Where nothing could be counted
/// then: those that its cases want.
std::vector<std::string> wanted_by(const RunFolder& folder) {
  std::vector<std::string> sets = folder.context().counters.plan.sets;
  if (!sets.empty()) {
    std::erase(sets, "memory");
    return sets;
  }
  std::vector<std::string> names;
  for (const auto& one : folder.cases())
    names.push_back(one.benchmark);
  return wanted_counter_sets(names, benchmarks());
}

/// `counts`: the counters that the context names can be had.
int supervise_and_finish(const RunOptions& options, const std::string& device, RunFolder& folder,
                         std::vector<Case> cases, bool counts) {
  Progress progress{options.quiet ? ProgressOptions{} : progress_on(STDERR_FILENO)};
  const CountersInfo& counters = folder.context().counters;
  SuperviseOptions how{
      .worker = worker_on(device), .plan = folder.context().sweep.plan, .cases = std::move(cases)};
  if (counts) {
    how.note = not_counted_yet;
    how.counter = worker_on(device, "--count", selection_of(counters.asked, wanted_by(folder)));
  } else if (!counters.reason.empty()) {
    how.note = counters.reason;
  }
  return finish(supervise(how, folder, progress), folder, options.quiet);
}

/// Whether the counters of the run are available now; updates the context. Throws UsageError when
/// their names have changed their meaning.
bool can_still_count(const RunOptions& options, const std::string& device, RunFolder& folder) {
  const auto selection = selection_of(folder.context().counters.asked, wanted_by(folder));
  if (selection.wanted.empty()) return false;
  const auto answer = ask(device, selection).counters;
  RunContext context = folder.context();
  CountersInfo now = counters_before(context.counters.asked, answer);
  const bool counts = answer && answer->plan;
  const CounterPlan& then = context.counters.plan;
  if (!counts) {
    now.plan = then;  // of the earlier counts
    tell_of_absent_counters(options, now, context.backend);
  } else if (!then.quantities.empty() && !is_same_counting(then, now.plan)) {
    throw UsageError{
        fmt::format("{}: was begun with other counters than --counters {} stands for now; put the "
                    "sets back as they were, or start a new run",
                    folder.path().string(), fmt::join(context.counters.asked, ","))};
  }
  if (counts && context.counters.state == CountersInfo::State::counted) {
    now.state = CountersInfo::State::counted;
    now.reason.clear();
  }
  now.counting_seconds = context.counters.counting_seconds;
  now.timing_seconds = context.counters.timing_seconds;
  context.counters = std::move(now);
  folder.update(std::move(context));
  return counts;
}

int resume(const RunOptions& options) {
  if (!options.counters.empty()) {
    throw UsageError{
        "--counters: a run is completed with the counters that it was begun with; leave it out"};
  }
  RunFolder folder = RunFolder::open_for_resume(options.resume);
  check_same_code(folder);
  if (!folder.repair().empty()) {
    tell(folder.repair());
  }
  auto cases = folder.remaining();
  if (options.dry_run) {
    for (const auto& which : cases)
      say(which.id());
    return 0;
  }
  const bool on_host = folder.context().backend == Backend::host;
  const std::string device =
      options.device != "auto" ? options.device : (on_host ? "host" : "cuda");
  const DeviceLock lock = DeviceLock::acquire(folder.context().device);
  const bool something_is_left = !cases.empty() || !folder.uncounted().empty();
  const bool counts = something_is_left && can_still_count(options, device, folder);
  return supervise_and_finish(options, device, folder, std::move(cases), counts);
}

}  // namespace

int run_command(const RunOptions& options) {
  // For the rest of the process: stdout's buffer is flushed again at exit.
  (void)std::signal(SIGPIPE, SIG_IGN);
  if (!options.resume.empty()) return resume(options);

  Sweep sweep = load_sweep(options.sweep, benchmarks());
  for (const auto& setting : options.settings)
    apply_setting(sweep, setting, benchmarks());
  (void)parse_device_request(options.device);
  const auto asked = parse_counters(options.counters);
  const DeviceMessage device =
      ask(options.device, selection_of(asked, wanted_counter_sets(sweep, benchmarks())));
  auto cases = cases_of(sweep, device.backend, options.filter);
  if (options.dry_run) {
    for (const auto& which : cases)
      say(which.id());
    tell(fmt::format("{} cases on {}, about {:.0f} s", cases.size(), device.identity.name,
                     estimate_seconds(cases)));
    return 0;
  }
  const DeviceLock lock = DeviceLock::acquire(device.identity);
  RunFolder folder = RunFolder::create(
      options.out,
      context_for(options, sweep, device, cases, counters_before(asked, device.counters)));
  if (!options.quiet) {
    tell(fmt::format("{} cases of sweep '{}' on {}, into {}", cases.size(), sweep.name,
                     device.identity.name, folder.path().string()));
  }
  const bool counts = device.counters && device.counters->plan;
  if (device.counters && !counts) {
    tell_of_absent_counters(options, folder.context().counters, device.backend);
  }
  return supervise_and_finish(options, options.device, folder, std::move(cases), counts);
}

}  // namespace strata
