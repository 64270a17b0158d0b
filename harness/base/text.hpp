// Checking user input, showing it in messages, and refusing it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// Offset of the first byte that is not part of well-formed UTF-8 (no overlong form, no surrogate,
/// nothing past U+10FFFF); empty if there is none.
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

/// The number in canonical notation: no sign but '-', no leading zero. Empty for other text.
[[nodiscard]] std::optional<long long> whole_number(std::string_view text);

/// "folder/file.cpp:12 in void f()", independent of the build folder. Takes the parts of a
/// std::source_location, which clang 14 does not have.
[[nodiscard]] std::string place_text(std::string_view file, unsigned line,
                                     std::string_view function);

/// Minimum number of insertions, deletions, replacements and swaps of adjacent characters from a to
/// b.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that `word` most likely means; empty if none is close.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view word,
                                                      std::span<const std::string> names);

/// "did you mean 'NAME'?" if one of `names` is close to `word`, otherwise `otherwise`.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> names,
                                       std::string_view otherwise);

/// A line of a file, or a flag or setting (which has no line).
struct Place {
  std::string_view name;
  std::size_t line = 0;
};

/// Throws UsageError "NAME:LINE: found; expected …; mend".
[[noreturn]] void refuse(const Place& place, std::string_view found, std::string_view expected,
                         std::string_view mend);

/// Longest accepted expression.
inline constexpr std::size_t max_expression_length = 1000;

/// Tests whether a text contains a match of an ECMAScript regular expression without
/// back-references. `flag` ("--filter") begins the messages. Throws UsageError, as its result may,
/// for an expression that is malformed, too long or too large, or takes too long to match.
[[nodiscard]] std::function<bool(const std::string&)> matcher(std::string_view flag,
                                                              const std::string& expression);

}  // namespace strata
