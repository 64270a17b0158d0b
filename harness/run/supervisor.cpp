#include "harness/run/supervisor.hpp"

#include "harness/record/ignored_signal.hpp"
#include "harness/record/record_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <variant>

namespace strata {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>{count});
}

// --- being told to stop ---

// A signal handler reaches nothing but globals.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<int> stop_requests{0};
std::atomic<int> stop_pipe{-1};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<int>::is_always_lock_free);

void on_stop(int /*signal*/) {
  const int error = errno;
  // The second signal is for a run that cannot end, for example because the disk hangs. The worker
  // dies with this process.
  if (stop_requests.fetch_add(1) > 0) ::_exit(static_cast<int>(ExitCode::interrupted));
  const char byte = 0;
  [[maybe_unused]] const auto written = ::write(stop_pipe.load(), &byte, 1);
  errno = error;
}

/// Catches SIGINT, SIGTERM and SIGHUP while it lives, except those that are ignored: nohup and
/// background jobs of shells rely on that.
class StopSignals {
 public:
  StopSignals() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
      throw std::system_error{errno, std::generic_category(), "making a pipe for signals"};
    }
    read_ = UniqueFd{ends[0]};
    write_ = UniqueFd{ends[1]};
    stop_requests = 0;
    stop_pipe = write_.get();
    for (auto& [signal, before] : caught_) {
      (void)::sigaction(signal, nullptr, &before);
      // NOLINTBEGIN: a union inside and a cast, both of the C library's making
      if (before.sa_handler == SIG_IGN) continue;
      struct sigaction action {};
      action.sa_handler = on_stop;
      // NOLINTEND
      (void)::sigaction(signal, &action, nullptr);
    }
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  StopSignals(StopSignals&&) = delete;
  StopSignals& operator=(StopSignals&&) = delete;
  ~StopSignals() {
    for (const auto& [signal, before] : caught_)
      (void)::sigaction(signal, &before, nullptr);
    stop_pipe = -1;
  }

  [[nodiscard]] static bool requested() { return stop_requests.load() > 0; }
  /// Becomes readable when a signal arrives, so that poll() returns.
  [[nodiscard]] int fd() const { return read_.get(); }

 private:
  struct Caught {
    int signal;
    struct sigaction before;
  };
  std::array<Caught, 3> caught_{{{SIGINT, {}}, {SIGTERM, {}}, {SIGHUP, {}}}};
  UniqueFd read_;
  UniqueFd write_;
};

// --- what a worker prints ---

/// The last output of a worker on stdout and stderr, which may explain how it died.
class LastOutput {
 public:
  void read(int fd) {
    old_ = text_.size();
    std::array<char, 16384> buffer{};
    constexpr int turns = 64;  // a worker that never stops printing must not hold us
    for (int i = 0; i < turns && !closed_; ++i) {
      const auto count = ::read(fd, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (count <= 0) {
        closed_ = true;
        return;
      }
      text_.append(buffer.data(), static_cast<std::size_t>(count));
      if (text_.size() > longest_) {
        const std::size_t surplus = text_.size() - longest_;
        text_.erase(0, surplus);
        old_ -= std::min(old_, surplus);
      }
    }
  }
  /// Forgets what was there before the last read(). Newer output may belong to the next case: two
  /// pipes have no common order.
  void forget() {
    text_.erase(0, old_);
    old_ = 0;
  }
  [[nodiscard]] bool closed() const { return closed_; }

  /// "; last output: …" in one line, or nothing.
  [[nodiscard]] std::string quoted() const {
    std::string words;
    for (const char c : text_) {
      const bool space = (c >= 0 && c <= ' ') || c == '\x7f';
      if (!space) words += c;
      if (space && !words.empty() && words.back() != ' ') words += ' ';
    }
    if (words.ends_with(' ')) words.pop_back();
    return words.empty() ? words : "; last output: " + words;
  }

 private:
  static constexpr std::size_t longest_ = 400;
  std::string text_;
  std::size_t old_ = 0;  ///< bytes of it that were there before the last read()
  bool closed_ = false;
};

/// How often the progress line is drawn, and a dead worker is looked for.
constexpr std::chrono::milliseconds tick{500};

/// A worker process with its messages and its output.
class Worker {
 public:
  Worker(const WorkerCommand& command, std::string_view input)
      : process_{Subprocess::start(command, input)} {}

  /// The lines that came until `deadline`, or within one tick, or until `also` has something to
  /// read (a negative descriptor never has).
  LineReader::Batch read(Clock::time_point deadline, int also = -1) {
    const auto longest = std::clamp<Clock::duration>(deadline - Clock::now(), {}, tick);
    std::array<pollfd, 3> watched{};
    const std::array fds{also, process_.channel(), output_.closed() ? -1 : process_.output()};
    std::ranges::transform(fds, watched.begin(),
                           [](int fd) { return pollfd{.fd = fd, .events = POLLIN, .revents = 0}; });
    const auto time = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
    (void)::poll(watched.data(), watched.size(), static_cast<int>(time));
    output_.read(process_.output());
    auto batch = reader_.read(process_.channel());
    // When the worker is dead and its child still holds the pipe, this kills the child.
    if (batch.bytes == 0 && !batch.closed) (void)process_.ended();
    return batch;
  }

  /// How it ended, after its channel was closed.
  [[nodiscard]] std::string ending() {
    // The pipe may close a moment before the process is gone.
    constexpr std::chrono::seconds moment{2};
    const auto how = process_.wait(moment);
    return (how ? *how : kill()).describe();
  }

  Ending kill() {
    const auto how = process_.end();
    if (!how) {
      throw SupervisionError{fmt::format(
          "worker {} cannot be killed: it hangs inside the driver; nothing more can be measured on "
          "this device until it is reset",
          process_.pid())};
    }
    return *how;
  }

  void forget_output() { output_.forget(); }
  [[nodiscard]] std::string last_output() {
    output_.read(process_.output());
    return output_.quoted();
  }

 private:
  Subprocess process_;
  LineReader reader_;
  LastOutput output_;
};

// --- the sweep ---

/// Why counting ended before its last case.
struct Refusal {
  std::string reason;
  std::string mend;
};

void set_counted(CountersInfo& counters) {
  counters.state = CountersInfo::State::counted;
  counters.reason.clear();
  counters.mend.clear();
}

/// One phase of a sweep: the same cases, the same care, whether they are timed or counted.
class Supervision {
 public:
  Supervision(const SuperviseOptions& options, Phase phase, RunFolder& folder, Progress& progress,
              const StopSignals& stop)
      : options_{options},
        command_{phase == Phase::counting ? options.counter.value() : options.worker},
        phase_{phase},
        folder_{folder},
        progress_{progress},
        stop_{stop} {}

  void run(const std::vector<Case>& cases) {
    if (cases.empty()) return;
    const Clock::time_point began = Clock::now();
    pending_.assign(cases.begin(), cases.end());
    while (!pending_.empty() && !gave_up_ && !StopSignals::requested())
      WorkerWatch{*this}.run();
    spent_ = std::chrono::duration<double>(Clock::now() - began).count();
  }

  [[nodiscard]] bool interrupted() const { return !pending_.empty() && !gave_up_; }
  /// Why counting was given up; timing never is.
  [[nodiscard]] const std::optional<Refusal>& gave_up() const { return gave_up_; }
  [[nodiscard]] double seconds_spent() const { return spent_; }
  [[nodiscard]] const Facts& conditions_after() const { return after_; }
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }

 private:
  /// One worker, from its start to its end.
  class WorkerWatch {
   public:
    explicit WorkerWatch(Supervision& all)
        : all_{all},
          worker_{all.command_, to_json(WorkerJob{all.options_.plan,
                                                  {all.pending_.begin(), all.pending_.end()},
                                                  all.options_.note}) +
                                    "\n"} {
      allow(all.options_.start_allowance);
    }

    void run() {
      for (;;) {
        // Checked before reading, so that every record sent until now is still kept.
        const bool stopping = StopSignals::requested();
        const auto batch = worker_.read(deadline_, all_.stop_.fd());
        for (const auto& line : batch.lines) {
          if (const auto violation = receive(line); !violation.empty()) {
            (void)worker_.kill();
            return lost("malformed worker output: " + violation);
          }
        }
        if (stopping) return (void)worker_.kill();
        if (batch.closed) return lost(worker_.ending());
        // Only when there was nothing to read: this process may have been stopped (Ctrl-Z) while
        // the answer was in the pipe.
        if (batch.bytes == 0 && Clock::now() >= deadline_) return late();
        all_.progress_.tick();
      }
    }

   private:
    enum class Stage { starting, between, measuring, leaving };

    void allow(double allowance) {
      allowance_ = allowance;
      deadline_ = Clock::now() + seconds(allowance);
    }

    /// How the line breaks the protocol; empty when it does not.
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
      refusal_ = Refusal{message.reason, {}};
      leave();
      return {};
    }

    std::string receive(const CountersRefusedMessage& message) {
      if (all_.phase_ != Phase::counting) return "counters that nobody asked for";
      refusal_ = Refusal{message.reason, message.mend};
      leave();
      return {};
    }

    std::string receive(const BeginMessage& message) {
      // Cases that are counted together take turns in each pass: the last that began is at work.
      if (in_flight_ && all_.phase_ == Phase::timing) {
        return fmt::format("{} begins within another case", message.id);
      }
      const auto found = std::ranges::find(all_.pending_, message.id, &Case::id);
      if (found == all_.pending_.end()) return fmt::format("{} begins unasked", message.id);
      in_flight_ = *found;
      began_ = utc_text();
      began_at_ = Clock::now();
      worker_.forget_output();
      const double more = began_any_ ? 0 : all_.options_.first_case_allowance;
      allow(all_.options_.plan.time_limit + more);
      stage_ = Stage::measuring;
      began_any_ = true;
      all_.fruitless_ = 0;
      all_.progress_.begin_case(*in_flight_);
      return {};
    }

    std::string receive(const CaseMessage& message) {
      if (!in_flight_ || !(message.record.which == *in_flight_)) {
        return fmt::format("a record of {}, which is not being measured",
                           message.record.which.id());
      }
      if (message.record.phase != all_.phase_) {
        return fmt::format("{} was {}, which was not asked for", message.record.which.id(),
                           all_.phase_ == Phase::counting ? "timed" : "counted");
      }
      in_flight_.reset();
      all_.keep(message.record);
      if (message.fatal) {
        leave();
      } else {
        // After the last case its end message is to come: the device's conditions after the sweep.
        stage_ = Stage::between;
        allow(all_.pending_.empty() ? all_.options_.end_allowance : all_.options_.plan.time_limit);
      }
      return {};
    }

    std::string receive(const EndMessage& message) {
      if (in_flight_) return "an end within a case";
      all_.after_ = message.conditions;
      leave();
      return {};
    }

    void leave() {
      stage_ = Stage::leaving;
      allow(all_.options_.end_allowance);
    }

    void late() {
      (void)worker_.kill();
      switch (stage_) {
        case Stage::starting:
          return lost(fmt::format("worker did not open its device within {:g} s", allowance_));
        case Stage::measuring:
          return lost(fmt::format("time limit: no result after {:g} s", allowance_));
        case Stage::between:
        case Stage::leaving:
          return lost(fmt::format("worker did not go on within {:g} s", allowance_));
      }
    }

    /// The worker is gone: attributes this to the case in flight, if there is one.
    void lost(const std::string& how) {
      const std::string output = worker_.last_output();
      if (in_flight_) {
        const std::chrono::duration<double> spent = Clock::now() - began_at_;
        const auto* const during = how.starts_with("worker exited") ? " during this case" : "";
        const CaseRecord record{.which = *in_flight_,
                                .phase = all_.phase_,
                                .status = Status::failed,
                                .reason = how + during + output,
                                .started = began_,
                                .seconds = spent.count()};
        all_.keep(record);
      } else if (!began_any_ && !all_.pending_.empty()) {
        all_.nothing_begun(refusal_, how + output);
      }
    }

    Supervision& all_;
    Worker worker_;
    Stage stage_ = Stage::starting;
    double allowance_ = 0;
    Clock::time_point deadline_;
    std::optional<Case> in_flight_;
    std::string began_;
    Clock::time_point began_at_;
    bool began_any_ = false;
    std::optional<Refusal> refusal_;
  };

  /// Throws DeviceUnavailable for another device than the one that the run was begun on.
  void check_device(const DeviceMessage& message) {
    RunContext context = folder_.context();
    if (context.device.slug.empty()) {
      context.device = message.identity;
    } else if (context.device.slug != message.identity.slug ||
               context.device.uuid != message.identity.uuid) {
      throw DeviceUnavailable{fmt::format(
          "the run {} was begun on {} ({}), but the device here is {} ({}); one run is one device: "
          "start a new run",
          context.run, context.device.slug, context.device.uuid, message.identity.slug,
          message.identity.uuid)};
    }
    if (context.host.cpu.empty()) context.host = message.host;
    if (context.libraries.empty()) context.libraries = message.libraries;
    if (context.timer.empty()) context.timer = message.timer;
    if (context.clocks_before.empty()) context.clocks_before = message.conditions;
    context.backend = message.backend;
    folder_.update(std::move(context));
  }

  /// Writes the record of a finished case, before anything else happens.
  void keep(const CaseRecord& record) {
    folder_.append(record);
    pending_.erase(std::ranges::find(pending_, record.which));
    if (phase_ == Phase::counting && record.status == Status::measured) has_counts();
    if (record.status == Status::failed) {
      failures_.push_back(fmt::format("{}: {}{}", record.which.id(),
                                      phase_ == Phase::counting ? "counting: " : "",
                                      record.reason));
      progress_.note("failed: " + failures_.back());
    }
    progress_.end_case(record);
  }

  /// Written at once, because the run may end in any way.
  void has_counts() {
    if (folder_.context().counters.state == CountersInfo::State::counted) return;
    RunContext context = folder_.context();
    set_counted(context.counters);
    folder_.update(std::move(context));
  }

  /// A worker died before it began a case.
  void nothing_begun(const std::optional<Refusal>& refusal, const std::string& how) {
    // One may be bad luck: another process was still leaving the device.
    constexpr int patience = 2;
    if (++fruitless_ < patience) return;
    const std::string why = "two workers in a row died before any case: " + how;
    if (phase_ == Phase::counting) {
      gave_up_ = refusal.value_or(Refusal{why, "strata doctor says more"});
      return;
    }
    if (refusal) throw DeviceUnavailable{refusal->reason};
    throw SupervisionError{why + "; strata doctor says more"};
  }

  const SuperviseOptions& options_;
  const WorkerCommand& command_;
  Phase phase_;
  RunFolder& folder_;
  Progress& progress_;
  const StopSignals& stop_;
  std::deque<Case> pending_;
  int fruitless_ = 0;  ///< workers in a row that began no case
  std::optional<Refusal> gave_up_;
  double spent_ = 0;
  Facts after_;
  std::vector<std::string> failures_;
};

/// Counts the measured cases that have no counts, and records the outcome in the context.
void count_what_was_timed(Supervision& counting, RunFolder& folder, Progress& progress) {
  const auto cases = folder.uncounted();
  if (!cases.empty()) {
    const auto measured = std::ranges::count(folder.statuses(), Status::measured,
                                             [](const auto& entry) { return entry.second; });
    progress.start(cases, static_cast<std::size_t>(measured) - cases.size(), "counting");
    counting.run(cases);
  }
  RunContext context = folder.context();
  CountersInfo& counters = context.counters;
  counters.counting_seconds += counting.seconds_spent();
  if (const auto& refusal = counting.gave_up()) {
    counters.state = CountersInfo::State::unavailable;
    counters.reason = refusal->reason;
    counters.mend = refusal->mend;
  } else if (!counting.interrupted()) {
    set_counted(counters);
  }
  folder.update(std::move(context));
}

RunState state_of(const RunFolder& folder, bool interrupted) {
  const auto missing = [&](const Case& which) { return !folder.statuses().contains(which.id()); };
  return interrupted || std::ranges::any_of(folder.cases(), missing) ? RunState::interrupted
                                                                     : RunState::complete;
}

ExitCode exit_code_of(const RunCounts& counts, bool interrupted) {
  if (interrupted) return ExitCode::interrupted;
  const bool failed = counts.failed > 0 || counts.counting_failed > 0;
  return failed ? ExitCode::failed : ExitCode::success;
}

}  // namespace

RunSummary supervise(const SuperviseOptions& options, RunFolder& folder, Progress& progress) {
  const auto started = Clock::now();
  const IgnoredSignal broken_pipe{SIGPIPE};  // the reader of the progress may go away
  const StopSignals stop;
  folder.start();
  Supervision timing{options, Phase::timing, folder, progress, stop};
  std::optional<Supervision> counting;
  if (options.counter) counting.emplace(options, Phase::counting, folder, progress, stop);
  progress.start(options.cases,
                 folder.cases().size() - std::min(folder.cases().size(), options.cases.size()));
  try {
    timing.run(options.cases);
    RunContext context = folder.context();
    context.counters.timing_seconds += timing.seconds_spent();
    folder.update(std::move(context));
    if (counting && !timing.interrupted()) count_what_was_timed(*counting, folder, progress);
  } catch (...) {
    progress.finish();
    try {
      (void)folder.finish(RunState::aborted, timing.conditions_after());
    } catch (const RunFolderError&) {  // NOLINT(bugprone-empty-catch): the first error is the cause
    }
    throw;
  }
  progress.finish();
  RunSummary summary;
  const bool interrupted = timing.interrupted() || (counting && counting->interrupted());
  summary.state = state_of(folder, interrupted);
  summary.counts = folder.finish(summary.state, timing.conditions_after());
  summary.failures = timing.failures();
  if (counting) {
    summary.failures.insert(summary.failures.end(), counting->failures().begin(),
                            counting->failures().end());
  }
  summary.exit_code = exit_code_of(summary.counts, interrupted);
  summary.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return summary;
}

DeviceMessage probe(const WorkerCommand& command, double seconds_allowed) {
  const auto unanswered = [](const std::string& why) {
    return DeviceUnavailable{"the device cannot be asked: " + why};
  };
  Worker worker{command, ""};
  const auto deadline = Clock::now() + seconds(seconds_allowed);
  for (;;) {
    const auto batch = worker.read(deadline);
    for (const auto& line : batch.lines) {
      try {
        auto message = from_json<WorkerMessage>(line.text);
        if (auto* device = std::get_if<DeviceMessage>(&message)) return std::move(*device);
        if (const auto* refused = std::get_if<RefusedMessage>(&message)) {
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
    if (batch.bytes == 0 && Clock::now() >= deadline) {
      throw unanswered(fmt::format("no answer within {:g} s", seconds_allowed));
    }
  }
}

}  // namespace strata
