// Checking text that people typed, and showing it in messages.
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

/// `text` on one line: control characters and bytes that are not UTF-8 are written as \xNN.
[[nodiscard]] std::string one_line(std::string_view text);

/// The start of `text`, on one line and in single quotes, for messages.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// The parts between the separators: one more than there are separators.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// "a, b, c".
[[nodiscard]] std::string joined(std::span<const std::string> words);

/// The least number of insertions, deletions, replacements and swaps of neighbours from a to b.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that was most likely meant by `word`; nothing when none is close.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view word,
                                                      std::span<const std::string> names);

/// The number in canonical notation: no sign but '-', no leading zero. Nothing for other text.
[[nodiscard]] std::optional<long long> whole_number(std::string_view text);

/// "folder/file.cpp:12 in void f()", independent of the build folder. Takes the parts of a
/// std::source_location, which clang 14 does not have.
[[nodiscard]] std::string place_text(std::string_view file, unsigned line,
                                     std::string_view function);

}  // namespace strata
