#include "harness/cli/commands.hpp"
#include "harness/core/benchmark.hpp"
#include "harness/core/build_info.hpp"
#include "harness/core/device_lock.hpp"
#include "harness/core/error.hpp"
#include "harness/core/progress.hpp"
#include "harness/core/run_folder.hpp"
#include "harness/core/supervisor.hpp"
#include "harness/core/sweep.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace strata {
namespace {

/// To stdout; whoever stopped reading does not end the run.
void say(const std::string& line) {
  (void)std::fputs((line + '\n').c_str(), stdout);
  (void)std::fflush(stdout);
}

/// To stderr, under the same terms: fmt::print would throw when nobody reads it any more.
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

WorkerCommand worker_on(const std::string& device, bool probing) {
  WorkerCommand command{.arguments = {"strata", "worker", "--device", device}};
  if (probing) command.arguments.emplace_back("--probe");
  return command;
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
                       const std::vector<Case>& cases) {
  RunContext context;
  context.strata = build_info();
  context.command = options.command;
  context.backend = device.backend;
  context.device = device.identity;
  context.host = device.host;
  context.libraries = device.libraries;
  context.clocks_before = device.conditions;
  context.timer = device.timer;
  context.sweep = {.name = sweep.name,
                   .file = sweep.file,
                   .digest = sweep.digest,
                   .plan = sweep.plan,
                   .cases = {}};
  for (const auto& which : cases)
    context.sweep.cases.push_back(which.id());
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

int finish(const RunSummary& summary, const RunFolder& folder, bool quiet) {
  const auto& c = summary.counts;
  // Without --quiet the progress has shown them as they came.
  for (const auto& failure : summary.failures) {
    if (quiet) tell(fmt::format("failed: {}", failure));
  }
  const auto rows = c.valid_rows + c.invalid_rows;
  say(fmt::format(
      "{} measured, {} skipped, {} failed, {} still to do; {} of {} rows valid ({:.1f} %)"
      "; {:.1f} s",
      c.measured, c.skipped, c.failed, c.missing, c.valid_rows, rows,
      rows == 0 ? 0.0 : 100.0 * static_cast<double>(c.valid_rows) / static_cast<double>(rows),
      summary.seconds));
  if (summary.state == RunState::interrupted) {
    say("interrupted; complete it with: strata run --resume " + folder.path().string());
  }
  say(folder.path().string());
  return static_cast<int>(summary.exit_code);
}

int supervise_and_finish(const RunOptions& options, const std::string& device, RunFolder& folder,
                         std::vector<Case> cases) {
  Progress progress{options.quiet ? ProgressOptions{} : progress_on(STDERR_FILENO)};
  const SuperviseOptions how{.worker = worker_on(device, false),
                             .plan = folder.context().sweep.plan,
                             .cases = std::move(cases)};
  return finish(supervise(how, folder, progress), folder, options.quiet);
}

int resume(const RunOptions& options) {
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
  return supervise_and_finish(options, device, folder, std::move(cases));
}

}  // namespace

int run_command(const RunOptions& options) {
  // For the rest of the process: what is left in stdout's buffer is written once more at the end.
  (void)std::signal(SIGPIPE, SIG_IGN);
  if (!options.resume.empty()) return resume(options);

  Sweep sweep = load_sweep(options.sweep, benchmarks());
  for (const auto& setting : options.settings)
    apply_setting(sweep, setting, benchmarks());
  (void)parse_device_request(options.device);
  const DeviceMessage device = probe(worker_on(options.device, true));
  auto cases = cases_of(sweep, device.backend, options.filter);
  if (options.dry_run) {
    for (const auto& which : cases)
      say(which.id());
    tell(fmt::format("{} cases on {}, about {:.0f} s", cases.size(), device.identity.name,
                     estimate_seconds(cases)));
    return 0;
  }
  const DeviceLock lock = DeviceLock::acquire(device.identity);
  RunFolder folder = RunFolder::create(options.out, context_for(options, sweep, device, cases));
  if (!options.quiet) {
    tell(fmt::format("{} cases of sweep '{}' on {}, into {}", cases.size(), sweep.name,
                     device.identity.name, folder.path().string()));
  }
  return supervise_and_finish(options, options.device, folder, std::move(cases));
}

}  // namespace strata
