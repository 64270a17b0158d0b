#include "harness/base/regular_file.hpp"

#include "harness/base/text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace strata {
namespace {

[[noreturn]] void refuse_file(const std::filesystem::path& file, std::string_view found,
                              std::string_view what) {
  refuse({file.native()}, found, what, "give a readable regular file");
}

std::string unreadable(int error) {
  return fmt::format("cannot be read ({})", std::generic_category().message(error));
}

/// The next bytes of the file, at most `block.size()`; empty at its end.
std::string_view next_block(const UniqueFd& fd, const std::filesystem::path& file,
                            std::string& block) {
  for (;;) {
    const auto count = ::read(fd.get(), block.data(), block.size());
    if (count >= 0) return std::string_view{block}.substr(0, static_cast<std::size_t>(count));
    if (errno != EINTR) refuse_file(file, unreadable(errno), "a readable file");
  }
}

constexpr std::size_t block_bytes = 1 << 16;

}  // namespace

UniqueFd open_regular(const std::filesystem::path& file, int flags, std::string_view what) {
  // O_NONBLOCK: opening a pipe without a writer would block.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open has no other form
  UniqueFd fd{::open(file.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  const int error = errno;
  if (!fd && error == ELOOP) refuse_file(file, "is a link", what);
  if (!fd) refuse_file(file, unreadable(error), what);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) refuse_file(file, unreadable(errno), what);
  if (S_ISDIR(status.st_mode)) refuse_file(file, unreadable(EISDIR), what);
  if (!S_ISREG(status.st_mode)) refuse_file(file, "is a pipe or a device", what);
  return fd;
}

std::string read_regular(const std::filesystem::path& file, int flags, std::string_view what,
                         std::size_t most) {
  const UniqueFd fd = open_regular(file, O_RDONLY | flags, what);
  std::string text;
  std::string block(block_bytes, '\0');
  for (auto part = next_block(fd, file, block); !part.empty(); part = next_block(fd, file, block)) {
    text += part;
    if (text.size() > most) {
      refuse({file.native()}, fmt::format("has more than {} bytes", most),
             fmt::format("{} no larger than that", what), "use a smaller one");
    }
  }
  return text;
}

off_t for_each_line(const UniqueFd& fd, const std::filesystem::path& file, std::size_t longest,
                    const std::function<void(std::size_t number, std::string_view line)>& take) {
  off_t whole = 0;
  std::size_t number = 1;
  std::string pending;
  std::string block(block_bytes, '\0');
  for (auto rest = next_block(fd, file, block); !rest.empty(); rest = next_block(fd, file, block)) {
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      pending += rest.substr(0, end);
      if (pending.size() > longest) {
        refuse({file.native(), number}, fmt::format("a line of more than {} bytes", longest),
               "shorter lines", "fetch the file again, or measure again");
      }
      if (end == std::string_view::npos) break;
      take(number++, pending);
      whole += static_cast<off_t>(pending.size()) + 1;
      pending.clear();
      rest.remove_prefix(end + 1);
    }
  }
  return whole;
}

namespace {

[[noreturn]] void refuse_to_write(const std::filesystem::path& file, std::string_view found) {
  refuse({file.native()}, found, "a file that may be created or replaced", "give another name");
}

std::string unwritable(int error) {
  return fmt::format("cannot be written ({})", std::generic_category().message(error));
}

}  // namespace

void require_replaceable(const std::filesystem::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) == 0) {
    if (S_ISLNK(status.st_mode)) refuse_to_write(file, "is a link");
    if (S_ISDIR(status.st_mode)) refuse_to_write(file, "is a folder");
    if (!S_ISREG(status.st_mode)) refuse_to_write(file, "is a pipe or a device");
  } else if (errno != ENOENT) {
    refuse_to_write(file, unwritable(errno));
  }
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path{"."};
  if (::access(folder.c_str(), W_OK | X_OK) != 0) refuse_to_write(file, unwritable(errno));
}

void write_whole(const std::filesystem::path& file, std::string_view text) {
  require_replaceable(file);
  const UniqueFd fd = create_anew(file);
  if (!fd) refuse_to_write(file, unwritable(errno));
  while (!text.empty()) {
    const auto count = ::write(fd.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) refuse_to_write(file, unwritable(errno));
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

UniqueFd create_anew(const std::filesystem::path& file) {
  constexpr mode_t for_all = 0666;  // reduced by the umask
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) return {};
  return UniqueFd{
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open has no other form
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, for_all)};
}

}  // namespace strata
