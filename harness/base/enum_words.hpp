// The words for the values of an enumeration in files, flags and messages, defined once, in order,
// by words_of() beside its declaration.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace strata {

template <class Enum>
concept HasWords = std::is_enum_v<Enum> && requires {
  words_of(Enum{});
};

/// "unknown" for a value that was cast from a number outside the enumeration.
template <HasWords Enum>
[[nodiscard]] constexpr std::string_view to_string(Enum value) {
  const auto words = words_of(value);
  const auto place = static_cast<std::size_t>(value);
  return place < words.size() ? words[place] : "unknown";
}

template <HasWords Enum>
[[nodiscard]] constexpr std::optional<Enum> enum_from(std::string_view text) {
  const auto words = words_of(Enum{});
  const auto found = std::ranges::find(words, text);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

/// "a, b or c", for messages.
template <HasWords Enum>
[[nodiscard]] std::string one_of_words() {
  const auto words = words_of(Enum{});
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace strata
