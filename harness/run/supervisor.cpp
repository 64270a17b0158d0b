#include "harness/run/supervisor.hpp"

#include "harness/base/ignored_signal.hpp"
#include "harness/base/sha256.hpp"
#include "harness/record/record_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <deque>
#include <iterator>
#include <poll.h>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <variant>

namespace strata {
namespace {

using Clock = std::chrono::steady_clock;

// --- signals ---

// A signal handler reaches nothing but globals.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<int> stop_requests{0};
static_assert(std::atomic<int>::is_always_lock_free);

void on_stop(int /*signal*/) {
  // The second signal is for a run that cannot end, for example because the disk hangs. The worker
  // dies with this process.
  if (stop_requests.fetch_add(1) > 0) ::_exit(static_cast<int>(ExitCode::interrupted));
}

// --- a worker ---

/// A worker process with its messages, its last output on stdout and stderr, which may explain its
/// death, and its deadline.
class Worker {
 public:
  Worker(const ChildCommand& command, std::string_view input, double seconds)
      : process_{command, input} {
    allow(seconds);
  }

  /// From now on.
  void allow(double seconds) {
    allowance_ = seconds;
    deadline_ = Clock::now() +
                std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>{seconds});
  }
  [[nodiscard]] double allowance() const { return allowance_; }
  /// Only after there was nothing to read: this process may have been stopped (Ctrl-Z) while the
  /// answer was in the pipe.
  [[nodiscard]] bool is_late(const LineReader::Batch& batch) const {
    return batch.bytes == 0 && Clock::now() >= deadline_;
  }

  /// The lines that arrive before the deadline, the next tick or a signal; does not wait once
  /// `stopping`.
  LineReader::Batch read(bool stopping = false) {
    // How often the progress line is drawn and a dead worker is looked for.
    constexpr std::chrono::milliseconds tick{500};
    const auto left = stopping ? Clock::duration{} : deadline_ - Clock::now();
    const auto longest = std::clamp<Clock::duration>(left, {}, tick);
    const auto time = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
    // poll() ignores a negative descriptor.
    std::array watched{
        pollfd{.fd = process_.channel(), .events = POLLIN, .revents = 0},
        pollfd{.fd = silent_ ? -1 : process_.output(), .events = POLLIN, .revents = 0}};
    (void)::poll(watched.data(), watched.size(), static_cast<int>(time));
    read_output();
    auto batch = reader_.read(process_.channel());
    // Kills a child of a dead worker that still holds the pipe.
    if (batch.bytes == 0 && !batch.closed) (void)process_.ended();
    return batch;
  }

  /// How the worker ended, once its channel is closed.
  [[nodiscard]] std::string ending() {
    // The pipe may close a moment before the process is gone.
    constexpr std::chrono::seconds moment{2};
    const auto how = process_.wait(moment);
    return how ? *how : kill();
  }

  std::string kill() {
    if (const auto how = process_.end()) return *how;
    throw SupervisionError{fmt::format(
        "worker {} cannot be killed: it hangs inside the driver; nothing more can be measured on "
        "this device until it is reset",
        process_.pid())};
  }

  /// Forgets the output that was there before the last read(). Newer output may belong to the next
  /// case, because two pipes have no common order.
  void forget_output() { output_.erase(0, std::exchange(old_, 0)); }
  /// "; last output: …" in one line, or nothing.
  [[nodiscard]] std::string last_output() {
    read_output();
    std::string text = output_;
    std::ranges::replace_if(
        text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
    std::istringstream stream{text};
    const std::vector<std::string> words{std::istream_iterator<std::string>{stream}, {}};
    return words.empty() ? "" : fmt::format("; last output: {}", fmt::join(words, " "));
  }

 private:
  void read_output() {
    constexpr std::size_t longest = 400;
    old_ = output_.size();
    if (silent_) return;
    const Available more = read_available(process_.output());
    silent_ = more.closed;
    output_ += more.text;
    const std::size_t surplus = output_.size() - std::min(output_.size(), longest);
    output_.erase(0, surplus);
    old_ -= std::min(old_, surplus);
  }

  Subprocess process_;
  LineReader reader_;
  std::string output_;
  std::size_t old_ = 0;  ///< bytes of it that were there before the last read()
  bool silent_ = false;  ///< its output was closed
  double allowance_ = 0;
  Clock::time_point deadline_;
};

// --- the sweep ---

void set_counted(CountersInfo& counters) {
  counters.state = CountersInfo::State::counted;
  counters.reason.clear();
  counters.mend.clear();
}

/// How a phase runs a case.
const char* verb_of(Phase phase) {
  return phase == Phase::timing ? "timed" : phase == Phase::counting ? "counted" : "traced";
}
/// The prefix of a phase's notes.
const char* gerund_of(Phase phase) {
  return phase == Phase::timing ? "" : phase == Phase::counting ? "counting: " : "tracing: ";
}

/// One phase of a sweep. Timing, counting and tracing run the same cases with the same care.
struct Supervision {
  const SuperviseOptions& options;
  Phase phase;
  RunFolder& folder;
  Progress& progress;
  bool again = false;  ///< the cases were timed earlier
  std::deque<Case> pending = {};
  int fruitless = 0;                           ///< consecutive workers that began no case
  std::optional<RefusedMessage> gave_up = {};  ///< why counting stopped; timing never does
  std::chrono::duration<double> spent{0};
  Facts conditions_after = {};
  std::vector<std::string> failures = {};

  void run(const std::vector<Case>& cases);
  [[nodiscard]] const ChildCommand& command() const {
    if (phase == Phase::timing) return options.worker;
    return (phase == Phase::counting ? options.counter : options.tracer).value();
  }
  [[nodiscard]] WorkerJob job() const {
    return {.plan = options.plan,
            .cases = {pending.begin(), pending.end()},
            .note = options.note,
            .steps = phase == Phase::tracing ? folder.steps() : StepTimes{}};
  }
  [[nodiscard]] bool is_unfinished() const { return !pending.empty() && !gave_up; }
  [[nodiscard]] bool is_stopping() const {
    return stop_requests.load() > 0 || Clock::now() >= options.stop_at;
  }

  /// Throws DeviceUnavailable if the device is not the one that the run was started on.
  void check_device(const DeviceMessage& message) {
    RunContext context = folder.context();
    if (context.device.slug.empty()) {
      context.device = message.identity;
    } else if (const std::string& uuid = context.device.uuid;
               context.device.slug != message.identity.slug ||
               (uuid != message.identity.uuid && uuid != hidden_uuid(message.identity.uuid))) {
      throw DeviceUnavailable{
          fmt::format("the run {} was started on {} ({}), but the device here is {} ({}); one run "
                      "is one device: start a new run",
                      context.run, context.device.slug, context.device.uuid, message.identity.slug,
                      message.identity.uuid)};
    }
    if (context.host.cpu.empty()) context.host = message.host;
    if (context.timer.empty()) context.timer = message.timer;
    if (context.clocks_before.empty()) context.clocks_before = message.conditions;
    context.backend = message.backend;
    folder.update(std::move(context));
  }

  /// Writes the record of a finished case before anything else happens.
  void keep(CaseRecord record) {
    if (again) record.visit = folder.visits_of(record.which.id()) + 1;
    folder.append(record);
    pending.erase(std::ranges::find(pending, record.which));
    if (phase == Phase::counting && record.status == Status::measured &&
        folder.context().counters.state != CountersInfo::State::counted) {
      // Written at once, because the run may end in any way.
      RunContext context = folder.context();
      set_counted(context.counters);
      folder.update(std::move(context));
    }
    if (record.status == Status::failed) {
      failures.push_back(
          fmt::format("{}: {}{}", record.which.id(), gerund_of(phase), record.reason));
      progress.note("failed: " + failures.back());
    }
    progress.end_case(record);
  }

  /// Handles a worker that died before it began a case.
  void nothing_begun(const std::optional<RefusedMessage>& refusal, const std::string& how) {
    // One such death may be chance: another process was still leaving the device.
    constexpr int patience = 2;
    if (++fruitless < patience) return;
    const std::string why = "two workers in a row died before any case: " + how;
    if (phase != Phase::timing) {
      gave_up = refusal.value_or(RefusedMessage{why, "see strata doctor"});
      return;
    }
    if (refusal) throw DeviceUnavailable{refusal->reason};
    throw SupervisionError{why + "; see strata doctor"};
  }
};

/// One worker, from its start to its end.
class WorkerWatch {
 public:
  explicit WorkerWatch(Supervision& all)
      : all_{all}, worker_{all.command(), to_json(all.job()) + "\n", all.options.start_allowance} {}

  void run() {
    for (;;) {
      // Checked before reading, so that every record that was already sent is kept.
      const bool stopping = all_.is_stopping();
      const auto batch = worker_.read(stopping);
      for (const auto& line : batch.lines) {
        if (const auto violation = receive(line); !violation.empty()) {
          (void)worker_.kill();
          return lost("malformed worker output: " + violation);
        }
      }
      if (stopping) return (void)worker_.kill();
      if (batch.closed) return lost(worker_.ending());
      if (worker_.is_late(batch)) {
        (void)worker_.kill();
        return lost(fmt::format("{} {:g} s",
                                stage_ == Stage::starting ? "worker did not open its device within"
                                : stage_ == Stage::measuring ? "time limit: no result after"
                                                             : "worker did not continue within",
                                worker_.allowance()));
      }
      all_.progress.tick();
    }
  }

 private:
  enum class Stage { starting, between, measuring, leaving };

  void enter(Stage stage, double allowance) {
    stage_ = stage;
    worker_.allow(allowance);
  }

  /// How the line violates the protocol; empty if it does not.
  std::string receive(const LineReader::Line& line) {
    if (stage_ == Stage::leaving) return {};
    if (line.too_long) return fmt::format("a line of more than {} bytes", line.text.size());
    try {
      return std::visit([&](const auto& message) { return receive(message); },
                        from_json<WorkerMessage>(line.text));
    } catch (const FormatError& error) {
      return error.what();
    }
  }

  std::string receive(const DeviceMessage& message) {
    all_.check_device(message);
    return {};
  }

  std::string receive(const RefusedMessage& message) {
    refusal_ = message;
    enter(Stage::leaving, all_.options.end_allowance);
    return {};
  }

  std::string receive(const BeginMessage& message) {
    // Cases that are counted together take turns in each pass: the one that began last is running.
    if (in_flight_ && all_.phase != Phase::counting) {
      return fmt::format("{} begins within another case", message.id);
    }
    const auto found = std::ranges::find(all_.pending, message.id, &Case::id);
    if (found == all_.pending.end()) return fmt::format("{} begins unrequested", message.id);
    in_flight_ = *found;
    began_ = utc_text();
    began_at_ = Clock::now();
    worker_.forget_output();
    const double more = std::exchange(began_any_, true) ? 0 : all_.options.first_case_allowance;
    enter(Stage::measuring, all_.options.plan.time_limit + more);
    all_.fruitless = 0;
    all_.progress.begin_case(*in_flight_);
    return {};
  }

  std::string receive(const CaseMessage& message) {
    const CaseRecord& record = message.record;
    if (!in_flight_ || !(record.which == *in_flight_)) {
      return fmt::format("a record of {}, which is not being measured", record.which.id());
    }
    if (record.phase != all_.phase) {
      return fmt::format("{} was {}, which was not requested", record.which.id(),
                         verb_of(record.phase));
    }
    in_flight_.reset();
    all_.keep(record);
    // After the last case, its end message is still to come: the device's conditions after the
    // sweep.
    const bool last = message.fatal || all_.pending.empty();
    enter(message.fatal ? Stage::leaving : Stage::between,
          last ? all_.options.end_allowance : all_.options.plan.time_limit);
    return {};
  }

  std::string receive(const EndMessage& message) {
    if (in_flight_) return "an end within a case";
    all_.conditions_after = message.conditions;
    enter(Stage::leaving, all_.options.end_allowance);
    return {};
  }

  /// The worker is gone: attributes this to the case in flight, if there is one.
  void lost(const std::string& how) {
    const std::string output = worker_.last_output();
    if (in_flight_) {
      const std::chrono::duration<double> spent = Clock::now() - began_at_;
      const auto* const during = how.starts_with("worker exited") ? " during this case" : "";
      all_.keep({.which = *in_flight_,
                 .phase = all_.phase,
                 .status = Status::failed,
                 .reason = how + during + output,
                 .started = began_,
                 .seconds = spent.count()});
    } else if (!began_any_ && !all_.pending.empty()) {
      all_.nothing_begun(refusal_, how + output);
    }
  }

  Supervision& all_;
  Worker worker_;
  Stage stage_ = Stage::starting;
  std::optional<Case> in_flight_;
  std::string began_;
  Clock::time_point began_at_;
  bool began_any_ = false;
  std::optional<RefusedMessage> refusal_;
};

void Supervision::run(const std::vector<Case>& cases) {
  const Clock::time_point began = Clock::now();
  pending.assign(cases.begin(), cases.end());
  while (is_unfinished() && !is_stopping())
    WorkerWatch{*this}.run();
  if (!cases.empty()) spent += Clock::now() - began;
}

std::size_t measured_in(const RunFolder& folder) {
  return static_cast<std::size_t>(std::ranges::count(
      folder.statuses(), Status::measured, [](const auto& entry) { return entry.second; }));
}

/// Turns of the sweep (visits and counts) that were made; those of `cases` are to be made again.
std::size_t turns_made(const SuperviseOptions& options, const RunFolder& folder,
                       const std::vector<Case>& again = {}) {
  const auto timed_before = std::ranges::count_if(
      again, [&](const Case& which) { return folder.statuses().contains(which.id()); });
  const std::size_t counted = options.counter ? measured_in(folder) - folder.uncounted().size() : 0;
  return folder.visits_made() - static_cast<std::size_t>(timed_before) + counted;
}

WorkLeft work_left(const SuperviseOptions& options, const RunFolder& folder, bool counts) {
  std::set<std::string> ids;
  const auto add = [&](const std::vector<Case>& cases) {
    for (const Case& which : cases)
      ids.insert(which.id());
    return cases.size();
  };
  WorkLeft left{.timing = add(folder.remaining()), .visits = folder.visits_left()};
  (void)add(folder.unvisited());
  if (options.counter && counts) left.counting = add(folder.uncounted());
  if (options.tracer) left.tracing = add(folder.untraced());
  left.cases = ids.size();
  return left;
}

/// Times every case of the folder as often as the plan requires. Each visit has its own worker, and
/// a whole sweep separates two visits: what a process decides once and keeps, such as the
/// location of its data, differs between visits as it does between runs.
void visit_again(Supervision& timing) {
  timing.again = true;
  for (int visit = 2; visit <= timing.options.plan.visits && !timing.is_unfinished(); ++visit) {
    const auto cases = timing.folder.unvisited();
    if (cases.empty()) return;
    const std::size_t later = timing.folder.visits_left() - cases.size() +
                              (timing.options.counter ? timing.folder.uncounted().size() : 0);
    timing.progress.start(cases, turns_made(timing.options, timing.folder),
                          fmt::format("visit {}", visit), later);
    timing.run(cases);
  }
}

/// Counts the measured cases that have no counts yet, and records the outcome.
void count_what_was_timed(Supervision& counting) {
  RunFolder& folder = counting.folder;
  if (const auto cases = folder.uncounted(); !cases.empty()) {
    counting.progress.start(cases, turns_made(counting.options, folder), "counting");
    counting.run(cases);
  }
  RunContext context = folder.context();
  CountersInfo& counters = context.counters;
  counters.counting_seconds += counting.spent.count();
  if (const auto& refusal = counting.gave_up) {
    counters.state = CountersInfo::State::unavailable;
    counters.reason = refusal->reason;
    counters.mend = refusal->mend;
  } else if (!counting.is_unfinished()) {
    set_counted(counters);
  }
  folder.update(std::move(context));
}

/// Traces the measured cases whose steps have phases. Where tracing is not possible, each case
/// records why.
void trace_what_was_timed(Supervision& tracing) {
  RunFolder& folder = tracing.folder;
  const auto cases = folder.untraced();
  if (cases.empty()) return;
  tracing.progress.start(cases, turns_made(tracing.options, tracing.folder), "tracing");
  tracing.run(cases);
  if (!tracing.gave_up) return;
  const std::deque<Case> left = tracing.pending;
  for (const Case& which : left) {
    tracing.keep({.which = which,
                  .phase = Phase::tracing,
                  .status = Status::skipped,
                  .reason = tracing.gave_up->reason,
                  .started = utc_text()});
  }
}

}  // namespace

std::string hidden_uuid(const std::string& uuid) {
  constexpr std::size_t enough = 8;  // bytes: a UUID has 16
  if (uuid.empty()) return {};
  std::string text = "sha256-";
  const auto digest = sha256(uuid);
  for (const char c : std::span{digest}.first(enough))
    text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

RunSummary supervise(const SuperviseOptions& options, RunFolder& folder, Progress& progress) {
  const auto started = Clock::now();
  const IgnoredSignal broken_pipe{SIGPIPE};  // the reader of the progress may go away
  stop_requests = 0;
  // Each ends a poll() that waits.
  const HandledSignal interrupt{SIGINT, on_stop};
  const HandledSignal termination{SIGTERM, on_stop};
  const HandledSignal hangup{SIGHUP, on_stop};
  folder.start();
  Supervision timing{options, Phase::timing, folder, progress};
  Supervision counting{options, Phase::counting, folder, progress};
  Supervision tracing{options, Phase::tracing, folder, progress};
  const auto further = static_cast<std::size_t>(std::max(options.plan.visits, 1)) - 1;
  const std::size_t turns_later =
      folder.visits_left() + options.cases.size() * further +
      (options.counter ? folder.uncounted().size() + options.cases.size() : 0);
  progress.start(options.cases, turns_made(options, folder, options.cases), "", turns_later);
  try {
    timing.run(options.cases);
    visit_again(timing);
    RunContext context = folder.context();
    context.counters.timing_seconds += timing.spent.count();
    folder.update(std::move(context));
    if (options.counter && !timing.is_unfinished()) count_what_was_timed(counting);
    const bool interrupted = timing.is_unfinished() || counting.is_unfinished();
    if (options.tracer && !interrupted) trace_what_was_timed(tracing);
  } catch (...) {
    progress.finish();
    try {
      (void)folder.finish(RunState::aborted, timing.conditions_after);
    } catch (const RunFolderError&) {  // NOLINT(bugprone-empty-catch): the first error is the cause
    }
    throw;
  }
  const bool interrupted =
      timing.is_unfinished() || counting.is_unfinished() || tracing.is_unfinished();
  if (!interrupted) progress.complete();
  progress.finish();
  const bool incomplete = std::ranges::any_of(
      folder.cases(), [&](const Case& which) { return !folder.statuses().contains(which.id()); });
  RunSummary summary{
      .counts = {},
      .state = interrupted || incomplete ? RunState::interrupted : RunState::complete,
      .failures = std::move(timing.failures)};
  summary.counts = folder.finish(summary.state, timing.conditions_after);
  if (summary.state == RunState::interrupted) {
    summary.left = work_left(options, folder, !counting.gave_up);
    summary.counts.missing = summary.left.cases;
  }
  for (const Supervision* const later : {&counting, &tracing}) {
    summary.failures.insert(summary.failures.end(), later->failures.begin(), later->failures.end());
  }
  if (summary.counts.failed > 0 || summary.counts.counting_failed > 0 || !summary.failures.empty())
    summary.exit_code = ExitCode::failed;
  if (interrupted) summary.exit_code = ExitCode::interrupted;
  summary.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return summary;
}

DeviceMessage probe(const ChildCommand& command, double seconds) {
  const auto unanswered = [](const std::string& why) {
    return DeviceUnavailable{"cannot query the device: " + why};
  };
  Worker worker{command, "", seconds};
  for (;;) {
    const auto batch = worker.read();
    for (const auto& line : batch.lines) {
      try {
        auto message = from_json<WorkerMessage>(line.text);
        if (auto* device = std::get_if<DeviceMessage>(&message)) return std::move(*device);
        if (const auto* refused = std::get_if<RefusedMessage>(&message)) {
          if (refused->bad_selection) throw UsageError{refused->reason};
          throw DeviceUnavailable{refused->reason};
        }
      } catch (const FormatError& error) {
        throw unanswered(fmt::format("malformed worker output: {}", error.what()));
      }
    }
    if (batch.closed) {
      const auto how = worker.ending();
      throw unanswered(how + worker.last_output());
    }
    if (worker.is_late(batch)) throw unanswered(fmt::format("no answer within {:g} s", seconds));
  }
}

}  // namespace strata
