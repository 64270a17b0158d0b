#include "harness/record/run_folder.hpp"

#include "harness/base/error.hpp"
#include "harness/base/ignored_signal.hpp"
#include "harness/base/regular_file.hpp"
#include "harness/base/text.hpp"
#include "harness/record/measurements_csv.hpp"
#include "harness/record/record_json.hpp"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace strata {
namespace {

constexpr std::string_view context_file = "context.json";
constexpr std::string_view samples_file = "samples.jsonl";
constexpr std::string_view measurements_file = "measurements.csv";

constexpr mode_t file_mode = 0666;  // reduced by the umask

// The most that a folder from elsewhere may make us read: as in analysis/src/strata/run/files.py.
constexpr std::size_t longest_line = std::size_t{32} << 20;
constexpr std::size_t most_context = longest_line;
constexpr off_t most_samples = off_t{4} << 30;

/// Data given to write() survive the death of any process and cost microseconds. Only fdatasync
/// survives a crash of the machine (which a GPU can cause), but it takes up to tens of
/// milliseconds, compared to about 80 ms for a case. This interval is the most of a run that a
/// crash can cost.
constexpr std::chrono::seconds sync_interval{5};

constexpr std::string_view then_complete = "resume the run with strata run --resume";

std::string how_to_mend(int error) {
  const auto then_resume = [](const std::string& mend) {
    return fmt::format("{}, then {}", mend, then_complete);
  };
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return then_resume("free some space");
    case EFBIG:
      return then_resume("raise the limit on file sizes (ulimit -f)");
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a writable folder (--out)";
    case EIO:
      return then_resume("the disk or its network failed; check the kernel log");
    case EPIPE:
      return "the reader has exited; write to a regular file";
    default:
      return then_resume("mend that");
  }
}

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view what, int error) {
  throw RunFolderError{fmt::format("{}: {}: {}; {}", file.string(), what,
                                   std::generic_category().message(error), how_to_mend(error))};
}

template <class... Args>
[[noreturn]] void refuse_run(fmt::format_string<Args...> message, Args&&... args) {
  throw UsageError{fmt::format(message, std::forward<Args>(args)...)};
}

/// `bytes_of_it` describes the text in the message.
void write_all(int fd, const std::filesystem::path& file, std::string_view text,
               const std::string& bytes_of_it) {
  const IgnoredSignal over_the_limit{SIGXFSZ};  // otherwise a limit on file sizes kills the process
  const auto done = write_some(fd, text);
  if (done == text.size()) return;
  const int error = errno;
  fail(file, fmt::format("only {} of {} could be written", done, bytes_of_it), error);
}

void sync(int fd, const std::filesystem::path& file) {
  // EINVAL, EROFS: a kind of file that cannot be synced. Anything else is lost data: network file
  // systems and quotas report it here first.
  if (::fdatasync(fd) != 0 && errno != EINVAL && errno != EROFS)
    fail(file, "cannot be synchronised to disk", errno);
}

/// Replaces the content of a file atomically: no reader sees half of the new one.
void replace_file(const std::filesystem::path& target, std::string_view text) {
  const auto fresh = target.parent_path() / fmt::format(".{}.new", target.filename().string());
  const UniqueFd fd = create_anew(fresh);
  if (!fd) fail(fresh, "cannot be created", errno);
  try {
    write_all(fd.get(), target, text, fmt::format("{} bytes", text.size()));
    sync(fd.get(), target);
    if (::rename(fresh.c_str(), target.c_str()) != 0) fail(target, "cannot be replaced", errno);
  } catch (...) {
    (void)::unlink(fresh.c_str());
    throw;
  }
}

struct stat status_of(int fd, const std::filesystem::path& file) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail(file, "cannot be examined", errno);
  return status;
}

/// Passes on the record of each whole line and leaves out a truncated last line. Returns the bytes
/// of the whole lines.
off_t for_each_record(const std::filesystem::path& file,
                      const std::function<void(CaseRecord)>& take) {
  const UniqueFd fd = open_regular(file, O_RDONLY | O_NOFOLLOW, "the samples of a run");
  if (const auto bytes = status_of(fd.get(), file).st_size; bytes > most_samples)
    refuse_run("{}: has {} bytes; expected {} at most", file.string(), bytes, most_samples);
  return for_each_line(fd, file, longest_line, [&](std::size_t number, std::string_view line) {
    try {
      take(record_in(line));
    } catch (const FormatError& error) {
      refuse_run(
          "{}:{}: {}; expected a finished case; delete that line and resume the run, or measure "
          "again",
          one_line(file.native()), number, one_line(error.what()));
    }
  });
}

/// Throws UsageError for a plan that names a case twice.
void check_each_once(const std::vector<std::string>& cases, const std::filesystem::path& file) {
  std::set<std::string_view> seen;
  for (const auto& id : cases) {
    if (!seen.insert(id).second)
      refuse_run("{}: sweep.cases holds {} twice; expected each case once", file.string(), id);
  }
}

std::vector<Case> cases_of(const SweepInfo& sweep, const std::filesystem::path& file) {
  std::vector<Case> cases;
  cases.reserve(sweep.cases.size());
  for (const auto& id : sweep.cases) {
    auto which = Case::from_id(id);
    if (!which) {
      refuse_run(
          "{}: sweep.cases holds '{}'; expected a case id: suite/benchmark/backend/key=value/…",
          file.string(), id);
    }
    cases.push_back(std::move(*which));
  }
  return cases;
}

/// The last record of the case is measured or skipped.
bool is_done(const std::map<std::string, Status, std::less<>>& statuses, const std::string& id) {
  const auto found = statuses.find(id);
  return found != statuses.end() && found->second != Status::failed;
}

}  // namespace

std::string utc_text(std::chrono::system_clock::time_point when) {
  // Calendar arithmetic of <chrono>: gmtime uses a static buffer, and strftime the locale.
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::seconds>(when - day)};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

std::string run_name(const RunContext& context) {
  constexpr std::size_t short_hash = 7;  // as git shows it
  const std::string& commit = context.strata.commit;
  std::string started = context.started;
  std::erase_if(started, [](char c) { return c == '-' || c == ':'; });
  // GPUs of a node start in one second, and their runs meet in one folder.
  constexpr std::size_t last_digits = 4;
  const std::string& uuid = context.device.uuid;
  const std::string gpu = uuid.substr(uuid.size() - std::min(uuid.size(), last_digits));
  return fmt::format("{}-{}-{}{}{}", context.device.slug.empty() ? "unknown" : context.device.slug,
                     started, commit.empty() ? "nogit" : commit.substr(0, short_hash),
                     gpu.empty() ? "" : "-", gpu);
}

RunFolder RunFolder::create(const std::filesystem::path& parent, RunContext context) {
  RunFolder folder;
  try {
    folder.make(parent, std::move(context));
  } catch (const RunFolderError& error) {
    // A folder that is not a run yet cannot be completed.
    std::error_code ignored;
    if (!folder.path_.empty()) std::filesystem::remove_all(folder.path_, ignored);
    std::string why = error.what();
    if (const auto at = why.find(then_complete); at != std::string::npos)
      why.replace(at, then_complete.size(), "begin again");
    throw RunFolderError{why};
  }
  return folder;
}

void RunFolder::make(const std::filesystem::path& parent, RunContext context) {
  if (context.started.empty()) context.started = utc_text();
  context.state = RunState::running;
  cases_ = cases_of(context.sweep, context_file);
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) fail(parent, "cannot be created", error.value());
  const std::string name = run_name(context);
  context.run = name;
  // create_directory() succeeds for one process only, even when two runs start in one second.
  for (int next = 2; !std::filesystem::create_directory(parent / context.run, error); ++next) {
    if (error && error != std::errc::file_exists)
      fail(parent / context.run, "cannot be created", error.value());
    context.run = fmt::format("{}-{}", name, next);
  }
  path_ = parent / context.run;
  context_ = std::move(context);
  open_samples(/*make=*/true);  // written first: a folder with a context is a run
  write_context();
}

RunFolder RunFolder::open_for_resume(const std::filesystem::path& run) {
  RunFolder folder;
  // "runs/x/" names the same folder as "runs/x".
  folder.path_ = run.has_filename() ? run : run.parent_path();
  const auto file = folder.path_ / context_file;
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, error))) {
    refuse_run("{}: not a run folder: it has no {}; expected a folder that strata run printed",
               run.string(), context_file);
  }
  try {
    folder.context_ =
        from_json<RunContext>(read_regular(file, O_NOFOLLOW, "the context of a run", most_context));
  } catch (const FormatError& wrong) {
    refuse_run("{}: {}", file.string(), one_line(wrong.what()));
  }
  if (const auto& name = folder.context_.run; !is_canonical_word(name) || name.starts_with('.')) {
    refuse_run("{}: run is {}; expected the name of the run folder: letters, digits, ., _, + and -",
               file.string(), in_quotes(name));
  }
  folder.cases_ = cases_of(folder.context_.sweep, file);
  check_each_once(folder.context_.sweep.cases, file);
  for (const auto name : {samples_file, measurements_file}) {
    if (!std::filesystem::exists(folder.path_ / fmt::format("{}.gz", name), error)) continue;
    refuse_run("{}: its {} is compressed; expected uncompressed files: gunzip -r {}", run.string(),
               name, folder.path_.string());
  }
  if (const std::string now = utc_text(); now < folder.context_.started) {
    refuse_run("{}: was started at {}, but the clock of this machine is at {}; set the clock",
               run.string(), folder.context_.started, now);
  }
  const auto samples = folder.path_ / samples_file;
  if (!std::filesystem::exists(std::filesystem::symlink_status(samples, error))) {
    refuse_run("{}: has no {}; nothing was measured in it: start a new run", run.string(),
               samples_file);
  }
  folder.open_samples(/*make=*/false);
  const std::set<std::string_view> planned{folder.context_.sweep.cases.begin(),
                                           folder.context_.sweep.cases.end()};
  const off_t size = status_of(folder.samples_.get(), samples).st_size;
  folder.written_ = for_each_record(samples, [&](const CaseRecord& record) {
    const std::string id = record.which.id();
    if (!planned.contains(id)) {
      refuse_run("{}: {} is not a case of the sweep in {}; remove its lines, or start a new run",
                 samples.string(), id, context_file);
    }
    folder.note_status(record);
  });
  if (folder.written_ != size) {
    folder.repair_ = fmt::format(
        "{}: the last line was truncated when the run was interrupted; its {} bytes are dropped, "
        "and its case will be measured again",
        samples.string(), size - folder.written_);
  }
  folder.reopened_ = true;
  return folder;
}

void RunFolder::open_samples(bool make) {
  const auto file = path_ / samples_file;
  samples_ = make ? UniqueFd{::open(file.c_str(),  // NOLINT: open has no other form
                                    O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, file_mode)}
                  : open_regular(file, O_RDWR | O_APPEND | O_NOFOLLOW, "the samples of a run");
  if (!samples_) fail(file, "cannot be created", errno);
  if (status_of(samples_.get(), file).st_nlink > 1)
    refuse_run("{}: has another name too (a hard link); copy the run and resume the copy",
               file.string());
  if (::flock(samples_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    refuse_run("{}: another process is writing this run; wait for it to end", path_.string());
  synced_ = std::chrono::steady_clock::now();
}

void RunFolder::check_samples() const {
  const auto file = path_ / samples_file;
  const struct stat ours = status_of(samples_.get(), file);
  struct stat named {};
  const bool same = ::lstat(file.c_str(), &named) == 0 && named.st_dev == ours.st_dev &&
                    named.st_ino == ours.st_ino;
  if (same && ours.st_size == written_) return;
  throw RunFolderError{fmt::format(
      "{}: was {} while this run wrote it, and lines are lost: find out what did it, then {}",
      file.string(), same ? "changed" : "replaced", then_complete)};
}

std::vector<Case> RunFolder::remaining() const {
  std::vector<Case> left = cases_;
  std::erase_if(left, [&](const Case& which) { return is_done(statuses_, which.id()); });
  return left;
}

std::vector<Case> RunFolder::unvisited() const {
  std::vector<Case> left = cases_;
  std::erase_if(left, [&](const Case& which) {
    const int visits = visits_of(which.id());
    return visits == 0 || visits >= context_.sweep.plan.visits || long_.contains(which.id());
  });
  return left;
}

int RunFolder::visits_of(const std::string& id) const {
  const auto found = visits_.find(id);
  return found == visits_.end() ? 0 : found->second;
}

std::size_t RunFolder::visits_made() const {
  std::size_t made = 0;
  for (const auto& [id, status] : statuses_)
    made += static_cast<std::size_t>(std::max(visits_of(id), 1));
  return made;
}

std::size_t RunFolder::visits_left() const {
  std::size_t left = 0;
  for (const Case& which : unvisited())
    left += static_cast<std::size_t>(context_.sweep.plan.visits - visits_of(which.id()));
  return left;
}

std::vector<Case> RunFolder::uncounted() const {
  return measured_and_not(counted_);
}

std::vector<Case> RunFolder::untraced() const {
  std::vector<Case> left = measured_and_not(traced_);
  std::erase_if(left, [&](const Case& which) { return !steps_.contains(which.id()); });
  return left;
}

std::vector<Case> RunFolder::measured_and_not(
    const std::map<std::string, Status, std::less<>>& done) const {
  std::vector<Case> left = cases_;
  std::erase_if(left, [&](const Case& which) {
    const auto timed = statuses_.find(which.id());
    return timed == statuses_.end() || timed->second != Status::measured ||
           is_done(done, which.id());
  });
  return left;
}

void RunFolder::note_status(const CaseRecord& record) {
  const std::string id = record.which.id();
  if (record.phase != Phase::timing) {
    auto& done = record.phase == Phase::counting ? counted_ : traced_;
    if (statuses_.contains(id)) done[id] = record.status;
    return;
  }
  counted_.erase(id);
  traced_.erase(id);
  if (record.visit == 1) {
    steps_.erase(id);
    statuses_[id] = record.status;
    if (record.seconds > 2 * context_.sweep.plan.seconds_per_case) long_.insert(id);
  }
  if (const auto step = record.facts.find(step_fact); step != record.facts.end()) {
    if (const auto* const seconds = std::get_if<double>(&step->second))
      steps_[id].push_back(*seconds);
  }
  if (record.status == Status::measured) {
    visits_[id] = record.visit;
  } else if (record.visit == 1) {
    visits_.erase(id);
  }
}

void RunFolder::start() {
  if (!reopened_) return;
  const auto samples = path_ / samples_file;
  if (!repair_.empty() && ::ftruncate(samples_.get(), written_) != 0)
    fail(samples, "cannot truncate its last line", errno);
  context_.resumed.push_back(utc_text());
  context_.state = RunState::running;
  context_.finished.clear();
  write_context();
  reopened_ = false;
}

void RunFolder::append(const CaseRecord& record) {
  const std::string line = sealed_line(record) + "\n";
  const auto file = path_ / samples_file;
  check_samples();
  try {
    write_all(samples_.get(), file, line,
              fmt::format("the {} bytes of {}", line.size(), record.which.id()));
  } catch (const RunFolderError&) {
    // Half a line would end the file for every reader; truncating needs no space.
    [[maybe_unused]] const int taken_back = ::ftruncate(samples_.get(), written_);
    throw;
  }
  written_ += static_cast<off_t>(line.size());
  note_status(record);
  if (const auto now = std::chrono::steady_clock::now(); now - synced_ >= sync_interval) {
    sync(samples_.get(), file);
    synced_ = std::chrono::steady_clock::now();
  }
}

void RunFolder::update(RunContext context) {
  context_ = std::move(context);
  write_context();
}

void RunFolder::write_context() {
  replace_file(path_ / context_file, to_json(context_));
}

RunCounts RunFolder::write_measurements() {
  const auto samples = path_ / samples_file;
  sync(samples_.get(), samples);
  check_samples();
  RunCounts counts;
  std::string text = csv_header();
  for (const auto& record : read_samples(samples, context_.sweep.cases)) {
    for (const auto& m : record.measurements)
      ++(record.is_valid(m) ? counts.valid_rows : counts.invalid_rows);
    text += csv_rows(context_.run, context_.device.slug, record);
  }
  // Measured, skipped, failed: in the order of Status.
  constexpr std::array timed{&RunCounts::measured, &RunCounts::skipped, &RunCounts::failed};
  constexpr std::array counted{&RunCounts::counted, &RunCounts::counting_skipped,
                               &RunCounts::counting_failed};
  for (const auto& [id, status] : statuses_) {
    ++(counts.*timed.at(static_cast<std::size_t>(status)));
    if (status != Status::measured) continue;
    const auto found = counted_.find(id);
    ++(found == counted_.end() ? counts.uncounted
                               : counts.*counted.at(static_cast<std::size_t>(found->second)));
  }
  counts.missing = static_cast<std::size_t>(std::ranges::count_if(
      context_.sweep.cases, [&](const std::string& id) { return !statuses_.contains(id); }));
  replace_file(path_ / measurements_file, text);
  return counts;
}

RunCounts RunFolder::finish(RunState state, Facts after) {
  context_.state = state;
  // Even if the clock was set back, a run ends after its start.
  context_.finished = std::max(utc_text(), context_.started);
  if (!after.empty()) context_.clocks_after = std::move(after);
  RunCounts counts;
  try {
    counts = write_measurements();
  } catch (...) {
    context_.state = RunState::aborted;
    write_context();
    throw;
  }
  write_context();
  return counts;
}

std::vector<CaseRecord> read_samples(const std::filesystem::path& file,
                                     const std::vector<std::string>& cases) {
  using Records = std::map<std::string, CaseRecord>;
  Records timed;
  Records counted;
  Records traced;
  const auto of_phase = [&](Phase phase) -> Records& {
    return phase == Phase::timing ? timed : phase == Phase::counting ? counted : traced;
  };
  for_each_record(file, [&](CaseRecord record) {
    const auto id = record.which.id();
    if (record.phase == Phase::timing) {
      counted.erase(id);
      traced.erase(id);
    }
    if (record.visit == 1) {
      of_phase(record.phase).insert_or_assign(id, std::move(record));
    } else if (const auto before = timed.find(id);
               before != timed.end() && before->second.visit < record.visit) {
      before->second = revisited(before->second, record);
    }
  });
  std::vector<CaseRecord> records;
  const auto add = [&](const std::string& id, CaseRecord record) {
    if (const auto counts = counted.find(id); counts != counted.end()) {
      record = merged(record, counts->second);
    }
    if (const auto trace = traced.find(id); trace != traced.end()) {
      record = with_trace(std::move(record), trace->second);
    }
    records.push_back(std::move(record));
  };
  for (const auto& id : cases) {
    if (auto found = timed.extract(id)) add(id, std::move(found.mapped()));
  }
  for (auto& [id, record] : timed)
    add(id, std::move(record));
  return records;
}

}  // namespace strata
