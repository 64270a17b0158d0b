// Regular expressions from the command line.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace strata {

/// Longest accepted expression.
inline constexpr std::size_t max_expression_length = 1000;

/// An ECMAScript regular expression without back-references.
class Expression {
 public:
  /// `flag` ("--filter") begins the messages. Throws UsageError for an expression that is
  /// malformed, too long or too large to match.
  Expression(std::string_view flag, const std::string& text);

  /// True when some part of `text` matches.
  [[nodiscard]] bool found_in(const std::string& text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace strata
