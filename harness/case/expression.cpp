// With sanitizers, g++ 12 warns of <regex> itself (GCC bug 105562), wherever it is instantiated.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "harness/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <regex>
#include <vector>

namespace strata {
namespace {

/// The product of the counts in {n}, {n,} and {n,m}: how many times the expression can unfold.
std::size_t unfolding(std::string_view expression, std::size_t most) {
  std::size_t product = 1;
  for (auto open = expression.find('{'); open != std::string_view::npos;
       open = expression.find('{', open + 1)) {
    std::size_t largest = 1;
    std::size_t number = 0;
    for (const char c : expression.substr(open + 1)) {
      if (c >= '0' && c <= '9') {
        number = std::min(10 * number + static_cast<std::size_t>(c - '0'), most);
        largest = std::max(largest, number);
      } else if (c == ',') {
        number = 0;
      } else {
        break;
      }
    }
    product = std::min(product * largest, most);
  }
  return product;
}

/// Each look-ahead inside another multiplies the time by the length of the text.
bool nests_look_aheads(std::string_view expression) {
  std::vector<bool> open;  // groups: whether it looks ahead
  bool in_class = false;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const auto rest = expression.substr(at);
    if (rest[0] == '\\') {
      ++at;
    } else if (in_class &&
               (rest.starts_with("[:") || rest.starts_with("[.") || rest.starts_with("[="))) {
      at = std::min(expression.find(']', at + 2), expression.size());
    } else if (in_class) {
      in_class = rest[0] != ']';
    } else if (rest[0] == '[') {
      in_class = true;
    } else if (rest[0] == '(') {
      const bool ahead = rest.starts_with("(?=") || rest.starts_with("(?!");
      if (ahead && std::ranges::find(open, true) != open.end()) return true;
      open.push_back(ahead);
    } else if (rest[0] == ')' && !open.empty()) {
      open.pop_back();
    }
  }
  return false;
}

}  // namespace

std::function<bool(const std::string&)> matcher(std::string_view flag,
                                                const std::string& expression) {
  // libstdc++ walks an expression by recursion, as deep as it has states.
  constexpr std::size_t most_states = 4000;
  const auto shown = fmt::format("{} {}", flag, in_quotes(expression));
  if (expression.size() > max_expression_length ||
      expression.size() * unfolding(expression, most_states) > most_states) {
    refuse({shown}, "an expression too large to match",
           fmt::format("at most {} characters and small counts in {{}}", max_expression_length),
           "shorten it");
  }
  // libstdc++ reads the number of a back-reference, or of a count, without a bound.
  constexpr std::size_t longest_number = 9;
  std::size_t digits = 0;
  for (const char c : expression) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > longest_number)
      refuse({shown}, "a number that is too large", "at most 9 digits in a row", "shorten it");
  }
  if (nests_look_aheads(expression)) {
    refuse({shown}, "a nested look-ahead", "separate look-aheads: (?!a)(?!b)",
           "write them one after the other");
  }
  auto flags = std::regex::ECMAScript | std::regex::nosubs;
#ifdef __GLIBCXX__
  // Matches in linear time and without recursion over the text; has no back-references.
  flags |= std::regex_constants::__polynomial;
#endif
  const auto refusing = [shown](const auto& act) {
    try {
      return act();
    } catch (const std::regex_error& error) {
      refuse({shown}, one_line(error.what()),
             "an ECMAScript regular expression without back-references",
             "correct it; a literal special character needs a '\\' before it");
    }
  };
  // A search takes at worst states times the square of the text: one ends soon, but those of
  // thousands of ids may take minutes.
  constexpr double most_seconds = 3;  // of CPU time, for all texts
  return [refusing, shown, spent = 0.0, pattern = refusing([&] {
                                          return std::regex{expression, flags};
                                        })](const std::string& text) mutable {
    const auto began = std::clock();
    const bool found = refusing([&] { return std::regex_search(text, pattern); });
    spent += static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    if (spent > most_seconds)
      refuse({shown}, "it takes too long to match", "an expression with fewer repetitions",
             "simplify it");
    return found;
  };
}

}  // namespace strata
