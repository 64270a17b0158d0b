#include "harness/record/run_folder.hpp"

#include "harness/case/error.hpp"
#include "harness/record/ignored_signal.hpp"
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
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace strata {
namespace {

constexpr std::string_view context_file = "context.json";
constexpr std::string_view samples_file = "samples.jsonl";
constexpr std::string_view packed_samples_file = "samples.jsonl.gz";
constexpr std::string_view measurements_file = "measurements.csv";

constexpr mode_t file_mode = 0666;  // reduced by the umask

/// Data of write() survives the death of any process and costs microseconds. Only fdatasync
/// survives a crash of the machine (which a GPU can cause), but takes up to tens of milliseconds
/// beside a case of 80: so a crash costs at most this much of a run.
constexpr std::chrono::seconds sync_interval{5};

std::string how_to_mend(int error) {
  const auto then_resume = [](const std::string& mend) {
    return mend + ", then complete the run with strata run --resume";
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
      return "choose a folder that you may write to (--out)";
    case EIO:
      return then_resume("the disk or its network failed; look at the kernel's log");
    case EPIPE:
      return "whoever reads it is gone; write to a plain file";
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

UniqueFd open_file(const std::filesystem::path& file, int flags) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open has no other form
  UniqueFd fd{::open(file.c_str(), flags | O_CLOEXEC, file_mode)};
  if (!fd) fail(file, "cannot be opened", errno);
  return fd;
}

/// `bytes_of_it` describes the text in the message.
void write_all(int fd, const std::filesystem::path& file, std::string_view text,
               const std::string& bytes_of_it) {
  const IgnoredSignal over_the_limit{SIGXFSZ};  // else a limit on file sizes kills the process
  const auto done = write_some(fd, text);
  if (done == text.size()) return;
  const int error = errno;
  fail(file, fmt::format("only {} of {} could be written", done, bytes_of_it), error);
}

void sync(int fd, const std::filesystem::path& file) {
  // EINVAL, EROFS: a kind of file that cannot be synced. Anything else is lost data: network file
  // systems and quotas report it here first.
  if (::fdatasync(fd) != 0 && errno != EINVAL && errno != EROFS)
    fail(file, "cannot be brought to the disk", errno);
}

/// Replaces the content of a file atomically: no reader sees half of the new one.
void replace_file(const std::filesystem::path& target, std::string_view text) {
  const auto fresh = target.parent_path() / fmt::format(".{}.new", target.filename().string());
  const UniqueFd fd = open_file(fresh, O_WRONLY | O_CREAT | O_TRUNC);
  try {
    write_all(fd.get(), target, text, fmt::format("{} bytes", text.size()));
    sync(fd.get(), target);
    if (::rename(fresh.c_str(), target.c_str()) != 0) fail(target, "cannot be replaced", errno);
  } catch (...) {
    (void)::unlink(fresh.c_str());
    throw;
  }
}

/// Gives the record in each whole line, and leaves out a torn last line. Returns the bytes of the
/// whole lines.
off_t for_each_record(const std::filesystem::path& file,
                      const std::function<void(CaseRecord)>& take) {
  std::ifstream stream{file, std::ios::binary};
  if (!stream) refuse_run("{}: cannot be read", file.string());
  off_t bytes = 0;
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line) && !stream.eof(); ++number) {
    bytes += static_cast<off_t>(line.size()) + 1;
    try {
      take(from_json<CaseRecord>(line));
    } catch (const FormatError& error) {
      refuse_run(
          "{}:{}: {}; expected a finished case; delete that line and resume the run, or measure "
          "again",
          file.string(), number, error.what());
    }
  }
  return bytes;
}

off_t file_size_of(int fd, const std::filesystem::path& file) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail(file, "cannot be looked at", errno);
  return status.st_size;
}

std::vector<Case> cases_of(const SweepInfo& sweep, const std::filesystem::path& file) {
  std::vector<Case> cases;
  cases.reserve(sweep.cases.size());
  for (const auto& id : sweep.cases) {
    auto which = Case::from_id(id);
    if (!which) {
      refuse_run(
          "{}: sweep.cases holds '{}'; expected the id of a case: "
          "suite/benchmark/backend/key=value/…",
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
  // Calendar arithmetic of <chrono>: gmtime would bring a static buffer, strftime the locale.
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
  return fmt::format("{}-{}-{}", context.device.slug.empty() ? "unknown" : context.device.slug,
                     started, commit.empty() ? "nogit" : commit.substr(0, short_hash));
}

RunFolder RunFolder::create(const std::filesystem::path& parent, RunContext context) {
  RunFolder folder;
  if (context.started.empty()) context.started = utc_text();
  context.state = RunState::running;
  folder.cases_ = cases_of(context.sweep, context_file);
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) fail(parent, "cannot be made", error.value());
  const std::string name = run_name(context);
  context.run = name;
  // create_directory() succeeds for one process only, even when two runs start in one second.
  for (int next = 2; !std::filesystem::create_directory(parent / context.run, error); ++next) {
    if (error && error != std::errc::file_exists)
      fail(parent / context.run, "cannot be made", error.value());
    context.run = fmt::format("{}-{}", name, next);
  }
  folder.path_ = parent / context.run;
  folder.context_ = std::move(context);
  folder.write_context();
  folder.open_samples();
  return folder;
}

RunFolder RunFolder::open_for_resume(const std::filesystem::path& run) {
  RunFolder folder;
  // "runs/x/" names the same folder as "runs/x".
  folder.path_ = run.has_filename() ? run : run.parent_path();
  const auto file = folder.path_ / context_file;
  if (!std::filesystem::is_regular_file(file)) {
    refuse_run(
        "{}: not the folder of a run: it has no {}; expected a folder that strata run printed",
        run.string(), context_file);
  }
  try {
    std::ifstream stream{file, std::ios::binary};
    if (!stream) refuse_run("{}: cannot be read; expected a run folder's", file.string());
    folder.context_ = from_json<RunContext>(std::string{std::istreambuf_iterator{stream}, {}});
  } catch (const FormatError& error) {
    refuse_run("{}: {}", file.string(), error.what());
  }
  folder.cases_ = cases_of(folder.context_.sweep, file);
  if (const auto packed = folder.path_ / packed_samples_file; std::filesystem::exists(packed)) {
    refuse_run("{}: the samples of this run are packed; expected {}; unpack them with: gunzip {}",
               run.string(), samples_file, packed.string());
  }
  folder.open_samples();
  const auto samples = folder.path_ / samples_file;
  const off_t size = file_size_of(folder.samples_.get(), samples);
  const off_t whole =
      for_each_record(samples, [&](const CaseRecord& record) { folder.note_status(record); });
  if (whole != size) {
    folder.repair_ = fmt::format(
        "{}: the last line was torn when the run was cut off; removed its {} "
        "bytes, its case will be measured again",
        samples.string(), size - whole);
    // Only now, when everything else is known to be a valid run.
    if (::ftruncate(folder.samples_.get(), whole) != 0)
      fail(samples, "its torn last line cannot be cut off", errno);
  }
  folder.reopened_ = true;
  return folder;
}

void RunFolder::open_samples() {
  const auto file = path_ / samples_file;
  samples_ = open_file(file, O_RDWR | O_APPEND | O_CREAT);
  if (::flock(samples_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    refuse_run("{}: another process is writing this run; wait for it to end", path_.string());
  synced_ = std::chrono::steady_clock::now();
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

std::vector<Case> RunFolder::uncounted() const {
  std::vector<Case> left = cases_;
  std::erase_if(left, [&](const Case& which) {
    const auto timed = statuses_.find(which.id());
    return timed == statuses_.end() || timed->second != Status::measured ||
           is_done(counted_, which.id());
  });
  return left;
}

void RunFolder::note_status(const CaseRecord& record) {
  const std::string id = record.which.id();
  if (record.phase == Phase::counting) {
    if (statuses_.contains(id)) counted_[id] = record.status;
    return;
  }
  counted_.erase(id);
  if (record.visit == 1) {
    statuses_[id] = record.status;
    if (record.seconds > 2 * context_.sweep.plan.seconds_per_case) long_.insert(id);
  }
  if (record.status == Status::measured) {
    visits_[id] = record.visit;
  } else if (record.visit == 1) {
    visits_.erase(id);
  }
}

void RunFolder::start() {
  if (!reopened_) return;
  context_.resumed.push_back(utc_text());
  context_.state = RunState::running;
  context_.finished.clear();
  write_context();
  reopened_ = false;
}

void RunFolder::append(const CaseRecord& record) {
  const std::string line = to_json(record) + "\n";
  const auto file = path_ / samples_file;
  const off_t before = file_size_of(samples_.get(), file);
  try {
    write_all(samples_.get(), file, line,
              fmt::format("the {} bytes of {}", line.size(), record.which.id()));
  } catch (const RunFolderError&) {
    // Half a line would end the file for every reader; truncating needs no space.
    [[maybe_unused]] const int taken_back = ::ftruncate(samples_.get(), before);
    throw;
  }
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
  const RunCounts counts = write_measurements();
  context_.state = state;
  context_.finished = utc_text();
  if (!after.empty()) context_.clocks_after = std::move(after);
  write_context();
  return counts;
}

std::vector<CaseRecord> read_samples(const std::filesystem::path& file,
                                     const std::vector<std::string>& cases) {
  std::map<std::string, CaseRecord> timed;
  std::map<std::string, CaseRecord> counted;
  for_each_record(file, [&](CaseRecord record) {
    const auto id = record.which.id();
    if (record.phase == Phase::timing) counted.erase(id);
    if (record.visit == 1) {
      (record.phase == Phase::timing ? timed : counted).insert_or_assign(id, std::move(record));
    } else if (const auto before = timed.find(id);
               before != timed.end() && before->second.visit < record.visit) {
      before->second = revisited(before->second, record);
    }
  });
  std::vector<CaseRecord> records;
  const auto add = [&](const std::string& id, CaseRecord record) {
    const auto counts = counted.find(id);
    records.push_back(counts == counted.end() ? std::move(record) : merged(record, counts->second));
  };
  for (const auto& id : cases) {
    if (auto found = timed.extract(id)) add(id, std::move(found.mapped()));
  }
  for (auto& [id, record] : timed)
    add(id, std::move(record));
  return records;
}

}  // namespace strata
