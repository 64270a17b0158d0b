#include "harness/base/subprocess.hpp"

#include "harness/base/finally.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace strata {
namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error{error, std::generic_category(), what};
}

/// Moves a descriptor out of the range 0 to 3, which the child's own take: ours may be there if
/// this process was started with stdin or stdout closed.
UniqueFd out_of_the_way(UniqueFd fd) {
  constexpr int lowest = 10;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): fcntl has no other form
  UniqueFd moved{::fcntl(fd.get(), F_DUPFD_CLOEXEC, lowest)};
  if (!moved) fail(errno, "duplicating a descriptor");
  return moved;
}

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "creating a pipe");
  UniqueFd read{ends[0]};
  UniqueFd write{ends[1]};
  // Only our end: while the parent is slow, the worker must block instead of losing messages.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): fcntl has no other form
  if (::fcntl(read.get(), F_SETFL, O_NONBLOCK) != 0) fail(errno, "preparing a pipe");
  return {out_of_the_way(std::move(read)), out_of_the_way(std::move(write))};
}

/// An unnamed file that holds `text`, positioned at its start. A pipe would take 64 KiB and then
/// block until the worker reads.
UniqueFd file_with(std::string_view text) {
  UniqueFd fd{::memfd_create("strata-orders", MFD_CLOEXEC)};
  if (!fd) fail(errno, "creating a file for a child's input");
  if (write_some(fd.get(), text) != text.size()) fail(errno, "writing a child's input");
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) fail(errno, "rewinding a child's input");
  return out_of_the_way(std::move(fd));
}

std::string how_it_ended(std::string_view what, int status) {
  if (!WIFSIGNALED(status))
    return fmt::format("{} exited with status {}", what, WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const char* name = ::sigabbrev_np(signal);
  return fmt::format("{} killed by signal {}{}", what, signal,
                     name == nullptr ? "" : fmt::format(" (SIG{})", name));
}

}  // namespace

std::vector<char*> argument_vector(std::vector<std::string>& words) {
  std::vector<char*> argv(words.size() + 1);
  std::ranges::transform(words, argv.begin(), [](std::string& word) { return word.data(); });
  return argv;
}

Subprocess::Subprocess(const ChildCommand& command, std::string_view input) : what_{command.what} {
  const UniqueFd orders = file_with(input);
  Pipe channel = make_pipe();
  Pipe output = make_pipe();
  const auto check = [](int error) {
    if (error != 0) fail(error, "preparing a child");
  };
  posix_spawn_file_actions_t actions{};
  check(::posix_spawn_file_actions_init(&actions));
  const Finally actions_go = finally([&] { (void)::posix_spawn_file_actions_destroy(&actions); });
  for (const auto& [fd, as] : {std::pair{orders.get(), STDIN_FILENO},
                               {output.write.get(), STDOUT_FILENO},
                               {output.write.get(), STDERR_FILENO},
                               {channel.write.get(), worker_channel_fd}}) {
    check(::posix_spawn_file_actions_adddup2(&actions, fd, as));
  }
  posix_spawnattr_t attributes{};
  check(::posix_spawnattr_init(&attributes));
  const Finally attributes_go = finally([&] { (void)::posix_spawnattr_destroy(&attributes); });
  sigset_t none{};
  sigset_t all{};
  (void)::sigemptyset(&none);
  (void)::sigfillset(&all);
  // A worker inherits neither ignored nor blocked signals, and has a process group of its own.
  check(::posix_spawnattr_setsigmask(&attributes, &none));
  check(::posix_spawnattr_setsigdefault(&attributes, &all));
  check(::posix_spawnattr_setpgroup(&attributes, 0));
  constexpr int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
  check(::posix_spawnattr_setflags(&attributes, static_cast<short>(flags)));
  std::vector<std::string> words = command.arguments;
  std::vector<std::string> variables = command.environment;
  // Each name once: of two variables of a name, a shell takes the last and getenv() the first.
  const auto is_replaced = [&](std::string_view variable) {
    const auto name = variable.substr(0, variable.find('=') + 1);
    return std::ranges::any_of(command.environment,
                               [&](const auto& own) { return own.starts_with(name); });
  };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_replaced(*variable)) variables.emplace_back(*variable);
  }
  // Not fork: where a library of this process has threads, only a child that execs at once is safe.
  if (const int error =
          ::posix_spawn(&pid_, command.executable.c_str(), &actions, &attributes,
                        argument_vector(words).data(), argument_vector(variables).data());
      error != 0) {
    fail(error, "starting " + command.executable);
  }
  channel_ = std::move(channel.read);
  output_ = std::move(output.read);
}

std::optional<std::string> Subprocess::ended() {
  if (ending_) return ending_;
  siginfo_t info{};
  // Look first, reap after: while the child is a zombie its number is still its own, so the group
  // that is killed in between cannot be a stranger's.
  const int looked = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (looked == 0 && info.si_pid == 0) return std::nullopt;  // NOLINT: siginfo_t is made of unions
  if (looked == 0) (void)::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = status;
  ending_ = how_it_ended(what_, status);
  return ending_;
}

std::optional<std::string> Subprocess::wait(std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds step{2};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (auto how = ended()) return how;
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(step);
  }
}

std::optional<std::string> Subprocess::end() {
  constexpr std::chrono::seconds patience{10};
  if (auto how = ended()) return how;
  (void)::kill(-pid_, SIGKILL);
  return wait(patience);
}

void become_worker() {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): prctl has no other form
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before that line: then the channel has no reader.
  pollfd channel{.fd = worker_channel_fd, .events = POLLOUT, .revents = 0};
  if (::poll(&channel, 1, 0) == 1 && (channel.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
    constexpr int no_parent = 2;
    std::_Exit(no_parent);
  }
}

}  // namespace strata
