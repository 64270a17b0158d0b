#include "harness/measure/device_lock.hpp"

#include "harness/base/error.hpp"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace strata {
namespace {

constexpr mode_t for_every_user = 0666;

int open_lock_file(const std::filesystem::path& file, int flags) {
  // O_NOFOLLOW: anybody can write to /tmp, and a link there must not make us write elsewhere.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open has no other form
  return ::open(file.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, for_every_user);
}

/// An existing file is opened without O_CREAT: with it, Linux refuses other users' files in a
/// sticky folder (fs.protected_regular). Read-only is enough to lock it.
UniqueFd open_or_make(const std::filesystem::path& file) {
  constexpr int attempts = 3;  // another process may create or remove the file between our calls
  for (int i = 0; i < attempts; ++i) {
    for (const int mode : {O_RDWR, O_RDONLY}) {
      if (UniqueFd fd{open_lock_file(file, mode)}) return fd;
      if (errno != EACCES && errno != EROFS) break;
    }
    if (errno != ENOENT) return {};
    if (UniqueFd fd{open_lock_file(file, O_RDWR | O_CREAT | O_EXCL)}) {
      (void)::fchmod(fd.get(), for_every_user);  // the umask removed the permissions of others
      return fd;
    }
    if (errno != EEXIST) return {};
  }
  return {};
}

bool is_regular(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

std::string holder(int fd) {
  std::array<char, 16> text{};
  const auto length = ::pread(fd, text.data(), text.size(), 0);
  std::string_view pid{text.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
  pid = pid.substr(0, pid.find('\n'));
  const bool digits =
      !pid.empty() && std::ranges::all_of(pid, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? fmt::format("process {}", pid) : "another process";
}

std::string file_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    word += plain ? c : '-';
  }
  return word;
}

}  // namespace

DeviceLock DeviceLock::acquire(const DeviceIdentity& device, const std::filesystem::path& folder) {
  const std::string& key = device.uuid.empty() ? device.slug : device.uuid;
  DeviceLock lock;
  lock.path_ = folder / fmt::format("strata-{}.lock", file_word(key));
  lock.fd_ = open_or_make(lock.path_);
  if (!lock.fd_ || !is_regular(lock.fd_.get())) {
    const std::string why =
        lock.fd_ ? "not a regular file" : std::generic_category().message(errno);
    throw DeviceUnavailable{
        fmt::format("{}: unknown whether another run measures {} now: {} ({}); remove that file, "
                    "or set TMPDIR to a folder of yours",
                    device.slug, device.name, lock.path_.string(), why)};
  }
  if (::flock(lock.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      throw DeviceUnavailable{fmt::format("{}: cannot lock {}: {}", device.slug,
                                          lock.path_.string(),
                                          std::generic_category().message(errno))};
    }
    throw DeviceUnavailable{
        fmt::format("{} ({}) is being measured by {}; wait until it ends, because simultaneous "
                    "runs disturb each other (lock {})",
                    device.slug, device.name, holder(lock.fd_.get()), lock.path_.string())};
  }
  // The process number only serves the message above. Another user's read-only file cannot take it:
  // the message then names no process, and the lock still holds.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock.fd_.get(), 0) == 0) {
    [[maybe_unused]] const auto written = ::pwrite(lock.fd_.get(), pid.data(), pid.size(), 0);
  }
  return lock;
}

}  // namespace strata
