// Text that people typed: is it UTF-8, what did they mean, how is it shown in a message.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// Offset of the first byte that is not part of well-formed UTF-8 (no overlong form, no surrogate,
/// nothing past U+10FFFF), or nothing.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// The line, counted from 1, that holds the byte at `offset`.
[[nodiscard]] std::size_t line_of(std::string_view text, std::size_t offset);

/// `text` on one line, whatever it holds: control characters and bytes that are not UTF-8 are
/// written as \xNN.
[[nodiscard]] std::string one_line(std::string_view text);

/// The start of `text`, on one line and in single quotes: how a message shows what was found.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// What stands between the separators: one more part than there are of them.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// "a, b, c".
[[nodiscard]] std::string joined(std::span<const std::string> words);

/// Fewest insertions, deletions, replacements and swaps of neighbours that turn one into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The one of `names` that whoever wrote `word` most likely meant; nothing when none is near.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view word,
                                                      std::span<const std::string> names);

/// The number that `text` writes in the one canonical way: no sign but '-', no leading zero.
[[nodiscard]] std::optional<long long> whole_number(std::string_view text);

/// "folder/file.cpp:12 in void f()": where a call stands in this project, whatever folder it was
/// built in. The parts of a std::source_location, which clang 14 does not have.
[[nodiscard]] std::string place_text(std::string_view file, unsigned line,
                                     std::string_view function);

}  // namespace strata
