// Names of functions as they are written in C++.
#pragma once

#include <string>
#include <string_view>

namespace strata {

/// "strata::read<4u>(unsigned int const*)", on one line; a name that is not mangled, or refers to
/// parts of itself more often than `most_references`, is returned unchanged. A name from a file
/// that is not trusted can expand to any length by its references.
[[nodiscard]] std::string demangled(std::string_view name, int most_references);

}  // namespace strata
