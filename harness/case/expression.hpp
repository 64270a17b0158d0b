// Regular expressions that people type: searched in short texts, refused when they are malformed or
// too large to match.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace strata {

/// Longest expression that is taken.
inline constexpr std::size_t max_expression_length = 1000;

/// An ECMAScript regular expression without back-references.
class Expression {
 public:
  /// `flag` is where it was typed ("--filter"): what messages begin with. Throws UsageError for an
  /// expression that is malformed, too long or too large to match.
  Expression(std::string_view flag, const std::string& text);

  /// True when any part of `text` matches.
  [[nodiscard]] bool found_in(const std::string& text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace strata
