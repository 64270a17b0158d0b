#include "harness/case/case.hpp"

#include <algorithm>

namespace strata {
namespace {

// Not std::isalnum, which asks the locale.
bool stands_in_an_id(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool digit = c >= '0' && c <= '9';
  return letter || digit || c == '.' || c == '_' || c == '+' || c == '-';
}

}  // namespace

std::string_view to_string(Backend backend) {
  return backend == Backend::cuda ? "cuda" : "host";
}

std::optional<Backend> backend_from(std::string_view text) {
  for (const auto backend : {Backend::cuda, Backend::host}) {
    if (text == to_string(backend)) return backend;
  }
  return std::nullopt;
}

std::string to_string(const Params& params) {
  std::string text;
  for (const auto& [key, value] : params) {
    if (!text.empty()) text += ';';
    text.append(key).append(1, '=').append(value);
  }
  return text;
}

bool is_canonical_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), stands_in_an_id);
}

std::string Case::id() const {
  std::string text = suite + '/' + benchmark + '/';
  text += to_string(backend);
  for (const auto& [key, value] : params)
    text.append(1, '/').append(key).append(1, '=').append(value);
  return text;
}

}  // namespace strata
