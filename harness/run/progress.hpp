// How far a sweep is: one line rewritten in place on a terminal, an occasional plain line in a log.
#pragma once

#include "harness/case/case.hpp"
#include "harness/record/measurement.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

struct ProgressOptions {
  enum class Style { none, terminal, log };
  Style style = Style::none;
  std::function<void(std::string_view)> write;  ///< must not throw
  std::function<double()> now;                  ///< seconds of a clock that never goes back
  std::function<int()> width;                   ///< columns of the terminal, asked at each line
};

/// On `fd`: the terminal style when it is one that can move its cursor, else the log style. A
/// write that fails is forgotten: progress never ends a run.
[[nodiscard]] ProgressOptions progress_on(int fd);

/// Follows one sweep, phase after phase. Draws nothing before start() and nothing after finish().
class Progress {
 public:
  explicit Progress(ProgressOptions options = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;
  ~Progress();

  /// `cases` are still to do; `done` others of the same sweep were done before. `phase` opens each
  /// line ("counting"). A phase that is still being followed is finished first: each has a count
  /// and an ETA of its own.
  void start(std::span<const Case> cases, std::size_t done = 0, std::string phase = {});
  void begin_case(const Case& which);
  void end_case(const CaseRecord& record);
  /// A line of its own, above the progress line; shown in every style but `none`.
  void note(const std::string& text);
  /// Time has passed: to be called about once a second.
  void tick();
  /// The last line, ended by a newline.
  void finish();

 private:
  struct Cost {
    double seconds = 0;
    std::size_t finished = 0;
    std::size_t remaining = 0;
  };

  [[nodiscard]] double seconds_left() const;
  [[nodiscard]] std::string line() const;
  void show(bool always);
  void draw();

  ProgressOptions options_;
  bool running_ = false;
  std::string phase_;
  std::map<std::string, Cost, std::less<>> costs_;  ///< by benchmark
  std::string current_;
  double started_ = 0;
  double case_started_ = 0;
  double shown_ = 0;
  std::size_t total_ = 0;
  std::size_t done_ = 0;
  std::size_t decile_ = 0;
  std::size_t failed_ = 0;
  std::size_t skipped_ = 0;
  std::size_t invalid_ = 0;
  bool drawn_ = false;  ///< a terminal line stands unfinished
};

}  // namespace strata
