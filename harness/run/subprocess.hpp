// A child process that reads its orders on stdin, answers on descriptor 3 and cannot outlive its
// parent, hang it, or write over its terminal.
#pragma once

#include "harness/case/unique_fd.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// The descriptor on which a worker answers.
inline constexpr int worker_channel_fd = 3;

/// What to start. /proc/self/exe is this very executable, even when its file was replaced since.
struct WorkerCommand {
  std::string executable = "/proc/self/exe";
  std::vector<std::string> arguments;  ///< argv, its name included: {"strata", "worker", …}
};

/// How a process ended.
struct Ending {
  int status = 0;  ///< exit status, when signal is 0
  int signal = 0;
  /// "worker exited with status 3", "worker killed by signal 9 (SIGKILL)"
  [[nodiscard]] std::string describe() const;
};

/// `words` as exec takes them: pointers into them, then a null.
[[nodiscard]] std::vector<char*> argument_vector(std::vector<std::string>& words);

/// A running child in a process group of its own, so that a terminal's Ctrl-C reaches only us.
/// Its end kills the group and waits for the child.
class Subprocess {
 public:
  /// Starts `command` with every signal at its default; `input` is all that it will read on stdin.
  /// Throws std::system_error.
  [[nodiscard]] static Subprocess start(const WorkerCommand& command, std::string_view input);

  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] int channel() const { return channel_.get(); }  ///< non-blocking, to read
  [[nodiscard]] int output() const { return output_.get(); }    ///< stdout and stderr, non-blocking

  /// How it ended, if it has. Its group is killed before the answer.
  [[nodiscard]] std::optional<Ending> ended();
  /// Waits for its end no longer than `patience`.
  [[nodiscard]] std::optional<Ending> wait(std::chrono::milliseconds patience);
  /// SIGKILL to the group; then how it ended, or nothing when the kernel does not let it go (a
  /// thread stuck inside a driver).
  [[nodiscard]] std::optional<Ending> end(std::chrono::milliseconds patience = std::chrono::seconds{
                                              10});

 private:
  Subprocess() = default;

  pid_t pid_ = -1;
  std::optional<Ending> ending_;
  UniqueFd channel_;
  UniqueFd output_;
};

/// To be called first thing in a worker, in its main thread: from here on the worker dies with its
/// parent. Exits when the parent is gone already, or never held the other end of descriptor 3.
void become_worker();

}  // namespace strata
