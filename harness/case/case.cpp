#include "harness/case/case.hpp"

#include "harness/base/text.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace strata {

std::string to_string(const Params& params) {
  std::string text;
  for (const auto& [key, value] : params) {
    if (!text.empty()) text += ';';
    text.append(key).append(1, '=').append(value);
  }
  return text;
}

bool is_canonical_word(std::string_view text) {
  // Not std::isalnum: it depends on the locale.
  constexpr std::string_view allowed =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._+-";
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

std::string Case::id() const {
  std::string text = suite + '/' + benchmark + '/';
  text += to_string(backend);
  for (const auto& [key, value] : params)
    text.append(1, '/').append(key).append(1, '=').append(value);
  return text;
}

std::optional<Case> Case::from_id(std::string_view id) {
  const auto parts = split(id, '/');
  constexpr std::size_t fixed = 3;  // suite, benchmark, backend
  if (parts.size() < fixed) return std::nullopt;
  const auto backend = enum_from<Backend>(parts[2]);
  if (!backend || !is_canonical_word(parts[0]) || !is_canonical_word(parts[1])) return std::nullopt;
  Case which{std::string{parts[0]}, std::string{parts[1]}, *backend, {}};
  for (const auto& part : std::span{parts}.subspan(fixed)) {
    const auto words = split(part, '=');
    if (words.size() != 2 || !std::ranges::all_of(words, is_canonical_word)) return std::nullopt;
    which.params.emplace(words[0], words[1]);
  }
  if (which.id() != id) return std::nullopt;  // unsorted or duplicate: not how an id is written
  return which;
}

}  // namespace strata
