// Files that somebody else may have laid, in a run folder or where a user points. Only regular ones
// are read: a pipe would make us wait, a device may never end.
#pragma once

#include "harness/case/unique_fd.hpp"

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace strata {

/// Opens a regular file; with O_NOFOLLOW among `flags`, no link. Throws UsageError in one line.
/// `what` it should be: "a sweep file".
[[nodiscard]] UniqueFd open_regular(const std::filesystem::path& file, int flags,
                                    std::string_view what);

/// The whole text of a regular file. Throws UsageError for one of more than `most` bytes, too.
[[nodiscard]] std::string read_regular(const std::filesystem::path& file, int flags,
                                       std::string_view what, std::size_t most);

/// Gives each whole line of an open file, without its newline, and its number from 1 on; leaves out
/// a torn last line. Returns the bytes of the whole lines. Throws UsageError for a line of more
/// than `longest` bytes.
off_t for_each_line(const UniqueFd& fd, const std::filesystem::path& file, std::size_t longest,
                    const std::function<void(std::size_t number, std::string_view line)>& take);

/// A new, empty file in place of whatever had its name: a link that lies there is removed, never
/// followed. None, with errno, where that cannot be.
[[nodiscard]] UniqueFd create_anew(const std::filesystem::path& file);

}  // namespace strata
