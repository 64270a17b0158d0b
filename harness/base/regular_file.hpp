// Reading and writing files in a run folder or where a user points. Only regular files are read or
// replaced: a pipe could block, a device may never end, a link may name any file.
#pragma once

#include "harness/base/unique_fd.hpp"

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace strata {

/// Opens a regular file; with O_NOFOLLOW among `flags`, no link. Throws UsageError in one line.
/// `what` describes the expected file: "a sweep file".
[[nodiscard]] UniqueFd open_regular(const std::filesystem::path& file, int flags,
                                    std::string_view what);

/// The whole text of a regular file. Also throws UsageError for one of more than `most` bytes.
[[nodiscard]] std::string read_regular(const std::filesystem::path& file, int flags,
                                       std::string_view what, std::size_t most);

/// Passes each complete line of an open file, without its newline, and its number from 1; drops a
/// truncated last line. Returns the bytes of the complete lines. Throws UsageError for a line of
/// more than `longest` bytes.
off_t for_each_line(const UniqueFd& fd, const std::filesystem::path& file, std::size_t longest,
                    const std::function<void(std::size_t number, std::string_view line)>& take);

/// A new, empty file that replaces the existing one; a link is removed, never followed. Empty, with
/// errno set, if that fails.
[[nodiscard]] UniqueFd create_anew(const std::filesystem::path& file);

/// Throws UsageError if a file of that name cannot be replaced: it is a link, a pipe, a folder, or
/// its folder may not be written to.
void require_replaceable(const std::filesystem::path& file);

/// Writes a file that replaces the existing one. Throws UsageError as require_replaceable() does,
/// and if writing fails.
void write_whole(const std::filesystem::path& file, std::string_view text);

}  // namespace strata
