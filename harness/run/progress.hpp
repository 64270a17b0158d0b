// The progress of a sweep: one line redrawn on a terminal, or occasional lines in a log.
#pragma once

#include "harness/case/case.hpp"
#include "harness/record/measurement.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace strata {

struct ProgressOptions {
  enum class Style { none, terminal, log };
  Style style = Style::none;
  std::function<void(std::string_view)> write;       ///< must not throw; unused in style none
  std::function<double()> now = [] { return 0.0; };  ///< seconds of a monotonic clock
  std::function<int()> width = [] { return 80; };    ///< columns of the terminal
};

/// Progress on `fd`, in the terminal style if it is a terminal that can move its cursor, otherwise
/// in the log style. Failed writes are ignored: progress never ends a run.
[[nodiscard]] ProgressOptions progress_on(int fd);

/// Shows the progress of one sweep between start() and finish(): of all its turns, which are the
/// visits of its cases and their counting.
class Progress {
 public:
  explicit Progress(ProgressOptions options = {}) : options_{std::move(options)} {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;
  ~Progress();

  /// Starts the first or next phase: a turn of each of `cases`, after `done` turns of the sweep and
  /// before `later` ones. `phase` ("counting") begins each line.
  void start(std::span<const Case> cases, std::size_t done = 0, std::string phase = {},
             std::size_t later = 0);
  void begin_case(const Case& which);
  void end_case(const CaseRecord& record);
  /// Prints a separate line above the progress line, in every style except `none`.
  void note(const std::string& text);
  /// Redraws; call it about once a second.
  void tick();
  /// The sweep is complete: turns that are still expected, such as visits of cases that take long,
  /// are not needed.
  void complete() { total_ = done_; }
  /// Prints the last line and a newline.
  void finish();

 private:
  struct Cost {
    double seconds = 0;
    std::size_t finished = 0;
    std::size_t remaining = 0;
    [[nodiscard]] double mean() const { return seconds / static_cast<double>(finished); }
  };

  [[nodiscard]] bool is_on_terminal() const {
    return options_.style == ProgressOptions::Style::terminal;
  }
  [[nodiscard]] double seconds_left() const;
  [[nodiscard]] std::string line() const;
  void show(bool always);
  void draw();

  ProgressOptions options_;
  bool running_ = false;
  std::string phase_;
  std::map<std::string, Cost, std::less<>> costs_;  ///< by benchmark, in this phase
  Cost all_;                                        ///< of the sweep
  std::string current_;
  double started_ = 0;
  double case_started_ = 0;
  double shown_ = 0;
  std::size_t total_ = 0;
  std::size_t done_ = 0;
  std::size_t later_ = 0;
  std::size_t decile_ = 0;
  std::size_t failed_ = 0;
  std::size_t skipped_ = 0;
  std::size_t invalid_ = 0;
  bool drawn_ = false;  ///< the terminal line is unfinished
  std::string logged_;  ///< the last line of a log
};

}  // namespace strata
