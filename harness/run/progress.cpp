#include "harness/run/progress.hpp"

#include "harness/base/unique_fd.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <unistd.h>

namespace strata {
namespace {

constexpr double redraw_seconds = 0.1;  // faster is unreadable and takes time from the measurements
constexpr double log_seconds = 5;       // between two lines of a log
constexpr double quiet_seconds = 30;    // after this long in one case a log gets a line
constexpr std::size_t deciles = 10;

constexpr std::string_view erase_line = "\r\x1b[K";

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(std::max(0.0, seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

/// Text that moves no cursor: control characters become spaces.
std::string plain(std::string_view text) {
  std::string result{text};
  std::ranges::replace_if(
      result, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
  return result;
}

}  // namespace

ProgressOptions progress_on(int fd) {
  using Style = ProgressOptions::Style;
  const char* name = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): one thread
  const std::string_view terminal = name == nullptr ? "" : name;
  const bool moves_cursor = ::isatty(fd) == 1 && !terminal.empty() && terminal != "dumb";
  return {.style = moves_cursor ? Style::terminal : Style::log,
          .write = [fd](std::string_view text) { (void)write_some(fd, text); },
          .now =
              [] {
                const auto now = std::chrono::steady_clock::now().time_since_epoch();
                return std::chrono::duration<double>{now}.count();
              },
          .width =
              [fd] {
                constexpr int usual = 80;
                winsize size{};
                // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): ioctl has no other form
                return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
              }};
}

Progress::~Progress() {
  // An exception may have interrupted the line: the next text must start a new one.
  if (drawn_) options_.write("\n");
}

void Progress::start(std::span<const Case> cases, std::size_t done, std::string phase,
                     std::size_t later) {
  if (!running_) started_ = options_.now();
  running_ = true;
  phase_ = std::move(phase);
  costs_.clear();
  failed_ = skipped_ = invalid_ = 0;
  total_ = done + cases.size() + later;
  done_ = done;
  later_ = later;
  decile_ = total_ == 0 ? 0 : done_ * deciles / total_;
  for (const auto& which : cases)
    ++costs_[which.benchmark].remaining;
  show(true);
}

void Progress::begin_case(const Case& which) {
  current_ = which.id();
  case_started_ = options_.now();
  if (is_on_terminal()) show(false);
}

void Progress::end_case(const CaseRecord& record) {
  ++done_;
  auto& cost = costs_[record.which.benchmark];
  // The estimate for the remaining cases includes the worker's overhead and leaves out hangs and
  // skips, which do not repeat.
  if (record.status == Status::measured) {
    for (Cost* const mean_of : {&cost, &all_}) {
      mean_of->seconds += current_.empty() ? record.seconds : options_.now() - case_started_;
      ++mean_of->finished;
    }
  }
  if (cost.remaining > 0) --cost.remaining;
  current_.clear();
  failed_ += record.status == Status::failed ? 1 : 0;
  skipped_ += record.status == Status::skipped ? 1 : 0;
  const bool invalid =
      std::ranges::any_of(record.measurements, [&](const auto& m) { return !record.is_valid(m); });
  invalid_ += record.status == Status::measured && invalid ? 1 : 0;
  show(false);
}

void Progress::note(const std::string& text) {
  if (options_.style == ProgressOptions::Style::none) return;
  options_.write(fmt::format("{}{}\n", is_on_terminal() ? erase_line : "", plain(text)));
  drawn_ = false;
  if (is_on_terminal() && running_) draw();
}

void Progress::tick() {
  const bool quiet_for_long = options_.now() - shown_ >= quiet_seconds;
  if (is_on_terminal() || quiet_for_long) show(!is_on_terminal());
}

void Progress::finish() {
  if (!running_) return;
  current_.clear();
  show(true);
  if (drawn_) options_.write("\n");
  drawn_ = false;
  running_ = false;
}

double Progress::seconds_left() const {
  if (all_.finished == 0) return std::nan("");
  Cost phase;
  for (const auto& [name, cost] : costs_) {
    phase.seconds += cost.seconds;
    phase.finished += cost.finished;
  }
  const double usual = (phase.finished > 0 ? phase : all_).mean();
  double left = all_.mean() * static_cast<double>(later_);
  for (const auto& [name, cost] : costs_)
    left += (cost.finished > 0 ? cost.mean() : usual) * static_cast<double>(cost.remaining);
  return left;
}

std::string Progress::line() const {
  const std::size_t percent = total_ == 0 ? 100 : 100 * done_ / total_;
  std::string text = fmt::format("{}{}{}/{} {} %  {} elapsed", phase_, phase_.empty() ? "" : " ",
                                 done_, total_, percent, duration(options_.now() - started_));
  const double left = seconds_left();
  if (done_ < total_ && std::isfinite(left)) text += fmt::format(", {} left", duration(left));
  if (failed_ > 0) text += fmt::format(", {} failed", failed_);
  if (invalid_ > 0) text += fmt::format(", {} invalid", invalid_);
  if (skipped_ > 0) text += fmt::format(", {} skipped", skipped_);
  return text;
}

void Progress::draw() {
  // The last column stays free: some terminals wrap at once after a character there.
  const auto room = static_cast<std::size_t>(std::max(1, options_.width() - 1));
  std::string text = line();
  constexpr std::string_view cut = "...";
  constexpr std::size_t gap = 2;
  constexpr std::size_t worth_showing = 12;
  if (!current_.empty() && text.size() + gap + worth_showing <= room) {
    const std::size_t space = room - text.size() - gap;
    text.append(gap, ' ');
    // Ids of neighbouring cases differ at their end.
    text += current_.size() <= space
                ? current_
                : fmt::format("{}{}", cut, current_.substr(current_.size() - space + cut.size()));
  }
  if (text.size() > room) text.resize(room);
  options_.write(fmt::format("\r{}\x1b[K", text));
  drawn_ = true;
}

void Progress::show(bool always) {
  if (!running_ || options_.style == ProgressOptions::Style::none) return;
  const double now = options_.now();
  if (is_on_terminal()) {
    if (!always && drawn_ && now - shown_ < redraw_seconds) return;
    draw();
  } else {
    const std::size_t decile = total_ == 0 ? deciles : done_ * deciles / total_;
    if (!always && decile == decile_ && now - shown_ < log_seconds) return;
    decile_ = decile;
    std::string text = fmt::format("{}{}{}\n", line(), current_.empty() ? "" : "  ", current_);
    if (text != std::exchange(logged_, text)) options_.write(text);
  }
  shown_ = now;
}

}  // namespace strata
