#include "harness/case/case_word.hpp"

#include "harness/base/sha256.hpp"
#include "harness/case/case.hpp"

#include <fmt/format.h>

#include <span>

namespace strata {

std::string case_word(std::string_view text) {
  constexpr std::size_t longest = 80;
  constexpr std::size_t bytes_of_digest = 4;
  std::string word;
  for (const char c : text) {
    const bool fits = is_canonical_word({&c, 1});
    if (fits || (!word.empty() && word.back() != '_')) word += fits ? c : '_';
  }
  while (word.ends_with('_'))
    word.pop_back();
  if (word.empty()) return "_";
  if (word.size() <= longest) return word;
  word.resize(longest);
  word += '-';
  const auto digest = sha256(text);
  for (const char byte : std::span{digest}.first<bytes_of_digest>())
    word += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return word;
}

}  // namespace strata
