#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace strata {

/// Longest accepted expression.
inline constexpr std::size_t max_expression_length = 1000;

/// Tells whether some part of a text matches an ECMAScript regular expression without
/// back-references. `flag` ("--filter") begins the messages. Throws UsageError, as its result may,
/// for an expression that is malformed, too long or too large to match.
[[nodiscard]] std::function<bool(const std::string&)> matcher(std::string_view flag,
                                                              const std::string& expression);

}  // namespace strata
