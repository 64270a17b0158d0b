// A child process that reads its job on stdin and cannot block its parent or write to its terminal.
// A worker answers on descriptor 3 and cannot outlive its parent.
#pragma once

#include "harness/base/unique_fd.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// The descriptor on which a worker answers.
inline constexpr int worker_channel_fd = 3;

/// The command of a child, run without a shell; by default a worker. /proc/self/exe is this
/// executable even after its file was replaced.
struct ChildCommand {
  std::string executable = "/proc/self/exe";
  std::vector<std::string> arguments;  ///< argv, its name included: {"strata", "worker", …}
  std::vector<std::string> environment = {};  ///< "TMPDIR=/tmp/x", in place of ours
  std::string what = "worker";                ///< name in messages about its end
};

/// `words` as exec takes them: pointers into them, then a null.
[[nodiscard]] std::vector<char*> argument_vector(std::vector<std::string>& words);

/// A running child in its own process group, so that Ctrl-C in a terminal reaches only the parent.
/// The destructor kills the group and waits for the child.
class Subprocess {
 public:
  /// Starts `command` with default signal handlers; `input` is its whole stdin. Throws
  /// std::system_error.
  Subprocess(const ChildCommand& command, std::string_view input);

  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;
  Subprocess(Subprocess&&) = delete;
  Subprocess& operator=(Subprocess&&) = delete;
  ~Subprocess() { (void)end(); }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] int channel() const { return channel_.get(); }  ///< non-blocking, to read
  [[nodiscard]] int output() const { return output_.get(); }    ///< stdout and stderr, non-blocking

  /// How it ended, if it has: "worker exited with status 3" or "worker killed by signal 9
  /// (SIGKILL)". Kills the rest of its group first.
  [[nodiscard]] std::optional<std::string> ended();
  /// Whether it has ended with status 0.
  [[nodiscard]] bool succeeded() const { return status_ == 0; }
  /// Waits at most `patience` for its end.
  [[nodiscard]] std::optional<std::string> wait(std::chrono::milliseconds patience);
  /// Kills the group and returns how the child ended; empty if it is still alive after 10 s (a
  /// thread stuck inside a driver).
  [[nodiscard]] std::optional<std::string> end();

 private:
  pid_t pid_ = -1;
  std::string what_;
  std::optional<int> status_;  ///< as returned by waitpid
  std::optional<std::string> ending_;
  UniqueFd channel_;
  UniqueFd output_;
};

/// Call it first in the main thread of a worker: from then on the worker dies with its parent.
/// Exits when the parent is already gone or descriptor 3 is not connected to it.
void become_worker();

}  // namespace strata
